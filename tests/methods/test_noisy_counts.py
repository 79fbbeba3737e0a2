"""Noisy counts and k-DGS: fixed levels, declared domains, crowds and facts.

Their laws: test_noisy_truth.
"""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import HierarchyError, ParameterError, TooLargeError
from shoal.exact.epsilon import Epsilon
from shoal.methods import noisy_counts
from shoal.methods.method import crowd_of
from shoal.methods.noisy_counts import KDGS, NoisyCounts, fixed, noisy
from shoal.privacy.bounded import bounded_count_parameters
from shoal.privacy.noise import noisy_count_parameters
from shoal.releases.facts import KeptFacts

PAIRS = Hierarchy.from_lines([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])


def letters(values: str, **options: object) -> Table:
    """A record for every letter."""
    given = {"quasi": ["x"], "hierarchies": {"x": PAIRS}, "missing": "refuse", **options}
    return shoal.table(pl.DataFrame({"x": list(values)}), **given)  # type: ignore[arg-type]


def test_parameters_have_their_final_types() -> None:
    method = NoisyCounts("ln(2)", 1e-3, levels={})
    assert (method.epsilon, method.delta, method.k) == (Epsilon.of("ln(2)"), Fraction(1, 1000), 1)
    assert NoisyCounts("ln(2)", 1e-3, noise="printed", levels={}).k == 10
    assert NoisyCounts(1, 0, levels={}).k is None


def test_bounded_noise_keeps_the_standard_definition_only() -> None:
    with pytest.raises(
        ParameterError, match=r"definition='probabilistic' is not kept with bounded"
    ):
        NoisyCounts(1, "1e-3", definition="probabilistic", levels={})
    assert NoisyCounts(1, "1e-3", definition="probabilistic", noise="printed", levels={}).k == 10
    # Without a δ both definitions are the same.
    assert NoisyCounts(1, 0, definition="probabilistic", levels={}).delta == 0


def test_what_the_noise_is_stands_on_the_certificate() -> None:
    table = letters("aab" * 40)
    names = ("noise", "scale", "bound", "threshold", "half", "k")

    def derived(method: NoisyCounts) -> list[object]:
        certificate = method.release(table, Seeded(1)).certificate
        return [certificate.derived[name] for name in names]

    assert derived(NoisyCounts(1, "1e-6", k=2, levels={})) == ["bounded", None, 14, 16, 16, 2]
    assert derived(NoisyCounts(1, "1e-2", k=2, noise="printed", levels={})) == [
        "printed",
        "2",
        None,
        2,
        8,
        2,
    ]
    assert derived(NoisyCounts(1, 0, levels={})) == [None, "1", None, None, None, None]


def test_bounded_counts_are_within_the_bound_and_reach_the_threshold() -> None:
    parameters = bounded_count_parameters(1, "1e-2", 4)
    count = np.array([3, 4, 5, 9, 400, 400], dtype=np.int64)
    for seed in range(20):
        drawn = noisy(count, parameters, Seeded(seed))
        shown = drawn[drawn > 0]
        assert drawn[0] == 0
        assert (shown >= parameters.threshold).all()
        assert (abs(drawn - count)[drawn > 0] <= parameters.bound).all()
        assert (drawn[4:] > 0).all()


def test_rows_that_fewer_than_k_share_are_never_released() -> None:
    method = KDGS(3, counts=True)
    release = method.release(letters("aaabbc"))
    assert release.table.rows() == [("a", 3)]
    assert release.suppressed == 3
    assert KDGS(3, levels={"x": 1}).release(letters("aabbc")).table["x"].to_list() == ["ab"] * 4


def test_exact_counts_have_a_known_loss_and_a_sentence() -> None:
    facts = KDGS(2, levels={"x": 1}).release(letters("aabbc")).facts
    assert isinstance(facts, KeptFacts)
    assert (facts.kept, facts.groups, facts.crowd) == (4, 1, 2)
    assert next(facts.lines()) == "4 of 5 records kept (80 %), in 1 group"
    # Of three leaves, four records show two and one none: from 5/3 for the input to 5.
    assert facts.loss == pytest.approx((4 * 2 / 3 + 1 - 5 / 3) / (5 - 5 / 3))


def test_noisy_counts_are_at_least_k_or_withheld() -> None:
    parameters = noisy_count_parameters(1, "1e-2", 4)
    count = np.array([3, 4, 5, 400, 400], dtype=np.int64)
    for seed in range(20):
        drawn = noisy(count, parameters, Seeded(seed))
        assert drawn[0] == 0
        assert ((drawn == 0) | (drawn >= 4)).all()
        assert (drawn[3:] > 300).all()


def test_with_a_delta_of_0_every_row_of_the_domain_may_be_released() -> None:
    release = NoisyCounts("1/100", 0, counts=True, levels={}).release(letters("aab"), Seeded(1))
    assert set(release.table["x"]) <= {"a", "b", "c"}
    assert release.certificate.derived["k"] is None
    assert crowd_of(NoisyCounts(1, 0, levels={}), letters("a").schema) is None
    with pytest.raises(ParameterError, match="leave out `k`"):
        NoisyCounts(1, 0, k=3, levels={})


def test_a_domain_that_is_not_declared_or_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare = letters("ab", quasi=[], insensitive=["x"], hierarchies={})
    with pytest.raises(HierarchyError, match="'x' have none; give them hierarchies, or a delta"):
        NoisyCounts(1, 0, levels={}).promise(bare.schema)
    monkeypatch.setattr(noisy_counts, "LARGEST", 2)
    with pytest.raises(TooLargeError, match=r"3 rows.*at most 2 are taken; give higher `levels`"):
        NoisyCounts(1, 0, levels={}).promise(letters("ab").schema)


def test_levels_are_those_of_released_columns() -> None:
    schema = letters("ab").schema
    assert fixed(schema, None)[1] == {"x": 0}
    assert fixed(schema, {"x": 2})[1] == {"x": 2}
    with pytest.raises(ParameterError, match="`levels` names 'y'"):
        fixed(schema, {"y": 1})
    with pytest.raises(ParameterError, match="column 'x' has levels 0 to 2, not 3"):
        fixed(schema, {"x": 3})


def test_a_column_called_count_is_refused_where_counts_are_released() -> None:
    frame = pl.DataFrame({"count": [1, 2]})
    table = shoal.table(frame, insensitive=["count"])
    with pytest.raises(ParameterError, match="a column is called 'count'"):
        KDGS(1, counts=True).promise(table.schema)
    assert len(KDGS(1).release(table).table) == 2

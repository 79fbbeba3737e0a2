"""The checker of semantic (k, ε)-anonymity: what it finds by definition, and in methods as they
ship.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attack import Breach, breach, releases
from shoal.attack.coins import Enumerated, law, point
from shoal.attack.semantic import CutLaw
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import InternalError, ParameterError, TooLargeError
from shoal.methods.method import Method
from shoal.methods.mondrian import Mondrian
from shoal.methods.noisy_counts import KDGS, NoisyCounts
from shoal.methods.optimal import Optimal
from shoal.methods.safepub import SafePub
from shoal.methods.sampling import RandomSample
from shoal.privacy.models import KAnonymity

Rows = tuple[Any, ...]
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


# The checker


def test_duplicating_every_record_does_not_protect() -> None:
    found = breach(lambda rows: rows * 3, ["a", "b"], 4, 3)
    assert found == Breach(("a",), "a", 3, None, ("a", "a", "a"), Fraction(1), Fraction(0), 0)
    assert "semantic 3-anonymity" in found.statement
    assert "could be replaced unnoticed by 0 of the other records, not by 2" in found.statement


def test_replacing_each_group_by_copies_of_one_of_its_records_does_not_protect() -> None:
    def first_of_group(rows: Rows, k: int = 2) -> Rows:
        return tuple(rows[i // k * k] for i in range(len(rows))) if len(rows) % k == 0 else ()

    assert breach(first_of_group, ["a", "b", "c"], 4, 2) is not None


def test_an_output_that_depends_on_nothing_or_on_the_size_from_k_on_is_protection() -> None:
    assert breach(lambda rows: None, ["a", "b"], 5, 5) is None
    assert breach(lambda rows: max(len(rows), 2), ["a", "b"], 5, 3) is None
    assert breach(len, ["a", "b"], 5, 2) == Breach(
        ("a",), "a", 2, None, 1, Fraction(1), Fraction(0), 0
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_rows_that_occur_k_times_may_leave_and_no_others(k: int) -> None:
    def frequent(rows: Rows, least: int) -> Rows:
        return tuple(row for row in rows if rows.count(row) >= least)

    assert breach(lambda rows: frequent(rows, k), ["a", "b", "c"], 6, k) is None
    found = breach(lambda rows: frequent(rows, k - 1), ["a", "b", "c"], 6, k)
    if k > 2:
        assert found is not None
        assert found.database == ("a",) * (k - 1)
        assert found.replaceable == k - 2  # its own copies


def test_an_epsilon_is_a_bound_on_the_ratio_in_both_directions() -> None:
    def told(rows: Rows) -> dict[Hashable, Fraction]:
        return {bool(rows): 2 * THIRD, not rows: THIRD}

    assert breach(told, ["a"], 1, 2, "ln(2)") is None
    assert breach(told, ["a"], 1, 2, 0.7) is None
    for small in ("ln(199/100)", 0.69, "1/1000", 0, "0"):
        assert breach(told, ["a"], 1, 2, small) is not None
    up = breach(
        lambda rows: {0: 1 - (p := Fraction(4 if rows else 1, 8)), 1: p}, ["a"], 1, 2, "ln(3)"
    )
    down = breach(
        lambda rows: {0: 1 - (p := Fraction(1 if rows else 4, 8)), 1: p}, ["a"], 1, 2, "ln(3)"
    )
    assert up is not None
    assert (up.output, up.present, up.absent) == (1, HALF, Fraction(1, 8))
    assert down is not None
    assert (down.output, down.present, down.absent) == (1, Fraction(1, 8), HALF)
    assert "semantic (2, ln(3))-anonymity" in down.statement


def test_no_epsilon_hides_an_output_that_only_one_side_can_have() -> None:
    assert (
        breach(lambda rows: {"x": 1, "never": 0} if rows else {"x": Fraction(1)}, ["a"], 2, 2, 1)
        is None
    )
    rare = Fraction(1, 10**9)
    assert (
        breach(
            lambda rows: {"x": 1 - rare, "y": rare} if rows else {"x": Fraction(1)},
            ["a"],
            1,
            2,
            100,
        )
        is not None
    )
    assert (
        breach(
            lambda rows: {"x": Fraction(1)} if rows else {"x": 1 - rare, "y": rare},
            ["a"],
            1,
            2,
            100,
        )
        is not None
    )


def by_definition(
    algorithm: Callable[[Rows], Hashable], domain: Sequence[str], records: int, k: int
) -> bool:
    """Definition 4 with ε = 0 and nothing drawn, read aloud: records are places in a list."""
    for size in range(1, records + 1):
        for database in product(domain, repeat=size):
            own = algorithm(tuple(sorted(database)))
            for i in range(size):
                rest = database[:i] + database[i + 1 :]
                if algorithm(tuple(sorted(rest))) == own:
                    continue
                alike = sum(algorithm(tuple(sorted((*rest, other)))) == own for other in rest)
                if alike < k - 1:
                    return False
    return True


@settings(max_examples=100)
@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_the_checker_agrees_with_the_definition(
    data: st.DataObject, values: int, records: int
) -> None:
    domain = "abc"[:values]
    tables = [
        database
        for size in range(records + 1)
        for database in combinations_with_replacement(domain, size)
    ]
    outputs = dict(
        zip(
            tables,
            data.draw(st.lists(st.integers(0, 2), min_size=len(tables), max_size=len(tables))),
            strict=True,
        )
    )
    for k in (1, 2, 3):
        assert (breach(outputs.__getitem__, domain, records, k) is None) == by_definition(
            outputs.__getitem__, domain, records, k
        )


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(ParameterError, match="`domain`"):
        breach(len, ["a", "a"], 2, 2)
    with pytest.raises(ParameterError, match="`domain`"):
        breach(len, [], 2, 2)
    with pytest.raises(ParameterError, match="k="):
        breach(len, ["a"], 2, 0)
    with pytest.raises(ParameterError, match="epsilon"):
        breach(len, ["a"], 2, 2, -1)
    with pytest.raises(ParameterError, match="returns a list"):
        breach(list, ["a"], 2, 2)  # type: ignore[arg-type]
    with pytest.raises(TooLargeError, match="184,756 tables"):
        breach(len, list("abcdefghij"), 10, 2)
    wrong: list[Any] = [{0: 0.5, 1: 0.5}, {0: HALF}, {0: Fraction(3, 2), 1: -HALF}]
    for weights in wrong:
        with pytest.raises(ParameterError, match="sum to 1"):
            breach(dict.fromkeys([("a",), ()], weights).__getitem__, ["a"], 2, 2)
    with pytest.raises(InternalError, match="draws random numbers"):
        breach(releases(RandomSample("1/2"), like(a=4)), grid(4), 2, 2)


# What is drawn: sampling, and noisy counts


def sampled(rows: Rows) -> dict[Rows, Fraction]:
    """Every record with chance one half."""
    outputs = [
        tuple(row for row, shown in zip(rows, coins, strict=True) if shown)
        for coins in product([0, 1], repeat=len(rows))
    ]
    return {output: Fraction(often, len(outputs)) for output, often in Counter(outputs).items()}


def with_noise(rows: Rows, k: int, most: int = 6) -> dict[Rows, Fraction]:
    """A row that occurs i ≥ k times is left out with chance 2^(k − 1 − i), else it has k to `most`
    copies, at random.
    """
    chances_of: dict[Rows, Fraction] = {(): Fraction(1)}
    for row, often in Counter(rows).items():
        if often < k:
            continue
        gone = Fraction(1, 2 ** (often + 1 - k))
        weights = {shown: Fraction(1, 2 ** abs(often - shown)) for shown in range(k, most + 1)}
        chances = {0: gone} | {
            shown: (1 - gone) * weight / sum(weights.values()) for shown, weight in weights.items()
        }
        chances_of = {
            (*output, row, shown): weight * chance
            for output, weight in chances_of.items()
            for shown, chance in chances.items()
        }
    return chances_of


def test_a_sample_gives_those_away_whom_it_shows() -> None:
    assert breach(sampled, ["a", "b"], 3, 2) is not None
    assert breach(sampled, ["a", "b"], 3, 2, 100) is not None


@pytest.mark.parametrize("k", [2, 3])
def test_noisy_counts_protect_from_k_on_whatever_the_noise_and_not_below(k: int) -> None:
    assert breach(lambda rows: with_noise(rows, k), ["a", "b", "c"], 5, k) is None
    found = breach(lambda rows: with_noise(rows, k), ["a", "b", "c"], 5, k + 1)
    assert found is not None
    assert found.database == ("a",) * k


# Methods as they ship: Mondrian


def line(size: int) -> Hierarchy:
    return Hierarchy.from_lines([[str(i), "*"] for i in range(size)], Kind.INTEGER)


def like(missing: Any = "refuse", **sizes: int) -> Table:
    frame = pl.DataFrame({name: [] for name in sizes}, schema=dict.fromkeys(sizes, pl.Int64))
    return shoal.table(
        frame,
        quasi=list(sizes),
        hierarchies={name: line(size) for name, size in sizes.items()},
        missing=missing,
    )


def grid(*sizes: int) -> list[Rows]:
    return list(product(*map(range, sizes)))


CASES = [
    ({"a": 4}, 6, 2),
    ({"a": 3}, 7, 3),
    ({"a": 2, "b": 2}, 6, 3),
    ({"a": 2, "b": 2, "c": 1}, 5, 2),
]
cases = pytest.mark.parametrize(("sizes", "records", "k"), CASES, ids=str)


@cases
def test_mondrian_with_fixed_splits_and_boundary_ranges_keeps_semantic_anonymity(
    sizes: dict[str, int], records: int, k: int
) -> None:
    algorithm = releases(Mondrian((KAnonymity(k),), splits="middle"), like(**sizes))
    assert breach(algorithm, grid(*sizes.values()), records, k) is None


def test_that_it_keeps_no_more_is_noticed() -> None:
    algorithm = releases(Mondrian((KAnonymity(2),), splits="middle"), like(a=4))
    assert breach(algorithm, grid(4), 4, 3) is not None


def test_missing_values_do_not_break_it() -> None:
    algorithm = releases(Mondrian((KAnonymity(2),), splits="middle"), like("category", a=3))
    assert breach(algorithm, [*grid(3), (None,)], 6, 2) is None
    twice = releases(Mondrian((KAnonymity(2),), splits="middle"), like("category", a=2, b=1))
    assert breach(twice, [(0, 0), (1, 0), (None, 0), (1, None)], 4, 2) is None


@pytest.mark.parametrize("options", [{}, {"relaxed": True}, {"ranges": "observed"}], ids=str)
@pytest.mark.parametrize(("sizes", "records", "k"), CASES[:3], ids=str)
def test_mondrian_with_splits_or_ranges_that_look_at_the_data_does_not(
    sizes: dict[str, int], records: int, k: int, options: dict[str, Any]
) -> None:
    algorithm = releases(Mondrian((KAnonymity(k),), **options), like(**sizes))
    found = breach(
        algorithm, grid(*sizes.values()), records, k, fewest=k
    )  # below k there is no release, which tells too
    assert found is not None
    assert len(found.database) >= k


def boxes(rows: Iterable[Rows], sizes: Sequence[int], k: int, twin: str = "") -> Counter[Any]:
    """How many records each final part has: Mondrian with fixed splits, or a broken twin of it."""
    rows = list(rows)
    final: Counter[Any] = Counter()

    def cut(part: list[Rows], box: tuple[tuple[int, int], ...]) -> None:
        shares = [
            (Fraction(high - low, max(size - 1, 1)), -j)
            for j, ((low, high), size) in enumerate(zip(box, sizes, strict=True))
        ]
        for share, j in sorted(shares, reverse=True)[: None if twin == "another column" else 1]:
            low, high = box[-j]
            if twin == "median":
                values = sorted(row[-j] for row in part)
                middle = min(values[(len(values) - 1) // 2], high - 1)
            else:
                middle = (low + high) // 2
            left, right = (
                [row for row in part if row[-j] <= middle],
                [row for row in part if row[-j] > middle],
            )
            if share and min(len(left), len(right)) >= k - (twin == "k - 1"):
                cut(left, (*box[:-j], (low, middle), *box[1 - j :]))
                cut(right, (*box[:-j], (middle + 1, high), *box[1 - j :]))
                return
        if twin == "observed":
            box = tuple((min(values), max(values)) for values in zip(*part, strict=True))
        final[box] += len(part)

    if len(rows) >= k or (rows and twin == "few"):
        cut(rows, tuple((0, size - 1) for size in sizes))
    return final


def text(run: tuple[int, int], size: int) -> str:
    return "*" if run == (0, size - 1) and size > 1 else "-".join(map(str, dict.fromkeys(run)))


@cases
def test_the_shipped_splits_are_the_plain_ones(sizes: dict[str, int], records: int, k: int) -> None:
    algorithm = releases(Mondrian((KAnonymity(k),), splits="middle"), like(**sizes))
    domain = list(sizes.values())
    for size in range(records + 1):
        for database in list(combinations_with_replacement(grid(*domain), size))[
            :: 1 + size * len(sizes)
        ]:
            expected = Counter(
                {
                    tuple(map(text, box, domain)): often
                    for box, often in boxes(database, domain, k).items()
                }
            )
            assert Counter(tuple(map(str, row)) for row in algorithm(database).rows) == expected


TWINS = [
    ("observed", (4,), 4, 2),
    ("median", (4,), 4, 2),
    ("k - 1", (2, 2), 4, 2),
    ("few", (2,), 2, 2),
    ("another column", (2, 2), 4, 2),  # which the paper's argument does not exclude
    ("another column", (2, 2), 6, 3),
    ("another column", (2, 2, 2), 4, 2),
]


@pytest.mark.parametrize(("twin", "sizes", "records", "k"), TWINS, ids=str)
def test_broken_twins_of_fixed_splits_are_caught(
    twin: str, sizes: tuple[int, ...], records: int, k: int
) -> None:
    def algorithm(rows: Rows, twin: str = twin) -> Hashable:
        return frozenset(boxes(rows, sizes, k, twin).items())

    assert breach(lambda rows: algorithm(rows, ""), grid(*sizes), records, k) is None
    assert breach(algorithm, grid(*sizes), records, k) is not None


def test_trying_another_column_reveals_that_one_was_refused() -> None:
    def algorithm(rows: Rows) -> Hashable:
        return frozenset(boxes(rows, (2, 2), 2, "another column").items())

    found = breach(algorithm, grid(2, 2), 4, 2)
    assert found is not None
    assert (found.database, found.record) == (((0, 0), (0, 0), (0, 1), (1, 1)), (0, 1))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 15), st.integers(0, 4), st.sampled_from([0, 1, 2, None])),
        min_size=1,
        max_size=25,
    ),
    st.integers(2, 4),
    st.data(),
)
def test_in_larger_tables_a_record_can_be_replaced_by_k_minus_1_others(
    rows: list[Rows], k: int, data: st.DataObject
) -> None:
    algorithm = releases(
        Mondrian((KAnonymity(k),), splits="middle"), like("category", a=16, b=5, c=3)
    )
    record = data.draw(st.integers(0, len(rows) - 1))
    rest = rows[:record] + rows[record + 1 :]
    own = algorithm(tuple(rows))
    often = Counter(rest)
    alike = sum(often[other] for other in often if algorithm((*rest, other)) == own)
    assert alike >= k - 1 or algorithm(tuple(rest)) == own


# Methods as they ship: generalisation and suppression, and noisy counts


LETTERS = Hierarchy.from_lines([[str(i), "ab"[i // 2], "*"] for i in range(4)])
DOMAIN = [(str(i),) for i in range(4)]


def letters(**options: Any) -> Table:
    frame = pl.DataFrame({"a": []}, schema={"a": pl.String})
    return shoal.table(
        frame, **{"quasi": ["a"], "hierarchies": {"a": LETTERS}, "missing": "refuse", **options}
    )


@pytest.mark.parametrize(("k", "level"), [(2, 0), (2, 1), (3, 1), (2, 2)])
def test_k_dgs_keeps_it_for_its_k_and_for_no_larger_one(k: int, level: int) -> None:
    algorithm = releases(KDGS(k, levels={"a": level}), letters())
    assert breach(algorithm, DOMAIN, k + 2, k) is None
    assert breach(algorithm, DOMAIN, k + 2, k + 1) is not None


def test_k_dgs_keeps_it_over_columns_of_all_roles_with_and_without_hierarchy() -> None:
    frame = pl.DataFrame(
        {"a": [], "b": [], "c": []}, schema={"a": pl.String, "b": pl.Int64, "c": pl.String}
    )
    table = shoal.table(
        frame, quasi=["a"], sensitive=["b"], insensitive=["c"], hierarchies={"a": LETTERS}
    )
    domain = [("0", 7, "x"), ("1", 7, "x"), ("1", None, "x"), ("2", 7, "x"), ("2", 7, None)]
    for counts in (False, True):
        assert (
            breach(releases(KDGS(2, levels={"a": 1}, counts=counts), table), domain, 4, 2) is None
        )


@pytest.mark.parametrize(
    "frame", [pd.DataFrame({"a": []}, dtype="float64"), pa.table({"a": pa.array([], pa.float64())})]
)
def test_other_dataframes_are_checked_alike(frame: Any) -> None:
    table = shoal.table(frame, insensitive=["a"], types={"a": "float"})
    domain = [(1.0,), (2.5,), (None,)]
    assert breach(releases(KDGS(2), table), domain, 4, 2) is None
    assert breach(releases(KDGS(2), table), domain, 4, 3) is not None


def test_levels_that_are_chosen_by_the_data_do_not_keep_it() -> None:
    assert (
        breach(releases(Optimal((KAnonymity(2),)), letters()), DOMAIN, 5, 2, fewest=2) is not None
    )
    assert (
        breach(releases(Optimal((KAnonymity(2),), suppression=1), letters()), DOMAIN, 5, 2)
        is not None
    )


def law_of_release(method: Method, rows: Rows) -> Hashable:
    """With ε = 0 an algorithm keeps it if the law of its outputs, taken as one output, does: so
    intervals will do.
    """
    frame = pl.DataFrame({"a": [row[0] for row in rows]}, schema={"a": pl.String})
    given = shoal.table(frame, insensitive=["a"], hierarchies={"a": LETTERS})

    def run(chance: Enumerated) -> Rows:
        return tuple(method.release(given, chance).table["a"])

    return frozenset(law(run, cut=Fraction(1, 1000)).items())


def test_safepub_at_fixed_levels_keeps_it_for_its_k_and_for_no_larger_one() -> None:
    method = SafePub(1, "2/5", levels={"a": 1})
    assert method.release(letters()).certificate.derived["k"] == 2
    assert breach(lambda rows: law_of_release(method, rows), DOMAIN[1:], 4, 2) is None
    assert breach(lambda rows: law_of_release(method, rows), DOMAIN[1:], 4, 3) is not None


def test_noisy_counts_keep_it_for_their_k_and_for_no_larger_one() -> None:
    method = NoisyCounts(8, "1/3", 2, levels={"a": 1})
    assert breach(lambda rows: law_of_release(method, rows), DOMAIN[1:3], 4, 2) is None
    assert breach(lambda rows: law_of_release(method, rows), DOMAIN[1:3], 4, 3) is not None


def test_laws_of_methods_that_sample_are_exact_without_a_cut() -> None:
    sample = releases(SafePub(1, "2/5", levels={"a": 1}), letters(), 0)
    assert breach(sample, DOMAIN[1:], 3, 2) is None
    assert breach(sample, DOMAIN[1:], 3, 3) is not None
    shown = breach(releases(RandomSample("1/3"), letters(), 0), DOMAIN[:2], 2, 2, epsilon=100)
    assert shown is not None
    assert (shown.present, shown.absent) in ((THIRD, Fraction(0)), (1 - THIRD, Fraction(1)))


def test_what_a_cut_leaves_out_may_be_anything() -> None:
    def told(rows: Rows) -> CutLaw:
        weights = {"x": point(1 - THIRD)} | ({"y": point(THIRD)} if rows else {})
        return CutLaw(weights)

    # Without the record "y" may have the third that is missing.
    assert breach(told, ["a"], 1, 2) is None
    assert breach(lambda rows: dict(told(rows)) if rows else {"x": 1}, ["a"], 1, 2) is not None


def test_two_releases_that_keep_it_need_not_keep_it_together() -> None:
    def column(rows: Rows, j: int) -> Rows:
        values = sorted(row[j] for row in rows)
        return tuple(value for value in values if values.count(value) >= 2)

    assert breach(lambda rows: column(rows, 0), grid(2, 2), 5, 2) is None
    assert breach(lambda rows: column(rows, 1), grid(2, 2), 5, 2) is None
    assert breach(lambda rows: (column(rows, 0), column(rows, 1)), grid(2, 2), 5, 2) is not None

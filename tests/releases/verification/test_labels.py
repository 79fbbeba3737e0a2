"""Labels of released columns, and the order of rows."""

from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.hierarchy import suppress
from shoal.methods.optimal import Optimal
from shoal.privacy.models import KAnonymity
from shoal.releases import certificate
from shoal.releases.verification import unchecked, verify
from shoal.releases.verification.labels import is_acyclic
from tests.releases.verification.forging import AGES, ILLS, TREES, both, forge, method, people, put


def test_a_generalised_sensitive_column_is_looked_up_in_the_hierarchy_on_the_certificate(
    tmp_path: Path,
) -> None:
    table = people(hierarchies={**TREES, "ill": ILLS})
    path = method(levels={"age": 1, "sex": 0, "ill": 1}).release(table).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path) == []
    forge(paper, both(put("levels.ill", 0), put("parameters.levels.ill", 0)))
    assert verify(paper, path) == [
        "column 'ill' has 2 values that level 0 of its hierarchy does not have"
    ]


def test_a_long_hierarchy_of_a_private_release_is_on_the_certificate_as_a_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate, "LARGEST_ON_PAPER", 1)
    trees = {**TREES, "ill": ILLS}
    private = method(levels={"age": 1, "sex": 0, "ill": 1}).release(people(hierarchies=trees))
    path = private.write(tmp_path)
    paper = tmp_path / "certificate.json"
    [column] = [one for one in private.certificate.columns if one["name"] == "ill"]
    assert column.keys() == {"name", "role", "type", "hierarchy_sha256"}
    assert verify(paper, path, trees) == []
    # Without the hierarchy what it would show is left open, and another one is seen.
    assert verify(paper, path) == []
    assert len(unchecked(paper, TREES)) > len(unchecked(paper, trees))
    other = {**trees, "ill": suppress(ILLS.labels[0])}
    assert any("their digests differ" in fault for fault in verify(paper, path, other))


def test_models_count_by_a_hierarchy_that_the_certificate_has_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(certificate, "LARGEST_ON_PAPER", 1)
    table = people(hierarchies={**TREES, "ill": ILLS})
    released = Optimal([KAnonymity(1)], suppression=1).release(table)
    [column] = [one for one in released.certificate.columns if one["name"] == "ill"]
    assert column["hierarchy"] == ILLS.lines()


def test_a_changed_level_is_found_with_hierarchies(tmp_path: Path) -> None:
    path = (
        method(levels=None, floor={"age": 1, "sex": 0}, ceiling={"age": 1, "sex": 1})
        .release(people())
        .write(tmp_path)
    )
    paper = tmp_path / "certificate.json"
    honest = paper.read_text()
    for level, words in (
        (0, "has 2 values that level 0"),
        (2, "has 2 values that level 2"),
        (3, "ends at level 2"),
    ):
        forge(
            paper,
            both(
                put("levels.age", level), put("parameters.floor", {}), put("parameters.ceiling", {})
            ),
        )
        assert verify(paper, path) == []  # nobody can see it without
        assert any(words in fault for fault in verify(paper, path, TREES))
        paper.write_text(honest)
        forge(paper, put("levels.age", level))
        assert any("which the parameters do not allow" in fault for fault in verify(paper, path))
        paper.write_text(honest)


def test_a_hierarchy_made_from_rows_is_found(written: tuple[Path, Path]) -> None:
    assert any(
        "made from rows" in fault
        for fault in verify(*written, {"age": replace(AGES, derived=True)})
    )


def test_an_order_that_values_do_not_decide_is_found(written: tuple[Path, Path]) -> None:
    paper, table = written
    honest = table.read_text().splitlines()[1:]
    groups = list(dict.fromkeys(honest))
    sizes = [honest.count(one) for one in groups]

    def laid(order: list[int]) -> list[str]:
        return [groups[i] for i in order for _ in range(sizes[i])]

    def faults(rows: list[str], trees: Any = None) -> list[str]:
        forge(paper, lambda content: None, table, lambda lines: rows)
        return verify(paper, table, trees)

    assert faults(laid([*range(8)]), TREES) == []
    assert "not in the order" in faults(honest[::2] + honest[1::2])[0]  # equal rows apart
    assert (
        "not in the order" in faults(laid([1, 0, 2, 3, 4, 5, 6, 7]))[0]
    )  # by the last column, which has an order of its own
    assert (
        "not in the order" in faults(laid([2, 3, 0, 1, 4, 5, 6, 7]))[0]
    )  # ages one way for one sex, another for the other
    turned = laid(
        [4, 5, 6, 7, 0, 1, 2, 3]
    )  # another order of the sexes: only their hierarchy has theirs
    assert faults(turned) == []
    assert "not in the order" in faults(turned, TREES)[0]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=6), st.randoms())
def test_some_order_makes_rows_sorted_iff_no_column_goes_round_in_a_circle(
    rows: list[tuple[int, int]], random: Any
) -> None:
    orders = [*permutations(range(3))]
    possible = any(
        rows == sorted(rows, key=lambda row: (one[row[0]], other[row[1]]))
        for one in orders
        for other in orders
    )
    steps: list[list[tuple[int, int]]] = [[], []]
    for before, after in pairwise(rows):
        if before != after:
            column = 0 if before[0] != after[0] else 1
            steps[column].append((before[column], after[column]))
    assert possible == all(
        is_acyclic(np.array(one, dtype=np.int64).reshape(-1, 2).T) for one in steps
    )


def test_a_hierarchy_without_a_digest_is_listed_even_if_it_is_given(
    written: tuple[Path, Path],
) -> None:
    paper, table = written
    digests = [("columns", column, "hierarchy_sha256") for column in (0, 1)]
    assert not set(digests) & set(verify(paper, table, TREES).places)
    assert set(digests) <= set(verify(paper, table).places)
    forge(paper, lambda content: content["columns"][1].update(hierarchy_sha256=None))
    verdict = verify(paper, table, TREES)
    assert verdict == []
    assert set(digests) & set(verdict.places) == {digests[1]}

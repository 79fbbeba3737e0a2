"""Occupations, industries and diseases."""

from itertools import pairwise

import pytest

from shoal.data.hierarchy import ready
from shoal.data.hierarchy.ready_made.form import rows
from shoal.data.kinds import Kind


@pytest.mark.parametrize(
    ("name", "form", "sizes"),
    [
        # As the ILO, Eurostat and the WHO count them.
        ("isco-08", "unit", [436, 130, 43, 10, 1]),
        ("isco-08", "minor", [130, 43, 10, 1]),
        ("nace-2", "class", [615, 272, 88, 21, 1]),
        ("nace-2", "plain", [615, 272, 88, 21, 1]),
        ("nace-2", "division", [88, 21, 1]),
        ("icd-10", "category", [2214, 263, 22, 1]),
        ("icd-10-cm", "category", [2138, 285, 22, 1]),
    ],
)
def test_levels_have_as_many_groups_as_the_classification(
    name: str, form: str, sizes: list[int]
) -> None:
    tree = ready(name, form=form)
    assert [tree.cardinality(level) for level in range(tree.height + 1)] == sizes


@pytest.mark.parametrize(
    ("name", "form", "path"),
    [
        ("isco-08", "unit", ["0110", "011*", "01**", "0***", "*"]),
        ("isco-08", "sub-major", ["25", "2*", "*"]),
        ("nace-2", "class", ["62.01", "62.0*", "62.**", "J", "*"]),
        ("nace-2", "plain", ["9900", "990*", "99**", "U", "*"]),
        ("nace-2", "group", ["01.1", "01.*", "A", "*"]),
        ("icd-10", "category", ["C50", "C50-C50", "C00-D48", "*"]),
        ("icd-10", "dotted", ["J18.9", "J18.-", "J09-J18", "J00-J99", "*"]),
        ("icd-10", "dotted", ["J18", "J18.-", "J09-J18", "J00-J99", "*"]),
        ("icd-10", "plain", ["M0000", "M00-", "M00-M03", "M00-M99", "*"]),
        ("icd-10", "category", ["Y09", "X85-Y09", "V01-Y98", "*"]),
        ("icd-10-cm", "category", ["C4A", "C43-C44", "C00-D49", "*"]),
        ("icd-10-cm", "dotted", ["S72.001A", "S72.-", "S70-S79", "S00-T88", "*"]),
    ],
)
def test_a_code_lies_in_its_groups(name: str, form: str, path: list[str]) -> None:
    assert ready(name, form=form, values=path[:1]).lines() == [path]


@pytest.mark.parametrize("file", ["icd-10.csv", "icd-10-cm.csv"])
def test_blocks_do_not_overlap_and_lie_in_their_chapter(file: str) -> None:
    chapters: dict[str, list[str]] = {}
    for row in rows(file):
        chapters.setdefault(row["chapter"], []).append(row["block"])
    for chapter, blocks in chapters.items():
        assert blocks[0][:3] >= chapter[:3]
        assert blocks[-1][-3:] <= chapter[-3:]
        # A block such as C7A comes between C73-C75 and C76-C80, though not by its letters.
        plain = [block for block in blocks if block[1:3].isdigit() and block[-2:].isdigit()]
        for before, after in pairwise(plain):
            assert before[-3:] < after[:3]


def test_codes_that_lie_in_no_block_are_no_values() -> None:
    tree = ready("icd-10")
    assert tree.find("A14") == tree.find("A10") == -1
    assert tree.find("A15") >= 0


def test_a_column_of_integers_finds_codes_with_leading_zeros() -> None:
    tree = ready("isco-08").of_kind(Kind.INTEGER)
    assert tree.labels[0][tree.find(110)] == "0110"

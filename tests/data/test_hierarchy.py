"""Hierarchies as trees, as files, and what is wrong with them."""

import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import shoal
from shoal import hierarchy
from shoal.data.hierarchy import Hierarchy, problems, read, read_lines, uncovered, write
from shoal.data.hierarchy.lines import derived_note, text
from shoal.data.kinds import Kind
from shoal.errors import FileError, HierarchyError, ParameterError

AGES = [["1", "0-4", "0-9", "*"], ["7", "5-9", "0-9", "*"], ["12", "10-14", "10-19", "*"]]

# Anything but what cannot be encoded; a hierarchy may hold quotes, line ends and separators.
labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@st.composite
def trees(draw: st.DrawFn) -> list[list[str]]:
    """The lines of some hierarchy, in any order."""
    leaves = draw(st.lists(labels, min_size=1, max_size=12, unique=True))
    columns: list[list[str]] = [leaves]
    for level in range(draw(st.integers(0, 3))):
        parents = {
            label: draw(st.sampled_from("abcde")) + str(level)
            for label in dict.fromkeys(columns[-1])
        }
        columns.append([parents[label] for label in columns[-1]])
    columns.append([draw(labels)] * len(leaves))
    return [list(line) for line in zip(*columns, strict=True)]


@given(trees())
def test_every_value_becomes_what_its_line_says(lines: list[list[str]]) -> None:
    tree = Hierarchy.from_lines(lines)
    for line in lines:
        leaf = tree.find(line[0])
        assert [tree.labels[level][codes[leaf]] for level, codes in enumerate(tree.maps)] == line


@given(trees())
def test_every_value_covers_a_run_of_neighbouring_leaves(lines: list[list[str]]) -> None:
    tree = Hierarchy.from_lines(lines)
    for level, codes in enumerate(tree.maps):
        assert len(np.flatnonzero(np.diff(codes.astype(int)))) + 1 == tree.cardinality(level)
        assert tree.cover(level).sum() == tree.leaves


@given(trees(), st.sampled_from([";", ",", "\t", "|"]))
@example([["\ufeffa", "b"]], ";")
@example([["0", ";"], ["1", ";"]], ",")
@example([["p;q", "*"], ["r;q", "*"]], ",")
@example([["[0, 5[", "*"], ["[5, 9[", "*"]], ";")
@example([['"', "\r"], ["\n", "\r"]], ";")
def test_a_hierarchy_comes_back_from_its_file_as_it_was(
    lines: list[list[str]], separator: str
) -> None:
    import tempfile

    assume(not any("\0" in cell for line in lines for cell in line))  # which is refused

    tree = Hierarchy.from_lines(lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.csv"
        write(tree, path, separator=separator)
        assert read(path).lines() == tree.lines()
        assert read(path, separator=separator).labels == tree.labels
        assert [one.name for one in Path(folder).iterdir()] == ["tree.csv"]


@pytest.mark.parametrize(
    ("made", "probes"),
    [
        (
            hierarchy.intervals(0, 1, widths=[0.1, 0.5], kind="float"),
            [-0.1, 0, 0.3, 0.30000000000000004, 1, 1.1],
        ),
        (hierarchy.intervals(0, 1, widths=[0.1], kind="float", closed="right"), [0, 0.1, 1, 1.1]),
        (hierarchy.intervals(0, 1, cuts=[[0.5]], kind="float", end="open"), [0, 0.5, 1]),
        (
            hierarchy.intervals(bottom=-2.5, top=7, cuts=[[1, 3], [3]], kind="float"),
            [-99, -2.5, 1, 3, 7, 1e12],
        ),
        (
            hierarchy.intervals(bottom=-2.5, top=7, cuts=[[1, 3]], kind="float", closed="right"),
            [-99, -2.5, 1, 3, 7, 1e12],
        ),
        (hierarchy.intervals(bottom=-3, top=5, widths=[2]), [-99, -3, 0, 4, 5, 6]),
        (hierarchy.intervals(-3, top=5, widths=[2], closed="right"), [-4, -3, 0, 4, 5, 6]),
        (hierarchy.intervals(high=5, bottom=2), [-4, 1, 2, 5, 6]),
        (hierarchy.intervals(-20, 20, widths=[5]), [-21, -20, 20, 21]),
        (hierarchy.intervals(0, 2, step=0.1, widths=[0.5], kind="float"), [0.3, 0.35]),
        (hierarchy.dates("2024-01-01", "2024-02-01"), []),
    ],
)
def test_intervals_come_back_from_their_file_with_their_type(
    made: Hierarchy, probes: list[float], tmp_path: Path
) -> None:
    write(made, tmp_path / "tree.csv")
    back = read(tmp_path / "tree.csv", kind=made.kind)
    assert (back.labels, back.cuts, back.closed, back.end_closed) == (
        made.labels,
        made.cuts,
        made.closed,
        made.end_closed,
    )
    assert [back.find(probe) for probe in probes] == [made.find(probe) for probe in probes]
    for level in range(made.height + 1):
        assert back.maps[level].tolist() == made.maps[level].tolist()


def test_a_file_is_read_whatever_its_separator_encoding_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    wanted = [["Köln", "West, Rhein", "*"], ["Jena", "Ost", "*"]]
    for content in (
        "Köln;West, Rhein;*\nJena;Ost;*\n".encode(),
        "Köln;West, Rhein;*\r\nJena;Ost;*".encode("utf-8-sig"),
        'Köln,"West, Rhein",*\nJena,Ost,*\n'.encode("latin-1"),
        "Köln\tWest, Rhein\t*\nJena\tOst\t*\n".encode("utf-16"),
    ):
        path.write_bytes(content)
        assert read(path).lines() == wanted
    path.write_bytes("Köln;*\nJena;*\n".encode("cp1252"))
    assert [one.name for one in read_lines(path).problems().minor] == ["encoding"]
    assert not read_lines(path, encoding="cp1252").problems().minor


def test_a_table_and_a_hierarchy_that_windows_wrote_meet(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_bytes("Côte d’Ivoire;Africa;*\nCuba;America;*\n".encode("cp1252"))
    (tmp_path / "table.csv").write_bytes("country\nCôte d’Ivoire\nCuba\n".encode("cp1252"))
    table = shoal.read(tmp_path / "table.csv", hierarchies={"country": read(tmp_path / "tree.csv")})
    assert table.leaves("country").tolist() == [0, 1]


def test_what_cannot_be_read_is_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(FileError, match="cannot read"):
        read(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"PAR1\0\0\xff\xfe")
    with pytest.raises(FileError, match="not text"):
        read(tmp_path / "binary.csv")
    (tmp_path / "latin.csv").write_bytes("Köln;*".encode("latin-1"))
    with pytest.raises(FileError, match="not text"):
        read(tmp_path / "latin.csv", encoding="utf-8")
    for options in ({"encoding": "klingon"}, {"separator": ";;"}, {"kind": "roman"}):
        with pytest.raises(ParameterError):
            read(tmp_path / "latin.csv", **options)


def test_an_unwritable_place_is_a_file_error_and_leaves_nothing(tmp_path: Path) -> None:
    tree = Hierarchy.from_lines(AGES)
    with pytest.raises(FileError, match="cannot write"):
        write(tree, tmp_path / "nowhere" / "tree.csv")
    with pytest.raises(FileError, match="not valid Unicode"):
        write(Hierarchy.from_lines([["\ud800", "*"]]), tmp_path / "tree.csv")
    with pytest.raises(ParameterError, match="separator"):
        write(tree, tmp_path / "tree.csv", separator="x")
    with pytest.raises(FileError, match="directory"):
        write(Hierarchy.from_lines(AGES, derived=True), tmp_path)
    assert not list(tmp_path.iterdir())


def test_lines_hold_texts_and_nothing_else() -> None:
    with pytest.raises(HierarchyError, match="as text"):
        Hierarchy.from_lines([[39, "*"]])  # type: ignore[list-item]


def test_cells_with_a_separator_are_quoted() -> None:
    assert text(Hierarchy.from_lines([["a;b", 'say "x"', "*"]])) == '"a;b";"say ""x""";*\n'


def test_that_a_hierarchy_is_derived_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    write(Hierarchy.from_lines(AGES, derived=True), path)
    assert read(path).derived
    assert read_lines(path).problems().minor[-1].name == "derived"
    write(Hierarchy.from_lines(AGES), path)
    assert not read(path).derived
    assert not derived_note(path).exists()


def names(lines: list[list[str]], kind: Kind = Kind.TEXT) -> tuple[list[str], list[str]]:
    found = problems(lines, kind)
    return [one.name for one in found.fatal], [one.name for one in found.minor]


@pytest.mark.parametrize(
    ("lines", "fatal", "minor"),
    [
        ([], ["empty"], []),
        ([[], []], ["empty"], ["blank line"]),
        ([["a"], ["b"]], ["one level"], []),
        ([["a", "*"], ["b"], ["c", "*"]], ["ragged"], []),
        ([["a", "x"], ["b", "*"]], ["two roots"], ["merges nothing"]),
        (
            [["a", "g", "x", "*"], ["b", "g", "y", "*"], ["c", "h", "y", "*"]],
            ["two paths"],
            ["merges nothing"],
        ),
        ([["a", "g", "*"], ["a", "h", "*"], ["b", "h", "*"]], ["two paths"], ["merges nothing"]),
        ([["a", "g", "*"], ["a", "g", "*"], ["b", "g", "*"]], ["duplicates"], ["merges nothing"]),
        ([["a", "g", "*"], ["b", "h", "*"]], [], ["merges nothing"]),
        ([["a", "*"], [], ["b", "*"]], [], ["blank line"]),
        ([["a", "", "*"], ["b", "g", "*"], ["c", "g", "*"]], ["blank cell"], []),
        ([["a", ""], ["b", ""]], ["blank cell"], []),
        ([["a", "g", "*"], ["", "", "*"], ["b", "g", "*"]], [], ["blank cell"]),
        ([["a ", "*"], ["b", "*"]], [], ["spaces"]),
        ([["*", "*"], ["b", "*"]], [], ["root is a value"]),
        ([["a", "*"]], [], []),
    ],
)
def test_every_problem_has_its_name(
    lines: list[list[str]], fatal: list[str], minor: list[str]
) -> None:
    assert names(lines) == (fatal, minor)
    if fatal:
        with pytest.raises(HierarchyError):
            Hierarchy.from_lines(lines)
    else:
        Hierarchy.from_lines(lines)


def test_all_problems_are_named_together_with_their_lines() -> None:
    lines = [
        ["a", "g", "*"],
        [],
        ["a", "g", "*"],
        ["b", "g"],
        ["c", "h", "x"],
        ["d", "", "*"],
        ["e", "g", "x"],
    ]
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_lines(lines)
    for part in (
        "duplicates: 'a' (lines 1 and 3)",
        "ragged: line 4",
        "2 roots: '*', 'x'",
        "'g' (becomes '*', 'x')",
        "line 6",
    ):
        assert part in str(caught.value)


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text('"two\nlines";*\n\na;*\na;*\n', encoding="utf-8")
    found = read_lines(tmp_path / "tree.csv").problems()
    assert "lines 4 and 5" in found.errors[0]
    assert "line 3 is empty" in found.warnings[0]


@pytest.mark.parametrize(
    ("lines", "kind", "fatal"),
    [
        ([["39", "*"], ["039", "*"]], Kind.INTEGER, ["duplicates"]),
        ([["39", "*"], ["x", "*"]], Kind.INTEGER, ["type"]),
        ([["39", "*"], ["40-49", "*"]], Kind.INTEGER, []),
        ([["39", "*"], ["41-49", "*"]], Kind.INTEGER, ["intervals"]),
        ([["39", "*"], ["40-49", "*"], ["45-50", "*"]], Kind.INTEGER, ["intervals"]),
        ([["39", "*"], ["40+", "*"]], Kind.INTEGER, []),
        ([["39", "*"], ["40+", "*"], ["", "*"]], Kind.INTEGER, ["intervals"]),
        ([["[0, 5[", "*"], ["[5, 9]", "*"]], Kind.FLOAT, []),
        ([["[0, 5]", "*"], ["]5, 9]", "*"]], Kind.FLOAT, []),
        ([["[0, 5]", "*"], ["[5, 9]", "*"]], Kind.FLOAT, ["intervals"]),
        ([["[0, 5)", "*"], ["(5, 9)", "*"]], Kind.FLOAT, ["intervals"]),
        ([["[0, 5)", "*"], ["[5, 7]", "*"], ["(7, 9]", "*"]], Kind.FLOAT, ["intervals"]),
        ([["(0, 5)", "*"], ["[5, 7]", "*"]], Kind.FLOAT, ["intervals"]),
        ([["[5, 0)", "*"]], Kind.FLOAT, ["type"]),
        ([["5", "*"], ["[6, 7)", "*"]], Kind.FLOAT, ["type"]),
        ([["0-1.5", "*"]], Kind.INTEGER, ["type"]),
        ([["<5", "g", "*"], ["[5, 6)", "h", "*"], [">=6", "g", "*"]], Kind.FLOAT, ["intervals"]),
        ([["2024-01-01", "*"], ["2024-13-01", "*"]], Kind.DATE, ["type"]),
    ],
)
def test_leaves_are_checked_by_their_type(
    lines: list[list[str]], kind: Kind, fatal: list[str]
) -> None:
    assert names(lines, kind)[0] == fatal


def test_the_root_can_be_replaced_or_put_above() -> None:
    lines = [["a", "g", "*"], ["b", "h", "x"]]
    assert Hierarchy.from_lines(lines, root="all").labels[-1] == ("all",)
    assert Hierarchy.from_lines(lines, add_root="all").labels[2:] == (("*", "x"), ("all",))


def test_missing_values_get_a_leaf_that_stays_alone_below_the_root() -> None:
    tree = Hierarchy.from_lines(AGES, Kind.INTEGER).with_missing()
    assert tree.leaves == 3
    assert tree.find(None) == 3
    assert [codes[3] for codes in tree.maps] == [3, 3, 2, 0]
    assert tree.with_missing() is tree
    assert tree.lines() == AGES
    assert Hierarchy.from_lines(AGES).find(None) == -1


def test_a_blank_value_in_the_file_is_the_leaf_of_missing_ones() -> None:
    tree = Hierarchy.from_lines([["a", "*"], ["", "*"]]).with_missing()
    assert tree.find(None) == 1
    assert not tree.has_missing


def test_a_hierarchy_of_texts_serves_a_column_of_integers() -> None:
    tree = Hierarchy.from_lines([["039", "*"], ["40", "*"]], derived=True)
    numbers = tree.with_missing().of_kind(Kind.INTEGER)
    assert [numbers.find(39), numbers.find(None)] == [0, 2]
    assert numbers.derived
    assert tree.of_kind(Kind.TEXT) is tree
    with pytest.raises(HierarchyError, match="not of the declared type"):
        Hierarchy.from_lines([*AGES[:1], ["x", "y", "z", "*"]]).of_kind(Kind.INTEGER)
    intervals = hierarchy.intervals(0, 10, widths=[5], kind="float")
    assert intervals.of_kind(Kind.INTEGER).find(7) == 1
    with pytest.raises(HierarchyError, match="declare the column 'float'"):
        intervals.of_kind(Kind.TEXT)


def test_values_outside_the_domain_are_found() -> None:
    assert uncovered(Hierarchy.from_lines(AGES, Kind.INTEGER), [1, 2, 12, None, 99]) == [2, 99]


def test_a_hierarchy_prints_as_its_size_and_not_as_its_values() -> None:
    assert repr(Hierarchy.from_lines(AGES)) == "<shoal.Hierarchy of 3 text values, 4 levels>"


@given(st.lists(st.text(string.printable, max_size=5), max_size=6), st.sampled_from(list(Kind)))
def test_any_lines_are_a_hierarchy_or_a_clear_error(cells: list[str], kind: Kind) -> None:
    lines = [cell.split(" ") for cell in cells]
    found = problems(lines, kind)
    try:
        tree = Hierarchy.from_lines(lines, kind)
    except HierarchyError:
        assert found.fatal
    else:
        assert not found.fatal
        assert sorted(tree.lines()) == sorted(line for line in lines if line)


def test_the_hierarchies_people_have_can_be_read(shared_data: Path) -> None:
    for path in sorted(shared_data.glob("*/hierarchies/*.csv")):
        found = read_lines(path).problems()
        assert [one.name for one in found.fatal] == (
            ["two roots"] if path.stem == "occupation" else []
        )
        tree = read(path, root="*")
        assert tree.lines() == Hierarchy.from_lines(tree.lines()).lines()
    age = read(shared_data / "adult/hierarchies/age.csv", kind="integer")
    assert [age.labels[level][age.maps[level][age.find(39)]] for level in range(5)] == [
        "39",
        "35-39",
        "30-39",
        "20-39",
        "*",
    ]


def test_hierarchies_in_mixed_encodings_or_with_nul_characters_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_bytes("Köln;*\n".encode("cp1252") + "Łódź;*\n".encode())
    with pytest.raises(FileError, match="mixes encodings: line 2 has UTF-8"):
        read(path)
    path.write_bytes(b"K\0ln;*\nJena;*\n")
    for encoding in (None, "utf-8"):
        with pytest.raises(FileError, match="is not text in"):
            read(path, encoding=encoding)

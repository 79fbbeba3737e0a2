"""Hierarchies as files: what is written comes back, and what cannot be read is named."""

from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import shoal
from shoal import hierarchy
from shoal.data.hierarchy import Hierarchy, read, read_lines, write
from shoal.data.hierarchy.lines import derived_note, text
from shoal.errors import FileError, ParameterError
from tests.data.columns import leaves
from tests.data.hierarchy.made import AGES, trees


@given(trees(), st.sampled_from([";", ",", "\t", "|"]))
@example([["\ufeffa", "b"]], ";")
@example([["0", ";"], ["1", ";"]], ",")
@example([["p;q", "*"], ["r;q", "*"]], ",")
@example([["[0, 5[", "*"], ["[5, 9[", "*"]], ";")
@example([['"', "\r"], ["\n", "\r"]], ";")
def test_a_hierarchy_comes_back_from_its_file_unchanged(
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
    assert leaves(table, "country").tolist() == [0, 1]


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


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text('"two\nlines";*\n\na;*\na;*\n', encoding="utf-8")
    found = read_lines(tmp_path / "tree.csv").problems()
    assert "lines 4 and 5" in found.errors[0]
    assert "line 3 is empty" in found.warnings[0]


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

"""Projects: everything that they say of their input."""

from pathlib import Path
from typing import Any

import pytest

from shoal.arx import read
from shoal.arx.project import criterion_of
from shoal.data.kinds import Kind
from shoal.data.schema import Role
from shoal.errors import FileError
from tests.arx.streams import SECRET, Constant, Made, Thing, criterion, people, stream


def test_a_project_is_read_as_values(tmp_path: Path) -> None:
    made = people(
        weights={"age": 0.75},
        subset=range(0, 60, 2),
        suppression="0.05",
        columns=[
            ("name", "IDENTIFYING", "<datatype>String</datatype>"),
            (
                "age",
                "QUASI_IDENTIFYING",
                "<datatype>Integer</datatype><min>1</min><max>2</max><response>true</response>",
            ),
            ("town", "QUASI_IDENTIFYING", "<datatype>String</datatype><max>All</max>"),
            ("ill", "SENSITIVE", "<datatype>Ordinal</datatype><format>a\nb</format>"),
        ],
    )
    project = read(made.write(tmp_path / "people.deid"))
    name, age, town, ill = project.attributes
    assert (name.role, age.role, ill.role) == (Role.IDENTIFYING, Role.QUASI, Role.SENSITIVE)
    assert (age.kind, age.lowest, age.highest, age.is_response) == (Kind.INTEGER, 1, 2, True)
    assert (age.weight, town.weight, town.highest) == (0.75, 0.5, None)
    assert (ill.kind, ill.format) == (Kind.TEXT, "a\nb")
    assert age.lines is not None
    assert age.lines[0] == ("20", "20s", "*")
    assert project.frame.shape == (60, 4)
    assert project.subset is not None
    assert project.subset.to_list() == [row % 2 == 0 for row in range(60)]
    assert project.suppression == 0.05
    assert [(one.name, dict(one.numbers)) for one in project.criteria] == [("KAnonymity", {"k": 3})]
    assert (project.quality.aggregate, project.quality.balance) == ("GEOMETRIC_MEAN", 0.5)
    assert SECRET not in repr(project)
    assert "owner only" in repr(project)


def test_a_subset_of_everything_is_none(tmp_path: Path) -> None:
    assert read(people(subset=range(60)).write(tmp_path / "p.deid")).subset is None


def test_settings_without_a_counterpart_are_told(tmp_path: Path) -> None:
    made = people(
        settings={"heuristicSearchEnabled": ("Z", True)}, modes={"age": "MICRO_AGGREGATION"}
    )
    project = read(made.write(tmp_path / "p.deid"))
    assert any("heuristic" in line for line in project.settings)
    assert project.attributes[1].transformed == "microaggregation"


def test_without_a_serialised_configuration_the_texts_count(tmp_path: Path) -> None:
    made = people(serialised=False, said=["5-anonymity", "something new"])
    project = read(made.write(tmp_path / "p.deid"))
    known, unknown = project.criteria
    assert (known.name, dict(known.numbers)) == ("KAnonymity", {"k": 5})
    assert (unknown.name, unknown.said) == ("", "something new")
    assert any("serialised" in line for line in project.settings)


@pytest.mark.parametrize(
    ("said", "name", "numbers", "column"),
    [
        ("5-anonymity", "KAnonymity", {"k": 5}, None),
        ("distinct-3-diversity for attribute 'a b'", "DistinctLDiversity", {"minSize": 3}, "a b"),
        ("shannon-entropy-2.5-diversity for attribute 'x'", "EntropyLDiversity", {"l": 2.5}, "x"),
        (
            "recursive-(4.0,3)-diversity for attribute 'x'",
            "RecursiveCLDiversity",
            {"c": 4, "minSize": 3},
            "x",
        ),
        (
            "0.2-closeness with equal ground-distance for attribute 'x'",
            "EqualDistanceTCloseness",
            {"t": 0.2},
            "x",
        ),
        ("enhanced-1.5-likeness for attribute 'x'", "EnhancedBLikeness", {"b": 1.5}, "x"),
        ("1.0-disclosure privacy for attribute 'x'", "DDisclosurePrivacy", {"d": 1}, "x"),
        ("(1.0,1.0E-6)-DP", "EDDifferentialPrivacy", {"epsilon": 1, "delta": 1e-6}, None),
        ("(0.1)-sample-uniqueness", "SampleUniqueness", {"threshold": 0.1}, None),
        ("1e999-anonymity", "", {}, None),
    ],
)
def test_models_by_their_texts(
    said: str, name: str, numbers: dict[str, float], column: str | None
) -> None:
    found = criterion_of(said)
    assert (found.name, dict(found.numbers), found.column) == (name, numbers, column)


def wrong_subset() -> Made:
    made = people(subset=[1])
    made.rows = [*made.rows, *made.rows]
    before = made.content()["input/config.dat"]
    made.rows = made.rows[:60]
    return people(parts={"input/config.dat": before})


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (people(columns=people().columns[:3]), "not a table"),
        (people(parts={"data/input.csv": b"a;b\n1;2\n"}), "other columns"),
        (people(columns=[]), "no columns"),
        (people(columns=[("name", "ADMIRABLE", ""), *people().columns[1:]]), "role"),
        (people(parts={"input/config.dat": stream(Thing("Evil"))}), "another object"),
        (people(parts={"input/config.dat": b"\xac\xed\x00\x05r"}), "not a whole stream"),
        (people(parts={"input/hierarchies/age.csv": None}), "hierarchy that it does not have"),
        (people(parts={"data/input.csv": b'a;b\n"' + SECRET.encode()}), "data|other columns"),
        (people(parts={"data/input.csv": b"\xff\xfe;;;\n" + SECRET.encode()}), "data|columns"),
        (
            people(parts={"project.xml": b"<project><separator>\xc3\xa4</separator></project>"}),
            "unusual",
        ),
        (wrong_subset(), "another table"),
    ],
)
def test_what_is_not_a_whole_project_is_refused(tmp_path: Path, made: Made, why: str) -> None:
    with pytest.raises(FileError, match=why) as refused:
        read(made.write(tmp_path / "p.deid"))
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("reference", ["../../data/input.csv", "/etc/passwd", "hierarchies/no.csv"])
def test_references_to_other_files_are_not_followed(tmp_path: Path, reference: str) -> None:
    column = ("town", "QUASI_IDENTIFYING", f"<ref>{reference}</ref>")
    trees = {"age": people().hierarchies["age"]}
    made = people(columns=[*people().columns[:2], column, people().columns[3]], hierarchies=trees)
    with pytest.raises(FileError, match="does not have"):
        read(made.write(tmp_path / "p.deid"))


@pytest.mark.parametrize("odd", [{"k": ("L", "three")}, {"k": ("D", float("nan"))}, {}])
def test_a_model_without_its_number_has_none(tmp_path: Path, odd: dict[str, Any]) -> None:
    thing = Thing("org.deidentifier.arx.criteria.KAnonymity", odd)
    project = read(people(criteria=[thing]).write(tmp_path / "p.deid"))
    assert dict(project.criteria[0].numbers) == {}


def test_other_objects_among_models_are_left_alone(tmp_path: Path) -> None:
    odd: list[Any] = [criterion("KAnonymity", k=2), "text", Constant("E", "X"), None]
    project = read(people(criteria=odd).write(tmp_path / "p.deid"))
    assert [one.name for one in project.criteria] == ["KAnonymity"]


def test_the_examples_of_arx(shared_data: Path) -> None:
    project = read(shared_data / "arx-projects" / "example.deid")
    assert [one.name for one in project.criteria] == ["Inclusion", "KAnonymity"]
    assert project.subset is not None
    assert project.subset.sum() == 5692
    large = read(shared_data / "arx-projects" / "example2.deid")
    assert (large.quality.balance, large.attributes[0].transformed) == (0.007, "microaggregation")

"""Descriptions of releases: by the standards, and from nothing but the released files and words."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import shoal
from shoal import About, demo
from shoal.chance import Seeded
from shoal.data.hierarchy import suppress
from shoal.errors import FileError, InputError, ParameterError
from shoal.releases.metadata import Form, name_of
from tests.regions import by_region, town_table

FORMS: tuple[Form, ...] = ("datapackage", "csvw", "healthdcat")
ABOUT = About(
    title="Stays in hospital",
    description="Made-up stays.",
    publisher="The hospital",
    contact="data@example.org",
    licence="CC-BY-4.0",
    homepage="https://example.org/stays",
    keywords=("hospital",),
    columns={"age": "Age at admission"},
    population="Everybody who stayed",
    health_category="EHRS",
    health_themes=("NONCOMMUNICABLE_DISEASES",),
    access_body="The access body",
    access_body_contact="https://example.org/access",
)
# Facts of the Data Package standard, version 2.
PACKAGE: dict[str, Any] = {
    "type": "object",
    "required": ["resources"],
    "properties": {
        "$schema": {"const": "https://datapackage.org/profiles/2.0/datapackage.json"},
        "name": {"type": "string", "pattern": r"^[a-z0-9._-]+$"},
        "licenses": {
            "type": "array",
            "items": {"anyOf": [{"required": ["name"]}, {"required": ["path"]}]},
        },
        "contributors": {"type": "array", "items": {"type": "object", "minProperties": 1}},
        "resources": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["name", "path", "schema"],
                "properties": {
                    "name": {"type": "string", "pattern": r"^[a-z0-9._-]+$"},
                    "path": {"type": ["string", "array"]},
                    "type": {"const": "table"},
                    "bytes": {"type": "integer"},
                    "hash": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
                    "schema": {
                        "required": ["fields"],
                        "properties": {
                            "fields": {
                                "items": {
                                    "required": ["name", "type"],
                                    "properties": {
                                        "type": {"enum": ["string", "integer", "number", "date"]}
                                    },
                                }
                            }
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("metadata") / "released"
    shoal.NoisyCounts(1, "1e-6").release(demo.table(3001)).write(made)
    return made


def described(folder: Path, form: Form, about: About = ABOUT) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(shoal.metadata(folder, form, about))
    return made


def test_a_data_package_is_one(folder: Path) -> None:
    package = described(folder, "datapackage")
    jsonschema.validate(package, PACKAGE)
    resource = package["resources"][0]
    paper = json.loads((folder / "certificate.json").read_text())
    assert resource["hash"] == f"sha256:{paper['file']['sha256']}"
    assert resource["bytes"] == (folder / "release.csv").stat().st_size
    assert package["shoal"]["promise"] == paper["promise"]
    header = (folder / "release.csv").read_text().split("\n", 1)[0]
    assert [field["name"] for field in resource["schema"]["fields"]] == header.split(",")
    released = pl.read_csv(folder / "release.csv", infer_schema=False)
    for field in resource["schema"]["fields"]:
        values = set(released[field["name"]].drop_nulls().to_list())
        if "categories" in field:
            assert set(field["categories"]) == values
        if field["type"] == "integer":
            assert all(re.fullmatch("-?[0-9]+", value) for value in values)
    assert "Age at admission" in resource["schema"]["fields"][0]["description"]


@pytest.mark.parametrize(("number", "listed"), [(100, True), (101, False)])
def test_values_are_listed_where_people_can_read_them_all(
    tmp_path: Path, number: int, listed: bool
) -> None:
    frame = pl.DataFrame({"word": [f"w{place:03}" for place in range(number)], "n": 1})
    table = shoal.table(frame, insensitive=["word", "n"])
    shoal.RandomSample(1).release(table).write(tmp_path)
    word, n = described(tmp_path, "datapackage", About())["resources"][0]["schema"]["fields"]
    assert word.get("categories") == (frame["word"].to_list() if listed else None)
    assert "categories" not in n


def test_csvw_names_every_column_as_the_file_does(folder: Path) -> None:
    group = described(folder, "csvw")
    assert group["@context"][0] == "http://www.w3.org/ns/csvw"
    assert [table["url"] for table in group["tables"]] == ["release.csv"]
    columns = group["tables"][0]["tableSchema"]["columns"]
    header = (folder / "release.csv").read_text().split("\n", 1)[0]
    assert [column["titles"] for column in columns] == header.split(",")
    for column in columns:
        # A variable of RFC 6570 that does not begin with an underscore.
        assert re.fullmatch("(?!_)([A-Za-z0-9_]|%[0-9A-F]{2})+", column["name"])
        assert column["datatype"] in {"string", "integer", "double", "date"}


def nodes(given: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON-LD document that have a type."""
    if isinstance(given, dict):
        if "@type" in given and "@value" not in given:
            yield given
        for value in given.values():
            yield from nodes(value)
    if isinstance(given, list):
        for value in given:
            yield from nodes(value)


# What HealthDCAT-AP, release 8, asks of public datasets.
NEEDED = {
    "dcat:Dataset": {
        "dct:title",
        "dct:description",
        "dct:identifier",
        "dct:accessRights",
        "dcatap:applicableLegislation",
        "dcat:theme",
        "dcat:distribution",
        "healthdcatap:hdab",
        "healthdcatap:healthCategory",
        "healthdcatap:hasStructuredData",
        "healthdcatap:hasVariables",
    },
    "dcat:Distribution": {"dcat:accessURL", "dcatap:applicableLegislation"},
    "foaf:Agent": {"foaf:name", "cv:contactPoint"},
    "csvw:TableGroup": {"dct:title", "csvw:table"},
    "csvw:Table": {"dct:title", "csvw:column"},
    "csvw:Column": {"csvw:name", "csvw:title", "csvw:datatype", "dct:description"},
}


def test_healthdcat_has_what_every_dataset_needs(folder: Path) -> None:
    dataset = described(folder, "healthdcat")
    found = list(nodes(dataset))
    assert {node["@type"] for node in found} >= NEEDED.keys()
    for node in found:
        assert NEEDED.get(node["@type"], set()) <= node.keys()
    prefixes = {key.partition(":")[0] for node in found for key in node if ":" in key}
    assert prefixes <= dataset["@context"].keys()
    assert dataset["dct:accessRights"]["@id"].endswith("/PUBLIC")
    assert dataset["healthdcatap:healthCategory"]["@id"].endswith("/healthcategories/EHRS")
    rows = len((folder / "release.csv").read_text().splitlines()) - 1
    assert dataset["healthdcatap:numberOfRecords"]["@value"] == str(rows)


def test_healthdcat_asks_for_the_words_that_no_release_has(folder: Path) -> None:
    with pytest.raises(ParameterError, match="'health_category', 'access_body'"):
        shoal.metadata(folder, "healthdcat", About(title="Stays", homepage="https://example.org"))


@pytest.mark.parametrize("form", FORMS)
def test_no_description_has_the_number_of_input_records(folder: Path, form: Form) -> None:
    text = shoal.metadata(folder, form, ABOUT)
    digests = re.compile("[0-9a-f]{32,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    text = digests.sub("", text)
    assert "3001" not in text
    assert "3,001" not in text


def released_from(people: dict[str, list[str]], folder: Path) -> None:
    table = shoal.table(
        pl.DataFrame(people),
        identifying=["name"],
        quasi=["sex"],
        sensitive=["ill"],
        hierarchies={"sex": suppress(["f", "m", "x"])},
    )
    method = shoal.Optimal((shoal.KAnonymity(2),), suppression="1/2", ceiling={"sex": 0})
    method.release(table, chance=Seeded(5)).write(folder)


@pytest.mark.parametrize("form", FORMS)
def test_whatever_input_gives_the_same_release_has_the_same_description(
    tmp_path: Path, form: Form
) -> None:
    rows = {"name": [*"abcde"], "sex": [*"ffmmx"], "ill": [*"uvuvw"]}
    released_from(rows, tmp_path / "one")
    # Other names, another order, and another person who is suppressed.
    other = {"name": [*"edxyz"], "sex": [*"mmffx"], "ill": [*"uvuvq"]}
    released_from(other, tmp_path / "two")
    files = [sorted((tmp_path / name).iterdir()) for name in ("one", "two")]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]
    about = shoal.About(**{**vars(ABOUT), "columns": {}})
    one, two = (shoal.metadata(tmp_path / name, form, about) for name in ("one", "two"))
    assert one == two
    for hidden in ('"w"', '"q"', '"x"'):
        assert hidden not in one


def test_hierarchies_of_sensitive_columns_stay_on_the_certificate(tmp_path: Path) -> None:
    table = shoal.table(
        pl.DataFrame({"sex": [*"ffmm"], "ill": ["flu", "cold", "flu", "cold"]}),
        quasi=["sex"],
        sensitive=["ill"],
        hierarchies={
            "sex": suppress(["f", "m"]),
            "ill": suppress(["flu", "cold", "never seen"]),
        },
    )
    shoal.Optimal((shoal.KAnonymity(2),)).release(table).write(tmp_path / "made")
    assert "never seen" in (tmp_path / "made" / "certificate.json").read_text()
    about = shoal.About(**{**vars(ABOUT), "columns": {}})
    for form in FORMS:
        assert "never seen" not in shoal.metadata(tmp_path / "made", form, about)


def test_parts_and_other_formats_are_described(tmp_path: Path) -> None:
    made = shoal.NoisyCounts(1, "1e-6").release(demo.table(3001))
    made.write(tmp_path / "parts", rows_per_file=1000)
    resource = described(tmp_path / "parts", "datapackage")["resources"][0]
    assert resource["path"][:2] == ["release-00000.csv", "release-00001.csv"]
    urls = [table["url"] for table in described(tmp_path / "parts", "csvw")["tables"]]
    assert urls == resource["path"]
    made.write(tmp_path / "parquet", "parquet")
    package = described(tmp_path / "parquet", "datapackage")
    assert package["resources"][0]["mediatype"] == "application/vnd.apache.parquet"
    with pytest.raises(ParameterError, match="describes CSV files"):
        described(tmp_path / "parquet", "csvw")
    made.write(tmp_path / "packed", "csv.gz")
    resource = described(tmp_path / "packed", "datapackage")["resources"][0]
    assert (resource["format"], resource["compression"]) == ("csv", "gz")
    assert (resource["mediatype"], resource["encoding"]) == ("text/csv", "utf-8")
    text = json.dumps(described(tmp_path / "packed", "healthdcat"))
    for said in ("media-types/text/csv", "media-types/application/gzip", "file-type/CSV"):
        assert said in text
    made.write(tmp_path / "neutral", neutralise=True)
    fields = described(tmp_path / "neutral", "datapackage")["resources"][0]["schema"]["fields"]
    assert {field["type"] for field in fields} == {"string"}


def test_a_changed_table_is_not_described(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "changed")
    with open(tmp_path / "changed" / "release.csv", "a") as file:
        file.write("\n")
    with pytest.raises(FileError, match="not the table that its certificate was written for"):
        shoal.metadata(tmp_path / "changed")


def test_a_description_beside_a_release_is_replaced_along_with_it(tmp_path: Path) -> None:
    released = tmp_path / "released"
    made = shoal.NoisyCounts(1, "1e-6").release(demo.table(500))
    made.write(released)
    for form in FORMS:
        (released / name_of(form)).write_text(shoal.metadata(released, form, ABOUT))
    shoal.Release.read(released)
    assert shoal.verify(released / "certificate.json", released) == []
    made.write(released)
    assert sorted(path.name for path in released.iterdir()) == ["certificate.json", "release.csv"]


def test_words_come_from_a_file(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "about.toml"
    file.write_text('title = "Stays"\nkeywords = ["a", "b"]\n[columns]\nage = "Age"\n')
    about = About.read(file)
    assert about == About(title="Stays", keywords=("a", "b"), columns={"age": "Age"})
    file.write_text('titel = "Stays"\n')
    with pytest.raises(InputError, match="titel"):
        About.read(file)
    file.write_text("title = 5\n")
    with pytest.raises(InputError, match="title"):
        About.read(file)
    with pytest.raises(ParameterError, match="which the release does not have"):
        shoal.metadata(folder, about=About(columns={"agee": "Age"}))


def test_every_column_of_a_tree_is_said_to_be_generalised_by_region(tmp_path: Path) -> None:
    """Sensitive ones too: their certificate has the hierarchy where others have its digest."""
    release = by_region("noisy", town_table())
    assert release.certificate.refined is not None
    assert {name for name, _ in release.certificate.refined.steps} == {"town", "age", "ill"}
    release.write(tmp_path)
    [resource] = described(tmp_path, "datapackage", About())["resources"]
    by_column = {field["name"]: field["description"] for field in resource["schema"]["fields"]}
    told = {name for name, text in by_column.items() if "differ by region" in text}
    assert told == {"town", "age", "ill"}

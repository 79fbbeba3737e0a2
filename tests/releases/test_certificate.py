"""Certificates: written once, read back exactly, and open about what is not protected."""

import json
from dataclasses import fields, replace

import pytest

from shoal.chance import Chance, Seeded
from shoal.errors import FileError
from shoal.privacy.promises import Coincidence, Promise, Sampled, Syntactic
from shoal.releases.certificate import DOCUMENT, Certificate, certify
from shoal.releases.sealed import canonical, seal_of
from tests.regions import METHODS, by_region, town_table
from tests.releases.people import people
from tests.releases.test_release import StandIn

PROMISES: list[Promise] = [
    Sampled("1/3"),
    Syntactic(("2-anonymity",), starred=True),
    Coincidence(("2-anonymity",), merged=False),
]


def paper(promise: Promise = PROMISES[0], chance: Chance | None = None) -> Certificate:
    return certify(people(), StandIn(), promise, chance or Chance())


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_a_certificate_says_what_its_promise_says(promise: Promise) -> None:
    certificate = paper(promise)
    assert certificate.promise == promise.to_dict()
    assert certificate.statement == promise.statement
    assert tuple(certificate.unprotected) == promise.unprotected
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_the_layout_of_a_certificate_has_a_version_and_another_one_is_refused() -> None:
    content = json.loads(paper().to_json())
    assert content["certificate"] == DOCUMENT.version == 2
    names = {part.name for part in fields(Certificate)} - {"chosen_after_looking"}
    assert content.keys() - {"certificate", "seal"} == names
    del content["seal"]
    content["certificate"] = 1
    text = canonical({**content, "seal": seal_of(content)})
    with pytest.raises(FileError, match="has layout 1, and this version of Shoal reads layout 2"):
        Certificate.from_json(text)


def test_a_certificate_that_lacks_a_part_is_not_one() -> None:
    content = json.loads(paper().to_json())
    del content["seal"], content["whole"]
    text = canonical({**content, "seal": seal_of(content)})
    with pytest.raises(FileError, match=r"not a valid certificate; give the certificate\.json"):
        Certificate.from_json(text)


def test_a_column_of_counts_is_on_the_certificate_where_there_is_one() -> None:
    counted = certify(people(), StandIn(), PROMISES[0], Chance(), counted=True)
    assert counted.columns[:-1] == paper().columns
    assert counted.columns[-1] == {"name": "count", "role": "insensitive", "type": "integer"}


def test_lines_for_people_are_short_and_a_seed_is_said_first() -> None:
    lines = str(replace(paper(chance=Seeded(1)), recipe="0" * 64)).splitlines()
    assert lines[1].startswith("NOT PRIVATE")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("method", METHODS)
def test_a_tree_is_shown_as_the_order_in_which_columns_were_refined(method: str) -> None:
    certificate = by_region(method, town_table()).certificate
    text = str(certificate)
    assert max(map(len, text.splitlines())) <= 80
    told = " ".join(text.split())
    steps = certificate.derived["tree"]["steps"]
    order = ", ".join(f"{name} {level}" for name, level in steps)
    assert f"Levels by region, refined in this order: {order} Parameters" in told
    assert "[" not in text
    assert f"threshold of the tree = {certificate.derived['tree']['threshold']}" in text
    assert Certificate.from_json(certificate.to_json()).refined == certificate.refined


def test_a_tree_that_is_not_one_is_shown_as_it_is_written() -> None:
    certificate = replace(paper(), derived={"tree": {"steps": [["age", "all"]]}})
    assert certificate.refined is None
    assert "tree = steps [age, all]" in str(certificate)


def test_a_column_that_is_not_refined_has_its_level_beside_the_order_of_the_others() -> None:
    tree = {"steps": [["age", 0]]}
    lines = str(replace(paper(), levels={"sex": 1}, derived={"tree": tree})).splitlines()
    place = lines.index("Levels")
    order = "by region, refined in this order: age 0"
    assert lines[place + 1 : place + 3] == ["  sex 1", f"  {order}"]


@pytest.mark.parametrize("number", ["9" * 400 + "/7", "9" * 5000 + "/7", "1/" + "9" * 5000])
def test_numbers_that_anybody_made_up_are_shown_as_they_are_written(number: str) -> None:
    certificate = replace(paper(), derived={"bound": number})
    assert f"bound = {number}" in " ".join(str(certificate).split())


@pytest.mark.parametrize(
    "file",
    [
        {},
        {"name": 1, "sha256": "0"},
        {"name": "a.csv", "sha256": 1},
        {"name": "a.csv", "sha256": "0", "further": []},
        {"name": "a.csv", "sha256": "0", "further": {"b": {"name": 1}}},
    ],
    ids=str,
)
def test_a_file_has_a_name_and_digests(file: object) -> None:
    content = {key: part for key, part in json.loads(paper().to_json()).items() if key != "seal"}
    content["file"] = file
    with pytest.raises(FileError):
        Certificate.from_json(canonical({**content, "seal": seal_of(content)}))

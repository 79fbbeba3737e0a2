"""`verify` as a whole: releases hold, and what was changed or forged is found in words."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import FileError
from shoal.methods.sampling import RandomSample
from shoal.privacy.calculus import delta_for, safepub_parameters
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.release import Release
from shoal.releases.verification import unchecked, verify
from tests.releases.verification.forging import (
    METHODS,
    TREES,
    Change,
    Content,
    both,
    forge,
    method,
    people,
    put,
    released,
)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("name", METHODS)
def test_a_release_verifies_with_and_without_hierarchies(
    tmp_path: Path, name: str, form: str
) -> None:
    path = released(name).write(tmp_path, form)
    assert verify(tmp_path / "certificate.json", path) == []
    assert verify(tmp_path / "certificate.json", path, TREES) == []


def test_missing_values_and_an_empty_table_verify(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"sex": ["f", None] * 500, "age": [31, 31, None, None] * 250, "ill": [None] * 1000}
    )
    for number, rows in enumerate((frame, frame.clear())):
        table = shoal.table(
            rows, quasi=["sex", "age"], sensitive=["ill"], hierarchies=TREES, types={"ill": "text"}
        )
        release = method(levels={"age": 0, "sex": 0}).release(table)
        assert bool(len(release.table)) == bool(len(rows))
        path = release.write(tmp_path / str(number))
        assert verify(path.with_name("certificate.json"), path, TREES) == []


def test_a_release_from_a_seed_promises_nothing(tmp_path: Path) -> None:
    path = method().release(people(), Seeded(1)).write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == [
        "the release was made with a seed, as a test: nothing is promised"
    ]


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_releases_by_other_methods_verify_with_hierarchies(tmp_path: Path, suppressed: Any) -> None:
    kinds = (
        [("f", 31, "flu")] * 20 + [("m", 45, "flu")] * 20 + [("f", 59, "gout"), ("m", 31, "cold")]
    )
    frame = pl.DataFrame(kinds, schema=["sex", "age", "ill"], orient="row")
    table = shoal.table(frame, quasi=["sex", "age"], sensitive=["ill"], hierarchies=TREES)
    release = shoal.Optimal(
        (shoal.KAnonymity(3),), suppression="1/10", suppressed=suppressed
    ).release(table)
    assert release.suppressed == 2
    path = release.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path, TREES) == []


def sampled() -> Release:
    """A release with a short certificate that takes no time to check."""
    frame = pl.DataFrame({"age": list(range(80))})
    return RandomSample("1/2").release(shoal.table(frame, insensitive=["age"]))


def with_byte(content: bytes, place: int, other: bytes) -> bytes:
    return content[:place] + other + content[place + 1 :]


def test_every_change_of_one_byte_of_a_certificate_is_found(tmp_path: Path) -> None:
    table, paper = sampled().write(tmp_path), tmp_path / "certificate.json"
    content = paper.read_bytes()
    for place, byte in enumerate(content):
        paper.write_bytes(with_byte(content, place, bytes([byte ^ 1])))
        assert verify(paper, table), place
    paper.write_bytes(content)
    assert verify(paper, table) == []


def test_a_byte_more_or_less_of_a_certificate_is_found(written: tuple[Path, Path]) -> None:
    paper, table = written
    content = paper.read_bytes()
    for place in range(0, len(content), 29):
        here = content[place : place + 1]
        for other in (b"", bytes([content[place] ^ 1]), bytes([content[place] ^ 128]), here * 2):
            paper.write_bytes(with_byte(content, place, other))
            assert verify(paper, table), place
        paper.write_bytes(with_byte(content, place, b" " + here))
        assert verify(paper, table), place
    paper.write_bytes(content)
    assert verify(paper, table) == []


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_changed_byte_of_a_table_is_found(tmp_path: Path, form: str) -> None:
    table, paper = sampled().write(tmp_path, form), tmp_path / "certificate.json"
    content = table.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 200)):
        table.write_bytes(with_byte(content, place, bytes([content[place] ^ 1])))
        assert verify(paper, table) == [
            "the table is not the one that the certificate was written for: their digests differ"
        ]
    for other in (content[:-1], content + b"\n", b"", content.replace(b"\n", b"\r\n", 1) + b" "):
        table.write_bytes(other)
        assert verify(paper, table)


FORGERIES: dict[str, tuple[Change, str]] = {
    "k too small": (
        lambda content: put("derived.k", content["derived"]["k"] - 1)(content),
        "is too small",
    ),
    "k of none": (put("derived.k", 0), "not a valid Shoal certificate"),
    "k above what is there": (
        put("derived.k", 10**6),
        "8 of 8 groups over all columns have fewer than k",
    ),
    "a larger beta": (put("derived.beta", "9/10"), "above 1 - e^-epsilon"),
    "no beta": (put("derived.beta", "0"), "beta"),
    "a smaller epsilon in the promise": (
        put("promise.epsilon", "1"),
        "not those of the parameters",
    ),
    "a smaller delta in the promise": (put("promise.delta", "1e-6"), "not those of the parameters"),
    "a smaller epsilon everywhere but in the derivation": (
        both(put("promise.epsilon", "1"), put("parameters.epsilon", "1")),
        "do not add up",
    ),
    "a smaller epsilon everywhere but for beta and k": (
        both(
            put("promise.epsilon", "1"),
            put("parameters.epsilon", "1"),
            put("derived.epsilon_anonymisation", "1"),
        ),
        "above 1 - e^-epsilon",
    ),
    "a smaller delta everywhere but for k": (
        both(
            put("promise.delta", "1e-9"),
            put("parameters.delta", "1e-9"),
            put("derived.delta", "1e-9"),
        ),
        "is too small",
    ),
    "a smaller delta everywhere but in the derivation": (
        both(put("promise.delta", "1e-9"), put("parameters.delta", "1e-9")),
        "the delta of a row is too large",
    ),
    "the stronger definition in the promise": (
        put("promise.definition", "probabilistic"),
        "do not name one definition",
    ),
    "parts that exceed the whole": (put("derived.epsilon_search", "1/10"), "do not add up"),
    "a search that nobody paid for": (put("parameters.levels", None), "had to be chosen"),
    "another unit": (put("promise.unit", "who"), "the unit of the promise"),
    "a person in two rows who paid for one": (
        both(put("promise.unit", "who"), put("parameters.unit", "who"), put("parameters.rows", 2)),
        "how many rows",
    ),
    "people, by the probabilistic definition": (
        both(
            *(
                put(f"{part}.definition", "probabilistic")
                for part in ("promise", "parameters", "derived")
            ),
            put("promise.unit", "who"),
            put("parameters.unit", "who"),
        ),
        "the standard definition only",
    ),
    "the column of people is released": (
        both(put("promise.unit", "ill"), put("parameters.unit", "ill")),
        "which tells people apart, is released",
    ),
    "no record left out": (put("whole", True), "no record was left out"),
    "not private": (put("private", False), "nothing is promised"),
    "nearly private": (put("private", 1), "not a valid certificate"),
    "another statement": (
        put("statement", "nobody will ever know"),
        "is not what its promise says",
    ),
    "a stronger kind of neighbours": (
        put("promise.neighbours", "any"),
        "is not what its promise says",
    ),
    "a count stated": (put("derived.suppressed", 12), "the certificate states 'suppressed'"),
    "a score stated": (put("parameters.best", "1/3"), "the certificate states 'best'"),
    "another method": (put("method", "optimal"), "does not promise differential privacy"),
    "another promise": (
        put("promise", {"promise": "sampled", "share": "1/2"}),
        "does not promise sampled",
    ),
    "another level than the one fixed": (put("levels.age", 0), "not those that the parameters fix"),
    "a level too few": (
        lambda content: content["levels"].pop("age"),
        "a level for every generalised column",
    ),
    "a level below none": (put("levels.age", -1), "not a valid Shoal certificate"),
    "a role of none": (
        lambda content: put("role", "identifying")(content["columns"][2]),
        "no column is released",
    ),
    "an epsilon that fills the memory": (put("promise.epsilon", "1e999999999"), "epsilon"),
    "a beta that fills the memory": (
        put("derived.beta", "1e-999999999"),
        "not a valid Shoal certificate",
    ),
    "nothing derived": (put("derived", {}), "not a valid Shoal certificate"),
    "no parameters": (put("parameters", []), "not a valid certificate"),
}


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(written: tuple[Path, Path], change: Change, words: str) -> None:
    paper, table = written
    forge(paper, change)
    assert any(words in fault for fault in verify(paper, table)), verify(paper, table)


def test_only_what_no_promise_depends_on_can_be_changed_alone(written: tuple[Path, Path]) -> None:
    paper, table = written
    honest = paper.read_text(encoding="utf-8")
    content = json.loads(honest)

    def leaves(inside: Any, place: tuple[Any, ...] = ()) -> Any:
        for key, inner in inside.items() if isinstance(inside, dict) else enumerate(inside):
            if isinstance(inner, dict | list) and inner:
                yield from leaves(inner, (*place, key))
            else:
                yield (*place, key), inner

    def other(value: Any) -> Any:
        if type(value) is int:
            return value - 1
        return "quasi" if value == "sensitive" else f"{value}x"

    passed = []
    for place, value in leaves({key: value for key, value in content.items() if key != "seal"}):

        def change(content: Content, place: tuple[Any, ...] = place, value: Any = value) -> None:
            for key in place[:-1]:
                content = content[key]
            content[place[-1]] = other(value)

        forge(paper, change)
        if not verify(paper, table):
            passed.append(place)
        paper.write_text(honest, encoding="utf-8")
    assert not passed
    # What is known to hold does; test_forgeries changes more, and likelier.
    assert verify(paper, table) == []


def test_a_promise_that_the_parameters_do_not_make_is_found_for_models_too(tmp_path: Path) -> None:
    path = shoal.Optimal((shoal.KAnonymity(3),)).release(people()).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path, TREES) == []
    statement = json.loads(paper.read_text())["statement"].replace("3-", "300-")
    forge(paper, both(put("promise.models", ["300-anonymity"]), put("statement", statement)))
    assert verify(paper, path) == [
        "300-anonymity is promised, which is not among the parameters",
        "3-anonymity is among the parameters, and not promised",
    ]


def test_a_certificate_of_another_version_is_for_that_version_to_verify(
    written: tuple[Path, Path],
) -> None:
    paper, table = written
    forge(paper, put("version", "0.0.1"))
    assert verify(paper, table) == [
        f"the certificate was written by Shoal 0.0.1, and this is {shoal.__version__}; "
        "verify it with the version that wrote it"
    ]


def test_the_statement_of_every_promise_is_known(tmp_path: Path) -> None:
    stated = DifferentialPrivacy("ln(9)", "1e-4", "standard", "who")
    path = (
        method(epsilon="ln(9)", definition="standard", unit="who").release(people()).write(tmp_path)
    )
    assert json.loads((tmp_path / "certificate.json").read_text())["statement"] == stated.statement
    assert verify(tmp_path / "certificate.json", path) == []
    assert delta_for(
        safepub_parameters("ln(9)", "1e-4", "standard").k, "ln(9)", "standard"
    ) <= Fraction("1e-4")


def certificate_with(promise: str) -> str:
    """The JSON of a certificate with that of its promise, whatever it is."""
    parts = (
        '"certificate": 2, "seal": "", "statement": "", "unprotected": [], "method": "", '
        '"parameters": {}, "columns": [], "number": ""'
    )
    return f'{{{parts}, "promise": {promise}}}'


@pytest.mark.parametrize(
    "text",
    [
        certificate_with("NaN"),
        certificate_with('"\\ud800"'),
        certificate_with("[" * 900 + "]" * 900),
        "[" * 100_000,
        "9" * 100_000,
        "\ufeff{}",
    ],
    ids=["nan", "surrogate", "deep", "deeper", "long", "mark"],
)
def test_whatever_the_certificate_is_the_answer_is_in_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "certificate.json").write_text(text, encoding="utf-8")
    (tmp_path / "release.csv").write_text("a\n")
    assert "certificate" in verify(tmp_path / "certificate.json", tmp_path / "release.csv")[0]
    with pytest.raises(FileError, match="certificate"):
        unchecked(tmp_path / "certificate.json")


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_table_that_cannot_be_read_though_its_digest_is_right_is_a_fault(
    tmp_path: Path, form: str
) -> None:
    import hashlib

    table, paper = method().release(people()).write(tmp_path, form), tmp_path / "certificate.json"
    content = table.read_bytes()
    for cut in (b"", content[: len(content) // 2], content[:-8] + b"\xff" * 4 + content[-4:]):
        table.write_bytes(cut)
        forge(paper, put("file.sha256", hashlib.sha256(cut).hexdigest()))
        assert verify(paper, table) == [f"the table is not a readable {form} file"]


def test_what_cannot_be_checked_is_listed() -> None:
    paper = method(**METHODS["by person"]).release(people()).certificate
    listed = " / ".join(unchecked(paper))
    for words in (
        "drawn by chance",
        "by the search",
        "'who' gave at most 2 rows",
        "labels of their levels",
        "were public",
    ):
        assert words in listed
    assert "labels of their levels" not in " ".join(unchecked(paper, TREES))
    assert "by the search" not in " ".join(unchecked(method().release(people()).certificate))

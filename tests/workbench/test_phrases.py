"""What the library says on screens is there in other languages, or marked as English."""

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from string import Formatter

import polars as pl
import pytest

import shoal
from shoal.data.formats import FORMATS, WRITTEN, called
from shoal.look.pictures import Picture
from shoal.measure.conventions import CONVENTIONS
from shoal.measure.explaining import explain
from shoal.measure.risk import Assessment
from shoal.measure.signs import NAME_SIGNS, VALUE_SIGNS
from shoal.measure.suggesting import suggest
from shoal.privacy.limits import BucketLimits, Limits, Linear
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)
from shoal.workbench.drawing import figures
from shoal.workbench.phrases import Phrases, in_chart, phrases
from tests.workbench.benches import Bench
from tests.workbench.test_texts import FOLDER, others

KEY = "hospital~hospital"


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def _errors() -> Iterator[str]:
    """What errors of the workbench say, without those that have something in them."""
    for path in (FOLDER / "screens").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
                for given in node.args:
                    if isinstance(given, ast.Constant) and isinstance(given.value, str):
                        yield given.value


@others
def test_phrases_have_the_same_places(language: str) -> None:
    for english, other in phrases(language)._known.items():
        assert _names(english) == _names(other), english


PROMISES = (
    DifferentialPrivacy("ln(2)", "1e-6", "standard"),
    DifferentialPrivacy(1, "1e-6", "probabilistic", unit="patient", semantic_k=10),
    SemanticAnonymity(5, unit="patient"),
    SemanticAnonymity(2),
    Syntactic(("5-anonymity", "2-diversity of ill"), unit="patient", starred=True),
    Sampled("0.1"),
    Coincidence(("3-diversity of ill",)),
    Coincidence(("3-diversity of ill",), merged=False),
    LowestRisk("0.7", "exact", "leaves", "fixed", "table"),
    LowestRisk("0.7", "greedy", "leaves", "fixed", "table", unit="patient"),
    BucketLimits("ill", Limits.formula(2, "0.05"), unit="patient"),
    BucketLimits("ill", Limits.each({"HIV": "0.05"}, others="1/3"), fakes=1),
    BucketLimits("ill", Limits.each({"HIV": "0.05", "flu": 1}, others=Linear(2, "0.1")), fakes=3),
    BucketLimits(
        "ill",
        Limits.classes({"grave": ("0.1", ["HIV"]), "mild": ("0.5", ["flu", "cold"])}, others="0.4"),
    ),
)


@others
def test_promises_are_told_whole_with_what_they_do_not_protect(language: str) -> None:
    said = phrases(language)
    for promise in PROMISES:
        for text in (promise.statement, *promise.unprotected):
            assert said.find(text), text
        # Nothing of the English sentence is left inside.
        assert not re.search(" (whatever|values?|of all|for any) ", said(promise.statement))


@others
def test_names_of_formats_are_known(language: str) -> None:
    assert all(phrases(language).find(called(form)) for form in {*WRITTEN, *FORMATS.values()})


@others
def test_errors_of_screens_signs_and_conventions_are_known(language: str) -> None:
    said = phrases(language)
    texts = {*_errors()} | {sign.what for sign in (*NAME_SIGNS, *VALUE_SIGNS)}
    for one in CONVENTIONS:
        texts |= {one.name, one.asks}
    assert not sorted(text for text in texts if said.find(text) is None)


@pytest.fixture(scope="module")
def risks() -> list[Assessment]:
    frame = shoal.demo.table(300).frame.to_polars()
    alike = frame.with_columns(age=pl.lit(40))
    return [
        shoal.assess(frame, quasi=["age", "sex"]),
        shoal.assess(frame, quasi=["age", "sex"], rows_are_people=True),
        shoal.assess(alike, quasi=["age"]),
        shoal.assess(alike, quasi=["age"], rows_are_people=True),
    ]


def _words(picture: Picture) -> Iterator[str]:
    yield from (picture.title, picture.sentence, *picture.head)
    yield from (str(row[0]) for row in picture.rows if re.search("[a-z]{3}", str(row[0])))


@others
def test_pictures_and_verdicts_of_risks_are_known(language: str, risks: list[Assessment]) -> None:
    said = phrases(language)
    for risk in risks:
        assert said.find(risk.verdict.line), risk.verdict.line
        for picture in risk.pictures():
            for text in _words(picture):
                assert said.find(text), text


@others
def test_explanations_and_suggestions_are_known(language: str) -> None:
    said = phrases(language)
    for picture in explain(Fraction(1), Fraction(1, 10**6)).pictures():
        for text in _words(picture):
            assert said.find(text), text
    for suggestion in suggest(shoal.demo.table(300)):
        for reason in suggestion.reasons:
            assert said.find(reason), reason


def test_a_text_that_is_not_known_stays() -> None:
    said = Phrases({"{n} of {n_all}": "{n} von {n_all}", "{column} has {w}": "{column}: {w}"})
    assert said("5 of 1,000") == "5 von 1,000"
    assert said("age of 9") == "age of 9"
    assert said("x has 1 of 2") == "x: 1 von 2"
    assert said.find("nothing like it") is None


def test_words_of_a_chart_change_and_what_it_refers_to_does_not() -> None:
    said = Phrases({"before": "vorher", "value": "Wert"})
    spec = {
        "data": {"values": [{"value": 1, "of": "before"}]},
        "encoding": {
            "x": {"field": "value", "type": "nominal", "title": "value"},
            "text": {"field": "value"},
            "color": {"field": "of", "scale": {"domain": ["before"]}},
        },
    }
    changed = in_chart(spec, said)
    assert changed["data"] == {"values": [{"value": 1, "of": "vorher"}]}
    assert changed["encoding"]["x"] == {"field": "value", "type": "nominal", "title": "Wert"}
    assert changed["encoding"]["text"] == {"field": "value"}
    assert changed["encoding"]["color"]["scale"] == {"domain": ["vorher"]}


def test_jobs_draw_in_every_language(risks: list[Assessment]) -> None:
    pytest.importorskip("vl_convert", reason="charts need shoal[plots]")
    made = figures(risks[0].pictures()[0])
    assert "Angreifer" in made["de"]
    assert "Schwellenwert" in made["de"]
    assert "attacker" in made["en"]


def test_a_page_marks_what_stays_english(demo_bench: Bench) -> None:
    demo_bench.client.cookies.set("shoal-language", "de")
    shown = demo_bench.get(f"/p/{KEY}/roles")
    assert "heißt wie ein" in shown
    refused = demo_bench.post(f"/p/{KEY}/explore/survey", status=422, models="magic", loss="x").text
    assert '<span lang="en">' in refused
    refused = demo_bench.post(f"/p/{KEY}/data/missing", status=422, missing="x").text
    assert "Es gibt keine solche Regel" in refused
    assert 'lang="en"' not in refused

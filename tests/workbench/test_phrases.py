"""What the library says on screens is there in other languages, or marked as English."""

import ast
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from errno import (
    EACCES,
    EEXIST,
    EFBIG,
    EIO,
    EISDIR,
    EMFILE,
    ENAMETOOLONG,
    ENOENT,
    ENOSPC,
    ENOTDIR,
    ENOTEMPTY,
    EPERM,
    EROFS,
)
from fractions import Fraction
from string import Formatter

import polars as pl
import pytest

import shoal
from shoal.data.formats import FORMATS, WRITTEN, called
from shoal.errors import ParameterError
from shoal.look.pictures import Picture
from shoal.measure.conventions import CONVENTIONS
from shoal.measure.explaining import explain
from shoal.measure.loss import LOSSES
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
from shoal.workbench.pages import templates
from shoal.workbench.phrases import Phrases, in_chart, phrases
from shoal.workbench.screens import steps
from shoal.workbench.texts import lines_of, translations
from tests.workbench.benches import Bench
from tests.workbench.library_texts import (
    ROOMS_THAT_PAGES_DO_NOT_USE,
    Reader,
    Strict,
    is_known,
    library,
)
from tests.workbench.test_texts import FOLDER, others

KEY = "hospital~hospital"


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def _strict(language: str) -> Strict:
    return Strict(phrases(language)._known)


@others
def test_all_that_the_library_says_to_people_is_there_in_every_language(language: str) -> None:
    said = _strict(language)
    lacking = {text for text in library() if not is_known(text, said, language)}
    assert not sorted(f"{text.file}: {text.english}" for text in lacking)


@others
def test_a_phrase_that_is_missing_is_found(language: str) -> None:
    known = dict(phrases(language)._known)
    lost = ("the file is empty", "column {column} has levels 0 to {n}")
    for english in lost:
        assert known.pop(english)
    said = Strict(known)
    lacking = {text.sample for text in library() if not is_known(text, said, language)}
    assert {"the file is empty", "column '§' has levels 0 to §"} <= lacking


@others
def test_a_text_with_an_english_word_at_a_place_is_not_known(language: str) -> None:
    said = Strict({"{what} of {w}": "{what} von {w}", "rows": "Zeilen"})
    assert said.find("§ of rows") == "§ von Zeilen"
    assert said.find("some of rows") is None
    assert said.find("§ of people") is None


SOURCE = '''
"""A module that says something."""

def check(name, rows, people):
    """A docstring is not said."""
    who = "people" if people else "rows"
    if len(rows) == 1:
        verb = "is"
    else:
        verb = "are"
    if name == "not said to anybody":
        raise ColumnError(f"column {name!r} has {plural(rows, 'row')}", "leave it out")
    return f"{len(rows)} {who} {verb} left" + ("" if people else ", as always")
'''


def test_texts_are_found_in_code_with_each_choice_of_words() -> None:
    assert {text.sample for text in Reader(SOURCE).texts()} == {
        *("column '§' has § row", "column '§' has § rows", "leave it out", ", as always"),
        *("§ people is left", "§ people are left", "§ rows is left§", "§ rows are left§"),
    }


def test_a_choice_is_not_put_together_with_its_opposite() -> None:
    source = """
def told(number):
    noun, verb = ("row", "is") if number == 1 else ("rows", "are")
    return f"{number} {noun} {verb} left"
"""
    found = {text.sample for text in Reader(source).texts()}
    assert found == {"§ row is left", "§ rows are left"}


def _constants() -> set[str]:
    """All texts in the code of the library, such as words that it puts into others."""
    found = set()
    for path in FOLDER.parent.rglob("*.py"):
        if path.relative_to(FOLDER.parent).parts[0] in ROOMS_THAT_PAGES_DO_NOT_USE:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


@others
def test_no_phrase_is_left_over(language: str) -> None:
    said = _strict(language)
    for text in library():
        is_known(text, said, language)
        for sample in text.wide():
            said.find(sample)
    for words in (*OS_ERRORS, *LOSS_NAMES):
        said.find(words)
    marked = translations(language).keys()
    left = said._known.keys() - said.used - marked - _constants()
    assert not sorted(left)


@others
def test_no_phrase_is_there_twice(language: str) -> None:
    """Files are read one after the other: of two counterparts, one would never be said."""
    found: Counter[str] = Counter()
    for path in (FOLDER / "translations" / f"phrases-{language}").iterdir():
        found.update(lines_of(path.read_text("utf-8")).keys())
    assert not [english for english, number in found.items() if number > 1]


@others
def test_files_of_translations_are_toml_of_plain_lines(language: str) -> None:
    for folder in (language, f"phrases-{language}"):
        for path in (FOLDER / "translations" / folder).iterdir():
            written = path.read_text("utf-8")
            content = tomllib.loads(written)
            assert lines_of(written) == content.get("texts", content), path.name


LOSS_NAMES = [name.replace("_", " ") for name in LOSSES]
"""Losses as pages call them."""

_OF_FILES = (EACCES, EEXIST, EFBIG, EIO, EISDIR, EMFILE, ENAMETOOLONG, ENOENT, ENOSPC)
OS_ERRORS = [os.strerror(number) for number in (*_OF_FILES, ENOTDIR, ENOTEMPTY, EPERM, EROFS)]
"""What the system says of files."""


@others
def test_what_the_system_says_of_files_is_known(language: str) -> None:
    assert all(_strict(language).find(words) for words in OS_ERRORS)


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
def test_signs_conventions_and_losses_are_known(language: str) -> None:
    said = _strict(language)
    texts = {*LOSS_NAMES} | {sign.what for sign in (*NAME_SIGNS, *VALUE_SIGNS)}
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


ENGLISH = re.compile(r"\b(the|is|are|has|have|this|that|which|not|cannot|it)\b")
"""English words that are in nearly every sentence, and are no words of our other languages."""


def _shown(page: str) -> Iterator[str]:
    """The texts of a page, without code, names of options, and what is marked as English."""
    page = re.sub(r"<(script|style|pre|code|textarea|cite)[^>]*>.*?</\1>", " ", page, flags=re.S)
    page = re.sub(r'<(\w+)[^>]*(class="option"|lang="en").*?</\1>', " ", page, flags=re.S)
    yield from re.findall(r'(?:title|aria-label|placeholder)="([^"]*)"', page)
    yield from re.split("<[^>]*>", page)


@others
def test_screens_have_no_english_words(language: str, demo_bench: Bench) -> None:
    demo_bench.client.cookies.set("shoal-language", language)
    demo_bench.post(f"/p/{KEY}/release/start", name="first")
    paths = [step.key for step in steps()]
    paths += ["release/made/first", "promise/methods", "promise/options"]
    pages = ["/", "/new", *(f"/p/{KEY}/{path}" for path in paths)]
    # Conditions are written in English, as in recipes.
    left = {text for page in pages for text in _shown(demo_bench.get(page))}
    assert not [text for text in left if ENGLISH.search(text) and "age between" not in text]


def test_pages_say_reasons_and_errors_in_the_language_that_was_chosen(demo_bench: Bench) -> None:
    demo_bench.client.cookies.set("shoal-language", "de")
    shown = demo_bench.get(f"/p/{KEY}/roles")
    assert "heißt wie ein" in shown
    refused = demo_bench.post(f"/p/{KEY}/data/missing", status=422, missing="x").text
    assert "Es gibt keine solche Regel" in refused
    assert 'lang="en"' not in refused


@others
def test_a_page_marks_what_stays_english(language: str) -> None:
    shown = templates().from_string("{{ text | said }}")
    assert "<span lang=" not in shown.render(text="the file is empty", language=language)
    marked = shown.render(text="nothing like it", language=language)
    assert marked == '<span lang="en">nothing like it</span>'
    assert shown.render(text="nothing like it", language="en") == "nothing like it"


@others
def test_an_error_is_put_together_of_its_parts(language: str) -> None:
    error = ParameterError(
        "is out of range", "it takes a whole number from 1", where="age.csv", option="k", given="0"
    )
    template = templates().from_string("{{ error | problem(placed=true) }}")
    shown = template.render(error=error, language=language)
    said = phrases(language)
    what, fix = said(error.what), said(error.fix)
    assert shown == f'age.csv: <span class="option">k = 0</span> {what}; {fix}'

"""The forms as data: each says what it follows, how far that was read, and who answers."""

import re
from pathlib import Path

import pytest

from shoal.errors import InternalError, ParameterError
from shoal.report import committees
from shoal.report.committees import FRAMEWORKS, framework
from shoal.report.committees import forms as module
from shoal.report.committees.facts import FACTS
from tests.conftest import ROOT

FORMS = [framework(name) for name in FRAMEWORKS]


def test_every_file_is_a_form_that_has_a_name() -> None:
    files = Path(committees.__file__).parent.glob("*.toml")
    assert {path.stem for path in files} == set(FRAMEWORKS)


@pytest.mark.parametrize("form", FORMS, ids=FRAMEWORKS)
def test_a_form_names_its_sources_and_what_was_not_read(form: committees.Framework) -> None:
    assert form.not_read
    assert form.standing in module.STANDINGS
    for source in form.sources:
        assert source.document
        assert source.read
        assert source.place.startswith("https://")


@pytest.mark.parametrize("form", FORMS, ids=FRAMEWORKS)
def test_a_question_has_its_reference_and_somebody_who_answers(form: committees.Framework) -> None:
    for question in form.questions:
        assert question.reference
        assert question.facts or question.open
        assert set(question.facts) <= set(FACTS)


def test_every_fact_is_asked_for() -> None:
    assert {name for form in FORMS for one in form.questions for name in one.facts} == set(FACTS)


def test_no_form_asks_the_same_twice() -> None:
    for form in FORMS:
        asked = [(one.text, one.reference) for one in form.questions]
        assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_nothing_claims_that_a_document_is_complied_with(name: str) -> None:
    folder = Path(committees.__file__).parent
    texts = [(folder / f"{name}.toml").read_text(encoding="utf-8")]
    texts += [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    claims = re.compile(
        r"\b(compliant|complies|conforms|satisfies the|is anonymous)\b", re.IGNORECASE
    )
    assert not [found for text in texts for found in claims.findall(text)]


def test_a_document_without_a_form_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(ParameterError, match="known are 'nist-800-226', 'hipaa'"):
        framework("iso-27001")


def test_a_question_that_nobody_would_answer_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = Path(committees.__file__).with_name("hipaa.toml").read_text(encoding="utf-8")
    (tmp_path / "silent.toml").write_text(
        re.sub(r'^open = "Name.*\n', "", text, flags=re.MULTILINE)
    )
    monkeypatch.setattr(module, "FRAMEWORKS", ("silent",))
    monkeypatch.setattr(module, "__file__", str(tmp_path / "forms.py"))
    with pytest.raises(InternalError, match="nobody would answer"):
        framework("silent")


def test_the_page_says_of_every_form_how_far_its_document_was_read() -> None:
    page = (ROOT / "docs" / "how-to" / "committees.md").read_text(encoding="utf-8")
    for form in FORMS:
        left = sum(not one.facts for one in form.questions)
        whole = sum(not one.open for one in form.questions)
        partly = len(form.questions) - left - whole
        figures = f"{len(form.questions)} | {whole} | {partly} | {left}"
        assert f"| `{form.name}` | {form.title} | {figures} |" in page
        assert form.not_read in page
        for source in form.sources:
            assert source.place in page


def test_a_document_that_could_not_be_read_has_no_form_and_the_reason_is_given() -> None:
    with pytest.raises(ParameterError, match=r"EMA.*could be read.*known are"):
        framework("ema-0070")

"""Forms that are filled in: no question is dropped, and the public sees what the files show."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import FileError
from shoal.report.committees import (
    FRAMEWORKS,
    FilledForm,
    Framework,
    answers,
    filled,
    framework,
    html,
    markdown,
)
from shoal.report.committees.facts import FACTS, OwnerFact, PublicFact
from shoal.report.subject import Published, Reported
from tests.methods.examples import METHODS, people, table

FORMS = [framework(name) for name in FRAMEWORKS]
COARSE = shoal.Optimal([shoal.KAnonymity(3)], suppression="1/10", floor={"age": 1})


def reported(input_table: Any, method: Any = COARSE) -> Reported:
    """A release of a table with all that its owner knows."""
    release = method.release(input_table, chance=Seeded(1))
    return Reported(release, table=input_table, queries=20)


@pytest.fixture(scope="module")
def subject() -> Reported:
    return reported(people())


@pytest.fixture(scope="module")
def other() -> Reported:
    """The same release of another input: ages are released as decades at least."""
    frame = people().frame.to_native()
    return reported(table(frame.with_columns(age=pl.col("age") // 10 * 10)))


# No question is dropped


def complete(form: FilledForm, asked: Framework) -> bool:
    """Whether every question is there, in order, with an answer or a mark that it is open."""
    there = tuple(answer.question for answer in form.answers) == asked.questions
    return there and all(answer.given or answer.open for answer in form.answers)


@pytest.mark.parametrize("form", FORMS, ids=FRAMEWORKS)
def test_every_question_is_answered_or_marked_as_open(form: Framework, subject: Reported) -> None:
    for seen in (subject, subject.published):
        done = filled(form, seen)
        assert complete(done, form)
        text = markdown(done)
        for answer in done.answers:
            assert f"### {answer.question.text}" in text
        assert text.count("☐") == html(done).count("☐") == sum(one.open for one in done.answers)


def test_a_dropped_question_would_be_noticed(subject: Reported) -> None:
    form = FORMS[0]
    done = filled(form, subject)
    assert not complete(replace(done, sections=done.sections[:-1]), form)
    first = done.sections[0]
    silent = replace(first.answers[0], given=(), question=form.questions[0])
    shortened = replace(first, answers=(silent, *first.answers[1:]))
    # What has no answer is open, even where the form has no hint for it.
    assert not form.questions[0].open
    assert silent.open
    assert complete(replace(done, sections=(shortened, *done.sections[1:])), form)


@pytest.mark.parametrize("name", METHODS)
def test_a_release_by_any_method_can_be_asked_about(name: str) -> None:
    input_table = people()
    release = METHODS[name].release(input_table, chance=Seeded(1))
    owner = Reported(release, table=input_table)
    for form in FORMS:
        public = filled(form, owner.published)
        assert complete(public, form)
        assert public.owner_only  # for the same reason
        assert "test, and promises nothing" in markdown(public)  # the draws came from a seed
        assert complete(filled(form, owner), form)


def test_what_the_owner_does_not_have_says_why() -> None:
    release = METHODS["columns"].release(people())
    [kept] = (
        answer
        for answer in filled(framework("iso-27559"), Reported(release, table=people())).answers
        if "kept" in answer.question.facts
    )
    assert kept.open
    assert kept.missing[0].startswith("Not known: this is a release by columns")
    assert "give the recipe" in markdown(filled(framework("hipaa"), Reported(release)))


# The public sees what the files show


Fill = Callable[[Framework, Reported], str]


def same_for_everyone(fill: Fill, one: Reported, other: Reported) -> bool:
    """Whether what is written is the same, whatever the owner knows besides the same release."""
    return all(fill(form, one) == fill(form, other) for form in FORMS)


@pytest.mark.parametrize("show", [html, markdown])
def test_two_inputs_with_the_same_release_give_the_same_public_form(
    show: Callable[[FilledForm], str], subject: Reported, other: Reported
) -> None:
    assert subject.before != other.before
    assert same_for_everyone(lambda form, one: show(filled(form, one.published)), subject, other)


@pytest.mark.parametrize("show", [html, markdown])
def test_a_public_form_of_all_that_the_owner_knows_would_be_noticed(
    show: Callable[[FilledForm], str], subject: Reported, other: Reported
) -> None:
    assert not same_for_everyone(lambda form, one: show(filled(form, one)), subject, other)


def test_an_owners_figure_among_the_public_facts_would_be_noticed(
    subject: Reported, other: Reported, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = FACTS["risks_before"]
    assert isinstance(secret, OwnerFact)
    known: list[Reported] = []
    leak = PublicFact("the certificate", lambda shown: secret.tell(known[-1]))
    monkeypatch.setitem(FACTS, "risks_before", leak)

    def fill(form: Framework, one: Reported) -> str:
        known.append(one)
        return markdown(filled(form, one.published))

    assert not same_for_everyone(fill, subject, other)


def test_a_written_release_alone_gives_the_same_public_form(
    subject: Reported, tmp_path: Path
) -> None:
    subject.release.write(tmp_path / "released")
    read = shoal.Release.read(tmp_path / "released")
    published = Published(subject.certificate, read.rows)
    for form in FORMS:
        assert html(filled(form, published)) == html(filled(form, subject.published))


@pytest.mark.parametrize("form", FORMS, ids=FRAMEWORKS)
def test_what_only_the_owner_knows_is_left_open_for_the_public(
    form: Framework, subject: Reported
) -> None:
    public = filled(form, subject.published)
    assert not any(given.owner_only for answer in public.answers for given in answer.given)
    for answer in public.answers:
        if any(isinstance(FACTS[name], OwnerFact) for name in answer.question.facts):
            assert any("owner" in hint for hint in answer.missing)


# The zones


@pytest.mark.parametrize("form", FORMS, ids=FRAMEWORKS)
def test_what_the_owner_fills_in_is_owner_only(form: Framework) -> None:
    private = Reported(COARSE.release(people()), table=people(), queries=20)
    public, owner = filled(form, private.published), filled(form, private)
    assert owner.owner_only
    assert not public.owner_only
    for show in (html, markdown):
        assert "reveals information about the input" in show(owner)
        assert "reveals information about the input" not in show(public)
        assert "May be published" in show(public)
        assert "May be published" not in show(owner)
    sources = [
        {given.source for given in answer.given if given.owner_only} for answer in owner.answers
    ]
    marks = sum(map(len, sources))
    assert markdown(owner).count(" (Owner only):") == html(owner).count('"badge owner"') == marks
    assert " (Owner only):" not in markdown(public)


def test_no_repr_shows_an_owners_figure(subject: Reported) -> None:
    records = f"{subject.release.facts.records:,}"
    sections = answers(framework("hipaa"), subject)
    [told] = [
        given.lines
        for part in sections
        for answer in part.answers
        for given in answer.given
        if given.fact == "input"
    ]
    assert records in told[0]
    assert told[0] not in repr(sections)
    assert repr(subject).startswith("owner only: ")


# What is shown


@pytest.mark.parametrize("form", FORMS, ids=FRAMEWORKS)
@pytest.mark.parametrize("show", [html, markdown])
def test_every_source_is_named_and_no_advice_is_given(
    form: Framework, show: Callable[[FilledForm], str], subject: Reported
) -> None:
    shown = show(filled(form, subject.published)).replace("&#x27;", "'")
    assert "This is not legal advice" in shown
    assert form.not_read in shown
    for source in form.sources:
        assert source.document in shown
        assert source.place in shown


def test_a_long_answer_is_written_once(subject: Reported) -> None:
    shown = markdown(filled(framework("gdpr"), subject.published))
    assert shown.count("suppression = ") == 1
    assert "See the answer to: How does the processing work?" in shown


def test_names_of_columns_are_text() -> None:
    frame = pl.DataFrame({"<b>*a*</b>": [1, 1, 2, 2]})
    release = shoal.RandomSample("1/2").release(
        shoal.table(frame, quasi=["<b>*a*</b>"]), chance=Seeded(1)
    )
    done = filled(framework("hipaa"), Published(release.certificate, release.rows))
    assert "<b>" not in html(done)
    assert "\\<b\\>\\*a\\*" in markdown(done)


def test_values_that_nobody_has_are_not_called_true() -> None:
    for name, true in {"optimal": True, "buckets with fakes": False, "noisy counts": False}.items():
        release = METHODS[name].release(people())
        shown = markdown(filled(framework("nist-800-226"), Published.of(release)))
        assert ("Every released value is a generalisation" in shown) is true


def test_a_verified_release_says_so_and_what_was_not_checked(tmp_path: Path) -> None:
    made = shoal.Optimal([shoal.KAnonymity(3)]).release(people())
    file = made.write(tmp_path / "released")
    release = shoal.Release.read(tmp_path / "released")
    verdict = shoal.verify(tmp_path / "released" / "certificate.json", file)
    shown = markdown(
        filled(framework("hipaa"), Published(release.certificate, release.rows, verdict))
    )
    assert "Verified, as far as the files show: every group satisfies 3-anonymity" in shown
    assert "Not checked: " in shown
    verdict.append("something is wrong")
    for subject in (
        Published(release.certificate, release.rows, verdict),
        Reported(release, verdict),
    ):
        with pytest.raises(FileError, match="fails verification: something is wrong"):
            filled(framework("hipaa"), subject)


def test_what_is_not_known_of_the_input_is_owner_only() -> None:
    alone = Reported(METHODS["columns"].release(people()))
    done = filled(framework("hipaa"), alone)
    assert not any(given.owner_only for answer in done.answers for given in answer.given)
    assert done.owner_only
    assert "May be published" not in html(done)


def test_the_ledger_says_what_all_releases_spend(tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "book", epsilon=2, delta="1e-3", witness=False)
    method = shoal.SafePub(epsilon=1, delta="1e-4")
    release = ledger.release(method, people())
    entered = Reported(release)
    vars(entered)["ledger"] = ledger.account()  # else that of a recipe
    shown = markdown(filled(framework("nist-800-226"), entered))
    assert "The ledger has 1 release of these data, which spent ε 1" in shown
    assert "Left of the budget: " in shown

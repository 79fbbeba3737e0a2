"""Recommendations, over all interviews: every answer matters, and not knowing is safe."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import combinations
from json import dumps

import pytest

from shoal import explain
from shoal.choosing import (
    AUDIT,
    ELSEWHERE,
    QUESTIONS,
    UNKNOWN,
    Answers,
    Question,
    Recommendation,
    Strength,
    choose,
    deciding,
)
from shoal.choosing.guides import WAYS
from shoal.choosing.trying import made
from shoal.methods.auto import automatic
from shoal.privacy.promises import DifferentialPrivacy
from tests.choosing.interviews import (
    FIXED,
    KEYS,
    Given,
    changed,
    fitted,
    interviews,
    recommended,
)


@cache
def everything() -> dict[Given, Recommendation]:
    """What every interview leads to."""
    return {given: recommended(given) for given in interviews(FIXED)}


@cache
def one_of_each() -> dict[str, Given]:
    """One interview for every method, and in it any person and any number of people."""
    return {found.method: given for given, found in everything().items()}


def with_people() -> dict[Given, Recommendation]:
    """For each method one interview, with all answers about people."""
    found: dict[Given, Recommendation] = {}
    for given in one_of_each().values():
        said = dict(zip(KEYS, given, strict=True))
        fixed = {key: answer for key, answer in said.items() if key not in FIXED and answer}
        found |= {given: recommended(given) for given in interviews(fixed)}
    return found


def decided(found: Recommendation) -> str:
    """What is recommended, without the reasons."""
    return dumps([found.method, found.parameters, found.warnings, found.commands()])


def weaker(
    found: dict[Given, Recommendation], keys: Iterable[str] = KEYS
) -> list[tuple[Given, str]]:
    """Where somebody who does not know gets a weaker promise than somebody who does."""
    places = [KEYS.index(key) for key in keys]
    strengths = {given: one.strength for given, one in found.items()}
    known, wrong = dict(strengths), []
    for given, strength in strengths.items():
        for place in places:
            if given[place] in (None, UNKNOWN):
                continue
            other = (*given[:place], UNKNOWN, *given[place + 1 :])
            if other not in known:  # then something else is asked after it
                other = fitted(other)
            if other not in known:
                known[other] = recommended(other).strength
            if known[other] < strength:
                wrong.append((given, KEYS[place]))
    return wrong


def test_every_interview_leads_to_one_recommendation_and_all_ways_are_reached() -> None:
    assert set(one_of_each()) == set(WAYS)
    for found in everything().values():
        assert found.runner_up.method != found.method
        assert found.runner_up.method in WAYS
        assert len(found.reasons) == len(found.answers.to_dict())
        assert found.unprotected


def test_no_two_answers_to_a_question_give_the_same_reason() -> None:
    given_by: dict[tuple[str, str], set[str]] = defaultdict(set)
    for found in (*everything().values(), *with_people().values()):
        for reason in found.reasons:
            given_by[reason.question, reason.text].add(reason.answer)
    assert not {text for text, answers in given_by.items() if len(answers) > 1}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.key)
def test_any_two_definite_answers_can_change_what_is_recommended(question: Question) -> None:
    key, keys = question.key, question.keys
    found = with_people() if key in FIXED else everything()
    place = KEYS.index(key)
    for one, other in combinations(keys[:-1], 2):
        assert any(
            decided(recommendation) != decided(recommended(changed(given, key, other)))
            for given, recommendation in found.items()
            if given[place] == one
        ), (one, other)


def test_not_knowing_never_leads_to_a_weaker_promise() -> None:
    assert not weaker(everything(), [key for key in KEYS if key not in FIXED])
    assert not weaker(with_people())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("TOTALS", {UNKNOWN: 2}),
        ("SHARES", {UNKNOWN: 1}),
        ("LARGEST", {UNKNOWN: 10**7}),
        ("_GROUPS", {UNKNOWN: 11}),
    ],
)
def test_a_number_on_the_unsafe_side_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, values: dict[str, object]
) -> None:
    monkeypatch.setattr(deciding, name, getattr(deciding, name) | values)
    given = fitted(("anyone", *[None] * (len(KEYS) - 1)))
    small = {given: recommended(given)}
    for key in ("who", "rule", "people", "before"):
        for answer in next(one.keys for one in QUESTIONS if one.key == key):
            other = changed(given, key, answer)
            small[other] = recommended(other)
    assert weaker(small)


def test_a_condition_on_the_unsafe_side_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    private = deciding.is_private

    def careless(answers: Answers) -> bool:
        return answers.before != UNKNOWN and private(answers)

    monkeypatch.setattr(deciding, "is_private", careless)
    said = {"who": "anyone", "use": "join", "harm": "value", "rule": "none"}
    said |= {"shape": "dozen", "rows": "real"}
    small = {given: recommended(given) for given in interviews(FIXED | said)}
    assert weaker(small)


def test_promises_are_ordered_by_whom_they_withstand_first() -> None:
    anyone = choose(Answers(who="anyone", before="once")).strength
    colleagues = choose(Answers(who="colleagues", before="once")).strength
    assert Strength(3, group=100) < colleagues < anyone
    ways = {method: recommended(given).strength for method, given in one_of_each().items()}
    assert ways[ELSEWHERE] < ways["sampling"] < ways["personal"] < ways["kdgs"]
    assert ways[AUDIT] < ways["noisy-counts"]
    assert ways["optimal"].withstands < ways["coincident"].withstands


def test_what_is_taken_for_differential_privacy_is_what_auto_takes() -> None:
    said = {"who": "anyone", "person": "row", "people": "hundred-thousand", "before": "once"}
    for rows in ("noisy", "real"):
        truthful = rows == "real"
        found = choose(Answers(**said, rows=rows, use="records", rule="none"))
        assert made(found.method, found.parameters) == automatic(1, "1e-7", truthful)
        found = choose(Answers(**said, rows=rows, use="model", rule="none"))
        asked = automatic(1, "1e-7", truthful, "classification", classes=["CLASS"])
        assert made(found.method, found.parameters) == asked


def test_delta_of_all_releases_is_below_a_tenth_of_one_in_the_people() -> None:
    for people, most in deciding.LARGEST.items():
        for before, share in deciding.SHARES.items():
            found = choose(Answers(people=people, before=before)).promise
            assert isinstance(found, DifferentialPrivacy)
            assert found.delta / share < 1 / (10 * most)


def test_groups_of_safepub_are_larger_than_any_rule_asks_for() -> None:
    for total in deciding.TOTALS.values():
        for share in deciding.SHARES.values():
            # With more people δ is smaller, and groups are larger.
            assert explain(total * share, "1e-5").k > max(deciding._GROUPS.values())


def test_what_it_means_for_one_person_is_said() -> None:
    private = choose(Answers(who="anyone", before="once"))
    assert "with at most 73.2 % afterwards" in private.meaning
    said = {"harm": "value", "shape": "dozen", "rows": "real", "before": "once", "rule": "none"}
    assert "at most 1/3" in choose(Answers(who="anyone", use="join", **said)).meaning
    assert "at most 1/2" in choose(Answers(who="contract", algorithm="yes", **said)).meaning
    audited = choose(Answers(who="questions", ask="totals", harm="value"))
    assert audited.meaning == audited.guide.promise


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        ({"people": "thousand"}, "The table is small: expect few, coarse rows"),
        ({"people": UNKNOWN}, "Do not take the number of people from the table"),
        ({"before": "again"}, "Make a ledger first"),
        ({"rows": "all"}, "A table with every record in it cannot hide"),
        ({"use": "join"}, "Coarser values cannot be joined"),
        ({"person": UNKNOWN}, "Find out whether anybody is in the table several times"),
        ({"harm": "value", "shape": "wide"}, "does not limit what is inferred from groups"),
        ({"rule": "diversity"}, "Ask whether differential privacy satisfies the rule"),
        ({"harm": "least"}, "If only colleagues get it"),
        ({"use": "totals"}, "unless the tool promises differential privacy"),
        ({"use": "software"}, "without looking at any row"),
    ],
)
def test_what_has_to_be_known_beforehand_is_said(said: dict[str, str], warning: str) -> None:
    assert any(warning in one for one in choose(Answers(who="anyone", **said)).warnings)
    assert not any(warning in one for one in choose(_harmless()).warnings)


def _harmless() -> Answers:
    said = {"use": "records", "harm": "membership", "rule": "none", "shape": "dozen"}
    said |= {"rows": "noisy", "person": "row", "people": "hundred-thousand", "before": "once"}
    return Answers(who="anyone", **said)


def test_buckets_are_not_recommended_twice() -> None:
    said = {"use": "join", "harm": "value", "rule": "none", "shape": "dozen", "rows": "real"}
    again = choose(Answers(who="anyone", before="again", **said))
    assert isinstance(again.promise, DifferentialPrivacy)
    before = choose(Answers(who="anyone", before="before", **said))
    assert before.method == "buckets"
    assert any("no limit holds against whoever gets both" in one for one in before.warnings)


def test_a_recommendation_is_plain_values() -> None:
    for given in one_of_each().values():
        found = recommended(given)
        parts = found.to_dict()
        assert dumps(parts)
        assert parts["method"] == found.method
        assert set(parts["answers"]) == {reason["question"] for reason in parts["reasons"]}

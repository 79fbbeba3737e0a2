"""Where the answers lead: the cases that the guide names, each with its parameters."""

from fractions import Fraction

import pytest

from shoal.choosing import Answers
from shoal.choosing.deciding import delta_of, epsilon_of, method_of, parameters_of, values_of
from shoal.privacy.models import parse_model

COLUMNS = {"shape": "dozen", "person": "row", "people": "hundred-thousand", "before": "once"}


@pytest.mark.parametrize(
    ("said", "method"),
    [
        ({"who": "anyone", "harm": "membership", "rows": "noisy"}, "noisy-counts"),
        ({"who": "anyone", "harm": "membership", "rows": "real"}, "safepub"),
        ({"who": "anyone", "harm": "membership", "shape": "wide"}, "columns"),
        ({"who": "anyone", "harm": "value", "use": "join", "rule": "none"}, "buckets"),
        ({"who": "anyone", "harm": "value", "rule": "diversity"}, "coincident"),
        ({"who": "anyone", "harm": "value", "rule": "diversity", "rows": "all"}, "disclosure"),
        ({"who": "anyone", "harm": "record", "rule": "cells", "rows": "real"}, "kdgs"),
        ({"who": "contract", "harm": "record", "algorithm": "no", "rule": "cells"}, "optimal"),
        ({"who": "contract", "harm": "record", "algorithm": "yes", "rule": "none"}, "noisy-counts"),
        ({"who": "colleagues", "harm": "record", "algorithm": "no", "rule": "none"}, "personal"),
        ({"who": "questions", "ask": "counts", "harm": "value"}, "noisy-counts"),
    ],
)
def test_the_cases_of_the_guide(said: dict[str, str], method: str) -> None:
    given = Answers.fitting(COLUMNS | said)
    assert method_of(given) == method


def test_epsilon_follows_from_who_gets_it_and_how_often() -> None:
    assert epsilon_of(Answers(who="anyone", before="once")) == 1
    assert epsilon_of(Answers(who="contract", before="before")) == 1
    assert epsilon_of(Answers(who="colleagues", before="again")) == Fraction(3, 4)
    assert epsilon_of(Answers()) == Fraction(1, 4)


def test_delta_follows_from_the_number_of_people() -> None:
    assert delta_of(Answers(people="thousand")) == Fraction(1, 10**5)
    assert delta_of(Answers()) == Fraction(1, 10**12)


def test_k_follows_from_the_rule() -> None:
    said = {"who": "anyone", "harm": "record", "rows": "real", **COLUMNS}
    assert parameters_of("kdgs", Answers(rule="cells", **said))["k"] == 11
    nine = parameters_of("kdgs", Answers(rule="nine", **said))["k"]
    assert Fraction(1, nine) <= Fraction(9, 100) < Fraction(1, nine - 1)


def test_where_values_are_to_be_hidden_none_is_too_frequent_and_there_are_enough() -> None:
    for who in ("anyone", "contract"):
        said = {"who": who, "harm": "value", "rule": "diversity", **COLUMNS}
        given = Answers.fitting(said)
        [name] = parameters_of("coincident", given)["models"]
        model = parse_model(name)
        # r1 < c (n − r1) says r1/n < c/(1 + c).
        assert model.l == 2  # type: ignore[attr-defined]
        ratio = Fraction(model.c)  # type: ignore[attr-defined]
        assert ratio / (1 + ratio) == Fraction(1, values_of(given))

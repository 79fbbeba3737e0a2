"""`explain` and `explain_counts` in a notebook: parameters in words, before any data is seen."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import e, exp

import pytest

from shoal.errors import ParameterError
from shoal.measure.explaining import CURVE, explain, explain_counts
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from shoal.privacy.bounded import bounded_count_parameters
from shoal.privacy.calculus import safepub_parameters
from shoal.privacy.noise import ONE, noisy_count_parameters
from shoal.privacy.sharing import Noise

NOISES: tuple[Noise, ...] = ("bounded", "printed")


def test_an_explanation_has_the_parameters_of_a_release() -> None:
    explanation = explain(1, "1e-6")
    parameters = safepub_parameters(Fraction(9, 10), Fraction(1, 10**6), "standard")
    assert (explanation.k, explanation.beta) == (parameters.k, parameters.beta)
    assert explanation.promise.epsilon == SafePub(1, "1e-6").epsilon
    assert explanation.crowd == parameters.crowd == 95
    assert explanation.not_drawn == float(1 - explanation.beta)


def test_odds_are_the_exponential_of_epsilon_rounded_up() -> None:
    assert e <= explain(1, "1e-6").odds == pytest.approx(e)
    assert explain("ln(2)", "1e-6").odds == pytest.approx(2)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "1.5", "2.5", "3", "ln(3)"])
def test_what_a_belief_becomes_is_rounded_up(epsilon: str) -> None:
    explained = explain(epsilon, "1e-6")
    factor, share = re.findall(r"at most ([0-9.]+)", explained.conclusion)
    assert float(factor) >= explained.odds * (1 - 1e-12)
    assert float(share) / 100 >= explained.odds / (1 + explained.odds) - 1e-12
    shown = re.findall(r"at most ([0-9.]+) times", explained._repr_html_())
    assert float(shown[0]) >= explained.odds * (1 - 1e-12)


def test_epsilon_is_split_between_the_anonymisation_and_the_search() -> None:
    shared = explain(1, "1e-6", split="0.75")
    assert shared.search is not None
    assert (float(shared.anonymisation), float(shared.search)) == (0.75, 0.25)
    alone = explain(1, "1e-6", split=1)
    assert alone.search is None
    assert float(alone.anonymisation) == 1
    assert alone.to_dict()["exact"]["epsilon_search"] == "0"


def test_delta_falls_as_epsilon_grows() -> None:
    curve = explain(1, "1e-6").smoothness
    assert [float(point.epsilon) for point in curve] == pytest.approx(
        [0.9 * float(factor) for factor in CURVE]
    )
    assert curve[0].delta <= 1e-6
    assert all(nearer.delta > farther.delta for nearer, farther in pairwise(curve))


def test_several_rows_of_a_person_share_what_is_promised() -> None:
    explanation = explain(1, "1e-6", "standard", rows=3)
    assert float(explanation.anonymisation) == pytest.approx(0.9 / 3)
    assert 0 < explanation.delta_row < Fraction(1, 3 * 10**6)
    assert "all rows with one value of 'person'" in explanation.promise.statement
    alone = explain(1, "1e-6", "standard")
    assert explanation.beta < alone.beta
    assert explanation.crowd > alone.crowd


def test_a_delta_too_large_for_the_people_is_a_concern() -> None:
    assert explain(1, "1e-6").concern is None
    assert explain(1, "1e-6", people=2000).concern is None
    concern = explain(1, "1e-3", people=2000).concern
    assert concern is not None
    assert "not below 1/2,000" in concern
    assert explain_counts(1, "1e-3", 5, people=2000).concern == concern


def test_an_explanation_as_plain_values_has_floats_and_exact_texts() -> None:
    plain = explain("ln(2)", "1e-6", split="2/3").to_dict()
    assert plain["exact"]["epsilon"] == "ln(2)"
    assert plain["exact"]["delta"] == "1e-6"
    assert exp(plain["epsilon"]) == pytest.approx(2)
    assert plain["split"]["search"] == pytest.approx(1 / 3)
    assert plain["promise"].startswith("(ln(2), 1e-6)-differential privacy")


def test_counts_are_explained_with_the_parameters_of_a_release() -> None:
    explanation = explain_counts(1, "1e-6", 5)
    assert explanation.parameters == bounded_count_parameters(1, "1e-6", 5)
    printed = explain_counts(1, "1e-6", 5, "probabilistic", noise="printed")
    assert printed.parameters == noisy_count_parameters(1, "1e-6", 5, "probabilistic")
    assert explanation.promise.epsilon == NoisyCounts(1, "1e-6", 5, levels={}).epsilon
    assert explanation.columns is None


def test_bounded_noise_is_explained_by_its_error_and_bound() -> None:
    bounded, printed = (explain_counts(1, "1e-6", 5, noise=noise) for noise in NOISES)
    weights = bounded_count_parameters(1, "1e-6").weights
    assert bounded.error == pytest.approx(2 * sum(z * p / ONE for z, p in enumerate(weights)))
    assert bounded.error < printed.error
    plain = bounded.to_dict()
    assert (plain["noise"], plain["bound"], plain["threshold"]) == ("bounded", 14, 19)
    assert printed.to_dict()["bound"] is None
    assert printed.to_dict()["threshold"] == 5


@pytest.mark.parametrize("noise", NOISES)
def test_chances_rise_with_the_records_that_share_a_row(noise: Noise) -> None:
    explanation = explain_counts(1, "1e-6", 5, noise=noise)
    records = [number for number, _ in explanation.chances]
    chances = [chance for _, chance in explanation.chances]
    assert records[0] == 5
    assert records == sorted(set(records))
    assert chances == sorted(chances)
    assert chances[-1] >= 0.999
    # `half` is the fewest records with which a release is more likely than not.
    half = explanation.parameters.half
    assert chances[records.index(half)] >= 0.5


def test_groups_of_columns_share_what_is_promised() -> None:
    explanation = explain_counts(1, "1e-6", 5, "standard", columns=3)
    assert float(explanation.parameters.epsilon) == pytest.approx(1 / 3)
    assert explanation.error > explain_counts(1, "1e-6", 5, "standard").error


@pytest.mark.parametrize(
    ("explained", "message"),
    [
        (lambda: explain(0, "1e-6"), "epsilon=0 is out of range"),
        (lambda: explain("nan", "1e-6"), "epsilon"),
        (lambda: explain(1, 1), "delta=1 is out of range"),
        (lambda: explain(1, "1e-6", split=0), "split=0 leaves nothing for the anonymisation"),
        (lambda: explain(1, "1e-6", split=2), "split=2 is out of range"),
        (lambda: explain(1, "1e-6", "probabilistic", rows=2), "rows=2 needs another definition"),
        (lambda: explain(1, "1e-6", "standard", rows=0), "rows=0 is out of range"),
        (lambda: explain(1, "1e-6", people=0), "people=0 is out of range"),
        (lambda: explain_counts(1, "1e-6", 0), "k=0 is out of range"),
        (
            lambda: explain_counts(1, "1e-6", 5, "probabilistic"),
            "definition='probabilistic' is not kept with bounded noise",
        ),
        (
            lambda: explain_counts(1, "1e-6", 5, "probabilistic", columns=3),
            "`columns` goes with the standard",
        ),
        (lambda: explain(1, "1e-6", beta=1), "beta=1 is out of range"),
        (lambda: explain(1, "1e-6", beta="auto"), "`beta` 'auto' is chosen by the number"),
        (lambda: explain_counts(1, "1e-6", 5, "standard", columns=0), "columns=0 is out of"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(
    explained: Callable[[], object], message: str
) -> None:
    with pytest.raises(ParameterError) as error:
        explained()
    assert message in str(error.value)


def test_replacing_a_row_doubles_epsilon_and_for_people_raises_delta() -> None:
    rows = explain("ln(2)", "1e-6", "standard")
    assert str(rows.replacement.epsilon) == "ln(4)"
    assert rows.replacement.delta == Fraction(1, 10**6)
    people = explain("ln(2)", "1e-6", "standard", rows=2)
    assert people.replacement.delta == Fraction(3, 10**6)
    counts = explain_counts("ln(2)", "1e-3", 5, "standard")
    assert counts.replacement.delta == 1 - Fraction(999, 1000) ** 2
    assert counts.to_dict()["replacement"]["delta"] == pytest.approx(0.001999)

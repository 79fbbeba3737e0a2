"""The check of SafePub: k is derived once more, and groups are counted over all columns."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.privacy.calculus import safepub_parameters
from shoal.releases.verification import unchecked, verify
from shoal.releases.verification.numbers import StatedEpsilon
from shoal.releases.verification.safepub import Sampling
from tests.releases.verification.forging import (
    METHODS,
    TREES,
    both,
    forge,
    method,
    people,
    put,
    released,
)


def test_a_group_below_k_is_found(written: tuple[Path, Path]) -> None:
    paper, table = written
    k = json.loads(paper.read_text())["derived"]["k"]
    first = table.read_text().splitlines()[1]

    def cut(lines: list[str], left: int) -> list[str]:
        return (
            [line for line in lines if line != first]
            if not left
            else [first] * left + [one for one in lines if one != first]
        )

    forge(paper, lambda content: None, table, lambda lines: cut(lines, k))
    assert verify(paper, table, TREES) == []
    forge(paper, lambda content: None, table, lambda lines: cut(lines, k - 1))
    assert verify(paper, table, TREES) == [
        f"1 of 8 groups over all columns have fewer than k = {k} rows"
    ]
    forge(paper, lambda content: None, table, lambda lines: cut(lines, 0))
    assert verify(paper, table, TREES) == []


def test_groups_are_those_over_all_columns(written: tuple[Path, Path]) -> None:
    paper, table = written
    forge(
        paper,
        lambda content: None,
        table,
        lambda lines: [*lines[:-1], lines[-1].replace("gout", "rare")],
    )
    assert any("1 of 9 groups over all columns" in fault for fault in verify(paper, table))


def test_rows_that_reveal_nothing_must_not_be_there(tmp_path: Path) -> None:
    table = shoal.table(
        people().frame.to_native().select("age", "sex"), quasi=["age", "sex"], hierarchies=TREES
    )
    path = method(levels={"age": 2, "sex": 1}).release(table).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert path.read_text().splitlines() == ["age,sex"]
    assert verify(paper, path, TREES) == []
    forge(paper, lambda content: None, path, lambda lines: ["*,*"] * 500)
    for trees in (None, TREES):
        assert [fault.partition(":")[0] for fault in verify(paper, path, trees)] == [
            "every column is at its root"
        ]


def kept(parameters: Any, k: int | None = None) -> bool:
    epsilon = StatedEpsilon.read(str(parameters.epsilon))
    sampling = Sampling(parameters.beta, epsilon, parameters.delta, parameters.definition)
    return sampling.keeps(k or parameters.k)


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
def test_the_smallest_k_is_enough_and_one_less_is_not(definition: Any) -> None:
    epsilons = [
        "0.01",
        "0.1",
        "0.5",
        "ln(2)",
        "0.6931471805599453",
        "0.9*ln(2)",
        "0.9",
        "1",
        "1.5",
        "2",
        "5",
        "ln(3/2)",
        "12",
    ]
    for epsilon, digits in product(epsilons, [2, 4, 6, 10, 20]):
        parameters = safepub_parameters(epsilon, f"1e-{digits}", definition)
        assert kept(parameters), (epsilon, digits)
        assert kept(parameters, parameters.k + 1)
        if parameters.k > 1:
            assert not kept(parameters, parameters.k - 1), (epsilon, digits)


@given(
    st.integers(1, 300),
    st.integers(1, 100),
    st.integers(1, 6),
    st.sampled_from(["probabilistic", "standard"]),
)
def test_both_arithmetics_agree_for_every_beta(
    epsilon: int, share: int, digits: int, definition: Any
) -> None:
    largest = 1 - math.exp(-epsilon / 100)
    if definition == "standard":
        largest = min(2 * largest, 0.9)  # beyond, sums get long
    beta = Fraction(int(largest * share * 10_000) or 1, 10**6 + 1)
    parameters = safepub_parameters(Fraction(epsilon, 100), f"1e-{digits}", definition, beta=beta)
    assert kept(parameters)
    assert parameters.k == 1 or not kept(parameters, parameters.k - 1)


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
@pytest.mark.parametrize("power", [Fraction(2), Fraction(3, 2), Fraction(5)])
def test_the_sum_is_that_of_the_laws_themselves(power: Fraction, definition: str) -> None:
    """δ from the two laws of what is seen of a group, as the definitions say it, in rationals."""
    beta = 1 - 1 / power

    def law(n: int, k: int) -> dict[int, Fraction]:
        drawn = {j: math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)}
        return {
            0: sum(p for j, p in drawn.items() if j < k),  # type: ignore[dict-item]
            **{j: p for j, p in drawn.items() if j >= k},
        }

    def delta(k: int, sizes: int) -> Fraction:
        worst = Fraction(0)
        for n in range(1, sizes):
            for p, q in ((law(n, k), law(n - 1, k)), (law(n - 1, k), law(n, k))):
                bad = {
                    o: chance for o, chance in p.items() if chance > power * q.get(o, Fraction(0))
                }
                lost = (
                    power * sum(q.get(o, Fraction(0)) for o in bad)
                    if definition == "standard"
                    else 0
                )
                worst = max(worst, sum(bad.values(), Fraction(0)) - lost)
        return worst

    epsilon = StatedEpsilon.read(f"ln({power})")
    for k in (1, 2, 5, 9):
        worst = delta(k, 60)
        exact = Sampling(beta, epsilon, worst, definition)
        assert exact.last_size < 60  # so all sizes that matter were looked at
        assert exact.keeps(k)  # δ met exactly is enough
        assert not replace(exact, delta=worst * (1 - Fraction(1, 10**9))).keeps(k)


def test_the_chance_to_be_drawn_is_compared_exactly(tmp_path: Path) -> None:
    for epsilon, largest in (("ln(4)", Fraction(3, 4)), ("2", safepub_parameters(2, "1e-4").beta)):
        path = method(epsilon=epsilon).release(people()).write(tmp_path)
        paper = tmp_path / "certificate.json"
        for beta, words in (
            (largest, ""),
            (largest + Fraction(1, 1 << 64), "above 1 - e^-epsilon"),
        ):
            forge(paper, put("derived.beta", str(beta)))
            assert words in " ".join(verify(paper, path))
        forge(paper, put("derived.beta", str(largest)))
        assert verify(paper, path) == []


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("few drawn", {"derived.beta": "1/9"}, "not the one that the parameters give"),
        ("few drawn", {"parameters.beta": None}, "not the largest chance"),
        ("many drawn", {"parameters.beta": None}, "drawn too often"),
        ("chosen", {"derived.beta": "1/3"}, "not one of those that are chosen from"),
        ("chosen", {"derived.beta": "1/20"}, "is larger than"),
        ("chosen", {"derived.beta": "19/20"}, "is too small for"),
        ("chosen by a public number", {"parameters.records": None}, "nothing is paid for"),
        ("few drawn", {"parameters.records": 100}, "the number of records decides on beta"),
        (
            "many drawn",
            {
                f"{part}.definition": "probabilistic"
                for part in ("promise", "parameters", "derived")
            },
            "drawn too often",
        ),
    ],
)
def test_a_forged_chance_is_found(
    name: str, changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = released(name).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path, TREES) == []
    forge(paper, both(*(put(place, value) for place, value in changes.items())))
    assert any(said in fault for fault in verify(paper, path, TREES)), verify(paper, path, TREES)


@pytest.mark.parametrize("name", ["few drawn", "few drawn, probabilistic", "many drawn"])
def test_one_less_than_k_is_found_for_any_chance(name: str, tmp_path: Path) -> None:
    path = released(name).write(tmp_path)
    paper = tmp_path / "certificate.json"
    k = json.loads(paper.read_text())["derived"]["k"]
    forge(paper, put("derived.k", k - 1))
    assert any("too small for" in fault for fault in verify(paper, path, TREES))


def test_how_a_chance_was_chosen_is_listed_as_unchecked() -> None:
    chosen, public = (
        released(name).certificate for name in ("chosen", "chosen by a public number")
    )
    assert any("noisy number of records" in what for what in unchecked(chosen))
    assert any("the number of records was public" in what for what in unchecked(public))


def test_the_delta_of_a_row_must_be_what_group_privacy_asks_for(tmp_path: Path) -> None:
    path = method(**METHODS["by person"]).release(people()).write(tmp_path)
    paper = tmp_path / "certificate.json"
    derived = json.loads(paper.read_text())["derived"]
    assert Fraction(derived["delta"]) < Fraction("1e-4") / 2
    forge(paper, put("derived.delta", str(Fraction(derived["delta"]) * Fraction(1001, 1000))))
    assert any("too large for 2 rows" in fault for fault in verify(paper, path))


def test_an_epsilon_too_small_to_add_up_is_listed(tmp_path: Path) -> None:
    path = method(epsilon="1e-6").release(people()).write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []
    assert any("the sum is too long" in what for what in unchecked(tmp_path / "certificate.json"))

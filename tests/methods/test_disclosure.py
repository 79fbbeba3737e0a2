"""Disclosure as a method: what a release shows, what it promises, and what is refused.

Its rules, and an adversary who knows them: test_disclosure_rules.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.counts import group
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import (
    HierarchyError,
    InfeasibleError,
    InputError,
    ParameterError,
    Stopped,
)
from shoal.methods.disclosure import (
    Disclosure,
)
from shoal.privacy.models import (
    DeltaPresence,
    DistinctDiversity,
    KAnonymity,
    TCloseness,
)
from shoal.privacy.promises import Coincidence
from tests.methods.test_disclosure_rules import orders

TOWNS = Hierarchy.from_lines(
    [["Aby", "north", "*"], ["Boda", "north", "*"], ["Cela", "south", "*"], ["Dala", "south", "*"]]
)
SEXES = Hierarchy.from_lines([["f", "*"], ["m", "*"]])
DIVERSE = (DistinctDiversity("ill", 2),)


def table(towns: str, ills: Sequence[Any], sexes: str = "", **options: Any) -> Table:
    """People by the first letters of their towns, what they have, and their sexes."""
    names = {label[0].lower(): label for label in TOWNS.labels[0]}
    frame = pl.DataFrame(
        {
            "town": [names[t] for t in towns],
            "sex": list(sexes or "f" * len(towns)),
            "ill": list(ills),
        }
    )
    roles: dict[str, Any] = {
        "quasi": ["town", "sex"],
        "sensitive": ["ill"],
        "hierarchies": {"town": TOWNS, "sex": SEXES},
    }
    return shoal.table(frame, **{**roles, **options})


def shares(released: pl.DataFrame) -> dict[Any, dict[str, Fraction]]:
    """How values are spread in each group."""
    return {
        town: {ill: Fraction(n, len(rows)) for ill, n in Counter(rows["ill"]).items()}
        for (town,), rows in released.group_by("town")
    }


@pytest.mark.parametrize(
    ("method", "towns", "ills", "groups"),
    [
        (Disclosure(DIVERSE), "aabb", "wxyz", 2),
        (Disclosure(DIVERSE), "aabb", "wwxx", 1),
        (Disclosure(DIVERSE, path=["town", "town"], floor={"sex": 1}), "aabb", "wwxy", 1),
        (Disclosure(DIVERSE, path=["town"], local=True), "aabbcd", "wxyzwx", 3),
        (Disclosure(DIVERSE, path=["town", "town"], rule="first-safe"), "aabb", "wxwx", 2),
        (Disclosure(DIVERSE, path=["town", "town"], rule="first-safe"), "aabbccdd", "wwwwwwxx", 1),
        (
            Disclosure((TCloseness("ill", "1/3"),), path=["town", "town"], rule="first-safe"),
            "aabb",
            "wwxx",
            1,
        ),
    ],
)
def test_an_adversary_who_runs_the_release_on_all_inputs_believes_what_it_shows(
    method: Disclosure, towns: str, ills: str, groups: int
) -> None:
    release = method.release(table(towns, ills))
    shown = shares(release.table)
    assert len(shown) == groups
    possible = []
    for way in orders(Counter(ills)):
        with suppress(InfeasibleError):
            if method.release(table(towns, way)).table.equals(release.table):
                possible.append(way)
    for town, values in zip(
        table(towns, ills).frame["town"].to_list(), zip(*possible, strict=True), strict=True
    ):
        texts = [
            labels[codes[TOWNS.labels[0].index(town)]]
            for labels, codes in zip(TOWNS.labels, TOWNS.maps, strict=True)
        ]
        (own,) = [text for text in texts if text in shown][:1]  # the finest that is there
        assert {value: Fraction(n, len(possible)) for value, n in Counter(values).items()} == shown[
            own
        ]


def test_the_promise_is_that_of_coincidence_and_levels_are_the_chosen_node() -> None:
    method, given = (
        Disclosure(DIVERSE, path=["town", ["town", "sex"]]),
        table("aabbccdd", "wxyzwxyz"),
    )
    release = method.release(given, Seeded(1))
    promise = method.promise(table("", "").schema)
    assert isinstance(promise, Coincidence)
    assert release.certificate.promise == promise.to_dict()
    assert release.certificate.levels == {"town": 0, "sex": 0}
    assert release.certificate.parameters["path"] == [["town"], ["town", "sex"]]
    assert method == Disclosure(["2-diversity of ill"], path=[["town"], ["town", "sex"]])
    assert "local" not in repr(release.facts)
    assert Disclosure(DIVERSE, local=True).release(given).certificate.levels == {}


TREES = {"town": TOWNS, "sex": SEXES}


def test_columns_take_turns_where_no_path_is_given() -> None:
    given = Disclosure((KAnonymity(2),))._nodes({"town": TOWNS, "sex": SEXES})
    assert given == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert Disclosure((KAnonymity(2),), floor={"town": 1})._nodes(
        {"town": TOWNS, "sex": SEXES}
    ) == [(1, 0), (1, 1), (2, 1)]


def test_invalid_parameters_raise_with_the_reason() -> None:
    options: dict[str, Any]
    for options, said in (
        ({"path": "town"}, "list of steps"),
        ({"path": 5}, "list of steps"),
        ({"path": ["town", 1]}, "list of steps"),
        ({"path": [["town", 1]]}, "list of steps"),
        ({"floor": ["town"]}, "levels by column"),
        ({"floor": {"town": 1.5}}, "floor of 'town'"),
        ({"floor": {"town": -1}}, "floor of 'town'"),
        ({"rule": "best"}, "'permutations', 'first-safe'"),
        ({"rule": "first-safe", "local": True}, "`local` goes with the rule 'permutations' only"),
    ):
        with pytest.raises(ParameterError, match=said):
            Disclosure(DIVERSE, **options)
    population = group(["town"], [np.zeros(1, dtype=np.uint8)], [4])
    with pytest.raises(ParameterError, match="presence"):
        Disclosure((DeltaPresence(0, 1, population),), rule="first-safe")
    schema = table("", "").schema
    for options, said in (
        ({"path": ["ill"]}, "'ill'"),
        ({"path": ["town"] * 3}, "levels 0 to 2"),
        (
            {"floor": {"town": 3}},
            "`floor` is above the hierarchy of 'town'; that has levels 0 to 2",
        ),
        ({"floor": {"shoe": 1}}, "'shoe'"),
    ):
        with pytest.raises(ParameterError, match=said):
            Disclosure(DIVERSE, **options).promise(schema)
    with pytest.raises(InfeasibleError, match="nothing can be released") as caught:
        Disclosure(DIVERSE).release(table("aabb", "wwww"))
    assert "w" not in str(caught.value).split()
    with pytest.raises(HierarchyError, match="'sex' has no hierarchy"):
        Disclosure(DIVERSE).promise(table("ab", "wx", hierarchies={"town": TOWNS}).schema)
    with pytest.raises(InputError, match="step 2 of the path merges groups that are not alike"):
        Disclosure(DIVERSE, rule="first-safe", path=["town", "town"]).release(
            table("aabbcc", "wwxxyy")
        )
    derived = replace(TOWNS, derived=True)
    with pytest.raises(HierarchyError, match="derived from the rows"):
        Disclosure(DIVERSE).promise(
            table("ab", "wx", hierarchies={"town": derived, "sex": SEXES}).schema
        )


def test_a_refusal_says_what_it_reveals_and_what_would_help() -> None:
    """Of six people, if the towns are all there is to show, a refusal moves what is believed of two
    of them from 2/3 to 6/7.
    """
    short = Disclosure(DIVERSE, path=[])
    refused: list[tuple[str, ...]] = []
    for way in orders(Counter("wwwwxx")):
        with suppress(InfeasibleError):
            short.release(table("aabbbb", way))
            continue
        refused.append(way)
    assert Fraction(sum(way[0] == "w" for way in refused), len(refused)) == Fraction(6, 7)
    with pytest.raises(
        InfeasibleError,
        match=r"take more steps, or ask for less. Keep this refusal secret: it reveals",
    ):
        short.release(table("aabbbb", refused[0]))
    with pytest.raises(
        InfeasibleError, match=r"models; ask for less. Keep this refusal secret if you try again"
    ):
        Disclosure(DIVERSE).release(table("aabb", "wwww"))


def test_a_step_of_a_recipe_is_a_column_or_several(tmp_path: Path) -> None:
    table("aabb", "wxyz").frame.to_native().write_csv(tmp_path / "people.csv")
    for name, tree in TREES.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(";".join(line) for line in tree.lines()))
    (tmp_path / "recipe.toml").write_text("""
        source = { path = "people.csv" }
        roles = { town = "quasi", sex = "quasi", ill = "sensitive" }
        hierarchies = { town = { file = "town.csv" }, sex = { file = "sex.csv" } }
        [method]
        name = "disclosure"
        models = ["2-diversity of ill"]
        path = ["town", ["town", "sex"]]
    """)
    recipe = shoal.Recipe.load(tmp_path / "recipe.toml")
    assert recipe.method() == Disclosure(DIVERSE, path=["town", ["town", "sex"]])
    assert recipe.run().certificate.parameters["path"] == [["town"], ["town", "sex"]]


def test_groups_that_could_look_alike_do_not_go_down_by_themselves() -> None:
    twice = Hierarchy.from_lines(
        [["Aby", "Aby", "*"], ["Boda", "Aby", "*"], ["Cela", "south", "*"], ["Dala", "Dala", "*"]]
    )
    given = table("aabb", "wxyz", hierarchies={"town": twice, "sex": SEXES})
    Disclosure(DIVERSE).release(given)
    with pytest.raises(HierarchyError, match="'Aby' at two levels"):
        Disclosure(DIVERSE, local=True).release(given)
    chain = Hierarchy.from_lines([["Aby", "Aby", "*"], ["Boda", "Boda", "*"]])
    Disclosure(DIVERSE, local=True).release(
        table("aabb", "wxyz", hierarchies={"town": chain, "sex": SEXES})
    )


@pytest.mark.parametrize("rule", ["permutations", "first-safe"])
def test_it_says_how_far_it_is_and_stops_when_asked(rule: Any) -> None:
    seen: list[tuple[int, int, str]] = []
    method, given = (
        Disclosure(DIVERSE, rule=rule, path=["town", "town"]),
        table("aabbccdd", "wxyzwxyz"),
    )
    method.release(given, progress=lambda *said: seen.append(said))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)

    def stop(done: int, total: int, what: str) -> None:
        raise Stopped("stopped")

    with pytest.raises(Stopped):
        method.release(given, progress=stop)


def test_the_certificate_says_of_facts_about_several_people_what_is_true() -> None:
    """By permutations there are none beyond what groups show (theorem 4).

    The first safe table tells that others were not.
    """
    merged = "that groups had to be merged"
    by_permutations = Disclosure(DIVERSE).release(table("aabb", "wxyz")).certificate
    assert not any(merged in line for line in by_permutations.unprotected)
    assert any("as far as the group shows" in line for line in by_permutations.unprotected)
    first = Disclosure(DIVERSE, rule="first-safe").release(table("aabb", "wxyz")).certificate
    assert any(merged in line for line in first.unprotected)

"""Personal generalisation: people's choices count, and the attack that knows the algorithm."""

import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.attack import recognised
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.data.commitments import OpenedTable
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Table
from shoal.errors import ColumnError, ParameterError, ShoalError, Stopped
from shoal.exact.numbers import Exact
from shoal.methods.method import silent
from shoal.methods.personal import People, Personal, PersonalFacts, Wish

TOWNS = Hierarchy.from_lines([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
AGES = Hierarchy.from_lines([[str(i), str(i // 2 * 10), str(i // 4 * 100), "*"] for i in range(8)])
TREES = {"town": TOWNS, "age": AGES}


def some_people(seed: int, rows: int | None = None) -> Table:
    draw = random.Random(seed)
    number = draw.randint(1, 12) if rows is None else rows
    columns = {
        "town": [
            draw.choice(["a", "b", "c", "d", None] if seed % 3 else "abcd") for _ in range(number)
        ],
        "age": [str(draw.randrange(8)) for _ in range(number)],
        "ill": [draw.choice("uv") for _ in range(number)],
        "choice": [draw.choice(["strict", "normal", "open", None]) for _ in range(number)],
    }
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return shoal.table(
        frame,
        quasi=["town", "age"],
        sensitive=["ill"],
        identifying=["choice"],
        hierarchies=TREES,
        rows_are_people=True,
    )


IMPORTANCES: list[dict[str, Exact]] = [{}, {"age": "3/2"}, {"town": 0}]


def some_method(seed: int, **options: Any) -> Personal:
    draw = random.Random(seed)
    model: Any = draw.choice(["fixed", "uniform", "harmonic"])
    weights: Any = {
        "fixed": {"town": draw.randint(0, 4)},
        "harmonic": {"town": {"a": 3, "c": "1/2"}, "age": 2},
        "uniform": {},
    }[model]
    return Personal(
        Fraction(draw.randint(0, 20), 20),
        measure=draw.choice(["leaves", "log", "depth"]),
        model=model,
        weights=weights,
        importance=draw.choice(IMPORTANCES),
        choice=draw.choice([None, "choice"]),
        register=some_people(seed + 1, 9) if draw.random() < 0.5 else None,
        **options,
    )


def test_strict_people_risk_no_more_and_open_people_keep_no_less() -> None:
    frame = pl.DataFrame(
        {
            "town": list("abcd") * 9,
            "age": [str(i % 8) for i in range(36)],
            "choice": ["strict", "normal", "open"] * 12,
        }
    )
    table = shoal.table(frame, quasi=["town", "age"], insensitive=["choice"], hierarchies=TREES)
    people = People.of(Personal("0.6", choice="choice"), table)
    assert [
        float(Fraction(want.floor) / people.utility.most) for want in people.wanted
    ] == pytest.approx([0.625, 0.3125, 0.625, 0.8125])
    one = shoal.table(
        frame.with_columns(town=pl.lit("a"), age=pl.lit("1")),
        quasi=["town", "age"],
        insensitive=["choice"],
        hierarchies=TREES,
    )
    assert People.of(Personal("0.6", choice="choice"), one).rows.distinct == 3


def test_wishes_have_weights_of_their_own() -> None:
    frame = pl.DataFrame(
        {
            "town": list("aabbccdd"),
            "age": [str(i) for i in range(8)],
            "choice": ["home", "years"] * 4,
        }
    )
    table = shoal.table(frame, quasi=["town", "age"], insensitive=["choice"], hierarchies=TREES)
    wishes = {"home": Wish(weights={"town": 100}), "years": Wish(weights={"age": 100})}
    made = (
        Personal("0.4", choice="choice", wishes=wishes, measure="depth")
        .release(table, Seeded(1))
        .table
    )
    assert set(made.filter(pl.col("choice") == "home")["town"]) == {"*"}
    assert set(made.filter(pl.col("choice") == "years")["age"]) == {"*"}


def test_choices_that_nobody_declared_are_refused_without_showing_them() -> None:
    frame = pl.DataFrame(
        {"town": ["a", "b"], "age": ["1", "2"], "choice": ["strict", "secret whim"]}
    )
    table = shoal.table(frame, quasi=["town", "age"], identifying=["choice"], hierarchies=TREES)
    with pytest.raises(ColumnError, match="1 choice other than 'strict'") as caught:
        Personal("0.5", choice="choice").release(table)
    assert "whim" not in str(caught.value)


def refusals() -> Iterator[tuple[dict[str, Any], str]]:
    yield {"utility": "nan"}, "utility"
    yield {"utility": 2}, "out of range"
    yield {"solver": "magic"}, "known are"
    yield {"measure": "beauty"}, "known are"
    yield {"model": "III"}, "known are"
    yield {"model": "uniform", "weights": {"age": 2}}, "does not go with the uniform model"
    yield {"weights": {"age": -1}}, "weight of 'age'"
    yield {"weights": {"age": {"1": 2}}}, "'harmonic'"
    yield {"model": "harmonic", "weights": {"age": 0}}, "above 0"
    yield {"wishes": {"strict": Wish()}}, "`choice`"
    yield {"choice": "c", "wishes": {"strict": {"utility": 1}}}, "not a Wish"
    yield {"choice": "c", "wishes": ["strict"]}, "by column"
    yield {"weights": ["age"]}, "by column"
    yield {"importance": "age"}, "by column"
    yield {"register": "people.csv"}, "shoal.table"
    yield {"effort": 0}, "effort"
    yield {"pull": 0}, "pull"
    yield {"importance": {"age": float("inf")}}, "importance"


@pytest.mark.parametrize(("options", "said"), list(refusals()))
def test_invalid_parameters_raise(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Personal(**{"utility": "0.5", **options})


@pytest.mark.parametrize(
    "options",
    [
        {"weights": {"ill": 2}},
        {"importance": {"nowhere": 1}},
        {"choice": "nowhere"},
        {"choice": "town"},
        {"model": "harmonic", "weights": {"town": {"Atlantis": 2}}},
    ],
)
def test_columns_that_the_table_lacks_are_refused_before_any_data_is_seen(
    options: dict[str, Any],
) -> None:
    with pytest.raises(ShoalError):
        Personal("0.5", **options).promise(some_people(1).schema)


def test_the_search_says_how_far_it_is_and_stops_when_asked() -> None:
    seen: list[tuple[int, int]] = []
    Personal("0.5").release(
        some_people(1), progress=lambda done, total, what: seen.append((done, total))
    )
    assert seen
    assert all(done <= total for done, total in seen)

    def stop(done: int, total: int, what: str) -> None:
        raise Stopped("enough")

    with pytest.raises(Stopped):
        Personal("0.5").release(some_people(1), progress=stop)


def test_equal_texts_of_two_levels_are_one_value_in_the_release() -> None:
    tree = Hierarchy.from_lines([["a", "a", "*"], ["b", "b/c", "*"], ["c", "b/c", "*"]])
    frame = pl.DataFrame({"town": list("aabbcc"), "ill": list("uvuvuv")})
    table = shoal.table(frame, quasi=["town"], sensitive=["ill"], hierarchies={"town": tree})
    shown = People.of(Personal("0.5"), table)
    texts, codes = shown.shown(shown.levels(shown.solve(Seeded(1), silent)))["town"]
    assert len(set(texts)) == len(texts)
    assert {texts[code] for code in codes} <= {"a", "b", "c", "b/c", "*"}


def test_of_the_crowd_that_was_counted_those_are_left_who_would_be_released_alike() -> None:
    for seed in range(25):
        table = some_people(3 * seed, 30)
        method = Personal("0.5", measure="depth")
        found = recognised(method, table)
        assert ((found.left <= found.fitting) & (found.left >= 1)).all()
        made = method.release(table, Seeded(1)).table.select("town", "age")
        alike = made.group_by("town", "age").len()["len"]
        assert found.mean(found.left) == pytest.approx(
            len(alike) / 30
        )  # who is released alike cannot be told apart further
        assert found.alone(found.left) == pytest.approx((alike == 1).sum() / 30)


def test_wishes_that_the_attacker_does_not_know_leave_more_people() -> None:
    for seed in range(10):
        table = some_people(3 * seed, 30)
        both = (
            recognised(Personal("0.5", choice="choice"), table),
            recognised(Personal("0.5"), table),
        )
        assert (both[0].left >= 1).all()
        assert both[0].people.sum() == both[1].people.sum() == 30


def test_a_recipe_has_weights_wishes_and_a_register(tmp_path: Path) -> None:
    people = some_people(1, 40)
    for name in ("people", "register"):
        people.frame.to_native().write_csv(tmp_path / f"{name}.csv")
    recipe = """
        source = { path = "people.csv" }
        roles = { town = "quasi", age = "quasi", ill = "sensitive", choice = "identifying" }
        [hierarchies]
        town = { build = "group", tree = { x = ["a", "b"], y = ["c", "d"] } }
        age = { build = "order", values = ["0", "1", "2", "3", "4", "5", "6", "7"], sizes = [2, 2] }
        [method]
        name = "personal"
        utility = 0.5
        model = "harmonic"
        weights = { age = 3, town = { a = "7/2" } }
        choice = "choice"
        register = "register.csv"
        [method.wishes.strict]
        utility = "1/5"
        weights = { age = 9 }
        [method.wishes.normal]
        [method.wishes.open]
        utility = 1
    """
    (tmp_path / "recipe.toml").write_text(recipe)
    loaded = shoal.Recipe.load(tmp_path / "recipe.toml")
    method: Any = loaded.method()
    assert method.weights == {"age": 3, "town": {"a": Fraction(7, 2)}}
    assert method.wishes["strict"] == Wish("1/5", {"age": Fraction(9)})
    assert loaded.run().certificate.promise["counted_in"] == "register"
    (tmp_path / "recipe.toml").write_text(
        recipe.replace('utility = "1/5"', "utility = 5").replace("town = { a", "ton = { a")
    )
    with pytest.raises(shoal.ShoalError, match="ton"):
        shoal.Recipe.load(tmp_path / "recipe.toml").method()
    (tmp_path / "recipe.toml").write_text(recipe.replace('utility = "1/5"', "utility = 5"))
    with pytest.raises(shoal.ShoalError, match=r"method\.wishes\.strict.*out of range"):
        shoal.Recipe.load(tmp_path / "recipe.toml").method()


def facts_of(method: Personal, table: Table) -> PersonalFacts:
    facts = method.release(table, Seeded(1)).facts
    assert isinstance(facts, PersonalFacts)
    return facts


@pytest.mark.parametrize("solver", ["genetic", "relaxed", "lagrangian"])
def test_heuristics_tell_the_owner_how_far_they_are_from_the_lowest_risk(solver: Any) -> None:
    table = some_people(3, 40)
    facts = facts_of(Personal("0.5", solver, effort=30), table)
    assert facts.lowest_risk == pytest.approx(facts_of(Personal("0.5"), table).risk)
    assert facts.lowest_risk is not None
    assert facts.risk >= facts.lowest_risk * (1 - 1e-12)


def test_weights_of_values_that_no_number_can_be_are_refused_by_their_number() -> None:
    ages = Hierarchy.from_lines([["1", "*"], ["2", "*"]], "integer")
    table = shoal.table(pl.DataFrame({"age": [1, 2]}), quasi=["age"], hierarchies={"age": ages})
    with pytest.raises(ParameterError, match="1 value of column 'age' that its hierarchy lacks"):
        Personal("0.5", model="harmonic", weights={"age": {"old": 2}}).promise(table.schema)


def test_the_certificate_commits_to_the_register_and_verify_opens_it(tmp_path: Path) -> None:
    table, register = some_people(1, 20), some_people(2, 30)
    method = Personal("1/2", register=register)
    releases = [method.release(table) for _ in range(2)]
    digests = {made.certificate.derived["register_commitment"] for made in releases}
    assert len(digests) == 2  # a plain digest would be the same, and could be guessed
    made = releases[0]
    facts: Any = made.facts
    assert any(facts.register_key in line for line in facts.lines())
    files = made.write(tmp_path / "out").parent
    paths = (files / "certificate.json", files / "release.csv")
    assert facts.register_key not in paths[0].read_text()
    verdict = shoal.verify(*paths)
    assert verdict == []
    assert any("which register" in words for words in verdict.unchecked)
    assert ("derived", "register_commitment") in verdict.places
    opened = OpenedTable(register, facts.register_key)
    verdict = shoal.verify(*paths, register=opened)
    assert verdict == []
    assert not any("which register" in words for words in verdict.unchecked)
    wrong_key = OpenedTable(register, "00" * 32)
    for wrong in (wrong_key, OpenedTable(some_people(4, 30), facts.register_key)):
        assert shoal.verify(*paths, register=wrong) == [
            "the register or its key is not the one that the certificate commits to"
        ]
    plain = Personal("1/2").release(table).write(tmp_path / "plain").parent
    found = shoal.verify(plain / "certificate.json", plain / "release.csv", register=opened)
    assert found == ["a register is given, and the certificate does not commit to any"]


def test_the_command_opens_the_commitment_by_a_file_and_a_key(tmp_path: Path) -> None:
    table, register = some_people(3, 20), some_people(6, 30)
    made = Personal("1/2", register=register).release(table)
    facts: Any = made.facts
    files = made.write(tmp_path / "out").parent
    register.frame.to_native().write_csv(tmp_path / "register.csv")
    command = ["verify", str(files / "certificate.json"), str(files / "release.csv")]
    given = ["--register", str(tmp_path / "register.csv")]
    done = CliRunner().invoke(app, [*command, *given, "--register-key", facts.register_key])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, [*command, *given, "--register-key", "00" * 32])
    assert done.exit_code == 1
    assert "commits to" in done.output
    done = CliRunner().invoke(app, [*command, *given])
    assert done.exit_code == 2
    assert "belong together" in done.output

"""From a few questions, or from all options, to a method with its promise and its cost."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shoal.choosing import QUESTIONS
from shoal.ledger import Ledger
from shoal.methods.catalogue import CATALOGUE
from shoal.recipe import METHODS, Recipe
from shoal.recipe.editing import editing
from shoal.recipe.options import options
from shoal.workbench.option_forms import fields_of, limits_form, model_rows
from shoal.workbench.screens.promise import NOTE
from tests.workbench.benches import Bench
from tests.workbench.conftest import settle, violations

KEY = "hospital~hospital"
AT = f"/p/{KEY}/promise"


def method_of(bench: Bench) -> dict[str, Any]:
    """The section of the method, as the recipe has it."""
    return dict(bench.project(KEY).draft().section("method"))


def send(bench: Bench, *, query: str = "", **fields: Any) -> str:
    """What the form of options gets; names of fields have "__" for ":"."""
    data = {name.replace("__", ":"): value for name, value in fields.items()}
    found = bench.client.post(f"{AT}/options{query}", data=data, headers={"HX-Request": "true"})
    assert found.status_code == 200, found.text[:2000]
    return found.text


def answer(bench: Bench, **answers: str) -> None:
    for question, chosen in answers.items():
        bench.post(f"{AT}/answer", question=question, answer=chosen)


# Questions


def test_questions_are_asked_one_at_a_time_with_a_way_back(demo_bench: Bench) -> None:
    page = demo_bench.get(f"{AT}/questions")
    assert "Who will get it?" in page
    assert "So far this leads to: noisy-counts" in page
    answer(demo_bench, who="anyone", use="counts")
    page = demo_bench.get(f"{AT}/questions")
    assert "What must not be found out?" in page
    assert "Back to: What will they do with it?" in page
    assert "Count and cross-tabulate" in demo_bench.get(f"{AT}/questions?ask=use")
    assert (
        "no answer was chosen"
        in demo_bench.post(
            f"{AT}/answer", question="who", answer="nobody", status=422
        ).text.casefold()
    )


def test_answers_lead_to_a_method_with_reasons_which_is_taken(demo_bench: Bench) -> None:
    answer(demo_bench, who="anyone", use="counts", harm="membership", rule="none", shape="dozen")
    answer(demo_bench, rows="noisy", person="several", people="hundred-thousand", before="once")
    page = demo_bench.get(f"{AT}/questions")
    assert "Take noisy-counts" in page
    assert "Nobody may tell whether someone is in it: only differential privacy" in page
    assert "The runner-up: safepub" in page
    assert "(1, 1e-7)-differential privacy" in page
    refused = demo_bench.post(f"{AT}/take", status=422)
    assert "no column was chosen for PERSON" in refused.text.replace("No", "no")
    demo_bench.client.post(f"{AT}/take", data={"blank:PERSON": "patient"})
    assert method_of(demo_bench) == {
        "name": "noisy-counts",
        "epsilon": "1",
        "delta": "1e-7",
        "levels": "tree",
        "counts": True,
        "unit": "patient",
    }
    assert Recipe.load(demo_bench.project(KEY).recipe).stated().public_choices
    demo_bench.post(f"{AT}/again")
    assert "So far this leads to" in demo_bench.get(f"{AT}/questions")


@pytest.mark.parametrize(
    ("answers", "blanks", "expected"),
    [
        (
            {"who": "anyone", "harm": "value", "use": "join", "rule": "none", "before": "once"},
            {"blank:SENSITIVE": "diagnosis"},
            {"name": "buckets", "column": "diagnosis", "limits": {"others": "1/3"}},
        ),
        (
            {"who": "anyone", "harm": "record", "rule": "cells", "rows": "real", "before": "once"},
            {"blank:KNOWN": ["age", "sex"]},
            {"name": "kdgs", "levels": {"age": 1, "sex": 1}},
        ),
        (
            {"who": "anyone", "harm": "value", "rule": "diversity", "before": "once"},
            {"blank:SENSITIVE": "diagnosis"},
            {"name": "coincident"},
        ),
        (
            {"harm": "membership", "shape": "wide", "before": "once"},
            {"groups": "age, sex\nward, diagnosis"},
            {"name": "columns", "schema": [["age", "sex"], ["ward", "diagnosis"]]},
        ),
    ],
)
def test_blanks_are_filled_by_columns(
    demo_bench: Bench, answers: dict[str, str], blanks: dict[str, Any], expected: dict[str, Any]
) -> None:
    common = {"use": "records", "shape": "dozen", "person": "row", "people": "thousand"}
    answer(demo_bench, **{**common, **answers})
    demo_bench.client.post(f"{AT}/take", data=blanks)
    made = method_of(demo_bench)
    assert {name: made.get(name) for name in expected} == expected
    assert not re.search(r"\b[A-Z]{4,}\b", repr(made))


def test_what_the_roles_say_is_not_asked_again(demo_bench: Bench) -> None:
    people = f"/p/{KEY}/roles/people"
    demo_bench.post(people, part=False, status=303, person="rows")
    answer(demo_bench, who="contract", use="counts", harm="record", algorithm="yes", rule="none")
    answer(demo_bench, shape="dozen", rows="noisy")
    page = demo_bench.get(f"{AT}/questions")
    assert "What is a person in the table?" in page
    assert "One row each" in page
    assert "(by the roles)" in page
    assert "About how many people are in it" in page
    answer(demo_bench, people="hundred-thousand", before="once")
    demo_bench.post(f"{AT}/take", part=False, status=303)
    assert demo_bench.project(KEY).draft().get("rows_are_people") is True
    assert "unit" not in method_of(demo_bench)
    # Whoever answers it all the same is believed, and the roles follow.
    answer(demo_bench, person="several")
    page = demo_bench.get(f"{AT}/questions")
    assert "(by the roles)" not in page
    demo_bench.client.post(f"{AT}/take", data={"blank:PERSON": "patient"})
    assert method_of(demo_bench)["unit"] == "patient"
    assert demo_bench.project(KEY).draft().get("rows_are_people") is None
    assert "Nothing can be promised yet" not in demo_bench.get(f"{AT}/options")


def test_the_column_that_tells_people_apart_is_chosen_already(demo_bench: Bench) -> None:
    demo_bench.post(f"/p/{KEY}/roles/set", part=False, status=303, role__ward="identifying")
    demo_bench.post(f"/p/{KEY}/roles/people", part=False, status=303, person="column:patient")
    answer(demo_bench, who="anyone", use="counts", harm="record", rule="none", shape="dozen")
    answer(demo_bench, rows="noisy", people="more", before="once")
    assert "<option selected>patient</option>" in demo_bench.get(f"{AT}/questions")


def test_columns_that_stay_as_fine_as_they_are_are_named_before_anything_is_tried(
    demo_bench: Bench,
) -> None:
    assert "stay as fine as they are" not in demo_bench.get(f"{AT}/options")
    with editing(demo_bench.home / "hospital" / "hospital.toml") as draft:
        draft.set("hierarchies", "diagnosis", to=None)
    page = demo_bench.get(f"{AT}/options")
    assert "stay as fine as they are: diagnosis" in page
    assert f'href="/p/{KEY}/hierarchies?column=diagnosis"' in page
    with editing(demo_bench.home / "hospital" / "hospital.toml") as draft:
        draft.set("method", to={"name": "optimal", "models": ["5-anonymity"], "suppression": 0.1})
    assert "stay as fine as they are" not in demo_bench.get(f"{AT}/options")


def test_groups_of_columns_need_not_be_written(demo_bench: Bench) -> None:
    answer(demo_bench, who="anyone", use="counts", harm="membership", rule="none", shape="wide")
    answer(demo_bench, person="row", people="hundred-thousand", before="once")
    page = demo_bench.get(f"{AT}/questions")
    assert "The method finds 2 groups, for a quarter of ε" in page
    refused = demo_bench.post(f"{AT}/take", status=422, grouping="written")
    assert "No groups of columns were given" in refused.text
    demo_bench.post(f"{AT}/take", part=False, status=303, grouping="bought")
    taken = method_of(demo_bench)
    assert (taken["groups"], taken["buying"]) == (2, "1/4")
    assert "schema" not in taken
    assert "Nothing can be promised yet" not in demo_bench.get(f"{AT}/options")


def test_a_wide_table_is_known_by_its_roles(demo_bench: Bench) -> None:
    with editing(demo_bench.home / "hospital" / "hospital.toml") as draft:
        for number in range(100):
            draft.set("roles", f"item {number}", to="quasi")
    answer(demo_bench, who="anyone", use="counts", harm="record", rule="none")
    page = demo_bench.get(f"{AT}/questions")
    assert "Hundreds or thousands of columns, most of them empty <span" in page
    page = demo_bench.get(f"{AT}/questions?ask=shape")
    assert "By their roles, 109 columns would be released." in page


def test_german_pages_ask_in_german(demo_bench: Bench) -> None:
    demo_bench.client.cookies.set("shoal-language", "de")
    page = demo_bench.get(f"{AT}/questions")
    assert QUESTIONS[0].text not in page
    assert "Wer bekommt die Daten?" in page
    assert "Was über Sie geschlossen wird" in page


# Methods and options


@pytest.mark.parametrize("name", METHODS.names)
def test_every_option_of_every_method_has_a_field_with_its_meaning(
    demo_bench: Bench, name: str
) -> None:
    demo_bench.post(f"{AT}/options", method=name)
    page = demo_bench.get(f"{AT}/options")
    for option in options(METHODS, name):
        assert f'id="problem-{option.name}"' in page
        assert option.meaning[1:20].replace('"', "&#34;") in page
    assert name not in CATALOGUE or name in demo_bench.get(f"{AT}/methods")


def test_the_promise_beside_the_form_follows_the_options(demo_bench: Bench) -> None:
    text = send(demo_bench, method="auto", o__epsilon="2", o__delta="1e-6", o__importance__age="3")
    assert "(2, 1e-6)-differential privacy" in text
    assert method_of(demo_bench)["importance"] == {"age": 3}
    text = send(demo_bench, method="auto", o__epsilon="-2", o__delta="1e-6")
    assert "Nothing can be promised yet" in text
    assert re.findall(r'id="problem-(\w+)"[^>]*><p>', text) == ["epsilon"]
    text = send(demo_bench, method="auto", o__epsilon="", o__delta="")
    assert re.findall(r'id="problem-(\w+)"[^>]*><p>', text) == ["epsilon", "delta"]
    assert method_of(demo_bench)["delta"] == "?"


def test_a_comment_beside_an_option_survives(demo_bench: Bench) -> None:
    send(demo_bench, method="auto", o__epsilon="2", o__delta="1e-6")
    written = demo_bench.project(KEY).recipe.read_text("utf-8")
    assert 'name = "auto"  # what keeps most' in written
    send(demo_bench, method="kdgs")
    assert "what keeps most" not in demo_bench.project(KEY).recipe.read_text("utf-8")


def test_models_are_a_list_with_options_of_their_own(demo_bench: Bench) -> None:
    send(demo_bench, method="optimal")
    text = send(demo_bench, method="optimal", add="distinct-diversity")
    assert 'name="m:0:column"' in text
    send(
        demo_bench,
        method="optimal",
        m__0__model="distinct-diversity",
        m__0__column="diagnosis",
        m__0__l="3",
        add="k-anonymity",
    )
    text = send(
        demo_bench,
        method="optimal",
        m__0__model="distinct-diversity",
        m__0__column="diagnosis",
        m__0__l="3",
        m__1__model="k-anonymity",
        m__1__k="5",
        o__suppression="0.05",
        o__floor__age="1",
    )
    assert "every group satisfies distinct 3-diversity of diagnosis and 5-anonymity" in text
    assert method_of(demo_bench) == {
        "name": "optimal",
        "models": ["distinct 3-diversity of diagnosis", "5-anonymity"],
        "suppression": 0.05,
        "floor": {"age": 1},
    }
    send(demo_bench, query="?remove=0", method="optimal", m__1__model="k-anonymity")
    assert method_of(demo_bench)["models"] == []


FORMS: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
    (
        "buckets",
        {"o__column": "diagnosis", "limits__way": "formula", "limits__a": "2", "limits__b": "0.05"},
        {"limits": {"a": 2, "b": 0.05}},
    ),
    (
        "buckets",
        {
            "o__column": "diagnosis",
            "limits__way": "values",
            "limits__others": "1/2",
            "value__0__name": "asthma",
            "value__0__limit": "0.2",
        },
        {"limits": {"others": "1/2", "values": {"asthma": 0.2}}},
    ),
    (
        "buckets",
        {
            "o__column": "diagnosis",
            "limits__way": "classes",
            "limits__others": "1",
            "class__0__name": "grave",
            "class__0__limit": "0.2",
            "class__0__values": "asthma\ncancer",
            "o__within__age": "3",
            "o__associations": "yes",
        },
        {
            "limits": {
                "others": 1,
                "classes": {"grave": {"limit": 0.2, "values": ["asthma", "cancer"]}},
            },
            "within": {"age": 3},
            "associations": True,
        },
    ),
    (
        "personal",
        {
            "o__utility": "0.6",
            "o__weights__age": "2",
            "o__weights-values__sex": "f = 3\nm = 1/2",
            "wish__0__name": "open",
            "wish__0__utility": "1",
            "wish__0__weights__age": "1",
        },
        {
            "utility": 0.6,
            "weights": {"age": 2, "sex": {"f": 3, "m": "1/2"}},
            "wishes": {"open": {"utility": 1, "weights": {"age": 1}}},
        },
    ),
    (
        "columns",
        {
            "o__epsilon": "1",
            "o__delta": "1e-6",
            "o__schema": 'age, sex\n"a, b", ward',
            "o__groups": "4, 8",
            "o__items": "bread\nmilk",
        },
        {
            "schema": [["age", "sex"], ["a, b", "ward"]],
            "groups": [4, 8],
            "items": ["bread", "milk"],
        },
    ),
    (
        "disclosure",
        {
            "m__0__model": "t-closeness",
            "m__0__column": "diagnosis",
            "m__0__t": "0.2",
            "m__0__distance": "hierarchical",
            "o__path": "age\nage, sex",
        },
        {
            "models": [
                {
                    "model": "t-closeness",
                    "column": "diagnosis",
                    "t": 0.2,
                    "distance": "hierarchical",
                }
            ],
            "path": ["age", ["age", "sex"]],
        },
    ),
    (
        "noisy-counts",
        {
            "o__epsilon": "ln(2)",
            "o__delta": "1e-6",
            "o__levels": "given",
            "o__levels__age": "2",
            "o__classes": ["age", "sex"],
        },
        {"epsilon": "ln(2)", "levels": {"age": 2}, "classes": ["age", "sex"]},
    ),
    (
        "safepub",
        {"o__epsilon": "1", "o__delta": "1e-6", "o__beta": "auto", "o__search": "tree"},
        {"beta": "auto", "search": "tree"},
    ),
]


@pytest.mark.parametrize(("name", "fields", "expected"), FORMS)
def test_what_a_form_sends_is_written_and_shown_again(
    demo_bench: Bench, name: str, fields: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    send(demo_bench, method=name)
    send(demo_bench, method=name, **fields)
    made = method_of(demo_bench)
    models = [one.get("model", "") for one in made.get("models", []) if isinstance(one, dict)]
    short = "models" in expected and not models
    wanted = {key: value for key, value in expected.items() if not (short and key == "models")}
    assert {key: made.get(key) for key in wanted} == wanted
    # The page shows every field with what was sent.
    page = demo_bench.get(f"{AT}/options")
    for value in fields.values():
        for text in value if isinstance(value, list) else str(value).splitlines():
            assert text.replace('"', "&#34;").split(" = ")[0] in page


def test_limits_and_models_of_hand_written_recipes_are_shown() -> None:
    assert limits_form({"others": {"a": 1, "b": "0.1"}}).way == "formula"
    assert limits_form("nonsense").values == ()
    assert [name for name, _ in model_rows(["5-anonymity", "nonsense", {"model": "x"}])] == [
        "k-anonymity"
    ]
    shown = {option.name: value for option, value in fields_of("kdgs", {"k": "?"})}
    assert shown == {"k": None, "levels": {}, "counts": None, "unit": None}


def test_another_method_keeps_what_it_shares_with_the_one_before(demo_bench: Bench) -> None:
    demo_bench.post(f"{AT}/options", method="safepub")
    assert method_of(demo_bench) == {
        "name": "safepub",
        "epsilon": 1,
        "delta": 1e-6,
        "importance": {"age": 3, "diagnosis": 3, "stay": 2},
    }
    assert "there is no such method" in demo_bench.post(
        f"{AT}/options", method="magic", status=422
    ).text.replace("There", "there")


def test_problems_of_other_steps_lead_there(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    text = project.recipe.read_text("utf-8").replace('ward = "quasi"', 'ward = "?"')
    project.recipe.write_text(text, "utf-8")
    page = demo_bench.get(f"{AT}/options")
    assert "Nothing can be promised yet" in page
    assert f'href="/p/{KEY}/roles">Go there' in page


# What to expect


def test_belief_before_and_after_is_shown_before_anything_is_spent(demo_bench: Bench) -> None:
    assert "Even odds that you are in the table become" in demo_bench.get(f"{AT}/belief", part=True)


def test_asking_the_method_about_the_rows_is_looking(demo_bench: Bench) -> None:
    assert 'class="box owner"' in demo_bench.post(f"{AT}/concerns").text
    send(demo_bench, method="auto", o__epsilon="3", o__delta="0.1")
    listed = demo_bench.project(KEY).draft().get("chosen_after_looking")
    assert listed == ["method.epsilon", "method.delta", "method.importance"]
    assert "You chose this after figures" in demo_bench.get(f"/p/{KEY}/looking", part=True)


def test_a_forecast_asks_how_many_values_a_column_without_a_hierarchy_has(
    demo_bench: Bench,
) -> None:
    demo_bench.post(f"/p/{KEY}/hierarchies/remove", column="outcome")
    assert 'name="values:outcome"' in demo_bench.get(f"{AT}/options")
    refused = demo_bench.post(f"{AT}/forecast", records="2000", status=422).text
    assert "say about how many" in refused
    given: dict[str, Any] = {"records": "2000", "values:outcome": "3"}
    demo_bench.post(f"{AT}/forecast", **given)
    [job] = demo_bench.desk.jobs.of(demo_bench.project(KEY), "forecast")
    assert job.wait(120) == "done", job.error


def test_a_forecast_runs_on_made_up_tables(demo_bench: Bench) -> None:
    demo_bench.post(f"{AT}/forecast", records="many", status=422)
    started = demo_bench.post(f"{AT}/forecast", records="2,000")
    assert 'id="forecast"' in started.text
    [job] = demo_bench.desk.jobs.of(demo_bench.project(KEY), "forecast")
    assert job.wait(120) == "done", job.error
    page = demo_bench.get(f"{AT}/options")
    assert "Most is expected to be kept by" in page
    assert demo_bench.project(KEY).note("looked") is None


# The ledger


def use(bench: Bench, ledger: str, status: int = 200) -> None:
    """Choose a ledger."""
    found = bench.client.post(f"{AT}/ledger", data={"path": ledger})
    assert found.status_code == status


def test_a_ledger_is_made_and_says_what_would_be_left(demo_bench: Bench) -> None:
    page = demo_bench.get(f"{AT}/ledger")
    assert "No ledger" in page
    demo_bench.post(f"{AT}/ledger/new", name="people", kind="budget", epsilon="3", delta="1e-5")
    project = demo_bench.project(KEY)
    assert project.draft().get("ledger", "path") == "people.ledger"
    page = demo_bench.get(f"{AT}/options")
    assert "Left after it" in page
    assert "ε 2, δ 9e-6" in page
    send(demo_bench, method="auto", o__epsilon="4", o__delta="1e-6")
    assert "ask for less" in demo_bench.get(f"{AT}/options").casefold()
    use(demo_bench, "")
    assert project.draft().get("ledger") is None
    use(demo_bench, "people.ledger")
    assert Ledger(project.folder / "people.ledger").account().limit is not None
    use(demo_bench, "nowhere.ledger", 422)


def test_a_ledger_may_have_a_limit_of_beliefs_or_none(demo_bench: Bench) -> None:
    demo_bench.post(f"{AT}/ledger/new", name="views", kind="gamma", gamma="1/2")
    assert "γ 1/2" in demo_bench.get(f"{AT}/ledger")
    demo_bench.post(f"{AT}/ledger/new", name="book", kind="none")
    assert "book.ledger" in demo_bench.get(f"{AT}/ledger")
    demo_bench.post(f"{AT}/ledger/new", name="book", kind="none", status=422)
    demo_bench.post(f"{AT}/ledger/new", name="more", kind="budget", epsilon="", status=422)


# The step


def test_the_step_says_what_is_missing(demo_bench: Bench, tmp_path: Path) -> None:
    assert "options are missing" not in demo_bench.get(f"/p/{KEY}/steps")
    demo_bench.post(f"{AT}/options", method="kdgs")
    assert "options are missing" in demo_bench.get(f"/p/{KEY}/steps")
    with_none = demo_bench.project(KEY)
    text = with_none.recipe.read_text("utf-8").replace('name = "kdgs"', 'name = "?"')
    with_none.recipe.write_text(text, "utf-8")
    assert "no method yet" in demo_bench.get(f"/p/{KEY}/steps")
    assert (
        demo_bench.client.get(AT, follow_redirects=False)
        .headers["location"]
        .endswith("promise/questions")
    )


def test_the_form_answers_while_somebody_types(page: Any) -> None:
    address = page.url.rstrip("/") + AT
    page.goto(f"{address}/options")
    page.fill("#o-epsilon", "2")
    page.press("#o-epsilon", "Tab")
    page.locator("#changed").get_by_text("(2, 1e-6)-differential privacy").wait_for()
    page.select_option("#method", "optimal")
    page.locator("#add").wait_for()
    settle(page)
    page.select_option("#add", "k-anonymity")
    page.locator("#m-0-k").wait_for()
    settle(page)
    page.fill("#m-0-k", "5")
    page.press("#m-0-k", "Tab")
    page.locator("#changed").get_by_text("every group satisfies 5-anonymity").wait_for()
    assert page.input_value("#m-0-k") == "5"
    assert not violations(page)
    for place in ("questions", "methods", "ledger"):
        page.goto(f"{address}/{place}")
        assert not violations(page)


def test_another_method_keeps_who_is_a_person(demo_bench: Bench) -> None:
    project = demo_bench.project(KEY)
    with editing(project.recipe) as draft:
        draft.set("method", to={"name": "sampling", "probability": "1/2", "unit": "patient"})
    # The first answers lead to a method with nothing to fill in.
    project.keep(NOTE, {question.key: question.keys[0] for question in QUESTIONS})
    demo_bench.post(f"/p/{KEY}/promise/take")
    section = project.draft().section("method")
    assert section["name"] == "noisy-counts"
    assert section["unit"] == "patient"

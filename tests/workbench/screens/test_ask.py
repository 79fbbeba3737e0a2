"""Ask: beginning an audit, asking, denials, and what only the owner sees."""

import time
from typing import Any

import pytest

from shoal.audit import Audit, Secret
from shoal.workbench import questions
from tests.workbench.benches import Bench

ASK = "/p/hospital~hospital/ask"


@pytest.fixture(autouse=True)
def no_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.workbench.questions.time.sleep", lambda seconds: None)


@pytest.fixture
def asking(demo_bench: Bench) -> Bench:
    """A workbench whose project has an audit of the days of stays."""
    project = demo_bench.project("hospital~hospital")
    table = demo_bench.desk.tables.bare(project)
    Audit.new(
        questions.place_for_audit(project),
        table,
        Secret("stay", "max", low=0, high=400, width=2),
        public=["age", "sex", "ward"],
    )
    return demo_bench


def test_an_audit_is_begun_by_a_form(demo_bench: Bench) -> None:
    assert "Put the table under audit" in demo_bench.get(ASK)
    fields: Any = {"column": "stay", "family": "sum", "low": "0", "high": "400", "width": "5"}
    demo_bench.post(f"{ASK}/begin", **fields, dither="on", public=["age", "sex"])
    project = demo_bench.project("hospital~hospital")
    [job] = demo_bench.desk.jobs.of(project, "audit")
    assert job.wait(60) == "done", job.error
    audit = questions.audit_of(project)
    assert audit is not None
    assert list(audit.public) == ["age", "sex"]
    assert "What can be asked" in demo_bench.get(ASK)
    assert "has an audit already" in demo_bench.post(f"{ASK}/begin", status=422, column="stay").text


def test_what_is_missing_is_said_before_a_job_begins(demo_bench: Bench) -> None:
    assert "choose the column" in demo_bench.post(f"{ASK}/begin", status=422).text
    assert "othing is public" in demo_bench.post(f"{ASK}/begin", status=422, column="stay").text
    wrong = demo_bench.post(f"{ASK}/begin", status=422, column="stay", low="9", high="1").text
    assert "above the upper one" in wrong


def test_what_was_typed_is_kept_where_it_did_not_work(demo_bench: Bench) -> None:
    fields: Any = {"column": "stay", "family": "sum", "low": "0", "high": "1", "width": "0.5"}
    demo_bench.post(f"{ASK}/begin", **fields, public=["age", "sex"])
    page = demo_bench.get(ASK)
    assert "outside the public bounds" in page
    assert "<option selected>stay</option>" in page
    assert 'value="0.5"' in page
    assert page.count(" checked") == 2


def test_what_is_wrong_names_its_field(demo_bench: Bench) -> None:
    wrong = demo_bench.post(f"{ASK}/begin", status=422, column="stay", high="60,5").text
    assert 'data-field="high"' in wrong
    assert "high = " in wrong


def test_questions_are_answered_or_denied(asking: Bench) -> None:
    everyone = asking.post(ASK, aggregate="count").text
    assert "1000" in everyone
    assert "Denied" not in asking.post(ASK, aggregate="max", column="stay").text
    project = asking.project("hospital~hospital")
    frame = asking.desk.tables.bare(project).frame.to_native()
    alone = frame.group_by("age", "ward").len().filter(len=1).row(0, named=True)
    where = f"age = {alone['age']} and ward = '{alone['ward']}'"
    assert "Denied" in asking.post(ASK, aggregate="max", column="stay", where=where).text
    assert (
        "about nobody" in asking.post(ASK, aggregate="max", column="stay", where="age = 1000").text
    )


def test_conditions_are_put_together(asking: Bench) -> None:
    fields: Any = {
        "by1": "sex",
        "sign1": "=",
        "value1": "female",
        "by2": "age",
        "sign2": "<",
        "value2": "40",
    }
    shown = asking.post(ASK, aggregate="count", **fields).text
    assert "count(*) where sex = &#39;female&#39; and age &lt; 40" in shown
    wrong = asking.post(ASK, aggregate="count", by1="age", sign1="<", value1="old").text
    assert "compared with a number" in wrong
    assert "old" not in wrong.replace("older", "")


def test_a_hostile_condition_stays_one_condition(asking: Bench) -> None:
    value = "x' or age > 0 or ward = 'y"
    shown = asking.post(ASK, aggregate="count", by1="ward", sign1="=", value1=value).text
    assert '<p class="big">0</p>' in shown
    assert "choose one from the list" in asking.post(ASK, aggregate="count", by1="name").text


def test_history_is_there_for_everyone_who_asks(asking: Bench) -> None:
    asking.post(ASK, aggregate="max", column="stay", where="sex = 'female'")
    assert "max(stay) where sex = &#39;female&#39;" in asking.get(ASK)


def test_a_reply_is_as_long_as_a_denial(asking: Bench) -> None:
    one = asking.post(ASK, aggregate="count")
    other = asking.post(ASK, aggregate="count", where="age = 30 and sex = 'female'")
    assert len(one.content) % 2048 == 0
    assert len(other.content) % 2048 == 0


def test_replies_leave_on_a_grid_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("shoal.workbench.questions.time.sleep", slept.append)
    start = time.monotonic()
    with questions.on_the_grid(0.5):
        pass
    [rest] = slept
    assert 0 <= 0.5 - rest <= time.monotonic() - start


def test_what_is_known_is_for_the_owner(asking: Bench) -> None:
    asking.post(ASK, aggregate="max", column="stay")
    shown = asking.get(f"{ASK}/known")
    assert "Owner only" in shown
    assert "<svg" in asking.get(f"{ASK}/known/pictures", part=True)
    assert "Nothing beyond the promise" in asking.get(f"{ASK}/known/attack", part=True)


def test_keys_are_shown_once(asking: Bench) -> None:
    shown = asking.post(f"{ASK}/keys", name="Ann").text
    assert "shoal-" in shown
    assert "Ann" in asking.get(f"{ASK}/known")
    assert "shoal-" not in asking.get(f"{ASK}/known").replace("shoal-language", "")
    assert "Ann" not in asking.post(f"{ASK}/keys/remove", name="Ann").text.partition("<ul>")[2]

"""An audit is durable: an answer that left is in the log, the log replays to the same state, and everyone shares it.

The same tests run on SQLite and on a private PostgreSQL server. What must hold is looked at by `contradictions`, which goes
through the log once more, and which has to notice twins that answer before they have written, or do not take turns.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.audit import Audit, Query, Reply, Secret, expressions
from shoal.audit.records import Asked
from shoal.audit.secret import FAMILY_OF, simplest
from shoal.audit.store import Store, database_at
from shoal.errors import ColumnError, FileError, ParameterError, QueryError
from shoal.log import custody
from tests.postgres import Server

PEOPLE = 40
NAMES = [f"p{i}" for i in range(PEOPLE)]
VALUES = [(i * 37) % 101 + 10 for i in range(PEOPLE)]

Make = Callable[[], str]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new audit may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "people.audit")
    return str(request.getfixturevalue("server").fresh())


def people(**columns: Any) -> shoal.Table:
    frame = {
        "name": NAMES,
        "dept": ["X", "Y"] * (PEOPLE // 2),
        "age": list(range(20, 20 + PEOPLE)),
        "salary": VALUES,
    } | columns
    return shoal.table(pl.DataFrame(frame), types={"name": "text"})


def made(place: str, secret: Secret | None = None, **columns: Any) -> Audit:
    secret = secret or Secret("salary", low=0, high=200)
    return Audit.new(place, people(**columns), secret, public=["name", "dept", "age"], named="name")


def some(draws: random.Random, audit: Audit) -> Query:
    return audit.query("max", "salary", people=draws.sample(NAMES, draws.randint(1, PEOPLE)))


class Cut(BaseException):
    """Somebody pulled the plug."""


def contradictions(place: str, told: dict[str, str]) -> list[str]:
    """What is wrong with a log, given all replies that ever left: it holds them, and follows from the data by the rules alone."""
    audit = Audit.open(place)
    found = [
        f"{query}: told {reply}"
        for query, reply in told.items()
        if str(_replies(audit).get(query)) != reply
    ]
    states: dict[str, Any] = {}
    with Store(place).reading() as turn:
        _, *links = turn.chain()
    asked = set()
    for link in links:
        recorded = Asked.from_dict(link.facts)
        column, decision = recorded.column, recorded.decision
        members = decision.people
        auditor = audit._auditors[column]
        state = states.get(column, auditor.start())
        truth = audit._values[column].aggregate(FAMILY_OF[recorded.aggregate], members)
        if auditor.decide(state, members, truth) != decision:
            found.append(f"entry {link.number} is not what is decided after those before it")
        if (column, members) in asked:
            found.append(f"entry {link.number} repeats an earlier one")
        asked.add((column, members))
        states[column] = auditor.after(state, decision)
    if any(one.known != states.get(one.secret.column) for one in audit.state()):
        found.append("the state is not that of the log")
    return found


def _replies(audit: Audit) -> dict[str, Reply]:
    """By people, for names may be listed in another order."""
    return {_about(line.query): line.reply for line in audit.transcript()}


def _about(query: str) -> str:
    start, listed, names = query.partition(" in (")
    return start + listed + ", ".join(sorted(names.rstrip(")").split(", ")))


# What is asked and replied


def test_the_first_maximum_over_two_is_answered_and_one_person_is_denied(place: str) -> None:
    audit = made(place)
    assert audit.ask("max(salary)") == Reply(max(VALUES))
    assert audit.ask("max(salary) where name = 'p3'").denied
    assert str(audit.ask("max(salary) where name = 'p3'")) == "denied"
    assert [str(line.reply) for line in audit.transcript()] == [str(max(VALUES)), "denied"]
    assert audit.transcript()[1].query == "max(salary) where name = 'p3'"
    assert audit.transcript(after=1, most=5) == audit.transcript()[1:]


def test_a_count_is_answered_and_leaves_no_trace(place: str) -> None:
    audit = made(place)
    assert audit.ask("count(*) where dept = 'X' and age < 30") == Reply(5)
    assert audit.ask(audit.query("count")) == Reply(PEOPLE)
    assert audit.transcript() == ()


def test_the_same_people_get_the_same_reply_without_a_new_entry(place: str) -> None:
    audit = made(place)
    for text in (
        "max(salary) where dept = 'X'",
        "max(salary) where not dept = 'Y'",
        "max(salary) where dept in ('X')",
    ):
        assert audit.ask(text) == Audit.open(place).ask(text) == Reply(max(VALUES[::2]))
    assert len(audit.transcript()) == 1


def test_sums_without_bounds_are_exact_and_a_mean_is_a_sum(place: str) -> None:
    audit = made(place, Secret("salary"), salary=[f"{value}.10" for value in VALUES])
    total = Fraction(sum(VALUES)) + Fraction(PEOPLE, 10)
    assert audit.ask("sum(salary)") == Reply(simplest(total))
    assert audit.ask("mean(salary)") == Reply(total / PEOPLE)
    assert len(audit.transcript()) == 1
    assert audit.ask("sum(salary) where name = 'p1'").denied
    assert not contradictions(place, {})


def test_dithered_sums_are_about_right_and_replay(place: str) -> None:
    audit = made(
        place,
        Secret("salary", low=0, high=200, dither=True),
        salary=[f"{value}.10" for value in VALUES],
    )
    total = Fraction(sum(VALUES)) + Fraction(PEOPLE, 10)
    answer = audit.ask("sum(salary)").answer
    assert answer is not None
    assert abs(answer - total) <= Fraction(PEOPLE + 1, 20)  # the last digit is a tenth
    assert audit.ask("sum(salary) where name = 'p1'").denied
    assert not contradictions(place, {})


def test_minima_are_audited_as_maxima_are(place: str) -> None:
    audit = made(place, Secret("salary", family="min", low=0, high=200))
    assert audit.ask("min(salary)") == Reply(min(VALUES))
    assert audit.ask("min(salary) where name in ('p1')").denied
    assert not contradictions(place, {})


def test_a_column_answers_one_kind_of_query_the_first_one_or_the_one_it_was_made_for(
    place: str,
) -> None:
    audit = made(place)
    audit.ask("max(salary)")
    for text in ("min(salary)", "sum(salary)", "mean(salary)", "sum(salary) where name = 'p1'"):
        with pytest.raises(QueryError, match="max only"):
            audit.ask(text)
        with pytest.raises(QueryError, match="max only"):
            Audit.open(place).ask(text)
    assert len(audit.transcript()) == 1


def test_columns_are_audited_apart(place: str) -> None:
    secrets = [
        Secret("salary", family="max", low=0, high=200),
        Secret("bonus", family="min", low=0, high=50),
    ]
    table = people(bonus=[value % 7 for value in VALUES])
    audit = Audit.new(place, table, secrets, public=["name"])
    assert audit.ask("max(salary)").answer == max(VALUES)
    assert audit.ask("min(bonus) where name = 'p1'").denied
    assert [(one.secret.column, one.answered, one.denied) for one in audit.state()] == [
        ("salary", 1, 0),
        ("bonus", 0, 1),
    ]
    assert not contradictions(place, {})


def test_what_another_process_asked_is_known_here(place: str) -> None:
    here, there = made(place), Audit.open(place)
    there.ask("max(salary)")
    assert (
        here.ask("max(salary) where not name = 'p1'").denied
        == there.ask("max(salary) where not name = 'p1'").denied
    )
    assert here.transcript() == there.transcript()
    assert here.state() == there.state()
    assert here.head() == there.head()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max(wage)", "nothing can be asked"),
        ("max(age)", "nothing can be asked"),
        ("max(salary) where salary > 3", "secret"),
        ("max(salary) where age < 0", "nobody"),
        ("max(salary", "expected"),
    ],
)
def test_what_may_not_be_asked_is_refused_and_not_logged(
    tmp_path: Path, text: str, why: str
) -> None:
    audit = made(str(tmp_path / "a"))
    with pytest.raises(QueryError, match=why):
        audit.ask(text)
    assert audit.transcript() == ()


def test_people_are_listed_by_name_or_by_row_where_that_is_public(tmp_path: Path) -> None:
    named = made(str(tmp_path / "a"))
    assert named.ask(named.query("max", "salary", people=["p1", "p3", "p1"])) == named.ask(
        "max(salary) where name in ('p3', 'p1')"
    )
    for wrong in ([], ["p1", "nobody"], ["p1"] * 41, [3]):
        with pytest.raises(QueryError):
            named.query("max", "salary", people=wrong)
    numbered = Audit.new(tmp_path / "b", people(), Secret("salary"), public=["dept"], rows=True)
    assert numbered.ask(numbered.query("max", "salary", people=[1, 2, 3])) == Reply(max(VALUES[:3]))
    assert numbered.ask("max(salary) where row <= 3") == Reply(max(VALUES[:3]))
    neither = Audit.new(tmp_path / "c", people(), Secret("salary"), public=["dept"])
    with pytest.raises(QueryError, match="no public column names"):
        neither.query("max", "salary", people=[1])
    with pytest.raises(QueryError):
        neither.query("max", "salary", where="row = 1")


def test_a_query_has_a_condition_or_a_list(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    for aggregate, column, parts in (
        ("max", "salary", {"where": "age = 20", "people": ["p1"]}),
        ("max", None, {}),
        ("count", "salary", {}),
        ("median", "salary", {}),
    ):
        with pytest.raises(QueryError):
            audit.query(aggregate, column, **parts)  # type: ignore[arg-type]
    with pytest.raises(QueryError):
        audit.ask(Query("max", "salary", expressions.Atom("wage", "=", ("x",))))


# What is put under audit


@pytest.mark.parametrize(
    ("secret", "columns", "why"),
    [
        (Secret("salary"), {"salary": [None, *VALUES[1:]]}, "1 value of 40 is missing"),
        (Secret("salary"), {"salary": ["", *map(str, VALUES[1:])]}, "missing"),
        (Secret("salary"), {"salary": ["4711x", *map(str, VALUES[1:])]}, "not numeric"),
        (Secret("salary"), {"salary": [float("inf"), *map(float, VALUES[1:])]}, "not numeric"),
        (Secret("salary", high=100, width=1), {}, "outside the public bounds"),
        (Secret("salary", low=11, width=1), {}, "outside the public bounds"),
        (
            Secret("salary", distinct=True, integers=False),
            {"salary": [20, 20, *VALUES[2:]]},
            "twice",
        ),
        (Secret("salary", integers=True), {"salary": [0.5, *map(float, VALUES[1:])]}, "whole"),
        (Secret("wage"), {}, "no column"),
        (Secret("dept"), {}, "twice"),
    ],
)
def test_data_that_an_audit_could_not_promise_for_is_refused_without_a_value(
    tmp_path: Path, secret: Secret, columns: dict[str, Any], why: str
) -> None:
    with pytest.raises((ColumnError, ParameterError), match=why) as refused:
        made(str(tmp_path / "a"), secret, **columns)
    assert "4711" not in str(refused.value)
    assert not (tmp_path / "a").exists()


def test_a_row_is_one_person_where_people_have_names(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="a row is one person"):
        made(str(tmp_path / "a"), name=["p0", *NAMES[:-1]])
    with pytest.raises(ColumnError, match="make it public too"):
        Audit.new(tmp_path / "a", people(), Secret("salary"), public=["dept"], named="name")


def test_a_store_is_never_overwritten_and_only_its_owner_may_read_it(place: str) -> None:
    audit = made(place)
    with pytest.raises(FileError, match="already"):
        made(place)
    assert audit.ask("max(salary)") == Reply(max(VALUES))
    if "://" not in place:
        assert os.stat(place).st_mode & 0o777 == 0o600


def test_an_empty_file_that_was_there_becomes_the_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.touch()
    file.chmod(0o644)
    made(str(file))
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_commit_is_on_the_disk(place: str) -> None:
    made(place)
    with Store(place).writing() as turn:
        if "://" in place:
            assert turn.run("SHOW synchronous_commit").fetchone() == ("on",)
        else:
            assert turn.run("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
            assert turn.run("PRAGMA journal_mode").fetchone() == ("delete",)


def test_making_an_audit_is_on_the_disk_too(tmp_path: Path) -> None:
    with database_at(tmp_path / "a").creating() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)


def test_nobody_waits_forever_for_a_turn(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = made(place)
    monkeypatch.setattr("shoal.log.sqlite.PATIENCE", 0.2)
    monkeypatch.setattr("shoal.log.postgres.PATIENCE", 0.2)
    another = Audit.open(place)
    with Store(place).writing(), pytest.raises(FileError, match="in use by others"):
        another.ask("max(salary)")
    assert (
        another.ask("max(salary)") == audit.ask("max(salary)") == Reply(max(VALUES))
    )  # whoever gave up left no lock behind


def test_only_public_and_secret_columns_are_copied_and_in_an_order_that_tells_nothing(
    tmp_path: Path,
) -> None:
    table = people(illness=["Zanzibar fever"] * PEOPLE)
    Audit.new(tmp_path / "a", table, Secret("salary"), public=["dept"])
    assert b"Zanzibar" not in (tmp_path / "a").read_bytes()
    data = Store(tmp_path / "a").data()
    assert json.loads(data["public: dept"])["codes"] == [0] * 20 + [1] * 20
    assert json.loads(data["secret: salary"]) == [
        str(value) for value in (*VALUES[::2], *VALUES[1::2])
    ]


def test_no_audit_is_told_apart_from_a_broken_one(tmp_path: Path, place: str) -> None:
    with pytest.raises(FileError, match="no audit"):
        Audit.open(place)
    (tmp_path / "text").write_text("no database at all, and long enough to be looked at")
    with pytest.raises(FileError, match="not an audit"):
        Audit.open(tmp_path / "text")
    with pytest.raises(ParameterError, match="mysql"):
        Audit.open("mysql://here/people")


def _run(place: str, statement: str, *values: object) -> None:
    with Store(place).writing() as turn:
        turn.run(statement, *values)


def test_changed_data_and_a_changed_log_are_noticed(place: str) -> None:
    made(place).ask("max(salary)")
    content = json.dumps({"what": "asked"})
    for statement, values in (
        ("UPDATE shoal_entries SET content = ? WHERE number = 2", (content,)),
        ("DELETE FROM shoal_entries WHERE number = 1", ()),
    ):
        with suppress(Cut), Store(place).writing() as turn:
            turn.run(statement, *values)
            with pytest.raises(FileError, match="changed"):
                turn.chain()
            raise Cut
    assert Audit.open(place).transcript()
    _run(
        place,
        "UPDATE shoal_data SET content = replace(content, '10', '11') WHERE name = 'secret: salary'",
    )
    with pytest.raises(FileError, match="the data was changed"):
        Audit.open(place)


@pytest.mark.parametrize("others", [False, True])
def test_a_log_that_is_cut_or_put_back_under_a_running_process_is_noticed(
    place: str, others: bool
) -> None:
    """Whether or not another process has asked since, so that there is an entry of the same number, or of a later one."""
    audit = made(place)
    for age in (30, 40, 50):
        audit.ask(f"max(salary) where age > {age}")
    _run(place, "DELETE FROM shoal_entries WHERE number > 2")
    if others:
        another = Audit.open(place)
        for age in (35, 45, 55):
            another.ask(f"max(salary) where age < {age}")
    number = len(Audit.open(place).transcript())
    for use in (
        lambda: audit.ask("max(salary) where dept = 'X'"),
        audit.transcript,
        audit.state,
        audit.head,
    ):
        with pytest.raises(FileError, match="no longer has entry 4"):
            use()
    assert len(Audit.open(place).transcript()) == number
    _run(place, "DELETE FROM shoal_entries")
    with pytest.raises(FileError, match="no entries"):
        Audit.open(place)


def test_keys_are_shown_once_and_kept_as_digests(place: str) -> None:
    audit = made(place)
    key = audit.add_key("Ann")
    audit.add_key("Bea", "owner")
    there = audit.keys()
    assert [(one.name, one.role) for one in there] == [("Ann", "analyst"), ("Bea", "owner")]
    assert key not in repr(there)
    with pytest.raises(ParameterError, match="already"):
        audit.add_key("Ann")
    with pytest.raises(ParameterError, match="role"):
        audit.add_key("Cid", "admin")
    audit.remove_key("Ann")
    with pytest.raises(ParameterError, match="nobody"):
        audit.remove_key("Ann")


# Crashes


def test_a_crash_before_the_entry_is_written_repeats_identically(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise Cut

    draws = random.Random(8)
    audit, twin = made(place), None
    for _ in range(6):
        query = some(draws, audit)
        with monkeypatch.context() as patched:
            patched.setattr(Audit, "_asked", cut)
            with pytest.raises(Cut):
                audit.ask(query)
        number = len(Audit.open(place).transcript())
        twin = Audit.open(place).ask(query)
        assert len(Audit.open(place).transcript()) == number + 1
        assert audit.ask(query) == twin
    assert not contradictions(place, {})


def test_a_crash_after_the_entry_is_written_loses_nothing(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = made(place)
    follow = Audit._follow

    def cut(self: Audit, links: Any) -> None:
        if links := list(links):
            raise Cut
        follow(self, links)

    with monkeypatch.context() as patched:
        patched.setattr(Audit, "_follow", cut)
        with pytest.raises(Cut):
            audit.ask("max(salary) where dept = 'X'")
    assert [line.query for line in Audit.open(place).transcript()] == [
        "max(salary) where dept = 'X'"
    ]
    assert audit.ask("max(salary) where dept = 'X'") == Reply(max(VALUES[::2]))
    assert len(audit.transcript()) == 1


CLIENT = """
import json, random, sys, time
from shoal.audit import Audit
from shoal.audit.book import replied

def tell(query, reply):
    print(json.dumps([str(query), str(reply)]), flush=True)

class Early(Audit):
    def _asked(self, question, decision, analyst):
        secret = self._secrets[question.column]
        tell(question.text, replied(question.aggregate, secret, decision))
        time.sleep(60)

kind, place, seed, queries = sys.argv[1:]
audit = (Early if kind == "early" else Audit)(place)
draws = random.Random(seed)
names = [f"p{i}" for i in range(audit.people)]
for _ in range(int(queries)):
    query = audit.query("max", "salary", people=draws.sample(names, draws.randint(1, len(names))))
    reply = audit.ask(query)
    if kind != "early":
        tell(query, reply)
"""


def started(kind: str, place: str, seed: object, queries: int = 10_000) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-c", CLIENT, kind, place, str(seed), str(queries)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def killed(place: str, seed: int, kind: str = "right", clients: int = 2) -> dict[str, str]:
    """What clients were told who ask as fast as they can, and are killed in the midst of it."""
    draws = random.Random(seed)
    running = [started(kind, place, f"{seed}/{i}") for i in range(clients)]
    told: dict[str, str] = {}
    try:
        first = running[0].stdout
        assert first is not None
        for line in first:  # they are at work
            told |= _told(line)
            break
        time.sleep(draws.random() * 0.1)
    finally:
        for client in running:
            client.send_signal(signal.SIGKILL)
        for client in running:
            rest, _ = client.communicate()
            for line in rest.splitlines(keepends=True):
                told |= _told(line)
    return told


def _told(line: str) -> dict[str, str]:
    if not line.endswith("\n"):
        return {}  # cut short: nobody has read it as a reply
    query, reply = json.loads(line)
    return {_about(query): reply}


def killing(place: str, rounds: int) -> None:
    made(place)
    told: dict[str, str] = {}
    for seed in range(rounds):
        told |= killed(place, seed)
        if seed % 10 == 9 or seed == rounds - 1:
            assert not contradictions(place, told)
    assert len(told) >= rounds
    print(f"{rounds} rounds, {len(told)} replies, {len(Audit.open(place).transcript())} entries")


def test_every_reply_of_clients_that_were_killed_is_in_the_log(place: str) -> None:
    killing(place, 2)


@pytest.mark.slow
def test_every_reply_is_in_the_log_after_200_kills(place: str) -> None:
    killing(place, 200)


def test_a_twin_that_answers_before_it_has_written_is_noticed(place: str) -> None:
    made(place)
    assert contradictions(place, killed(place, 1, "early", clients=1))


def _crashing(server: Server, rounds: int) -> None:
    place = server.fresh()
    made(place)
    told: dict[str, str] = {}
    for seed in range(rounds):
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, "right", place, f"{seed}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert client.stdout is not None
        told |= _told(client.stdout.readline())
        server.stop("immediate")
        rest, _ = client.communicate()
        for line in rest.splitlines(keepends=True):
            told |= _told(line)
        assert client.returncode != 0  # an error, and no reply
        server.start()
        assert not contradictions(place, told)


def test_every_reply_is_in_the_log_after_a_server_crashed(server: Server) -> None:
    _crashing(server, 2)


@pytest.mark.slow
def test_every_reply_is_in_the_log_after_a_server_crashed_often(server: Server) -> None:
    _crashing(server, 30)


def test_a_server_that_does_not_sync_is_refused(server: Server) -> None:
    place = server.fresh()
    made(place)
    server.stop()
    server.start(fsync=False)
    try:
        with pytest.raises(FileError, match="fsync"):
            Audit.open(place)
    finally:
        server.stop()
        server.start()


# Many at once


def together(place: str, clients: int, queries: int, doors: int) -> dict[str, str]:
    """What so many clients are told who ask at the same time, through so many objects that know nothing of each other."""
    audits = [Audit.open(place) for _ in range(doors)]
    start = threading.Barrier(clients)

    def client(number: int) -> dict[str, str]:
        draws = random.Random(number)
        asked = [some(draws, audits[0]) for _ in range(queries)]
        start.wait()
        return {
            _about(str(query)): str(audits[number % doors].ask(query, analyst=f"client {number}"))
            for query in asked
        }

    told: dict[str, str] = {}
    with ThreadPoolExecutor(clients) as pool:
        for replies in pool.map(client, range(clients)):
            assert not [
                query for query in replies.keys() & told.keys() if replies[query] != told[query]
            ]
            told |= replies
    return told


def test_concurrent_clients_share_one_log(place: str) -> None:
    made(place)
    told = together(place, 20, 3, 2)
    assert len(told) == len(Audit.open(place).transcript())
    assert not contradictions(place, told)


@pytest.mark.slow
@pytest.mark.parametrize("doors", [1, 20])
def test_a_thousand_concurrent_clients_share_one_log(place: str, doors: int) -> None:
    made(place)
    told = together(place, 1000, 1, doors)
    print(f"{len(told)} queries of 1,000 clients")
    assert len(told) == len(Audit.open(place).transcript())
    assert not contradictions(place, told)


def test_clients_in_processes_share_one_log(place: str) -> None:
    made(place)
    told: dict[str, str] = {}
    running = [started("right", place, i, 8) for i in range(4)]
    for client in running:
        printed, _ = client.communicate()
        assert client.returncode == 0
        for line in printed.splitlines(keepends=True):
            told |= _told(line)
    assert (
        25 < len(told) == len(Audit.open(place).transcript())
    )  # some people are asked about twice
    assert not contradictions(place, told)


def test_twins_that_do_not_take_turns_are_noticed(place: str) -> None:
    """Both decide before either has written: {p0, p1, p2} and {p0, p1} are harmless alone, and together tell p2."""
    made(place, salary=[20, 30, 90, *[40] * (PEOPLE - 3)])
    decided = threading.Barrier(2)

    class Hasty(Audit):
        def _ask(self, query: Query) -> None:
            members = expressions.people(query.where, self._public, self._everyone)
            question = self._question(query, members)
            decision = self._decided(question)
            decided.wait()
            with self._store.writing() as turn:
                self._follow(turn.after(self._last))
                asked = self._asked(question, decision, "hasty")
                turn.append(self._last, asked.what, asked.to_dict())

    twins = Hasty(place), Hasty(place)
    queries = [twins[0].query("max", "salary", people=NAMES[:size]) for size in (3, 2)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda twin, query: twin._ask(query), twins, queries))
    assert contradictions(place, {})
    assert {str(line.reply) for line in Audit.open(place).transcript()} == {
        "90",
        "30",
    }  # nobody else but p2 can have 90


# The file itself


def heads(content: bytes) -> Iterator[tuple[int, int]]:
    """Every bit of the header and of the head of each page."""
    for page in range(0, len(content), 4096):
        for place in range(page, page + (108 if page == 0 else 12)):
            yield from ((place, bit) for bit in range(8))


def forgotten(file: Path, asked: int, clean: type[Exception] = FileError) -> list[tuple[int, int]]:
    """The bits that make an audit forget what was asked, once they are flipped."""
    good, found = file.read_bytes(), []
    for place, bit in heads(good):
        bad = bytearray(good)
        bad[place] ^= 1 << bit
        file.write_bytes(bad)
        with suppress(clean):
            if len(Audit.open(file).transcript()) < asked:
                found.append((place, bit))
    file.write_bytes(good)
    return found


def test_no_flipped_bit_makes_an_audit_forget_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = made(str(tmp_path / "people.audit"))
    for name in NAMES[:2]:
        audit.ask(audit.query("max", "salary", people=[name, *NAMES[10:20]]))
    assert forgotten(tmp_path / "people.audit", 2) == []
    monkeypatch.setattr("shoal.log.sqlite.sound", lambda connection: True)
    assert forgotten(
        tmp_path / "people.audit", 2, Exception
    )  # a twin that follows its chain and no more


def test_an_audit_notices_locks_that_do_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = made(str(tmp_path / "people.audit"))
    connect = sqlite3.connect
    monkeypatch.setattr(custody, "_tried", set())
    monkeypatch.setattr(
        sqlite3, "connect", lambda place, **given: connect(f"{place}&nolock=1", **given)
    )
    with pytest.raises(FileError, match="locks do not work on this drive"):
        audit.ask("max(salary)")
    with pytest.raises(FileError, match="locks do not work on this drive"):
        made(str(tmp_path / "other.audit"))

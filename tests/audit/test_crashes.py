"""Every answer is in the log, the log replays to the same state, and everyone shares it.

`contradictions` goes through the log once more. It has to notice twins that answer before they have
written, or do not take turns.
"""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shoal.audit import Audit, Query, Reply, expressions
from tests.audit.salaries import (
    NAMES,
    PEOPLE,
    VALUES,
    Cut,
    about,
    contradictions,
    made,
    some_query,
)
from tests.postgres import Server

# Crashes


def test_a_crash_before_the_entry_is_written_repeats_identically(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise Cut

    draws = random.Random(8)
    audit, twin = made(place), None
    for _ in range(6):
        query = some_query(draws, audit)
        with monkeypatch.context() as patched:
            patched.setattr("shoal.audit.book._ColumnQuestion.entry", cut)
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
    def _decided(self, question):
        decision, _ = super()._decided(question)
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
    return {about(query): reply}


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


# Many at once


def together(place: str, clients: int, queries: int, doors: int) -> dict[str, str]:
    """What clients are told who ask at once, through `doors` objects that share nothing."""
    audits = [Audit.open(place) for _ in range(doors)]
    start = threading.Barrier(clients)

    def client(number: int) -> dict[str, str]:
        draws = random.Random(number)
        asked = [some_query(draws, audits[0]) for _ in range(queries)]
        start.wait()
        return {
            about(str(query)): str(audits[number % doors].ask(query, analyst=f"client {number}"))
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
    """Both decide before either has written; {p0, p1, p2} and {p0, p1} together reveal p2."""
    made(place, salary=[20, 30, 90, *[40] * (PEOPLE - 3)])
    decided = threading.Barrier(2)

    class Hasty(Audit):
        def _ask(self, query: Query) -> None:
            members = expressions.people(query.where, self._public, self._everyone)
            question = self._question(query, members)
            decision, _ = self._decided(question)
            decided.wait()
            with self._store.writing() as turn:
                self._follow(turn.after(self._last))
                asked = question.entry(decision, "hasty")
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

"""Keys, limits, turns, and the grid of time on which replies leave."""

import asyncio
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import polars as pl
import pytest

import shoal
from shoal.audit import Audit, Secret
from shoal.errors import FileError, Stopped
from shoal.service import ServiceLimits
from shoal.service.door import Door
from tests.audit.salaries import NAMES, VALUES, made
from tests.service.serving import (
    EAGER,
    PATIENCE,
    Service,
    connected,
    head,
    held_up,
    question,
    reply,
    served,
    until,
)

# Keys


def test_a_key_that_is_removed_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.get("/columns").status_code == 200
    service.audit.remove_key("Ann")
    monkeypatch.setattr("shoal.service.door.FRESH", -1.0)
    assert service.get("/columns").status_code == 401


def test_all_keys_are_compared_whichever_is_given(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def compare(known: str, given: str) -> bool:
        compared.append(known)
        return known == given

    monkeypatch.setattr("shoal.service.door.compare_digest", compare)
    keys = service.audit.keys()
    for key in (*service.keys.values(), "shoal-0"):
        compared.clear()
        match = Door.find(keys, key)
        assert len(compared) == 2
        if key == "shoal-0":
            assert match is None
        else:
            assert match is not None
            assert service.keys[match.name] == key


# How often


def test_a_key_that_asks_too_often_has_to_wait_and_others_do_not(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), ServiceLimits(rate=0.001, burst=3, quantum=0))
    codes = [service.ask(aggregate="count").status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    assert int(service.ask(aggregate="count").headers["retry-after"]) > 900
    assert service.ask("Bea", aggregate="count").status_code == 200


@pytest.mark.parametrize("path", ["/transcript", "/columns", "/state"])
def test_a_key_that_reads_too_often_has_to_wait_too(tmp_path: Path, path: str) -> None:
    service = Service(made(str(tmp_path / "a")), ServiceLimits(rate=0.001, burst=3, quantum=0))
    assert [service.get(path, "Bea").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert service.get("/health").status_code == 200


def test_the_requests_of_a_key_in_progress_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(made(str(tmp_path / "a")), replace(EAGER, waiting=3))
    with held_up(monkeypatch) as (begun, go), served(service) as port, ExitStack() as stack:
        asked = [stack.enter_context(connected(port, question(service))) for _ in range(3)]
        assert begun.wait(PATIENCE)
        door = service.door
        until(lambda: door.present["Ann"] == 3)
        with connected(port, question(service)) as fourth:
            assert b"429 " in reply(fourth)
        with connected(port, b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n") as anyone:
            assert b'{"status":"ok"}' in reply(anyone)
        go.set()
        assert all(b'"denied":false' in reply(one) for one in asked)


# Bodies


def test_a_large_body_is_refused_whether_it_says_so_or_not(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), ServiceLimits(body=1000, quantum=0))
    assert service.ask(aggregate="max", column="salary", where="a" * 1000).status_code == 413
    pieces = (b"x" * 100 for _ in range(20))
    headers = service.headers("Ann")
    assert service.client.post("/query", content=pieces, headers=headers).status_code == 413
    wrong = {**headers, "Content-Length": "many"}
    assert service.client.post("/query", content=b"{}", headers=wrong).status_code == 413


def test_a_body_without_end_and_one_that_never_comes_are_refused(quick: Service) -> None:
    with served(quick) as port:
        with connected(port, head(quick, 50)) as slow:
            assert b"408 Request Timeout" in reply(slow)
        with connected(port, head(quick, "chunked")) as drip:
            drip.sendall(b"1\r\n \r\n" * 3)
            assert b"408 Request Timeout" in reply(drip)
        chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
        with connected(port, head(quick, "chunked")) as endless:
            endless.sendall(chunk * 16)
            assert b"413 " in reply(endless)
        with connected(port, question(quick)) as client:
            assert b'"denied":false' in reply(client)
    assert quick.audit.transcript()[0].number == 1


def test_the_bodies_held_at_once_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.service.door.BODIES", 3)
    service = Service(made(str(tmp_path / "a")), replace(EAGER, body=10_000, timeout=PATIENCE))
    with served(service) as port, ExitStack() as stack:
        half = head(service, 10_000) + b" " * 9_000
        slow = [stack.enter_context(connected(port, half)) for _ in range(3)]
        door = service.door
        until(lambda: door.held == 27_000)
        with connected(port, half) as another:
            assert b"503 " in reply(another)
        with connected(port, question(service)) as client:
            assert b'"denied":false' in reply(client)
        for one in slow:
            one.close()
        until(lambda: door.held == 0)
        assert not any(door.present.values())


# The grid and turns


def test_replies_leave_on_a_grid_of_time(tmp_path: Path) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    moments = iter([10.0, 10.03, 20.0, 20.25, 30.0, 30.26, 40.0, 40.1])
    door = Door(
        made(str(tmp_path / "a")),
        ServiceLimits(quantum=0.25),
        clock=lambda: next(moments),
        pause=sleep,
    )

    async def works() -> int:
        return 7

    async def fails() -> int:
        raise FileError("gone")

    async def main() -> None:
        for _ in range(3):
            assert await door.on_the_grid(works) == 7
        with pytest.raises(FileError):
            await door.on_the_grid(fails)

    asyncio.run(main())
    assert slept == pytest.approx([0.22, 0, 0.24, 0.15])


def test_a_slow_decision_does_not_hold_up_other_requests(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = threading.Event()
    decide = Audit._decided

    def slowly(self: Audit, *given: Any) -> Any:
        assert decided.wait(60)
        return decide(self, *given)

    monkeypatch.setattr(Audit, "_decided", slowly)

    async def main() -> None:
        transport = httpx.ASGITransport(service.app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://here", headers=service.headers("Ann")
        ) as client:
            query = asyncio.create_task(
                client.post("/query", json={"aggregate": "max", "column": "salary"})
            )
            await asyncio.sleep(0.05)
            reading = [
                asyncio.create_task(client.get(path))
                for path in ("/transcript", "/columns")
                for _ in range(60)
            ]
            await asyncio.sleep(0.5)
            async with asyncio.timeout(20):  # the decision waits longer
                assert (await client.get("/health")).status_code == 200
                assert (
                    await client.get("/columns", headers=service.headers("shoal-0"))
                ).status_code == 401
            assert not query.done()
            decided.set()
            assert (await query).json()["answer"] == str(max(VALUES))
            assert {one.status_code for one in await asyncio.gather(*reading)} == {200}

    asyncio.run(main())


def test_many_questions_of_one_key_let_another_key_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(made(str(tmp_path / "a")))
    sets = [NAMES[:end] for end in range(2, 20)]

    async def main(begun: threading.Event, go: threading.Event) -> None:
        transport = httpx.ASGITransport(service.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:

            def ask(who: str, names: list[str]) -> Any:
                body = {"aggregate": "max", "column": "salary", "people": names}
                asked = client.post("/query", json=body, headers=service.headers(who))
                return asyncio.create_task(asked)

            many = [ask("Ann", names) for names in sets[:15]]
            await asyncio.to_thread(begun.wait, PATIENCE)
            await asyncio.sleep(0.1)
            few = [ask("Bea", names) for names in sets[15:17]]
            await asyncio.sleep(0.2)
            go.set()
            await asyncio.gather(*many, *few)

    with held_up(monkeypatch) as (begun, go):
        asyncio.run(main(begun, go))
    ends = [decision.people.bit_count() for decision in service.audit.entries("salary")]
    assert sorted(ends) == list(range(2, 19))
    # the other key comes after the one that was being decided, and then they take turns
    assert ends.index(17) == 1
    assert ends.index(18) == 3


# Those who leave


def test_a_question_of_a_client_that_has_left_is_not_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(made(str(tmp_path / "a")))
    with held_up(monkeypatch) as (begun, go), served(service) as port:
        first = connected(port, question(service))
        assert begun.wait(PATIENCE)
        two = b'{"aggregate": "max", "column": "salary", "people": ["p1", "p2", "p3"]}'
        second = connected(port, question(service, "Bea", two))
        door = service.door
        until(lambda: "Bea" in door.deciding.queues)
        second.close()
        until(lambda: "Bea" not in door.deciding.queues)
        go.set()
        assert b'"denied":false' in reply(first)
        first.close()
    assert [line.query for line in service.audit.transcript()] == ["max(salary)"]


def test_a_decision_for_a_client_that_has_left_meanwhile_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(made(str(tmp_path / "a")))
    with held_up(monkeypatch) as (begun, go), served(service) as port:
        asker = connected(port, question(service))
        assert begun.wait(PATIENCE)
        asker.close()
        until(lambda: len(service.connections) == 0)
        go.set()
        until(lambda: bool(service.logged))
        assert service.audit.transcript() == ()
        with connected(port, question(service)) as again:
            assert str(max(VALUES)).encode() in reply(again)
    assert len(service.audit.transcript()) == 1


def test_nothing_is_recorded_once_nobody_waits(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    for moment in range(4):  # wherever it is noticed
        asked = iter([False] * moment + [True] * 9)
        with pytest.raises(Stopped):
            audit.ask("max(salary)", gone=lambda asked=asked: next(asked))  # type: ignore[misc]
        assert audit.transcript() == ()
    assert str(audit.ask("max(salary)", gone=lambda: False)) == str(max(VALUES))


# Costs


def test_a_question_that_costs_too_much_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    size = 300
    names, pay = [f"p{i}" for i in range(size)], [(i * 37) % 1000 for i in range(size)]
    table = shoal.table(pl.DataFrame({"name": names, "pay": pay}), types={"name": "text"})
    secret = Secret("pay", low=0, high=1_000, width=10, dither=True)
    audit = Audit.new(str(tmp_path / "a"), table, secret, public=["name"], named="name")
    service = Service(audit, replace(EAGER, cost=200))
    few = service.ask(aggregate="sum", column="pay", people=names[:100])
    assert few.json()["denied"] is False
    refused = service.ask(aggregate="sum", column="pay")
    assert refused.status_code == 400
    assert "too costly: it takes 308 steps, and 200 are allowed" in refused.text
    condition = " or ".join(f"name = 'p{i}'" for i in range(40))
    refused = service.ask(aggregate="count", where=condition)
    assert (refused.status_code, "too costly" in refused.text) == (400, True)
    assert len(audit.transcript()) == 1
    assert audit.ask("sum(pay)").answer is not None  # the owner's own command has no such limit

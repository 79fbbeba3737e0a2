"""The service: who may ask what, that a denial looks like an answer, and that errors and logs tell nothing."""

import asyncio
import json
import random
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks
from starlette.testclient import TestClient

from shoal.audit import Audit
from shoal.errors import (
    ColumnError,
    FileError,
    InternalError,
    ParameterError,
    ShoalError,
    TooLargeError,
)
from shoal.service import Limits, application
from shoal.service.app import _Door
from shoal.service.run import server
from tests.audit.salaries import NAMES, PEOPLE, VALUES, about, contradictions, made

EAGER = Limits(rate=1e6, burst=1_000_000, quantum=0, waiting=1_000)


class Service:
    """A service in this process, and what it logged."""

    def __init__(self, audit: Audit, limits: Limits = EAGER) -> None:
        self.audit, self.limits = audit, limits
        self.logged: list[Any] = []
        self.connections: Any = None
        self.keys = {
            name: audit.add_key(name, role) for name, role in (("Ann", "analyst"), ("Bea", "owner"))
        }
        self.app = application(audit, limits, self.logged.append)
        self.client = TestClient(self.app)

    def headers(self, who: str | None) -> dict[str, str]:
        return {} if who is None else {"Authorization": f"Bearer {self.keys.get(who, who)}"}

    def get(self, path: str, who: str | None = "Ann") -> httpx.Response:
        return self.client.get(path, headers=self.headers(who))

    def ask(self, who: str | None = "Ann", **body: Any) -> httpx.Response:
        return self.client.post("/query", json=body, headers=self.headers(who))


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(made(str(tmp_path / "people.audit")))


def test_an_answer_and_a_denial_have_the_same_shape_and_size(service: Service) -> None:
    answer = service.ask(aggregate="max", column="salary", where="dept = 'X'")
    denial = service.ask(aggregate="max", column="salary", people=["p1"])
    assert answer.status_code == denial.status_code == 200
    assert answer.json() == {"denied": False, "answer": str(max(VALUES[::2]))}
    assert denial.json() == {"denied": True, "answer": None}
    assert len(answer.content) == len(denial.content) == 128
    assert {**answer.headers} == {**denial.headers}
    assert answer.headers["cache-control"] == "no-store"


def test_counts_are_answered(service: Service) -> None:
    assert service.ask(aggregate="count", where="dept = 'X' and age < 30").json()["answer"] == "5"
    assert service.ask(aggregate="count").json()["answer"] == str(PEOPLE)


def test_analysts_see_the_transcript_and_what_can_be_asked(service: Service) -> None:
    for where in ("dept = 'X'", "name = 'p1'", "age > 30"):
        service.ask(aggregate="max", column="salary", where=where)
    found = service.get("/transcript").json()
    assert [line["query"] for line in found["lines"]][:2] == [
        "max(salary) where dept = 'X'",
        "max(salary) where name = 'p1'",
    ]
    assert [line["denied"] for line in found["lines"]][:2] == [False, True]
    assert found["next"] is None
    assert service.get("/transcript?after=1&limit=1").json()["lines"] == found["lines"][1:2]
    assert service.get("/transcript?after=1&limit=1").json()["next"] == 2
    columns = service.get("/columns").json()
    assert columns["public"] == {"name": "text", "dept": "text", "age": "integer"}
    assert (
        columns["secret"][0] | {"family": "max", "low": "0", "high": "200", "width": "1"}
        == columns["secret"][0]
    )


def test_the_owner_sees_the_state_and_analysts_do_not(service: Service) -> None:
    service.ask(aggregate="max", column="salary")
    assert service.get("/state", "Ann").status_code == 403
    state = service.get("/state", "Bea").json()
    assert [(one["column"], one["answered"], one["denied"]) for one in state["columns"]] == [
        ("salary", 1, 0)
    ]
    assert state["head"] == service.audit.head()


@pytest.mark.parametrize("who", [None, "", "shoal-0", "x y"])
def test_nobody_without_a_key_sees_anything_but_health(service: Service, who: str | None) -> None:
    for path in ("/transcript", "/columns", "/state"):
        assert service.get(path, who).status_code == 401
    refused = service.ask(who, aggregate="max", column="salary")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert service.audit.transcript() == ()
    assert service.get("/health", None).json() == {"status": "ok"}


def test_a_key_that_is_removed_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.get("/columns").status_code == 200
    service.audit.remove_key("Ann")
    monkeypatch.setattr("shoal.service.app._FRESH", -1.0)
    assert service.get("/columns").status_code == 401


def test_all_keys_are_compared_whichever_is_given(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def compare(one: str, other: str) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("shoal.service.app.compare_digest", compare)
    keys = service.audit.keys()
    for key in (*service.keys.values(), "shoal-0"):
        compared.clear()
        found = _Door.find(keys, key)
        assert len(compared) == 2
        assert (found and service.keys[found.name]) == (key if key != "shoal-0" else None)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"aggregate": "max", "column": "salary", "where": "salary > 3"}, 400),
        ({"aggregate": "max", "column": "salary", "where": "age > "}, 400),
        ({"aggregate": "max", "column": "salary", "where": "age < 0"}, 400),
        ({"aggregate": "max", "column": "salary", "where": "age = 20", "people": ["p1"]}, 400),
        ({"aggregate": "max", "column": "salary", "people": ["nobody"]}, 400),
        ({"aggregate": "max", "column": "salary", "people": [10**100]}, 400),
        ({"aggregate": "max", "column": "name"}, 400),
        ({"aggregate": "max"}, 400),
        ({"aggregate": "median", "column": "salary"}, 422),
        ({"aggregate": "max", "column": "salary", "sql": "x"}, 422),
        ({"aggregate": "max", "column": "salary", "people": [[]]}, 422),
        ({"aggregate": "max", "column": "salary", "people": [True]}, 422),
        ({"aggregate": "max", "column": "salary", "where": "a" * 9_000}, 422),
        ([], 422),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_reason(
    service: Service, body: Any, status: int
) -> None:
    refused = service.client.post("/query", json=body, headers=service.headers("Ann"))
    assert (refused.status_code, list(refused.json())) == (status, ["error"])
    assert service.audit.transcript() == ()


def test_a_text_with_half_a_character_is_refused(service: Service) -> None:
    for field in ("where", "column", "people"):
        body = {
            "aggregate": "max",
            "column": "salary",
            field: "\ud800" if field != "people" else ["\ud800"],
        }
        refused = service.client.post(
            "/query", content=json.dumps(body), headers=service.headers("Ann")
        )
        assert refused.status_code in (400, 422)


def test_a_large_body_is_refused_whether_it_says_so_or_not(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), Limits(body=1000, quantum=0))
    assert service.ask(aggregate="max", column="salary", where="a" * 1000).status_code == 413
    pieces = (b"x" * 100 for _ in range(20))
    assert (
        service.client.post("/query", content=pieces, headers=service.headers("Ann")).status_code
        == 413
    )
    wrong = {**service.headers("Ann"), "Content-Length": "many"}
    assert service.client.post("/query", content=b"{}", headers=wrong).status_code == 413


def test_a_key_that_asks_too_often_has_to_wait_and_others_have_not(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), Limits(rate=0.001, burst=3, quantum=0))
    codes = [service.ask(aggregate="count").status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    assert int(service.ask(aggregate="count").headers["retry-after"]) > 900
    assert service.ask("Bea", aggregate="count").status_code == 200


@pytest.mark.parametrize("path", ["/transcript", "/columns", "/state"])
def test_a_key_that_reads_too_often_has_to_wait_too(tmp_path: Path, path: str) -> None:
    service = Service(made(str(tmp_path / "a")), Limits(rate=0.001, burst=3, quantum=0))
    assert [service.get(path, "Bea").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert service.get("/health").status_code == 200


def test_replies_leave_on_a_grid_of_time(tmp_path: Path) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    moments = iter([10.0, 10.03, 20.0, 20.25, 30.0, 30.26, 40.0, 40.1])
    door = _Door(
        made(str(tmp_path / "a")), Limits(quantum=0.25), clock=lambda: next(moments), pause=sleep
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


def test_a_decision_does_not_hold_up_others(
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


def test_a_log_line_has_no_data_no_query_and_no_key(service: Service) -> None:
    service.ask(aggregate="max", column="salary", where="dept = 'X'")
    service.ask(aggregate="max", column="salary", people=["p1"])
    service.ask("shoal-secret", aggregate="max", column="salary")
    service.get(f"/{service.keys['Ann']}?key={service.keys['Ann']}")
    assert [(line["path"], line["status"], line["key"]) for line in service.logged] == [
        ("/query", 200, "Ann"),
        ("/query", 200, "Ann"),
        ("/query", 401, None),
        (None, 404, None),
    ]
    text = json.dumps(service.logged)
    for tells in (
        *service.keys.values(),
        "shoal-secret",
        "dept",
        "p1",
        "salary",
        "denied",
        str(max(VALUES[::2])),
    ):
        assert tells not in text
    for line in service.logged:
        assert set(line) == {"event", "method", "path", "status", "seconds", "key"}


@pytest.mark.parametrize(
    ("error", "status", "told", "logged"),
    [
        (RuntimeError("the value is 4711"), 500, "a bug in Shoal", "bug"),
        (InternalError("4711"), 500, "a bug in Shoal", "bug"),
        (FileError("4711"), 503, "ask again", "problem"),
        (ParameterError("4711"), 500, "tell the owner", "problem"),
        (
            ShoalError("4711"),
            500,
            "tell the owner",
            "problem",
        ),  # as without the solver that sums need
        (ColumnError("4711"), 500, "tell the owner", "problem"),
    ],
)
def test_a_bug_and_a_broken_store_tell_nothing_but_where(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    told: str,
    logged: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Audit, "ask", fail)
    refused = service.ask(aggregate="max", column="salary")
    assert refused.status_code == status
    assert told in refused.text
    assert "4711" not in refused.text + json.dumps(service.logged)
    assert service.logged[-1][logged].startswith(
        f"{type(error).__name__} in shoal.service.app, line"
    )
    assert ("bug" in refused.text) == (logged == "bug")


def test_what_is_too_large_to_decide_is_refused_with_the_reason(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TooLargeError("sums are audited for 10,000 people at most")

    monkeypatch.setattr(Audit, "_decided", fail)
    refused = service.ask(aggregate="max", column="salary")
    assert refused.status_code == 400
    assert "10,000 people at most" in refused.text
    assert service.audit.transcript() == ()


def test_limits_have_a_range() -> None:
    for wrong in (
        {"body": 0},
        {"rate": 0},
        {"burst": 0},
        {"quantum": -1},
        {"quantum": float("nan")},
        {"rate": float("inf")},
        {"waiting": 0},
        {"cost": 0},
        {"connections": 0},
        {"per_address": -1},
        {"timeout": 0},
        {"timeout": float("nan")},
    ):
        with pytest.raises(ParameterError):
            Limits(**wrong)


# By schemathesis


def _small(folder: Path) -> Service:
    return Service(made(str(folder / "a")))


OPERATIONS = [(f"GET /{path}", GenerationMode.POSITIVE) for path in ("columns", "state", "health")]
OPERATIONS += [
    (operation, mode) for operation in ("POST /query", "GET /transcript") for mode in GenerationMode
]


@pytest.mark.parametrize(("operation", "mode"), OPERATIONS)
def test_the_service_does_what_its_description_says(
    tmp_path: Path, operation: str, mode: GenerationMode
) -> None:
    service = Service(made(str(tmp_path / "a")))
    schema = schemathesis.openapi.from_asgi("/openapi.json", service.app)
    method, path = operation.split()

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(schema[path][method].as_strategy(generation_mode=mode, headers=service.headers("Bea")))
    def holds(case: Any) -> None:
        # That a condition is a text is in the description, and not which texts are conditions.
        case.call_and_validate(excluded_checks=[checks.positive_data_acceptance])

    holds()
    assert not contradictions(service.audit.place, {})


def test_the_description_has_all_routes_and_needs_no_key(service: Service) -> None:
    described = service.get("/openapi.json", None).json()
    assert set(described["paths"]) == {"/query", "/transcript", "/columns", "/state", "/health"}
    assert described["paths"]["/query"]["post"]["security"]


# Over real connections


@contextmanager
def served(service: Service, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a service in this process."""
    place = socket.create_server(("127.0.0.1", 0), backlog=2048)
    running = server(service.app, service.limits, tls)
    service.connections = running.config.http.all  # type: ignore[union-attr]
    thread = threading.Thread(target=running.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        yield place.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join()
        place.close()


def crowded(place: str, clients: int) -> None:
    limits = replace(EAGER, waiting=clients, connections=clients, per_address=clients)
    service = Service(made(place), limits)
    told: dict[str, str] = {}
    draws = random.Random(8)
    lists = [draws.sample(NAMES, draws.randint(2, PEOPLE - 2)) for _ in range(clients)]

    async def main(address: str) -> None:
        limits = httpx.Limits(max_connections=clients, max_keepalive_connections=0)
        async with httpx.AsyncClient(
            base_url=address, headers=service.headers("Ann"), limits=limits, timeout=600
        ) as client:

            async def ask(names: list[str]) -> None:
                reply = (
                    await client.post(
                        "/query", json={"aggregate": "max", "column": "salary", "people": names}
                    )
                ).json()
                query = str(service.audit.query("max", "salary", people=names))
                told[about(query)] = "denied" if reply["denied"] else reply["answer"]

            await asyncio.gather(*map(ask, lists))

    with served(service) as port:
        asyncio.run(main(f"http://127.0.0.1:{port}"))
    print(f"{len(told)} queries of {clients} clients")
    assert len(told) == len(service.audit.transcript())
    assert not contradictions(place, told)


def test_concurrent_clients_are_served(tmp_path: Path) -> None:
    crowded(str(tmp_path / "a"), 30)


@pytest.mark.slow
def test_a_thousand_concurrent_clients_are_served(tmp_path: Path) -> None:
    crowded(str(tmp_path / "a"), 1000)

"""Keys are checked before bodies; replies and log lines reveal no more than they should."""

import asyncio
import json
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from shoal.audit import Audit
from shoal.errors import (
    ColumnError,
    FileError,
    InternalError,
    ParameterError,
    ShoalError,
)
from shoal.service import ServiceLimits
from shoal.service.middleware import KEYED
from tests.audit.salaries import VALUES, made
from tests.service.serving import (
    EAGER,
    PATIENCE,
    Service,
    connected,
    files,
    head,
    question,
    reply,
    served,
)


def test_the_key_is_checked_before_the_body_is_received(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), replace(EAGER, timeout=PATIENCE))
    with files(1_000), served(service) as port, ExitStack() as stack:
        attack = [
            stack.enter_context(connected(port, head(service, 1_000_000, "shoal-0")))
            for _ in range(60)  # of the body nothing
        ]
        assert all(b"401 Unauthorized" in reply(client) for client in attack)
        # what is sent all the same is dropped, and the connection still works
        for client in attack[:5]:
            client.sendall(b" " * 1_000_000 + question(service))
            assert b'"denied":false' in reply(client)


def test_no_body_is_received_without_a_key(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), ServiceLimits(rate=0.001, burst=1, quantum=0))

    async def status(who: str | None, path: str, method: str = "POST") -> tuple[int, int]:
        received, found = 0, 0

        async def receive() -> Any:
            nonlocal received
            received += 65_536
            return {"type": "http.request", "body": b" " * 65_536, "more_body": True}

        async def send(message: Any) -> None:
            nonlocal found
            found = message.get("status", found)

        headers = [(k.lower().encode(), v.encode()) for k, v in service.headers(who).items()]
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "state": {}}
        await service.app({**scope, "headers": headers, "root_path": ""}, receive, send)
        return found, received

    async def main() -> None:
        for path in KEYED:
            assert await status(None, path) == (401, 0)
            assert await status("shoal-0", path) == (401, 0)
        assert await status(None, "/health", "GET") == (200, 0)
        assert await status(None, "/nowhere") == (404, 0)
        found, received = await status("Ann", "/query")  # a body without end
        assert (found, received) == (413, (1_000_000 // 65_536 + 1) * 65_536)
        assert await status("Ann", "/query") == (429, 0)

    asyncio.run(main())


def test_every_path_that_needs_a_key_is_checked_for_one(quick: Service) -> None:
    described = quick.get("/openapi.json", None).json()["paths"]
    keyed = {
        path
        for path, methods in described.items()
        if any("security" in operation for operation in methods.values())
    }
    assert keyed == set(KEYED)


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
    data = ("dept", "p1", "salary", "denied", str(max(VALUES[::2])))
    for revealing in (*service.keys.values(), "shoal-secret", *data):
        assert revealing not in text
    for line in service.logged:
        assert set(line) == {"event", "method", "path", "status", "seconds", "key"}


def test_an_unknown_method_is_not_in_the_log(quick: Service) -> None:
    quick.client.request("SECRET", "/query")
    assert "SECRET" not in str(quick.logged)


@pytest.mark.parametrize(
    ("error", "status", "message", "logged"),
    [
        (RuntimeError("the value is 4711"), 500, "a bug in Shoal", "bug"),
        (InternalError("4711"), 500, "a bug in Shoal", "bug"),
        (FileError("4711"), 503, "ask again", "problem"),
        (ParameterError("4711"), 500, "tell the owner", "problem"),
        # as without the solver that sums need
        (ShoalError("4711"), 500, "tell the owner", "problem"),
        (ColumnError("4711"), 500, "tell the owner", "problem"),
    ],
)
def test_of_a_bug_or_a_broken_store_only_the_place_is_logged(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    message: str,
    logged: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Audit, "ask", fail)
    refused = service.ask(aggregate="max", column="salary")
    assert refused.status_code == status
    assert message in refused.text
    assert "4711" not in refused.text + json.dumps(service.logged)
    assert service.logged[-1][logged].startswith(
        f"{type(error).__name__} in shoal.service.door, line"
    )
    assert ("bug" in refused.text) == (logged == "bug")


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS", "PUT", "TRACE"])
def test_no_reply_repeats_the_host_and_all_forbid_guessing_types(
    quick: Service, method: str
) -> None:
    hosts = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    paths = ("/", "/query", "/query/", "/health/", "/openapi.json", "/state/", "//evil.example")
    for path, who in product(paths, (None, "Ann")):
        headers = {**quick.headers(who), **hosts}
        received = quick.client.request(method, path, headers=headers, follow_redirects=False)
        assert received.status_code < 300 or received.status_code >= 400
        assert received.headers["x-content-type-options"] == "nosniff"
        assert "evil.example" not in received.text + str(received.headers)

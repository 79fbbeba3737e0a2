"""The service under attack: who holds connections, sends without end, reads slowly or asks a lot stops nobody else."""

import asyncio
import io
import logging
import re
import resource
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import polars as pl
import pytest

import shoal
from shoal.audit import Audit, Secret
from shoal.errors import ParameterError, Stopped
from shoal.service import Limits, application
from shoal.service.app import _KEYED
from shoal.service.connections import Connections, _origin
from shoal.service.run import _allow_files, _Lines
from shoal.service.turns import Turns
from tests.audit.salaries import NAMES, VALUES, made
from tests.service.test_service import EAGER, Service, served

PATIENCE = 30  # seconds after which a test gives up


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it never does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def connected(port: int, sent: bytes = b"") -> socket.socket:
    place = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    place.sendall(sent)
    return place


def reply(place: socket.socket) -> bytes:
    """One whole reply, or what came of it until the other side closed."""
    found = b""
    while not _whole(found):
        try:
            piece = place.recv(65_536)
        except ConnectionResetError:
            break
        if not piece:
            break
        found += piece
    return found


def _whole(found: bytes) -> bool:
    first, end, body = found.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: ([0-9]+)", first)
    return bool(end) and len(body) >= int(length[1] if length else 0)


def head(service: Service, length: int | str, who: str = "Ann", path: str = "/query") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: here"]
    lines += [f"{name}: {value}" for name, value in service.headers(who).items()]
    size = "Transfer-Encoding: chunked" if length == "chunked" else f"Content-Length: {length}"
    return "\r\n".join([*lines, "Content-Type: application/json", size, "", ""]).encode()


def question(service: Service, who: str = "Ann", body: bytes | None = None) -> bytes:
    body = body or b'{"aggregate": "max", "column": "salary"}'
    return head(service, len(body), who) + body


def closed(place: socket.socket) -> bool:
    """Whether the other side has closed a connection on which it says nothing."""
    place.setblocking(False)
    try:
        return place.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


@contextmanager
def files(wanted: int) -> Iterator[None]:
    """As many open files as both sides of the connections need."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < wanted:
        pytest.skip(f"{wanted} open files are not allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))


@pytest.fixture
def quick(tmp_path: Path) -> Service:
    """A service with little patience."""
    return Service(made(str(tmp_path / "a")), replace(EAGER, timeout=0.3))


# Connections


def test_1100_connections_with_half_a_head_keep_nobody_out(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), replace(EAGER, timeout=PATIENCE))
    with files(2_600), served(service) as port, ExitStack() as stack:
        attack = [
            stack.enter_context(connected(port, b"POST /query HTTP/1.1\r\nHost: he"))
            for _ in range(1_100)
        ]
        with connected(port, question(service)) as client:
            assert b'"denied":false' in reply(client)
        most = service.limits.per_address
        until(lambda: sum(map(closed, attack)) >= 1_100 - most)
        assert len(service.connections) <= most


def test_a_connection_without_a_whole_head_is_closed(quick: Service) -> None:
    with served(quick) as port:
        for start in (b"", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: here\r\n"):
            with connected(port, start) as slow:
                assert reply(slow) == b""
        assert len(quick.connections) == 0


def test_a_connection_that_rests_between_requests_is_closed(quick: Service) -> None:
    with served(quick) as port, connected(port) as client:
        for _ in range(2):
            client.sendall(b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b'{"status":"ok"}' in reply(client)
        client.sendall(b"GET /health HT")
        assert client.recv(65_536) == b""


class Fake:
    """A connection as those who count them see it."""

    def __init__(self, address: str) -> None:
        self.address, self.dropped = address, False

    def drop(self) -> None:
        self.dropped = True


def test_whoever_has_most_connections_makes_room_with_the_one_that_rested_longest() -> None:
    every: Any = Connections(Limits(connections=5, per_address=3))
    mine, others = [Fake("a") for _ in range(4)], [Fake("b"), Fake("c"), Fake("d")]
    for one in (others[0], *mine[:3]):
        assert every.enter(one)
        every.rest(one)
    assert every.enter(mine[3])  # a fourth of one address
    assert [one.dropped for one in mine] == [True, False, False, False]
    every.rest(mine[3])
    every.rest(mine[1])  # it had a request in between
    for other in others[1:]:
        assert every.enter(other)
        every.rest(other)
    assert [one.dropped for one in mine] == [True, False, True, False]
    assert not any(other.dropped for other in others)
    assert len(every) == 5


def test_connections_whose_requests_are_being_answered_are_not_closed_for_others() -> None:
    every: Any = Connections(Limits(connections=3, per_address=2))
    busy = [Fake("a"), Fake("a"), Fake("b")]
    assert all(every.enter(one) for one in busy)
    assert not every.enter(Fake("a"))
    assert not every.enter(Fake("c"))
    every.leave(busy[0])
    assert every.enter(Fake("c"))
    assert not any(one.dropped for one in busy)


def test_one_customers_ipv6_addresses_count_as_one() -> None:
    assert _origin(("2001:db8::1", 1, 0, 0)) == _origin(("2001:db8::ffff:2", 2, 0, 0))
    assert _origin(("2001:db8:0:1::1", 1, 0, 0)) != _origin(("2001:db8::1", 1, 0, 0))
    assert _origin(("::ffff:192.0.2.1", 1, 0, 0)) == _origin(("192.0.2.1", 9)) == "192.0.2.1"
    assert _origin(("fe80::1%eth0", 1, 0, 0)) == _origin(("fe80::2", 1, 0, 0))


def test_more_connections_than_the_system_allows_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 1_024))
    allowed: list[Any] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: allowed.append(limits))
    _allow_files(200)
    _allow_files(1_000)
    with pytest.raises(ParameterError, match="976 connections fewer"):
        _allow_files(2_000)
    assert allowed == [(1_000, 1_024)]


# TLS


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    folder = tmp_path_factory.mktemp("tls")
    made = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=here", "-days", "2"),
    ]
    try:
        subprocess.run(made, cwd=folder, check=True, capture_output=True)
    except OSError:
        pytest.skip("there is no openssl to make a certificate with")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_handshakes_that_never_end_are_counted_and_keep_nobody_out(
    tmp_path: Path, tls: ssl.SSLContext
) -> None:
    limits = replace(EAGER, timeout=PATIENCE, per_address=20)
    service = Service(made(str(tmp_path / "a")), limits)
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with served(service, tls) as port, ExitStack() as stack:
        attack = [stack.enter_context(connected(port, b"\x16\x03")) for _ in range(100)]
        with trusting.wrap_socket(connected(port)) as client:
            client.sendall(question(service))
            assert b'"denied":false' in reply(client)
        until(lambda: sum(map(closed, attack)) >= 80)
        with connected(port, b"GET /health HTTP/1.1\r\n\r\n") as plain:  # no TLS at all
            assert b"200" not in reply(plain)


def test_a_handshake_has_little_time(quick: Service, tls: ssl.SSLContext) -> None:
    with served(quick, tls) as port, connected(port, b"\x16\x03") as slow:
        assert reply(slow) == b""
        until(lambda: len(quick.connections) == 0)


# Keys before bodies


def test_a_key_is_looked_at_before_the_body_is_received(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), replace(EAGER, timeout=PATIENCE))
    with files(1_000), served(service) as port, ExitStack() as stack:
        attack = [
            stack.enter_context(connected(port, head(service, 1_000_000, "shoal-0")))
            for _ in range(60)  # of the body nothing
        ]
        assert all(b"401 Unauthorized" in reply(one) for one in attack)
        for one in attack[
            :5
        ]:  # what is sent all the same is dropped, and the connection still works
            one.sendall(b" " * 1_000_000 + question(service))
            assert b'"denied":false' in reply(one)


def test_of_a_body_without_a_key_nothing_reaches_the_application(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), Limits(rate=0.001, burst=1, quantum=0))

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
        for path in _KEYED:
            assert await status(None, path) == (401, 0)
            assert await status("shoal-0", path) == (401, 0)
        assert await status(None, "/health", "GET") == (200, 0)
        assert await status(None, "/nowhere") == (404, 0)
        found, received = await status("Ann", "/query")  # a body without end
        assert (found, received) == (413, (1_000_000 // 65_536 + 1) * 65_536)
        assert await status("Ann", "/query") == (429, 0)

    asyncio.run(main())


def test_every_request_that_needs_a_key_is_known_to(quick: Service) -> None:
    described = quick.get("/openapi.json", None).json()["paths"]
    keyed = {
        path for path, one in described.items() if any("security" in op for op in one.values())
    }
    assert keyed == set(_KEYED)


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


def test_bodies_that_are_held_at_once_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.service.app._BODIES", 3)
    service = Service(made(str(tmp_path / "a")), replace(EAGER, body=10_000, timeout=PATIENCE))
    with served(service) as port, ExitStack() as stack:
        half = head(service, 10_000) + b" " * 9_000
        slow = [stack.enter_context(connected(port, half)) for _ in range(3)]
        door: Any = service.app.user_middleware[0].kwargs["door"]
        until(lambda: door.held == 27_000)
        with connected(port, half) as another:
            assert b"503 " in reply(another)
        with connected(port, question(service)) as client:
            assert b'"denied":false' in reply(client)
        for one in slow:
            one.close()
        until(lambda: door.held == 0)
        assert not any(door.present.values())


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /health HTTP/1.1\r\nHost: here\r\nX: " + b"x" * 100_000,
        b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
        b"G" * 100_000,
        b"\x16\x03\x01\x00\xff" * 100,
        b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_in_fixed_words(quick: Service, sent: bytes) -> None:
    with served(quick) as port, connected(port) as place:
        with suppress(OSError):  # it may be closed already
            place.sendall(sent)
        found = reply(place)
        assert not found or (b" 400 " in found and b"nosniff" in found and b"xxx" not in found)


def test_requests_in_one_packet_are_all_answered(quick: Service) -> None:
    with served(quick) as port, connected(port, question(quick) * 3) as client:
        found = b""
        while found.count(b"HTTP/1.1 200") < 3 or found.count(b'"denied":false') < 3:
            found += client.recv(65_536)


def test_whoever_reads_no_reply_is_cut_off(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    service = Service(audit, replace(EAGER, timeout=0.5))
    service.app = application(audit, service.limits, service.logged.append)

    @service.app.get("/large")
    async def large() -> str:
        return "x" * 20_000_000

    with served(service) as port, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        slow.connect(("127.0.0.1", port))
        slow.sendall(b"GET /large HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        until(lambda: bool(service.logged))  # the reply has been made
        until(lambda: len(service.connections) == 0)


def test_a_page_of_the_transcript_has_a_size(
    quick: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for end in range(2, 8):
        quick.ask(aggregate="max", column="salary", people=NAMES[:end])
    whole = quick.get("/transcript").json()["lines"]
    monkeypatch.setattr("shoal.service.app._TEXTS", 120)
    after, pages = 0, []
    while after is not None:
        page = quick.get(f"/transcript?after={after}").json()
        pages.append(page["lines"])
        after = page["next"]
    assert [line for page in pages for line in page] == whole
    assert len(pages) > 2
    assert all(sum(len(line["query"]) for line in page) <= 120 for page in pages if len(page) > 1)


# Turns


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Decisions wait: an event says that the first one has begun, and another lets all go on."""
    begun, go = threading.Event(), threading.Event()
    decide = Audit._decided

    def slowly(self: Audit, *given: Any) -> Any:
        begun.set()
        assert go.wait(PATIENCE)
        return decide(self, *given)

    monkeypatch.setattr(Audit, "_decided", slowly)
    try:
        yield begun, go
    finally:
        go.set()


def test_fifteen_questions_of_one_key_let_another_key_go_first(
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
    links = service.audit.entries("salary")
    ends = [entry.people.bit_count() for entry in links]
    assert sorted(ends) == list(range(2, 19))
    assert (
        ends.index(17) == 1
    )  # the first of the other key comes after the one that was being decided
    assert ends.index(18) == 3  # and they take turns from then on


def test_turns_go_round_and_nobody_is_left_out() -> None:
    async def main() -> list[str]:
        turns, order = Turns(1), []

        async def work(key: str) -> None:
            async with turns.turn(key):
                order.append(key)
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(work(key)) for key in "aaaaabbc"]
        await asyncio.sleep(0)
        tasks[6].cancel()  # the second b
        late = [asyncio.create_task(work("d"))]
        await asyncio.gather(*tasks, *late, return_exceptions=True)
        assert turns.free == 1
        assert not turns.queues
        return order

    assert asyncio.run(main()) == list("abcdaaaa")


def test_a_key_has_few_requests_in_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(made(str(tmp_path / "a")), replace(EAGER, waiting=3))
    with held_up(monkeypatch) as (begun, go), served(service) as port, ExitStack() as stack:
        asked = [stack.enter_context(connected(port, question(service))) for _ in range(3)]
        assert begun.wait(PATIENCE)
        door: Any = service.app.user_middleware[0].kwargs["door"]
        until(lambda: door.present["Ann"] == 3)
        with connected(port, question(service)) as fourth:
            assert b"429 " in reply(fourth)
        with connected(port, b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n") as anyone:
            assert b'{"status":"ok"}' in reply(anyone)
        go.set()
        assert all(b'"denied":false' in reply(one) for one in asked)


# Those who leave


def test_a_question_whose_asker_has_left_is_not_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(made(str(tmp_path / "a")))
    with held_up(monkeypatch) as (begun, go), served(service) as port:
        first = connected(port, question(service))
        assert begun.wait(PATIENCE)
        two = b'{"aggregate": "max", "column": "salary", "people": ["p1", "p2", "p3"]}'
        second = connected(port, question(service, "Bea", two))
        door: Any = service.app.user_middleware[0].kwargs["door"]
        until(lambda: "Bea" in door.deciding.queues)
        second.close()
        until(lambda: "Bea" not in door.deciding.queues)
        go.set()
        assert b'"denied":false' in reply(first)
        first.close()
    assert [line.query for line in service.audit.transcript()] == ["max(salary)"]


def test_a_decision_whose_asker_has_left_meanwhile_is_not_recorded(
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
    frame = pl.DataFrame(
        {"name": [f"p{i}" for i in range(size)], "pay": [(i * 37) % 1000 for i in range(size)]}
    )
    table = shoal.table(frame, types={"name": "text"})
    secret = Secret("pay", low=0, high=1_000, width=10, dither=True)
    audit = Audit.new(str(tmp_path / "a"), table, secret, public=["name"], named="name")
    service = Service(audit, replace(EAGER, cost=50_000))
    few = service.ask(aggregate="sum", column="pay", people=[f"p{i}" for i in range(100)])
    assert few.json()["denied"] is False
    refused = service.ask(aggregate="sum", column="pay")
    assert refused.status_code == 400
    assert "too costly: it takes 180,000 steps, and 50,000 are allowed" in refused.text
    condition = " or ".join(f"name = 'p{i}'" for i in range(40))
    refused = service.ask(aggregate="count", where=condition)
    assert (refused.status_code, "too costly" in refused.text) == (400, True)
    assert len(audit.transcript()) == 1
    assert audit.ask("sum(pay)").answer is not None  # the owner's own command has no such limit


# What replies and logs show


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS", "PUT", "TRACE"])
def test_no_reply_repeats_the_host_and_all_forbid_to_guess_types(
    quick: Service, method: str
) -> None:
    for path in (
        "/",
        "/query",
        "/query/",
        "/health/",
        "/openapi.json",
        "/state/",
        "//evil.example",
    ):
        for who in (None, "Ann"):
            found = quick.client.request(
                method,
                path,
                headers={
                    **quick.headers(who),
                    "Host": "evil.example",
                    "X-Forwarded-Host": "evil.example",
                },
                follow_redirects=False,
            )
            assert found.status_code < 300 or found.status_code >= 400
            assert found.headers["x-content-type-options"] == "nosniff"
            assert "evil.example" not in found.text + str(found.headers)


def test_an_unknown_method_is_not_in_the_log(quick: Service) -> None:
    quick.client.request("SECRET", "/query")
    assert "SECRET" not in str(quick.logged)


def test_what_the_loop_has_to_say_is_logged_without_its_objects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "Task exception was never retrieved\nfuture: <Task exception=ValueError('4711')>"
    _Lines().emit(logging.LogRecord("asyncio", logging.ERROR, "", 0, text, None, None))
    assert "never retrieved" in (said := capsys.readouterr().err)
    assert "4711" not in said
    assert io.StringIO(said).readline() == said

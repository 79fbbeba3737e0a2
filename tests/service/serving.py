"""A service in this process, and clients that speak to it over real connections."""

import re
import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient

from shoal.audit import Audit
from shoal.service import ServiceLimits, application
from shoal.service.door import Door
from shoal.service.run import server

EAGER = ServiceLimits(rate=1e6, burst=1_000_000, quantum=0, waiting=1_000)
"""Limits that no test reaches by accident, and replies as soon as possible."""

PATIENCE = 30
"""Seconds after which a test gives up."""


class Service:
    """A service in this process, and what it logged."""

    def __init__(self, audit: Audit, limits: ServiceLimits = EAGER) -> None:
        self.audit, self.limits = audit, limits
        self.logged: list[Any] = []
        self.connections: Any = None
        self.keys = {"Ann": audit.add_key("Ann", "analyst"), "Bea": audit.add_key("Bea", "owner")}
        self.app = application(audit, limits, self.logged.append)
        self.client = TestClient(self.app)

    def headers(self, who: str | None) -> dict[str, str]:
        return {} if who is None else {"Authorization": f"Bearer {self.keys.get(who, who)}"}

    def get(self, path: str, who: str | None = "Ann") -> httpx.Response:
        return self.client.get(path, headers=self.headers(who))

    def ask(self, who: str | None = "Ann", **body: Any) -> httpx.Response:
        return self.client.post("/query", json=body, headers=self.headers(who))

    @property
    def door(self) -> Door:
        """The door of the application."""
        door: Any = self.app.user_middleware[0].kwargs["door"]
        assert isinstance(door, Door)
        return door


@contextmanager
def served(service: Service, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a service in this process."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    running = server(service.app, service.limits, tls)
    service.connections = running.config.http.all  # type: ignore[union-attr]
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join()
        listening.close()


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


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it never does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def connected(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(sent)
    return connection


def reply(connection: socket.socket) -> bytes:
    """One whole reply, or what came of it until the other side closed."""
    received = b""
    while not _whole(received):
        try:
            piece = connection.recv(65_536)
        except ConnectionResetError:
            break
        if not piece:
            break
        received += piece
    return received


def _whole(received: bytes) -> bool:
    first, end, body = received.partition(b"\r\n\r\n")
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


def closed(connection: socket.socket) -> bool:
    """Whether the other side has closed a connection on which it says nothing."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
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

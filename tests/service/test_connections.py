"""Whoever holds connections, sends no whole request or reads slowly keeps nobody else out."""

import socket
import ssl
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.service import ServiceLimits
from shoal.service.connections import Connections, origin
from tests.audit.salaries import made
from tests.service.serving import (
    EAGER,
    PATIENCE,
    Service,
    closed,
    connected,
    files,
    question,
    reply,
    served,
    until,
)


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


def test_the_longest_resting_connection_of_whoever_has_most_makes_room() -> None:
    every: Any = Connections(ServiceLimits(connections=5, per_address=3))
    mine, others = [Fake("a") for _ in range(4)], [Fake("b"), Fake("c"), Fake("d")]
    for fake in (others[0], *mine[:3]):
        assert every.enter(fake)
        every.rest(fake)
    assert every.enter(mine[3])  # a fourth of one address
    assert [fake.dropped for fake in mine] == [True, False, False, False]
    every.rest(mine[3])
    every.rest(mine[1])  # it had a request in between
    for other in others[1:]:
        assert every.enter(other)
        every.rest(other)
    assert [fake.dropped for fake in mine] == [True, False, True, False]
    assert not any(other.dropped for other in others)
    assert len(every) == 5


def test_a_connection_whose_request_is_being_answered_is_never_closed_for_others() -> None:
    every: Any = Connections(ServiceLimits(connections=3, per_address=2))
    busy = [Fake("a"), Fake("a"), Fake("b")]
    assert all(every.enter(fake) for fake in busy)
    assert not every.enter(Fake("a"))
    assert not every.enter(Fake("c"))
    every.leave(busy[0])
    assert every.enter(Fake("c"))
    assert not any(fake.dropped for fake in busy)


def test_one_customers_ipv6_addresses_count_as_one() -> None:
    assert origin(("2001:db8::1", 1, 0, 0)) == origin(("2001:db8::ffff:2", 2, 0, 0))
    assert origin(("2001:db8:0:1::1", 1, 0, 0)) != origin(("2001:db8::1", 1, 0, 0))
    assert origin(("::ffff:192.0.2.1", 1, 0, 0)) == origin(("192.0.2.1", 9)) == "192.0.2.1"
    assert origin(("fe80::1%eth0", 1, 0, 0)) == origin(("fe80::2", 1, 0, 0))


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


def test_a_handshake_that_takes_too_long_is_cut_off(quick: Service, tls: ssl.SSLContext) -> None:
    with served(quick, tls) as port, connected(port, b"\x16\x03") as slow:
        assert reply(slow) == b""
        until(lambda: len(quick.connections) == 0)


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
def test_requests_that_are_not_http_are_refused_in_fixed_words(quick: Service, sent: bytes) -> None:
    with served(quick) as port, connected(port) as client:
        with suppress(OSError):  # it may be closed already
            client.sendall(sent)
        received = reply(client)
    if received:
        assert b" 400 " in received
        assert b"nosniff" in received
        assert b"xxx" not in received


def test_requests_in_one_packet_are_all_answered(quick: Service) -> None:
    with served(quick) as port, connected(port, question(quick) * 3) as client:
        received = b""
        while received.count(b"HTTP/1.1 200") < 3 or received.count(b'"denied":false') < 3:
            received += client.recv(65_536)


def test_a_client_that_does_not_read_its_reply_is_cut_off(tmp_path: Path) -> None:
    service = Service(made(str(tmp_path / "a")), replace(EAGER, timeout=0.5))

    @service.app.get("/large")
    async def large() -> str:
        return "x" * 20_000_000

    with served(service) as port, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        slow.connect(("127.0.0.1", port))
        slow.sendall(b"GET /large HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        until(lambda: bool(service.logged))  # the reply has been made
        until(lambda: len(service.connections) == 0)

"""Connections: how many there may be, from whom, and how long they may rest. `run` uses it.

A connection rests while no request of it is being answered: before the first one, between two, and
until the last reply has been read. It may rest for a limited time. Where there is no room for a
newcomer, the connection that has rested longest makes room, of whoever has most of them, so nobody
can keep others out by holding connections open.
"""

import asyncio
import ipaddress
import ssl
from collections import defaultdict
from collections.abc import Collection
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from shoal.service.limits import ServiceLimits

__all__ = ["Connection", "Connections", "origin"]

_READ = 65_536
"""Bytes taken from a connection at once; asyncio takes 256 KiB, from every connection."""

_NETWORK = 64
"""Bits that all IPv6 addresses of one customer of a provider have in common."""

_INVALID = b'{"error":"this is not a valid HTTP request"}'


class Connections:
    """All open connections, by the address they come from.

    Those that rest are in the order in which they began to.
    """

    def __init__(self, limits: ServiceLimits) -> None:
        self.limits = limits
        self.open: defaultdict[str, set[Connection]] = defaultdict(set)
        self.resting: dict[Connection, None] = {}

    def __len__(self) -> int:
        return sum(map(len, self.open.values()))

    def enter(self, newcomer: "Connection") -> bool:
        """Let a connection in, if there is room or if one that rests can make room."""
        neighbours = self.open.get(newcomer.address, set())
        if len(neighbours) >= self.limits.per_address and not self._drop(neighbours):
            return False
        if len(self) >= self.limits.connections:
            most = max(self.open.values(), key=len)
            if not (self._drop(most) or self._drop(self.resting.keys())):
                return False
        self.open[newcomer.address].add(newcomer)
        return True

    def rest(self, connection: "Connection") -> None:
        """A connection begins to rest."""
        self.resting.pop(connection, None)
        self.resting[connection] = None

    def leave(self, connection: "Connection") -> None:
        """A connection is gone."""
        self.resting.pop(connection, None)
        neighbours = self.open.get(connection.address, set())
        neighbours.discard(connection)
        if not neighbours:
            self.open.pop(connection.address, None)

    def _drop(self, candidates: "Collection[Connection]") -> bool:
        """Close the candidate that has rested longest; False if none rests."""
        for connection in self.resting:
            if connection in candidates:
                self.leave(connection)
                connection.drop()
                return True
        return False


class Connection(H11Protocol):
    """One connection.

    TLS begins here, not in the listening socket, so that handshakes are counted and timed too.
    """

    all: Connections
    tls: ssl.SSLContext | None

    raw: asyncio.Transport | None = None
    timer: asyncio.TimerHandle | None = None
    handshake: "asyncio.Task[None] | None" = None
    address: str = ""
    early: bytes = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.raw = transport
        self.address = origin(transport.get_extra_info("peername"))
        if not self.all.enter(self):
            self.drop()
            return
        # selector transports of asyncio have it
        if hasattr(transport, "max_size"):
            transport.max_size = _READ
        self._rest()
        if self.tls is None:
            super().connection_made(transport)
        else:
            transport.pause_reading()
            self.handshake = self.loop.create_task(self._shake_hands(transport, self.tls))

    async def _shake_hands(self, raw: asyncio.Transport, tls: ssl.SSLContext) -> None:
        timeout = self.all.limits.timeout
        try:
            transport = await self.loop.start_tls(
                raw, self, tls, server_side=True, ssl_handshake_timeout=timeout
            )
        except OSError:  # SSLError and TimeoutError are too
            self.drop()
            return
        if transport is None or raw.is_closing():
            self.drop()
            return
        super().connection_made(transport)
        early, self.early = self.early, b""
        if early:
            self.data_received(early)

    def data_received(self, data: bytes) -> None:
        if self.transport is None:
            # it came with the end of the handshake
            self.early += data
        else:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.all.leave(self)
        self._wake()
        # there is no transport before a handshake has ended
        if self.transport is not None:
            super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering:
            self._wake()
            self.all.resting.pop(self, None)

    def on_response_complete(self) -> None:
        self._rest()
        # this begins the next request, if there is one already
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(_INVALID))),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        try:
            head = self.conn.send(
                h11.Response(status_code=400, headers=headers, reason="Bad Request")
            )
            body = self.conn.send(h11.Data(data=_INVALID))
            self.conn.send(h11.EndOfMessage())
        except h11.LocalProtocolError:
            # a reply is under way already
            self.drop()
            return
        self.transport.write((head or b"") + (body or b""))
        self.transport.close()

    def drop(self) -> None:
        """Close at once, whatever is still to be sent."""
        self._wake()
        self.all.leave(self)
        if self.raw is not None:
            self.raw.abort()

    def _rest(self) -> None:
        self._wake()
        self.all.rest(self)
        self.timer = self.loop.call_later(self.all.limits.timeout, self.drop)

    def _wake(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def origin(peer: Any) -> str:
    """Whom an address belongs to; for IPv6 the network, all of which is one customer's."""
    if not isinstance(peer, tuple):
        return ""
    try:
        address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
    except ValueError:
        return str(peer[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _NETWORK), strict=False))

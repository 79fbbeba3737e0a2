"""Which user of this machine is at the other end of a connection.

Browsers send a cookie to all ports of a host, so a server that another user runs on this machine
can come by the cookie of a workbench. Linux says whose connection it is. `access` asks.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["is_another_user"]

_CONNECTIONS = Path("/proc/net/tcp")

_LOOPBACK = "0100007F"
"""127.0.0.1, as Linux prints it on most machines: the bytes are those of a little-endian number."""

_ROOT = 0
"""Who can read everything anyway, and forwards connections from other systems."""


def is_another_user(client: Any, server: Any, connections: Path = _CONNECTIONS) -> bool:
    """Whether a request comes from another user; False where nobody can tell.

    client, server: host and port of both ends, as ASGI has them
    """
    if not client or not server or {client[0], server[0]} != {"127.0.0.1"}:
        return False
    try:
        lines = connections.read_text("ascii").splitlines()[1:]
    except (OSError, ValueError):
        return False
    ours = (_ROOT, os.getuid())
    return any(user not in ours for user in _users(lines, client[1], server[1]))


def _users(lines: Iterable[str], port: int, other: int) -> Iterable[int]:
    """The user of the socket from one port of this machine to another."""
    wanted = [f"{_LOOPBACK}:{port:04X}", f"{_LOOPBACK}:{other:04X}"]
    for line in lines:
        parts = line.split()
        if parts[1:3] == wanted:
            yield int(parts[7])

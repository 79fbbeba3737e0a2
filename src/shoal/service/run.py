"""Running the application with uvicorn. Uses `app` and `connections`; the command line uses it."""

import logging
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import FileError, ParameterError
from shoal.service.limits import ServiceLimits
from shoal.service.log import ServerLines, write

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from shoal.audit import Audit

__all__ = ["allow_files", "listening_on", "quiet_server", "serve", "server", "tls_of"]

_BACKLOG = 2048
"""Connections that the system keeps until they are accepted."""

_OTHER_FILES = 64
"""Open files besides connections: the store, threads, the terminal."""

_GRACE = 30
"""Seconds for requests in progress when the service ends."""


def serve(
    audit: "Audit",
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: ServiceLimits | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    ready: Callable[[int], None] = lambda port: None,
) -> None:
    """Serve an audit until the process is told to stop; with a certificate and its key, over TLS.

    `ready` is called with the port once it is open: for port 0, the system chooses a free one.
    """
    from shoal.service.app import application

    limits = limits or ServiceLimits()
    tls = tls_of(certificate, key)
    quiet_server()
    allow_files(limits.connections + _OTHER_FILES)
    running = server(application(audit, limits), limits, tls)
    with listening_on(host, port) as listening:
        port = listening.getsockname()[1]
        ready(port)
        write({"event": "started", "host": host, "port": port})
        running.run(sockets=[listening])


def quiet_server() -> None:
    """Let the server write only fixed texts, into our log."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [ServerLines()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)


def server(
    app: "FastAPI", limits: ServiceLimits, tls: ssl.SSLContext | None = None
) -> "uvicorn.Server":
    """A server for the application that keeps the limits on connections."""
    import uvicorn

    from shoal.service.connections import Connection, Connections

    counted = type("Connection", (Connection,), {"all": Connections(limits), "tls": tls})
    config = uvicorn.Config(
        app,
        http=counted,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE,
    )
    return uvicorn.Server(config)


def tls_of(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """TLS with a certificate and its key; None without them."""
    if (certificate is None) != (key is None):
        raise ParameterError("TLS needs a certificate and its key", "give both, or neither")
    if certificate is None or key is None:
        return None
    for file in (certificate, key):
        if not file.is_file():
            raise FileError("there is no such file", where=str(file))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, OSError):
        raise FileError(
            f"{certificate} and {key} are not a certificate and its key",
            "give PEM files that belong together, the key without a passphrase",
        ) from None
    return context


def listening_on(host: str, port: int) -> socket.socket:
    """A socket that is open; ParameterError if it cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ParameterError(
            f"cannot listen on {host}, port {port}: {error.strerror}",
            "give another `host` or `port`",
        ) from None


def allow_files(wanted: int) -> None:
    """Let this process open that many files; ParameterError if the system does not allow it."""
    try:
        import resource
    except ImportError:
        # Windows has no such limit
        return
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY or allowed >= wanted:
        return
    if most != resource.RLIM_INFINITY and most < wanted:
        raise ParameterError(
            f"the system allows {most:,} open files, and the service needs {wanted:,}",
            f"allow more (ulimit -n), or {wanted - most:,} connections fewer",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))

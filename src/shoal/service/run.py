"""Running the application with uvicorn."""

import json
import logging
import socket
import ssl
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.audit.book import Audit
from shoal.errors import FileError, ParameterError
from shoal.service.app import application
from shoal.service.limits import Limits

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

__all__ = ["serve", "server"]

_BACKLOG = 2048  # connections that the system keeps until they are accepted
_OTHER_FILES = 64  # open files beside connections: the store, threads, the terminal
_GRACE = 30  # seconds for requests in progress when the service ends


def serve(
    audit: Audit,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    ready: Callable[[int], None] = lambda port: None,
) -> None:
    """Serve an audit until the process is told to stop; with a certificate and its key, over TLS.

    `ready` is called once the port is open, with its number: for port 0, the system takes a free one.
    """
    limits = limits or Limits()
    if (certificate is None) != (key is None):
        raise ParameterError("TLS needs a certificate and its key; give both, or none")
    for file in (certificate, key):
        if file is not None and not file.is_file():
            raise FileError(f"there is no file {file}")
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_Lines()], False
        logger.setLevel(logging.WARNING)
    _allow_files(limits.connections + _OTHER_FILES)
    running = server(application(audit, limits), limits, _tls(certificate, key))
    try:
        place = socket.create_server(
            (host, port),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=_BACKLOG,
        )
    except OSError as error:
        raise ParameterError(
            f"cannot listen on {host}, port {port}: {error.strerror}; give another host or port"
        ) from None
    with place:
        port = place.getsockname()[1]
        ready(port)
        _say({"event": "started", "host": host, "port": port})
        running.run(sockets=[place])


def server(app: "FastAPI", limits: Limits, tls: ssl.SSLContext | None = None) -> "uvicorn.Server":
    """A server for the application that keeps the limits on connections."""
    import uvicorn

    from shoal.service.connections import Connection, Connections

    own = type("Connection", (Connection,), {"all": Connections(limits), "tls": tls})
    config = uvicorn.Config(
        app,
        http=own,
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


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, OSError):
        raise FileError(
            f"{certificate} and {key} are not a certificate and its key; give PEM files that belong together, "
            "the key without a passphrase"
        ) from None
    return context


def _allow_files(wanted: int) -> None:
    """Let this process open as many files; ParameterError if the system does not allow it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY or allowed >= wanted:
        return
    if most != resource.RLIM_INFINITY and most < wanted:
        raise ParameterError(
            f"the system allows for {most:,} open files, and the service needs {wanted:,}; "
            f"allow for more (ulimit -n), or for {wanted - most:,} connections fewer"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class _Lines(logging.Handler):
    """What the server itself has to say, a JSON object a line. Only fixed texts: arguments and tracebacks could hold a value."""

    def emit(self, record: logging.LogRecord) -> None:
        text = str(record.msg).strip().partition("\n")[0]  # asyncio adds objects, in further lines
        _say({"event": "server", "level": record.levelname.lower(), "text": text})


def _say(event: dict[str, object]) -> None:
    print(
        json.dumps({"time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"), **event}),
        file=sys.stderr,
        flush=True,
    )

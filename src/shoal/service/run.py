"""Running the application with uvicorn."""

import json
import logging
import socket
import ssl
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from shoal.audit.book import Audit
from shoal.errors import FileError, ParameterError
from shoal.service.app import Limits, application

__all__ = ["serve"]


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
    import uvicorn

    if (certificate is None) != (key is None):
        raise ParameterError("TLS needs a certificate and its key; give both, or none")
    for file in (certificate, key):
        if file is not None and not file.is_file():
            raise FileError(f"there is no file {file}")
    logger = logging.getLogger("uvicorn.error")
    logger.handlers, logger.propagate = [_Lines()], False
    logger.setLevel(logging.WARNING)
    app = application(audit, limits)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        lifespan="off",
    )
    try:
        config.load()
    except (ssl.SSLError, OSError):
        raise FileError(
            f"{certificate} and {key} are no certificate and its key; give PEM files that belong together"
        ) from None
    try:
        place = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except OSError as error:
        raise ParameterError(
            f"cannot listen on {host}, port {port}: {error.strerror}; give another host or port"
        ) from None
    with place:
        port = place.getsockname()[1]
        ready(port)
        _say({"event": "started", "host": host, "port": port})
        uvicorn.Server(config).run(sockets=[place])


class _Lines(logging.Handler):
    """What the server itself has to say, a JSON object a line. Only fixed texts: arguments and tracebacks could hold a value."""

    def emit(self, record: logging.LogRecord) -> None:
        _say(
            {"event": "server", "level": record.levelname.lower(), "text": str(record.msg).strip()}
        )


def _say(event: dict[str, object]) -> None:
    print(
        json.dumps({"time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"), **event}),
        file=sys.stderr,
        flush=True,
    )

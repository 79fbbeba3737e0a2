"""Running the application with uvicorn."""

import json
import logging
import sys
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
) -> None:
    """Serve an audit until the process is told to stop; with a certificate and its key, over TLS."""
    import uvicorn

    if (certificate is None) != (key is None):
        raise ParameterError("TLS needs a certificate and its key; give both, or none")
    for file in (certificate, key):
        if file is not None and not file.is_file():
            raise FileError(f"there is no file {file}")
    logger = logging.getLogger("uvicorn.error")
    logger.handlers, logger.propagate = [_Lines()], False
    logger.setLevel(logging.WARNING)
    uvicorn.run(
        application(audit, limits),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


class _Lines(logging.Handler):
    """What the server itself has to say, a JSON object a line. Only fixed texts: arguments and tracebacks could hold a value."""

    def emit(self, record: logging.LogRecord) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        event = {"time": now, "event": "server", "level": record.levelname.lower(), "text": str(record.msg).strip()}
        print(json.dumps(event), file=sys.stderr, flush=True)

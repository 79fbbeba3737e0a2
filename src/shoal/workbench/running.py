"""Running the workbench, on this machine or for a team. Uses `app`; the command line uses it."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shoal.data.disk import unguarded
from shoal.errors import FileError, ParameterError
from shoal.service import ServiceLimits
from shoal.service.log import Event, write
from shoal.service.run import allow_files, listening_on, quiet_server, server, tls_of
from shoal.workbench.access import Access, TeamAccess
from shoal.workbench.app import Screens, application
from shoal.workbench.members import Members

__all__ = ["TeamAddress", "serve", "serve_team"]

HOST = "127.0.0.1"
"""Nobody else's machine reaches this address."""

_OTHER_FILES = 256
"""Open files besides connections: tables, jobs, templates."""


def serve(
    home: Path,
    *,
    port: int = 0,
    ready: Callable[[str], None] = lambda address: None,
    browse: Callable[[str], object] | None = None,
) -> None:
    """Serve the projects in a folder to the person who started it, until told to stop.

    `ready` is called with the address, which has the token, once it is open. So is `browse`, with
    one that lets somebody in once: all users of a machine see what a browser is started with. For
    port 0 the system chooses a free one. Jobs that are running go on after the end.
    """
    _require_folder(home)
    quiet_server()
    with listening_on(HOST, port) as listening:
        port = listening.getsockname()[1]
        access = Access((f"{HOST}:{port}", f"localhost:{port}"))
        app = application(home, access, _quiet)
        app.state.desk.draws_ahead = True
        running = server(app, ServiceLimits())
        ready(f"http://{HOST}:{port}/?token={access.token}")
        if browse is not None:
            browse(f"http://{HOST}:{port}/?token={access.pass_once()}")
        _warm_up_soon(app.state.screens)
        with unguarded():
            running.run(sockets=[listening])


_PORT = re.compile(r"(?<!:):\d+$")
"""The port of a host; [::1] has none."""


@dataclass(frozen=True)
class TeamAddress:
    """Where a team finds its workbench.

    known_as: the hosts in the addresses that people open. One without a port is known by that of
        the service, and by none, where a proxy hands requests on
    """

    host: str = HOST
    port: int = 8000
    known_as: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None

    def hosts(self, port: int) -> tuple[str, ...]:
        """What the Host of a request may be; ParameterError if that is not known.

        >>> TeamAddress(known_as=("workbench.example", "other.example:443")).hosts(8000)
        ('workbench.example:8000', 'workbench.example', 'other.example:443')
        """
        if self.known_as:
            return tuple(
                host
                for known in self.known_as
                for host in ((known,) if _PORT.search(known) else (f"{known}:{port}", known))
            )
        if self.host in ("0.0.0.0", "::"):
            raise ParameterError(
                "which addresses people will open is not known",
                "give them, as in `known_as` workbench.example",
            )
        return f"{self.host}:{port}", f"localhost:{port}"


def serve_team(
    home: Path,
    address: TeamAddress,
    limits: ServiceLimits | None = None,
    ready: Callable[[int], None] = lambda port: None,
) -> None:
    """Serve the projects in a folder to members with a key, until told to stop.

    Every request is a line in the log: who did what, without data.
    """
    _require_folder(home)
    limits = limits or ServiceLimits()
    tls = tls_of(address.certificate, address.key)
    quiet_server()
    allow_files(limits.connections + _OTHER_FILES)
    with listening_on(address.host, address.port) as listening:
        port = listening.getsockname()[1]
        access = TeamAccess(
            address.hosts(port), secure=tls is not None, members=Members(home.absolute())
        )
        app = application(home, access, write)
        app.state.desk.draws_ahead = True
        running = server(app, limits, tls)
        ready(port)
        write({"event": "started", "host": address.host, "port": port})
        _warm_up_soon(app.state.screens)
        with unguarded():
            running.run(sockets=[listening])


def _require_folder(home: Path) -> None:
    if home.is_dir():
        return
    if home.exists():
        raise FileError("this is a file", "give the folder that it is in", where=str(home))
    raise FileError("there is no such folder", "make it first", where=str(home))


def _quiet(event: Event) -> None:
    """Only what went wrong is worth a line."""
    if "bug" in event:
        write(event)


def _warm_up_soon(screens: Screens) -> None:
    """Load the screens in a moment: the first page comes first."""
    timer = threading.Timer(1.0, screens.load)
    timer.daemon = True
    timer.start()

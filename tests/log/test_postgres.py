"""A log in PostgreSQL: its connections, and what is said when the server refuses."""

import pytest

from shoal.audit import Audit
from shoal.audit.store import Store
from shoal.errors import FileError
from tests.audit.salaries import (
    made,
)
from tests.postgres import Server


def _run(place: str, statement: str, *values: object) -> None:
    with Store(place).writing() as turn:
        turn.run(statement, *values)


@pytest.mark.parametrize("layout", ["NULL", "'shoal audit, layout 3'"])
def test_tables_of_another_layout_are_refused(server: Server, layout: str) -> None:
    place = server.fresh()
    made(place)
    _run(place, f"COMMENT ON TABLE shoal_entries IS {layout}")
    with pytest.raises(FileError, match="this Shoal reads 'shoal audit, layout 2'"):
        Audit.open(place)


def test_a_server_that_does_not_sync_is_refused(server: Server) -> None:
    place = server.fresh()
    made(place)
    server.stop()
    server.start(fsync=False)
    try:
        with pytest.raises(FileError, match="fsync"):
            Audit.open(place)
    finally:
        server.stop()
        server.start()

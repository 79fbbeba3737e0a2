"""Tables of databases: PostgreSQL by a URL, SQLite and DuckDB by a file.

Nothing is ever written to a database. Uses `engines` and `distant`; `files` and the doors use
it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from shoal.data.disk import reading
from shoal.data.distant import Distant
from shoal.data.engines.failures import failure
from shoal.data.engines.interruptible import Interruptible
from shoal.data.engines.sql import DatabaseRows
from shoal.data.names import require_names
from shoal.errors import ColumnError, ParameterError, ShoalError, listed

__all__ = ["database", "is_database", "require_without_secrets"]

_POSTGRES = ("postgresql://", "postgres://")
_SECRET = re.compile(
    r"""\w:/+(?:  # a `Path` has one slash
        [^/@]*:(?!\d*(?:/|$))[^@]*@  # a password, not a port
        | .*[?&;][^=&;]*(?:passw|pwd|secret|token|key)[^=&;]*=
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A URL of any program that has something secret."""
_SQLITE = b"SQLite format 3\0"
_DUCK = slice(8, 12)
"""Where the file of a DuckDB says what it is."""


def is_database(place: str) -> bool:
    """Whether a URL or a path is that of a database."""
    return place.startswith(_POSTGRES) or _file_of(place) is not None


def require_without_secrets(place: str) -> None:
    """ParameterError, which does not show it, if a URL has a password or a token.

    For what is not a database: the engine of PostgreSQL takes its URLs apart, and knows better.
    """
    if _SECRET.search(place):
        raise ParameterError(
            "a path with a password or a token would be in recipes and histories of commands",
            "leave it out, and give the credentials in the environment, or in the settings of "
            "what reads the rows",
        )


def database(place: str, query: str | None, columns: Sequence[str] | None = None) -> Distant:
    """The rows of a query, or of a table or view by its name; with `columns`, only these."""
    if not is_database(place):
        # What is not a path may have a password.
        here = f"{place} is" if Path(place).exists() else "what `query` is for was not found: it is"
        raise ParameterError(
            f"{here} not an SQLite or DuckDB file, or a URL such as postgresql://host/name",
            "see how it is spelled, or leave out the query",
        )
    if query is None or not query.strip():
        raise ParameterError(
            f"{_shown(place)} is a database, and may have several tables",
            "name a table in `query`, or give a query such as 'SELECT age, sex FROM visits'",
        )
    rows = _engine(place, query)
    every = Distant(Interruptible(rows))
    require_names(every.names)
    if columns is None:
        return every
    unknown = [name for name in columns if name not in every.names]
    if unknown:
        raise ColumnError(f"no column {listed(unknown)}", every.describe())
    wanted = [name for name in every.names if name in set(columns)]
    return Distant(Interruptible(rows.only(wanted)))


def _file_of(place: str) -> str | None:
    """Which database a file is of, None if it is not one."""
    try:
        # A pipe would not answer.
        if not Path(place).is_file():
            return None
        with open(place, "rb") as file:
            head = file.read(16)
    except (OSError, ValueError):
        return None
    if head == _SQLITE:
        return "sqlite"
    return "duckdb" if head[_DUCK] == b"DUCK" else None


def _engine(place: str, query: str) -> DatabaseRows:
    try:
        return _connected(place, query)
    except ImportError as error:
        raise ParameterError(
            f"{_shown(place)} needs {error.name}, which is not installed",
            "install it with: pip install 'shoal[sql]'",
        ) from None
    except ShoalError:
        raise
    except Exception as error:
        # Its text may have what is secret.
        what = f"{_shown(place)} cannot be opened, or the query not run"
        raise failure(what, error) from None


def _connected(place: str, query: str) -> DatabaseRows:
    if place.startswith(_POSTGRES):
        from shoal.data.engines.postgres import PostgresRows, Snapshot

        return PostgresRows(Snapshot(place), query)
    reading(Path(place))
    if _file_of(place) == "sqlite":
        from shoal.data.engines.sqlite import SqliteFile, SqliteRows

        return SqliteRows(SqliteFile(Path(place)), query)
    from shoal.data.engines.duck import DuckFile

    return DuckFile(place).rows(query)


def _shown(place: str) -> str:
    """A place without what may be secret."""
    return "the database" if place.startswith(_POSTGRES) else place

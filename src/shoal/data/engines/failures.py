"""Why an engine failed, in our own words.

What an engine says itself may have a cell's value, a user or a password. So its text is only
searched for what is known, and never shown. Uses `errors`; `distant`, `streaming` and `databases`
use it.
"""

from typing import NamedTuple

from shoal.errors import SourceError

__all__ = ["failure", "rows_changed"]

_REACH = "see whether it can be reached and read, and open it anew"


class _Cause(NamedTuple):
    why: str
    phrases: tuple[str, ...]
    """Parts of what engines say then, in small letters."""
    fix: str = _REACH


_CAUSES = (
    _Cause(
        "the password is missing or wrong",
        phrases=("password authentication failed", "no password supplied"),
        fix="set PGPASSWORD or PGPASSFILE in the environment",
    ),
    _Cause(
        "the server does not let this user in, or not from here",
        phrases=("no pg_hba.conf entry", "authentication failed", 'role "'),
        fix="see whether the user is right, and may connect from this machine",
    ),
    _Cause(
        "this user may not read these rows",
        phrases=("permission denied",),
        fix="ask for the right to read them",
    ),
    _Cause(
        "the server does not offer the encryption that is asked for",
        phrases=(
            "ssl was required",
            "support ssl",
            "ssl error",
            "root certificate",
            "server certificate",
        ),
        fix="set up SSL on the server, or see `sslmode` in the documentation of PostgreSQL",
    ),
    _Cause(
        "it would write",
        phrases=(
            "read-only transaction",
            "data-modifying",
            "into is not allowed",
            "readonly database",
        ),
        fix="give a query that only reads",
    ),
    _Cause(
        "it is not one SQL query",
        phrases=(
            "syntax error",
            "parser error",
            "one statement",
            "multiple commands",
            "incomplete input",
        ),
        fix="give one query, or the name of a table",
    ),
    _Cause(
        "it took longer than the server allows",
        phrases=("statement timeout", "idle-in-transaction"),
        fix="raise the server's limit for this user, and open it anew",
    ),
    _Cause(
        "an earlier question failed",
        phrases=("current transaction is aborted", "is in an error state"),
        fix="open the table anew",
    ),
    _Cause(
        "the connection was lost",
        phrases=(
            "terminating connection",
            "closed the connection",
            "no connection to the server",
            "failed to begin transaction",
            "connection not open",
            "shutting down",
        ),
    ),
    _Cause(
        "the server cannot be reached",
        phrases=(
            "connection refused",
            "could not translate host name",
            "is the server running",
            "timeout expired",
            "starting up",
        ),
    ),
    _Cause(
        "the disk has no room for what it sets aside, or a limit on that was reached",
        phrases=(
            "no space left on device",
            "disk is full",
            "temporary file size exceeds",
            "max_temp_directory_size",
        ),
        fix="make room there, or raise the limit, or count fewer columns",
    ),
    _Cause(
        "its memory is full",
        phrases=("could not allocate", "failed to allocate", "out of memory"),
        fix="raise its limit, or count fewer columns",
    ),
    _Cause(
        "another program has locked it",
        phrases=("database is locked", "could not set lock", "unique file handle conflict"),
        fix="try again when nobody writes, or read a copy",
    ),
    _Cause(
        "a database, a table or a column is not there",
        phrases=("does not exist", "no such", "binder error", "catalog error"),
        fix="see how it is spelled, and which schema it is in; a query begins with SELECT or WITH",
    ),
    _Cause(
        "the query fails for some of its rows",
        phrases=("division by zero", "invalid input syntax", "out of range", "conversion error"),
        fix="run it there, and mend it",
    ),
)


def failure(what: str, error: BaseException) -> SourceError:
    """The error to raise for one of an engine: a known cause with its fix, or the error's type.

    >>> print(failure("the clinic cannot be read", OSError("no password supplied by ann")))
    ... # doctest: +NORMALIZE_WHITESPACE
    the clinic cannot be read (the password is missing or wrong); set PGPASSWORD or PGPASSFILE in
    the environment
    """
    text = str(error).lower()
    for cause in _CAUSES:
        if any(phrase in text for phrase in cause.phrases):
            return SourceError(f"{what} ({cause.why})", cause.fix)
    return SourceError(f"{what} ({type(error).__name__})", _REACH)


def rows_changed(place: str) -> SourceError:
    """The error to raise if two answers about the rows of a place do not go together."""
    return SourceError(
        f"the rows of {place} changed while they were counted",
        "count a copy, or when nobody writes",
    )

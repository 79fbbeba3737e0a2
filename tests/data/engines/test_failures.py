"""What engines say is understood, and never shown."""

import pytest

from shoal.data.engines.failures import failure

SAID = {
    "FATAL:  password authentication failed for user": "the password is missing or wrong",
    "fe_sendauth: no password supplied": "the password is missing or wrong",
    'FATAL:  role "geheim" does not exist': "does not let this user in",
    "ERROR:  permission denied for table": "may not read these rows",
    "server does not support SSL, but SSL was required": "encryption",
    "ERROR:  cannot execute DELETE in a read-only transaction": "it would write",
    "attempt to write a readonly database": "it would write",
    "You can only execute one statement at a time.": "it is not one SQL query",
    "canceling statement due to statement timeout": "longer than the server allows",
    "terminating connection due to idle-in-transaction timeout": "longer than the server allows",
    "terminating connection due to administrator command": "the connection was lost",
    "server closed the connection unexpectedly": "the connection was lost",
    "Connection refused": "cannot be reached",
    "temporary file size exceeds temp_file_limit (100kB)": "no room",
    "database or disk is full": "no room",
    "failed to create spill file: No space left on device (os error 28)": "no room",
    "Out of Memory Error: could not allocate block": "its memory is full",
    "database is locked": "another program has locked it",
    "no such table: visits": "is not there",
    "invalid input syntax for type integer": "fails for some of its rows",
    "something else": "OSError",
}


@pytest.mark.parametrize("said", SAID)
def test_what_an_engine_says_is_told_in_other_words(said: str) -> None:
    told = str(failure("the clinic cannot be read", OSError(f"{said} geheim")))
    assert told.startswith("the clinic cannot be read (")
    assert SAID[said] in told
    assert "geheim" not in told

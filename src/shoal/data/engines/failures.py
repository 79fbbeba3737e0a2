"""Why an engine failed, told in our own words.

What an engine says itself may have a cell's value, a user or a password. So its text is only
searched for what is known, and never shown. Uses nothing; `distant` and `databases` use it.
"""

__all__ = ["reason"]

_REASONS = {
    "the password is missing or wrong": (
        "password authentication failed",
        "no password supplied",
        "fe_sendauth",
    ),
    "the server does not let this user or host in": (
        "no pg_hba.conf entry",
        "authentication failed",
        "permission denied",
        "not authorized",
    ),
    "it asks for SSL in a way that the server does not offer": ("SSL", "certificate"),
    "it would write, and rows are only read": ("read-only transaction", "readonly database"),
    "the server's limit on the time of a statement was reached": ("statement timeout",),
    "the transaction was idle for longer than the server allows": ("idle-in-transaction",),
    "the server ended the connection": (
        "terminating connection",
        "server closed the connection",
        "connection to server was lost",
        "no connection to the server",
        "shutting down",
        "starting up",
        "in recovery mode",
    ),
    "the server cannot be reached": (
        "Connection refused",
        "could not translate host name",
        "could not connect",
        "Is the server running",
        "timeout expired",
    ),
    "an earlier question failed, and ended what all of them are asked in": (
        "current transaction is aborted",
    ),
    "what it sets aside on a disk is more than it may": (
        "temporary file size exceeds",
        "max_temp_directory_size",
    ),
    "a disk is full": ("No space left on device", "database or disk is full"),
    "its limit on memory was reached": (
        "could not allocate",
        "failed to allocate",
        "Out of Memory",
    ),
    "another program has it locked": ("database is locked", "Could not set lock"),
    "a table or a column that is asked for is not there": ("does not exist", "no such"),
    "it is not one SQL query that only reads": ("syntax error", "Parser Error", "one statement"),
}


def reason(error: BaseException) -> str:
    """What went wrong, as a clause to put in parentheses: a known reason, or the error's type.

    >>> reason(OSError("FATAL: password authentication failed for user 'ann'"))
    'the password is missing or wrong'
    >>> reason(OSError("ann is not a number"))
    'OSError'
    """
    text = str(error).lower()
    for told, phrases in _REASONS.items():
        if any(phrase.lower() in text for phrase in phrases):
            return told
    return type(error).__name__

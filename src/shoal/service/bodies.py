"""What the service sends and receives, as its description states it.

An answer and a denial have the same form and the same size. Uses `audit`; `app`, `door` and
`middleware` use it.
"""

from typing import Annotated, Any, Literal

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from starlette.exceptions import HTTPException

from shoal.audit import Line, Reply
from shoal.audit.expressions import LONGEST
from shoal.audit.overview import ColumnOverview, ColumnSettings, TranscriptPage
from shoal.errors import FileError, QueryError, Stopped, TooLargeError

__all__ = [
    "Askable",
    "ColumnState",
    "ErrorReply",
    "Health",
    "PaddedResponse",
    "QueryReply",
    "QueryRequest",
    "SecretColumn",
    "State",
    "Transcript",
    "TranscriptLine",
    "TranscriptRequest",
    "error_responses",
    "refusal",
]

BLOCK = 128
"""Bytes: a reply is a multiple of it, and an answer rarely has more than a hundred digits."""

PAGE = 1_000
"""Lines of the transcript in one reply, at most."""

PEOPLE = 100_000
"""People in a list, at most; the size of the body is the stricter limit."""


class QueryRequest(BaseModel):
    """A query: an aggregate of a secret column over people.

    They are given by a condition or a list; without either, it is about everyone.
    """

    model_config = ConfigDict(extra="forbid")

    aggregate: Literal["max", "min", "sum", "mean", "count"]
    column: Annotated[
        StrictStr | None,
        Field(max_length=1_000, description="The secret column; a count has none."),
    ] = None
    where: Annotated[
        StrictStr | None,
        Field(
            max_length=LONGEST,
            description="A condition on public columns.",
            examples=["dept = 'X' and not age < 30"],
        ),
    ] = None
    people: Annotated[
        list[StrictStr | StrictInt] | None,
        Field(
            min_length=1,
            max_length=PEOPLE,
            description="People, by the column that names them, instead of a condition.",
        ),
    ] = None


class QueryReply(BaseModel):
    """The answer, a decimal or a quotient such as 10/3; or a denial, which has the same form."""

    denied: bool
    answer: str | None

    @classmethod
    def of(cls, reply: Reply) -> "QueryReply":
        return cls(denied=reply.denied, answer=None if reply.denied else str(reply))


class TranscriptRequest(BaseModel):
    """Which lines of the transcript to return."""

    model_config = ConfigDict(extra="forbid")

    after: Annotated[int, Field(ge=0, le=1 << 53, description="Lines to skip.")] = 0
    limit: Annotated[int, Field(ge=1, le=PAGE, description="Lines to return at most.")] = PAGE


class TranscriptLine(QueryReply):
    """A query and its reply."""

    number: int
    query: str

    @classmethod
    def of_line(cls, line: Line) -> "TranscriptLine":
        reply = QueryReply.of(line.reply)
        return cls(number=line.number, query=line.query, denied=reply.denied, answer=reply.answer)


class Transcript(BaseModel):
    """Lines in the order in which they were asked.

    `next` is the `after` of the lines that follow, if there may be any.
    """

    lines: list[TranscriptLine]
    next: int | None

    @classmethod
    def of(cls, page: TranscriptPage) -> "Transcript":
        lines = [TranscriptLine.of_line(line) for line in page.lines]
        return cls(lines=lines, next=page.next)


class SecretColumn(BaseModel):
    """A secret column, and what is public of its values."""

    column: str
    family: Literal["max", "min", "sum"] | None
    low: str | None
    high: str | None
    width: str
    integers: bool
    distinct: bool
    strategy: str
    dither: bool
    unit: str | None

    @classmethod
    def of(cls, settings: ColumnSettings) -> "SecretColumn":
        return cls.model_validate(settings.to_dict())


class Askable(BaseModel):
    """What can be asked.

    These are the public columns with their types, the one that names people, and the secret
    columns.
    """

    people: int
    public: dict[str, str]
    named: str | None
    secret: list[SecretColumn]


class ColumnState(SecretColumn):
    """A secret column, and how many queries about it were answered and denied."""

    answered: int
    denied: int

    @classmethod
    def of_overview(cls, column: ColumnOverview) -> "ColumnState":
        return cls.model_validate(column.to_dict())


class State(BaseModel):
    """The state of the audit; `head` is the digest of the last entry of the log."""

    columns: list[ColumnState]
    head: str


class Health(BaseModel):
    """The store can be read."""

    status: Literal["ok"]


class ErrorReply(BaseModel):
    """What is wrong, and what to do about it."""

    error: str


class PaddedResponse(JSONResponse):
    """JSON, padded to a size that answers and denials share: encrypted, they look alike."""

    def render(self, content: Any) -> bytes:
        body = super().render(content)
        blocks = -(-len(body) // BLOCK)
        return body.ljust(blocks * BLOCK)


_ERRORS = {
    400: "The query cannot be understood, or is about what may not be asked.",
    401: "The key is missing or unknown.",
    403: "The key is not an owner's.",
    408: "The body of the request took too long.",
    413: "The request is too large.",
    422: "The request does not have the form described here.",
    429: "Too many requests with this key; Retry-After says when to continue.",
    500: "A bug, or a fault of the installation; the owner finds the place in the log.",
    503: "The store is not available, or the service is too busy.",
}


def error_responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """What the description states of errors: of these, and of those that any request may cause."""
    return {
        code: {"model": ErrorReply, "description": _ERRORS[code]}
        for code in (*codes, 413, 500, 503)
    }


def refusal(error: Exception) -> PaddedResponse:
    """An error as it is sent.

    A message about a query contains no value of the private table, and one about the form only
    names places. Other messages of Shoal may not be for analysts, so they are not sent.
    """
    match error:
        case QueryError() | TooLargeError():
            return _error(400, str(error))
        case RequestValidationError():
            return _error(422, _form_problems(error))
        case HTTPException():
            return _error(error.status_code, str(error.detail), error.headers)
        case Stopped():
            # nobody will read it
            return _error(503, "the client has disconnected, and nothing was recorded")
        case FileError():
            return _error(503, "the store is not available; no reply was recorded, so ask again")
    return _error(
        500,
        "the service is not installed properly, and no reply was recorded; "
        "tell the owner, who finds the place in the log",
    )


def _form_problems(error: RequestValidationError) -> str:
    problems = []
    for problem in error.errors()[:5]:
        place = ".".join(map(str, problem["loc"]))
        problems.append(f"{place}: {problem['msg']}")
    return "; ".join(problems).encode(errors="replace").decode()


def _error(status: int, message: str, headers: Any = None) -> PaddedResponse:
    return PaddedResponse({"error": message}, status, headers)

"""The HTTP application of an audit: its routes.

Replies all have one form, and a denial is as long as an answer. `door` says when they leave. Uses
`door`, `bodies` and `middleware`; `run` uses it, and so can any ASGI server.
"""

from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException as StarletteError

from shoal import __version__
from shoal.audit import Audit
from shoal.audit.overview import overview, transcript_page
from shoal.audit.store import Key
from shoal.errors import ShoalError
from shoal.service.bodies import (
    Askable,
    ColumnState,
    Health,
    PaddedResponse,
    QueryReply,
    QueryRequest,
    SecretColumn,
    State,
    Transcript,
    TranscriptRequest,
    error_responses,
)
from shoal.service.door import Door
from shoal.service.limits import ServiceLimits
from shoal.service.log import Log, write
from shoal.service.middleware import Around, refused

__all__ = ["application"]

TEXTS = 1_000_000
"""Characters of queries in one page of the transcript; one list of people can have that many."""


async def _analyst(
    request: Request, bearer: Annotated[object, Depends(HTTPBearer(auto_error=False))]
) -> Key:
    """Whoever asks.

    `bearer` is only for the description: the middleware has already checked the key.
    """
    key: Key = request.state.admitted
    return key


async def _owner(key: Annotated[Key, Depends(_analyst)]) -> Key:
    if key.role != "owner":
        raise HTTPException(403, "only the owner may see this; use a key with the role owner")
    return key


Analyst = Annotated[Key, Depends(_analyst)]
Owner = Annotated[Key, Depends(_owner)]


def application(
    audit: Audit, limits: ServiceLimits | None = None, log: Log | None = None
) -> FastAPI:
    """The ASGI application of an audit.

    `log` takes one event per request, without data, queries or keys.
    """
    door = Door(audit, limits or ServiceLimits())
    app = FastAPI(
        title="Shoal audit",
        summary="Exact answers to queries about people, or denials: nobody's value is found out.",
        version=__version__,
        # these pages would fetch scripts from elsewhere
        docs_url=None,
        redoc_url=None,
        # a redirect would quote the Host that was sent
        redirect_slashes=False,
    )
    app.add_middleware(Around, door=door, log=log or write)
    for kind in (ShoalError, RequestValidationError, StarletteError):
        app.add_exception_handler(kind, refused)
    _add_routes(app, door)
    return app


def _add_routes(app: FastAPI, door: Door) -> None:
    audit = door.audit

    @app.post(
        "/query", response_model=QueryReply, responses=error_responses(400, 401, 408, 422, 429)
    )
    async def query(body: QueryRequest, key: Analyst, request: Request) -> PaddedResponse:
        """Ask a query.

        The reply is the answer, which is exact except for dithered sums, or a denial.
        """
        return PaddedResponse(await door.decide(body, key, request.receive))

    @app.get("/transcript", responses=error_responses(401, 422, 429))
    async def transcript(key: Analyst, page: Annotated[TranscriptRequest, Query()]) -> Transcript:
        """All queries and replies, whoever asked.

        Every analyst may see them, and the audit assumes that they do.
        """
        shown = await door.read(key, lambda: transcript_page(audit, page.after, page.limit, TEXTS))
        return Transcript.of(shown)

    @app.get("/columns", responses=error_responses(401, 429))
    async def columns(key: Analyst) -> Askable:
        """What can be asked about, and by which columns."""
        shown = await door.read(key, lambda: overview(audit))
        return Askable(
            people=audit.people,
            public={name: kind.value for name, kind in audit.public.items()},
            named=audit.named,
            secret=[SecretColumn.of(column.settings) for column in shown],
        )

    @app.get("/state", responses=error_responses(401, 403, 429))
    async def state(key: Owner) -> State:
        """The state of every secret column (owner only)."""
        shown, head = await door.read(key, lambda: (overview(audit), audit.head()))
        return State(columns=[ColumnState.of_overview(column) for column in shown], head=head)

    @app.get("/health", responses=error_responses())
    async def health() -> Health:
        """Whether the store can be read."""
        await door.keys()
        return Health(status="ok")

"""The application: its screens, its style sheets, and what is said when something goes wrong.

Uses `pages`, `access` and every screen; `running` serves it, and so can any ASGI server.
"""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from shoal import __version__
from shoal.errors import ShoalError
from shoal.service.asgi import Application, Message, Receive, Send
from shoal.service.log import Log, write
from shoal.workbench import assets, screens
from shoal.workbench.access import ENTER, LANGUAGE, OPEN, START, Access, Guard
from shoal.workbench.jobs import Jobs
from shoal.workbench.pages import Desk, not_let_in, own_address, refused, unknown
from shoal.workbench.projects import Home
from shoal.workbench.screens import entering, projects
from shoal.workbench.texts import LANGUAGES

__all__ = ["application"]

_YEAR = 365 * 24 * 3600

_NEW = ("/new", "/new/look", "/folders")
"""Paths of the first page in a folder without projects."""

router = APIRouter()


def application(home: Path, access: Access, log: Log | None = None) -> FastAPI:
    """The workbench of the projects in a folder.

    `log` takes one event per request, without data or what was sent.
    """
    app = FastAPI(
        title="Shoal workbench",
        version=__version__,
        # these pages would fetch scripts from elsewhere
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # a redirect would quote the Host that was sent
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.desk = Desk(Home(home.absolute()), access, Jobs())
    app.state.screens = Screens(app)
    app.add_middleware(Screens.Loading, screens=app.state.screens)
    app.add_middleware(Guard, access=access, log=log or write, page=not_let_in)
    app.add_exception_handler(ShoalError, refused)
    app.add_exception_handler(HTTPException, unknown)
    app.add_exception_handler(RequestValidationError, unknown)
    for first in (router, assets.router, entering.router, projects.router):
        app.include_router(first)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.desk.pen.close()


class Screens:
    """The screens of an application, which load once somebody opens one: the first page is quick.

    Whoever serves the application may load them before, in the background.
    """

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.lock = threading.Lock()
        self.loaded = False
        self.has_new = False

    def load(self) -> None:
        """Add the routes of all screens, unless that was done before."""
        self.load_new()
        with self.lock:
            if not self.loaded:
                for screen in screens.routers():
                    self.app.include_router(screen)
                self.loaded = True

    def load_new(self) -> None:
        """Add those of new projects alone: where there is no project yet, they come first."""
        with self.lock:
            if not self.has_new:
                self.app.include_router(screens.new_projects())
                self.has_new = True

    class Loading:
        """Around the application: requests for screens wait until these are there."""

        def __init__(self, app: Application, screens: "Screens") -> None:
            self.app = app
            self.screens = screens

        async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and not self.screens.loaded and not _is_first(scope["path"]):
                is_new = scope["path"] in _NEW
                load = self.screens.load_new if is_new else self.screens.load
                await to_thread.run_sync(load)
            await self.app(scope, receive, send)


def _is_first(path: str) -> bool:
    """Whether a path is there from the beginning."""
    return path in ("/", START, ENTER, LANGUAGE, "/leave", "/restore") or path.startswith(OPEN)


@router.post(LANGUAGE)
async def language(request: Request) -> Response:
    """Choose the language of pages."""
    form = await request.form()
    chosen = str(form.get("language", "en"))
    response = RedirectResponse(own_address(str(form.get("back", "/"))), 303)
    if chosen in LANGUAGES:
        response.set_cookie("shoal-language", chosen, max_age=_YEAR, samesite="strict")
    return response

"""What all pages share: style sheet, scripts and mark, which a browser fetches once.

Their addresses have their digest, so that what a browser keeps is never outdated. They are the
same for everyone and hold no data. Uses `look`; `app` serves them, templates name them.
"""

from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from shoal.look.pages import styles

__all__ = ["address", "look", "router"]

router = APIRouter()

_TYPES = {
    "look.css": "text/css",
    "htmx.min.js": "text/javascript",
    "workbench.js": "text/javascript",
    "mark.svg": "image/svg+xml",
}

_KEPT = {"Cache-Control": "max-age=31536000, immutable"}


@cache
def _content(name: str) -> bytes:
    folder = files("shoal.workbench").joinpath("static")
    if name == "look.css":
        return styles().encode() + folder.joinpath("workbench.css").read_bytes()
    return folder.joinpath(name).read_bytes()


@cache
def address(name: str) -> str:
    """Where pages find something that they share."""
    return f"/static/{name}?v={sha256(_content(name)).hexdigest()[:12]}"


def look() -> str:
    """The style sheet of pages, for those that cannot fetch it."""
    return _content("look.css").decode()


@router.get("/static/{name}")
async def shared(name: str, v: str = "") -> Response:
    """Something that pages share; browsers keep it if they ask for it as it is now."""
    if name not in _TYPES:
        return PlainTextResponse("There is no such file.", 404)
    is_named = address(name).endswith(f"?v={v}")
    return Response(_content(name), media_type=_TYPES[name], headers=_KEPT if is_named else None)

"""Charts for the owner: Altair where it is wanted, and files of them. Uses `disk` and `judgement`."""

import os
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from shoal.data.disk import replacing
from shoal.errors import ParameterError, ShoalError
from shoal.measure.judging import refuse_beside_a_release

__all__ = ["library", "require", "save"]

FORMS: dict[str, dict[str, Any]] = {"html": {"inline": True}, "png": {"scale_factor": 2}, "svg": {}}


def library() -> Any:
    """Altair; ShoalError if it is not there."""
    try:
        import altair
        import vl_convert  # noqa: F401  draws PNG, SVG and what HTML needs inside
    except ImportError:
        raise ShoalError(
            "charts need Altair; install it with: pip install 'shoal[plots]'"
        ) from None
    return altair


def require(path: str | os.PathLike[str]) -> str:
    """The form a chart is saved in, by the suffix of the file; an error if it cannot be saved there."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ParameterError(
            f"a chart is saved as .html, .png or .svg, and {Path(path).name!r} ends otherwise"
        )
    refuse_beside_a_release(path)
    library()
    return form


def save(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart as HTML that draws without a network, as PNG or as SVG, by the suffix; not beside a release."""
    form = require(path)
    drawn = BytesIO() if form == "png" else StringIO()
    chart.save(drawn, format=form, **FORMS[form])
    content = drawn.getvalue()
    with replacing(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode())

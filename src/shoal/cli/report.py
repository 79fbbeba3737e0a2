"""`shoal report`: a release for people to read, as one page of HTML or as PDF."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import complain, remark, working
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.report import Published, Reported

__all__ = ["report"]


@dataclass(frozen=True)
class Target:
    """Where a report goes, and in which form."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where the report goes.",
            show_default="report.html, or report-owner.html",
        ),
    ] = None
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also write it as PDF; only that if FILE ends in .pdf.")
    ] = False
    force: options.Force = False

    def files(self, default: str) -> list[Path]:
        """The files that are to be written."""
        out = self.out or Path(default)
        if out.suffix.lower() == ".pdf":
            return [out]
        return [out, out.with_suffix(".pdf")] if self.pdf else [out]

    def require(self, files: list[Path], read: Path | None) -> None:
        """An error where a file cannot be written: before the work is done, not after."""
        from shoal.report.printing import require_printer
        from shoal.report.writing import refuse_in_a_release

        for file in files:
            refuse_in_a_release(file)
            options.require_free(file, "out", self.force, read)
        if files[-1].suffix.lower() == ".pdf":
            require_printer()


@dataclass(frozen=True)
class OwnerOptions:
    """What only an owner's report takes."""

    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE",
            help="For the owner: the recipe that the release was made by.",
            show_default=False,
        ),
    ] = None
    classes: Annotated[
        list[str],
        typer.Option(
            "--class",
            "--classes",
            metavar="A,B,…",
            help="For the owner: columns for classifiers to predict.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    queries: Annotated[
        int, typer.Option(metavar="N", min=0, help="For the owner: how many count queries to ask.")
    ] = 0


@bundled
def report(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE_DIR",
            help="Where the release and its certificate are.",
            show_default=False,
        ),
    ],
    audience: Annotated[
        Literal["public", "owner"], typer.Option("--for", help="Who may read it.")
    ] = "public",
    form: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Fill in a form for committees, such as hipaa or gdpr.",
            show_default=False,
        ),
    ] = None,
    *,
    owner: OwnerOptions,
    target: Target,
    counting: options.Following,
) -> None:
    """Write a page that says what a release promises, and what not.

    The page opens without a network, prints well, and has no script. For the public it has what the
    released files show, and reads nothing else. For the owner it adds what is left of the data: it
    reveals information about the input, and cannot be written into the folder of a release.
    """
    from shoal.report.writing import write

    files = target.files(_default(audience, form))
    target.require(files, owner.recipe)
    subject = _subject(directory, audience, owner, counting)
    with working("writing the report"):
        write(_page(subject, form), files)
    for fault in subject.verification or ():
        complain(f"warning: {directory}: {fault}")
    ending = ", which is not for release" if audience == "owner" else ""
    remark(*(f"wrote {file}{ending}" for file in files))


def _default(audience: str, form: str | None) -> str:
    parts = ["report", *([form] if form else []), *(["owner"] if audience == "owner" else [])]
    return "-".join(parts) + ".html"


def _subject(
    directory: Path, audience: str, owner: OwnerOptions, counting: options.Following
) -> "Published | Reported":
    """What the report is about."""
    from shoal.report import Published, Reported

    if audience == "public":
        given: dict[str, object] = {
            "recipe": owner.recipe,
            "class": owner.classes,
            "queries": owner.queries,
            "engine": counting.engine,
            "master": counting.master,
            "source": counting.source,
        }
        for name, value in given.items():
            if value:
                raise ParameterError(
                    "is for the owner’s report only", "add --for owner", option=f"--{name}"
                )
        return Published.read(directory)
    if owner.recipe is None:
        raise ParameterError("an owner’s report needs the input", "name its recipe with --recipe")
    chosen = counting.load(owner.recipe)
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        classes = tuple(options.names(owner.classes))
        return Reported.read(directory, chosen, classes=classes, queries=owner.queries)


def _page(subject: "Published | Reported", form: str | None) -> str:
    from shoal.report import Reported, owner, public
    from shoal.report.committees import filled, framework, html

    if form is not None:
        return html(filled(framework(form), subject))
    return owner(subject) if isinstance(subject, Reported) else public(subject)

"""`shoal metadata`: a release described for catalogues and readers, by a standard."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import remark

if TYPE_CHECKING:
    from shoal.releases.metadata import About

__all__ = ["metadata"]

WORDS = "Words of your own"


def _words(metavar: str, help: str) -> Any:
    return typer.Option(metavar=metavar, help=help, show_default=False, rich_help_panel=WORDS)


@dataclass(frozen=True)
class OwnWords:
    """What the owner says of a release: a bundle of options."""

    about: Annotated[
        Path | None,
        _words("FILE", "A TOML file with these and further descriptions, also of columns."),
    ] = None
    title: Annotated[str | None, _words("TEXT", "What the release is called.")] = None
    description: Annotated[str | None, _words("TEXT", "What it is about.")] = None
    publisher: Annotated[str | None, _words("NAME", "Who publishes it.")] = None
    contact: Annotated[str | None, _words("ADDRESS", "An e-mail address, or a page.")] = None
    licence: Annotated[str | None, _words("NAME", "A licence, such as CC-BY-4.0.")] = None
    homepage: Annotated[str | None, _words("URL", "Where the release can be found.")] = None

    def all(self) -> "About":
        """The words of the file, and those that are typed in place of them."""
        from shoal.releases.metadata import About

        typed = {name: value for name, value in vars(self).items() if value is not None}
        typed.pop("about", None)
        return replace(About.read(self.about) if self.about else About(), **typed)


@bundled
def metadata(
    release: Annotated[
        Path, typer.Argument(metavar="DIR", help="The directory of a release.", show_default=False)
    ],
    form: Annotated[
        Literal["datapackage", "csvw", "healthdcat"],
        typer.Option("--as", help="The standard to describe it by."),
    ] = "datapackage",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where it goes; beside the table by default, under the name of the standard.",
            show_default=False,
        ),
    ] = None,
    force: options.Force = False,
    *,
    words: OwnWords,
) -> None:
    """Describe a release: as a Frictionless Data Package, as CSVW, or by HealthDCAT-AP.

    The description is made from the released files and from your own words. It tells nothing about
    the input that these do not tell.
    """
    from shoal.data.disk import replacing
    from shoal.releases.metadata import metadata as described
    from shoal.releases.metadata import name_of

    target = out or release / name_of(form)
    read = [words.about, release / "certificate.json"]
    options.require_free(target, "out", force, *read)
    text = described(release, form, words.all())
    with replacing(target) as file:
        file.write(text.encode())
    remark(f"wrote {target}")

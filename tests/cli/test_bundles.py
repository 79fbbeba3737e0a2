"""Options that a command takes as one dataclass are options like any other."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from shoal.cli.bundles import bundled


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Argument(metavar="W")]
    height: Annotated[int | None, typer.Option("--tall", min=1)] = None
    marks: list[str] = field(default_factory=list)


def command() -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @bundled
    def draw(
        size: Size, to: Path | None = None, bold: Annotated[bool, typer.Option()] = False
    ) -> None:
        """Draw a box."""
        print(size, to, bold)

    return app


def test_a_command_gets_the_dataclass_and_its_other_options() -> None:
    done = CliRunner().invoke(
        command(), ["3", "--tall", "4", "--marks", "a", "--marks", "b", "--to", "x", "--bold"]
    )
    assert done.stdout == "Size(width=3, height=4, marks=['a', 'b']) x True\n"


def test_fields_keep_their_defaults() -> None:
    stdout = CliRunner().invoke(command(), ["3"]).stdout
    assert stdout == "Size(width=3, height=None, marks=[]) None False\n"


def test_what_does_not_fit_a_field_is_refused() -> None:
    assert CliRunner().invoke(command(), ["3", "--tall", "0"]).exit_code == 2
    assert CliRunner().invoke(command(), []).exit_code == 2


def test_the_help_has_the_text_of_the_command_and_all_options() -> None:
    shown = CliRunner().invoke(command(), ["--help"]).stdout
    for text in ("Draw a box.", "W", "--tall", "--marks", "--to", "--bold"):
        assert text in shown
    assert "--size" not in shown

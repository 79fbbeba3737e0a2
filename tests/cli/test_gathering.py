"""Options that belong together are one parameter of a command, and are typed one by one."""

from dataclasses import dataclass, field
from typing import Annotated

import typer
from typer.testing import CliRunner

from shoal.cli.gathering import gathered


@dataclass(frozen=True)
class Size:
    """Options that belong together."""

    width: Annotated[int, typer.Option(help="From left to right.")]
    height: int = 2
    marks: list[str] = field(default_factory=list)


def test_each_field_of_a_dataclass_is_an_option() -> None:
    seen: list[object] = []
    app = typer.Typer()

    @app.command()
    @gathered
    def draw(name: str, size: Size, bold: bool = False) -> None:
        """Draw something."""
        seen.extend((name, size, bold))

    run = CliRunner().invoke
    assert run(app, ["box", "--width", "5", "--marks", "a", "--marks", "b"]).exit_code == 0
    assert seen == ["box", Size(5, 2, ["a", "b"]), False]
    assert run(app, ["box"]).exit_code == 2  # the width is required
    shown = run(app, ["--help"]).stdout
    assert "Draw something." in shown
    assert "From left to right." in shown
    assert "--size" not in shown

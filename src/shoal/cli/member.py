"""`shoal member`: who may use the workbench of a team, and as what."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import listing, print_json, remark, show

if TYPE_CHECKING:
    from shoal.workbench.members import Members

__all__ = ["app"]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Keys for the members of a team who share a workbench.",
)

Home = Annotated[
    Path, typer.Option("--home", metavar="FOLDER", help="The folder with the projects.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The member.", show_default=False)]


@app.command("add", cls=options.Command)
def add(
    name: Name,
    role: Annotated[
        Literal["owner", "reviewer", "analyst"],
        typer.Option(help="An owner decides, a reviewer approves releases, an analyst asks."),
    ] = "analyst",
    home: Home = Path(),
) -> None:
    """Make a key for somebody who may use the workbench.

    It is printed once, and cannot be shown again.
    """
    print(_members(home).add(name, role))
    remark(f"this is the key of {name} ({role}); it cannot be shown again")


@app.command("list", cls=options.Command)
def list_(home: Home = Path(), json: options.Json = False) -> None:
    """Show who has a key."""
    members = _members(home).all()
    if json:
        print_json({"members": [vars(member) for member in members]})
    elif members:
        show(listing(("name", "role"), *((member.name, member.role) for member in members)))
    else:
        remark("nobody has a key yet; shoal member add makes one")


@app.command("remove", cls=options.Command)
def remove(name: Name, home: Home = Path()) -> None:
    """Revoke somebody's key."""
    _members(home).remove(name)
    remark(f"the key of {name} is refused from now on")


def _members(home: Path) -> "Members":
    from shoal.workbench.members import Members

    return Members(home)

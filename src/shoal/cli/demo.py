"""`shoal demo`: the main job on made-up data, and what to do next."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.release import refuse_earlier
from shoal.cli.terminal import figures, percent, printable, rows_of, show, title, working
from shoal.errors import FileError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.data.hierarchy import Hierarchy
    from shoal.releases.release import Release

__all__ = ["demo", "pages"]

OUT, DATA = Path("shoal-demo", "release"), Path("shoal-demo", "hospital")

# How many groups are shown.
LARGEST_GROUPS = 5

MOST_COLUMNS = 6
"""Columns of groups that are shown one below the other within 80 characters."""

SIDE_BY_SIDE = 3
"""How many groups are shown beside each other."""


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Where the release goes.", show_default=str(OUT)
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the hospital goes; with --out alone nowhere.",
            show_default=str(DATA),
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier release in DIR.")
    ] = False,
) -> None:
    """Do the main job on a made-up hospital.

    Writes release.csv and certificate.json: a table with differential privacy, and what is
    promised about it.
    """
    from shoal import demo as hospital
    from shoal.recipe import Recipe
    from shoal.releases.release import require_place

    if out is None:
        out, data = OUT, data or DATA
    refuse_earlier(require_place(out), force)
    if data is not None:
        _require_apart(data, out, force)
    with TemporaryDirectory() if data is None else nullcontext(data) as folder:
        with working("making up a hospital"):
            recipe = Recipe.load(hospital.write(folder, hospital.ENOUGH))
            table = recipe.table()
        with working("releasing") as report:
            made = recipe.release(table, out, progress=report)
        trees = recipe.hierarchies
    show(*pages(made, trees))
    _files(out, data, made)


def _require_apart(data: Path, out: Path, force: bool) -> None:
    """FileError where the hospital would be published along with its release.

    Also where it would replace a recipe that somebody changed.
    """
    if Path(os.path.realpath(data)).is_relative_to(os.path.realpath(out)):
        raise FileError(
            f"--data {data} is in {out} and would be published along with it",
            "give it another directory",
        )
    # Without a recipe beside it, a table is not one of an earlier demo.
    earlier = os.path.lexists(data / "hospital.toml")
    for name in ("hospital.toml", "hospital.csv", "hierarchies"):
        if os.path.lexists(data / name) and not (force and earlier):
            force_too = ", or --force" if earlier else ""
            raise FileError(
                f"{data / name} exists already", f"give --data another directory{force_too}"
            )


def pages(made: "Release", trees: "Mapping[str, Hierarchy]") -> "Iterator[RenderableType]":
    """What was done, for people."""
    from shoal.studies.released import released_form, repeated

    paper = made.certificate
    yield (
        "A made-up hospital, released so that the promise also holds against someone who knows "
        "the program."
    )
    yield title("Promised")
    yield figures(
        ("in words", _in_words(paper.promise)),
        ("in short", paper.statement.partition(":")[0]),
        *_parameters(paper.derived),
    )
    rows = repeated(made.table) if released_form(paper).counted else made.table
    if paper.refined is None:
        yield title("How coarse each column is, chosen by a search that epsilon pays for")
        levels = [_level(name, level, trees[name]) for name, level in paper.levels.items()]
        yield rows_of(["column", "level", "values"], *levels)
        shown = [name for name, level in paper.levels.items() if level < trees[name].height]
    else:
        yield title("How coarse each column is: finer where more stays are alike")
        yield "Values of several levels stand side by side; epsilon pays for the choice."
        # A missing value is the empty text.
        columns = {
            name: [text or "" for text in rows[name].to_list()]
            for name in rows.columns
            if name in trees
        }
        levels = [_levels(name, texts, trees[name]) for name, texts in columns.items()]
        yield rows_of(["column", "levels", "values"], *levels)
        shown = [name for name, texts in columns.items() if {*texts} - {*trees[name].labels[-1]}]
    if len(rows):
        groups = Counter(rows.select(shown).iter_rows()).most_common(LARGEST_GROUPS)
        yield title("The largest groups of the release")
        yield _groups(shown, groups)
    yield title("Owner only: this reveals information about the input")
    beta = paper.derived.get("beta")
    drawn = "" if beta is None else f"; about {percent(float(Fraction(beta)))} are drawn"
    yield f"{next(made.facts.figures())}{drawn}"


def _groups(columns: "Sequence[str]", groups: "Sequence[tuple[Any, int]]") -> "RenderableType":
    """Groups one below the other, or side by side where they have many columns."""
    rows = [[f"{size:,}", *map(str, values)] for values, size in groups]
    if len(columns) <= MOST_COLUMNS:
        return rows_of(["records", *columns], *rows)
    head, *lines = zip(*rows[:SIDE_BY_SIDE], strict=True)
    named = [[name, *line] for name, line in zip(columns, lines, strict=True)]
    return rows_of(["records", *head], *named)


def _parameters(derived: "Mapping[str, Any]") -> Iterator[tuple[str, str]]:
    """What decides which stays are released: a sample and its k, or the noise of counts."""
    if derived.get("beta") is not None:
        beta = float(Fraction(derived["beta"]))
        yield "beta", f"{beta:.3g}: the chance that a stay is drawn; all others are left out"
        yield (
            "k",
            f"{derived['k']}: a drawn stay is released only with at least that many that look "
            "the same",
        )
    if derived.get("bound") is not None:
        yield "noise", f"{derived['bound']}: the most by which a released count can be off"
    if derived.get("threshold") is not None:
        yield (
            "threshold",
            f"{derived['threshold']}: stays that look the same are released only if their noisy "
            "count is at least that",
        )


def _in_words(promise: "Mapping[str, Any]") -> str:
    from shoal.privacy import Epsilon

    odds = f"{float(Epsilon.of(promise['epsilon']).exponential()[1]):.3g}"
    return (
        "Whatever somebody knows, anything they conclude from the release is at most "
        f"{odds} times as likely with any one stay in the table as without it, and at least "
        f"1/{odds} times. The chance of a release that breaks this is at most {promise['delta']}."
    )


def _level(name: str, level: int, tree: "Hierarchy") -> list[str]:
    """A column of the release: how coarse it is, and an example."""
    labels = tree.labels[level]
    values = f"{len(labels):,}, such as {labels[0]}" if level < tree.height else "nothing left: *"
    return [name, f"{level} of {tree.height}", values]


def _levels(name: str, texts: "Sequence[str]", tree: "Hierarchy") -> list[str]:
    """A column with values of several levels: which ones, and examples of the two ends."""
    from shoal.studies.own_levels import places

    place_of = places(tree.with_missing(), tree.kind)
    example: dict[int, str] = {}
    often = Counter(texts)
    for text, _ in often.most_common():
        example.setdefault(place_of[text][0], text or "missing")
    if example.keys() <= {tree.height}:
        return [name, f"{tree.height} of {tree.height}", "nothing left: *"]
    ends = sorted({min(example), max(example)})
    levels = " to ".join(map(str, ends))
    values = " to ".join(example[level] for level in ends)
    such_as = "such as" if len(ends) == 1 else "from"
    return [name, f"{levels} of {tree.height}", f"{len(often):,}, {such_as} {values}"]


def _files(out: Path, data: Path | None, made: "Release") -> None:
    """Where everything is, and what to do with it; unwrapped, so that it can be copied."""
    promise = made.certificate.promise
    table, paper = out / "release.csv", out / "certificate.json"
    recipe = None if data is None else data / "hospital.toml"
    show(title("Files"))
    files = {table: "the table", paper: "what is promised about it, and what not"}
    if data is not None:
        files[data] = "private: the hospital, its hierarchies and the recipe"
    for path, what in files.items():
        print(printable(f"{path}  {what}"))
    show(title("Next"))
    parameters = ["--epsilon", promise["epsilon"], "--delta", promise["delta"]]
    drafting = ["recipe", "new", "FILE.csv", "--out", "recipe.toml"]
    steps = {
        "check the table against its certificate": ["verify", paper, table],
        "read what the promise means for one person": ["explain", *parameters],
        "see how good the release is (private)": ["judge", recipe, "--release", out],
        "draft a recipe for a table of your own": drafting,
    }
    for step, words in steps.items():
        if None not in words:
            print(printable(f"{step}\n  shoal {shlex.join(map(str, words))}"))

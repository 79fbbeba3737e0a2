"""`shoal demo`: the main job on made-up data, and what to do next."""

import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.release import refuse_earlier
from shoal.cli.terminal import figures, percent, rows_of, say, show, title, working
from shoal.errors import FileError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.data.hierarchy import Hierarchy
    from shoal.releases.release import Release

__all__ = ["demo"]

OUT, DATA = Path("shoal-demo", "release"), Path("shoal-demo", "hospital")


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
            help="Where the hospital goes; nowhere if only --out is given.",
            show_default=str(DATA),
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier release in DIR.")
    ] = False,
) -> None:
    """Release a made-up hospital: a first try.

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
    show(*_pages(made, trees))
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


def _pages(made: "Release", trees: "Mapping[str, Hierarchy]") -> "Iterator[RenderableType]":
    """What was done, for people."""
    paper, facts = made.certificate, made.facts
    yield (
        f"A made-up hospital with {facts.records:,} stays, released so that the promise also holds "
        "against someone who knows the program."
    )
    yield title("Promised")
    yield figures(
        ("in words", _in_words(paper.promise)),
        ("in short", paper.statement.partition(":")[0]),
    )
    yield title("How much is left (owner only: this reveals information about the input)")
    yield figures(
        ("stays", next(facts.figures())),
        (
            "information",
            f"{percent(1 - (facts.loss or 0))}, where the input itself has 100 %, and nothing but "
            "* would be 0 %",
        ),
    )
    # A missing value is the empty text.
    texts = {name: [text or "" for text in made.table[name].to_list()] for name in trees}
    details = {name: _details({*texts[name]}, tree) for name, tree in trees.items()}
    if len(made.table):
        yield title("How fine each column is: finer where more stays are alike")
        columns = [_column(name, texts[name], details[name]) for name in trees]
        yield rows_of(["column", "detail", "values"], *columns)
        yield title("Three rows of the release")
        yield _rows(texts, details)
        yield (
            "The values of a row are true of all its stays. Its number of stays is off by "
            f"{_error(paper.derived):.1f} on average, and by {paper.derived['bound']} at most."
        )


def _in_words(promise: "Mapping[str, Any]") -> str:
    from shoal.privacy import Epsilon

    odds = f"{float(Epsilon.of(promise['epsilon']).exponential()[1]):.3g}"
    return (
        "Whatever somebody knows, anything they conclude from the release is at most "
        f"{odds} times as likely with any one stay in the table as without it, and the other "
        f"way round, plus a probability of {promise['delta']}."
    )


def _details(texts: "Collection[str]", tree: "Hierarchy") -> dict[str, float]:
    """How much of a column's detail each text keeps: 1 for a value as it was, 0 for any value."""
    from shoal.studies.own_levels import places

    whole = tree.with_missing()
    place_of = places(whole, tree.kind)
    most = max(whole.leaves - 1, 1)
    details = {}
    for text in texts:
        level, code = place_of[text]
        details[text] = 1 - (int(whole.cover(level)[code]) - 1) / most
    return details


def _column(name: str, texts: "Sequence[str]", details: "Mapping[str, float]") -> list[str]:
    """A column of the release: its detail, and its finest and coarsest values."""
    often = Counter(texts)
    mean = sum(details[text] for text in texts) / len(texts)
    finest = max(often, key=lambda text: (details[text], often[text]))
    coarsest = min(often, key=lambda text: (details[text], -often[text]))
    values = f"from {finest or 'missing'} to {coarsest or 'missing'}"
    if details[finest] == details[coarsest]:
        values = f"such as {finest or 'missing'}"
    return [name, f"{100 * mean:.0f} %", f"{len(often):,}, {values}"]


def _rows(
    texts: "Mapping[str, Sequence[str]]", details: "Mapping[str, Mapping[str, float]]"
) -> "RenderableType":
    """The finest row, the one that a stay in the middle is in, and the coarsest."""
    often = Counter(zip(*texts.values(), strict=True))

    def detail(row: tuple[str, ...]) -> float:
        return sum(details[name][text] for name, text in zip(texts, row, strict=True))

    ordered = sorted(often, key=lambda row: (-detail(row), row))
    stays = [row for row in ordered for _ in range(often[row])]
    picked = [ordered[0], stays[len(stays) // 2], ordered[-1]]
    lines = [
        [name, *(text or "missing" for text in values)]
        for name, *values in zip(texts, *picked, strict=True)
    ]
    sizes = [f"{often[row]:,}" for row in picked]
    return rows_of(
        ["", "the finest", "one in the middle", "the coarsest"], *lines, ["stays", *sizes]
    )


def _error(derived: "Mapping[str, Any]") -> float:
    """By how much a count of the release is off on average."""
    from shoal.measure.explaining import explain_counts

    return explain_counts(derived["epsilon_counts"], derived["delta"], derived["k"]).error


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
        say(f"{path}  {what}")
    show(title("Next"))
    parameters = ["--epsilon", promise["epsilon"], "--delta", promise["delta"]]
    drafting = ["recipe", "new", "FILE.csv", "--out", "recipe.toml"]
    steps = {
        "check the table against its certificate": ["verify", paper, table],
        "read what the promise means for one person": ["explain", *parameters, "--counts", 1],
        "write a page about it for anyone": ["report", out, "--for", "public"],
        "see how good the release is (private)": ["judge", recipe, "--release", out],
        "open the hospital in the browser, and go on by clicking": ["workbench", data],
        "draft a recipe for a table of your own": drafting,
    }
    for step, words in steps.items():
        if None not in words:
            say(f"{step}\n  shoal {shlex.join(map(str, words))}")

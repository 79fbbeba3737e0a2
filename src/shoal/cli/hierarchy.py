"""`shoal hierarchy`: list, show, make and check hierarchies.

They are CSV files that say what a value becomes at every level.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    complain,
    figures,
    give,
    percent,
    print_json,
    printable,
    remark,
    show,
    working,
)
from shoal.data.kinds import KindName
from shoal.errors import ParameterError, plural, spelled

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.tree import Tree

    from shoal.data.coverage import Uncovered
    from shoal.data.hierarchy import Hierarchy, Lines, Problems
    from shoal.data.hierarchy.outline import Branch, LevelFigures
    from shoal.data.hierarchy.ready_made import ReadyMade
    from shoal.data.kinds import Key, Kind

__all__ = ["app"]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Show, make and check hierarchies: how values generalise.",
)
making = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Make a hierarchy from a declared domain, as CSV with one line per value.",
)
app.add_typer(making, name="make")

Side = Literal["left", "right"]
# Characters of a label that are shown.
LONGEST = 24
VALUES = "`values` or `values_from`"

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A hierarchy: CSV without header, one line per value; or saved by ARX (.ahs).",
        show_default=False,
    ),
]
FileOrName = Annotated[
    str,
    typer.Argument(
        metavar="FILE|NAME",
        help="A hierarchy: CSV without header, one line per value; saved by ARX (.ahs); or the "
        "name of a ready-made one.",
        show_default=False,
    ),
]
ReadyForm = Annotated[
    str | None,
    typer.Option(
        "--form",
        metavar="FORM",
        help="How the values of a ready-made one are written.",
        show_default=False,
    ),
]
Type = Annotated[KindName, typer.Option("--type", help="The type of the values.")]
Replace = Annotated[
    str | None,
    typer.Option(
        "--root",
        metavar="TEXT",
        help="Replaces the last level.",
        rich_help_panel=options.READING,
    ),
]
Add = Annotated[
    str | None,
    typer.Option(
        "--add-root",
        metavar="TEXT",
        help="Adds a level above the last one.",
        rich_help_panel=options.READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="The character between cells; detected by default.",
        rich_help_panel=options.READING,
    ),
]

WRITING = "What is written"
OBSERVED = "Instead of a declared domain (the result is marked as derived)"


@dataclass(frozen=True)
class Writing:
    """Where a hierarchy goes, and what its root is called."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where the hierarchy goes; printed by default.",
            rich_help_panel=WRITING,
            show_default=False,
        ),
    ] = None
    separator: Annotated[
        str,
        typer.Option(
            "--separator", metavar="CHAR", help="One of ; , | or tab.", rich_help_panel=WRITING
        ),
    ] = ";"
    root: Annotated[
        str,
        typer.Option(
            "--root",
            metavar="TEXT",
            help="The label of the last level.",
            rich_help_panel=WRITING,
        ),
    ] = "*"
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.", rich_help_panel=WRITING)
    ] = False

    def require(self) -> None:
        """FileError if there is a file that may not be replaced."""
        options.require_free(self.out, "out", self.force)

    def put(self, tree: "Hierarchy") -> None:
        """Write a hierarchy, or print it; its size goes to stderr."""
        from shoal.data.hierarchy.lines import text, write

        separator = options.character(self.separator) or ";"
        where = ""
        if self.out is None:
            give(text(tree, separator))
        else:
            write(tree, self.out, separator=separator)
            levels = ", ".join(f"{tree.cardinality(level):,}" for level in range(tree.height + 1))
            remark(f"wrote {self.out}: {plural(tree.height + 1, 'level')}, with {levels} values")
            where = f" ({self.out}.derived says so)"
        if tree.derived:
            complain(
                "warning: derived from the rows, so its shape reveals information about them"
                f"{where}; declare the domain for a public one"
            )


@dataclass(frozen=True)
class Observed:
    """A column of a table whose values are the domain."""

    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="Take the domain from this table …",
            rich_help_panel=OBSERVED,
        ),
    ] = None
    column: Annotated[
        str | None,
        typer.Option(
            "--column", metavar="NAME", help="… and this column of it.", rich_help_panel=OBSERVED
        ),
    ] = None
    query: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE|SQL",
            help="For a database: the name of a table or view, or a query.",
            rich_help_panel=OBSERVED,
            show_default=False,
        ),
    ] = None


# The empty lists below are what typer asks for as defaults; nobody changes them (B006).
Values = Annotated[
    list[str],
    typer.Option("--values", metavar="A,B,…", help="The values of the domain.", show_default=False),
]
ValuesFrom = Annotated[
    Path | None,
    typer.Option(
        "--values-from",
        metavar="FILE",
        help="The values of the domain, one per line, UTF-8.",
        show_default=False,
    ),
]


def _number(name: str, text: str) -> Any:
    return typer.Option(name, metavar="NUMBER", help=text, show_default=False)


@app.command("show", cls=options.Command)
def show_hierarchy(  # noqa: PLR0913  its options
    file: FileOrName,
    form: ReadyForm = None,
    tree: Annotated[bool, typer.Option("--tree", help="Also draw the tree.")] = False,
    branches: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="Branches drawn below one value.")
    ] = 5,
    kind: Type = "text",
    json: options.Json = False,
    root: Replace = None,
    add_root: Add = None,
    separator: Separator = None,
    encoding: options.Encoding = None,
) -> None:
    """What are the levels of this hierarchy?

    For every level: how many values it has, how many leaves one of them covers, and the largest
    share of the domain.
    """
    from shoal.arx.builders import from_file
    from shoal.data.hierarchy import READY, level_figures, outline, ready

    made = READY.get(file) if not Path(file).exists() else None
    if made is not None:
        hierarchy = ready(file, form=form, root=root or "*")
    elif form is not None:
        raise ParameterError("is for ready-made hierarchies", "leave it out", option="form")
    else:
        hierarchy = from_file(
            file,
            kind=kind,
            separator=options.character(separator),
            encoding=encoding,
            root=root,
            add_root=add_root,
        )
    levels = level_figures(hierarchy)
    if json:
        shown: dict[str, Any] = {
            "file": file,
            "type": hierarchy.kind.value,
            "leaves": hierarchy.leaves,
        }
        shown |= {"derived": hierarchy.derived, "levels": [asdict(level) for level in levels]}
        print_json(shown | ({} if made is None else _ready_facts(made)))
        return
    size = f"{plural(hierarchy.leaves, 'value')}, {plural(hierarchy.height + 1, 'level')}"
    derived = ""
    if hierarchy.derived:
        derived = "; derived from rows: its shape reveals information about them"
    show(f"{Path(file).name}: {size}{derived}\n", _levels(levels))
    if tree:
        show("", _drawn(outline(hierarchy, branches)))
    if made is not None:
        forms = ", ".join(f"{name} ({one.example})" for name, one in made.forms.items())
        # A coarser form begins at a coarser level.
        names = ", ".join(made.levels[-hierarchy.height :])
        facts = [("levels", names), ("forms", forms)]
        show("", figures(*facts, ("source", made.source), ("licence", made.licence)))


def _ready_facts(made: "ReadyMade") -> dict[str, Any]:
    """What a ready-made hierarchy is, for JSON."""
    return {
        "name": made.name,
        "about": made.about,
        "level_names": list(made.levels),
        "forms": {name: one.example for name, one in made.forms.items()},
        "source": made.source,
        "licence": made.licence,
    }


@app.command("list", cls=options.Command)
def list_ready(json: options.Json = False) -> None:
    """Which hierarchies are ready-made?

    A recipe takes one by build = "ready" and its name; `shoal hierarchy show NAME` shows it.
    """
    from shoal.data.hierarchy import READY

    if json:
        print_json([_ready_facts(made) for made in READY.values()])
        return
    show(figures(*((made.name, made.about) for made in READY.values())))


def _levels(levels: "Sequence[LevelFigures]") -> "RenderableType":
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = []
    for level in levels:
        low, high = level.covers
        covers = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        rows.append([str(level.level), f"{level.values:,}", covers, percent(level.share)])
    head = ("level", "values", "covers", "share")
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name, width in zip(head, widths, strict=True):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    table.add_column("examples", no_wrap=True, overflow="ellipsis")
    room = Console().width - sum(widths) - 2 * len(widths)
    for row, level in zip(rows, levels, strict=True):
        table.add_row(*row, Text(_fitting(level.examples, level.values, room)))
    return table


def _fitting(examples: Sequence[str], values: int, room: int) -> str:
    """As many examples as fit, the last value among them; an ellipsis says that there are more."""
    *first, last = map(_short, examples)
    for shown in range(len(first), 0, -1):
        gap = " … " if values > shown + 1 else ", "
        text = gap.join([", ".join(first[:shown]), last])
        if len(text) <= room:
            return text
    text = f"{first[0]} …" if first else last
    return text if len(text) <= room else f"{text[: max(room - 1, 1)]}…"


def _short(label: str) -> str:
    """A label for a terminal: on one line, without control characters, not too long."""
    safe = "".join(character if character.isprintable() else " " for character in label)
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 1]}…"


def _drawn(root: "Branch") -> "Tree":
    from rich.text import Text
    from rich.tree import Tree

    def grow(drawn: Tree, branch: "Branch") -> Tree:
        for below in branch.below:
            grow(drawn.add(Text(_short(below.label))), below)
        if branch.more:
            drawn.add(Text(f"… {branch.more:,} more"))
        return drawn

    return grow(Tree(Text(_short(root.label))), root)


@dataclass(frozen=True)
class ToCover(options.Counting):
    """A column of a table whose values a hierarchy should have."""

    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="Check that it has every value of this table …",
            show_default=False,
        ),
    ] = None
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="… in this column.", show_default=False),
    ] = None
    query: options.Query = None

    def require(self) -> None:
        """ParameterError where the options do not fit each other."""
        if (self.table is None) != (self.column is None):
            raise ParameterError("`table` and `column` go together", "give both")
        if self.table is None and (self.query or self.engine):
            raise ParameterError("`query` and `engine` are about `table`", "give one")

    def uncovered(self, tree: "Hierarchy", kind: str | None) -> "Uncovered | None":
        """The values that a hierarchy does not have; None if there is no table."""
        import shoal
        from shoal.data.coverage import uncovered_values

        if self.table is None or self.column is None:
            return None
        types = {self.column: kind} if kind else None
        with working(f"reading {options.shown(self.table)}"):
            table = shoal.read(
                self.table,
                hierarchies={self.column: tree},
                types=types,
                engine=self.engine,
                master=self.master,
                query=self.query,
            )
            return uncovered_values(table, self.column)


@app.command("check", cls=options.Command)
@bundled
def check_hierarchy(  # noqa: PLR0913  its options
    file: File,
    values: Annotated[
        bool, typer.Option("--values", help="List the values that it lacks. They are private.")
    ] = False,
    kind: Annotated[
        KindName | None,
        typer.Option(
            "--type", help="The type of the values; by default, the table's.", show_default=False
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as problems.")] = False,
    json: options.Json = False,
    root: Replace = None,
    add_root: Add = None,
    separator: Separator = None,
    encoding: options.Encoding = None,
    *,
    to_cover: ToCover,
) -> None:
    """Is this hierarchy sound, and does it cover a table?

    All problems are named at once. Exit code 0: none. 1: problems. 2: a file cannot be read.
    """
    from shoal.data.kinds import Kind

    to_cover.require()
    own_kind = Kind(kind or "text")
    lines = _lines(file, options.character(separator), encoding).rooted(root, add_root)
    problems = lines.problems(own_kind)
    hierarchy = None if problems.fatal else lines.hierarchy(own_kind)
    missing = None if hierarchy is None else to_cover.uncovered(hierarchy, kind)
    if missing is not None and missing.values:
        problems.error("missing values", _missing_values(missing, to_cover.column, values))
    sound = not problems.fatal and not (strict and problems.minor)
    if json:
        print_json(_report(file, lines, problems, sound, missing, values))
    else:
        _print_problems(problems)
        for value in missing.values if missing is not None and values else ():
            print(f"missing: {value!r}")
        if sound and hierarchy is not None:
            size = plural(hierarchy.leaves, "value"), plural(hierarchy.height + 1, "level")
            print(f"sound: {', '.join(size)}")
    if not sound:
        raise typer.Exit(1)


def _lines(file: Path, separator: str | None, encoding: str | None) -> "Lines":
    """The lines of a hierarchy, right or wrong; those of one that ARX saved are made first."""
    from shoal.arx.builders import from_file, is_saved
    from shoal.data.hierarchy import Lines, read_lines

    if not is_saved(file):
        return read_lines(file, separator=separator, encoding=encoding)
    cells = from_file(str(file), separator=separator, encoding=encoding).lines()
    numbers = list(range(1, len(cells) + 1))
    return Lines(cells, numbers, separator=";", encoding="utf-8", guessed=False, derived=False)


def _missing_values(missing: "Uncovered", column: str | None, listed: bool) -> str:
    number = len(missing.values)
    verb, pronoun = ("is", "it") if number == 1 else ("are", "them")
    hint = "" if listed else " (--values lists them)"
    return (
        f"{plural(number, 'value')} of column {column!r} {verb} not in the hierarchy, in "
        f"{plural(missing.rows, 'row')}; add {pronoun}{hint}, or clean the table"
    )


def _typed_problems(problems: "Problems") -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Errors and warnings, with parameters of the library as they are typed here."""
    typed = options.as_options({"root": "--root", "add_root": "--add-root"})
    errors, warnings = (
        [{"name": one.name, "message": spelled(one.message, typed)} for one in findings]
        for findings in (problems.fatal, problems.minor)
    )
    return errors, warnings


def _report(
    file: Path,
    lines: "Lines",
    problems: "Problems",
    sound: bool,
    missing: "Uncovered | None",
    listed: bool,
) -> dict[str, Any]:
    """What `check` prints as JSON."""
    report: dict[str, Any] = {
        "file": str(file),
        "lines": len(lines.cells),
        "separator": lines.separator,
    }
    if missing is not None:
        report |= {"missing": len(missing.values), "missing_rows": missing.rows}
        if listed:
            report["missing_values"] = missing.values
    errors, warnings = _typed_problems(problems)
    report |= {"sound": sound, "derived": lines.derived}
    return report | {"problems": errors, "warnings": warnings}


def _print_problems(problems: "Problems") -> None:
    errors, warnings = _typed_problems(problems)
    for word, findings in (("problem", errors), ("warning", warnings)):
        for finding in findings:
            print(printable(f"{word}: {finding['message']}"))


@making.command("intervals", cls=options.Command)
@bundled
def make_intervals(  # noqa: PLR0913  its options
    low: Annotated[str | None, _number("--low", "The smallest value.")] = None,
    high: Annotated[str | None, _number("--high", "The largest value.")] = None,
    widths: Annotated[
        list[str],
        typer.Option(
            "--widths",
            metavar="W,…",
            help="The widths of the intervals, one per level.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    cuts: Annotated[
        list[str],
        typer.Option(
            "--cuts",
            metavar="A,B,…",
            help="Where intervals begin; repeat for every level.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    bottom: Annotated[
        str | None, _number("--bottom", "Merge everything below this into one value.")
    ] = None,
    top: Annotated[
        str | None, _number("--top", "Merge this and everything above into one value.")
    ] = None,
    closed: Annotated[Side, typer.Option(help="Which end belongs to an interval.")] = "left",
    end: Annotated[
        Literal["closed", "open"], typer.Option(help="Whether the far end belongs to the domain.")
    ] = "closed",
    kind: Annotated[
        Literal["integer", "float"], typer.Option("--type", help="The type of the values.")
    ] = "integer",
    step: Annotated[
        str | None, _number("--step", "Only multiples of this occur, counted from low.")
    ] = None,
    origin: Annotated[
        str, typer.Option(metavar="NUMBER", help="Where widths are counted from.")
    ] = "0",
    *,
    observed: Observed,
    writing: Writing,
) -> None:
    """Intervals of numbers, by widths or cut points, with top and bottom values.

    shoal hierarchy make intervals --low 0 --high 120 --widths 5,10,20 --top 90
    """
    from shoal.data.hierarchy import intervals

    writing.require()
    # Without a table the builder itself says which ends are missing: there are several ways.
    domain = _Domain.of({"low": low, "high": high}, observed, kind)
    hierarchy = domain.build(
        intervals,
        widths=options.names(widths),
        cuts=[options.names([level]) for level in cuts],
        bottom=bottom,
        top=top,
        closed=closed,
        end=end,
        kind=kind,
        step=step,
        origin=origin,
        root=writing.root,
    )
    writing.put(hierarchy)


@making.command("dates", cls=options.Command)
@bundled
def make_dates(
    first: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="The first day, as 2024-12-31.", show_default=False),
    ] = None,
    last: Annotated[
        str | None, typer.Option(metavar="DATE", help="The last day.", show_default=False)
    ] = None,
    levels: Annotated[
        list[str],
        typer.Option(
            "--levels",
            metavar="A,B,…",
            help="Any of week, month, quarter, year, decade, iso-year; finer first.",
        ),
    ] = ["month,quarter,year"],  # noqa: B006
    *,
    observed: Observed,
    writing: Writing,
) -> None:
    """Days by week, month, quarter, year or decade.

    shoal hierarchy make dates --first 2000-01-01 --last 2029-12-31 --levels month,year
    """
    from shoal.data.hierarchy import dates

    writing.require()
    domain = _Domain.of({"first": first, "last": last}, observed, "date")
    domain.require("`first` and `last`")
    if domain.observed is None and len(domain.declared) < 2:
        lacking = "last" if first is not None else "first"
        raise ParameterError("the domain has one end", f"give `{lacking}` too")
    writing.put(domain.build(dates, levels=options.names(levels), root=writing.root))


@making.command("mask", cls=options.Command)
@bundled
def make_mask(  # noqa: PLR0913  its options
    values: Values = [],  # noqa: B006
    values_from: ValuesFrom = None,
    length: Annotated[
        int | None,
        typer.Option(metavar="N", help="Or: all texts of this length …", show_default=False),
    ] = None,
    alphabet: Annotated[
        str, typer.Option(metavar="TEXT", help="… of these characters.")
    ] = "0123456789",
    side: Annotated[Side, typer.Option(help="Where masking begins.")] = "right",
    steps: Annotated[
        list[str],
        typer.Option(
            "--steps",
            metavar="N,…",
            help="Characters masked at each level; 1, 2, 3 … by default.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    symbol: Annotated[
        str, typer.Option(metavar="CHAR", help="What a masked character becomes.")
    ] = "*",
    pad: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="Pad short values with this.", show_default=False),
    ] = None,
    align: Annotated[Side, typer.Option(help="The side that is not padded.")] = "left",
    kind: Type = "text",
    *,
    observed: Observed,
    writing: Writing,
) -> None:
    """Texts masked from one side, such as postal codes.

    shoal hierarchy make mask --length 5 --steps 1,2,3
    """
    from shoal.data.hierarchy import mask

    writing.require()
    declared: dict[str, Any] = {"values": _values(values, values_from), "length": length}
    if length is not None:
        declared["alphabet"] = alphabet
    domain = _Domain.of(declared, observed, kind)
    domain.require("`values`, `values_from` or `length`")
    hidden = [_whole(step, "steps") for step in options.names(steps)]
    hierarchy = domain.build(
        mask,
        side=side,
        steps=hidden or None,
        symbol=symbol,
        pad=pad,
        align=align,
        kind=kind,
        root=writing.root,
    )
    writing.put(hierarchy)


@making.command("order", cls=options.Command)
@bundled
def make_order(
    sizes: Annotated[
        list[str],
        typer.Option(
            "--sizes",
            metavar="N,…",
            help="Neighbours merged at each level; 2+3+1 for runs of their own sizes.",
        ),
    ],
    values: Values = [],  # noqa: B006
    values_from: ValuesFrom = None,
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Sort the values; by default they stay in the given order."),
    ] = False,
    kind: Type = "text",
    *,
    observed: Observed,
    writing: Writing,
) -> None:
    """Ordered values in runs of neighbours.

    shoal hierarchy make order --values none,primary,secondary,bachelor,master --sizes 2+1+2
    """
    from shoal.data.hierarchy import order

    writing.require()
    domain = _Domain.of({"values": _values(values, values_from)}, observed, kind)
    domain.require(VALUES)
    runs = [_sizes(text) for text in options.names(sizes)]
    writing.put(domain.build(order, sizes=runs, sort=sort, kind=kind, root=writing.root))


def _sizes(text: str) -> int | list[int]:
    """The size of all runs of a level, or the size of each, as 2+3+1."""
    sizes = [_whole(size, "sizes") for size in text.split("+")]
    return sizes if len(sizes) > 1 else sizes[0]


@making.command("group", cls=options.Command)
@bundled
def make_group(
    group: Annotated[
        list[str],
        typer.Option(
            "--group",
            "-g",
            metavar="NAME=A,B,…",
            help="A group and its values; may be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    groups_from: Annotated[
        Path | None,
        typer.Option(
            "--groups-from",
            metavar="FILE",
            help="Nested groups, as JSON or TOML.",
            show_default=False,
        ),
    ] = None,
    values: Values = [],  # noqa: B006
    values_from: ValuesFrom = None,
    rest: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The group of all other values of the domain.", show_default=False
        ),
    ] = None,
    kind: Type = "text",
    *,
    writing: Writing,
) -> None:
    """Values in groups that you name.

    shoal hierarchy make group --group West=FR,DE --group East=PL,CZ
    """
    from shoal.data.hierarchy import groups, read_groups

    writing.require()
    if bool(group) == (groups_from is not None):
        raise ParameterError("give `group`, or `groups_from` with a file, and not both")
    tree = _named(group) if groups_from is None else read_groups(groups_from)
    whole = _values(values, values_from)
    writing.put(groups(tree, values=whole, rest=rest, kind=kind, root=writing.root))


@making.command("suppress", cls=options.Command)
@bundled
def make_suppress(
    values: Values = [],  # noqa: B006
    values_from: ValuesFrom = None,
    kind: Type = "text",
    *,
    observed: Observed,
    writing: Writing,
) -> None:
    """Values unchanged, or suppressed.

    shoal hierarchy make suppress --values male,female
    """
    from shoal.data.hierarchy import suppress

    writing.require()
    domain = _Domain.of({"values": _values(values, values_from)}, observed, kind)
    domain.require(VALUES)
    writing.put(domain.build(suppress, kind=kind, root=writing.root))


@making.command("ready", cls=options.Command)
@bundled
def make_ready(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name of a ready-made hierarchy; `shoal hierarchy list` has them.",
            show_default=False,
        ),
    ],
    form: ReadyForm = None,
    values: Values = [],  # noqa: B006
    values_from: ValuesFrom = None,
    *,
    writing: Writing,
) -> None:
    """A ready-made hierarchy as a file, for example to add values of your own.

    shoal hierarchy make ready countries --form alpha-3
    """
    from shoal.data.hierarchy import ready

    writing.require()
    chosen = _values(values, values_from)
    writing.put(ready(name, form=form, values=chosen, root=writing.root))


@dataclass(frozen=True)
class _ObservedColumn:
    """A column of a table, and the values that it has."""

    name: str
    kind: "Kind"
    keys: "Sequence[Key | None]"


@dataclass(frozen=True)
class _Domain:
    """The values that a hierarchy is about: the declared ones, or those of a table's column."""

    declared: Mapping[str, Any]
    observed: "_ObservedColumn | None"

    @classmethod
    def of(cls, given: Mapping[str, Any], observed: Observed, kind: str) -> "_Domain":
        import shoal

        table, column = observed.table, observed.column
        declared = {name: value for name, value in given.items() if value is not None}
        if table is None and column is None and observed.query is None:
            return cls(declared, None)
        if table is None or column is None or declared:
            raise ParameterError(
                "`table` and `column` go together, and instead of a declared domain"
            )
        with working(f"reading {options.shown(table)}"):
            read = shoal.read(table, types={column: kind}, query=observed.query)
            return cls({}, _ObservedColumn(column, read.kind(column), read.keys(column)))

    def require(self, wanted: str) -> None:
        """Refuse a domain that nothing is known about."""
        if not self.declared and self.observed is None:
            raise ParameterError(
                "no domain is declared",
                f"give {wanted} (or `table` and `column`, which the result will reveal)",
            )

    def build(self, make: "Callable[..., Hierarchy]", **given: Any) -> "Hierarchy":
        """What a builder makes of the domain."""
        from shoal.data.hierarchy import derive

        if self.observed is not None:
            return derive(self.observed, make, **given)
        return make(**self.declared, **given)


def _values(given: list[str], file: Path | None) -> list[str] | None:
    from shoal.data.hierarchy import read_values

    if given and file is not None:
        raise ParameterError("give `values` or `values_from`, not both")
    if file is None:
        return options.names(given) or None
    return read_values(file)


def _named(given: list[str]) -> dict[str, list[str]]:
    """Groups that were given as NAME=A,B,C."""
    tree: dict[str, list[str]] = {}
    for text in given:
        name, _, values = text.partition("=")
        listed = options.names([values])
        if not name.strip() or not listed:
            raise ParameterError(
                "is not a group", "write NAME=A,B,C", option="group", given=repr(text)
            )
        tree.setdefault(name.strip(), []).extend(listed)
    return tree


def _whole(text: str, option: str) -> int:
    if not text.strip().isdecimal():
        raise ParameterError("is not a whole number", option=option, given=repr(text))
    return int(text)

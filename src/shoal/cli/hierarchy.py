"""`shoal hierarchy`: show, make and check hierarchies, the CSV files that say what a value becomes at every level."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shoal.cli import options
from shoal.cli.terminal import complain, give, percent, print_json, printable, show, working
from shoal.data.disk import misread, reading
from shoal.data.kinds import KindName
from shoal.errors import FileError, ParameterError, RecipeError, plural, spelled

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.data.hierarchy import Hierarchy

__all__ = ["app"]

app = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Show, make and check hierarchies: how values generalise.",
)
making = typer.Typer(
    cls=options.Group,
    no_args_is_help=True,
    help="Make a hierarchy from a declared domain, as CSV with one line a value.",
)
app.add_typer(making, name="make")

Side = Literal["left", "right"]
LONGEST = 24  # characters of a label shown

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A hierarchy: CSV without header, one line a value.",
        show_default=False,
    ),
]
Type = Annotated[KindName, typer.Option("--type", help="Of the values.")]
Replace = Annotated[
    str | None,
    typer.Option(
        "--root",
        metavar="TEXT",
        help="Put this in place of the last level.",
        rich_help_panel=options.READING,
    ),
]
Add = Annotated[
    str | None,
    typer.Option(
        "--add-root",
        metavar="TEXT",
        help="Put one more level above the last.",
        rich_help_panel=options.READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR", help="Between the cells; else detected.", rich_help_panel=options.READING
    ),
]

WRITING = "What is written"
OBSERVED = "Instead of a declared domain (the result is marked as derived)"
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Else it is printed.",
        rich_help_panel=WRITING,
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Write over a file that is there.", rich_help_panel=WRITING)
]
Written = Annotated[
    str,
    typer.Option(
        "--separator", metavar="CHAR", help="One of ; , | or tab.", rich_help_panel=WRITING
    ),
]
Root = Annotated[
    str,
    typer.Option(
        "--root",
        metavar="TEXT",
        help="What everything becomes in the end.",
        rich_help_panel=WRITING,
    ),
]
Rows = Annotated[
    Path | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="Take the domain from this table …",
        rich_help_panel=OBSERVED,
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        "--column", metavar="NAME", help="… and this column of it.", rich_help_panel=OBSERVED
    ),
]
Values = Annotated[
    list[str],
    typer.Option("--values", metavar="A,B,…", help="The values of the domain.", show_default=False),
]
ValuesFrom = Annotated[
    Path | None,
    typer.Option(
        "--values-from",
        metavar="FILE",
        help="The values of the domain, one a line, UTF-8.",
        show_default=False,
    ),
]


def _number(name: str, text: str) -> Any:
    return typer.Option(name, metavar="NUMBER", help=text, show_default=False)


@app.command("show", cls=options.Command)
def show_hierarchy(
    file: File,
    tree: Annotated[bool, typer.Option("--tree", help="Also draw the tree.")] = False,
    most: Annotated[
        int, typer.Option(metavar="N", min=1, help="Branches drawn below one value.")
    ] = 5,
    kind: Type = "text",
    json: options.Json = False,
    root: Replace = None,
    add_root: Add = None,
    separator: Separator = None,
    encoding: options.Encoding = None,
) -> None:
    """What are the levels of this hierarchy?

    For every level: how many values it has, how many leaves one of them covers, and the largest share of the domain.
    """
    from shoal.data.hierarchy import read

    found = read(
        file,
        kind=kind,
        separator=options.character(separator),
        encoding=encoding,
        root=root,
        add_root=add_root,
    )
    levels = [_level(found, level) for level in range(found.height + 1)]
    if json:
        print_json(
            {
                "file": str(file),
                "type": kind,
                "leaves": found.leaves,
                "derived": found.derived,
                "levels": levels,
            }
        )
        return
    derived = "; derived from rows: its shape tells about them" if found.derived else ""
    show(
        f"{file.name}: {plural(found.leaves, 'value')}, {plural(found.height + 1, 'level')}{derived}\n",
        _levels(levels),
    )
    if tree:
        show("", _drawn(found, most))


def _level(hierarchy: "Hierarchy", level: int) -> dict[str, Any]:
    cover, labels = hierarchy.cover(level), hierarchy.labels[level]
    return {
        "level": level,
        "values": len(labels),
        "covers": [int(cover.min()), int(cover.max())],
        "share": int(cover.max()) / hierarchy.leaves,
        "examples": list(labels) if len(labels) <= 4 else [*labels[:3], labels[-1]],
    }


def _levels(levels: Sequence[dict[str, Any]]) -> "RenderableType":
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    rows = []
    for level in levels:
        low, high = level["covers"]
        covers = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        rows.append([str(level["level"]), f"{level['values']:,}", covers, percent(level["share"])])
    head = ("level", "values", "covers", "share")
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for name, width in zip(head, widths, strict=True):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    table.add_column("examples", no_wrap=True, overflow="ellipsis")
    room = Console().width - sum(widths) - 2 * len(widths)
    for row, level in zip(rows, levels, strict=True):
        table.add_row(*row, Text(_fitting(level["examples"], level["values"], room)))
    return table


def _fitting(examples: Sequence[str], values: int, room: int) -> str:
    """As many examples as fit, the last value among them; the ellipsis says that there are more."""
    *most, last = map(_short, examples)
    for shown in range(len(most), 0, -1):
        gap = " … " if values > shown + 1 else ", "
        if len(text := gap.join([", ".join(most[:shown]), last])) <= room:
            return text
    text = f"{most[0]} …" if most else last
    return text if len(text) <= room else f"{text[: max(room - 1, 1)]}…"


def _short(label: str) -> str:
    """A label for a terminal: on one line, without control characters, not too long."""
    safe = "".join(character if character.isprintable() else " " for character in label)
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 1]}…"


def _drawn(hierarchy: "Hierarchy", most: int) -> "RenderableType":
    import numpy as np
    from rich.text import Text
    from rich.tree import Tree

    def grow(branch: Tree, level: int, leaves: slice) -> None:
        # Leaves are in tree order, so the values below a value are runs among its leaves.
        if level < 0:
            return
        codes, starts = np.unique(hierarchy.maps[level][leaves], return_index=True)
        if len(codes) == 1 and _short(hierarchy.labels[level][codes[0]]) == str(branch.label):
            return grow(branch, level - 1, leaves)  # the same value once more
        stops = [*starts[1:].tolist(), leaves.stop - leaves.start]
        for code, start, stop in list(zip(codes.tolist(), starts.tolist(), stops, strict=True))[
            :most
        ]:
            below = branch.add(Text(_short(hierarchy.labels[level][code])))
            grow(below, level - 1, slice(leaves.start + start, leaves.start + stop))
        if len(codes) > most:
            branch.add(Text(f"… {len(codes) - most:,} more"))

    drawn = Tree(Text(_short(hierarchy.labels[-1][0])))
    grow(drawn, hierarchy.height - 1, slice(0, hierarchy.leaves))
    return drawn


@app.command("check", cls=options.Command)
def check_hierarchy(
    file: File,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="Does it have every value of this table …",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="… in this column?", show_default=False),
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="List the values that it has not. They are private.")
    ] = False,
    kind: Annotated[
        KindName | None,
        typer.Option("--type", help="Of the values; else by the table.", show_default=False),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as problems.")] = False,
    json: options.Json = False,
    root: Replace = None,
    add_root: Add = None,
    separator: Separator = None,
    encoding: options.Encoding = None,
) -> None:
    """Is this hierarchy sound, and does it cover a table?

    All problems are named at once. Exit code 0: none. 1: problems. 2: a file cannot be read.
    """
    from shoal.data.hierarchy import Hierarchy, read_lines
    from shoal.data.hierarchy.tree import rooted
    from shoal.data.kinds import Kind

    if (table is None) != (column is None):
        raise ParameterError("--table and --column go together; give both")
    own = Kind(kind or "text")
    lines = read_lines(file, separator=options.character(separator), encoding=encoding)
    found = lines.problems(own, root=root, add_root=add_root)
    tree = (
        None
        if found.fatal
        else Hierarchy.from_sound_lines(rooted(lines.cells, root, add_root), own, lines.derived)
    )
    absent: list[str] = []
    report: dict[str, Any] = {
        "file": str(file),
        "lines": len(lines.cells),
        "separator": lines.separator,
    }
    if table is not None and column is not None and tree is not None:
        absent, rows = _absent(tree, table, column, kind)
        report |= {"missing": len(absent), "missing_rows": rows} | (
            {"missing_values": absent} if values else {}
        )
        if absent:
            one = len(absent) == 1
            found.error(
                "missing values",
                f"{plural(len(absent), 'value')} of column {column!r} {'is' if one else 'are'} not in the hierarchy, in "
                f"{plural(rows, 'row')}; add {'it' if one else 'them'}{'' if values else ' (--values lists them)'}, "
                "or clean the table",
            )
    sound = not found.fatal and not (strict and found.minor)
    typed = {"root": "--root", "add_root": "--add-root"}
    errors, warnings = (
        [
            {"name": one.name, "message": spelled(one.message, options.as_options(typed))}
            for one in some
        ]
        for some in (found.fatal, found.minor)
    )
    if json:
        print_json(
            report
            | {"sound": sound, "derived": lines.derived, "problems": errors, "warnings": warnings}
        )
    else:
        for word, some in (("problem", errors), ("warning", warnings)):
            for told in some:
                print(printable(f"{word}: {told['message']}"))
        for value in absent if values else ():
            print(f"missing: {value!r}")
        if sound and tree is not None:
            print(f"sound: {plural(tree.leaves, 'value')}, {plural(tree.height + 1, 'level')}")
    if not sound:
        raise typer.Exit(1)


def _absent(tree: "Hierarchy", path: Path, name: str, kind: str | None) -> tuple[list[str], int]:
    """The values of a table's column that a hierarchy does not have, and how many rows have them."""
    import numpy as np

    import shoal
    from shoal.data.hierarchy import uncovered

    with working(f"reading {path.name}"):
        read = shoal.read(path, hierarchies={name: tree}, types={name: kind} if kind else None)
        column = read.column(name)
    absent = uncovered(read.hierarchy(name), column.keys)
    places = {key: code for code, key in enumerate(column.keys)}
    rows = np.bincount(column.codes, minlength=len(column.keys))
    return [column.kind.text(key) for key in absent], int(sum(rows[places[key]] for key in absent))


@making.command("intervals", cls=options.Command)
def make_intervals(
    low: Annotated[str | None, _number("--low", "The smallest value.")] = None,
    high: Annotated[str | None, _number("--high", "The largest value.")] = None,
    widths: Annotated[
        list[str],
        typer.Option(
            "--widths",
            metavar="W,…",
            help="Of the intervals, one width a level.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  typer wants a list, and nobody changes it
    cuts: Annotated[
        list[str],
        typer.Option(
            "--cuts",
            metavar="A,B,…",
            help="Where intervals begin; repeat it for every level.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    bottom: Annotated[str | None, _number("--bottom", "All below this is one value.")] = None,
    top: Annotated[str | None, _number("--top", "All from this on is one value.")] = None,
    closed: Annotated[Side, typer.Option(help="Which end belongs to an interval.")] = "left",
    end: Annotated[
        Literal["closed", "open"], typer.Option(help="Whether the far end belongs to the domain.")
    ] = "closed",
    kind: Annotated[
        Literal["integer", "float"], typer.Option("--type", help="Of the values.")
    ] = "integer",
    step: Annotated[
        str | None, _number("--step", "Only multiples of this occur, counted from low.")
    ] = None,
    origin: Annotated[
        str, typer.Option(metavar="NUMBER", help="Where widths are counted from.")
    ] = "0",
    table: Rows = None,
    column: Column = None,
    out: Out = None,
    separator: Written = ";",
    root: Root = "*",
    force: Force = False,
) -> None:
    """Intervals of numbers, by widths or cut points, with top and bottom values.

    shoal hierarchy make intervals --low 0 --high 120 --widths 5,10,20 --top 90
    """
    from shoal.data.hierarchy import intervals

    _write(
        _domain(intervals, table, column, kind=kind, low=low, high=high),
        {
            "widths": options.names(widths),
            "cuts": [options.names([level]) for level in cuts],
            "bottom": bottom,
            "top": top,
            "closed": closed,
            "end": end,
            "kind": kind,
            "step": step,
            "origin": origin,
            "root": root,
        },
        out,
        separator,
        force,
    )


@making.command("dates", cls=options.Command)
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
            help="Of week, month, quarter, year, decade, iso-year; finer first.",
        ),
    ] = ["month,quarter,year"],  # noqa: B006
    table: Rows = None,
    column: Column = None,
    out: Out = None,
    separator: Written = ";",
    root: Root = "*",
    force: Force = False,
) -> None:
    """Days in weeks, months, quarters, years or decades.

    shoal hierarchy make dates --first 2000-01-01 --last 2029-12-31 --levels month,year
    """
    from shoal.data.hierarchy import dates

    domain = _domain(dates, table, column, kind="date", first=first, last=last)
    _write(domain, {"levels": options.names(levels), "root": root}, out, separator, force)


@making.command("mask", cls=options.Command)
def make_mask(
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
            help="Characters masked at each level; else 1, 2, 3…",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    symbol: Annotated[
        str, typer.Option(metavar="CHAR", help="What a masked character becomes.")
    ] = "*",
    pad: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="Fill short values up with this.", show_default=False),
    ] = None,
    align: Annotated[Side, typer.Option(help="The side that is not filled.")] = "left",
    kind: Type = "text",
    table: Rows = None,
    column: Column = None,
    out: Out = None,
    separator: Written = ";",
    root: Root = "*",
    force: Force = False,
) -> None:
    """Texts masked from one side, such as postal codes.

    shoal hierarchy make mask --length 5 --steps 1,2,3
    """
    from shoal.data.hierarchy import mask

    given = _values(values, values_from)
    domain = _domain(mask, table, column, kind=kind, values=given, length=length)
    rest = {"alphabet": alphabet} if length is not None else {}
    number = [_whole(step, "--steps") for step in options.names(steps)]
    styles = {
        "side": side,
        "steps": number or None,
        "symbol": symbol,
        "pad": pad,
        "align": align,
        "kind": kind,
        "root": root,
    }
    _write(domain, rest | styles, out, separator, force)


@making.command("order", cls=options.Command)
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
        bool, typer.Option("--sort", help="Sort the values; else their order is as given.")
    ] = False,
    kind: Type = "text",
    table: Rows = None,
    column: Column = None,
    out: Out = None,
    separator: Written = ";",
    root: Root = "*",
    force: Force = False,
) -> None:
    """Ordered values in runs of neighbours.

    shoal hierarchy make order --values none,primary,secondary,bachelor,master --sizes 2+1+2
    """
    from shoal.data.hierarchy import order

    runs = [[_whole(size, "--sizes") for size in text.split("+")] for text in options.names(sizes)]
    sizes_given = [run if len(run) > 1 else run[0] for run in runs]
    domain = _domain(order, table, column, kind=kind, values=_values(values, values_from))
    _write(
        domain,
        {"sizes": sizes_given, "sort": sort, "kind": kind, "root": root},
        out,
        separator,
        force,
    )


@making.command("group", cls=options.Command)
def make_group(
    group: Annotated[
        list[str],
        typer.Option(
            "--group",
            "-g",
            metavar="NAME=A,B,…",
            help="A group and its values; repeat it.",
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
    out: Out = None,
    separator: Written = ";",
    root: Root = "*",
    force: Force = False,
) -> None:
    """Values in groups that you name.

    shoal hierarchy make group --group West=FR,DE --group East=PL,CZ
    """
    from shoal.data.hierarchy import groups

    if bool(group) == (groups_from is not None):
        raise ParameterError("give --group, or --groups-from with a file, and not both")
    tree = _named(group) if groups_from is None else _nested(groups_from)
    whole = _values(values, values_from)
    made = {"values": whole, "rest": rest, "kind": kind, "root": root}
    _write(lambda **more: groups(tree, **more), made, out, separator, force)


@making.command("suppress", cls=options.Command)
def make_suppress(
    values: Values = [],  # noqa: B006
    values_from: ValuesFrom = None,
    kind: Type = "text",
    table: Rows = None,
    column: Column = None,
    out: Out = None,
    separator: Written = ";",
    root: Root = "*",
    force: Force = False,
) -> None:
    """Values as they are, or nothing of them.

    shoal hierarchy make suppress --values male,female
    """
    from shoal.data.hierarchy import suppress

    domain = _domain(suppress, table, column, kind=kind, values=_values(values, values_from))
    _write(domain, {"kind": kind, "root": root}, out, separator, force)


def _domain(
    make: "Callable[..., Hierarchy]",
    table: Path | None,
    column: str | None,
    *,
    kind: str,
    **declared: Any,
) -> "Callable[..., Hierarchy]":
    """A builder that knows its domain: the declared one, or the values of a table's column."""
    given = {name: value for name, value in declared.items() if value is not None}
    if table is None and column is None:
        if (
            not given and make.__name__ != "intervals"
        ):  # which has several ways to say its ends, and says so
            names = {"dates": "--first and --last", "mask": "--values, --values-from or --length"}
            wanted = names.get(make.__name__, "--values or --values-from")
            raise ParameterError(
                f"no domain is declared; give {wanted} (or --table and --column, which the result will tell of)"
            )
        if make.__name__ == "dates" and len(given) < len(declared):
            raise ParameterError(
                f"the domain has one end; give {' and '.join(f'--{n}' for n in declared if n not in given)} too"
            )
        return lambda **more: make(**given, **more)
    if table is None or column is None or given:
        raise ParameterError("--table and --column go together, and instead of a declared domain")
    import shoal
    from shoal.data.hierarchy import derive

    with working(f"reading {table.name}"):
        found = shoal.read(table, types={column: kind}).column(column)
    return lambda **more: derive(found, make, **more)


def _values(given: list[str], file: Path | None) -> list[str] | None:
    if given and file is not None:
        raise ParameterError("give --values or --values-from, not both")
    if file is None:
        return options.names(given) or None
    return [line for line in _text(file).splitlines() if line]


def _text(file: Path) -> str:
    reading(file)
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeError:
        raise FileError(f"{file} is not UTF-8; save it as such") from None


def _named(given: list[str]) -> dict[str, list[str]]:
    tree: dict[str, list[str]] = {}
    for text in given:
        name, sign, values = text.partition("=")
        if not (sign and name.strip() and options.names([values])):
            raise ParameterError(f"--group {text!r}: write it as NAME=A,B,C")
        tree.setdefault(name.strip(), []).extend(options.names([values]))
    return tree


def _nested(file: Path) -> Any:
    import json
    import tomllib

    try:
        return tomllib.loads(_text(file)) if file.suffix == ".toml" else json.loads(_text(file))
    except RecursionError:
        raise RecipeError(f"{file} has groups a thousand deep; make them flatter") from None
    except ValueError as error:
        raise RecipeError(
            f'{file} has no groups: see {misread(error)}; write {{"name": [values]}} as JSON, or as TOML in a .toml file'
        ) from None


def _whole(text: str, option: str) -> int:
    if not text.strip().isdecimal():
        raise ParameterError(f"{option} {text!r}: it takes whole numbers")
    return int(text)


def _write(
    make: "Callable[..., Hierarchy]",
    more: dict[str, Any],
    out: Path | None,
    separator: str,
    force: bool,
) -> None:
    """Make a hierarchy and write it, or print it; on stderr what it has."""
    from shoal.data.hierarchy.lines import text, write

    if out is not None and out.exists() and not force:
        raise FileError(f"{out} is there already; --force writes over it")
    separator = options.character(separator) or ";"
    made = make(**more)
    if out is None:
        give(text(made, separator))
    else:
        write(made, out, separator=separator)
        levels = ", ".join(f"{made.cardinality(level):,}" for level in range(made.height + 1))
        complain(f"wrote {out}: {plural(made.height + 1, 'level')}, with {levels} values")
    if made.derived:
        where = f"; {out}.derived says so" if out is not None else ""
        complain(
            f"warning: derived from the rows, so its shape tells about them{where}; declare the domain for a public one"
        )

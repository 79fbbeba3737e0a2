"""Options that several commands share, their parsing, and their form in help and errors.

All commands use it.
"""

import csv
import inspect
import io
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from shoal.data.engines import EngineName
from shoal.data.formats import READING as READING_OPTIONS
from shoal.data.formats import Labels, UserMissing
from shoal.errors import ColumnError, FileError, ParameterError, ShoalError, Spelling, toml_spelling

if TYPE_CHECKING:
    from shoal.data.hierarchy import Hierarchy
    from shoal.data.tables import Table
    from shoal.look import Pictured
    from shoal.recipe import Recipe

__all__ = [
    "AddRoot",
    "Chart",
    "ChartFile",
    "Command",
    "Counting",
    "Encoding",
    "File",
    "Following",
    "Force",
    "Form",
    "Group",
    "HierarchyFiles",
    "Json",
    "Layout",
    "Levels",
    "MissingPolicy",
    "Quasi",
    "Query",
    "Quote",
    "RecipeFile",
    "Root",
    "Sensitive",
    "Separator",
    "Types",
    "again",
    "as_options",
    "drawing",
    "keys_of",
    "names",
    "pairs",
    "require_chart",
    "require_free",
    "share",
    "shown",
    "write_chart",
]

READING = "How the table is read"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file (CSV, Parquet, Excel, SPSS, Stata, SAS …), a folder of files, a database, or "
        "- for standard input.",
        show_default=False,
    ),
]
Quasi = Annotated[
    list[str],
    typer.Option(
        "--quasi",
        "-q",
        metavar="A,B,…",
        help="Columns others may know about a person.",
        show_default=False,
    ),
]
Sensitive = Annotated[
    list[str],
    typer.Option(
        "--sensitive",
        "-s",
        metavar="A,B,…",
        help="Columns nobody should learn.",
        show_default=False,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Separator of a CSV file; detected by default.",
        rich_help_panel=READING,
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Quote of a CSV file, '' for none; detected by default.",
        rich_help_panel=READING,
    ),
]
Engine = Annotated[
    EngineName | None,
    typer.Option(
        help="What counts the rows; by default, files that do not fit into memory are streamed.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where Spark runs: local[2], spark://HOST:PORT, sc://HOST:PORT or yarn.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        metavar="TABLE|SQL",
        help="For a database: the name of a table or view, or a query.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of a CSV file, such as cp1252; detected by default.",
        rich_help_panel=READING,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Sheet of an Excel or OpenDocument file with several.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
LabelSide = Annotated[
    Labels | None,
    typer.Option(
        "--labels",
        help="For SPSS, Stata and SAS files: codes, or the texts of their labels.",
        rich_help_panel=READING,
        show_default="codes",
    ),
]
DeclaredMissing = Annotated[
    UserMissing | None,
    typer.Option(
        "--user-missing",
        help="Values that such a file declares missing: missing, or values.",
        rich_help_panel=READING,
        show_default="missing",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Decimal mark in texts, such as a comma.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Thousands separator in texts.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Dates = Annotated[
    list[str],
    typer.Option(
        "--dates",
        metavar="[NAME=]FORM",
        help="Format of dates or times in texts, such as %d.%m.%Y; or of one column.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
MissingTexts = Annotated[
    list[str],
    typer.Option(
        "--missing-texts",
        metavar="[NAME=]TEXT",
        help="A text that stands for a missing value, such as NA; or in one column.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
OtherSource = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="Read this instead of the recipe's source; - is standard input.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
MissingPolicy = Annotated[
    Literal["category", "refuse"],
    typer.Option(
        help="Missing values are a value of their own, or an error.", rich_help_panel=READING
    ),
]
Types = Annotated[
    list[str],
    typer.Option(
        "--type",
        metavar="NAME=TYPE",
        help="Type of a column: text, integer, float or date.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Hierarchies = Annotated[
    list[str],
    typer.Option(
        "--hierarchy",
        metavar="NAME=FILE",
        help="Hierarchy of a column: a CSV file, one line per value.",
        show_default=False,
    ),
]
Root = Annotated[
    str | None,
    typer.Option(
        "--root",
        metavar="TEXT",
        help="Replaces the last level of hierarchy files.",
        rich_help_panel=READING,
    ),
]
AddRoot = Annotated[
    str | None,
    typer.Option(
        "--add-root",
        metavar="TEXT",
        help="Adds a level above the last one of hierarchy files.",
        rich_help_panel=READING,
    ),
]
Levels = Annotated[
    list[str],
    typer.Option(
        "--levels",
        "-l",
        metavar="NAME=LEVEL,…",
        help="Level of a column; 0 where not given.",
        show_default=False,
    ),
]
RecipeFile = Annotated[
    Path, typer.Argument(metavar="RECIPE", help="A recipe: one TOML file.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]


def drawing(what: str) -> Any:
    """The option of a chart that shows something."""
    return typer.Option(
        metavar="FILE", help=f"Also draw {what}, as .html, .png or .svg.", show_default=False
    )


Chart = Annotated[Path | None, drawing("it")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


class Group(TyperGroup):
    """Commands.

    Help shows no type beside a flag, and what cannot be parsed is reported in our words.
    """

    def get_params(self, ctx: Any) -> Any:
        return _untyped(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: Any) -> Any:
        with _in_our_words(ctx, args):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        with _in_our_words(ctx, args):
            return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command.

    Help flows and shows no type beside a flag, and errors name its options as they are typed.
    """

    def __init__(self, name: str | None, *, help: str | None = None, **given: Any) -> None:
        super().__init__(
            name,
            help=help and re.sub(r"(?<!\n)\n(?![\n *-])", " ", inspect.cleandoc(help)),
            **given,
        )
        self.params += _shared_params()

    def get_params(self, ctx: Any) -> Any:
        return _untyped(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: Any) -> Any:
        with _in_our_words(ctx, args):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ShoalError as error:
            error.spelling = error.spelling or as_options(self._typed())
            raise

    def _typed(self) -> dict[str, str]:
        """The options by the names of their parameters, as they are typed."""
        typed = {}
        for param in self.params:
            if param.name and param.opts[0].startswith("-"):
                typed[param.name] = max(param.opts, key=len)
        return typed


def _quietly(quiet: bool) -> None:
    from shoal.cli.terminal import set_quiet

    set_quiet(quiet)


def _shared(
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            callback=_quietly,
            expose_value=False,
            help="Print only errors and warnings.",
        ),
    ] = False,
) -> None:
    """The options that every command has."""


def _shared_params() -> list[Any]:
    """These as typer makes them of the parameters of a function."""
    alone = typer.Typer(add_completion=False)
    alone.command()(_shared)
    return get_command(alone).params


_SENTENCES = (
    (r"Input should be a valid integer.*", "it takes a whole number"),
    (r"Input should be a valid number.*", "it takes a number"),
    (r"Input should be a finite number.*", "it takes a finite number"),
    (r"Input should be greater than or equal to (\S+)", r"it takes \1 or more"),
    (r"Input should be less than or equal to (\S+)", r"it takes \1 or less"),
    (r"(?:Value error, )?.* is not one of (.*?)\.*", r"it takes one of \1"),
    (r"(?:Value error, )?(.*?)\.*", r"\1"),
)
"""What the libraries that parse options say, and what we say instead."""


@contextmanager
def _in_our_words(ctx: Any, args: Iterable[str]) -> Iterator[None]:
    """Turn errors of parsing into ParameterErrors: the option, what was given, what it takes."""
    given = list(args)
    try:
        yield
    except Exception as error:
        problem = _usage(type(error).__name__, error, given)
        if problem is None:
            raise
        raise ParameterError(problem, f"{ctx.command_path} --help shows more") from None


def _usage(name: str, error: Any, given: list[str]) -> str | None:
    """What is wrong with a command as it was typed; None if the error is about something else."""
    message = str(getattr(error, "message", ""))
    if name == "NoSuchOption":
        close = " or ".join(sorted(error.possibilities or ()))
        meant = f" (did you mean {close}?)" if close else ""
        return f"{error.option_name}: there is no such option{meant}"
    if name == "BadOptionUsage" and "not take" in message:
        return f"{error.option_name}: it takes no value"
    if name == "BadOptionUsage":
        several = re.search(r"requires (\d+)", message)
        values = f"{several[1]} values" if several else "a value"
        return f"{error.option_name}: it takes {values}"
    param = getattr(error, "param", None)
    if name == "MissingParameter" and param is not None:
        return f"{_typed(param)} is missing"
    if name == "BadParameter" and param is not None:
        for theirs, ours in _SENTENCES:
            if match := re.fullmatch(theirs, message, re.DOTALL):
                message = match.expand(ours)
                break
        return f"{_typed(param)}{_value(param, given)}: {message}"
    if name == "UsageError" and message.startswith("No such command"):
        if not given:
            return None
        alike = get_close_matches(given[0], error.ctx.command.commands, n=1)
        meant = f" (did you mean {alike[0]}?)" if alike else ""
        return f"{given[0]!r}: there is no such command{meant}"
    if name == "UsageError" and message.startswith("Got unexpected extra argument"):
        extra = re.search(r"\(([^()]+)\)\W*$", message)
        return f"too many arguments: {extra[1]}" if extra else "too many arguments"
    return None


def _typed(param: Any) -> str:
    """A parameter as people type it, or as the help calls it."""
    if param.opts[0].startswith("-"):
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name)


def _value(param: Any, given: list[str]) -> str:
    """The value that was typed after an option, where it is known."""
    for place, text in enumerate(given):
        option, sign, value = text.partition("=")
        if option in param.opts:
            following = given[place + 1] if place + 1 < len(given) else ""
            return f" {value if sign else following}".rstrip()
    return ""


@contextmanager
def keys_of(file: Path) -> Iterator[None]:
    """Make the errors of a block name a file, and its keys as they are written there."""
    try:
        yield
    except ShoalError as error:
        if file.name in error.where:
            error.spelling = toml_spelling
            raise
        raise error.at(file.name, toml_spelling) from None


def _untyped(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_bool_flag", False):
            param.metavar = ""
    return params


def as_options(options: Mapping[str, str]) -> Spelling:
    """How parameters are written at the command line: as options, and lists with commas.

    >>> spelling = as_options({"add_root": "--add-root", "quasi": "--quasi"})
    >>> spelling("add_root", "'*'"), spelling("quasi", "['age', 'sex']"), spelling("solver", None)
    ("--add-root '*'", '--quasi age,sex', 'solver')
    """

    def spelling(name: str, value: str | None) -> str:
        option = options.get(name, name)
        if value is None:
            return option
        if value.startswith("["):
            value = ",".join(re.findall(r"['\"]([^'\"]+)['\"]", value))
        plain = re.fullmatch(r"'([\w.%/-]+)'", value)  # what a shell takes without quotes
        return f"{option} {plain[1] if plain else value}"

    return spelling


def names(given: Iterable[str]) -> list[str]:
    """The names of a list option: separated by commas, or the option repeated.

    Quotes keep a comma inside a name.

    >>> names(["age,zip", '"a, b"'])
    ['age', 'zip', 'a, b']
    """
    return [
        name.strip()
        for line in csv.reader(given, skipinitialspace=True)
        for name in line
        if name.strip()
    ]


def again(context: typer.Context, more: Mapping[str, Sequence[str]]) -> str:
    """The command that was typed, with names of columns added to its list options.

    Passwords in URLs are left out.
    """
    lists = {option: list(columns) for option, columns in more.items()}
    places: list[str] = []
    others: list[str] = []
    for param in context.command.params:
        name = param.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name not in context.params:
            continue
        option = max(param.opts, key=len)
        value = context.params[name]
        if option in lists:
            lists[option] = [*names(value), *lists[option]]
        elif not option.startswith("-"):
            places.append(_shareable(value))
        elif getattr(param, "is_flag", False):
            others.append(option)
        else:
            values = value if isinstance(value, list | tuple) else [value]
            others += [word for one in values for word in (option, _shareable(one))]
    columns = [word for option, named in lists.items() if named for word in (option, _line(named))]
    return shlex.join(["shoal", context.info_name or "", *places, *columns, *others])


_PASSWORD = re.compile(r"(?<=://)([^:@/]*):[^/]*@")


def _shareable(value: object) -> str:
    """What was typed, without the password of a URL.

    >>> _shareable("postgresql://ann:secret@host/clinic"), _shareable("people.csv")
    ('postgresql://ann@host/clinic', 'people.csv')
    """
    text = _PASSWORD.sub(r"\1@", str(value))
    return "URL" if "://" in text and "password" in text.lower() else text


def _line(columns: Sequence[str]) -> str:
    """Names as a list option takes them.

    >>> _line(["age", "a, b"]), names([_line(["age", "a, b"])])
    ('age,"a, b"', ['age', 'a, b'])
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(columns)
    return line.getvalue()


def pairs(given: Iterable[str], option: str, form: str = "column=value") -> dict[str, str]:
    """The pairs of an option such as --type age=integer,zip=text.

    >>> pairs(["age=integer,zip=text"], "--type")
    {'age': 'integer', 'zip': 'text'}
    """
    values: dict[str, str] = {}
    for text in names(given):
        name, sign, value = text.rpartition("=")
        if not (sign and name.strip() and value.strip()):
            raise ParameterError(f"{option} {text!r} is not a pair", f"write it as {form}")
        if name.strip() in values:
            raise ParameterError(
                f"{option} names the {form.partition('=')[0].lower()} {name.strip()!r} twice"
            )
        values[name.strip()] = value.strip()
    return values


def require_free(path: Path | None, option: str, force: bool, *read: Path | None) -> None:
    """FileError if a file that is to be written exists, unless that is wanted.

    To be called before the work is done, not after. What the command reads is never overwritten.
    """
    from shoal.data.disk import same

    if path is None or not os.path.lexists(path):
        return
    if any(one is not None and same(path, one) for one in read):
        raise FileError(f"{path} is what the command reads", f"give `{option}` another name")
    if not force:
        raise FileError(
            f"{path} exists already", f"give `{option}` another name, or `force` to overwrite it"
        )


def require_chart(
    chart: Path | None, force: bool, *read: Path | None, released: bool = False
) -> None:
    """An error if a chart that is asked for cannot be written, before the work is done.

    released: whether it may be published
    """
    if chart is not None:
        from shoal.look import Zone
        from shoal.studies import saving

        saving.require(chart, Zone.RELEASED if released else Zone.OWNER)
        require_free(chart, "chart", force, *read)


def write_chart(chart: Path | None, shown: "Pictured") -> None:
    """Draw something into a file, if that is asked for, and say so."""
    if chart is not None:
        from shoal.cli.terminal import remark
        from shoal.look import Zone
        from shoal.look.pictures import zone_of
        from shoal.studies import saving

        pictures = shown.pictures()
        saving.save(pictures, chart)
        owner = zone_of(pictures) is Zone.OWNER
        remark(f"wrote {chart}{', which is not for release' if owner else ''}")


@dataclass(frozen=True)
class ChartFile:
    """Where a chart goes: a bundle of options."""

    chart: Chart = None
    force: Force = False

    def require(self, *, released: bool = False) -> None:
        """An error if the chart cannot be written, before the work is done."""
        require_chart(self.chart, self.force, released=released)

    def write(self, shown: "Pictured") -> None:
        """Draw something, if that is asked for, and say so."""
        write_chart(self.chart, shown)


@dataclass(frozen=True)
class HierarchyFiles:
    """The files of hierarchies, and what becomes of their last level: a bundle of options."""

    hierarchy: Hierarchies = field(default_factory=list)
    root: Root = None
    add_root: AddRoot = None

    def read(self, types: Iterable[str] = (), tables: Iterable[str] = ()) -> "dict[str, Hierarchy]":
        """The hierarchies, read as a recipe reads them: by the type of their column.

        tables: the tables of the command; messages about a hierarchy quote it, and must not quote
            them
        """
        from shoal.arx.builders import from_file
        from shoal.data.disk import same

        kinds, files = pairs(types, "--type"), pairs(self.hierarchy, "--hierarchy")
        if not files and (self.root is not None or self.add_root is not None):
            raise ParameterError(
                "--root and --add-root are about the files of --hierarchy",
                "give one, or leave them out",
            )
        trees = {}
        for name, file in files.items():
            if any(same(file, table) for table in tables):
                raise ParameterError(
                    f"--hierarchy {name}={file} is the table itself", "give its own"
                )
            kind = kinds.get(name, "text")
            trees[name] = from_file(file, kind=kind, root=self.root, add_root=self.add_root)
        return trees


@dataclass(frozen=True, kw_only=True)
class Counting:
    """What counts the rows of files: a bundle of options, also for the source of a recipe."""

    engine: Engine = None
    master: Master = None

    def load(self, path: Path) -> "Recipe":
        """The recipe in a file, whose source is counted as these options say."""
        from shoal.recipe import Recipe

        return Recipe.load(path).counted_by(self.engine, self.master)


@dataclass(frozen=True, kw_only=True)
class Following(Counting):
    """What a recipe reads, and what counts its rows: a bundle of options."""

    source: OtherSource = None

    def load(self, path: Path) -> "Recipe":
        """The recipe in a file, whose source is the one that these options name."""
        from shoal.recipe import Recipe

        chosen = Recipe.load(path)
        if self.source is not None:
            chosen = chosen.reading_from(self.source)
        return chosen.counted_by(self.engine, self.master)


@dataclass(frozen=True)
class Layout(Counting):
    """Where the rows of a table are, and how they are written: a bundle of options."""

    query: Query = None
    separator: Separator = None
    quote: Quote = None
    encoding: Encoding = None
    sheet: Sheet = None
    labels: LabelSide = None
    user_missing: DeclaredMissing = None
    decimal: Decimal = None
    thousands: Thousands = None
    dates: Dates = field(default_factory=list)
    missing_texts: MissingTexts = field(default_factory=list)

    @property
    def reading(self) -> dict[str, Any]:
        """How a file is read, as far as it is given, by the names of `shoal.read`."""
        given = {name: getattr(self, name) for name in READING_OPTIONS}
        given["separator"] = character(self.separator)
        given["dates"] = forms_of_dates(self.dates)
        given["missing_texts"] = texts_for_missing(self.missing_texts)
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Form(Layout):
    """How tables are read: a bundle of options."""

    missing: MissingPolicy = "category"
    types: Types = field(default_factory=list)

    @property
    def is_default(self) -> bool:
        """Whether nothing is said about the query, and about how files are written."""
        return self.query is None and not self.reading

    def of_recipe(self, path: str, **asked: object) -> "Recipe":
        """The recipe in place of a table; options that say what only a recipe may say are refused.

        asked: further options about the table, by name
        """
        said = {**asked, "type": self.types, "query": self.query, **self.reading}
        if extra := [name for name, value in said.items() if value not in (None, [], False)]:
            raise ParameterError(
                f"--{extra[0].replace('_', '-')} is for a table",
                "a recipe says it itself, so change it there",
            )
        return self.load(Path(path))

    def beside(self, place: str, query: str | None = None) -> "Form":
        """The options for another table of the command.

        A database has a query of its own, or else the same; what is for files is not for it.
        """
        from shoal.data.databases import is_database

        if is_database(place):
            return replace(self, engine=None, master=None, query=query or self.query)
        return replace(self, query=query)

    def read(
        self,
        place: str,
        *,
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        identifying: Iterable[str] = (),
        hierarchies: "Mapping[str, Hierarchy] | None" = None,
    ) -> "Table":
        """The table of a FILE argument."""
        import shoal
        from shoal.data.file_options import FileOptions
        from shoal.data.files import rows_of

        kinds, trees = pairs(self.types, "--type"), hierarchies or {}
        known, secret, naming = names(quasi), names(sensitive), names(identifying)
        rows = rows_of(
            place,
            FileOptions.of(**self.reading),
            types=kinds,
            engine=self.engine,
            master=self.master,
            query=self.query,
        )
        source = shoal.table(rows).source
        try:
            return shoal.table(
                source,
                quasi=known,
                sensitive=secret,
                identifying=naming,
                types=kinds,
                hierarchies=trees,
                missing=self.missing,
            )
        except ColumnError as error:
            given = [*trees, *kinds, *known, *secret, *naming]
            error.fix += _meant(given, source.names, error.fix)
            raise


def is_recipe(place: str) -> bool:
    """Whether an argument names a recipe, not a table."""
    return place.endswith(".toml")


def shown(place: str) -> str:
    """What a table is called while it is read: a URL may say more than everybody should see.

    >>> shown("data/people.csv"), shown("postgresql://ann@host/clinic")
    ('people.csv', 'the database')
    """
    from shoal.data.disk import is_address

    if place == "-":
        return "standard input"
    return "the database" if is_address(place) else Path(place).name


def forms_of_dates(given: Sequence[str]) -> str | dict[str, str] | None:
    """The form of all dates, or those of columns by name.

    >>> forms_of_dates(["%d.%m.%Y"]), forms_of_dates(["born=%d.%m.%Y", "seen=%H:%M"])
    ('%d.%m.%Y', {'born': '%d.%m.%Y', 'seen': '%H:%M'})
    """
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    forms = {}
    for text in given:
        name, sign, form = text.partition("=")
        if not sign:
            raise ParameterError(
                f"--dates {text!r} does not name a column", "write COLUMN=FORM, or one form for all"
            )
        forms[name.strip()] = form.strip()
    return forms


def texts_for_missing(given: Sequence[str]) -> list[str] | dict[str, list[str]] | None:
    """The texts for missing values in all columns, or those of columns by name.

    >>> texts_for_missing(["NA", "?"]), texts_for_missing(["age=NA", "age=?", "town=-"])
    (['NA', '?'], {'age': ['NA', '?'], 'town': ['-']})
    """
    if not any("=" in text for text in given):
        return list(given) or None
    texts: dict[str, list[str]] = {}
    for one in given:
        name, sign, text = one.partition("=")
        if not sign:
            raise ParameterError(
                f"--missing-texts {one!r} does not name a column",
                "write COLUMN=TEXT each time, or never",
            )
        texts.setdefault(name.strip(), []).append(text)
    return texts


def share(text: str, option: str) -> Fraction:
    """A share of a whole: 0.2, 1/5 and 20% are the same."""
    from shoal.measure.gates import share as read_share

    return read_share(text, option)


def _meant(given: Iterable[str], there: Collection[str], listed: str) -> str:
    """A guess at the first column that is not there.

    Only a name that was listed, as others may be values.
    """
    for name in given:
        if name not in there:
            close = get_close_matches(name, there, n=1)
            is_listed = close and repr(close[0]) in listed
            return f"; did you mean {close[0]!r}?" if is_listed else ""
    return ""


def character(separator: str | None) -> str | None:
    """Shells make it hard to type a tab."""
    return "\t" if separator in ("\\t", "tab") else separator

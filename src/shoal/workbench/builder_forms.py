"""Forms for the builders of hierarchies: a field for every option, from the options themselves.

What a builder takes is read off `recipe.schema`, so that a new option cannot be forgotten; here are
the words for each. Uses `recipe`; the screen of hierarchies shows them, and parses what comes back.
"""

import datetime as dt
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin

from shoal.data.hierarchy import READY, build
from shoal.data.hierarchy.build import PERIODS
from shoal.data.kinds import Kind
from shoal.recipe.schema import BUILDERS, PLACEHOLDER
from shoal.workbench.words import is_whole

__all__ = [
    "CHOICES",
    "TITLES",
    "BuilderField",
    "Parsed",
    "fields",
    "parsed",
    "shown_fields",
    "written",
]


def _(text: str) -> str:
    """Marks a text to be translated where it is shown."""
    return text


def _forms() -> dict[str, str]:
    """The forms of ready-made hierarchies, each with examples."""
    examples: dict[str, list[str]] = {}
    for made in READY.values():
        for name, form in made.forms.items():
            examples.setdefault(name, []).append(form.example)
    return {name: f"{name}: {', '.join(given[:3])}" for name, given in examples.items()}


TITLES = {
    "intervals": (_("Intervals"), _("Numbers in ranges: 39 becomes 35-39, then 30-39.")),
    "dates": (_("Dates"), _("Days in weeks, months, quarters, years or decades.")),
    "mask": (_("Masking"), _("Characters hidden one after the other: 10115 becomes 1011*.")),
    "order": (_("Order"), _("Values in an order of yours, neighbours merged.")),
    "group": (_("Groups"), _("Values in groups that you name, and groups in groups.")),
    "suppress": (_("All or nothing"), _("A value is shown as it is, or not at all.")),
    "ready": (
        _("Ready-made"),
        _("Countries, occupations, diseases, postcodes: from public lists."),
    ),
    "file": (_("File"), _("A CSV file with one line per value, as ARX has it, or an upload.")),
}
"""What each builder is called, and what it does."""

CHOICES = {
    "": _("as the column"),
    "left": _("left"),
    "right": _("right"),
    "closed": _("included"),
    "open": _("not included"),
    "text": _("text"),
    "integer": _("whole numbers"),
    "float": _("numbers with decimals"),
    "date": _("dates"),
    "week": _("week"),
    "month": _("month"),
    "quarter": _("quarter"),
    "year": _("year"),
    "decade": _("decade"),
    "iso-year": _("ISO year"),
    "usual": _("the usual one"),
    **{made.name: made.about for made in READY.values()},
    **_forms(),
}
"""What choices are called."""

Widget = Literal[
    "number",
    "numbers",
    "levels",
    "whole",
    "wholes",
    "sizes",
    "text",
    "texts",
    "values",
    "outline",
    "choice",
    "periods",
    "date",
    "yes",
]


@dataclass(frozen=True)
class BuilderField:
    """One option of a builder as a form asks for it.

    more: whether it stands among the options that few need
    of_domain: whether it says which values there are, so that rows could answer it
    """

    name: str
    label: str
    note: str
    widget: Widget
    required: bool
    default: str
    choices: tuple[str, ...] = ()
    more: bool = False
    of_domain: bool = False

    @property
    def is_long(self) -> bool:
        """Whether it takes several lines."""
        return self.widget in ("levels", "texts", "values", "outline")


_LABELS: dict[str, tuple[str, str]] = {
    "low": (
        _("Smallest value"),
        _("The first number that may occur; empty if there is none, with a bottom value."),
    ),
    "high": (
        _("Largest value"),
        _("The last number that may occur; empty if there is none, with a top value."),
    ),
    "widths": (
        _("Widths"),
        _("One level per width, such as 5, 10, 20. Each is a multiple of the one before."),
    ),
    "cuts": (
        _("Cut points, instead of widths"),
        _("Where intervals begin, one line per level: 18, 30, 65, and below it 18, 65."),
    ),
    "bottom": (_("Bottom value"), _("All numbers below this one are one value.")),
    "top": (_("Top value"), _("This number and all above are one value, such as 90+.")),
    "closed": (
        _("Included end"),
        _("Left: 10 belongs to 10-19. Right: it belongs to the interval below."),
    ),
    "end": (_("Far end"), _("Whether the last number itself belongs to a domain with decimals.")),
    "kind": (_("Type of the values"), _("That of the column, unless you choose another one.")),
    "step": (_("Step"), _("Only multiples of this occur, counted from the smallest value.")),
    "origin": (
        _("Widths are counted from"),
        _("Where intervals of a width begin; 0 unless you say otherwise."),
    ),
    "root": (_("Name of the top"), _("What everything becomes in the end.")),
    "first": (_("First day"), _("The earliest day that may occur.")),
    "last": (_("Last day"), _("The latest day that may occur.")),
    "levels": (_("Levels"), _("Weeks cross the ends of months, so above them only ISO years fit.")),
    "values": (_("Values"), _("All values that may occur, one per line, whether or not they do.")),
    "length": (
        _("Length"),
        _("Number of characters, if all texts of that length may occur; else list them."),
    ),
    "alphabet": (_("Characters"), _("Those that occur at every place; or one line per place.")),
    "side": (_("Masked from"), _("The side on which masking begins.")),
    "steps": (_("Masked characters"), _("How many characters each level hides, such as 1, 2, 4.")),
    "symbol": (_("Mask"), _("What stands for a hidden character.")),
    "pad": (
        _("Filled up with"),
        _("One character, such as 0, that makes short values as long as the others."),
    ),
    "align": (_("Written from"), _("The side on which short values are not filled up.")),
    "sizes": (_("Sizes"), _("How many neighbours each level merges: 2, 2. Or run by run: 2+1+2.")),
    "sort": (_("Sort the values"), _("By their type; else the order is yours.")),
    "tree": (
        _("Groups"),
        _("One name per line; what is in a group stands below it, indented by two spaces."),
    ),
    "rest": (
        _("Group of all others"),
        _("Where values of the domain go that you did not put into a group."),
    ),
    "file": (
        _("Path"),
        _("Where the CSV file is, from the folder of the project. It stays there."),
    ),
    "separator": (_("Separator"), _("The character between cells; detected if empty.")),
    "encoding": (_("Encoding"), _("Such as utf-8 or latin-1; detected if empty.")),
    "add_root": (
        _("Put a top above"),
        _("For files that stop before the top: the text that is added, such as *."),
    ),
}

_OWN_LABELS: dict[tuple[str, str], tuple[str, str]] = {
    ("file", "root"): (
        _("Replace the top by"),
        _("For files whose last level has several texts: the one text that takes their place."),
    ),
    ("ready", "name"): (_("List"), _("Each says in the manual where it comes from.")),
    ("ready", "form"): (_("Written as"), _("How the values are written in the table.")),
    ("ready", "values"): (
        _("Only these values"),
        _("One per line, if not all of the list may occur, or if they are too many to list."),
    ),
    ("group", "values"): (
        _("Whole domain"),
        _("All values, one per line, if those below are not all of them."),
    ),
}
"""Words for options that mean something else, or more, with one builder."""

_MORE = {
    "intervals": ("cuts", "bottom", "closed", "end", "kind", "step", "origin", "root"),
    "dates": ("root",),
    "mask": ("alphabet", "side", "symbol", "pad", "align", "kind", "root"),
    "order": ("kind", "root"),
    "group": ("values", "rest", "kind", "root"),
    "suppress": ("kind", "root"),
    "ready": ("values", "root"),
    "file": ("separator", "encoding", "kind", "root", "add_root"),
}
"""Options that few need, by builder."""

_DOMAIN = ("low", "high", "first", "last", "values", "tree")

_WIDGETS: dict[object, Widget] = {
    build.Number: "number",
    build.Number | None: "number",
    Sequence[build.Number]: "numbers",
    Sequence[Sequence[build.Number]]: "levels",
    int | None: "whole",
    Sequence[int] | None: "wholes",
    Sequence[int | Sequence[int]]: "sizes",
    str: "text",
    str | None: "text",
    str | Sequence[str]: "texts",
    Iterable[object]: "values",
    Iterable[object] | None: "values",
    build.Tree: "outline",
    Kind | str: "choice",
    Sequence[str]: "periods",
    dt.date | str: "date",
    bool: "yes",
}
"""How an option is asked for, by its type."""


@cache
def fields(builder: str) -> tuple[BuilderField, ...]:
    """The fields of a builder, in the order of its options; those that few need come last."""
    signature = inspect.signature(BUILDERS.thing(builder))
    found = [_field(builder, parameter) for parameter in signature.parameters.values()]
    return tuple(sorted(found, key=lambda field: field.more))


def _field(builder: str, parameter: inspect.Parameter) -> BuilderField:
    name, annotation = parameter.name, parameter.annotation
    label, note = _OWN_LABELS.get((builder, name)) or _LABELS[name]
    choices: tuple[str, ...] = ()
    if get_origin(annotation) is Literal:
        widget: Widget = "choice"
        choices = get_args(annotation)
    else:
        widget = _WIDGETS[annotation]
    if name == "kind":
        kinds = (Kind.INTEGER, Kind.FLOAT) if builder == "intervals" else tuple(Kind)
        choices = ("", *(kind.value for kind in kinds))
    if widget == "periods":
        choices = tuple(period for period in PERIODS if period != "day")
    required = parameter.default is parameter.empty
    default = ""
    if not required and name != "kind":
        default = _text(widget, parameter.default)
    if builder == "ready" and name in ("name", "form"):
        widget = "choice"
        choices = tuple(READY) if name == "name" else ("usual", *_forms())
        default = "" if name == "name" else "usual"
    return BuilderField(
        name,
        label,
        note,
        widget,
        required,
        default,
        choices,
        name in _MORE[builder],
        name in _DOMAIN,
    )


def shown_fields(builder: str, texts: Mapping[str, str]) -> tuple[BuilderField, ...]:
    """The fields of a builder, given what some of them say: a list has forms of its own."""
    made = READY.get(texts.get("name", "")) if builder == "ready" else None
    if made is None:
        return fields(builder)
    forms = ("usual", *made.forms)
    return tuple(
        replace(field, choices=forms) if field.name == "form" else field
        for field in fields(builder)
    )


# From a recipe to a form


def written(builder: str, section: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a builder's fields for a section of a recipe; what it leaves out is empty."""
    texts = {}
    for field in fields(builder):
        value = section.get(field.name)
        if value is None or value == PLACEHOLDER:
            keeps = field.widget in ("choice", "periods")
            texts[field.name] = field.default if keeps else ""
        else:
            texts[field.name] = _text(field.widget, value)
    return texts


def _text(widget: Widget, value: Any) -> str:
    """An option as a form has it."""
    if value is None or value is False:
        return ""
    if widget == "yes":
        return "yes"
    if widget == "outline":
        return "\n".join(_outline(value, 0))
    if widget == "levels":
        return "\n".join(", ".join(map(str, level)) for level in value)
    if widget in ("values", "texts"):
        return value if isinstance(value, str) else "\n".join(map(str, value))
    if widget == "sizes":
        return ", ".join(
            "+".join(map(str, size)) if isinstance(size, Sequence) else str(size) for size in value
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)


def _outline(tree: Any, depth: int) -> Iterator[str]:
    """Groups as lines, each inside of another indented by two spaces."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield f"{'  ' * depth}{name}"
            yield from _outline(below, depth + 1)
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        yield from (f"{'  ' * depth}{value}" for value in tree)


# From a form to a recipe


@dataclass(frozen=True)
class Parsed:
    """What a form says: the section of a recipe, and what is wrong, by field."""

    section: dict[str, Any]
    problems: dict[str, str]


class _WrongText(Exception):
    """What is wrong with the text of a field, as a text to be translated."""


def parsed(builder: str, form: Mapping[str, str]) -> Parsed:
    """The section that a form describes.

    A field that is empty, or has the default, is left to the builder.
    """
    section: dict[str, Any] = {"build": builder}
    problems: dict[str, str] = {}
    for field in fields(builder):
        text = form.get(field.name, "")
        text = text.strip() if not field.is_long else text.strip("\r\n")
        if not text.strip():
            if field.required:
                problems[field.name] = _("This is needed.")
            continue
        if text == field.default:
            continue
        try:
            section[field.name] = _READERS[field.widget](text)
        except _WrongText as wrong:
            problems[field.name] = str(wrong)
    if builder == "file":
        del section["build"]
    return Parsed(section, problems)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]


def _number(text: str) -> int | float | str:
    """A number as a recipe writes it; a text where a float would not be the same."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        found = float(text)
    except ValueError:
        raise _WrongText(_("Write a number, with a point before decimals: 0.5")) from None
    return found if str(found) == text else text


def _whole(text: str) -> int:
    if not is_whole(text):
        raise _WrongText(_("Write a whole number."))
    return int(text)


def _size(text: str) -> int | list[int]:
    sizes = [_whole(part.strip()) for part in text.split("+")]
    return sizes if len(sizes) > 1 else sizes[0]


def _day(text: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise _WrongText(_("Write a date as 2024-12-31.")) from None


def _characters(text: str) -> str | list[str]:
    lines = _lines(text)
    return lines if len(lines) > 1 else lines[0]


def _groups(text: str) -> dict[str, Any]:
    """Groups from lines; what stands below a line and further to the right is in it."""
    lines = [line.expandtabs(2) for line in text.splitlines() if line.strip()]
    depths = [len(line) - len(line.lstrip()) for line in lines]
    tree, end = _inside(lines, depths, 0)
    if end < len(lines) or not isinstance(tree, dict):
        raise _WrongText(_("A value is in no group: indent it below the name of one."))
    return tree


def _inside(lines: Sequence[str], depths: Sequence[int], at: int) -> tuple[Any, int]:
    """What stands at the depth of a line and below it, and the line behind that."""
    depth = depths[at]
    named: dict[str, Any] = {}
    values: list[str] = []
    while at < len(lines) and depths[at] >= depth:
        if depths[at] > depth:
            raise _WrongText(_("A line is indented less than its group, and more than others."))
        name = lines[at].strip()
        at += 1
        if at < len(lines) and depths[at] > depth:
            if name in named:
                raise _WrongText(_("Two groups that lie side by side have the same name."))
            named[name], at = _inside(lines, depths, at)
        else:
            values.append(name)
    if named and values:
        raise _WrongText(_("Values and groups stand side by side: put these values into a group."))
    return named or values, at


_READERS: dict[Widget, Callable[[str], Any]] = {
    "number": _number,
    "numbers": lambda text: [_number(part) for part in _parts(text)],
    "levels": lambda text: [[_number(part) for part in _parts(line)] for line in _lines(text)],
    "whole": _whole,
    "wholes": lambda text: [_whole(part) for part in _parts(text)],
    "sizes": lambda text: [_size(part) for part in _parts(text)],
    "text": str,
    "texts": _characters,
    "values": _lines,
    "outline": _groups,
    "choice": str,
    "periods": _parts,
    "date": _day,
    "yes": lambda text: True,
}
"""What the text of a field means."""

"""What the released tables contain: columns with their levels, values, groups, and risks.

All of it can be computed by anyone who has the files. Uses `subject`; `for_public` and `for_owner`
use it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.data.hierarchy.texts import ANY
from shoal.data.tables import Role, Table
from shoal.errors import ShoalError, plural
from shoal.exact.numbers import percent, percent_up
from shoal.look import Html, Zone, section, table, tag, together
from shoal.measure.risk import Assessment
from shoal.privacy.models import parse_model
from shoal.releases.layout import COUNT
from shoal.report.subject import Published

__all__ = [
    "Detail",
    "ShownColumn",
    "columns_of",
    "ladder",
    "promised_k",
    "sections",
]

EXAMPLES = 3
"""How many values of a column are given as examples."""

MOST = 8
"""How many values of a column are listed with their numbers."""

STEPS = 40
"""Steps of a ladder at most: a level that the files cannot show may be any number."""

ROLES = {
    Role.QUASI.value: "others may know it",
    Role.SENSITIVE.value: "nobody should learn it",
    Role.INSENSITIVE.value: "harmless",
}


@dataclass(frozen=True)
class Detail:
    """How much of a column's detail is left.

    words: for people
    level, height: of its values in their hierarchy, as far as that is known
    several: whether its values may be of several levels, and so may all be as they were
    """

    words: str
    level: int | None = None
    height: int | None = None
    several: bool = False

    @property
    def unchanged(self) -> bool:
        """Whether values are released as they were."""
        return self.level == 0


@dataclass(frozen=True)
class ShownColumn:
    """A released column: how detailed it is, and how often each value is released."""

    name: str
    role: str
    detail: Detail
    values: tuple[tuple[str, int], ...]
    """The most frequent first."""

    @property
    def rows(self) -> int:
        return sum(count for _, count in self.values)


def value_text(text: str) -> str:
    """A released value for people; the empty text stands for a missing one."""
    return text or "missing"


def columns_of(shown: Published, heights: Mapping[str, int] | None = None) -> list[ShownColumn]:
    """All released columns in the order of the certificate.

    heights: of hierarchies, which only those know who have them
    """
    columns = []
    for column in shown.certificate.columns:
        name = str(column["name"])
        own = shown.tables.get(column.get("table") or "")
        if own is not None and name in own.names:
            detail = _detail(shown, name, str(column["role"]), heights or {})
            columns.append(ShownColumn(name, str(column["role"]), detail, _values(own, name)))
    return columns


def _values(table: Table, name: str) -> tuple[tuple[str, int], ...]:
    """How often each value is there, the most frequent first, then in their own order."""
    counted = table.count([name], {})
    labels = table.labels(name)
    pairs = zip(counted.codes[0].tolist(), counted.count.tolist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    return tuple((value_text(labels[code]), count) for code, count in ordered)


def _detail(shown: Published, name: str, role: str, heights: Mapping[str, int]) -> Detail:
    certificate, entry = shown.certificate, shown.entry
    level, height = shown.level_of(name), heights.get(name)
    if name in certificate.levels:
        return _at_level(certificate.levels[name], height)
    added = (COUNT,) if entry is None else (COUNT, *entry.adds)
    if name in added or (role == Role.INSENSITIVE.value and name == "record"):
        return Detail("added by the method")
    if level is not None:
        return Detail("unchanged", level, height)
    refined = certificate.refined
    if refined is not None:
        if any(column == name for column, _ in refined.steps):
            words = "several levels: finer where more records are alike"
            return Detail(words, several=True)
        return Detail("the coarsest level")
    if entry is None:
        return Detail("not known")
    words = "each record or group has a level of its own"
    return Detail("each group has ranges of its own" if entry.own_ranges else words, several=True)


def _at_level(level: int, height: int | None) -> Detail:
    if level == 0:
        return Detail("level 0: unchanged", 0, height)
    if height is not None:
        return Detail(f"level {level} of {height}", level, height)
    return Detail(f"level {level}: {plural(level, 'step')} coarser than the data", level)


def ladder(detail: Detail) -> Html:
    """A level as filled steps, with its words: colour is never the only mark."""
    filled = detail.level or 0
    height = detail.height or filled
    if not 0 < height <= STEPS:
        return tag("span", detail.words)
    steps = [tag("i", cls="on" if step < filled else None) for step in range(height)]
    return together(tag("span", *steps, cls="ladder", aria_hidden="true"), " ", detail.words)


def bar(share: float, kind: str = "after") -> Html:
    """A bar that stands for a share; the number stands beside it."""
    width = f"width:{100 * min(max(share, 0), 1):.1f}%"
    return tag("span", tag("i", cls=kind, style=width), cls="bar", aria_hidden="true")


def share_with_bar(share: float, kind: str = "after") -> Html:
    """A share as a bar, and in figures."""
    return tag("span", bar(share, kind), " ", percent(share), cls="share")


# The sections


def sections(shown: Published, heights: Mapping[str, int] | None = None) -> Iterator[Html]:
    """What the released tables contain, section by section."""
    columns = columns_of(shown, heights)
    yield _columns(shown, columns)
    yield _spread(columns)
    yield _risks(shown)


def _columns(shown: Published, columns: Sequence[ShownColumn]) -> Html:
    rows = [
        [
            column.name,
            ROLES.get(column.role, column.role),
            ladder(column.detail),
            f"{len(column.values):,}",
            _examples(column),
        ]
        for column in columns
    ]
    head = ["column", "was declared as", "detail that is left", "values", "for example"]
    sizes = [
        f"{one.rows:,} rows" if not name else f"{one.rows:,} in the table {name!r}"
        for name, one in shown.tables.items()
    ]
    return section(
        _finding(columns),
        tag("p", " ".join([f"The release has {' and '.join(sizes)}.", *_reading(columns)])),
        table(head, rows, numbers=[3], caption="Every released column, with released values"),
        name="columns",
    )


def _finding(columns: Sequence[ShownColumn]) -> str:
    """How many columns are unchanged, as far as the files tell."""
    unchanged = sum(column.detail.unchanged for column in columns)
    several = sum(column.detail.several for column in columns)
    number = plural(len(columns), "released column")
    if unchanged or not several:
        is_are = "is" if unchanged == 1 else "are"
        known = f"{unchanged} of {number} {is_are} unchanged"
        return known if unchanged else f"None of the {number} is unchanged"
    return f"{several} of {number} {'has' if several == 1 else 'have'} values of several levels"


def _reading(columns: Sequence[ShownColumn]) -> Iterator[str]:
    """How to read the details of columns."""
    details = [column.detail for column in columns]
    if any(detail.level or detail.several for detail in details):
        yield (
            "A level says how often a value was replaced by a coarser one, such as an age by a "
            "range of ages."
        )
    if any(detail.level for detail in details):
        yield "Every filled step is such a replacement."
    if any(text == ANY for column in columns for text, _ in column.values):
        yield f"The value {ANY} stands for any value."


def _examples(column: ShownColumn) -> str:
    texts = [text for text, _ in column.values[:EXAMPLES]]
    return ", ".join(texts) + (", …" if len(column.values) > EXAMPLES else "")


def _spread(columns: Sequence[ShownColumn]) -> Html:
    figures = [_spread_of(column) for column in columns if column.values]
    return section(
        "How often each value is released",
        tag("p", f"The {MOST} most frequent values of every column, with their share of the rows."),
        tag("div", *figures, cls="grid"),
        name="values",
    )


def _spread_of(column: ShownColumn) -> Html:
    total = max(column.rows, 1)
    listed = [_spread_row(text, count, total) for text, count in column.values[:MOST]]
    rest = column.values[MOST:]
    if rest:
        left = sum(count for _, count in rest)
        listed.append(_spread_row(f"{plural(len(rest), 'other value')}", left, total))
    caption = f"{column.name}: {plural(len(column.values), 'value')}"
    return table(["value", "rows", "share"], listed, caption=caption, numbers=[1])


def _spread_row(text: str, count: int, total: int) -> list[object]:
    return [text, f"{count:,}", share_with_bar(count / total)]


def _risks(shown: Published) -> Html:
    title = "The sizes of groups, and the risk of being recognised, are not known"
    try:
        assessment = shown.assessment
    except ShoalError as error:
        return section(title, tag("p", _sentence(error.what)), name="risks")
    if assessment.k is None:
        return section(title, tag("p", "The release has no records."), name="risks")
    highest = percent_up(assessment.prosecutor.exact_highest)
    notes = [*_notes(shown)]
    return section(
        f"By the sizes of groups alone, a record is recognised with a chance of at most {highest}",
        tag(
            "p",
            "Anyone can compute these figures from the released table. They are about someone who "
            "knows that a person is in it, and what the columns of that person say which others "
            "may know. They are not the promise, and no promise follows from them.",
        ),
        tag("p", " ".join(notes)) if notes else None,
        *(picture.html() for picture in assessment.pictures(Zone.RELEASED)),
        _diversity(assessment),
        name="risks",
    )


def _notes(shown: Published) -> Iterator[str]:
    """What must be known to read the figures."""
    promised = promised_k(shown)
    if promised is not None:
        yield f"The promise speaks of at least {promised:,} records that are alike."
    if not shown.table.quasi:
        yield (
            "No column was declared as one that others may know, so all released columns count as "
            "such."
        )
    if shown.entry is not None and not shown.entry.truthful:
        yield "Numbers of equal rows are noisy here, and so are these figures."
    if shown.form.apart:
        yield (
            "This release shows the people as they were and hides which sensitive value is whose: "
            "that they are recognised is not what its promise is about."
        )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def promised_k(shown: Published) -> int | None:
    """The smallest size of a group that the promise speaks of."""
    promise, derived = shown.certificate.promise, shown.certificate.derived
    sizes = [promise.get("k"), promise.get("semantic_k")]
    if derived.get("beta") is not None:
        sizes.append(derived.get("k"))
    for name in promise.get("models") or ():
        try:
            sizes.append(getattr(parse_model(name), "k", None))
        except ShoalError:
            continue
    known = [size for size in sizes if isinstance(size, int)]
    return max(known) if known else None


def _diversity(assessment: Assessment) -> Html | None:
    """What the groups show of sensitive columns."""
    if not assessment.sensitive:
        return None
    rows = [
        [name, f"{one.distinct:,}", f"{one.entropy:.3g}", f"{one.closeness:.3g}"]
        for name, one in assessment.sensitive.items()
    ]
    head = ["sensitive column", "values in a group, at least", "entropy l", "t"]
    caption = (
        "What groups show of sensitive columns. With one value in a group, everybody in it is "
        "known to have it. Entropy l is as many equally frequent values as the values of the least "
        "diverse group are worth; t is how far a group’s values are from those of the whole "
        "table, from 0 to 1."
    )
    return table(head, rows, caption=caption)

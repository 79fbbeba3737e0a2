"""What notebooks show of tables, schemas and hierarchies: never a cell of an input.

Uses `look`; the classes load it when a notebook asks.
"""

from collections.abc import Sequence
from itertools import pairwise

from shoal.data.hierarchy.tree import Hierarchy, changes
from shoal.data.kinds import Kind
from shoal.data.schema import Schema
from shoal.data.sources import Memory
from shoal.data.tables import Table
from shoal.errors import plural
from shoal.look import Html, Zone, entries, tag, together
from shoal.look.notebooks import NOTHING, Card, first_of, note

__all__ = ["card_of_hierarchy", "card_of_schema", "card_of_table"]

_COLUMNS = 40
"""Columns of a table that are listed."""

_VALUES = 12
"""Values below one value of a hierarchy that are listed."""

_NODES = 120
"""Values of a hierarchy that are listed in all."""

_HEAD = ("column", "role", "type", "hierarchy")


def card_of_table(table: Table) -> Card:
    """The columns of a table, and what the owner said of its rows."""
    # Looking for a type may take a pass over rows that are elsewhere.
    here = isinstance(table.source, Memory)
    rows = []
    for name in table.names:
        tree = table.hierarchies.get(name)
        kind = table.kind(name) if here else _declared(table, name)
        guessed = here and name in table.guessed
        rows.append(
            [name, _role(table.roles.get(name)), _type(kind, guessed), _summary(tree)],
        )
    people = "every row is a person" if table.rows_are_people else "not stated"
    missing = "refused" if table.missing == "refuse" else "a value of their own"
    said = entries([("missing values", missing), ("rows and people", people)])
    title = f"Table of {plural(table.rows, 'row')} × {plural(len(rows), 'column')}"
    return Card(title, [first_of("column", _COLUMNS, _HEAD, rows), said], Zone.OWNER)


def card_of_schema(schema: Schema) -> Card:
    """The columns of a schema."""
    rows = []
    for name, role in schema.roles.items():
        kind = _type(schema.kinds[name], name in schema.guessed)
        rows.append([name, _role(role), kind, _summary(schema.hierarchies.get(name))])
    zone = Zone.OWNER if schema.reveals else Zone.RELEASED
    title = f"Schema of {plural(len(rows), 'column')}"
    return Card(title, [first_of("column", _COLUMNS, _HEAD, rows)], zone)


def _declared(table: Table, name: str) -> Kind | None:
    """The type of a column as far as nobody has to look at values."""
    tree = table.hierarchies.get(name)
    return table.types.get(name) or (None if tree is None else tree.kind)


def _role(role: str | None) -> str:
    return "none yet" if role is None else str(role)


def _type(kind: Kind | None, guessed: bool) -> str:
    if kind is None:
        return "as it is stored"
    return f"{kind.value}, read off the values" if guessed else kind.value


def _summary(tree: Hierarchy | None) -> str:
    if tree is None:
        return NOTHING
    derived = ", derived from the rows" if tree.derived else ""
    return f"{plural(tree.height + 1, 'level')}, {plural(tree.leaves, 'value')}{derived}"


def card_of_hierarchy(tree: Hierarchy) -> Card:
    """The levels of a hierarchy, and its values as a tree."""
    title = f"Hierarchy of {plural(tree.leaves, f'{tree.kind.value} value')}"
    title += f", {plural(tree.height + 1, 'level')}"
    if tree.derived:
        words = "Derived from the rows of a table: its values are theirs, and are not shown."
        return Card(title, [note(words), _levels(tree, examples=False)], Zone.OWNER)
    parts = [
        note("Public: its values and levels were declared, not read off rows."),
        _levels(tree, examples=True),
        _value(tree, tree.height, (0, len(tree.maps[0])), _NODES, is_open=True),
    ]
    return Card(title, parts, Zone.RELEASED)


def _levels(tree: Hierarchy, *, examples: bool) -> Html:
    """How many values each level has."""
    rows = []
    for level, labels in enumerate(tree.labels):
        row = [str(level), f"{len(labels):,}"]
        if examples:
            row.append(_listed(labels, 3))
        rows.append(row)
    head = ["level", "values", "such as"] if examples else ["level", "values"]
    return first_of("level", len(rows), head, rows)


def _listed(labels: Sequence[str], most: int) -> str:
    shown = ", ".join(label or "missing" for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, …"


def _value(
    tree: Hierarchy, level: int, run: tuple[int, int], most: int, *, is_open: bool = False
) -> Html:
    """A value that covers a run of leaves, and the values below it.

    most: how many values may be listed below it, in all
    """
    first, end = run
    label = _label(tree, level, first)
    if level == 0:
        return tag("span", label)
    below = tag("span", f" level {level}, covers {plural(end - first, 'value')}", cls="muted")
    name = together(label, below)
    if most <= 0:
        return name
    return tag("details", tag("summary", name), _below(tree, level - 1, run, most), open=is_open)


def _below(tree: Hierarchy, level: int, run: tuple[int, int], most: int) -> Html:
    """The values of a level that cover a run of leaves; of many, the first ones."""
    first, end = run
    ends = first + 1 + changes(tree.maps[level][first:end])
    runs = list(pairwise([first, *ends.tolist(), end]))
    listed = runs[: min(_VALUES, most)]
    rest = len(runs) - len(listed)
    more = f"and {rest:,} more" if rest else None
    if level == 0:
        labels = [_label(tree, 0, start) for start, _ in listed]
        return tag("p", ", ".join([*labels, more] if more else labels))
    # Each gets its share, so that no value is cut short because of those before it.
    share = (most - len(listed)) // len(listed)
    values = [tag("li", _value(tree, level, each, share)) for each in listed]
    return tag("ul", *values, tag("li", more, cls="muted") if more else None)


def _label(tree: Hierarchy, level: int, leaf: int) -> str:
    return tree.labels[level][tree.maps[level][leaf]] or "missing"

"""Made-up tables of a schema, drawn from a law that is public: nobody in them exists.

How the law was chosen: docs/reference/benchmarks-kept.md. Uses `data` and `counts`; forecasts use
it. Draws come from a seeded generator: this is making data, not protecting it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.chance import Chance
from shoal.counts import Codes, Counts, group, smallest
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.data.schema import Schema
from shoal.data.sources import (
    Keep,
    Laid,
    Reading,
    Recoded,
    Rewritten,
    Suppressed,
    known_values,
)
from shoal.data.tables import Missing, Table
from shoal.errors import HierarchyError, InternalError, ParameterError
from shoal.exact.numbers import whole

__all__ = ["LARGEST", "Law", "made_up", "resampled"]

Floats = npt.NDArray[np.float64]

ON_A_SCALE = 0.6
"""The exponent of columns with numbers or dates, whose values are about equally frequent."""

CODES = 20
"""Up to this many numbers are taken for codes, not for a scale."""

LARGEST = 1_000_000
"""Records of the largest table that is made up.

Fewer records that stand for several each would not do: one alone would then pass for a crowd.
"""

_ENDS = 1e-12
"""Shares closer to 0 or 1 are taken as this close."""


@dataclass(frozen=True)
class Law:
    """The law by which records are made up.

    The values of a column have shares in proportion to 1, 1/2^s, 1/3^s, …, in random order. The
    exponents s of columns are spread evenly from 0 to `steepest`, but for those on a scale: some
    columns of a census have values of equal frequency, and some hardly more than one value.

    Columns depend on each other by a normal law: each record has a place of its own, and places of
    its values are correlated with it by `dependence`, from 0 (independent columns) to 1.
    """

    steepest: float
    dependence: float


def made_up(
    schema: Schema,
    records: int,
    law: Law,
    seed: int,
    values: Mapping[str, int] | None = None,
) -> Table:
    """A made-up table with the released columns of a schema.

    values: how many values columns without a hierarchy have
    """
    draw = np.random.default_rng(seed)
    sizes = _sizes(schema, values or {})
    drawn = min(records, LARGEST)
    common = draw.standard_normal(drawn)
    own = (1 - law.dependence**2) ** 0.5
    codes = []
    for size, exponent in zip(sizes.values(), _exponents(schema, law, draw), strict=True):
        shares = draw.permutation(_shares(size, exponent))
        direction = draw.choice((-1.0, 1.0))
        place = law.dependence * direction * common + own * draw.standard_normal(drawn)
        codes.append(_placed(shares, place).astype(smallest(size)))
    rows = group(tuple(sizes), codes, tuple(sizes.values()))
    keys = {name: tuple(map(str, range(size))) for name, size in sizes.items()}
    for name in schema.hierarchies.keys() & sizes.keys():
        keys[name] = schema.hierarchies[name].labels[0][: sizes[name]]
    return _table(schema, rows, keys, "refuse")


def resampled(like: Table, schema: Schema, records: int, seed: int) -> Table:
    """A table of records drawn from a public table with the same columns, each at most once."""
    roles = {name: schema.roles[name] for name in schema.released}
    public = replace(like, hierarchies=dict(schema.hierarchies), roles=roles)
    public.look_at(roles)  # an error if the public table lacks one
    names = [name for name in like.names if name in roles]
    rows = public.count(names)
    if not rows.total:
        raise ParameterError("has no records", "give a public table with some", option="like")
    draw = np.random.default_rng(seed)
    drawn = min(records, rows.total, LARGEST)
    count = draw.multivariate_hypergeometric(rows.count, drawn, method="marginals")
    known = replace(rows, count=count.astype(np.int64)).where(count > 0)
    trees = {name: public.hierarchy(name) for name in names if name in public.hierarchies}
    keys = {name: public.labels(name) for name in names}
    keys |= {name: tree.labels[0] for name, tree in trees.items()}
    same = replace(schema, hierarchies=trees)
    return _table(same, known, keys, public.missing)


def _sizes(schema: Schema, values: Mapping[str, int]) -> dict[str, int]:
    """How many values each released column has."""
    sizes = {}
    for name in schema.released:
        if name in schema.hierarchies:
            sizes[name] = schema.public(name).leaves
        elif name in values:
            sizes[name] = whole(values[name], f"values of {name!r}")
            if sizes[name] > LARGEST:
                raise ParameterError(
                    f"column {name!r} is said to have {sizes[name]:,} values",
                    f"say {LARGEST:,}: made-up tables have no more records",
                    option="values",
                )
        else:
            raise HierarchyError(
                f"column {name!r} has no hierarchy, so it is not known which values it may have",
                "say in `values` how many, or give with `like` a public table like this one",
            )
    return sizes


def _exponents(schema: Schema, law: Law, draw: np.random.Generator) -> list[float]:
    """How unequal the shares of each column's values are."""
    names = schema.released
    others = [name for name in names if not _is_scale(schema, name)]
    spread = law.steepest * (np.arange(len(others)) + 0.5) / max(len(others), 1)
    exponents = dict(zip(others, draw.permutation(spread).tolist(), strict=True))
    return [exponents.get(name, ON_A_SCALE) for name in names]


def _is_scale(schema: Schema, name: str) -> bool:
    """Whether a column has numbers or dates."""
    tree = schema.hierarchies.get(name)
    if tree is None or tree.leaves <= CODES:
        return False
    if schema.kinds.get(name, tree.kind) is not Kind.TEXT or tree.kind is not Kind.TEXT:
        return True
    return all(label.lstrip("+-").isdecimal() for label in tree.labels[0][: tree.leaves])


def _shares(size: int, exponent: float) -> Floats:
    weights = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    shares: Floats = weights / weights.sum()
    return shares


def _placed(shares: Floats, place: Floats) -> npt.NDArray[np.intp]:
    """The values at some places of a normal law, each as often as its share says."""
    cumulative = np.clip(np.cumsum(shares)[:-1], _ENDS, 1 - _ENDS)
    cuts = [*map(NormalDist().inv_cdf, cumulative.tolist())]
    return np.searchsorted(cuts, place, side="right")


def _table(
    schema: Schema, rows: Counts, keys: Mapping[str, tuple[str, ...]], missing: Missing
) -> Table:
    """A table of these rows, every value of which is a text."""
    trees = {name: _as_text(tree) for name, tree in schema.hierarchies.items() if name in keys}
    return Table(
        CountedRows(rows, keys),
        roles={name: schema.roles[name] for name in rows.names},
        hierarchies=trees,
        types=dict.fromkeys(rows.names, Kind.TEXT),
        missing=missing,
        rows_are_people=True,
    )


def _as_text(tree: Hierarchy) -> Hierarchy:
    return replace(tree, kind=Kind.TEXT, cuts=())


@dataclass(frozen=True, eq=False)
class CountedRows:
    """A source of rows that are only counted: of a release nothing is laid out as a dataframe."""

    counted: Counts
    keys: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return self.counted.names

    @property
    def rows(self) -> int:
        return self.counted.total

    def together(self, names: Sequence[str]) -> "CountedRows":
        return self

    def describe(self) -> str:
        return "the table is made up"

    def is_headless(self) -> bool:
        return False

    def kind(self, name: str) -> Kind:
        return Kind.TEXT

    def guessed(self, name: str) -> bool:
        return False

    def decimal(self, name: str) -> bool:
        return False

    def rounded(self, name: str) -> bool:
        return False

    def distinct(self, name: str) -> int:
        return len(self.keys[name])

    def values(self, columns: Sequence[Reading]) -> list[tuple[Key | None, ...]]:
        """All values that rows may have; the empty text is a missing one."""
        return [tuple(text or None for text in self.keys[column.name]) for column in columns]

    def known(self, column: Reading) -> tuple[int, int]:
        return known_values(self, column)

    def count(self, columns: Sequence[Recoded]) -> Counts:
        names = [column.column.name for column in columns]
        codes: list[Codes] = []
        for name, column in zip(names, columns, strict=True):
            own = self.counted.column(name)
            codes.append(own if column.codes is None else column.codes[own])
        cards = [column.card for column in columns]
        return group(names, codes, cards, self.counted.count)

    def bounded(
        self, unit: Reading, columns: Sequence[Reading], rows: int, chance: Chance
    ) -> "CountedRows":
        raise InternalError("the rows of a made-up table are nobody's")

    def write_back(
        self,
        columns: Sequence[Rewritten],
        keep: Keep | None = None,
        suppressed: Suppressed = "drop",
    ) -> Any:
        raise InternalError("a made-up table has no single records")

    def make(self, columns: Laid, kinds: Mapping[str, Kind]) -> int:
        """How many different rows are released: nothing else of them is looked at."""
        values = {name: texts for name, (texts, _) in columns.items() if texts is not None}
        codes = [columns[name][1] for name in values]
        cards = [max(len(texts), 1) for texts in values.values()]
        return group(list(values), codes, cards).distinct

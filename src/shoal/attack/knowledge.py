"""The knowledge of an attacker who knows the algorithm.

It consists of the people with what is publicly known of them, the released groups with their
values, and the method, which can be run again. Uses the tables and the methods' catalogue;
`enumeration`, `sampling`, `mondrian` and `optimal` use it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.attack.inferences import Inference, Shares
from shoal.attack.judge import Judge
from shoal.chance import Chance
from shoal.data.hierarchy.texts import ANY, Texts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.data.sources import Memory
from shoal.data.tables import Role, Table, table
from shoal.errors import ColumnError, InfeasibleError, InputError, ParameterError
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.methods.method import Method
from shoal.privacy.models import bound

__all__ = [
    "WHO",
    "Knowledge",
    "Label",
    "Value",
    "Values",
    "require_attackable",
    "require_one_row_per_person",
    "text_of",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Value: TypeAlias = Key | None
Values: TypeAlias = tuple[Value, ...]
Label: TypeAlias = tuple[str, ...]
"""What a released group shows, column by column."""

V = TypeVar("V")

WHO = "\0who"
"""A column with everyone's number; no column of a table is called that."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that the attacker knows.

    people: all columns of the input that others may know, with roles and hierarchies; not the
        sensitive one
    released: the released dataframe
    kind, hierarchy: of the sensitive column, where the models need them
    """

    method: Method
    people: Table
    released: Any
    column: str
    kind: Kind | str | None = None
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        known = self.column in self.people.names
        if known or self.column not in self.frame.columns:
            raise ColumnError(
                f"column {self.column!r} must be in the release, and not among what is known of the"
                " people",
                "name the sensitive column of the release, and leave it out of `people`",
            )
        leaves_out = self.entry.leaves_out or self.entry.suppresses
        most_left_out = self.people.rows if leaves_out else 0
        if not 0 <= self.left_out <= most_left_out:
            raise ColumnError(
                f"there are {self.people.rows:,} people and {len(self.frame):,} released records",
                "give the people of the release, each once",
            )

    @cached_property
    def entry(self) -> Entry:
        """What the catalogue says of the method; the defaults if it is not in there."""
        if self.method.name in CATALOGUE:
            return entry_of(self.method.name)
        return Entry(type(self.method), summary="", draft=())

    # The release

    @cached_property
    def frame(self) -> Any:
        """The release, whatever dataframe it is."""
        return Memory.of(self.released).frame

    @property
    def left_out(self) -> int:
        """The number of people who are not in the release."""
        return self.people.rows - len(self.frame)

    @cached_property
    def values(self) -> Table:
        """The released sensitive values."""
        return self._table(self.frame.select(self.column))

    @property
    def keys(self) -> Sequence[Value]:
        """The different sensitive values that were released."""
        return self.values.keys(self.column)

    @cached_property
    def shown_names(self) -> list[str]:
        """The released columns that groups are known by."""
        mark = self.entry.as_views.mark if self.entry.as_views else None
        known = self.people.quasi if mark is None else (mark, *self.people.quasi)
        return [name for name in known if name in self.frame.columns]

    @cached_property
    def _record_labels(self) -> list[Label]:
        return self.labels_of(self.frame)

    def labels_of(self, frame: Any) -> list[Label]:
        """The label of every record of a release of the same columns."""
        columns = [map(text_of, frame[name].to_list()) for name in self.shown_names]
        return list(zip(*columns, strict=True))

    @cached_property
    def labels(self) -> list[Label]:
        """The released groups, in the order of their labels."""
        return sorted(set(self._record_labels))

    @cached_property
    def place(self) -> dict[Label, int]:
        """The number of every released group."""
        return {label: at for at, label in enumerate(self.labels)}

    @cached_property
    def group_of_record(self) -> Ints:
        """The group of every released record."""
        groups = [self.place[label] for label in self._record_labels]
        return np.array(groups, dtype=np.int64)

    @cached_property
    def bags(self) -> Ints:
        """How often every group (line) shows every value (column)."""
        shape = len(self.labels), len(self.keys)
        bags = np.zeros(shape, dtype=np.int64)
        [column] = self.values.records([self.column])
        np.add.at(bags, (self.group_of_record, column.codes), 1)
        return bags

    def apparent(self, group: int) -> dict[Value, Fraction]:
        """The shares of values that a group shows."""
        bag = self.bags[group].tolist()
        size = sum(bag)
        shares = {}
        for key, often in zip(self.keys, bag, strict=True):
            if often:
                shares[key] = Fraction(often, size)
        return shares

    # The people

    @cached_property
    def group_of(self) -> Ints | None:
        """The released group of every person, -1 for those whose group was suppressed.

        None where people fit several groups: then theirs depends on more than what is shown.
        """
        names = [name for name in self.shown_names if name in self.people.names]
        codes = [self.coded(name) for name in names]
        # People who are alike fit the same groups, so distinct rows will do.
        rows, row_of = np.unique(np.stack(codes), axis=1, return_inverse=True)
        shape = rows.shape[1], len(self.labels)
        fits = np.ones(shape, dtype=np.bool_)
        for name, codes_of_rows in zip(names, rows, strict=True):
            covered = self._covered(name)
            fits &= covered[:, codes_of_rows].T
        starred = self.place.get((ANY,) * len(self.shown_names))
        if starred is not None and self.entry.suppresses:
            # Whoever fits another group was not released as a row of stars.
            fits[:, starred] &= fits.sum(axis=1) == 1
        number = fits.sum(axis=1)
        fewest = 0 if self.left_out and self.entry.suppresses else 1
        if (number < fewest).any() or (number > 1).any():
            return None
        # Everyone fits one group, but the release may be about other people.
        groups: Ints = np.where(number, fits.argmax(axis=1), -1)[row_of.ravel()]
        sizes = np.bincount(groups[groups >= 0], minlength=len(self.labels))
        if (sizes != self.bags.sum(axis=1)).any():
            return None
        return groups

    def coded(self, name: str) -> Ints:
        """Everyone's leaf in a column, or code if the column has no hierarchy."""
        [column] = self.people.records([name])
        codes = column.codes
        if name in self.people.hierarchies:
            codes = self.people.leaf_of(name)[codes]
        return codes.astype(np.int64)

    def _covered(self, name: str) -> Bools:
        """Which leaves of a column (or codes) every group's text stands for, one line per group."""
        at = self.shown_names.index(name)
        reader = self._reader(name)
        flags: dict[str, Bools] = {}
        for text in sorted({label[at] for label in self.labels}):
            leaves = reader(text)
            if leaves is None:
                raise InputError(
                    f"the release has texts in column {name!r} that its hierarchy does not have",
                    "give the recipe that the release was made by",
                )
            flags[text] = leaves
        return np.stack([flags[label[at]] for label in self.labels])

    def _reader(self, name: str) -> Callable[[str], Bools | None]:
        """Reads a released text as the leaves that it stands for; None if it cannot be read."""
        [column] = self.people.records([name])
        if name not in self.people.hierarchies:
            return Texts.of_values(column.labels, column.keys, column.kind)
        texts = Texts.of(self.people.hierarchy(name))
        if self.entry.own_ranges:
            return texts

        def labels_only(text: str) -> Bools | None:
            if text == ANY or texts.is_label(text):
                return texts(text)
            return None

        return labels_only

    # The models

    @cached_property
    def judge(self) -> Judge:
        """Judges bags of the sensitive values by the method's models."""
        stated = getattr(self.method, "models", ())
        models = tuple(bound(model, self.values) for model in stated)
        if self.hierarchy is None:
            leaf = np.arange(len(self.keys))
            leaves = len(self.keys)
        else:
            leaf = self.values.leaf_of(self.column).astype(np.int64)
            leaves = len(self.values.hierarchy(self.column).maps[0])
        total = self.bags.sum(axis=0)
        return Judge(models, self.column, total, leaf, leaves)

    @cached_property
    def _broken(self) -> Callable[[tuple[Fraction, ...]], tuple[str, ...]]:
        """The models that a distribution does not satisfy."""
        judges = [self.judge.only(model) for model in self.judge.models]

        @cache
        def broken(shares: tuple[Fraction, ...]) -> tuple[str, ...]:
            names = []
            for model, judge in zip(self.judge.models, judges, strict=True):
                if not judge.believed(shares):
                    names.append(str(model))
            return tuple(names)

        return broken

    def inference(
        self,
        rows: Iterable[int],
        apparent: Shares,
        shares: Sequence[Fraction],
        why: Iterable[str],
        bounds: Sequence[tuple[float, float]] | None = None,
    ) -> Inference:
        """The inference about people, given what their group shows and the probabilities of values.

        Instead of exact probabilities there may be bounds.
        """
        share_of = dict(zip(self.keys, shares, strict=True))
        possible = [key for key, share in share_of.items() if share or key in apparent]
        inherent = {key: share_of[key] for key in possible}
        inference = Inference(tuple(rows), apparent, inherent)
        if bounds is not None:
            bounds_of = dict(zip(self.keys, bounds, strict=True))
            inference = replace(inference, bounds={key: bounds_of[key] for key in inherent})
        if not inference.gain:
            return inference
        inference = replace(inference, why=tuple(why))
        if bounds is not None:
            return inference
        # Only now, as judging takes long, and what the group shows satisfies the models.
        return replace(inference, broken=self._broken(tuple(shares)))

    # Running the method again

    def release_of(
        self,
        given: Sequence[Value],
        chance: Chance,
        numbered: bool = False,
    ) -> Any:
        """The dataframe released if people have these values; None if the method refuses.

        `numbered` input also has everyone's number, as the column `WHO`.
        """
        try:
            release = self.method.release(self._input(given, numbered), chance)
        except InfeasibleError:
            return None
        return nw.from_native(release.table, eager_only=True)

    def _input(self, given: Sequence[Value], numbered: bool) -> Table:
        backend = self.people.frame.implementation
        added = [nw.new_series(self.column, list(given), backend=backend)]
        if numbered:
            numbers = list(range(self.people.rows))
            added.append(nw.new_series(WHO, numbers, backend=backend))
        return self._table(self.people.frame.with_columns(*added))

    def _table(self, frame: Any) -> Table:
        """These columns, with the roles, types and hierarchies that they have in the input."""
        role_of = dict(self.people.roles)
        role_of[self.column] = Role.SENSITIVE
        role_of[WHO] = Role.INSENSITIVE
        names_of: dict[str, list[str]] = {role.value: [] for role in Role}
        for name, role in role_of.items():
            if name in frame.columns:
                names_of[role.value].append(name)

        types: dict[str, Kind | str] = {**self.people.types}
        if self.kind is not None:
            types[self.column] = self.kind
        trees = dict(self.people.hierarchies)
        if self.hierarchy is not None:
            trees[self.column] = self.hierarchy
        return table(
            frame.to_native(),
            **names_of,
            hierarchies=_among(frame.columns, trees),
            types=_among(frame.columns, types),
            missing=self.people.missing,
            # Everyone is in the register once.
            rows_are_people=True,
        )

    def rows_of(self, frame: Any, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The rows of some columns as texts, in an order that depends on nothing else."""
        rows = frame.select(*names).iter_rows()
        return tuple(sorted(tuple(map(text_of, row)) for row in rows))


def _among(names: Sequence[str], things: Mapping[str, V]) -> dict[str, V]:
    """The things of some columns only."""
    return {name: thing for name, thing in things.items() if name in names}


def text_of(value: object) -> str:
    """A released cell as a text; NaN is a missing value too."""
    if value is None or value != value:
        return ""
    return str(value)


def require_one_row_per_person(method: Method) -> None:
    """ParameterError if a method draws rows, so that it cannot be run again as it was."""
    unit = getattr(method, "unit", None)
    if unit is not None:
        raise ParameterError(
            f"the method draws one row of each {unit!r}, and which one is not public, so its inputs"
            " cannot be run again",
            "attack the release of a table with one row per person",
        )


@typed
def require_attackable(method: Method) -> None:
    """ParameterError if someone who knows the method has nothing to find, which says why."""
    if method.name in CATALOGUE:
        why = entry_of(method.name).not_attacked
        if why:
            raise ParameterError(f"this is a release by {method.name}: {why}")

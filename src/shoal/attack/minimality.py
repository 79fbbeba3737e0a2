"""The minimality attack: rule out every input on which the method would have released something else.

Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing (VLDB 2007); Zhang, chapters 4 and 5. The attacker
knows who is in the table and their quasi-identifying values, the method with its parameters, and the release. What is left is
the *disclosure set*; what it says of a person is their *inherent* distribution, beside the *apparent* one that their group shows.
`expose` finds both: by counting (`counting`), by trying all inputs with exact weights of the method's own coins (`coins`), or by
sampling.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, combinations_with_replacement, product
from math import comb, factorial, lgamma, log, prod
from typing import Any, Literal, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.attack.coins import Enumerated, law
from shoal.attack.counting import Candidate, Judge, Puzzle, Replay, Ways, drawn, ways
from shoal.chance import Chance, Seeded
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.data.sources import Memory
from shoal.data.tables import Role, Table, table
from shoal.errors import ColumnError, InfeasibleError, InputError, ParameterError, TooLargeError
from shoal.lattice import Groups, Lattice, Node
from shoal.measure.loss import LOSSES
from shoal.methods import Method, Progress, silent
from shoal.methods.axes import Axis, axis_of
from shoal.methods.coincident import GROUP, Coincident
from shoal.methods.disclosure import Disclosure, orders
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.privacy.models import Model, bound

__all__ = ["Belief", "Exposed", "beliefs", "expose", "first_safe", "inputs"]

LARGEST = 100_000  # inputs worth trying one by one
FEW = 3_000  # inputs that are tried one by one without being asked to
FEWEST = 100
"""Samples that must lead to the release before anything is said."""
_ENOUGH = 2_000  # of these
CANDIDATES = 8  # finer tables that are counted at once
_RUNS = 2_000  # places of the longest column whose ranges are all written out

Value: TypeAlias = Key | None
Values: TypeAlias = tuple[Value, ...]
Shares: TypeAlias = Mapping[Any, Fraction]
How: TypeAlias = Literal["counting", "enumeration", "sampling"]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
P = TypeVar("P", bound=Hashable)

_WHO = "\0who"  # no column of a table is called so


# What is found


@dataclass(frozen=True)
class Belief:
    """What is believed of some people (their rows) who are alike: by what their group shows, and by someone who knows the method.

    `inherent` is exact, unless there are `bounds`: then it is an estimate, and all bounds hold together with 99 %.
    """

    rows: tuple[int, ...]
    apparent: Shares
    inherent: Shares
    why: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """The models that the inherent distribution does not satisfy."""
    bounds: Mapping[Any, tuple[float, float]] | None = None

    @property
    def shown(self) -> Fraction:
        """The largest probability that the group shows."""
        return max(self.apparent.values())

    def least(self, value: Any) -> Fraction:
        """How probable a value is at least."""
        return (
            self.inherent.get(value, Fraction(0))
            if self.bounds is None
            else Fraction(self.bounds[value][0])
        )

    @property
    def surest(self) -> Fraction:
        """The largest probability of a value, at least."""
        return max(map(self.least, self.inherent))

    @property
    def gain(self) -> Fraction:
        """By how much a value is more probable than the group shows, at most and at least."""
        return max(
            [Fraction(0), *(self.least(value) - self.apparent[value] for value in self.inherent)]
        )


@dataclass(frozen=True)
class Exposed:
    """Everyone's inherent distribution beside the apparent one.

    `left` is the share of the inputs that the table allows which is in the disclosure set, weighed by the method's coins; None
    if not known. Nothing is said of `unknown` people: too few samples led to the release, or they were left out.
    """

    how: How
    people: int
    beliefs: tuple[Belief, ...]
    left: Fraction | None = None
    unknown: int = 0
    accepted: tuple[int, int] | None = None
    """Of so many samples that led to the release how many were drawn."""

    @property
    def sampled(self) -> bool:
        """Whether inputs were sampled, all or in part: then all figures are lower bounds."""
        return self.left is None

    def _count(self, some: Callable[[Belief], object]) -> int:
        return sum(len(belief.rows) for belief in self.beliefs if some(belief))

    @property
    def changed(self) -> int:
        """Of how many people a value is more probable than their group shows."""
        return self._count(lambda belief: belief.gain)

    @property
    def surer(self) -> int:
        """Of how many people the attacker is surer than the group shows of any value."""
        return self._count(lambda belief: belief.surest > belief.shown)

    @property
    def broken(self) -> int:
        """For how many people a model that the table satisfies does not hold against the attacker."""
        return self._count(lambda belief: belief.broken)

    @property
    def certain(self) -> int:
        """Of how many people the value is known, though the group shows several."""
        return self._count(lambda belief: belief.surest == 1 > belief.shown)

    @property
    def gain(self) -> Fraction:
        """By how much a value of somebody is more probable than the group shows, at most."""
        return max((belief.gain for belief in self.beliefs), default=Fraction(0))

    def of(self, row: int) -> Belief:
        """What is believed of a person."""
        found = next((belief for belief in self.beliefs if row in belief.rows), None)
        if found is None:
            raise ParameterError(f"nothing is said of row {row}")
        return found

    def most_exposed(self) -> list[Belief]:
        """Those of whom something is learnt, with the largest gain first."""
        return sorted(
            (one for one in self.beliefs if one.gain),
            key=lambda one: (-one.gain, -one.surest, one.rows),
        )


# Everyone


def expose(
    method: Method,
    people: Table,
    released: Any,
    column: str,
    *,
    how: How | None = None,
    kind: Kind | str | None = None,
    hierarchy: Hierarchy | None = None,
    tries: int = 1_000,
    seed: int = 0,
    progress: Progress = silent,
) -> Exposed:
    """Everyone's inherent distribution of a sensitive column, given a release of a method.

    people: all columns of the input that others may know, with their roles and hierarchies; not the sensitive one
    released: the released dataframe, in which everyone is; of coincident generalisation, all but some who were drawn: the
        attacker does not know who, and what is found of someone is what he believes if they are in the release
    how: by itself counting where the structure allows, else all inputs where they are few, else sampling
    kind, hierarchy: of the sensitive column, where the models need them
    tries: how many inputs are sampled; bounds hold with 99 % for all people and values together
    seed: of the samples, and of the coins of the method that is run on them
    """
    if (unit := getattr(method, "unit", None)) is not None:
        raise ParameterError(
            f"the method draws one row of each {unit!r}, and which is not public, so its inputs cannot be run "
            "again; attack the release of a table with one row per person"
        )
    seen = _Seen(method, people, released, column, kind, hierarchy)
    if how in (None, "counting"):
        found = seen.counted(tries, np.random.default_rng(seed), progress)
        if found is not None:
            return found
        if how == "counting":
            raise ParameterError(
                f"the inputs of {method.name} cannot be counted here; use 'enumeration' or 'sampling'"
            )
    if how == "enumeration" or (how is None and seen.inputs <= FEW):
        return seen.enumerated(Enumerated)
    if seen.left_out or seen.group_of is None:
        why = (
            "records were left out by lot"
            if seen.left_out
            else "people fit several released groups"
        )
        proven = isinstance(method, Coincident | Disclosure)
        raise ParameterError(
            f"{why}, so that inputs cannot be sampled; all are tried where there are up to {FEW:,}, and here are "
            f"{_counted(seen.inputs)} or more; attack the release of a smaller table"
            + (
                f". For all tables, that nothing is learnt but what is shown is proven (docs: proofs/{method.name})"
                * proven
            )
        )
    return seen.sampled(tries, np.random.default_rng(seed), progress)


@typed
def inputs(method: Method, people: Table, released: Any, column: str) -> dict[Values, Fraction]:
    """Every way to give the released values to the people that may lead to the very same release, with the probability of that.

    `people` has all columns of the input but the sensitive one, with their roles and hierarchies.
    """
    weights: dict[Values, Fraction] = {}
    for given, _, weight, _ in _Seen(method, people, released, column).possible(Enumerated):
        weights[given] = weights.get(given, Fraction(0)) + weight
    return weights


@typed
def beliefs(possible: Iterable[Sequence[Value]]) -> list[dict[Value, Fraction]]:
    """For every person what the attacker believes about them once only these inputs are left, equally likely or with weights.

    >>> beliefs([("flu", "cold"), ("flu", "gout")])
    [{'flu': Fraction(1, 1)}, {'cold': Fraction(1, 2), 'gout': Fraction(1, 2)}]
    """
    weights = possible if isinstance(possible, Mapping) else dict.fromkeys(possible, Fraction(1))
    if not all(isinstance(weight, Fraction | int) for weight in weights.values()):
        raise ParameterError(
            "`possible` has inputs with weights that are not fractions; give each one"
        )
    total = sum(weights.values(), Fraction(0))
    found: list[dict[Value, Fraction]] = []
    for given, weight in weights.items():
        found = found or [{} for _ in given]
        for own, value in zip(found, given, strict=True):
            own[value] = own.get(value, Fraction(0)) + weight / total
    return found


@dataclass(eq=False)
class _Seen:
    """What the attacker sees: people with what is known of them, the released groups with their values, and the method."""

    method: Method
    people: Table
    released: Any
    column: str
    kind: Kind | str | None = None
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        shown = Memory.of(self.released).frame
        if self.column in self.people.names or self.column not in shown.columns:
            raise ColumnError(
                f"column {self.column!r} must be in the release and not among what is known of the people"
            )
        self.left_out = self.people.rows - len(shown)
        if self.left_out < 0 or (self.left_out and not isinstance(self.method, Coincident)):
            raise ColumnError(
                f"{self.people.rows:,} people and {len(shown):,} released records; the attack needs all of them released"
            )
        self.frame = shown
        self._types = {
            **self.people.types,
            **({} if self.kind is None else {self.column: self.kind}),
        }
        self._trees = {
            **self.people.hierarchies,
            **({} if self.hierarchy is None else {self.column: self.hierarchy}),
        }
        self.values = self._table(shown.select(self.column))
        self.keys = self.values.column(self.column).keys
        names = [name for name in (GROUP, *self.people.quasi) if name in shown.columns]
        texts = (
            list(
                zip(*([_text(one) for one in shown[name].to_list()] for name in names), strict=True)
            )
            if names
            else []
        )
        self.labels = sorted(set(texts))
        place = {label: at for at, label in enumerate(self.labels)}
        self.record_of = np.array([place[text] for text in texts], dtype=np.int64)
        self.bags = np.zeros((len(self.labels), len(self.keys)), dtype=np.int64)
        np.add.at(self.bags, (self.record_of, self.values.column(self.column).codes), 1)
        self.names = names

    @cached_property
    def group_of(self) -> Ints | None:
        """The released group of every person; None where people fit several, so that it depends on more than what is shown."""
        columns = [name for name in self.names if name != GROUP]
        codes = [self._coded(name)[0] for name in columns]
        rows, row = np.unique(np.stack(codes), axis=1, return_inverse=True)
        fits = np.ones((rows.shape[1], len(self.labels)), dtype=np.bool_)
        for j, name in enumerate(columns):
            at = self.names.index(name)
            known = self._covered(name, {label[at] for label in self.labels})
            texts = sorted(known)
            which = np.array([texts.index(label[at]) for label in self.labels])
            fits &= np.stack([known[text] for text in texts])[:, rows[j]].T[:, which]
        if (fits.sum(axis=1) != 1).any():
            return None
        found: Ints = fits.argmax(axis=1)[row.ravel()]
        return (
            found
            if (np.bincount(found, minlength=len(self.labels)) == self.bags.sum(axis=1)).all()
            else None
        )

    def _coded(self, name: str) -> tuple[Ints, int]:
        """Everyone's leaf in a column, or code where it has no hierarchy; and how many there are."""
        if name in self.people.hierarchies:
            return self.people.leaves(name).astype(np.int64), len(
                self.people.hierarchy(name).maps[0]
            )
        column = self.people.column(name)
        return column.codes.astype(np.int64), max(len(column.keys), 1)

    def _covered(self, name: str, texts: set[str]) -> dict[str, Bools]:
        """For every released text of a column the leaves that it stands for."""
        size = self._coded(name)[1]
        known: dict[str, Bools] = {}
        if (
            isinstance(self.method, Mondrian | Coincident) and size <= _RUNS
        ):  # which write ranges of their own
            axis = axis_of(
                self.people, name, "observed", [], whole=isinstance(self.method, Coincident)
            )
            for low in range(axis.size):
                for high in range(low, axis.size):
                    known.setdefault(
                        axis.text(low, high), (axis.place >= low) & (axis.place <= high)
                    )
        if name in self.people.hierarchies:
            tree = self.people.hierarchy(name)
            for codes, labels in zip(tree.maps, tree.labels, strict=True):
                for code, label in enumerate(labels):
                    known.setdefault(label, codes == code)
        if texts - known.keys() - {"*"}:
            raise InputError(
                f"the release has values of column {name!r} that are none of its hierarchy's; give its own recipe"
            )
        return {text: known.get(text, np.ones(size, dtype=np.bool_)) for text in texts}

    @cached_property
    def inputs(self) -> int:
        """How many ways there are to give values to people, each one that their group shows, and to leave some people out."""
        if self.left_out:
            more = comb(len(self.keys) + self.left_out - 1, self.left_out)
            if more > LARGEST:
                return more
            return sum(map(_ways, self._bags())) * comb(self.people.rows, self.left_out)
        bags = self.bags if self.group_of is not None else self.bags.sum(axis=0, keepdims=True)
        return prod(map(_ways, bags.tolist()))

    def _bags(self) -> Iterator[list[int]]:
        """How often values may occur in the input: those who were left out have any that were released."""
        for more in combinations_with_replacement(range(len(self.keys)), self.left_out):
            yield (
                self.bags.sum(axis=0)
                + np.bincount(np.array(more, dtype=np.int64), minlength=len(self.keys))
            ).tolist()

    @cached_property
    def judge(self) -> Judge:
        models = tuple(bound(model, self.values) for model in getattr(self.method, "models", ()))
        leaf = (
            self.values.leaf_of(self.column).astype(np.int64)
            if self.hierarchy
            else np.arange(len(self.keys))
        )
        leaves = (
            len(self.values.hierarchy(self.column).maps[0]) if self.hierarchy else len(self.keys)
        )
        return Judge(models, self.column, self.bags.sum(axis=0), leaf, leaves)

    def apparent(self, own: int) -> dict[Value, Fraction]:
        """The shares of values that a group shows."""
        bag = self.bags[own].tolist()
        return {
            key: Fraction(often, sum(bag))
            for key, often in zip(self.keys, bag, strict=True)
            if often
        }

    def belief(
        self,
        rows: Iterable[int],
        apparent: Shares,
        shares: Sequence[Fraction],
        why: Iterable[str],
        bounds: Sequence[tuple[float, float]] | None = None,
    ) -> Belief:
        """What is believed of people, given what they are shown to have, and the probabilities of all values, or their bounds."""
        inherent = {
            key: share
            for key, share in zip(self.keys, shares, strict=True)
            if share or key in apparent
        }
        held = (
            None
            if bounds is None
            else {key: bounds[at] for at, key in enumerate(self.keys) if key in inherent}
        )
        found = Belief(tuple(rows), apparent, inherent, bounds=held)
        if not found.gain:
            return found
        broken = () if held else tuple(str(one) for one in self._broken(tuple(shares)))
        return replace(found, why=tuple(why), broken=broken)

    @lru_cache(maxsize=1 << 12)  # noqa: B019  the attacker lives as long as the attack
    def _broken(self, shares: tuple[Fraction, ...]) -> list[Model]:
        judge = self.judge
        return [
            model
            for model in judge.models
            if not Judge([model], self.column, judge.total, judge.leaf, judge.leaves).believed(
                shares
            )
        ]

    # All inputs

    def possible(
        self, kind: type[Enumerated]
    ) -> Iterator[tuple[Values, Fraction, Fraction, tuple[int, ...]]]:
        """Every input, its probability beforehand, that of this release, and everyone's group; for all groupings that have any.

        The group of those who are left out is -1.
        """
        if self.inputs > LARGEST:
            raise TooLargeError(
                f"there are {_counted(self.inputs)} possible inputs and at most {LARGEST:,} are tried; take a smaller table"
            )
        target: tuple[Any, ...] | None = None
        for given, prior in self._assignments():
            outcomes = law(lambda chance, given=given: self._outcome(given, chance), kind)  # type: ignore[misc]
            for outcome, weight in outcomes.items():
                if outcome is None:
                    continue
                shown, groups, names = outcome
                target = self._rows(self.frame, names) if target is None else target
                if shown == target:
                    yield given, prior, weight.exact, groups

    def _assignments(self) -> Iterator[tuple[Values, Fraction]]:
        """Every input, and how likely it is beforehand: all bags are, and all ways to spread one."""
        if self.group_of is None:
            every = list(self._bags())
            for bag in every:
                prior = Fraction(1, len(every) * _ways(bag))
                yield from (
                    (given, prior)
                    for given in orders(Counter(dict(zip(self.keys, bag, strict=True))))
                )
            return
        members = [np.flatnonzero(self.group_of == own).tolist() for own in range(len(self.labels))]
        bags = [
            Counter({key: often for key, often in zip(self.keys, bag, strict=True) if often})
            for bag in self.bags.tolist()
        ]
        for chosen in product(*(list(orders(bag)) for bag in bags)):
            given: list[Value] = [None] * self.people.rows
            for rows, values in zip(members, chosen, strict=True):
                for row, value in zip(rows, values, strict=True):
                    given[row] = value
            yield tuple(given), Fraction(1, self.inputs)

    def _outcome(self, given: Values, chance: Chance) -> Any:
        """What the method makes of an input: its rows and everyone's group; None if it releases nothing.

        Where the release does not tell who is in which group, everyone carries their number through it.
        """
        tagged = self.group_of is None
        try:
            made = nw.from_native(
                self.method.release(self.input(given, tagged), chance).table, eager_only=True
            )
        except InfeasibleError:
            return None
        names = tuple(name for name in made.columns if name != _WHO)
        if not tagged:
            assert self.group_of is not None
            return self._rows(made, names), tuple(self.group_of.tolist()), names
        place = {label: at for at, label in enumerate(self.labels)}
        texts = zip(
            *([_text(one) for one in made[name].to_list()] for name in self.names), strict=True
        )
        who = dict(
            zip(
                (int(one) for one in made[_WHO].to_list()),
                (place.get(label, -1) for label in texts),
                strict=True,
            )
        )
        return (
            self._rows(made, names),
            tuple(who.get(person, -1) for person in range(self.people.rows)),
            names,
        )

    def input(self, given: Sequence[Value], tagged: bool = False) -> Table:
        """The table in which people have these values."""
        back = self.people.frame.implementation
        added = [nw.new_series(self.column, list(given), backend=back)]
        if tagged:
            added.append(nw.new_series(_WHO, list(range(self.people.rows)), backend=back))
        return self._table(self.people.frame.with_columns(*added))

    def _table(self, frame: Any) -> Table:
        """These columns, with the roles, types and hierarchies that they have in the input."""
        roles: dict[str, Any] = {role.value: [] for role in Role}
        for name, role in {
            **self.people.roles,
            self.column: Role.SENSITIVE,
            _WHO: Role.INSENSITIVE,
        }.items():
            if name in frame.columns:
                roles[role.value].append(name)
        return table(
            frame.to_native(),
            **roles,
            hierarchies={name: tree for name, tree in self._trees.items() if name in frame.columns},
            types={name: kind for name, kind in self._types.items() if name in frame.columns},
            missing=self.people.missing,
            rows_are_people=True,  # as the register has everybody once
        )

    def _rows(self, frame: Any, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The rows as texts, of these columns, in an order of their own."""
        return tuple(sorted(tuple(map(_text, row)) for row in frame.select(*names).iter_rows()))

    def enumerated(self, kind: type[Enumerated]) -> Exposed:
        """By all inputs."""
        number = self.people.rows
        has: list[dict[Value, Fraction]] = [{} for _ in range(number)]
        groups: list[dict[int, Fraction]] = [{} for _ in range(number)]
        total = Fraction(0)
        for given, prior, weight, own in self.possible(kind):
            weight *= prior
            total += weight
            for person in range(number):
                if own[person] >= 0:  # else they are left out
                    has[person][given[person]] = (
                        has[person].get(given[person], Fraction(0)) + weight
                    )
                    groups[person][own[person]] = (
                        groups[person].get(own[person], Fraction(0)) + weight
                    )
        if not total:
            raise InputError(
                "no input leads to this release by this method; give the recipe of the release"
            )
        found = []
        for person in range(
            number
        ):  # who may be in several groups is shown what these show, by how probable each is
            apparent: dict[Value, Fraction] = {}
            there = sum(groups[person].values(), Fraction(0))
            if not there:
                continue
            for group, weight in groups[person].items():
                for key, share in self.apparent(group).items():
                    apparent[key] = apparent.get(key, Fraction(0)) + share * weight / there
            shares = [has[person].get(key, Fraction(0)) / there for key in self.keys]
            found.append(
                self.belief(
                    [person], apparent, shares, ["other inputs would have led to another release"]
                )
            )
        return Exposed("enumeration", number, tuple(found), total, number - len(found))

    # Counting

    def counted(
        self, tries: int, source: np.random.Generator, progress: Progress = silent
    ) -> Exposed | None:
        """By counting; None where the structure does not allow it."""
        method = self.method
        if self.group_of is None or not self.people.rows:
            return None
        if isinstance(method, Mondrian) and not method.relaxed:
            return self._mondrian(method, tries, source, progress)
        if isinstance(method, Optimal) and not method.suppression:
            return self._optimal(method)
        return None

    def _mondrian(
        self, method: Mondrian, tries: int, source: np.random.Generator, progress: Progress
    ) -> Exposed:
        """Cuts that were tried and not made tell about the groups that lie across them, and about nobody else."""
        assert self.group_of is not None
        axes = [axis_of(self.people, name, method.ranges, []) for name in self.people.quasi]
        row_of, firsts = self._rows_on(axes)
        replay = Replay(
            self.people,
            axes,
            method,
            lambda rows: self.group_of[firsts(rows)],  # type: ignore[index]
            self.bags,
            self.judge,
        )
        replay.run()
        own = row_of(replay.rows)
        count = replay.crowd.count
        telling = [
            cut
            for cut in replay.refused
            if min(int(count[cut.rows[cut.goes_right == side]].sum()) for side in (False, True))
            >= self.judge.least
        ]
        together = _connected(
            len(self.labels), [np.unique(replay.group_of[cut.rows]).tolist() for cut in telling]
        )
        cuts_of: dict[int, list[int]] = {}
        for number, cut in enumerate(telling):
            cuts_of.setdefault(together[replay.group_of[cut.rows[0]]], []).append(number)
        puzzles = []
        for root, numbers in cuts_of.items():
            groups = [one for one, its in enumerate(together) if its == root]
            rows = np.flatnonzero(np.isin(replay.group_of, groups))
            sides = np.full((len(numbers) + 1, len(replay.group_of)), 2, dtype=np.int64)
            sides[0] = replay.group_of
            for at, number in enumerate(numbers, 1):
                sides[at, telling[number].rows] = telling[number].goes_right
            alike, which = np.unique(sides[:, rows], axis=1, return_inverse=True)
            sizes = np.bincount(which.ravel(), count[rows]).astype(np.int64)
            candidates: list[Candidate] = []
            for at in range(1, len(numbers) + 1):
                left, right = (tuple(np.flatnonzero(alike[at] == side).tolist()) for side in (0, 1))
                candidates.append((left, right))
            place = {one: at for at, one in enumerate(groups)}
            classes = tuple(
                (place[its], size)
                for its, size in zip(alike[0].tolist(), sizes.tolist(), strict=True)
            )
            puzzle = Puzzle(
                tuple(map(tuple, self.bags[groups].tolist())),
                classes,
                tuple(dict.fromkeys(candidates)),
            )
            class_of = np.full(len(replay.group_of), -1, dtype=np.int64)
            class_of[rows] = which.ravel()
            puzzles.append(
                (
                    puzzle,
                    alike[0].tolist(),
                    class_of,
                    list(dict.fromkeys(str(telling[number]) for number in numbers)),
                )
            )
        return self._solved(puzzles, own, tries, source, progress)

    def _rows_on(
        self, axes: Sequence[Axis]
    ) -> tuple[Callable[[Counts], Ints], Callable[[Counts], Ints]]:
        """From rows of places to everyone's row, and to the first person of every row."""
        places = [axis.place[self._coded(axis.name)[0]] for axis in axes]
        keys = list(zip(*(one.tolist() for one in places), strict=True))

        def numbered(rows: Counts) -> dict[tuple[int, ...], int]:
            codes = (column.tolist() for column in rows.codes[: len(axes)])
            return {key: at for at, key in enumerate(zip(*codes, strict=True))}

        def row_of(rows: Counts) -> Ints:
            number = numbered(rows)
            return np.array([number[key] for key in keys], dtype=np.int64)

        def firsts(rows: Counts) -> Ints:
            return np.unique(row_of(rows), return_index=True)[1].astype(np.int64)

        return row_of, firsts

    def _solved(
        self,
        puzzles: Sequence[tuple[Puzzle, list[int], Ints, list[str]]],
        row_of: Ints,
        tries: int,
        source: np.random.Generator,
        progress: Progress,
    ) -> Exposed:
        """What the attacker believes of everyone, given puzzles that do not depend on each other."""
        assert self.group_of is not None
        found: list[Belief] = []
        plain = np.ones(len(self.labels), dtype=np.bool_)
        left: Fraction | None = Fraction(1)
        unknown, claims = 0, sum(len(puzzle.classes) for puzzle, *_ in puzzles) * len(self.keys)
        for done, (puzzle, groups, class_of, why) in enumerate(puzzles):
            progress(done, len(puzzles), "counting inputs")
            plain[sorted(set(groups))] = False
            its = class_of[row_of]
            members = [np.flatnonzero(its == one).tolist() for one in range(len(puzzle.classes))]
            try:
                number, has = ways(puzzle, self.judge, refused=True)[0]
            except TooLargeError:
                left = None
                hits = drawn(puzzle, self.judge, 20 * tries, source)[:_ENOUGH]
                if len(hits) < FEWEST:
                    unknown += sum(map(len, members))
                    continue
                for one, rows in enumerate(members):
                    often = np.bincount(hits[:, one], minlength=len(self.keys)).tolist()
                    shares = [Fraction(some, len(hits)) for some in often]
                    bounds = [_interval(some, len(hits), claims) for some in often]
                    found.append(self.belief(rows, self.apparent(groups[one]), shares, why, bounds))
                continue
            if left is not None:
                total = prod(factorial(size) for _, size in puzzle.classes) * number
                left *= Fraction(
                    total,
                    prod(factorial(some) for bag in puzzle.bags for some in bag)
                    * puzzle.assignments,
                )
            for one, rows in enumerate(members):
                shares = [Fraction(often, number * len(rows)) for often in has[one]]
                found.append(self.belief(rows, self.apparent(groups[one]), shares, why))
        found += self._as_shown(np.flatnonzero(plain).tolist())
        return Exposed("counting", self.people.rows, tuple(found), left, unknown)

    def _as_shown(self, groups: Iterable[int]) -> Iterator[Belief]:
        """Groups of which nothing more is known than they show."""
        assert self.group_of is not None
        order = np.argsort(self.group_of, kind="stable")
        starts = np.searchsorted(self.group_of[order], np.arange(len(self.labels) + 1))
        for own in groups:
            shown = self.apparent(own)
            yield Belief(tuple(order[starts[own] : starts[own + 1]].tolist()), shown, shown)

    def _optimal(self, method: Optimal) -> Exposed | None:
        """That tables which lose less were not released tells nothing where they have a group that is too small in any case.

        The others are counted if they are finer than the released one, as their groups have values of one released group each.
        """
        assert self.group_of is not None
        names = list(self.people.quasi)
        trees = {name: self.people.hierarchy(name) for name in names}
        counts = self.people.count(names)
        lattice = Lattice(counts, trees, floor=method.floor, ceiling=method.ceiling)
        loss = LOSSES[method.loss] if isinstance(method.loss, str) else method.loss

        def score(groups: Groups) -> tuple[float, Node]:
            return float(
                f"{loss.of(groups, np.ones(len(groups.sizes), dtype=np.bool_)):.9e}"
            ), groups.node

        tried = sorted(
            ((score(groups), groups) for groups in lattice.walk()), key=lambda one: one[0]
        )
        place = [self.names.index(name) for name in lattice.names]
        texts = {tuple(label[at] for at in place) for label in self.labels}
        better: list[Groups] = []
        for _, groups in tried:
            labels = [
                tree.labels[level]
                for tree, level in zip(lattice.hierarchies, groups.node, strict=True)
            ]
            codes = [groups.codes(j).tolist() for j in range(len(labels))]
            if {
                tuple(label[code] for label, code in zip(labels, one, strict=True))
                for one in zip(*codes, strict=True)
            } == texts:
                chosen = groups
                break
            if int(groups.sizes.min()) >= self.judge.least:
                better.append(groups)
        else:
            raise InputError(
                "the release is none of the tables that the method tries with these people; give its own recipe"
            )
        if any(not _refines(groups, chosen) for groups in better) or len(better) > CANDIDATES:
            return None
        order = {one: at for at, one in enumerate(self._row_codes(counts, names))}
        row_of = np.array(
            [
                order[key]
                for key in zip(*(self._coded(name)[0].tolist() for name in names), strict=True)
            ]
        )
        group_at = np.zeros(len(counts.count), dtype=np.int64)
        group_at[row_of] = self.group_of
        why = [_levels(lattice.names, groups.node) for groups in better]
        return self._nested([groups.rows for groups in better], group_at, counts.count, row_of, why)

    def _row_codes(self, counts: Counts, names: Sequence[str]) -> Iterator[tuple[int, ...]]:
        return zip(
            *(counts.codes[counts.names.index(name)].tolist() for name in names), strict=True
        )

    def _nested(
        self, finer: Sequence[Ints], group_at: Ints, count: Ints, row_of: Ints, why: Sequence[str]
    ) -> Exposed | None:
        """Finer groupings of rows none of which was safe: in every group the ways by which of them are safe there."""
        solved: list[tuple[list[Ints], Puzzle, Ways]] = []
        for own in range(len(self.labels)):
            rows = np.flatnonzero(group_at == own)
            parts = np.stack(
                [np.zeros(len(rows), dtype=np.int64), *(grouping[rows] for grouping in finer)]
            )
            alike, which = np.unique(parts, axis=1, return_inverse=True)
            which = which.ravel()
            sizes = np.bincount(which, count[rows]).astype(np.int64).tolist()
            candidates = tuple(
                tuple(tuple(np.flatnonzero(line == part).tolist()) for part in np.unique(line))
                for line in alike[1:]
            )
            puzzle = Puzzle(
                (tuple(self.bags[own].tolist()),), tuple((0, size) for size in sizes), candidates
            )
            try:
                found = ways(puzzle, self.judge)
            except TooLargeError:
                return None
            solved.append(([rows[which == one] for one in range(len(sizes))], puzzle, found))
        beliefs_, left = _combined([(puzzle, found) for _, puzzle, found in solved], len(finer))
        made = []
        for own, ((classes, _, _), shares) in enumerate(zip(solved, beliefs_, strict=True)):
            for rows, some in zip(classes, shares, strict=True):
                made.append(
                    self.belief(
                        np.flatnonzero(np.isin(row_of, rows)).tolist(),
                        self.apparent(own),
                        some,
                        why,
                    )
                )
        return Exposed("counting", self.people.rows, tuple(made), left)

    # Sampling

    def sampled(self, tries: int, source: np.random.Generator, progress: Progress) -> Exposed:
        """By inputs that are drawn at random among those that the table allows, and kept if they lead to the release."""
        number, values = self.people.rows, len(self.keys)
        assert self.group_of is not None
        codes = self.values.column(self.column).codes[np.argsort(self.record_of, kind="stable")]
        hits, kept, target = np.zeros((number, values), dtype=np.int64), 0, None
        for done in range(tries):
            progress(done, tries, "sampling inputs")
            drawn_ = np.empty(number, dtype=np.int64)
            drawn_[np.lexsort((source.random(number), self.group_of))] = codes
            try:
                coins = Seeded(int(source.integers(1 << 62)))
                made = nw.from_native(
                    self.method.release(self.input(_at(self.keys, drawn_)), coins).table,
                    eager_only=True,
                )
            except InfeasibleError:
                continue
            target = self._rows(self.frame, made.columns) if target is None else target
            if self._rows(made, made.columns) == target:
                kept += 1
                hits[np.arange(number), drawn_] += 1
        if kept < FEWEST:
            return Exposed("sampling", number, (), None, number, (kept, tries))
        found = []
        for person in range(number):
            often = hits[person].tolist()
            bounds = [_interval(some, kept, number * values) for some in often]
            shares = [Fraction(some, kept) for some in often]
            why = ["of the inputs that were drawn, more led to this release with that value"]
            found.append(
                self.belief(
                    [person], self.apparent(int(self.group_of[person])), shares, why, bounds
                )
            )
        return Exposed("sampling", number, tuple(found), None, 0, (kept, tries))


def _combined(
    solved: Sequence[tuple[Puzzle, Ways]], finer: int
) -> tuple[list[list[list[Fraction]]], Fraction]:
    """For every group and class the probabilities of values, if every finer grouping fails in some group; and what is left.

    A grouping is safe if it is in all groups: the masks of groups that do not depend on each other are intersected.
    """
    every = (1 << finer) - 1

    def meet(one: Mapping[int, Fraction], other: Mapping[int, Fraction]) -> dict[int, Fraction]:
        met: dict[int, Fraction] = {}
        for (a, x), (b, y) in product(one.items(), other.items()):
            met[a & b] = met.get(a & b, Fraction(0)) + x * y
        return met

    shares = []
    for _, found in solved:
        every_way = sum(number for number, _ in found.values())
        shares.append({mask: Fraction(number, every_way) for mask, (number, _) in found.items()})
    before, after = [{every: Fraction(1)}], [{every: Fraction(1)}]
    for one in shares[:-1]:
        before.append(meet(before[-1], one))
    for one in reversed(shares[1:]):
        after.append(meet(after[-1], one))
    believed, left = [], Fraction(0)
    for (puzzle, found), first, last in zip(solved, before, reversed(after), strict=True):
        others = meet(first, last)
        weight = {
            mask: sum((share for other, share in others.items() if not mask & other), Fraction(0))
            for mask in found
        }
        total = sum((weight[mask] * number for mask, (number, _) in found.items()), Fraction(0))
        if not total:
            raise InputError(
                "no input leads to this release by this method; give the recipe of the release"
            )
        left = total / sum(number for number, _ in found.values())
        believed.append(
            [
                [
                    sum(
                        (weight[mask] * has[one][value] for mask, (_, has) in found.items()),
                        Fraction(0),
                    )
                    / (total * size)
                    for value in range(len(puzzle.bags[0]))
                ]
                for one, (_, size) in enumerate(puzzle.classes)
            ]
        )
    return believed, left


def _refines(finer: Groups, coarser: Groups) -> bool:
    """Whether every group of the one lies in a group of the other."""
    pairs = np.unique(np.stack([finer.rows, coarser.rows]), axis=1)
    return bool(pairs.shape[1] == len(finer.sizes))


def _levels(names: Sequence[str], node: Node) -> str:
    levels = ", ".join(f"{name} at level {level}" for name, level in zip(names, node, strict=True))
    return f"the table with {levels} was not released"


def _connected(number: int, sets: Iterable[Sequence[int]]) -> list[int]:
    """For every group the first of those it hangs together with."""
    root = list(range(number))

    def find(one: int) -> int:
        while root[one] != one:
            root[one] = root[root[one]]
            one = root[one]
        return one

    for some in sets:
        for one in some[1:]:
            a, b = sorted((find(some[0]), find(one)))
            root[b] = a
    return [find(one) for one in range(number)]


# A sequence of groupings


def first_safe(
    earlier: Sequence[Sequence[Sequence[P]]],
    groups: Sequence[Sequence[P]],
    shown: Sequence[Sequence[Any]],
    holds: Callable[[Counter[Any]], bool],
) -> list[dict[P, Any]]:
    """The disclosure set of the first safe grouping of a sequence: everyone's values in all inputs where no earlier one is safe.

    `shown` are the values of every group, and `holds` says which bags of values are safe.

    >>> pairs, halves = [["Al", "Bo"], ["Cy", "Di"]], [["Al", "Bo", "Cy", "Di"]]
    >>> found = first_safe([pairs], halves, [["flu", "flu", "gout", "gout"]], lambda bag: len(bag) > 1)
    >>> [list(one.values()) for one in found]
    [['flu', 'flu', 'gout', 'gout'], ['gout', 'gout', 'flu', 'flu']]
    """
    number = prod(
        factorial(len(bag)) // prod(map(factorial, Counter(bag).values())) for bag in shown
    )
    if number > LARGEST:
        raise TooLargeError(
            f"there are {_counted(number)} possible inputs and at most {LARGEST:,} are tried; take a smaller table"
        )
    people = list(chain.from_iterable(groups))
    found = []
    for chosen in product(*(list(orders(Counter(bag))) for bag in shown)):
        given = dict(zip(people, chain.from_iterable(chosen), strict=True))
        if not any(
            all(holds(Counter(given[one] for one in part)) for part in grouping)
            for grouping in earlier
        ):
            found.append(given)
    return found


# Parts


def _counted(inputs: int) -> str:
    return f"{inputs:,}" if inputs < 10**15 else "10^15"


def _text(value: object) -> str:
    return "" if value is None or value != value else str(value)


def _at(keys: Sequence[Value], codes: Iterable[Any]) -> list[Value]:
    return [keys[int(code)] for code in codes]


def _ways(bag: Sequence[int]) -> int:
    """In how many ways values that occur so often can be given to people."""
    return factorial(sum(bag)) // prod(map(factorial, bag))


@lru_cache(maxsize=1 << 14)
def _interval(hits: int, tries: int, claims: int) -> tuple[float, float]:
    """Clopper and Pearson's bounds of a probability; those of so many claims hold together with 99 %.

    >>> low, high = _interval(0, 100, 1)
    >>> low, round(high, 3)
    (0.0, 0.052)
    """
    error = 0.005 / max(claims, 1)
    every = np.arange(tries + 1)
    choices = np.array(
        [
            lgamma(tries + 1) - lgamma(some + 1) - lgamma(tries - some + 1)
            for some in range(tries + 1)
        ]
    )

    def tail(p: float, some: range) -> float:
        upto = slice(some.start, some.stop)
        return float(
            np.exp(choices[upto] + every[upto] * log(p) + (tries - every[upto]) * log(1 - p)).sum()
        )

    def edge(some: range, grows: bool) -> float:
        low, high = 0.0, 1.0
        while high - low > 1e-7:
            middle = (low + high) / 2
            if (tail(middle, some) > error) is grows:
                high = middle
            else:
                low = middle
        return low if grows else high

    return (
        edge(range(hits, tries + 1), True) if hits else 0.0,
        edge(range(hits + 1), False) if hits < tries else 1.0,
    )

"""Personal generalisation: every record at the levels of the lowest risk that keep the utility
asked for.

After Fouad, Elbassioni and Bertino (2012), whose claim of differential privacy does not hold and is
not made here. `models` says what risk and utility are, `crowds` counts people, and each solver
(`exact`, `genetic`, `lagrangian`, `relaxed`) chooses nodes. The promise is about the risk as it is
counted; someone who knows the algorithm may infer more (`shoal.attack.personal` measures it).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from math import prod
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed, typed_but
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.people import require_once
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, ParameterError, listed
from shoal.exact.numbers import Exact, fraction, percent, whole
from shoal.methods import Progress, Schema, begin, level_ranges
from shoal.methods.entry import AsViews, Entry
from shoal.methods.personal.crowds import Chosen, Crowds, Wanted
from shoal.methods.personal.exact import lowest
from shoal.methods.personal.models import Risk, Sensitivity, Sum, Utility, Weights, Worth, by_column
from shoal.privacy.promises import LowestRisk, Promise
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release
from shoal.zones import owner_only

__all__ = ["People", "Personal", "Solver", "Wish"]

Solver = Literal["exact", "genetic", "lagrangian", "relaxed"]
SOLVERS = ("exact", "genetic", "lagrangian", "relaxed")
KNOWN = 20_000
"""Nodes of a lattice up to which a heuristic also says what the lowest risk would have been."""


@owner_only
@dataclass(frozen=True, kw_only=True)
class PersonalFacts(Facts):
    """The mean and the highest risk, the share of the utility kept, and how many nodes are in use.

    `lowest_risk` is the mean risk that the exact solver reaches, where another was asked for and
    that can be known.
    """

    risk: float
    highest: float
    utility: float
    nodes: int
    lowest_risk: float | None = None

    def figures(self) -> Iterator[str]:
        lowest = ""
        if self.lowest_risk is not None:
            lowest = f" (the lowest would be {self.lowest_risk:.3g})"
        yield (
            f"mean risk {self.risk:.3g}{lowest}, highest {self.highest:.3g}; "
            f"{percent(self.utility)} of the utility kept"
        )


@typed
@dataclass(frozen=True)
class Wish:
    """What people who chose this want: the share of utility to keep, how sensitive columns are to
    them; None: as all others.
    """

    utility: Exact | None = None
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.utility is not None:
            object.__setattr__(self, "utility", fraction(self.utility, "utility", 0, 1))


@typed_but("weights", "importance", "wishes")
@dataclass(frozen=True)
class Personal:
    """Each record's own generalisation: the lowest risk among those that keep a share `utility` of
    the record's worth.

    The risk is how sensitive the values shown are (`model` and `weights`: see `Risk`), by the
    number of people of the `register` whom they fit; without a register, of the table. What they
    are worth is by `measure` and `importance` (see `Worth`). `choice` is a column with what each
    person chose, one of `wishes`: by themselves "strict" (half the utility), "normal" and "open"
    (half of what is missing to all of it is given too). People who chose nothing get what all get.

    The solver "exact" looks at the whole lattice. For tables too wide for that, "genetic" and
    "relaxed" look for low risks without a promise how low, and "lagrangian" for the largest
    `pull`/risk + utility^`power`. `effort` is how much they do: nodes counted for all records,
    linear programs, or passes over everyone. `unit` is the identifying column that tells whose rows
    belong together: one row of each person is drawn, and only that is used.
    """

    utility: Exact
    solver: Solver = "exact"
    measure: Utility = "leaves"
    model: Sensitivity = "fixed"
    weights: Weights = field(default_factory=dict)
    importance: Mapping[str, Exact] = field(default_factory=dict)
    choice: str | None = None
    wishes: Mapping[str, Wish] = field(default_factory=dict)
    register: Table | None = None
    effort: int = 1000
    pull: Exact = 1
    power: int = 1
    unit: str | None = None

    name: ClassVar[str] = "personal"

    def __post_init__(self) -> None:
        share = fraction(self.utility, "utility", 0, 1)
        object.__setattr__(self, "utility", share)
        if self.solver not in SOLVERS:
            raise ParameterError(f"solver={self.solver!r} is unknown; known are {listed(SOLVERS)}")
        object.__setattr__(self, "importance", Worth(self.measure, self.importance).importance)
        object.__setattr__(self, "weights", Risk(self.model, self.weights).weights)
        by_column(self.wishes, "wishes")
        if not all(isinstance(wish, Wish) for wish in self.wishes.values()):
            raise ParameterError(
                "`wishes` are what people may choose, each a Wish, such as {'strict': Wish(utility='0.3')}"
            )
        if self.register is not None and not isinstance(self.register, Table):
            raise ParameterError(
                f"`register` is a table, not a {type(self.register).__name__}; make one with shoal.table"
            )
        if self.wishes and self.choice is None:
            raise ParameterError(
                "`wishes` say what people may choose; say with `choice` which column has what they chose"
            )
        if self.choice is not None and not self.wishes:
            usual = {"strict": Wish(share / 2), "normal": Wish(), "open": Wish((1 + share) / 2)}
            object.__setattr__(self, "wishes", usual)
        for chosen, wish in self.wishes.items():
            if wish.weights is not None:
                weights = Risk(self.model, wish.weights).weights
                object.__setattr__(
                    self, "wishes", {**self.wishes, chosen: replace(wish, weights=weights)}
                )
        whole(self.effort, "effort")
        whole(self.power, "power", 0)
        object.__setattr__(self, "pull", fraction(self.pull, "pull", 0, above=True))

    def promise(self, schema: Schema) -> Promise:
        """The floors, how risk and utility are counted, and whether the risk is the lowest or only
        a low one.
        """
        schema.require_unit(self.unit)
        if not schema.having(Role.QUASI):
            raise ParameterError(
                "the table has no quasi-identifying column to generalise; give one that role"
            )
        if self.choice is not None and self.choice not in schema.roles:
            raise ParameterError(
                f"`choice` is {self.choice!r}, which is no column of the table; name the one with people's choices"
            )
        if self.choice is not None and schema.roles[self.choice] is Role.QUASI:
            raise ParameterError(
                f"`choice` {self.choice!r} is quasi-identifying; a column of choices is not generalised, give it another role"
            )
        hierarchies = {
            name: schema.hierarchies[name]
            for name in schema.having(Role.QUASI)
            if name in schema.hierarchies
        }
        if len(hierarchies) == len(schema.having(Role.QUASI)):
            self.sums(hierarchies)  # an error for weights that name what is not there
        floors = [Fraction(self.utility)] + [
            Fraction(w.utility) for w in self.wishes.values() if w.utility is not None
        ]
        return LowestRisk(
            min(floors),
            self.solver,
            self.measure,
            self.model,
            "table" if self.register is None else "register",
            self.unit,
        )

    def searched(self, schema: Schema) -> Mapping[str, range]:
        """All levels of the quasi-identifying columns."""
        trees = {name: schema.hierarchies[name] for name in schema.having(Role.QUASI)}
        return level_ranges(trees, {}, {})

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The table, each record at its own levels; none is left out."""
        job = begin(self, table, chance, progress)
        people = People.of(self, job.table)
        found = people.solve(job.chance, job.progress)
        facts = people.facts(found)
        if self.solver != "exact" and prod(height + 1 for height in people.crowds.heights) <= KNOWN:
            exactly = replace(people, method=replace(self, solver="exact"))
            lowest = exactly.solve(
                job.chance, lambda *_: job.progress(1, 1, "finding the lowest risk")
            )
            facts = replace(facts, lowest_risk=exactly.facts(lowest).risk)
        return Release(
            lay_out(job.table, people.shown(found), people.rows),
            certify(job.table, self, job.promise, job.chance, whole=True),
            facts=facts,
        )

    def sums(
        self, hierarchies: Mapping[str, Hierarchy]
    ) -> tuple[Sum, dict[str | None, tuple[Sum, Fraction]]]:
        """The utility.

        And for every choice, and for none, the sensitivity and the share to keep.
        """
        wanted: dict[str | None, tuple[Sum, Fraction]] = {}
        for chosen, wish in ((None, Wish()), *self.wishes.items()):
            weights = self.weights if wish.weights is None else wish.weights
            share = self.utility if wish.utility is None else wish.utility
            wanted[chosen] = Risk(self.model, weights).sum(hierarchies), Fraction(share)
        return Worth(self.measure, self.importance).sum(hierarchies), wanted


@dataclass(frozen=True, eq=False)
class People:
    """A table as the solvers see it: its distinct rows, who each may be, and what each wants."""

    method: Personal
    hierarchies: Mapping[str, Hierarchy]
    rows: Counts
    crowds: Crowds
    utility: Sum
    wanted: Sequence[Wanted]
    want: npt.NDArray[np.intp]
    """Which of `wanted` each row has, and which row of it it is."""
    place: npt.NDArray[np.intp]

    @classmethod
    def of(cls, method: Personal, table: Table) -> "People":
        """A table by the parameters of a method."""
        hierarchies = {name: table.hierarchy(name) for name in table.quasi}
        utility, wishes = method.sums(hierarchies)
        others = [name for name in released(table) if name not in hierarchies]
        chosen = [] if method.choice is None or method.choice in others else [method.choice]
        rows = table.count([*hierarchies, *others, *chosen], dict.fromkeys(hierarchies, 0))
        register = None if method.register is None else _register(method.register, table)
        crowds = Crowds(rows, hierarchies, register)
        everyone = crowds.find([rows.codes[rows.names.index(name)] for name in hierarchies])
        want = _choices(method, table, rows, list(wishes))
        places, wanted = np.zeros(rows.distinct, dtype=np.intp), []
        for number, (sensitivity, share) in enumerate(wishes.values()):
            mine = np.flatnonzero(want == number)
            own, places[mine] = np.unique(everyone[mine], return_inverse=True)
            wanted.append(Wanted.of(sensitivity, utility, share, own))
        return cls(method, hierarchies, rows, crowds, utility, wanted, want, places)

    def solve(self, chance: Chance, progress: Progress) -> list[Chosen]:
        """What the method's solver chooses for every row."""

        def told(done: int, total: int) -> None:
            progress(done, total, "searching the lattice")

        told(0, 1)
        if self.method.solver == "exact":
            found = lowest(self.crowds, self.utility, self.wanted, told)
        else:
            solver = import_module(
                f"shoal.methods.personal.{self.method.solver}"
            )  # each needs libraries of its own
            found = solver.search(self, chance, told)
        told(1, 1)
        return found

    def levels(self, found: Sequence[Chosen]) -> npt.NDArray[np.uint8]:
        """The levels of every row."""
        levels = np.zeros((self.rows.distinct, len(self.hierarchies)), dtype=np.uint8)
        for number, chosen in enumerate(found):
            mine = np.flatnonzero(self.want == number)
            levels[mine] = chosen.levels[self.place[mine]]
        return levels

    def shown(self, found: Sequence[Chosen]) -> dict[str, tuple[list[str], npt.NDArray[np.int64]]]:
        """For every column the texts of all levels, each once, and the place of every row's text
        among them.
        """
        levels, columns = self.levels(found), {}
        for column, (name, hierarchy) in enumerate(self.hierarchies.items()):
            texts, shown = hierarchy.texts()
            leaves = self.rows.codes[self.rows.names.index(name)]
            columns[name] = texts, shown[levels[:, column].astype(np.intp), leaves]
        return columns

    def facts(self, found: Sequence[Chosen]) -> PersonalFacts:
        """For the owner: the mean and the highest risk, the mean of the utility kept, and how many
        nodes are in use.
        """
        risk, worth = np.zeros(self.rows.distinct), np.zeros(self.rows.distinct)
        for number, chosen in enumerate(found):
            mine = np.flatnonzero(self.want == number)
            risk[mine] = chosen.risk[self.place[mine]]
            worth[mine] = chosen.worth[self.place[mine]] / max(self.utility.most, 1)
        often = self.rows.count / max(self.rows.total, 1)
        return PersonalFacts(
            records=self.rows.total,
            risk=float(risk @ often),
            highest=float(risk.max(initial=0)),
            utility=float(worth @ often),
            nodes=len(np.unique(self.levels(found), axis=0)),
        )


def _register(register: Table, table: Table) -> Counts:
    """A register's people by the hierarchies of a table.

    ColumnError if they are in several rows of it.
    """
    absent = [name for name in table.quasi if name not in register.names]
    if absent:
        raise ColumnError(
            f"the register has no column {listed(absent)}, which the table's risk is about"
        )
    own = {name: table.hierarchies[name] for name in table.quasi}
    left_out = [name for name in register.names if name not in table.quasi]
    require_once(register, table.quasi, left_out, "the register: ")
    return replace(register, hierarchies=own).count(table.quasi)


def _choices(
    method: Personal, table: Table, rows: Counts, known: Sequence[str | None]
) -> npt.NDArray[np.intp]:
    """The number of what the people of every row chose.

    Those who chose nothing have that of None.
    """
    if method.choice is None:
        return np.zeros(rows.distinct, dtype=np.intp)
    keys = table.keys(method.choice)
    numbers = np.array(
        [
            known.index(text) if (text := None if key is None else str(key)) in known else -1
            for key in keys
        ]
    )
    if (numbers < 0).any():
        raise ColumnError(
            f"column {method.choice!r} has {int((numbers < 0).sum()):,} choices that are none of {listed([*method.wishes])}; "
            "add them to `wishes`, or clean the column"
        )
    return numbers.astype(np.intp)[rows.codes[rows.names.index(method.choice)]]


ENTRY = Entry(
    method=Personal,
    summary="every record at levels of its own: lowest risk at a given utility",
    draft=(
        'utility = "?"  # the share of it that each record keeps, such as 0.6',
        'measure = "leaves"  # how utility is counted; or log, depth',
        'model = "fixed"  # how sensitivity is; or uniform, harmonic',
        "weights = {}  # how sensitive columns are, such as { NAME = 3 }; else 1",
        '# choice = "NAME"  # a column with what people chose: strict, normal, open',
        'solver = "exact"  # or genetic, relaxed, lagrangian, for very wide tables',
    ),
    public_algorithm=False,
    as_views=AsViews(),
)

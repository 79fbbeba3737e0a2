"""Personal generalisation: every record at the levels of lowest risk that keep its utility.

After Fouad, Elbassioni and Bertino (2012), whose claim of differential privacy does not hold and is
not made here. `models` says what risk and utility are, `crowds` counts people, and each solver
(`exact`, `genetic`, `lagrangian`, `relaxed`) chooses nodes. The promise is about the risk as it is
counted; someone who knows the algorithm may infer more (`recognition` measures it).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from math import prod
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from shoal.arguments import keep, typed, typed_but
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.commitments import KEY_BYTES, OpenedTable, commitment
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.people import require_once
from shoal.data.schema import Schema
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, ParameterError, listed, plural
from shoal.exact.numbers import Exact, fraction, percent, whole
from shoal.methods.entry import AsViews, Entry, Guide
from shoal.methods.method import Progress, begin, level_ranges
from shoal.methods.personal.crowds import Chosen, Crowds, Wanted
from shoal.methods.personal.exact import lowest
from shoal.methods.personal.models import (
    Sensitivity,
    SensitivityModel,
    Sum,
    Utility,
    Weights,
    Worth,
    by_column,
)
from shoal.methods.personal.recognition import Recognition, is_free, recognition
from shoal.privacy.promises import LowestRisk, Promise
from shoal.releases.certificate import certify
from shoal.releases.facts import Facts
from shoal.releases.layout import lay_out, released
from shoal.releases.release import Release
from shoal.zones import brief, owner_only

__all__ = ["People", "Personal", "Solver", "Wish"]

Solver = Literal["exact", "genetic", "lagrangian", "relaxed"]
SOLVERS = ("exact", "genetic", "lagrangian", "relaxed")
EFFORT = 1000
"""Linear programs, or passes over everyone, unless another number is given."""
KNOWN = 20_000
"""Nodes of a lattice up to which a heuristic also says what the lowest risk would have been."""


@owner_only
@dataclass(frozen=True, kw_only=True)
class PersonalFacts(Facts):
    """The mean and the highest risk, the share of the utility kept, and how many nodes are in use.

    `lowest_risk` is the mean risk that the exact solver reaches, where another was asked for and
    that can be known. `seen` is what someone makes of the release who knows the algorithm, where
    that does not take another search by a heuristic. `register_key` opens the commitment to the
    register, which is on the certificate.
    """

    risk: float
    highest: float
    utility: float
    nodes: int
    lowest_risk: float | None = None
    seen: Recognition | None = None
    register_key: str | None = None

    def figures(self) -> Iterator[str]:
        lowest = ""
        if self.lowest_risk is not None:
            lowest = f" (the lowest would be {self.lowest_risk:.3g})"
        yield (
            f"mean risk {self.risk:.3g}{lowest}, highest {self.highest:.3g}; "
            f"{percent(self.utility)} of the utility kept"
        )
        if self.seen is not None and self.records:
            yield str(self.seen)
        if self.register_key is not None:
            yield (
                f"key of the register's commitment: {self.register_key} (keep it; with the "
                "register it shows in which one people were counted)"
            )


@typed
@dataclass(frozen=True, init=False)
class Wish:
    """What people who chose this want.

    utility: the share of utility to keep; that of all others unless given
    weights: how sensitive columns are to them; as to all others unless given
    """

    utility: Fraction | None
    weights: Weights | None

    def __init__(self, utility: Exact | None = None, weights: Weights | None = None) -> None:
        share = None if utility is None else fraction(utility, "utility", 0, 1)
        keep(self, utility=share, weights=weights)


@typed_but("weights", "importance", "wishes")
@brief
@dataclass(frozen=True, init=False)
class Personal:
    """Each record's own generalisation: the lowest risk that keeps a share `utility` of its worth.

    The risk is how sensitive the values shown are (see `SensitivityModel`), divided by the number
    of people whom they fit. What they are worth is by `measure` and `importance` (see `Worth`).

    utility: the share of a record's worth that is kept, at least
    solver: "exact" looks at the whole lattice. For tables too wide for that, "genetic" and
        "relaxed" look for low risks without a promise how low, and "lagrangian" for the largest
        `pull`/risk + utility^`power`
    measure: what a generalised value is worth: by how many "leaves" it has, by their "log", or by
        its "depth" in the hierarchy
    model: how sensitive what is shown is: a column counts for its weight unless only its root is
        shown ("fixed"), all columns count for the same at every level ("uniform"), or values of
        higher levels count for less ("harmonic")
    weights: how sensitive columns are, or the values of one
    importance: how much columns are worth; 1 if not named
    choice: the column with what each person chose, one of the `wishes`
    wishes: what people want, by what they chose: "strict" (half the utility), "normal" and "open"
        (half of what is missing to all of it is given too) unless given. People who chose nothing
        get what all get
    register: a table of the people among whom somebody could be looked for; the table itself unless
        given
    effort: how much heuristics do: nodes counted for all records (up to 300 for each column unless
        given), linear programs, or passes over everyone (1,000)
    pull, power: what the solver "lagrangian" weighs risk and utility by
    unit: the identifying column that says whose rows belong together; one row of each person is
        drawn, and only that is used
    """

    utility: Fraction
    solver: Solver
    measure: Utility
    model: Sensitivity
    weights: Mapping[str, Fraction | Mapping[str, Fraction]]
    importance: Mapping[str, Fraction]
    choice: str | None
    wishes: Mapping[str, Wish]
    register: Table | None
    effort: int | None
    pull: Fraction
    power: int
    unit: str | None

    name: ClassVar[str] = "personal"

    def __init__(  # noqa: PLR0913  the parameters of the method
        self,
        utility: Exact,
        solver: Solver = "exact",
        measure: Utility = "leaves",
        model: Sensitivity = "fixed",
        weights: Weights | None = None,
        importance: Mapping[str, Exact] | None = None,
        choice: str | None = None,
        wishes: Mapping[str, Wish] | None = None,
        register: Table | None = None,
        effort: int | None = None,
        pull: Exact = 1,
        power: int = 1,
        unit: str | None = None,
    ) -> None:
        share = fraction(utility, "utility", 0, 1)
        if solver not in SOLVERS:
            raise ParameterError(
                "is unknown", f"known are {listed(SOLVERS)}", option="solver", given=repr(solver)
            )
        wishes = {} if wishes is None else wishes
        by_column(wishes, "wishes")
        if not all(isinstance(wish, Wish) for wish in wishes.values()):
            raise ParameterError(
                "has something that is not a Wish",
                "give one for each choice, such as {'strict': Wish(utility='0.3')}",
                option="wishes",
            )
        if wishes and choice is None:
            raise ParameterError(
                "is what people may choose",
                "say with `choice` which column has their choices",
                option="wishes",
            )
        if choice is not None and not wishes:
            wishes = {"strict": Wish(share / 2), "normal": Wish(), "open": Wish((1 + share) / 2)}
        keep(
            self,
            utility=share,
            solver=solver,
            measure=measure,
            model=model,
            weights=SensitivityModel(model, weights).weights,
            importance=Worth(measure, importance).importance,
            choice=choice,
            wishes={chosen: _weighed(wish, model) for chosen, wish in wishes.items()},
            register=register,
            effort=None if effort is None else whole(effort, "effort"),
            pull=fraction(pull, "pull", 0, above=True),
            power=whole(power, "power", 0),
            unit=unit,
        )

    def promise(self, schema: Schema) -> Promise:
        """The floors, how risk and utility are counted, and whether the risk is the lowest."""
        schema.require_unit(self.unit)
        if not schema.having(Role.QUASI):
            raise ParameterError(
                "the table has no quasi-identifying column to generalise", "give one that role"
            )
        if self.choice is not None:
            _require_choices(self.choice, schema)
        quasi = schema.having(Role.QUASI)
        hierarchies = {
            name: schema.hierarchies[name] for name in quasi if name in schema.hierarchies
        }
        if len(hierarchies) == len(quasi):
            self.sums(hierarchies)  # raises for weights of columns that are not there
        wished = [wish.utility for wish in self.wishes.values() if wish.utility is not None]
        return LowestRisk(
            min([self.utility, *wished]),
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
        chosen = people.solve(job.chance, job.progress)
        facts = people.facts(chosen)
        nodes = prod(height + 1 for height in people.crowds.heights)
        if self.solver != "exact" and nodes <= KNOWN:
            exactly = replace(people, method=replace(self, solver="exact"))
            lowest = exactly.solve(job.chance, _after(job.progress, "finding the lowest risk"))
            facts = replace(facts, lowest_risk=exactly.facts(lowest).risk)
        if is_free(people) or self.solver == "exact":
            known = chosen if is_free(people) else None
            progress = _after(job.progress, "finding who is left")
            facts = replace(facts, seen=recognition(people, job.chance, progress, known))
        released = lay_out(job.table, people.shown(people.levels(chosen)), people.rows)
        derived = {}
        if self.register is not None:
            opened = OpenedTable(self.register, job.chance.bytes(KEY_BYTES).hex())
            kinds = {name: job.table.kind(name) for name in job.table.quasi}
            derived["register_commitment"] = commitment(opened, kinds)
            facts = replace(facts, register_key=opened.key)
        certificate = certify(job.table, self, job.promise, job.chance, derived=derived, whole=True)
        return Release(released, certificate, facts)

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
            wanted[chosen] = SensitivityModel(self.model, weights).sum(hierarchies), share
        return Worth(self.measure, self.importance).sum(hierarchies), wanted


def _after(progress: Progress, what: str) -> Progress:
    """Reports of a search that is made for the owner, once the release is chosen."""

    def report(done: int, total: int, searching: str) -> None:
        progress(1, 1, what)

    return report


def _weighed(wish: Wish, model: Sensitivity) -> Wish:
    """A wish with exact weights."""
    if wish.weights is None:
        return wish
    return replace(wish, weights=SensitivityModel(model, wish.weights).weights)


def _require_choices(choice: str, schema: Schema) -> None:
    """ParameterError unless a table has a column of choices that is not generalised."""
    if choice not in schema.roles:
        raise ParameterError(
            "is not a column of the table",
            "name the one with people's choices",
            option="choice",
            given=repr(choice),
        )
    if schema.roles[choice] is Role.QUASI:
        raise ParameterError(
            "is quasi-identifying, and a column of choices is not generalised",
            "give it another role",
            option="choice",
            given=repr(choice),
        )


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
    """Which of `wanted` each row has."""

    place: npt.NDArray[np.intp]
    """Which row of that it is."""

    choices_shown: bool = False
    """Whether what people chose is released beside them."""

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
        everyone = crowds.find([rows.column(name) for name in hierarchies])
        want = _choices(method, table, rows, list(wishes))
        places = np.zeros(rows.distinct, dtype=np.intp)
        wanted = []
        for number, (sensitivity, share) in enumerate(wishes.values()):
            mine = np.flatnonzero(want == number)
            own, places[mine] = np.unique(everyone[mine], return_inverse=True)
            wanted.append(Wanted.of(sensitivity, utility, share, own))
        shown = method.choice in others
        return cls(method, hierarchies, rows, crowds, utility, wanted, want, places, shown)

    def solve(self, chance: Chance, progress: Progress) -> list[Chosen]:
        """What the method's solver chooses for every row."""

        def searching(done: int, total: int) -> None:
            progress(done, total, "searching the lattice")

        searching(0, 1)
        if self.method.solver == "exact":
            chosen = lowest(self.crowds, self.utility, self.wanted, searching)
        else:
            # Each needs libraries of its own.
            solver = import_module(f"shoal.methods.personal.{self.method.solver}")
            chosen = solver.search(self, chance, searching)
        searching(1, 1)
        return chosen

    def levels(self, every: Sequence[Chosen]) -> npt.NDArray[np.uint8]:
        """The levels of every row."""
        levels = np.zeros((self.rows.distinct, len(self.hierarchies)), dtype=np.uint8)
        for number, chosen in enumerate(every):
            mine = np.flatnonzero(self.want == number)
            levels[mine] = chosen.levels[self.place[mine]]
        return levels

    def shown(
        self, levels: npt.NDArray[np.uint8]
    ) -> dict[str, tuple[list[str], npt.NDArray[np.int64]]]:
        """For every column the texts of all levels, and the place of each row's text among them."""
        columns = {}
        for column, (name, hierarchy) in enumerate(self.hierarchies.items()):
            texts, shown = hierarchy.texts()
            leaves = self.rows.column(name)
            columns[name] = texts, shown[levels[:, column].astype(np.intp), leaves]
        return columns

    def facts(self, every: Sequence[Chosen]) -> PersonalFacts:
        """For the owner: mean and highest risk, the utility kept, and how many nodes are in use."""
        risk = np.zeros(self.rows.distinct)
        worth = np.zeros(self.rows.distinct)
        for number, chosen in enumerate(every):
            mine = np.flatnonzero(self.want == number)
            risk[mine] = chosen.risk[self.place[mine]]
            worth[mine] = chosen.worth[self.place[mine]] / max(self.utility.most, 1)
        often = self.rows.count / max(self.rows.total, 1)
        return PersonalFacts(
            records=self.rows.total,
            risk=float(risk @ often),
            highest=float(risk.max(initial=0)),
            utility=float(worth @ often),
            nodes=len(np.unique(self.levels(every), axis=0)),
        )


def _register(register: Table, table: Table) -> Counts:
    """A register's people by the hierarchies of a table.

    ColumnError if they are in several rows of it.
    """
    absent = [name for name in table.quasi if name not in register.names]
    if absent:
        raise ColumnError(
            f"the register has no column {listed(absent)}, which the table's risk is about",
            "give a register with the quasi-identifying columns",
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
    places = {text: place for place, text in enumerate(known)}
    texts = [None if key is None else str(key) for key in keys]
    numbers = np.array([places.get(text, -1) for text in texts])
    unknown = int((numbers < 0).sum())
    if unknown:
        raise ColumnError(
            f"column {method.choice!r} has {plural(unknown, 'choice')} other than "
            f"{listed([*method.wishes])}",
            "add them to `wishes`, or clean the column",
        )
    return numbers.astype(np.intp)[rows.column(method.choice)]


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
    guide=Guide(
        need="Trusted recipients need a given utility, at the lowest risk for each person",
        promise=(
            "You are shown at the lowest risk that keeps your record's utility, to those who "
            "do not know the algorithm."
        ),
        cost="Each record has levels of its own",
        leaves_open="Sensitive columns; whoever knows the algorithm may infer more",
        example="People chose how much to show",
    ),
    public_algorithm=False,
    public_choices=False,
    as_views=AsViews(),
    trades="risk",
    attack="people",
)

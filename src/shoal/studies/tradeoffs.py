"""What utility costs in risk: for a table, for one person, and beside k-anonymity. Uses the solvers; the command line uses it.

All of it is computed from the data and covered by no promise: it is for the owner, says so in every form it takes, and cannot be
written beside a release. At a floor everybody keeps that share of utility, whatever they chose; how sensitive columns are to
them stays theirs.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, log10, prod
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data import memory
from shoal.data.tables import Table
from shoal.errors import ParameterError, TooLargeError
from shoal.exact.numbers import Exact, fraction, whole
from shoal.lattice import Lattice, Node
from shoal.measure.judging import NOTICE
from shoal.measure.loss import LOSSES
from shoal.methods import Progress, Schema, people_of, require_people, silent
from shoal.methods.optimal import search
from shoal.methods.personal import People, Personal, Solver
from shoal.methods.personal.crowds import Chosen, Wanted, comparable
from shoal.methods.personal.exact import LARGEST, lowest
from shoal.privacy.models import KAnonymity
from shoal.studies import charts
from shoal.zones import owner_only

if TYPE_CHECKING:
    import polars as pl
    from altair import LayerChart

__all__ = [
    "FLOORS",
    "Against",
    "Comparison",
    "Curve",
    "Point",
    "Staircase",
    "Step",
    "compared",
    "tradeoff",
    "tradeoff_of",
]

Floats = npt.NDArray[np.float64]

FLOORS: tuple[Fraction, ...] = tuple(Fraction(share, 20) for share in range(21))
"""Shares of utility at which a curve is drawn unless others are given."""
ARBITRARY = 10
"""k-anonymous tables for every k, as for Figure 9 of the paper."""
COMPARED: tuple[Solver, ...] = ("exact", "genetic")
ROUNDING = 1e-12
"""Means of risks are sums of floats: what is above half by less than this part of it is half."""
"""What charts are saved as, with the options of Altair for each: the first draws without a network."""
_PARTS = 1000  # of the work at one floor, for progress
_HEIGHT = 320  # of a chart


class _Told:
    """What is told to the owner: as plain values and as a chart."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        return {"not_for_release": True, "notice": NOTICE, **_plain(asdict(self))}  # type: ignore[call-overload]

    def chart(self) -> "LayerChart":
        """An Altair chart, marked as not for release."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart as HTML that draws without a network, as PNG or as SVG, by the suffix; not beside a release."""
        charts.save(self.chart(), path)


@owner_only
@dataclass(frozen=True)
class Point:
    """A table at a floor: the mean and the highest risk of its records, and the mean share of utility they keep."""

    floor: Fraction
    risk: float
    highest: float
    utility: float


@owner_only
@dataclass(frozen=True)
class Curve(_Told):
    """Risk against utility for a table.

    `half` is the highest floor at which the mean risk is at most half of what it is for the table `as_it_is`: of all floors where
    the solver is exact, else of those of the curve; None if there is none.
    """

    points: tuple[Point, ...]
    as_it_is: Point
    half: Point | None
    solver: str

    def frame(self) -> "pl.DataFrame":
        """The points, one a row."""
        return _frame(self.points)

    def chart(self) -> "LayerChart":
        """The mean and the highest risk over the floor, and where the mean is halved."""
        alt = charts.library()
        across = _utility(alt, "floor", "share of utility that everybody keeps, at least")
        rows = [
            {"floor": float(point.floor), "risk": risk, "of": of}
            for point in self.points
            for of, risk in (("mean", point.risk), ("highest", point.highest))
        ]
        line = alt.Chart(alt.Data(values=rows)).mark_line(point=True)
        layers = [
            line.encode(
                across, _risk(alt, rows), alt.Color("of:N", title="risk", sort=["highest", "mean"])
            )
        ]
        if self.half is not None:
            layers += _rule(alt, "half the mean risk", self.half.floor)
        return _titled(alt, "Risk against utility", layers)


@owner_only
@dataclass(frozen=True)
class Step:
    """One way to show a record: the share of utility it keeps, its risk, how many people it fits, and what is shown."""

    utility: Fraction
    risk: float
    people: int
    levels: dict[str, int]
    shown: dict[str, str] = field(repr=False)


@owner_only
@dataclass(frozen=True)
class Staircase(_Told):
    """Risk against utility for one person: every way to show the record that no other beats in one without losing in the other.

    Steps go up in utility and in risk. `floor` is the share that the method keeps for this person.
    """

    steps: tuple[Step, ...]
    as_it_is: Step
    floor: Fraction

    def at(self, floor: Exact) -> Step:
        """The step of the lowest risk that keeps a share of utility."""
        share = fraction(floor, "floor", 0, 1)
        return next(step for step in self.steps if step.utility >= share)

    @property
    def half(self) -> Step | None:
        """The step of the highest utility with at most half of the risk of the record as it is; None if there is none."""
        limit = self.as_it_is.risk / 2 * (1 + ROUNDING)
        return next((step for step in reversed(self.steps) if step.risk <= limit), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        return super().to_dict() | {"half": _plain(asdict(self.half)) if self.half else None}

    def frame(self) -> "pl.DataFrame":
        """The steps, one a row, with a column for the level of each column."""
        import polars as pl

        return pl.DataFrame(
            [
                {"utility": float(step.utility), "risk": step.risk, "people": step.people}
                | {f"level of {name}": level for name, level in step.levels.items()}
                for step in self.steps
            ]
        )

    def chart(self) -> "LayerChart":
        """The lowest risk over the utility kept, and where it is halved."""
        alt = charts.library()
        across = _utility(alt, "utility", "share of utility kept")
        rows = [
            {"utility": float(step.utility), "risk": step.risk, "people": step.people}
            for step in self.steps
        ]
        line = alt.Chart(alt.Data(values=rows)).mark_line(point=True, interpolate="step-before")
        layers = [
            line.encode(across, _risk(alt, rows), tooltip=["utility:Q", "risk:Q", "people:Q"])
        ]
        layers += _rule(alt, "kept for this person", self.floor, line=1)
        if self.half is not None:
            layers += _rule(alt, "half the risk", self.half.utility)
        return _titled(alt, "Risk against utility for one person", layers)


@owner_only
@dataclass(frozen=True)
class Against:
    """k-anonymous tables, their mean utility and mean risk, and the mean risks of personal generalisation with that as floor.

    `tables` says how many they are: some are arbitrary, without a level that could be finer; one is the optimum.
    """

    k: int
    optimal: bool
    tables: int
    utility: Fraction
    k_anonymous: float
    exact: float
    genetic: float


@owner_only
@dataclass(frozen=True)
class Comparison(_Told):
    """Personal generalisation beside k-anonymity at equal utility."""

    rows: tuple[Against, ...]

    def frame(self) -> "pl.DataFrame":
        """The comparisons, one a row."""
        return _frame(self.rows)

    def chart(self) -> "LayerChart":
        """The mean risks over the mean utility, with the k of every k-anonymous table."""
        alt = charts.library()
        across = _utility(
            alt, "utility", "mean share of utility that k-anonymous tables keep", whole=False
        )
        marks: dict[tuple[str, float, float], list[str]] = {}
        for row in self.rows:
            anonymous = f"k-anonymous, {'optimal' if row.optimal else 'arbitrary'}"
            risks = {
                anonymous: row.k_anonymous,
                "personal, exact": row.exact,
                "personal, genetic": row.genetic,
            }
            for of, risk in risks.items():
                marks.setdefault((of, float(row.utility), risk), []).append(str(row.k))
        rows = [
            {"of": of, "utility": x, "risk": risk, "k": ", ".join(ks)}
            for (of, x, risk), ks in marks.items()
        ]
        base = alt.Chart(alt.Data(values=rows)).encode(
            across, _risk(alt, rows), alt.Color("of:N", title="mean risk")
        )
        dashed = alt.condition(
            "datum.of == 'personal, genetic'", alt.value([6, 4]), alt.value([1, 0])
        )  # exact shows through it
        lines = base.mark_line(point=True).encode(
            strokeDash=dashed, tooltip=["of:N", "k:N", "utility:Q", "risk:Q"]
        )
        labels = (
            base.mark_text(dy=-9)
            .encode(text="k:N")
            .transform_filter("indexof(datum.of, 'k-anonymous') == 0")
        )
        return _titled(
            alt, "Personal generalisation beside k-anonymity (numbers are k)", [lines, labels]
        )


@typed
def tradeoff(
    table: Table,
    method: Personal,
    floors: Iterable[Exact] = FLOORS,
    *,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> Curve:
    """The risk of a table at every one of some floors, by the method's solver, and the floor that halves it.

    >>> import shoal
    >>> curve = tradeoff(shoal.demo.table(200), Personal(0.5), ["0.2", "0.5", "0.8"])
    >>> [point.risk < curve.as_it_is.risk for point in curve.points]
    [True, True, True]
    >>> curve.half.risk <= curve.as_it_is.risk / 2
    True
    """
    shares = {fraction(share, "floors", 0, 1) for share in floors}
    if not shares:
        raise ParameterError(
            "`floors` are shares of utility, at least one; leave them out for steps of a twentieth"
        )
    chance, report = chance or Chance(), progress or silent
    table = people_of(method, table, chance)
    records = _Records.of(table, method)
    as_it_is = records.point(Fraction(1), records.at((0,) * len(table.quasi)))
    limit = as_it_is.risk / 2 * (1 + ROUNDING)
    points, below, above = [], None, None
    asked = sorted(
        {Fraction(0), *shares, Fraction(1)}
    )  # the ends are cheap, and halving may need them
    for done, share in enumerate(asked):
        found = records.solve(share, method.solver, chance, _part(report, done, len(asked) + 1))
        points.append(records.point(share, found))
        if points[-1].risk <= limit:
            below = points[-1], found
        elif above is None:
            above = points[-1], found
    half = None if below is None else below[0]
    if below and above and method.solver == "exact":
        part = _part(report, len(asked), len(asked) + 1)
        share = records.last_within(
            limit, (below[0].floor, below[1]), (above[0].floor, above[1]), part
        )
        half = records.point(share, records.solve(share, "exact", chance, part))
    return Curve(
        tuple(point for point in points if point.floor in shares), as_it_is, half, method.solver
    )


@typed
def tradeoff_of(table: Table, method: Personal, row: int) -> Staircase:
    """What utility costs the person of one row of a table (the first is 0), exactly.

    The crowds of all nodes come from one histogram: everybody, by the level at which each column first shows the record's value.

    >>> import shoal
    >>> stairs = tradeoff_of(shoal.demo.table(200), Personal(0.5), 0)
    >>> stairs.at("0.5").risk <= stairs.at("0.9").risk <= stairs.as_it_is.risk
    True
    """
    if whole(row, "row", 0) >= table.rows:
        raise ParameterError(
            f"`row` {row:,} is not in the table, which has {table.rows:,} rows, the first being 0"
        )
    if method.unit is not None:
        raise ParameterError(
            f"`row` is one row of the table, and the method draws one of each {method.unit!r}; leave out `unit`, or take a "
            "table with one row per person"
        )
    require_people(method, table)
    people = _Records.of(table, method).people
    crowds, utility, shape = (
        people.crowds,
        people.utility,
        [height + 1 for height in people.crowds.heights],
    )
    nodes = prod(shape)
    if nodes > LARGEST:
        raise TooLargeError(
            f"the lattice has {nodes:,} nodes and {LARGEST:,} can be searched for one person; take levels out of the "
            "hierarchies, or use fewer quasi-identifying columns"
        )
    memory.require(
        nodes * 64,
        f"weighing {nodes:,} ways to show a record",
        "use fewer quasi-identifying columns",
    )
    sensitivity, share = method.sums(people.hierarchies)[1][_chosen(method, table, row)]
    want = comparable(Wanted.of(sensitivity, utility, share, np.zeros(0, dtype=np.intp)), crowds)
    leaves = [int(table.leaves(name)[row]) for name in people.hierarchies]
    joins, worth, shown = (
        np.zeros(crowds.everyone.distinct, dtype=np.intp),
        *np.zeros((2, *shape), dtype=np.int64),
    )
    for column, (hierarchy, leaf) in enumerate(zip(crowds.hierarchies, leaves, strict=True)):
        apart = np.sum([codes != codes[leaf] for codes in hierarchy.maps], axis=0)
        joins = joins * shape[column] + apart[crowds.everyone.codes[column]]
        for total, of in ((worth, utility), (shown, want.sensitivity)):
            levels = [
                part[codes[leaf]]
                for part, codes in zip(of.parts[column], hierarchy.maps, strict=True)
            ]
            total += np.reshape(
                levels, [-1 if other == column else 1 for other in range(len(shape))]
            )
    sizes = np.bincount(joins, crowds.everyone.count, nodes).astype(np.int64).reshape(shape)
    for column in range(len(shape)):
        np.cumsum(sizes, axis=column, out=sizes)
    risk = (shown / sizes).ravel()

    def step(place: int) -> Step:
        node = [int(level) for level in np.unravel_index(place, shape)]
        texts = [
            tree.labels[at][tree.maps[at][leaf]]
            for tree, at, leaf in zip(crowds.hierarchies, node, leaves, strict=True)
        ]
        return Step(
            Fraction(int(worth.flat[place]), utility.most) if utility.most else Fraction(1),
            float(risk[place]) / float(want.sensitivity.unit),
            int(sizes.flat[place]),
            dict(zip(people.hierarchies, node, strict=True)),
            dict(zip(people.hierarchies, texts, strict=True)),
        )

    order = np.lexsort(
        (risk, -worth.ravel())
    )  # worth most first, and of equal ones the lowest risk
    before = np.minimum.accumulate(np.append(np.inf, risk[order][:-1]))
    return Staircase(tuple(map(step, order[risk[order] < before][::-1].tolist())), step(0), share)


@typed
def compared(
    table: Table,
    method: Personal,
    ks: Iterable[int],
    *,
    tables: int = ARBITRARY,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """The experiment of the paper's Figure 9: k-anonymous tables, and personal generalisation at the utility these have.

    For every k some arbitrary tables are drawn: from all columns at their roots, a random one is made a level finer as long as
    groups stay that large. Beside them stands the optimum by granularity. Nobody is suppressed.
    """
    chance = chance or Chance()
    table = people_of(method, table, chance)
    asked = sorted({whole(k, "ks") for k in ks})
    if not asked:
        raise ParameterError("`ks` are sizes of groups, at least one, such as 5")
    if asked[-1] > table.rows:
        raise ParameterError(
            f"no table of {table.rows:,} records is {asked[-1]:,}-anonymous; ask for smaller `ks`"
        )
    whole(tables, "tables")
    records, report = _Records.of(table, method), progress or silent
    lattice = Lattice(records.people.rows.over(tuple(table.quasi)), records.people.hierarchies)
    smallest: dict[Node, int] = {}
    solved: dict[Fraction, list[float]] = {}
    rows = []
    for done, k in enumerate(asked):
        part = _part(report, done, len(asked))
        part(0, 1, f"drawing {k}-anonymous tables")
        arbitrary = [_minimal(lattice, k, smallest, chance) for _ in range(tables)]
        best = [search(lattice, [KAnonymity(k)], LOSSES["granularity"]).node]
        for number, nodes in enumerate((arbitrary, best)):
            shown = [records.at(node) for node in nodes]
            kept = sum(map(records.kept, shown), Fraction(0)) / len(nodes)
            if kept not in solved:  # larger k often have the same optimum
                parts = [_part(part, 2 * number + second, 4) for second in range(2)]
                found = [
                    records.solve(kept, solver, chance, told)
                    for solver, told in zip(COMPARED, parts, strict=True)
                ]
                solved[kept] = [records.mean([one.risk for one in chosen]) for chosen in found]
            risk = sum(records.mean([one.risk for one in everyone]) for everyone in shown) / len(
                nodes
            )
            rows.append(Against(k, nodes is best, len(nodes), kept, risk, *solved[kept]))
    return Comparison(tuple(rows))


@dataclass(frozen=True, eq=False)
class _Records:
    """People, and how many records every row of each of their `Wanted` stands for."""

    people: People
    counts: Sequence[npt.NDArray[np.int64]]

    @classmethod
    def of(cls, table: Table, method: Personal) -> "_Records":
        method.promise(Schema.of(table))  # an error for what cannot be released
        people, counts = People.of(method, table), []
        for number, want in enumerate(people.wanted):
            mine = np.flatnonzero(people.want == number)
            counts.append(
                np.bincount(people.place[mine], people.rows.count[mine], len(want.rows)).astype(
                    np.int64
                )
            )
        return cls(people, counts)

    def solve(
        self, share: Fraction, solver: Solver, chance: Chance, progress: Progress
    ) -> list[Chosen]:
        """What a solver chooses where everybody keeps a share of utility."""

        def told(done: int, total: int, what: str) -> None:
            progress(done, total, f"{what} at a floor of {float(share):.1%}")

        wanted = [replace(want, floor=self._units(share)) for want in self.people.wanted]
        method = replace(self.people.method, solver=solver)
        return replace(self.people, method=method, wanted=wanted).solve(chance, told)

    def at(self, node: Node) -> list[Chosen]:
        """Everybody at one node."""
        crowds, found = self.people.crowds, []
        sizes, worth = crowds.sizes(node), crowds.sum_at(self.people.utility, node)
        for want in (comparable(want, crowds) for want in self.people.wanted):
            shown, worths = (
                np.broadcast_to(total, sizes.shape)[want.rows]
                for total in (crowds.sum_at(want.sensitivity, node), worth)
            )
            levels = np.tile(np.array(node, dtype=np.uint8), (len(want.rows), 1))
            found.append(
                Chosen(levels, shown / sizes[want.rows] / float(want.sensitivity.unit), worths)
            )
        return found

    def mean(self, risks: Sequence[Floats]) -> float:
        """The mean risk of the records."""
        return float(
            sum(often @ risk for often, risk in zip(self.counts, risks, strict=True))
        ) / max(self.people.rows.total, 1)

    def kept(self, found: Sequence[Chosen]) -> Fraction:
        """The mean share of utility that the records keep; it becomes a floor, so it is exact."""
        worth = sum(
            sum(map(mul, often.tolist(), one.worth.tolist()))
            for often, one in zip(self.counts, found, strict=True)
        )
        return Fraction(worth, max(self.people.utility.most * self.people.rows.total, 1))

    def point(self, share: Fraction, found: Sequence[Chosen]) -> Point:
        """The table as it is shown."""
        highest = max(float(one.risk.max(initial=0)) for one in found)
        return Point(
            share, self.mean([one.risk for one in found]), highest, float(self.kept(found))
        )

    def last_within(
        self,
        limit: float,
        below: tuple[Fraction, Sequence[Chosen]],
        above: tuple[Fraction, Sequence[Chosen]],
        progress: Progress,
    ) -> Fraction:
        """The highest floor at which the mean of the lowest risks is within a limit, between one that is and one that is not.

        Risks only grow with the floor: rows with the same at both ends have it between them too, and are solved no more. A
        row keeps its risk up to the utility it has at it, so that the floors to be tried are soon few.
        """
        people, (low, high) = self.people, (self._units(share) for share, _ in (below, above))
        within, beyond = ([one.risk for one in found] for _, found in (below, above))
        while high - low > 1:
            progress(0, 1, "halving the risk")
            middle, risks = (low + high) // 2, [risk.copy() for risk in within]
            unlike = [
                np.flatnonzero(one != other) for one, other in zip(within, beyond, strict=True)
            ]
            wanted = [
                replace(want, floor=middle, rows=want.rows[some])
                for want, some in zip(people.wanted, unlike, strict=True)
            ]
            found = lowest(people.crowds, people.utility, wanted)
            for risk, some, one in zip(risks, unlike, found, strict=True):
                risk[some] = one.risk
            if self.mean(risks) <= limit:
                low, within = min(int(one.worth.min()) for one in found if len(one.worth)), risks
            else:
                high, beyond = middle, risks
        return Fraction(low, max(people.utility.most, 1))

    def _units(self, share: Fraction) -> int:
        return ceil(share * self.people.utility.most)


def _minimal(lattice: Lattice, k: int, smallest: dict[Node, int], chance: Chance) -> Node:
    """A node with groups of at least k that no column can be finer in, by a random way down from the top."""
    node = lattice.top
    while True:
        finer = lattice.finer(node)
        for one in finer:
            if one not in smallest:
                smallest[one] = int(lattice.groups(one).sizes.min())
        allowed = [one for one in finer if smallest[one] >= k]
        if not allowed:
            return node
        node = allowed[chance.below(len(allowed))]


def _chosen(method: Personal, table: Table, row: int) -> str | None:
    """What the person of a row chose."""
    if method.choice is None:
        return None
    column = table.column(method.choice)
    key = column.keys[column.codes[row]]
    return None if key is None else str(key)


def _part(progress: Progress, done: int, total: int) -> Progress:
    """Progress within one of several equal pieces of work."""

    def told(inner: int, of: int, what: str) -> None:
        progress(done * _PARTS + _PARTS * inner // max(of, 1), total * _PARTS, what)

    return told


# Drawing


def _frame(rows: Iterable[Any]) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame([_plain(asdict(row)) for row in rows])


def _plain(value: Any) -> Any:
    """Numbers for JSON, in whatever they are."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    return float(value) if isinstance(value, Fraction) else value


def _utility(alt: Any, name: str, title: str, *, whole: bool = True) -> Any:
    """An axis for shares of utility, all of them or those there are."""
    scale = alt.Scale(domain=[0, 1]) if whole else alt.Scale(zero=False, padding=20)
    return alt.X(f"{name}:Q", title=title, axis=alt.Axis(format="%"), scale=scale)


def _risk(alt: Any, rows: Sequence[dict[str, Any]]) -> Any:
    """An axis for risks, which are of all sizes: by their logarithm down to the smallest, and linear from there to 0."""
    risks = [row["risk"] for row in rows if row["risk"] > 0] or [1.0]
    tens = [
        0,
        *(10.0**power for power in range(ceil(log10(min(risks))), floor(log10(max(risks))) + 1)),
    ]
    scale = alt.Scale(type="symlog", constant=min(risks))
    return alt.Y("risk:Q", title="risk", scale=scale, axis=alt.Axis(format="~g", values=tens))


def _rule(alt: Any, label: str, at: Fraction, line: int = 0) -> list[Any]:
    """A vertical line with a label at its foot, on a line of its own."""
    base = alt.Chart(
        alt.Data(values=[{"at": float(at), "label": f"{label}: {float(at):.1%}"}])
    ).encode(alt.X("at:Q"))
    side = {"align": "right", "dx": -4} if at > Fraction(1, 2) else {"align": "left", "dx": 4}
    text = base.mark_text(baseline="bottom", **side).encode(
        text="label:N", y=alt.value(_HEIGHT - 4 - 14 * line)
    )
    return [base.mark_rule(strokeDash=[4, 3], color="gray"), text]


def _titled(alt: Any, text: str, layers: Sequence[Any]) -> "LayerChart":
    title = alt.Title(text, subtitle=NOTICE, anchor="start")
    found: LayerChart = alt.layer(*layers).properties(width=520, height=_HEIGHT, title=title)
    return found

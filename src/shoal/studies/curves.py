"""The price of utility in risk, as values.

There is a curve for a table, a staircase for one person, and a comparison with k-anonymity. Each is
owner only, and also a dataframe, plain values for JSON, and a chart. `tradeoffs` makes them, the
command line shows them.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.exact.numbers import Exact, fraction, percent
from shoal.look.charts import ChartAxis, Mark, lines, number
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.studies.saving import Saved
from shoal.zones import NOT_FOR_RELEASE, owner_only

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Against",
    "AnonymityComparison",
    "Curve",
    "Point",
    "Stair",
    "Staircase",
    "Study",
    "frame_of",
    "half_of",
    "plain",
]

_ROUNDING = 1e-12
"""Means of risks are sums of floats: what is above half by less than this share of it is half."""

_RISK = ChartAxis("risk, on a scale that multiplies", log=True)
"""Risks are chances times what is at stake, and so may be above 1."""


def half_of(risk: float) -> float:
    """The largest risk that counts as half of one."""
    return risk / 2 * (1 + _ROUNDING)


class Study(Saved):
    """A result as plain values and as a chart."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        values = plain(asdict(self))  # type: ignore[call-overload]
        return {**NOT_FOR_RELEASE, **values}


@owner_only
@dataclass(frozen=True)
class Point:
    """A table at a floor of utility.

    It has the mean and the highest risk of its records, and their mean share of utility.
    """

    floor: Fraction
    risk: float
    highest: float
    utility: float


@owner_only
@dataclass(frozen=True)
class Curve(Study):
    """Risk against utility for a table.

    `half` is the highest floor at which the mean risk is at most half of what it is for the table
    `as_it_is`: of all floors where the solver is exact, else of those of the curve; None if there
    is none.
    """

    points: tuple[Point, ...]
    as_it_is: Point
    half: Point | None
    solver: str

    def frame(self) -> "pl.DataFrame":
        """One row per point."""
        return frame_of(self.points)

    def pictures(self) -> tuple[Picture, ...]:
        """The mean and the highest risk over the floor, and where the mean is halved."""
        title = "No share of utility that everybody keeps halves the mean risk"
        marks = []
        if self.half is not None:
            title = (
                "The mean risk is halved where everybody keeps "
                f"{percent(float(self.half.floor))} of the utility"
            )
            marks.append(Mark(float(self.half.floor), "half the mean risk:"))
        points = [("highest", float(point.floor), point.highest) for point in self.points]
        points += [("mean", float(point.floor), point.risk) for point in self.points]
        rows = [
            [percent(float(point.floor)), number(point.risk), number(point.highest)]
            for point in self.points
        ]
        return (
            Picture(
                title=title,
                sentence=(
                    "The mean and the highest risk of the records, by the share of utility that "
                    "everybody keeps at least."
                ),
                head=["utility kept, at least", "mean risk", "highest risk"],
                rows=rows,
                draw=partial(
                    lines,
                    points,
                    ChartAxis(
                        "share of utility that everybody keeps, at least", shares=True, ends=(0, 1)
                    ),
                    _RISK,
                    marks=marks,
                ),
                zone=Zone.OWNER,
            ),
        )


@owner_only
@dataclass(frozen=True)
class Stair:
    """One way to show a record, with its share of utility, its risk and its crowd."""

    utility: Fraction
    risk: float
    people: int
    levels: dict[str, int]
    shown: dict[str, str] = field(repr=False)


@owner_only
@dataclass(frozen=True)
class Staircase(Study):
    """Risk against utility for one person.

    The steps are the ways to show the record that no other beats in one without losing in the
    other. Steps go up in utility and in risk. `floor` is the share that the method keeps for this
    person.
    """

    steps: tuple[Stair, ...]
    as_it_is: Stair
    floor: Fraction

    def at(self, floor: Exact) -> Stair:
        """The step of the lowest risk that keeps a share of utility."""
        share = fraction(floor, "floor", 0, 1)
        return next(step for step in self.steps if step.utility >= share)

    def at_each(self, floors: Iterable[Exact]) -> list[Stair]:
        """The steps at some floors, each once, in the order of their utility."""
        # Steps are compared by identity: several floors may lead to the same one.
        wanted = [self.at(floor) for floor in floors]
        return [step for step in self.steps if any(step is each for each in wanted)]

    @property
    def half(self) -> Stair | None:
        """The most useful step with at most half of the full risk; None if there is none."""
        limit = half_of(self.as_it_is.risk)
        return next((step for step in reversed(self.steps) if step.risk <= limit), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        half = None if self.half is None else plain(asdict(self.half))
        return super().to_dict() | {"half": half}

    def frame(self) -> "pl.DataFrame":
        """One row per step, with a column for the level of each column."""
        import polars as pl

        rows = []
        for step in self.steps:
            levels = {f"level of {name}": level for name, level in step.levels.items()}
            rows.append({**_drawn(step), **levels})
        return pl.DataFrame(rows)

    def pictures(self) -> tuple[Picture, ...]:
        """The lowest risk over the utility kept, and where it is halved."""
        title = "No way to show this record halves its risk"
        marks = [Mark(float(self.floor), "kept for this person:")]
        if self.half is not None:
            kept = float(self.half.utility)
            title = f"Half the risk leaves this person {percent(kept)} of the utility"
            marks.append(Mark(kept, "half the risk:"))
        points = [("", float(step.utility), step.risk) for step in self.steps]
        rows = [
            [percent(float(step.utility)), number(step.risk), f"{step.people:,}"]
            for step in self.steps
        ]
        return (
            Picture(
                title=title,
                sentence=(
                    "The lowest risk of this record at each share of utility. Each step is a way "
                    "to show it that no other beats."
                ),
                head=["utility kept", "risk", "people it fits"],
                rows=rows,
                draw=partial(
                    lines,
                    points,
                    ChartAxis("share of utility kept", shares=True, ends=(0, 1)),
                    _RISK,
                    step=True,
                    marks=marks,
                ),
                zone=Zone.OWNER,
            ),
        )


@owner_only
@dataclass(frozen=True)
class Against:
    """k-anonymous tables beside personal generalisation.

    Each has its mean utility and mean risk, and the mean risks of personal generalisation with that
    utility as floor. `tables` is how many they are: some are arbitrary, without a level that could
    be finer; one is the optimum.
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
class AnonymityComparison(Study):
    """Personal generalisation beside k-anonymity at equal utility."""

    rows: tuple[Against, ...]

    def frame(self) -> "pl.DataFrame":
        """One row per comparison."""
        return frame_of(self.rows)

    def pictures(self) -> tuple[Picture, ...]:
        """The mean risks over the mean utility, with the k of every k-anonymous table."""
        lower = sum(row.exact < row.k_anonymous for row in self.rows)
        marks = self._marks()
        texts = [
            (mark["utility"], mark["risk"], f"k = {mark['k']}")
            for mark in marks
            if mark["of"].startswith("k-anonymous")
        ]
        rows = []
        for row in self.rows:
            risks = (row.k_anonymous, row.exact, row.genetic)
            chosen = "optimal" if row.optimal else "arbitrary"
            rows.append([f"{row.k}, {chosen}", percent(float(row.utility)), *map(number, risks)])
        return (
            Picture(
                title=(
                    f"In {lower} of {len(self.rows)} comparisons, personal generalisation has a "
                    "lower risk than k-anonymity"
                ),
                sentence=(
                    "The mean risk of k-anonymous tables, and that of personal generalisation "
                    "with the same mean utility."
                ),
                head=["k", "utility", "k-anonymous", "personal, exact", "personal, genetic"],
                rows=rows,
                draw=partial(
                    lines,
                    [(mark["of"], mark["utility"], mark["risk"]) for mark in marks],
                    ChartAxis("mean share of utility that k-anonymous tables keep", shares=True),
                    _RISK,
                    texts=texts,
                ),
                zone=Zone.OWNER,
            ),
        )

    def _marks(self) -> list[dict[str, Any]]:
        """What is drawn; marks at the same place are one, with every k."""
        ks: dict[tuple[str, float, float], list[str]] = {}
        for row in self.rows:
            choice = "optimal" if row.optimal else "arbitrary"
            risks = {
                f"k-anonymous, {choice}": row.k_anonymous,
                "personal, exact": row.exact,
                "personal, genetic": row.genetic,
            }
            for of, risk in risks.items():
                place = of, float(row.utility), risk
                ks.setdefault(place, []).append(str(row.k))
        marks = []
        for (of, utility, risk), each in ks.items():
            mark = {"of": of, "utility": utility, "risk": risk, "k": ", ".join(each)}
            marks.append(mark)
        return marks


def _drawn(step: Stair) -> dict[str, Any]:
    return {"utility": float(step.utility), "risk": step.risk, "people": step.people}


def frame_of(rows: Iterable[Any]) -> "pl.DataFrame":
    """Dataclasses as a dataframe, one row each."""
    import polars as pl

    return pl.DataFrame([plain(asdict(row)) for row in rows])


def plain(value: Any) -> Any:
    """Numbers for JSON, in whatever they are."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, Fraction):
        return float(value)
    return value

"""What limits cost: how large buckets get, and how far count queries are off, against θ.

All of it is computed from the data and covered by no promise: it is owner only, and cannot be
written beside a release. Uses `measure` and gives values like those of `curves`; the command line
and experiments use it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ParameterError, listed
from shoal.exact.numbers import Exact, fraction, whole
from shoal.look.charts import ChartAxis, lines
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.measure.bucket_errors import BucketErrors, BucketQueries, bucket_errors
from shoal.methods.buckets import Buckets, BucketsFacts
from shoal.methods.buckets.settings import Solver
from shoal.methods.catalogue import entries, entry_of
from shoal.methods.method import Method, Progress, people_of, silent
from shoal.studies.apart import ESTIMATES
from shoal.studies.curves import Study
from shoal.zones import NOT_FOR_RELEASE, owner_only

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "SOLVERS",
    "THETAS",
    "BlockLimit",
    "LimitCurve",
    "LimitPoint",
    "LimitReport",
    "ValueLimit",
    "limits_of",
    "weigh_limits",
]

THETAS: tuple[Fraction, ...] = tuple(map(Fraction, (2, 4, 8, 16, 32)))
"""Those of the paper's evaluation."""

SOLVERS: tuple[Solver, ...] = ("optimal", "multi", "two")
"""Those that keep every limit by itself."""


@owner_only
@dataclass(frozen=True)
class LimitPoint:
    """A table in buckets under limits eased by θ, as a solver finds them.

    `gap` is by how much of the loss other buckets may be better, at most, where that is known.
    `refused` is the reason where there are no buckets.
    """

    theta: Fraction
    solver: Solver
    buckets: int | None = None
    loss: int | None = None
    mean_squared_error: float | None = None
    gap: float | None = None
    queries: BucketErrors | None = None
    refused: str = ""


@owner_only
@dataclass(frozen=True)
class LimitCurve(Study):
    """Loss and query errors against θ, for some solvers; `column` is the sensitive one."""

    column: str
    points: tuple[LimitPoint, ...]

    def frame(self) -> "pl.DataFrame":
        """One row per point."""
        import polars as pl

        return pl.DataFrame([_row(point) for point in self.points], infer_schema_length=None)

    def pictures(self) -> tuple[Picture, ...]:
        """The mean squared error by solver, and the errors of queries where any were asked."""
        found = [point for point in self.points if point.mean_squared_error is not None]
        errors = [(point, point.mean_squared_error or 0.0) for point in found]
        error = "mean squared error"
        pictures = [self._picture(error, errors, ChartAxis(error))]
        asked = [(point, point.queries) for point in found if point.queries is not None]
        for name, text in ESTIMATES.items():
            axis = ChartAxis("mean relative error of count queries", shares=True)
            means = [(point, getattr(own, name).mean) for point, own in asked]
            if means:
                pictures.append(self._picture(f"error of count queries, {text}", means, axis))
        return tuple(pictures)

    def _picture(
        self, what: str, figures: Sequence[tuple[LimitPoint, float]], axis: ChartAxis
    ) -> Picture:
        """A figure of every point, a line for each solver."""
        points = [(point.solver, float(point.theta), figure) for point, figure in figures]
        ends = ""
        if figures:
            first, last = (axis.text(figure) for _, figure in (figures[0], figures[-1]))
            ends = f": {first} at the strictest, {last} at the loosest limits"
        return Picture(
            title=f"{self.column}: {what}{ends}",
            sentence=(
                "The limits of values are eased by θ; each line is a way to find the sizes of "
                "buckets. Less is better."
            ),
            head=["θ", "solver", what],
            rows=[
                [f"{float(point.theta):g}", point.solver, axis.text(figure)]
                for point, figure in figures
            ],
            draw=partial(lines, points, ChartAxis("θ, by which limits are eased", log=True), axis),
            zone=Zone.OWNER,
        )


def _row(point: LimitPoint) -> dict[str, Any]:
    row: dict[str, Any] = {
        "theta": float(point.theta),
        "solver": point.solver,
        "buckets": point.buckets,
        "loss": point.loss,
        "mean_squared_error": point.mean_squared_error,
        "gap": point.gap,
    }
    for name, text in ESTIMATES.items():
        errors = point.queries
        row[f"mean error, {text}"] = None if errors is None else getattr(errors, name).mean
    return row


@owner_only
@dataclass(frozen=True)
class ValueLimit:
    """A sensitive value as text, its share of the table, and its limit."""

    value: str = field(repr=False)
    share: float
    limit: float
    prevents: bool
    """Whether the share is above the limit, so that no buckets can keep it."""


@owner_only
@dataclass(frozen=True)
class BlockLimit:
    """A value that prevents buckets within a block of people, who `agree` in some columns."""

    agree: Mapping[str, str] = field(repr=False)
    value: str = field(repr=False)
    share: float
    limit: float


@owner_only
@dataclass(frozen=True)
class LimitReport:
    """Every sensitive value of a table, those that prevent buckets first, then by share.

    `blocked` are those that do within blocks of people only, where buckets are made of such.
    """

    column: str
    holds: bool
    values: tuple[ValueLimit, ...]
    blocked: tuple[BlockLimit, ...]
    concerns: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        return {**NOT_FOR_RELEASE, **asdict(self)}


@typed
def limits_of(table: Table, method: Method) -> LimitReport:
    """What a method with limits says about the values of a table, before anything is released.

    ParameterError if it has none.
    """
    chosen: Any = method  # the methods with limits have more than the protocol
    entry = entry_of(method.name)
    if entry.trades != "limits":
        others = [each.name for each in entries() if each.trades == "limits"]
        raise ParameterError(f"the method {method.name!r} has no limits", f"use {listed(others)}")
    eligible = chosen.eligibility(table)
    kind = table.kind(chosen.column)

    def text(value: Any) -> str:
        return "" if value is None else kind.text(value)

    values = [
        ValueLimit(
            value=text(value),
            share=float(share),
            limit=float(limit),
            prevents=value in eligible.preventing,
        )
        for value, (share, limit) in eligible.shares.items()
    ]
    values.sort(key=lambda value: (not value.prevents, -value.share, value.value))
    blocked = [
        BlockLimit(each.agree, text(each.value), float(each.share), float(each.limit))
        for each in eligible.blocked
    ]
    return LimitReport(
        column=chosen.column,
        holds=eligible.holds,
        values=tuple(values),
        blocked=tuple(blocked),
        concerns=eligible.concerns,
    )


@typed
def weigh_limits(
    table: Table,
    method: Buckets,
    thetas: Iterable[Exact] = THETAS,
    solvers: Iterable[str] = SOLVERS,
    *,
    queries: int = 0,
    seed: int = 0,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> LimitCurve:
    """The loss of a table in buckets at each θ by each solver, and the errors of count queries.

    thetas: see `Limits.eased`
    queries: how many are asked at each point, the same at all; none by default
    seed: of the queries, which decides what is measured and nothing else

    >>> import shoal
    >>> people = shoal.demo.table(400)
    >>> hidden = [name for name in people.names if name not in ("age", "sex", "diagnosis")]
    >>> people = people.with_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"], identifying=hidden
    ... )
    >>> method = Buckets("diagnosis", shoal.Limits.formula(2, "0.1"))
    >>> curve = weigh_limits(people, method, [2, 8], ["two"])
    >>> curve.points[1].loss < curve.points[0].loss
    True
    """
    asked = sorted({fraction(theta, "thetas", 0, above=True) for theta in thetas})
    wanted = list(solvers)
    unknown = [solver for solver in wanted if solver not in get_args(Solver)]
    if unknown:
        raise ParameterError(
            "is unknown",
            f"it takes {listed(get_args(Solver))}",
            option="solvers",
            given=repr(unknown[0]),
        )
    chosen: list[Solver] = [solver for solver in get_args(Solver) if solver in wanted]
    if not asked or not chosen:
        raise ParameterError(
            "`thetas` or `solvers` lists nothing", "give at least one of each, or leave them out"
        )
    whole(queries, "queries", 0)
    chance = chance or Chance()
    report = progress or silent
    # One row of each person, so that all points are about the same rows.
    table = people_of(method, table, chance)
    weighing = _Weighing(table, BucketQueries(queries) if queries else None, seed, chance)
    pairs = [(theta, solver) for theta in asked for solver in chosen]
    points = []
    for done, (theta, solver) in enumerate(pairs):
        report(done, len(pairs), "filling buckets")
        eased = replace(method, limits=method.limits.eased(theta), solver=solver, unit=None)
        points.append(weighing.point(theta, eased))
    report(len(pairs), len(pairs), "filling buckets")
    return LimitCurve(method.column, tuple(points))


@dataclass(frozen=True, eq=False)
class _Weighing:
    """Releases of a table, to be looked at and thrown away."""

    table: Table
    queries: BucketQueries | None
    seed: int
    chance: Chance

    def point(self, theta: Fraction, method: Buckets) -> LimitPoint:
        try:
            release = method.release(self.table, self.chance)
        except InfeasibleError as error:
            return LimitPoint(theta, method.solver, refused=error.what)
        facts = release.facts
        assert isinstance(facts, BucketsFacts)
        errors = None
        if self.queries is not None:
            errors = bucket_errors(self.table, release, self.queries, seed=self.seed)
        return LimitPoint(
            theta=theta,
            solver=method.solver,
            buckets=facts.buckets,
            loss=facts.bucket_loss,
            mean_squared_error=facts.bucket_loss / max(facts.records - 1, 1),
            gap=facts.bucket_gap,
            queries=errors,
        )

"""`forecast`: what to expect of each differentially private method, before anything is spent.

The methods run on made-up tables (`made_up`). No row of the table to be released is looked at, so
that a forecast costs no budget and may be shown to anybody. Uses `methods` and `measure`; the
command line uses it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from statistics import fmean
from typing import Any

from shoal.arguments import typed
from shoal.chance import Seeded
from shoal.data.frames import RowsWithCounts
from shoal.data.hierarchy import Hierarchy
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.errors import HierarchyError, ParameterError, ShoalError, plural
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact, percent, whole
from shoal.look.charts import ChartAxis, ranges
from shoal.look.pictures import Picture, Pictured
from shoal.look.zoned import Zone
from shoal.measure.explaining import explain_counts
from shoal.methods.catalogue import entry_of
from shoal.methods.method import Method
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from shoal.privacy.calculus import delta_concern, per_row
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.facts import KeptFacts
from shoal.releases.release import Release
from shoal.studies.made_up import Law, made_up, resampled
from shoal.zones import brief

__all__ = ["WAYS", "Between", "Expectation", "Forecast", "forecast"]

CAUTIOUS = Law(steepest=3.5, dependence=0.3)
"""The law of the lower figures: public tables keep as much (docs/reference/benchmarks-kept.md)."""

HOPEFUL = Law(steepest=4.5, dependence=0.92)
"""The law of the higher figures."""

TABLES = 6
"""Tables that are made up by each law: what one keeps differs from the next by 0.02 to 0.05."""

WAYS: Mapping[str, Callable[[Epsilon, Exact], Method]] = {
    "noisy counts by a tree": partial(NoisyCounts, levels="tree", counts=True),
    "noisy counts by a search": partial(NoisyCounts, levels="search", counts=True),
    "SafePub by a tree": partial(SafePub, search="tree", beta="auto"),
    "SafePub by a search": partial(SafePub, beta="auto"),
}
"""The ways to release that are forecast, each by its name."""


@dataclass(frozen=True)
class Between:
    """What a figure is expected to lie between."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@brief
@dataclass(frozen=True)
class Expectation:
    """What to expect of one way to release.

    truthful: whether released rows and counts are true
    information: the share of the table's information that is kept, 1 − the granularity lost by
        all records
    kept: the share of records whose row is released
    crowd: about how many records must share a row for it to be more likely than not to be released
    error: by how much counts are off, all together, as a share of what they count; None where they
        are true
    """

    way: str
    method: str
    truthful: bool
    information: Between
    kept: Between
    crowd: int | None
    error: Between | None


@brief
@dataclass(frozen=True)
class Forecast(Pictured):
    """What to expect of each way to release, best first. A forecast, not a promise.

    rows: how many rows of each person are used
    stated: how many records the table is said to have
    records: how many the made-up tables have: as many, unless that is too many
    by_like: whether records were drawn from a public table, not from a law
    refused: why the other ways cannot release such a table
    concern: what is wrong with δ for that many records, if anything
    """

    promise: DifferentialPrivacy
    rows: int
    stated: int
    records: int
    columns: tuple[str, ...]
    by_like: bool
    expectations: tuple[Expectation, ...]
    refused: Mapping[str, str]
    concern: str | None

    def _repr_html_(self) -> str:
        """The forecast as notebooks show it."""
        from shoal.studies.cards import card_of_forecast

        return card_of_forecast(self).html()

    def best(self, *, truthful: bool = False) -> Expectation:
        """The way that is expected to keep most, among those with true counts if asked for."""
        for one in self.expectations:
            if one.truthful or not truthful:
                return one
        raise ParameterError("no way with true counts was forecast", "forecast SafePub too")

    def pictures(self) -> tuple[Picture, ...]:
        """How much of the information each way is expected to keep."""
        shown = [(one.way, one.information.low, one.information.high) for one in self.expectations]
        title = "No way to release such a table is forecast"
        if self.expectations:
            best = self.expectations[0]
            low, high = (percent(end) for end in (best.information.low, best.information.high))
            title = f"Most is expected to be kept by {best.way}: {low} to {high} of the information"
        rows = []
        for one in self.expectations:
            spans = (one.information, one.kept)
            rows.append([one.way, *(f"{percent(s.low)} to {percent(s.high)}" for s in spans)])
        return (
            Picture(
                title=title,
                sentence=(
                    f"How much of what {plural(self.stated, 'record')} say each way is expected to "
                    "keep, by releases of made-up tables. It is a forecast, not a promise."
                ),
                head=["way to release", "information kept", "records kept"],
                rows=rows,
                draw=partial(
                    ranges, shown, ChartAxis("information kept", shares=True, ends=(0, 1))
                ),
                zone=Zone.RELEASED,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        promise = self.promise
        return {
            "forecast": True,
            "epsilon": float(Epsilon.of(promise.epsilon)),
            "delta": float(Fraction(promise.delta)),
            "rows": self.rows,
            "promise": promise.statement,
            "stated": self.stated,
            "records": self.records,
            "columns": list(self.columns),
            "by_like": self.by_like,
            "expectations": [asdict(one) for one in self.expectations],
            "refused": dict(self.refused),
        }


@typed
def forecast(
    schema: Schema | Mapping[str, Hierarchy],
    *,
    records: int,
    epsilon: Epsilon | Exact,
    delta: Exact,
    rows: int = 1,
    like: Table | None = None,
    values: Mapping[str, int] | None = None,
    ways: Mapping[str, Callable[[Epsilon, Exact], Method]] | None = None,
) -> Forecast:
    """What to expect of each differentially private method, by what is public alone.

    schema: that of the table, or just the hierarchies of its columns
    records: about how many records it has, if that is public
    rows: how many rows of each person are used; the promise is for a person then
    like: a public table with these columns, such as a census; of a smaller one all records are
        taken, and no more
    values: how many values columns without a hierarchy have
    ways: the ways to release, each made with an ε and a δ; `WAYS` unless given

    >>> from shoal import hierarchy
    >>> ages, sexes = hierarchy.intervals(0, 99, widths=[10]), hierarchy.suppress(["f", "m"])
    >>> expected = forecast({"age": ages, "sex": sexes}, records=5_000, epsilon=1, delta="1e-6")
    >>> expected.best().method, expected.best(truthful=True).method
    ('noisy-counts', 'safepub')
    """
    number = whole(records, "records")
    given = schema if isinstance(schema, Schema) else _all_quasi(schema)
    each, delta_row = per_row(epsilon, delta, rows)
    laws = _tables(given, number, like, values or {})
    expectations: list[Expectation] = []
    refused: dict[str, ShoalError] = {}
    for way, make in (ways or WAYS).items():
        try:
            method = make(each, delta_row)
            method.promise(laws[0][0].schema)
        except (HierarchyError, ParameterError) as error:
            refused[way] = error
        else:
            expectations.append(_expectation(way, method, laws))
    if refused and not expectations:
        raise next(iter(refused.values()))
    expectations.sort(key=lambda one: -one.information.middle)
    return Forecast(
        promise=DifferentialPrivacy(epsilon, delta, "standard", "row" if rows == 1 else "person"),
        rows=rows,
        stated=number,
        records=laws[0][0].rows,
        columns=given.released,
        by_like=like is not None,
        expectations=tuple(expectations),
        refused={way: str(error) for way, error in refused.items()},
        concern=delta_concern(delta, number),
    )


def _all_quasi(trees: Mapping[str, Hierarchy]) -> Schema:
    """The schema of a table whose columns are all quasi-identifying."""
    if not all(isinstance(tree, Hierarchy) for tree in trees.values()):
        raise ParameterError(
            "is a schema, or the hierarchies of columns by their names", option="schema"
        )
    roles = dict.fromkeys(trees, Role.QUASI)
    kinds = {name: tree.kind for name, tree in trees.items()}
    return Schema(roles, kinds, trees)


def _tables(
    schema: Schema, records: int, like: Table | None, values: Mapping[str, int]
) -> tuple[list[Table], list[Table]]:
    """The tables by the cautious law and by the hopeful one, the same where a table is given."""
    seeds = range(TABLES)
    if like is not None:
        drawn = [resampled(like, schema, records, seed) for seed in seeds]
        return drawn, drawn
    cautious = [made_up(schema, records, CAUTIOUS, seed, values) for seed in seeds]
    hopeful = [made_up(schema, records, HOPEFUL, seed, values) for seed in seeds]
    return cautious, hopeful


def _expectation(way: str, method: Method, laws: tuple[list[Table], list[Table]]) -> Expectation:
    """What a method does with the tables of both laws."""
    cautious, hopeful = ([*map(_Seen.of, _releases(method, law))] for law in laws)
    noisy = all(seen.error is not None for seen in (*cautious, *hopeful))

    def between(figure: Callable[[_Seen], float]) -> Between:
        ends = [fmean(map(figure, seen)) for seen in (cautious, hopeful)]
        return Between(min(ends), max(ends))

    return Expectation(
        way=way,
        method=method.name,
        truthful=entry_of(method.name).truthful,
        information=between(lambda seen: seen.information),
        kept=between(lambda seen: seen.kept),
        # Where it was chosen by a number of records, it may differ a little between tables.
        crowd=max((seen.crowd or 0 for seen in (*cautious, *hopeful)), default=0) or None,
        error=between(lambda seen: seen.error or 0.0) if noisy else None,
    )


def _releases(method: Method, tables: Iterable[Table]) -> Iterator[Release]:
    for seed, table in enumerate(tables):
        yield method.release(table, Seeded(seed))


@dataclass(frozen=True)
class _Seen:
    """What became of one made-up table."""

    information: float
    kept: float
    crowd: int | None
    error: float | None

    @classmethod
    def of(cls, release: Release) -> "_Seen":
        facts = release.facts
        kept = 1 - facts.suppressed / max(facts.records, 1)
        # Without levels a record is released unchanged, or not at all.
        information = kept if facts.loss is None else 1 - facts.loss
        return cls(information, kept, facts.crowd, _error(release))


def _error(release: Release) -> float | None:
    """By how much the counts of a release are off, as a share of all; None if they are true."""
    facts, derived = release.facts, release.certificate.derived
    if "noise" not in derived or not isinstance(facts, KeptFacts):
        return None
    counts = explain_counts(
        derived["epsilon_counts"],
        derived["delta"],
        derived["k"],
        derived["definition"],
        noise=derived["noise"],
    )
    # Of made-up tables, only the number of different rows is there.
    rows = release.rows
    distinct = len(rows.count) if isinstance(rows, RowsWithCounts) else int(rows)
    return counts.error * distinct / max(facts.kept, 1)

"""`simulate`: what a release by some method would be like, in figures alone, for the owner.

A release is made in memory, compared with the input and thrown away. What is left has no rows, no
certificate and no number, is entered in no ledger, and cannot be taken for a release. Choosing by
it reveals something about the data that no promise covers. Uses `candidates`, `judging` and
`pairs`; the workbench uses it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import Any

from shoal.data.tables import Table
from shoal.errors import ParameterError, ShoalError
from shoal.look.pictures import Picture
from shoal.measure.risk import Assessment, Risk, assess
from shoal.methods.method import Method, Progress, silent
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.release import Release
from shoal.studies.candidates import ComparedRelease, ReleaseComparison, compare_alone, together
from shoal.studies.judging import ColumnCounts, ValueCount
from shoal.studies.pairs import PairShares, pairs_of
from shoal.studies.pictures import column_shares
from shoal.studies.promised import unit_of
from shoal.zones import NOT_FOR_RELEASE, NOTICE, owner_only

__all__ = ["SIMULATION", "Details", "Simulation", "measure", "rank", "simulate"]

SIMULATION = "a simulation, not a release: nothing was spent, and nothing of it may be published"
"""What every form of a simulation says."""

_PLAIN = (
    "rows",
    "records",
    "suppressed",
    "columns",
    "left_out",
    "groups",
    "k",
    "largest",
    "uniques",
    "sample_uniqueness",
    "threshold",
    "marketer",
    "person",
    "people",
)
"""The parts of an assessment that releases are compared by."""


@owner_only
@dataclass(frozen=True)
class Simulation:
    """What was measured of a release: one that was made for this only, or a real one.

    compared: its figures beside those of others
    input: the risks of the table it was made from
    measured: the columns whose loss is measured
    levels: of the columns, where each has one
    records: those of the input
    seconds: how long it took to make
    released: the folder of a real release; None for a simulation
    """

    compared: ComparedRelease
    input: Assessment
    measured: tuple[str, ...]
    levels: Mapping[str, int]
    records: int
    seconds: float | None
    released: str | None = None

    @property
    def name(self) -> str:
        """What it is called among others."""
        return self.compared.name

    @property
    def is_private(self) -> bool:
        """Whether such a release promises differential privacy."""
        return self.compared.kind == DifferentialPrivacy.name

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which say first what they are not."""
        compared = self.compared
        said = SIMULATION if self.released is None else NOTICE
        return {
            "not_for_release": True,
            "notice": said,
            "released": self.released,
            "name": compared.name,
            "method": compared.method,
            "kind": compared.kind,
            "promise": compared.promise,
            "parts": None if compared.parts is None else dict(compared.parts),
            "assessment": _plain(compared.assessment),
            "share": compared.share,
            "losses": dict(compared.losses),
            "unknown": dict(compared.unknown),
            "input": _plain(self.input),
            "measured": list(self.measured),
            "levels": dict(self.levels),
            "records": self.records,
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> "Simulation":
        """What `to_dict` gave; ParameterError if it is something else."""
        try:
            compared = ComparedRelease(
                name=parts["name"],
                release=None,
                method=parts["method"],
                kind=parts["kind"],
                promise=parts["promise"],
                parts=parts["parts"],
                assessment=_assessment(parts["assessment"]),
                share=parts["share"],
                losses=parts["losses"],
                unknown=parts["unknown"],
            )
            found = _assessment(parts["input"])
            assert found is not None
            return cls(
                compared,
                found,
                tuple(parts["measured"]),
                parts["levels"],
                parts["records"],
                parts["seconds"],
                parts["released"],
            )
        except (KeyError, TypeError, AttributeError, AssertionError):
            raise ParameterError("these are not the figures of a simulation") from None


def _plain(found: Assessment | None) -> dict[str, Any] | None:
    if found is None:
        return None
    parts = {name: getattr(found, name) for name in _PLAIN}
    return {**parts, "prosecutor": asdict(found.prosecutor)}


def _assessment(parts: Mapping[str, Any] | None) -> Assessment | None:
    if parts is None:
        return None
    rest = {name: parts[name] for name in _PLAIN}
    rest |= {"columns": tuple(rest["columns"]), "left_out": tuple(rest["left_out"])}
    risk = Risk(**parts["prosecutor"])
    return Assessment(**rest, prosecutor=risk, journalist=None, outside=None, sensitive={})


@owner_only
@dataclass(frozen=True)
class Details:
    """Columns, and every two of them together, before and after.

    kept: records that are in the release and not suppressed, of `records` in the input
    unknown: why pairs are not known, if so
    """

    records: int
    kept: int
    columns: tuple[ColumnCounts, ...] = field(repr=False)
    pairs: tuple[PairShares, ...] = field(repr=False)
    unknown: str = ""

    def column(self, name: str) -> Picture | None:
        """A column before and after, as a picture; None if it is not known."""
        for column in self.columns:
            if column.column == name:
                return column_shares(column, self.records, self.kept)
        return None

    def pair(self, one: str, other: str) -> PairShares | None:
        """Two columns together; None if they are not known."""
        for pair in self.pairs:
            if set(pair.columns) == {one, other}:
                return pair
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        columns = [
            {
                "column": each.column,
                "level": each.level,
                "values": [[one.value, one.before, one.after] for one in each.values],
            }
            for each in self.columns
        ]
        return {
            **NOT_FOR_RELEASE,
            "records": self.records,
            "kept": self.kept,
            "columns": columns,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "unknown": self.unknown,
        }

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> "Details":
        """What `to_dict` gave."""
        columns = tuple(
            ColumnCounts(
                each["column"],
                each["level"],
                tuple(ValueCount(value, was, now, None) for value, was, now in each["values"]),
            )
            for each in parts["columns"]
        )
        pairs = tuple(map(PairShares.from_dict, parts["pairs"]))
        return cls(parts["records"], parts["kept"], columns, pairs, parts["unknown"])


def simulate(
    table: Table, method: Method, name: str, progress: Progress = silent
) -> tuple[Simulation, Details]:
    """Release a table in memory, measure that, and throw it away.

    >>> from shoal import KAnonymity, Optimal, demo
    >>> made, details = simulate(demo.table(200), Optimal([KAnonymity(5)]), "five alike")
    >>> made.compared.assessment.k >= 5, len(details.columns)
    (True, 9)
    """
    begun = monotonic()
    release = method.release(table, progress=progress)
    seconds = monotonic() - begun
    progress(0, 0, "comparing with the input")
    made, details = measure(table, release, name)
    return replace(made, seconds=seconds, released=None), details


def measure(table: Table, release: Release, name: str) -> tuple[Simulation, Details]:
    """The figures of a release that was made; one that was written is called by its folder."""
    measured = _measured(table)
    compared = compare_alone(table, name, release, measured)
    unit = unit_of(release.certificate)
    found = assess(table, person=unit if unit in table.names else None)
    judged = compared.judgement
    pairs: Sequence[PairShares] = ()
    unknown = ""
    try:
        pairs = tuple(pairs_of(table, release))
    except ShoalError as error:
        unknown = error.what
    details = Details(
        records=table.rows,
        kept=0 if judged is None else judged.kept,
        columns=() if judged is None else judged.columns,
        pairs=tuple(pairs),
        unknown=unknown,
    )
    made = Simulation(
        compared=replace(compared, release=None, judgement=None),
        input=found,
        measured=measured,
        levels=dict(release.certificate.levels),
        records=table.rows,
        seconds=None,
        released=name,
    )
    return made, details


def _measured(table: Table) -> tuple[str, ...]:
    """The columns that some method generalises, so that all releases are measured by the same."""
    quasi = table.quasi
    return tuple(name for name in table.released if name in quasi or name in table.hierarchies)


def rank(simulations: Iterable[Simulation]) -> ReleaseComparison:
    """Which of several, all of the same table and roles, no other beats."""
    several = list(simulations)
    if not several:
        raise ParameterError("there is nothing to compare", "simulate something first")
    first = several[0]
    releases = [each.compared for each in several]
    return together(first.input, releases, first.input.columns, first.measured)

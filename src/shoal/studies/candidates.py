"""`compare`: any number of releases against the table they were made from, for its owner.

What each promises, how risky it is, what it keeps, and which ones no other beats. Uses `measure`,
`judging` and certificates; `simulating`, reports, the workbench and the command line use it. How
releases are ranked: docs/how-to/comparing.md.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from shoal.arguments import require_one_of, typed
from shoal.data.hierarchy import Hierarchy
from shoal.data.tables import Role, Table
from shoal.data.tables import table as as_table
from shoal.errors import FileError, ParameterError, ShoalError
from shoal.look.pictures import Picture, Pictured
from shoal.measure.comparing import Comparison
from shoal.measure.comparing import compare as compare_two
from shoal.measure.loss import LOSSES
from shoal.measure.risk import MARKERS, Assessment, assess, unsuppressed
from shoal.releases.certificate import Certificate
from shoal.releases.release import CERTIFICATE, Release
from shoal.releases.verification import verify
from shoal.studies.judging import Judgement, judge, losses_by_size, released_levels, released_rows
from shoal.studies.promised import in_short, includes, rows_are_people, unit_of
from shoal.studies.released import ReleasedForm
from shoal.zones import NOT_FOR_RELEASE, owner_only

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "RISKS",
    "ComparedRelease",
    "ReleaseComparison",
    "RiskName",
    "compare",
    "compare_alone",
    "together",
]

RiskName = Literal["highest", "average", "at_risk"]
RISKS: tuple[RiskName, ...] = ("highest", "average", "at_risk")
"""The risks that releases can be ranked by; each is the prosecutor's, in the released table."""

_DIGITS = 12
"""Decimals of a loss: what differs by less is the rounding of a sum of floats."""

_APART = "no column is generalised: what is lost is who has which value"
"""Why a release that keeps sensitive values apart has not lost what others have."""


@owner_only
@dataclass(frozen=True)
class ComparedRelease:
    """One of several releases of a table.

    release, method: the number and the method on its certificate, None if it has none
    kind: the kind of its promise, such as "differential privacy"
    promise: what it promises, in one line
    parts: the promise as the certificate has it; None if nothing is promised
    assessment: the risks of the released table; None if they are not known
    share: the records kept, as a share of those of the input
    losses: each from 0 (the input) to 1 (nothing left), over the same columns for all releases
    judgement: all that was measured against the input, if it could be
    unknown: why something is not known
    beaten_by: releases with the same kind of promise that are no worse in anything, the promise
    included, and better in something; `unbeaten` is None if the release cannot be ranked, and
    `unranked` says why
    outdone_by: the same by risk and loss alone, whatever is promised
    """

    name: str
    release: str | None
    method: str | None
    kind: str | None
    promise: str
    parts: Mapping[str, Any] | None
    assessment: Assessment | None
    share: float | None
    losses: Mapping[str, float]
    judgement: Judgement | None = field(default=None, repr=False)
    unknown: Mapping[str, str] = field(default_factory=dict)
    beaten_by: tuple[str, ...] = ()
    unbeaten: bool | None = None
    outdone_by: tuple[str, ...] = ()
    unranked: str | None = None

    def risk(self, name: RiskName) -> Fraction | None:
        """A risk as an exact number; None if it is not known."""
        found = self.assessment
        if found is None:
            return None
        if not found.k:
            return Fraction(0)  # nobody is there
        exact = {
            "highest": Fraction(1, found.k),
            "average": Fraction(found.groups, found.records),
            "at_risk": Fraction(found.prosecutor.records_at_risk, found.records),
        }
        return exact[name]

    def loss(self, name: str | None) -> float | None:
        """A loss as far as it is exact; None if it is not known."""
        lost = None if name is None else self.losses.get(name)
        return None if lost is None else round(lost, _DIGITS)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found, judged = self.assessment, self.judgement
        fitting = None if judged is None else judged.risk
        return {
            "name": self.name,
            "release": self.release,
            "method": self.method,
            "promise": self.promise,
            "kind": self.kind,
            "parts": None if self.parts is None else dict(self.parts),
            **_figures(found),
            "share": self.share,
            "losses": dict(self.losses),
            "fitting_risk": None if fitting is None else vars(fitting),
            "unknown": dict(self.unknown),
            "beaten_by": list(self.beaten_by),
            "unbeaten": self.unbeaten,
            "outdone_by": list(self.outdone_by),
            "unranked": self.unranked,
        }


def _figures(found: Assessment | None) -> dict[str, Any]:
    """Records, groups and risks as plain values."""
    if found is None:
        return dict.fromkeys(["records", "people", "groups", "k", "uniques", "risk"])
    return {
        "records": found.records,
        "people": found.people,
        "groups": found.groups,
        "k": found.k,
        "uniques": found.uniques,
        "risk": vars(found.prosecutor),
    }


@owner_only
@dataclass(frozen=True)
class ReleaseComparison(Pictured):
    """Releases of one table, and which of them no other beats.

    columns: those that groups are of, and those whose loss is measured
    risk, loss: what releases are ranked by; `loss` is None if none is known for all of them
    losses: the losses that are known for every release of which any is
    """

    input: Assessment
    releases: tuple[ComparedRelease, ...]
    columns: tuple[str, ...]
    measured: tuple[str, ...]
    losses: tuple[str, ...]
    risk: RiskName = "highest"
    loss: str | None = None

    def _repr_html_(self) -> str:
        """The releases as notebooks show them."""
        from shoal.studies.cards import card_of_releases

        return card_of_releases(self).html()

    def by(self, risk: RiskName = "highest", loss: str | None = None) -> "ReleaseComparison":
        """The same releases, ranked by another risk or loss.

        By default, the loss is the first that is known for all, which is granularity if columns
        have hierarchies.
        """
        require_one_of("risk", risk, *RISKS)
        if loss is not None:
            require_one_of("loss", loss, *dict.fromkeys([*LOSSES, *self.losses]))
        chosen = loss or next(iter(self.losses), None)
        ranked = tuple(_ranked(self.releases, risk, chosen))
        return replace(self, releases=ranked, risk=risk, loss=chosen)

    def frame(self) -> "pl.DataFrame":
        """One row per release, with the risk and the loss that they are ranked by."""
        import polars as pl

        risks = [release.risk(self.risk) for release in self.releases]
        return pl.DataFrame(
            {
                "name": [release.name for release in self.releases],
                "kept": [release.share for release in self.releases],
                "risk": [None if risk is None else float(risk) for risk in risks],
                "loss": [release.loss(self.loss) for release in self.releases],
                "unbeaten": [release.unbeaten for release in self.releases],
                "promise": [release.promise for release in self.releases],
            },
            schema_overrides={"kept": pl.Float64, "risk": pl.Float64, "loss": pl.Float64},
        )

    def pictures(self) -> tuple[Picture, ...]:
        """A map of the releases: risk against what is kept."""
        from shoal.studies.pictures import of_releases

        return of_releases(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, `not_for_release` first."""
        return {
            **NOT_FOR_RELEASE,
            "input": _figures(self.input),
            "columns": list(self.columns),
            "measured": list(self.measured),
            "threshold": self.input.threshold,
            "by": {"risk": self.risk, "loss": self.loss},
            "releases": [release.to_dict() for release in self.releases],
        }


@overload
def compare(
    a: Table,
    b: Table,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    unit: str | None = None,
    rows_are_people: bool = False,
    marks: Sequence[str] = (),
    a_is_input: bool = False,
    complete: Collection[str] = (),
) -> Comparison: ...
@overload
def compare(
    a: Table,
    b: Mapping[str, Any] | Iterable[Any],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    unit: str | None = None,
    rows_are_people: bool = False,
) -> ReleaseComparison: ...
@typed
def compare(
    a: Table,
    b: Table | Mapping[str, Any] | Iterable[Any],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    unit: str | None = None,
    rows_are_people: bool = False,
    marks: Sequence[str] = (),
    a_is_input: bool = False,
    complete: Collection[str] = (),
) -> Comparison | ReleaseComparison:
    """How two tables differ, or how several releases compare with the table they were made from.

    Groups are those of the quasi-identifying columns of `a`. Of two tables, it compares records,
    groups, risks, values and loss. Of several releases, also what they promise, and it says which
    ones no other beats: `by` ranks them by another risk or loss.

    b: another table; or releases, as a list or by their names. A release is a `Release`, the
    directory it was written into, or a released dataframe
    hierarchies: of columns of `a` that have none
    unit: the column that tells people apart; by default, that of the certificates
    rows_are_people: every row of `a` is a different person
    marks: of two tables, the columns that number groups which may look alike
    a_is_input: of two tables, whether `b` was made from `a`; it is also taken for granted where
    nothing in `a` is generalised and `a` has no fewer rows
    complete: of two tables "a", "b" or both: those in which a row of "*" alone is a record that was
    generalised, not one that was suppressed

    >>> from shoal import KAnonymity, Optimal, demo
    >>> people = demo.table()
    >>> releases = {k: Optimal([KAnonymity(k)]).release(people) for k in (2, 20)}
    >>> found = compare(people, {f"k = {k}": release for k, release in releases.items()})
    >>> [(release.name, release.promise, release.unbeaten) for release in found.releases]
    [('k = 2', '2-anonymity; anyone who knows the algorithm may infer more', True), \
('k = 20', '20-anonymity; anyone who knows the algorithm may infer more', True)]
    """
    if isinstance(b, Table):
        return compare_two(
            a,
            b,
            hierarchies,
            unit=unit,
            rows_are_people=rows_are_people,
            marks=marks,
            a_is_input=a_is_input,
            complete=complete,
        )
    if marks or a_is_input or complete:
        raise ParameterError(
            "`marks`, `a_is_input` and `complete` are about two tables",
            "leave them out: certificates say how releases are read",
        )
    releases = _named(b)
    papers = [paper for paper in map(_certificate, releases.values()) if paper is not None]
    unit = unit or next((unit for unit in map(unit_of, papers) if unit is not None), None)
    table = _input(a, papers, hierarchies or {}, unit)
    yardstick = _Yardstick.of(table, papers)
    person = unit if unit in table.names and not rows_are_people else None
    found = assess(table, person=person, rows_are_people=rows_are_people or None)
    measured = tuple(yardstick.compared(name, release) for name, release in releases.items())
    common = _common(measured)
    return ReleaseComparison(found, measured, table.quasi, yardstick.measured, common).by()


def compare_alone(
    table: Table, name: str, release: Any, measured: Sequence[str]
) -> ComparedRelease:
    """One release as `compare` has it, but not ranked; the loss is of the columns `measured`.

    Releases that are measured by the same columns can be ranked later, by `together`.
    """
    return _Yardstick(table, tuple(measured)).compared(name, release)


def together(
    found: Assessment,
    releases: Sequence[ComparedRelease],
    columns: tuple[str, ...],
    measured: tuple[str, ...],
) -> ReleaseComparison:
    """Releases that were measured one by one; `found` has the risks of the input."""
    common = _common(releases)
    return ReleaseComparison(found, tuple(releases), columns, measured, common).by()


def _common(releases: Iterable[ComparedRelease]) -> tuple[str, ...]:
    """The losses that are known for all releases of which any is.

    Buckets have a loss of their own, which counts if there is nothing else.
    """
    known = [release.losses for release in releases if release.losses]
    known = [losses for losses in known if losses.keys() & LOSSES.keys()] or known
    if not known:
        return ()
    names = [*LOSSES, *(name for name in known[0] if name not in LOSSES)]
    return tuple(name for name in names if all(name in losses for losses in known))


# What is compared


def _named(given: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """The releases by their names, read from where they are."""
    if isinstance(given, Mapping):
        releases = {str(name): _read(release) for name, release in given.items()}
    else:
        releases = {}
        for release in given:
            called = _called(release, [*releases])
            releases[called] = _read(release)
    if not releases:
        raise ParameterError("there is no release to compare", "give one or more")
    return releases


def _called(release: Any, taken: Collection[str]) -> str:
    """A name that no other release has: of its folder or method, with a number if need be."""
    if isinstance(release, str | os.PathLike):
        path = Path(release)
        name = path.resolve().name if path.resolve().name not in taken else str(path)
    else:
        name = release.certificate.method if isinstance(release, Release) else "table"
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name} {number}"
    return unique


def _read(release: Any) -> Any:
    """A release as it is judged; FileError if a folder holds one that fails verification."""
    if isinstance(release, str | os.PathLike):
        folder = Path(release)
        read = Release.read(folder)
        # Releases are ranked by what they promise, and anybody can write a certificate.
        failures = verify(folder / CERTIFICATE, folder).failures
        if failures:
            raise FileError(
                f"{folder} fails verification: {failures[0]}", "leave it out, or get it again"
            )
        return read
    return release.frame.to_native() if isinstance(release, Table) else release


def _certificate(release: Any) -> Certificate | None:
    return release.certificate if isinstance(release, Release) else None


def _input(
    table: Table,
    certificates: Iterable[Certificate],
    hierarchies: Mapping[str, Hierarchy],
    unit: str | None,
) -> Table:
    """The input with what it lacks of roles, types and hierarchies, as certificates have them."""
    columns = [
        column
        for certificate in certificates
        for column in certificate.columns
        if column["name"] in table.names
    ]
    trees = {**table.hierarchies, **hierarchies}
    types: dict[str, Any] = dict(table.types)
    roles: dict[Role, list[str]] = {role: list(table.having(role)) for role in Role}
    if not table.quasi:
        for column in columns:
            name, role = column["name"], Role(column["role"])
            # What others may know by one release, they know whatever is released.
            if name not in roles[Role.QUASI] and (role is Role.QUASI or name not in table.roles):
                roles = {each: [one for one in roles[each] if one != name] for each in roles}
                roles[role].append(name)
            if column.get("hierarchy"):
                trees.setdefault(name, Hierarchy.from_lines(column["hierarchy"]))
            types.setdefault(name, column["type"])
        if unit in table.names:
            types.setdefault(unit, "text")
    if not roles[Role.QUASI]:
        raise ParameterError(
            "there is no quasi-identifying column to compare by", "name them with `quasi`"
        )
    return as_table(
        table.source,
        quasi=roles[Role.QUASI],
        sensitive=roles[Role.SENSITIVE],
        identifying=roles[Role.IDENTIFYING],
        insensitive=roles[Role.INSENSITIVE],
        hierarchies={name: tree for name, tree in trees.items() if name in table.names},
        types=types,
        missing=table.missing,
        rows_are_people=table.rows_are_people,
    )


@dataclass(frozen=True, eq=False)
class _Yardstick:
    """The table that releases are compared with, and the columns whose loss is measured.

    These are the quasi-identifying ones, and all that some release generalises.
    """

    table: Table
    measured: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, certificates: Iterable[Certificate]) -> "_Yardstick":
        names = {*table.quasi}
        for certificate in certificates:
            names |= released_levels(table, certificate).keys()
        return cls(table, tuple(name for name in table.names if name in names))

    @property
    def bare(self) -> str | None:
        """Why losses by hierarchies cannot be known, if so."""
        bare = [name for name in self.measured if name not in self.table.hierarchies]
        return f"column {bare[0]!r} has no hierarchy" if bare else None

    def compared(self, name: str, release: Any) -> ComparedRelease:
        """A release with its figures, as far as they can be known."""
        known = _promising(name, release)
        try:
            rows, form = released_rows(release)
            shown = as_table(rows)
            assessment = self._assessed(shown, form, release)
        except ShoalError as error:
            reasons = dict.fromkeys(["risk", *_of_losses(LOSSES)], str(error))
            return replace(known, unknown=reasons)
        share = assessment.records / max(self.table.rows, 1)
        known = replace(known, assessment=assessment, share=share)
        if self.bare is not None and not form.apart:
            losses = self._losses_by_size(shown, form)
            reasons = dict.fromkeys(_of_losses(LOSSES.keys() - losses.keys()), self.bare)
            return replace(known, losses=losses, unknown=reasons)
        try:
            judgement = judge(self.table, release, columns=self.measured)
        except ShoalError as error:
            return replace(known, unknown=dict.fromkeys(_of_losses(LOSSES), str(error)))
        losses = {model: lost.normalised for model, lost in judgement.losses.items()}
        reasons = dict.fromkeys(_of_losses(LOSSES), _APART) if form.apart else {}
        unknown = {**reasons, **judgement.unknown}
        return replace(known, losses=losses, judgement=judgement, unknown=unknown)

    def _assessed(self, shown: Table, form: ReleasedForm, release: Any) -> Assessment:
        """The risks of a released table."""
        return assess(
            shown,
            quasi=self._grouping(shown, form),
            markers=_markers(form),
            rows_are_people=rows_are_people(_certificate(release)),
        )

    def _losses_by_size(self, shown: Table, form: ReleasedForm) -> dict[str, float]:
        """The losses that need no hierarchies; none if columns are not there."""
        if not set(self.table.quasi) <= set(shown.names):
            return {}
        names = self._grouping(shown, form)
        groups = unsuppressed(shown, shown.count(names, {}), names, _markers(form))
        losses = losses_by_size(self.table, self.table.quasi, groups.count)
        return {model: lost.normalised for model, lost in losses.items()}

    def _grouping(self, shown: Table, form: ReleasedForm) -> list[str]:
        """The columns of a release that people are known by."""
        names = [name for name in self.table.quasi if name in shown.names]
        return [*names, form.mark] if form.mark else names


def _promising(name: str, release: Any) -> ComparedRelease:
    """A release with what it promises, and without figures."""
    certificate = _certificate(release)
    is_promised = certificate is not None and certificate.private
    parts = certificate.promise if certificate is not None and is_promised else None
    return ComparedRelease(
        name=name,
        release=None if certificate is None else certificate.number,
        method=None if certificate is None else certificate.method,
        kind=None if parts is None else parts["promise"],
        promise=in_short(certificate),
        parts=parts,
        assessment=None,
        share=None,
        losses={},
    )


def _markers(form: ReleasedForm) -> Collection[str]:
    return () if form.complete else MARKERS


def _of_losses(names: Iterable[str]) -> list[str]:
    return [f"loss by {name}" for name in LOSSES if name in names]


# Which ones no other beats


def _ranked(
    releases: Sequence[ComparedRelease], risk: RiskName, loss: str | None
) -> Iterator[ComparedRelease]:
    """The releases, with those that beat them."""

    def no_worse(one: ComparedRelease, other: ComparedRelease) -> bool:
        risks, losses = (one.risk(risk), other.risk(risk)), (one.loss(loss), other.loss(loss))
        if None in (*risks, *losses):
            return False
        return risks[0] <= risks[1] and losses[0] <= losses[1]  # type: ignore[operator]

    def beats(one: ComparedRelease, other: ComparedRelease) -> bool:
        def wins(this: ComparedRelease, that: ComparedRelease) -> bool:
            return no_worse(this, that) and _includes(this, that)

        return wins(one, other) and not wins(other, one)

    for each in releases:
        why = _unranked(each, risk, loss)
        beaten = tuple(one.name for one in releases if beats(one, each))
        outdone = [one for one in releases if no_worse(one, each) and not no_worse(each, one)]
        yield replace(
            each,
            beaten_by=beaten,
            unbeaten=None if why else not beaten,
            outdone_by=tuple(one.name for one in outdone),
            unranked=why,
        )


def _unranked(release: ComparedRelease, risk: RiskName, loss: str | None) -> str | None:
    """Why a release is neither beaten nor unbeaten, if so."""
    if release.risk(risk) is None:
        return release.unknown["risk"]
    if loss is None:
        why = "; ".join(dict.fromkeys(release.unknown.values()))
        return f"no loss is known for all releases{': ' * bool(why)}{why}"
    if release.loss(loss) is None:
        return release.unknown.get(f"loss by {loss}", f"its loss by {loss} is not known")
    return None


def _includes(one: ComparedRelease, other: ComparedRelease) -> bool:
    """Whether one release promises all that another of its kind does, as far as that is known."""
    if one.parts is None or other.parts is None:
        return one.parts is other.parts
    k = None if one.assessment is None else one.assessment.k
    return includes(one.parts, other.parts, k or 0)

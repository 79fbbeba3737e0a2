"""A release among its neighbours: the same method with other levels or parameters, for the owner.

Each neighbour is released in memory, compared with the input, and thrown away: nothing of it is
written, entered in a ledger or meant to be published. Uses `methods`, `privacy` and `studies`;
`for_owner` uses it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from time import monotonic
from typing import Any

from shoal.data.tables import Table
from shoal.errors import InfeasibleError, ShoalError
from shoal.exact.numbers import printed
from shoal.methods.method import Method
from shoal.privacy.models import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.studies.candidates import ReleaseComparison, RiskName, compare
from shoal.zones import owner_only

__all__ = ["THIS", "Neighbourhood", "changes", "neighbourhood", "variants"]

THIS = "this release"
"""What the release itself is called among its neighbours."""

SECONDS = 20.0
"""How long neighbours are looked for: a report should not take much longer."""

DIVERSITIES = (DistinctDiversity, EntropyDiversity, RecursiveDiversity)
"""Models that ask for l values in every group."""

FACTORS = (Fraction(1, 2), Fraction(2))
"""By what a parameter is multiplied to get a neighbour."""


@owner_only
@dataclass(frozen=True)
class Neighbourhood:
    """A release compared with its neighbours.

    refused: the neighbours that cannot be released, or were not tried, and why
    """

    compared: ReleaseComparison
    refused: Mapping[str, str]


def neighbourhood(table: Table, release: Release, method: Any) -> Neighbourhood:
    """A release among those by nearly the same method; ShoalError if there are none to compare."""
    releases: dict[str, Release] = {THIS: release}
    refused: dict[str, str] = {}
    end = monotonic() + SECONDS
    for name, other in variants(method, release.certificate, table):
        if monotonic() > end:
            refused[name] = "it was not tried, since the others took long"
            continue
        try:
            releases[name] = other.release(table)
        except ShoalError as error:
            refused[name] = error.what
    if len(releases) == 1:
        raise InfeasibleError(
            "none of its neighbours can be released"
            if refused
            else "its parameters are not numbers or levels that could be one step larger or smaller"
        )
    # By the same models, the most exposed records are alike at all levels.
    risk: RiskName = "highest" if hasattr(method, "epsilon") else "average"
    return Neighbourhood(compare(table, releases).by(risk), refused)


def variants(
    method: Any, certificate: Certificate, table: Table
) -> Iterator[tuple[str, "_Varied"]]:
    """Methods that are one step away from another, by their names."""
    for name, changed in changes(method, certificate.levels, table):
        yield name, _Varied(method, changed)


@dataclass(frozen=True)
class _Varied:
    """A method with other parameters, which may turn out to be none that it takes."""

    method: Any
    changed: Mapping[str, Any]

    def release(self, table: Table) -> Release:
        varied: Method = replace(self.method, **self.changed)
        return varied.release(table)


def changes(
    method: Any, levels: Mapping[str, int], table: Table
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters in which neighbours of a method differ from it, by the neighbours' names.

    levels: those of the columns in its release, if it has any
    """
    options = {field.name for field in fields(method)}
    if "epsilon" in options:
        for factor in FACTORS:
            yield f"ε {method.epsilon * factor}", {"epsilon": method.epsilon * factor}
    elif levels and "ceiling" in options:
        yield from _by_levels(levels, table)
    elif "k" in options:
        for k in _halved_and_doubled(method.k):
            yield f"k {k}", {"k": k}
    elif any(isinstance(model, KAnonymity) for model in getattr(method, "models", ())):
        yield from _by_k(method)
    elif any(isinstance(model, DIVERSITIES) for model in getattr(method, "models", ())):
        yield from _by_l(method)
    else:
        yield from _by_share(method)


def _by_levels(levels: Mapping[str, int], table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
    """The neighbours in the lattice: one column one level higher or lower."""
    for name in levels:
        for step, words in ((-1, "finer"), (1, "coarser")):
            node = {**levels, name: levels[name] + step}
            if 0 <= node[name] <= table.hierarchy(name).height:
                yield f"{name} {words}", {"floor": node, "ceiling": node}


def _by_k(method: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    sizes = [model.k for model in method.models if isinstance(model, KAnonymity)]
    for k in _halved_and_doubled(max(sizes)):
        models = [
            KAnonymity(k) if isinstance(model, KAnonymity) else model for model in method.models
        ]
        yield f"k {k}", {"models": tuple(models)}


def _by_l(method: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Neighbours whose groups have one sensitive value less or more."""
    for step in (-1, 1):
        models: list[Any] = [*method.models]
        diverse = [at for at, model in enumerate(models) if isinstance(model, DIVERSITIES)]
        for at in diverse:
            models[at] = replace(models[at], l=models[at].l + step)
        sizes = [models[at].l for at in diverse]
        if min(sizes) > 1:
            name = " and ".join(f"l {size}" for size in dict.fromkeys(sizes))
            yield name, {"models": tuple(models)}


def _halved_and_doubled(k: int) -> list[int]:
    return [other for other in (k // 2, 2 * k) if other >= 1]


def _by_share(method: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Neighbours of a method that has a share as its parameter."""
    for option in ("utility", "probability"):
        share = getattr(method, option, None)
        if isinstance(share, Fraction):
            for other in (share - Fraction(1, 10), share + Fraction(1, 10)):
                if 0 < other < 1:
                    yield f"{option} {printed(other)}", {option: other}

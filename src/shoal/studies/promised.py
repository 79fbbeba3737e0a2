"""What certificates promise, in one line each, and whether one promise includes another.

Uses promises and the catalogue of methods; the rest of this room, reports and the command line use
it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from shoal.exact.epsilon import Epsilon
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.privacy.promises import DifferentialPrivacy, LowestRisk, Sampled, SemanticAnonymity
from shoal.releases.certificate import Certificate

__all__ = ["in_order", "in_short", "includes", "rows_are_people", "rows_of_each", "unit_of"]

_ANONYMITY = re.compile(r"([1-9][0-9]*)-anonymity")


def unit_of(certificate: Certificate) -> str | None:
    """The column that tells people apart, if the promise is about people."""
    unit: str | None = certificate.promise.get("unit")
    return None if unit == "row" else unit


def rows_of_each(certificate: Certificate) -> int:
    """How many rows of a person went into the release, at most; one, if nothing is said."""
    return int(certificate.parameters.get("rows") or 1)


def rows_are_people(certificate: Certificate | None) -> bool | None:
    """True if one row of each person went into the release; None if nothing says so."""
    if certificate is None or unit_of(certificate) is None:
        return None
    return True if rows_of_each(certificate) == 1 else None


def in_short(certificate: Certificate | None) -> str:
    """What a release promises, in one line."""
    if certificate is None:
        return "nothing that is known: there is no certificate"
    if not certificate.private:
        return "nothing: the draws came from a seed"
    line = _named(certificate.promise)
    unit = unit_of(certificate)
    if unit is not None:
        line += f", for people by {unit}"
    method = certificate.method
    if method in CATALOGUE and not entry_of(method).public_algorithm:
        line += "; anyone who knows the algorithm may infer more"
    return line


def in_order(certificate: Certificate) -> Certificate:
    """A certificate that was read, which prints as it did when the release was made.

    Documents have their keys sorted. Levels are in the order of the columns, and parameters in that
    of the method.
    """
    columns = [column["name"] for column in certificate.columns]
    method = certificate.method
    own = [field.name for field in fields(entry_of(method).method)] if method in CATALOGUE else []
    return replace(
        certificate,
        levels=_sorted_by(columns, certificate.levels),
        parameters=_sorted_by(own, certificate.parameters),
    )


def _sorted_by(names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping with some names first, in their order."""
    return {name: given[name] for name in dict.fromkeys([*names, *given]) if name in given}


def _named(promise: Mapping[str, Any]) -> str:
    """A promise by its parameters."""
    match promise:
        case {"promise": DifferentialPrivacy.name, "epsilon": epsilon, "delta": delta}:
            k = promise.get("semantic_k")
            line = f"ε {epsilon}, δ {delta}"
            return f"{line}, semantic {k}-anonymity" if k else line
        case {"promise": SemanticAnonymity.name, "k": k}:
            return f"semantic {k}-anonymity"
        case {"promise": Sampled.name, "share": share}:
            return f"each record drawn with probability {share}, unchanged"
        case {"promise": LowestRisk.name, "utility": utility}:
            return f"low risk where each record keeps {utility} of its utility"
        case {"models": models}:
            return " and ".join(models)
        case {"promise": name, "column": column}:
            return f"{name} of {column}"
    return str(promise["promise"])


def includes(one: Mapping[str, Any], other: Mapping[str, Any], k: int = 0) -> bool:
    """Whether a promise includes another of its kind, as far as that can be told.

    k: the smallest group of the table that the first one is about. Whether a table is k-anonymous
    can be seen from it, whatever was promised

    >>> promises = [{"epsilon": "1", "delta": "1e-6"}, {"epsilon": "ln(2)", "delta": "1e-6"}]
    >>> includes(*promises), includes(*reversed(promises))
    (False, True)
    """
    if one.get("unit") != other.get("unit"):
        return False
    if one.get("starred") and not other.get("starred"):
        return False  # no model applies to rows of stars
    if not all(_held(model, one, k) for model in other.get("models", ())):
        return False
    parts = [part for part in other if part not in ("models", "starred")]
    return all(
        part in one and _NO_WEAKER.get(part, _same)(one[part], other[part]) for part in parts
    )


def _held(model: str, promise: Mapping[str, Any], k: int) -> bool:
    """Whether a table satisfies a model, by its promise or by its smallest group."""
    models: Sequence[str] = promise.get("models", ())
    size = _ANONYMITY.fullmatch(model)
    return model in models or (size is not None and int(size[1]) <= k)


def _same(mine: Any, theirs: Any) -> bool:
    return bool(mine == theirs)


def _no_higher(mine: Any, theirs: Any) -> bool:
    return Fraction(mine) <= Fraction(theirs)


_NO_WEAKER: dict[str, Callable[[Any, Any], bool]] = {
    "epsilon": lambda mine, theirs: Epsilon.of(mine) <= Epsilon.of(theirs),
    "delta": _no_higher,
    "share": _no_higher,
    "k": lambda mine, theirs: mine >= theirs,
    "semantic_k": lambda mine, theirs: mine >= theirs,
    # The probabilistic definition implies the standard one.
    "definition": lambda mine, theirs: mine in (theirs, "probabilistic"),
}
"""When a part of a promise is no weaker than that of another; all other parts must be the same."""

"""The promise of a certificate, made anew from its parts: its words are derived, never quoted.

How a promise is put into words comes from `privacy.promises` and, for buckets, `privacy.limits`:
both are used as values with a statement. Whether a promise is kept is computed elsewhere, anew.
Uses `claims`; `core` uses it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from shoal.errors import FileError, listed
from shoal.privacy.limits import BucketLimits, Limits, Linear
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)
from shoal.releases.certificate import plain
from shoal.releases.sealed import canonical
from shoal.releases.verification.claims import Claims

__all__ = [
    "PROMISES",
    "assumes_public_choices",
    "bucket_limits",
    "is_promise_of",
    "promise_faults",
    "statement",
    "variant_faults",
]

Reader = Callable[[Claims], Promise]

_VARIANTS = ("starred", "merged")
"""Parts of promises that say what else is not protected."""


def _reader(kind: Any) -> Reader:
    """Reads the fields of a promise that the certificate has."""

    def read(claims: Claims) -> Promise:
        given = claims.certificate.promise
        names = [field.name for field in fields(kind) if field.name in given]
        promise: Promise = kind(**{name: given[name] for name in names})
        return promise

    return read


def _read_bucket_limits(claims: Claims) -> Promise:
    return bucket_limits(claims, claims.certificate.promise)


PROMISES: Mapping[str, Reader] = {
    Coincidence.name: _reader(Coincidence),
    DifferentialPrivacy.name: _reader(DifferentialPrivacy),
    LowestRisk.name: _reader(LowestRisk),
    SemanticAnonymity.name: _reader(SemanticAnonymity),
    Sampled.name: _reader(Sampled),
    Syntactic.name: _reader(Syntactic),
    BucketLimits.name: _read_bucket_limits,
}
"""What reads each promise that may be on a certificate."""


def bucket_limits(claims: Claims, given: Mapping[str, Any]) -> BucketLimits:
    """The promise of buckets, from the parts that both the promise and the parameters have."""
    kind = claims.kind(given["column"])
    stated = given["limits"]
    limits = _read_limits(stated).keyed(kind)
    _require_no_more(stated)
    return BucketLimits(given["column"], limits, given["fakes"], given.get("unit"))


def _require_no_more(stated: Mapping[str, Any]) -> None:
    """FileError if a formula or a class has a part that nothing reads: it could say anything."""
    parts = [(stated.get("others"), {"a", "b"})]
    parts += [(members, {"limit", "values"}) for members in stated.get("classes", {}).values()]
    for part, known in parts:
        if isinstance(part, Mapping) and set(part) != known:
            raise FileError("the certificate has limits with parts that are not known")


def _read_limits(given: Mapping[str, Any]) -> Limits:
    unknown = set(given) - {"classes", "values", "others"}
    if unknown:
        raise FileError(
            f"the certificate has limits by {listed(sorted(unknown))}, which are not known"
        )
    others = given.get("others")
    if isinstance(others, Mapping):
        others = Linear(others["a"], others["b"])
    if "classes" not in given:
        return Limits.each(dict(given.get("values", ())), others)
    classes = {
        name: (members["limit"], members["values"]) for name, members in given["classes"].items()
    }
    return Limits.classes(classes, others)


def statement(claims: Claims) -> str:
    """The promise in words, with names that are not plain words in quotes."""
    promise = PROMISES[claims.promise_name](claims)
    if isinstance(promise, Syntactic | Coincidence):
        models = tuple(model.words(quoted=True) for model in claims.models)
        promise = replace(promise, models=models)
    return promise.statement


def assumes_public_choices(claims: Claims) -> bool:
    """Whether the promise assumes that all was chosen without looking at the data."""
    return PROMISES[claims.promise_name](claims).public_choices


def promise_faults(claims: Claims) -> Iterator[str]:
    """Whether the statement, what is left open, the unit and the models are those promised."""
    certificate = claims.certificate
    promise = PROMISES[claims.promise_name](claims)
    if tuple(certificate.unprotected) != promise.unprotected:
        yield "what the certificate lists as not protected is not what its promise leaves open"
    if certificate.chosen_after_looking and not promise.public_choices:
        yield (
            "the certificate lists what was chosen after looking, "
            "but its promise does not depend on that"
        )
    if not isinstance(promise, DifferentialPrivacy):
        # People may give several rows there, which its own checks are about.
        yield from _unit_faults(claims)
    if not is_promise_of(claims, promise) or promise.statement != certificate.statement:
        yield "the certificate's statement is not what its promise says"
    if isinstance(promise, Syntactic | Coincidence):
        yield from _model_faults(claims, promise)


def is_promise_of(claims: Claims, promise: Promise) -> bool:
    """Whether a promise is written as that on the certificate; JSON tells 1, 1.0 and true apart."""
    return canonical(plain(promise.to_dict())) == canonical(claims.certificate.promise)


def variant_faults(claims: Claims, variant: Mapping[str, bool]) -> Iterator[str]:
    """Whether what the promise says of stars and merging is what the parameters give."""
    stated = {name: part for name, part in claims.certificate.promise.items() if name in _VARIANTS}
    if stated != variant:
        yield "what the promise says of stars or merging does not follow from the parameters"


def _unit_faults(claims: Claims) -> Iterator[str]:
    """Whether the promise is to the unit of the parameters, whose column is not released."""
    unit = claims.certificate.promise.get("unit")
    if unit != claims.unit:
        yield "the unit of the promise is not that of the parameters"
    if unit is not None and unit in claims.names:
        yield f"column {unit!r}, which tells people apart, is released"


def _model_faults(claims: Claims, promise: Syntactic | Coincidence) -> Iterator[str]:
    stated = [model.words() for model in claims.models]
    for words in promise.models:
        if words not in stated:
            yield f"{words} is promised, which is not among the parameters"
    for words in stated:
        if words not in promise.models:
            yield f"{words} is among the parameters, and not promised"
    sensitive = claims.with_role("sensitive")
    columns = [model.column for model in claims.models if model.column is not None]
    unknown = [column for column in columns if column not in sensitive]
    if unknown:
        yield f"a model is about {listed(unknown)}, which is not a sensitive column of the table"

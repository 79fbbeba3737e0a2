"""What a release promises, as a value: it can be stated, written into a certificate and read back. Uses `errors` and `exact`.

The promises here are those of the methods people compare with. None of them holds against someone who knows the
algorithm, and each says so itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from shoal.errors import ParameterError, listed
from shoal.privacy.exact import Exact, fraction, printed

__all__ = ["PROMISES", "NoPromise", "Promise", "Sampled", "Syntactic", "promise_from"]


class Promise(Protocol):
    """What holds about a release, stated before any data is seen."""

    name: ClassVar[str]

    @property
    def statement(self) -> str:
        """What is promised, in words that claim no more than is true."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain values for a certificate; `promise_from` reads it back."""
        ...


@dataclass(frozen=True)
class NoPromise:
    """Nothing is promised, such as for a preview."""

    name: ClassVar[str] = "none"

    @property
    def statement(self) -> str:
        return "none; treat this table as you treat the input"

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name}


@dataclass(frozen=True)
class Syntactic:
    """Every released group satisfies these models. That is a property of the table, not of what it tells.

    >>> Syntactic(("5-anonymity",)).statement
    'every group satisfies 5-anonymity: syntactic; an attacker who knows the algorithm may infer more'
    """

    models: tuple[str, ...]

    name: ClassVar[str] = "syntactic"

    def __post_init__(self) -> None:
        if isinstance(self.models, str) or not self.models or not all(isinstance(model, str) for model in self.models):
            raise ParameterError("a syntactic promise takes the names of one model or more, such as ('5-anonymity',)")
        object.__setattr__(self, "models", tuple(self.models))

    @property
    def statement(self) -> str:
        models = " and ".join(self.models)
        return f"every group satisfies {models}: syntactic; an attacker who knows the algorithm may infer more"

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "models": list(self.models)}


@dataclass(frozen=True)
class Sampled:
    """Every record was drawn with this chance, independently of all others, and shown as it is."""

    share: Exact

    name: ClassVar[str] = "sampled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", fraction(self.share, "share", 0, 1))

    @property
    def statement(self) -> str:
        return (
            f"each record was released with chance {printed(Fraction(self.share))}, independently of all others. Nothing more: "
            "that a person is missing from the release does not show that they are missing from the input, but whoever is "
            "released is released as they are, and who is unique in the population is recognised"
        )

    def to_dict(self) -> dict[str, Any]:
        return {"promise": self.name, "share": printed(Fraction(self.share))}


PROMISES: dict[str, type[NoPromise] | type[Syntactic] | type[Sampled]] = {
    promise.name: promise for promise in (NoPromise, Syntactic, Sampled)
}


def promise_from(written: Mapping[str, Any]) -> Promise:
    """The promise that `to_dict` wrote.

    >>> promise_from(Syntactic(("5-anonymity",)).to_dict())
    Syntactic(models=('5-anonymity',))
    """
    name = written.get("promise")
    if name not in PROMISES:
        raise ParameterError(f"promise {name!r} is unknown; known are {listed(PROMISES)}")
    parameters = {key: value for key, value in written.items() if key != "promise"}
    if "models" in parameters and isinstance(parameters["models"], list):
        parameters["models"] = tuple(parameters["models"])
    try:
        return PROMISES[name](**parameters)
    except TypeError:
        raise ParameterError(f"promise {name!r} does not have the parameters {listed(parameters)}") from None

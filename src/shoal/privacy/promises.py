"""What a release promises, as a value: it can be stated beforehand and written into a certificate. Uses `errors` and `exact`.

The promises here are those of the methods people compare with. None of them holds against someone who knows the
algorithm, and each says so itself.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from shoal.errors import ParameterError
from shoal.privacy.exact import Exact, fraction, printed

__all__ = ["Promise", "Sampled", "Syntactic"]


class Promise(Protocol):
    """What holds about a release, stated before any data is seen."""

    name: ClassVar[str]

    @property
    def statement(self) -> str:
        """What is promised, in words that claim no more than is true."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain values for a certificate."""
        ...


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

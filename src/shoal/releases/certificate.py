"""`Certificate`: what was promised, by which method, with which parameters; written, read and put into words."""

import hashlib
import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from shoal import __version__
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Role, Table
from shoal.errors import FileError, ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import printed
from shoal.privacy.limits import BucketLimits
from shoal.privacy.models import MODELS
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)
from shoal.releases.layout import COUNT, released

__all__ = ["UNPROTECTED", "Certificate", "certify", "left_open", "plain"]


_LAYOUT = 1  # of certificate.json; a change that older readers cannot read makes it 2
_LONG = (
    20  # characters of a number from which it is rounded for people, and given exactly beside it
)

UNPROTECTED: Mapping[str, tuple[str, ...]] = {
    DifferentialPrivacy.name: DifferentialPrivacy.unprotected,
    SemanticAnonymity.name: SemanticAnonymity.unprotected,
    BucketLimits.name: BucketLimits.unprotected,
    Coincidence.name: Coincidence(("any",)).unprotected,
    LowestRisk.name: LowestRisk.unprotected,
    Sampled.name: Sampled.unprotected,
    Syntactic.name: Syntactic(("any",)).unprotected,
}


def left_open(promise: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """What a promise does not protect from, where it is kept by a method with these parameters."""
    if parameters.get("suppressed") == "star":
        return Syntactic(("any",), starred=True).unprotected
    if parameters.get("rule") == "permutations":
        return Coincidence(("any",), merged=False).unprotected
    return UNPROTECTED[promise]


@dataclass(frozen=True)
class Certificate:
    """What was promised, by which method with which parameters and version, under a random number.

    It holds nothing about the input that the released table does not show. `unprotected` lists what the promise leaves
    open. `columns` are the released ones in their order, with role, type and, if sensitive, hierarchy; if quasi-identifying, the
    digest of the hierarchy that its texts are read by (None if that was read off the rows); `levels` the chosen
    levels where there are any; `derived` what was computed from the parameters alone, such as the k that an ε needs;
    `recipe` the digest of the recipe, if one was followed. `whole` says that no record of the input was left out (of the
    records drawn, where a unit is named), so that shares in the release are those in the input. `private` is False if the
    draws came from a seed: then nothing is promised. `file` is the name, format and digest once it is written.
    """

    promise: Mapping[str, Any]
    statement: str
    unprotected: Sequence[str]
    method: str
    parameters: Mapping[str, Any]
    columns: Sequence[Mapping[str, Any]]
    number: str
    levels: Mapping[str, int] = field(default_factory=dict)
    derived: Mapping[str, Any] = field(default_factory=dict)
    recipe: str | None = None
    whole: bool = False
    private: bool = True
    version: str = __version__
    file: Mapping[str, Any] | None = None

    def to_json(self) -> str:
        """Canonical JSON; its last line of defence is `seal`, the digest of everything else, against accidents only."""
        content = {**plain(asdict(self)), "certificate": _LAYOUT}
        return _canonical({**content, "seal": _seal(content)})

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate in a text; FileError unless it is exactly what `to_json` wrote."""
        try:
            content = json.loads(text)
            seal, layout = content.pop("seal"), content.pop("certificate")
            if layout != _LAYOUT:
                raise FileError(
                    f"the certificate has layout {layout!r}, this version reads {_LAYOUT}; use a newer Shoal"
                )
            found = cls(**content)
            same = found.to_json() == text and _seal({**content, "certificate": layout}) == seal
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FileError(
                "this is no certificate of Shoal; give the certificate.json that came with the release"
            ) from None
        if not same:
            raise FileError(
                "the certificate was changed after it was written; get it anew from whoever released the table"
            )
        return found

    def __str__(self) -> str:
        """The certificate for people, at most 80 characters a line but for what cannot be parted."""
        lines = [f"Release {self.number}, made by Shoal {self.version} with {self.method}"]
        if not self.private:
            lines.append("NOT PRIVATE: the draws came from a seed; this release is a test")
        sections = {
            "Promise": [self.statement],
            "Not protected": [f"- {what}" for what in self.unprotected],
            "Levels": [_told(self.levels)] if self.levels else [],
            "Parameters": [f"{name} = {_told(value)}" for name, value in self.parameters.items()],
            "Derived from the parameters": [
                f"{name.replace('_', ' ')} = {_told(value)}"
                for name, value in self.derived.items()
                if self.parameters.get(name) != value
            ],
            "Recipe": [f"SHA-256 {self.recipe}"] if self.recipe else [],
            "File": [
                line
                for own in (
                    [self.file, *self.file.get("further", {}).values()] if self.file else ()
                )
                for line in (own["name"], f"SHA-256 {own['sha256']}")
            ],
        }
        for title, entries in sections.items():
            lines += ["", title, *map(_wrapped, entries)] if entries else []
        return "\n".join(lines)


def certify(
    table: Table,
    method: Any,
    promise: Promise,
    chance: Chance,
    *,
    levels: Mapping[str, int] | None = None,
    derived: Mapping[str, Any] | None = None,
    whole: bool = False,
    counted: bool = False,
) -> Certificate:
    """The certificate of a release of a table by a method (a frozen dataclass with a `name`)."""
    parameters = {field.name: plain(getattr(method, field.name)) for field in fields(method)}
    return Certificate(
        promise=plain(promise.to_dict()),
        statement=promise.statement,
        unprotected=list(promise.unprotected),
        method=method.name,
        parameters=parameters,
        columns=[
            *(_column(table, name) for name in released(table)),
            *(
                [{"name": COUNT, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}]
                if counted
                else ()
            ),
        ],
        number=chance.number(),
        levels=dict(levels or {}),
        derived=plain(derived or {}),
        whole=whole,
        private=chance.private,
    )


def _column(table: Table, name: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": name,
        "role": table.roles[name].value,
        "type": table.kind(name).value,
    }
    if table.roles[name] is Role.QUASI and name in table.hierarchies:
        tree = table.hierarchy(name)  # released texts are read by it
        told["hierarchy_sha256"] = None if tree.derived else tree.digest
    if table.roles[name] is Role.SENSITIVE and name in table.hierarchies:
        hierarchy = table.hierarchies[
            name
        ]  # models see its leaves, so whoever checks them needs it
        told["hierarchy"] = (
            None if hierarchy.derived else hierarchy.lines()
        )  # one read off the rows tells about them
    return told


def plain(value: object) -> Any:
    """A parameter as data that JSON carries exactly: a fraction is the text "1/20".

    >>> plain({"limit": Fraction(1, 20), "levels": (1, 2)})
    {'limit': '1/20', 'levels': [1, 2]}
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | str | float):
        return value
    if isinstance(value, Fraction | Epsilon):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type | Counts | Hierarchy | Table):
        return {
            "is": getattr(value, "name", type(value).__name__),
            **{field.name: plain(getattr(value, field.name)) for field in fields(value)},
        }
    if isinstance(name := getattr(value, "name", None), str):
        return {"is": name}  # a model or loss of the owner's own
    return type(value).__name__  # such as the counts of a population, which stay with the owner


def _told(value: object) -> str:
    """A parameter of a certificate for people: models by their short names, fractions as decimals where they are such.

    >>> _told([{"is": "k-anonymity", "k": 5}, {"is": "t-closeness", "column": "ill", "t": "1/5", "hierarchy": None}])
    '5-anonymity, 0.2-closeness of ill'
    >>> _told({"age": 1, "sex": 0}), _told("1/20"), _told({}), _told(True)
    ('age 1, sex 0', '0.05', 'none', 'yes')
    >>> _told("1/18446744073709551616")
    '5.42101e-20, exactly 1/18446744073709551616'
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case None | list() | tuple() | Mapping() | str() if not value:
            return "none"
        case str() if re.fullmatch(r"-?[0-9]+/[1-9][0-9]*", value):
            short = printed(exact := Fraction(value))
            return short if len(short) <= _LONG else f"{float(exact):.6g}, exactly {value}"
        case list() | tuple():
            return ", ".join(
                f"[{_told(one)}]" if isinstance(one, list | tuple) else _told(one) for one in value
            )
        case {"is": "delta-presence", "lowest": lowest, "highest": highest}:
            return f"({_told(lowest)}, {_told(highest)})-presence"
        case {"is": name, **given}:
            try:
                return str(
                    MODELS[str(name)](
                        **{str(key): inner for key, inner in given.items() if key != "hierarchy"}
                    )
                )
            except (KeyError, TypeError, ParameterError):
                return (
                    f"{name} ({', '.join(f'{key} = {_told(inner)}' for key, inner in given.items())})"
                    if given
                    else f"{name}"
                )
        case Mapping():
            return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items())
    return str(value)


def _wrapped(entry: str) -> str:
    under = " " * (4 if entry.startswith("- ") or " = " in entry else 2)
    return textwrap.fill(
        entry,
        80,
        initial_indent="  ",
        subsequent_indent=under,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _seal(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(content).encode()).hexdigest()

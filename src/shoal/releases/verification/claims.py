"""What a certificate claims, with types: its columns, levels and models, and readers of its parts.

A certificate is anybody's file, so every value is looked at before it is used. What is not of its
type raises: a ShoalError with words of its own, or any other error, which `core` turns into "not a
valid Shoal certificate". Uses `models`; the other modules here read certificates through it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import FileError
from shoal.releases.certificate import Certificate
from shoal.releases.verification.models import ClaimedModel
from shoal.releases.verification.numbers import StatedEpsilon, number, whole
from shoal.releases.verification.words import NOT_TAKEN, NOT_VALID, named

__all__ = [
    "ClaimedColumn",
    "Claims",
    "Lines",
    "PartReader",
    "is_flag",
    "is_name_list",
    "is_table_or_none",
    "is_text_or_none",
    "one_of",
    "read_claims",
]

Lines = Sequence[Sequence[str]]
"""A hierarchy on a certificate, one line per leaf."""

Value = TypeVar("Value")

Form = Callable[[object], bool]
"""Whether a value may be that of a parameter."""


@dataclass(frozen=True)
class ClaimedColumn:
    """A released column, as its certificate describes it."""

    name: str
    role: str
    kind: Kind
    table: str | None
    """The further table that the column is in; None for the first."""

    has_hierarchy: bool
    """Whether the certificate says something about a hierarchy that models go by."""

    lines: Lines | None
    """That hierarchy; None if it was made from the rows, and so kept back."""

    digest: str | None
    """Of the hierarchy that released texts are read by."""

    @property
    def has_any_hierarchy(self) -> bool:
        """Whether the column has a hierarchy, for models or for released texts."""
        return self.has_hierarchy or self.digest is not None

    @property
    def kept_back(self) -> bool:
        return self.has_hierarchy and self.lines is None

    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy on the certificate, if there is one."""
        return Hierarchy.from_lines(self.lines, self.kind) if self.lines else None


@dataclass(frozen=True)
class Claims:
    """A certificate whose parts are of their types."""

    certificate: Certificate
    columns: tuple[ClaimedColumn, ...]
    models: tuple[ClaimedModel, ...]

    @property
    def promise_name(self) -> str:
        name: str = self.certificate.promise["promise"]
        return name

    @property
    def unit(self) -> str | None:
        """The column that tells people apart, by the parameters."""
        unit: str | None = self.certificate.parameters.get("unit")
        return unit

    @property
    def levels(self) -> Mapping[str, int]:
        return self.certificate.levels

    @property
    def refined(self) -> frozenset[str]:
        """The columns that have values of several levels, by a tree."""
        tree = self.certificate.derived.get("tree")
        steps = tree.get("steps", ()) if isinstance(tree, Mapping) else ()
        return frozenset(str(step[0]) for step in steps if isinstance(step, list) and step)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def quasi(self) -> list[str]:
        return self.with_role("quasi")

    def with_role(self, role: str) -> list[str]:
        return [column.name for column in self.columns if column.role == role]

    def column(self, name: str) -> ClaimedColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise FileError(
            f"the certificate mentions column {named(str(name))}, which it does not have"
        )

    def kind(self, name: str) -> Kind:
        return self.column(name).kind

    def trees(self, given: Mapping[str, Hierarchy], names: Collection[str]) -> dict[str, Hierarchy]:
        """The hierarchies of some columns, where they are at hand: given, or on the certificate."""
        trees = {}
        for column in self.columns:
            if column.name not in names:
                continue
            if column.name in given:
                tree: Hierarchy | None = given[column.name].of_kind(column.kind)
            else:
                tree = column.hierarchy()
            if tree is not None:
                trees[column.name] = tree.with_missing()
        return trees

    def without_tree(self, given: Mapping[str, Hierarchy]) -> list[str]:
        """The columns with a level whose hierarchies are not at hand."""
        trees = self.trees(given, self.levels)
        return [name for name in self.levels if name not in trees]

    @property
    def promise(self) -> "PartReader":
        return PartReader(self.certificate.promise, NOT_VALID)

    @property
    def parameters(self) -> "PartReader":
        return PartReader(self.certificate.parameters, NOT_TAKEN)

    @property
    def derived(self) -> "PartReader":
        return PartReader(self.certificate.derived, NOT_VALID)


def read_claims(certificate: Certificate) -> Claims:
    """The claims of a certificate; an error if a part is missing, or not of its type."""
    mappings = (certificate.parameters, certificate.derived, certificate.promise)
    _require(isinstance(part, Mapping) for part in (*mappings, *certificate.columns))
    texts = [certificate.statement, certificate.number, *certificate.unprotected]
    _require(type(text) is str for text in texts)
    _require(type(level) is int and level >= 0 for level in certificate.levels.values())
    # Types are compared by identity, for true is a whole number to Python, and not to JSON.
    _require([isinstance(certificate.whole, bool)])
    unit = certificate.parameters.get("unit")
    if not is_text_or_none(unit):
        raise FileError(NOT_TAKEN)
    columns = tuple(map(_read_column, certificate.columns))
    _require([len({column.name for column in columns}) == len(columns)])
    # Which methods have models is not known here; others fail for stating any.
    models = tuple(map(ClaimedModel.read, certificate.parameters.get("models", ())))
    return Claims(certificate, columns, models)


def _read_column(given: Mapping[str, Any]) -> ClaimedColumn:
    texts = (given["name"], given["role"], given["type"])
    lines = given.get("hierarchy")
    digest = given.get("hierarchy_sha256")
    _require(type(text) is str for text in texts)
    _require([_are_lines(lines), digest is None or type(digest) is str])
    _require(["table" not in given or type(given["table"]) is str])
    return ClaimedColumn(
        name=given["name"],
        role=given["role"],
        kind=Kind(given["type"]),
        table=given.get("table"),
        has_hierarchy="hierarchy" in given,
        lines=lines,
        digest=digest,
    )


def _require(conditions: Iterable[bool]) -> None:
    if not all(conditions):
        raise ValueError("a part of another type, or two columns of one name")


def _are_lines(given: object) -> bool:
    if given is None:
        return True
    return isinstance(given, list) and bool(given) and all(map(_is_line, given))


def _is_line(given: object) -> bool:
    return isinstance(given, list) and all(type(label) is str for label in given)


# The parts of a certificate that a method writes


@dataclass(frozen=True)
class PartReader:
    """Reads typed values from the promise, the parameters or what was derived from them.

    What is missing is a KeyError, and what is of another type a FileError.
    """

    part: Mapping[str, Any]
    fault: str
    """What is said of a value that is not of its type."""

    def read(self, reader: Callable[[Any], Value], name: str) -> Value:
        """The value that a reader makes of a part."""
        given = self.part[name]
        try:
            return reader(given)
        except (ValueError, TypeError, ArithmeticError):
            raise FileError(self.fault) from None

    def read_if_any(self, reader: Callable[[Any], Value], name: str) -> Value | None:
        return None if self.part[name] is None else self.read(reader, name)

    def require(self, form: Form, *names: str) -> None:
        """FileError unless the values are of a form; nothing more is needed of them."""
        if not all(form(self.part[name]) for name in names):
            raise FileError(self.fault)

    def checked(self, form: Form, name: str) -> Any:
        self.require(form, name)
        return self.part[name]

    def number(self, name: str) -> Fraction:
        return self.read(number, name)

    def number_if_any(self, name: str) -> Fraction | None:
        return self.read_if_any(number, name)

    def whole(self, name: str) -> int:
        return self.read(whole, name)

    def whole_if_any(self, name: str) -> int | None:
        return self.read_if_any(whole, name)

    def epsilon(self, name: str) -> StatedEpsilon:
        return self.read(StatedEpsilon.read, name)

    def epsilon_if_any(self, name: str) -> StatedEpsilon | None:
        return self.read_if_any(StatedEpsilon.read, name)

    def flag(self, name: str) -> bool:
        flag: bool = self.checked(is_flag, name)
        return flag

    def text(self, name: str) -> str:
        text: str = self.checked(_is_text, name)
        return text

    def text_if_any(self, name: str) -> str | None:
        text: str | None = self.checked(is_text_or_none, name)
        return text

    def levels(self, name: str) -> Mapping[str, int]:
        """Levels by columns."""
        levels: Mapping[str, int] = self.checked(_are_levels, name)
        return levels

    def levels_if_any(self, name: str) -> Mapping[str, int] | None:
        return None if self.part[name] is None else self.levels(name)


def _is_text(given: object) -> bool:
    return type(given) is str


def is_flag(given: object) -> bool:
    return given is True or given is False


def is_text_or_none(given: object) -> bool:
    return given is None or (type(given) is str and given != "")


def is_table_or_none(given: object) -> bool:
    """Whether this is all that a certificate says of a table that stays with its owner."""
    return given is None or given == "Table"


def is_name_list(given: object) -> bool:
    """Whether this is a list of names, or of lists of names."""
    return isinstance(given, list) and all(type(name) is str or _is_line(name) for name in given)


def one_of(*known: str) -> Form:
    return lambda given: type(given) is str and given in known


def _are_levels(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        type(level) is int and level >= 0 for level in given.values()
    )

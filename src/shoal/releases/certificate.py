"""`Certificate`: what was promised, by which method, with which parameters.

Uses promises, models and `sealed`. Methods make certificates with `certify`; releases, ledgers and
`verification` read them.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from shoal import __version__
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Role, Table
from shoal.errors import ParameterError, plural
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import short
from shoal.privacy.models import MODELS, DeltaPresence
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.releases import looking
from shoal.releases.layout import COUNT, released
from shoal.releases.refined import Refined
from shoal.releases.sealed import DocumentKind, sealed, unsealed
from shoal.zones import brief

__all__ = ["DOCUMENT", "Certificate", "certify", "in_words", "plain"]

DOCUMENT = DocumentKind(
    key="certificate",
    version=2,
    called="certificate",
    get_it="give the certificate.json that came with the release",
)
"""How certificate.json is written; 1 had no parts of promises that say what is not protected."""

_OPTIONAL = ("chosen_after_looking",)
"""Parts that are written only where there is something in them: older readers refuse them."""

_LONG = 20
"""Characters of a number above which it is rounded for people, with the exact one beside it."""

_NONE = "none"
"""A parameter that has no value, in words."""

_WIDTH = 80
"""Characters of a line of the certificate for people."""


@brief
@dataclass(frozen=True)
class Certificate:
    """What was promised, by which method with which parameters and version, under a random number.

    It holds nothing about the input that the released table does not show.

    `unprotected` lists what the promise does not protect. `columns` are the released ones in their
    order, with role and type. A sensitive column has its hierarchy; a quasi-identifying one the
    digest of the hierarchy that its texts are read by, None if that was derived from the rows.
    `levels` are the chosen levels that hold for all rows; columns with values of several levels are
    in `refined`. `derived` is what was computed from the parameters, such as the k that an ε
    needs, or from noisy numbers that ε paid for, such as the steps of a tree. `recipe` is the
    digest of the recipe, if one was followed. `whole` says that no record of the input was left out
    (of the records drawn, where a unit is named), so that shares in the release are those in the
    input. `private` is False if the draws came from a seed: then nothing is promised. `file` is the
    name, format and digest of the table once it is written. `chosen_after_looking` lists what was
    chosen after looking at the data although the promise assumes that it was not, each with its
    `place` in the recipe and, if the owner says why it was public, the reason under `public`.
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
    chosen_after_looking: Sequence[Mapping[str, str]] = ()

    def to_json(self) -> str:
        """The certificate as a sealed document."""
        content = plain(asdict(self))
        for name in _OPTIONAL:
            if not content[name]:
                del content[name]
        return sealed(content, DOCUMENT)

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate in a text; FileError unless it is exactly what `to_json` wrote.

        Its parts are of their types. What is in them is as its writer chose.
        """
        names = [field.name for field in fields(cls) if field.name not in _OPTIONAL]
        content = unsealed(text, DOCUMENT, names, _OPTIONAL)
        if not _is_formed(content):
            raise DOCUMENT.invalid
        return cls(**content)

    def choosing(self, promise: Promise, choices: Sequence[looking.LateChoice]) -> "Certificate":
        """The same with what was chosen after looking, where the promise assumes that nothing was.

        Hierarchies of columns that are not released and options of other methods do not matter.
        """
        if not promise.public_choices:
            return self
        names = {
            "hierarchies": [column["name"] for column in self.columns],
            "method": ["name", *self.parameters],
        }
        listed = []
        for choice in choices:
            first, *rest = looking.parts_of(choice.place)
            if not rest or first not in names or rest[0] in names[first]:
                listed.append(choice.to_dict())
        return replace(self, chosen_after_looking=listed)

    def __str__(self) -> str:
        """The certificate for people.

        Lines have at most 80 characters, except where a word is longer.
        """
        made = f"Release {self.number}, made by Shoal {self.version} with {self.method}"
        lines = [textwrap.fill(made, _WIDTH, break_on_hyphens=False)]
        if not self.private:
            lines.append("NOT PRIVATE: the draws came from a seed; this release is a test")
        for title, entries in self.sections():
            if entries:
                lines += ["", title, *map(_wrapped, entries)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The certificate as notebooks show it."""
        from shoal.releases.cards import card_of_certificate

        return card_of_certificate(self).html()

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """The titles of the certificate for people, and the entries under each."""
        yield "Promise", [self.statement]
        yield looking.TITLE, looking.in_sentences(self.chosen_after_looking)
        yield "Not protected", [f"- {line}" for line in self.unprotected]
        yield "Levels", self._levels()
        yield "Parameters", list(_given(self.parameters))
        derived = [
            f"{name.replace('_', ' ')} = {in_words(value)}"
            for name, value in self._derived().items()
            if self.parameters.get(name) != value
        ]
        yield "Derived from the parameters", derived
        yield "Recipe", [f"SHA-256 {self.recipe}"] if self.recipe else []
        files: list[str] = []
        for file in self._files():
            digest = f"SHA-256 {file['sha256']}"
            if not isinstance(file["sha256"], str):
                parts = plural(len(file["sha256"]), "part")
                digest = f"{parts}, whose SHA-256 are in the certificate's file"
            files += [file["name"], digest]
        yield "File", files

    @property
    def refined(self) -> Refined | None:
        """The steps by which regions were refined; None unless columns have several levels."""
        return Refined.of(self.parameters, self.derived)

    def _levels(self) -> list[str]:
        """The levels of columns, and the order in which regions were refined, for people."""
        levels = [in_words(self.levels)] if self.levels else []
        if self.refined is not None:
            steps = [f"{name} {level}" for name, level in self.refined.steps]
            levels.append(f"by region, refined in this order: {', '.join(steps) or 'none'}")
        return levels

    def _derived(self) -> dict[str, Any]:
        """What was derived, without the steps of a tree, which are shown as levels."""
        derived = dict(sorted(self.derived.items()))
        if self.refined is not None:
            tree = derived.pop("tree")
            derived |= {
                f"{name} of the tree": tree[name] for name in sorted(tree) if name != "steps"
            }
        return derived

    def _files(self) -> list[Mapping[str, Any]]:
        if not self.file:
            return []
        return [self.file, *self.file.get("further", {}).values()]


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
    """The certificate of a release of a table by a method (a frozen dataclass with a `name`).

    `counted` says that the release has a column with the number of times that each row is released.
    """
    columns = [_column(table, name, promise) for name in released(table)]
    if counted:
        columns.append({"name": COUNT, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value})
    return Certificate(
        promise=plain(promise.to_dict()),
        statement=promise.statement,
        unprotected=list(promise.unprotected),
        method=method.name,
        parameters=_plain_fields(method),
        columns=columns,
        number=chance.number(),
        levels=dict(levels or {}),
        derived=plain(derived or {}),
        whole=whole,
        private=chance.private,
    )


def _is_formed(content: Mapping[str, Any]) -> bool:
    """Whether the parts of a document are of the types that a certificate has; anybody wrote it."""
    texts = ("statement", "method", "number", "version")
    mappings = ("promise", "parameters", "levels", "derived")
    return (
        all(isinstance(content[name], str) for name in texts)
        and all(isinstance(content[name], dict) for name in mappings)
        and all(isinstance(content[name], bool) for name in ("whole", "private"))
        and isinstance(content["recipe"], str | None)
        and (content["file"] is None or _is_written(content["file"]))
        and isinstance(content["promise"].get("promise"), str)
        # True is a whole number to Python, and not to JSON.
        and all(type(level) is int for level in content["levels"].values())
        and _is_list(content["unprotected"], lambda line: isinstance(line, str))
        and _is_list(content["columns"], _is_column)
        and _is_list(content.get("chosen_after_looking", []), _is_choice)
    )


def _is_list(given: object, of: Callable[[object], bool]) -> bool:
    return isinstance(given, list) and all(map(of, given))


def _is_column(given: object) -> bool:
    match given:
        case {"name": str(), "role": str(), "type": str(), **others}:
            return isinstance(others.get("table"), str | None)
    return False


def _is_written(given: object) -> bool:
    """Whether this is the name and digest of a file, or of parts; perhaps with further tables."""
    match given:
        case {"name": str(), "sha256": str() | list(), **others}:
            further = others.get("further", {})
            return isinstance(further, dict) and all(map(_is_written, further.values()))
    return False


def _is_choice(given: object) -> bool:
    return isinstance(given, dict) and all(isinstance(text, str) for text in given.values())


LARGEST_ON_PAPER = 30_000
"""Values of a hierarchy that is written out though nothing but a digest of it is needed."""


def _column(table: Table, name: str, promise: Promise) -> dict[str, Any]:
    """A released column as the certificate has it."""
    role = table.roles[name]
    column: dict[str, Any] = {"name": name, "role": role.value, "type": table.kind(name).value}
    if role is Role.QUASI and name in table.hierarchies:
        tree = table.hierarchy(name)  # released texts are read by it
        column["hierarchy_sha256"] = None if tree.derived else tree.digest
    if role is Role.SENSITIVE and name in table.hierarchies:
        # Models see its leaves, so whoever checks them needs it. One derived from the rows would
        # reveal them.
        hierarchy = table.hierarchies[name]
        by_models = promise.name != DifferentialPrivacy.name
        if hierarchy.derived:
            column["hierarchy"] = None
        elif by_models or hierarchy.leaves <= LARGEST_ON_PAPER:
            column["hierarchy"] = hierarchy.lines()
        else:
            column["hierarchy_sha256"] = hierarchy.digest
    return column


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
    name = getattr(value, "name", None)
    if is_dataclass(value) and not isinstance(value, type | Counts | Hierarchy | Table):
        return {"is": type(value).__name__ if name is None else name, **_plain_fields(value)}
    if isinstance(name, str):
        return {"is": name}  # a model or loss of the owner's own
    return type(value).__name__  # such as the counts of a population, which stay with the owner


def _plain_fields(value: Any) -> dict[str, Any]:
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def _given(parameters: Mapping[str, Any]) -> Iterator[str]:
    """The parameters, one per entry, and those that have no value together in the last one."""
    empty = []
    for name, value in parameters.items():
        words = in_words(value)
        if words == _NONE:
            empty.append(name)
        else:
            yield f"{name} = {words}"
    if empty:
        yield f"not given: {', '.join(empty)}"


def in_words(value: object) -> str:
    """A parameter of a certificate for people.

    Models have their short names, and fractions are decimals where possible.

    >>> diverse = {"is": "t-closeness", "column": "ill", "t": "1/5", "hierarchy": None}
    >>> in_words([{"is": "k-anonymity", "k": 5}, diverse])
    '5-anonymity, 0.2-closeness of ill'
    >>> in_words({"age": 1, "sex": 0}), in_words("1/20"), in_words({}), in_words(True)
    ('age 1, sex 0', '0.05', 'none', 'yes')
    >>> in_words("1/18446744073709551616")
    '5.42101e-20, exactly 1/18446744073709551616'
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case None | list() | tuple() | Mapping() | str() if not value:
            return _NONE
        case str() if re.fullmatch(r"-?[0-9]+/[1-9][0-9]*", value):
            return _fraction_in_words(value)
        case list() | tuple():
            return ", ".join(map(_item, value))
        case {"is": name, **given}:
            return _thing(str(name), {str(key): inner for key, inner in given.items()})
        case Mapping():
            return ", ".join(f"{key} {in_words(inner)}" for key, inner in value.items())
    return str(value)


def _fraction_in_words(value: str) -> str:
    try:
        exact = Fraction(value)
        text = short(exact)
        return text if len(text) <= _LONG else f"{float(exact):.6g}, exactly {value}"
    except (ValueError, OverflowError):  # anybody may have written it
        return value


def _item(value: object) -> str:
    """An item of a list in words; a list within a list keeps its brackets."""
    words = in_words(value)
    return f"[{words}]" if isinstance(value, list | tuple) else words


def _thing(name: str, given: Mapping[str, Any]) -> str:
    """A model by its short name, anything else by its name and parts."""
    if name == DeltaPresence.name and given.keys() >= {"lowest", "highest"}:
        # Its population stays with the owner, so that the model cannot be made again.
        return f"({in_words(given['lowest'])}, {in_words(given['highest'])})-presence"
    try:
        parameters = {key: value for key, value in given.items() if key != "hierarchy"}
        return str(MODELS[name](**parameters))
    except (KeyError, TypeError, ParameterError):
        parts = [f"{key} = {in_words(value)}" for key, value in given.items()]
        return f"{name} ({', '.join(parts)})" if parts else name


def _wrapped(entry: str) -> str:
    """An entry in lines under its title."""
    under = " " * (4 if entry.startswith("- ") or " = " in entry else 2)
    return textwrap.fill(
        entry,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent=under,
        break_long_words=False,
        break_on_hyphens=False,
    )

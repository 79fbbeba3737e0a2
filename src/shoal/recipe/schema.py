"""What a recipe may contain, section by section.

Uses `methods`, `privacy` and `data`; `loading` reads recipes by it.

Three lists name what a recipe may choose: `METHODS`, `MODELS`, `BUILDERS`. The options of a choice
are the parameters of what it makes, so that a recipe and the library cannot drift apart: types are
checked here, ranges there.
"""

import datetime as dt
import inspect
import warnings
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import PydanticCustomError

from shoal.arx.builders import from_file
from shoal.counts import Counts
from shoal.data.engines import EngineName
from shoal.data.formats import READING, Format, Labels, UserMissing
from shoal.data.hierarchy import Hierarchy, build, ready
from shoal.data.kinds import Kind, KindName
from shoal.data.schema import Role
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact
from shoal.measure.loss import LOSSES, Loss
from shoal.methods.auto import AUTO, automatic, name_of
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from shoal.methods.noisy_counts import Levels
from shoal.methods.personal import Wish
from shoal.methods.personal.models import Weights
from shoal.methods.searching import Score
from shoal.privacy import models
from shoal.privacy.limits import Limits, Linear
from shoal.recipe.editing import PLACEHOLDER
from shoal.releases.looking import LateChoice

__all__ = [
    "BUILDERS",
    "METHODS",
    "MODELS",
    "PLACEHOLDER",
    "Choice",
    "Choices",
    "Content",
    "LimitSection",
    "WishSection",
    "keys_at",
    "keys_of_auto",
    "options_of",
]


@dataclass(frozen=True, eq=False)
class Choices:
    """Things of which a section of a recipe chooses one, by the value of its `key`."""

    key: str
    names: Collection[str]
    thing: Callable[[str], Callable[..., Any]]


_BUILDERS: dict[str, Callable[..., Hierarchy]] = {
    "file": from_file,
    "intervals": build.intervals,
    "dates": build.dates,
    "mask": build.mask,
    "order": build.order,
    "group": build.groups,
    "suppress": build.suppress,
    "ready": ready,
}

METHODS = Choices(
    "name",
    ChainMap(CATALOGUE, {AUTO: ""}),
    lambda name: automatic if name == AUTO else entry_of(name).method,
)
"""Ways to release; "auto" takes one of the others."""

MODELS = Choices("model", tuple(models.MODELS), models.MODELS.__getitem__)
"""What the released table has to satisfy; a short name such as "5-anonymity" will do too."""

BUILDERS = Choices("build", tuple(_BUILDERS), _BUILDERS.__getitem__)
"""Ways to make a hierarchy; `file = …` alone says build = "file"."""


# Sections


class Section(BaseModel):
    """A part of a recipe: no unknown key, and no value that would be converted silently."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Choice(Section):
    """Options for one of several things.

    `options_of` makes one from the parameters of that thing.
    """

    def given(self, *without: str) -> dict[str, Any]:
        """The options that the recipe has; the others keep the defaults of what is made."""
        names = self.model_fields_set - {*without}
        return {name: getattr(self, name) for name in type(self).model_fields if name in names}


def _written_as(kinds: type | UnionType, words: str) -> PlainValidator:
    """Takes a value of some types unchanged: whatever it is for reads it, and reads it exactly."""

    def check(given: object) -> object:
        values = [given, *given] if isinstance(given, list) else [given]
        if not isinstance(given, kinds) or any(isinstance(value, bool) for value in values):
            raise PydanticCustomError("written", "should be {words}", {"words": words})
        return given

    return PlainValidator(check)


Number = Annotated[
    int | float | str,
    _written_as(int | float | str, 'a number such as 0.05, or a text such as "1/20"'),
]

_NUMBER: TypeAdapter[Any] = TypeAdapter(Number)


class LinearSection(Section):
    """min{1, a·f + b} of a value with the share f."""

    a: Number
    b: Number


class ClassSection(Section):
    """One limit for each of several values."""

    limit: Number
    values: list[Any]


def _number_or_formula(given: object) -> object:
    if isinstance(given, dict):
        return LinearSection.model_validate(given)
    return _NUMBER.validate_python(given)


class LimitSection(Section):
    """Limits of sensitive values: one by one or by class, and for all others; or one formula."""

    values: dict[str, Number] = {}
    classes: dict[str, ClassSection] = {}
    others: Annotated[Any, PlainValidator(_number_or_formula)] = None

    def made(self) -> Limits:
        """The limits that the section describes."""
        others = self.others
        if isinstance(others, LinearSection):
            others = Linear(others.a, others.b)
        if self.values and self.classes:
            raise ParameterError(
                "limits come by value or by class, not both", "put each value into a class"
            )
        if self.classes:
            classes = {name: (one.limit, one.values) for name, one in self.classes.items()}
            return Limits.classes(classes, others)
        return Limits.each(self.values, others)


def _formula_as_others(given: object) -> object:
    """A formula alone is that of all values."""
    if not isinstance(given, dict):
        words = "limits by value, class or formula, such as { others = 0.25 }"
        raise PydanticCustomError("written", "should be {words}", {"words": words})
    if not given or set(given) - {"a", "b"}:
        return given
    if missing := {"a", "b"} - set(given):
        said = f"{missing.pop()}: missing; min{{1, a·f + b}} takes both a and b"
        raise PydanticCustomError("said", "{said}", {"said": said})
    return {"others": given}


WeightSection = dict[str, Number | dict[str, Number]]
"""How sensitive columns are, or the values of one."""


class WishSection(Section):
    """What people who made a choice want."""

    utility: Number | None = None
    weights: WeightSection | None = None

    def made(self) -> Wish:
        """The wish that the section describes."""
        return Wish(self.utility, self.weights)


# How a recipe writes the parameters of a thing


def _one_of(choices: Choices) -> PlainValidator:
    """Validates a section by the options of what its key chooses."""
    key = choices.key

    def choose(given: object) -> Choice:
        if not isinstance(given, dict):
            raise PydanticCustomError(
                "section", "should be a section with the key {key}", {"key": repr(key)}
            )
        chosen = given.get(key)
        if chosen not in choices.names:
            context = {"key": key, "given": chosen, "choices": list(choices.names)}
            raise PydanticCustomError("choice", "{key}", context)
        return options_of(choices, chosen).model_validate(given)

    return PlainValidator(choose)


def _short_name(given: object, choose: ValidatorFunctionWrapHandler) -> object:
    """A model by its short name, such as "5-anonymity"; anything else is a section."""
    if not isinstance(given, str):
        return choose(given)
    try:
        return models.parse_model(given)
    except ParameterError as error:
        raise PydanticCustomError("said", "{said}", {"said": str(error)}) from None


def _file_is_a_builder(given: object) -> object:
    return {"build": "file", **given} if isinstance(given, dict) and "file" in given else given


AnyMethod = Annotated[Choice, _one_of(METHODS)]
AnyModel = Annotated[Any, _one_of(MODELS), WrapValidator(_short_name)]
AnyBuilder = Annotated[Choice, _one_of(BUILDERS), BeforeValidator(_file_is_a_builder)]

_NUMBERS = Annotated[Any, _written_as(int | list, "a whole number, or a list of them")]
_TEXTS = Annotated[Any, _written_as(str | list, "a text, or a list of texts")]
_EPSILON = 'a number such as 0.5, or a text such as "ln(2)"'

_WRITTEN: dict[object, Any] = {
    Exact: Number,
    Exact | None: Number | None,
    Exact | Literal["auto"] | None: Number | None,
    Epsilon | Exact: Annotated[Any, _written_as(int | float | str, _EPSILON)],
    Mapping[str, Exact]: dict[str, Number],
    Mapping[str, Exact] | None: dict[str, Number] | None,
    Mapping[str, int]: dict[str, int],
    Mapping[str, int] | None: dict[str, int] | None,
    Levels | None: Annotated[
        Any,
        _written_as(dict | str, 'levels such as { NAME = 2 }, or a text: "search" or "tree"'),
    ],
    Limits: Annotated[LimitSection, BeforeValidator(_formula_as_others)],
    Weights | None: WeightSection | None,
    Mapping[str, Wish] | None: dict[str, WishSection] | None,
    Loss | str: Literal[*LOSSES],
    Score | str: str,
    tuple[models.Model, ...]: list[AnyModel],
    Sequence[models.Model | str]: list[AnyModel],
    Counts: str,  # the path of a population
    Table | None: str | None,  # the path of a public table
    Hierarchy | None: None,  # not an option: the column's own is taken
    tuple[str, ...]: list[str],
    Sequence[str]: list[str],
    str | Sequence[str]: _TEXTS,
    Sequence[Sequence[str]] | None: list[list[str]] | None,
    Sequence[str | Sequence[str]] | None: list[str | list[str]] | None,
    int | Sequence[int]: _NUMBERS,
    Sequence[int | Sequence[int]]: list[_NUMBERS],
    Kind | str: KindName,
    build.Number: Number,
    build.Number | None: Number | None,
    Sequence[build.Number]: list[Number],
    Sequence[Sequence[build.Number]]: list[list[Number]],
    build.Tree: dict[str, Any],
    dt.date | str: Annotated[Any, _written_as(dt.date | str, "a date such as 2024-12-31")],
    Iterable[object]: list[Any],
    Iterable[object] | None: list[Any] | None,
}
"""How a recipe writes a parameter, by its type.

A type that is not here is written as itself.
"""


@cache
def options_of(choices: Choices, name: str) -> type[Choice]:
    """The options of one of several things."""
    options: dict[str, Any] = {choices.key: (str, ...)}
    for parameter in inspect.signature(choices.thing(name)).parameters.values():
        written = _WRITTEN.get(parameter.annotation, parameter.annotation)
        if written is None:
            continue
        # The default of an option is the thing's own: None only says that the recipe does not give
        # it.
        required = parameter.default is parameter.empty
        options[parameter.name] = (written, ... if required else None)
    with warnings.catch_warnings():
        # An option may be called like an attribute of pydantic's, such as `schema`.
        warnings.filterwarnings("ignore", "Field name .* shadows an attribute", UserWarning)
        return create_model(f"{choices.key} {name}", __base__=Choice, **options)


# The file


class SourceSection(Section):
    """What is read."""

    path: str
    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    labels: Labels | None = None
    user_missing: UserMissing | None = None
    decimal: str | None = None
    thousands: str | None = None
    dates: str | dict[str, str] | None = None
    missing_texts: list[str] | dict[str, list[str]] | None = None
    engine: EngineName | None = None
    master: str | None = None
    query: str | None = None
    types: dict[str, KindName] = {}

    @property
    def reading(self) -> dict[str, Any]:
        """What it says about how a file is read, by the names of `shoal.read`."""
        given = {name: getattr(self, name) for name in READING}
        return {name: value for name, value in given.items() if value is not None}


class OutputSection(Section):
    """What is written."""

    format: Format = "csv"
    neutralise: bool = False
    rows_per_file: int | None = None


class LedgerSection(Section):
    """Where releases are entered."""

    path: str


class LateSection(Section):
    """What was chosen after looking at the data, and why it was public, if somebody says so."""

    place: str
    public: str = ""


def _late(given: object) -> LateChoice:
    """Something chosen after looking: its place, or a section with the place and the reason."""
    section = LateSection.model_validate({"place": given} if isinstance(given, str) else given)
    try:
        return LateChoice(section.place, section.public)
    except ParameterError as error:
        raise PydanticCustomError("said", "{said}", {"said": str(error)}) from None


class ViewsSection(Section):
    """What others have shown of the same people, which counts where the ledger has a γ."""

    others: str


class Content(Section):
    """A whole recipe."""

    source: SourceSection
    roles: dict[str, Literal["identifying", "quasi", "sensitive", "insensitive"]]
    hierarchies: dict[str, AnyBuilder] = {}
    missing: Literal["category", "refuse"] = "category"
    rows_are_people: bool = False
    method: AnyMethod
    output: OutputSection = OutputSection()
    ledger: LedgerSection | None = None
    views: ViewsSection | None = None
    chosen_after_looking: list[Annotated[LateChoice, PlainValidator(_late)]] = []

    def having(self, role: str) -> list[str]:
        """The columns with a role, in the order of the recipe."""
        return [name for name, given in self.roles.items() if given == role]

    @property
    def entry(self) -> Entry:
        """What is known about the method, or about the one that "auto" takes."""
        chosen: Any = self.method
        name = chosen.name
        return entry_of(name_of(bool(chosen.truthful)) if name == AUTO else name)

    @property
    def released(self) -> list[str]:
        """All columns but the identifying ones, in the order of the recipe."""
        return [name for name, role in self.roles.items() if Role(role) is not Role.IDENTIFYING]

    @property
    def unchanged(self) -> list[str]:
        """Released columns without a hierarchy, where that costs records.

        It does where only rows that enough records share are released. Methods that add columns of
        their own release parts of rows, or all of them.
        """
        if self.entry.generalises != "released" or not self.entry.subset or self.entry.adds:
            return []
        return [name for name in self.released if name not in self.hierarchies]


_SECTIONS: dict[tuple[int | str, ...], type[Section]] = {
    (): Content,
    ("source",): SourceSection,
    ("output",): OutputSection,
    ("ledger",): LedgerSection,
    ("views",): ViewsSection,
}
_LIMITS: dict[int, type[Section]] = {2: LimitSection, 3: LinearSection, 4: ClassSection}
"""Sections of [method.limits], by how deep they lie in the recipe."""


def keys_of_auto() -> list[str]:
    """The options of the method that takes one of the others."""
    return list(inspect.signature(automatic).parameters)


def keys_at(raw: Any, place: Sequence[int | str]) -> list[str]:
    """The keys that the section at a place of a recipe takes."""
    inner = raw
    for part in place:
        inner = inner[part]
    section: Any = _file_is_a_builder(inner)
    # A builder has an option that is called as the key of methods is.
    for choices in (BUILDERS, METHODS, MODELS):
        if section.get(choices.key) in choices.names:
            return list(options_of(choices, section[choices.key]).model_fields)
    match tuple(place):
        case ("method", "wishes", *_):
            model: type[Section] = WishSection
        case ("method", "limits", *_):
            model = _LIMITS[len(place)]
        case ("chosen_after_looking", *_):
            model = LateSection
        case known:
            model = _SECTIONS[known]
    return list(model.model_fields)

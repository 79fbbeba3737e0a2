"""`Recipe`: one TOML file that says what to read, who is who, what to do and what to write. Uses every room; the doors use it.

Three tables name what a recipe may choose: `METHODS`, `MODELS`, `BUILDERS`. The options of a choice are the parameters of
what it makes, so that a recipe and the library cannot drift apart: the types are checked here, the ranges there.
A recipe holds nothing of the table, so messages name its keys and the values given for them.
"""

import copy
import datetime as dt
import hashlib
import inspect
import json
import os
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property, partial
from importlib import import_module
from math import prod
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from shoal import __version__
from shoal.arguments import typed
from shoal.counts import Counts
from shoal.data.disk import misread, reading
from shoal.data.hierarchy import Hierarchy, build
from shoal.data.hierarchy import read as read_hierarchy
from shoal.data.kinds import Kind, KindName
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, FileError, ParameterError, RecipeError, ShoalError, listed
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact
from shoal.measure.loss import LOSSES, Loss
from shoal.methods.personal import Wish
from shoal.methods.personal.models import Weights
from shoal.privacy import models
from shoal.privacy.limits import BucketLimits, Limits, Linear

if TYPE_CHECKING:
    from shoal.ledger import Ledger
    from shoal.methods import Method, Progress
    from shoal.privacy.promises import Promise
    from shoal.releases.release import Release

__all__ = ["BUILDERS", "METHODS", "MODELS", "Recipe", "draft"]

METHODS = {
    "safepub": "methods.safepub.SafePub",
    "noisy-counts": "methods.noisy_counts.NoisyCounts",
    "columns": "methods.columns.Columns",
    "buckets": "methods.buckets.Buckets",
    "personal": "methods.personal.Personal",
    "coincident": "methods.coincident.Coincident",
    "disclosure": "methods.disclosure.Disclosure",
    "kdgs": "methods.noisy_counts.KDGS",
    "optimal": "methods.optimal.Optimal",
    "mondrian": "methods.mondrian.Mondrian",
    "sampling": "methods.sampling.RandomSample",
}
"""Ways to release, by the `name` in [method]."""

MODELS = {name: f"privacy.models.{model.__name__}" for name, model in models.MODELS.items()}
"""What the released table has to satisfy, by the `model` in [[method.models]]; a short name such as "5-anonymity" will do too."""

BUILDERS = {
    "file": "recipe.from_file",
    "intervals": "data.hierarchy.build.intervals",
    "dates": "data.hierarchy.build.dates",
    "mask": "data.hierarchy.build.mask",
    "order": "data.hierarchy.build.order",
    "group": "data.hierarchy.build.groups",
    "suppress": "data.hierarchy.build.suppress",
}
"""Ways to make a hierarchy, by the `build` in [hierarchies.NAME]; `file = …` alone says build = "file"."""

_DEEPEST = 50  # groups of groups of values; deeper ones would exhaust Python's stack

PLACEHOLDER = "?"
"""Stands in a draft where only a person can decide; a recipe with one left is refused."""


# The options of a choice


class Section(BaseModel):
    """A part of a recipe: no key it does not know, and no value that would have to be converted silently."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Choice(Section):
    """Options for one of several things; made by `options_of` from the parameters of that thing."""

    def given(self, *without: str) -> dict[str, Any]:
        """The options that the recipe has; the others keep the defaults of what is made."""
        return {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set - {*without}
        }


def _written_as(kinds: type | UnionType, words: str) -> PlainValidator:
    """Takes a value of some types as it is: what it is for reads it, and reads it exactly."""

    def check(given: object) -> object:
        inner = given if isinstance(given, list) else ()
        if (
            isinstance(given, bool)
            or not isinstance(given, kinds)
            or any(isinstance(one, bool) for one in inner)
        ):
            raise PydanticCustomError("written", "should be {words}", {"words": words})
        return given

    return PlainValidator(check)


Number = Annotated[
    int | float | str,
    _written_as(int | float | str, 'a number such as 0.05, or a text such as "1/20"'),
]


def _thing(place: str) -> Callable[..., Any]:
    room, _, name = place.rpartition(".")
    thing: Callable[..., Any] = getattr(import_module(f"shoal.{room}"), name)
    return thing


@cache
def options_of(place: str, key: str) -> type[Choice]:
    """The options for what is at a place; `key` is the one that chose it."""
    options: dict[str, Any] = {key: (str, ...)}
    for parameter in inspect.signature(_thing(place)).parameters.values():
        written = _WRITTEN.get(parameter.annotation, parameter.annotation)
        if written is not None:
            # The default of an option is the thing's own: None only says that the recipe does not give it.
            options[parameter.name] = (
                written,
                ... if parameter.default is parameter.empty else None,
            )
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Field name .* shadows an attribute", UserWarning
        )  # such as pydantic's own `schema`
        return create_model(place, __base__=Choice, **options)


def _one_of(choices: Mapping[str, str], key: str) -> PlainValidator:
    """Validates a section by the options of what its `key` chooses."""

    def choose(given: object) -> Choice:
        if not isinstance(given, dict):
            raise PydanticCustomError(
                "section", "should be a section with the key {key}", {"key": repr(key)}
            )
        if given.get(key) not in choices:
            raise PydanticCustomError(
                "choice", "{key}", {"key": key, "given": given.get(key), "choices": list(choices)}
            )
        return options_of(choices[given[key]], key).model_validate(given)

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


class LinearLimit(Section):
    """min{1, a·f + b} of a value with the share f."""

    a: Number
    b: Number


class LimitOfClass(Section):
    """One limit for each of several values."""

    limit: Number
    values: list[Any]


def _number_or_formula(given: object) -> object:
    return (
        LinearLimit.model_validate(given)
        if isinstance(given, dict)
        else _NUMBER.validate_python(given)
    )


class SomeLimits(Section):
    """Limits of sensitive values: one by one or by class, and for all others; or by formula for all."""

    values: dict[str, Number] = {}
    classes: dict[str, LimitOfClass] = {}
    others: Annotated[Any, PlainValidator(_number_or_formula)] = None

    def made(self) -> Limits:
        others = (
            Linear(self.others.a, self.others.b)
            if isinstance(self.others, LinearLimit)
            else self.others
        )
        if self.values and self.classes:
            raise ParameterError(
                "`limits` come by value or by class, not both; put each value into a class"
            )
        if self.classes:
            return Limits.classes(
                {name: (one.limit, one.values) for name, one in self.classes.items()}, others
            )
        return Limits.each(self.values, others)


SomeWeights = dict[str, Number | dict[str, Number]]
"""How sensitive columns are, or the values of one."""


class SomeWish(Section):
    """What people who chose this want."""

    utility: Number | None = None
    weights: SomeWeights | None = None

    def made(self) -> Wish:
        return Wish(self.utility, self.weights)


_NUMBER: TypeAdapter[Any] = TypeAdapter(Number)


def _by_formula(given: object) -> object:
    if not isinstance(given, dict):
        words = "limits by value, class or formula, such as { others = 0.25 }"
        raise PydanticCustomError("written", "should be {words}", {"words": words})
    if not given or set(given) - {"a", "b"}:
        return given
    if missing := {"a", "b"} - set(given):
        raise PydanticCustomError(
            "said",
            "{said}",
            {"said": f"{missing.pop()}: missing; min{{1, a·f + b}} takes both a and b"},
        )
    return {"others": given}


AnyMethod = Annotated[Choice, _one_of(METHODS, "name")]
AnyModel = Annotated[Any, _one_of(MODELS, "model"), WrapValidator(_short_name)]
AnyBuilder = Annotated[Choice, _one_of(BUILDERS, "build"), BeforeValidator(_file_is_a_builder)]

_WRITTEN: dict[object, Any] = {
    Exact: Number,
    Limits: Annotated[SomeLimits, BeforeValidator(_by_formula)],
    Epsilon | Exact: Annotated[
        Any, _written_as(int | float | str, 'a number such as 0.5, or a text such as "ln(2)"')
    ],
    Mapping[str, Exact]: dict[str, Number],
    Weights: SomeWeights,
    Mapping[str, Wish]: dict[str, SomeWish],
    Loss | str: Literal[*LOSSES],
    Counts: str,  # the path of a population
    Hierarchy | None: None,  # no option: the column's own is taken
    tuple[models.Model, ...]: list[AnyModel],
    Mapping[str, int]: dict[str, int],
    Mapping[str, int] | None: dict[str, int] | None,
    tuple[str, ...]: list[str],
    Sequence[Sequence[str]] | None: list[list[str]] | None,
    Sequence[str | Sequence[str]] | None: list[str | list[str]] | None,
    int | Sequence[int]: Annotated[
        Any, _written_as(int | list, "a whole number, or a list of them")
    ],
    Sequence[str]: list[str],
    Table | None: str | None,  # the path of a public table
    Exact | None: Number | None,
    Kind | str: KindName,
    build.Number: Number,
    build.Number | None: Number | None,
    Sequence[build.Number]: list[Number],
    Sequence[Sequence[build.Number]]: list[list[Number]],
    dt.date | str: Annotated[Any, _written_as(dt.date | str, "a date such as 2024-12-31")],
    Iterable[object]: list[Any],
    Iterable[object] | None: list[Any] | None,
    str | Sequence[str]: Annotated[Any, _written_as(str | list, "a text, or a list of texts")],
    Sequence[int | Sequence[int]]: list[
        Annotated[Any, _written_as(int | list, "a whole number, or a list of them")]
    ],
    build.Tree: dict[str, Any],
}
"""What stands in a recipe for the type of a parameter; a type that is not here stands for itself."""


def from_file(
    file: str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    kind: Kind | str = Kind.TEXT,
    root: str | None = None,
    add_root: str | None = None,
) -> Hierarchy:
    """The hierarchy in a CSV file; `root` replaces its last level, `add_root` goes above it."""
    return read_hierarchy(
        file, separator=separator, encoding=encoding, kind=kind, root=root, add_root=add_root
    )


# The file


class Source(Section):
    """What is read."""

    path: str
    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    types: dict[str, KindName] = {}


class Output(Section):
    """What is written."""

    format: Literal["csv", "parquet", "arrow"] = "csv"
    neutralise: bool = False


class Book(Section):
    """Where releases are entered."""

    path: str


class Others(Section):
    """What others have shown of the same people, which counts where the ledger has a γ."""

    others: str


class Content(Section):
    """A whole recipe."""

    source: Source
    roles: dict[str, Literal["identifying", "quasi", "sensitive", "insensitive"]]
    hierarchies: dict[str, AnyBuilder] = {}
    missing: Literal["category", "refuse"] = "category"
    rows_are_people: bool = False
    method: AnyMethod
    output: Output = Output()
    ledger: Book | None = None
    views: Others | None = None


@typed
class Recipe:
    """A recipe that was read and found to be whole; paths in it are seen from its own folder."""

    def __init__(self, path: Path, content: Content, digest: str) -> None:
        self.path = path
        self.content = content
        self.digest = digest  # SHA-256 of the file, which certificates name

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Recipe":
        """The recipe in a file; RecipeError says everything that is wrong with it as it is written, a line each."""
        recipe, wrong = cls._loaded(Path(path))
        if recipe is None or wrong:
            raise _mistakes(Path(path), wrong)
        return recipe

    @classmethod
    def checked(cls, path: str | os.PathLike[str]) -> "tuple[Recipe, Table]":
        """As `load`, with its table, after a look at all it names: hierarchies, method, source. Nothing is released."""
        recipe, wrong = cls._loaded(Path(path))
        table = None if recipe is None else recipe._examined(wrong)
        if recipe is None or table is None or wrong:
            raise _mistakes(Path(path), wrong)
        return recipe, table

    @classmethod
    def _loaded(cls, path: Path) -> "tuple[Recipe | None, list[str]]":
        """The recipe in a file and what is wrong with it; of a faulty one what is sound, if that makes a recipe."""
        if (
            path.suffix.lower() in (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc")
            and path.is_file()
        ):
            raise RecipeError(
                f"{path} is no recipe. Is it a table? Then draft a recipe with: shoal recipe new {path}"
            )
        try:
            written = path.read_bytes()
            reading(path)
            raw = tomllib.loads(written.decode("utf-8"))
        except OSError as error:
            raise FileError(
                f"cannot read {path}: {error.strerror}; give the path of a recipe"
            ) from None
        except UnicodeDecodeError:
            raise FileError(f"{path} is not UTF-8 text; a recipe is a TOML file") from None
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"{path} is not TOML: see {misread(error)}") from None
        except (ValueError, RecursionError):  # what Python's own reader of TOML cannot take
            raise RecipeError(
                f"{path} has a number with thousands of digits, or sections a hundred deep"
            ) from None
        if _depth(raw) > _DEEPEST:
            raise RecipeError(
                f"{path} has sections or lists more than {_DEEPEST} deep; a recipe is flatter"
            )
        unfilled = [loc for loc, value in _values(raw) if value == PLACEHOLDER]
        wrong = []
        if unfilled:
            places = ", ".join(map(_path, unfilled))
            wrong.append(f"still has {PLACEHOLDER!r} at {places}; replace each by what you decide")
        faults = _faults(raw)
        wrong += [_line(raw, fault) for fault in faults if fault["loc"] not in unfilled]
        faulty = [*unfilled, *(fault["loc"] for fault in faults)]
        content = _sound(raw, faulty)
        if content is None or any(loc[0] == "roles" for loc in faulty):
            return None, wrong  # without all roles, what else is wrong cannot be told
        blamed = tuple(_path(loc[:2]) for loc in faulty)
        wrong += [line for line in _contradictions(content) if not line.startswith(blamed)]
        return cls(path, content, hashlib.sha256(written).hexdigest()), wrong

    def _examined(self, wrong: list[str]) -> Table | None:
        """The table, if it can be read; adds what is wrong with every hierarchy, the method, the source and its columns."""

        def tried(make: Callable[[], Any]) -> Any:
            try:
                return make()
            except ShoalError as error:
                wrong.append(str(error).removeprefix(f"{self.path}: "))
                return None

        trees = {
            name: tried(partial(self._built, name, choice))
            for name, choice in self.content.hierarchies.items()
        }
        built = {name: tree for name, tree in trees.items() if tree is not None}
        method = tried(self.method)
        sound = Recipe(self.path, self.content, self.digest)
        sound.__dict__["hierarchies"] = built  # those that could be made
        bare = tried(lambda: sound._read(self.source, {}, ()))
        if bare is None:
            return None
        roles = self.content.roles
        absent = [name for name in roles if name not in bare.names]
        if absent:
            known = bare.source.describe()
            wrong += [
                f"roles.{_key(name)}: the source has no such column; {known}" for name in absent
            ]
        forgotten = [] if absent else [name for name in bare.names if name not in roles]
        if forgotten:
            wrong.append(f"roles: nothing is said of {listed(forgotten)}; give each column a role")
        if absent or forgotten:
            return None
        table: Table | None = tried(sound.table)
        if table is None:
            return None
        coded = [name for name in table.names if tried(partial(table.column, name)) is not None]
        for name in built:
            if name in coded:
                tried(partial(table.leaf_of, name))
        if method is not None and not wrong:
            tried(lambda: self.concerns(table))
        return table

    @property
    def source(self) -> Path:
        """The file that is read."""
        return self.path.parent / self.content.source.path

    @property
    def format(self) -> str:
        """The format in which the release is written."""
        return self.content.output.format

    @property
    def ledger(self) -> Path | None:
        """The ledger that the release is entered in, if there is one."""
        return None if self.content.ledger is None else self.path.parent / self.content.ledger.path

    @property
    def others(self) -> Path | None:
        """The file with what others have shown of the same people, if there is one."""
        return None if self.content.views is None else self.path.parent / self.content.views.others

    @property
    def inputs(self) -> list[Path]:
        """Every file that the recipe names, and itself: none of them is written over, or lies in a release."""
        method: Any = self.content.method
        named = [getattr(method, option, None) for option in ("public", "register")]
        named += [
            getattr(model, "population", None) for model in getattr(method, "models", None) or ()
        ]
        named += [getattr(choice, "file", None) for choice in self.content.hierarchies.values()]
        own = [self.path.parent / one for one in named if isinstance(one, str)]
        return [self.path, self.source, *(one for one in (self.ledger, self.others) if one), *own]

    def having(self, role: Role) -> list[str]:
        """The columns with a role, in the order of the recipe."""
        return [name for name, given in self.content.roles.items() if Role(given) is role]

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchy of every column that has one."""
        return {
            name: self._built(name, choice) for name, choice in self.content.hierarchies.items()
        }

    def _built(self, name: str, choice: Any) -> Hierarchy:
        options = choice.given("build")
        if "file" in options:
            options["file"] = self.path.parent / options["file"]
            if os.path.abspath(options["file"]) == os.path.abspath(
                self.source
            ):  # what is wrong with it would be told
                raise RecipeError(
                    f"{self.path}: {_path(('hierarchies', name, 'file'))} is the source itself; give a hierarchy"
                )
        if "kind" in type(choice).model_fields and name in self.content.source.types:
            options.setdefault("kind", self.content.source.types[name])
        hierarchy: Hierarchy = self._make(BUILDERS[choice.build], options, ("hierarchies", name))
        return hierarchy

    def table(self) -> Table:
        """The source, read, with its roles and hierarchies."""
        return self._read(self.source, {role: self.having(role) for role in Role})

    def people(self) -> Table:
        """The source as others may know it: its quasi-identifying columns. No other one is read."""
        known = self.having(Role.QUASI)
        return self._read(self.source, {Role.QUASI: known}, known, known)

    def _read(
        self,
        path: Path,
        roles: Mapping[Role, list[str]],
        names: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
    ) -> Table:
        """A file, or some columns of it, with these roles, and the types and hierarchies of all columns or of some."""
        from shoal.data.files import read

        source = self.content.source
        return read(
            path,
            separator=source.separator,
            quote=source.quote,
            encoding=source.encoding,
            types={
                name: kind for name, kind in source.types.items() if names is None or name in names
            },
            hierarchies={
                name: tree
                for name, tree in self.hierarchies.items()
                if names is None or name in names
            },
            missing=self.content.missing,
            rows_are_people=self.content.rows_are_people,
            quasi=roles.get(Role.QUASI, ()),
            sensitive=roles.get(Role.SENSITIVE, ()),
            identifying=roles.get(Role.IDENTIFYING, ()),
            insensitive=roles.get(Role.INSENSITIVE, ()),
            columns=columns,
        )

    def method(self) -> "Method":
        """The method with its options."""
        return self._method

    @cached_property
    def _method(self) -> "Method":
        chosen: Any = self.content.method
        options = chosen.given("name")
        if "public" in options:
            options["public"] = self._public(options)
        if "limits" in options:
            options["limits"] = self._limits(options["limits"])
        if "register" in options:
            options["register"] = self._read(
                self.path.parent / options["register"], {}, self.having(Role.QUASI)
            )
        if "wishes" in options:
            options["wishes"] = {
                name: self._wish(name, wish) for name, wish in options["wishes"].items()
            }
        if "models" in options:
            options["models"] = tuple(
                self._model(i, model) for i, model in enumerate(chosen.models)
            )
        method: Method = self._make(METHODS[chosen.name], options, ("method",))
        return method

    def promise(self, table: Table) -> "Promise":
        """What a release of the table will guarantee; RecipeError if the method cannot promise it, or only about rows."""
        from shoal.methods import Schema, require_people

        try:
            promise = self.method().promise(Schema.of(table))
        except ParameterError as error:
            raise self._placed(error, METHODS[self.method().name], ("method",)) from None
        try:
            require_people(self.method(), table)
        except ColumnError as error:
            raise RecipeError(f"{self.path}: {error}") from None
        return promise

    def concerns(self, table: Table) -> tuple[str, ...]:
        """What the owner should know before anything is released; InfeasibleError if no buckets can keep the limits."""
        from shoal.methods import beforehand

        promise = self.promise(table)
        if not isinstance(promise, BucketLimits):
            return beforehand(self.method(), table)
        values = table.column(promise.column)
        often = np.bincount(values.codes, minlength=len(values.keys))
        found = promise.limits.eligibility(dict(zip(values.keys, often.tolist(), strict=True)))
        found.require()
        return found.concerns

    def _model(self, i: int, chosen: Choice | models.Model) -> models.Model:
        if not isinstance(chosen, Choice):
            return chosen
        options = chosen.given()
        if "population" in options:
            options["population"] = self._population(options["population"])
        model: models.Model = self._make(
            MODELS[options.pop("model")], options, ("method", "models", i)
        )
        return model

    def _public(self, options: Mapping[str, Any]) -> Table:
        """The public table with what the method groups: the columns of a long form, or all that may leave."""
        path = self.path.parent / options["public"]
        if os.path.abspath(path) == os.path.abspath(self.source):
            raise RecipeError(
                f"{self.path}: method.public is the source itself; give a table that is nobody's secret"
            )
        named = [options[part] for part in ("person", "item", "value") if part in options]
        names = named or [
            name for role in Role if role is not Role.IDENTIFYING for name in self.having(role)
        ]
        return self._read(path, {Role.INSENSITIVE: names}, names)

    def _limits(self, chosen: SomeLimits) -> Limits:
        try:
            return chosen.made()
        except ParameterError as error:
            raise self._placed(error, METHODS["buckets"], ("method", "limits")) from None

    def _wish(self, name: str, chosen: SomeWish) -> Wish:
        try:
            return chosen.made()
        except ParameterError as error:
            raise self._placed(error, METHODS["personal"], ("method", "wishes", name)) from None

    def _population(self, path: str) -> Counts:

        table = self._read(self.path.parent / path, {Role.QUASI: self.having(Role.QUASI)})
        return table.count(table.quasi)

    def _make(self, place: str, options: Mapping[str, Any], loc: tuple[int | str, ...]) -> Any:
        try:
            return _thing(place)(**options)
        except ShoalError as error:
            raise self._placed(error, place, loc) from None

    def _placed(self, error: ShoalError, place: str, loc: tuple[int | str, ...]) -> RecipeError:
        """What is wrong with a choice, by its key."""
        said = f": {error}"
        if (about := re.match(r": `(\w+)`", said)) and about[1] in inspect.signature(
            _thing(place)
        ).parameters:
            loc, said = (*loc, about[1]), said[about.end() :]
        return RecipeError(f"{self.path}: {_path(loc)}{said}")

    def nodes(self) -> int | None:
        """How many nodes the method's lattice has; None for one that searches no lattice."""
        method: Any = self.content.method
        if method.name != "personal" and (
            "ceiling" not in type(method).model_fields or getattr(method, "levels", None)
        ):
            return None
        lowest: dict[str, int] = getattr(method, "floor", None) or {}
        highest: dict[str, int] = getattr(method, "ceiling", None) or {}
        names: Iterable[str] = self.having(Role.QUASI)
        if method.name == "safepub":  # whatever has a hierarchy, but for what is to be predicted
            names = self.hierarchies.keys() - {
                *self.having(Role.IDENTIFYING),
                *(method.classes or ()),
            }
        trees = {name: self.hierarchies[name] for name in names}
        return prod(
            highest.get(name, tree.height) - lowest.get(name, 0) + 1 for name, tree in trees.items()
        )

    def run(self, *, progress: "Progress | None" = None) -> "Release":
        """Read the source and release it; where the recipe names a ledger, the release is entered there and counts as spent."""
        return self.release(self.table(), progress=progress)

    def release(
        self,
        table: Table,
        directory: str | os.PathLike[str] | None = None,
        *,
        ledger: "Ledger | None" = None,
        progress: "Progress | None" = None,
        override: str | None = None,
        neutralise: bool = False,
    ) -> "Release":
        """Release the table as the recipe says, and write it into a directory, if one is given.

        It is entered in the ledger, or in the one that the recipe names, if there is any. If that has a γ which is not kept,
        `override` says why it is released all the same. `neutralise` is as if the recipe said it.
        """
        self.promise(table)
        method = self.method()
        neutralise = neutralise or self.content.output.neutralise
        if directory is not None:  # before anything is spent
            self.require_place(directory, neutralise=neutralise)
        if ledger is None and self.ledger is not None:
            from shoal.ledger import Ledger

            ledger = Ledger(self.ledger)
        if ledger is not None:
            return ledger.release(
                method,
                table,
                directory,
                format=self.format,
                recipe=self.digest,
                progress=progress,
                override=override,
                others=self.others,
                recipe_file=self.path,
                neutralise=neutralise,
            )
        made = method.release(table, progress=progress)
        made = replace(made, certificate=replace(made.certificate, recipe=self.digest))
        if directory is not None:
            made.write(directory, self.format, neutralise=neutralise)
        return made

    def require_place(
        self, directory: str | os.PathLike[str], *, neutralise: bool = False
    ) -> list[Path]:
        """The files of an earlier release in a directory; an error if this recipe's cannot be written there."""
        from shoal.releases.release import require_place

        if neutralise and self.format != "csv":
            raise ParameterError(
                f"the recipe's format is {self.format!r}, which has no cells to neutralise; leave out `neutralise`"
            )
        return require_place(directory, self.inputs)


# What is wrong with a recipe, in words


def _mistakes(path: Path, wrong: Sequence[str]) -> RecipeError:
    if len(wrong) > 1:
        return RecipeError("\n  ".join([f"{path} has {len(wrong)} mistakes", *wrong]))
    only = wrong[0]
    return RecipeError(f"{path} {only}" if only.startswith("still has") else f"{path}: {only}")


def _faults(raw: Mapping[str, Any]) -> list[ErrorDetails]:
    """What the sections of a recipe do not take."""
    try:
        Content.model_validate(raw)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _sound(raw: Mapping[str, Any], faulty: Sequence[tuple[int | str, ...]]) -> Content | None:
    """A recipe without its faulty parts, if it still is one: more may be wrong with the rest."""
    rest = copy.deepcopy(dict(raw))
    for place in faulty:
        # Of a hierarchy nothing is left if a part of it is faulty; elsewhere only that part goes.
        loc = place[:2] if place[0] == "hierarchies" else place
        section: Any = rest
        for part in loc[:-1]:
            section = section.get(part) if isinstance(section, dict) else None
        if isinstance(section, dict):
            section.pop(loc[-1], None)
    # In place of a method that cannot be made, one that asks nothing of the rest.
    for method in (rest.get("method"), {"name": "sampling", "probability": 1}):
        try:
            return Content.model_validate({**rest, "method": method})
        except ValidationError:
            continue
    return None


def _contradictions(content: Content) -> Iterator[str]:
    """What no single section can see: names that lead nowhere, and columns that lack something."""
    by_role = {
        role.value: [name for name, given in content.roles.items() if given == role.value]
        for role in Role
    }
    for section, names in (
        ("hierarchies", content.hierarchies),
        ("source.types", content.source.types),
    ):
        for name in names:
            if name not in content.roles:
                yield f"{section}.{_key(name)}: no such column in [roles]; {_hint(name, content.roles)}"
    method: Any = content.method
    for i, model in enumerate(getattr(method, "models", None) or []):
        column = getattr(model, "column", None)
        if column is not None and column not in by_role["sensitive"]:
            place = f"method.models[{i}]{'.column' if isinstance(model, Choice) else ''}"
            yield f"{place}: {column!r} is no sensitive column; {_hint(column, by_role['sensitive'])}"
    if content.output.neutralise and content.output.format != "csv":
        yield f"output.neutralise: {content.output.format!r} has no cells to neutralise; leave it out"
    released = [name for name in content.roles if name not in by_role["identifying"]]
    kind, generalised = "quasi-identifying column", by_role["quasi"]
    if method.name == "buckets" and method.column not in by_role["sensitive"]:
        yield f"method.column: {method.column!r} is no sensitive column; {_hint(method.column, by_role['sensitive'])}"
    if method.name in ("safepub", "noisy-counts", "kdgs", "columns", "buckets"):
        kind, generalised = (
            "released column with a hierarchy",
            [name for name in released if name in content.hierarchies],
        )
    for option in ("floor", "ceiling", "levels", "importance", "within", "weights"):
        for name in getattr(method, option, None) or {}:
            if name not in generalised:
                lacking = name in released and "hierarchy" in kind
                fix = (
                    f"add hierarchies.{_key(name)} with file = … or build = …"
                    if lacking
                    else _hint(name, generalised)
                )
                yield f"method.{option}.{_key(name)}: no {kind}; {fix}"
    for i, name in enumerate(getattr(method, "classes", None) or []):
        if name not in released:
            yield f"method.classes[{i}]: {name!r} is no released column; {_hint(name, released)}"
    unit = getattr(method, "unit", None)
    if unit is not None and unit not in by_role["identifying"]:
        if unit in released:
            fix = "give it that role"
        elif by_role["identifying"]:
            fix = _hint(unit, by_role["identifying"])
        else:
            fix = "no column has that role: give it to the one that tells people apart"
        yield f"method.unit: {unit!r} is not an identifying column; {fix}"
    if unit is not None and content.rows_are_people:
        yield "rows_are_people: true, and method.unit says that people have several rows; leave one of them out"
    if method.name in ("optimal", "personal", "coincident", "disclosure") and not by_role["quasi"]:
        yield "roles: no column is quasi-identifying; give that role to those others may know about a person"
    if (
        method.name == "safepub" and not generalised and not by_role["quasi"]
    ):  # of these each is named below
        yield "hierarchies: no released column has one to be generalised along; add it with file = … or build = …"
    for name in (
        by_role["quasi"]
        if method.name in ("optimal", "safepub", "personal", "coincident", "disclosure")
        else ()
    ):
        if name not in content.hierarchies:
            yield f"hierarchies.{_key(name)}: missing, and the column is quasi-identifying; add it with file = … or build = …"


def _line(raw: Mapping[str, Any], error: ErrorDetails) -> str:
    """One error of pydantic in our words: the key, what is wrong, the fix."""
    loc, given, context = error["loc"], error["input"], error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return f"{_path(loc)}: unknown key; {_hint(loc[-1], _keys(raw, loc[:-1]))}"
        case "said":
            return f"{_path(loc)}: {context['said']}"
        case "missing":
            return f"{_path(loc)}: missing; add it"
        case "choice" if context["given"] is None:
            if meant := get_close_matches(context["key"], given, n=1):
                return f"{_path((*loc, meant[0]))}: unknown key; did you mean {context['key']!r}?"
            return (
                f"{_path((*loc, context['key']))}: missing; it takes {listed(context['choices'])}"
            )
        case "choice":
            return f"{_path((*loc, context['key']))} is {context['given']!r}; {_hint(context['given'], context['choices'])}"
        case "literal_error":
            accepted = re.findall("'([^']*)'", context["expected"])
            return f"{_path(loc)} is {given!r}; {_hint(given, accepted)}"
    return f"{_path(loc)} {error['msg'].removeprefix('Input ')}, not {given!r}"


def _keys(raw: Any, loc: tuple[int | str, ...]) -> list[str]:
    """The keys that the section at a place takes."""
    for part in loc:
        raw = raw[part]
    raw = _file_is_a_builder(raw)
    for choices, key in ((METHODS, "name"), (MODELS, "model"), (BUILDERS, "build")):
        if raw.get(key) in choices:
            return list(options_of(choices[raw[key]], key).model_fields)
    sections: dict[str, type[Section]] = {
        "": Content,
        "source": Source,
        "output": Output,
        "ledger": Book,
        "views": Others,
    }
    if loc[:2] == ("method", "wishes"):
        return list(SomeWish.model_fields)
    limits: dict[int, type[Section]] = {
        2: SomeLimits,
        3: LinearLimit,
        4: LimitOfClass,
    }  # by how deep they lie in [method]
    return list(
        (limits[len(loc)] if loc[:2] == ("method", "limits") else sections[_path(loc)]).model_fields
    )


def _hint(given: object, accepted: Iterable[str]) -> str:
    accepted = list(accepted)
    close = get_close_matches(str(given), accepted, n=1)
    return f"did you mean {close[0]!r}?" if close else f"it takes {listed(accepted)}"


def _path(loc: Iterable[int | str]) -> str:
    """A place in a recipe as people write it: method.models[0].k."""
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in loc
    ).removeprefix(".")


def _key(name: str) -> str:
    """A key as TOML wants it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _depth(raw: object) -> int:
    """How deep sections and lists lie in each other."""
    depth, layer = 0, [raw]
    while layer := [one for one in layer if isinstance(one, dict | list) and one]:
        depth += 1
        layer = [
            inner for one in layer for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


def _values(
    raw: object, loc: tuple[int | str, ...] = ()
) -> Iterator[tuple[tuple[int | str, ...], object]]:
    """Every plain value of a recipe with its place."""
    if isinstance(raw, dict | list):
        for key, inner in raw.items() if isinstance(raw, dict) else enumerate(raw):
            yield from _values(inner, (*loc, key))
    else:
        yield loc, raw


# A draft

_HINTS = {
    "quasi": r"(^|[^a-z])age|birth|sex|gender|zip|post|city|country|race|ethnic|marital|educat|occupation|work|job",
    "sensitive": r"diagnos|disease|illness|condition|treatment|drug|salary|income|wage|religion|vote|score|result",
}
"""What names of columns suggest; only ever a comment beside a placeholder."""

_NAMING = r"name|(^|[^a-z])id($|[^a-z])|ssn|e-?mail|phone|passport|account|insurance|number"
_IDENTIFYING = (
    0.9,
    0.5,
)  # the share of different values from which a column may identify; and one that is called like it

_EXAMPLES = {
    Kind.INTEGER: ['build = "intervals"', 'low = "?"', 'high = "?"', "widths = [5, 10, 20]"],
    Kind.FLOAT: [
        'build = "intervals"',
        'kind = "float"',
        'low = "?"',
        'high = "?"',
        "widths = [5, 10, 20]",
    ],
    Kind.DATE: ['build = "dates"', 'first = "?"', 'last = "?"', 'levels = ["month", "year"]'],
    Kind.TEXT: ['file = "?"  # or a builder: group, mask, order, suppress'],
}

_OTHER_METHODS = {
    "noisy-counts": [
        'name = "noisy-counts"  # frequent rows with noisy counts, at levels you give',
        f'epsilon = "{PLACEHOLDER}"  # how much one row may matter',
        f'delta = "{PLACEHOLDER}"  # the chance that this fails; shoal explain --counts 10',
        "k = 10  # how many records must share a row, at least",
        'definition = "probabilistic"  # or standard: releases more rows',
        "levels = {}  # such as { NAME = 2 }; 0 for columns not named",
    ],
    "columns": [
        'name = "columns"  # sparse or wide tables: groups of columns, each on its own',
        f'epsilon = "{PLACEHOLDER}"  # how much one record may matter',
        f'delta = "{PLACEHOLDER}"  # the chance that this fails',
        "k = 10  # how many records must share what a group shows of them, at least",
        "most = 2  # to how many groups a record may give values",
        "groups = [2]  # that many groups of columns, found with a share of epsilon;",
        "buying = 0.1  # instead of both: schema = [[NAME, NAME], [NAME]]",
        "# Purchases, ratings, diagnoses in long form, a row for each item of a person:",
        '# person = "NAME", item = "NAME", value = "NAME" too; docs/columns.md',
    ],
    "buckets": [
        'name = "buckets"  # people as they are, what they have apart, by bucket',
        f'column = "{PLACEHOLDER}"  # the sensitive column, the only one with that role',
        "# How probable each of its values may become: by class, and for all others;",
        f'limits = {{ classes = {{ A = {{ limit = 0.05, values = ["{PLACEHOLDER}"] }} }}, others = "{PLACEHOLDER}" }}',
        "# a limit of 1 may publish a value beside its people;",
        "# or by value, { values = { VALUE = 0.05 }, others = 0.5 }; or by share f,",
        "# min{1, a·f + b}: { a = 4, b = 0.02 }",
        'solver = "multi"  # or optimal (smaller buckets, needs scipy), two, anatomy',
        "fakes = 0  # values nobody has in every bucket, against those who know others",
        "# within = { NAME = 2 }  # only people who agree at a level share a bucket",
    ],
    "personal": [
        'name = "personal"  # each record its own levels: lowest risk at a utility',
        f'utility = "{PLACEHOLDER}"  # the share of it that each record keeps, such as 0.6',
        'measure = "leaves"  # how utility is counted; or log, depth',
        'model = "fixed"  # how sensitivity is; or uniform, harmonic',
        "weights = {}  # how sensitive columns are, such as { NAME = 3 }; else 1",
        '# choice = "NAME"  # a column with what people chose: strict, normal, open',
        'solver = "exact"  # or genetic, relaxed, lagrangian, for very wide tables',
    ],
    "coincident": [
        'name = "coincident"  # l-diversity that holds though everyone knows how',
        f'models = ["{PLACEHOLDER}"]  # such as "3-diversity of NAME"; all: docs/models.md',
        "# size = 6  # people of a group to start with; else twice what models need",
        'scheme = "forest"  # or interleaved, UU, UA',
        '# order = "splits"  # or curve, which is faster; else by how many rows',
    ],
    "disclosure": [
        'name = "disclosure"  # one table of a path; which one tells nothing',
        f'models = ["{PLACEHOLDER}"]  # such as "2-diversity of NAME"',
        "local = false  # true: every group goes down the path by itself",
        "# path = [NAME, [NAME, NAME]]  # which columns go up a level, step by step",
    ],
    "kdgs": [
        'name = "kdgs"  # frequent rows with exact counts: semantic k-anonymity alone',
        "k = 10  # how many records must share a row, at least",
        "levels = {}  # such as { NAME = 2 }; 0 for columns not named",
    ],
    "optimal": [
        'name = "optimal"  # k-anonymity and its like, with the levels that lose least',
        f'suppression = "{PLACEHOLDER}"  # the share of records that may be left out, such as 0.05',
        'loss = "granularity"  # what is kept small; others: docs/measures.md',
        f'models = ["{PLACEHOLDER}"]  # such as "5-anonymity"; all: docs/models.md',
    ],
    "mondrian": [
        'name = "mondrian"  # every group has ranges of its own',
        f'models = ["{PLACEHOLDER}"]',
        "relaxed = false  # true: groups of more even size, whose ranges overlap",
        'ranges = "boundary"  # or observed: only as far as there are values',
        'splits = "median"  # or middle: fixed beforehand (semantic k-anonymity)',
    ],
    "sampling": [
        'name = "sampling"  # every record as it is, or not at all',
        f'probability = "{PLACEHOLDER}"  # of a record to be released, such as 0.1',
    ],
}
"""What a draft offers in place of the [method] it has: every other method with its options."""


def draft(
    table: Table, path: Path, *, folder: Path = Path(), header: bool = False, **reading: str | None
) -> str:
    """A recipe for a table, to be kept in a folder and filled in: "?" wherever only a person can decide.

    `reading` is how the file was read: separator, quote and encoding, where they were given. The draft holds nothing of the
    table but the names and types of its columns. FileError where the names seem to be a record, unless `header` says that
    they are names.
    """
    if (
        not header
        and all(table.kind(name) is Kind.TEXT for name in table.names)
        and table.source.is_headless()
    ):
        raise FileError(
            f"the first line of {path} looks like a record, and the draft would show it as the names of the columns; "
            "put a line with names above it, or give `header` if it has the names"
        )
    kinds = {name: _type(table, name) for name in table.names}
    guesses = {name: _guess(table, name, kinds[name]) for name in table.names}
    wide = max((len(_key(name)) for name in table.names), default=0)
    source = {"path": Path(os.path.relpath(path, folder)).as_posix(), **reading}
    lines = [
        f"# Drafted by Shoal {__version__}. Replace every {PLACEHOLDER!r}, then: shoal recipe check,",
        "# shoal release.",
        'missing = "category"  # missing values are a value of their own; or "refuse"',
        "# rows_are_people = true  # every row is another person, though names repeat",
        "",
        "[source]",
        *(f"{key} = {_quoted(value)}" for key, value in source.items() if value is not None),
        "",
        "[source.types]  # text, integer, float or date",
        *(f"{_key(name):{wide}} = {_quoted(kind)}" for name, kind in kinds.items()),
        "",
        "# identifying: is never released.      quasi: others may know it.",
        "# sensitive: nobody should learn it.   insensitive: neither.",
        "[roles]",
        *(
            f'{_key(name):{wide}} = "{PLACEHOLDER}"{guess and f"  # {guess}?"}'
            for name, guess in guesses.items()
        ),
        "",
        "# How values generalise: a builder, or a file with one line per value, which",
        "# shoal hierarchy make writes. They are public: made from what anybody knows of",
        "# a column, never from its rows. Every quasi column needs one. A released column",
        "# without one is released unchanged: the finer it is, the fewer rows are kept.",
        "# For example (take the # away):",
    ]
    for name in [name for name, guess in guesses.items() if guess != "identifying"] or list(
        table.names[:1]
    ):
        lines += [
            "",
            *(f"# {line}" for line in (f"[hierarchies.{_key(name)}]", *_EXAMPLES[kinds[name]])),
        ]
    lines += [
        "",
        "[method]",
        'name = "safepub"  # differential privacy; other methods are below',
        f'epsilon = "{PLACEHOLDER}"  # how much one row may matter, such as 1 or "ln(2)"',
        f'delta = "{PLACEHOLDER}"  # the chance that this fails, such as 1e-6; try shoal explain',
        'definition = "probabilistic"  # or standard: keeps more records',
        'score = "granularity"  # what a good release is; others: docs/safepub.md',
        "# importance = { NAME = 3 }  # columns that count more in the score than 1",
        "# ceiling = { NAME = 2 }  # the highest level that a column may be released at",
        '# unit = "NAME"  # whose rows belong together, by an identifying column (for any',
        '# method). Each person gives one row; here it needs definition = "standard"',
        "# More options (levels, classes, floor, split, …): docs/recipes.md",
        "",
        "# Other methods, in place of the section [method] above. The last three promise",
        "# less: someone who knows the algorithm may infer more than the table shows.",
        *(
            f"# {line}".rstrip()
            for options in _OTHER_METHODS.values()
            for line in ("", "[method]", *options)
        ),
        "",
        "[output]",
        'format = "csv"  # or parquet, arrow',
        "neutralise = false  # true: no spreadsheet runs a cell of the CSV",
    ]
    return "\n".join(lines) + "\n"


def _type(table: Table, name: str) -> Kind:
    """The type that all values of a column have, as they are written: 01234 is text, for its 0 would be lost.

    Only whole floats may end in .0, as other programs write them.
    """
    texts = [text for text in table.column(name).labels if text]
    for kind in (
        (Kind.INTEGER, Kind.FLOAT, Kind.DATE) if table.kind(name) is Kind.TEXT and texts else ()
    ):
        try:
            end = ".0" if kind is Kind.FLOAT else ""
            if all(kind.text(kind.key(text)) == text.removesuffix(end) for text in texts):
                return kind
        except (ValueError, TypeError):
            continue
    return table.kind(name)


def _guess(table: Table, name: str, kind: Kind) -> str:
    """The role that a column's name or type suggests, or that most of its values differ; empty where nothing does."""
    by_type = "quasi" if kind is Kind.DATE else ""
    suggested = next(
        (role for role, words in _HINTS.items() if re.search(words, name, re.IGNORECASE)), by_type
    )
    named = re.search(_NAMING, name, re.IGNORECASE) is not None
    different = table.rows > 1 and len(table.column(name).keys) > _IDENTIFYING[named] * table.rows
    return "identifying" if different and (named or not suggested) else suggested


def _quoted(text: str) -> str:
    """A text as TOML wants it, which takes no control character as it is."""
    quoted = json.dumps(str(text), ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)

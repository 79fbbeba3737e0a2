"""Check what public functions and classes take, by their annotations.

Uses `errors`; every room may use it.

`typed` refuses an argument of the wrong type before anything is done with it, in one way
everywhere. It looks at types only: ranges, and which names are known, are checked where they
matter. A message names the type of what was given and never shows it, for it may be somebody's
data; only a text where a list of names belongs is shown.

Parameters are converted once, when a thing is made. A frozen dataclass whose parameters are kept as
they are given needs nothing but `typed`, and a `__post_init__` for ranges. Where a parameter is
taken as one type and kept as another, the fields have the types that are kept, and the constructor
is written out, with the types that are taken and the defaults; `keep` fills the fields. Whoever
asks for the signature (recipes do) sees the types that are taken; whoever uses a field never
converts it again. `dataclasses.replace` works as usual, since what is kept can be given.

    @typed
    @dataclass(frozen=True, init=False)
    class Sampled:
        share: Fraction
        unit: str | None

        def __init__(self, share: Exact, unit: str | None = None) -> None:
            keep(self, share=fraction(share, "share", 0, 1), unit=unit)
"""

import inspect
import os
import types
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, wraps
from numbers import Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from shoal.errors import ColumnError, InternalError, ParameterError, ShoalError, listed

__all__ = [
    "described",
    "keep",
    "missing_of",
    "require_one_of",
    "typed",
    "typed_but",
    "typed_fields",
]

Thing = TypeVar("Thing")
Made = TypeVar("Made")

_LISTS = (Iterable, Sequence, Collection, tuple, list)
_UNIONS = (Union, types.UnionType)
_SHOWN = str | float | None  # what may be meant for a number, and is nobody's data

_TABLE = "Table"
_HINTS = {
    _TABLE: "make one with shoal.table(…, quasi=[…], …), or shoal.read",
    "Release": "a method makes one, and shoal.Release.read reads one",
    "Hierarchy": "the builders of shoal.hierarchy make one, and shoal.hierarchy.read reads one",
    "Chance": "leave it out, unless this is a test",
    "Limits": "make it with shoal.Limits.each, .classes or .formula",
    "Model": "docs/how-to/extend-model.md has what a model of your own needs",
    "Loss": "docs/how-to/extend-loss.md has what a loss of your own needs",
    "Score": "docs/how-to/extend-score.md has what a score of your own needs",
}
"""How to get what is wanted, where that is not obvious."""


def typed(thing: Thing) -> Thing:
    """Make a function, or a class with its public methods, check the types of its arguments.

    An argument of the wrong type raises ParameterError.

    >>> @typed
    ... def repeated(text: str, times: int = 2) -> str:
    ...     return text * times
    >>> repeated("ab")
    'abab'
    >>> repeated("ab", "3")
    Traceback (most recent call last):
    shoal.errors.ParameterError: times='3' is not a whole number; it takes a whole number
    """
    return typed_but()(thing)


def typed_but(*own: str) -> Callable[[Thing], Thing]:
    """As `typed`, except for some arguments.

    The function or class checks these itself, with a message that says more.
    """

    def decorate(thing: Thing) -> Thing:
        if not isinstance(thing, type):
            return _checked(thing, own)  # type: ignore[no-any-return]
        _check_members(thing, own)
        return thing

    return decorate


def _check_members(thing: type, own: tuple[str, ...]) -> None:
    thing.__init__ = _checked(thing.__init__, own)  # type: ignore[misc]
    for name, member in list(vars(thing).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(thing, name, type(member)(_checked(member.__func__)))
        elif inspect.isfunction(member):
            setattr(thing, name, _checked(member))


def typed_fields(thing: type[Made]) -> type[Made]:
    """A class that refuses fields of the wrong type; its methods take what is given."""
    thing.__init__ = _checked(thing.__init__)  # type: ignore[method-assign]
    return thing


def keep(thing: Any, **values: Any) -> None:
    """Fill the fields of a frozen dataclass from its constructor.

    Every field is given, with the converted value of its argument.
    """
    names = {field.name for field in fields(thing)}
    if names != values.keys():
        raise InternalError(f"fields that are not kept: {listed(sorted(names ^ values.keys()))}")
    for name, value in values.items():
        object.__setattr__(thing, name, value)


def require_one_of(option: str, given: str, *known: str) -> None:
    """ParameterError unless an option is one of the names it takes."""
    if given not in known:
        *others, last = map(repr, known)
        takes = f"it takes {', '.join(others)} or {last}"
        raise ParameterError("is unknown", takes, option=option, given=repr(given))


def _checked(function: Any, own: tuple[str, ...] = ()) -> Any:
    @cache
    def expected() -> _Expected:
        return _expected(function, own)

    def check(given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        known = expected()
        more = [known.several] * (len(given) - len(known.names))
        for name, value in (*zip((*known.names, *more), given, strict=False), *named.items()):
            hint = known.hints.get(name, Any)
            # Most arguments are of the very type, which is quickly seen.
            if type(value) is not hint and not _fits(value, hint):
                raise _wrong(name, value, hint)

    def call(*given: Any, **named: Any) -> Any:
        check(given, named)
        return function(*given, **named)

    # With the globals of its module, by which doctest knows what belongs to one.
    same = types.FunctionType(
        call.__code__, function.__globals__, function.__name__, None, call.__closure__
    )
    return wraps(function)(same)


@dataclass(frozen=True)
class _Expected:
    """What a function expects: the names of its arguments in their order, and their types.

    several: the name of those that follow in any number
    """

    names: list[str]
    several: str
    hints: dict[str, Any]


def _expected(function: Any, own: tuple[str, ...]) -> _Expected:
    """Found out when a function is first called, as most of those that are loaded never are."""
    names, several, hints = [], "", {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind < parameter.VAR_POSITIONAL:
            names.append(name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            several = name
        is_checked = parameter.annotation is not parameter.empty and name not in own
        if is_checked and parameter.kind is not parameter.VAR_KEYWORD:
            hints[name] = _hint(parameter.annotation, function.__globals__)
    return _Expected(names, several, hints)


def _hint(annotation: Any, names: dict[str, Any]) -> Any:
    """The type that an annotation means, also where it is written as a text.

    Any type where only a type checker knows it.
    """
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except NameError:
        return Any


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value may be of a type. Its contents are looked at only where names are wanted."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        # `fraction` reads whatever prints as a number, and says itself what does not.
        return Fraction in inner or any(_fits(value, choice) for choice in inner)
    if origin is Literal:
        return any(type(value) is type(choice) for choice in inner)
    if origin in _LISTS:
        # Where anything may be an element, letters may.
        letters = isinstance(value, str) and inner[:1] == (Hashable,)
        return letters or (_is_list(value, origin) and _misfit(value, inner) is None)
    if origin in (Mapping, dict):
        return isinstance(value, Mapping) and _misfit(value.values(), inner[1:]) is None
    if origin is Callable:
        return callable(value)
    plain = _FITS.get(hint)
    if plain is not None:
        return plain(value)
    wanted = origin or hint
    if not isinstance(wanted, type):
        return True
    if getattr(wanted, "_is_protocol", False):
        return not missing_of(value, wanted)
    return isinstance(value, wanted)


_FITS: dict[Any, Callable[[Any], bool]] = {
    Any: lambda value: True,
    object: lambda value: True,
    None: lambda value: value is None,
    types.NoneType: lambda value: value is None,
    int: lambda value: hasattr(type(value), "__index__"),
    float: lambda value: isinstance(value, Real),
    # Python's, and numpy's.
    bool: lambda value: type(value).__name__ in ("bool", "bool_"),
}
"""How values of plain types are recognised."""


def _is_list(value: Any, origin: Any) -> bool:
    """Whether a value holds others, in an order where one is wanted.

    A text does not count: it would be taken letter by letter.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    if hasattr(value, "columns"):
        return False  # a dataframe, whose columns nobody means
    if origin in (Iterable, Collection):
        return True
    return hasattr(type(value), "__getitem__") and not isinstance(value, Mapping)


def _misfit(value: Iterable[Any], inner: tuple[Any, ...]) -> str | None:
    """What does not belong among names, numbers or lists, if anything.

    Iterators are not looked at, as that would use them up.
    """
    hint = inner[0] if inner and (len(inner) == 1 or inner[1:] == (...,)) else Any
    checked = hint in (str, int) or get_origin(hint) in _LISTS
    if isinstance(value, Iterator) or not checked:
        return None
    return next((described(element) for element in value if not _fits(element, hint)), None)


def missing_of(value: Any, protocol: Any) -> list[str]:
    """What a value lacks of a protocol; a class in place of an instance lacks all of it."""
    members = [name for name in _members(protocol) if not name.startswith("_")]
    if isinstance(value, type):
        return members
    # Its class first: looking at a property may be a lot of work.
    has = [hasattr(type(value), name) or hasattr(value, name) for name in members]
    return [name for name, there in zip(members, has, strict=True) if not there]


@cache
def _members(protocol: Any) -> list[str]:
    kinds = [kind for kind in protocol.__mro__ if getattr(kind, "_is_protocol", False)]
    return sorted({name for kind in kinds for name in (*vars(kind), *kind.__annotations__)})


def _wrong(name: str, value: Any, hint: Any) -> ShoalError:
    """What to say of an argument that does not fit: its name, what it is, what it should be."""
    choices = _choices(hint)
    lists = all(get_origin(choice) in _LISTS for choice in choices)
    if isinstance(value, str) and choices and lists:
        return ParameterError(
            "is a text", f"give a list, as in `{name}=[{value!r}]`", option=name, given=repr(value)
        )
    takes = " or ".join(dict.fromkeys(map(_words, choices)))
    if int in choices and isinstance(value, _SHOWN):
        return ParameterError(
            "is not a whole number", f"it takes {takes}", option=name, given=repr(value)
        )
    if _TABLE in map(_name, choices) and hasattr(value, "columns"):
        hint = f"it takes a Table: {_HINTS[_TABLE]}"
        return ColumnError(f"is {described(value)}", hint, option=name)
    hints = [f" ({_HINTS[choice]})" for choice in map(_name, choices) if choice in _HINTS]
    given = _described_against(value, choices)
    return ParameterError(f"is {given}", f"it takes {takes}{''.join(hints)}", option=name)


def _choices(hint: Any) -> list[Any]:
    """The types that an argument may have, but for None, which the default says."""
    every = get_args(hint) if get_origin(hint) in _UNIONS else (hint,)
    return [choice for choice in every if choice is not types.NoneType]


def _described_against(value: Any, choices: Sequence[Any]) -> str:
    """The type of an argument and, where it is nearly right, what is wrong with it.

    That is what it lacks, or what should not be in it.
    """
    for hint in choices:
        origin, inner = get_origin(hint), get_args(hint)
        if getattr(hint, "_is_protocol", False):
            return f"{described(value)}, which has no {listed(missing_of(value, hint))}"
        if origin in _LISTS and _is_list(value, origin):
            return f"{described(value)} with {_misfit(value, inner)} in it"
        if origin in (Mapping, dict) and isinstance(value, Mapping):
            return f"{described(value)} with {_misfit(value.values(), inner[1:])} in it"
    return described(value)


def _name(hint: Any) -> str:
    return str(getattr(hint, "__name__", hint))


def described(value: Any) -> str:
    """The type of a value with its article; a class is named as one."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _words(hint: Any) -> str:
    """A type as people say it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return " or ".join(dict.fromkeys(map(_words, _choices(hint))))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin in _LISTS:
        return f"a list of {_several(inner[0])}"
    if origin in (Mapping, dict):
        return f"a dict from {_several(inner[0])} to {_several(inner[1])}"
    if origin is Callable:
        return "a function"
    if origin is os.PathLike:
        return "a path"
    name = _name(hint)
    return _PLAIN.get(hint) or f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


_PLAIN: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    Fraction: "a number",
    bool: "True or False",
    object: "anything",
    Any: "anything",
}


def _several(hint: Any) -> str:
    """What is in a list, as people say it."""
    many = {str: "texts", int: "whole numbers", object: "values", Any: "values"}
    if hint in many:
        return many[hint]
    if get_origin(hint) in _UNIONS:
        choices = _choices(hint)
        if Fraction in choices:
            return "numbers"
        return " or ".join(dict.fromkeys(map(_several, choices)))
    if get_origin(hint) in _LISTS:
        return f"lists of {_several(get_args(hint)[0])}"
    return f"{getattr(hint, '__name__', 'value')}s"

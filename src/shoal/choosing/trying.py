"""A recommended method, made with its parameters, and what it promises a table of such columns.

Uses `methods`, `privacy` and `data`; `recommending` asks it. The promise is the method's own, so
that nothing is recommended that the method would not take, or promises something else.
"""

from collections.abc import Mapping
from functools import cache
from json import dumps, loads
from typing import Any

from shoal.choosing.deciding import BLANKS, CLASS, HOUSEHOLD, ITEM, KNOWN, PERSON, SENSITIVE
from shoal.data.hierarchy import build
from shoal.data.kinds import Kind
from shoal.data.schema import Role, Schema
from shoal.methods.catalogue import entry_of
from shoal.methods.method import Method, crowd_of
from shoal.privacy.limits import Limits
from shoal.privacy.promises import Promise

__all__ = ["blanks_of", "crowd", "made", "promise_of", "schema_of"]

_ROLES = {
    PERSON: Role.IDENTIFYING,
    HOUSEHOLD: Role.IDENTIFYING,
    SENSITIVE: Role.SENSITIVE,
    CLASS: Role.INSENSITIVE,
}
"""The roles of columns that are not quasi-identifying."""


def blanks_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The names in parameters that stand for something of the table."""
    text = dumps(parameters)
    return tuple(name for name in BLANKS if name in text)


def made(name: str, parameters: Mapping[str, Any]) -> Method:
    """A method of the catalogue with parameters as a recipe has them."""
    given = dict(parameters)
    if "limits" in given:
        given["limits"] = Limits.each({}, **given["limits"])
    method: Method = entry_of(name).method(**given)
    return method


def schema_of(parameters: Mapping[str, Any]) -> Schema:
    """Columns of a table that fits these parameters, and one that people are known by."""
    names = [name for name in blanks_of(parameters) if name != KNOWN]
    if ITEM in names:  # a row for each item: what is in the lists are items, not columns
        names = [*(name for name in names if name in _ROLES), ITEM]
        trees = {}
    else:
        names.append(KNOWN)
        trees = {KNOWN: build.intervals(0, 99, widths=[10])}
    kinds = dict.fromkeys(names, Kind.TEXT) | dict.fromkeys(trees, Kind.INTEGER)
    return Schema({name: _ROLES.get(name, Role.QUASI) for name in names}, kinds, trees)


def promise_of(name: str, parameters: Mapping[str, Any]) -> Promise:
    """What a method promises of a table with such columns."""
    return _tried(name, dumps(parameters))[0]


def crowd(name: str, parameters: Mapping[str, Any]) -> int | None:
    """About how many records must share a row for it to be released, where that says something."""
    return _tried(name, dumps(parameters))[1]


@cache
def _tried(name: str, written: str) -> tuple[Promise, int | None]:
    parameters = loads(written)
    method, schema = made(name, parameters), schema_of(parameters)
    return method.promise(schema), crowd_of(method, schema)

"""The section of a method as a form has it, and back again.

Names of fields are parts with a colon between them: "o:epsilon", "o:floor:age", "m:0:k". What is
left empty is not in the section, and a "?" if it has to be. Uses `recipe`; the promise screen uses
it.
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from starlette.datastructures import FormData

from shoal.data.schema import Role
from shoal.errors import ParameterError
from shoal.privacy import models
from shoal.recipe.options import FormOption, options
from shoal.recipe.schema import METHODS, MODELS, PLACEHOLDER

__all__ = ["FormColumns", "LimitsForm", "fields_of", "limits_form", "model_rows", "section"]

GIVEN = "given"
"""Chosen where levels are given column by column."""

FORMULA, CLASSES, VALUES = "formula", "classes", "values"
"""How limits can be given."""


@dataclass(frozen=True)
class FormColumns:
    """The columns of a project that options may name.

    heights: the highest level of each column with a hierarchy, and how a value looks at each level
    """

    roles: Mapping[str, str]
    heights: Mapping[str, tuple[str, ...]]

    def having(self, roles: Iterable[Role]) -> list[str]:
        """The columns with one of some roles."""
        wanted = {role.value for role in roles}
        return [name for name, role in self.roles.items() if role in wanted]

    @property
    def released(self) -> list[str]:
        """The columns that may be released."""
        return self.having((Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE))


# From a form to a section


def section(name: str, form: FormData, without: int | None = None) -> dict[str, Any]:
    """The section of a method, from what a form sent, without one of its models if asked for."""
    made: dict[str, Any] = {"name": name}
    for option in options(METHODS, name):
        value = _READERS[option.kind](option, form, f"o:{option.name}")
        if option.kind == "models" and without is not None:
            value = value[:without] + value[without + 1 :]
        if value is None and option.required:
            value = PLACEHOLDER
        if value is not None:
            made[option.name] = value
    return made


def _text(option: FormOption, form: FormData, key: str) -> str | None:
    return _stripped(form, key) or None


def _stripped(form: FormData, key: str) -> str:
    return str(form.get(key, "")).strip()


def _number(option: FormOption, form: FormData, key: str) -> int | float | str | None:
    return number(_stripped(form, key))


def number(text: str) -> int | float | str | None:
    """A number as a recipe has it: exactly what was typed; None for nothing.

    >>> number("3"), number("0.05"), number("1/3"), number(" ")
    (3, 0.05, '1/3', None)
    """
    text = text.strip()
    if not text:
        return None
    if re.fullmatch(r"[0-9]{1,15}", text):
        return int(text)
    plain = re.fullmatch(r"[0-9]+(\.[0-9]+)?(e-?[0-9]{1,3})?", text, re.IGNORECASE)
    # A long decimal would be rounded.
    if plain and 0 < float(text) < 1e15 and Fraction(repr(float(text))) == Fraction(text):
        return float(text)
    return text


def _yes(option: FormOption, form: FormData, key: str) -> bool | None:
    given = _stripped(form, key)
    return None if given not in ("yes", "no") else given == "yes"


def _columns(option: FormOption, form: FormData, key: str) -> list[str] | None:
    return [str(one) for one in form.getlist(key) if one] or None


def _texts(option: FormOption, form: FormData, key: str) -> list[str] | None:
    return lines(_stripped(form, key)) or None


def lines(text: str) -> list[str]:
    """The lines of a text that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _wholes(option: FormOption, form: FormData, key: str) -> Any:
    given = [number(part) for part in _stripped(form, key).split(",") if part.strip()]
    return given[0] if len(given) == 1 else given or None


def _by_column(
    form: FormData, key: str, read: Callable[[str], Any] = number
) -> dict[str, Any] | None:
    """What is given for each of several columns."""
    start = f"{key}:"
    found = {}
    for name, text in form.multi_items():
        value = read(str(text)) if name.startswith(start) else None
        if value is not None:
            found[name.removeprefix(start)] = value
    return found or None


def _levels(option: FormOption, form: FormData, key: str) -> dict[str, Any] | None:
    return _by_column(form, key)


def _choice_or_levels(option: FormOption, form: FormData, key: str) -> Any:
    chosen = _stripped(form, key)
    if chosen == GIVEN:
        return _by_column(form, key) or {}
    return chosen or None


def _weights(option: FormOption, form: FormData, key: str) -> dict[str, Any] | None:
    return weights(form, key)


def weights(form: FormData, key: str) -> dict[str, Any] | None:
    """How sensitive columns are, by one number each; or their values, one line "value = 3" each."""
    found = _by_column(form, key) or {}
    for column, text in (_by_column(form, f"{key}-values", str) or {}).items():
        pairs = _pairs(text)
        if pairs:
            found[column] = pairs
    return found or None


def _pairs(text: str) -> dict[str, Any]:
    """Lines such as "flu = 0.5"."""
    pairs = {}
    for line in lines(text):
        name, _, given = line.rpartition("=")
        pairs[name.strip() or given.strip()] = number(given) if name else PLACEHOLDER
    return pairs


def _wishes(option: FormOption, form: FormData, key: str) -> dict[str, Any] | None:
    found = {}
    for row in _rows(form, "wish"):
        start = f"wish:{row}"
        name = _stripped(form, f"{start}:name")
        if not name:
            continue
        wish = {
            "utility": number(_stripped(form, f"{start}:utility")),
            "weights": weights(form, f"{start}:weights"),
        }
        found[name] = {part: value for part, value in wish.items() if value is not None}
    return found or None


def _rows(form: FormData, start: str) -> list[int]:
    """The numbers of rows that a form has under a name."""
    found = {
        int(match[1]) for name in form if (match := re.match(rf"{start}:([0-9]{{1,4}}):", name))
    }
    return sorted(found)


def _limits(option: FormOption, form: FormData, key: str) -> dict[str, Any] | None:
    way = _stripped(form, "limits:way")
    if way == FORMULA:
        parts = {part: number(_stripped(form, f"limits:{part}")) for part in ("a", "b")}
        made = {part: value for part, value in parts.items() if value is not None}
        return made or None
    others = number(_stripped(form, "limits:others"))
    made = {} if others is None else {"others": others}
    if way == CLASSES:
        classes = {}
        for row in _rows(form, "class"):
            name = _stripped(form, f"class:{row}:name")
            if name:
                limit = number(_stripped(form, f"class:{row}:limit"))
                members = lines(_stripped(form, f"class:{row}:values"))
                classes[name] = {
                    "limit": PLACEHOLDER if limit is None else limit,
                    "values": members,
                }
        return {**made, "classes": classes} if classes else made or None
    values = {}
    for row in _rows(form, "value"):
        name = _stripped(form, f"value:{row}:name")
        if name:
            limit = number(_stripped(form, f"value:{row}:limit"))
            values[name] = PLACEHOLDER if limit is None else limit
    return {**made, "values": values} if values else made or None


def _models(option: FormOption, form: FormData, key: str) -> list[Any]:
    found = []
    for row in _rows(form, "m"):
        name = _stripped(form, f"m:{row}:model")
        if name not in MODELS.names or _stripped(form, f"m:{row}:out"):
            continue
        given: dict[str, Any] = {"model": name}
        for part in options(MODELS, name):
            value = _READERS[part.kind](part, form, f"m:{row}:{part.name}")
            if value is None and part.required:
                value = PLACEHOLDER
            if value is not None:
                given[part.name] = value
        found.append(_short(given))
    added = _stripped(form, "add")
    if added in MODELS.names:
        parts = [part.name for part in options(MODELS, added) if part.required]
        found.append({"model": added, **dict.fromkeys(parts, PLACEHOLDER)})
    return found


def _short(given: dict[str, Any]) -> Any:
    """A model by its short name, where that says all of it."""
    parameters = {name: value for name, value in given.items() if name != "model"}
    if PLACEHOLDER in parameters.values():
        return given
    try:
        model = models.MODELS[given["model"]](**parameters)
        return str(model) if models.parse_model(str(model)) == model else given
    except (ParameterError, TypeError):
        return given


def _steps(option: FormOption, form: FormData, key: str) -> list[Any] | None:
    groups = named_groups(_stripped(form, key))
    return [group[0] if len(group) == 1 else group for group in groups] or None


def _groups(option: FormOption, form: FormData, key: str) -> list[list[str]] | None:
    return named_groups(_stripped(form, key)) or None


def named_groups(text: str) -> list[list[str]]:
    """Groups of names, one per line, with commas between them; quotes hold a name with a comma.

    >>> named_groups('age, sex' + chr(10) + '"a, b"')
    [['age', 'sex'], ['a, b']]
    """
    parsed = csv.reader(lines(text), skipinitialspace=True)
    return [[name.strip() for name in row if name.strip()] for row in parsed]


_READERS: Mapping[str, Callable[[FormOption, FormData, str], Any]] = {
    "number": _number,
    "whole": _number,
    "yes": _yes,
    "choice": _text,
    "column": _text,
    "columns": _columns,
    "texts": _texts,
    "wholes": _wholes,
    "levels": _levels,
    "choice or levels": _choice_or_levels,
    "numbers by column": _levels,
    "weights": _weights,
    "wishes": _wishes,
    "limits": _limits,
    "models": _models,
    "steps": _steps,
    "groups": _groups,
    "file": _text,
}
"""What reads the fields of an option, by its kind."""


# From a section to a form


def fields_of(name: str, given: Mapping[str, Any]) -> list[tuple[FormOption, Any]]:
    """The options of a method with what a section has for them; None for what is not decided."""
    found = []
    for option in options(METHODS, name):
        value = given.get(option.name)
        found.append((option, None if value == PLACEHOLDER else _shown(option, value)))
    return found


def _shown(option: FormOption, value: Any) -> Any:
    """What a section has, as a field shows it."""
    by_name = option.kind in ("levels", "numbers by column", "weights", "wishes")
    if by_name and not isinstance(value, Mapping):
        return {}
    if value is None:
        return None
    if option.kind in ("steps", "groups"):
        return _as_lines(value)
    if option.kind == "texts" and isinstance(value, list):
        return "\n".join(map(str, value))
    if option.kind == "wholes" and isinstance(value, list):
        return ", ".join(map(str, value))
    return value


def _as_lines(groups: Any) -> str:
    """Groups of names as `named_groups` reads them."""
    rows = [[one] if isinstance(one, str) else one for one in groups if isinstance(one, str | list)]
    return "\n".join(", ".join(_quoted(str(name)) for name in row) for row in rows)


def _quoted(name: str) -> str:
    if "," not in name and '"' not in name:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


@dataclass(frozen=True)
class LimitsForm:
    """Limits of sensitive values as a form has them."""

    way: str
    a: Any = None
    b: Any = None
    others: Any = None
    values: tuple[tuple[str, Any], ...] = ()
    classes: tuple[tuple[str, Any, str], ...] = ()


def limits_form(given: Any) -> LimitsForm:
    """The limits of a section for a form."""
    known = dict(given) if isinstance(given, Mapping) else {}
    others = known.get("others")
    formula = others if isinstance(others, Mapping) else known
    if "a" in formula or "b" in formula:
        return LimitsForm(FORMULA, formula.get("a"), formula.get("b"))
    classes = known.get("classes")
    if isinstance(classes, Mapping) and classes:
        rows = []
        for name, one in classes.items():
            parts = one if isinstance(one, Mapping) else {}
            members = "\n".join(map(str, parts.get("values", ())))
            rows.append((str(name), _decided(parts.get("limit")), members))
        return LimitsForm(CLASSES, others=others, classes=tuple(rows))
    values = known.get("values")
    pairs = values.items() if isinstance(values, Mapping) else ()
    return LimitsForm(
        VALUES, others=others, values=tuple((str(name), _decided(one)) for name, one in pairs)
    )


def _decided(value: Any) -> Any:
    return None if value == PLACEHOLDER else value


def model_rows(given: Any) -> list[tuple[str, list[tuple[FormOption, Any]]]]:
    """The models of a section, each with its options; what is not a model is left out."""
    rows = []
    for one in given if isinstance(given, list) else ():
        name, parameters = _model(one)
        if name in MODELS.names:
            parts = [(part, _decided(parameters.get(part.name))) for part in options(MODELS, name)]
            rows.append((name, parts))
    return rows


def _model(given: Any) -> tuple[str, Mapping[str, Any]]:
    """The name and the parameters of a model, which may be written by its short name."""
    if isinstance(given, Mapping):
        return str(given.get("model", "")), given
    try:
        model: Any = models.parse_model(str(given))
    except ParameterError:
        return "", {}
    parts = {name: _plain(value) for name, value in vars(model).items() if value is not None}
    return model.name, parts


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value) if value.denominator > 1 else value.numerator
    return value

"""A recommendation as a recipe has it, as commands, and as Python code.

Uses the answers and `data` for TOML; `recommending` gives what it writes to the doors.
"""

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

from shoal.choosing.deciding import SHARES, TOTALS, delta_of
from shoal.choosing.questions import UNKNOWN, Answers
from shoal.data import toml
from shoal.exact.numbers import short

__all__ = [
    "audit_commands",
    "audit_python",
    "recipe_lines",
    "release_commands",
    "release_python",
]

LEDGER = "people.ledger"


def recipe_lines(name: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The section `[method]` of a recipe."""
    lines = [f"{key} = {_toml(value)}" for key, value in parameters.items()]
    return ("[method]", f"name = {toml.quoted(name)}", *lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml.quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        pairs = ", ".join(f"{toml.key(name)} = {_toml(one)}" for name, one in value.items())
        return f"{{ {pairs} }}"
    return str(value)


def release_commands(answers: Answers, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """From a table to a release that is verified."""
    return tuple(_release_commands(answers, parameters))


def _release_commands(answers: Answers, parameters: Mapping[str, Any]) -> Iterator[str]:
    ledger = ""
    if answers.before != "once":
        ledger = f" --ledger {LEDGER}"
        yield f"shoal ledger create {LEDGER}{_limits(answers, parameters)}"
    yield "shoal recipe new FILE --out recipe.toml"
    yield "shoal recipe check recipe.toml"
    yield f"shoal release recipe.toml --out released{ledger}"
    yield "shoal verify released/certificate.json released/release.csv --recipe recipe.toml"


def _limits(answers: Answers, parameters: Mapping[str, Any]) -> str:
    """What a ledger refuses to go beyond."""
    if "epsilon" in parameters:
        epsilon = TOTALS[answers.who or UNKNOWN]
        delta = delta_of(answers) / SHARES[answers.before or UNKNOWN]
        return f" --epsilon {epsilon} --delta {short(delta)}"
    return " --gamma 1/2" if answers.harm == "value" else ""


def audit_commands(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """From a table to its first answer."""
    dither = " --dither" if parameters["dither"] else ""
    unit = f" --unit {parameters['unit']}" if "unit" in parameters else ""
    column, aggregate = parameters["column"], parameters["aggregate"]
    return (
        f"shoal audit new FILE --column {column} --aggregate {aggregate}{dither} "
        f"--bounds LOW HIGH --width WIDTH{unit}",
        f'shoal audit ask "{aggregate}({column})"',
    )


def release_python(name: str, parameters: Mapping[str, Any], answers: Answers) -> str:
    """A method with its parameters, and its release of a `table`."""
    given = [f"    {key}={_python(key, value)},\n" for key, value in parameters.items()]
    releasing = 'release = method.release(table)\nrelease.write("released")'
    if answers.before != "once":
        releasing = f'release = shoal.Ledger("{LEDGER}").release(method, table, "released")'
    return f"import shoal\n\nmethod = shoal.{name}(\n{''.join(given)})\n{releasing}\n"


def _python(key: str, value: Any) -> str:
    if key == "limits":
        return f"shoal.Limits.each({{}}, others={dumps(value['others'])})"
    return str(value) if isinstance(value, bool) else dumps(value)


def audit_python(parameters: Mapping[str, Any]) -> str:
    """A `table` under audit."""
    unit = f", unit={dumps(parameters['unit'])}" if "unit" in parameters else ""
    dither = ", dither=True" if parameters["dither"] else ""
    column, family = dumps(parameters["column"]), dumps(parameters["aggregate"])
    return (
        "import shoal\nfrom shoal.audit import Secret\n\n"
        f"secret = Secret({column}, {family}, low=LOW, high=HIGH, width=WIDTH{dither})\n"
        f'audit = shoal.Audit.new("people.audit", table, secret, public=["KNOWN"]{unit})\n'
    )

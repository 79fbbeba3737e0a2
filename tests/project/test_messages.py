"""Messages fit the door they are read at: no spelling of Python, and no sentence of a library, at
the command line.

All error texts of the source are looked at as they would be shown there. Those that only a program
can cause are listed.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.cli.options import as_options, keys_of
from shoal.errors import ParameterError, ShoalError, spelled
from shoal.ledger import Ledger
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub

SOURCE = Path(shoal.__file__).parent
PYTHON = re.compile(
    r"\w=[\[{'\"]"  # quasi=['age'], types={…}, root='*'
    r"|(?<![\w/])[A-Z]\w*\.[a-z]\w+"  # Limits.eligibility
    r"|(?<![\w/.-])shoal\.[a-z]\w*"  # shoal.table
    r"|\[[A-Z]\w+\("  # [KAnonymity(5)]
    r"|=(?:True|False|None)\b"
)
BY_PROGRAMS = (  # the command line cannot cause these: it never passes such an argument
    "models are a list of at least one",
    "declare it where it holds: `Predicate.refuted` tries",
    "make them with `Limits.classes`",
    "give one for each choice, such as",
    "make a Table of it with shoal.table",
    "write the release with Release.write",
    "call Lattice.groups with a node",
    "make one with Epsilon.of",
)


@cache
def texts() -> list[tuple[str, str]]:
    """Every text that an error is made with, and where; what is filled in is a name or a number."""
    return list(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node).endswith("Error"):
                for text in filter(None, map(_filled, node.args)):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def _filled(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            parts.append("'x'" if value.conversion == ord("r") else "x")
    return "".join(parts)


def shows_python(text: str) -> bool:
    return PYTHON.search(spelled(text, as_options({}))) is not None


def wrong(messages: Iterable[tuple[str, str]]) -> list[str]:
    """The texts that would show Python at the command line."""
    return [
        f"{place} {text}"
        for place, text in messages
        if shows_python(text) and not any(known in text for known in BY_PROGRAMS)
    ]


def test_no_error_shows_python_at_the_command_line() -> None:
    messages = texts()
    assert len(messages) > 500
    assert not wrong(messages)


def test_every_exception_is_still_needed() -> None:
    python = [text for _, text in texts() if shows_python(text)]
    assert not [known for known in BY_PROGRAMS if not any(known in text for text in python)]


@pytest.mark.parametrize(
    "text",
    [
        "declare it, as in types={'age': 'date'}",
        "raise it (`Limits.eligibility` tells which)",
        "give it one (shoal.hierarchy.suppress makes the simplest)",
        "such as [KAnonymity(5)]",
        "use missing=None",
    ],
)
def test_a_text_that_showed_python_would_be_noticed(text: str) -> None:
    assert wrong([("here", text)])


def test_a_message_names_options_as_they_are_typed() -> None:
    spelling = as_options({"quasi": "--quasi", "k": "--k"})
    example = "name them, as in `quasi=['age', 'sex']`"
    assert spelled(example, spelling) == "name them, as in --quasi age,sex"
    assert spelled("give `k` too", spelling) == "give --k too"
    assert spelled("`solver='optimal'` needs SciPy", spelling) == "solver optimal needs SciPy"
    assert spelled("--type age=integer", spelling) == "--type age=integer"
    error = ParameterError("is out of range", "it takes 1 or more", option="k", given="0")
    assert error.told(spelling) == "--k 0 is out of range; it takes 1 or more"


def test_a_message_about_a_file_has_its_keys_as_toml_has_them() -> None:
    with (
        pytest.raises(ShoalError, match=r"views\.toml: take how = 'exact', or more"),
        keys_of(Path("views.toml")),
    ):
        raise ParameterError("take `how='exact'`, or more")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("assess x.csv -q age --min-k five", "--min-k five: it takes a whole number"),
        ("assess x.csv -q age --min-k=5.5", "--min-k 5.5: it takes a whole number"),
        ("serve --port 99999", "--port 99999: it takes 65535 or less"),
        ("serve --rate 0", "--rate 0: it takes 0.001 or more"),
        ("serve --rate quick", "--rate quick: it takes a number"),
        (
            "audit new x.csv -c a --strategy any",
            "it takes one of 'binding', 'simulatable', 'simple';",
        ),
        ("audit new x.csv -c a --bounds 1", "--bounds: it takes 2 values"),
        ("assess x.csv -q", "-q: it takes a value"),
        ("assess x.csv --json=3", "--json: it takes no value"),
        ("assess x.csv --quas age", "--quas: there is no such option (did you mean --quasi"),
        ("--bogus", "--bogus: there is no such option"),
        ("asess x.csv", "'asess': there is no such command (did you mean assess?)"),
        ("ledger shw", "'shw': there is no such command (did you mean show?)"),
        ("assess", "FILE is missing"),
        ("verify a b c d e", "too many"),
    ],
)
def test_what_cannot_be_parsed_is_reported_in_our_words(typed: str, told: str) -> None:
    result = CliRunner().invoke(app, typed.split())
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.startswith("error: ")
    assert "--help shows more" in result.stderr
    for theirs in ("Input should", "Invalid value", "Value error", "valid integer", "╭"):
        assert theirs not in result.stderr


@pytest.mark.parametrize("delta", [-1, 1, 2, "many"])
def test_delta_has_one_range(tmp_path: Path, delta: object) -> None:
    above, zero = set(), set()
    with pytest.raises(ParameterError) as error:
        SafePub(epsilon=1, delta=delta)  # type: ignore[arg-type]
    above.add(str(error.value))
    with pytest.raises(ParameterError) as error:
        NoisyCounts(epsilon=1, delta=delta, levels={})  # type: ignore[arg-type]
    zero.add(str(error.value))
    with pytest.raises(ParameterError) as error:
        Ledger.create(tmp_path / "a.ledger", epsilon=1, delta=delta)  # type: ignore[arg-type]
    zero.add(str(error.value))
    [told] = above
    assert told.endswith(
        "a number above 0 and below 1, far below 1 / (number of people), such as 1e-6"
    )
    assert zero == {told.replace("above 0", "from 0")}

"""Verification shares no code with what it checks.

Everything of Shoal that its modules import is listed here, wherever the import stands. From
`privacy` these are `promises` and `limits`: a promise is a value whose parts are read off the
certificate, and whose words are compared with those there. `limits` has the promise of buckets, and
is used for its words only; the limits that buckets are checked by are read off the certificate
once more. The names of models are not imported: verification names and checks them anew. `look`
shows a verdict in notebooks, and knows nothing of what it shows.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal

PACKAGE = Path(shoal.__file__).parent / "releases" / "verification"

USED = (
    "shoal.__version__",
    "shoal.arguments",
    "shoal.data",
    "shoal.errors",
    "shoal.exact.numbers.printed",
    "shoal.look",
    "shoal.privacy.limits",
    "shoal.privacy.promises",
    "shoal.releases.certificate",
    "shoal.releases.looking",
    "shoal.releases.sealed",
    "shoal.releases.verification",
)
"""What modules of verification may use, with all that is inside."""


def imported(path: Path) -> Iterator[str]:
    """Every name that a module imports, at its top or late, or by a call with its name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            # Relative imports are not used; a name with a dot is not in the list.
            place = "." * node.level + (node.module or "")
            yield from (f"{place}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Call):
            texts = [part.value for part in node.args if isinstance(part, ast.Constant)]
            yield from (text for text in texts if isinstance(text, str) and is_of_shoal(text))


def is_of_shoal(name: str) -> bool:
    return name.startswith((".", "shoal.")) or name == "shoal"


def foreign(folder: Path) -> list[str]:
    """The imports from Shoal that are not in the list."""
    names = []
    for path in sorted(folder.rglob("*.py")):
        for name in imported(path):
            allowed = any(name == used or name.startswith(f"{used}.") for used in USED)
            if is_of_shoal(name) and not allowed:
                names.append(f"{path.name}: {name}")
    return names


def test_verification_shares_no_code_with_what_it_checks() -> None:
    assert len(list(PACKAGE.rglob("*.py"))) > 10
    assert foreign(PACKAGE) == []


@pytest.mark.parametrize(
    "line",
    [
        "import shoal.methods.safepub",
        "import shoal",
        "from shoal import KAnonymity",
        "from shoal.methods import Method",
        "from shoal.privacy import models",
        "from shoal.privacy.models import MODELS",
        "from shoal.privacy import safepub_parameters",
        "from shoal.privacy.calculus import delta_for",
        "from shoal.measure import risk",
        "from shoal.lattice.rollup import Lattice",
        "from shoal.counts import Counts",
        "from shoal.exact.epsilon import Epsilon",
        "from shoal.exact import numbers",
        "from ...privacy.models import MODELS",
        "from .. import layout",
        "import importlib; importlib.import_module('shoal.privacy.calculus')",
        "__import__('shoal.methods')",
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_twin_that_does_is_noticed(line: str, late: bool, tmp_path: Path) -> None:
    indented = f"def late():\n    {line}\n" if late else f"{line}\n"
    (tmp_path / "numbers.py").write_text(f'"""A twin."""\n{indented}', encoding="utf-8")
    (tmp_path / "words.py").write_text("from shoal.errors import listed\n", encoding="utf-8")
    assert len(foreign(tmp_path)) == 1

"""Every method has one check, and nothing but its own module knows its name."""

import ast
import json
from dataclasses import fields
from pathlib import Path

import pytest

from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.privacy.limits import BucketLimits
from shoal.releases.verification import verify
from shoal.releases.verification.catalogue import CHECKS
from shoal.releases.verification.promised import PROMISES
from tests.releases.verification.forging import forge, put
from tests.releases.verification.test_independence import PACKAGE


def test_every_method_has_a_check() -> None:
    assert set(CHECKS) == set(CATALOGUE)
    assert all(check.name == name for name, check in CHECKS.items())


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_check_knows_the_parameters_of_its_method(name: str) -> None:
    parameters = [field.name for field in fields(entry_of(name).method)]
    assert sorted(CHECKS[name].parameters.split()) == sorted(parameters)


def test_every_promise_is_that_of_some_method() -> None:
    promised = {promise for check in CHECKS.values() for promise in check.promises}
    assert promised == set(PROMISES)
    assert BucketLimits.name in promised


def test_an_unknown_method_is_named_beside_those_that_are_known(
    written: tuple[Path, Path],
) -> None:
    paper, table = written
    forge(paper, put("method", "magic"))
    (fault,) = verify(paper, table)
    assert fault.startswith("the certificate names the method magic, and whether it keeps its ")
    assert all(repr(name) in fault for name in CHECKS)


def branches(source: str) -> list[str]:
    """The names of methods that a module compares something with, or looks up."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare | ast.Subscript | ast.Dict | ast.match_case):
            constants = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            names += [name for name in constants if isinstance(name, str) and name in CHECKS]
    return names


OTHER_MEANINGS = {
    "buckets.py": ["optimal"],
    "columns.py": ["optimal"],
}
"""A solver and a composition, which are called as a method is."""


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_no_module_branches_on_the_name_of_a_method(path: Path) -> None:
    names = branches(path.read_text(encoding="utf-8"))
    assert names == OTHER_MEANINGS.get(path.name, [])


@pytest.mark.parametrize(
    "line",
    [
        'if paper.method == "safepub": pass',
        'if paper.method in ("coincident", "mondrian"): pass',
        'CHECKS["personal"]',
        '{"optimal": 1}.get(method)',
        'match method:\n    case "columns": pass',
    ],
)
def test_a_twin_that_does_is_noticed(line: str) -> None:
    assert branches(line)


def test_a_certificate_says_nothing_that_its_check_does_not_know(
    written: tuple[Path, Path],
) -> None:
    content = json.loads(written[0].read_text(encoding="utf-8"))
    check = CHECKS[content["method"]]
    assert sorted(content["parameters"]) == sorted(check.parameters.split())
    assert set(content["derived"]) <= set(check.derived.split())

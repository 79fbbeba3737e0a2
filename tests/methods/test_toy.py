"""A method is one thing: a small one, with its entry and its check, works everywhere without
touching any other file.

It is registered as a real one would be: its module, one line in the catalogue, one in that of
`verification`.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.arguments import keep, typed
from shoal.chance import Chance
from shoal.cli.app import app
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.schema import Role, Schema
from shoal.data.tables import Table
from shoal.exact.numbers import whole
from shoal.lattice import Lattice
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import AsViews, Entry
from shoal.methods.method import (
    Method,
    Progress,
    begin,
    conjunction,
    protected,
    searched,
    syntactic,
)
from shoal.privacy.models import KAnonymity, Model, bound, holds_all
from shoal.privacy.promises import Syntactic
from shoal.releases.certificate import certify
from shoal.releases.facts import KeptFacts
from shoal.releases.layout import assemble
from shoal.releases.release import Release
from shoal.releases.verification.catalogue import CHECKS
from shoal.releases.verification.claims import Claims
from shoal.releases.verification.levels import has_level_of_each
from shoal.releases.verification.method import MethodCheck, OpenEnd
from tests.methods import test_conformance as suite
from tests.methods.examples import BOTH, people

# The method: what would be shoal/methods/even.py


@typed
@dataclass(frozen=True, init=False)
class Even:
    """Every quasi-identifying column the same number of levels up; groups that fail a model are
    left out.
    """

    models: tuple[Model, ...]
    steps: int
    unit: str | None

    name: ClassVar[str] = "even"

    def __init__(
        self, models: Sequence[Model | str], steps: int = 1, unit: str | None = None
    ) -> None:
        keep(self, models=conjunction(models), steps=whole(steps, "steps", 0), unit=unit)

    def promise(self, schema: Schema) -> Syntactic:
        """Every group satisfies the models."""
        return syntactic(self.models, schema, self.unit)

    def searched(self, schema: Schema) -> Mapping[str, range]:
        """The one level of every column."""
        trees = {name: schema.hierarchies[name] for name in schema.having(Role.QUASI)}
        return {
            name: range(self._level(tree), self._level(tree) + 1) for name, tree in trees.items()
        }

    def _level(self, tree: Hierarchy) -> int:
        return min(self.steps, tree.height)

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        """The table at these levels."""
        job = begin(self, table, chance, progress)
        models = tuple(bound(model, job.table) for model in self.models)
        trees = {name: job.table.hierarchy(name) for name in job.table.quasi}
        levels = {name: self._level(tree) for name, tree in trees.items()}
        job.progress(0, 1, "counting rows")
        lattice = Lattice(job.table.count([*trees, *protected(models)]), trees)
        groups = lattice.groups(tuple(levels.values()))
        kept = holds_all(models, groups)
        records = int(groups.sizes[kept].sum())
        facts = KeptFacts(
            records=job.rows,
            suppressed=job.rows - records,
            kept=records,
            groups=int(kept.sum()),
        )
        job.progress(1, 1, "counting rows")
        return Release(
            assemble(job.table, groups, kept),
            certify(job.table, self, job.promise, job.chance, levels=levels),
            facts,
        )


ENTRY = Entry(
    method=Even,
    summary="all columns equally coarse",
    draft=('models = ["?"]', "steps = 1  # how many levels up"),
    public_algorithm=False,
    subset=True,
    as_views=AsViews(),
)

# Its check: what would be shoal/releases/verification/even.py


@dataclass(frozen=True)
class EvenClaim:
    """What a certificate of this method says."""

    claims: Claims
    steps: int


def parse(claims: Claims) -> EvenClaim:
    return EvenClaim(claims, int(claims.parameters.number("steps")))


def derivation(claim: EvenClaim) -> Iterator[str]:
    yield from has_level_of_each(claim.claims.levels, claim.claims.quasi)
    if any(level > claim.steps for level in claim.claims.levels.values()):
        yield "a level is higher than the steps allow"


def trusted(claim: EvenClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    return iter(())


def free(claim: EvenClaim) -> Iterator[str]:
    return iter(())


CHECK = MethodCheck(
    name="even",
    promises=(Syntactic.name,),
    parameters="models steps unit",
    parse=parse,
    derivation=derivation,
    trusted=trusted,
    free=free,
)

# The two lines in catalogues


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "shoal.methods.even", sys.modules[__name__])
    monkeypatch.setitem(CATALOGUE, "even", "even.ENTRY")
    monkeypatch.setitem(CHECKS, "even", CHECK)
    yield
    entry_of.cache_clear()


# The whole conformance suite

METHODS: dict[str, Method] = {"even": Even(BOTH)}

globals().update(
    {
        name: test
        for name, test in vars(suite).items()
        if name.startswith("test_") and "method" in signature(test).parameters
    }
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The suite's tests run for this method alone."""
    if "tables" in metafunc.fixturenames:
        metafunc.parametrize(("method", "tables"), [(each, people) for each in METHODS.values()])
    elif "method" in metafunc.fixturenames:
        metafunc.parametrize("method", METHODS.values(), ids=METHODS)


def test_the_suite_runs_here() -> None:
    here = [name for name in globals() if name.startswith("test_") and hasattr(suite, name)]
    assert len(here) > 20


# The doors

RECIPE = """
[source]
path = "people.csv"
[roles]
age = "quasi"
sex = "quasi"
ill = "sensitive"
[hierarchies.age]
build = "intervals"
low = 0
high = 99
widths = [10, 50]
[hierarchies.sex]
build = "suppress"
values = ["f", "m"]
[method]
name = "even"
models = ["3-anonymity"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe and its table; also the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    rows = [f"{20 + i % 40},{'fm'[i % 2]},{'ab'[i % 3 > 0]}" for i in range(120)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n")
    (tmp_path / "people.toml").write_text(RECIPE)
    return tmp_path


def run(*words: str) -> Result:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.stderr
    return done


def test_a_recipe_releases_verifies_judges_and_compares_with_it(folder: Path) -> None:
    assert "3-anonymity" in run("recipe", "check", "people.toml").stdout
    said = run("release", "people.toml", "--out", "out").stderr
    assert "owner only: 120 of 120 records kept (100 %), in 4 groups" in said
    assert "lattice: 1 node" in said
    assert "shoal judge" in said
    run("verify", "out/certificate.json", "out/release.csv")
    assert "100 %" in run("judge", "people.toml", "--release", "out").stdout
    files = ("people.csv", "out/release.csv")
    assert "loss" in run("compare", *files, "--recipe", "people.toml").stdout


def test_a_draft_and_a_preview_know_it(folder: Path) -> None:
    run("recipe", "new", "people.csv", "--method", "even", "--out", "draft.toml")
    assert "all columns equally coarse" in (folder / "draft.toml").read_text()
    assert run("preview", "people.toml").stdout


def test_a_mistake_in_a_recipe_is_told_by_its_key(folder: Path) -> None:
    (folder / "people.toml").write_text(RECIPE + "steps = -1\n")
    done = CliRunner().invoke(app, ["release", "people.toml", "--out", "out"])
    assert "method.steps = -1 is out of range" in done.stderr


def test_a_ledger_enters_it_and_its_releases_are_views(tmp_path: Path) -> None:
    ledger = shoal.Ledger.create(tmp_path / "own.ledger", gamma="0.9")
    release = ledger.release(Even(BOTH), people())
    assert release.entry is not None
    assert release.entry.together is not None


def test_the_levels_that_are_searched_are_asked_of_it() -> None:
    method: Any = Even([KAnonymity(3)], 9)
    assert searched(method, people().schema) == {"age": range(2, 3), "town": range(2, 3)}

"""`judge`, `compare`, `certificate`, `attack` and `verify` take the releases of every method, or
say why not in one sentence.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.methods.entry import Entry
from tests.cli.catalogued import SECTIONS, write_recipe


class Released:
    """A release by a recipe, and commands on it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.entry: Entry = entry_of(name.partition(",")[0])
        self.folder = folder
        self.recipe = write_recipe(folder, name)
        self.run("release", self.recipe, "--out", self.made, refused="")

    @property
    def made(self) -> Path:
        return self.folder / "made"

    def run(self, *arguments: object, refused: str) -> str:
        """The output of a command, which ends well, or with one sentence where it is refused."""
        done = CliRunner().invoke(app, list(map(str, arguments)))
        assert done.exit_code == (2 if refused else 0), done.output
        if refused:
            assert done.stdout == ""
            said = " ".join(done.stderr.split())
            if "--json" in arguments:
                said = f"error: {json.loads(said)['error']['message']}"
            assert said == f"error: this is a release by {self.entry.name}: {refused}"
        return done.stdout


@pytest.fixture(scope="module", params=list(SECTIONS))
def released(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Released:
    return Released(tmp_path_factory.mktemp("made"), request.param)


def test_every_method_of_the_catalogue_has_a_recipe() -> None:
    assert {name.partition(",")[0] for name in SECTIONS} == set(CATALOGUE)


def test_judge_takes_every_release_or_says_why_not(released: Released) -> None:
    arguments = ("judge", released.recipe, "--release", released.made, "--queries", "5", "--json")
    refused = released.entry.not_judged
    output = released.run(*arguments, refused=refused)
    if not refused:
        judgement = json.loads(output)
        assert judgement["not_for_release"] is True
        assert judgement["method"] == released.entry.name
        assert judgement["records"] == 60


def test_compare_takes_every_release_or_says_why_not(released: Released) -> None:
    tables = (released.folder / "people.csv", released.made / "release.csv")
    refused = released.entry.not_compared
    arguments = ("compare", *tables, "--recipe", released.recipe, "--json")
    output = released.run(*arguments, refused=refused)
    if not refused:
        other = json.loads(output)["b"]
        assert other["records"] > 0
        assert not other["loss_unknown"]
        if not released.entry.subset:
            # Nobody is left out, and a row of "*" is somebody.
            assert (other["records"], other["suppressed"]) == (60, 0)


def test_every_release_is_among_those_compared_or_says_why_it_is_not_ranked(
    released: Released,
) -> None:
    source = released.folder / "people.csv"
    for options in (("--recipe", released.recipe), ()):
        found = json.loads(
            released.run("compare", source, released.made, *options, "--json", refused="")
        )
        [release] = found["releases"]
        assert release["method"] == released.entry.name
        assert release["promise"]
        if released.entry.not_compared:
            assert (release["k"], release["unbeaten"]) == (None, None)
            assert release["unranked"]
        else:
            assert release["unbeaten"] is True
            assert release["losses"][found["by"]["loss"]] >= 0


def test_a_certificate_is_shown_again_as_it_was_printed(released: Released) -> None:
    printed = released.run(
        "release", released.recipe, "--out", released.folder / "again", refused=""
    )
    shown = released.run("certificate", released.folder / "again", refused="")
    assert shown.startswith(printed.strip())


def test_attack_takes_every_release_or_says_why_not(released: Released) -> None:
    arguments = ("attack", released.made, "--recipe", released.recipe, "--tries", "5", "--json")
    refused = released.entry.not_attacked
    if refused or not released.entry.proof:
        output = released.run(*arguments, refused=refused)
        assert refused or json.loads(output)["not_for_release"] is True
        return
    # What is proven for all tables is attacked on small ones.
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0 or f"docs: proofs/{released.entry.proof}" in done.stderr


def test_verify_takes_every_release(released: Released) -> None:
    files = (released.made / "certificate.json", released.made / "release.csv")
    output = released.run("verify", *files, "--recipe", released.recipe, "--json", refused="")
    assert json.loads(output)["holds"] is True


def test_rows_with_counts_are_compared_as_that_many_records(tmp_path: Path) -> None:
    counted = Released(tmp_path, "noisy-counts, counted")
    tables = (counted.folder / "people.csv", counted.made / "release.csv")
    arguments = ("compare", *tables, "--recipe", counted.recipe, "--json")
    other = json.loads(counted.run(*arguments, refused=""))["b"]
    judged = ("judge", counted.recipe, "--release", counted.made, "--json")
    assert other["records"] == json.loads(counted.run(*judged, refused=""))["kept"]

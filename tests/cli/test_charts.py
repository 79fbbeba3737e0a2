"""`--chart`: commands draw what they show; the owner's charts stay away from releases."""

from pathlib import Path

import pytest

from shoal.look import Zone
from tests.cli.shell import refused, run

ASSESS = ("assess", "people.csv", "--quasi", "age,sex")
JUDGE = ("judge", "recipe.toml", "--release", "out")
COMPARE = ("compare", "people.csv", "out", "--recipe", "recipe.toml")
TWO = ("compare", "people.csv", "out/release.csv", "--recipe", "recipe.toml")
EXPLAIN = ("explain", "--epsilon", "1", "--delta", "1e-6")
COUNTS = (*EXPLAIN, "--counts", "5")
OWNERS = [ASSESS, JUDGE, COMPARE, TWO]


@pytest.fixture
def released(folder: Path) -> Path:
    """A recipe, its table and its release in `out`."""
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    return folder


@pytest.mark.parametrize("command", OWNERS)
def test_charts_of_an_input_are_marked(released: Path, command: tuple[str, ...]) -> None:
    result = run(*command, "--chart", "chart.svg")
    assert result.exit_code == 0, result.output
    assert "wrote chart.svg, which is not for release" in result.stderr
    assert Zone.OWNER.words in (released / "chart.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", OWNERS)
def test_charts_of_an_input_are_refused_beside_a_release(
    released: Path, command: tuple[str, ...]
) -> None:
    assert "where a release is" in refused(*command, "--chart", "out/chart.svg")


@pytest.mark.parametrize("command", [EXPLAIN, COUNTS])
def test_explanations_may_be_published(folder: Path, command: tuple[str, ...]) -> None:
    result = run(*command, "--chart", "chart.svg")
    assert result.exit_code == 0, result.output
    assert "not for release" not in result.stderr
    assert Zone.OWNER.words not in (folder / "chart.svg").read_text(encoding="utf-8")


def test_a_chart_that_exists_is_overwritten_only_if_asked(folder: Path) -> None:
    (folder / "chart.svg").write_text("mine")
    assert "exists already" in refused(*EXPLAIN, "--chart", "chart.svg")
    assert run(*EXPLAIN, "--chart", "chart.svg", "--force").exit_code == 0
    assert "is not a name for a chart" in refused(*EXPLAIN, "--chart", "chart.txt")

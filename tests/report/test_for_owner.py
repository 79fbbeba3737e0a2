"""The owner's report is marked everywhere, and what cannot be computed says why."""

import re
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import ColumnError
from shoal.ledger import Ledger
from shoal.look import Zone
from shoal.methods.catalogue import entry_of
from shoal.recipe import Recipe
from shoal.report import Reported, owner, public
from shoal.report.for_owner import OWN
from tests.cli.catalogued import SECTIONS, write_recipe
from tests.methods.examples import AGES


def reported(folder: Path, name: str, more: str = "") -> Reported:
    """A release by a recipe, with all that its owner has."""
    path = write_recipe(folder, name)
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    recipe = Recipe.load(path)
    recipe.release(recipe.table(), folder / "made")
    return Reported.read(folder / "made", recipe, queries=5)


def unmarked(page: str) -> list[str]:
    """The owner's sections that do not carry the mark."""
    parts = re.findall(r'<section[^>]*id="([\w-]+)"[^>]*>(.*?)</section>', page, re.DOTALL)
    found = dict(parts)
    assert found.keys() >= OWN.keys()
    badge = Zone.OWNER.badge()
    return [name for name in OWN if badge not in found[name].partition("</h2>")[0]]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", SECTIONS)
def test_every_method_has_an_owners_report(name: str, tmp_path: Path) -> None:
    subject = reported(tmp_path, name)
    page = owner(subject)
    assert page.count(Zone.OWNER.words) >= 3  # both bands, and every printed sheet
    assert not unmarked(page)
    assert "not for" not in page
    entry = entry_of(name.partition(",")[0])
    if entry.not_judged:
        assert page.count(entry.not_judged[:40]) >= 3
    else:
        assert "of 60 records are in the release" in page
    assert "Private Person" not in page


def test_a_section_without_the_mark_would_be_noticed() -> None:
    badge = Zone.OWNER.badge()
    page = "".join(f'<section id="{name}"><h2>x {badge}</h2></section>' for name in OWN)
    assert not unmarked(page)
    assert unmarked(page.replace(badge, "", 1)) == ["kept"]


@pytest.mark.usefixtures("undrawn")
def test_the_ledger_is_added_up(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "ledger.db", epsilon=2, delta="0.6", witness=False)
    page = owner(reported(tmp_path, "noisy-counts", '[ledger]\npath = "ledger.db"\n'))
    assert "is left of a budget of ε 2, δ 0.6" in page
    assert "(this one)" in page


@pytest.mark.usefixtures("undrawn")
def test_without_a_recipe_the_report_says_what_is_missing() -> None:
    people = shoal.demo.table(rows=300)
    made = shoal.Optimal([shoal.KAnonymity(5)]).release(people)
    page = owner(Reported(made, table=people))
    assert "The recipe is not at hand" in page
    assert "What was spent in all is not known" in page
    bare = owner(Reported(made))
    assert "The input is not at hand" in bare


@pytest.mark.usefixtures("undrawn")
def test_a_recipe_that_was_changed_is_a_concern(tmp_path: Path) -> None:
    subject = reported(tmp_path, "optimal")
    changed = Recipe(subject.recipe.path, subject.recipe.content, "0" * 64)  # type: ignore[union-attr]
    page = owner(Reported.read(tmp_path / "made", changed))
    assert "made by another recipe" in page


@pytest.mark.usefixtures("undrawn")
def test_an_empty_release_has_reports_too() -> None:
    frame = pl.DataFrame({"age": [31, 42, 53]})
    people = shoal.table(frame, quasi=["age"], hierarchies={"age": AGES})
    made = shoal.NoisyCounts("0.5", "1e-6", levels={}).release(people)
    assert not len(made.table)
    reported = Reported(made, table=people)
    assert "The release has no records" in public(reported.published)
    assert "0 of 3 records are in the release" in owner(reported)


def test_a_journalist_is_not_told_by_rows_where_people_have_several() -> None:
    rows = {"who": [f"p{i // 2}" for i in range(80)], "age": [31] * 40 + [42] * 40}
    people = shoal.table(
        pl.DataFrame(rows), identifying=["who"], quasi=["age"], hierarchies={"age": AGES}
    )
    made = shoal.Optimal([shoal.KAnonymity(3)], unit="who").release(people)
    subject = Reported(made, table=people)
    assert subject.before is not None
    assert (subject.before.person, subject.before.people) == ("who", 40)
    assert subject.after is not None
    assert subject.after.people == 40
    assert subject.after.journalist is None


def test_a_journalist_does_not_know_who_was_drawn(tmp_path: Path) -> None:
    # Numbers are written to files in other words than those of a table: 1.0 and 1.
    rows = {"sex": ["f", "m"] * 200, "size": [1.0, 1.5] * 200}
    people = shoal.table(pl.DataFrame(rows), quasi=["sex", "size"])
    shoal.RandomSample("1/10").release(people).write(tmp_path)
    subject = Reported(shoal.Release.read(tmp_path), table=people)
    assert subject.after is not None
    assert subject.after.journalist is not None
    assert subject.after.journalist.highest == 1 / 200
    assert subject.after.prosecutor.highest > 1 / 200


def test_an_owners_report_has_drawings(tmp_path: Path) -> None:
    page = owner(reported(tmp_path, "safepub"))
    assert page.count("<svg") > 8
    assert "journalist" in page
    assert "they are simulations for the owner" in page


def section_of(page: str, name: str) -> str:
    """A section of a page."""
    [found] = re.findall(rf'<section[^>]*id="{name}"[^>]*>(.*?)</section>', page, re.DOTALL)
    return str(found)


@pytest.mark.usefixtures("undrawn")
def test_levels_of_noisy_counts_are_compared_by_the_rows_that_are_likely_to_be_released(
    tmp_path: Path,
) -> None:
    subject = reported(tmp_path, "noisy-counts")
    half = subject.certificate.derived["half"]
    lattice = section_of(owner(subject), "lattice")
    assert f"groups that fail {half}-anonymity are suppressed" in lattice
    assert f"Groups of fewer than {half} count as suppressed here." in lattice
    assert "Records also have to agree in ill" in lattice  # it has no hierarchy


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["personal", "buckets", "sampling"])
def test_where_nothing_is_asked_of_groups_there_is_no_map_of_levels(
    name: str, tmp_path: Path
) -> None:
    lattice = section_of(owner(reported(tmp_path, name)), "lattice")
    assert "There are no other levels to compare these with" in lattice
    assert "<figure" not in lattice


@pytest.mark.usefixtures("undrawn")
def test_a_class_that_is_released_apart_does_not_hide_the_other_figures(tmp_path: Path) -> None:
    subject = reported(tmp_path, "buckets")
    assert subject.recipe is not None
    apart = Reported.read(tmp_path / "made", subject.recipe, classes=("ill",))
    page = owner(apart)
    assert "ill: the released table does not have it" in section_of(page, "utility")
    assert "is lost, measured by" in section_of(page, "loss")
    with pytest.raises(ColumnError, match="no column 'wealth' to predict"):
        Reported.read(tmp_path / "made", subject.recipe, classes=("wealth",))


@pytest.mark.usefixtures("undrawn")
def test_levels_are_compared_without_the_draw(tmp_path: Path) -> None:
    lattice = section_of(owner(reported(tmp_path, "safepub")), "lattice")
    assert "The draw is not counted here" in lattice

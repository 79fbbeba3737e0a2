"""Recipes from ARX projects: they run, and nothing is dropped silently."""

import csv
import os
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from shoal import Recipe, arx
from shoal.errors import FileError, HierarchyError
from shoal.lattice import Lattice
from shoal.measure.loss import Aggregated, Granularity
from shoal.recipe import from_arx
from shoal.recipe.arx_projects import TakenOver
from tests.arx.streams import AGES, SECRET, TOWNS, Constant, Made, Thing, criterion, people

SENSITIVE = people().columns[3]


def taken(made: Made, folder: Path) -> tuple[TakenOver, dict[str, Any]]:
    """What became of a project, and its recipe."""
    project = arx.read(made.write(folder / "made.deid"))
    found = from_arx(project, folder / "out")
    text = found.recipe.read_text("utf-8")
    assert SECRET not in text
    assert SECRET not in "".join([*found.taken, *found.left])
    for line in found.left:
        assert line[:40] in text
    return found, tomllib.loads(text)


def left(found: TakenOver, words: str) -> bool:
    return any(words in line for line in found.left)


def test_the_recipe_runs(tmp_path: Path) -> None:
    found, recipe = taken(people(suppression="0.1"), tmp_path)
    assert recipe["roles"] == {
        "name": "identifying",
        "age": "quasi",
        "town": "quasi",
        "ill": "sensitive",
    }
    assert recipe["method"]["suppression"] == 0.1
    assert recipe["source"]["types"]["age"] == "integer"
    release = Recipe.load(found.recipe).run()
    assert release.certificate.parameters["models"][0]["k"] == 3
    assert "name" not in release.table.columns


def test_models_with_a_counterpart_are_taken_over(tmp_path: Path) -> None:
    made = people(
        criteria=[
            criterion("KAnonymity", k=2),
            criterion("DistinctLDiversity", "ill", l=2.0, minSize=2),
            criterion("EntropyLDiversity", "ill", l=1.5, minSize=1),
            criterion("RecursiveCLDiversity", "ill", c=4.0, l=2.0, minSize=2),
            criterion("EqualDistanceTCloseness", "ill", t=0.5),
            criterion("OrderedDistanceTCloseness", "ill", t=0.5),
            criterion("BasicBLikeness", "ill", b=2.0),
            criterion("EnhancedBLikeness", "ill", b=2.0),
            criterion("DDisclosurePrivacy", "ill", d=2.0),
        ]
    )
    found, recipe = taken(made, tmp_path)
    models = [one if isinstance(one, str) else one["model"] for one in recipe["method"]["models"]]
    assert sorted(models) == sorted(
        [
            "2-anonymity",
            "distinct-diversity",
            "entropy-diversity",
            "recursive-diversity",
            "t-closeness",
            "t-closeness",
            "beta-likeness",
            "beta-likeness",
            "delta-disclosure",
        ]
    )
    disclosure = [m for m in recipe["method"]["models"] if "delta" in m]
    above, _, below = disclosure[0]["delta"].partition("/")
    # log₂ in ARX, ln here, and never larger.
    assert 0 <= 2 * np.log(2) - int(above) / int(below) < 1e-11
    Recipe.check(found.recipe)


@pytest.mark.parametrize(
    ("model", "k"),
    [
        (criterion("KMap", k=4), 4),
        (criterion("SampleUniqueness", threshold=0.1), 2),
        (criterion("PopulationUniqueness", threshold=0.01), 2),
        (criterion("AverageReidentificationRisk", threshold=0.2), 5),
        (
            criterion(
                "AverageReidentificationRisk", threshold=0.2, highestRisk=0.1, recordsAtRisk=0.05
            ),
            10,
        ),
    ],
)
def test_models_of_the_whole_table_become_something_stricter(
    tmp_path: Path, model: Thing, k: int
) -> None:
    found, recipe = taken(people(criteria=[model]), tmp_path)
    assert recipe["method"]["models"] == [f"{k}-anonymity"]
    assert left(found, "takes its place")


def test_without_a_model_one_has_to_be_named(tmp_path: Path) -> None:
    found, recipe = taken(people(criteria=[criterion("ProfitabilityProsecutor")]), tmp_path)
    assert recipe["method"]["models"] == ["?"]
    assert left(found, "ProfitabilityProsecutor")


def test_a_model_of_another_column_is_left(tmp_path: Path) -> None:
    models = [criterion("KAnonymity", k=2), criterion("BasicBLikeness", "town", b=2.0)]
    found, _ = taken(people(criteria=models), tmp_path)
    assert left(found, "not sensitive")


def test_the_research_subset_is_what_is_released(tmp_path: Path) -> None:
    models = [
        criterion("DPresence", dMin=0.0, dMax=0.9),
        criterion("Inclusion", dMin=0.0, dMax=1.0),
    ]
    made = people(subset=range(0, 60, 2), criteria=[criterion("KAnonymity", k=2), *models])
    found, recipe = taken(made, tmp_path)
    with open(tmp_path / "out/data.csv", newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == [f"P{n}" for n in range(0, 60, 2)]
    population = (tmp_path / "out/population.csv").read_text()
    assert population.splitlines()[0] == "age,town"
    assert len(population.splitlines()) == 61
    assert {"model", "lowest", "highest", "population"} == set(recipe["method"]["models"][0])
    Recipe.load(found.recipe).run()


def test_levels_weights_and_the_quality_model(tmp_path: Path) -> None:
    metric = Thing(
        "org.deidentifier.arx.metric.v2.MetricMDNMLoss",
        {"function": ("L", Constant("F", "MAXIMUM"))},
    )
    made = people(
        columns=[
            people().columns[0],
            ("age", "QUASI_IDENTIFYING", "<datatype>Integer</datatype><min>1</min><max>1</max>"),
            *people().columns[2:],
        ],
        weights={"age": 1.0, "town": 0.5},
        metric=metric,
        shown_metric="Loss (0.25/1.0/0.5)",
    )
    found, recipe = taken(made, tmp_path)
    method = recipe["method"]
    assert (method["floor"], method["ceiling"]) == ({"age": 1}, {"age": 1})
    assert (method["loss"], method["aggregate"], method["balance"]) == (
        "granularity",
        "maximum",
        0.25,
    )
    assert method["importance"] == {"age": 2}
    assert Recipe.load(found.recipe).run().certificate.levels["age"] == 1


@pytest.mark.parametrize(
    ("metric", "loss"),
    [
        ("MetricMDNMPrecision", "intensity"),
        ("MetricMDNUNMEntropyPotentiallyPrecomputed", "entropy"),
        ("MetricSDNMDiscernability", "discernibility"),
        ("MetricSDAECS", "group_size"),
        ("MetricSDNMAmbiguity", "ambiguity"),
        ("MetricSDNMKLDivergence", "divergence"),
        ("MetricSDNMPublisherPayout", "granularity"),
    ],
)
def test_quality_models_by_their_names(tmp_path: Path, metric: str, loss: str) -> None:
    thing = Thing("org.deidentifier.arx.metric.v2." + metric)
    found, recipe = taken(people(metric=thing, shown_metric="Other"), tmp_path)
    assert recipe["method"]["loss"] == loss
    is_left = loss == "granularity"
    assert left(found, "quality model 'MetricSDNMPublisherPayout'") == is_left
    assert any(line.startswith("quality model") for line in found.taken) != is_left
    Recipe.load(found.recipe)


@pytest.mark.parametrize(("coefficient", "is_cheap"), [("0.007", True), ("0.25", False)])
def test_a_coefficient_for_local_recoding_is_told(
    tmp_path: Path, coefficient: str, is_cheap: bool
) -> None:
    made = people(shown_metric=f"Loss ({coefficient}/1.0/0.014)")
    found, recipe = taken(made, tmp_path)
    assert recipe["method"]["balance"] == float(coefficient)
    assert left(found, f"local recoding, which a coefficient of suppression of {coefficient}") == (
        is_cheap
    )


def test_types_and_formats_are_converted(tmp_path: Path) -> None:
    dates = [[f"{day:02}.01.2024", "january", "*"] for day in range(1, 11)]
    made = Made(
        columns=[
            (
                "seen",
                "QUASI_IDENTIFYING",
                "<datatype>Date/Time</datatype><format>dd.MM.yyyy</format>",
            ),
            ("at", "INSENSITIVE", "<datatype>Date/Time</datatype><format>HH:mm</format>"),
            (
                "paid",
                "INSENSITIVE",
                "<datatype>Decimal</datatype><format>#,##0.00</format><locale>DE</locale>",
            ),
            ("odd", "INSENSITIVE", "<datatype>Integer</datatype>"),
        ],
        rows=[[dates[n % 10][0], "10:30", "1.234,5", SECRET if n else "1"] for n in range(30)],
        hierarchies={"seen": dates},
        criteria=[criterion("KAnonymity", k=2)],
    )
    found, recipe = taken(made, tmp_path)
    assert recipe["source"]["types"] == {
        "seen": "date",
        "at": "text",
        "paid": "float",
        "odd": "text",
    }
    assert (tmp_path / "out/data.csv").read_text().splitlines()[1] == "2024-01-01,10:30,1234.5,1"
    assert left(found, "'at'")
    assert left(found, "which not all of its values have")
    Recipe.load(found.recipe).run()


def test_an_ordinal_column_keeps_its_order_where_a_model_goes_by_it(tmp_path: Path) -> None:
    more = "<datatype>Ordinal</datatype><format>flu\ncold\nasthma</format>"
    models = [criterion("OrderedDistanceTCloseness", "ill", t=0.5)]
    made = people(columns=[*people().columns[:3], ("ill", "SENSITIVE", more)], criteria=models)
    found, _ = taken(made, tmp_path)
    lines = (tmp_path / "out/hierarchies/ill.csv").read_text().split()
    assert lines == ["flu;*", "cold;*", "asthma;*"]
    Recipe.check(found.recipe)
    models = [criterion("KAnonymity", k=2)]
    made = people(columns=[*people().columns[:3], ("ill", "SENSITIVE", more)], criteria=models)
    (tmp_path / "other").mkdir()
    assert left(taken(made, tmp_path / "other")[0], "order of its texts")


def test_hierarchies_that_are_not_trees_lose_levels(tmp_path: Path) -> None:
    crossed = [[age, decade, str(int(age) % 2), "*"] for age, decade, _ in AGES]
    two_roots = [line[:2] for line in TOWNS]
    found, recipe = taken(people(hierarchies={"age": crossed, "town": two_roots}), tmp_path)
    assert left(found, "levels 2 of its hierarchy")
    assert (tmp_path / "out/hierarchies/age.csv").read_text().startswith("20;20s;*\n")
    # A root was put above, which ARX did not have, and is not used.
    assert recipe["method"]["ceiling"] == {"town": 1}
    Recipe.load(found.recipe).run()


def test_a_column_without_a_hierarchy_is_released_unchanged(tmp_path: Path) -> None:
    found, recipe = taken(people(hierarchies={"age": AGES}), tmp_path)
    assert recipe["method"]["ceiling"]["town"] == 0
    assert left(found, "'town': it has no hierarchy")
    assert Recipe.load(found.recipe).run().certificate.levels["town"] == 0


def test_differential_privacy_becomes_safepub(tmp_path: Path) -> None:
    models = [
        criterion("EDDifferentialPrivacy", epsilon=2.0, delta=1e-3),
        criterion("DistinctLDiversity", "ill", minSize=2),
    ]
    made = people(criteria=models, settings={"dpSearchBudget": ("L", 0.5)})
    found, recipe = taken(made, tmp_path)
    method = recipe["method"]
    assert (method["name"], method["epsilon"], method["delta"]) == ("safepub", "2.0", "0.001")
    assert (method["definition"], method["split"]) == ("probabilistic", "0.75")
    assert left(found, "DistinctLDiversity")
    Recipe.load(found.recipe)


def test_names_of_columns_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    evil = "../../evil"
    columns = [people().columns[0], (evil, "QUASI_IDENTIFYING", ""), *people().columns[2:]]
    columns[0] = ("a\nb = 1", "IDENTIFYING", "")
    made = people(columns=columns, hierarchies={evil: AGES, "town": TOWNS})
    made.parts = {}
    content = made.content()
    head = b'"a\nb = 1";../../evil;town;ill'
    body = content["data/input.csv"].split(b"\n", 2)[2]
    made.parts = {"data/input.csv": head + b"\n" + body}
    found, recipe = taken(made, tmp_path)
    assert recipe["roles"]["a\nb = 1"] == "identifying"
    assert {path.name for path in tmp_path.rglob("*")} == {
        "made.deid",
        "out",
        "recipe.toml",
        "data.csv",
        "hierarchies",
        "_evil.csv",
        "town.csv",
    }
    Recipe.load(found.recipe).run()


def test_no_text_of_a_project_becomes_a_line_of_the_recipe(tmp_path: Path) -> None:
    version = '1\n[ledger]\npath = "elsewhere"\n#'
    metadata = f"<metadata><version>{version}</version></metadata>"
    _, recipe = taken(people(parts={"metadata.xml": metadata.encode()}), tmp_path)
    assert "ledger" not in recipe


def test_errors_have_no_values(tmp_path: Path) -> None:
    odd = [[SECRET, "x", "*"], *AGES]
    project = arx.read(people(hierarchies={"age": odd, "town": TOWNS}).write(tmp_path / "p.deid"))
    with pytest.raises(HierarchyError) as refused:
        from_arx(project, tmp_path / "out")
    assert SECRET not in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_nobody_else_reads_the_private_table(tmp_path: Path) -> None:
    found, _ = taken(people(), tmp_path)
    assert found.recipe.parent.stat().st_mode & 0o077 == 0
    assert (found.recipe.parent / "data.csv").stat().st_mode & 0o077 == 0


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    project = arx.read(people().write(tmp_path / "p.deid"))
    with pytest.raises(FileError, match="not empty"):
        from_arx(project, tmp_path)


def test_a_hierarchy_that_arx_saved_in_a_recipe(tmp_path: Path) -> None:
    from tests.arx.test_builders import bounds, intervals, saved

    found, _ = taken(people(), tmp_path)
    given = intervals(0, 10, lower=bounds(20, 20, 20), upper=bounds(60, 60, 60))
    saved(tmp_path / "out", given)
    text = found.recipe.read_text()
    text = text.replace('file = "hierarchies/age.csv"\nseparator = ";"', 'file = "made.ahs"')
    found.recipe.write_text(text)
    release = Recipe.load(found.recipe).run()
    assert set(release.table["age"].to_list()) <= {
        "*",
        "[20, 30[",
        "[30, 40[",
        "[40, 50[",
        "[50, 60[",
    }


def test_loss_and_levels_are_those_of_arx(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "arx-projects" / "example.deid"
    with zipfile.ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("lattice.xml"))
    losses = {}
    for node in root.iter("n"):
        if node.findtext("c") == "true":
            levels = tuple(map(int, re.findall(r"\d+", node.findtext("t") or "")))
            losses[levels] = float(node.findtext("l/u") or "nan")
    best = min(losses, key=losses.__getitem__)
    found = from_arx(arx.read(path), tmp_path / "out")
    recipe = Recipe.load(found.recipe)
    table = recipe.table()
    release = recipe.release(table)
    assert tuple(release.certificate.levels[name] for name in table.quasi) == best
    lattice = Lattice(
        table.count(table.quasi), {name: table.hierarchy(name) for name in table.quasi}
    )
    loss = Aggregated(Granularity(), "geometric mean")
    for levels in list(losses)[::20]:
        groups = lattice.groups(levels)
        assert loss.of(groups, groups.sizes >= 5) == pytest.approx(losses[levels], abs=1e-9)

"""Several releases against their input: what each promises, and which ones no other beats."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.hierarchy import Hierarchy, build
from shoal.errors import ColumnError, FileError, ParameterError
from shoal.measure.loss import LOSSES
from shoal.measure.risk import assess
from shoal.studies.candidates import ComparedRelease, ReleaseComparison
from shoal.studies.judging import judge
from tests.releases.verification.forging import Content, forge

loose: Any = shoal  # which takes more than a type checker allows

TREES = {
    "age": build.intervals(20, 59, widths=[5, 10, 20]),
    "sex": build.suppress(["f", "m"]),
    "ill": Hierarchy.from_lines(
        [["flu", "cold", "*"], ["rash", "skin", "*"], ["acne", "skin", "*"]]
    ),
}
ROLES: dict[str, Any] = {
    "quasi": ["age", "sex"],
    "sensitive": ["ill"],
    "identifying": ["name"],
    "types": {"age": "integer", "name": "text"},
}


def frame(rows: int = 240) -> pl.DataFrame:
    draws = random.Random(3)
    return pl.DataFrame(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": [draws.randrange(20, 60) for _ in range(rows)],
            "sex": [draws.choice("fm") for _ in range(rows)],
            "ill": [draws.choice(["flu", "flu", "rash", "acne"]) for _ in range(rows)],
        }
    )


def people(**options: Any) -> shoal.Table:
    return shoal.table(frame(), **{**ROLES, "hierarchies": TREES, **options})


def optimal(k: int, table: shoal.Table | None = None, **options: Any) -> shoal.Release:
    release: shoal.Release = loose.Optimal([shoal.KAnonymity(k)], **options).release(
        table or people()
    )
    return release


def one(found: ReleaseComparison, name: str) -> ComparedRelease:
    [release] = [release for release in found.releases if release.name == name]
    return release


# Figures


def test_a_release_has_the_figures_of_assess_and_judge() -> None:
    table, release = people(), optimal(5, suppression="1/10")
    found = shoal.compare(table, [release]).releases[0]
    assert found.assessment is not None
    assert found.assessment.k == assess(release.table, quasi=["age", "sex"]).k
    judged = judge(table, release)
    assert found.losses == {name: lost.normalised for name, lost in judged.losses.items()}
    assert found.share == judged.share
    assert (found.release, found.method) == (release.certificate.number, "optimal")
    assert found.risk("highest") == Fraction(1, found.assessment.k or 1)
    assert float(found.risk("average") or 0) == found.assessment.prosecutor.average
    assert float(found.risk("at_risk") or 0) == found.assessment.prosecutor.at_risk


def test_losses_are_over_the_same_columns_whatever_a_release_generalises() -> None:
    table = people()
    noisy = loose.NoisyCounts(3, "1e-2", levels={"age": 2, "sex": 0, "ill": 1}).release(table)
    found = shoal.compare(table, {"noisy": noisy, "k": optimal(5)})
    assert found.measured == ("age", "sex", "ill")
    # What the second lost is spread over a column that it left as it was.
    alone = shoal.compare(table, {"k": optimal(5)})
    assert alone.measured == ("age", "sex")
    assert one(found, "k").losses["granularity"] < one(alone, "k").losses["granularity"]


def test_without_hierarchies_losses_are_those_by_the_sizes_of_groups() -> None:
    release = optimal(5)
    bare = shoal.compare(people(hierarchies={}), [release])
    assert bare.losses == ("discernibility", "group_size")
    assert bare.loss == "discernibility"
    judged = judge(people(), release).losses
    assert bare.releases[0].losses == pytest.approx(
        {name: judged[name].normalised for name in bare.losses}
    )
    assert bare.releases[0].unknown["loss by granularity"] == "column 'age' has no hierarchy"
    assert bare.releases[0].unbeaten
    given = shoal.compare(people(hierarchies={}), [release], TREES)
    assert given.releases[0].losses == shoal.compare(people(), [release]).releases[0].losses


def test_roles_come_from_certificates_where_the_input_has_none(tmp_path: Path) -> None:
    optimal(5).write(tmp_path / "one")
    frame().write_csv(tmp_path / "people.csv")
    found = shoal.compare(shoal.read(tmp_path / "people.csv"), [tmp_path / "one"])
    assert found.columns == ("age", "sex")
    same = shoal.compare(people(hierarchies={}), [optimal(5)])
    assert found.input.k == same.input.k
    assert found.releases[0].losses == same.releases[0].losses
    bare = shoal.table(frame())
    with pytest.raises(ParameterError, match="name them with `quasi`"):
        shoal.compare(bare, [frame()])


def test_what_one_release_takes_for_known_is_known_whatever_is_released() -> None:
    by_both, by_age = people(), people(quasi=["age"], insensitive=["sex"])
    releases = {"age": optimal(5, by_age), "both": optimal(5, by_both)}
    found = shoal.compare(shoal.table(frame()), releases)
    assert found.columns == ("age", "sex")
    k = assess(releases["age"].table, quasi=["age", "sex"]).k
    assessment = one(found, "age").assessment
    assert assessment is not None
    assert assessment.k == k


def test_figures_are_of_people_where_one_row_of_each_was_drawn() -> None:
    twice = pl.concat([frame(), frame()])
    table = shoal.table(twice, **ROLES, hierarchies=TREES)
    by_people = loose.Optimal([shoal.KAnonymity(5)], unit="name").release(table)
    by_rows = optimal(5, replace(table, rows_are_people=True))
    found = shoal.compare(table, {"people": by_people, "rows": by_rows})
    assert found.input.people == 240
    for name, expected in (("people", 240), ("rows", None)):
        assessment = one(found, name).assessment
        assert assessment is not None
        assert assessment.people == expected
    assert one(found, "people").promise.startswith("5-anonymity, for people by name")


def test_a_release_of_another_table_is_not_ranked_and_says_why() -> None:
    other = shoal.table(
        frame().with_columns(age=pl.lit(20), sex=pl.lit("f")), **ROLES, hierarchies=TREES
    )
    found = shoal.compare(people(), {"own": optimal(5), "other": optimal(5, other)})
    strange = one(found, "other")
    assert strange.unbeaten is None
    assert "records that the input does not have" in (strange.unranked or "")
    assert one(found, "own").unbeaten
    assert not one(found, "own").beaten_by


def test_releases_without_records_or_with_values_apart_say_why_they_are_not_ranked() -> None:
    table = people()
    parts = loose.Columns(3, "1e-2", schema=[["age", "sex"], ["ill"]]).release(table)
    buckets = shoal.Buckets("ill", shoal.Limits.formula(1, "1/2"), "multi")
    found = shoal.compare(
        table, {"parts": parts, "buckets": buckets.release(table), "k": optimal(5)}
    )
    assert [release.unbeaten for release in found.releases] == [None, None, True]
    assert "this is a release by columns" in (found.releases[0].unranked or "")
    assert found.releases[0].assessment is None
    assert "who has which value" in (found.releases[1].unranked or "")
    # Among themselves, buckets have a loss of their own.
    both = {"few": buckets.release(table), "again": buckets.release(table)}
    assert shoal.compare(table, both).loss == "buckets"
    assert all(release.unbeaten for release in shoal.compare(table, both).releases)


def test_an_empty_release_has_no_risk_and_has_lost_everything() -> None:
    found = shoal.compare(people(), {"none": frame(0).drop("name"), "k": optimal(5)})
    assert one(found, "none").risk("highest") == 0
    assert one(found, "none").loss("granularity") == 1
    assert one(found, "none").unbeaten
    assert one(found, "k").unbeaten


# What may be given


def test_releases_are_named_by_their_folders_or_methods(tmp_path: Path) -> None:
    release = optimal(5)
    for folder in ("a/out", "b/out"):
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        release.write(tmp_path / folder)
    places = [tmp_path / "a/out", str(tmp_path / "b/out"), release, release, release.table]
    found = shoal.compare(people(), places)
    names = [release.name for release in found.releases]
    assert names == ["out", str(tmp_path / "b/out"), "optimal", "optimal 2", "table"]
    assert len({json.dumps(dict(one.losses)) for one in found.releases}) == 1
    assert found.releases[-1].kind is None


def test_a_release_is_not_ranked_by_a_promise_that_was_forged(tmp_path: Path) -> None:
    optimal(5).write(tmp_path / "out")
    assert shoal.compare(people(), [tmp_path / "out"]).releases[0].unbeaten

    def change(content: Content) -> None:
        content["promise"]["models"] = ["90-anonymity"]
        content["parameters"]["models"][0]["k"] = 90
        content["statement"] = content["statement"].replace("5-anonymity", "90-anonymity")

    forge(tmp_path / "out" / "certificate.json", change)
    with pytest.raises(FileError, match="out fails verification: "):
        shoal.compare(people(), [tmp_path / "out"])


def test_what_is_about_two_tables_is_refused_for_releases() -> None:
    with pytest.raises(ParameterError, match="are about two tables"):
        loose.compare(people(), [optimal(5)], complete=["b"])
    with pytest.raises(ParameterError, match="no release"):
        shoal.compare(people(), [])
    with pytest.raises(ColumnError, match="it takes a Table"):
        loose.compare(people(), frame())
    with pytest.raises(FileError, match="certificate"):
        shoal.compare(people(), ["nowhere"])


def test_a_comparison_is_owner_only_and_plain_for_json() -> None:
    found = shoal.compare(people(), {"k": optimal(5)})
    assert repr(found).startswith("owner only: ")
    assert repr(found.releases[0]).startswith("owner only: ")
    plain = json.loads(json.dumps(found.to_dict()))
    assert list(plain)[:3] == ["not_for_release", "notice", "input"]
    assert plain["by"] == {"risk": "highest", "loss": "granularity"}
    [release] = plain["releases"]
    assert (release["name"], release["method"], release["beaten_by"]) == ("k", "optimal", [])
    assert release["unbeaten"] is True


def test_the_frame_of_a_comparison_has_one_row_per_release_and_what_it_is_ranked_by() -> None:
    found = shoal.compare(people(), {"k": optimal(5), "more": optimal(20)})
    ranked_by = found.by(risk="average", loss="discernibility")
    assert ranked_by.frame().rows(named=True) == [
        {
            "name": release.name,
            "kept": release.share,
            "risk": float(release.risk("average") or 0),
            "loss": release.loss("discernibility"),
            "unbeaten": release.unbeaten,
            "promise": release.promise,
        }
        for release in ranked_by.releases
    ]
    unknown = ranked(standing("a", 5, None)).frame()
    assert unknown.schema["loss"] == pl.Float64
    assert unknown["loss"].to_list() == [None]


# Which ones no other beats


def standing(
    name: str, k: int, loss: float | None, parts: dict[str, Any] | None = None
) -> ComparedRelease:
    """A release with some figures."""
    assessment = assess(frame(1), quasi=["age"])
    return ComparedRelease(
        name=name,
        release=None,
        method=None,
        kind=None if parts is None else parts["promise"],
        promise="",
        parts=parts,
        assessment=replace(assessment, k=k, groups=10, records=10 * k),
        share=1.0,
        losses={} if loss is None else {"granularity": loss},
        unknown={"loss by granularity": "nobody measured it"},
    )


def ranked(*releases: ComparedRelease) -> ReleaseComparison:
    found = assess(frame(1), quasi=["age"])
    return ReleaseComparison(found, releases, ("age",), ("age",), ("granularity",)).by()


def private(epsilon: object, delta: str = "1e-6") -> dict[str, Any]:
    parts = {"promise": "differential privacy", "epsilon": str(epsilon), "delta": delta}
    return {**parts, "definition": "standard", "unit": "row"}


def test_a_release_that_is_worse_in_something_and_better_in_nothing_is_beaten() -> None:
    found = ranked(standing("a", 5, 0.2), standing("b", 5, 0.3), standing("c", 9, 0.4))
    assert [release.beaten_by for release in found.releases] == [(), ("a",), ()]
    assert [release.unbeaten for release in found.releases] == [True, False, True]


def test_ties_are_not_beaten_also_where_a_sum_was_rounded() -> None:
    found = ranked(standing("a", 5, 0.1 + 0.2), standing("b", 5, 0.3))
    assert all(release.unbeaten for release in found.releases)


def test_risks_are_compared_exactly() -> None:
    releases = [standing(str(groups), 5, 0.3) for groups in (10**17, 10**17 + 1)]
    sizes = []
    for release in releases:
        assert release.assessment is not None
        assessment = replace(release.assessment, groups=int(release.name), records=10**18)
        sizes.append(replace(release, assessment=assessment))
    found = ranked(*sizes).by(risk="average")
    assert [release.unbeaten for release in found.releases] == [True, False]


def test_a_weaker_promise_never_beats_a_stronger_one_by_its_figures() -> None:
    weak, strong = standing("weak", 9, 0.1, private(9)), standing("strong", 5, 0.2, private(1))
    found = ranked(weak, strong)
    assert [release.beaten_by for release in found.releases] == [(), ()]
    assert [release.outdone_by for release in found.releases] == [(), ("weak",)]
    same = ranked(replace(weak, parts=private(1)), strong)
    assert one(same, "strong").beaten_by == ("weak",)
    # With the same figures, the promise decides.
    equal = ranked(replace(weak, assessment=strong.assessment, losses=strong.losses), strong)
    assert one(equal, "weak").beaten_by == ("strong",)


def test_promises_of_different_kinds_are_not_ranked_against_each_other() -> None:
    models = {"promise": "syntactic", "models": ["5-anonymity"]}
    found = ranked(standing("dp", 5, 0.5, private(1)), standing("k", 5, 0.2, models))
    assert all(release.unbeaten for release in found.releases)
    assert one(found, "dp").outdone_by == ("k",)


def test_a_release_whose_loss_is_not_known_is_neither_beaten_nor_beats() -> None:
    found = ranked(standing("a", 500, None), standing("b", 5, 0.3))
    assert one(found, "a").unbeaten is None
    assert one(found, "a").unranked == "nobody measured it"
    assert one(found, "b").unbeaten is True


@pytest.mark.parametrize("seed", range(20))
def test_the_frontier_is_that_of_its_definition(seed: int) -> None:
    draws = random.Random(seed)
    releases = [
        standing(
            str(number),
            draws.randrange(1, 5),
            draws.randrange(4) / 4,
            draws.choice([None, private(draws.randrange(1, 3)), private(1, "1e-3")]),
        )
        for number in range(9)
    ]
    found = ranked(*releases)

    def figures(release: ComparedRelease) -> tuple[Any, ...]:
        promise: Sequence[Any] = ()
        if release.parts is not None:
            promise = (int(release.parts["epsilon"]), Fraction(release.parts["delta"]))
        assert release.assessment is not None
        return (1 / (release.assessment.k or 1), release.losses["granularity"], *promise)

    for release in found.releases:
        mine = figures(release)
        better = [
            other.name
            for other in releases
            if other.kind == release.kind
            and all(theirs <= own for theirs, own in zip(figures(other), mine, strict=True))
            and figures(other) != mine
        ]
        assert list(release.beaten_by) == better
        assert release.unbeaten == (not better)
        outdone = [
            other.name
            for other in releases
            if all(x <= y for x, y in zip(figures(other)[:2], mine[:2], strict=True))
            and figures(other)[:2] != mine[:2]
        ]
        assert list(release.outdone_by) == outdone


def test_another_risk_or_loss_ranks_anew_and_unknown_ones_are_refused() -> None:
    found = shoal.compare(people(), {"2": optimal(2), "20": optimal(20)})
    for loss in LOSSES:
        again = found.by(risk="average", loss=loss)
        assert (again.risk, again.loss) == ("average", loss)
        assert all(release.unbeaten is not None for release in again.releases)
    with pytest.raises(ParameterError, match="loss='size' is unknown"):
        found.by(loss="size")
    with pytest.raises(ParameterError, match="risk='least' is unknown"):
        loose.compare(people(), [optimal(2)]).by(risk="least")

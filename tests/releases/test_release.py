"""Releases: certificates that notice every change, and files that are whole or not there."""

import json
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance import Chance, Seeded
from shoal.data.frames import RowsWithCounts
from shoal.data.hierarchy import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import ColumnError, FileError
from shoal.lattice import Lattice
from shoal.measure.loss import Granularity
from shoal.privacy.models import (
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    bound,
)
from shoal.privacy.promises import Sampled, Syntactic
from shoal.releases.certificate import Certificate, certify, plain
from shoal.releases.layout import assemble, lay_out
from shoal.releases.release import Release
from shoal.releases.verification import unchecked, verify
from tests.releases.people import AGES, SEXES, assembled, people


@dataclass(frozen=True)
class StandIn:
    """A stand-in for a method, with the parameters of one."""

    models: tuple[Any, ...] = (KAnonymity(2),)
    suppressed: str = "drop"
    suppression: Fraction = Fraction(1, 20)
    loss: str = "granularity"
    floor: dict[str, int] = field(default_factory=dict)
    ceiling: dict[str, int] = field(default_factory=dict)
    unit: str | None = None
    name: ClassVar[str] = "optimal"


def release(table: Table, method: StandIn | None = None, chance: Chance | None = None) -> Release:
    method = method or StandIn()
    names = tuple(str(model) for model in method.models)
    promise = Syntactic(names, starred=method.suppressed == "star")
    paper = certify(
        table,
        method,
        promise,
        chance or Chance(),
        levels={"sex": 0, "age": 1},
        whole=method.suppressed == "star",
    )
    return Release(assembled(table, k=method.models[0].k, suppressed=method.suppressed), paper)


def test_nothing_leaves_when_every_column_is_identifying() -> None:
    table = shoal.table(pl.DataFrame({"name": ["a"]}), identifying=["name"])
    with pytest.raises(ColumnError, match="identifying"):
        certify(table, StandIn(), Sampled(1), Chance())


def test_a_certificate_reads_back_and_reads_well() -> None:
    paper = release(people()).certificate
    assert Certificate.from_json(paper.to_json()) == paper
    assert paper.to_json() == Certificate.from_json(paper.to_json()).to_json()
    assert list(json.loads(paper.to_json())) == sorted(json.loads(paper.to_json()))
    text = str(paper)
    assert "an attacker who knows the algorithm may infer more" in " ".join(text.split())
    assert "Not protected" in text
    assert "\n  models = 2-anonymity\n  suppressed = drop\n  suppression = 0.05" in text
    assert max(map(len, text.splitlines())) <= 80
    assert paper.number in text
    assert paper.parameters == {
        "models": [{"is": "k-anonymity", "k": 2}],
        "suppressed": "drop",
        "suppression": "1/20",
        "loss": "granularity",
        "floor": {},
        "ceiling": {},
        "unit": None,
    }
    assert len(paper.number) == 32


def test_the_text_of_a_certificate_is_for_people() -> None:
    crowd = people().count(people().quasi)
    models = [KAnonymity(2), TCloseness("ill", "1/3", "ordered"), DeltaPresence(0, "1/2", crowd)]
    paper = replace(release(people()).certificate, levels={"age": 1, "sex": 0}, private=False)
    told = {
        "models": models,
        "seen": {"age": 1},
        "nothing": {},
        "none": None,
        "sure": True,
        "delta": "1/1000000",
        "loss": Granularity({"age": 2.0}),
    }
    text = str(replace(paper, parameters=plain(told)))
    assert "NOT PRIVATE" in text
    assert "\nLevels\n  age 1, sex 0\n" in text
    assert "  models = 2-anonymity, 1/3-closeness (ordered) of ill, (0, 0.5)-presence\n" in text
    assert (
        "  seen = age 1\n  sure = yes\n  delta = 1e-6\n"
        "  loss = granularity (importance = age 2.0)\n  not given: nothing, none" in text
    )
    assert not re.search(r"[{}\[\]\"]", text)


def test_the_certificate_tells_nothing_of_the_number_of_records() -> None:
    one, other = release(people(100)).certificate, release(people(101)).certificate
    assert replace(one, number="") == replace(other, number="")


def test_a_seeded_release_says_that_it_is_not_private() -> None:
    paper = release(people(), chance=Seeded(1)).certificate
    assert not paper.private
    assert "NOT PRIVATE" in str(paper)
    assert release(people()).certificate.private


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"seal": 1}', "\0", '{"certificate": 2, "seal": ""}']
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="certificate"):
        Certificate.from_json(text)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_written_release_verifies(tmp_path: Path, form: Any) -> None:
    path = release(people()).write(tmp_path / "new" / "folder", form)
    assert path.name == f"release.{form}"
    assert sorted(found.name for found in path.parent.iterdir()) == ["certificate.json", path.name]
    assert verify(path.parent / "certificate.json", path) == []


def test_every_changed_byte_of_either_file_is_found(tmp_path: Path) -> None:
    path = release(people(12)).write(tmp_path)
    paper = tmp_path / "certificate.json"
    for changed in (path, paper):
        content = changed.read_bytes()
        for place in range(0, len(content), 7):
            changed.write_bytes(
                content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
            )
            assert verify(paper, path), place
        for other in (content + b" ", content[:-1], content + b"\n", b""):
            changed.write_bytes(other)
            assert verify(paper, path)
        changed.write_bytes(content)
    assert verify(paper, path) == []


def test_a_table_that_does_not_keep_the_promise_fails_though_the_digest_is_right(
    tmp_path: Path,
) -> None:
    table = people()
    levels = {"sex": 0, "age": 1}
    promise = Syntactic(("5-anonymity",))
    paper = certify(table, StandIn((KAnonymity(5),)), promise, Chance(), levels=levels)
    path = Release(assembled(table, k=4), paper).write(tmp_path)
    failures = verify(tmp_path / "certificate.json", path)
    assert len(failures) == 1
    assert "k-anonymity" in failures[0]


def test_suppressed_records_are_no_group(tmp_path: Path) -> None:
    table = people()
    allowed = StandIn((KAnonymity(3),), suppressed="star", suppression=Fraction(1, 2))
    made = release(table, allowed)
    path = made.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []
    assert "rows of stars" in made.certificate.unprotected[0]


def test_missing_files_are_named(tmp_path: Path) -> None:
    assert "cannot read" in verify(tmp_path / "certificate.json", tmp_path / "release.csv")[0]


def test_what_the_files_cannot_show_is_listed() -> None:
    paper = release(people()).certificate
    closeness = {
        "is": "t-closeness",
        "column": "ill",
        "t": "1/5",
        "distance": "equal",
        "hierarchy": None,
    }
    said = "t-closeness (column = ill, t = 1/5, distance = equal)"
    assert said not in unchecked(paper)
    parameters = {**paper.parameters, "models": [closeness]}
    assert said in unchecked(replace(paper, parameters=parameters))
    assert said not in unchecked(replace(paper, parameters=parameters, whole=True))


def test_a_hierarchy_read_off_the_rows_is_not_on_the_certificate(tmp_path: Path) -> None:
    tree = Hierarchy.from_lines([["flu", "*"], ["rare secret", "*"]], derived=True)
    frame = pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["flu", "flu", "rare secret"]})
    table = shoal.table(
        frame, quasi=["sex"], sensitive=["ill"], hierarchies={"sex": SEXES, "ill": tree}
    )
    models = (KAnonymity(2), bound(TCloseness("ill", 0), table))
    promise = Syntactic(tuple(map(str, models)))
    method = StandIn(models, suppression=Fraction(0))
    paper = certify(table, method, promise, Chance(), levels={"sex": 0}, whole=True)
    path = Release(assembled(table, (0,)), paper).write(tmp_path)
    assert "secret" not in (tmp_path / "certificate.json").read_text(encoding="utf-8")
    assert "t-closeness (column = ill, t = 0, distance = equal)" in unchecked(paper)
    assert verify(tmp_path / "certificate.json", path) == []


@pytest.mark.parametrize("moment", ["os.rename", "shoal.data.files.serialise"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError(28, "No space left")])
def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, error: Any
) -> None:
    calls = []

    def stop(*given: Any, **options: Any) -> None:
        calls.append(given)
        if moment != "os.rename":
            given[1].write(b"half a ta")
        raise error

    monkeypatch.setattr(moment, stop)
    with pytest.raises(FileError if isinstance(error, OSError) else error):
        release(people()).write(tmp_path / "new" / "out")
    assert calls
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_to_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="is a file; give the name of a folder"):
        release(people()).write(tmp_path / "file")
    with pytest.raises(FileError, match="cannot write"):
        release(people()).write(tmp_path / "file" / "below")


def test_writing_again_replaces_both_files(tmp_path: Path) -> None:
    release(people(40)).write(tmp_path)
    path = release(people(50)).write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_parameters_become_plain_data() -> None:
    assert plain((Fraction(1, 3), Kind.TEXT, None, True, {"a": [1]}, KAnonymity(3))) == [
        "1/3", "text", None, True, {"a": [1]}, {"is": "k-anonymity", "k": 3},
    ]  # fmt: skip
    assert plain(AGES) == "Hierarchy"
    assert plain(people().count(["sex"])) == "Counts"


ILLS = Hierarchy.from_lines([["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "joint", "*"]])
PAY = Hierarchy.from_lines(
    [["[0, 5)", "low", "*"], ["[5, 10)", "low", "*"], ["[10, 15]", "high", "*"]], Kind.FLOAT
)

every_model = st.one_of(
    st.builds(KAnonymity, st.integers(1, 5)),
    *(
        made
        for name in (st.sampled_from(["ill", "pay"]),)
        for made in (
            st.builds(DistinctDiversity, name, st.integers(1, 3)),
            st.builds(PSensitive, name, st.integers(1, 3), st.integers(1, 4)),
            st.builds(EntropyDiversity, name, st.fractions(1, 3, max_denominator=10)),
            st.builds(
                RecursiveDiversity,
                name,
                st.fractions("1/2", 3, max_denominator=4),
                st.integers(1, 3),
            ),
            st.builds(
                TCloseness,
                name,
                st.fractions(0, 1, max_denominator=10),
                st.sampled_from(["equal", "ordered", "hierarchical"]),
            ),
            st.builds(
                BetaLikeness, name, st.fractions("1/10", 3, max_denominator=10), st.booleans()
            ),
            st.builds(
                DeltaDisclosure, name, st.fractions("1/10", 2, max_denominator=10), st.booleans()
            ),
        )
    ),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("fm"), st.sampled_from(["", "flu", "cold", "gout"]), st.floats(0, 15)
        ),
        min_size=1,
        max_size=25,
    ),
    every_model,
)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_verify_and_the_models_agree_on_every_group(
    tmp_path: Path, rows: list[tuple[str, str, float]], model: Any
) -> None:
    sexes, ills, pays = (list(values) for values in zip(*rows, strict=True))
    table = shoal.table(
        pl.DataFrame({"sex": sexes, "ill": ills, "pay": pays}),
        quasi=["sex"],
        sensitive=["ill", "pay"],
        hierarchies={"sex": SEXES, "ill": ILLS, "pay": PAY},
    )
    model = bound(model, table)
    groups = Lattice(table.count(table.names), {"sex": table.hierarchy("sex")}).groups((0,))
    failing = int((~model.holds(groups)).sum())
    method = StandIn((model,), suppression=Fraction(0))
    promise = Syntactic((str(model),))
    paper = certify(table, method, promise, Chance(), levels={"sex": 0}, whole=True)
    path = Release(
        assemble(table, groups, np.ones(len(groups.sizes), dtype=np.bool_)), paper
    ).write(tmp_path)
    failures = verify(tmp_path / "certificate.json", path)
    assert bool(failures) == bool(failing)
    if failing:
        assert failures[0].startswith(f"{failing} of {len(groups.sizes)} groups")


def test_rows_are_repeated_only_for_who_asks_for_the_table(tmp_path: Path) -> None:
    paper = release(people()).certificate
    different = pl.DataFrame({"sex": ["female", "male"]})
    made = Release(RowsWithCounts(different, np.array([3, 2])), paper).with_certificate(paper)
    path = made.write(tmp_path / "out")
    assert "5 rows × 1 columns" in repr(made)
    assert isinstance(made.rows, RowsWithCounts)
    shown = made.table
    assert shown["sex"].to_list() == ["female"] * 3 + ["male"] * 2
    assert pl.read_csv(path).equals(shown)
    assert made.table is shown
    assert replace(made, table=different).table is different


def test_a_row_that_is_released_no_times_leaves_no_trace() -> None:
    table = shoal.table(pl.DataFrame({"town": ["Oslo", "Bern"]}), insensitive=["town"])
    counts = table.count(["town"])
    laid = lay_out(table, {}, replace(counts, count=np.array([0, 2])))
    assert laid.frame["town"].to_list() == ["Oslo"]
    assert laid.count.tolist() == [2]

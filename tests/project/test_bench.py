"""The benchmarks still run: every measurement once, on a small table. Figures are not tested."""

import importlib
import os
import subprocess
import sys
import venv
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from bench import __main__ as everything
from bench import (
    buckets,
    coincident,
    columns,
    command,
    examples,
    kept,
    larger,
    larger_work,
    left,
    personal,
    report,
    safepub,
    sources,
    work,
    workbench,
)
from bench.__main__ import Printed
from bench.measure import Took, best, peak
from bench.sources import Source, adult, large, wide
from shoal import NoisyCounts, SafePub, demo
from shoal.look import drawing
from tests.cli.shell import run
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return wide(3, tmp_path_factory.mktemp("bench"), rows=500)


def test_every_measurement_runs(small: Source) -> None:
    assert work.read(small).shape == (500, 3)
    table = work.code(small)
    counts = work.count(table)
    assert counts.total == 500
    assert work.assess(small).records == 500
    nodes = work.lattice(table, counts)
    assert nodes.size == 64
    assert len(work.everything(nodes)) == 64
    assert work.walk(nodes) > 0


def test_reports_are_measured_and_within_their_bound(
    small: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "available", lambda: False)
    rows = report.reports(small, repeats=1).rows
    sizes = [row[3] for row in rows if row[3] is not None]
    assert len(sizes) == 2 * len(report.METHODS)
    assert max(map(int, map(str, sizes))) < report.LIMIT


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_the_workbench_is_measured(
    small: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench, "painting", nullcontext)
    titles = [printed.title for printed in workbench.measured([small], tmp_path, repeats=1)]
    assert titles == [
        "The first page",
        "Screens on wide-3",
        "A role with its risk",
        "Screens while wide-3 is released",
        "Memory",
    ]


def test_the_optimum_is_the_least_of_all_nodes(small: Source) -> None:
    table = work.code(small)
    nodes = work.lattice(table, work.count(table))
    scores = work.everything(nodes)
    assert scores[work.optimum(nodes).node] == pytest.approx(min(scores.values()))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_peak_memory_is_that_of_a_fresh_process(small: Source) -> None:
    held = bytearray(400_000_000)  # what this process holds must not count
    assert 20 < peak("assess", small) < 400
    del held


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system does not count for a process")
def test_whole_commands_are_measured_in_what_the_copy_takes(
    small: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = bytearray(400_000_000)  # what this process holds must not count
    python = [sys.executable, "-S", "-c"]
    given = {
        command.COPY: [*python, "pass"],
        command.RELEASE: [*python, "held = b'x' * 100_000_000; sum(range(5_000_000))"],
    }
    monkeypatch.setattr(command, "commands", lambda source, folder: given)
    printed = command.whole([small], repeats=1)
    rows: list[dict[str, Any]] = [dict(zip(printed.head, row, strict=True)) for row in printed.rows]
    copy, release = rows
    assert copy["E"] == copy["CPU, E"] == copy["MB, E"] == 1
    assert release["CPU, E"] > 1
    assert copy["MB"] < 50 < release["MB"] < 200
    del held


def test_the_commands_that_are_measured_run(small: Source, tmp_path: Path) -> None:
    given = command.commands(small, tmp_path)
    for what in (command.RELEASE, command.ASSESS):
        words = [*given[what]]
        result = run(*words[3:])  # after Python itself
        assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "release.csv").exists()


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        command.run([sys.executable, "-c", "raise SystemExit(2)"], tmp_path)


def test_the_best_of_several_gets_fresh_things_every_time() -> None:
    made: list[list[int]] = []

    def ready() -> list[int]:
        made.append([])
        return made[-1]

    assert best(lambda given: given.append(1), ready, repeats=3) >= 0
    assert made == [[1], [1], [1]]


def test_tables_print_as_markdown() -> None:
    printed = Printed("Title", ("what", "who", "R"), [("a", "b", 1.2345), ("c", "d", None)])
    assert printed.text(markdown=True).splitlines() == [
        "## Title",
        "",
        "| what | who |    R |",
        "| ---- | --- | ---: |",
        "| a    | b   | 1.23 |",
        "| c    | d   |      |",
    ]


def test_every_measurement_of_columns_runs(tmp_path: Path) -> None:
    source = Source("ratings", columns.make(2000, 20, 6000, tmp_path / "ratings.csv"), tmp_path)
    release = work.columns(source, 4, 2)
    assert release.table.columns == ["record", "column_group", "item", "rating"]


def test_every_measurement_of_larger_data_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(larger, "PART", 2000)
    pytest.importorskip("duckdb", reason="DuckDB is not installed")

    def here(doing: Any, folder: Path) -> dict[str, command.Used]:
        for place, do in enumerate(doing.values()):
            out = tmp_path / f"{folder.name} {place}"
            out.mkdir()
            do(folder, out)
        return dict.fromkeys(doing, command.Used(1, 1, 1))

    monkeypatch.setattr(larger, "measured", here)
    grown = larger.growth([3000], tmp_path)
    assert len(list((tmp_path / "larger-3000").iterdir())) == 2
    assert {row[3] for row in grown.rows} == {1.0}
    assert len(larger.driver(900, tmp_path).rows) == len(larger.SIMULATED)
    rows = pl.read_parquet(tmp_path / "simulated-900").drop("count")
    assert rows.n_unique() == 900  # as an engine hands them over
    assert larger_work.Simulated(tmp_path / "simulated-900").rows() > 900


def test_every_measurement_of_buckets_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = buckets.shares()
    assert (sum(counts), max(counts), min(counts), len(counts)) == (300_000, 22_500, 540, 50)
    monkeypatch.setattr(buckets, "THETAS", (16, 32))
    monkeypatch.setattr(buckets, "LARGEST", 22)
    (times,) = buckets.settings(tmp_path, 3000, repeats=1, gap="0.1")
    assert {row[1] for row in times.rows} >= {"two", "multi", "optimal"}
    (many,) = buckets.many(tmp_path, 3000)
    assert all(float(str(row[5])) <= 0.01 for row in many.rows)
    (filled,) = buckets.bags(tmp_path, 3000)
    assert len(filled.rows) == 3
    monkeypatch.setattr(buckets, "LARGEST", 50)
    (assigned,) = buckets.filling(tmp_path, 3000)
    assert len(assigned.rows) == 3


# What is kept


def counted(subject: kept.Subject, method: NoisyCounts | SafePub) -> None:
    """What is kept of a release is what `judge` finds, by its own means."""
    release = method.release(subject.table)
    information, _ = kept.kept(subject, pl.DataFrame(release.table))
    judged = shoal.judge(subject.table, release).losses["granularity"].normalised
    assert information == pytest.approx(1 - judged)
    assert 0 < information < 1


def test_the_information_kept_is_what_judge_says(small: Source) -> None:
    subject = kept.Subject.of(small)
    counted(subject, NoisyCounts(2, "1e-3", levels=subject.medium))
    counted(subject, SafePub(2, "1e-2"))


def test_a_record_is_kept_once_and_by_the_finest_row_around_it(small: Source) -> None:
    subject = kept.Subject.of(small)
    values = subject.table.names
    first = subject.frame.filter(pl.col(values[0]) == subject.frame[values[0]][0])
    rest = subject.frame.filter(pl.col(values[0]) != subject.frame[values[0]][0])
    stars = rest.with_columns(pl.lit("*").alias(name) for name in values)
    information, records = kept.kept(subject, pl.concat([first, stars, stars]))
    assert records == 1  # twice as many rows as records keep each of them once
    assert information == pytest.approx(len(first) / len(subject.frame))


def test_every_measurement_of_what_is_kept_runs(
    small: Source,
    plain: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(kept, "adult", lambda: small)
    monkeypatch.setattr(kept, "EPSILONS", ("2",))
    monkeypatch.setattr(kept, "DELTA", "1e-2")
    monkeypatch.setattr(kept, "YARDSTICK", 1)
    monkeypatch.setattr(kept, "CLASSES", {small.name: "c00"})
    monkeypatch.setitem(kept.MAKERS, "shoal.release", lambda *_: shoal.no_such_method())
    figures = plain / "figures.json"
    methods = ["SafePub", "noisy counts, levels given", "shoal.release", *kept.PEERS]
    given = ["--runs", "1", "--figures", str(figures), "--methods", ";".join(methods)]
    monkeypatch.setattr(kept, "environment", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["kept", *given])
    kept.main()
    shown = capsys.readouterr()
    assert "shoal.release is left out" in shown.err
    assert "acs is left out" in shown.err
    assert "noisy counts, levels given  2" in shown.out
    found = kept.read_entries(figures)
    assert [entry.method for entry in found] == methods[:2]
    assert kept.merged(found, found) == found


# From a plain clone


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for tables where none are at hand; those that are made up are small."""
    monkeypatch.setattr(sources, "TABLES", tmp_path / "nowhere")
    monkeypatch.setattr(sources, "CACHE", tmp_path)
    monkeypatch.setattr(sources, "ROWS", {"adult": 600, "health": 700, "timeuse": 700})
    return tmp_path


def test_tables_that_are_not_at_hand_are_made_up(
    plain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [adult(), large("health", plain), large("timeuse", plain), large("health", plain, 50)]
    assert [source.name for source in found] == [
        "made-up adult",
        "made-up health",
        "made-up timeuse",
        "made-up health-50",
    ]
    for source, rows, nodes in zip(
        found, (600, 700, 700, 50), (19_440, 14_580, 34_992, 14_580), strict=True
    ):
        table = work.code(source)
        assert table.rows == rows
        assert work.lattice(table, work.count(table)).size == nodes
    said = capsys.readouterr().err
    assert said.count("SHOAL_TABLES names another folder") == 4
    content = found[0].path.read_bytes()
    found[0].path.unlink()
    assert adult().path.read_bytes() == content


def test_every_table_of_the_main_benchmark_runs_from_a_plain_clone(
    plain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "peak", lambda *_: 1.0)
    monkeypatch.setattr(everything, "least", lambda run, ready=None, repeats=1: Took(1.0, 1.0))
    given = ["bench", "--only", "adult,health,timeuse", "--data", str(plain)]
    monkeypatch.setattr(sys, "argv", given)
    everything.main()
    assert "made-up timeuse" in capsys.readouterr().out


def test_peers_that_cannot_be_installed_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed: subprocess.CompletedProcess[str] = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(venv, "create", lambda folder, with_pip: folder.mkdir())
    monkeypatch.setattr(subprocess, "run", lambda command: failed)
    assert everything.environment(tmp_path / "peers") is None
    assert "left out" in capsys.readouterr().err
    assert not (tmp_path / "peers").exists()


def test_other_modules_find_a_table_of_the_shape_of_adult(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safepub, "best", partial(best, repeats=1))
    assert coincident.table(5).rows > 100
    assert personal.table().rows == 600
    assert len(columns.association(adult(), runs=1).rows) > 1
    assert safepub.speed([adult()]).rows


def test_every_picture_of_the_guide_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "ENOUGH", 3000)
    assert len(left.advice(runs=1).rows) == len(left.ASKED)
    found = left.by_records(runs=1, sizes=(300,))
    assert [each.method for each in found] == [*left.METHODS]
    drawn = (
        left.records_picture(found),
        left.regions_picture(),
        left.epsilon_picture(left.PAGE),
        left.shares_picture(left.PAGE),
    )
    for picture in drawn:
        assert picture.to_dict()


def test_the_guide_shows_what_was_measured() -> None:
    guide = (ROOT / "docs" / "how-to" / "how-much-is-left.md").read_text(encoding="utf-8")
    by_epsilon = left.by_epsilon(left.PAGE)
    assert len(by_epsilon.rows) == len(left.CENSUS) * len(kept.EPSILONS)
    _, _, lines = by_epsilon.text(markdown=True).partition("\n\n")
    assert lines in guide


def test_examples_of_peers_are_answered(tmp_path: Path) -> None:
    rows = [f"{age}, {sex}, {pay}" for age in (20, 30) for sex in "fm" for pay in ("low", "high")]
    (tmp_path / "adult.csv").write_text("\n".join(["age, sex, salary-class", *rows, *rows, ""]))
    (tmp_path / "age.csv").write_text("20,*\n30,*\n")
    (tmp_path / "sex.csv").write_text("f,*\nm,*\n")
    example: dict[str, Any] = {
        "file": str(tmp_path / "adult.csv"),
        "quasi": ["age", "sex"],
        "sensitive": "salary-class",
        "suppressed": 50,
        "hierarchies": {name: str(tmp_path / f"{name}.csv") for name in ("age", "sex")},
    }
    figures = {"k": 4, "l": 2, "entropy": 2, "t": 0, "beta": 0, "delta": 0}
    assert examples.checked(example, {"answers": figures})[1] == "equal"
    wrong = examples.checked(example, {"answers": {**figures, "k": 5}})[1]
    assert wrong == "differ: k (4, theirs 5)"
    theirs = {"answers": {"records": 16, "levels": [1, 1]}}
    _, words = examples.made(example, "4-anonymity", theirs)
    assert words == "16 records, levels 00; theirs 16, 11"


@pytest.mark.parametrize(
    "module", sorted(path.stem for path in Path(work.__file__).parent.glob("*.py"))
)
def test_every_module_starts_without_tables(module: str, plain: Path) -> None:
    if module in ("peers", "peers_examples"):
        pytest.skip("runs in an environment of its own")
    importlib.import_module(f"bench.{module}")

"""The benchmarks still run: every measurement once, on a small table. What they measure is no test's business."""

from pathlib import Path

import pytest

from bench import buckets, columns, work
from bench.__main__ import Printed
from bench.measure import best, peak
from bench.ratings import make
from bench.sources import Source, wide


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


def test_the_best_of_several_gets_fresh_things_every_time() -> None:
    made: list[list[int]] = []

    def ready() -> list[int]:
        made.append([])
        return made[-1]

    assert best(lambda given: given.append(1), ready, repeats=3) >= 0
    assert made == [[1], [1], [1]]


def test_tables_print_as_markdown() -> None:
    text = Printed("Title", ("what", "who", "R"), [("a", "b", 1.2345), ("c", "d", None)]).text(
        markdown=True
    )
    assert (
        text
        == "## Title\n\n| what | who |    R |\n| ---- | --- | ---: |\n| a    | b   | 1.23 |\n| c    | d   |      |"
    )


def test_every_measurement_of_columns_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(row[3] == row[4] for row in columns.noise(draws=10).rows if row[4])
    source = Source("ratings", make(2000, 20, 6000, tmp_path / "ratings.csv"), tmp_path)
    release = work.columns(source, 4, 2)
    assert release.table.columns == ["record", "column_group", "item", "rating"]
    case = columns.Case.of(20, 2000)
    monkeypatch.setattr(columns.Case, "of", lambda items: case)
    monkeypatch.setattr(columns, "EPSILONS", ("ln(10)",))
    monkeypatch.setattr(columns, "DELTAS", ("1e-3",))
    monkeypatch.setattr(columns, "BOUGHT", ((10,),))
    monkeypatch.setattr(columns, "SCHEMAS", {(2,): 2, (2, 4): 2, (10,): 3})
    (found,) = columns.rmse(1)
    assert len(found.rows) == 3 + 2 + 3 + 1
    assert len([*columns.counts(1)]) == 2


def test_every_measurement_of_buckets_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = buckets.shares()
    assert (sum(counts), max(counts), min(counts), len(counts)) == (300_000, 22_500, 540, 50)
    monkeypatch.setattr(buckets, "THETAS", (16, 32))
    monkeypatch.setattr(buckets, "LARGEST", 22)
    times, errors = buckets.settings(tmp_path, 3000, repeats=1, gap="0.1")
    assert {row[1] for row in times.rows} >= {"two", "multi", "optimal"}
    assert all(
        float(str(row[1])) <= float(str(row[2])) <= float(str(row[3])) for row in errors.rows
    )
    (filled,) = buckets.bags(tmp_path, 3000)
    assert len(filled.rows) == 3

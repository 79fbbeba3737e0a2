"""Releases in parts, and larger than memory: every part counts, and no row is repeated."""

import errno
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data import files, free_memory
from shoal.data.frames import RowsWithCounts
from shoal.errors import FileError, ParameterError, TooLargeError
from shoal.ledger import Destination, Ledger
from shoal.releases.release import Release
from shoal.releases.sealed import canonical, seal_of
from shoal.studies.judging import judge
from tests.releases.verification.forging import TREES, people, released

FORMS = ("csv", "parquet", "arrow")
LIMITS = shoal.Limits.each({}, others="2/3")
METHODS: dict[str, Any] = {
    "safepub": shoal.SafePub(2, "1e-4", levels={"age": 1, "sex": 0}),
    "tree": shoal.SafePub(2, "1e-4", search="tree"),
    "noisy": shoal.NoisyCounts(2, "1e-4", levels={"age": 1}),
    "counted": shoal.NoisyCounts(2, "1e-4", levels={"age": 1}, counts=True),
    "kdgs": shoal.KDGS(5, levels={"age": 1}),
    "sample": shoal.RandomSample("1/2"),
    "optimal": shoal.Optimal([shoal.KAnonymity(3)]),
    "mondrian": shoal.Mondrian([shoal.KAnonymity(3)]),
    "personal": shoal.Personal("1/2"),
    "buckets": shoal.Buckets("ill", LIMITS),
    "coincident": shoal.Coincident([shoal.DistinctDiversity("ill", 2)], size=4),
    "disclosure": shoal.Disclosure([shoal.DistinctDiversity("ill", 2)]),
    "columns": shoal.Columns(2, "1e-4", schema=[["sex", "age"], ["ill"]], levels={"age": 1}),
}


def in_parts(folder: Path, form: str = "csv", rows: int = 300) -> tuple[Path, list[Path]]:
    """A release of SafePub: its certificate, and its parts."""
    released("fixed").write(folder, form, rows_per_file=rows)
    return folder / "certificate.json", sorted(folder.glob(f"release-*.{form}"))


def sealed(paper: Path, **changes: Any) -> None:
    """Change what a certificate says about its file, and seal it anew."""
    content = json.loads(paper.read_text(encoding="utf-8"))
    del content["seal"]
    content["file"] |= changes
    paper.write_text(canonical({**content, "seal": seal_of(content)}), encoding="utf-8")


def digests(parts: list[Path]) -> list[str]:
    return [hashlib.sha256(part.read_bytes()).hexdigest() for part in parts]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("form", FORMS)
def test_a_release_in_parts_is_the_one_that_was_made(name: str, form: str, tmp_path: Path) -> None:
    release = METHODS[name].release(people(100))
    release.write(tmp_path / "whole", form)
    release.write(tmp_path / "parts", form, rows_per_file=70)
    whole, parts = (Release.read(tmp_path / folder) for folder in ("whole", "parts"))
    assert parts.table.equals(whole.table)
    verdicts = [
        shoal.verify(tmp_path / folder / "certificate.json", tmp_path / folder, TREES)
        for folder in ("whole", "parts")
    ]
    assert verdicts[0] == verdicts[1] == []
    assert verdicts[0].unchecked == verdicts[1].unchecked
    own = [int(read.shape[0]) for read in (parts.rows, *parts.further.values())]
    expected = sum(max(-(-rows // 70), 1) for rows in own)
    assert len(list((tmp_path / "parts").iterdir())) == expected + 1


@pytest.mark.parametrize("form", FORMS)
def test_a_part_that_is_missing_changed_added_or_swapped_fails(form: str, tmp_path: Path) -> None:
    paper, parts = in_parts(tmp_path, form)
    assert len(parts) > 3
    for table in (tmp_path, parts[0], parts[-1], tmp_path / f"release-*.{form}"):
        assert shoal.verify(paper, table) == []
    contents = [part.read_bytes() for part in parts]

    def fails(*words: str) -> bool:
        """Whether verifying and reading say so."""
        with pytest.raises(FileError) as error:
            Release.read(tmp_path)
        said = [shoal.verify(paper, tmp_path)[0], str(error.value)]
        return all(any(word in text for word in words) for text in said)

    parts[1].unlink()
    assert fails("cannot read", f"lacks parts of its table, such as 'release-00001.{form}'")
    parts[1].write_bytes(contents[1].replace(b"flu", b"fly"))
    assert fails(f"digests differ in 'release-00001.{form}'")
    parts[1].write_bytes(contents[0])
    parts[0].write_bytes(contents[1])
    assert fails(f"digests differ in 'release-00000.{form}', 'release-00001.{form}'")
    parts[0].write_bytes(contents[0])
    parts[1].write_bytes(contents[1])
    for name in ("release-00099", "release-copy", "release-"):
        more = tmp_path / f"{name}.{form}"
        more.write_bytes(contents[0])
        assert fails(f"1 file beside the parts of the table would be read as a part: {more.name!r}")
        more.unlink()
    assert shoal.verify(paper, tmp_path) == []


def test_parts_in_another_order_are_found_though_their_digests_are_sealed(tmp_path: Path) -> None:
    paper, parts = in_parts(tmp_path)
    full = parts[:-1]
    contents = [part.read_bytes() for part in full]
    assert len(set(contents)) > 1
    for part, content in zip(full, reversed(contents), strict=True):
        part.write_bytes(content)
    sealed(paper, sha256=digests(parts))
    assert "not in the order" in shoal.verify(paper, tmp_path)[0]


def test_parts_that_are_left_out_or_cut_are_found_by_the_sizes_of_groups(tmp_path: Path) -> None:
    paper, parts = in_parts(tmp_path)
    lines = parts[-1].read_text().splitlines()
    parts[-1].write_text("".join(f"{line}\n" for line in [*lines[:-1], "m,40-49,cold"]))
    sealed(paper, sha256=digests(parts))
    assert any("fewer than k" in fault for fault in shoal.verify(paper, tmp_path))


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": []},
        {"sha256": ["0"]},
        {"sha256": [1]},
        {"sha256": {}},
        {"sha256": None},
        {"name": "release.csv"},
        {"name": "../release-*.csv"},
        {"name": "release-?.csv"},
        {"name": "*"},
        {"rows": 7},
    ],
)
def test_a_certificate_says_of_parts_only_what_is_usual(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    paper, parts = in_parts(tmp_path)
    sealed(paper, **changes)
    assert shoal.verify(paper, parts[0])
    # Only the last part of a name counts, for whoever reads it.
    if "rows" not in changes and changes.get("name", "")[:3] != "../":
        with pytest.raises(FileError):
            Release.read(tmp_path)


def test_the_certificate_of_many_parts_is_short_for_people(tmp_path: Path) -> None:
    in_parts(tmp_path, rows=10)
    text = str(Release.read(tmp_path).certificate)
    assert "release-*.csv" in text
    assert "parts, whose SHA-256 are in" in " ".join(text.split())


def test_an_earlier_release_is_replaced_whether_in_parts_or_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = released("fixed")
    for rows in (None, 300, 900, None):
        path = release.write(out, rows_per_file=rows)
        assert (path.name == "release.csv") == (rows is None)
        assert shoal.verify(out / "certificate.json", path) == []
    release.write(out, rows_per_file=900)
    (out / "release-00077.csv").write_text("private")
    with pytest.raises(FileError, match="belongs to no release"):
        release.write(out)


@pytest.mark.parametrize("rows", [0, -1])
def test_parts_without_rows_are_refused(rows: int, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=f"rows_per_file={rows} is out of range"):
        released("fixed").write(tmp_path / "out", rows_per_file=rows)
    assert not (tmp_path / "out").exists()


def test_an_empty_release_has_one_part(tmp_path: Path) -> None:
    release = shoal.KDGS(10_000).release(people(10))
    for form in FORMS:
        release.write(tmp_path / form, form, rows_per_file=5)
        assert [path.name for path in (tmp_path / form).glob("release*")] == [
            f"release-00000.{form}"
        ]
        assert shoal.verify(tmp_path / form / "certificate.json", tmp_path / form) == []
        assert len(Release.read(tmp_path / form).table) == 0


def test_parts_of_pandas_have_the_same_types(tmp_path: Path) -> None:
    """Also one in which all values of a column are missing."""
    paper = released("fixed").certificate
    frame = pd.DataFrame({"a": [None, None, "x", "y"], "b": [1, 2, 3, 4]}, dtype=object)
    for rows in (RowsWithCounts(frame, np.array([1, 1, 1, 1])), frame):
        Release(rows, paper).write(tmp_path, "parquet", rows_per_file=2)
        schemas = [pl.read_parquet_schema(path) for path in tmp_path.glob("*.parquet")]
        assert len(schemas) == 2
        assert schemas[0] == schemas[1]


# A disk that is full


@pytest.mark.parametrize("form", FORMS)
def test_a_disk_that_is_full_at_a_later_part_leaves_nothing_and_is_spent(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serialise = files.serialise
    often: list[int] = []

    def filling(frame: Any, file: Any, *given: Any, **options: Any) -> None:
        often.append(1)
        serialise(frame, file, *given, **options)
        if len(often) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "serialise", filling)
    ledger = Ledger.create(tmp_path / "ledger", epsilon=3, delta="1e-3")
    destination = Destination(tmp_path / "out", form, rows_per_file=100)
    with pytest.raises(FileError, match=r"No space left.*still counts as spent"):
        ledger.release(METHODS["safepub"], people(100), destination)
    assert len(often) == 3
    assert ledger.spent().epsilon == 2
    assert not (tmp_path / "out").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]
    with pytest.raises(ParameterError, match="rows_per_file"):
        ledger.release(METHODS["sample"], people(10), replace(destination, rows_per_file=0))
    assert ledger.spent().epsilon == 2


# Larger than memory


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_whose_rows_do_not_fit_is_written_read_verified_and_judged(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if there were memory for a hundredth of them; classification needs single records."""
    table = people(20_000)
    release = METHODS["safepub"].release(table)
    whole = judge(table, replace(release, table=release.rows.repeated()), queries=5)
    free = 8_000_000 if form == "parquet" else 20_000_000
    monkeypatch.setattr(free_memory, "available", lambda: free)
    monkeypatch.setattr(files, "_ROW_GROUP", 10_000)
    path = release.write(tmp_path / "out", form)
    assert shoal.verify(tmp_path / "out" / "certificate.json", path, TREES) == []
    read = Release.read(tmp_path / "out")
    assert len(read.rows.count) < 10
    judged = judge(table, read, queries=5)
    assert judged == whole
    monkeypatch.setattr(free_memory, "available", lambda: 1_000_000)
    with pytest.raises(TooLargeError, match=r"single rows.*Release.rows"):
        _ = read.table
    with pytest.raises(TooLargeError, match="single records"):
        judge(table, read, classes="ill")


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("buckets", "columns")])
def test_rows_with_counts_are_judged_as_single_rows_are(name: str) -> None:
    table = people(60)
    release = METHODS[name].release(table, Seeded(3))
    counted = judge(table, release, queries=20, seed=1)
    release = replace(release, table=release.table)
    single = judge(table, release, queries=20, seed=1)
    assert counted == single


def test_the_folder_of_a_release_is_read_as_its_table(tmp_path: Path) -> None:
    in_parts(tmp_path)
    whole = shoal.Release.read(tmp_path).table
    assert shoal.read(tmp_path).rows == len(whole)
    assert shoal.read(tmp_path, engine="stream").rows == len(whole)

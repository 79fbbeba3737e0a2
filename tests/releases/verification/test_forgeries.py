"""`verify` against someone who changes anything on a certificate and seals it anew.

Whatever is changed is found, or is listed as not checked; the words of a promise are never those of
the file; and whatever the files are, the answer is in words.
"""

import copy
import io
import json
import random
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal import KAnonymity, Optimal
from shoal.cli.app import app
from shoal.data import parquet
from shoal.data.hierarchy import Hierarchy, suppress
from shoal.data.kinds import Kind
from shoal.errors import TooLargeError
from shoal.privacy.models import (
    DeltaDisclosure,
    DistinctDiversity,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
)
from shoal.releases.release import Release
from shoal.releases.sealed import canonical, seal_of
from shoal.releases.verification import Verdict
from tests.methods import examples as test_methods
from tests.methods import test_buckets, test_columns

Content = dict[str, Any]
Place = tuple[Any, ...]

MODELS = (
    PSensitive("ill", 2, 3),
    RecursiveDiversity("ill", 3, 2),
    TCloseness("ill", "9/10", "ordered"),
    DeltaDisclosure("ill", 9),
)


def releases() -> dict[str, Any]:
    """A release by every method that is tested, made when it is asked for."""
    plain = {
        name: (one, test_methods.people)
        for name, one in test_methods.METHODS.items()
        if one.name not in ("buckets", "columns")
    }
    plain |= {
        "many models": (Optimal(MODELS), test_methods.people),
    }
    buckets = {f"buckets {name}": one for name, one in test_buckets.METHODS.items()}
    return {
        **{
            name: lambda one=one, table=table: one.release(table())
            for name, (one, table) in plain.items()
        },
        **{name: lambda one=one: one.release(test_buckets.many()) for name, one in buckets.items()},
        **{
            f"columns {name}": lambda name=name: test_columns.made(name)
            for name in test_columns.METHODS
        },
    }


RELEASES = releases()
FEWER = [
    name
    for name in RELEASES
    if not name.startswith("columns") or name in ("columns wide", "columns long public")
]
every_release = pytest.mark.parametrize("name", FEWER)
every_release_at_all = pytest.mark.parametrize("name", RELEASES)
TREES = {"age": test_methods.AGES, "town": test_methods.PLACES}


@cache
def released(name: str) -> Release:
    made: Release = RELEASES[name]()
    return made


def written(name: str, folder: Path, form: str = "csv") -> tuple[Content, Path, Path]:
    """What is on the certificate but for the seal, and where it and the table are."""
    table = released(name).write(folder, form)
    paper = folder / "certificate.json"
    return opened(paper), paper, table


def opened(paper: Path) -> Content:
    content: Content = json.loads(paper.read_text(encoding="utf-8"))
    del content["seal"]
    return content


def sealed(content: Content, paper: Path) -> None:
    text = canonical({**content, "seal": seal_of(content)})
    paper.write_bytes(text.encode("utf-8", "surrogatepass"))


def leaves(inside: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    for key, inner in inside.items() if isinstance(inside, dict) else enumerate(inside):
        if isinstance(inner, dict | list) and inner:
            yield from leaves(inner, (*place, key))
        else:
            yield (*place, key), inner


def kind_of(place: Place) -> Place:
    """The place without what names rows of a list, so that other certificates have the same."""
    return tuple("#" if isinstance(key, int) else key for key in place)


@cache
def seen() -> dict[Place, list[Any]]:
    """Every value that some certificate has at a kind of place: what a forger would put there."""
    found: dict[Place, list[Any]] = {}
    for name in RELEASES:
        content = json.loads(released(name).certificate.to_json())
        for place, value in leaves(content):
            values = found.setdefault(kind_of(place), [])
            if value not in values and len(values) < 12:
                values.append(value)
    return found


def other(value: Any, place: Place) -> list[Any]:
    """Other values for a leaf: near ones, such as certificates have there, and none."""
    near: list[Any] = [f"{value}x", f"1{value}", f"{value}1", ""]
    if isinstance(value, bool):
        near = [not value]
    elif isinstance(value, int):
        near = [value + 1, max(value - 1, 0), 2 * value]
    elif isinstance(value, float):
        near = [value / 2 + 0.001]
    elsewhere = [new for new in seen().get(kind_of(place), ()) if not same(value, new)]
    near = [new for new in near if not same(value, new)]
    return [one for pair in zip_longest(near, [*elsewhere, None], fillvalue=None) for one in pair]


def replaced(content: Content, place: Place, value: Any) -> Content:
    changed = copy.deepcopy(content)
    inside: Any = changed
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return changed


def same(value: Any, again: Any) -> bool:
    """JSON tells 1, 1.0 and true apart, Python does not."""
    return json.dumps(value) == json.dumps(again)


def listed(place: Place, verdict: Verdict) -> bool:
    return any(place[: len(one)] == one for one in verdict.places)


# A part at a time


def unnoticed(name: str, folder: Path, trees: Any, each: int | None) -> tuple[list[Any], int]:
    """The changes of one leaf that are neither found nor listed, and how many were tried.

    each: how many changes of each leaf; None for all of them
    """
    content, paper, table = written(name, folder)
    honest = shoal.verify(paper, table, trees)
    assert honest == []
    assert honest.statement
    assert honest.unchecked
    missed, tried = [], 0
    for place, value in leaves(content):
        for new in other(value, place)[:each]:
            if same(value, new):
                continue
            tried += 1
            sealed(replaced(content, place, new), paper)
            verdict = shoal.verify(paper, table, trees)
            if not verdict and not listed(place, verdict):
                missed.append((place, value, new))
    return missed, tried


@every_release
def test_every_changed_leaf_is_found_or_listed_as_not_checked(name: str, tmp_path: Path) -> None:
    missed, tried = unnoticed(name, tmp_path, None, 2)
    assert not missed
    assert tried > 40


@pytest.mark.slow
@pytest.mark.parametrize("trees", [None, TREES], ids=["bare", "with hierarchies"])
@every_release_at_all
def test_every_value_that_another_certificate_has_there_is_found_or_listed(
    name: str, trees: Any, tmp_path: Path
) -> None:
    missed, tried = unnoticed(name, tmp_path, trees, None)
    assert not missed
    assert tried > 100


@pytest.mark.parametrize("name", ["optimal", "safepub", "disclosure"])
def test_hierarchies_settle_levels(name: str, tmp_path: Path) -> None:
    missed, _ = unnoticed(name, tmp_path, TREES, 2)
    assert not missed
    _, paper, table = written(name, tmp_path)
    settled = shoal.verify(paper, table, TREES)
    assert ("levels", "age") in shoal.verify(paper, table).places
    assert ("levels", "age") not in settled.places
    for level in range(3):
        content = opened(paper)
        if content["levels"]["age"] != level:
            sealed(replaced(content, ("levels", "age"), level), paper)
            assert shoal.verify(paper, table, TREES)
            sealed(content, paper)


def test_a_level_that_labels_do_not_settle_is_listed(tmp_path: Path) -> None:
    """Where all ages have one label at two levels, or nothing is released."""
    tree = Hierarchy.from_lines([["1", "low", "low", "*"], ["2", "low", "low", "*"]], Kind.INTEGER)
    frame = pl.DataFrame({"age": [1, 2] * 5})
    for rows in (frame, frame.clear()):
        table = shoal.table(rows, quasi=["age"], hierarchies={"age": tree})
        path = Optimal((KAnonymity(2),), floor={"age": 1}).release(table).write(tmp_path)
        verdict = shoal.verify(tmp_path / "certificate.json", path, {"age": tree})
        assert verdict == []
        assert ("levels", "age") in verdict.places


@every_release
def test_a_part_more_or_less_is_found(name: str, tmp_path: Path) -> None:
    content, paper, table = written(name, tmp_path)
    for place in [(), ("promise",), ("parameters",), ("derived",), ("file",), ("columns", 0)]:
        for change in ("more", "less"):
            changed = copy.deepcopy(content)
            inside: Any = changed
            for key in place:
                inside = inside[key]
            key = next(iter(inside), "none") if change == "less" else "note"
            if change == "more":
                inside[key] = "4,711 records"
            elif inside:
                del inside[key]
            sealed(changed, paper)
            verdict = shoal.verify(paper, table)
            assert changed == content or verdict or listed((*place, key), verdict), (place, change)


# The words


def table_with(name: str) -> shoal.Table:
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"] * 5, name: ["a", "b"] * 10})
    trees = {"sex": suppress(["f", "m"])}
    return shoal.table(frame, quasi=["sex"], sensitive=[name], hierarchies=trees)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


@pytest.mark.parametrize("version", ["0.0.1", "9.9.9", "", "0.1.0 ", "\x1b[2J", None, 1])
def test_words_of_an_unknown_version_are_never_shown(version: Any, tmp_path: Path) -> None:
    content, paper, table = written("optimal", tmp_path)
    boast = "nobody can ever be recognised"
    sealed({**content, "version": version, "statement": boast}, paper)
    assert shoal.verify(paper, table)
    assert shoal.verify(paper, table).statement is None
    done = run(paper, table)
    assert (done.exit_code, done.stdout) == (1, "")
    assert boast not in done.stderr
    assert json.loads(run(paper, table, "--json").stdout)["statement"] is None


@pytest.mark.parametrize(
    "name", ["optimal", "sampling", "safepub", "personal", "buckets two", "k-dgs"]
)
def test_a_statement_that_is_not_derived_is_found(name: str, tmp_path: Path) -> None:
    content, paper, table = written(name, tmp_path)
    sealed({**content, "statement": content["statement"] + "."}, paper)
    assert "the certificate's statement is not what its promise says" in shoal.verify(paper, table)
    for part in ("solver", "measure", "model", "counted_in"):
        if part in content["promise"]:
            forged = json.loads(
                json.dumps(content).replace(f'"{content["promise"][part]}"', '"perfect"')
            )
            sealed(forged, paper)
            assert shoal.verify(paper, table), part


BOAST = "ill, and nobody can be recognised.\nholds  everything\x1b[2J\u202e"


def test_a_columns_name_cannot_pass_for_a_promise_or_a_verdict(tmp_path: Path) -> None:
    method = Optimal((KAnonymity(2), DistinctDiversity(BOAST, 2)))
    path = method.release(table_with(BOAST)).write(tmp_path, "parquet")
    verdict = shoal.verify(tmp_path / "certificate.json", path)
    assert verdict == []
    assert repr(BOAST) in str(verdict.statement)
    done = run(tmp_path / "certificate.json", path)
    assert done.exit_code == 0
    assert [line.split() for line in done.stdout.splitlines() if line.startswith("holds")] == [
        ["holds", "as", "far", "as", "the", "files", "show"]
    ]
    assert not {"\x1b", "\u202e"} & set(done.stdout)
    sealed({**opened(tmp_path / "certificate.json"), "whole": False}, tmp_path / "certificate.json")
    done = run(tmp_path / "certificate.json", path)
    assert (done.exit_code, len(done.stderr.splitlines())) == (1, 1)


@pytest.mark.parametrize("place", [("method",), ("version",), ("promise", "promise")])
def test_what_is_quoted_from_a_certificate_is_short_and_on_one_line(
    place: Place, tmp_path: Path
) -> None:
    content, paper, table = written("optimal", tmp_path)
    sealed(replaced(content, place, "holds\n" * 10_000), paper)
    (fault,) = shoal.verify(paper, table)
    assert fault.isprintable()
    assert len(fault) < 1100


# Anything at all

NUMBERS: list[Any] = [0, -1, 1, 2, 10**18, 10**400, -(10**30), 0.5, 1e308, 5e-324]
TEXTS = [
    *("", "x", "1/0", "1e999999999", "1e-999999999", "ln(1)", "9*ln(10)", "nan", "\x00", "\ud800"),
    *("*", "../../x", "é" * 99, "0" * 10_000, "sensitive", "quasi"),
]
NESTED: list[Any] = [
    *([], {}, [[]], [{}], {"": None}, [1, "a", None], {"a": {"b": {"c": []}}}),
    *({"is": "x"}, {"is": "k-anonymity", "k": 0}),
]
JUNK: list[Any] = [None, True, False, *NUMBERS, *TEXTS, *NESTED]


def nodes(inside: Any, place: Place = ()) -> Iterator[Place]:
    for key, inner in inside.items() if isinstance(inside, dict) else enumerate(inside):
        yield (*place, key)
        if isinstance(inner, dict | list):
            yield from nodes(inner, (*place, key))


def mutated(content: Content, chance: random.Random) -> Content:
    """A certificate of which one to four parts are swapped, dropped, added, nested or renamed."""
    made = copy.deepcopy(content)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        place = chance.choice(list(nodes(made)) or [("x",)])
        inside: Any = made
        for key in place[:-1]:
            inside = inside[key]
        last = place[-1]
        what = chance.randrange(6)
        if what == 0 or not isinstance(inside, dict | list) or not inside:
            made[chance.choice(sorted(made))] = copy.deepcopy(chance.choice(JUNK))
        elif what == 1:
            del inside[last]
        elif what == 2 and isinstance(inside, dict):
            inside[chance.choice(["", "note", "is", "k", "column", "count"])] = inside.pop(last)
        elif what == 3:
            deep: Any = inside[last]
            for _ in range(chance.choice([1, 5, 300])):
                deep = [deep] if chance.random() < 0.5 else {"a": deep}
            inside[last] = deep
        elif what == 4:
            inside[last] = copy.deepcopy(chance.choice(JUNK))
        else:
            inside[last] = (
                f"{inside[last]}x"
                if isinstance(inside[last], str)
                else copy.deepcopy(chance.choice(JUNK))
            )
    return made


def assert_in_words(verdict: Verdict) -> None:
    assert isinstance(verdict, list)
    for line in (*verdict, *verdict.unchecked, verdict.statement or "nothing"):
        assert line
        assert line.isprintable()
        assert len(line) <= 1100
    assert (verdict.statement is None) == bool(verdict)


def fuzzed(name: str, folder: Path, examples: int) -> int:
    """Verify so many certificates that are anything, some by the command; how many failed."""
    content, paper, table = written(name, folder)
    chance, failed = random.Random(name), 0
    for _ in range(examples):
        changed = mutated(content, chance)
        try:
            sealed(changed, paper)
        except (RecursionError, ValueError):
            continue
        verdict = shoal.verify(paper, table, chance.choice([None, TREES]))
        assert_in_words(verdict)
        failed += bool(verdict)
    return failed


@every_release
def test_whatever_a_certificate_is_the_answer_is_in_words(name: str, tmp_path: Path) -> None:
    assert fuzzed(name, tmp_path, 30) > 10


@pytest.mark.slow
@every_release_at_all
def test_the_answer_is_in_words_for_many_more_certificates(name: str, tmp_path: Path) -> None:
    assert fuzzed(name, tmp_path, 2000) > 1000


def test_a_buckets_certificate_with_another_column_ends_in_words(tmp_path: Path) -> None:
    content, paper, table = written("buckets two", tmp_path)
    for part in ("promise", "parameters"):
        sealed(replaced(content, (part, "column"), "other"), paper)
        assert shoal.verify(paper, table)
        assert run(paper, table).exit_code == 1


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("name", ["optimal", "safepub", "noisy counts, standard", "buckets two"])
def test_whatever_a_table_is_the_answer_is_in_words(name: str, form: str, tmp_path: Path) -> None:
    content, paper, table = written(name, tmp_path, form)
    whole, chance = table.read_bytes(), random.Random(form)
    other = io.BytesIO()
    frame = pl.DataFrame({"age": [1.5, None], "ill": [[1], [2]], "count": [b"x", b"y"]})
    frame.write_parquet(other) if form != "arrow" else frame.write_ipc(other)
    junk = [
        b"",
        b"\x00",
        b"\n" * 99,
        b'"',
        b"a,a\n1,2\n",
        b"PAR1",
        b"ARROW1\x00\x00",
        other.getvalue(),
    ]
    junk += [whole[:cut] for cut in (1, 7, len(whole) // 2, len(whole) - 1)]
    junk += [whole[:-8] + bytes([255] * 4) + whole[-4:], whole[8:] + whole[:8], whole + whole]
    for _ in range(25):
        spoiled = bytearray(whole)
        for _ in range(chance.choice([1, 3, 20])):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        junk.append(bytes(spoiled))
    for bytes_ in junk:
        table.write_bytes(bytes_)
        sealed(replaced(content, ("file", "sha256"), sha256(bytes_).hexdigest()), paper)
        assert_in_words(shoal.verify(paper, table))


# What would not fit

BOMBS = {
    "rows": pl.DataFrame({"age": ["*"], "town": ["*"]}).select(
        pl.all().repeat_by(2_000_000).explode()
    ),
    "texts": pl.DataFrame({"age": ["a" * 60_000_000], "town": ["*"]}),
    "lists": pl.DataFrame({"age": [[0] * 4_000_000], "town": ["*"]}),
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_table_that_would_not_fit_into_memory_is_refused_before_it_is_read(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, paper, table = written("optimal", tmp_path, "parquet")
    BOMBS[what].write_parquet(table, row_group_size=BOMBS[what].height)
    assert table.stat().st_size < 100_000
    digest = sha256(table.read_bytes()).hexdigest()
    sealed(replaced(content, ("file", "sha256"), digest), paper)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 40_000_000)
    monkeypatch.setattr(pl.LazyFrame, "slice", lambda *_: pytest.fail("it was read"))
    (fault,) = shoal.verify(paper, table)
    assert "of memory and 40.0 MB are free" in fault
    with pytest.raises(TooLargeError, match="of memory"):
        shoal.read(table, engine="memory")


def test_a_certificate_that_would_not_fit_into_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, paper, table = written("optimal", tmp_path)
    monkeypatch.setattr("shoal.data.free_memory.available", lambda: 1000)
    assert "of memory" in shoal.verify(paper, table)[0]


@pytest.mark.parametrize("rows", [0, 1, 1000, 300_000])
@pytest.mark.parametrize(
    "options", [{}, {"use_pyarrow": True}, {"compression": "uncompressed"}], ids=str
)
def test_what_a_table_takes_is_at_least_what_it_has(
    rows: int, options: Any, tmp_path: Path
) -> None:
    """By Polars' own count, of files of two libraries, with all kinds of columns."""
    place = pl.arange(rows, eager=True)
    frame = pl.DataFrame(
        {
            "number": place,
            "text": (place % 7).cast(pl.String) + "long enough not to lie in place",
            "missing": pl.Series([None] * rows, dtype=pl.Float64),
            "flag": place % 2 == 0,
            "day": place.cast(pl.Date),
        }
    )
    frame.write_parquet(tmp_path / "t.parquet", **options)
    needed = parquet.unpacked_size((tmp_path / "t.parquet").read_bytes())
    assert needed is not None
    assert frame.estimated_size() * 0.9 <= needed <= 6 * frame.estimated_size() + 2000

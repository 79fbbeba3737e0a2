"""What must not leave: values of records that were not released, and what a terminal would obey."""

import json
import logging
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal import KDGS, Columns, NoisyCounts, SafePub
from shoal.cli.app import app
from shoal.data import frames
from shoal.data.hierarchy import Hierarchy, suppress
from shoal.errors import ColumnError
from shoal.methods import noisy_counts, safepub
from shoal.methods.optimal import Optimal
from shoal.privacy.models import KAnonymity
from shoal.releases.sealed import canonical, seal_of

SECRET = "Zanzibar, which is longer than twelve bytes"
COLUMNS = {"sex": ["f"] * 9 + ["m"], "ill": [*"abcabzyxw", SECRET]}


def _dictionary(columns: Any) -> pa.Table:
    return pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in columns.items()}
    )


FRAMES = {
    "polars": pl.DataFrame,
    "polars categorical": lambda columns: pl.DataFrame(
        columns, schema_overrides={"ill": pl.Categorical}
    ),
    "polars enum": lambda columns: pl.DataFrame(
        columns, schema_overrides={"ill": pl.Enum([*"zyxwcba", SECRET])}
    ),
    "pandas": pd.DataFrame,
    "pandas category": lambda columns: pd.DataFrame(columns).astype("category"),
    "arrow": pa.table,
    "arrow dictionary": _dictionary,
    "arrow views": lambda columns: pa.table(
        {name: pa.array(values, pa.string_view()) for name, values in columns.items()}
    ),
}


def _released(frame: Any) -> shoal.Release:
    table = shoal.table(
        frame, quasi=["sex"], sensitive=["ill"], hierarchies={"sex": suppress(["f", "m"])}
    )
    return Optimal((KAnonymity(5),), suppression="1/10", ceiling={"sex": 0}).release(table)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_suppressed_value_is_in_no_byte_of_a_release(tmp_path: Path, kind: str) -> None:
    made = _released(FRAMES[kind](COLUMNS))
    assert len(made.table) == 9
    assert SECRET.encode() not in pickle.dumps(made.table)
    for format in ("csv", "parquet", "arrow"):
        assert SECRET.encode() not in made.write(tmp_path, format).read_bytes()


def test_the_type_of_a_column_does_not_reveal_that_a_suppressed_value_was_missing() -> None:
    frame = pd.DataFrame({"sex": COLUMNS["sex"], "ill": [*map(float, range(9)), None]})
    table = shoal.table(
        frame,
        quasi=["sex"],
        sensitive=["ill"],
        hierarchies={"sex": suppress(["f", "m"])},
        types={"ill": "integer"},
    )
    made = Optimal((KAnonymity(5),), suppression="1/10", ceiling={"sex": 0}).release(table)
    assert str(made.table["ill"].dtype) == "int64"


def test_categories_do_not_reveal_the_order_of_the_rows() -> None:
    frame = pd.DataFrame(COLUMNS)
    frame["ill"] = pd.Categorical(frame["ill"], categories=frame["ill"].unique())
    assert _released(frame).table["ill"].cat.categories.is_monotonic_increasing


NOON, MIDNIGHTS = datetime(2024, 7, 3, 12), [datetime(2024, 7, day) for day in (1, 2)]
ZONED = [value.replace(tzinfo=UTC) for value in (*MIDNIGHTS, NOON)]

TYPES: dict[str, tuple[Any, list[Any], Any, str | None]] = {
    "times": (pl.Datetime("us"), MIDNIGHTS, NOON, "date"),
    "times as text": (pl.Datetime("us"), MIDNIGHTS, NOON, "text"),
    "a midnight": (pl.Datetime("us"), [NOON, NOON.replace(day=4)], MIDNIGHTS[0], "text"),
    "times in a zone": (pl.Datetime("us", "UTC"), ZONED[:2], ZONED[2], "text"),
    "times of pandas": ("datetime64[ns]", MIDNIGHTS, NOON, "date"),
    "times of arrow": (pa.timestamp("us"), MIDNIGHTS, NOON, "date"),
    "a zone without a name": (pa.timestamp("us", "+02:00"), ZONED[:2], ZONED[2], "text"),
    "objects": (object, [1, 2], "3", "integer"),
    "objects as text": (object, ["1", "2"], 3, "text"),
    "missing": ("Int64", [1, 2], None, None),
    "a long number": (pa.decimal128(38, 0), [Decimal(1), Decimal(2)], Decimal("9" * 38), None),
    "a fraction": (pl.Float64, [1.0, 2.0], 2.5, None),
    "quotes": (pl.String, ["1", "2"], '",\n', None),
    "a category": ("category", ["a", "b"], "c", None),
    "categories of polars": (pl.Categorical, ["a", "b"], "c", None),
}


def _everything(
    directory: Path,
    kind: Any,
    values: list[Any],
    declared: str | None,
    level: int | None,
    method: Any,
) -> dict[str, object]:
    """All that leaves, where all records are drawn: sex and x as they are, or x at a level of a
    hierarchy.
    """
    sex = ["f", "m"] * 100 + ["d"] * (len(values) - 200)
    if isinstance(kind, pa.DataType):
        frame: Any = pa.table({"sex": sex, "x": pa.array(values, kind)})
    elif kind is object or isinstance(kind, str):
        frame = pd.DataFrame({"sex": sex, "x": pd.Series(values, dtype=kind)})
    else:
        frame = pl.DataFrame({"sex": sex, "x": pl.Series(values, dtype=kind)})
    days = [[f"2024-07-0{day}", "July", "*"] for day in range(1, 5)]
    trees = {"sex": suppress(["f", "m", "d"])}
    if level is not None:
        trees["x"] = (
            suppress([*"abc"])
            if kind == "category"
            else Hierarchy.from_lines(days, declared or "text")
        )
    table = shoal.table(
        frame,
        quasi=["sex"],
        sensitive=["x"],
        hierarchies=trees,
        types=None if declared is None else {"x": declared},
    )
    levels = {"sex": 0} if level is None else {"sex": 0, "x": level}
    made = method(1, "1e-3", levels=levels).release(table)
    told: dict[str, object] = {
        "certificate": replace(made.certificate, number="").to_json(),
        "type": str(made.table.schema if hasattr(made.table, "schema") else made.table.dtypes),
    }
    return told | {
        form: made.write(directory / form, form).read_bytes()
        for form in ("csv", "parquet", "arrow")
    }


def _told_apart(
    directory: Path,
    kind: Any,
    values: list[Any],
    odd: Any,
    declared: str | None,
    level: int | None,
    method: Any = SafePub,
) -> bool:
    """Whether a record more, which is alone and never leaves, shows in anything that does."""
    many = values * 100
    without, with_it = (
        _everything(directory, kind, rows, declared, level, method) for rows in (many, [*many, odd])
    )
    assert pl.read_csv(directory / "csv" / "release.csv").height == 200
    return without != with_it


@pytest.fixture
def all_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safepub, "drawn", lambda counts, share, chance: counts)
    monkeypatch.setattr(
        noisy_counts,
        "noisy",
        lambda count, parameters, chance: count * (count >= parameters.threshold),
    )


@pytest.mark.parametrize("what", TYPES)
@pytest.mark.parametrize("method", [SafePub, NoisyCounts])
@pytest.mark.usefixtures("all_are_drawn")
def test_a_record_that_never_leaves_shows_in_no_byte_and_no_type(
    tmp_path: Path, what: str, method: Any
) -> None:
    kind, values, odd, declared = TYPES[what]
    assert not _told_apart(tmp_path, kind, values, odd, declared, None, method)
    if what in ("times", "times of pandas", "times of arrow", "a category"):
        for level in (0, 1):
            assert not _told_apart(tmp_path, kind, values, odd, declared, level, method)


@pytest.mark.parametrize(
    "what", ["times", "times as text", "times of pandas", "times of arrow", "objects"]
)
@pytest.mark.usefixtures("all_are_drawn")
def test_a_type_that_depends_on_the_values_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
) -> None:
    """A twin that gives a column its type back where its values have the kind that is asked for."""
    monkeypatch.setattr(
        frames, "_stays", lambda library, own, kind: frames.kind_of(library, own) is kind
    )
    kind, values, odd, declared = TYPES[what]
    assert _told_apart(tmp_path, kind, values, odd, declared, None)


# Erases the screen, in three ways; reverses the text; deletes.
@pytest.mark.parametrize("spell", ["\x1b[2J", "\x9b2J", "\r", "\u202e", "\x7f"])
def test_a_name_is_not_a_command_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spell: str
) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"a{spell}b"
    pl.DataFrame({name: ["x", "y"], "c": ["x", "x"]}).write_parquet("t.parquet")
    Path("h.csv").write_text("x;*\ny;*\n")
    quasi = ["--quasi", f'"{name}"']
    commands = [
        ["assess", "t.parquet", "--quasi", "c", "--details"],
        ["assess", "t.parquet", *quasi],
        ["assess", "t.parquet", *quasi, "--json"],
        ["assess", "t.parquet", "--quasi", "absent"],
        ["assess", f"{name}.csv", "--quasi", "c"],
        ["preview", "t.parquet", *quasi, "--hierarchy", f'"{name}=h.csv"'],
        ["compare", "t.parquet", "t.parquet", "--quasi", "c"],
        ["hierarchy", "check", f"{name}.csv"],
        ["recipe", "new", "t.parquet"],
    ]
    for command in commands:
        result = CliRunner().invoke(app, command)
        assert spell not in result.output, command
    assert json.loads(CliRunner().invoke(app, commands[2]).stdout)["columns"] == [name]
    assert name in tomllib.loads(result.stdout)["roles"]


# Mistakes that were taken for bugs


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(COLUMNS).write_csv("people.csv")
    return """
        [source]
        path = "people.csv"
        [roles]
        sex = "quasi"
        ill = "sensitive"
        [hierarchies.sex]
        build = "suppress"
        values = ["f", "m"]
        [method]
        name = "optimal"
        suppression = 1
        models = ["2-anonymity"]
    """


def _refused(*command: str) -> str:
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2, result.output
    assert "Zanzibar" not in result.output
    return result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("suppression = 1", "suppression = 1" + "0" * 5000, "thousands of digits"),
        ("suppression = 1", "suppression = " + "[" * 9000, "a hundred deep"),
        ('values = ["f", "m"]', "values = " + "[" * 100 + "]" * 100, "more than 50 deep"),
        ("sex =", ".".join("a" * 60) + " =", "more than 50 deep"),
        ("sex =", ".".join("a" * 2000) + " =", " deep"),  # newer Pythons do not read this
        (
            'path = "people.csv"',
            'path = "people.csv"\nencoding = "base64"',
            "source.encoding: 'base64' is unknown",
        ),
        ('path = "people.csv"', 'path = "people.csv"\nencoding = "\\u0000"', "is unknown"),
        (
            'build = "suppress"\n        values = ["f", "m"]',
            'file = "\\u0000"',
            "cannot read the hierarchy",
        ),
        (
            'build = "suppress"\n        values = ["f", "m"]',
            'file = "people.csv"',
            "is the source itself",
        ),
    ],
)
def test_a_recipe_that_asks_too_much_is_refused_in_words(
    recipe: str, old: str, new: str, said: str
) -> None:
    Path("recipe.toml").write_text(recipe.replace(old, new))
    assert said in _refused("release", "recipe.toml", "--out", "out")


def test_a_name_too_long_for_a_directory_is_refused(recipe: str) -> None:
    Path("recipe.toml").write_text(recipe)
    assert "cannot write" in _refused("release", "recipe.toml", "--out", "long" * 1000)


def test_a_limit_with_thousands_of_digits_is_refused(recipe: str) -> None:
    assert "--max-at-risk" in _refused(
        "assess", "people.csv", "--quasi", "sex", "--max-at-risk", "9" * 5000
    )


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_a_full_disk_is_reported_and_nothing_is_left_behind(recipe: str, format: str) -> None:
    resource = pytest.importorskip("resource")
    columns = {"sex": ["f", "m"] * 50_000, "ill": [f"{i * 7919 % 100_003}" for i in range(100_000)]}
    pl.DataFrame(columns).write_csv("people.csv")
    Path("recipe.toml").write_text(f'{recipe}\n[output]\nformat = "{format}"')
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        said = _refused("release", "recipe.toml", "--out", "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot" in said
    assert "make room" in said or "is the disk full?" in said
    assert not Path("out").exists()


@pytest.mark.parametrize("values", [[frozenset([SECRET])], [SECRET, 1, 2.5], [10**30], [1j]])
def test_values_that_no_file_holds_are_refused_without_them(
    tmp_path: Path, values: list[Any]
) -> None:
    with pytest.raises(ColumnError, match="convert it to text") as caught:
        shoal.write(pd.DataFrame({"a": values}), tmp_path / "a.csv")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "values",
    [pl.Series([SECRET, 1], dtype=pl.Object), pl.Series([10**30]), pl.Series([timedelta(1)])],
)
def test_values_that_polars_cannot_tell_apart_are_refused(
    tmp_path: Path, values: pl.Series
) -> None:
    frame = pl.DataFrame({"a": values})
    with pytest.raises(ColumnError, match="convert it to text"):
        shoal.assess(shoal.table(frame, quasi=["a"]))
    if values.dtype != pl.Int128:
        with pytest.raises(ColumnError, match="CSV cannot hold"):
            shoal.write(frame, tmp_path / "a.csv")


def _places(content: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(content, dict):
        inside = content.items()
    elif isinstance(content, list):
        inside = enumerate(content)
    for key, inner in inside:
        yield (*here, key)
        yield from _places(inner, (*here, key))


@pytest.mark.parametrize("value", [None, 1, "x", [1], {"a": 1}], ids=str)
def test_a_forged_certificate_is_reported_in_words(tmp_path: Path, value: Any) -> None:
    table = shoal.table(
        pl.DataFrame(COLUMNS),
        quasi=["sex"],
        sensitive=["ill"],
        hierarchies={"sex": suppress(["f", "m"])},
    )
    method = Optimal((KAnonymity(2), shoal.TCloseness("ill", "0.9"), shoal.BetaLikeness("ill", 9)))
    released = method.release(table).write(tmp_path)
    paper = tmp_path / "certificate.json"
    honest = {key: inner for key, inner in json.loads(paper.read_text()).items() if key != "seal"}
    assert shoal.verify(paper, released) == []
    passed = set()
    for place in _places(honest):
        content = json.loads(json.dumps(honest))
        part = content
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        paper.write_text(canonical({**content, "seal": seal_of(content)}))
        verdict = shoal.verify(paper, released)
        lines = [*verdict, *verdict.unchecked]
        assert lines
        assert all(isinstance(line, str) and line.isprintable() for line in lines)
        if not verdict and content != honest:
            passed.add(place)
            assert any(place[: len(open_)] == open_ for open_ in verdict.places), place
    assert len(passed) < 12  # of over fifty


# Types that a record which stays would change


def _parts(values: list[str], chunk: int) -> pa.Table:
    """A column of dictionaries with narrow places, each part with a dictionary of its own."""
    narrow = pa.dictionary(pa.int8(), pa.string())
    parts = [
        pa.array(values[i : i + chunk]).dictionary_encode().cast(narrow)
        for i in range(0, len(values), chunk)
    ]
    return pa.table({"a": pa.chunked_array(parts)})


_ORDERED = pd.CategoricalDtype([5, 7], ordered=True)
MANY = [*"wwwww", *(f"v{i:03}" for i in range(127))]

NEIGHBOURS: dict[str, tuple[Any, Any, str | None]] = {
    "only a record that stays fills the column, polars": (
        pl.DataFrame({"a": [None] * 5}),
        pl.DataFrame({"a": [*[None] * 5, "x"]}),
        "text",
    ),
    "only a record that stays fills the column, arrow": (
        pa.table({"a": [None] * 5}),
        pa.table({"a": [*[None] * 5, "x"]}),
        "text",
    ),
    "the only missing value, pandas": (
        pd.DataFrame({"a": [1] * 5}),
        pd.DataFrame({"a": [*[1] * 5, None]}),
        "integer",
    ),
    "the only value of an ordered category of numbers": (
        pd.DataFrame({"a": pd.Series([None] * 5, dtype=_ORDERED)}),
        pd.DataFrame({"a": pd.Series([*[None] * 5, 7], dtype=_ORDERED)}),
        None,
    ),
    "one value more than a narrow dictionary has places for": (
        _parts(MANY, 100),
        _parts([*MANY, "v127"], 100),
        None,
    ),
}


@pytest.mark.parametrize("which", NEIGHBOURS)
def test_no_type_reveals_a_record_that_stays(which: str) -> None:
    *frames, kind = NEIGHBOURS[which]
    told = []
    for frame in frames:
        made = KDGS(5).release(shoal.table(frame, quasi=["a"], types={"a": kind} if kind else None))
        assert len(made.table) == 5
        told.append(
            (
                str(getattr(made.table, "schema", None) or made.table.dtypes),
                made.certificate.columns,
            )
        )
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [None, None]}),
        pa.table({"a": [None, None]}),
        pd.DataFrame({"a": [None, None]}, dtype=object),
        pd.DataFrame({"a": [1, None]}),
    ],
    ids=["polars, all missing", "arrow, all missing", "pandas, all missing", "pandas, one missing"],
)
def test_a_type_that_missing_values_decide_is_to_be_declared(frame: Any) -> None:
    with pytest.raises(ColumnError, match="would be read off its values"):
        KDGS(2).release(shoal.table(frame, quasi=["a"]))
    KDGS(2).release(shoal.table(frame, quasi=["a"], types={"a": "integer"}))


# People who would be one


PEOPLE = [Decimal(10**19 + i) for i in range(5)]  # one float


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"id": pl.Series(PEOPLE, dtype=pl.Decimal(20, 0)), "a": ["x"] * 5}),
        pa.table({"id": pa.array(PEOPLE, pa.decimal128(20, 0)), "a": ["x"] * 5}),
        pd.DataFrame({"id": pd.Series(PEOPLE, dtype=object), "a": ["x"] * 5}),
    ],
    ids=["polars", "arrow", "pandas"],
)
def test_people_are_never_one_because_floats_have_few_digits(frame: Any) -> None:
    method = Columns(1, "1e-3", schema=[["x"]], person="id", item="a")
    with pytest.raises(ColumnError, match="apart, but its type is read off its values"):
        method.release(shoal.table(frame, identifying=["id"], insensitive=["a"]))
    declared = shoal.table(frame, identifying=["id"], insensitive=["a"], types={"id": "text"})
    assert method.release(declared).facts.records == 5


def test_logs_say_what_happened_and_no_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pl.DataFrame(COLUMNS).write_csv(tmp_path / "people.csv")
    ledger = shoal.Ledger.create(tmp_path / "ledger.db", epsilon=1, delta="1e-6")
    with caplog.at_level(logging.DEBUG, "shoal"):
        for engine in ("memory", "stream"):
            table = shoal.read(
                tmp_path / "people.csv",
                quasi=["sex"],
                sensitive=["ill"],
                hierarchies={"sex": suppress(["f", "m"])},
                engine=engine,
            )
            Optimal((KAnonymity(5),), suppression="1/10").release(table)
        ledger.release(SafePub(1, "1e-6"), table, tmp_path / "out")
        shoal.verify(tmp_path / "out" / "certificate.json", tmp_path / "out")
    said = "\n".join(record.getMessage() for record in caplog.records)
    for step in ("reading", "releasing by optimal", "safepub: ", "reserves", "wrote", "holds"):
        assert step in said
    assert SECRET not in said
    assert {record.name.partition(".")[0] for record in caplog.records} == {"shoal"}


def test_logging_is_left_to_whoever_imports_shoal() -> None:
    code = """if True:
        import logging, shoal
        print(logging.root.handlers, *map(type, logging.getLogger("shoal").handlers))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "<class", "'logging.NullHandler'>"]

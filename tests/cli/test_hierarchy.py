"""`shoal hierarchy list`, `show`, `make` and `check`, as someone types them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from shoal.cli.app import app
from shoal.data.hierarchy import READY, read

CITIES = "FR;West;*\nDE;West;*\nPL;East;*\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "country.csv").write_text(CITIES, encoding="utf-8")
    (tmp_path / "people.csv").write_text(
        "age,country\n7,FR\n31,XX\n31,XX\n40,YY\n12,\n", encoding="utf-8"
    )
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, ["hierarchy", *words])
    assert done.exit_code == code, done.output
    return done


def test_show_has_a_line_for_every_level(folder: Path) -> None:
    lines = run("show", "country.csv").stdout.splitlines()
    assert lines[0] == "country.csv: 3 values, 3 levels"
    assert lines[2].split() == ["level", "values", "covers", "share", "examples"]
    assert lines[3].split() == ["0", "3", "1", "33.3", "%", "FR,", "DE,", "PL"]
    assert lines[4].split() == ["1", "2", "1–2", "66.7", "%", "West,", "East"]
    assert all(len(line) <= 80 for line in lines)


def test_show_draws_the_tree(folder: Path) -> None:
    drawn = run("show", "country.csv", "--tree", "--most", "1").stdout
    for part in ("├── West", "│   ├── FR", "│   └── … 1 more", "└── … 1 more"):
        assert part in drawn


def test_show_keeps_to_the_width_and_to_the_text_of_long_labels(folder: Path) -> None:
    Path("long.csv").write_text(
        "".join(f"{'[bold]' + letter * 90};[{letter}];*\n" for letter in "abcdef"), encoding="utf-8"
    )
    lines = run("show", "long.csv").stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert "[bold]aaa" in lines[3]
    assert "[a], [b], [c] … [f]" in lines[4]


def test_show_never_sends_control_characters_to_the_terminal(folder: Path) -> None:
    Path("odd.csv").write_text('"a\nb";*\n\x1b[31mred;*\n', encoding="utf-8")
    printed = run("show", "odd.csv", "--tree").stdout
    assert "\x1b" not in printed
    assert "├── a b" in printed


@pytest.mark.parametrize(("columns", "examples"), [("40", 0), ("80", 1), ("120", 3)])
def test_show_leaves_out_examples_rather_than_the_end_of_a_line(
    folder: Path, columns: str, examples: int
) -> None:
    Path("wards.csv").write_text(
        "".join(f"a ward with a long name {i};*\n" for i in range(9)), encoding="utf-8"
    )
    done = CliRunner().invoke(app, ["hierarchy", "show", "wards.csv"], env={"COLUMNS": columns})
    line = done.stdout.splitlines()[3].rstrip()
    assert len(line) <= int(columns)
    assert line.endswith("…")  # the ninth one is cut, or left out
    assert line.count("a ward with a long name") == examples


def test_show_prints_json(folder: Path) -> None:
    found = json.loads(run("show", "country.csv", "--json").stdout)
    assert (found["leaves"], found["derived"], found["type"]) == (3, False, "text")
    assert found["levels"][1] == {
        "level": 1,
        "values": 2,
        "covers": [1, 2],
        "share": 2 / 3,
        "examples": ["West", "East"],
    }


def test_check_of_a_sound_hierarchy_exits_with_0(folder: Path) -> None:
    assert run("check", "country.csv").stdout == "sound: 3 values, 3 levels\n"


def test_check_names_all_problems_and_exits_with_1(folder: Path) -> None:
    Path("bad.csv").write_text("a;g;*\na;g;*\nb;h\nc;h;x\n", encoding="utf-8")
    printed = run("check", "bad.csv", code=1).stdout
    for part in ("problem: ragged: line 3", "problem: duplicates: 'a'", "problem: 2 roots"):
        assert part in printed
    found = json.loads(run("check", "bad.csv", "--json", code=1).stdout)
    assert {one["name"] for one in found["problems"]} == {"ragged", "duplicates", "two roots"}
    assert found["sound"] is False


def test_check_takes_a_root(folder: Path) -> None:
    Path("bad.csv").write_text("a;g;*\nb;g;*\nc;h;x\n", encoding="utf-8")
    assert (
        "--root '*' to replace the last level, with --add-root '*' to put one above"
        in run("check", "bad.csv", code=1).stdout
    )
    assert "--add-root '*'" in run("show", "bad.csv", code=2).stderr
    assert run("check", "bad.csv", "--root", "*").stdout == "sound: 3 values, 3 levels\n"
    assert run("check", "bad.csv", "--add-root", "all").stdout.endswith(
        "sound: 3 values, 4 levels\n"
    )


def test_warnings_are_problems_only_when_strict(folder: Path) -> None:
    Path("idle.csv").write_text("a;A;*\nb;B;*\n", encoding="utf-8")
    assert "warning: level 1 merges nothing" in run("check", "idle.csv").stdout
    assert "sound" not in run("check", "idle.csv", "--strict", code=1).stdout


def test_check_counts_the_values_of_a_table_that_the_hierarchy_lacks(folder: Path) -> None:
    printed = run(
        "check", "country.csv", "--table", "people.csv", "--column", "country", code=1
    ).output
    assert "2 values of column 'country' are not in the hierarchy, in 3 rows" in printed
    assert "XX" not in printed
    found = json.loads(
        run(
            "check", "country.csv", "--table", "people.csv", "--column", "country", "--json", code=1
        ).stdout
    )
    assert (found["missing"], found["missing_rows"]) == (2, 3)
    assert "missing_values" not in found


def test_check_lists_those_values_only_when_asked(folder: Path) -> None:
    words = ("check", "country.csv", "--table", "people.csv", "--column", "country", "--values")
    assert "missing: 'XX'\nmissing: 'YY'\n" in run(*words, code=1).stdout
    assert json.loads(run(*words, "--json", code=1).stdout)["missing_values"] == ["XX", "YY"]


def test_an_integer_column_meets_a_text_hierarchy(folder: Path) -> None:
    run("make", "intervals", "--low", "0", "--high", "99", "--widths", "10", "--out", "age.csv")
    run("check", "age.csv", "--table", "people.csv", "--column", "age")
    run("check", "age.csv", "--table", "people.csv", "--column", "age", "--type", "integer")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "nowhere.csv"], "cannot read"),
        (["check", "nowhere.csv"], "cannot read"),
        (["check", "country.csv", "--table", "people.csv"], "go together"),
        (["check", "country.csv", "--table", "people.csv", "--column", "town"], "'town'"),
        (["check", "country.csv", "--table", "nowhere.csv", "--column", "town"], "nowhere.csv"),
        (["show", "people.csv"], "roots"),
        (
            ["make", "intervals", "--low", "0", "--high", "9", "--widths", "x"],
            "not a finite number",
        ),
        (["make", "intervals", "--widths", "5"], "give --low, or --bottom"),
        (
            ["make", "intervals", "--low", "0.5", "--high", "9"],
            "--low is not an integer; round it, or declare --type float",
        ),
        (
            ["make", "intervals", "--low", "0", "--high", "9", "--widths", "5", "--cuts", "5"],
            "give --widths or --cuts, not both",
        ),
        (["make", "intervals", "--low", "9", "--high", "0"], "--high must not be below --low"),
        (
            ["make", "intervals", "--low", "0", "--high", "9", "--cuts", "50"],
            "beyond --bottom or --top",
        ),
        (
            ["make", "dates", "--first", "2024-01-02", "--last", "2024-01-01"],
            "--first is after --last",
        ),
        (["make", "dates", "--first", "today", "--last", "2024-01-01"], "--first is not a date"),
        (["make", "mask"], "give --values, --values-from or --length"),
        (["make", "mask", "--length", "3", "--steps", "2,1"], "--steps must be whole numbers"),
        (
            ["make", "mask", "--length", "0"],
            "--length 0 is out of range; it takes a whole number above 0",
        ),
        (
            ["make", "group", "--group", "West=FR", "--values", "FR,JP"],
            "1 value of the domain is in no group, 'JP'; put",
        ),
        (["make", "group", "--group", "West=FR", "--values", "FR,JP"], "give --rest"),
        (["make", "dates", "--first", "2024-01-01"], "give --last too"),
        (["make", "dates", "--last", "2024-01-01"], "give --first too"),
        (["make", "suppress"], "no domain is declared"),
        (
            ["make", "suppress", "--values", "a", "--table", "people.csv", "--column", "age"],
            "go together",
        ),
        (["make", "suppress", "--values", "a", "--values-from", "country.csv"], "not both"),
        (["make", "suppress", "--values-from", "nowhere.csv"], "cannot read"),
        (["make", "suppress", "--values", "a,b", "--out", "country.csv"], "--force"),
        (["make", "suppress", "--values", "a,b", "--out", "nowhere/x.csv"], "cannot write"),
        (["make", "suppress", "--values", "a,b", "--separator", "x"], "separator"),
        (
            [
                "make",
                "dates",
                "--first",
                "2024-01-01",
                "--last",
                "2024-12-31",
                "--levels",
                "week,month",
            ],
            "weeks cross",
        ),
        (["make", "mask", "--length", "3", "--steps", "a"], "is not a whole number"),
        (["make", "mask", "--length", "30"], "the most"),
        (
            ["make", "order", "--values", "a,b", "--sizes", "1+2"],
            "--sizes of level 1 sum to 3, and the level below has 2 values",
        ),
        (["make", "group"], "give --group"),
        (["make", "group", "--group", "West"], "NAME=A,B,C"),
        (["make", "group", "--groups-from", "country.csv"], "does not contain groups"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(
    words: list[str], message: str, folder: Path
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run(*words, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("intervals --low -10 --high 10 --cuts -5,0,5 --cuts 0", "-10;-10 to -6;-10 to -1;*"),
        (
            "intervals --low 0 --high 1 --widths 0.25,0.5 --type float --closed right",
            '"[0, 0.25]";"[0, 0.5]";*',
        ),
        ("intervals --low 0 --high 1 --cuts 0.5 --type float --end open", '"[0, 0.5)";*'),
        ("intervals --low 0 --high 2 --step 0.5 --widths 1 --type float", "0;0-0.5;*"),
        ("intervals --bottom 10 --top 20 --origin 1 --widths 5", "<10;<10;*"),
        (
            "dates --first 2024-12-30 --last 2025-01-02 --levels week,iso-year",
            "2024-12-30;2025-W01;ISO 2025;*",
        ),
        ("dates --first 2024-12-30 --last 2025-01-02", "2024-12-30;2024-12;2024-Q4;2024;*"),
        ("mask --length 2 --alphabet ab --root any", "aa;a*;any"),
        ("mask --values 1067,80331 --pad 0 --align right --steps 3 --symbol #", "1067;01###;*"),
        ("mask --values abc --side left --steps 1,2", "abc;*bc;**c;*"),
        ("order --values a,b,c,d --sizes 1+3", "a;a;*"),
        ("order --values 10,9,8 --sizes 2 --sort --type integer", "8;8 to 9;*"),
        ("group --group West=FR,DE --group East=PL --values FR,DE,PL,JP --rest other", "FR;West;*"),
        ("suppress --values male,female --separator ,", "male,*"),
    ],
)
def test_make_prints_a_hierarchy(words: str, first: str, folder: Path) -> None:
    assert run("make", *words.split()).stdout.splitlines()[0] == first


def test_make_writes_a_file_and_says_what_it_has(folder: Path) -> None:
    done = run(
        "make", "group", "-g", "West=FR,DE", "-g", "East=PL", "--out", "country.csv", "--force"
    )
    assert done.stderr == "wrote country.csv: 3 levels, with 3, 2, 1 values\n"
    assert Path("country.csv").read_text(encoding="utf-8") == CITIES


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tree.json", '{"Europe": {"West": ["FR"]}, "Asia": ["JP"]}'),
        ("tree.toml", 'Asia = ["JP"]\n[Europe]\nWest = ["FR"]\n'),
    ],
)
def test_make_takes_nested_groups_from_a_file(name: str, content: str, folder: Path) -> None:
    Path(name).write_text(content, encoding="utf-8")
    printed = run("make", "group", "--groups-from", name).stdout
    assert set(printed.splitlines()) == {"FR;West;Europe;*", "JP;Asia;Asia;*"}


def test_make_takes_values_from_a_file(folder: Path) -> None:
    Path("values.txt").write_text("a b\nc,d\n\né\n", encoding="utf-8")
    assert run("make", "suppress", "--values-from", "values.txt").stdout == 'a b;*\n"c,d";*\né;*\n'


def test_what_is_made_from_a_table_is_marked_as_derived(folder: Path) -> None:
    done = run(
        "make",
        "intervals",
        "--table",
        "people.csv",
        "--column",
        "age",
        "--widths",
        "10",
        "--out",
        "age.csv",
    )
    assert "derived from the rows" in done.stderr
    assert read("age.csv").derived
    assert "derived from rows" in run("show", "age.csv").stdout
    assert json.loads(run("show", "age.csv", "--json").stdout)["derived"] is True
    assert "warning: the hierarchy was derived from rows" in run("check", "age.csv").stdout


@pytest.mark.parametrize(
    "words", [["--help"], ["make", "--help"], ["make", "intervals", "--help"], ["check", "--help"]]
)
def test_help_reads_well_at_80_columns(words: list[str]) -> None:
    assert all(len(line) <= 80 for line in run(*words).stdout.splitlines())


def test_list_has_every_ready_made_hierarchy(folder: Path) -> None:
    printed = run("list").stdout
    listed = json.loads(run("list", "--json").stdout)
    assert [one["name"] for one in listed] == list(READY)
    for one in listed:
        assert one["name"] in printed
        assert all((one["source"], one["licence"], one["forms"], one["level_names"]))


def test_show_takes_the_name_of_a_ready_made_hierarchy(folder: Path) -> None:
    printed = run("show", "isco-08", "--form", "minor").stdout
    assert "isco-08: 130 values, 4 levels" in printed
    assert "minor group, sub-major group, major group" in printed
    assert json.loads(run("show", "isco-08", "--json").stdout)["leaves"] == 436
    # A file of that name comes first.
    Path("isco-08").write_text(CITIES, encoding="utf-8")
    assert "3 values" in run("show", "isco-08").stdout
    assert "is for ready-made" in run("show", "isco-08", "--form", "minor", code=2).stderr


def test_make_writes_a_ready_made_hierarchy(folder: Path) -> None:
    run("make", "ready", "us-states", "--values", "CA,NY", "--out", "states.csv")
    assert read("states.csv").lines() == [
        ["CA", "Pacific", "West", "*"],
        ["NY", "Middle Atlantic", "Northeast", "*"],
    ]
    assert "did you mean 'us-states'" in run("make", "ready", "us-state", code=2).stderr
    assert "--form" in run("make", "ready", "us-states", "--values", "XX", code=2).stderr


def test_hierarchies_that_arx_saved_are_shown_and_checked(folder: Path) -> None:
    from tests.arx.test_builders import bounds, intervals, saved

    saved(folder, intervals(0, 10, lower=bounds(0, 0, 0), upper=bounds(40, 40, 40)))
    assert run("show", "made.ahs").stdout.startswith("made.ahs: 40 values, 3 levels")
    assert run("show", "made.ahs", "--add-root", "all").stdout.startswith("made.ahs: 40 values, 4")
    assert run("check", "made.ahs").stdout == "sound: 40 values, 3 levels\n"
    column = ("--table", "people.csv", "--column", "age", "--type", "integer")
    assert "1 value" in run("check", "made.ahs", *column, code=1).stdout
    said = run("show", "made.ahs", "--separator", ";", code=2).stderr
    assert "--separator is for CSV files" in " ".join(said.split())
    (folder / "made.ahs").rename("made.csv")
    said = " ".join(run("show", "made.csv", code=2).stderr.split())
    assert "made.csv is not CSV, but saved by ARX" in said

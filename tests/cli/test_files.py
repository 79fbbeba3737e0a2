"""Files and streams of commands.

Inputs are never written over, and output goes into any encoding, or nowhere.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.cli.app import app
from tests.cli.shell import AGES
from tests.recipe.people import PEOPLE, RECIPE

FILED = RECIPE.replace('build = "suppress"\nvalues = ["f", "m"]', 'file = "sex.csv"')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    files = {"people.csv": PEOPLE, "age.csv": AGES, "sex.csv": "f;*\nm;*\n", "recipe.toml": FILED}
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def refused(*arguments: str) -> str:
    before = contents()
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert contents() == before
    return result.stderr


# Inputs


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("place", [".", "data", "data/..", "link"])
def test_a_release_is_not_written_into_a_folder_with_an_input(place: str, force: list[str]) -> None:
    """The table has the name of a release, and lies where the recipe or the ledger may lie too."""
    Path("data").mkdir()
    Path("data/release.csv").write_text(PEOPLE)
    Path("link").symlink_to("data")
    Path("recipe.toml").write_text(FILED.replace("people.csv", "data/release.csv"))
    said = refused("release", "recipe.toml", "--out", place, *force)
    assert f"lies in {place} and would be published along with it; write the release" in said


@pytest.mark.parametrize("named", ["people.csv", "recipe.toml", "sex.csv", "ledger.db"])
def test_every_input_of_a_recipe_is_kept_out_of_the_release(named: str) -> None:
    assert run("ledger", "create", "ledger.db").exit_code == 0
    Path("alone").mkdir()
    Path(named).rename(Path("alone", named))
    recipe = FILED + '\n[ledger]\npath = "ledger.db"\n'
    for name in ("people.csv", "sex.csv", "ledger.db"):
        prefix = "../" * (named == "recipe.toml") + "alone/" * (named == name)
        recipe = recipe.replace(f'"{name}"', f'"{prefix}{name}"')
    where = "alone/recipe.toml" if named == "recipe.toml" else "recipe.toml"
    Path(where).write_text(recipe)
    said = refused("release", where, "--out", "alone", "--force")
    assert "lies in alone and would be published along" in said
    assert named in said


def test_an_earlier_release_that_is_the_source_is_not_replaced() -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    Path("again.toml").write_text(FILED.replace("people.csv", "out/release.csv"))
    assert "out/release.csv lies in out" in refused(
        "release", "again.toml", "--out", "out", "--force"
    )
    book = shoal.Recipe.load("again.toml")
    with pytest.raises(shoal.ShoalError, match="lies in out"):  # of the library too
        book.release(shoal.Recipe.load("recipe.toml").table(), "out")


def _links() -> dict[str, Path]:
    """Other names of an input."""
    os.link("people.csv", "hard")
    Path("soft").symlink_to("people.csv")
    Path("above").symlink_to(".")
    return {name: Path(name) for name in ("people.csv", "hard", "soft", "above/people.csv")}


COMMANDS = [
    ["hierarchy", "make", "suppress", "--table", "people.csv", "--column", "sex", "--out"],
    ["hierarchy", "make", "suppress", "--values-from", "people.csv", "--out"],
    ["judge", "recipe.toml", "--release", "out", "--out"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: " ".join(one[:3]))
def test_a_command_does_not_overwrite_its_inputs(command: list[str]) -> None:
    assert run("release", "recipe.toml", "--out", "out").exit_code == 0
    inputs = [*_links()]
    if command[0] == "judge":
        inputs += ["recipe.toml", "sex.csv", "PEOPLE.CSV"]
    for name in inputs:
        said = refused(*command, name, "--force")
        assert "is what the command reads" in said or "is a symbolic link" in said, name
    assert run(*command, "new.file").exit_code == 0


def test_groups_are_not_written_over_by_the_hierarchy_made_of_them() -> None:
    Path("groups.json").write_text('{"West": ["FR"]}')
    said = refused(
        "hierarchy",
        "make",
        "group",
        "--groups-from",
        "groups.json",
        "--out",
        "groups.json",
        "--force",
    )
    assert "groups.json is what the command reads" in said


def test_a_draft_is_not_written_through_a_link() -> None:
    Path("dangling.toml").symlink_to("elsewhere.toml")
    said = refused("recipe", "new", "people.csv", "--out", "dangling.toml")
    assert "is a symbolic link" in said
    assert not Path("elsewhere.toml").exists()


@pytest.mark.parametrize("command", ["ledger", "audit"])
def test_ledgers_and_audits_are_not_created_through_a_link(command: str) -> None:
    Path("empty").touch()
    Path("link.db").symlink_to("empty")
    given = ["create", "link.db"]
    if command == "audit":
        given = ["new", "people.csv", "--column", "visits", "--rows", "--store", "link.db"]
        given += ["--public", "age"]
    result = run(command, *given)
    assert result.exit_code == 2
    what = "a ledger" if command == "ledger" else "an audit"
    expected = f"link.db: cannot make {what} here: Too many levels of symbolic links"
    assert expected in result.stderr
    assert Path("empty").read_bytes() == b""


def test_files_that_views_name_are_not_written_over() -> None:
    Path("table.csv").write_text("name,ill\nAnn,flu\nBob,gout\n")
    Path("who.csv").write_text("name\nAnn\nBob\n")
    Path("views.toml").write_text(
        'gamma = "9/10"\n[register]\nfile = "who.csv"\nperson = "name"\n'
        '[[views]]\npeople = ["Ann", "Bob"]\nvalues = ["flu", "gout"]\n'
    )
    for name in ("who.csv", "views.toml"):
        said = refused("views", "certify", "views.toml", "--out", name, "--force")
        assert f"{name} is what the command reads" in said
    Path("paper.txt").symlink_to("who.csv")
    said = refused("views", "certify", "views.toml", "--out", "paper.json", "--force")
    assert "paper.txt is a symbolic link" in said


# Formulas


def test_cells_that_a_spreadsheet_would_run_are_warned_of_and_neutralised() -> None:
    Path("people.csv").write_text(PEOPLE.replace("cold", "=HYPERLINK(1)"))
    recipe = FILED.replace("suppression = 0.5", "suppression = 0.9").replace("k = 2", "k = 1")
    Path("recipe.toml").write_text(recipe)
    warned = run("release", "recipe.toml", "--out", "out")
    assert warned.exit_code == 0, warned.output
    [said] = [line for line in warned.stderr.splitlines() if "formulas" in line]
    assert said.startswith("owner only: release.csv has cells that a spreadsheet would run")
    assert "HYPERLINK" not in warned.output
    exec(said.partition("in Python: ")[2], {"shoal": shoal})
    assert b",'=HYPERLINK" in Path("out/release.csv").read_bytes()
    assert run("verify", "out/certificate.json", "out/release.csv").exit_code == 0
    for arguments, text in ((["--neutralise"], recipe), ([], recipe + "neutralise = true\n")):
        Path("recipe.toml").write_text(text)
        done = run("release", "recipe.toml", "--out", "out", "--force", *arguments)
        assert (done.exit_code, "formulas" in done.stderr) == (0, False), done.output
        assert b",'=HYPERLINK" in Path("out/release.csv").read_bytes()
        assert run("verify", "out/certificate.json", "out/release.csv").exit_code == 0
        assert run("judge", "recipe.toml", "--release", "out").exit_code == 0
    Path("recipe.toml").write_text(recipe.replace('format = "csv"', 'format = "arrow"'))
    assert "leave out --neutralise" in refused(
        "release", "recipe.toml", "--out", "new", "--neutralise"
    )


# Parts


def test_a_release_is_written_verified_judged_and_compared_in_parts() -> None:
    recipe = FILED.replace("suppression = 0.5", "suppression = 0.9").replace("k = 2", "k = 1")
    Path("recipe.toml").write_text(recipe)
    for arguments, text in (
        (["--rows-per-file", "2"], recipe),
        ([], recipe + "rows_per_file = 2\n"),
    ):
        Path("recipe.toml").write_text(text)
        done = run("release", "recipe.toml", "--out", "out", "--force", *arguments)
        assert done.exit_code == 0, done.output
        assert f"wrote {Path('out/release-*.csv')} and" in done.stderr
        assert run("verify", "out/certificate.json", "out/release-*.csv").exit_code == 0
        assert len(list(Path("out").glob("release-0000?.csv"))) > 1
        for table in ("out", "out/release-00001.csv"):
            assert run("verify", "out/certificate.json", table).exit_code == 0
        assert run("judge", "recipe.toml", "--release", "out").exit_code == 0
        compared = run("compare", "people.csv", "out/release-*.csv", "--recipe", "recipe.toml")
        assert compared.exit_code == 0, compared.output
    Path("out/release-00000.csv").unlink()
    assert run("verify", "out/certificate.json", "out").exit_code == 1
    said = refused("release", "recipe.toml", "--out", "new", "--rows-per-file", "0")
    assert "--rows-per-file 0 is out of range" in said
    Path("recipe.toml").write_text(recipe + "rows_per_file = 0\n")
    assert "output.rows_per_file" in refused("release", "recipe.toml", "--out", "new")
    assert not Path("new").exists()


# Streams

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]
SAID = [
    ("explain", "--epsilon", "1", "--delta", "1e-6"),
    ("explain", "--epsilon", "1", "--delta", "1e-6", "--json"),
    ("--help",),
    ("release", "--help"),
    ("nonsense",),
    ("recipe", "check", "recipe.toml"),
    ("recipe", "check", "absent-ε.toml"),
    ("recipe", "new", "people.csv"),
    ("hierarchy", "show", "sex.csv", "--tree"),
    ("hierarchy", "make", "suppress", "--values", "é,ε,日本"),
    ("assess", "people.csv", "-q", "age,sex"),
    ("assess", "people.csv", "-q", "ag,sex"),
    ("assess", "people.csv", "-q", "age,sex", "--json", "--min-k", "9"),
    ("release", "recipe.toml", "--out", "ε-日本"),
]

CODES = {
    ("nonsense",): 2,
    ("recipe", "check", "absent-ε.toml"): 2,
    ("assess", "people.csv", "-q", "ag,sex"): 2,
    ("assess", "people.csv", "-q", "age,sex", "--json", "--min-k", "9"): 1,
}

ALL = """if True:
    import sys
    from shoal.cli import main
    for line in sys.argv[1].split("|"):
        sys.argv[1:] = line.split()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        for stream in (sys.stdout, sys.stderr):
            stream.write(f"{code}\x1e")
            stream.flush()
"""

C = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
ENCODINGS = ["utf-8", "cp1252", "ascii", "C"]


def streamed(encoding: str, commands: list[tuple[str, ...]]) -> list[tuple[int, bytes, bytes]]:
    """The codes and outputs of commands whose streams have an encoding, and no mercy."""
    settings = C if encoding == "C" else {"PYTHONIOENCODING": f"{encoding}:strict"}
    line = "|".join(map(" ".join, commands))
    done = subprocess.run(
        [sys.executable, "-c", ALL, line],
        env={**os.environ, **settings},
        capture_output=True,
        check=True,
    )
    outputs = [stream.split(b"\x1e")[:-1] for stream in (done.stdout, done.stderr)]
    assert len(outputs[0]) == len(commands)
    return [
        (int(out[-1:]), out[:-1], said[:-1]) for out, said in zip(*outputs, strict=True)
    ]  # a code has one digit


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_commands_work_in_every_encoding(encoding: str) -> None:
    Path("sex.csv").write_text("f;*\nm;*\nε;*\n", encoding="utf-8")
    found = streamed(encoding, SAID)
    for arguments, (code, out, said) in zip(SAID, found, strict=True):
        assert b"Traceback" not in said
        assert b"a bug in Shoal" not in said
        expected = CODES.get(arguments, 0)
        if arguments[:2] == ("hierarchy", "make"):
            if encoding == "C":
                expected = 2  # the values given are no text there
            else:
                assert out.decode("utf-8") == "é;*\nε;*\n日本;*\n"  # it becomes a file
        assert code == expected, (arguments, code, said)
        if "--json" in arguments:
            assert json.loads(out.decode("ascii" if encoding == "C" else encoding))
    for path in Path("ε-日本").iterdir():
        path.read_bytes().decode("utf-8")


def test_greek_letters_are_spelled_where_an_encoding_has_none() -> None:
    [(_, _, said)] = streamed("cp1252", [("recipe", "check", "ε≥日.toml")])
    assert said.startswith(b"error: cannot read epsilon>=\\u65e5.toml")


def test_output_that_nobody_reads_is_not_an_error() -> None:
    """A pipe that is closed, streams that are closed from the start, and a disk that is full."""
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252:strict"}
    words = " ".join(f"'{word}'" for word in [*SHOAL, "assess", "people.csv", "-q", "age,sex"])
    running: list[tuple[str, set[int], subprocess.Popen[bytes]]] = []
    for more, code in (
        ("--json | true", {0, 141}),
        ("--json --min-k 9 2>&1 | true", {1, 141}),
        ("-q nothing 2>&1 | true", {2, 141}),
        (">&-", {0}),
        (">&- 2>&-", {0}),
        ("-q nothing 2>&-", {2}),
        ("> /dev/full", {2}),
        ("--min-k 9 > /dev/full", {1, 2}),
    ):
        line = f"set -o pipefail; {words} {more}"
        process = subprocess.Popen(
            ["bash", "-c", line],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        running.append((more, code, process))
    for more, code, process in running:
        _, said = process.communicate()
        assert process.returncode in code, (more, process.returncode, said)
        assert b"Traceback" not in said
        assert b"Exception ignored" not in said

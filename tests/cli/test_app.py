"""The program as a whole: its help, its exit codes, and that a mistake leaves nothing behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

import shoal
from shoal.cli.app import app, app_for
from tests.cli.shell import SECRET, command, contents, refused, run
from tests.conftest import ROOT
from tests.recipe.people import PEOPLE, RECIPE


def test_the_version_is_printed() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"shoal {shoal.__version__}\n"


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with its path."""

    def walk(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        yield path, command
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk((*path, name), inner)

    return walk((), typer.main.get_command(app))


def test_only_the_command_that_is_typed_is_loaded_and_all_of_it_is() -> None:
    every = dict(commands())
    names = [path[0] for path in every if len(path) == 1]
    for name in names:
        alone: Any = typer.main.get_command(app_for([name, "--help"]))
        assert [*alone.commands] == [name]
        loaded = alone.commands[name]
        inner = getattr(every[(name,)], "commands", {})
        assert [*getattr(loaded, "commands", {})] == [*inner]
    for words in ([], ["--version"], ["no-such-command"]):
        command: Any = typer.main.get_command(app_for(words))
        assert [*command.commands] == names
    code = "import sys; from shoal.cli.app import app_for; app_for(['assess']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "shoal.cli.assess" in done.stdout
    assert "shoal.cli.views" not in done.stdout


def test_help_reads_well_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path, _ in commands():
        result = run(*path, "--help")
        assert result.exit_code == 0
        assert not re.search(r"[a-z]…", result.stdout), path  # nothing cut off
        assert "<bool>" not in result.stdout, path
        assert max(map(len, result.stdout.splitlines())) <= 80, path


@pytest.mark.parametrize("command", ["attack", "verify", "compare", "explain"])
def test_paragraphs_of_help_flow(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line ends where the next word does not fit, or the paragraph does."""
    monkeypatch.setenv("COLUMNS", "80")
    said = [line.strip() for line in run(command, "--help").output.split("╭")[0].splitlines()]
    for line, after in pairwise(said):
        assert not line or not after or len(line) + 1 + len(after.split()[0]) > 78


def test_starting_up_loads_nothing_heavy() -> None:
    code = """if True:
        import sys
        from shoal.cli import main
        sys.argv = ["shoal", "--help"]
        try:
            main()
        finally:
            print(*sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert not loaded & {
        "numpy",
        "polars",
        "pandas",
        "pyarrow",
        "narwhals",
        "pydantic",
        "scipy",
        "sklearn",
    }


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    absent = []
    for path, inner in commands():
        name = " ".join(("shoal", *path))
        absent += [name] if name not in page else []
        absent += [
            f"{name} {option}"
            for p in inner.params
            for option in p.opts
            if option[0] == "-" and f"`{option}" not in page
        ]
    assert not absent


def test_the_package_is_a_program_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"shoal {shoal.__version__}\n"


def completed(shell: str, line: str) -> list[str]:
    """What a shell offers for a line, asked for as the scripts of the shells do."""
    words = line.split(" ")
    environment = {"_SHOAL_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        environment |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    else:
        environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [Path(sys.executable).with_name("shoal")],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return re.findall(r"(?<![\w-])(?:--)?[a-z][a-z-]*", done.stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell: str) -> None:
    assert {"recipe", "release", "report"} <= set(completed(shell, "shoal re"))
    assert "verify" not in completed(shell, "shoal re")
    assert "check" in completed(shell, "shoal recipe ch")
    assert "--json" in completed(shell, "shoal release --j")
    assert completed(shell, "shoal recipe new t.csv --method noi")[0] == "noisy-counts"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_the_shells(shell: str, tmp_path: Path) -> None:
    program = [Path(sys.executable).with_name("shoal")]
    # Naming the shell is for tests: people are asked nothing, theirs is detected.
    environment = os.environ | {
        "HOME": str(tmp_path),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    shown = subprocess.run(
        [*program, "--show-completion", shell], env=environment, capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    assert f"_SHOAL_COMPLETE=complete_{shell}" in shown.stdout
    done = subprocess.run(
        [*program, "--install-completion", shell], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    written = [path for path in tmp_path.rglob("*shoal*") if path.is_file()]
    assert [path.read_text().strip() for path in written] == [shown.stdout.strip()]


def test_bash_takes_the_script_and_completes_by_it(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    script = """
eval "$(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 shoal --show-completion bash)"
COMP_WORDS=(shoal ver); COMP_CWORD=1
_shoal_completion shoal
echo "${COMPREPLY[@]}"
"""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        env=os.environ | {"PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["verify"]


def test_only_the_command_that_is_completed_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SHOAL_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "shoal release --j")
    alone: Any = typer.main.get_command(app_for([]))
    assert [*alone.commands] == ["release"]


def test_quiet_leaves_errors_warnings_and_json(folder: Path) -> None:
    done = run("release", "recipe.toml", "--out", "out", "--quiet")
    assert done.exit_code == 0
    assert done.output == ""
    assert (folder / "out" / "certificate.json").is_file()
    assert run("recipe", "check", "recipe.toml", "--quiet").output == ""
    assert json.loads(run("assess", "people.csv", "-q", "age", "--json", "--quiet").stdout)
    violated = run("assess", "people.csv", "-q", "age", "--min-k", "5", "--quiet")
    assert violated.exit_code == 1
    assert violated.stdout == ""
    assert violated.stderr.startswith("violated: ")
    assert "exists" in refused("recipe", "new", "people.csv", "--out", "recipe.toml", "--quiet")
    # It is of that one run.
    assert run("recipe", "check", "recipe.toml").stdout


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("FileError", ["release", "nowhere.toml", "--out", "out"]),
        ("ColumnError", ["assess", "people.csv", "-q", "agee"]),
        ("ParameterError", ["assess", "people.csv", "-q", "age", "--min-k", "five"]),
        ("ParameterError", ["assess", "people.csv", "-q", "age", "--unheard-of"]),
        ("ParameterError", ["unheard-of"]),
    ],
)
def test_with_json_an_error_is_one_json_object(
    folder: Path, kind: str, arguments: list[str]
) -> None:
    said = refused(*arguments)
    told = json.loads(refused(*arguments, "--json"))
    assert told["error"]["kind"] == kind
    assert said == f"error: {told['error']['message']}\n"
    assert told["exit_code"] == 2


def test_with_json_a_bug_is_an_object_without_values(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot cast {SECRET!r}")

    monkeypatch.setattr("shoal.measure.risk.assess", broken)
    told = json.loads(refused("assess", "people.csv", "-q", "age", "--json", code=70))
    assert told["exit_code"] == 70
    assert told["error"]["kind"] == "RuntimeError"


def test_the_installed_program_works(folder: Path) -> None:
    program = Path(sys.executable).with_name("shoal")
    if not program.exists():
        pytest.skip("shoal is not installed as a program")
    done = subprocess.run(
        [program, "assess", "people.csv", "-q", "age,sex", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["records"] == 6


@pytest.mark.parametrize(
    "arguments",
    [
        ["assess", "people.csv", "-q", "agee"],
        ["assess", "people.csv", "-q", "age", "-s", "age"],
        ["assess", "people.csv", "-q", ""],
        ["assess", "people.csv"],
        ["assess", "people.csv", "-q", "age", "--threshold", "nan"],
        ["assess", "people.csv", "-q", "age", "--threshold", "2"],
        ["assess", "people.csv", "-q", "age", "--max-risk", "half"],
        ["assess", "people.csv", "-q", "age", "--max-uniques", "-1"],
        ["assess", "people.csv", "-q", "age", "--min-k", "five"],
        ["assess", "people.csv", "-q", "age", "--min-l", "2"],
        ["assess", "people.csv", "-q", "age", "--type", "age"],
        ["assess", "people.csv", "-q", "age", "--type", "age=number"],
        ["assess", "people.csv", "-q", "age", "--missing", "ignore"],
        ["assess", "people.csv", "-q", "age", "--encoding", "utf-99"],
        ["assess", "people.csv", "-q", "age", "--population", "sex.csv"],
        ["assess", "people.csv", "-q", "age", "--unheard-of"],
        ["release", "nowhere.toml", "--out", "out"],
        ["release", "recipe.toml", "--out", "people.csv"],
        ["release", "recipe.toml", "--out", "people.csv/inside"],
        ["preview", "people.csv"],
        ["preview", "people.csv", "-q", "age"],
        ["compare", "people.csv"],
        ["recipe", "new", "people.csv", "--out", "nowhere/recipe.toml"],
        ["unheard-of"],
    ],
    ids=" ".join,
)
def test_a_mistake_is_exit_code_2(folder: Path, arguments: list[str]) -> None:
    assert "rror" in refused(*arguments)


def test_no_message_carries_a_value_of_the_table(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE.replace("31", SECRET).replace(";m;", f";{SECRET};"))
    refused("release", "recipe.toml", "--out", "out")
    refused("recipe", "check", "recipe.toml")
    refused("assess", "people.csv", "-q", "age", "--type", "age=integer")
    refused("preview", "people.csv", "-q", "sex", "--hierarchy", "sex=sex.csv")


def test_a_bug_shows_its_place_and_no_value(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot cast {SECRET!r}")

    monkeypatch.setattr("shoal.measure.risk.assess", broken)
    said = refused("assess", "people.csv", "-q", "age", code=70)
    assert "RuntimeError in shoal.cli.assess, line" in said


def test_running_out_of_memory_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("shoal.measure.risk.assess", greedy)
    assert "out of memory" in refused("assess", "people.csv", "-q", "age")


WRITING = """if True:
    import signal, sys, time, shoal.data.files
    handlers = {"default": signal.SIG_DFL, "nohup": signal.SIG_IGN}
    handlers["ctrl-c"] = signal.default_int_handler
    signal.signal(int(sys.argv.pop(1)), handlers[sys.argv.pop(1)])  # whatever started the tests
    serialise = shoal.data.files.serialise
    def slowly(frame, file, format, **options):
        file.write(b"half")
        print("writing", flush=True)
        sys.stdin.readline()
        file.seek(0)
        file.truncate()
        serialise(frame, file, format, **options)
    shoal.data.files.serialise = slowly
    from shoal.cli import main
    main()
"""


def writing(folder: Path, number: int, handler: str) -> "subprocess.Popen[str]":
    """A release that has begun to write, and goes on once it is told to."""
    mondrian = RECIPE.replace('name = "optimal"\nsuppression = 0.5', 'name = "mondrian"')
    (folder / "recipe.toml").write_text(mondrian)
    arguments = [str(int(number)), handler, "release", "recipe.toml", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize(
    ("number", "handler"),
    [(signal.SIGINT, "ctrl-c"), (signal.SIGTERM, "default"), (signal.SIGHUP, "default")],
)
def test_being_stopped_leaves_nothing_half_written(folder: Path, number: int, handler: str) -> None:
    before = sorted(contents())
    process = writing(folder, number, handler)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "stopped" in said
    assert sorted(contents()) == before
    assert not (folder / "out").exists()


def test_a_release_under_nohup_goes_on_without_its_terminal(folder: Path) -> None:
    process = writing(folder, signal.SIGHUP, "nohup")
    process.send_signal(signal.SIGHUP)
    _, said = process.communicate("go on\n")
    assert process.returncode == 0, said
    assert (folder / "out" / "certificate.json").is_file()


def test_a_closed_pipe_is_not_an_error(folder: Path) -> None:
    process = command("assess", "people.csv", "-q", "age", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 141


def test_the_help_names_every_command_in_a_panel() -> None:
    shown = run("--help").stdout
    named = re.findall(r"^│ ([a-z]+) ", shown, flags=re.MULTILINE)
    modules = {path[0] for path, _ in commands() if path}
    assert sorted(named) == sorted(modules)
    assert "─ Commands ─" not in shown


def test_no_line_of_a_help_text_begins_with_an_option() -> None:
    """Typer takes such a line for an item of a list, and breaks the paragraph before it."""
    for path, inner in commands():
        lines = (inner.help or "").splitlines()
        assert not [line for line in lines if line.startswith("-")], path

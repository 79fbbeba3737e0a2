"""`shoal audit` and `shoal serve` at the command line."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import shoal
from shoal.audit import Secret
from shoal.cli.app import app
from shoal.errors import ColumnError
from tests.cli.shell import refused

PEOPLE = """name,dept,age,salary
Ann,X,31,52000
Bea,X,40,61000
Cid,Y,35,48000
Dov,Y,29,75000
Eve,Y,52,66000
Fay,X,58,58000
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("SHOAL_AUDIT", raising=False)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def said(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return str(result.stdout).strip()


def new(*options: str) -> Any:
    bounds = ("--bounds", "0", "200000", "--width", "1")
    return run("audit", "new", "people.csv", "--column", "salary", *bounds, *options)


def test_the_quick_start_works(folder: Path) -> None:
    result = new()
    assert result.exit_code == 0
    assert "made people.audit for 6 people" in result.stderr
    assert "Next: shoal audit ask 'max(salary)'\n" in result.stderr
    assert said("audit", "ask", "max(salary) where dept = 'X'") == "61000"
    assert said("audit", "ask", "max(salary) where name = 'Ann'") == "denied"
    count = said("audit", "ask", "count(*) where dept = 'X'", "--json")
    assert count == '{\n  "denied": false,\n  "answer": "3"\n}'
    first = said("audit", "transcript").splitlines()[0]
    assert first.rstrip() == "1  61000   max(salary) where dept = 'X'"
    state = json.loads(said("audit", "state", "--json"))
    assert (state["columns"][0]["answered"], state["columns"][0]["denied"]) == (1, 1)
    assert state["head"] in said("audit", "state").replace("\n", "")
    lines = json.loads(said("audit", "transcript", "--json"))["lines"]
    assert [line["denied"] for line in lines] == [False, True]


def test_a_table_with_people_in_several_rows_is_refused(folder: Path) -> None:
    lines = PEOPLE.splitlines()
    visits = "\n".join([lines[0], *lines[1:] * 2]) + "\n"
    (folder / "people.csv").write_text(visits)
    for options in ((), ("--public", "dept"), ("--rows",)):
        result = new(*options)
        assert result.exit_code == 2
        words = " ".join(result.stderr.split())
        assert "'name' seems to tell people apart and repeats: 6 values in 12 rows" in words
        assert "rows are not people" in words
        assert "--rows-are-people" in words
        assert not (folder / "people.audit").exists()
    assert new("--rows-are-people").exit_code == 0
    table = shoal.read(folder / "people.csv")
    secret = Secret("salary", low=0, high=200_000, width=1)
    with pytest.raises(ColumnError, match="rows are not people"):
        shoal.Audit.new("python.audit", table, secret, public=["dept"])
    own = replace(table, rows_are_people=True)
    assert shoal.Audit.new("python.audit", own, secret, public=["dept"]).people == 12


def test_public_columns_are_not_suggested_to_those_who_gave_them(folder: Path) -> None:
    assert "--public" in new("--store", "all.audit").stderr
    assert "--public" not in new("--public", "dept").stderr


def test_nothing_is_shown_wider_than_eighty_columns(folder: Path) -> None:
    made = new("--people", "name", "--type", "name=text,age=integer")
    for age in range(30, 50):
        names = "name in ('Ann', 'Bea', 'Cid', 'Dov')"
        said("audit", "ask", f"max(salary) where age > {age} and dept in ('X', 'Y') or {names}")
    for shown in (made.stdout, said("audit", "transcript"), said("audit", "state")):
        assert max(map(len, shown.splitlines())) <= 80


def test_columns_that_are_not_public_are_not_in_the_store(folder: Path) -> None:
    assert new("--public", "dept").exit_code == 0
    assert b"Cid" not in (folder / "people.audit").read_bytes()
    result = run("audit", "ask", "max(salary) where name = 'Ann'")
    assert result.exit_code == 2
    assert "no public column 'name'" in result.stderr


def test_which_audit_is_meant_is_never_guessed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no audit here" in run("audit", "ask", "max(salary)").stderr
    new()
    assert "exists already" in new().stderr
    assert new("--store", "second.audit").exit_code == 0
    result = run("audit", "ask", "max(salary)")
    assert result.exit_code == 2
    assert "there are 2 audits here" in result.stderr
    assert said("audit", "ask", "max(salary)", "--store", "second.audit") == "75000"
    monkeypatch.setenv("SHOAL_AUDIT", "people.audit")
    assert run("audit", "transcript").stderr == "nothing has been asked yet\n"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--bounds", "0", "60000"], "3 values of 6 are outside"),
        (["--bounds", "0", "x"], "column 'x'"),
        (["--bounds", "10000", "0"], "10000 is above"),
        (["--column", "age"], "--bounds is for one column, and there are 2"),
        (["-c", "age,dept"], "with a Secret for each"),
        (["--width", "0"], "width"),
        (["--width", "300000"], "width"),
        (["--aggregate", "sum"], "whole"),
        (["--people", "dept", "--type", "dept=text"], "a row is one person"),
        (["--public", "salary"], "twice"),
        (["--store", "mysql://here"], "mysql"),
        (["--type", "salary=date"], "integer or float"),
    ],
)
def test_what_an_audit_could_not_promise_is_refused(
    folder: Path, options: list[str], why: str
) -> None:
    result = new(*options)
    assert result.exit_code == 2
    assert why in result.stderr
    for value in ("52000", "75000", "Ann"):
        assert value not in result.stderr
    assert not (folder / "people.audit").exists()


@pytest.mark.parametrize(("column", "why"), [("name", "not numeric"), ("wage", "no column 'wage'")])
def test_a_column_without_numbers_is_refused(folder: Path, column: str, why: str) -> None:
    result = run("audit", "new", "people.csv", "--column", f"salary,{column}")
    assert result.exit_code == 2
    assert why in result.stderr
    assert not (folder / "people.audit").exists()


def test_several_columns_without_bounds_share_an_audit(folder: Path) -> None:
    assert run("audit", "new", "people.csv", "-c", "salary,age").exit_code == 0
    assert "no bounds" in said("audit", "state")


def test_the_state_is_also_drawn(folder: Path) -> None:
    new()
    said("audit", "ask", "max(salary)")
    said("audit", "state", "--chart", "state.svg")
    assert (folder / "state.svg").read_text().startswith("<svg")
    (folder / "state.svg").write_text("mine")
    assert "state.svg exists already" in refused("audit", "state", "--chart", "state.svg")
    said("audit", "state", "--chart", "state.svg", "--force")
    assert (folder / "state.svg").read_text().startswith("<svg")


def test_the_state_shows_what_the_first_query_decided(folder: Path) -> None:
    made = " ".join(new().stdout.split())
    assert "max or min, decided by the first query (sums within bounds need --dither)" in made
    said("audit", "ask", "min(salary)")
    shown = said("audit", "state")
    assert "secret salary  min, from 0 to 200000," in shown
    assert "by the first query" not in shown


@pytest.mark.parametrize(
    ("ends", "shown"),
    [({"low": "0.5"}, "from 0.5 up,"), ({"high": 200_000}, "up to 200000,"), ({}, "no bounds,")],
)
def test_the_state_shows_every_bound_there_is(
    folder: Path, ends: dict[str, Any], shown: str
) -> None:
    secret = Secret("salary", width=1, **ends)
    shoal.Audit.new("people.audit", shoal.read("people.csv"), secret, public=["dept"])
    assert shown in said("audit", "state")


@pytest.mark.parametrize(
    "command", [["audit", "new"], ["audit", "ask"], ["audit", "key", "add"], ["serve"]]
)
def test_help_fits_eighty_columns_and_breaks_no_word(folder: Path, command: list[str]) -> None:
    shown = said(*command, "--help")
    assert max(map(len, shown.splitlines())) <= 80
    assert "[[" not in shown
    assert not re.search(r"<[\w|]+(?![\w|>])", shown)  # a choice is on one line
    if command == ["audit", "new"]:
        for strategy in ("binding", "simulatable", "simple"):
            assert re.search(rf"\b{strategy}\b", shown)


def test_a_missing_secret_value_is_refused(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE + "Gil,X,33,\n")
    assert "1 value of 7 is missing" in new().stderr


def test_an_unsafe_strategy_is_called_unsafe(folder: Path) -> None:
    assert "unsafe" in new("--strategy", "simple").stderr


def test_a_store_that_others_may_read_causes_one_warning(folder: Path) -> None:
    new()
    os.chmod("people.audit", 0o644)
    for arguments in (("state",), ("transcript",), ("ask", "max(salary)"), ("key", "list")):
        assert run("audit", *arguments).stderr.count("chmod 600") == 1, arguments


def test_keys_are_made_listed_and_revoked(folder: Path) -> None:
    new()
    assert "nobody has a key" in run("audit", "key", "list").stderr
    key = said("audit", "key", "add", "ann")
    assert key.startswith("shoal-")
    assert len(key) == 70
    assert said("audit", "key", "add", "bea", "--role", "owner") != key
    holders = json.loads(said("audit", "key", "list", "--json"))["keys"]
    assert [holder["name"] for holder in holders] == ["ann", "bea"]
    assert key not in said("audit", "key", "list")
    assert key.encode() not in (folder / "people.audit").read_bytes()
    said("audit", "key", "remove", "ann")
    assert run("audit", "key", "remove", "ann").exit_code == 2


def test_the_service_starts_answers_and_stops(folder: Path) -> None:
    httpx = pytest.importorskip("httpx2")
    pytest.importorskip("uvicorn")
    new()
    key = said("audit", "key", "add", "ann")
    command = [sys.executable, "-c", "from shoal.cli import main; main()"]
    serving = [*command, "serve", "--port", "0", "--quantum", "0.01"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(serving, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stderr is not None
        first = server.stderr.readline()
        port = json.loads(server.stderr.readline())["port"]
        assert first == f"serving people.audit on 127.0.0.1, port {port}; Ctrl-C stops it\n"
        headers = {"Authorization": f"Bearer {key}"}
        asked = {"aggregate": "max", "column": "salary", "where": "dept = 'Y'"}
        answer = httpx.post(
            f"http://127.0.0.1:{port}/query", json=asked, headers=headers, timeout=60
        )
        assert answer.json() == {"denied": False, "answer": "75000"}
        assert "server" not in answer.headers
        line = json.loads(server.stderr.readline())
        facts = line["event"], line["path"], line["status"], line["key"]
        assert facts == ("request", "/query", 200, "ann")
    finally:
        server.send_signal(signal.SIGINT)
        rest = server.communicate(timeout=60)[1]
    assert server.returncode in (0, 130)
    assert "Traceback" not in rest
    assert said("audit", "transcript").split()[:2] == ["1", "75000"]


def test_a_port_that_is_taken_is_refused(folder: Path) -> None:
    pytest.importorskip("uvicorn")
    new()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("serve", "--port", str(taken.getsockname()[1]))
    assert result.exit_code == 2
    assert "cannot listen" in result.stderr
    assert "serving" not in result.stderr


def test_serving_refuses_half_of_tls_and_files_that_are_not_a_certificate(folder: Path) -> None:
    pytest.importorskip("uvicorn")
    new()
    (folder / "cert.pem").write_text("")
    assert "give both" in run("serve", "--tls-certificate", "cert.pem").stderr
    assert (
        "key.pem: there is no such file"
        in run("serve", "--tls-certificate", "cert.pem", "--tls-key", "key.pem").stderr
    )
    (folder / "key.pem").write_text("no key")
    result = run("serve", "--port", "0", "--tls-certificate", "cert.pem", "--tls-key", "key.pem")
    assert result.exit_code == 2
    assert "are not a certificate and its key" in result.stderr


# What is said


def test_the_suggested_query_can_be_typed_as_shown_and_is_answered(folder: Path) -> None:
    table = Path("people.csv").read_text().replace("salary", "net-pay")
    Path("people.csv").write_text(table)
    kinds: list[list[str]] = [
        [],
        ["--aggregate", "min"],
        ["--aggregate", "sum", "--dither"],
        ["--strategy", "simulatable"],
    ]
    for kind in kinds:
        limits = ["--bounds", "0", "200000", "--width", "1000"]
        made = run("audit", "new", "people.csv", "-c", "net-pay", *limits, *kind)
        assert made.exit_code == 0, made.stderr
        [line] = [line for line in made.stderr.splitlines() if line.startswith("Next: shoal ")]
        reply = said(*shlex.split(line.removeprefix("Next: shoal ")))
        assert reply != "denied"
        Path("people.audit").unlink()


def test_sums_are_offered_only_where_they_are_answered(folder: Path) -> None:
    for options, sums in (
        (("--bounds", "0", "200000", "--width", "1000"), False),
        (("--bounds", "0", "200000", "--width", "1000", "--dither"), True),
        ((), True),
    ):
        shown = " ".join(run("audit", "new", "people.csv", "-c", "salary", *options).stdout.split())
        announced = "sum" in shown.replace("(sums within bounds need --dither)", "")
        assert announced == sums
        assert (run("audit", "ask", "sum(salary)").exit_code == 0) == sums
        Path("people.audit").unlink()


def test_a_width_that_promises_little_is_not_a_default(folder: Path) -> None:
    bounds = ("--bounds", "0", "200000")
    asked = run("audit", "new", "people.csv", "-c", "salary", *bounds)
    assert asked.exit_code == 2
    assert "--width is not given" in asked.stderr
    assert "between 0 and 200000" in asked.stderr
    assert "for yearly salaries, thousands" in asked.stderr
    assert not Path("people.audit").exists()
    assert new("--width", "5000").exit_code == 0
    assert "stays uncertain by 5000" in " ".join(said("audit", "state").split())
    close = ("--bounds", "0", "120", "--store", "ages.audit")
    assert run("audit", "new", "people.csv", "-c", "age", *close).exit_code == 0


def test_a_column_that_needs_quotes_is_shown_with_them(folder: Path) -> None:
    table = Path("people.csv").read_text().replace("dept", "home-town").replace("age", "post code")
    Path("people.csv").write_text(table)
    assert new().exit_code == 0
    for query, hint in (
        ("count(*) where home-town = 'X'", '"home-town"'),
        ("max(salary) where post code = '31'", '"post code"'),
        ("max(home-town)", '"home-town"'),
    ):
        told = refused("audit", "ask", query)
        assert f"write the column in double quotes: {hint}" in told
    assert "double quotes" not in run("audit", "ask", 'count(*) where "home-town" = X').stderr
    assert said("audit", "ask", "count(*) where \"home-town\" = 'X'") == "3"

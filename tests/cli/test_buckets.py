"""`shoal count` reads counts off a release of buckets."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.measure.buckets import count
from tests.measure.hospital import hospital, release


def test_the_command_counts(tmp_path: Path) -> None:
    made = release(hospital(600))
    made.write(tmp_path)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["count", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    ages = [*range(30, 50), 60]
    expected = count(made, {"sex": "female", "age": ages, "ill": ["ill00", "ill01"]})
    where = ["--where", "sex=female", "--where", "age=30..49,60", "--where", "ill=ill00,ill01"]
    assert f"{expected.count:,.1f}" in run(*where)
    assert '"error": 0.0' in run("--where", "sex=female", "--json")
    quoted = ["--where", 'ill="ill00",ill01', "--where", "sex=female,femal"]
    shown = run(*quoted, "--where", "age=30..49,60")
    assert f"{expected.count:,.1f}" in shown
    assert "nobody in the release has 'femal' as 'sex'" in shown


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("sex", "--where sex has no column and values; give both, as in sex=female"),
        ("age=a..b", "--where a..b is not a range"),
        ("age=39..30", "--where 39..30 is not a range"),
        ("ward=1", "the release has no column 'ward'"),
    ],
)
def test_the_command_says_what_it_cannot_count(tmp_path: Path, where: str, message: str) -> None:
    release(hospital(600)).write(tmp_path)
    done = CliRunner().invoke(app, ["count", str(tmp_path), "--where", where])
    assert done.exit_code == 2
    assert message in done.stderr

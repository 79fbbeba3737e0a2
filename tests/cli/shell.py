"""What tests of the command line share: running a command, and being refused by one."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from shoal.cli.app import app

AGES = "".join(f"{age};{age // 10}0s;*\n" for age in range(100))
SECRET = "Zanzibar"  # a value of the table that must not be in any message
DIVERSE = '[[method.models]]\nmodel = "distinct-diversity"\ncolumn = "diagnosis"\nl = 2\n\n[output]'


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def refused(*arguments: str, code: int = 2) -> str:
    """What is said when a command is refused; nothing may be printed or written."""
    before = contents()
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr
    assert contents() == before
    return result.stderr


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def command(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    code = "from shoal.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )

"""What the package says about itself is the same everywhere, and builds are looked through."""

import re
import runpy
import tomllib

import pytest
from typer.main import get_command

import shoal
from shoal.cli.app import app
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHECK = runpy.run_path(str(ROOT / "scripts" / "check_package.py"))
MAN_PAGE = runpy.run_path(str(ROOT / "scripts" / "man_page.py"))
LOWEST = runpy.run_path(str(ROOT / "scripts" / "lowest_versions.py"))


def pythons() -> list[str]:
    """The versions of Python that the classifiers name."""
    found = (re.fullmatch(r".* :: (3\.\d+)", each) for each in PROJECT["classifiers"])
    return [match[1] for match in found if match]


def test_citation_and_changes_name_this_version() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {shoal.__version__}\n" in cited
    assert f"\n## {shoal.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_hosted_checks_run_on_every_supported_python() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert re.findall(r'"(3\.\d+)"', workflow) == pythons()
    assert PROJECT["requires-python"] == f">={pythons()[0]}"
    assert "run: .ci/run" in workflow


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    for requirement in PROJECT["dependencies"]:
        name, _, versions = requirement.partition(">=")
        assert f"- {name} >={versions}\n" in recipe
    assert f'version: "{shoal.__version__}"' in recipe


def test_the_man_page_has_every_command_and_option() -> None:
    page = (ROOT / "packaging" / "man" / "shoal.1").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in page.split(".SS shoal ")[1:])
    absent = []
    for names, command in MAN_PAGE["commands"](get_command(app)):
        section = sections.get(MAN_PAGE["escaped"](" ".join(names)), "")
        options = [option for each in command.params for option in each.opts if option[0] == "-"]
        absent += [
            (*names, option) for option in options if MAN_PAGE["escaped"](option) not in section
        ]
    assert absent == [], "run: .venv/bin/python scripts/man_page.py packaging/man/shoal.1"


def test_the_lowest_versions_are_the_lower_bounds() -> None:
    assert LOWEST["lowest"](["polars>=1.32,<3", "psycopg[binary]>=3.3", "shoal[audit]"]) == [
        "polars==1.32",
        "psycopg==3.3",
    ]


MAN = "shoal-1.data/data/share/man/man1/shoal.1"
OWN = {"shoal/__init__.py", *CHECK["NAMED"]}
GOOD = {*OWN, MAN, "shoal-1.dist-info/METADATA"}, {*CHECK["SDIST"], *(f"src/{n}" for n in OWN)}


@pytest.mark.parametrize(
    ("gone", "more", "fault"),
    [
        ("shoal/py.typed", "", "the wheel lacks shoal/py.typed"),
        (MAN, "", "the wheel lacks the man page"),
        ("", "shoal/secret.csv", "the wheel has shoal/secret.csv"),
        ("", "tests/test_one.py", "the wheel has tests/test_one.py"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_named(gone: str, more: str, fault: str) -> None:
    wheel, sdist = GOOD
    assert CHECK["faults"](wheel, sdist, OWN) == []
    assert CHECK["faults"](wheel - {gone} | ({more} - {""}), sdist, OWN) == [fault]


def test_what_is_wrong_with_an_sdist_is_named() -> None:
    wheel, sdist = GOOD
    assert CHECK["faults"](wheel, sdist - {"LICENSE"} | {"tests/one.py"}, OWN) == [
        "the sdist lacks LICENSE",
        "the sdist has tests/one.py",
    ]

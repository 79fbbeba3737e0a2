"""Workbenches on the demo, with a browser where there is one."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workbench.benches import Bench, bench, hospital, serving
from tests.workbench.teams import Team
from tests.workbench.twins import watched

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
SECONDS = 60_000
"""Milliseconds that anything may take, on a busy machine too."""

_FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(autouse=True)
def in_every_language() -> Iterator[None]:
    """No page that a test opens is partly in English when it is in another language."""
    with watched() as found:
        yield
    assert not sorted(set(found))


@pytest.fixture
def demo_bench(tmp_path: Path) -> Iterator[Bench]:
    """A workbench with the demo as its only project, hospital~hospital."""
    hospital(tmp_path)
    with bench(tmp_path) as made:
        yield made


@pytest.fixture
def empty_bench(tmp_path: Path) -> Iterator[Bench]:
    """A workbench without a project."""
    with bench(tmp_path) as made:
        yield made


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """The workbench of a team on the demo."""
    return Team(tmp_path)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; skipped where there is none."""
    sync = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with sync.sync_playwright() as run:
        opened = run.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of `shoal workbench` on a folder with the demo."""
    hospital(tmp_path)
    with serving(tmp_path) as address:
        yield address


@pytest.fixture
def page(browser: Any, served: str) -> Iterator[Any]:
    """A page of Chromium in a workbench with the demo; errors of scripts fail the test."""
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.extend([said.text] * _is_error(said)))
    opened.set_default_timeout(SECONDS)
    opened.goto(served)
    yield opened
    opened.close()
    assert not problems


def _is_error(said: Any) -> bool:
    """Whether a line of the console is an error.

    A request that a newer one replaced is none, nor is a form that is refused (422).
    """
    expected = ("htmx:sendAbort", "status of 422")
    return said.type == "error" and not any(text in said.text for text in expected)


def settle(page: Any) -> None:
    """Wait until the parts that were asked for are there, and react to changes.

    htmx takes a moment to wire them; what is changed before that is lost. That no request is under
    way would say less, and is never so on a page that asks how far a job is.
    """
    states = ("request", "swapping", "added", "settling")
    places = ", ".join(f".htmx-{state}" for state in states)
    page.locator(places).first.wait_for(state="detached")  # a policy forbids to evaluate texts


def violations(page: Any) -> list[tuple[str, str]]:
    """What axe finds wrong with a page: the rule, and the first place."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    found = axe.Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found]

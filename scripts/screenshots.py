"""Pictures for docs/images, in light mode: of reports, and of the workbench.

Run it where Playwright and Chromium are: python scripts/screenshots.py, with "reports" or
"workbench" for those alone. The hospital is made up.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import shoal
from shoal.demo import write
from shoal.report import Reported, owner, public

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SHEET = {"width": 1000, "height": 1240}
WINDOW = {"width": 1280, "height": 800}
ROWS = 20_000
COLOURS = 128
"""As many as pages need; the pictures are a third as large."""

_MAIN = "from shoal.cli import main; main()"
_PATIENCE = 120_000
"""Milliseconds that a candidate or a report may take."""


def pages(folder: Path) -> dict[str, str]:
    """The reports by their names."""
    write(folder / "hospital")
    recipe = shoal.Recipe.load(folder / "hospital" / "hospital.toml")
    recipe.release(recipe.table(), folder / "released")
    reported = Reported.read(folder / "released", recipe, queries=100)
    return {"public": public(folder / "released"), "owner": owner(reported)}


def reports(browser: Any, folder: Path) -> None:
    """The first pages of both reports."""
    page = browser.new_page(viewport=SHEET)
    for name, text in pages(folder).items():
        file = folder / f"{name}.html"
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        page.screenshot(path=IMAGES / f"report-{name}.png")
    page.close()


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The address of a workbench, with its token."""
    command = [sys.executable, "-c", _MAIN, "workbench", str(home), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def workbench(browser: Any, folder: Path) -> None:
    """The screens of a project on the hospital, once it is released and verified."""
    home = folder / "projects"
    home.mkdir()
    write(home / "hospital", ROWS)
    with serving(home) as address:
        page = browser.new_page(viewport=WINDOW, device_scale_factor=1)
        page.set_default_timeout(_PATIENCE)
        page.goto(address)
        screens(page, address.partition("/?")[0] + "/p/hospital~hospital")
        page.goto(address.partition("/?")[0] + "/")
        shoot(page, "projects")
        page.close()


def screens(page: Any, project: str) -> None:
    """One picture after the other; promises first, while no figures were shown."""
    page.goto(f"{project}/promise/options")
    page.get_by_text("What it means for one person").first.wait_for()
    shoot(page, "promise")
    page.goto(f"{project}/release")
    page.get_by_role("button", name=re.compile("^Release")).first.click()
    page.locator("#go").get_by_text("This cannot be taken back").wait_for()
    page.locator("#go").get_by_role("button", name=re.compile("^Release")).click()
    page.wait_for_url("**/release/made/*")
    page.get_by_role("button", name="Verify").click()
    page.get_by_text("Verified").first.wait_for()
    shoot(page, "release")
    page.goto(f"{project}/roles")
    page.get_by_role("button", name="Show the risk while I decide").click()
    page.get_by_text("Highest risk").first.wait_for()
    shoot(page, "roles")
    page.goto(f"{project}/risk")
    shoot(page, "risk")
    page.goto(f"{project}/explore")
    page.get_by_role("button", name="Survey all levels").click()
    page.locator(".heat-map a").first.wait_for()
    shoot(page, "explore")


def shoot(page: Any, name: str) -> None:
    """A picture of what one sees without scrolling."""
    page.wait_for_load_state("networkidle")
    page.evaluate("window.scrollTo(0, 0)")
    path = IMAGES / f"workbench-{name}.png"
    page.screenshot(path=path)
    Image.open(path).quantize(COLOURS).save(path, optimize=True)


def main() -> None:
    wanted = sys.argv[1:] or ["reports", "workbench"]
    with tempfile.TemporaryDirectory() as place, sync_playwright() as run:
        browser = run.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        if "reports" in wanted:
            reports(browser, Path(place))
        if "workbench" in wanted:
            workbench(browser, Path(place))
        browser.close()


if __name__ == "__main__":
    main()

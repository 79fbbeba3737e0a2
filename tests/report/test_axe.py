"""Reports in a browser: axe finds no violations, and nothing is fetched or wider than the page."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.measure.explaining import explain
from shoal.recipe import Recipe
from shoal.report import Published, Reported, owner, public
from shoal.report.committees import filled, framework, html
from shoal.studies.saving import save
from tests.cli.catalogued import write_recipe

NAMES = ("public", "owner", "form", "chart")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with sync.sync_playwright() as run:
        opened = run.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, released: dict[str, Path]) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    recipe = Recipe.load(write_recipe(folder, "optimal"))
    recipe.release(recipe.table(), folder / "made")
    texts = {
        "public": public(released["noisy counts, tree"]),
        "owner": owner(Reported.read(folder / "made", recipe, queries=5)),
        "form": html(filled(framework("hipaa"), Published.read(released["optimal"]))),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    save(explain(1, "1e-6").pictures(), folder / "chart.html")
    return {name: folder / f"{name}.html" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(
    browser: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    found = axe.Axe().run(page).response["violations"]
    page.close()
    assert not [(one["id"], one["nodes"][0]["html"]) for one in found]
    assert asked == [pages[name].as_uri()]


@pytest.mark.parametrize("name", NAMES)
def test_a_narrow_page_does_not_scroll_sideways(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(pages[name].as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert width <= 390

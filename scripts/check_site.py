"""Look at the built documentation as readers do: `.venv/bin/python scripts/check_site.py [--few]`.

Opens the pages of site/ from the folder, without a server, in Chromium: in light and dark, on a
telephone and a desk. axe finds no violations, nothing is asked of any network, no page is wider
than the screen, no code is cut, no name in a table is broken, search finds something, and every
page is two clicks from the first. Needs the extras `docs` and `dev`; `--few` looks at a few
pages, for CI.
"""

import argparse
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).parent.parent / "site"
FEW = (  # pages of every kind
    "index.html",
    "choosing.html",
    "benchmarks.html",
    "how-to/noisy-counts.html",
    "reference/models.html",
    "proofs/bounded-noise.html",
)
SIZES = ((360, 740), (1280, 800))
CLICKS = 2

CUT = """() => [...document.querySelectorAll("pre > code")]
  .filter(code => code.scrollWidth > code.clientWidth + 1)
  .map(code => code.textContent.trim().slice(0, 60))"""

BROKEN = """() => [...document.querySelectorAll("td:first-child code")]
  .filter(code => !/[\\s\\W]/.test(code.textContent.replaceAll("_", "").replaceAll(".", "")))
  .filter(code => code.getClientRects().length > 1)
  .map(code => code.textContent)"""


class Links(HTMLParser):
    """Where the links of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href") if tag == "a" else None
        if target:
            self.found.add(target)


def linked(page: Path) -> set[Path]:
    """The pages of the site that a page links to."""
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    paths = {urlsplit(one).path for one in links.found if not urlsplit(one).scheme}
    there = {(page.parent / unquote(path)).resolve() for path in paths if path.endswith(".html")}
    return {path for path in there if path.is_file()}


def far_away(pages: list[Path]) -> list[str]:
    """Pages that are more than two clicks from the first."""
    reached = {(SITE / "index.html").resolve()}
    for _ in range(CLICKS):
        reached |= {there for page in reached for there in linked(page)}
    return sorted(name(page) for page in pages if page.resolve() not in reached)


def name(page: Path) -> str:
    return page.resolve().relative_to(SITE.resolve()).as_posix()


def look(browser: Any, axe: Any, page: Path, size: tuple[int, int]) -> list[str]:
    """What is wrong with a page on a screen of some size."""
    width, height = size
    tab = browser.new_page(color_scheme="light", viewport={"width": width, "height": height})
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.resolve().as_uri())
    found = []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_timeout(300)
        found += [
            f"{scheme}: axe: {one['id']}: {one['nodes'][0]['html'][:120]}"
            for one in axe.run(tab).response["violations"]
        ]
    found += [f"asks for {url}" for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    wide = tab.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        found.append(f"{wide} pixels wide")
    found += [f"code is cut: {code}" for code in tab.evaluate(CUT)]
    found += [f"a name is broken: {text}" for text in tab.evaluate(BROKEN)]
    tab.close()
    return [f"{name(page)}, {width}: {one}" for one in found]


def search(browser: Any) -> list[str]:
    """Whether search works from the folder."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto((SITE / "how-to" / "tables.html").resolve().as_uri())
    tab.wait_for_timeout(1000)
    tab.keyboard.press("Control+k")
    tab.wait_for_timeout(500)
    tab.keyboard.type("permute-and-flip", delay=50)
    tab.wait_for_timeout(1500)
    shown = tab.evaluate(
        """() => [...document.querySelectorAll("*")]
          .filter(one => one.shadowRoot).map(one => one.shadowRoot.textContent).join(" ")"""
    )
    tab.close()
    count = re.search(r"(\d+) results?", shown)
    return [] if count and int(count[1]) else ["search finds nothing"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", action="store_true", help="a few pages only")
    given = parser.parse_args()
    try:
        from axe_playwright_python.sync_playwright import Axe
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("playwright and axe are not installed: scripts/setup dev", file=sys.stderr)
        return 0 if given.few else 2
    chromium = shutil.which("chromium") or shutil.which("chrome")
    if chromium is None:
        print("Chromium is not installed: pages are not looked at", file=sys.stderr)
        return 0 if given.few else 2
    pages = sorted(SITE.rglob("*.html"))
    pages = [page for page in pages if page.name != "404.html"]
    wrong = [f"{page}: more than {CLICKS} clicks from the first page" for page in far_away(pages)]
    with sync_playwright() as run:
        browser = run.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        wrong += search(browser)
        looked_at = [SITE / one for one in FEW] if given.few else pages
        for page in looked_at:
            for size in SIZES:
                wrong += look(browser, Axe(), page, size)
        browser.close()
    print("\n".join(wrong) or f"{len(looked_at)} of {len(pages)} pages looked at: nothing wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

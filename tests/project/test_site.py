"""The documentation as a whole: short pages, pictures that are up to date, nothing from elsewhere.

What needs a browser is in scripts/check_site.py, which CI runs over some of the built pages.
"""

import re
import sys
from html import unescape
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

DOCS = ROOT / "docs"
LONGEST = 1500
# Reference is complete and proofs are exact, however long that is.
LONG = ("reference", "proofs")
PAGES = sorted(DOCS.rglob("*.md"))
SHORT = [page for page in PAGES if page.relative_to(DOCS).parts[0] not in LONG]


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def words(text: str) -> int:
    """The words of a page, without its header and the bars of tables."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    return len([word for word in text.split() if re.search(r"\w", word)])


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = ROOT / "scripts"
    monkeypatch.syspath_prepend(str(folder))
    return folder


def module(name: str) -> ModuleType:
    __import__(name)
    return sys.modules[name]


@pytest.mark.parametrize("page", SHORT, ids=name_of)
def test_a_page_is_short(page: Path) -> None:
    assert words(page.read_text(encoding="utf-8")) <= LONGEST


@pytest.mark.parametrize("name", ["draw_site", "draw_numbers"])
def test_what_is_drawn_is_up_to_date(scripts: Path, name: str) -> None:
    for path, text in module(name).drawn().items():
        now = (ROOT / path).read_text(encoding="utf-8")
        assert now == text, f"{path} is out of date: .venv/bin/python scripts/{name}.py"


def test_nothing_is_fetched_from_elsewhere() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "://" not in config
    assert "font: false" in config
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"!\[[^\]]*\]\(\w+://|<(?:img|script|iframe)[^>]*\w+://", text), page
    for sheet in (DOCS / "assets").iterdir():
        asked = re.sub(r"http://www\.w3\.org/\S+", "", sheet.read_text(encoding="utf-8"))
        assert "://" not in asked, sheet


def test_every_page_is_in_a_section_that_lists_its_pages() -> None:
    """Two clicks lead everywhere: one to the section, and one to the page beside all others."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for feature in ("navigation.tabs", "navigation.sections"):
        assert f"- {feature}\n" in config


def test_indices_and_powers_are_typeset(scripts: Path) -> None:
    markdown = pytest.importorskip("markdown", reason="the extra docs is not installed")
    pytest.importorskip("latex2mathml", reason="the extra docs is not installed")

    def html(text: str) -> str:
        return str(markdown.markdown(text, extensions=["maths"]))

    assert "p<sub>i+1</sub>" in html("the sum of p_{i+1}")
    assert "e<sup>ε</sup>" in html("e^ε·q")
    assert "some_long_name" in html("a some_long_name")
    assert "<math" in html("an $x^2$ here")
    assert "<math" not in html("costs $5 and $6, or `$x^2$`")
    assert 'display="block"' in html("then\n\n$$\nx = y\n$$\n\nand")


def test_braces_and_other_escapes_in_a_line_are_those_of_latex(scripts: Path) -> None:
    markdown = pytest.importorskip("markdown", reason="the extra docs is not installed")
    pytest.importorskip("latex2mathml", reason="the extra docs is not installed")

    def shown(text: str) -> str:
        html = str(markdown.markdown(text, extensions=["maths"]))
        return unescape(re.sub(r"<[^>]*>|\s", "", html))

    # A backslash that Markdown took first would leave the name of its placeholder.
    assert shown(r"the set $\{x \mid x < 1\}$") == "theset{x∣x<1}"
    assert shown(r"a \{brace\}, and \$5 or \$6") == r"a{brace},and\$5or\$6"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_line_of_a_paragraph_begins_like_the_one_before(page: Path) -> None:
    """Two that do are two versions of one sentence, which a merge has left there."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for before, line in pairwise(text.splitlines()):
        if re.match(r"[A-Z`\s]", line):
            begins = [" ".join(one.split()[:3]) for one in (before, line)]
            assert not line.strip() or begins[0] != begins[1], line

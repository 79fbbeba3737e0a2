"""Reports as PDF: in the colours of paper, and a clear error where WeasyPrint is missing."""

import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import FileError, ShoalError
from shoal.look import Zone, page, section, tag
from shoal.look.palette import colour
from shoal.report import public
from shoal.report.printing import as_pdf, on_paper, require_printer
from shoal.report.writing import write


def test_paper_has_no_variables(released: dict[str, Path]) -> None:
    report = public(released["optimal"])
    assert "var(--" in report
    assert "var(--" not in on_paper(report)


def test_a_value_that_looks_like_a_variable_is_printed_as_it_is() -> None:
    for value in ("var(--accent)", "var(--other)", '="var(--ink)"'):
        text = tag("p", value)
        assert on_paper(text) == text


def test_colours_of_heat_maps_are_printed() -> None:
    assert on_paper('<path fill="var(--heat-5)"/>') == f'<path fill="{colour("heat-5")}"/>'


def test_without_weasyprint_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(ShoalError, match="pip install"):
        require_printer()


def test_where_pango_is_missing_the_error_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weasyprint.py").write_text(
        'print("please follow the installation steps")\n'
        'raise OSError("cannot load library libgobject-2.0-0")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    with pytest.raises(ShoalError, match="apt-get install libpangoft2"):
        require_printer()
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("weasyprint")
def test_a_report_is_printed(released: dict[str, Path]) -> None:
    assert as_pdf(public(released["optimal"])).startswith(b"%PDF")


def test_a_badge_is_not_a_band_on_paper(weasyprint: Any) -> None:
    html = page("x", section("x", zone=Zone.OWNER), zone=Zone.OWNER)
    [sheet] = weasyprint.HTML(string=on_paper(html)).render().pages
    boxes = [box for box in sheet._page_box.descendants() if box.element is not None]
    badges = [box for box in boxes if "badge" in (box.element.get("class") or "").split()]
    assert badges
    assert all(box.width < sheet.width / 4 for box in badges)


def test_nothing_is_written_into_the_folder_of_a_release(released: dict[str, Path]) -> None:
    folder = released["optimal"]
    with pytest.raises(FileError, match="must hold nothing else"):
        write("<p>x</p>", [folder / "report.html"])
    assert sorted(path.name for path in folder.iterdir()) == ["certificate.json", "release.csv"]

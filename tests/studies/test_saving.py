"""Charts are marked, saved by their suffix, and never beside a release."""

from html import escape
from pathlib import Path

import pytest

from shoal.errors import FileError, ParameterError, ShoalError
from shoal.look import Zone, drawing
from shoal.studies.curves import AnonymityComparison, Curve, Staircase

Studies = list[Curve | Staircase | AnonymityComparison]


def test_charts_are_saved_by_their_suffix_and_draw_offline(
    studies: Studies, tmp_path: Path
) -> None:
    for suffix, head in (("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")):
        studies[0].save(tmp_path / f"curve.{suffix}")
        assert (tmp_path / f"curve.{suffix}").read_bytes().lstrip().startswith(head)
    for study in studies:
        study.save(tmp_path / "chart.svg")
        drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        assert drawn.lstrip().startswith("<svg")
        assert Zone.OWNER.words in drawn


def test_a_page_has_the_words_and_the_table_of_every_chart_and_a_dark_side(
    studies: Studies, tmp_path: Path
) -> None:
    for study in studies:
        study.save(tmp_path / "chart.html")
        page = (tmp_path / "chart.html").read_text(encoding="utf-8")
        assert f"<h1>{escape(study.pictures()[0].title)}</h1>" in page
        assert page.count("<figure") == page.count('role="img"') == len(study.pictures())
        assert page.count("<table") == len(study.pictures())
        assert "prefers-color-scheme:dark" in page
        assert 'fill="var(--' in page
        assert "<script" not in page
        assert page.count(f"{Zone.OWNER.words}</p>") == 2


def test_charts_are_not_saved_beside_a_release_nor_as_anything_else(
    studies: Studies, tmp_path: Path
) -> None:
    with pytest.raises(
        ParameterError,
        match=r"'a\.pdf' is not a name for a chart; let it end in \.html, \.png or \.svg",
    ):
        studies[0].save(tmp_path / "a.pdf")
    (tmp_path / "certificate.json").write_text("{}")
    with pytest.raises(FileError, match="where a release is"):
        studies[0].save(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_without_altair_an_error_says_what_to_install(
    studies: Studies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "available", lambda: False)
    for one in studies:
        with pytest.raises(ShoalError, match=r"pip install 'shoal\[plots\]'"):
            one.plot()

"""What the doors show of an audit."""

from pathlib import Path
from typing import Any

import pytest

from shoal.audit import Query, Secret
from shoal.audit.overview import ColumnSettings, first_query, overview, transcript_page
from tests.audit.salaries import NAMES, made


def test_a_column_is_shown_with_its_settings_and_what_was_asked(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"), Secret("salary", low=0, high=200, width="0.5"))
    [column] = overview(audit)
    assert column.settings == ColumnSettings(
        column="salary",
        family=None,
        low="0",
        high="200",
        width="0.5",
        integers=True,
        distinct=False,
        strategy="binding",
        dither=False,
        unit="1",
    )
    assert (column.answered, column.denied) == (0, 0)
    audit.ask("max(salary)")
    audit.ask("max(salary) where name = 'p1'")
    [column] = overview(audit)
    assert (column.settings.family, column.answered, column.denied) == ("max", 1, 1)
    assert column.to_dict() == {**column.settings.to_dict(), "answered": 1, "denied": 1}


@pytest.mark.parametrize(
    ("settings", "query"),
    [
        ({}, Query("max", "salary")),
        ({"family": "min"}, Query("min", "salary")),
        ({"dither": True}, Query("sum", "salary")),
        ({"strategy": "simulatable"}, Query("count", None)),
    ],
)
def test_the_first_query_is_answered(
    tmp_path: Path, settings: dict[str, Any], query: Query
) -> None:
    secret = Secret("salary", low=0, high=200, width=1, **settings)
    audit = made(str(tmp_path / "a"), secret)
    assert first_query(audit) == query
    assert not audit.ask(query).denied


def test_pages_join_to_the_whole_transcript(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    for end in range(2, 8):
        audit.ask(audit.query("max", "salary", people=NAMES[:end]))
    after, pages = 0, []
    while True:
        page = transcript_page(audit, after, most=4, characters=120)
        pages.append(page.lines)
        if page.next is None:
            break
        after = page.next
    assert sum(pages, ()) == audit.transcript()
    assert len(pages) > 2
    for lines in pages:
        assert len(lines) <= 4
        assert len(lines) <= 1 or sum(len(line.query) for line in lines) <= 120

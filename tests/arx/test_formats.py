"""Java's formats: patterns as strftime has them, values as Shoal reads them."""

import pytest

from shoal.arx.formats import converter, strftime_of
from shoal.data.kinds import Kind


@pytest.mark.parametrize(
    ("java", "python"),
    [
        ("dd.MM.yyyy", "%d.%m.%Y"),
        ("yyyy-MM-dd", "%Y-%m-%d"),
        ("d/M/yy", "%d/%m/%y"),
        ("dd MMM yyyy", "%d %b %Y"),
        ("EEEE, MMMM d, yyyy", "%A, %B %d, %Y"),
        ("yyyy'year' 100%", "%Yyear 100%%"),
        ("hh 'o''clock' a", "%I o'clock %p"),
        ("yyyyDDD", "%Y%j"),
        ("ww/yyyy", None),
        ("yyyy-MM-dd'T", None),
        ("yyyyy", None),
    ],
)
def test_patterns_are_those_of_strftime(java: str, python: str | None) -> None:
    assert strftime_of(java) == python


@pytest.mark.parametrize(
    ("kind", "pattern", "language", "text", "read"),
    [
        (Kind.DATE, "dd.MM.yyyy", "DE", "31.12.2024", "2024-12-31"),
        (Kind.DATE, None, None, "2024-12-31", "2024-12-31"),
        (Kind.DATE, "dd.MM.yyyy", None, "null", ""),
        (Kind.FLOAT, "#,##0.00", "DE", "1.234,50", "1234.50"),
        (Kind.FLOAT, "#,##0.00", "EN", "1,234.50", "1234.50"),
        (Kind.FLOAT, "#,##0.00", "FR", "1\u202f234,50", "1234.50"),
        (Kind.FLOAT, "0.##E0", "EN", "-1.5E3", "-1.5E3"),
        (Kind.FLOAT, None, "DE", "1.5", "1.5"),
        (Kind.INTEGER, None, None, "17", "17"),
        (Kind.INTEGER, None, None, "NULL", ""),
    ],
)
def test_values_are_what_shoal_reads(
    kind: Kind, pattern: str | None, language: str | None, text: str, read: str
) -> None:
    convert = converter(kind, pattern, language)
    assert not isinstance(convert, str)
    assert convert(text) == read


@pytest.mark.parametrize(
    ("pattern", "language", "why"),
    [
        ("dd.MM.yyyy HH:mm", None, "times"),
        ("ww/yyyy", None, "counterpart"),
        ("dd. MMMM yyyy", "DE", "language"),
        ("dd.MM.", None, "year"),
        ("dd.MM.yy", None, "century"),
    ],
)
def test_dates_that_cannot_be_taken_over_say_why(
    pattern: str, language: str | None, why: str
) -> None:
    convert = converter(Kind.DATE, pattern, language)
    assert isinstance(convert, str)
    assert why in convert


def test_a_value_of_another_format_is_refused() -> None:
    for kind, text in ((Kind.DATE, "today"), (Kind.INTEGER, "1.5"), (Kind.FLOAT, "a")):
        convert = converter(kind, None, None)
        assert not isinstance(convert, str)
        with pytest.raises(ValueError, match=r"not a|format|Invalid"):
            convert(text)


@pytest.mark.parametrize(
    ("language", "text"), [("DE", "1.5"), ("EN", "1,5"), ("FR", "1.234"), ("EN", "1 234")]
)
def test_a_mark_at_another_place_does_not_change_a_number(language: str, text: str) -> None:
    convert = converter(Kind.FLOAT, "#,##0.00", language)
    assert not isinstance(convert, str)
    with pytest.raises(ValueError, match="not a number of its language"):
        convert(text)

"""What a file's name says about its format."""

import pytest

from shoal.data.formats import FORMATS, WRITTEN, called, ending, format_named, is_csv


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("people.CSV", "csv"),
        ("2.1/people", None),
        ("people.v2.csv.zst", "csv.zst"),
        ("people.gz", None),
        ("people.NDJSON.gz", "jsonl.gz"),
        ("C:\\data\\people.dta", "dta"),
        (".csv", "csv"),
    ],
)
def test_a_name_says_a_format(name: str, form: str | None) -> None:
    assert format_named(name) == form


def test_every_format_has_a_name_and_an_ending() -> None:
    for form in FORMATS.values():
        assert called(form)
    for form in WRITTEN:
        assert format_named(f"release.{form}") == form
        assert ending(f"release.{form}") == f".{form}"
    assert [form for form in WRITTEN if is_csv(form)] == ["csv", "csv.gz", "csv.zst"]

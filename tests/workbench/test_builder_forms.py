"""Forms of builders: every option is asked for, and comes back as it was written."""

from typing import Any

import pytest

from shoal.data.hierarchy import READY
from shoal.recipe.hierarchies import REASONS
from shoal.recipe.schema import BUILDERS, options_of
from shoal.workbench.builder_forms import CHOICES, TITLES, fields, parsed, written
from shoal.workbench.texts import LANGUAGES, translations

SECTIONS: list[dict[str, Any]] = [
    {"build": "intervals", "low": 0, "high": 120, "widths": [5, 10, 20], "top": 90},
    {"build": "intervals", "low": 0, "high": 9, "cuts": [[2, 4], [4]], "closed": "right"},
    {"build": "intervals", "low": 0.5, "high": 1, "widths": [0.25], "kind": "float", "end": "open"},
    {"build": "intervals", "low": -5, "high": 5, "step": 5, "origin": 1, "root": "any"},
    {"build": "dates", "first": "2020-01-01", "last": "2020-12-31", "levels": ["week"]},
    {"build": "mask", "length": 5, "steps": [1, 3], "alphabet": ["01", "ab"], "side": "left"},
    {"build": "mask", "values": ["10115", "8"], "symbol": "x", "pad": "0", "align": "right"},
    {"build": "order", "values": ["a", "b", "c"], "sizes": [2, [1, 1]], "sort": True},
    {"build": "group", "tree": {"W": ["FR"], "E": ["PL", "CZ"]}, "values": ["FR"], "rest": "x"},
    {"build": "group", "tree": {"Europe": {"W": ["FR"], "E": ["PL"]}, "Asia": {"Far": ["JP"]}}},
    {"build": "suppress", "values": ["f", "m"], "kind": "text"},
    {"build": "ready", "name": "countries", "form": "alpha-3", "values": ["FRA", "DEU"]},
    {"build": "ready", "name": "age"},
    {"file": "sex.csv", "separator": ";", "encoding": "latin-1", "root": "*", "add_root": "any"},
]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_survives_its_form(section: dict[str, Any]) -> None:
    builder = section.get("build", "file")
    found = parsed(builder, written(builder, section))
    assert not found.problems
    assert found.section == section
    options_of(BUILDERS, builder).model_validate({"build": builder, **found.section})


@pytest.mark.parametrize("builder", BUILDERS.names)
def test_every_option_has_a_field(builder: str) -> None:
    options = set(options_of(BUILDERS, builder).model_fields) - {"build"}
    assert {field.name for field in fields(builder)} == options
    assert builder in TITLES
    assert all(choice in CHOICES for field in fields(builder) for choice in field.choices)


@pytest.mark.parametrize("builder", BUILDERS.names)
def test_no_option_is_called_like_a_field_of_the_page(builder: str) -> None:
    own = {"column", "staged", "made_from", "on_load", "fill"}
    assert not own & {field.name for field in fields(builder)}


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_reasons_are_translated(language: str) -> None:
    assert set(REASONS) <= translations(language).keys()


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_ready_made_hierarchies_are_translated(language: str) -> None:
    assert {made.about for made in READY.values()} <= translations(language).keys()


@pytest.mark.parametrize(
    ("builder", "field", "text"),
    [
        ("intervals", "low", "zero"),
        ("intervals", "widths", "5, x"),
        ("intervals", "cuts", "1, 2\n3, y"),
        ("dates", "first", "31.12.2024"),
        ("mask", "length", "-1"),
        ("order", "sizes", "2+x"),
        ("group", "tree", "FR\nDE"),
        ("group", "tree", "West\n  FR\n DE"),
        ("group", "tree", "West\n  FR\nWest\n  DE"),
        ("group", "tree", "West\n  FR\nDE"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(builder: str, field: str, text: str) -> None:
    assert field in parsed(builder, {field: text}).problems


def test_a_field_that_is_needed_says_so() -> None:
    assert set(parsed("order", {}).problems) == {"values", "sizes"}

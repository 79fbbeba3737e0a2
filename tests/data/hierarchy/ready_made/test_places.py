"""Countries, states and postcodes."""

from collections import Counter

import pytest

from shoal.data.hierarchy import ready
from shoal.data.hierarchy.ready_made.form import rows
from shoal.data.kinds import Kind
from shoal.errors import HierarchyError


def line(name: str, value: str, form: str | None = None) -> list[str]:
    """What a declared value becomes."""
    return ready(name, form=form, values=[value]).lines()[0]


def test_countries_are_those_of_iso_3166_in_the_regions_of_m49() -> None:
    tree = ready("countries")
    assert [tree.cardinality(level) for level in range(5)] == [249, 23, 18, 6, 1]
    # How many countries M49 has in each finest region; Taiwan comes on top in Eastern Asia.
    sizes = Counter(row["sub-region"] for row in rows("countries.csv"))
    assert sizes["Eastern Africa"] == 22
    assert sizes["Caribbean"] == 28
    assert sizes["Eastern Asia"] == 8
    assert sizes["Western Europe"] == 9


@pytest.mark.parametrize(
    ("form", "value", "path"),
    [
        ("alpha-2", "NG", ["Western Africa", "Sub-Saharan Africa", "Africa"]),
        ("alpha-3", "MEX", ["Central America", "Latin America and the Caribbean", "Americas"]),
        ("numeric", "008", ["Southern Europe", "Southern Europe", "Europe"]),
        ("name", "South Korea", ["Eastern Asia", "Eastern Asia", "Asia"]),
        ("name", "Korea, Republic of", ["Eastern Asia", "Eastern Asia", "Asia"]),
        ("name", "Antarctica", ["Antarctica", "Antarctica", "Antarctica"]),
    ],
)
def test_a_country_lies_in_its_regions(form: str, value: str, path: list[str]) -> None:
    assert line("countries", value, form) == [value, *path, "*"]


def test_codes_of_countries_are_used_once() -> None:
    for form in ("alpha-2", "alpha-3", "numeric", "name"):
        values = [row[form] for row in rows("countries.csv")]
        assert len(set(values)) == 249
    assert {len(row["alpha-2"]) for row in rows("countries.csv")} == {2}
    assert {len(row["alpha-3"]) for row in rows("countries.csv")} == {3}
    assert all(
        row["numeric"].isdecimal() and len(row["numeric"]) == 3 for row in rows("countries.csv")
    )


def test_numeric_codes_may_be_integers() -> None:
    tree = ready("countries", form="numeric").of_kind(Kind.INTEGER)
    assert tree.labels[0][tree.find(8)] == "008"


def test_census_divisions_have_as_many_states_as_the_bureau_says() -> None:
    sizes = Counter(row["division"] for row in rows("us-states.csv"))
    assert sizes == {
        "New England": 6,
        "Middle Atlantic": 3,
        "East North Central": 5,
        "West North Central": 7,
        "South Atlantic": 9,
        "East South Central": 4,
        "West South Central": 4,
        "Mountain": 8,
        "Pacific": 5,
        "Island Areas": 5,
    }
    assert line("us-states", "06", "fips") == ["06", "Pacific", "West", "*"]


def test_there_are_sixteen_laender() -> None:
    tree = ready("german-states", form="name")
    assert tree.leaves == 16
    assert line("german-states", "BE") == ["BE", "East with Berlin", "*"]
    assert line("german-states", "09", "number") == ["09", "West", "*"]


@pytest.mark.parametrize(
    ("name", "form", "path"),
    [
        ("postcodes-de", "whole", ["10115", "1011*", "101**", "10***", "1****", "*"]),
        ("postcodes-pl", "whole", ["00-950", "00-95*", "00-9**", "00****", "0*****", "*"]),
        ("postcodes-se", "whole", ["114 55", "114 5*", "114***", "11****", "1*****", "*"]),
        (
            "postcodes-nl",
            "whole",
            ["1012 AB", "1012 **", "1012***", "101****", "10*****", "1******", "*"],
        ),
        ("postcodes-ca", "whole", ["K1A 0B1", "K1A****", "K1*****", "K******", "*"]),
        ("postcodes-gb", "whole", ["SW1A 1AA", "SW1A 1", "SW1A", "SW", "*"]),
        ("postcodes-gb", "outward", ["W1", "W", "*"]),
        ("postcodes-ie", "whole", ["D6W XY00", "D6W", "D", "*"]),
        ("postcodes-in", "whole", ["110001", "110***", "11****", "1*****", "*"]),
        ("postcodes-us-hipaa", "whole", ["03601", "000**", "*"]),
        ("postcodes-us-hipaa", "whole", ["94103", "941**", "*"]),
        ("postcodes-us-hipaa", "first-3", ["893", "000", "*"]),
    ],
)
def test_postcodes_lose_their_last_characters(name: str, form: str, path: list[str]) -> None:
    assert line(name, path[0], form) == path


@pytest.mark.parametrize(
    ("name", "form", "value"),
    [
        ("postcodes-de", "whole", "1011"),
        ("postcodes-de", "whole", "1011x"),
        ("postcodes-de", "whole", "１０１１５"),  # digits, and not those of a postcode
        ("postcodes-at", "whole", "0101"),
        ("postcodes-gb", "outward", "QQ1"),
        ("postcodes-gb", "whole", "SW1A"),
        ("postcodes-ca", "first-3", "D1A"),
        ("postcodes-ie", "whole", "B65 F4E2"),
        ("postcodes-us-hipaa", "whole", "00012"),
    ],
)
def test_what_is_not_a_postcode_is_refused(name: str, form: str, value: str) -> None:
    with pytest.raises(HierarchyError, match="is not one of"):
        ready(name, form=form, values=[value])


def test_hidden_zip_prefixes_include_the_seventeen_of_the_rule() -> None:
    hidden = [row for row in rows("small-zips.csv") if "2000" in row["census"]]
    assert len(hidden) == 17
    tree = ready("postcodes-us-hipaa", form="first-3")
    for row in rows("small-zips.csv"):
        assert tree.labels[1][tree.maps[1][tree.find(row["prefix"])]] == "000"

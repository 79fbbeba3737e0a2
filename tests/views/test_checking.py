"""Who is exposed by several views: the numbers of chapter 6, and which way is taken to find out."""

from fractions import Fraction

import pytest

from shoal.errors import InputError, ParameterError, TooLargeError
from shoal.views import (
    OUTSIDE,
    View,
    Views,
    check,
)
from tests.views.cases import NAMES, chapter, entangled


@pytest.mark.parametrize(
    ("names", "tables", "largest"),
    [
        (["6.3A"], 12, "1/2"),
        (["6.3A", "6.3B"], 45, "4/5"),
        (["6.3A", "6.3B", "6.5A"], 18, "2/3"),
        (["6.3A", "6.3B", "6.5B"], 18, "2/3"),
        (["6.3A", "6.3B", "6.5A", "6.5B"], 8, "1/2"),
        (["6.3A", "6.3B", "6.7"], 540, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.8"], 243, "8/9"),
        (["6.3A", "6.3B", "6.7", "6.8", "6.5A"], 90, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.8", "6.5B"], 90, "4/5"),
        (["6.3A", "6.3B", "6.7", "6.5A", "6.5B"], 96, "1/2"),
    ],
)
def test_the_chapters_views_have_the_numbers_of_the_chapter_as_corrected(
    names: list[str], tables: int, largest: str
) -> None:
    checked = check(chapter(*names))
    assert (checked.how, checked.tables, checked.tables_text, checked.largest) == (
        "exact",
        tables,
        str(tables),
        Fraction(largest),
    )
    assert checked.private is (Fraction(largest) <= Fraction(1, 2))


def test_donald_is_exposed_by_both_views_and_alan_is_not() -> None:
    checked = check(chapter("6.3A", "6.3B"))
    (one,) = checked.exposed
    assert (one.name, one.value, one.probability, one.exact) == (
        "Donald",
        "S",
        Fraction(4, 5),
        True,
    )
    assert one.views == ("6.3A", "6.3B")
    assert checked.of("Alan").shares == {
        "H": Fraction(1, 3),
        "S": Fraction(2, 5),
        "V": Fraction(4, 15),
    }
    assert checked.of("Ellen").shares == {
        "F": Fraction(1, 3),
        "S": Fraction(2, 5),
        "V": Fraction(4, 15),
    }


def test_views_that_have_nothing_to_do_with_it_are_not_blamed() -> None:
    (one,) = check(chapter("6.7", "6.3A", "6.3B")).exposed
    assert one.views == ("6.3A", "6.3B")


@pytest.mark.parametrize("k", range(2, 9))
def test_k_views_that_share_one_person_expose_them_as_computed(k: int) -> None:
    """Section 6.4.2: 3K + 1 people, of whom the last is in K views."""
    value = {3 * i + j: (1, 2, i + 3)[j] for i in range(k) for j in range(3)} | {3 * k: 1}
    views = [
        View(str(i), who := [3 * i, 3 * i + 1, 3 * i + 2, 3 * k], [value[one] for one in who])
        for i in range(k)
    ]
    checked = check(Views(3 * k + 1, views))
    assert checked.of(3 * k).shares[1] == Fraction(2**k, 2**k + 1) == checked.largest


def test_what_is_too_entangled_even_for_samples_is_not_decided_and_the_rest_is() -> None:
    views = entangled()
    checked = check(views, steps=1000, tries=100)
    assert (checked.how, checked.private, checked.tables_text, checked.confidence) == (
        "bounded",
        None,
        "not counted",
        None,
    )
    assert "are worth" in checked.views.notes[0]
    assert checked.undecided
    assert not checked.exposed
    more = Views(
        203, [*views.views, View("a", [200, 201], ["x", "y"]), View("b", [201, 202], ["x", "z"])]
    )
    assert check(more, steps=1000, tries=100).private is False
    with pytest.raises(TooLargeError, match="more than 1,000 steps"):
        check(views, how="exact", steps=1000)


def test_where_counting_takes_too_long_the_result_has_its_method_and_sample_size() -> None:
    checked = check(chapter("6.3A", "6.3B", "6.7"), steps=1)
    assert (checked.how, checked.confidence, checked.tables) == (
        "importance",
        Fraction(99, 100),
        None,
    )
    assert checked.effective is not None
    assert checked.effective > 400
    assert [(one.name, one.value, one.exact) for one in checked.exposed] == [("Donald", "S", False)]
    assert checked.tables_text.startswith("about 10^2.7")


def test_limits_of_single_values_count_beside_gamma() -> None:
    views = chapter("6.3A")
    assert check(views).private is True
    strict = Views(views.people, views.views, "1/2", {"H": "1/5"})
    assert {(one.name, one.value) for one in check(strict).exposed} == {
        (name, "H") for name in NAMES[:4]
    }
    lax = Views(views.people, chapter("6.3A", "6.3B").views, "1/2", {"S": 0.8})
    assert check(lax).private is True


def test_being_outside_the_table_is_shown_and_has_no_limit() -> None:
    views = Views(4, [View("A", range(4), ["flu"])], "1/4", complete=False)
    checked = check(views)
    assert (checked.tables, checked.private) == (4, True)
    assert checked.of(0).shares == {"flu": Fraction(1, 4), OUTSIDE: Fraction(3, 4)}
    with pytest.raises(InputError, match="not complete"):
        Views(4, [View("A", range(4), ["flu"])])


def test_people_in_no_view_change_nothing() -> None:
    more = Views([*NAMES[:7], "Zoe"], chapter("6.3A", "6.3B").views)
    checked = check(more)
    assert (checked.tables, checked.largest) == (45, Fraction(4, 5))
    with pytest.raises(ParameterError, match="in no view"):
        checked.of("Zoe")


def test_without_views_there_is_one_table_and_nobody_is_exposed() -> None:
    checked = check(Views(3, []))
    assert (checked.tables, checked.private, checked.largest) == (1, True, Fraction(0))
    assert not checked.exposed


def test_the_largest_probability_is_never_that_of_being_outside_the_table() -> None:
    assert check(Views(4, [View("A", range(4), ["flu"])], complete=False)).largest == Fraction(1, 4)

"""Sex, age, marital status, education, dates and years."""

import pytest

from shoal.data.hierarchy import ready
from shoal.data.kinds import Kind


def test_ages_from_90_on_are_one_value() -> None:
    age = ready("age")
    assert age.kind is Kind.INTEGER
    assert age.find(90) == age.find(104)
    assert age.lines()[39] == ["39", "35-39", "30-39", "20-39", "*"]


def test_days_of_two_centuries_fall_into_months_quarters_years_and_decades() -> None:
    days = ready("dates")
    assert days.kind is Kind.DATE
    assert [days.cardinality(level) for level in range(6)] == [73049, 2400, 800, 200, 20, 1]
    assert days.lines()[-1] == ["2099-12-31", "2099-12", "2099-Q4", "2099", "2090-2099", "*"]


@pytest.mark.parametrize(
    ("name", "form", "value", "group"),
    [
        ("isced-2011", "level", "4", "3-4"),
        ("isced-2011", "eurostat", "ED6", "ED5-8"),
        ("marital-status", "words", "widowed", "formerly partnered"),
        ("marital-status", "german", "verheiratet", "in Partnerschaft"),
        ("sex", "german-letters", "d", "*"),
    ],
)
def test_values_lie_in_their_groups(name: str, form: str, value: str, group: str) -> None:
    lines = {line[0]: line for line in ready(name, form=form).lines()}
    assert lines[value][1] == group


def test_levels_of_education_may_be_numbers() -> None:
    levels = ready("isced-2011").of_kind(Kind.INTEGER)
    assert levels.find(8) == 8

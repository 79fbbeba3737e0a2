"""Both forms of the input of `Columns`: shared projections, in whatever order rows are."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods.columns.wide import Laid
from tests.columns_forms import (
    FORMS,
    Database,
    Groups,
    both_forms,
    draw_nothing_surely,
    released_surely,
    rows_of,
)


@pytest.fixture(autouse=True)
def _surely(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_nothing_surely(monkeypatch)


def projections(database: Database, groups: Groups, k: int) -> Counter[tuple[object, ...]]:
    """Every group's projections that at least k records share, plainly."""
    found: Counter[tuple[object, ...]] = Counter()
    for place, group in enumerate(groups):
        for record in database:
            part = tuple(record[j] if j in group else None for j in range(len(record)))
            if any(value is not None for value in part):
                found[place + 1, *part] += 1
    return Counter({part: count for part, count in found.items() if count >= k})


records = st.lists(st.tuples(*[st.sampled_from([None, None, 1, 2])] * 4), max_size=30).map(tuple)
schemas_of_four = st.lists(
    st.sets(st.integers(0, 3), min_size=1).map(lambda group: tuple(sorted(group))),
    min_size=1,
    max_size=4,
    unique=True,
)


def found_in(form: str, laid: Laid, columns: int) -> Counter[tuple[object, ...]]:
    rows, found = rows_of(laid), Counter[tuple[object, ...]]()
    if form == "wide":
        names = list(laid)
        for row in rows:
            by_name = dict(zip(names, row, strict=True))
            found[by_name["column_group"], *(by_name.get(f"c{j}") for j in range(columns))] += int(
                str(by_name["count"])
            )
        return found
    people: dict[object, Any] = {}
    for record, group, item, value, count in rows:
        people.setdefault(record, [group, [None] * columns, count])[1][int(str(item)[1:])] = value
    for group, values, count in people.values():
        found[group, *values] += count
    return found


@both_forms
@given(database=records, groups=schemas_of_four.map(tuple))
@settings(max_examples=60, deadline=None)
def test_both_forms_find_the_projections_that_are_shared(
    form: str, database: Database, groups: Groups
) -> None:
    drawn = released_surely(FORMS[form](database, 4), groups, len(groups))
    expected = projections(database, groups, 2)
    assert found_in(form, drawn.laid, 4) == expected
    assert drawn.released == expected.total()
    assert drawn.projections == projections(database, groups, 1).total()


@both_forms
@given(database=records, groups=schemas_of_four.map(tuple), most=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_no_record_gives_more_groups_than_allowed(
    form: str, database: Database, groups: Groups, most: int
) -> None:
    drawn = released_surely(FORMS[form](database, 4), groups, most)
    allowed = 0
    for record in database:
        given = [any(record[j] is not None for j in group) for group in groups]
        allowed += min(most, sum(given))
    assert drawn.projections == allowed
    assert not found_in(form, drawn.laid, 4) - projections(database, groups, 1)


@both_forms
def test_the_order_of_rows_and_of_people_does_not_matter(form: str) -> None:
    random = np.random.default_rng(3)
    database = [tuple(int(v) if v else None for v in row) for row in random.integers(0, 3, (60, 4))]
    groups = ((0, 1), (2, 3), (1, 2))
    released = []
    for _ in range(3):
        random.shuffle(database)
        drawn = released_surely(FORMS[form](tuple(database), 4), groups, 3)
        released.append(rows_of(drawn.laid))
    assert released[0] == released[1] == released[2]

"""The way of one record: each step is the best of all pairs of a coarser and a finer column."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods.personal import People, Personal
from shoal.methods.personal.alone import Alone
from shoal.methods.personal.climbing import Climb
from shoal.methods.personal.crowds import Best
from tests.methods.test_personal_genetic import Records, lattice, methods, records, table_of


@settings(max_examples=30)
@given(records.filter(bool), methods, st.data())
def test_a_step_is_the_best_of_all_pairs_of_a_coarser_and_a_finer_column(
    rows: Records, method: Personal, data: st.DataObject
) -> None:
    people = People.of(method, table_of(rows))
    alone = Alone(people, Best(people.crowds, people.utility, people.wanted))
    row = data.draw(st.integers(0, sum(len(want.rows) for want in people.wanted) - 1))
    worths, columns = alone.worths(row), np.arange(3)
    kept = [node for node in lattice(people) if worths[columns, node].sum() >= alone.floor(row)]
    node = data.draw(st.sampled_from(kept))
    near = [
        other
        for other in kept
        if sum(theirs > own for theirs, own in zip(other, node, strict=True)) <= 1
        and sum(theirs < own for theirs, own in zip(other, node, strict=True)) <= 1
    ]
    risk = float(alone.risks(row, [node])[0])
    lowest = float(alone.risks(row, near).min())
    climb = Climb(alone, row)
    step = climb.step(node, risk)
    if lowest < risk:
        assert step is not None
        assert step[0] in near
        assert step[1] == lowest == float(alone.risks(row, [step[0]])[0])
    else:
        assert step is None
    end, reached = climb.best(node, risk)
    assert reached <= lowest
    assert climb.step(end, reached) is None

"""Records one by one: counted as all are together, and drawn by their risk."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.chance import Seeded
from shoal.methods.personal import People, Personal, Wish
from shoal.methods.personal.alone import Alone
from shoal.methods.personal.crowds import Best
from tests.methods.test_personal_genetic import Records, lattice, methods, records, table_of


@settings(max_examples=30)
@given(records.filter(bool), methods, st.data())
def test_one_record_is_counted_as_all_are(
    rows: Records, method: Personal, data: st.DataObject
) -> None:
    people = People.of(method, table_of(rows))
    alone = Alone(people, Best(people.crowds, people.utility, people.wanted))
    row = data.draw(st.integers(0, sum(len(want.rows) for want in people.wanted) - 1))
    number, place = alone.place(row)
    want, nodes = alone.best.wanted[number], lattice(people)
    one = want.rows[place : place + 1]
    assert alone.sizes(row, nodes).tolist() == [
        int(people.crowds.sizes(node)[one[0]]) for node in nodes
    ]
    for total, parts in (
        (people.utility, alone.worths(row)),
        (want.sensitivity, alone.sensitivities(row)),
    ):
        levels = np.array(nodes, dtype=np.uint8)
        sums = people.crowds.sum_of(total, np.repeat(one, len(nodes)), levels)
        assert (
            parts[np.arange(len(people.crowds.heights)), levels].sum(axis=1).tolist()
            == sums.tolist()
        )


def test_records_with_more_risk_are_drawn_more_often_and_those_without_never() -> None:
    rows: Records = [("a", "0", "f", None)] * 40 + [("c", "7", "m", "strict")]
    wishes = {"strict": Wish(), "open": Wish(weights={"town": 0, "age": 0, "sex": 0})}
    people = People.of(
        Personal("1/2", choice="choice", wishes=wishes), table_of([*rows, ("d", "5", "f", "open")])
    )
    alone = Alone(people, Best(people.crowds, people.utility, people.wanted))
    drawn = [alone.place(row) for seed in range(400) for row in alone.draw(Seeded(seed), 1)]
    assert {number for number, _ in drawn} == {
        0,
        1,
    }  # 40 people of a risk of 3/40 have as much together as one of a risk of 3
    assert 150 < sum(number == 0 for number, _ in drawn) < 250

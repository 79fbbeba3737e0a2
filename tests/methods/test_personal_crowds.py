"""How many people a record could be about at a node, and the best node offered to it."""

import polars as pl

import shoal
from shoal.methods.personal import People, Personal
from tests.methods.test_personal import TREES


def test_a_register_counts_for_the_crowd_and_is_completed_where_it_lacks_people() -> None:
    frame = pl.DataFrame({"town": ["a", "a", "c"], "age": ["1", "1", "2"]})
    table = shoal.table(frame, quasi=["town", "age"], hierarchies=TREES)
    register = shoal.table(
        pl.DataFrame({"town": ["a", "b", "b", "b"], "age": ["1", "1", "1", "7"]})
    )  # of (a, 1) only one
    crowds = People.of(Personal("0.5", register=register), table).crowds
    assert sorted(crowds.everyone.count.tolist()) == [
        1,
        1,
        2,
        2,
    ]  # a second (a, 1), and (c, 2), whom the register lacks
    assert crowds.sizes((1, 0)).max() == 4

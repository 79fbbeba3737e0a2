"""The map of levels is laid out by loss and suppression."""

from shoal.measure.spaces import LevelsPlace, SolutionSpace, Square
from shoal.workbench.level_maps import LevelsMap

SPACE = SolutionSpace(
    records=10,
    models=("5-anonymity",),
    loss_model="granularity",
    nodes=5,
    seen=5,
    allowed=None,
    squares=(Square(0.95, 0.0, 1), Square(0.1, 0.15, 4)),
    best=LevelsPlace({"age": 1}, 0.12, 0.16),
    chosen=None,
)


def test_squares_have_their_places_shades_and_words() -> None:
    drawn = LevelsMap.of(SPACE, [], (2, 3), "?square=")
    low, high = drawn.squares
    assert (low.key, low.area, low.lost, low.suppressed) == ("2.3", "18 / 4", "10–15 %", "15–20 %")
    assert (high.key, high.area) == ("19.0", "1 / 1")
    assert (low.chosen, high.chosen) == (True, False)
    assert low.shade != high.shade


def test_the_best_and_pins_of_this_table_are_marked() -> None:
    pin = {"loss": 0.5, "suppressed": 0.25, "is_current": True}
    drawn = LevelsMap.of(SPACE, [pin, {**pin, "is_current": False}], None, "?square=")
    assert [mark.name for mark in drawn.marks] == ["best", "1"]
    assert drawn.marks[1].place == "left: 25.00%; bottom: 50.00%"

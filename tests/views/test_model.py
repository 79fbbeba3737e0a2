"""What cannot be meant by a view is refused in words."""

import pytest

from shoal.errors import InputError, ParameterError
from shoal.views import OUTSIDE, View, Views, check


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: View("A", [0, 0], ["x", "y"]), "twice"),
        (lambda: View("A", [0], {"x": -1}), "whole number"),
        (lambda: View("A", [0], {"x": True}), "whole number"),
        (lambda: View("A", [0], "x"), "list"),
        (lambda: View("A", [0], [OUTSIDE]), "not in the table"),
        (lambda: Views(1, [View("A", [1], ["x"])]), "register"),
        (
            lambda: Views(2, [View("A", [0], ["x"]), View("A", [1], ["x"])]),
            "several views have the name",
        ),
        (lambda: Views(1, [], gamma=2), "gamma"),
        (lambda: Views(1, [View("A", [0], ["x", "y"])]), "cannot be more"),
        (lambda: check(Views(1, []), how="guess"), "how="),  # type: ignore[arg-type]
        (lambda: check(Views(1, []), confidence=1), "confidence"),
    ],
)
def test_what_cannot_be_meant_raises_with_a_reason(make: object, words: str) -> None:
    with pytest.raises((ParameterError, InputError), match=words):
        make()  # type: ignore[operator]

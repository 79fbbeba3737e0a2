"""The tree of errors is drawn as it is."""

import re

from shoal import errors
from shoal.errors import ShoalError


def drawn() -> dict[str, int]:
    """The depth of every error in the drawing, one per line."""
    lines = re.findall(r"^ {4}([│├└─ ]*)(\w+)(?:  .*)?$", errors.__doc__ or "", re.MULTILINE)
    return {name: len(branch) // 4 for branch, name in lines}


def test_the_drawing_has_every_error_below_the_one_that_it_is() -> None:
    every = {
        name: thing.__mro__.index(ShoalError)
        for name in errors.__all__
        if isinstance(thing := getattr(errors, name), type) and issubclass(thing, ShoalError)
    }
    assert drawn() == every

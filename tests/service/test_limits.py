"""The limits of the service have a range."""

import pytest

from shoal.errors import ParameterError
from shoal.service import ServiceLimits


def test_a_limit_out_of_range_is_refused_by_name() -> None:
    for invalid in (
        {"body": 0},
        {"rate": 0},
        {"burst": 0},
        {"quantum": -1},
        {"quantum": float("nan")},
        {"rate": float("inf")},
        {"waiting": 0},
        {"cost": 0},
        {"connections": 0},
        {"per_address": -1},
        {"timeout": 0},
        {"timeout": float("nan")},
    ):
        [name] = invalid
        with pytest.raises(ParameterError, match=f"^{name}=.* is out of range; it takes a number"):
            ServiceLimits(**invalid)
    assert ServiceLimits(quantum=0).quantum == 0

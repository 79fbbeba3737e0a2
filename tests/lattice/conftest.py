"""Every path of the engine, on tables small enough to check by hand."""

import pytest

from tests.lattice.small import HARD, small_tables


@pytest.fixture(
    params=HARD,
    ids=lambda numbers: (
        " ".join(f"{name}={number}" for name, number in numbers.items()) or "as it ships"
    ),
)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    small_tables(monkeypatch, **request.param)

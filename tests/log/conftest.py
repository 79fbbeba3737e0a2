"""What logs are for."""

import pytest

from shoal.log.chain import Purpose
from tests.log.logs import PURPOSES


@pytest.fixture(params=PURPOSES, ids=lambda purpose: purpose.noun)
def purpose(request: pytest.FixtureRequest) -> Purpose:
    given: Purpose = request.param
    return given

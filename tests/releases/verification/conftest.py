"""What the tests of verification share."""

from pathlib import Path

import pytest

from tests.releases.verification.forging import released


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Path]:
    """The certificate and the table of a release."""
    path = released("fixed").write(tmp_path)
    return tmp_path / "certificate.json", path

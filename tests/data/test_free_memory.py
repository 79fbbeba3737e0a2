"""Memory: what is left is known, in a container too."""

from pathlib import Path

import pytest

from shoal.data import free_memory
from shoal.errors import TooLargeError


def test_something_is_left() -> None:
    assert free_memory.available() > 0


@pytest.mark.parametrize(
    ("limit", "used", "cache"),
    [
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ],
)
def test_a_containers_limit_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, used: str, cache: str
) -> None:
    folder = tmp_path if limit == "memory.max" else tmp_path / "memory"
    folder.mkdir(exist_ok=True)
    (folder / limit).write_text("10000\n")
    (folder / used).write_text("7000\n")
    (folder / "memory.stat").write_text(f"anon 5\n{cache} 2000\n")
    monkeypatch.setattr(free_memory, "_GROUP", tmp_path)
    assert free_memory.available() == 5000
    (folder / limit).write_text("max\n")
    assert free_memory.available() > 5000


def test_what_does_not_fit_is_refused_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "available", lambda: 2_500_000_000)
    free_memory.require(2_500_000_000, "this", "do less")
    with pytest.raises(
        TooLargeError, match=r"this needs about 3\.1 GB of memory and 2\.5 GB are free; do less"
    ):
        free_memory.require(3_100_000_000, "this", "do less")

"""The check of random samples: the probability of the promise is that of the parameters."""

from functools import cache
from pathlib import Path

import pytest

from shoal.methods.sampling import RandomSample
from shoal.privacy.promises import Sampled
from shoal.releases.release import Release
from shoal.releases.verification import unchecked
from tests.releases.verification.forging import Change, both, faults, people, put


@cache
def sample() -> Release:
    return RandomSample("1/2").release(people(10))


FORGERIES: dict[str, tuple[Change, str]] = {
    "another probability": (put("parameters.probability", "1/3"), "the probability of the promise"),
    "a smaller share, in its words": (
        both(put("promise.share", "1/3"), put("statement", Sampled("1/3").statement)),
        "the probability of the promise",
    ),
    "a probability that is not one": (put("parameters.probability", "often"), "the method takes"),
    "a level": (put("levels.age", 1), "does not give a level"),
    "no record left out": (put("whole", True), "no record was left out"),
}


def test_a_sample_verifies_and_lists_what_was_drawn(tmp_path: Path) -> None:
    assert faults(sample(), tmp_path) == []
    listed = unchecked(sample().certificate)
    assert any("drawn by chance, with that probability" in end for end in listed)


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(change: Change, words: str, tmp_path: Path) -> None:
    found = faults(sample(), tmp_path, change)
    assert any(words in fault for fault in found), found

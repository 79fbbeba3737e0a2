"""Secret digits that are added to the values of a column, so that they are as good as real numbers.

Only sums of them are ever used. So they are drawn for cells, people who were always asked about
together, when a question first distinguishes them: a store keeps as many draws as there are cells,
not as there are people. Every table of parts that fits what was drawn stays possible, which is all
that docs/proofs/audit-sums.md needs. Uses `chance` and `cells`; `Audit` uses it.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.audit.cells import Labels, bits
from shoal.chance import Chance

__all__ = ["FINE", "Dither", "DitherDraws", "Recorded"]

FINE: int = 10**1300
"""Parts that dither divides a unit into: enough for a thousand sums over the same people."""

COARSE = 256
"""Parts of the probability with which a person of a cell has the larger half of a unit."""


class DitherDraws:
    """Parts drawn by chance, which remembers them for the log."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self.made: list[int] = []

    def fresh(self, count: int) -> int:
        """The parts of this many people, of whom nothing was drawn: 0 up to `FINE` - 1 for each.

        Whole units are heads of coins, so that sums of many people are about right. Every possible
        number can be drawn.
        """
        return self._drawn(count, Fraction(1, 2), 0, count * (FINE - 1))

    def share(self, few: int, many: int, parts: int) -> int:
        """The part of a few people in the parts of these and many others, so that both fit."""
        low = max(0, parts - many * (FINE - 1))
        high = min(few * (FINE - 1), parts)
        heads = COARSE * (parts // FINE) // (few + many)
        likely = Fraction(min(max(heads, 1), COARSE - 1), COARSE)
        return self._drawn(few, likely, low, high)

    def _drawn(self, count: int, likely: Fraction, low: int, high: int) -> int:
        """A number between two, near as many units as coins show heads."""
        while True:
            units = int(self._chance.binomial(np.array([count - 1]), likely)[0])
            least = max(low, units * FINE)
            most = min(high, (units + 1) * FINE - 1)
            if least <= most:
                drawn = least + self._chance.below(most - least + 1)
                self.made.append(drawn)
                return drawn

    def text(self, people: int) -> str:
        """What was drawn, for the log of an audit of this many people."""
        size = _size(people)
        return b64encode(b"".join(each.to_bytes(size, "big") for each in self.made)).decode()


class Recorded:
    """Parts as they were drawn once, from the log."""

    def __init__(self, text: str, people: int) -> None:
        packed, size = b64decode(text), _size(people)
        starts = range(0, len(packed), size)
        self._drawn = (int.from_bytes(packed[start : start + size], "big") for start in starts)

    def fresh(self, count: int) -> int:
        """The next number that was drawn."""
        return next(self._drawn)

    def share(self, few: int, many: int, parts: int) -> int:
        """The next number that was drawn."""
        return next(self._drawn)


def _size(people: int) -> int:
    """Bytes of one number."""
    return ((people * FINE).bit_length() + 7) // 8


@dataclass(frozen=True, eq=False)
class Dither:
    """What was added so far to each cell: `FINE` parts are a unit. None if nothing was drawn.

    labels: everyone's cell
    sizes: how many people each cell has
    """

    labels: Labels
    sizes: tuple[int, ...]
    added: tuple[int | None, ...]

    @classmethod
    def start(cls, people: int) -> "Dither":
        """Nothing was drawn for anybody."""
        return cls(np.zeros(people, np.int32), (people,), (None,))

    def asked(self, people: int, draws: DitherDraws | Recorded) -> "Dither":
        """Once a question is about people: what was added to all of them is known.

        Of a cell that it cuts, those inside become a new one, the last.
        """
        inside = np.flatnonzero(bits([people], len(self.labels))[0].view(bool))
        before = self.labels[inside]
        counts = np.bincount(before, minlength=len(self.added))
        numbers = np.arange(len(self.added), dtype=np.int32)
        sizes, added = list(self.sizes), list(self.added)
        for cell in np.flatnonzero(counts).tolist():
            count = int(counts[cell])
            rest = sizes[cell] - count
            outside, within = _split(added[cell], rest, count, draws)
            if not rest:
                added[cell] = within
                continue
            numbers[cell] = len(added)
            sizes[cell], added[cell] = rest, outside
            sizes.append(count)
            added.append(within)
        labels = self.labels.copy()
        labels[inside] = numbers[before]
        return Dither(labels, tuple(sizes), tuple(added))

    def parts(self, people: int) -> int:
        """What was added to a set of people, of whom nobody is in an undrawn cell."""
        return sum(self._of(people))

    def _of(self, people: int) -> Iterable[int]:
        inside = bits([people], len(self.labels))[0].astype(bool)
        for label in np.unique(self.labels[inside]).tolist():
            parts = self.added[label]
            assert parts is not None
            yield parts


def _split(
    parts: int | None, rest: int, count: int, draws: DitherDraws | Recorded
) -> tuple[int | None, int]:
    """What the rest of a cell has of its parts, and what those have whom a question is about."""
    if parts is None:
        return None, draws.fresh(count)
    if not rest:
        return 0, parts
    # the smaller share is drawn, as a larger one would often leave too much or too little
    if count <= rest:
        share = draws.share(count, rest, parts)
        return parts - share, share
    share = draws.share(rest, count, parts)
    return share, parts - share

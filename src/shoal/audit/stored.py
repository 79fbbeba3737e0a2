"""The data of an audit as texts for the store: public columns, and exact values of secret ones.

They are packed, so that an audit of a million people opens quickly. Uses numpy and `cells`; `Audit`
uses it.
"""

import json
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING
from zlib import compress, decompress

import numpy as np
import numpy.typing as npt

from shoal.audit.cells import Ints, bits
from shoal.audit.dither import FINE
from shoal.audit.expressions import Public
from shoal.audit.model import Number
from shoal.audit.secret import Family, KindBounds, Secret, simplest
from shoal.data.kinds import Kind
from shoal.errors import ParameterError
from shoal.exact.numbers import fraction

if TYPE_CHECKING:
    from shoal.data.tables import Table

__all__ = ["StoredValues", "column_text", "kind_bounds", "public_column", "row_numbers"]

Whole = npt.NDArray[np.int64 | np.object_]
"""Machine words, or whole numbers of any size."""


@dataclass(frozen=True, eq=False)
class StoredValues:
    """The values of a secret column as whole numbers over one denominator.

    So sums of millions stay quick and exact.
    """

    scaled: Whole
    denominator: int

    @classmethod
    def of(cls, exact: Sequence[Fraction]) -> "StoredValues":
        denominator = lcm(*{value.denominator for value in exact})
        scaled = [value.numerator * (denominator // value.denominator) for value in exact]
        return cls(_whole(scaled), denominator)

    @classmethod
    def read(cls, text: str) -> "StoredValues":
        """From the store; also from one of before 0.2, which has a text for each value."""
        stored = json.loads(text)
        if isinstance(stored, list):
            return cls.of([Fraction(value) for value in stored])
        return cls(_unpacked(stored["values"]), int(stored["denominator"]))

    def text(self, order: Ints) -> str:
        """For the store, in an order."""
        values = _packed(self.scaled[order])
        return _dumped({"denominator": str(self.denominator), "values": values})

    @property
    def dithered(self) -> bool:
        """Whether secret digits were added to the values themselves, as before 0.2."""
        return self.denominator % FINE == 0

    def aggregate(self, family: Family, people: int) -> Number:
        """The aggregate over a set of people, exactly."""
        inside = bits([people], len(self.scaled))[0].astype(bool)
        chosen = self.scaled[inside]
        total = {"max": chosen.max, "min": chosen.min, "sum": chosen.sum}[family]()
        return simplest(Fraction(int(total), self.denominator))


def _whole(numbers: Sequence[int]) -> Whole:
    """Whole numbers of which sums are exact: machine words, where no sum can overflow."""
    largest = max(map(abs, numbers), default=0)
    fits = largest * len(numbers) < 2**62
    return np.array(numbers, np.int64 if fits else object)


def _packed(numbers: Whole) -> str | list[str]:
    """Whole numbers for the store: compressed machine words, or texts where they do not fit."""
    if numbers.dtype == object:
        return [str(number) for number in numbers]
    words = np.ascontiguousarray(numbers, "<i8")
    # bytes of one place are next to each other, which compresses well
    planes = words.view(np.uint8).reshape(-1, 8).T
    return b64encode(compress(planes.tobytes(), 1)).decode()


def _unpacked(stored: str | list[str]) -> Whole:
    if isinstance(stored, list):
        return np.array([int(number) for number in stored], object)
    planes = np.frombuffer(decompress(b64decode(stored)), np.uint8).reshape(8, -1)
    words = np.ascontiguousarray(planes.T).view("<i8")
    return words.reshape(-1).astype(np.int64)


def column_text(table: "Table", name: str, order: Ints) -> str:
    """A public column for the store, of some rows in an order."""
    [column] = table.records([name])
    codes = np.asarray(column.codes, np.int64)[order]
    return _dumped({"kind": column.kind.value, "labels": column.labels, "codes": _packed(codes)})


def row_numbers(rows: int) -> str:
    """The public column with the numbers of rows."""
    labels = [str(number) for number in range(1, rows + 1)]
    codes = _packed(np.arange(rows))
    return _dumped({"kind": Kind.INTEGER.value, "labels": labels, "codes": codes})


def public_column(text: str) -> Public:
    """A public column from the store."""
    parts = json.loads(text)
    kind = Kind(parts["kind"])
    keys = tuple(kind.key(label) for label in parts["labels"])
    codes = parts["codes"]
    # before 0.2 these were a list of numbers
    numbers = np.array(codes, np.int64) if isinstance(codes, list) else _unpacked(codes)
    return Public(kind, keys, array("l", numbers.tobytes()))


def kind_bounds(secret: Secret, columns: Mapping[str, Public]) -> KindBounds | None:
    """Everyone's public bounds, where columns have them: those with the same are of one kind."""
    if not secret.bound_columns:
        return None
    low, high = secret.bounds
    lows, low_codes = _bounds(columns, secret.low_column, low)
    highs, high_codes = _bounds(columns, secret.high_column, high)
    pairs, kinds = np.unique(low_codes * len(highs) + high_codes, return_inverse=True)
    which = [divmod(pair, len(highs)) for pair in pairs.tolist()]
    return KindBounds(
        tuple(lows[low] for low, _ in which),
        tuple(highs[high] for _, high in which),
        kinds.astype(np.int32),
    )


def _bounds(
    columns: Mapping[str, Public], column: str | None, given: Fraction | None
) -> tuple[list[Fraction], Ints]:
    """The bounds there are, and everyone's by number."""
    if column is not None:
        public = columns[column]
        texts = (public.kind.text(key) for key in public.keys)
        return [fraction(text, column) for text in texts], np.asarray(public.codes, np.int64)
    if given is None:
        raise ParameterError(
            "bounds are given on both sides, or on neither", "give `low` and `high`, or columns"
        )
    return [given], np.zeros(1, np.int64)


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))

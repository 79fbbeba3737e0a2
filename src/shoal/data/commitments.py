"""A commitment to a table: it shows later which table was used, and until then nothing about it.

Uses tables; methods make commitments, and `verification` opens them.

A plain digest of a private table would answer guesses: whoever knows all of a register but one
person can try that person's values. So the digest has a random key of 256 bits, which stays with
the owner. Without the key it is as good as random, and nobody can find a second table and key that
give the same (BLAKE2b is taken for a random function).
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from shoal.arguments import typed
from shoal.counts import group
from shoal.data.kinds import Key, Kind
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.zones import owner_only

__all__ = ["KEY_BYTES", "OpenedTable", "commitment"]

KEY_BYTES = 32


@typed
@owner_only
@dataclass(frozen=True)
class OpenedTable:
    """A table with the key, in hexadecimal, by which it was committed to."""

    table: Table
    key: str = field(repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", self.key):
            raise ParameterError(
                "is not a key", f"give {2 * KEY_BYTES} hexadecimal digits", option="key"
            )


def commitment(opened: OpenedTable, kinds: Mapping[str, Kind]) -> str:
    """64 hexadecimal digits over some columns of a table, read by these types.

    The order of rows and columns does not matter, nor how numbers are written.
    """
    table = opened.table
    names = sorted(kinds)
    counts = table.count(names, {})
    texts = []
    codes = []
    for name, column in zip(names, counts.codes, strict=True):
        spelt = [_text(key, kinds[name]) for key in table.keys(name)]
        used = sorted({spelt[code] for code in np.unique(column).tolist()})
        place = {text: rank for rank, text in enumerate(used)}
        texts.append(used)
        codes.append(np.array([place.get(text, 0) for text in spelt], dtype=np.uint64)[column])
    # Values that are written in two ways are one, and rows are in the order of their texts.
    rows = group(names, codes, [max(len(used), 1) for used in texts], counts.count)
    digest = hashlib.blake2b(
        key=bytes.fromhex(opened.key), digest_size=32, person=b"shoal committed"
    )
    for name, used, column in zip(names, texts, rows.codes, strict=True):
        for text in (name, str(len(used)), *used):
            written = text.encode("utf-8", "surrogatepass")
            digest.update(len(written).to_bytes(8, "little") + written)
        digest.update(column.astype("<i8").tobytes())
    digest.update(rows.count.astype("<i8").tobytes())
    return digest.hexdigest()


def _text(key: Key | None, kind: Kind) -> str:
    """One spelling of a value: "039" is the whole number 39."""
    if key is None:
        return ""
    try:
        return kind.text(kind.key(key))
    except (ValueError, TypeError, OverflowError):
        return str(key)

"""A keyed fingerprint of a table: equal for equal data, and useless without the key.

Uses the counts of a table; `Ledger` uses it.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from shoal.data.tables import Table

__all__ = ["fingerprint"]


def fingerprint(table: Table, key: bytes) -> str:
    """64 hexadecimal digits over all columns but the identifying ones, which no method looks at.

    The order of rows and of columns does not matter, nor do roles and hierarchies, which say how
    data is used.
    """
    names = sorted(table.released)
    counts = table.count(names, {})
    digest = hashlib.blake2b(key=key, digest_size=32, person=b"shoal table")
    _feed(digest, names)
    for name, codes in zip(names, counts.codes, strict=True):
        kind = table.kind(name).value
        digest.update(f"{kind} {len(codes)} {codes.dtype.itemsize}\n".encode())
        _feed(digest, table.labels(name))
        digest.update(codes.astype(codes.dtype.newbyteorder("<"), copy=False).tobytes())
    digest.update(counts.count.astype("<i8", copy=False).tobytes())
    return digest.hexdigest()


def _feed(digest: "hashlib.blake2b", texts: Sequence[str]) -> None:
    """Feed texts unambiguously: their number, their lengths, then the texts."""
    lengths = np.fromiter(map(len, texts), dtype="<i8", count=len(texts))
    digest.update(f"{len(texts)}\n".encode())
    digest.update(lengths.tobytes())
    digest.update("".join(texts).encode("utf-8", "surrogatepass"))

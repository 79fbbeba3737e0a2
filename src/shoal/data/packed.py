"""Files that are compressed with gzip or zstd: read in blocks, and written without a trace.

A compressed file cannot be read from its middle, and says nothing reliable about its size: whoever
reads it whole asks for memory block by block. What is written depends on the content alone, so
without name and time. Uses `free_memory`; `files` and `table_files` use it.
"""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, cast

from shoal.data import free_memory
from shoal.data.formats import PACKINGS
from shoal.data.installed import require_installed
from shoal.errors import FileError

__all__ = ["blocks_of", "ending_of", "packing", "packing_of", "unpacked", "unpacked_blocks"]

_MAGIC = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
# Bytes of a compressed file that are read at a time, and of its content that are made at a time.
_READ = 1 << 16
_BLOCK = 1 << 20
# Four bytes of zstd may become 128 KB, and it has no limit of what it makes at a time.
_PIECE = 1 << 8
# Python's own default for gzip, and that of zstd.
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 3


def packing_of(head: bytes) -> str | None:
    """What compressed a file, by its first bytes; None if nothing did."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def ending_of(packing: str) -> str:
    """How the name of a file ends that is compressed in this way.

    >>> ending_of("zstd")
    '.zst'
    """
    return next(end for end, name in PACKINGS.items() if name == packing)


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    """The bytes of an open file, some at a time."""
    while block := file.read(_READ):
        yield block


def unpacked(blocks: Iterable[bytes], packing: str, path: str) -> bytes:
    """All that a compressed file holds; TooLargeError if that does not fit into memory."""
    parts, size = list[bytes](), 0
    for part in unpacked_blocks(blocks, packing, path):
        size += len(part)
        # Until they are joined, the parts are there twice.
        free_memory.require(size + 2 * _BLOCK, f"unpacking {path}", "unpack it and stream the file")
        parts.append(part)
    return b"".join(parts)


def unpacked_blocks(
    blocks: Iterable[bytes], packing: str, path: str, *, whole: bool = True
) -> Iterator[bytes]:
    """What a compressed file holds, in parts of some megabytes at most.

    FileError if it is damaged.

    whole: whether the blocks are all of the file, or only its beginning
    """
    begin, errors = _unpacker(packing)
    unpacker = None
    try:
        for piece in _pieces(blocks):
            rest = piece
            while rest:
                if unpacker is None:
                    # Several such files after one another are one, and zeros may follow them.
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    unpacker = begin()
                if packing == "gzip":
                    part = unpacker.decompress(rest, _BLOCK)
                    rest = unpacker.unconsumed_tail
                else:
                    part, rest = unpacker.decompress(rest), b""
                if part:
                    yield part
                if unpacker.eof:
                    rest, unpacker = unpacker.unused_data, None
    except errors:
        raise _damaged(path, packing) from None
    if whole and unpacker is not None:
        raise _damaged(path, packing)


def _unpacker(packing: str) -> tuple[Callable[[], Any], type[Exception]]:
    """What makes an object that unpacks, and its error."""
    if packing == "gzip":
        return partial(zlib.decompressobj, wbits=31), zlib.error
    zstandard = require_installed("zstandard", "files compressed with zstd", "files")
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces so small that none becomes more than some megabytes."""
    for block in blocks:
        for start in range(0, len(block), _PIECE):
            yield block[start : start + _PIECE]


def _damaged(path: str, packing: str) -> FileError:
    return FileError(
        f"{path} is damaged: what {packing} compressed ends too early, or was changed",
        "copy it again from where it comes from",
    )


@contextmanager
def packing(file: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
    """A file to write to, whose content goes into another, compressed, without name and time."""
    if packing == "gzip":
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=file, mtime=0) as packed:
            yield cast("IO[bytes]", packed)
        return
    zstandard = require_installed("zstandard", "files compressed with zstd", "files")
    packer = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True)
    with packer.stream_writer(file, closefd=False) as packed:
        yield packed

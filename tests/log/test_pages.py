"""Every byte of a log's file has a reason to be there, and one that has none is found."""

import random
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pytest

from shoal.ledger.book import LEDGER
from shoal.log import pages
from shoal.log.chain import SCHEMA, VERSION, Row
from shoal.log.pages import Header, commits, oddities
from shoal.log.sqlite import Sqlite
from shoal.log.store import Log

PAGE = 4096


@dataclass(frozen=True)
class Written:
    """The bytes of a log's file, and what is in it."""

    image: bytes
    rows: Sequence[Row]

    @property
    def header(self) -> Header:
        major, minor, patch = sqlite3.sqlite_version_info
        number = major * 1_000_000 + minor * 1_000 + patch
        return Header(len(self.rows), LEDGER.mark, VERSION, number)

    def odd(self, image: bytes | None = None, more: int = 0) -> list[str]:
        """What is odd about an image of the file, which has some bytes more than the image."""
        image = self.image if image is None else image
        return list(oddities(image, len(image) + more, self.header, SCHEMA, self.rows))

    def changed(self, place: int, byte: int | None = None) -> bytes:
        """The image with one byte changed."""
        other = bytearray(self.image)
        other[place] = self.image[place] ^ 1 << place % 8 if byte is None else byte
        return bytes(other)

    def missed(self, places: Iterable[int]) -> list[int]:
        """The bytes that may be changed without anything being odd."""
        return [place for place in places if not self.odd(self.changed(place))]

    def kind(self, kind: int) -> int:
        """Where a page of a kind begins, after the first."""
        return next(at for at in range(PAGE, len(self.image), PAGE) if self.image[at] == kind)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A log with short, long and very long entries: an inner page, leaves, and pages that
    overflow."""
    path = tmp_path_factory.mktemp("pages") / "log"
    log = Log(Sqlite(path, LEDGER))
    with log.creating({}):
        pass
    for length in (10, 3000, 9000, 3000, 3):
        with log.writing() as turn:
            turn.append(turn.chain()[-1].head, "budget", {"text": "x" * length})
    return read(path)


def read(path: Path) -> Written:
    connection = sqlite3.connect(path)
    query = "SELECT number, content, digest FROM shoal_entries ORDER BY number"
    rows = connection.execute(query).fetchall()
    connection.close()
    return Written(path.read_bytes(), rows)


def test_a_file_as_it_was_written_is_explained_by_its_entries(written: Written) -> None:
    assert written.odd() == []
    assert commits(written.image) == len(written.rows) == 6
    assert written.header.to_bytes(len(written.image) // PAGE) == written.image[:100]
    assert written.image[PAGE] == 5  # the root has pages below it


def some_places(image: bytes) -> Iterable[int]:
    """The first bytes of each page, those before unused ones, and a sample of the others."""
    heads = chain.from_iterable(range(at, at + 24) for at in range(0, len(image), PAGE))
    dice = random.Random(2)
    return chain(range(112), heads, dice.sample(range(len(image)), 1500))


def test_a_changed_byte_is_odd_wherever_it_is(written: Written) -> None:
    assert written.missed(some_places(written.image)) == []


@pytest.mark.slow
def test_every_changed_byte_is_odd(written: Written) -> None:
    assert written.missed(range(len(written.image))) == []


def test_a_twin_that_only_looks_where_entries_are_misses_bytes(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "any", lambda rest: False, raising=False)
    assert written.missed(some_places(written.image))


def test_the_page_that_was_changed_is_named(written: Written) -> None:
    (told,) = written.odd(written.changed(40))
    assert told == "page 1 of the file was changed, outside of the entries"
    leaf = written.kind(13)
    unused = written.image.index(bytes(9), leaf) + 4
    assert leaf < unused < leaf + PAGE
    (told,) = written.odd(written.changed(unused, 7))
    assert told == f"page {leaf // PAGE + 1} of the file was changed, outside of the entries"


def test_a_page_that_is_visited_twice_or_not_there_is_odd(written: Written) -> None:
    last = PAGE + 8 + 3  # of the number of the root's last page
    first = PAGE + int.from_bytes(written.image[PAGE + 12 : PAGE + 14], "big") + 3
    for page in (0, 1, 2, written.image[first], 255):
        told = written.odd(written.changed(last, page))
        assert told == ["the pages of the file were changed, outside of the entries"]


def test_bytes_after_the_last_page_and_pages_cut_off_are_odd(written: Written) -> None:
    assert written.odd(more=1) == ["the file has bytes after its last page"]
    assert written.odd(written.image[:-PAGE])
    assert written.odd(written.image + bytes(PAGE))


def test_other_entries_do_not_explain_the_file(written: Written) -> None:
    rows = list(written.rows)
    number, content, digest = rows[2]
    for other in (
        rows[:-1],
        [*rows, rows[-1]],
        [rows[1], rows[0], *rows[2:]],
        [*rows[:2], (number, content, digest[::-1]), *rows[3:]],
        [*rows[:2], (number, content + " ", digest), *rows[3:]],
    ):
        header = written.header
        assert list(oddities(written.image, len(written.image), header, SCHEMA, other))


@pytest.mark.parametrize("part", ["commits", "mark", "layout", "sqlite"])
def test_every_part_of_the_header_counts(written: Written, part: str) -> None:
    header = replace(written.header, **{part: getattr(written.header, part) + 1})
    image = written.image
    assert list(oddities(image, len(image), header, SCHEMA, written.rows)) == [
        "page 1 of the file was changed, outside of the entries"
    ]


def test_another_schema_is_odd(written: Written) -> None:
    image = written.image
    schema = SCHEMA.replace("digest", "Digest")
    assert list(oddities(image, len(image), written.header, schema, written.rows))

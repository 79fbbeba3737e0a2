"""An entry is chained to the one before: what is changed, moved or missing breaks the chain."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.log.chain import START, Head, Link, Purpose, Row, breaks, link

PURPOSE = Purpose("ledger", mark=1, create="make", repair="mend")


def rows(number: int, purpose: Purpose = PURPOSE) -> list[Row]:
    """A chain of that many entries."""
    made, head = [], START
    for place in range(number):
        entry, row = link(purpose, head, "asked", {"place": place}, {"by": "a test"})
        made.append(row)
        head = entry.head
    return made


def test_an_entry_is_read_as_it_was_written() -> None:
    entry, row = link(PURPOSE, Head(4, "ab"), "asked", {"é": [1, None]}, {"by": "a test"})
    assert Link.of(row) == entry
    assert (entry.number, entry.what, entry.facts) == (5, "asked", {"é": [1, None]})
    assert entry.head == (5, entry.digest)
    assert json.loads(row[1])["by"] == "a test"


def test_a_number_that_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        link(PURPOSE, START, "asked", {"value": float("nan")}, {})


def test_a_chain_goes_on_after_any_of_its_entries() -> None:
    chain = rows(5)
    assert list(breaks(PURPOSE, chain)) == []
    for after in range(1, 6):
        head = Link.of(chain[after - 1]).head
        assert list(breaks(PURPOSE, chain[after:], head)) == []


@given(
    st.integers(0, 4), st.sampled_from(["text", "digest", "number", "missing", "twice", "moved"])
)
def test_every_change_breaks_the_chain(place: int, change: str) -> None:
    chain = rows(6)
    number, text, digest = chain[place]
    match change:
        case "text":
            chain[place] = number, text.replace("asked", "Asked"), digest
        case "digest":
            chain[place] = number, text, digest[:-1] + ("0" if digest[-1] != "0" else "1")
        case "number":
            chain[place] = number + 1, text, digest
        case "missing":
            del chain[place]
        case "twice":
            chain.insert(place, chain[place])
        case "moved":
            chain[place], chain[place + 1] = chain[place + 1], chain[place]
    assert next(breaks(PURPOSE, chain)).startswith("entry ")


def test_a_missing_end_is_not_seen_and_no_entries_are() -> None:
    assert list(breaks(PURPOSE, rows(5)[:3])) == []
    assert "no entries" in next(breaks(PURPOSE, []))


def test_a_text_that_is_not_a_text_or_not_unicode_was_changed() -> None:
    (number, text, digest), *_ = rows(1)
    assert "changed" in next(breaks(PURPOSE, [(number, text + "\udcff", digest)]))
    row: Any = (number, text.encode(), digest)
    assert "changed" in next(breaks(PURPOSE, [row]))


def test_the_chain_of_a_ledger_is_not_that_of_an_audit() -> None:
    audit = Purpose("audit", mark=1, create="make", repair="mend")
    assert list(breaks(audit, rows(2)))
    assert [PURPOSE.indefinite, audit.indefinite] == ["a ledger", "an audit"]

"""Who knows the digests of a ledger's entries, and whether they agree with a copy of it.

Uses `log`; `Ledger` uses it.

A ledger names its witness in the entry of its creation, or of its last adoption. An older copy
names another one, or none. So word of where the witness went is left in the usual place, and in
every witness before.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from shoal.errors import FileError, ParameterError
from shoal.ledger.entries import Cost
from shoal.log.chain import Link
from shoal.log.witness import Seen, Witness, state_folder

__all__ = ["Watch", "place_of", "seen_of", "witness_at"]

Place = str | bool
"""Where a witness is, as an entry has it: a folder, True for the usual one, False for none."""


def place_of(witness: str | os.PathLike[str] | bool, ledger: Path) -> Place:
    """Where a witness is to be; ParameterError if that is beside the ledger."""
    if isinstance(witness, bool):
        return witness
    folder = os.path.abspath(witness)
    if os.path.realpath(folder) == os.path.realpath(ledger.absolute().parent):
        raise ParameterError(
            "the witness would be in the same folder and go back to an older copy with it",
            "give another folder as `witness`",
            where=str(ledger),
        )
    return folder


def witness_at(place: Place, first: str) -> Witness | None:
    """The witness in a place, of a chain whose first entry has that digest."""
    if place is False:
        return None
    folder = state_folder() if place is True else Path(place)
    return Witness(folder, first)


def seen_of(link: Link) -> Seen:
    """What a witness may know of an entry: its digest and what it spent, nothing of the data."""
    spends = link.what == "reserved" or bool(link.facts.get("lost"))
    spent = Cost.from_dict(link.facts).to_dict() if spends else None
    return Seen(link.number, link.digest, spent)


@dataclass(frozen=True)
class Watch:
    """A copy of a ledger and the witnesses that watch it."""

    path: Path
    chain: Sequence[Link]

    @property
    def first(self) -> str:
        """The digest by which witnesses are named."""
        return self.chain[0].digest

    @cached_property
    def place(self) -> Place:
        """Where the owner last wanted the witness."""
        places = [link.facts["witness"] for link in self.chain if "witness" in link.facts]
        chosen: Place = places[-1]
        return chosen

    @cached_property
    def named(self) -> Witness | None:
        """The witness that the ledger names."""
        return witness_at(self.place, self.first)

    @cached_property
    def usual(self) -> Witness | None:
        """The one in the usual place, which may just say where it went; None without a place."""
        try:
            return Witness(state_folder(), self.first)
        except FileError:
            return None

    def witnesses(self) -> list[Witness]:
        """Who has to agree: the witness that the ledger names, and the one in the usual place."""
        witnesses = [] if self.named is None else [self.named]
        if self.usual and self.usual.exists() and self.usual not in witnesses:
            witnesses.append(self.usual)
        return witnesses

    # Whether this copy is the newest

    def doubt(self, *, missing: bool = False) -> FileError | None:
        """Why this may not be the newest copy; None if its witnesses know nothing else.

        A `missing` witness matters where something is entered: nobody could say later what was
        forgotten.
        """
        for witness in self.witnesses():
            doubt = self._doubt(witness, missing)
            if doubt is not None:
                return doubt
        return None

    def require_newest(self, *, missing: bool = False) -> None:
        """FileError if this may not be the newest copy."""
        doubt = self.doubt(missing=missing)
        if doubt is not None:
            raise doubt.at(str(self.path))

    def _doubt(self, witness: Witness, missing: bool) -> FileError | None:
        adopt = f"shoal ledger adopt {self.path}"
        try:
            last = witness.last()
        except FileError as error:
            fix = f"restore it from a backup, or start a new one with {adopt}"
            return FileError(error.what, "; ".join(filter(None, [error.fix, fix])))
        if last is None:
            if not missing:
                return None
            return FileError(
                f"its witness {witness.path} is missing",
                "put it back or, if this is the newest copy of the ledger, "
                f"start a new one with {adopt}",
            )
        length = len(self.chain)
        if 0 < last.number <= length and self.chain[last.number - 1].digest == last.digest:
            return None
        difference = "ends after" if last.number > length else "has others among its"
        return FileError(
            "this is an older copy, or one that was changed: "
            f"its witness {witness.path} knows {last.number} entries, "
            f"and this copy {difference} {length}",
            f"put the newest copy back or, if it is lost, enter what was spent since with {adopt}",
        )

    # Adopting

    def latest(self) -> Place:
        """Where the witness was last, as the usual place says if it knows more than this copy."""
        seen = self.usual.seen() if self.usual and self.usual.exists() else []
        last = seen[-1] if seen else None
        if last is None or last.head in self._heads:
            return self.place
        return True if last.moved is None else last.moved

    def knowing(self, new: Witness | None) -> list[Witness]:
        """All who may know more than this copy: its own, a new one, and those they moved to."""
        waiting = self.witnesses()
        if new:
            waiting.append(new)
        known: list[Witness] = []
        while waiting:
            witness = waiting.pop(0)
            if witness in known:
                continue
            known.append(witness)
            last = next(iter(witness.seen()[-1:]), None)
            if last and last.moved:
                moved = witness_at(last.moved, self.first)
                waiting += [moved] if moved else []
        return known

    def lost(self, knowing: Sequence[Witness]) -> list[Seen]:
        """The entries that this copy lacks and any witness knows, each once."""
        lost = {}
        for witness in knowing:
            for seen in self._lost(witness.seen()):
                lost[seen.head] = seen
        return list(lost.values())

    def _lost(self, entries: Sequence[Seen | None]) -> list[Seen]:
        """What a witness knows after the last entry that this copy has too.

        Of a damaged line nothing bounds what its entry spent.
        """
        after = 0
        for number, seen in enumerate(entries, 1):
            if seen and seen.head in self._heads:
                after = number
        unbounded = Cost().to_dict()
        lost = []
        for number, seen in enumerate(entries[after:], after + 1):
            lost.append(seen or Seen(number, "", unbounded))
        return lost

    @cached_property
    def _heads(self) -> set[tuple[int, str]]:
        return {link.head for link in self.chain}

    def move(self, link: Link, place: Place, knowing: Sequence[Witness]) -> bool:
        """Write the witness in its new place, with the entry that moves it, and close all others.

        Says whether an older copy is noticed in the usual place.
        """
        new = witness_at(place, self.first)
        entries = [seen_of(entry) for entry in (*self.chain, link)]
        if new:
            new.write(entries)
        closed = [*entries[:-1], replace(entries[-1], moved=place)]
        others = [witness for witness in knowing if witness.exists() and witness != new]
        if self.usual and self.usual == new:
            pointed = True
        else:
            moving = place != self.place and bool(new or others)
            pointed = self._point(others, closed, moving=moving)
        for witness in others:
            if witness != self.usual:
                _close(witness, closed, removable=pointed)
        return pointed

    def _point(self, others: Sequence[Witness], closed: Sequence[Seen], *, moving: bool) -> bool:
        """Leave word in the usual place of where the witness goes; False if that is not needed.

        It is needed where the witness is `moving`, unless there are `others`, whose closing line
        will do.
        """
        present = self.usual is not None and self.usual in others
        if not present and not moving:
            return False
        enough = bool(others) and not present
        try:
            if self.usual is None:
                raise FileError(
                    "nothing would notice a copy from before it had this witness, as the user "
                    "who runs this has no home folder to note it in",
                    "set XDG_STATE_HOME to a folder that is kept",
                    where=str(self.path),
                )
            self.usual.write(closed)
        except FileError:
            if enough:
                return False
            raise
        return True

    def leave(self, place: Place) -> None:
        """Remove the witness that this copy names, once it has moved and word of that is left."""
        new = witness_at(place, self.first)
        if self.named and self.named not in (new, self.usual):
            self.named.remove()


def _close(witness: Witness, closed: Sequence[Seen], *, removable: bool) -> None:
    """Let a witness end with the entry that moved it.

    If it cannot be written and is `removable`, it is removed.
    """
    try:
        witness.write(closed)
    except FileError as error:
        if removable:
            witness.remove()
        if not removable or witness.exists():
            fix = f"{error.fix}; or, if it is of no use any longer, remove that file"
            raise FileError(error.what, fix) from None

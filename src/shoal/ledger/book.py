"""`Ledger`: reserve, release, complete. What was reserved is spent, whatever happens afterwards."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.chance import Chance
from shoal.errors import BudgetError, FileError, ParameterError, ShoalError, Stopped
from shoal.ledger import store
from shoal.ledger.account import Account, Budget, Entry
from shoal.ledger.fingerprint import fingerprint
from shoal.methods import Method, Progress, Schema
from shoal.privacy.epsilon import Epsilon
from shoal.privacy.exact import Exact, fraction, short
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.release import Certificate, Release, plain, released
from shoal.tables import Table

__all__ = ["Ledger"]

_KEY = 32  # bytes of the secret that fingerprints are made with


class Ledger:
    """The ledger in a file; `Ledger.create` makes one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        store.require(self.path)

    def __repr__(self) -> str:
        return f"<shoal.Ledger {os.fspath(self.path)!r}>"

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, epsilon: Epsilon | Exact | None = None, delta: Exact | None = None
    ) -> "Ledger":
        """Make a ledger, with a budget of `epsilon` and `delta` or with none; FileError if there is a file already."""
        if (epsilon is None) != (delta is None):
            raise ParameterError("a budget has an epsilon and a delta; give both, or none (a delta of 0 is fine)")
        key = Chance().bytes(_KEY).hex()
        store.create(Path(path), {**_said("created"), "key": key, **_limits(epsilon, delta)})
        return cls(path)

    # What is in it

    def account(self) -> Account:
        """All that is in it, as it is at one moment; FileError if the chain is broken."""
        with store.reading(self.path) as connection:
            return _account(store.links(connection, self.path))

    def entries(self) -> tuple[Entry, ...]:
        """All entries, the oldest first; FileError if the chain is broken."""
        return self.account().entries

    def budget(self) -> Budget | None:
        """What may be spent in all; ε is rounded down where it is a logarithm. None if there is no bound."""
        limit = self.account().limit
        return limit and Budget(limit[0].bounds()[0], limit[1])

    def spent(self) -> Budget:
        """What all releases together have spent; ε is rounded up where it is a logarithm."""
        return self.account().spent

    def left(self) -> Budget | None:
        """What a release may still spend; ε is rounded down where it is a logarithm. None if there is no bound."""
        return self.account().left

    def head(self) -> str:
        """The digest of the last entry. Kept elsewhere, it lets `verify` find that entries were cut off at the end."""
        return self.entries()[-1].digest

    def verify(self, head: str | None = None) -> list[str]:
        """What is wrong with the file, a line each; empty if every byte is what Shoal wrote.

        With a `head` that was noted earlier, the entry with this digest has to be in the chain.
        """
        return store.verify(self.path, head)

    # What goes into it

    def set_budget(self, *, epsilon: Epsilon | Exact | None = None, delta: Exact | None = None) -> Entry:
        """Set a budget, or raise or lower it; what is not given stays. The change is an entry of its own."""
        with self._turn() as (account, append):
            old = account.limit
            if (epsilon is None and delta is None) or (old is None and (epsilon is None or delta is None)):
                raise ParameterError(
                    f"{self.path} has {'a' if old else 'no'} budget; give epsilon {'or' if old else 'and'} delta"
                )
            new = _limits(old[0] if old and epsilon is None else epsilon, old[1] if old and delta is None else delta)
            if account.delta >= 1:
                raise BudgetError(f"{self.path} has a release that nothing bounds, so no budget can be kept; start a new ledger")
            if (account.epsilon and Epsilon.of(new["epsilon"]) < account.epsilon) or Fraction(new["delta"]) < account.delta:
                raise BudgetError(f"{self.path} has already spent {account.told}; no budget can be below that")
            return append({**_said("budget"), **new})

    def release(
        self,
        method: Method,
        table: Table,
        directory: str | os.PathLike[str] | None = None,
        *,
        format: str = "csv",
        recipe: str | None = None,
        chance: Chance | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Enter a release, make it, and write it into a directory; without one, writing is left to the caller.

        `recipe` is the digest of the recipe that is followed, which the certificate names.
        BudgetError if it does not fit the budget: then no coin was flipped, and nothing is entered or written. Whatever fails
        after it was entered leaves it spent, and the error says so. `facts["ledger"]` of the release has the number of its
        `entry`, and whether it is of `other_data` than the release before it.
        """
        promise = method.promise(Schema.of(table))
        if directory is not None:
            self._check(Path(directory), format)
        entry = self.reserve(promise, method.name, table, private=chance is None or chance.private)
        spent = f"entry {entry.number} of {self.path} counts as spent all the same"
        try:
            made = method.release(table, chance, progress=progress)
            made = replace(made, certificate=replace(made.certificate, recipe=recipe))
            self.complete(entry.number, made.certificate)
            if directory is not None:
                made.write(directory, format)
        except BaseException as error:
            if isinstance(error, ShoalError) and not isinstance(error, Stopped):
                raise type(error)(f"{error}; {spent}") from None
            error.add_note(spent)
            raise
        told = {"entry": entry.number, "other_data": entry.facts["other_data"]}
        return replace(made, facts={**made.facts, "ledger": told})

    def reserve(self, promise: Promise, method: str, table: Table, *, private: bool = True) -> Entry:
        """Enter a release by its promise before it is made; BudgetError if it does not fit the budget. Reserved is spent.

        `private` is False where draws will come from a seed: then nothing bounds what the release tells.
        """
        bounded = private and isinstance(promise, DifferentialPrivacy)
        stated = plain(promise.to_dict())
        wanted = {part: stated[part] if bounded else None for part in ("epsilon", "delta", "definition", "unit")}
        self.account().require(wanted, method, self.path)  # before the work on a large table
        if bounded:
            for name in released(table):  # a method would refuse it too, but later, when it counts as spent
                if name in table.hierarchies:
                    table.leaf_of(name)
            if stated["unit"] != "row":
                table.require_people(stated["unit"])
        table_used = {
            "promise": stated,
            "columns": {name: role.value for name, role in table.roles.items()},
            "fingerprint": fingerprint(table, self._key()),
        }
        with self._turn() as (account, append):
            account.require(wanted, method, self.path)  # others may have been faster
            before = [entry.facts["fingerprint"] for entry in account.reserved]
            other = bool(before) and before[-1] != table_used["fingerprint"]
            return append({**_said("reserved"), "method": method, **wanted, **table_used, "other_data": other})

    def complete(self, reserved: int, certificate: Certificate) -> Entry:
        """Enter the certificate of a release that was reserved by an entry, once; afterwards its files may appear."""
        paper = json.loads(certificate.to_json())
        with self._turn() as (account, append):
            own = next((entry for entry in account.reserved if entry.number == reserved), None)
            if own is None:
                raise ParameterError(f"entry {reserved} of {self.path} reserves no release; give the number of one that does")
            if reserved in account.completed:
                raise ParameterError(f"entry {reserved} of {self.path} is completed already; reserve each release anew")
            if paper["promise"] != own.facts["promise"] or not (certificate.private or own.facts["epsilon"] is None):
                raise ParameterError("the certificate promises something else than was reserved; the release must not be shown")
            return append({**_said("completed"), "reserved": reserved, "release": certificate.number, "certificate": paper})

    @contextmanager
    def _turn(self) -> Iterator[tuple[Account, Callable[[Mapping[str, Any]], Entry]]]:
        """The ledger while nobody else may write, and how to append to it, once."""
        with store.writing(self.path) as connection:
            chain = store.links(connection, self.path)
            yield _account(chain), lambda content: Entry.of(store.append(connection, chain, content))

    def _key(self) -> bytes:
        with store.reading(self.path) as connection:
            return bytes.fromhex(store.links(connection, self.path)[0].content["key"])

    def _check(self, folder: Path, format: str) -> None:
        """Find out before anything is spent that the files could not be written."""
        from shoal.files import FORMATS

        if format not in FORMATS.values():
            raise ParameterError(f"format {format!r} is unknown; it takes 'csv', 'parquet' or 'arrow'")
        if Path(os.path.realpath(self.path)).is_relative_to(os.path.realpath(folder)):
            raise FileError(f"the ledger {self.path} lies in {folder} and would be published along; write the release elsewhere")
        there = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise FileError(f"cannot write into {folder}; give a directory you may write to")


def _said(what: str) -> dict[str, Any]:
    """How every entry begins."""
    return {"what": what, "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "shoal": __version__}


def _account(chain: list[store.Link]) -> Account:
    return Account(tuple(map(Entry.of, chain)))


def _limits(epsilon: Epsilon | Exact | None, delta: Exact | None) -> dict[str, Any]:
    """A budget as an entry has it."""
    if epsilon is None or delta is None:
        return {"epsilon": None, "delta": None}
    exact = fraction(delta, "delta", 0, 1)
    if exact == 1:
        raise ParameterError("delta=1 is no bound at all; give a number below 1, such as 1e-5")
    return {"epsilon": str(Epsilon.of(epsilon)), "delta": short(exact)}

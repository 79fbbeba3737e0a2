"""`Ledger`: reserve, release, complete. What was reserved is spent, whatever happens afterwards.

A release is reserved before its first coin is flipped, and after all that needs none.

Uses `account` for the sums, `shown` for what releases show together, `witnesses` for older copies,
and the log. The doors and recipes use it.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shoal.arguments import require_one_of, typed, typed_fields
from shoal.chance import Chance
from shoal.data.disk import reading
from shoal.data.frames import require_threads
from shoal.data.tables import Table
from shoal.errors import (
    BudgetError,
    FileError,
    OverridableError,
    ParameterError,
    ShoalError,
    Stopped,
)
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact
from shoal.ledger.account import Account, Budget
from shoal.ledger.entries import (
    Adopted,
    Allowance,
    BudgetSet,
    Completed,
    Cost,
    Created,
    EntryFacts,
    Gamma,
    GammaSet,
    LedgerEntry,
    Refused,
    Remembered,
    Reserved,
)
from shoal.ledger.fingerprint import fingerprint
from shoal.ledger.witnesses import Watch, place_of, seen_of, witness_at
from shoal.log.chain import Link, Purpose
from shoal.log.custody import exposed
from shoal.log.sqlite import Sqlite
from shoal.log.store import Log
from shoal.log.witness import Witness
from shoal.methods.method import Method, Progress, require_people
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.releases.certificate import Certificate, plain
from shoal.releases.facts import Entered, WithEarlier
from shoal.releases.layout import released
from shoal.releases.looking import LateChoice
from shoal.releases.release import Release, require_place, require_rows_per_file

if TYPE_CHECKING:
    from shoal.ledger.shown import Ruling
    from shoal.views import Register, Views

__all__ = ["LEDGER", "Destination", "Ledger", "Provenance"]

_LOG = logging.getLogger(__name__)

LEDGER = Purpose(
    "ledger",
    mark=0x53686F6C,  # "Shol"
    create="shoal ledger create",
    repair="check the file with shoal ledger verify",
)

_KEY = 32  # bytes of the secret that fingerprints are made with

F = TypeVar("F", bound=EntryFacts)


class _Append(Protocol):
    """Adds an entry with its facts."""

    def __call__(self, facts: F) -> LedgerEntry[F]: ...


@typed_fields
@dataclass(frozen=True)
class Destination:
    """Where the files of a release go, and in which format.

    neutralise: write cells of a CSV file that a spreadsheet would run as formulas so that it does
        not
    rows_per_file: write tables in parts of that many rows
    """

    directory: str | os.PathLike[str]
    format: str = "csv"
    neutralise: bool = False
    rows_per_file: int | None = None


@typed_fields
@dataclass(frozen=True)
class Provenance:
    """The recipe that a release follows: its digest, which the certificate names, and its file.

    chosen_after_looking: what was chosen after looking at the data, which the certificate lists
        where the promise assumes that nothing was
    """

    digest: str
    file: str | os.PathLike[str]
    chosen_after_looking: tuple[LateChoice, ...] = ()


@typed
class Ledger:
    """The ledger in a file; `Ledger.create` makes one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file = Sqlite(self.path, LEDGER)
        self._log = Log(self._file)
        self._file.require()
        reading(self.path, *(f"{self.path}-{end}" for end in ("journal", "wal", "shm")))

    def __repr__(self) -> str:
        return f"<shoal.Ledger {os.fspath(self.path)!r}>"

    def _repr_html_(self) -> str:
        """What is in it now, as notebooks show it."""
        from shoal.ledger.cards import card_of_ledger

        return card_of_ledger(self).html()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Epsilon | Exact | None = None,
        delta: Exact | None = None,
        gamma: Exact | None = None,
        limits: Mapping[str, Exact] | None = None,
        witness: str | os.PathLike[str] | bool = True,
    ) -> "Ledger":
        """Make a ledger, with a budget of `epsilon` and `delta` or with none.

        FileError if there is a file already. Without a budget it may have a γ, which all releases
        that are views keep together, and `limits` of single values.

        The digest of every entry is also kept by a `witness`, in a folder of that name or, if True,
        with the state of the user's programs. So a ledger that goes back to an older copy is
        noticed; with False it is not.
        """
        if (epsilon is None) != (delta is None):
            raise ParameterError(
                "a budget has an `epsilon` and a `delta`",
                "give both, or neither (a `delta` of 0 is fine)",
            )
        budget = None
        if epsilon is not None and delta is not None:
            budget = Allowance.of(epsilon, delta)
        together = _gamma(1 if gamma is None else gamma, limits)
        if budget is not None and (gamma is not None or limits):
            raise _either()
        place = place_of(witness, Path(path))
        created = Created(place, budget, together)
        key = Chance().bytes(_KEY).hex()
        log = Log(Sqlite(Path(path), LEDGER))
        with log.creating({**created.to_dict(), "key": key}) as (_, first):
            # Before the entry counts, so that no ledger is without the witness that it names.
            watching = witness_at(place, first.digest)
            if watching:
                watching.write([seen_of(first)])
        return cls(path)

    # What is in it

    def account(self) -> Account:
        """All that is in it now; FileError if the chain is broken, or its witness knows more."""
        return Account.of(self._newest().chain)

    def entries(self) -> tuple[LedgerEntry[Any], ...]:
        """All entries, the oldest first; FileError if the chain is broken."""
        return self.account().entries

    def budget(self) -> Budget | None:
        """What may be spent in all, an irrational ε rounded down; None if nothing limits it."""
        limit = self.account().limit
        if limit is None:
            return None
        return Budget(limit.epsilon.bounds()[0], limit.delta)

    def spent(self) -> Budget:
        """What all releases together have spent; ε is rounded up where it is a logarithm."""
        return self.account().spent

    def left(self) -> Budget | None:
        """What may still be spent, an irrational ε rounded down; None if nothing limits it."""
        return self.account().left

    def head(self) -> str:
        """The digest of the last entry.

        Noted elsewhere, it lets `verify` find that entries were cut off at the end.
        """
        return self.entries()[-1].digest

    def verify(self, head: str | None = None) -> list[str]:
        """What is wrong with the file; empty if Shoal wrote every byte, and the witness agrees.

        With a `head` that was noted earlier, the entry with this digest has to be in the chain.
        """
        problems = self._file.problems(head)
        if problems:
            return problems
        with self._log.reading() as turn:
            doubt = Watch(self.path, turn.chain()).doubt(missing=True)
        return [str(doubt)] if doubt else []

    @property
    def witness(self) -> Path | None:
        """The file that keeps the digests of all entries; None if there is none.

        `verify` says if it is missing.
        """
        with self._log.reading() as turn:
            named = Watch(self.path, turn.chain()).named
        return None if named is None else named.path

    def concerns(self) -> list[str]:
        """Warnings for the owner: who else may read it, and what its witnesses say."""
        with self._log.reading() as turn:
            watch = Watch(self.path, turn.chain())
            doubt = watch.doubt(missing=True)
        files = [self.path, *(witness.path for witness in watch.witnesses())]
        warnings = [warning for warning in map(exposed, files) if warning]
        if doubt:
            warnings.append(str(doubt.at(str(self.path))))
        return warnings

    # What goes into it

    def adopt(self, witness: str | os.PathLike[str] | bool | None = None) -> LedgerEntry[Adopted]:
        """Say that this copy is the one that holds, though its witness is missing or knows more.

        What the witness knows to have been spent and this copy does not is entered as spent.
        `witness` is as for `create` and moves the witness; if it is None, the latest place is kept.
        ParameterError if there is nothing to adopt.
        """
        with self._log.writing(alone=True) as turn:
            chain = turn.chain(whole=True)
            watch = Watch(self.path, chain)
            place = place_of(watch.latest() if witness is None else witness, self.path)
            if place == watch.place and watch.doubt(missing=True) is None:
                raise ParameterError(
                    "the ledger agrees with its witness, so there is nothing to adopt",
                    where=str(self.path),
                )
            knowing = watch.knowing(witness_at(place, watch.first))
            lost = watch.lost(knowing)
            spent = [Cost.from_dict(seen.spent) for seen in lost if seen.spent is not None]
            adopted = Adopted(place, len(lost), Cost.total(spent))
            link = turn.append(chain[-1].head, adopted.what, adopted.to_dict())
            # The witness comes first here. If this is cut short, it has one entry more,
            # with all that was lost, so that nothing is counted twice.
            pointed = watch.move(link, place, knowing)
        if pointed:
            watch.leave(place)
        return LedgerEntry.of(link)

    def set_budget(
        self, *, epsilon: Epsilon | Exact | None = None, delta: Exact | None = None
    ) -> LedgerEntry[BudgetSet]:
        """Set a budget, or raise or lower it; what is not given stays. The change is an entry."""
        with self._turn() as (account, append):
            budget = self._changed(account.limit, epsilon, delta)
            if account.gamma is not None:
                raise _either()
            if account.delta >= 1:
                raise BudgetError(
                    "nothing bounds one of its releases, so no budget can be kept",
                    "start a new ledger",
                    where=str(self.path),
                )
            above = account.epsilon is not None and budget.epsilon < account.epsilon
            if above or budget.delta < account.delta:
                raise BudgetError(
                    f"the ledger has already spent {account.spent_text}, "
                    "and no budget can be below that",
                    where=str(self.path),
                )
            return append(BudgetSet(budget))

    def _changed(
        self, limit: Allowance | None, epsilon: Epsilon | Exact | None, delta: Exact | None
    ) -> Allowance:
        """A budget with what is given in place of what it was."""
        given = (epsilon is not None) + (delta is not None)
        if limit is None and given < 2:
            raise ParameterError(
                "the ledger has no budget", "give `epsilon` and `delta`", where=str(self.path)
            )
        if limit is not None and not given:
            raise ParameterError(
                "the ledger has a budget", "give `epsilon` or `delta`", where=str(self.path)
            )
        if limit is not None:
            epsilon = limit.epsilon if epsilon is None else epsilon
            delta = limit.delta if delta is None else delta
        assert epsilon is not None
        assert delta is not None
        return Allowance.of(epsilon, delta)

    def set_gamma(
        self, gamma: Exact, limits: Mapping[str, Exact] | None = None
    ) -> LedgerEntry[GammaSet]:
        """Set γ, and limits of single values, for all releases from now on.

        1 takes it away. The change is an entry.
        """
        new = GammaSet(_gamma(gamma, limits))
        with self._turn() as (account, append):
            if account.limit is not None:
                raise _either()
            return append(new)

    # Releasing

    def release(
        self,
        method: Method,
        table: Table,
        directory: str | os.PathLike[str] | Destination | None = None,
        *,
        chance: Chance | None = None,
        progress: Progress | None = None,
        override: str | None = None,
        others: str | os.PathLike[str] | None = None,
        provenance: Provenance | None = None,
    ) -> Release:
        """Enter a release, make it, and write it into a directory, if one is given.

        BudgetError if it does not fit the budget: then no coin was flipped, and nothing is entered
        or written. It is entered before its first coin is flipped, and not earlier: what fails
        before that, such as a source that cannot be counted, spends nothing. Whatever fails after
        it was entered leaves it spent, and the error says so. The
        `entry` of the release has its number, and whether it is of `other_data` than the release
        before it.

        Where the ledger has a γ, BudgetError also if the release, once it is made, does not keep it
        together with all that was shown before, and with the views in the file `others`. The
        reason to release it anyway goes into `override`.
        """
        require_threads()
        destination = directory
        if isinstance(directory, str | os.PathLike):
            destination = Destination(directory)
        promise = method.promise(table.schema)
        # All of this before anything is spent.
        require_people(method, table)
        if isinstance(destination, Destination):
            self._require(destination)
        people = table
        if not isinstance(promise, DifferentialPrivacy) and self.account().gamma is not None:
            people = table.in_memory()
        if others is not None and not isinstance(promise, DifferentialPrivacy):
            from shoal.ledger.shown import read_others

            read_others(others, people)
        chance = chance or Chance()
        facts = self._reserving(promise, method.name, table, chance.private, override)
        entering = _Entering(chance, partial(self._enter, facts))
        with self._spent(entering):
            made = method.release(table, entering.drawing(), progress=progress)
            entry = entering.entry()
            if provenance:
                certificate = replace(made.certificate, recipe=provenance.digest)
                certificate = certificate.choosing(promise, provenance.chosen_after_looking)
                made = made.with_certificate(certificate)
            done = self.complete(
                entry.number,
                made.certificate,
                release=made,
                table=people,
                override=override,
                others=others,
                recipe_file=provenance.file if provenance else None,
            )
            if isinstance(destination, Destination):
                made.write(
                    destination.directory,
                    destination.format,
                    neutralise=destination.neutralise,
                    rows_per_file=destination.rows_per_file,
                )
        return made.with_entry(_entered(entry, done.facts))

    @contextmanager
    def _spent(self, entering: "_Entering") -> Iterator[None]:
        """Make every error say that an entry counts, although its release failed, if there is one.

        Before the first coin there is none.
        """
        counts = "still counts as spent"
        if self.account().gamma is not None:
            counts = "keeps that it was tried"
        try:
            yield
        except BaseException as error:
            entered = entering.entered or self._entered_after_all(entering)
            if entered is None:
                raise
            note = f"entry {entered.number} of {self.path} {counts}"
            if isinstance(error, ShoalError) and not isinstance(error, Stopped):
                error.fix = f"{error.fix}; {note}" if error.fix else note
            else:
                error.add_note(note)
            raise

    def _entered_after_all(self, entering: "_Entering") -> LedgerEntry[Reserved] | None:
        """The entry of a release that was stopped at the very moment at which it was made."""
        made = {entry.digest: entry for entry in entering.made}
        with suppress(ShoalError):
            for entry in self.entries() if made else ():
                if entry.digest in made:
                    return made[entry.digest]
        return None

    def reserve(
        self,
        promise: Promise,
        method: str,
        table: Table,
        *,
        private: bool = True,
        override: str | None = None,
    ) -> LedgerEntry[Reserved]:
        """Enter a release by its promise before it is made. What is reserved is spent.

        BudgetError if it does not fit the budget. `private` is False where draws will come from a
        seed: then nothing bounds what the release reveals. Where the ledger has a γ, a release that
        nothing bounds and that is not a view either is refused, unless there is a reason to
        `override` that. ForkError where the release could not be computed, as Polars cannot work in
        a fork of a process that used it.
        """
        return self._enter(self._reserving(promise, method, table, private, override))

    def _reserving(
        self,
        promise: Promise,
        method: str,
        table: Table,
        private: bool,
        override: str | None,
    ) -> Reserved:
        """What `reserve` will enter, after all that can be refused was."""
        require_threads()
        stated = plain(promise.to_dict())
        cost = Cost.of(promise) if private else Cost()
        account = self.account()
        # Before the work on a large table.
        account.require(cost, method, self.path)
        if cost.epsilon is not None:
            _require_bounded(table, stated["unit"])
        elif account.gamma is not None and not _reason(override):
            self._require_view(method, stated)
        columns = {name: role.value for name, role in table.roles.items()}
        mark = fingerprint(table, self._key())
        return Reserved(method, cost, stated, columns, mark, other_data=False)

    def _enter(
        self, facts: Reserved, made: list[LedgerEntry[Reserved]] | None = None
    ) -> LedgerEntry[Reserved]:
        """Reserve; `made` gets the entry before it counts, for those who may be stopped then."""
        with self._turn() as (account, append):
            # Others may have been faster.
            account.require(facts.cost, facts.method, self.path)
            marks = [entry.facts.fingerprint for entry in account.reserved]
            other = bool(marks) and marks[-1] != facts.fingerprint
            entry = append(replace(facts, other_data=other))
            if made is not None:
                made.append(entry)
        _LOG.info("%s: entry %d reserves a release by %s", self.path, entry.number, facts.method)
        return entry

    def _require_view(self, method: str, promise: Mapping[str, Any]) -> None:
        """BudgetError unless a release that nothing bounds can be counted with others."""
        from shoal.views.released import is_view

        if not is_view(method, promise):
            raise OverridableError(
                f"the ledger has a γ, and a release by {method} is not a view that could be "
                "counted, nor does it promise differential privacy",
                "use another method, or override that with a reason, which is entered",
                where=str(self.path),
            )

    def complete(
        self,
        reserved: int,
        certificate: Certificate,
        *,
        release: Release | None = None,
        table: Table | None = None,
        override: str | None = None,
        others: str | os.PathLike[str] | None = None,
        recipe_file: str | os.PathLike[str] | None = None,
    ) -> LedgerEntry[Completed]:
        """Enter the certificate of a reserved release, once; then its files may appear.

        With the `release` and its `table`, what it shows is remembered. Where the ledger has a γ
        and nothing bounds the release, they have to be given, and BudgetError is raised if γ is not
        kept: then the refusal is entered, and nothing may appear.
        """
        if release is not None and release.certificate != certificate:
            raise ParameterError(
                "the release has another certificate than the one that is entered", "give its own"
            )
        bounded = self._reserved(self.account(), reserved).facts.bounded
        facts = Completed(reserved, certificate.number, json.loads(certificate.to_json()))
        if recipe_file is not None:
            seen_from_here = os.path.relpath(recipe_file, self.path.parent)
            facts = replace(facts, recipe_file=seen_from_here)
        if not bounded:
            facts = _with_views(facts, release, table, others)
        while True:
            before = self.account()
            ruling = None if bounded else self._ruling(before, release, table, others)
            with self._turn() as (account, append):
                self._require_open(account, reserved, certificate)
                if not bounded and _known(account) != _known(before):
                    # Others were faster: what they showed counts, and so does a γ they set.
                    continue
                if ruling is None:
                    return append(facts)
                together = ruling.summary()
                reason = None if ruling.kept else _reason(override)
                if ruling.kept or reason:
                    return append(replace(facts, together=together, override=reason))
                append(Refused(reserved, together))
            raise self._refusal(ruling)

    def _require_open(self, account: Account, reserved: int, certificate: Certificate) -> None:
        """ParameterError unless a release is reserved for this promise, and is not completed."""
        facts = self._reserved(account, reserved).facts
        for done in (account.completed, account.refused):
            if reserved in done:
                raise ParameterError(
                    f"entry {reserved} is {done[reserved].what} already",
                    "reserve each release anew",
                    where=str(self.path),
                )
        promise = json.loads(certificate.to_json())["promise"]
        if promise != facts.promise or (facts.bounded and not certificate.private):
            raise ParameterError(
                "the certificate promises something else than was reserved",
                "the release must not be shown",
            )

    def _reserved(self, account: Account, number: int) -> LedgerEntry[Reserved]:
        for entry in account.reserved:
            if entry.number == number:
                return entry
        raise ParameterError(
            f"entry {number} does not reserve a release",
            "give the number of one that does",
            where=str(self.path),
        )

    def _ruling(
        self,
        account: Account,
        release: Release | None,
        table: Table | None,
        others: str | os.PathLike[str] | None,
    ) -> "Ruling | None":
        """Whether a release keeps γ; None if there is no γ."""
        if account.gamma is None:
            return None
        if release is None or table is None:
            raise ParameterError(
                "the ledger has a γ, by which the release must be checked",
                "give `complete` the `release` and the `table` that it is of",
                where=str(self.path),
            )
        from shoal.ledger.shown import judge

        return judge(account, account.gamma, release, table, others)

    def _refusal(self, ruling: "Ruling") -> OverridableError:
        from shoal.ledger.shown import SECRET

        outcome = "may not be kept, which cannot be decided"
        if ruling.kept is False:
            outcome = "is not kept"
        return OverridableError(
            f"γ = {ruling.gamma} {outcome}, together with what the ledger knows: {ruling.why}. "
            f"Nothing was written. {SECRET}",
            "release less, or override it with a reason, which is entered",
            where=str(self.path),
        )

    def remember(self, release: Release, table: Table) -> LedgerEntry[Remembered]:
        """Enter what a completed release showed, where that is not known: it was made step by step.

        `table` is the one that it was made from, with the hierarchies that it went by.
        """
        from shoal.ledger.shown import packed

        certificate = json.loads(replace(release.certificate, file=None).to_json())
        shown = packed(release, table)
        with self._turn() as (account, append):
            numbers = [
                number
                for number, done in account.completed.items()
                if done.facts.certificate == certificate
            ]
            if not numbers:
                raise ParameterError(
                    "the ledger has no release with this certificate",
                    "give one that it has",
                    where=str(self.path),
                )
            (number,) = numbers
            if shown is None:
                raise self._nothing_to_add(number, "is not a view")
            if number in account.shown:
                raise self._nothing_to_add(number, "is remembered already")
            return append(Remembered(number, shown))

    def _nothing_to_add(self, number: int, why: str) -> ParameterError:
        problem = f"what entry {number} showed {why}, so there is nothing to add"
        return ParameterError(problem, where=str(self.path))

    # What it knows, to look at

    def together(
        self,
        release: Release,
        table: Table,
        column: str | None = None,
        *,
        gamma: Exact | None = None,
        person: str | None = None,
        others: str | os.PathLike[str] | None = None,
    ) -> "Views":
        """The views of a release and of all that was shown before, to be checked.

        InputError where that cannot be done.

        table: whose rows are the people; if it has the sensitive column, all views must be true of
            it
        column: the sensitive one that is checked, where there are several
        gamma: in place of the ledger's, or of 1/2 if it has none
        person: the column that names people, else they are numbered
        """
        from shoal.ledger import shown

        return shown.views_of(self.account(), release, table, column, gamma, person, others)

    def together_with(
        self, views: "Views", register: "Register", column: str | None = None
    ) -> "Views":
        """Views of a register, and all that was shown before of the same people and column."""
        from shoal.ledger import shown

        return shown.also(self.account(), views, register, column)

    @property
    def recipe_file(self) -> Path | None:
        """The recipe of the last release that was made by one."""
        files = [entry.facts.recipe_file for entry in self.account().completed.values()]
        named = [file for file in files if file is not None]
        return self.path.parent / named[-1] if named else None

    # The log

    @contextmanager
    def _turn(self) -> Iterator[tuple[Account, _Append]]:
        """The ledger while nobody else may write, and how to append to it, once."""
        appended: list[Link] = []

        def append(facts: F) -> LedgerEntry[F]:
            link = turn.append(chain[-1].head, facts.what, facts.to_dict())
            appended.append(link)
            return LedgerEntry.of(link)

        with self._log.writing() as turn:
            chain = turn.chain(whole=True)
            watch = Watch(self.path, chain)
            watch.require_newest(missing=True)
            yield Account.of(chain), append
        if appended and watch.named:
            self._testify(watch.named, appended[-1])

    def _testify(self, witness: Witness, entry: Link) -> None:
        """Add what the witness does not know yet; nobody acts on an entry before."""
        try:
            # The lock keeps others from adding to the witness.
            with self._log.writing() as turn:
                last = witness.last()
                if last is None:
                    raise FileError(f"the witness {witness.path} has just been removed")
                if last.moved is not None:
                    raise FileError(f"the witness {witness.path} has just been moved")
                witness.add([seen_of(link) for link in turn.after(last.head)])
        except FileError as error:
            counts = f"entry {entry.number} of {self.path} is made, and counts"
            fix = f"{error.fix}; {counts}" if error.fix else counts
            raise FileError(error.what, fix, where=error.where) from None

    def _newest(self) -> Watch:
        """All entries; FileError if the chain is broken, or if the witness knows more."""
        with self._log.reading() as turn:
            watch = Watch(self.path, turn.chain())
            # Inside the lock: nobody can commit meanwhile, so the witness can know nothing newer.
            watch.require_newest()
            return watch

    def _key(self) -> bytes:
        return bytes.fromhex(self._newest().chain[0].facts["key"])

    def _require(self, destination: Destination) -> None:
        """Find out before anything is spent that the files could not be written."""
        from shoal.data.foreign import require_writable
        from shoal.data.formats import WRITTEN

        require_one_of("format", destination.format, *WRITTEN)
        require_writable(destination.format)
        require_rows_per_file(destination.rows_per_file)
        witness = self.witness
        private = [self.path] if witness is None else [self.path, witness]
        require_place(Path(destination.directory), private)


def _either() -> ParameterError:
    return ParameterError(
        "a ledger with a budget takes no release that is a view, as nothing bounds it, "
        "so a γ would be about nothing",
        "use two ledgers, or one without a budget",
    )


class _Entering(Chance):
    """The draws of a chance; before the first one, a release is entered."""

    def __init__(
        self,
        chance: Chance,
        enter: Callable[[list[LedgerEntry[Reserved]]], LedgerEntry[Reserved]],
    ) -> None:
        self.private = chance.private
        self.entered: LedgerEntry[Reserved] | None = None
        self.made: list[LedgerEntry[Reserved]] = []
        self._chance = chance
        self._enter = enter
        self._alone = Lock()

    def bytes(self, size: int) -> bytes:
        self.entry()
        return self._chance.bytes(size)

    def drawing(self) -> Chance:
        """What to draw from: this, or the chance itself if it does not draw all by its bytes.

        Then nobody would notice its first draw, and the release is entered here.
        """
        own = type(self._chance)
        for name, draw in vars(Chance).items():
            if callable(draw) and name != "bytes" and getattr(own, name) is not draw:
                self.entry()
                return self._chance
        return self

    def entry(self) -> LedgerEntry[Reserved]:
        """The entry, which is made if there is none yet; one, however many threads draw."""
        with self._alone:
            if self.entered is None:
                self.entered = self._enter(self.made)
            return self.entered


def _gamma(share: Exact, limits: Mapping[str, Exact] | None) -> Gamma | None:
    """A γ; None if nothing is limited."""
    gamma = Gamma.of(share, limits)
    return gamma if gamma.limited else None


def _require_bounded(table: Table, unit: str) -> None:
    """Refuse what a private method would refuse too, but later, when it counts as spent."""
    for name in released(table):
        if name in table.hierarchies:
            table.leaf_of(name)
    if unit != "row":
        table.require_people(unit)


def _with_views(
    facts: Completed,
    release: Release | None,
    table: Table | None,
    others: str | os.PathLike[str] | None,
) -> Completed:
    """An entry with what its release showed, and with what others did."""
    from shoal.ledger.shown import digests, packed

    facts = replace(facts, others=tuple(digests(others)))
    if release is None or table is None:
        return facts
    return replace(facts, shown=packed(release, table))


def _known(account: Account) -> tuple[object, ...]:
    """What a ruling depends on."""
    return account.gamma, account.shown, list(account.completed)


def _reason(override: str | None) -> str | None:
    """The reason to release something anyway; ParameterError if it is empty."""
    if override is not None and not override.strip():
        raise ParameterError(
            "give a reason for the override", "it is entered, for those who ask later"
        )
    return override


def _entered(entry: LedgerEntry[Reserved], done: Completed) -> Entered:
    """What a release says of its own entry."""
    together = done.together
    earlier = None
    if together is not None:
        earlier = WithEarlier(together.kept, together.why, together.entries, together.unmet)
    return Entered(entry.number, entry.facts.other_data, earlier, done.override)

"""`Ledger`: reserve, release, complete. What was reserved is spent, whatever happens afterwards."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import __version__
from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data.disk import reading
from shoal.data.frames import require_threads
from shoal.data.tables import Table
from shoal.errors import BudgetError, FileError, ParameterError, ShoalError, Stopped
from shoal.exact.epsilon import Epsilon, total
from shoal.exact.numbers import Exact, short
from shoal.ledger import store
from shoal.ledger.account import Account, Budget, Entry, Gamma
from shoal.ledger.fingerprint import fingerprint
from shoal.log.custody import Seen, Witness, exposed, state_folder
from shoal.methods import Method, Progress, Schema, require_people
from shoal.privacy.calculus import delta_of
from shoal.privacy.promises import DifferentialPrivacy, Promise
from shoal.releases.certificate import Certificate, plain
from shoal.releases.layout import released
from shoal.releases.release import Release, require_place

if TYPE_CHECKING:
    from shoal.ledger.shown import Verdict
    from shoal.views import Register, Views

__all__ = ["Ledger"]

_EITHER = (
    "a ledger with a budget takes no release that is a view, as nothing bounds it, so a γ would be about nothing; use two "
    "ledgers, or one without a budget"
)
_COST = ("epsilon", "delta", "definition", "unit")  # the parts of an entry that are added up
_KEY = 32  # bytes of the secret that fingerprints are made with


@typed
class Ledger:
    """The ledger in a file; `Ledger.create` makes one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        store.require(self.path)
        reading(self.path, *(f"{self.path}-{end}" for end in ("journal", "wal", "shm")))

    def __repr__(self) -> str:
        return f"<shoal.Ledger {os.fspath(self.path)!r}>"

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
        """Make a ledger, with a budget of `epsilon` and `delta` or with none; FileError if there is a file already.

        Without a budget it may have a γ, which all releases that are views keep together, and `limits` of single values.
        The digest of every entry is also kept by a `witness`, in a folder of that name or, if True, with the state of the
        user's programs. So a ledger that goes back to an older copy is noticed; with False it is not.
        """
        if (epsilon is None) != (delta is None):
            raise ParameterError(
                "a budget has an epsilon and a delta; give both, or none (a delta of 0 is fine)"
            )
        if epsilon is not None and (gamma is not None or limits):
            raise ParameterError(_EITHER)
        key = Chance().bytes(_KEY).hex()
        together = {} if gamma is None and not limits else {"gamma": _gamma(gamma, limits)}
        place = _place(witness, Path(path))
        content = {"key": key, "witness": place, **_limits(epsilon, delta), **together}

        def seen(first: store.Link) -> None:
            if folder := _folder(place):
                Witness(folder, first.digest).write([_seen(first)])

        store.create(Path(path), {**_said("created"), **content}, seen)
        return cls(path)

    # What is in it

    def account(self) -> Account:
        """All that is in it, as it is at one moment; FileError if the chain is broken, or its witness knows more."""
        return _account(self._chain())

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
        """What is wrong with the file, a line each; empty if every byte is what Shoal wrote, and the witness agrees.

        With a `head` that was noted earlier, the entry with this digest has to be in the chain.
        """
        if found := store.verify(self.path, head):
            return found
        with store.reading(self.path) as connection:
            doubt = self._doubt(store.links(connection, self.path), missing=True)
        return [doubt] if doubt else []

    @property
    def witness(self) -> Path | None:
        """The file that keeps the digests of all entries; None if there is none, and `verify` says if it is missing."""
        with store.reading(self.path) as connection:
            found = _named(store.links(connection, self.path))
        return None if found is None else found.path

    def concerns(self) -> list[str]:
        """What the owner should know whenever a ledger is opened: who else may read it, and whether a witness is missing."""
        with store.reading(self.path) as connection:
            chain = store.links(connection, self.path)
            witnesses, doubt = _witnesses(chain), self._doubt(chain, missing=True)
        files = [self.path, *(witness.path for witness in witnesses)]
        found = [said for file in files if (said := exposed(file))]
        if doubt:
            found.append(f"{self.path}: {doubt}")
        elif not witnesses and _chosen(chain) is None:
            found.append(
                f"{self.path} has no witness, so going back to an older copy would not be noticed; "
                f"shoal ledger adopt {self.path} adds one"
            )
        return found

    # What goes into it

    def adopt(self, witness: str | os.PathLike[str] | bool | None = None) -> Entry:
        """Say that this copy is the one that holds, though its witness is missing or knows more, or give it another witness.

        What the witness knows to have been spent and this copy does not is entered as spent. `witness` is as for `create`; if
        it is None, the latest place is kept. ParameterError if there is nothing to adopt.
        """
        with store.writing(self.path, unread=True) as connection:
            chain = store.links(connection, self.path, whole=True)
            old, known = _named(chain), _chosen(chain)
            place = _place(_latest(chain) if witness is None else witness, self.path)
            if place == known and not self._doubt(chain, missing=True):
                raise ParameterError(
                    f"{self.path} agrees with its witness; there is nothing to adopt"
                )
            folder = _folder(place)
            new = None if folder is None else Witness(folder, chain[0].digest)
            knowing = _knowing(chain, new)
            lost = _lost_to(chain, knowing)
            content = {**_said("adopted"), "witness": place, "lost": len(lost), **_sum(lost)}
            # The witness comes first here, so that what was lost is not counted twice if this is cut short: then the witness
            # has one entry more, this one, with all that was lost.
            link = store.append(connection, chain, content)
            seen = [_seen(one) for one in (*chain, link)]
            if new:
                new.write(seen)
            closed = [*seen[:-1], replace(seen[-1], moved=place)]
            others = [one for one in knowing if one.exists() and not _same(one, new)]
            usual = _usual(chain)
            pointed = self._point(usual, new, others, closed, moving=place != known)
            for other in others:
                if not _same(other, usual):
                    _close(other, closed, removable=pointed)
        if old and pointed and not _same(old, new) and not _same(old, usual):
            old.remove()
        return Entry.of(link)

    def _point(
        self,
        usual: Witness | None,
        new: Witness | None,
        others: list[Witness],
        closed: list[Seen],
        *,
        moving: bool,
    ) -> bool:
        """Leave word in the usual place of where the witness goes, and say whether an older copy is noticed there.

        An older copy names another witness, or none. So word is needed unless `others`, which get a closing line, will do.
        """
        if usual and _same(usual, new):
            return True
        there = any(_same(usual, other) for other in others)
        wanted = there or (moving and bool(new or others))
        if not wanted:
            return False
        enough = bool(others) and not there
        if usual is None:
            if enough:
                return False
            raise FileError(
                f"{self.path}: nothing would notice a copy from before it had this witness, as the user who runs this has no "
                "home folder to note it in; set XDG_STATE_HOME to a folder that is kept"
            )
        try:
            usual.write(closed)
        except FileError:
            if enough:
                return False
            raise
        return True

    def set_budget(
        self, *, epsilon: Epsilon | Exact | None = None, delta: Exact | None = None
    ) -> Entry:
        """Set a budget, or raise or lower it; what is not given stays. The change is an entry of its own."""
        with self._turn() as (account, append):
            old = account.limit
            if (epsilon is None and delta is None) or (
                old is None and (epsilon is None or delta is None)
            ):
                raise ParameterError(
                    f"{self.path} has {'a' if old else 'no'} budget; give epsilon {'or' if old else 'and'} delta"
                )
            new = _limits(
                old[0] if old and epsilon is None else epsilon,
                old[1] if old and delta is None else delta,
            )
            if account.gamma is not None:
                raise ParameterError(_EITHER)
            if account.delta >= 1:
                raise BudgetError(
                    f"{self.path} has a release that nothing bounds, so no budget can be kept; start a new ledger"
                )
            if (account.epsilon and Epsilon.of(new["epsilon"]) < account.epsilon) or Fraction(
                new["delta"]
            ) < account.delta:
                raise BudgetError(
                    f"{self.path} has already spent {account.told}; no budget can be below that"
                )
            return append({**_said("budget"), **new})

    def set_gamma(self, gamma: Exact, limits: Mapping[str, Exact] | None = None) -> Entry:
        """Set γ, and limits of single values, for all releases from now on; 1 takes it away. The change is an entry."""
        new = _gamma(gamma, limits)
        with self._turn() as (account, append):
            if account.limit is not None:
                raise ParameterError(_EITHER)
            return append({**_said("gamma"), "gamma": new})

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
        override: str | None = None,
        others: str | os.PathLike[str] | None = None,
        recipe_file: str | os.PathLike[str] | None = None,
        neutralise: bool = False,
    ) -> Release:
        """Enter a release, make it, and write it into a directory; without one, writing is left to the caller.

        `recipe` is the digest of the recipe that is followed, which the certificate names.
        BudgetError if it does not fit the budget: then no coin was flipped, and nothing is entered or written. Whatever fails
        after it was entered leaves it spent, and the error says so. `facts["ledger"]` of the release has the number of its
        `entry`, and whether it is of `other_data` than the release before it.

        Where the ledger has a γ, BudgetError also if the release, once it is made, does not keep it together with all that was
        shown before, and with the views in the file `others`. Why it is wanted all the same goes into `override`.
        """
        require_threads()
        promise = method.promise(Schema.of(table))
        require_people(method, table)  # before anything is spent
        if directory is not None:
            self._check(Path(directory), format)
        if others is not None and not isinstance(promise, DifferentialPrivacy):
            from shoal.ledger.shown import read_others

            read_others(others, table)
        entry = self.reserve(
            promise, method.name, table, private=chance is None or chance.private, override=override
        )
        counts = (
            "counts as spent all the same"
            if self.account().gamma is None
            else "keeps that it was tried"
        )
        spent = f"entry {entry.number} of {self.path} {counts}"
        try:
            made = method.release(table, chance, progress=progress)
            made = replace(made, certificate=replace(made.certificate, recipe=recipe))
            done = self.complete(
                entry.number,
                made.certificate,
                release=made,
                table=table,
                override=override,
                others=others,
                recipe_file=recipe_file,
            )
            if directory is not None:
                made.write(directory, format, neutralise=neutralise)
        except BaseException as error:
            if isinstance(error, ShoalError) and not isinstance(error, Stopped):
                raise type(error)(f"{error}; {spent}") from None
            error.add_note(spent)
            raise
        told = {
            "entry": entry.number,
            "other_data": entry.facts["other_data"],
            **{part: done.facts[part] for part in ("together", "override") if part in done.facts},
        }
        return replace(made, facts={**made.facts, "ledger": told})

    def reserve(
        self,
        promise: Promise,
        method: str,
        table: Table,
        *,
        private: bool = True,
        override: str | None = None,
    ) -> Entry:
        """Enter a release by its promise before it is made; BudgetError if it does not fit the budget. Reserved is spent.

        `private` is False where draws will come from a seed: then nothing bounds what the release tells. Where the ledger has a
        γ, a release that nothing bounds and that is no view either is refused, unless there is a reason to `override` that.
        ForkError where the release could not be computed, as Polars cannot work in a fork of a process that used it.
        """
        require_threads()
        bounded = private and isinstance(promise, DifferentialPrivacy)
        stated = plain(promise.to_dict())
        wanted = {
            part: stated[part] if bounded else None
            for part in ("epsilon", "delta", "definition", "unit")
        }
        account = self.account()
        account.require(wanted, method, self.path)  # before the work on a large table
        if account.gamma is not None and not bounded and not _reason(override):
            from shoal.views.released import is_view

            if not is_view(method, stated):
                raise BudgetError(
                    f"{self.path} has a γ, and a release by {method} is no view that could be counted, nor does it promise "
                    "differential privacy; use another method, or override that with a reason, which is entered"
                )
        if bounded:
            for name in released(
                table
            ):  # a method would refuse it too, but later, when it counts as spent
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
            return append(
                {**_said("reserved"), "method": method, **wanted, **table_used, "other_data": other}
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
    ) -> Entry:
        """Enter the certificate of a release that was reserved by an entry, once; afterwards its files may appear.

        With the `release` and its `table`, what it shows is remembered. Where the ledger has a γ and nothing bounds the release,
        they have to be given, and BudgetError is raised if γ is not kept: then the refusal is entered, and nothing may appear.
        """
        if release is not None and release.certificate != certificate:
            raise ParameterError(
                "the release has another certificate than the one that is entered; give its own"
            )
        paper = json.loads(certificate.to_json())
        content: dict[str, Any] = {
            **_said("completed"),
            "reserved": reserved,
            "release": certificate.number,
        }
        content["certificate"] = paper
        if recipe_file is not None:
            content["recipe_file"] = os.path.relpath(recipe_file, self.path.parent)
        bounded = self._reserved(self.account(), reserved).facts["epsilon"] is not None
        if others is not None and not bounded:
            from shoal.ledger.shown import digests

            content["others"] = digests(others)
        if not bounded and release is not None and table is not None:
            from shoal.ledger.shown import packed

            content["shown"] = packed(release, table)
        while True:
            before = self.account()
            verdict = None if bounded else self._verdict(before, release, table, others)
            with self._turn() as (account, append):
                own = self._reserved(account, reserved)
                if reserved in account.completed or reserved in account.refused:
                    what = "completed" if reserved in account.completed else "refused"
                    raise ParameterError(
                        f"entry {reserved} of {self.path} is {what} already; reserve each release anew"
                    )
                if paper["promise"] != own.facts["promise"] or not (
                    certificate.private or own.facts["epsilon"] is None
                ):
                    raise ParameterError(
                        "the certificate promises something else than was reserved; the release must not be shown"
                    )
                if verdict is not None and _known(account) != _known(before):
                    continue  # others were faster, and what they showed counts
                if verdict is None:
                    return append(content)
                content["together"] = verdict.facts()
                if verdict.kept:
                    return append(content)
                if reason := _reason(override):
                    return append({**content, "override": reason})
                append({**_said("refused"), "reserved": reserved, "together": verdict.facts()})
            raise self._refusal(verdict)

    def _verdict(
        self,
        account: Account,
        release: Release | None,
        table: Table | None,
        others: str | os.PathLike[str] | None,
    ) -> "Verdict | None":
        """Whether a release keeps γ; None if there is no γ."""
        if account.gamma is None:
            return None
        if release is None or table is None:
            raise ParameterError(
                f"{self.path} has a γ: give `complete` the release and the table that it is of"
            )
        from shoal.ledger.shown import judge

        return judge(account, account.gamma, release, table, others)

    def _refusal(self, verdict: "Verdict") -> BudgetError:
        from shoal.ledger.shown import SECRET

        what = (
            "is not kept" if verdict.kept is False else "may not be kept, which cannot be decided"
        )
        return BudgetError(
            f"γ = {verdict.gamma} {what}, together with what {self.path} knows: {verdict.why}. Nothing was written. {SECRET}. "
            "Release less, or override it with a reason, which is entered"
        )

    def remember(self, release: Release, table: Table) -> Entry:
        """Enter what a completed release showed, where that is not known: it was made by an older Shoal, or step by step.

        `table` is the one that it was made from, with the hierarchies that it went by.
        """
        from shoal.ledger.shown import packed

        paper = json.loads(replace(release.certificate, file=None).to_json())
        shown = packed(release, table)
        with self._turn() as (account, append):
            number = next(
                (
                    n
                    for n, done in account.completed.items()
                    if done.facts["release"] == paper["number"]
                ),
                None,
            )
            if number is None or account.completed[number].facts["certificate"] != paper:
                raise ParameterError(
                    f"{self.path} has no release with this certificate; give one that it has"
                )
            if shown is None or number in account.shown:
                why = "is no view" if shown is None else "is remembered already"
                raise ParameterError(
                    f"entry {number} of {self.path} {why}; there is nothing to add"
                )
            return append({**_said("remembered"), "reserved": number, "shown": shown})

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
        """The views of a release and of all that was shown before, to be checked; InputError where that cannot be done.

        table: whose rows are the people; if it has the sensitive column, all views must be true of it
        column: the sensitive one that is checked, where there are several
        gamma: in place of the ledger's, or of 1/2 if it has none
        person: the column that names people, else they are numbered
        """
        from shoal.ledger import shown

        return shown.views_of(self.account(), release, table, column, gamma, person, others)

    def together_with(
        self, views: "Views", register: "Register", column: str | None = None
    ) -> "Views":
        """These views of a register, and all that was shown before of the same people and the same column."""
        from shoal.ledger import shown

        return shown.also(self.account(), views, register, column)

    @property
    def recipe_file(self) -> Path | None:
        """The recipe of the last release that was made by one."""
        files = [
            done.facts["recipe_file"]
            for done in self.account().completed.values()
            if "recipe_file" in done.facts
        ]
        return self.path.parent / files[-1] if files else None

    def _reserved(self, account: Account, number: int) -> Entry:
        own = next((entry for entry in account.reserved if entry.number == number), None)
        if own is None:
            raise ParameterError(
                f"entry {number} of {self.path} reserves no release; give the number of one that does"
            )
        return own

    @contextmanager
    def _turn(self) -> Iterator[tuple[Account, Callable[[Mapping[str, Any]], Entry]]]:
        """The ledger while nobody else may write, and how to append to it, once."""
        appended: list[store.Link] = []

        def append(content: Mapping[str, Any]) -> Entry:
            appended.append(store.append(connection, chain, content))
            return Entry.of(appended[-1])

        with store.writing(self.path) as connection:
            chain = store.links(connection, self.path, whole=True)
            if doubt := self._doubt(chain, missing=True):
                raise FileError(f"{self.path}: {doubt}")
            yield _account(chain), append
        if appended and (witness := _named(chain)):
            self._testify(witness, appended[-1])

    def _testify(self, witness: Witness, entry: store.Link) -> None:
        """Add what the witness does not know yet, up to the last entry; nobody acts on an entry before."""
        try:
            with store.writing(self.path) as connection:  # so that no one else adds to it
                last = witness.last()
                if last is None:
                    raise FileError(f"the witness {witness.path} has just been removed")
                if last.moved is not None:
                    raise FileError(f"the witness {witness.path} has just been moved")
                new = store.following(connection, self.path, last.number, last.digest)
                witness.add([_seen(link) for link in new])
        except FileError as error:
            counts = f"entry {entry.number} of {self.path} is made, and counts"
            raise FileError(f"{error}; {counts}") from None

    def _chain(self) -> list[store.Link]:
        """All entries; FileError if the chain is broken, or if the witness knows more."""
        with store.reading(self.path) as connection:
            chain = store.links(connection, self.path)
            # Before the lock is gone: until then nobody can commit, so the witness can know nothing newer.
            if doubt := self._doubt(chain):
                raise FileError(f"{self.path}: {doubt}")
            return chain

    def _doubt(self, chain: list[store.Link], *, missing: bool = False) -> str | None:
        """Why this may not be the newest copy of the ledger; None if its witnesses know nothing else.

        That the witness is `missing` matters where something is entered: nobody could say later what had been forgotten.
        """
        doubts = (self._doubted(chain, witness, missing) for witness in _witnesses(chain))
        return next((doubt for doubt in doubts if doubt), None)

    def _doubted(self, chain: list[store.Link], witness: Witness, missing: bool) -> str | None:
        adopt = f"shoal ledger adopt {self.path}"
        try:
            last = witness.last()
        except FileError as error:
            return f"{error}; restore it from a backup, or start a new one with {adopt}"
        if last is None:
            if not missing:
                return None
            return (
                f"its witness {witness.path} is missing; put it back or, if this is the newest copy of the ledger, start a new "
                f"one with {adopt}"
            )
        if 0 < last.number <= len(chain) and chain[last.number - 1].digest == last.digest:
            return None
        return (
            f"this is an older copy, or one that was changed: its witness {witness.path} knows {last.number} entries, and this "
            f"copy {'ends after' if last.number > len(chain) else 'has others among its'} {len(chain)}; put the newest copy "
            f"back or, if it is lost, enter what was spent since with {adopt}"
        )

    def _key(self) -> bytes:
        return bytes.fromhex(self._chain()[0].content["key"])

    def _check(self, folder: Path, format: str) -> None:
        """Find out before anything is spent that the files could not be written."""
        from shoal.data.files import FORMATS

        if format not in FORMATS.values():
            raise ParameterError(
                f"format {format!r} is unknown; it takes 'csv', 'parquet' or 'arrow'"
            )
        witness = self.witness
        require_place(folder, [self.path, *([Path(witness)] if witness else [])])


def _said(what: str) -> dict[str, Any]:
    """How every entry begins."""
    return {
        "what": what,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "shoal": __version__,
    }


def _known(account: Account) -> tuple[object, ...]:
    """What a verdict depends on."""
    return account.gamma, account.shown, list(account.completed)


def _reason(override: str | None) -> str | None:
    """Why the owner wants a release all the same; ParameterError if it is empty."""
    if override is not None and not override.strip():
        raise ParameterError(
            "give a reason for the override; it is entered, for those who ask later"
        )
    return override


def _gamma(gamma: Exact | None, limits: Mapping[str, Exact] | None) -> dict[str, Any] | None:
    """A γ as an entry has it; None if nothing is limited."""
    made = Gamma.of(1 if gamma is None else gamma, limits)
    return None if made.share == 1 and not made.limits else made.facts()


def _chosen(chain: list[store.Link]) -> str | bool | None:
    """Where the owner wanted the witness, last; None if nobody was asked: an older Shoal made the ledger."""
    chosen = [link.content["witness"] for link in chain if "witness" in link.content]
    return chosen[-1] if chosen else None


def _place(witness: str | os.PathLike[str] | bool, ledger: Path) -> str | bool:
    """Where a witness is to be, as an entry has it; ParameterError if that is beside the ledger."""
    if isinstance(witness, bool):
        return witness
    folder = os.path.abspath(witness)
    if os.path.realpath(folder) == os.path.realpath(ledger.absolute().parent):
        raise ParameterError(
            f"the witness of {ledger} would be in the same folder and go back to an older copy with it; give another folder"
        )
    return folder


def _folder(place: str | bool | None) -> Path | None:
    """The folder of a witness that an entry names."""
    if not place:
        return None
    return state_folder() if place is True else Path(place)


def _named(chain: list[store.Link]) -> Witness | None:
    """The witness that the ledger names."""
    folder = _folder(_chosen(chain))
    return None if folder is None else Witness(folder, chain[0].digest)


def _usual(chain: list[store.Link]) -> Witness | None:
    """The witness in the usual place, or what says there where it went; None if the user has no such place."""
    try:
        return Witness(state_folder(), chain[0].digest)
    except FileError:
        return None


def _witnesses(chain: list[store.Link]) -> list[Witness]:
    """Who has to agree: the witness that the ledger names, and what is in the usual place, as an older copy names another."""
    named, usual = _named(chain), _usual(chain)
    found = [] if named is None else [named]
    if usual and usual.exists() and not _same(usual, named):
        found.append(usual)
    return found


def _latest(chain: list[store.Link]) -> str | bool:
    """Where the witness was last: as the usual place says if it knows more than the ledger, else as the ledger does."""
    known, usual = _chosen(chain), _usual(chain)
    last = next(iter(usual.seen()[-1:]), None) if usual and usual.exists() else None
    if last is None or (last.number, last.digest) in {(link.number, link.digest) for link in chain}:
        return True if known is None else known
    return True if last.moved is None else last.moved


def _same(one: Witness | None, other: Witness | None) -> bool:
    return one is not None and other is not None and one.path == other.path


def _knowing(chain: list[store.Link], new: Witness | None) -> list[Witness]:
    """All witnesses that may know more than a chain: its own, a new one, and those that they say they moved to."""
    open_ = [*_witnesses(chain), *([new] if new else [])]
    found: dict[Path, Witness] = {}
    while open_:
        witness = open_.pop(0)
        if witness.path in found:
            continue
        found[witness.path] = witness
        moved = [one.moved for one in witness.seen()[-1:] if one]
        open_ += [Witness(folder, chain[0].digest) for place in moved if (folder := _folder(place))]
    return [*found.values()]


def _lost_to(chain: list[store.Link], knowing: list[Witness]) -> list[Seen]:
    """The entries that a chain lacks and any witness knows, each once."""
    lost = (seen for witness in knowing for seen in _lost(chain, witness.seen()))
    return [*{(seen.number, seen.digest): seen for seen in lost}.values()]


def _close(witness: Witness, closed: list[Seen], *, removable: bool) -> None:
    """Let a witness end with the entry that moved it; if it cannot be written and is `removable`, it goes."""
    try:
        witness.write(closed)
    except FileError as error:
        if removable:
            witness.remove()
        if not removable or witness.exists():
            raise FileError(
                f"{error}; or, if it is of no use any longer, remove that file"
            ) from None


def _seen(link: store.Link) -> Seen:
    """What a witness may know of an entry: its digest and what it spent, nothing of the data."""
    content = link.content
    spends = content["what"] == "reserved" or bool(content.get("lost"))
    spent = {part: content[part] for part in _COST} if spends else None
    return Seen(link.number, link.digest, spent)


def _lost(chain: list[store.Link], seen: list[Seen | None]) -> list[Seen]:
    """The entries that a witness knows after the last one that a chain has too; of a damaged one nothing bounds what it spent."""
    known = {(link.number, link.digest) for link in chain}
    agreed = [i for i, one in enumerate(seen, 1) if one and (one.number, one.digest) in known]
    after = agreed[-1] if agreed else 0
    unknown = dict.fromkeys(_COST)
    return [one or Seen(i, "", unknown) for i, one in enumerate(seen[after:], after + 1)]


def _sum(lost: list[Seen]) -> dict[str, Any]:
    """What lost entries spent together; a release that nothing bounds has δ = 1."""
    spent = [one.spent for one in lost if one.spent is not None]
    epsilons = [Epsilon.of(one["epsilon"]) for one in spent if one["epsilon"] is not None]
    delta = min(Fraction(1), sum((Fraction(one["delta"] or 1) for one in spent), Fraction(0)))
    definitions = {one["definition"] for one in spent} - {None}
    units = [one["unit"] for one in spent if one["unit"] is not None]
    return {
        "epsilon": str(total(epsilons)) if epsilons else None,
        "delta": short(delta),
        "definition": "standard" if len(definitions) > 1 else next(iter(definitions), None),
        "unit": next(iter(units), None),
    }


def _account(chain: list[store.Link]) -> Account:
    return Account(tuple(map(Entry.of, chain)))


def _limits(epsilon: Epsilon | Exact | None, delta: Exact | None) -> dict[str, Any]:
    """A budget as an entry has it."""
    if epsilon is None or delta is None:
        return {"epsilon": None, "delta": None}
    exact = delta_of(delta, zero=True)
    return {"epsilon": str(Epsilon.of(epsilon)), "delta": short(exact)}

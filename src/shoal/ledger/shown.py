"""What a release has shown, as a ledger remembers it, and whether several of them keep γ together. Uses `release` and `views`;
`Ledger` uses it.

Of a release that shows true values group by group, its public and sensitive columns are kept as they were released, with the
hierarchies that they went by, packed into one text. That is what is public anyway: a ledger that is lost tells nothing more. Who
the groups are about is not kept: it comes from the owner's table each time.
"""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from shoal.counts import smallest
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.sources import Memory
from shoal.data.tables import Table
from shoal.errors import ColumnError, InputError, ShoalError, listed
from shoal.exact.numbers import Exact, fraction
from shoal.ledger.account import Account, Gamma
from shoal.releases.certificate import Certificate
from shoal.releases.release import Release
from shoal.views.certifying import shown_in
from shoal.views.checking import Checked, check
from shoal.views.files import others_of, sensitive_of
from shoal.views.model import Value, View, Views
from shoal.views.register import Register
from shoal.views.released import is_view, text_of

__all__ = ["NEW", "Shown", "Verdict", "earlier", "judge", "packed", "together"]

NEW = "this release"
"""What the views of a release that is not entered yet are called by."""

SECRET = "Keep this refusal secret: that there was one tells about the values"

_LONGEST = 40  # digits of a number of tables that are kept


@dataclass(frozen=True, eq=False)
class Shown:
    """A release that shows true values, under a name, with the hierarchies that it went by."""

    name: str
    release: Release
    hierarchies: Mapping[str, Hierarchy]

    @property
    def paper(self) -> Certificate:
        return self.release.certificate

    def role(self, column: str) -> str | None:
        """The role of a column in it; None if it has no such column."""
        return next((str(one["role"]) for one in self.paper.columns if one["name"] == column), None)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The columns that it shows of the table, without the one that a method adds to tell groups apart."""
        added = {"buckets": "bucket", "coincident": "group"}.get(self.paper.method)
        return {
            str(one["name"]): Kind(one["type"])
            for one in self.paper.columns
            if one["name"] != added
        }

    @property
    def public(self) -> dict[str, Kind]:
        """Those that people are known by; buckets show all but the sensitive ones as they are."""
        roles = ("quasi", "insensitive") if self.paper.method == "buckets" else ("quasi",)
        return {name: kind for name, kind in self.kinds.items() if self.role(name) in roles}

    def views(self, people: Table, column: str, kind: Kind) -> tuple[list[View], list[str]]:
        """Its views of these people with the values of a sensitive column, and what to know about them."""
        public = {
            name: kind
            for name, kind in self.public.items()
            if self.role(name) == "quasi" or name in people.names
        }
        if absent := [name for name in public if name not in people.names]:
            raise InputError(
                f"{self.name} goes by columns that the register lacks: {listed(absent)}"
            )
        table = Table(
            Memory(people.frame.select(*public)),
            hierarchies={name: tree for name, tree in self.hierarchies.items() if name in public},
            types=public,
            missing=people.missing,
        )
        register = Register(table, kind=kind)
        return register.of_release(self.release, self.name, column), register.notes


def packed(release: Release, table: Table) -> str | None:
    """What of a release its views are made of; None if it shows none."""
    paper = release.certificate
    if not _is_view(paper):
        return None
    wanted = {
        str(one["name"])
        for one in paper.columns
        if one["role"] != "insensitive" or paper.method == "buckets"
    }
    content = {
        "tables": {
            name: {
                one: _texts(frame, one)
                for one in nw.from_native(frame, eager_only=True).columns
                if one in wanted | _MARKS
            }
            for name, frame in {"release": release.table, **release.further}.items()
        },
        "hierarchies": {
            name: _written(tree)
            for name, tree in table.hierarchies.items()
            if name in wanted and name not in table.sensitive
        },
    }
    return base64.b85encode(zlib.compress(json.dumps(content, sort_keys=True).encode(), 9)).decode()


def _is_view(paper: Certificate) -> bool:
    return is_view(paper.method, paper.promise)


_MARKS = {"group", "bucket", "count"}  # columns that methods add, and that are kept


def unpacked(name: str, text: str, certificate: Mapping[str, Any]) -> Shown:
    """What `packed` kept, with the certificate that the ledger has of it."""
    import polars as pl

    content = json.loads(zlib.decompress(base64.b85decode(text)))
    frames = {
        called: pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        for called, columns in content["tables"].items()
    }
    told = {part: certificate[part] for part in certificate if part not in ("certificate", "seal")}
    release = Release(frames.pop("release"), Certificate(**told), further=frames)
    return Shown(name, release, {one: _read(tree) for one, tree in content["hierarchies"].items()})


def _texts(frame: Any, name: str) -> list[str]:
    return list(map(text_of, nw.from_native(frame, eager_only=True)[name].to_list()))


def _written(tree: Hierarchy) -> dict[str, Any]:
    return {
        "labels": tree.labels,
        "maps": [codes.tolist() for codes in tree.maps],
        "kind": tree.kind.value,
        "cuts": [cut.hex() for cut in tree.cuts],  # of which some may be infinite
        "closed": tree.closed,
        "has_missing": tree.has_missing,
        "end_closed": tree.end_closed,
    }


def _read(given: Mapping[str, Any]) -> Hierarchy:
    labels = tuple(map(tuple, given["labels"]))
    return Hierarchy(
        labels,
        tuple(
            np.array(codes, dtype=smallest(len(own)))
            for codes, own in zip(given["maps"], labels, strict=True)
        ),
        Kind(given["kind"]),
        cuts=tuple(map(float.fromhex, given["cuts"])),
        closed=given["closed"],
        has_missing=given["has_missing"],
        end_closed=given["end_closed"],
    )


def earlier(account: Account) -> tuple[list[Shown], list[str]]:
    """All that a ledger knows to have been shown, and notes; InputError if something was shown that it cannot tell of.

    Releases with differential privacy are no views. One that the owner entered knowingly, though it is none, is passed over.
    """
    found, notes = [], []
    if lost := [entry for entry in account.spending if entry.what == "adopted"]:
        raise InputError(
            f"entry {lost[0].number} adopted an older copy of the ledger, and what the lost entries showed is not known"
        )
    for entry in account.reserved:
        done = account.completed.get(entry.number)
        if entry.facts["epsilon"] is not None or done is None:
            continue
        kept = account.shown.get(entry.number)
        method = entry.facts["method"]
        if kept is not None:
            found.append(unpacked(f"entry {entry.number}", kept, done.facts["certificate"]))
        elif done.facts.get("override"):
            notes.append(
                f"entry {entry.number}, by {method}, was entered though it is no view, and is not counted"
            )
        elif is_view(method, entry.facts["promise"]):
            raise InputError(
                f"what entry {entry.number} showed is not in the ledger, as an older Shoal entered it; add it with shoal ledger "
                "remember"
            )
        else:
            raise InputError(
                f"entry {entry.number}, by {method}, shows values, and is no view that could be counted"
            )
    return found, notes


def together(
    shown: Sequence[Shown],
    people: Table,
    column: str,
    gamma: Gamma,
    *,
    names: Sequence[str] | None = None,
    more: Iterable[View] = (),
    complete: bool = True,
    register: Register | None = None,
) -> Views:
    """The views of several releases of the same people; InputError where they cannot be counted together.

    The people are the rows of a table. If it has the sensitive column too, all views must be true of it: else they were shown of
    another state of the data. `more` views are of a `register`, whose columns people are known by too.
    """
    views: list[View] = list(more)
    notes: list[str] = []
    _apart(shown, column, register)
    kind = next(
        (
            Kind(one["type"])
            for some in shown
            for one in some.paper.columns
            if one["name"] == column
        ),
        Kind.TEXT,
    )
    for some in shown:
        role = some.role(column)
        if role not in (None, "sensitive"):
            raise InputError(
                f"column {column!r} is sensitive in one release and {role} in {some.name}, where anybody may see it"
            )
        if role is not None:
            own, told = some.views(people, column, kind)
            views += own
            notes += told
    if column in people.names:
        held = Table(Memory(people.frame.select(column)), types={column: kind}).column(column)
        values = [held.labels[code] or None for code in held.codes.tolist()]
        false = [view.name for view in views if not _true(view, values)]
        if false:
            off = ", ".join(sorted({name.rpartition("/")[0] or name for name in false}))
            raise InputError(
                f"what {off} showed is not true of the table as it is now: the data has changed since"
            )
    limits = {
        kind.text(kind.key(value)) or None: limit
        for value, limit in gamma.limits.items()
        if _fits(kind, value)
    }
    return Views(
        names if names is not None else people.rows,
        views,
        gamma.share,
        limits,
        complete,
        tuple(notes),
    )


def _apart(shown: Sequence[Shown], column: str, register: Register | None = None) -> None:
    """InputError if releases tell more of a sensitive column than their groups do, by what else they show beside it."""
    known = {name for some in shown for name in some.public} - {column}
    known |= set(register.people.names if register else ())
    first = dict(register.beside) if register else {}
    for some in shown:
        beside = some.kinds.keys() - some.public.keys() - {column}
        if open_ := sorted(known & beside):
            raise InputError(
                f"people are known by {listed(open_)}, which {some.name} shows as {some.role(open_[0])} beside the sensitive "
                "values: it tells more than its groups do"
            )
        if linked := sorted(beside & first.keys()):
            raise InputError(
                f"{first[linked[0]]} and {some.name} both show {listed(linked)}, by which their rows can be joined: they tell "
                "more than their groups do. Leave it out of one, or make it quasi-identifying in both"
            )
        first |= dict.fromkeys(beside, some.name)


def _true(view: View, values: Sequence[Value]) -> bool:
    """Whether a view shows what its people have; of joined groups, some of whom may be left out, whether they could have it."""
    inside = Counter(values[one] for one in view.members)
    return inside >= Counter(view.shown) if view.parts else inside == view.shown


def _spellings(text: str) -> set[str | None]:
    """A value as it is written in columns of any type."""
    return {kind.text(kind.key(text)) or None for kind in Kind if _fits(kind, text)}


def _fits(kind: Kind, text: str) -> bool:
    try:
        kind.key(text)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether a release keeps γ together with earlier ones: for the owner alone, as it tells about the values.

    kept: None if that cannot be decided
    why: in words that name nobody; empty if it is kept
    checked: what was found, by sensitive column
    """

    gamma: Gamma
    kept: bool | None
    why: str
    entries: tuple[int, ...] = ()
    checked: Mapping[str, Checked] = field(default_factory=dict)

    @property
    def unmet(self) -> list[str]:
        """Values with a limit of their own that nothing shows; they may be spelt otherwise."""
        shown = {value for found in self.checked.values() for value in found.views.values}
        return [value for value in self.gamma.limits if shown.isdisjoint(_spellings(value))]

    def facts(self) -> dict[str, Any]:
        """What a ledger keeps of it."""
        return {
            "gamma": self.gamma.facts(),
            "kept": self.kept,
            "why": self.why,
            "with": list(self.entries),
            "unmet": self.unmet,
            "checked": {
                column: {
                    "largest": found.largest_text,
                    "tables": found.tables_text
                    if len(found.tables_text) <= _LONGEST
                    else f"about 10^{found.digits:.1f}",
                    "method": found.how,
                    "confidence": None if found.confidence is None else str(found.confidence),
                }
                for column, found in self.checked.items()
            },
        }


def judge(
    account: Account,
    gamma: Gamma,
    release: Release,
    table: Table,
    others: str | PathLike[str] | None = None,
) -> Verdict:
    """Whether a release of a table keeps γ together with all that the ledger knows, and with what others have shown.

    Each sensitive column that it has, or that earlier ones had as sensitive, is checked by itself.
    """
    new = Shown(NEW, release, table.hierarchies)
    if not _is_view(new.paper):
        return Verdict(
            gamma, None, f"this release by {new.paper.method} is no view that could be counted"
        )
    try:
        before, _ = earlier(account)
    except InputError as error:
        return Verdict(gamma, None, str(error))
    checked: dict[str, Checked] = {}
    unsure = list(_unsure(account, before, new, others))
    columns = list(_columns([*before, new], new))
    for column in _secret([*before, new]):
        try:
            if column not in columns:
                _apart([*before, new], column)
                continue
            register = _register(table, column)
            more = [] if others is None else others_of(others, register, column)
            checked[column] = found = check(
                together([*before, new], table, column, gamma, more=more, register=register)
            )
            if found.private is None:
                unsure.append(
                    "; ".join(
                        [
                            f"the bounds that were found for {column!r} leave it open",
                            *found.views.notes,
                        ]
                    )
                )
        except ShoalError as error:
            unsure.append(str(error))
    entries = tuple(
        _number(some)
        for some in before
        if any(some.role(column) == "sensitive" for column in columns)
    )
    exposed = [column for column, found in checked.items() if found.private is False]
    if exposed:
        why = f"by what was shown, somebody has a value of {listed(exposed)} with a probability above its limit"
        return Verdict(gamma, False, why, entries, checked)
    return Verdict(gamma, None if unsure else True, "; ".join(unsure), entries, checked)


def _number(some: Shown) -> int:
    return int(some.name.rpartition(" ")[2])


def _unsure(
    account: Account, before: Sequence[Shown], new: Shown, others: str | PathLike[str] | None
) -> Iterator[str]:
    """What may have been shown of the same values and cannot be seen by the names of columns; and others who were forgotten."""
    had = {entry.number: entry.facts["columns"] for entry in account.reserved}
    secret = [str(one["name"]) for one in new.paper.columns if one["role"] == "sensitive"]
    for some in before:
        if fresh := [name for name in secret if name not in had[_number(some)]]:
            yield (
                f"the table of {some.name} had no column {listed(fresh)}: if that is what another column was called, or is made "
                "of one, it cannot be counted together"
            )
    now = set(digests(others))
    for number, done in account.completed.items():
        if not now.issuperset(done.facts.get("others", ())):
            yield f"entry {number} counted views of others that are not counted now: name them in [views] again"
            return


def views_of(
    account: Account,
    release: Release,
    table: Table,
    column: str | None,
    gamma: Exact | None,
    person: str | None,
    others: str | PathLike[str] | None,
) -> Views:
    """The views of a release and of all that a ledger knows; `Ledger.together`."""
    before, notes = earlier(account)
    new = Shown(NEW, release, table.hierarchies)
    if release.certificate.number in {done.facts["release"] for done in account.completed.values()}:
        kept = [some for some in before if some.paper.number == release.certificate.number]
        if not kept:
            raise InputError(
                f"the ledger has this release, by {release.certificate.method}, and it is no view; it changes nothing here"
            )
        (new,) = kept
    else:
        before.append(new)
    columns = list(_columns(before, new))
    chosen = columns[0] if column is None and len(columns) == 1 else column
    if chosen is None or chosen not in columns:
        raise ColumnError(
            f"there are the sensitive columns {listed(columns)}; name the one that is checked"
        )
    allowed = account.gamma or Gamma(Fraction(1, 2))
    if gamma is not None:
        allowed = replace(allowed, share=fraction(gamma, "gamma", 0, 1))
    register = _register(table, chosen)
    more = [] if others is None else others_of(others, register, chosen)
    names = None if person is None else Register(table, person).names
    found = together(before, table, chosen, allowed, names=names, more=more, register=register)
    return replace(found, people=found.names, notes=(*found.notes, *notes))


def also(account: Account, views: Views, register: Register, column: str | None) -> Views:
    """Views of a register and all that a ledger knows; `Ledger.together_with`."""
    before, notes = earlier(account)
    columns = _secret(before)
    chosen = columns[0] if column is None and len(columns) == 1 else column
    if columns and chosen not in columns:
        raise ColumnError(
            f"the ledger has releases of the sensitive columns {listed(columns)}; name the one that the views are about"
        )
    allowed = account.gamma or Gamma(Fraction(views.gamma))
    shown = together(
        before,
        register.people,
        chosen or "",
        allowed,
        names=views.names,
        complete=views.complete,
        register=register,
    )
    return replace(
        shown,
        people=views.names,
        views=(*views.shown, *shown.shown),
        limits=views.limits if account.gamma is None else shown.limits,
        notes=(*views.notes, *shown.notes, *notes),
    )


def _secret(all_: Sequence[Shown]) -> list[str]:
    """The columns that are sensitive in any release."""
    return list(
        dict.fromkeys(
            str(one["name"])
            for some in all_
            for one in some.paper.columns
            if one["role"] == "sensitive"
        )
    )


def _columns(all_: Sequence[Shown], new: Shown) -> Iterator[str]:
    """Those that the new one shows."""
    yield from (name for name in _secret(all_) if new.role(name) is not None)


def digests(others: str | PathLike[str] | None) -> list[str]:
    """What others have shown, each by the digest of its definition."""
    return [] if others is None else sorted(one["sha256"] for one in shown_in(Path(others), None))


def read_others(path: str | PathLike[str], table: Table) -> None:
    """Find out that what others have shown can be read and is of these people, before anything is entered; else InputError."""
    named = sensitive_of(path)
    if named is not None and named not in table.sensitive:
        raise ColumnError(
            f"{path} is about the column {named!r}; here these are sensitive: {listed(table.sensitive)}"
        )
    for column in table.sensitive:
        others_of(path, _register(table, column), column)


def _register(table: Table, column: str) -> Register:
    """Everybody with the columns that they are known by, for what others have shown."""
    public = [name for name in table.quasi if name != column]
    kinds = {name: table.kind(name) for name in public}
    trees = {name: tree for name, tree in table.hierarchies.items() if name in public}
    known = Table(
        Memory(table.frame.select(*public)), hierarchies=trees, types=kinds, missing=table.missing
    )
    return Register(known, kind=table.kind(column))

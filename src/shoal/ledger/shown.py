"""What a release has shown, as a ledger remembers it, and whether several releases keep γ together.

Uses `releases`, `views` and the catalogue of methods; `Ledger` uses it. Of a release that shows
true values group by group, its public and sensitive columns are kept as they were released, with
the hierarchies that they went by, packed into one text. That is public anyway: a ledger that is
lost reveals nothing more. Who the groups are about is not kept: it comes from the owner's table
each time.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from shoal.counts import smallest
from shoal.data.frames import RowsWithCounts
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.data.tables import Role, Table
from shoal.errors import ColumnError, InputError, ShoalError, listed
from shoal.exact.numbers import Exact, fraction
from shoal.ledger.account import Account
from shoal.ledger.entries import ColumnCheck, Gamma, LedgerEntry, Reserved, Together
from shoal.methods.catalogue import entry_of
from shoal.methods.entry import AsViews
from shoal.releases.certificate import Certificate
from shoal.releases.layout import COUNT
from shoal.releases.release import Release
from shoal.views.certifying import shown_in
from shoal.views.checking import Checked, check
from shoal.views.files import others_of, sensitive_of
from shoal.views.model import View, Views
from shoal.views.register import Register
from shoal.views.released import is_view, text_of
from shoal.zones import owner_only

__all__ = ["NEW", "Ruling", "ShownRelease", "earlier", "judge", "packed", "together"]

NEW = "this release"
"""What the views of a release that is not entered yet are called by."""

SECRET = "Keep this refusal secret: it reveals something about the values"

_LONGEST = 40  # digits of a number of tables that are kept


@dataclass(frozen=True, eq=False)
class ShownRelease:
    """A release that shows true values, under a name, with the hierarchies that it went by."""

    name: str
    release: Release
    hierarchies: Mapping[str, Hierarchy]
    number: int = 0
    """Of the entry that reserved it; 0 if it is not entered yet."""

    @property
    def certificate(self) -> Certificate:
        return self.release.certificate

    @property
    def roles(self) -> dict[str, str]:
        """The role of every column in it."""
        return {str(column["name"]): str(column["role"]) for column in self.certificate.columns}

    @property
    def kinds(self) -> dict[str, Kind]:
        """The columns that it shows of the table, without the one that numbers groups."""
        kinds = {str(column["name"]): Kind(column["type"]) for column in self.certificate.columns}
        mark = _as_views(self.certificate).mark
        if mark is not None:
            kinds.pop(mark, None)
        return kinds

    @property
    def public(self) -> dict[str, Kind]:
        """The columns that people are known by."""
        known = [role.value for role in _as_views(self.certificate).known_roles]
        roles = self.roles
        return {name: kind for name, kind in self.kinds.items() if roles[name] in known}

    @property
    def sensitive(self) -> list[str]:
        """The columns that are sensitive in it."""
        return [name for name, role in self.roles.items() if role == Role.SENSITIVE.value]

    def views(self, people: Table, column: str, kind: Kind) -> tuple[list[View], list[str]]:
        """Its views of people with the values of a sensitive column, and notes about them."""
        quasi = [name for name in self.public if self.roles[name] == Role.QUASI.value]
        absent = [name for name in quasi if name not in people.names]
        if absent:
            raise InputError(
                f"{self.name} goes by columns that the register lacks: {listed(absent)}"
            )
        public = {name: own for name, own in self.public.items() if name in people.names}
        trees = {name: tree for name, tree in self.hierarchies.items() if name in public}
        table = people.selecting(list(public), hierarchies=trees, types=public)
        register = Register(table, kind=kind)
        return register.of_release(self.release, self.name, column), register.notes


def _as_views(certificate: Certificate) -> AsViews:
    """How releases of a method become views, of a method whose releases do."""
    as_views = entry_of(certificate.method).as_views
    return AsViews() if as_views is None else as_views


def _is_view(certificate: Certificate) -> bool:
    return is_view(certificate.method, certificate.promise)


# What is kept of a release


def packed(release: Release, table: Table) -> str | None:
    """What of a release its views are made of; None if it shows none."""
    certificate = release.certificate
    if not _is_view(certificate):
        return None
    known = _as_views(certificate).known_roles
    kept = {COUNT, *entry_of(certificate.method).adds}
    for column in certificate.columns:
        if column["role"] != Role.INSENSITIVE.value or Role.INSENSITIVE in known:
            kept.add(str(column["name"]))
    tables = {"release": release.rows, **release.further}
    rows = {name: RowsWithCounts.of(frame) for name, frame in tables.items()}
    trees = {
        name: _tree_dict(tree)
        for name, tree in table.hierarchies.items()
        if name in kept and name not in table.sensitive
    }
    content = {
        "tables": {name: _texts(each.frame, kept) for name, each in rows.items()},
        "counts": {name: each.count.tolist() for name, each in rows.items()},
        "hierarchies": trees,
    }
    text = json.dumps(content, sort_keys=True)
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(name: str, text: str, certificate: Mapping[str, Any], number: int = 0) -> ShownRelease:
    """What `packed` kept, with the certificate that the ledger has of it."""
    import polars as pl

    content = json.loads(zlib.decompress(base64.b85decode(text)))
    # Earlier versions repeated the rows.
    counts = content.get("counts", {})
    frames: dict[str, Any] = {}
    for called, columns in content["tables"].items():
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        frames[called] = frame
        if any(often != 1 for often in counts.get(called, ())):
            frames[called] = RowsWithCounts(frame, np.array(counts[called], dtype=np.int64))
    parts = dict(certificate)
    for outer in ("certificate", "seal"):
        parts.pop(outer, None)
    release = Release(frames.pop("release"), Certificate(**parts), further=frames)
    trees = {column: _tree(tree) for column, tree in content["hierarchies"].items()}
    return ShownRelease(name, release, trees, number)


def _texts(frame: Any, kept: set[str]) -> dict[str, list[str]]:
    """The columns of a table that are kept, as texts."""
    table = nw.from_native(frame, eager_only=True)
    return {
        name: list(map(text_of, table[name].to_list())) for name in table.columns if name in kept
    }


def _tree_dict(tree: Hierarchy) -> dict[str, Any]:
    return {
        "labels": tree.labels,
        "maps": [codes.tolist() for codes in tree.maps],
        "kind": tree.kind.value,
        # Some of them may be infinite.
        "cuts": [cut.hex() for cut in tree.cuts],
        "closed": tree.closed,
        "has_missing": tree.has_missing,
        "end_closed": tree.end_closed,
    }


def _tree(parts: Mapping[str, Any]) -> Hierarchy:
    labels = tuple(map(tuple, parts["labels"]))
    maps = tuple(
        np.array(codes, dtype=smallest(len(level)))
        for codes, level in zip(parts["maps"], labels, strict=True)
    )
    return Hierarchy(
        labels,
        maps,
        Kind(parts["kind"]),
        cuts=tuple(map(float.fromhex, parts["cuts"])),
        closed=parts["closed"],
        has_missing=parts["has_missing"],
        end_closed=parts["end_closed"],
    )


def earlier(account: Account) -> tuple[list[ShownRelease], list[str]]:
    """All that a ledger knows to have been shown, and notes; InputError if something is not known.

    Releases with differential privacy are not views. One that the owner entered knowingly, though
    it is not a view, is passed over.
    """
    if account.lost:
        raise InputError(
            f"entry {account.lost[0].number} adopted an older copy of the ledger, "
            "and what the lost entries showed is not known"
        )
    shown, notes = [], []
    for entry in account.reserved:
        done = account.completed.get(entry.number)
        if entry.facts.bounded or done is None:
            continue
        kept = account.shown.get(entry.number)
        if kept is not None:
            name = f"entry {entry.number}"
            shown.append(unpacked(name, kept, done.facts.certificate, entry.number))
        elif done.facts.override:
            notes.append(
                f"entry {entry.number}, by {entry.facts.method}, was entered though it is "
                "not a view, and is not counted"
            )
        else:
            raise _unknown(entry)
    return shown, notes


def _unknown(entry: LedgerEntry[Reserved]) -> InputError:
    """Why it is not known what a release showed."""
    method = entry.facts.method
    if is_view(method, entry.facts.promise):
        return InputError(
            f"what entry {entry.number} showed is not in the ledger, "
            "as it was entered step by step",
            "add it with shoal ledger remember",
        )
    return InputError(
        f"entry {entry.number}, by {method}, shows values, and is not a view that could be counted"
    )


# Several releases together


def together(
    shown: Sequence[ShownRelease],
    people: Table,
    column: str,
    gamma: Gamma,
    *,
    names: Sequence[str] | None = None,
    more: Iterable[View] = (),
    complete: bool = True,
    register: Register | None = None,
) -> Views:
    """The views of several releases; InputError where they cannot be counted together.

    The people are the rows of a table. If it has the sensitive column too, all views must be true
    of it: otherwise they were shown of another state of the data. `more` views are of a `register`,
    whose columns people are known by too.
    """
    _require_apart(shown, column, register)
    views: list[View] = list(more)
    notes: list[str] = []
    kind = _kind_of(shown, column)
    for release in shown:
        role = release.roles.get(column)
        if role is None:
            continue
        if role != Role.SENSITIVE.value:
            raise InputError(
                f"column {column!r} is sensitive in one release and {role} in {release.name}, "
                "where anybody may see it"
            )
        own_views, own_notes = release.views(people, column, kind)
        views += own_views
        notes += own_notes
    if column in people.names:
        _require_true(views, people, column, kind)
    limits = {}
    for value, limit in gamma.limits.items():
        if _fits(kind, value):
            limits[kind.text(kind.key(value)) or None] = limit
    everybody = people.rows if names is None else names
    return Views(everybody, views, gamma.share, limits, complete, tuple(notes))


def _kind_of(shown: Sequence[ShownRelease], column: str) -> Kind:
    """The type of a column, as the first release that has it says."""
    for release in shown:
        for own in release.certificate.columns:
            if own["name"] == column:
                return Kind(own["type"])
    return Kind.TEXT


def _require_apart(
    shown: Sequence[ShownRelease], column: str, register: Register | None = None
) -> None:
    """InputError if releases show something beside a sensitive column that links it with people."""
    known = {name for release in shown for name in release.public} - {column}
    first: dict[str, str] = {}
    if register is not None:
        known |= set(register.people.names)
        first = dict(register.beside)
    for release in shown:
        beside = release.kinds.keys() - release.public.keys() - {column}
        open_columns = sorted(known & beside)
        if open_columns:
            role = release.roles[open_columns[0]]
            raise InputError(
                f"people are known by {listed(open_columns)}, which {release.name} shows as {role} "
                "beside the sensitive values: it reveals more than its groups do"
            )
        linked = sorted(beside & first.keys())
        if linked:
            raise InputError(
                f"{first[linked[0]]} and {release.name} both show {listed(linked)}, by which their "
                "rows can be joined: they reveal more than their groups do",
                "leave it out of one, or make it quasi-identifying in both",
            )
        first |= dict.fromkeys(beside, release.name)


def _require_true(views: Sequence[View], people: Table, column: str, kind: Kind) -> None:
    """InputError if a view does not show what people have now."""
    [held] = people.selecting([column], types={column: kind}).records([column])
    values = [held.labels[code] or None for code in held.codes.tolist()]
    untrue = [view.name for view in views if not view.true_of(values)]
    false = {name.rpartition("/")[0] or name for name in untrue}
    if false:
        raise InputError(
            f"what {', '.join(sorted(false))} showed is not true of the table as it is now: "
            "the data has changed since"
        )


def _spellings(text: str) -> set[str | None]:
    """A value as it is written in columns of any type."""
    return {kind.text(kind.key(text)) or None for kind in Kind if _fits(kind, text)}


def _fits(kind: Kind, text: str) -> bool:
    try:
        kind.key(text)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


# Whether γ is kept


@owner_only
@dataclass(frozen=True, eq=False)
class Ruling:
    """Whether a release keeps γ together with earlier ones. Owner only.

    kept: None if that cannot be decided
    why: in words that name nobody; empty if it is kept
    entries: the earlier releases that show the same columns
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
        shown = {value for check in self.checked.values() for value in check.views.values}
        return [value for value in self.gamma.limits if shown.isdisjoint(_spellings(value))]

    def summary(self) -> Together:
        """What a ledger keeps of it."""
        checked = {column: _check_kept(check) for column, check in self.checked.items()}
        return Together(self.gamma, self.kept, self.why, self.entries, tuple(self.unmet), checked)


def _check_kept(checked: Checked) -> ColumnCheck:
    tables = checked.tables_text
    if len(tables) > _LONGEST:
        tables = f"about 10^{checked.digits:.1f}"
    confidence = None if checked.confidence is None else str(checked.confidence)
    return ColumnCheck(checked.largest_text, tables, checked.how, confidence)


def judge(
    account: Account,
    gamma: Gamma,
    release: Release,
    table: Table,
    others: str | PathLike[str] | None = None,
) -> Ruling:
    """Whether a release keeps γ with all that the ledger knows, and with what others have shown.

    Each sensitive column that it has, or that earlier ones had as sensitive, is checked separately.
    """
    # People are rows here: they are looked at several times, always in the same order.
    table = table.in_memory()
    new = ShownRelease(NEW, release, table.hierarchies)
    if not _is_view(new.certificate):
        method = new.certificate.method
        return Ruling(gamma, None, f"this release by {method} is not a view that could be counted")
    try:
        before, _ = earlier(account)
    except InputError as error:
        return Ruling(gamma, None, str(error))
    shown = [*before, new]
    checked: dict[str, Checked] = {}
    unsure = list(_unsure(account, before, new, others))
    columns = _columns(shown, new)
    for column in _sensitive(shown):
        try:
            if column not in columns:
                _require_apart(shown, column)
                continue
            register = _register(table, column)
            more = [] if others is None else others_of(others, register, column)
            views = together(shown, table, column, gamma, more=more, register=register)
            checked[column] = check(views)
            if checked[column].private is None:
                open_ = f"the bounds that were found for {column!r} leave it open"
                unsure.append("; ".join([open_, *checked[column].views.notes]))
        except ShoalError as error:
            unsure.append(str(error))
    entries = tuple(one.number for one in before if set(one.sensitive) & set(columns))
    above = [column for column, result in checked.items() if result.private is False]
    if above:
        why = (
            f"by what was shown, somebody has a value of {listed(above)} "
            "with a probability above its limit"
        )
        return Ruling(gamma, False, why, entries, checked)
    return Ruling(gamma, None if unsure else True, "; ".join(unsure), entries, checked)


def _unsure(
    account: Account,
    before: Sequence[ShownRelease],
    new: ShownRelease,
    others: str | PathLike[str] | None,
) -> Iterator[str]:
    """What may have been shown of the same values, but the names of columns do not show it."""
    columns = {entry.number: entry.facts.columns for entry in account.reserved}
    for release in before:
        fresh = [name for name in new.sensitive if name not in columns[release.number]]
        if fresh:
            yield (
                f"the table of {release.name} had no column {listed(fresh)}: if another column was "
                "called that, or it is made of one, it cannot be counted together"
            )
    now = set(digests(others))
    for number, done in account.completed.items():
        if not now.issuperset(done.facts.others):
            yield (
                f"entry {number} counted views of others that are not counted now: "
                "name them in [views] again"
            )
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
    shown, notes = earlier(account)
    table = table.in_memory([] if person is None else [person])
    new = ShownRelease(NEW, release, table.hierarchies)
    certificate = release.certificate
    if certificate.number in {done.facts.release for done in account.completed.values()}:
        kept = [one for one in shown if one.certificate.number == certificate.number]
        if not kept:
            raise InputError(
                f"the ledger has this release, by {certificate.method}, and it is not a view; "
                "it changes nothing here"
            )
        (new,) = kept
    else:
        shown.append(new)
    columns = _columns(shown, new)
    chosen = columns[0] if column is None and len(columns) == 1 else column
    if chosen is None or chosen not in columns:
        raise ColumnError(
            f"the sensitive columns are {listed(columns)}", "name the one that is checked"
        )
    allowed = account.gamma or Gamma(Fraction(1, 2))
    if gamma is not None:
        allowed = replace(allowed, share=fraction(gamma, "gamma", 0, 1))
    register = _register(table, chosen)
    more = [] if others is None else others_of(others, register, chosen)
    names = None if person is None else Register(table, person).names
    views = together(shown, table, chosen, allowed, names=names, more=more, register=register)
    return replace(views, people=views.people, notes=(*views.notes, *notes))


def also(account: Account, views: Views, register: Register, column: str | None) -> Views:
    """Views of a register and all that a ledger knows; `Ledger.together_with`."""
    before, notes = earlier(account)
    columns = _sensitive(before)
    chosen = columns[0] if column is None and len(columns) == 1 else column
    if columns and chosen not in columns:
        raise ColumnError(
            f"the ledger has releases of the sensitive columns {listed(columns)}",
            "name the one that the views are about",
        )
    shown = together(
        before,
        register.people,
        chosen or "",
        account.gamma or Gamma(Fraction(views.gamma)),
        names=views.people,
        complete=views.complete,
        register=register,
    )
    return replace(
        shown,
        people=views.people,
        views=(*views.views, *shown.views),
        limits=views.limits if account.gamma is None else shown.limits,
        notes=(*views.notes, *shown.notes, *notes),
    )


def _sensitive(shown: Sequence[ShownRelease]) -> list[str]:
    """The columns that are sensitive in any release."""
    return list(dict.fromkeys(name for release in shown for name in release.sensitive))


def _columns(shown: Sequence[ShownRelease], new: ShownRelease) -> list[str]:
    """Those that are sensitive in any release, and that the new one shows."""
    return [name for name in _sensitive(shown) if name in new.roles]


# What others have shown


def digests(others: str | PathLike[str] | None) -> list[str]:
    """What others have shown, each by the digest of its definition."""
    if others is None:
        return []
    return sorted(view["sha256"] for view in shown_in(Path(others), None))


def read_others(path: str | PathLike[str], table: Table) -> None:
    """InputError if what others have shown cannot be read, or is not of these people.

    For use before anything is entered.
    """
    table = table.in_memory()
    named = sensitive_of(path)
    if named is not None and named not in table.sensitive:
        raise ColumnError(
            f"it is about the column {named!r}, and these are sensitive here: "
            f"{listed(table.sensitive)}",
            where=str(path),
        )
    for column in table.sensitive:
        others_of(path, _register(table, column), column)


def _register(table: Table, column: str) -> Register:
    """Everybody with the columns that they are known by, for what others have shown."""
    public = [name for name in table.quasi if name != column]
    kinds = {name: table.kind(name) for name in public}
    trees = {name: tree for name, tree in table.hierarchies.items() if name in public}
    known = table.selecting(public, hierarchies=trees, types=kinds)
    return Register(known, kind=table.kind(column))

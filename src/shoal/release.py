"""`Release` and its `Certificate`: assembling, writing, reading. Uses `tables`, `hierarchy`, `files`, `chance`; methods use it.

`assemble` and `lay_out` make the released rows: only columns that may leave, generalised, in an order that depends on the
released values alone.
"""

import hashlib
import json
import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from shoal import __version__
from shoal.arguments import typed
from shoal.chance import Chance
from shoal.counts import Counts, Groups
from shoal.counts.counts import group
from shoal.disk import placing, reading, refuse_inputs_in
from shoal.errors import ColumnError, FileError, ParameterError, ShoalError
from shoal.hierarchy.tree import Hierarchy
from shoal.kinds import Key, Kind
from shoal.privacy.epsilon import Epsilon
from shoal.privacy.exact import printed
from shoal.privacy.models import MODELS
from shoal.privacy.promises import Promise
from shoal.tables import Role, Table

__all__ = [
    "CERTIFICATE",
    "COUNT",
    "GROUP",
    "Certificate",
    "Release",
    "Suppressed",
    "assemble",
    "certificate_of",
    "certify",
    "earlier_files",
    "grouping",
    "lay_out",
    "left_open",
    "plain",
    "released",
    "require_place",
]

Suppressed = Literal["drop", "star"]
"""What becomes of suppressed records: they are dropped, or kept with '*' in every quasi-identifying column."""

GROUP = "group"
"""The column that says who is in one group, where groups may look alike."""

COUNT = "count"
"""The column that says how often a row is released, where it is not repeated."""

CERTIFICATE = "certificate.json"
"""The file beside a released table."""

_LAYOUT = 1  # of certificate.json; a change that older readers cannot read makes it 2
_NO_RELEASE = "{} has no certificate.json with its table; give the directory of a release"
_READS = 5  # of a folder that is replaced meanwhile; each time the writer would have to come in between again
_STAR = "*"
_LONG = (
    20  # characters of a number from which it is rounded for people, and given exactly beside it
)

_TOGETHER = (
    "facts about several people together: that groups had to be merged shows that some people of them have the same "
    "values"
)
_STARRED = "rows of stars: they belong to no group, so no model holds of them, and their other columns are released as they are"
_AS_SHOWN = (
    "what several people of a group have together is what the group shows: they cannot all have a value that is there "
    "less often"
)

UNPROTECTED: Mapping[str, tuple[str, ...]] = {
    "differential privacy": (
        "what groups show about everybody like you: an attribute that most people of a group share is inferred of its other "
        "people too, whether or not they are in the table",
        "people who are in the table several times: in several rows, where the unit is a row, or under several names, where it "
        "is a person. The more often, the less they are protected",
        "several releases of the same people: what each of them spends adds up",
        "what is learnt beside the release: how long it took, how much memory it used, files left behind, who asked for it",
    ),
    "semantic anonymity": (
        "how many people share a released row, exactly: whoever knows all of them but one learns whether that one is among them",
        "what a row shows about everyone who has it: there are k people or more, and all of them have the same values",
        "people who are in the table several times, and several releases of the same people: both may leave smaller crowds",
        "what is learnt beside the release: how long it took, how much memory it used, files left behind, who asked for it",
    ),
    "F'-privacy": (
        "people who are in several rows of the input, unless one row of each was drawn: what their buckets have in common tells "
        "more than each of them",
        "everybody's other columns, which are released as they are: who is in the table is plain to see",
        "how often each sensitive value occurs, in the whole table and in every bucket",
        "who knows the values of some people of a bucket, or how values go with other columns, learns more about the others",
        "what several people have together: that two people of a bucket cannot both have a value that is there once",
        "several releases of the same people: with other buckets each, they tell more together than each alone",
    ),
    "coincidence": (
        "quasi-identifying values, and who is in the table: both count as known, and which groups there are, what they show "
        "and where their ranges end depends on them",
        "people who are in the table several times: each of their records is as hidden as promised, but not what these tell "
        "together",
        _TOGETHER,
        "who knows some people's values, or how values go with other columns, learns more about the others of a group",
        "insensitive columns are released as they are, and count as known to nobody",
        "several releases of the same people may tell more together than each alone",
        "who knows that it was tried before, and refused: a refusal tells about the values, and so does a second try",
    ),
    "lowest risk": (
        "people who are in several rows of the input, unless one row of each was drawn: five rows of one person look like five "
        "people",
        "who is recognised all the same: a low risk is not none, and whoever is unlike all others keeps a high one",
        "which generalisation each record got tells about it: whoever knows the algorithm may rule out people who would have "
        "got another, and so sees smaller crowds than were counted (docs: personal generalisation)",
        "sensitive and insensitive columns, which are released as they are",
        "several releases of the same people may tell more together than each alone",
    ),
    "sampled": (
        "people who are in several rows of the input, unless one row of each was drawn: the more rows, the more likely one of "
        "them is released",
        "whoever is released is released as they are, and may be recognised by anyone who knows their values",
        "a record that is unique in the release may be that of someone who is unique in the population",
    ),
    "syntactic": (
        "people who are in several rows of the input, unless one row of each was drawn: five rows of one person look like five "
        "people",
        "the levels or ranges were chosen by looking at the data: whoever knows the algorithm may rule out inputs that "
        "would have led to another choice, and so infer more than the table shows (docs: minimality)",
        "insensitive columns are released as they are, and count as known to nobody",
        "several releases of the same people may tell more together than each alone",
    ),
}


def left_open(promise: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """What a promise does not protect from, where it is kept by a method with these parameters.

    By permutations within groups nothing is merged by who has which value, so that nothing is told by it.
    """
    lines = UNPROTECTED[promise]
    if parameters.get("suppressed") == "star":
        return (_STARRED, *lines)
    if parameters.get("rule") != "permutations":
        return lines
    return tuple(_AS_SHOWN if line == _TOGETHER else line for line in lines)


@dataclass(frozen=True)
class Certificate:
    """What was promised, by which method with which parameters and version, under a random number.

    It holds nothing about the input that the released table does not show. `unprotected` lists what the promise leaves
    open. `columns` are the released ones in their order, with role, type and, if sensitive, hierarchy; if quasi-identifying, the
    digest of the hierarchy that its texts are read by (None if that was read off the rows); `levels` the chosen
    levels where there are any; `derived` what was computed from the parameters alone, such as the k that an ε needs;
    `recipe` the digest of the recipe, if one was followed. `whole` says that no record of the input was left out (of the
    records drawn, where a unit is named), so that shares in the release are those in the input. `private` is False if the
    draws came from a seed: then nothing is promised. `file` is the name, format and digest once it is written.
    """

    promise: Mapping[str, Any]
    statement: str
    unprotected: Sequence[str]
    method: str
    parameters: Mapping[str, Any]
    columns: Sequence[Mapping[str, Any]]
    number: str
    levels: Mapping[str, int] = field(default_factory=dict)
    derived: Mapping[str, Any] = field(default_factory=dict)
    recipe: str | None = None
    whole: bool = False
    private: bool = True
    version: str = __version__
    file: Mapping[str, Any] | None = None

    def to_json(self) -> str:
        """Canonical JSON; its last line of defence is `seal`, the digest of everything else, against accidents only."""
        content = {**plain(asdict(self)), "certificate": _LAYOUT}
        return _canonical({**content, "seal": _seal(content)})

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate in a text; FileError unless it is exactly what `to_json` wrote."""
        try:
            content = json.loads(text)
            seal, layout = content.pop("seal"), content.pop("certificate")
            if layout != _LAYOUT:
                raise FileError(
                    f"the certificate has layout {layout!r}, this version reads {_LAYOUT}; use a newer Shoal"
                )
            found = cls(**content)
            same = found.to_json() == text and _seal({**content, "certificate": layout}) == seal
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FileError(
                "this is no certificate of Shoal; give the certificate.json that came with the release"
            ) from None
        if not same:
            raise FileError(
                "the certificate was changed after it was written; get it anew from whoever released the table"
            )
        return found

    def __str__(self) -> str:
        """The certificate for people, at most 80 characters a line but for what cannot be parted."""
        lines = [f"Release {self.number}, made by Shoal {self.version} with {self.method}"]
        if not self.private:
            lines.append("NOT PRIVATE: the draws came from a seed; this release is a test")
        sections = {
            "Promise": [self.statement],
            "Not protected": [f"- {what}" for what in self.unprotected],
            "Levels": [_told(self.levels)] if self.levels else [],
            "Parameters": [f"{name} = {_told(value)}" for name, value in self.parameters.items()],
            "Derived from the parameters": [
                f"{name.replace('_', ' ')} = {_told(value)}"
                for name, value in self.derived.items()
                if self.parameters.get(name) != value
            ],
            "Recipe": [f"SHA-256 {self.recipe}"] if self.recipe else [],
            "File": [
                line
                for own in (
                    [self.file, *self.file.get("further", {}).values()] if self.file else ()
                )
                for line in (own["name"], f"SHA-256 {own['sha256']}")
            ],
        }
        for title, entries in sections.items():
            lines += ["", title, *map(_wrapped, entries)] if entries else []
        return "\n".join(lines)


@typed
@dataclass(frozen=True, eq=False)
class Release:
    """A released table with its certificate, and what only the owner should see.

    `table` is a dataframe of the kind that came in; `further` are those that some methods release besides, by their names.
    `suppressed` is how many records were suppressed and `facts` what the method found on its way (loss, nodes looked at):
    both tell about the input and are never written.
    """

    table: Any
    certificate: Certificate
    suppressed: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """What the released files show, and no more: a notebook may be passed on."""
        tables = [self.table, *self.further.values()]
        shapes = " and ".join(f"{one.shape[0]:,} rows × {one.shape[1]} columns" for one in tables)
        paper = self.certificate
        return f"<shoal.Release {paper.number} by {paper.method}: {shapes}>"

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> "Release":
        """The release that was written into a directory: what its files show, and nothing about the input."""
        folder = Path(directory)
        for _ in range(_READS):
            before = _content(folder)
            try:
                certificate = Certificate.from_json(before.decode("utf-8"))
                frames = _frames(folder, certificate)
            except (OSError, ValueError, KeyError, TypeError, AttributeError, ShoalError) as error:
                if _content(folder) != before:
                    continue  # another release took its place meanwhile
                if isinstance(error, ShoalError):
                    raise
                raise FileError(_NO_RELEASE.format(folder)) from None
            if _content(folder) == before:
                break
        else:
            raise FileError(f"{folder} is being written again and again; read it later")
        return cls(frames.pop(""), certificate, further=frames)

    def write(
        self,
        directory: str | os.PathLike[str],
        format: str = "csv",
        *,
        neutralise: bool = False,
    ) -> Path:
        """Write release.<format>, further tables by their names, and certificate.json into a folder of their own.

        The folder is new or empty, or has an earlier release, which is replaced. It appears at once, whole, also where the
        process is killed. With `neutralise`, cells of a CSV file that a spreadsheet would run as formulas are written so
        that it does not. Gives the path of the released file.
        """
        from shoal.files import Format, serialise

        folder = Path(directory)
        tables = {"release": self.table, **self.further}
        told = []
        try:
            with placing(folder, earlier_files) as part:
                for called, frame in tables.items():
                    target = part / f"{called}.{format}"
                    with open(target, "x+b") as file:
                        serialise(frame, file, cast(Format, format), neutralise=neutralise)
                        file.flush()
                        os.fsync(file.fileno())
                        file.seek(0)
                        digest = hashlib.file_digest(file, "sha256").hexdigest()
                    told.append({"name": target.name, "sha256": digest})
                facts: dict[str, Any] = {**told[0], "format": format}
                if neutralise:
                    facts["neutralised"] = True
                if self.further:
                    facts["further"] = dict(zip(self.further, told[1:], strict=True))
                with open(part / CERTIFICATE, "xb") as paper:
                    paper.write(replace(self.certificate, file=facts).to_json().encode())
                    paper.flush()
                    os.fsync(paper.fileno())
        except OSError as error:
            raise FileError(
                f"cannot write {folder}: {error.strerror}; give a new folder, in one you may write to"
            ) from None
        return folder / str(told[0]["name"])


def _content(folder: Path) -> bytes:
    try:
        return (folder / CERTIFICATE).read_bytes()
    except OSError:
        raise FileError(_NO_RELEASE.format(folder)) from None


def _frames(folder: Path, certificate: Certificate) -> dict[str, Any]:
    """The tables of a release, the first under no name."""
    from shoal.files import read

    file = certificate.file or {}
    further = {name: {**file, **own} for name, own in file.get("further", {}).items()}
    frames = {}
    for called, own in {"": file, **further}.items():
        target = folder / Path(own["name"]).name
        reading(target, folder / CERTIFICATE)
        with open(target, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != own["sha256"]:
            raise FileError(
                f"{target} is not the table that its certificate was written for: their digests differ"
            )
        options: dict[str, Any] = {}
        if own["format"] == "csv":
            neutralised = file.get("neutralised") is True
            options = {"separator": ",", "quote": '"', "encoding": "utf-8"}
            options |= {"neutralised": neutralised}
        frames[called] = read(target, **options).frame.to_native()
    return frames


def require_place(directory: str | os.PathLike[str], inputs: Iterable[Path] = ()) -> list[Path]:
    """The files of an earlier release in a folder, if there are any; FileError if no release can be written there.

    It must hold nothing else, and none of the `inputs` that the release is made from.
    """
    folder = Path(directory)
    refuse_inputs_in(folder, inputs)
    try:
        found = earlier_files(folder)
    except OSError as error:  # such as a name that is too long
        raise FileError(f"cannot write {folder}: {error.strerror}; give another folder") from None
    way = [folder.absolute(), *folder.absolute().parents]
    above = next(path for path in way[1:] if os.path.lexists(path))
    for needed in (above, *way[:1]) if os.path.lexists(folder) else (above,):
        if not needed.is_dir() or not os.access(needed, os.W_OK | os.X_OK):
            raise FileError(
                f"cannot write {folder}: you may not write to {needed}; give a folder elsewhere"
            )
    return found


def earlier_files(folder: Path) -> list[Path]:
    """The files of an earlier release in a folder, none if it is new or empty; FileError if it holds anything else."""
    if folder.is_symlink():
        raise FileError(f"{folder} is a symbolic link; give the folder itself")
    if not os.path.lexists(folder):
        return []
    if not folder.is_dir():
        raise FileError(f"{folder} is a file; give the name of a folder")
    if os.path.ismount(folder) or _current(folder):
        raise FileError(
            f"{folder} cannot be replaced as a whole: something is mounted there, or it is the current folder; "
            "give a new folder inside it"
        )
    there = sorted(folder.iterdir())
    if not there:
        return []
    if strange := [path for path in there if path.is_symlink() or not path.is_file()]:
        raise FileError(
            f"{folder} holds {strange[0].name!r}, which is no plain file; give a new or empty folder"
        )
    try:
        paper = Certificate.from_json((folder / CERTIFICATE).read_bytes().decode("utf-8"))
        own = paper.file or {}
        names = {
            CERTIFICATE,
            own["name"],
            *(one["name"] for one in own.get("further", {}).values()),
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ShoalError):
        names = set()
    if others := [path.name for path in there if path.name not in names]:
        raise FileError(
            f"{folder} holds {others[0]!r}, which belongs to no release there; give a new or empty folder"
        )
    return there


def _current(folder: Path) -> bool:
    try:
        return os.path.samefile(folder, os.getcwd())
    except OSError:  # it was deleted
        return False


def certificate_of(path: str | os.PathLike[str]) -> Certificate | None:
    """The certificate that lies beside a released file and names it, if there is one."""
    target = Path(path)
    try:
        found = Certificate.from_json((target.parent / "certificate.json").read_text("utf-8"))
    except (OSError, UnicodeDecodeError, FileError):
        return None
    return found if (found.file or {}).get("name") == target.name else None


def certify(
    table: Table,
    method: Any,
    promise: Promise,
    chance: Chance,
    *,
    levels: Mapping[str, int] | None = None,
    derived: Mapping[str, Any] | None = None,
    whole: bool = False,
    counted: bool = False,
) -> Certificate:
    """The certificate of a release of a table by a method (a frozen dataclass with a `name`)."""
    parameters = {field.name: plain(getattr(method, field.name)) for field in fields(method)}
    return Certificate(
        promise=plain(promise.to_dict()),
        statement=promise.statement,
        unprotected=list(left_open(promise.name, parameters)),
        method=method.name,
        parameters=parameters,
        columns=[
            *(_column(table, name) for name in released(table)),
            *(
                [{"name": COUNT, "role": Role.INSENSITIVE.value, "type": Kind.INTEGER.value}]
                if counted
                else ()
            ),
        ],
        number=chance.number(),
        levels=dict(levels or {}),
        derived=plain(derived or {}),
        whole=whole,
        private=chance.private,
    )


def _column(table: Table, name: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": name,
        "role": table.roles[name].value,
        "type": table.kind(name).value,
    }
    if table.roles[name] is Role.QUASI and name in table.hierarchies:
        tree = table.hierarchy(name)  # released texts are read by it
        told["hierarchy_sha256"] = None if tree.derived else tree.digest
    if table.roles[name] is Role.SENSITIVE and name in table.hierarchies:
        hierarchy = table.hierarchies[
            name
        ]  # models see its leaves, so whoever checks them needs it
        told["hierarchy"] = (
            None if hierarchy.derived else hierarchy.lines()
        )  # one read off the rows tells about them
    return told


def plain(value: object) -> Any:
    """A parameter as data that JSON carries exactly: a fraction is the text "1/20".

    >>> plain({"limit": Fraction(1, 20), "levels": (1, 2)})
    {'limit': '1/20', 'levels': [1, 2]}
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | str | float):
        return value
    if isinstance(value, Fraction | Epsilon):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type | Counts | Hierarchy | Table):
        return {
            "is": getattr(value, "name", type(value).__name__),
            **{field.name: plain(getattr(value, field.name)) for field in fields(value)},
        }
    if isinstance(name := getattr(value, "name", None), str):
        return {"is": name}  # a model or loss of the owner's own
    return type(value).__name__  # such as the counts of a population, which stay with the owner


def _told(value: object) -> str:
    """A parameter of a certificate for people: models by their short names, fractions as decimals where they are such.

    >>> _told([{"is": "k-anonymity", "k": 5}, {"is": "t-closeness", "column": "ill", "t": "1/5", "hierarchy": None}])
    '5-anonymity, 0.2-closeness of ill'
    >>> _told({"age": 1, "sex": 0}), _told("1/20"), _told({}), _told(True)
    ('age 1, sex 0', '0.05', 'none', 'yes')
    >>> _told("1/18446744073709551616")
    '5.42101e-20, exactly 1/18446744073709551616'
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case None | list() | tuple() | Mapping() | str() if not value:
            return "none"
        case str() if re.fullmatch(r"-?[0-9]+/[1-9][0-9]*", value):
            short = printed(exact := Fraction(value))
            return short if len(short) <= _LONG else f"{float(exact):.6g}, exactly {value}"
        case list() | tuple():
            return ", ".join(
                f"[{_told(one)}]" if isinstance(one, list | tuple) else _told(one) for one in value
            )
        case {"is": "delta-presence", "lowest": lowest, "highest": highest}:
            return f"({_told(lowest)}, {_told(highest)})-presence"
        case {"is": name, **given}:
            try:
                return str(
                    MODELS[str(name)](
                        **{str(key): inner for key, inner in given.items() if key != "hierarchy"}
                    )
                )
            except (KeyError, TypeError, ParameterError):
                return (
                    f"{name} ({', '.join(f'{key} = {_told(inner)}' for key, inner in given.items())})"
                    if given
                    else f"{name}"
                )
        case Mapping():
            return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items())
    return str(value)


def _wrapped(entry: str) -> str:
    under = " " * (4 if entry.startswith("- ") or " = " in entry else 2)
    return textwrap.fill(
        entry,
        80,
        initial_indent="  ",
        subsequent_indent=under,
        break_long_words=False,
        break_on_hyphens=False,
    )


def assemble(
    table: Table, groups: Groups, kept: npt.NDArray[np.bool_], *, suppressed: Suppressed = "drop"
) -> Any:
    """The released rows of a table at the node of `groups`, as a dataframe of the kind that came in.

    Groups that are not `kept` are suppressed. Columns are in the table's order without identifying ones, quasi-identifying
    values are the hierarchy's labels, rows are in the order of the released values.
    """
    if suppressed not in ("drop", "star"):
        raise ParameterError(f"suppressed={suppressed!r}; it takes 'drop' or 'star'")
    lattice = groups.lattice
    columns: dict[str, tuple[Sequence[str], npt.NDArray[Any]]] = {}
    for name, hierarchy, level in zip(lattice.names, lattice.hierarchies, groups.node, strict=True):
        columns[name] = (hierarchy.labels[level], hierarchy.maps[level][table.leaves(name)])
    keep = None
    if not kept.all():
        keep = kept[groups.find([codes for _, codes in columns.values()])]
    if keep is None or suppressed == "drop":
        return lay_out(table, columns, keep)
    return lay_out(
        table, {name: _starred(labels, codes, keep) for name, (labels, codes) in columns.items()}
    )


def lay_out(
    table: Table,
    generalised: Mapping[str, tuple[Sequence[str], npt.NDArray[Any]]],
    keep: npt.NDArray[np.bool_] | None = None,
    rows: Counts | None = None,
    *,
    counts: bool = False,
) -> Any:
    """The released rows, given for every quasi-identifying column its labels and every row's code among them.

    Other columns are released as they are, identifying ones never; `keep` picks the rows. Where a method works on the
    distinct `rows` of the table, the codes given and those picked are of these. Rows are sorted by their
    released codes over all columns, so that equal multisets of rows give equal bytes and nothing tells of the input's order.
    With `counts` each row is there once, and a column of that name says how often it is released.
    """
    columns: dict[str, tuple[Sequence[Key | None], npt.NDArray[Any]]] = {}
    for name in released(table):
        if name in generalised:
            columns[name] = generalised[name]
        else:
            own = table.column(name)
            columns[name] = (
                own.keys,
                own.codes if rows is None else rows.codes[rows.names.index(name)],
            )
    sorted_rows = group(
        list(columns),
        [codes if keep is None else codes[keep] for _, codes in columns.values()],
        [max(len(values), 1) for values, _ in columns.values()],
        None if rows is None else rows.count if keep is None else rows.count[keep],
    )
    named = dict(zip(columns, sorted_rows.codes, strict=True))
    if not counts:
        return table.like(
            {
                name: (columns[name][0], np.repeat(codes, sorted_rows.count))
                for name, codes in named.items()
            }
        )
    return table.like(
        {
            **{name: (columns[name][0], codes) for name, codes in named.items()},
            COUNT: (None, sorted_rows.count),
        }
    )


def released(table: Table) -> list[str]:
    """The columns that may leave, in the table's order: all but the identifying ones."""
    names = [name for name in table.names if table.roles[name] is not Role.IDENTIFYING]
    if not names:
        raise ColumnError(
            "every column is identifying, so nothing may be released; give some column another role"
        )
    return names


def grouping(table: Table) -> list[str]:
    """The columns whose values the records of a group share, by which every room counts groups: the quasi-identifying ones.

    Where there are none, anything may be known about a person, and records share what is released of them.
    """
    others = [name for name in table.names if table.roles.get(name) is not Role.IDENTIFYING]
    return list(table.quasi) or others


def _starred(
    labels: Sequence[str], codes: npt.NDArray[Any], keep: npt.NDArray[np.bool_]
) -> tuple[Sequence[str], npt.NDArray[Any]]:
    """The column with '*' where a row is suppressed; a label that is '*' already is the same value."""
    star = labels.index(_STAR) if _STAR in labels else len(labels)
    return (labels if star < len(labels) else (*labels, _STAR)), np.where(
        keep, codes.astype(np.int64), star
    )


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _seal(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(content).encode()).hexdigest()

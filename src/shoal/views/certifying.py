"""`certify` and `verify`: a paper that says which releases and views keep γ together, and whether that is so. Uses `sources` and
`checking`; the command line uses it.

Everything on it follows from what is public: the releases, the views and the register. It names nobody.
"""

import hashlib
import json
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.arguments import typed
from shoal.data import memory
from shoal.data.disk import together
from shoal.errors import FileError, InfeasibleError, ParameterError, ShoalError, plural
from shoal.exact.numbers import Exact
from shoal.releases.certificate import Certificate
from shoal.views.checking import Checked, check
from shoal.views.sources import content_of, opened, sections_of, sensitive_of

__all__ = ["JointCertificate", "certify", "verify"]

_LAYOUT = 1
_PER_BYTE = 40  # bytes of memory that a byte of JSON takes at most, as Python objects
_DIGITS = 1000  # of a number of tables that is given exactly

UNPROTECTED = (
    "who knows more than the register and what was shown, about people or about which values go with which others, is surer",
    "who knows that these releases were chosen, or others refused, by looking at the table, may rule out tables that would have "
    "led to another choice: keep refusals secret",
    "anything else that was or will be shown of the same people",
    "a person with several records, and several sensitive columns together: everybody counts as one row with one value",
    "releases with differential privacy are no views and not counted here: what they add is what their own promise says",
)


@dataclass(frozen=True)
class JointCertificate:
    """That some releases and views together keep γ, and how that was found.

    `columns` are what the sensitive values that were checked are called. `shown` has a line for each: a release by its number,
    its method and the digest of its certificate, a view or a table by the digest of its definition. `register` is the digest of
    who there is, with their public columns and hierarchies. `people`, `views` and `tables` are how many there are, and `largest`
    is how sure one can become at most.
    `checked` says by which method, and with which confidence where tables were drawn.
    """

    gamma: str
    limits: Mapping[str, str]
    columns: Sequence[str]
    shown: Sequence[Mapping[str, str]]
    register: str
    people: int
    complete: bool
    views: int
    tables: str
    largest: str
    checked: Mapping[str, Any]
    statement: str
    unprotected: Sequence[str] = UNPROTECTED
    version: str = __version__

    def to_json(self) -> str:
        """Canonical JSON with a seal, the digest of everything else, against accidents only."""
        content = {**asdict(self), "joint_certificate": _LAYOUT}
        return _canonical(
            {**content, "seal": hashlib.sha256(_canonical(content).encode()).hexdigest()}
        )

    @classmethod
    def from_json(cls, text: str) -> "JointCertificate":
        """The certificate in a text; FileError unless it is exactly what `to_json` wrote."""
        try:
            content = json.loads(text)
            content.pop("seal")
            if (layout := content.pop("joint_certificate")) != _LAYOUT:
                raise FileError(
                    f"the certificate has layout {layout!r}, this version reads {_LAYOUT}; use a newer Shoal"
                )
            found = cls(**content)
            same = found.to_json() == text
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FileError(
                "this is no certificate of several releases; give one that shoal views certify wrote"
            ) from None
        if not same:
            raise FileError(
                "the certificate was changed after it was written; get it anew from whoever gave it"
            )
        return found

    def write(self, path: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write it as JSON, and for people beside it as .txt: both, or none."""
        target = Path(path)
        beside = target.with_suffix(".txt")
        if beside == target:
            raise ParameterError(
                f"{target} is where the text for people goes; give a name that ends in .json"
            )
        try:
            with together(target, beside) as (file, text):
                file.write(self.to_json().encode())
                text.write(f"{self}\n".encode())
        except OSError as error:
            raise FileError(
                f"cannot write {target}: {error.strerror}; give a path you may write to"
            ) from None
        return target, beside

    def __str__(self) -> str:
        """The certificate for people."""
        by = self.checked
        how = f"{by['how']}" + (
            f", with a confidence of {by['confidence']}" if by["confidence"] else ""
        )
        sections = {
            "Promise": [self.statement],
            "Shown": [_line(one) for one in self.shown],
            "Found": [
                f"{plural(self.views, 'view')} of {plural(self.people, 'person').replace('persons', 'people')}"
                + ("" if self.complete else ", of whom some may not be in the table"),
                f"the register: SHA-256 {self.register}",
                f"possible tables: {self.tables}",
                f"the surest one can be{'' if by['how'] == 'exact' else ', at most'}: {self.largest}",
                f"checked: {how}",
            ],
            "Not protected": [f"- {what}" for what in self.unprotected],
        }
        lines = [f"Several releases together, checked by Shoal {self.version}"]
        for title, entries in sections.items():
            lines += [
                "",
                title,
                *(
                    textwrap.fill(one, 80, subsequent_indent="  ", break_long_words=False)
                    for one in entries
                ),
            ]
        return "\n".join(lines)


@typed
def certify(path: str | os.PathLike[str], *, gamma: Exact | None = None) -> JointCertificate:
    """The certificate of all that a file of views lists (docs: several releases together).

    InfeasibleError if γ is not kept, or if that is not decided: then there is nothing to certify. Tables are counted where they
    can be. Where they are drawn, the seed follows from what is shown, so that nobody can look for one that helps.
    """
    given, register, column = opened(path)
    if gamma is not None:
        given = given.within(gamma)
    shown = list(shown_in(Path(path), column))
    rows = (
        register.rows() if register.person is None else sorted(register.rows())
    )  # numbers go by the order of rows
    people = _digest(_canonical({"people": list(rows), "hierarchies": register.trees()}).encode())
    drawn = _digest(_canonical({"shown": sorted(map(_bare, shown)), "register": people}).encode())
    found = check(given, seed=int(drawn[:12], 16))
    if found.private is not True:
        why = "; ".join(["may not be kept: bounds leave it open", *found.views.notes])
        what = "is not kept" if found.private is False else why
        raise InfeasibleError(
            f"γ = {given.gamma} {what}. So there is nothing to certify; shoal views check says more"
        )
    limits = dict(sorted((_text(value), str(limit)) for value, limit in given.limits.items()))
    columns = sorted(
        {one["column"] for one in shown if "column" in one} | ({column} if column else set())
    )
    return JointCertificate(
        gamma=str(given.gamma),
        limits=limits,
        columns=columns,
        shown=shown,
        register=people,
        people=len(given.names),
        complete=given.complete,
        views=len(given.shown),
        tables=_tables(found),
        largest=found.largest_text,
        checked={
            "how": found.how,
            "confidence": None if found.confidence is None else str(found.confidence),
        },
        statement=_statement(str(given.gamma), limits, columns),
        unprotected=list(_unprotected(shown)),
    )


@typed
def verify(certificate: str | os.PathLike[str], path: str | os.PathLike[str]) -> list[str]:
    """What does not hold about a certificate, given the releases, the views and the register in a file; empty if nothing.

    All tables are counted again. What things are called in the file does not matter.
    """
    return [_one_line(wrong) for wrong in _failures(Path(certificate), path)]


def _failures(certificate: Path, path: str | os.PathLike[str]) -> list[str]:
    try:
        with open(certificate, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            memory.require(_PER_BYTE * size, f"reading {certificate}", "use a larger machine")
            paper = JointCertificate.from_json(file.read().decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return [f"cannot read {certificate}"]
    except ShoalError as error:
        return [str(error)]
    if paper.version != __version__:  # whose words may be others, or anybody's
        known = isinstance(paper.version, str) and re.fullmatch(r"[\w.+-]{1,40}", paper.version)
        return [
            f"the certificate was written by {f'Shoal {paper.version}' if known else 'an unknown version of Shoal'}, and "
            f"this is {__version__}; verify it with the version that wrote it"
        ]
    wrong: list[str] = []
    try:
        mine = Counter(map(_bare, shown_in(Path(path), sensitive_of(path))))
        theirs = Counter(map(_bare, paper.shown))
        wrong += [
            f"{_line(dict(one))}: is not on the certificate" for one in (mine - theirs).elements()
        ]
        wrong += [
            f"{_line(dict(one))}: is on the certificate, and was not given"
            for one in (theirs - mine).elements()
        ]
        again = certify(path, gamma=paper.gamma)
        if not wrong:
            own, other = asdict(replace(again, shown=paper.shown)), asdict(paper)
            wrong += [
                f"{part} is not what is found here"
                for part in own
                if _canonical(own[part]) != _canonical(other[part])
            ]
            names = [line.get("name") for line in paper.shown]
            if not all(isinstance(one, str) and one.isprintable() for one in names):
                wrong.append("a name on the certificate is not one that is written on one line")
    except ShoalError as error:
        return [*wrong, str(error)]
    except Exception:  # the certificate is anybody's: whatever it leads to, it fails
        return [
            *wrong,
            "not a valid Shoal certificate: a part is missing, or is not what it should be",
        ]
    return wrong


def _one_line(text: str) -> str:
    """A text in which nothing is left that a terminal would obey, and not so long that it buries the others."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text[:1000]
    )


def shown_in(path: Path, column: str | None) -> Iterator[dict[str, str]]:
    """What a file lists, each with the digest of what defines it, and with the sensitive columns that it has."""
    where, content = content_of(path)
    for number, section in enumerate(sections_of(content, where), 1):
        name = str(section.get("name", f"view {number}"))
        if "release" in section:
            try:
                written = (where.parent / section["release"] / "certificate.json").read_bytes()
                paper = Certificate.from_json(written.decode("utf-8"))
            except (OSError, UnicodeDecodeError):
                raise FileError(
                    f"{section['release']} has no certificate.json; give the directory of a release"
                ) from None
            secret = [str(one["name"]) for one in paper.columns if one["role"] == "sensitive"]
            checked = str(section.get("sensitive", column or next(iter(secret), None)))
            told = {
                "is": "release",
                "name": name,
                "number": paper.number,
                "method": paper.method,
                "sha256": _digest(written),
            }
            yield {
                **told,
                "column": checked,
                "others": ", ".join(one for one in secret if one != checked),
            }
            continue
        defined = {key: value for key, value in section.items() if key not in ("name", "table")}
        try:
            table = (where.parent / section["table"]).read_bytes() if "table" in section else b""
        except OSError as error:
            raise FileError(f"cannot read {section['table']}: {error.strerror}") from None
        told = {"name": name, "sha256": _digest(_canonical(defined).encode() + table)}
        if "table" in section:
            yield {"is": "table", **told, "column": str(section.get("sensitive", column))}
        else:
            yield {"is": "view", **told}


def _bare(one: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What is shown, whatever it is called."""
    return tuple(sorted((key, value) for key, value in one.items() if key != "name"))


def _unprotected(shown: Sequence[Mapping[str, str]]) -> Iterator[str]:
    others = sorted({name for one in shown for name in one.get("others", "").split(", ") if name})
    if others:
        yield f"other sensitive columns of these releases, which were not checked: {', '.join(others)}"
    yield from UNPROTECTED


def _line(one: Mapping[str, str]) -> str:
    said = (
        f"release {one['number']} by {one['method']}"
        if one["is"] == "release"
        else f"{one['is']} {one.get('name', '')}"
    )
    return f"{said.rstrip()}, SHA-256 {one['sha256']}"


def _statement(gamma: str, limits: Mapping[str, str], columns: Sequence[str]) -> str:
    of = f" of {', '.join(columns)}" if columns else ""
    apart = (
        f" (for single values: {', '.join(f'{value} {limit}' for value, limit in limits.items())})"
        if limits
        else ""
    )
    return (
        "Whoever has seen all of this, knows the register (who there is, and their public columns), knows nothing else, and "
        f"counts every table that could have shown it as equally likely, holds no value{of} more probable for anybody than "
        f"{gamma}{apart}."
    )


def _tables(found: Checked) -> str:
    text = found.tables_text
    return text if len(text) <= _DIGITS else f"about 10^{found.digits:.1f}"


def _text(value: object) -> str:
    return "missing" if value is None else str(value)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _canonical(content: object) -> str:
    return (
        json.dumps(
            content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False, default=str
        )
        + "\n"
    )

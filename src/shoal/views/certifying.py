"""`certify` and `verify`: a paper that says which releases and views keep γ together, and whether that is so. Uses `sources` and
`checking`; the command line uses it.

Everything on it follows from what is public: the releases, the views and the register. It names nobody.
"""

import hashlib
import json
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.disk import together
from shoal.errors import FileError, InfeasibleError, ParameterError, ShoalError, plural
from shoal.privacy.exact import Exact
from shoal.release import Certificate
from shoal.views.checking import Checked, How, check
from shoal.views.sources import content_of, opened, sections_of

__all__ = ["JointCertificate", "certify", "verify"]

_LAYOUT = 1
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

    `shown` has a line for each: a release by its number, its method and the digest of its certificate; a view or a table by the
    digest of its definition. `people`, `views` and `tables` are how many there are; `largest` is how sure one can become at most.
    `checked` says by which method, which one was `asked` for, and where tables were drawn, with which confidence, tries and seed.
    """

    gamma: str
    limits: Mapping[str, str]
    shown: Sequence[Mapping[str, str]]
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
        return _canonical({**content, "seal": hashlib.sha256(_canonical(content).encode()).hexdigest()})

    @classmethod
    def from_json(cls, text: str) -> "JointCertificate":
        """The certificate in a text; FileError unless it is exactly what `to_json` wrote."""
        try:
            content = json.loads(text)
            content.pop("seal")
            if (layout := content.pop("joint_certificate")) != _LAYOUT:
                raise FileError(f"the certificate has layout {layout!r}, this version reads {_LAYOUT}; use a newer Shoal")
            found = cls(**content)
            same = found.to_json() == text
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FileError("this is no certificate of several releases; give one that shoal views certify wrote") from None
        if not same:
            raise FileError("the certificate was changed after it was written; get it anew from whoever gave it")
        return found

    def write(self, path: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write it as JSON, and for people beside it as .txt: both, or none."""
        target = Path(path)
        beside = target.with_suffix(".txt")
        if beside == target:
            raise ParameterError(f"{target} is where the text for people goes; give a name that ends in .json")
        try:
            with together(target, beside) as (file, text):
                file.write(self.to_json().encode())
                text.write(f"{self}\n".encode())
        except OSError as error:
            raise FileError(f"cannot write {target}: {error.strerror}; give a path you may write to") from None
        return target, beside

    def __str__(self) -> str:
        """The certificate for people."""
        by = self.checked
        how = f"{by['how']}" + (f", with a confidence of {by['confidence']}" if by["confidence"] else "")
        sections = {
            "Promise": [self.statement],
            "Shown": [_line(one) for one in self.shown],
            "Found": [
                f"{plural(self.views, 'view')} of {plural(self.people, 'person').replace('persons', 'people')}"
                + ("" if self.complete else ", of whom some may not be in the table"),
                f"possible tables: {self.tables}",
                f"the surest one can be: {self.largest}",
                f"checked: {how}",
            ],
            "Not protected": [f"- {what}" for what in self.unprotected],
        }
        lines = [f"Several releases together, checked by Shoal {self.version}"]
        for title, entries in sections.items():
            lines += ["", title, *(textwrap.fill(one, 80, subsequent_indent="  ", break_long_words=False) for one in entries)]
        return "\n".join(lines)


def certify(
    path: str | os.PathLike[str],
    *,
    gamma: Exact | None = None,
    how: How | None = None,
    confidence: Exact = Fraction(99, 100),
    tries: int = 10_000,
    seed: int = 0,
) -> JointCertificate:
    """The certificate of all that a file of views lists (docs: several releases together).

    InfeasibleError if γ is not kept, or if that is not decided, as where people fit several groups: then there is nothing to
    certify.
    """
    given, _, _ = opened(path)
    if gamma is not None:
        given = given.within(gamma)
    if given.notes:  # whom only one of several joined groups fits may be surer told than by all of them
        raise InfeasibleError(f"nothing can be certified. {'; '.join(given.notes)}")
    found = check(given, how=how, confidence=confidence, tries=tries, seed=seed)
    if found.private is not True:
        what = "is not kept" if found.private is False else "may not be kept: bounds leave it open"
        raise InfeasibleError(f"γ = {given.gamma} {what}, so there is nothing to certify; shoal views check says more")
    drawn = {"confidence": str(found.confidence), "tries": tries, "seed": seed}
    return JointCertificate(
        gamma=str(given.gamma),
        limits={_text(value): str(limit) for value, limit in given.limits.items()},
        shown=list(_shown(Path(path))),
        people=len(given.names),
        complete=given.complete,
        views=len(given.shown),
        tables=_tables(found),
        largest=found.largest_text,
        checked={"how": found.how, "asked": how, **(drawn if found.confidence is not None else dict.fromkeys(drawn))},
        statement=_statement(str(given.gamma), {_text(value): str(limit) for value, limit in given.limits.items()}),
        unprotected=list(UNPROTECTED),
    )


def verify(certificate: str | os.PathLike[str], path: str | os.PathLike[str]) -> list[str]:
    """What does not hold about a certificate, given the releases, the views and the register in a file; empty if nothing.

    All tables are counted again, in the same way.
    """
    try:
        paper = JointCertificate.from_json(Path(certificate).read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return [f"cannot read {certificate}"]
    except FileError as error:
        return [str(error)]
    wrong: list[str] = []
    try:
        shown = list(_shown(Path(path)))
        unlisted = [one for one in shown if _bare(one) not in map(_bare, paper.shown)]
        absent = [one for one in paper.shown if _bare(one) not in map(_bare, shown)]
        wrong += [f"{_line(one)}: is not on the certificate" for one in unlisted]
        wrong += [f"{_line(one)}: is on the certificate, and was not given" for one in absent]
        by = paper.checked
        drawn = {part: by[part] for part in ("confidence", "tries", "seed") if by[part] is not None}
        again = certify(path, gamma=paper.gamma, how=by["asked"], **drawn)
    except ShoalError as error:
        return [*wrong, str(error)]
    except (KeyError, TypeError, ValueError):
        return [*wrong, "the certificate is none that Shoal wrote: a part of it is missing, or not what it should be"]
    if not wrong:
        again = replace(again, shown=paper.shown)
        if paper.version != again.version:  # of which the words may be others
            again = replace(again, version=paper.version, statement=paper.statement, unprotected=paper.unprotected)
        mine, theirs = asdict(again), asdict(paper)
        wrong += [f"{part} is not what is found here" for part in mine if mine[part] != theirs[part]]
    return wrong


def _shown(path: Path) -> Iterator[dict[str, str]]:
    """What a file lists, each with the digest of what defines it."""
    where, content = content_of(path)
    for number, section in enumerate(sections_of(content, where), 1):
        name = str(section.get("name", f"view {number}"))
        if "release" in section:
            try:
                written = (where.parent / section["release"] / "certificate.json").read_bytes()
                paper = Certificate.from_json(written.decode("utf-8"))
            except (OSError, UnicodeDecodeError):
                raise FileError(f"{section['release']} has no certificate.json; give the directory of a release") from None
            yield {"is": "release", "name": name, "number": paper.number, "method": paper.method, "sha256": _digest(written)}
            continue
        defined = {key: value for key, value in section.items() if key not in ("name", "table")}
        try:
            table = (where.parent / section["table"]).read_bytes() if "table" in section else b""
        except OSError as error:
            raise FileError(f"cannot read {section['table']}: {error.strerror}") from None
        kind = "table" if "table" in section else "view"
        yield {"is": kind, "name": name, "sha256": _digest(_canonical(defined).encode() + table)}


def _bare(one: Mapping[str, str]) -> tuple[str, ...]:
    """What is shown, whatever it is called."""
    return one["is"], one["sha256"]


def _line(one: Mapping[str, str]) -> str:
    said = f"release {one['number']} by {one['method']}" if one["is"] == "release" else f"{one['is']} {one['name']}"
    return f"{said}, SHA-256 {one['sha256']}"


def _statement(gamma: str, limits: Mapping[str, str]) -> str:
    apart = f" (for single values: {', '.join(f'{value} {limit}' for value, limit in limits.items())})" if limits else ""
    return (
        "Whoever has seen all of this, knows the register (who there is, and their public columns), knows nothing else, and "
        f"counts every table that could have shown it as equally likely, holds no value more probable for anybody than "
        f"{gamma}{apart}."
    )


def _tables(found: Checked) -> str:
    text = found.tables_text
    return text if len(text) <= _DIGITS else f"about 10^{found.digits:.1f}"


def _text(value: object) -> str:
    return "missing" if value is None else str(value)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"

"""`certify` and `verify`: a certificate that some releases and views keep γ together.

Uses `gathering` and `checking`; the command line and the ledger use it.

Everything on it follows from what is public: the releases, the views and the register. It names
nobody.
"""

import hashlib
import json
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.arguments import typed
from shoal.data import free_memory
from shoal.data.disk import Place, together
from shoal.errors import FileError, InfeasibleError, ParameterError, ShoalError, plural
from shoal.exact.numbers import Exact
from shoal.releases.certificate import Certificate
from shoal.releases.sealed import DocumentKind, canonical, seal_of, sealed, unsealed
from shoal.views.checking import Checked, check
from shoal.views.files import ViewSection, ViewsFile
from shoal.views.gathering import gather
from shoal.views.register import Register, sensitive_columns
from shoal.zones import brief

__all__ = ["DOCUMENT", "JointCertificate", "certify", "shown_in", "verify"]

DOCUMENT = DocumentKind(
    key="joint_certificate",
    version=1,
    called="certificate of several releases",
    get_it="give one that shoal views certify wrote",
)
"""How a joint certificate is written."""

_PER_BYTE = 40  # bytes of memory that a byte of JSON takes at most, as Python objects
_DIGITS = 1000  # of a number of tables that is given exactly
_LONGEST = 1000  # characters of a failure, so that it does not bury the others
_SEED = 12  # hexadecimal digits of a digest that a seed is made of

UNPROTECTED = (
    "those who know more than the register and what was shown, about people or about which values "
    "go together, may be surer",
    "those who know that these releases were chosen, or others refused, by looking at the table, "
    "may rule out tables that would have led to another choice: keep refusals secret",
    "anything else that was or will be shown of the same people",
    "a person with several records, and several sensitive columns together: everybody counts as "
    "one row with one value",
    "releases with differential privacy are not views and not counted here: what they add is "
    "stated by their own promise",
)

Line = Mapping[str, str]
"""Something that was shown, as a certificate lists it."""


@brief
@dataclass(frozen=True)
class JointCertificate:
    """That some releases and views together keep γ, and how that was found.

    `columns` are the names of the sensitive columns that were checked. `shown` has a line for each:
    a release by its number, its method and the digest of its certificate, a view or a table by the
    digest of its definition. `register` is the digest of who there is, with their public columns
    and hierarchies. `people`, `views` and `tables` are how many there are, and `largest` is how
    sure one can become at most. `checked` says by which method, and with which confidence where
    tables were drawn.
    """

    gamma: str
    limits: Mapping[str, str]
    columns: Sequence[str]
    shown: Sequence[Line]
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
        """The certificate as a sealed document."""
        return sealed(asdict(self), DOCUMENT)

    @classmethod
    def from_json(cls, text: str) -> "JointCertificate":
        """The certificate in a text; FileError unless it is exactly what `to_json` wrote."""
        return cls(**unsealed(text, DOCUMENT, [field.name for field in fields(cls)]))

    def write(self, path: Place) -> tuple[Path, Path]:
        """Write it as JSON, and for people beside it as .txt: both, or none."""
        target = Path(path)
        beside = target.with_suffix(".txt")
        if beside == target:
            raise ParameterError(
                f"{target} is where the text for people goes", "give a name that ends in .json"
            )
        try:
            with together(target, beside) as (file, text):
                file.write(self.to_json().encode())
                text.write(f"{self}\n".encode())
        except OSError as error:
            raise FileError(
                f"cannot write {target}: {error.strerror}", "give a path you may write to"
            ) from None
        return target, beside

    def __str__(self) -> str:
        """The certificate for people."""
        lines = [f"Several releases together, checked by Shoal {self.version}"]
        sections = {
            "Promise": [self.statement],
            "Shown": [_line(one) for one in self.shown],
            "Found": self._findings(),
            "Not protected": [f"- {what}" for what in self.unprotected],
        }
        for title, entries in sections.items():
            lines += ["", title]
            for entry in entries:
                lines.append(
                    textwrap.fill(entry, 80, subsequent_indent="  ", break_long_words=False)
                )
        return "\n".join(lines)

    def _findings(self) -> list[str]:
        how, confidence = self.checked["how"], self.checked["confidence"]
        views = plural(self.views, "view")
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        outside = "" if self.complete else ", of whom some may not be in the table"
        bound = "" if how == "exact" else ", at most"
        sure = f", with a confidence of {confidence}" if confidence else ""
        return [
            f"{views} of {people}{outside}",
            f"the register: SHA-256 {self.register}",
            f"possible tables: {self.tables}",
            f"highest probability of a value{bound}: {self.largest}",
            f"checked: {how}{sure}",
        ]


@typed
def certify(path: Place, *, gamma: Exact | None = None) -> JointCertificate:
    """The certificate of all that a file of views lists (docs: several releases together).

    InfeasibleError if γ is not kept, or if that is not decided: then there is nothing to certify.
    Tables are counted where they can be. Where they are drawn, the seed follows from what is shown,
    so that nobody can look for one that helps.
    """
    gathered = gather(path)
    if gamma is not None:
        gathered = gathered.within(gamma)
    views, column = gathered.views, gathered.column
    shown = list(shown_in(path, column))
    register = _digest_of(gathered.register)
    content = {"shown": sorted(map(_unnamed, shown)), "register": register}
    seed = int(seal_of(content)[:_SEED], 16)
    checked = check(views, seed=seed)
    if checked.private is not True:
        problem = "is not kept"
        if checked.private is None:
            problem = "; ".join(["may not be kept: bounds leave it open", *checked.views.notes])
        raise InfeasibleError(
            f"γ = {views.gamma} {problem}. So there is nothing to certify",
            "shoal views check says more",
        )
    limits = {_text(value): str(limit) for value, limit in views.limits.items()}
    limits = dict(sorted(limits.items()))
    columns = {line["column"] for line in shown if "column" in line}
    if column is not None:
        columns.add(column)
    confidence = None if checked.confidence is None else str(checked.confidence)
    return JointCertificate(
        gamma=str(views.gamma),
        limits=limits,
        columns=sorted(columns),
        shown=shown,
        register=register,
        people=len(views.people),
        complete=views.complete,
        views=len(views.views),
        tables=_tables(checked),
        largest=checked.largest_text,
        checked={"how": checked.how, "confidence": confidence},
        statement=_statement(str(views.gamma), limits, sorted(columns)),
        unprotected=list(_unprotected(shown)),
    )


def _digest_of(register: Register) -> str:
    """The digest of who there is; the order of rows matters only where it numbers people."""
    rows = list(register.rows())
    if register.person is not None:
        rows.sort()
    return seal_of({"people": rows, "hierarchies": register.trees()})


def _statement(
    gamma: str,
    limits: Mapping[str, str],
    columns: Sequence[str],
) -> str:
    of = f" of {', '.join(columns)}" if columns else ""
    single = ", ".join(f"{value} {limit}" for value, limit in limits.items())
    apart = f" (for single values: {single})" if limits else ""
    return (
        "Whoever has seen all of this, knows the register (who there is, and their public "
        "columns), knows nothing else, and considers every table that could have shown it equally "
        f"likely, finds no value{of} more probable for anybody than {gamma}{apart}."
    )


def _tables(checked: Checked) -> str:
    text = checked.tables_text
    return text if len(text) <= _DIGITS else f"about 10^{checked.digits:.1f}"


def _text(value: object) -> str:
    return "missing" if value is None else str(value)


def _unprotected(shown: Sequence[Line]) -> Iterator[str]:
    """What is not protected, with other sensitive columns of the same releases."""
    others: set[str] = set()
    for line in shown:
        others.update(line.get("others", "").split(", "))
    others.discard("")
    if others:
        names = ", ".join(sorted(others))
        yield f"other sensitive columns of these releases, which were not checked: {names}"
    yield from UNPROTECTED


# What was shown


def shown_in(path: Place, column: str | None) -> Iterator[dict[str, str]]:
    """What a file lists, each with the digest of its definition and its sensitive columns."""
    for section in ViewsFile.read(path).sections:
        if "release" in section.content:
            yield _of_release(section, column)
        else:
            yield _of_view(section, column)


def _of_release(section: ViewSection, column: str | None) -> dict[str, str]:
    place = section.content["release"]
    try:
        written = (section.folder / place / "certificate.json").read_bytes()
        certificate = Certificate.from_json(written.decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        raise FileError(
            f"{place} has no certificate.json", "give the directory of a release"
        ) from None
    sensitive = sensitive_columns(certificate)
    default = column or next(iter(sensitive), None)
    checked = str(section.content.get("sensitive", default))
    return {
        "is": "release",
        "name": section.name,
        "number": certificate.number,
        "method": certificate.method,
        "sha256": _digest(written),
        "column": checked,
        "others": ", ".join(name for name in sensitive if name != checked),
    }


def _of_view(section: ViewSection, column: str | None) -> dict[str, str]:
    content = section.content
    defined = {key: value for key, value in content.items() if key not in ("name", "table")}
    table = b""
    if "table" in content:
        try:
            table = (section.folder / content["table"]).read_bytes()
        except OSError as error:
            raise FileError(f"cannot read {content['table']}: {error.strerror}") from None
    # Dates of TOML are texts in JSON.
    plain = json.loads(json.dumps(defined, default=str))
    digest = _digest(canonical(plain).encode() + table)
    line = {"is": "view", "name": section.name, "sha256": digest}
    if "table" in content:
        line |= {"is": "table", "column": str(content.get("sensitive", column))}
    return line


def _unnamed(line: Line) -> tuple[tuple[str, str], ...]:
    """What was shown, whatever it is called."""
    items = [item for item in line.items() if item[0] != "name"]
    return tuple(sorted(items))


def _line(line: Line) -> str:
    if line["is"] == "release":
        what = f"release {line['number']} by {line['method']}"
    else:
        what = f"{line['is']} {line.get('name', '')}".rstrip()
    return f"{what}, SHA-256 {line['sha256']}"


# Verifying


@typed
def verify(certificate: Place, path: Place) -> list[str]:
    """What does not hold about a certificate, given the file of views; empty if everything holds.

    The file has the releases, the views and the register. All tables are counted again. What things
    are called in the file does not matter.
    """
    return [_one_line(failure) for failure in _failures(Path(certificate), path)]


def _failures(certificate: Path, path: Place) -> list[str]:
    try:
        paper = _read(certificate)
    except (OSError, UnicodeDecodeError):
        return [f"cannot read {certificate}"]
    except ShoalError as error:
        return [str(error)]
    if paper.version != __version__:
        # Its words may differ, or be anybody's.
        known = isinstance(paper.version, str) and re.fullmatch(r"[\w.+-]{1,40}", paper.version)
        writer = f"Shoal {paper.version}" if known else "an unknown version of Shoal"
        return [
            f"the certificate was written by {writer}, and this is {__version__}; "
            "verify it with the version that wrote it"
        ]
    failures: list[str] = []
    try:
        failures += _unlisted(paper, path)
        again = certify(path, gamma=paper.gamma)
        if not failures:
            failures += _different(paper, again)
    except ShoalError as error:
        failures.append(str(error))
    except Exception:  # the certificate is anybody's: whatever it leads to, it fails
        failures.append(
            "not a valid Shoal certificate: a part is missing, or is not what it should be"
        )
    return failures


def _read(path: Path) -> JointCertificate:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        free_memory.require(_PER_BYTE * size, f"reading {path}", "use a larger machine")
        return JointCertificate.from_json(file.read().decode("utf-8"))


def _unlisted(paper: JointCertificate, path: Place) -> list[str]:
    """What was given and is not on the certificate, and the other way round."""
    column = ViewsFile.read(path).subject.column
    given = Counter(map(_unnamed, shown_in(path, column)))
    stated = Counter(map(_unnamed, paper.shown))
    more, less = (given - stated).elements(), (stated - given).elements()
    failures = [f"{_line(dict(one))}: is not on the certificate" for one in more]
    failures += [f"{_line(dict(one))}: is on the certificate, and was not given" for one in less]
    return failures


def _different(paper: JointCertificate, again: JointCertificate) -> list[str]:
    """The parts of a certificate that are not what is found again."""
    stated = asdict(paper)
    verified = asdict(replace(again, shown=paper.shown))
    failures = [
        f"{part} is not what is found here"
        for part, value in verified.items()
        if canonical({part: value}) != canonical({part: stated[part]})
    ]
    names = [line.get("name") for line in paper.shown]
    if not all(isinstance(name, str) and name.isprintable() for name in names):
        failures.append("a name on the certificate is not a text on one line")
    return failures


def _one_line(text: str) -> str:
    """A text of bounded length in which nothing is left that a terminal would obey."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text[:_LONGEST]
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

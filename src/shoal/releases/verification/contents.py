"""Whether a certificate has the parts that its method writes, and nothing that reveals more.

Uses `catalogue` and `promised`; `core` uses it.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from shoal import __version__
from shoal.data.formats import is_csv
from shoal.errors import FileError, ParameterError, listed
from shoal.releases.certificate import Certificate
from shoal.releases.looking import choices_of, parts_of
from shoal.releases.verification.catalogue import CHECKS
from shoal.releases.verification.method import MethodCheck
from shoal.releases.verification.promised import PROMISES
from shoal.releases.verification.words import word

__all__ = ["content_faults", "require_known"]

_VERSIONS = (__version__,)
"""Whose certificates this package knows by heart."""

_OF_COLUMNS = ("name", "role", "type", "hierarchy", "hierarchy_sha256", "table")
_SHA256 = "[0-9a-f]{64}"


def require_known(certificate: Certificate, methods: Collection[str] = CHECKS) -> None:
    """FileError unless version, method and promise are known."""
    if certificate.version not in _VERSIONS:
        raise FileError(
            f"the certificate was written by Shoal {word(certificate.version)}, "
            f"and this is {__version__}",
            "verify it with the version that wrote it",
        )
    if certificate.method not in methods:
        raise FileError(
            f"the certificate names the method {word(certificate.method)}, "
            "and whether it keeps its promise cannot be checked",
            f"known are {listed(methods)}; a program can bring the check of another",
        )
    promise = certificate.promise["promise"]
    if promise not in PROMISES:
        raise FileError(
            f"the certificate promises {word(promise)}", f"known are {listed(PROMISES)}"
        )


def content_faults(certificate: Certificate, check: MethodCheck[Any]) -> Iterator[str]:
    """Whether the certificate has the parts that its method writes, and nothing besides."""
    parameters = check.parameters.split()
    derived = check.derived.split()
    unknown = [name for name in certificate.parameters if name not in parameters]
    unknown += [name for name in certificate.derived if name not in derived]
    if unknown:
        yield (
            f"the certificate states {listed(unknown)}, "
            "and what that reveals about the rows is not known"
        )
    known = {*certificate.parameters, *check.newer.split()}
    absent = [name for name in parameters if name not in known]
    if absent:
        yield f"the certificate does not state {listed(absent)}, which its method has"
    if not _has_usual_parts(certificate):
        yield (
            "the certificate states more about its columns, its file or itself "
            "than their names and what they are made of"
        )
    if not _has_usual_choices(certificate):
        yield "what the certificate lists as chosen after looking at the data is not a list of that"


def _has_usual_parts(certificate: Certificate) -> bool:
    names = [column["name"] for column in certificate.columns]
    return (
        all(map(_is_usual_column, certificate.columns))
        and all(name in names for name in certificate.levels)
        and certificate.file == _usual_file(certificate.file or {})
        and re.fullmatch("[0-9a-f]{32}", certificate.number) is not None
        and _is_digest_or_none(certificate.recipe)
    )


def _has_usual_choices(certificate: Certificate) -> bool:
    """Whether places are ones of a recipe, of a parameter or released column where they name one.

    Each occurs once, perhaps with a reason.
    """
    given = certificate.chosen_after_looking
    if given == ():  # where there are no such choices, there is no list either
        return True
    names = {
        "hierarchies": [column["name"] for column in certificate.columns],
        "method": ["name", *certificate.parameters],
    }
    try:
        places = [parts_of(choice.place) for choice in choices_of(given)]
    except ParameterError:
        return False
    named = [place for place in places if len(place) > 1 and place[0] in names]
    return bool(places) and all(name in names[section] for section, name in named)


def _is_usual_column(column: Mapping[str, Any]) -> bool:
    digest = column.get("hierarchy_sha256")
    return all(key in _OF_COLUMNS for key in column) and _is_digest_or_none(digest)


def _is_digest_or_none(given: str | None) -> bool:
    return given is None or re.fullmatch(_SHA256, given) is not None


def _usual_file(file: Mapping[str, Any]) -> dict[str, Any]:
    """The part about files as it is written: `Release.write` names them by what they hold."""
    form = file["format"]
    usual = {**_usual_name("release", file, form), "format": form}
    if file.get("neutralised") is True and is_csv(form):
        usual["neutralised"] = True
    further = {
        name: _usual_name(name, table, form) for name, table in file.get("further", {}).items()
    }
    if further:
        usual["further"] = further
    return usual


def _usual_name(name: str, file: Mapping[str, Any], form: str) -> dict[str, Any]:
    digest = file["sha256"]
    if isinstance(digest, list):
        # One of each part.
        usual = digest and all(re.fullmatch(_SHA256, each) for each in digest)
        return {"name": f"{name}-*.{form}", "sha256": digest if usual else None}
    if not re.fullmatch(_SHA256, digest):
        digest = None
    return {"name": f"{name}.{form}", "sha256": digest}

"""`verify`: does a written release keep what its certificate says? Uses `tables`, `hierarchy` and the certificate.

It shares no code with methods, models or the calculus on purpose: every property is computed again, plainly, from the two
files. So a mistake there does not hide itself here. Only how a promise is put into words comes from `privacy`. The doors use it.
"""

import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    localcontext,
)
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal import __version__
from shoal.arguments import typed
from shoal.data import memory
from shoal.data.files import require_room
from shoal.data.hierarchy.texts import Axis
from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Key, Kind
from shoal.data.tables import Table, table
from shoal.errors import FileError, ShoalError, TooLargeError, listed, plural
from shoal.privacy.limits import BucketLimits, Limits, Linear
from shoal.privacy.models import MODELS
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)
from shoal.releases.certificate import UNPROTECTED, Certificate, left_open, plain

__all__ = ["Verdict", "unchecked", "verify"]

_SLACK = 1e-9  # relative; logarithms are floats, and a group is only faulted where it clearly fails
_OF_THE_INPUT = (
    "t-closeness",
    "beta-likeness",
    "delta-disclosure",
)  # these compare groups with the whole input
_NOT_VALID = "not a valid Shoal certificate: a part is missing, or is not what it should be"
_VERSIONS = (__version__,)  # whose certificates this module knows by heart
_LONGEST_LINE = 1000  # characters of a failure, whatever a file calls its columns
_LONGEST_NAME = 60  # characters of a name in the words of a promise
_PER_BYTE = 40  # bytes of memory that a byte of JSON takes at most, as Python objects

Place = tuple[str | int, ...]
"""Where something is on a certificate, such as ("parameters", "score")."""


@typed
class Verdict(list[str]):
    """The failures of a certificate and its table, one line each: equal to [] if nothing is wrong.

    `statement` is the promise in words that are derived from its structure, never quoted; None if something is wrong.
    `unchecked` says in words what the files cannot show, and `places` where on the certificate that is: whatever lies
    there, or below, could have been changed unnoticed. Everything else was checked.
    """

    def __init__(self, failures: Iterable[str] = ()) -> None:
        super().__init__(failures)
        self.statement: str | None = None
        self.unchecked: list[str] = []
        self.places: list[Place] = []


@typed
def verify(
    certificate: str | os.PathLike[str],
    released: str | os.PathLike[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    recipe: str | None = None,
) -> Verdict:
    """What does not hold about a certificate and its table, one line each; empty if nothing is wrong.

    With `hierarchies` of generalised columns, released values are also looked up among the labels of their levels. With the
    digest of a `recipe`, the certificate must not name another. What the files alone cannot show is passed over, and listed
    in the verdict. Whatever the files are, the answer is a verdict.
    """
    from polars.exceptions import PanicException

    verdict, trees = Verdict(), hierarchies or {}
    try:
        paper = _certificate(Path(certificate))
        if recipe is not None and paper.recipe not in (None, recipe):
            verdict.append("the recipe is not the one that was followed: their digests differ")
        further = {
            name: Path(released).with_name(Path(own["name"]).name)
            for name, own in _further(paper).items()
        }
        tables = {name: _read(path) for name, path in further.items()}
        unsettled: list[str] = []
        for fault in _failures(paper, _read(Path(released)), tables, trees, unsettled):
            verdict.append(fault)  # those found before an error stay
        if not verdict:
            verdict.statement = _line(_stated(paper))
            open_ends = list(_open_ends(paper, trees, recipe, unsettled))
            verdict.unchecked = [_line(words) for words, _ in open_ends]
            verdict.places = [place for _, places in open_ends for place in places]
    except ShoalError as error:
        verdict.append(str(error))
    except (Exception, PanicException):  # the files are anybody's: whatever they lead to, they fail
        verdict.append(_NOT_VALID)
    verdict[:] = map(_line, verdict)
    return verdict


def _line(text: str) -> str:
    """A text on one line in which nothing is left that a terminal would obey: names on a certificate may hold anything."""
    shown = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in shown
    )


def _further(paper: Certificate) -> Mapping[str, Mapping[str, Any]]:
    """The tables besides the first, by their names; they lie in the same folder."""
    found: Mapping[str, Mapping[str, Any]] = (paper.file or {}).get("further", {})
    return found


def _failures(
    paper: Certificate,
    content: bytes,
    further: Mapping[str, bytes],
    hierarchies: Mapping[str, Hierarchy],
    unsettled: list[str],
) -> Iterator[str]:
    """What does not hold; columns whose level the table does not settle are added to `unsettled`."""
    if paper.file is None:
        raise FileError("the certificate belongs to no file; write the release with Release.write")
    _shaped(paper)
    if paper.private is not True:
        yield "the release was made with a seed, as a test: nothing is promised"
    yield from _words(paper)
    if paper.promise["promise"] not in _promised_by(paper.method):
        yield f"{paper.promise['promise']} is promised by the method {paper.method!r}, of which that is not known"
    yield from _left_out(paper)
    known = _known(paper)
    if known:
        yield from _told(paper, known)
        yield from known.derivation(paper)
    else:
        yield from _plainly(paper)
    if hashlib.sha256(content).hexdigest() != paper.file["sha256"]:
        yield "the table is not the one that the certificate was written for: their digests differ"
        return
    if other := [
        name
        for name in further
        if hashlib.sha256(further[name]).hexdigest() != _further(paper)[name]["sha256"]
    ]:
        yield f"the table {listed(other)} is not the one that the certificate was written for: their digests differ"
        return
    if list(further) != (["buckets"] if paper.method == "buckets" else []):
        yield "the release has other tables than its method makes"
        return
    frame = _frame(content, paper)
    found = _table(frame, paper)
    if list(found.names) != [column["name"] for column in paper.columns if "table" not in column]:
        yield "the table has other columns than the certificate says"
        return
    if any(column["role"] not in ("quasi", "sensitive", "insensitive") for column in paper.columns):
        yield "a column has a role with which no column is released"
    trees = _trees(paper, hierarchies)
    yield from _same_trees(paper, hierarchies)
    yield from _other_trees(paper, hierarchies)
    yield from _labels(found, paper, trees)
    yield from _own_ranges(found, paper, _trees(paper, hierarchies, _quasi(paper)))
    unsettled += _unsettled(found, paper, trees)
    if not _ordered(found, paper, trees):
        yield "the rows are not in the order of their values: what decides their order instead may tell more than they do"
    if known:
        yield from known.released(found, paper, trees or _trees(paper, hierarchies, _quasi(paper)))
    if paper.method == "buckets":
        values = _frame(further["buckets"], paper)
        yield from _spelled([frame, values], paper)
        yield from _bucketed(found, _table(values, paper), paper)
        yield from _blocks(found, paper, hierarchies)
        return
    if paper.method == "personal":
        yield from _worth_enough(found, paper, hierarchies)
        return
    groups = _groups(found, paper)
    for model in paper.parameters.get("models", ()):
        if model["is"] in _CHECKS and _checkable(model, paper):
            failing = _CHECKS[model["is"]](groups, model)
            if failing:
                yield f"{failing:,} of {len(groups.sizes):,} groups do not satisfy {_called(model)}"


def unchecked(
    certificate: Certificate | str | os.PathLike[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> list[str]:
    """What a certificate (or its file) says that the released files alone cannot show, and `verify` passes over."""
    paper = certificate if isinstance(certificate, Certificate) else _certificate(Path(certificate))
    try:
        return [_line(words) for words, _ in _open_ends(paper, hierarchies or {}, None, ())]
    except ShoalError:
        raise
    except Exception:
        raise FileError(_NOT_VALID) from None


def _open_ends(
    paper: Certificate,
    hierarchies: Mapping[str, Hierarchy],
    recipe: str | None,
    unsettled: Collection[str],
) -> Iterator[tuple[str, list[Place]]]:
    """What is not checked, in words, and where on the certificate that is."""
    models = list(enumerate(paper.parameters.get("models", ())))
    yield from ((_called(model), []) for _, model in models if not _checkable(model, paper))
    yield from ((words, []) for words in _people_trusted(paper))
    known = _known(paper)
    if known:
        yield from ((words, []) for words in known.trusted(paper, hierarchies))
    elif paper.method == "personal":
        yield from ((words, []) for words in _personal_trusted(paper, hierarchies))
    elif paper.method == "sampling":
        yield "that every record was drawn by chance, with that probability, and independently", []
    bare = [name for name in paper.levels if name not in _trees(paper, hierarchies)]
    if levels := [name for name in paper.levels if name in bare or name in unsettled]:
        words = f"the levels of {listed(levels)}: without hierarchies, or with labels that occur at several levels, nothing tells"
        yield words, [("levels", name) for name in levels]
    free = [name for name in _free(paper) if name in paper.parameters]
    if free:
        words = f"the parameters {listed(free)}: the released files do not depend on them in a way that shows"
        yield words, [("parameters", name) for name in free]
    if paper.method == "buckets":
        yield "how near the bucket sizes are to the best ones", [("derived", "gap_reached")]
        if paper.promise["fakes"]:
            yield "the odds by which fakes were drawn", [("derived", "fake_odds")]
    inside = [
        ("parameters", "models", at, key)
        for at, model in models
        for key in ("hierarchy", "population")
        if key in model
    ]
    own = [
        ("columns", at, "hierarchy")
        for at, one in enumerate(paper.columns)
        if "hierarchy" in one and (one["name"] not in hierarchies or one["hierarchy"] is None)
    ]
    if inside or own:
        yield (
            "hierarchies and populations by which models of sensitive columns count",
            [*inside, *own],
        )
    digests: list[Place] = [
        ("columns", at, "hierarchy_sha256")
        for at, one in enumerate(paper.columns)
        if one["role"] == "quasi" and one["name"] not in hierarchies
    ]
    if digests:
        yield "by which hierarchies released texts are read, where none was given", digests
    yield (
        f"what the columns are, which the owner declared: {_roles(paper)}",
        [("columns", at, key) for at in range(len(paper.columns)) for key in ("role", "type")],
    )
    numbers: list[Place] = [("number",)]
    if recipe is None or paper.recipe is None:
        numbers.append(("recipe",))
    yield (
        "the number of the release" + (" and the digest of its recipe" if numbers[1:] else ""),
        numbers,
    )


def _roles(paper: Certificate) -> str:
    words = {"quasi": "quasi-identifying", "sensitive": "sensitive", "insensitive": "insensitive"}
    return ", ".join(
        f"{_named(one['name'])} is {words[one['role']]}, {_word(one['type'])}"
        for one in paper.columns
    )


def _named(name: str) -> str:
    """A name in quotes, and not so long that it could bury what is said."""
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…")


def _people_trusted(paper: Certificate) -> Iterator[str]:
    """Differential privacy has words of its own for it, as people may give several rows there."""
    if "rows" not in paper.parameters and (unit := paper.parameters.get("unit")) is not None:
        yield f"that each value of {unit!r} gave one row, drawn by chance"


def _checkable(model: Mapping[str, Any], certificate: Certificate) -> bool:
    if model["is"] not in _OF_THE_INPUT:
        return model["is"] in _CHECKS
    kept_back = [
        column["name"] for column in certificate.columns if column.get("hierarchy", ()) is None
    ]
    whole = (
        certificate.whole or certificate.method == "coincident"
    )  # of which models speak of the release
    return whole and model["column"] not in kept_back


def _called(model: Mapping[str, Any]) -> str:
    given = {key: value for key, value in model.items() if key not in ("is", "hierarchy")}
    shown = {key: _word(value) for key, value in given.items()}
    return f"{model['is']} ({', '.join(f'{key} = {value}' for key, value in shown.items())})"


def _word(value: object) -> str:
    """A plain word as it is; anything else in quotes, so that it cannot pass for words of this module."""
    text = str(value)
    return text if re.fullmatch(r"[\w./-]{1,60}", text) else _named(text)


def _read(path: Path, per_byte: int = 1) -> bytes:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            memory.require(per_byte * size, f"reading {path}", "use a larger machine")
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise FileError(f"cannot read {path}: {reason}") from None


def _certificate(path: Path) -> Certificate:
    try:
        return Certificate.from_json(_read(path, _PER_BYTE).decode("utf-8"))
    except UnicodeDecodeError:
        raise FileError("the certificate is not UTF-8 text") from None
    except ShoalError:
        raise
    except Exception:
        raise FileError(_NOT_VALID) from None


def _frame(content: bytes, certificate: Certificate) -> Any:
    import polars as pl

    readers: dict[str, Callable[[bytes], Any]] = {
        "csv": lambda content: pl.read_csv(content, infer_schema=False),
        "parquet": lambda content: pl.read_parquet(content),
        "arrow": lambda content: pl.read_ipc(content),
    }
    form = (certificate.file or {}).get("format", "")
    if form not in readers:
        raise FileError(f"the certificate names format {form!r}; known are {listed(readers)}")
    try:
        require_room(content, form, "the table")
        frame = readers[form](content)
    except TooLargeError:
        raise
    except (FileError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise FileError(f"the table is no readable {form} file") from None
    return _restored(frame, certificate)


def _restored(frame: Any, certificate: Certificate) -> Any:
    """The table with the texts that it was made from, where cells were written so that no spreadsheet runs them."""
    from shoal.data.files import formulas, restored

    file = certificate.file or {}
    if "neutralised" not in file:
        return frame
    if file["neutralised"] is not True or file["format"] != "csv":
        raise FileError(_NOT_VALID)
    if formulas(frame):
        raise FileError(
            "the table has a cell that a spreadsheet would run as a formula, and the certificate says that it has none"
        )
    return restored(frame)


def _table(frame: Any, certificate: Certificate) -> Table:
    declared = {
        column["name"]: Kind.TEXT if _generalised(column, certificate) else Kind(column["type"])
        for column in certificate.columns
        if column["name"] in frame.columns
    }
    if certificate.method == "buckets" and "count" in frame.columns:
        declared["count"] = (
            Kind.INTEGER
        )  # of the second table; the first has no column of that name
    return table(frame, types=declared)


def _generalised(column: Mapping[str, Any], certificate: Certificate) -> bool:
    return (column["role"] == "quasi" and certificate.method != "buckets") or column[
        "name"
    ] in certificate.levels


# The certificate's own words


_PROMISES: dict[str, Callable[..., Promise]] = {
    made.name: made
    for made in (
        Coincidence,
        DifferentialPrivacy,
        LowestRisk,
        SemanticAnonymity,
        Sampled,
        Syntactic,
    )
}


def _promise(paper: Certificate) -> Promise:
    """The promise made anew from its structured parts."""
    given = paper.promise
    if given["promise"] == BucketLimits.name:
        limits = _limits(given["limits"]).keyed(_declared(paper, given["column"]))
        return BucketLimits(given["column"], limits, given["fakes"], given.get("unit"))
    made = _PROMISES[given["promise"]]
    names = [field.name for field in fields(made)]  # type: ignore[arg-type]
    return made(**{name: given[name] for name in names if name in given})


def _stated(paper: Certificate) -> str:
    """The promise in words: of its structured parts, with whatever the owner named in quotes where it is not a plain word."""
    promise = _promise(paper)
    if isinstance(promise, Syntactic | Coincidence):
        names = _model_names(
            [
                {key: _word(value) if key == "column" else value for key, value in model.items()}
                for model in paper.parameters["models"]
            ]
        )
        promise = replace(promise, models=tuple(names))
    return promise.statement


def _words(paper: Certificate) -> Iterator[str]:
    """Whether the statement is that of the promise, as is what is left open, and a syntactic promise that of the models."""
    if tuple(paper.unprotected) != left_open(paper.promise["promise"], paper.parameters):
        yield "what the certificate names as not protected is not what its promise leaves open"
    if paper.promise["promise"] != DifferentialPrivacy.name:
        yield from _unit(paper)
    promise = _promise(paper)
    if plain(promise.to_dict()) != paper.promise or promise.statement != paper.statement:
        yield "the certificate's statement is not what its promise says"
    if isinstance(promise, BucketLimits):
        yield from _limited(paper)
    if isinstance(promise, Syntactic | Coincidence):
        models = paper.parameters["models"]
        known = _model_names(models)
        yield from (
            f"{model} is promised, which is not among the parameters"
            for model in promise.models
            if model not in known
        )
        yield from (
            f"{model} is among the parameters, and not promised"
            for model in known
            if model not in promise.models
        )
        hidden = [one["name"] for one in paper.columns if one["role"] == "sensitive"]
        if unknown := [
            one["column"] for one in models if one.get("column", None) not in (None, *hidden)
        ]:
            yield f"a model is about {listed(unknown)}, which is not a sensitive column of the table"


def _unit(paper: Certificate) -> Iterator[str]:
    """Whether the promise is to those whom the parameters tell apart, by a column that is not released."""
    unit = paper.promise.get("unit")
    if unit != paper.parameters.get("unit"):
        yield "the unit of the promise is not that of the parameters"
    if unit is not None and unit in [column["name"] for column in paper.columns]:
        yield f"column {unit!r}, which tells people apart, is released"


def _model_names(models: Sequence[Mapping[str, Any]]) -> list[str]:
    given = (
        (model["is"], {key: model[key] for key in model if key not in ("is", "hierarchy")})
        for model in models
    )
    return [str(MODELS[name](**parameters)) for name, parameters in given]


# What a certificate is made of, whichever method wrote it


def _shaped(paper: Certificate) -> None:
    """Raise unless every part is of its type, and version, method, promise and format are known."""
    if paper.version not in _VERSIONS:
        raise FileError(
            f"the certificate was written by Shoal {_word(paper.version)}, and this is {__version__}; "
            "verify it with the version that wrote it"
        )
    if paper.method not in _PARAMETERS:
        raise FileError(
            f"the certificate names the method {_word(paper.method)}; known are {listed(_PARAMETERS)}"
        )
    if paper.promise["promise"] not in UNPROTECTED:
        raise FileError(
            f"the certificate promises {_word(paper.promise['promise'])}; known are {listed(UNPROTECTED)}"
        )
    texts = [paper.statement, paper.number, *paper.unprotected]
    texts += [one[key] for one in paper.columns for key in ("name", "role", "type")]
    levels = list(paper.levels.values())
    right = (
        all(type(text) is str for text in texts)
        and all(
            isinstance(one, Mapping) for one in (paper.parameters, paper.derived, *paper.columns)
        )
        and all(type(level) is int and level >= 0 for level in levels)
        and isinstance(paper.whole, bool)
        and all(_lines(one["hierarchy"]) for one in paper.columns if "hierarchy" in one)
    )
    forms = [(_FORMS[name], value) for name, value in paper.parameters.items() if name in _FORMS]
    if not all(form(value) for form, value in forms):
        raise FileError("the parameters are none that the method takes")
    names = [one["name"] for one in paper.columns]
    if not right or len(set(names)) < len(names):
        raise ValueError("a part of another type, or two columns of one name")


def _lines(given: object) -> bool:
    """Whether this is a hierarchy on a certificate: lines of texts, or nothing if it was made from the rows."""
    return given is None or (
        isinstance(given, list)
        and bool(given)
        and all(isinstance(line, list) and all(type(one) is str for one in line) for line in given)
    )


def _numeric(given: object) -> bool:
    """Whether this is a number, or numbers by names."""
    if isinstance(given, Mapping):
        return all(map(_numeric, given.values()))
    return given is None or (
        type(given) in (int, float, str) and re.fullmatch(_NUMBER, str(given)) is not None
    )


def _one_of(*known: object) -> Callable[[object], bool]:
    return lambda given: any(given is one or (type(given) is str and given == one) for one in known)


def _named_list(given: object) -> bool:
    return isinstance(given, list) and all(
        type(one) is str or (isinstance(one, list) and all(type(name) is str for name in one))
        for one in given
    )


_FORMS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(
        ("importance", "floor", "ceiling", "split", "weights", "suppression", "pull", "steps"),
        _numeric,
    ),
    **dict.fromkeys(
        ("effort", "power", "looked_at", "gap", "seconds", "largest", "within"), _numeric
    ),
    **dict.fromkeys(("relaxed", "local", "associations"), _one_of(True, False)),
    "counts": _one_of(True, False),
    **dict.fromkeys(
        ("unit", "person", "item", "value"),
        lambda given: given is None or (type(given) is str and given != ""),
    ),
    "levels": lambda given: (
        given is None
        or (isinstance(given, Mapping) and all(type(level) is int for level in given.values()))
    ),
    "classes": _named_list,
    "items": _named_list,
    "path": lambda given: given is None or _named_list(given),
    "score": _one_of(
        "granularity", "intensity", "discernibility", "entropy", "groups", "classification"
    ),
    "search": _one_of("select", "walk"),
    "suppressed": _one_of("drop", "star"),
    "splits": _one_of("median", "middle"),
    "public": _one_of(None, "Table"),
    "register": _one_of(None, "Table"),
    "choice": lambda given: given is None or type(given) is str,
    "loss": lambda given: type(given) is str or (isinstance(given, Mapping) and "is" in given),
    "wishes": lambda given: (
        isinstance(given, Mapping)
        and all(
            isinstance(wish, Mapping)
            and wish.keys() == {"is", "utility", "weights"}
            and wish["is"] == "Wish"
            and _numeric(wish["utility"])
            and _numeric(wish["weights"])
            for wish in given.values()
        )
    ),
}
"""Of parameters that nothing else is checked against: what they may be at all."""


def _left_out(paper: Certificate) -> Iterator[str]:
    """Whether the certificate says of the method what is true: that some record may be left out, or none is."""
    given = paper.parameters
    whole = paper.method in ("disclosure", "personal") or (
        paper.method == "mondrian" and given["splits"] == "median"
    )
    if paper.method == "optimal":
        whole = given["suppressed"] == "star" or not _number(given["suppression"])
    if paper.whole and not whole:
        yield "the certificate says that no record was left out, though some may be"
    if whole and not paper.whole:
        yield "the certificate says that records were left out, which its method does not do"


def _plainly(paper: Certificate) -> Iterator[str]:
    """Whether the certificate of a method that people compare with says what its parameters say, and no more."""
    given, quasi = paper.parameters, _quasi(paper)
    yield from _nothing_else(paper, _PARAMETERS[paper.method], "")
    if paper.method == "sampling" and _number(given["probability"]) != _number(
        paper.promise["share"]
    ):
        yield "the probability of the promise is not that of the parameters"
    if paper.levels.keys() != (set(quasi) if paper.method == "optimal" else set()):
        yield "the certificate does not give a level for every generalised column, and for no other"
    if paper.method == "optimal":
        for name, level in paper.levels.items():
            if not given["floor"].get(name, 0) <= level <= given["ceiling"].get(name, level):
                yield f"column {name!r} is at level {level}, which the parameters do not allow"
    if paper.method == "mondrian" and given["ranges"] not in ("boundary", "observed"):
        yield "the parameters are none that the method takes"
    if paper.method == "personal":
        yield from _personal(paper)


# Labels and order


def _quasi(paper: Certificate) -> list[str]:
    return [column["name"] for column in paper.columns if column["role"] == "quasi"]


def _trees(
    paper: Certificate, given: Mapping[str, Hierarchy], names: Collection[str] | None = None
) -> dict[str, Hierarchy]:
    """The hierarchies at hand of columns with a level, or of others: those given, and those on the certificate."""
    found = {}
    for column in paper.columns:
        name, kind = column["name"], Kind(column["type"])
        if name in (paper.levels if names is None else names) and (
            name in given or column.get("hierarchy")
        ):
            tree = (
                given[name].of_kind(kind)
                if name in given
                else Hierarchy.from_lines(column["hierarchy"], kind)
            )
            found[name] = tree.with_missing()
    return found


def _same_trees(paper: Certificate, given: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether hierarchies at hand are those on the certificate, of columns of which it has them."""
    for column in paper.columns:
        if column["name"] in given and column.get("hierarchy"):
            kind = Kind(column["type"])
            on_it = Hierarchy.from_lines(column["hierarchy"], kind)
            if given[column["name"]].of_kind(kind).lines() != on_it.lines():
                yield f"the hierarchy of column {column['name']!r} is not the one on the certificate"


def _unsettled(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> list[str]:
    """The columns whose released values are labels of several levels, so that their level does not show."""
    fits = {
        name: [
            level
            for level in range(tree.height + 1)
            if min(_places(found, paper, name, tree, level), default=0) >= 0
        ]
        for name, tree in trees.items()
    }
    return [name for name, levels in fits.items() if len(levels) > 1]


def _labels(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> Iterator[str]:
    for name, tree in trees.items():
        level = paper.levels[name]
        if level > tree.height:
            yield f"column {name!r} is at level {level}, and its hierarchy ends at level {tree.height}"
        elif wrong := sum(place < 0 for place in _places(found, paper, name, tree)):
            yield f"column {name!r} has {plural(wrong, 'value')} that level {level} of its hierarchy has not"
        if tree.derived and paper.method in _KNOWN:
            yield f"the hierarchy of column {name!r} was made from rows of a table, and no budget pays for what it tells"


def _other_trees(paper: Certificate, given: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether hierarchies at hand are those that released texts are read by."""
    for column in paper.columns:
        digest, name = column.get("hierarchy_sha256"), column["name"]
        if digest is None or name not in given:
            continue
        if given[name].of_kind(Kind(column["type"])).digest != digest:
            yield f"the hierarchy of column {name!r} is not the one that the release went by: their digests differ"


def _own_ranges(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether texts of groups that have ranges of their own are labels, or what the values they are read as are called."""
    if paper.method not in ("coincident", "mondrian"):
        return
    for name, tree in trees.items():
        axis = Axis.of(name, tree)
        texts = ["" if key is None else str(key) for key in found.column(name).keys]
        runs = {text: axis.run(text) for text in texts if not axis.is_label(text)}
        wrong = sum(
            run is None or paper.parameters["ranges"] == "hierarchy" or axis.text(*run) != text
            for text, run in runs.items()
        )
        if wrong:
            yield f"column {name!r} has {plural(wrong, 'value')} beyond its hierarchy and the ranges of its values"


def _places(
    found: Table, paper: Certificate, name: str, tree: Hierarchy, level: int | None = None
) -> list[int]:
    """Of every key of a released column its place among the labels of its level, or another; -1 if it is none."""
    kind = _declared(paper, name)
    labels = tree.labels[paper.levels[name] if level is None else level]
    if paper.method == "columns" and "" not in labels:
        labels = (*labels, "")  # what is null stays so at the root
    if paper.parameters.get("suppressed") == "star" and "*" not in labels:
        labels = (*labels, "*")  # of suppressed rows, which come last
    places = {_canonical(label, kind): place for place, label in enumerate(labels)}
    return [places.get(_canonical(key, kind), -1) for key in found.column(name).keys]


def _canonical(text: Key | None, kind: Kind) -> str:
    try:
        return kind.text(
            kind.key(text)
        )  # the leaf "039" of whole numbers is released as the number 39
    except (ValueError, TypeError):
        return str(text)


def _ordered(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> bool:
    """Whether rows are sorted by their values over all columns.

    Values that were not generalised have an order of their own, labels that of their hierarchy. Without it some order will
    do, which there is unless neighbouring rows go round in a circle.
    """
    same = np.ones(
        max(found.rows - 1, 0), dtype=np.bool_
    )  # as the row before, as far as columns were looked at
    for column in paper.columns:
        name = column["name"]
        if "table" in column:
            continue
        codes = found.column(name).codes.astype(np.int64)
        if name in trees and paper.levels[name] <= trees[name].height:
            codes = (
                np.array(_places(found, paper, name, trees[name]), dtype=np.int64)[codes]
                if found.rows
                else codes
            )
        parted = same & (codes[1:] != codes[:-1])
        if name in trees or not _generalised(column, paper):
            if (codes[1:] < codes[:-1])[parted].any():
                return False
        elif not _acyclic(np.unique(np.stack([codes[:-1][parted], codes[1:][parted]]), axis=1)):
            return False
        same &= ~parted
    return True


def _acyclic(steps: npt.NDArray[np.int64]) -> bool:
    graph: TopologicalSorter[int] = TopologicalSorter()
    for before, after in steps.T.tolist():
        graph.add(after, before)
    try:
        graph.prepare()
    except CycleError:
        return False
    return True


# Differential privacy: is k large enough, do the parts add up, has the table only what may leave


_STEPS = 400_000  # of the sum that k is checked by: about a second
_MOST_GROUPS = 5000  # of columns, whose composition is a sum of as many terms
_LARGEST = 1000  # the largest ε that says anything
_GRAIN = Fraction(1, 1 << 64)  # β is a multiple of it
_CLEARLY = Fraction(1, 10**30)  # relative; sums have far more digits
_NUMBER = r"[0-9]{1,400}(?:/[0-9]{1,400}|(?:\.[0-9]{1,400})?(?:e-[0-9]{1,3})?)"  # so long that it cannot fill the memory
_EPSILON = re.compile(
    rf"(?P<factor>{_NUMBER})|(?:(?P<times>{_NUMBER})\*)?ln\((?P<base>{_NUMBER})\)"
)


def _number(given: object) -> Fraction:
    text = str(given)
    if not re.fullmatch(_NUMBER, text):
        raise ValueError("no number that Shoal writes")
    return Fraction(text)


@dataclass(frozen=True)
class _Epsilon:
    """factor, or factor · ln(base)."""

    factor: Fraction
    base: Fraction | None

    @classmethod
    def of(cls, given: object) -> "_Epsilon":
        found = _EPSILON.fullmatch(str(given))
        if not found:
            raise ValueError("no epsilon that Shoal writes")
        if found["factor"]:
            made = cls(_number(found["factor"]), None)
        else:
            made = cls(_number(found["times"] or 1), _number(found["base"]))
        if made.base is not None and (made.base <= 1 or max(made.base.as_integer_ratio()) > 10**18):
            raise ValueError("no base that Shoal writes")
        if not 0 < made.value(10) <= _LARGEST:
            raise ValueError("no epsilon that promises anything")
        return made

    def equals(self, other: "_Epsilon") -> bool:
        """Whether they are one number; ln(9) / 2 and ln(3) are."""
        return abs(Fraction(self.value(60)) - Fraction(other.value(60))) <= _CLEARLY * Fraction(
            self.value(60)
        )

    def times(self, share: Fraction) -> "_Epsilon":
        return _Epsilon(self.factor * share, self.base)

    def value(self, digits: int) -> Decimal:
        """To so many digits."""
        with _precision(digits + 40):  # of which up to 18 are lost where a base is close to 1
            return _decimal(self.factor) * (1 if self.base is None else _decimal(self.base).ln())

    def power(self, digits: int) -> tuple[Fraction, Fraction]:
        """e^ε itself if it is rational, else enclosed to so many digits."""
        if self.base is not None and self.factor.denominator == 1 and self.factor <= _LARGEST:
            return self.base**self.factor.numerator, self.base**self.factor.numerator
        with _precision(digits + 40):
            about, error = Fraction(self.value(digits + 10).exp()), Fraction(1, 10**digits)
        return about * (1 - error), about * (1 + error)


def _precision(digits: int) -> Any:
    return localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _derivation(paper: Certificate) -> Iterator[str]:
    """Whether everything on the certificate follows from the parameters, and k is large enough."""
    promise, given, derived = paper.promise, paper.parameters, paper.derived
    yield from _promised(paper)
    epsilon, definition = _Epsilon.of(promise["epsilon"]), promise["definition"]
    rows, k, beta, row_delta = (
        given["rows"],
        _whole(derived["k"]),
        _number(derived["beta"]),
        _number(derived["delta"]),
    )
    yield from _levels_allowed(paper)
    row = epsilon.times(Fraction(1, rows))
    split = _number(given["split"]) if derived["epsilon_search"] is not None else Fraction(1)
    anonymisation = _Epsilon.of(derived["epsilon_anonymisation"])
    searching = (
        None if derived["epsilon_search"] is None else _Epsilon.of(derived["epsilon_search"])
    )
    if not anonymisation.equals(row.times(split)) or (
        searching and not searching.equals(row.times(1 - split))
    ):
        yield f"the parts of epsilon do not add up to {promise['epsilon']}" + (
            f" over {rows} rows" if rows > 1 else ""
        )
    if "semantic_k" in promise:
        yield "semantic k-anonymity is promised, which sampling does not keep"
    if (given["steps"] is None) != (given["search"] == "select"):
        yield "the parameters are none that the method takes: a walk has steps, and nothing else has"
    most = 1 - 1 / anonymisation.power(_digits(anonymisation, row_delta))[0]
    if not 0 < beta <= most:
        yield "beta is above 1 - e^-epsilon: records were drawn too often"
    elif beta + _GRAIN <= most or beta % _GRAIN:
        yield "beta is not the largest chance that epsilon allows: it was not derived from it"
    elif _last(beta, anonymisation, row_delta) - k <= _STEPS:
        if not _enough(k, beta, anonymisation, row_delta, definition):
            yield f"k = {k} is too small for this epsilon, delta and beta"
        clearly = row_delta * (1 - 10**10 * _CLEARLY)
        if k > 1 and _enough(k - 1, beta, anonymisation, clearly, definition):
            yield f"k = {k} is larger than this epsilon, delta and beta ask for: it was not derived from them"


def _told(paper: Certificate, known: "_Checks") -> Iterator[str]:
    """Whether the certificate tells only what it may."""
    yield from _nothing_else(paper, known.parameters, known.derived)


def _nothing_else(paper: Certificate, parameters: str, derived: str) -> Iterator[str]:
    """Whether the certificate has the parts that its method writes, and nothing besides."""
    parts = (("parameters", parameters), ("derived", derived))
    if unknown := [
        name for part, names in parts for name in getattr(paper, part) if name not in names.split()
    ]:
        yield f"the certificate tells {listed(unknown)}, and what that says about the rows is not known"
    if absent := [name for name in parameters.split() if name not in paper.parameters]:
        yield f"the certificate does not tell {listed(absent)}, which its method has"
    extra = {
        name
        for one in paper.columns
        for name in one
        if name not in ("name", "role", "type", "hierarchy", "hierarchy_sha256", "table")
    }
    extra |= {
        "hierarchy_sha256"
        for one in paper.columns
        if not re.fullmatch("[0-9a-f]{64}|", one.get("hierarchy_sha256") or "")
    }
    extra |= paper.levels.keys() - {one["name"] for one in paper.columns}
    if (
        extra
        or (paper.file or {}) != _filed(paper)
        or not re.fullmatch("[0-9a-f]{32}", paper.number)
        or not re.fullmatch("[0-9a-f]{64}|", paper.recipe or "")
    ):
        yield "the certificate tells more of its columns, its file or itself than what they are called and made of"


def _filed(paper: Certificate) -> dict[str, Any]:
    """The part about files as it is written: `Release.write` calls them by what they hold, and no other way."""
    own = paper.file or {}
    form, digest = own["format"], r"[0-9a-f]{64}"

    def told(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        right = re.fullmatch(digest, given["sha256"]) is not None
        return {"name": f"{name}.{form}", "sha256": given["sha256"] if right else None}

    further = {name: told(name, one) for name, one in own.get("further", {}).items()}
    found = {**told("release", own), "format": form}
    if own.get("neutralised") is True and form == "csv":
        found["neutralised"] = True
    return {**found, **({"further": further} if further else {})}


def _promised(paper: Certificate) -> Iterator[str]:
    """Whether ε, δ, definition and unit are one thing in the promise, the parameters and what was derived for a row."""
    promise, given, derived = paper.promise, paper.parameters, paper.derived
    epsilon, delta, definition = (
        _Epsilon.of(promise["epsilon"]),
        _number(promise["delta"]),
        promise["definition"],
    )
    if not epsilon.equals(_Epsilon.of(given["epsilon"])) or _number(given["delta"]) != delta:
        yield "epsilon or delta of the promise are not those of the parameters"
    if not given.get("definition", "standard") == derived[
        "definition"
    ] == definition or definition not in (
        "probabilistic",
        "standard",
    ):
        raise FileError(
            "the promise, the parameters and what was derived from them do not name one definition"
        )
    unit = given.get("person") or given["unit"]
    if promise["unit"] != (unit or "row"):
        yield "the unit of the promise is not that of the parameters"
    if unit and definition != "standard" and delta:
        yield "people are bounded to a number of rows, which keeps the standard definition only"
    if unit in [column["name"] for column in paper.columns]:
        yield f"column {unit!r}, which tells people apart, is released"
    rows, row_delta = _whole(given["rows"]), _number(derived["delta"])
    if derived["rows"] != rows or (rows > 1 and not given["unit"]):
        yield "how many rows a person may have differs between the parameters, what was derived from them, and the unit"
    row = epsilon.times(Fraction(1, rows))
    if row_delta != delta if rows == 1 or not delta else row_delta > delta:
        yield f"the delta of a row is too large for {plural(rows, 'row')}"
    elif rows > 1 and delta:
        if not _grouped(epsilon, row, row_delta, delta):
            yield f"the delta of a row is too large for {plural(rows, 'row')}"
        elif _grouped(epsilon, row, _next(row_delta, 12), delta):
            yield f"the delta of a row is not the one that {plural(rows, 'row')} ask for"


def _next(number: Fraction, digits: int) -> Fraction:
    """The next larger decimal with so many significant digits; the number itself must be one, or it is no derived one."""
    with _precision(digits) as exactly:
        found = _decimal(number)
        if Fraction(found) != number:
            raise ValueError("more digits than a derived number has")
        return Fraction(exactly.next_plus(found))


def _scaled(epsilon: _Epsilon, share: int) -> Fraction:
    """share / ε, rounded up to six digits: the scale of noise that keeps ε."""
    exact = share / (epsilon.factor if epsilon.base is None else Fraction(epsilon.value(60)))
    return _rounded(exact, 6, ROUND_CEILING)


def _rounded(number: Fraction, digits: int, to: str) -> Fraction:
    with localcontext(Context(prec=digits, rounding=to, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        return Fraction(_decimal(number))


def _whole(number: object) -> int:
    if type(number) is not int or number < 1:
        raise ValueError("no number of something")
    return number


def _levels_allowed(paper: Certificate) -> Iterator[str]:
    given, levels = paper.parameters, paper.levels
    absent = [
        one["name"] for one in paper.columns if one["role"] == "quasi" and one["name"] not in levels
    ]
    if absent or not set(levels) <= {column["name"] for column in paper.columns}:
        yield "the certificate does not give a level for every generalised column, and for no other"
    if any(type(level) is not int or level < 0 for level in levels.values()):
        raise ValueError("no level")
    if given["levels"] is not None:
        if given["levels"] != levels or paper.derived["epsilon_search"] is not None:
            yield "the levels are not those that the parameters fix, or a search is paid for that there was not"
        return
    for name, level in levels.items():
        if not given["floor"].get(name, 0) <= level <= given["ceiling"].get(name, level):
            yield f"column {name!r} is at level {level}, which the parameters do not allow"


def _grouped(epsilon: _Epsilon, row: _Epsilon, row_delta: Fraction, delta: Fraction) -> bool:
    """Whether rows that keep (row, row_delta) keep (epsilon, delta) together: δ of each grows by e^ε of those after it."""
    digits = _digits(row, row_delta)
    return row_delta * (epsilon.power(digits)[1] - 1) <= delta * (row.power(digits)[0] - 1) * (
        1 + _CLEARLY
    )


def _digits(epsilon: _Epsilon, delta: Fraction) -> int:
    """So many that neither e^ε − 1 nor what is above δ gets lost."""
    return (
        60
        + len(str(int(1 / delta)))
        + len(str(int(1 / Fraction(epsilon.value(10)))))
        + int(epsilon.value(10))
    )


def _last(beta: Fraction, epsilon: _Epsilon, delta: Fraction) -> int:
    """A size of groups from which on nothing that tells too much has a probability above δ.

    That is at most e^(−nD) in a group of n, with D = γ ln(γ/β) − (1 − γ)ε: theorem 3 of docs/proofs/safepub.md.
    """
    digits = _digits(epsilon, delta)
    rest = (1 - beta) / epsilon.power(digits)[0]
    with _precision(digits):
        gamma = _decimal(1 - rest)
        divergence = gamma * (gamma / _decimal(beta)).ln() - _decimal(rest) * epsilon.value(digits)
        return int(-_decimal(delta).ln() / divergence * (1 + Decimal("1e-20"))) + 1


def _enough(k: int, beta: Fraction, epsilon: _Epsilon, delta: Fraction, definition: str) -> bool:
    """Whether sampling with β and suppressing groups below k keeps (ε, δ).

    Of a group of n records X are drawn. A count j tells too much if j > γn, γ = 1 − (1 − β)e^−ε, and is seen if j ≥ k. With i
    the first such j, the probabilistic definition asks for P[X_n ≥ i] ≤ δ, the standard one for P[X_n ≥ i] − e^ε P[X_n−1 ≥ i]
    ≤ δ, for every n: lemma 2 of docs/proofs/safepub.md. Both go from n to n + 1 and from i to i + 1 by one term.
    """
    digits, last = _digits(epsilon, delta), _last(beta, epsilon, delta)
    low, high = epsilon.power(digits)
    over, under = ((1 - beta) / low).as_integer_ratio()  # 1 − γ, rounded up where it is irrational
    with _precision(digits):
        drawn, left, growth, limit = (
            _decimal(one) for one in (beta, 1 - beta, high, delta * (1 + _CLEARLY))
        )
        i = k
        term = tail = drawn**k  # P[X_n = i] and P[X_n ≥ i], for n = i = k
        for n in range(k, last):
            while i < n - -(-over * n // under) + 1:  # ⌊γn⌋ + 1
                tail -= term
                term *= drawn * (n - i) / (left * (i + 1))
                i += 1
            if (
                tail if definition == "probabilistic" else tail - growth * (tail - term * i / n)
            ) > limit:
                return False
            tail += term * i * left / (n + 1 - i)
            term *= left * (n + 1) / (n + 1 - i)
    return True


def _released(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether the table has only what may leave."""
    k, columns = paper.derived["k"], [found.column(name) for name in found.names]
    rows = np.zeros(found.rows, dtype=np.int64)
    for column in columns:
        _, rows = np.unique(rows * len(column.keys) + column.codes, return_inverse=True)
    sizes = np.bincount(rows)
    if small := int((sizes < k).sum()):
        yield f"{small:,} of {plural(len(sizes), 'group')} over all columns have fewer than k = {k} rows"
    if found.rows and all(
        name in paper.levels
        and (paper.levels[name] == trees[name].height if name in trees else column.keys == ("*",))
        for name, column in zip(found.names, columns, strict=True)
    ):
        yield "every column is at its root: such rows tell nothing and count as suppressed, yet there are some"
    if paper.derived["epsilon_search"] is None and paper.parameters["levels"] is None:
        given = paper.parameters
        for name, level in paper.levels.items():
            root = (
                trees[name].height
                if name in trees
                else level
                if len(found.column(name).keys) <= 1
                else -1
            )
            if given["floor"].get(name, 0) != given["ceiling"].get(name, root):
                yield f"nothing is paid for a search, though the level of column {name!r} had to be chosen"


def _taken_on_trust(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    """What nobody can see in the files of a release with differential privacy."""
    given, derived = paper.parameters, paper.derived
    yield "that every record was drawn by chance, with the probability beta, and that nobody knows the draws"
    if derived["epsilon_search"] is not None:
        yield "that the levels were chosen by the search that is paid for, on a sample of its own"
    if given["unit"]:
        yield f"that each value of {given['unit']!r} gave at most {plural(given['rows'], 'row')}, chosen by chance"
    bare = [name for name in paper.levels if name not in _trees(paper, hierarchies)]
    if bare:
        yield f"that released values of {listed(bare)} are labels of their levels: the hierarchies were not given"
    yield "that the hierarchies were public, and not made from the rows"
    parts = (
        _number(derived["beta"]),
        _Epsilon.of(derived["epsilon_anonymisation"]),
        _number(derived["delta"]),
    )
    if _last(*parts) - derived["k"] > _STEPS:
        yield "that k is large enough: for so small an epsilon the sum is too long"


# Noisy counts, and k-DGS


def _noisy_derivation(paper: Certificate) -> Iterator[str]:
    """Whether the noise is wide enough, and the levels and k are those of the parameters.

    With which chance a row was withheld cannot be seen: it follows from ε, δ and k, and needs no line of its own.
    """
    promise, given, derived = paper.promise, paper.parameters, paper.derived
    yield from _promised(paper)
    row = _Epsilon.of(promise["epsilon"]).times(Fraction(1, given["rows"]))
    if not row.equals(_Epsilon.of(derived["epsilon"])):
        yield f"the epsilon of a row is not that of the promise over {plural(given['rows'], 'row')}"
    share = (
        2 if derived["k"] is not None else 1
    )  # half of ε is for the noise where the other half is for what is withheld
    if _number(derived["scale"]) < _scaled(row, share):
        yield "the noise is narrower than epsilon asks for"
    elif _number(derived["scale"]) > _scaled(row, share):
        yield "the noise is wider than epsilon asks for: it was not derived from it"
    if derived["k"] != given["k"] or (derived["k"] is None) != (_number(promise["delta"]) == 0):
        yield "k is not that of the parameters, or does not go with delta"
    if promise.get("semantic_k") != (None if given["unit"] else derived["k"]):
        yield "semantic k-anonymity is promised for another k, or for people with several rows"
    if derived["half"] != _half(
        row, _number(derived["delta"]), derived["k"], promise["definition"]
    ):
        yield "from how many records on a row is rather released than not does not follow from epsilon, delta and k"
    if (
        derived["k"] is None
        and {one["name"] for one in paper.columns} - {"count"} != paper.levels.keys()
    ):
        yield "without a delta every column has a declared domain, and the certificate does not name a level of each"
    yield from _fixed_levels(paper)


def _half(epsilon: _Epsilon, delta: Fraction, k: int | None, definition: str) -> int | None:
    """The first i from which on a row that occurs i times is rather released than not: docs/proofs/noisy-counts.md."""
    if k is None:
        return None
    digits = _digits(epsilon, delta)
    with _precision(digits):
        unit, whole = (
            Decimal(1 << 128),
            epsilon.value(digits),
        )  # chances are multiples of one over this unit
        grown, root, lost, chance = (
            whole.exp(),
            (whole / 2).exp(),
            int(_decimal(delta) * unit) / unit,
            Decimal(0),
        )
        for i in range(_whole(k), k + _STEPS):
            if definition == "probabilistic":
                bounds = [root * chance if i > k else lost, 1 - (1 - chance) / grown]
            else:
                bounds = [
                    root * chance + lost + lost / root,
                    grown * chance + lost,
                    1 - max(1 - chance - lost, Decimal(0)) / grown,
                ]
            chance = int(min(bounds) * unit) / unit
            if 2 * chance >= 1:
                return i
    raise FileError("the chances of the certificate are too small to be derived again")


def _semantic_derivation(paper: Certificate) -> Iterator[str]:
    if paper.promise["k"] != _whole(paper.parameters["k"]):
        yield "the k of the promise is not that of the parameters"
    yield from _fixed_levels(paper)


def _fixed_levels(paper: Certificate) -> Iterator[str]:
    given = paper.parameters["levels"] or {}
    if any(type(level) is not int or level < 0 for level in paper.levels.values()):
        raise ValueError("no level")
    if paper.levels != {**dict.fromkeys(paper.levels, 0), **given}:
        yield "the levels are not those that the parameters fix"


def _counted(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Whether every distinct row is released at least k times."""
    k, names = paper.parameters["k"] or 1, list(found.names)
    counted = paper.parameters["counts"]
    if counted and names[-1:] != ["count"]:
        yield "there is no column with the counts"
        return
    rows = np.zeros(found.rows, dtype=np.int64)
    for name in names[:-1] if counted else names:
        column = found.column(name)
        _, rows = np.unique(rows * len(column.keys) + column.codes, return_inverse=True)
    sizes = np.bincount(rows)
    if counted:
        if (sizes > 1).any():
            yield "a row is there twice, each time with a count"
        column = found.column("count")
        counts = [key if isinstance(key, int) else 0 for key in column.keys]
        sizes = np.array(counts, dtype=np.int64)[column.codes] if found.rows else sizes
    if small := int((sizes < k).sum()):
        yield f"{small:,} of {plural(len(sizes), 'row')} are released fewer than k = {k} times"


def _noise_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    yield "that rows were withheld and counts were made noisy by chance, as the parameters say, and that nobody knows the draws"
    yield from _levels_trusted(paper, hierarchies)


def _levels_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    if paper.parameters.get("unit") and "rows" in paper.parameters:
        yield f"that each value of {paper.parameters['unit']!r} gave at most {plural(paper.parameters['rows'], 'row')}, by chance"
    bare = [name for name in paper.levels if name not in _trees(paper, hierarchies)]
    if bare:
        yield f"that released values of {listed(bare)} are labels of their levels: the hierarchies were not given"
    yield "that hierarchies and levels were chosen without looking at the rows"


def _splits_derivation(paper: Certificate) -> Iterator[str]:
    """Whether the splits and the ranges of Mondrian are those that keep semantic k-anonymity."""
    given = paper.parameters
    if paper.levels or any(
        set(model) != {"is", "k"} for model in given["models"] if model["is"] == "k-anonymity"
    ):
        yield "the certificate names levels, which splits have not, or more of a model than its k"
    if (given["splits"], given["ranges"], given["relaxed"]) != ("middle", "boundary", False):
        yield "semantic k-anonymity is promised of splits or ranges that depend on the rows"
    if any(model["is"] != "k-anonymity" for model in given["models"]) or any(
        one["role"] != "quasi" for one in paper.columns
    ):
        yield "semantic k-anonymity is promised beside other models, or of columns that are released as they are"
    elif paper.promise["k"] != max(_whole(model["k"]) for model in given["models"]):
        yield "the k of the promise is not that of the parameters"


def _split(found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]) -> Iterator[str]:
    """Nothing more: the sizes of groups are what the models are about."""
    return iter(())


def _splits_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    yield "that hierarchies were chosen without looking at the rows, and that every split is in the middle of a domain"


# Columns: does the schema follow, do the groups add up, has each group only what may leave


def _columns_derivation(paper: Certificate) -> Iterator[str]:
    promise, given, derived = paper.promise, paper.parameters, paper.derived
    yield from _promised(paper)
    yield from _fixed_levels(paper)
    yield from _schema_follows(paper)
    if derived["k"] != _whole(given["k"]) or "semantic_k" in promise:
        yield "k is not that of the parameters, or is promised, which groups of columns do not keep together"
    groups = len(derived["schema"])
    most = groups if given["most"] is None else min(_whole(given["most"]), groups)
    if derived["most"] != most:
        yield "to how many groups a record gives values is not what the parameters say"
    row = _Epsilon.of(promise["epsilon"]).times(Fraction(1, given["rows"]))
    share = Fraction(0) if given["buying"] is None else _number(given["buying"])
    parts = [
        None if derived[name] is None else _Epsilon.of(derived[name])
        for name in ("epsilon_schema", "epsilon_columns")
    ]
    if not share < 1 or parts[1] is None or (parts[0] is None) != (share == 0):
        yield "the schema is bought and not paid for, or paid for and not bought"
        return
    if not parts[1].equals(row.times(1 - share)) or (
        parts[0] is not None and not parts[0].equals(row.times(share))
    ):
        yield f"the parts of epsilon do not add up to {promise['epsilon']}"
    one, delta = _Epsilon.of(derived["epsilon_group"]), _number(derived["delta_group"])
    if _composed(one, delta, most, parts[1]) > _number(derived["delta"]) * (1 + _CLEARLY):
        yield f"{plural(most, 'group')} of columns spend more together than there is"
    elif delta != _delta_of_group(one, most, parts[1], _number(derived["delta"])):
        yield "the delta of a group is not the one that its epsilon leaves"
    if derived["composition"] != (
        "sum" if one.times(Fraction(most)).equals(parts[1]) else "optimal"
    ):
        yield "the groups' parts of epsilon are not composed as the certificate says"
    if _number(derived["scale"]) < _scaled(one, 2):
        yield "the noise is narrower than the epsilon of a group asks for"
    elif _number(derived["scale"]) > _scaled(one, 2):
        yield "the noise is wider than the epsilon of a group asks for: it was not derived from it"
    if derived["half"] != _half(one, delta, derived["k"], "standard"):
        yield "from how many records on a projection is rather released than not does not follow from epsilon, delta and k"


def _schema_follows(paper: Certificate) -> Iterator[str]:
    """Whether the schema is the one that was given, or may be one that was computed as the parameters say."""
    given, schema = paper.parameters, paper.derived["schema"]
    long = given["person"] is not None
    if long != (given["item"] is not None) or (
        not long and (given["value"] is not None or given["items"])
    ):
        yield "a person goes with an item, and items and values go with both"
    if (long and (given["unit"] is not None or given["rows"] != 1)) or (
        given["schema"] is not None
        and (given["public"], given["buying"], list(given["groups"])) != (None, None, [])
    ):
        yield "the parameters are none that the method takes"
    if (
        not schema
        or len(schema) > _MOST_GROUPS
        or not all(group and all(isinstance(name, str) for name in group) for group in schema)
    ):
        raise ValueError("no schema")
    sets = [frozenset(group) for group in schema]
    if len(set(sets)) < len(sets) or any(
        len(one) < len(group) for one, group in zip(sets, schema, strict=True)
    ):
        yield "a group of columns, or a column in one, is there twice"
    if given["schema"] is not None:
        kind = next(
            (Kind(one["type"]) for one in paper.columns if one["name"] == given["item"]), Kind.TEXT
        )
        own = [frozenset(kind.text(kind.key(name)) for name in group) for group in given["schema"]]
        if sets != list(dict.fromkeys(own)):
            yield "the schema is not the one that the parameters give"
        return
    if (given["public"] is None) == (given["buying"] is None):
        yield "the schema comes from nowhere: none is given, and none from a public table or bought"
    if given["person"] and given["buying"] is not None and not given["items"]:
        yield "a schema of items was bought that nobody declared: which items there are tells about people"
    everything, numbers = (
        frozenset[str]().union(*sets),
        [_whole(number) for number in given["groups"]],
    )
    if given["items"] and not everything <= frozenset(given["items"]):
        yield "the schema has items that were not declared"
    if not max(numbers) <= len(sets) <= sum(numbers) or (
        len(numbers) == 1 and sum(map(len, sets)) != len(everything)
    ):
        yield f"the schema is no clustering into {' and '.join(map(str, numbers))} groups"


def _composed(one: _Epsilon, delta: Fraction, times: int, at: _Epsilon) -> Fraction:
    """The δ at some ε of so many releases that each keep another ε and δ: the worst are flips of a coin, and failures."""
    digits = 60 + 2 * _digits(one, delta or Fraction(1, 10**40)) + times
    with _precision(digits):
        step, goal = one.value(digits), at.value(digits)
        heads = 1 / (1 + (-step).exp())
        lost = Decimal(0)
        for j in range(times + 1):  # so many coins tell the truth
            gain = (2 * j - times) * step - goal
            if gain > 0:
                lost += (
                    math.comb(times, j)
                    * heads**j
                    * (1 - heads) ** (times - j)
                    * (1 - (-gain).exp())
                )
        kept = (1 - _decimal(delta)) ** times * (1 - lost)
        return Fraction(1 - kept)


def _delta_of_group(one: _Epsilon, times: int, at: _Epsilon, delta: Fraction) -> Fraction:
    """What the coins leave of δ, in equal parts: both rounded to twelve digits, to the safe side."""
    lost = Fraction(0)
    if not one.times(Fraction(times)).equals(at):
        lost = _rounded(_composed(one, Fraction(0), times, at), 12, ROUND_CEILING)
    return _rounded((delta - lost) / ((1 - lost) * times), 12, ROUND_FLOOR)


def _columns_released(
    found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]
) -> Iterator[str]:
    given, schema, names = paper.parameters, paper.derived["schema"], list(found.names)
    everything = {name for group in schema for name in group}
    own = (
        ["record", "column_group", given["item"], given["value"]]
        if given["person"]
        else ["column_group", *everything]
    )
    expected = [name for name in (*own, "count" if given["counts"] else None) if name is not None]
    if (
        sorted(names) != sorted(expected)
        or names[: 1 + bool(given["person"])] != expected[: 1 + bool(given["person"])]
    ):
        yield "the columns are not those of the schema"
        return
    group = _integers(found, "column_group")
    if found.rows and not (group.min() >= 1 and group.max() <= len(schema)):
        yield "a row belongs to no group of columns"
        return
    counts = _integers(found, "count") if given["counts"] else np.ones(found.rows, dtype=np.int64)
    if given["person"]:
        yield from _long_rows(found, paper, trees, group, counts)
        return
    rows, empty = group, np.ones(found.rows, dtype=np.bool_)
    for name in [name for name in names if name in everything]:
        column = found.column(name)
        null = (
            column.codes == column.keys.index(None)
            if None in column.keys
            else np.zeros(found.rows, dtype=np.bool_)
        )
        inside = np.isin(
            group, [place for place, members in enumerate(schema, 1) if name in members]
        )
        if not null[~inside].all():
            yield f"column {name!r} has values in groups that it does not belong to"
        empty &= null
        _, rows = np.unique(rows * (len(column.keys) + 1) + column.codes, return_inverse=True)
    if empty.any():
        yield f"{plural(int(empty.sum()), 'row')} have no value at all: such projections must not be released"
    yield from _often_enough(np.bincount(rows), np.bincount(rows, counts), paper)


def _often_enough(
    there: npt.NDArray[np.int64], often: npt.NDArray[Any], paper: Certificate
) -> Iterator[str]:
    k = paper.derived["k"]
    if paper.parameters["counts"] and (there > 1).any():
        yield "a record is there twice, each time with a count"
    if small := int((often < k).sum()):
        yield f"{small:,} of {plural(len(often), 'projection')} are released fewer than k = {k} times"


def _long_rows(
    found: Table,
    paper: Certificate,
    trees: Mapping[str, Hierarchy],
    group: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> Iterator[str]:
    """Whether records are numbered, have items of their group, are in the order of their values, and occur k times."""
    record, (item, value, ordered) = _integers(found, "record"), _pairs(found, paper, trees)
    if not found.rows:
        return
    new = np.append(True, record[1:] != record[:-1])
    if record[0] != 1 or (np.diff(record) != new[1:]).any():
        yield "the records are not numbered one by one"
        return
    starts = np.flatnonzero(new)
    length = np.diff(starts, append=found.rows)
    if (item < 0).any() or (value < 0).any():
        yield "a row lacks its item or its value"
    if (new[1:] | (item[1:] > item[:-1])).sum() < found.rows - 1:
        yield "a record has an item twice, or its items are not in their order"
    if any((part[1:] != part[:-1])[~new[1:]].any() for part in (group, counts)):
        yield "a record is in two groups, or has two counts"
    column, kind = (
        found.column(paper.parameters["item"]),
        _declared(paper, paper.parameters["item"]),
    )
    for place, members in enumerate(paper.derived["schema"], 1):
        inside = {kind.key(name) for name in members}
        allowed = np.array(
            [key is not None and kind.key(key) in inside for key in column.keys], dtype=np.bool_
        )
        if not allowed[column.codes[group == place]].all():
            yield f"group {place} has items that the schema has not there"
    # Each record is compared with the one before it, if that is of the same group and has as many items.
    before = np.append(
        False, (group[starts[1:]] == group[starts[:-1]]) & (length[1:] == length[:-1])
    )
    rows = np.flatnonzero(np.repeat(before, length))
    other = rows - np.repeat(length, length)[rows]
    differs = rows[(item[rows] != item[other]) | (value[rows] != value[other])]
    whose, first = np.unique(record[differs], return_index=True)
    at = differs[first]
    than = at - np.repeat(length, length)[at]
    less = (item[at] < item[than]) | ((item[at] == item[than]) & (value[at] < value[than]))
    stepped = group[starts[1:]] - group[starts[:-1]]
    if (
        (ordered and less.any())
        or (stepped < 0).any()
        or ((stepped == 0) & (length[1:] < length[:-1])).any()
    ):
        yield "the records are not in the order of their values: what decides their order instead may tell more than they do"
    same = before.copy()
    same[whose - 1] = False
    run = np.cumsum(~same) - 1
    yield from _often_enough(np.bincount(run), np.bincount(run, counts[starts]), paper)


def _pairs(
    found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], bool]:
    """Every row's item and value by their places in an order, -1 where there is none; and whether that is the values' own."""
    places = []
    for name in (paper.parameters["item"], paper.parameters["value"]):
        if name is None:
            places.append(np.zeros(found.rows, dtype=np.int64))
            continue
        column, kind = found.column(name), _declared(paper, name)
        if name in trees:
            place = _places(found, paper, name, trees[name])
        else:
            keys = [
                None if key is None else key if name in paper.levels else kind.key(key)
                for key in column.keys
            ]
            order = {
                key: i for i, key in enumerate(sorted({key for key in keys if key is not None}))
            }
            place = [-1 if key is None else order[key] for key in keys]
        lookup = np.array(
            [-1 if key is None else at for key, at in zip(column.keys, place, strict=True)],
            dtype=np.int64,
        )
        places.append(lookup[column.codes] if len(lookup) else np.zeros(found.rows, dtype=np.int64))
    value = paper.parameters["value"]
    return places[0], places[1], value not in paper.levels or value in trees


def _declared(paper: Certificate, name: str) -> Kind:
    for column in paper.columns:
        if column["name"] == name:
            return Kind(column["type"])
    raise FileError(f"the certificate has no column {_named(str(name))}, of which it tells")


def _integers(found: Table, name: str) -> npt.NDArray[np.int64]:
    column = found.column(name)
    if not all(isinstance(key, int) for key in column.keys):
        raise FileError(f"column {name!r} has what is not a whole number")
    return (
        np.array(column.keys, dtype=np.int64)[column.codes]
        if found.rows
        else np.zeros(0, dtype=np.int64)
    )


def _columns_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    given, derived = paper.parameters, paper.derived
    yield "that projections were withheld and counts made noisy by chance, as the parameters say, by draws that nobody knows"
    yield f"that no record gave values to more than {plural(derived['most'], 'group')} of columns, chosen by chance"
    if given["buying"] is not None:
        yield "that the schema was bought by what it says: it was computed from nothing but noisy numbers"
    else:
        yield "that the schema was chosen without looking at the rows" + (
            ", from a public table" if given["public"] else ""
        )
    yield from _levels_trusted(paper, hierarchies)


# Buckets: every share of every bucket, with fractions


def _limited(paper: Certificate) -> Iterator[str]:
    """Whether the limits of the promise are those of the parameters."""
    promise, given = paper.promise, paper.parameters
    kind = _declared(paper, promise["column"])
    asked = BucketLimits(
        given["column"], _limits(given["limits"]).keyed(kind), given["fakes"], given.get("unit")
    )
    if plain(asked.to_dict()) != promise:
        yield "column, limits or fakes of the promise are not those of the parameters"


def _limits(given: Mapping[str, Any]) -> Limits:
    """Limits in words again, from what a certificate has of them."""
    if unknown := set(given) - {"classes", "values", "others"}:
        raise FileError(
            f"the certificate has limits by {listed(sorted(unknown))}, which is not known"
        )
    others = given.get("others")
    rest = Linear(others["a"], others["b"]) if isinstance(others, Mapping) else others
    if "classes" in given:
        return Limits.classes(
            {name: (one["limit"], one["values"]) for name, one in given["classes"].items()}, rest
        )
    return Limits.each(dict(given.get("values", ())), rest)


def _limit_of(
    limits: Mapping[str, Any], kind: Kind
) -> Callable[[Key | None, Fraction], Fraction | None]:
    """The limit of a value with a share of the records, read off the certificate; None if it has none."""
    own = [
        *limits.get("values", ()),
        *((v, one["limit"]) for one in limits.get("classes", {}).values() for v in one["values"]),
    ]
    given = dict(
        zip(
            kind.keys([value for value, _ in own], "of the limits"),
            (_number(limit) for _, limit in own),
            strict=True,
        )
    )
    others = limits.get("others")

    def limit(value: Key | None, share: Fraction) -> Fraction | None:
        if value in given or others is None:
            return given.get(value)
        if not isinstance(others, Mapping):
            return _number(others)
        return min(Fraction(1), _number(others["a"]) * share + _number(others["b"]))

    return limit


def _spelled(frames: Sequence[Any], paper: Certificate) -> Iterator[str]:
    """Whether every number or date is spelled in one way: who reads 1 and 01 as text sees two buckets where there is one."""
    import polars as pl

    kinds = {
        "count": Kind.INTEGER,
        **{column["name"]: Kind(column["type"]) for column in paper.columns},
    }
    for frame in frames:
        texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum))
        for name in texts.columns:
            different = texts[name].drop_nulls().unique().to_list()
            if name in kinds and len(set(kinds[name].keys(different, name))) < len(different):
                yield f"column {name!r} has a value that is spelled in several ways, which may part what belongs together"


def _bucketed(people: Table, values: Table, paper: Certificate) -> Iterator[str]:
    """Whether both tables have the same buckets, of the same sizes, and no value has more of one than its limit."""
    column, added = paper.promise["column"], paper.promise["fakes"]
    if list(values.names) != ["bucket", column, "count"] or column in people.names:
        yield "the table of buckets has other columns than a bucket, its sensitive values and how often they are there"
        return
    own, bucket, often = (
        _integers(people, "bucket"),
        _integers(values, "bucket"),
        _integers(values, "count"),
    )
    if (
        (own < 1).any()
        or (bucket < 1).any()
        or max(own.max(initial=0), bucket.max(initial=0)) > people.rows
    ):
        yield "a bucket has a number that none has"
        return
    buckets = int(own.max(initial=0))
    sizes, held = (
        np.bincount(own, minlength=buckets + 1),
        np.zeros(max(buckets, int(bucket.max(initial=0))) + 1, dtype=np.int64),
    )
    np.add.at(held, bucket, often)
    if not sizes[1:].all():
        yield "the buckets are not numbered one by one"
    if (often < 1).any() or len(held) != len(sizes) or (held[1:] != sizes[1:] + added).any():
        yield "some bucket has not as many values as people" + (
            f" and {plural(added, 'fake')}" if added else ""
        )
        return
    largest = paper.parameters["largest"]
    if (
        largest is not None
        and paper.parameters["solver"] != "anatomy"
        and int(sizes.max(initial=0)) > largest
    ):
        yield "some bucket has more people than the parameter `largest` allows"
    codes = values.column(column).codes.astype(np.int64)
    if not (
        (bucket[1:] > bucket[:-1]) | ((bucket[1:] == bucket[:-1]) & (codes[1:] > codes[:-1]))
    ).all():
        yield "the values of the buckets are not in their order, or one is there twice"
    if added and (np.bincount(bucket, often == 1, len(sizes))[1:] < added).any():
        yield f"some bucket has fewer than {added} values that may be fake"
    yield from _fake_odds(bucket, codes, often, paper)
    keys, limit = (
        values.column(column).keys,
        _limit_of(paper.promise["limits"], _declared(paper, column)),
    )
    total, size = np.zeros(len(keys), dtype=np.int64), sizes[bucket]
    np.add.at(total, codes, often)
    wide, high = (
        int(often.max(initial=0)) + 1,
        int(size.max(initial=0)) + 1,
    )  # at most as many as there are people
    pairs, pair = np.unique(codes * wide + often, return_inverse=True)
    alike, where = np.unique(pair * high + size, return_inverse=True)
    fails = []
    for one in alike.tolist():
        (code, number), own = divmod(int(pairs[one // high]), wide), one % high
        most = limit(keys[code], min(Fraction(1), Fraction(int(total[code]), people.rows)))
        if most is None:
            yield "a value has no limit"
            return
        fails.append(number > most * own)
    if broken := len(np.unique(bucket[np.array(fails, dtype=np.bool_)[where]])) if fails else 0:
        yield f"{broken:,} of {plural(buckets, 'bucket')} have more of some value than its limit allows"


def _fake_odds(bucket: Any, codes: Any, often: Any, paper: Certificate) -> Iterator[str]:
    """Whether the odds of fakes are those of the values that each block of buckets shows, and leave enough to be fake."""
    added, given = paper.promise["fakes"], paper.derived.get("fake_odds")
    if not added:
        if given is not None:
            yield "the certificate has odds of fakes, and the promise has none"
        return
    if not isinstance(given, list) or not all(
        isinstance(one, list)
        and len(one) == 2
        and type(one[0]) is int
        and one[0] >= 1
        and isinstance(one[1], list)
        for one in given
    ):
        yield "the certificate does not say the odds of fakes, block by block"
        return
    if sum(number for number, _ in given) != int(bucket.max(initial=0)):
        yield "the odds of fakes are of other buckets than there are"
        return
    last = 0
    for number, odds in given:
        first, last = last + 1, last + number
        rows = (bucket >= first) & (bucket <= last)
        there, place = np.unique(codes[rows], return_inverse=True)
        exact = [_number(one) for one in odds]
        if len(there) != len(exact) or not all(0 <= one <= 1 for one in exact):
            yield "the odds of fakes are not one number from 0 to 1 for every value of the block"
            return
        may = np.array([one > 0 for one in exact], dtype=np.bool_)[place] & (often[rows] == 1)
        if (np.bincount(bucket[rows] - first, may, number) < added).any():
            yield f"some bucket has fewer than {added} values that may be fake by their odds"


def _blocks(
    people: Table, paper: Certificate, hierarchies: Mapping[str, Hierarchy]
) -> Iterator[str]:
    """Whether the people of every bucket agree at the levels they should, where the hierarchies are at hand."""
    bucket = _integers(people, "bucket")
    for name, level in (paper.parameters["within"] or {}).items():
        if name not in hierarchies:
            continue
        tree, column = (
            hierarchies[name].of_kind(_declared(paper, name)).with_missing(),
            people.column(name),
        )
        nodes = np.array([tree.maps[level][tree.find(key)] for key in column.keys], dtype=np.int64)[
            column.codes
        ]
        if len(np.unique(np.stack([bucket, nodes]), axis=1).T) != len(np.unique(bucket)):
            yield f"a bucket has people that differ in level {level} of {name!r}"


def _buckets_derivation(paper: Certificate) -> Iterator[str]:
    """Whether columns, parameters and what is derived are such as the method has; odds of fakes are checked with the tables."""
    gap, searched = paper.derived.get("gap_reached", 0.0), paper.derived.get("sizes_searched", 1)
    if type(gap) is not float or not 0 <= gap <= 1:
        yield "the gap of the bucket sizes is no share"
    if type(searched) is not int or searched < 1:
        yield "the largest bucket size that was searched is not a whole number above 0"
    hidden = paper.promise["column"]
    own = {
        "bucket": ("insensitive", "integer", None),
        hidden: ("sensitive", _declared(paper, hidden).value, "buckets"),
    }
    roles = {
        column["name"]: (column["role"], column["type"], column.get("table"))
        for column in paper.columns
    }
    if any(roles.get(name) != given for name, given in own.items()) or len(roles) != len(
        paper.columns
    ):
        yield "the bucket or the sensitive column is not described as the method does it"
    beside = [name for name in roles if name not in own]
    if any(roles[name][0] == "sensitive" or roles[name][2] is not None for name in beside):
        yield "a sensitive column is released beside people, as it is"
    if paper.levels:
        yield "the certificate names levels, and buckets leave the other columns as they are"
    given = paper.parameters
    if (
        given["solver"] not in ("optimal", "multi", "two", "anatomy")
        or any(
            name not in beside or type(level) is not int or level < 0
            for name, level in (given["within"] or {}).items()
        )
        or type(given["associations"]) is not bool
        or (given["associations"] and not given["fakes"])
        or not (
            given["largest"] is None or (type(given["largest"]) is int and given["largest"] >= 1)
        )
        or not 0 <= _number(given["gap"]) <= 1
        or not _number(given["seconds"]) > 0
    ):
        yield "the parameters are none that the method takes"


def _nothing_more(
    found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]
) -> Iterator[str]:
    yield from ()


def _buckets_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    within, fakes = paper.parameters["within"] or {}, paper.promise["fakes"]
    yield "that of those with a value it was drawn who got which bucket, by draws that nobody knows"
    if within:
        yield "that the levels of `within` were chosen without a look at who has which value, and none were tried before"
    if unknown := [name for name in within if name not in hierarchies]:
        yield f"that the people of a bucket agree in {listed(unknown)}, for want of the hierarchy"
    if fakes:
        yield f"that {plural(fakes, 'value')} of every bucket are fake, and which"
        if isinstance(paper.promise["limits"].get("others"), Mapping):
            yield "limits by formula exactly, as fakes blur how often a value occurs: they are checked by the most it may be"


# Coincident generalisation: are groups what they are said to be


def _coincident_derivation(paper: Certificate) -> Iterator[str]:
    given = paper.parameters
    own = [
        (one["name"], one["role"], one["type"]) for one in paper.columns if one["name"] == "group"
    ]
    if own != [("group", "insensitive", "integer")] or paper.levels:
        yield "the group is not described as the method does it, or levels are named, which groups have not"
    size, depth = _whole(given["size"]), _depth(given)
    spare = ("groups", "records") if given["scheme"] in ("forest", "interleaved") else ("groups",)
    ways = [
        ("splits", "narrower"),
        ("splits", "boundary"),
        ("splits", "hierarchy"),
        ("curve", "hierarchy"),
    ]
    if (
        given["scheme"] not in ("forest", "UU", "UA", "interleaved")
        or (given["order"], given["ranges"]) not in ways
        or given["spare"] not in spare
        or size < 2
        or (depth or 0) > 40
        or (given["scheme"] == "interleaved" and size % 2)
        or any(model["is"] == "delta-presence" for model in given["models"])
    ):
        yield "the parameters are none that the method takes"


def _coincident_groups(
    found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]
) -> Iterator[str]:
    """Whether groups are numbered by what they show, have a size that merging gives, and show what they may, the same of all."""
    given, number = paper.parameters, _integers(found, "group")
    if not len(number):
        return
    sizes = np.bincount(number)[1:] if number.min() > 0 else np.zeros(1, dtype=np.int64)
    if number.min() != 1 or not sizes.all():
        yield "the groups are not numbered one by one"
        return
    size, depth, block = (
        _whole(given["size"]),
        _depth(given),
        3 if given["scheme"] == "interleaved" else 1,
    )
    parts, leaves = {2 * size, 2 * found.rows}, found.rows // size
    if block == 3:
        parts.add(3 * size)
    depths = range(leaves.bit_length() + 1) if depth is None else [depth]
    trees_of = [_merging(leaves // block, one) for one in depths]
    parts |= {2 * size * block * within for _, levels in trees_of for within in levels}
    if given["scheme"] in ("UU", "UA"):
        parts |= {2 * size << level for level in range(leaves.bit_length())}
    if odd := sum(2 * each not in parts for each in sizes.tolist()):
        yield f"{plural(odd, 'group')} of {len(sizes):,} have a size that merging does not give"
    all_fit = given["spare"] == "groups" or leaves in [tree * block for tree, _ in trees_of]
    if found.rows % size or not all_fit:
        yield "the records are no whole number of groups to start with, or of trees, though others are left out"
    shown = []
    for name in _quasi(paper):
        column = found.column(name)
        codes = column.codes.astype(np.int64)
        if (codes[1:] != codes[:-1])[number[1:] == number[:-1]].any():
            yield f"column {name!r} shows several values in one group"
        texts = ["" if key is None else str(key) for key in column.keys]
        shown.append(
            [
                _in_words(texts[code])
                for code in codes[np.unique(number, return_index=True)[1]].tolist()
            ]
        )
    if any(one > other for one, other in pairwise(zip(*shown, strict=True))):
        yield "the numbers of groups do not follow what the groups show"


def _depth(given: Mapping[str, Any]) -> int | None:
    """How often groups merge two by two; None if that follows from how many there are."""
    return None if given["depth"] is None else _whole(given["depth"] + 1) - 1


def _merging(blocks: int, depth: int) -> tuple[int, list[int]]:
    """How many of some blocks fit a tree, two siblings at its lowest levels and 13 at most, and how many a node of each has."""
    low = min(depth, max(blocks, 1).bit_length() - 1)
    above = blocks >> low
    levels = [1 << level for level in range(low + 1)]
    while above:
        rest, within = above, list[int]()
        for prime in (2, 3, 5, 7, 11, 13):
            while rest % prime == 0:
                rest //= prime
                within.append((within or levels)[-1] * prime)
        if rest == 1:
            return above << low, levels + within
        above -= 1
    return 0, levels


def _in_words(text: str) -> tuple[list[str | int], str]:
    """Texts in their order, and numbers in them by value."""
    return [
        int(part) if at % 2 else part for at, part in enumerate(re.split("([0-9]+)", text))
    ], text


def _coincident_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    yield "that groups were formed by quasi-identifying values alone, and merged as the scheme says"
    yield "that who was left out, and which groups were left as they are, was drawn, by draws that nobody knows"
    if bare := [name for name in _quasi(paper) if name not in hierarchies]:
        yield f"that what groups show of {listed(bare)} are values or ranges of their hierarchies, which were not given"


# Disclosure functions: is the table one of the path


_UNEVEN = (
    "k-anonymity",
    "distinct-diversity",
    "p-sensitivity",
    "entropy-diversity",
    "recursive-diversity",
)


def _disclosure_derivation(paper: Certificate) -> Iterator[str]:
    given, quasi = paper.parameters, _quasi(paper)
    named = {*given["floor"], *(name for step in given["path"] or () for name in step)}
    models = [model["is"] for model in given["models"]]
    if (
        (given["rule"], given["local"])
        not in (("permutations", False), ("permutations", True), ("first-safe", False))
        or named - set(quasi)
        or any(type(level) is not int or level < 0 for level in given["floor"].values())
        or "delta-presence" in models
        or (given["rule"] == "permutations" and set(models) - set(_UNEVEN))
    ):
        yield "the parameters are none that the method takes"
    if paper.levels.keys() != (set() if given["local"] else set(quasi)):
        yield "levels are named for groups that have their own, or not for all columns"
    elif not given["local"] and given["path"] is not None and paper.levels not in _path(paper, {}):
        yield "the levels are none of the path"


def _path(paper: Certificate, trees: Mapping[str, Hierarchy]) -> list[dict[str, int]]:
    """The levels of every table of the path, the finest first; if none is given, by the heights of all columns' hierarchies."""
    given, quasi = paper.parameters, _quasi(paper)
    nodes, steps = [{name: given["floor"].get(name, 0) for name in quasi}], given["path"]
    if steps is None:
        turns = [
            (Fraction(at, trees[n].height), quasi.index(n), n)
            for n in quasi
            for at in range(nodes[0][n], trees[n].height)
        ]
        steps = [[name] for *_, name in sorted(turns)]
    for step in steps:
        nodes.append({name: level + step.count(name) for name, level in nodes[-1].items()})
    return nodes


def _disclosure_groups(
    found: Table, paper: Certificate, trees: Mapping[str, Hierarchy]
) -> Iterator[str]:
    """With all hierarchies: whether the table is one of the path, and every step down to it was safe whoever has which value."""
    given, quasi = paper.parameters, _quasi(paper)
    if not found.rows or set(trees) != set(quasi):
        return
    path = _path(paper, trees)
    if any(level > trees[name].height for name, level in path[-1].items()) or (
        paper.levels and paper.levels not in path
    ):
        yield "the levels are none of the path"
        return
    if given["rule"] != "permutations":
        return
    groups, columns = _groups(found, paper), [found.column(name) for name in quasi]
    ladders = [
        [trees[name].maps[node[name]] for node in path] for name in quasi
    ]  # codes of leaves, for every table of the path
    kinds = [_declared(paper, name) for name in quasi]
    labels = [
        [[_canonical(label, kind) for label in trees[name].labels[node[name]]] for node in path]
        for name, kind in zip(quasi, kinds, strict=True)
    ]
    places, leaves = [], []
    for row in np.unique(groups.rows, return_index=True)[1].tolist():
        texts = [
            _canonical(column.keys[column.codes[row]], kind)
            for column, kind in zip(columns, kinds, strict=True)
        ]
        fits = [
            at
            for at, node in enumerate(path)
            if paper.levels in ({}, node)
            and all(text in own[at] for text, own in zip(texts, labels, strict=True))
        ]
        if not fits:
            yield "a group shows values that no table of the path has"
            return
        at = fits[-1]
        those = zip(ladders, labels, texts, strict=True)
        places.append(at)
        leaves.append(
            [int(np.argmax(ladder[at] == own[at].index(text))) for ladder, own, text in those]
        )

    def codes(one: int, at: int) -> tuple[int, ...]:
        return tuple(
            int(ladder[at][leaf]) for ladder, leaf in zip(ladders, leaves[one], strict=True)
        )

    for at in range(len(path) - 1, 0, -1):
        whole: dict[Any, list[int]] = {}
        parts: dict[Any, list[int]] = {}
        for one in (one for one, place in enumerate(places) if place <= at):
            whole.setdefault(codes(one, at), []).append(one)
            parts.setdefault(
                (codes(one, at), codes(one, at - 1) if places[one] < at else None), []
            ).append(one)
        sizes = [sum(groups.sizes[one] for one in some) for some in parts.values()]
        worst = _Worst(sizes, found, paper, (), groups, [whole[key] for key, _ in parts])
        if any(
            _CHECKS[model["is"]](worst, model)
            for model in given["models"]
            if model["is"] in _UNEVEN
        ):
            yield f"step {at} of the path was gone down, though it is not safe whoever has which value"
            return


def _disclosure_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    yield "that the path was fixed before anyone looked at the values, and that the rule ends at this table of it"
    if bare := [name for name in _quasi(paper) if name not in hierarchies]:
        yield f"that what is shown of {listed(bare)} is of the path, and safe to show by its rule: the hierarchies were not given"


# Personal generalisation


def _personal(paper: Certificate) -> Iterator[str]:
    """Whether the promise is that of the parameters."""
    given, promise = paper.parameters, paper.promise
    known = {
        "solver": ("exact", "genetic", "lagrangian", "relaxed"),
        "measure": ("leaves", "log", "depth"),
        "model": ("fixed", "uniform", "harmonic"),
    }
    if any(given[name] not in values for name, values in known.items()):
        yield "the parameters are none that the method takes"
    floors = [
        given["utility"],
        *(wish["utility"] for wish in given["wishes"].values() if wish["utility"] is not None),
    ]
    counted = "table" if given["register"] is None else "register"
    if (promise["counted_in"], *(promise[name] for name in ("solver", "measure", "model"))) != (
        counted,
        *(given[name] for name in ("solver", "measure", "model")),
    ) or _number(promise["utility"]) != min(map(_number, floors)):
        yield "the promise is not that of the parameters"


def _worth_enough(
    found: Table, paper: Certificate, hierarchies: Mapping[str, Hierarchy]
) -> Iterator[str]:
    """Whether every record keeps the utility promised, by the best reading of each text that occurs at several levels."""
    quasi = [column["name"] for column in paper.columns if column["role"] == "quasi"]
    if not found.rows or any(name not in hierarchies for name in quasi):
        return
    measure, worth, whole = paper.parameters["measure"], np.zeros(found.rows), 0.0
    for name in quasi:
        kind = _declared(paper, name)
        tree, times = (
            hierarchies[name].of_kind(kind).with_missing(),
            float(_number(paper.parameters["importance"].get(name, 1))),
        )
        leaves = int(tree.cover(tree.height).max())
        of_text: dict[Key | None, float] = {}
        for level, labels in enumerate(tree.labels):
            for label, covered in zip(labels, tree.cover(level).tolist(), strict=True):
                own = {
                    "depth": tree.height - level,
                    "leaves": 1 / covered,
                    "log": math.log(leaves / covered),
                }[measure]
                text = _canonical(label, kind)
                of_text[text] = max(of_text.get(text, 0.0), times * own)
        whole += times * {"depth": tree.height, "leaves": 1, "log": math.log(leaves)}[measure]
        texts = [_canonical(key, kind) for key in found.column(name).keys]
        if wrong := sum(text not in of_text for text in texts):
            yield f"column {name!r} has {plural(wrong, 'value')} that its hierarchy has not"
            return
        worth += np.array([of_text[text] for text in texts])[found.column(name).codes]
    if short := int((worth < (float(_number(paper.promise["utility"])) - _SLACK) * whole).sum()):
        yield f"{plural(short, 'record')} of {found.rows:,} keep less utility than is promised"


def _personal_trusted(paper: Certificate, hierarchies: Mapping[str, Hierarchy]) -> Iterator[str]:
    yield "that no generalisation of a record with this utility has a lower risk, for which the input is needed"
    if unknown := [
        one["name"]
        for one in paper.columns
        if one["role"] == "quasi" and one["name"] not in hierarchies
    ]:
        yield f"that every record keeps its utility, for want of the hierarchies of {listed(unknown)}"
    if len({str(wish["utility"]) for wish in paper.parameters["wishes"].values()}) > 1:
        yield "that people who chose a higher utility than the lowest one keep it"


# Which method is checked by what


@dataclass(frozen=True)
class _Checks:
    """What a certificate of a method may tell (chosen before any data was seen, or derived from that), and how it is checked."""

    promise: str
    parameters: str
    derived: str
    derivation: Callable[[Certificate], Iterator[str]]
    released: Callable[[Table, Certificate, Mapping[str, Hierarchy]], Iterator[str]]
    trusted: Callable[[Certificate, Mapping[str, Hierarchy]], Iterator[str]]
    free: str = ""  # parameters that the files do not settle


_KNOWN = {
    "safepub": _Checks(
        "differential privacy",
        "epsilon delta definition split score importance floor ceiling classes search steps levels unit rows",
        "k beta epsilon_anonymisation epsilon_search delta definition rows",
        _derivation,
        _released,
        _taken_on_trust,
        "score importance floor ceiling classes search steps",
    ),
    "noisy-counts": _Checks(
        "differential privacy",
        "epsilon delta k definition levels unit rows counts",
        "epsilon delta definition rows k scale half",
        _noisy_derivation,
        _counted,
        _noise_trusted,
    ),
    "kdgs": _Checks(
        "semantic anonymity",
        "k levels counts unit",
        "",
        _semantic_derivation,
        _counted,
        _levels_trusted,
    ),
    "columns": _Checks(
        "differential privacy",
        "epsilon delta k most schema groups public buying person item value items looked_at levels unit rows counts",
        "schema k most epsilon_schema epsilon_columns delta definition composition epsilon_group delta_group scale half rows",
        _columns_derivation,
        _columns_released,
        _columns_trusted,
        "groups items looked_at",
    ),
    "buckets": _Checks(
        BucketLimits.name,
        "column limits solver largest gap seconds within fakes associations unit",
        "gap_reached sizes_searched fake_odds",
        _buckets_derivation,
        _nothing_more,
        _buckets_trusted,
        "solver largest gap seconds within associations",
    ),
    "coincident": _Checks(
        Coincidence.name,
        "models size scheme depth order ranges spare unit",
        "",
        _coincident_derivation,
        _coincident_groups,
        _coincident_trusted,
        "size scheme depth order ranges spare",
    ),
    "disclosure": _Checks(
        Coincidence.name,
        "models path rule local floor unit",
        "",
        _disclosure_derivation,
        _disclosure_groups,
        _disclosure_trusted,
        "path rule local floor",
    ),
    "mondrian": _Checks(
        "semantic anonymity",
        "models relaxed ranges splits unit",
        "",
        _splits_derivation,
        _split,
        _splits_trusted,
    ),
}
_PLAIN = {
    "optimal": (
        "models loss suppression floor ceiling suppressed unit",
        "loss suppression floor ceiling suppressed",
    ),
    "mondrian": ("models relaxed ranges splits unit", "relaxed ranges"),
    "sampling": ("probability unit", ""),
    "personal": (
        "utility solver measure model weights importance choice wishes register effort pull power unit",
        "weights importance choice wishes effort pull power",
    ),
}
"""Of methods that people compare with: their parameters, and which of these the files do not settle."""

_PARAMETERS = {
    **{name: parameters for name, (parameters, _) in _PLAIN.items()},
    **{name: checks.parameters for name, checks in _KNOWN.items()},
}
"""Every method that may be on a certificate, and its parameters."""


def _promised_by(method: str) -> tuple[str, ...]:
    """What a method may promise."""
    own = (_KNOWN[method].promise,) if method in _KNOWN else ()
    plainly = {
        "optimal": Syntactic.name,
        "mondrian": Syntactic.name,
        "sampling": Sampled.name,
        "personal": LowestRisk.name,
    }
    return (*own, *([plainly[method]] if method in plainly else []))


def _free(paper: Certificate) -> Iterator[str]:
    """The parameters that the files do not settle."""
    known, given = _known(paper), paper.parameters
    yield from (known.free if known else _PLAIN[paper.method][1]).split()
    if paper.method == "safepub" and paper.derived["epsilon_search"] is None:
        yield "split"
    if paper.method == "personal" and given["wishes"]:
        yield "utility"  # which that of a wish may be below
    if paper.method == "columns" and paper.derived["most"] == len(paper.derived["schema"]):
        yield "most"
    schema = given.get("schema")
    if schema and len({frozenset(group) for group in schema}) < len(schema):
        yield "schema"  # equal groups are released once
    if "counts" in given and any(one["name"] == "count" for one in paper.columns):
        yield "counts"  # a column of that name may be the table's own


def _known(paper: Certificate) -> _Checks | None:
    """How a promise that holds against someone who knows the algorithm is checked; of Mondrian's, one is not such."""
    syntactic = paper.method == "mondrian" and paper.promise["promise"] == "syntactic"
    return None if syntactic else _KNOWN.get(paper.method)


# Models


@dataclass(frozen=True)
class _Groups:
    sizes: list[int]
    table: Table
    certificate: Certificate
    rows: Sequence[int]  # the group of every row, -1 for suppressed ones

    def histograms(self, name: str, level: int = 0) -> tuple[list[Counter[int]], Counter[int], int]:
        """Of every group and of the whole table how often each value occurs, in the values' order; and how many there are."""
        column = self.table.column(name)
        values = list(range(len(column.keys)))
        lines = self.lines(name)
        if lines:
            tree = Hierarchy.from_lines(lines, column.kind).with_missing()
            leaves = [tree.find(key) for key in column.keys]
            values = [int(tree.maps[level][leaf]) for leaf in leaves]
            if level == 0 and tree.kind is not Kind.TEXT:  # leaves in the order of their values
                order = {leaf: place for place, leaf in enumerate(dict.fromkeys(leaves))}
                values = [order[leaf] for leaf in leaves]
        pairs, often = np.unique(
            np.stack([np.asarray(self.rows), column.codes.astype(np.int64)]),
            axis=1,
            return_counts=True,
        )
        inside: list[Counter[int]] = [Counter() for _ in self.sizes]
        whole: Counter[int] = Counter()
        for group, code, count in zip(*pairs.tolist(), often.tolist(), strict=True):
            whole[values[code]] += count
            if group >= 0:
                inside[group][values[code]] += count
        return inside, whole, len(whole)

    def lines(self, name: str) -> Sequence[Sequence[str]]:
        """The hierarchy of a sensitive column, or nothing."""
        return next(
            (
                column.get("hierarchy") or ()
                for column in self.certificate.columns
                if column["name"] == name
            ),
            (),
        )


def _groups(found: Table, certificate: Certificate) -> _Groups:
    quasi = [column["name"] for column in certificate.columns if column["role"] == "quasi"]
    if certificate.method == "coincident":
        quasi = ["group"]
    rows = np.zeros(found.rows, dtype=np.int64)
    suppressed = np.full(found.rows, certificate.parameters.get("suppressed") == "star")
    for name in quasi:
        column = found.column(name)
        _, rows = np.unique(rows * len(column.keys) + column.codes, return_inverse=True)
        suppressed &= np.isin(
            column.codes, [code for code, key in enumerate(column.keys) if key == "*"]
        )
    if suppressed.sum() > _number(certificate.parameters.get("suppression", 0)) * found.rows:
        suppressed[:] = (
            False  # more than may be suppressed, so that they are a group like any other
        )
    _, compact = np.unique(rows[~suppressed], return_inverse=True)
    rows = np.full(found.rows, -1, dtype=np.int64)
    rows[~suppressed] = compact
    return _Groups(np.bincount(compact).tolist(), found, certificate, rows.tolist())


@dataclass(frozen=True)
class _Worst(_Groups):
    """Parts of unions of groups, of which sizes are known: with the most frequent values of the union, which are the worst."""

    groups: _Groups
    unions: Sequence[Sequence[int]]

    def histograms(self, name: str, level: int = 0) -> tuple[list[Counter[int]], Counter[int], int]:
        shown, whole, number = self.groups.histograms(name, level)
        together: dict[Sequence[int], Counter[int]] = {
            tuple(union): Counter() for union in self.unions
        }
        for union, bag in together.items():
            for one in union:
                bag.update(shown[one])
        found = []
        for size, union in zip(self.sizes, self.unions, strict=True):
            taken = Counter[int]()
            for value, often in together[tuple(union)].most_common():
                taken[value], size = min(often, size), size - min(often, size)
            found.append(+taken)
        return found, whole, number


Check = Callable[[_Groups, Mapping[str, Any]], int]


def _k_anonymity(groups: _Groups, model: Mapping[str, Any]) -> int:
    return sum(size < model["k"] for size in groups.sizes)


def _distinct(groups: _Groups, model: Mapping[str, Any]) -> int:
    inside, _, _ = groups.histograms(model["column"])
    return sum(len(values) < model["l"] for values in inside)


def _p_sensitive(groups: _Groups, model: Mapping[str, Any]) -> int:
    inside, _, _ = groups.histograms(model["column"])
    return sum(len(values) < model["p"] or values.total() < model["k"] for values in inside)


def _entropy(groups: _Groups, model: Mapping[str, Any]) -> int:
    least = math.log(Fraction(model["l"])) * (1 - _SLACK) - _SLACK
    inside, _, _ = groups.histograms(model["column"])
    return sum(
        -sum(n / v.total() * math.log(n / v.total()) for n in v.values()) < least for v in inside
    )


def _recursive(groups: _Groups, model: Mapping[str, Any]) -> int:
    inside, _, _ = groups.histograms(model["column"])
    descending = [sorted(values.values(), reverse=True) for values in inside]
    return sum(
        counts[0] >= Fraction(model["c"]) * sum(counts[model["l"] - 1 :]) for counts in descending
    )


def _t_closeness(groups: _Groups, model: Mapping[str, Any]) -> int:
    if model["distance"] == "hierarchical":
        height = len(groups.lines(model["column"])[0]) - 1
        far = [Fraction(0)] * len(groups.sizes)
        for level in range(height):
            inside, whole, _ = groups.histograms(model["column"], level)
            far = [
                sum_ + _moved(values, whole) / height
                for sum_, values in zip(far, inside, strict=True)
            ]
    else:
        inside, whole, values = groups.histograms(model["column"])
        ordered = model["distance"] == "ordered"
        far = [
            _carried(group, whole) / max(values - 1, 1) if ordered else _moved(group, whole)
            for group in inside
        ]
    return sum(distance > Fraction(model["t"]) for distance in far)


def _moved(group: Counter[int], whole: Counter[int]) -> Fraction:
    """Half the sum of the differences of shares."""
    size, records = group.total(), whole.total()
    return Fraction(
        sum(max(0, n * records - whole[value] * size) for value, n in group.items()), size * records
    )


def _carried(group: Counter[int], whole: Counter[int]) -> Fraction:
    """What passes from each value to the next, summed."""
    size, records, carry, moved = group.total(), whole.total(), 0, 0
    for value in sorted(whole):
        carry += group[value] * records - whole[value] * size
        moved += abs(carry)
    return Fraction(moved, size * records)


def _beta_likeness(groups: _Groups, model: Mapping[str, Any]) -> int:
    inside, whole, _ = groups.histograms(model["column"])
    records, beta = whole.total(), Fraction(model["beta"])

    def fails(group: Counter[int]) -> bool:
        for value, n in group.items():
            gain = Fraction(n * records, group.total() * whole[value]) - 1
            limit = -math.log(whole[value] / records) * (1 + _SLACK) + _SLACK
            if gain > beta or (model["enhanced"] and gain > 0 and gain > limit):
                return True
        return False

    return sum(map(fails, inside))


def _delta_disclosure(groups: _Groups, model: Mapping[str, Any]) -> int:
    inside, whole, values = groups.histograms(model["column"])
    records, delta = whole.total(), float(Fraction(model["delta"])) * (1 + _SLACK) + _SLACK

    def fails(group: Counter[int]) -> bool:
        shares = (n * records / (group.total() * whole[value]) for value, n in group.items())
        return (model["every_value"] and len(group) < values) or any(
            abs(math.log(share)) >= delta for share in shares
        )

    return sum(map(fails, inside))


_CHECKS: dict[str, Check] = {
    "k-anonymity": _k_anonymity,
    "distinct-diversity": _distinct,
    "p-sensitivity": _p_sensitive,
    "entropy-diversity": _entropy,
    "recursive-diversity": _recursive,
    "t-closeness": _t_closeness,
    "beta-likeness": _beta_likeness,
    "delta-disclosure": _delta_disclosure,
}

"""`verify`: does a written release keep what its certificate says? Uses `tables`, `hierarchy` and the certificate, nothing else.

It shares no code with methods or models on purpose: every property is computed again, plainly, from the released file. So a
mistake there does not hide itself here. The doors use it.
"""

import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import FileError, ShoalError, listed
from shoal.hierarchy.tree import Hierarchy
from shoal.kinds import Kind
from shoal.release import Certificate
from shoal.tables import Table, table

__all__ = ["unchecked", "verify"]

_SLACK = 1e-9  # relative; logarithms are floats, and a group is only faulted where it clearly fails
_OF_THE_INPUT = ("t-closeness", "beta-likeness", "delta-disclosure")  # these compare groups with the whole input


def verify(certificate: str | os.PathLike[str], released: str | os.PathLike[str]) -> list[str]:
    """What does not hold about a certificate and its table, one line each; empty if nothing is wrong.

    What the files alone cannot show is passed over: `unchecked` names it.
    """
    try:
        paper = Certificate.from_json(_read(Path(certificate)).decode("utf-8"))
        content = _read(Path(released))
    except UnicodeDecodeError:
        return ["the certificate is no text in UTF-8"]
    except ShoalError as error:
        return [str(error)]
    try:
        return list(_failures(paper, content))
    except ShoalError as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError):
        return ["the certificate is none that Shoal wrote: a part of it is missing, or not what it should be"]


def _failures(paper: Certificate, content: bytes) -> Iterator[str]:
    if paper.file is None:
        raise FileError("the certificate belongs to no file; write the release with Release.write")
    if hashlib.sha256(content).hexdigest() != paper.file["sha256"]:
        yield "the table is not the one that the certificate was written for: their digests differ"
    try:
        found = _table(content, paper)
    except ShoalError as error:
        yield str(error)
        return
    if list(found.names) != [column["name"] for column in paper.columns]:
        yield "the table has other columns than the certificate says"
        return
    groups = _groups(found, paper)
    for model in paper.parameters.get("models", ()):
        if model["is"] in _CHECKS and _checkable(model, paper):
            failing = _CHECKS[model["is"]](groups, model)
            if failing:
                yield f"{failing:,} of {len(groups.sizes):,} groups do not satisfy {_called(model)}"


def unchecked(certificate: Certificate | str | os.PathLike[str]) -> list[str]:
    """The models on a certificate (or in its file) that the released files alone cannot show, and `verify` passes over."""
    if not isinstance(certificate, Certificate):
        certificate = Certificate.from_json(_read(Path(certificate)).decode("utf-8", errors="replace"))
    return [_called(model) for model in certificate.parameters.get("models", ()) if not _checkable(model, certificate)]


def _checkable(model: Mapping[str, Any], certificate: Certificate) -> bool:
    if model["is"] not in _OF_THE_INPUT:
        return model["is"] in _CHECKS
    kept_back = [column["name"] for column in certificate.columns if column.get("hierarchy", ()) is None]
    return certificate.whole and model["column"] not in kept_back


def _called(model: Mapping[str, Any]) -> str:
    return f"{model['is']} ({', '.join(f'{key} = {value}' for key, value in model.items() if key not in ('is', 'hierarchy'))})"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None


def _table(content: bytes, certificate: Certificate) -> Table:
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
        frame = readers[form](content)
    except (pl.exceptions.PolarsError, OSError):
        raise FileError(f"the table is no readable {form} file") from None
    declared = {
        column["name"]: Kind.TEXT if column["role"] == "quasi" else Kind(column["type"])
        for column in certificate.columns
        if column["name"] in frame.columns
    }
    return table(frame, types=declared)


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
        pairs, often = np.unique(np.stack([np.asarray(self.rows), column.codes.astype(np.int64)]), axis=1, return_counts=True)
        inside: list[Counter[int]] = [Counter() for _ in self.sizes]
        whole: Counter[int] = Counter()
        for group, code, count in zip(*pairs.tolist(), often.tolist(), strict=True):
            whole[values[code]] += count
            if group >= 0:
                inside[group][values[code]] += count
        return inside, whole, len(whole)

    def lines(self, name: str) -> Sequence[Sequence[str]]:
        """The hierarchy of a sensitive column, or nothing."""
        return next((column.get("hierarchy") or () for column in self.certificate.columns if column["name"] == name), ())


def _groups(found: Table, certificate: Certificate) -> _Groups:
    quasi = [column["name"] for column in certificate.columns if column["role"] == "quasi"]
    rows = np.zeros(found.rows, dtype=np.int64)
    suppressed = np.full(found.rows, certificate.parameters.get("suppressed") == "star")
    for name in quasi:
        column = found.column(name)
        _, rows = np.unique(rows * len(column.keys) + column.codes, return_inverse=True)
        suppressed &= np.isin(column.codes, [code for code, key in enumerate(column.keys) if key == "*"])
    _, compact = np.unique(rows[~suppressed], return_inverse=True)
    rows = np.full(found.rows, -1, dtype=np.int64)
    rows[~suppressed] = compact
    return _Groups(np.bincount(compact).tolist(), found, certificate, rows.tolist())


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
    return sum(-sum(n / v.total() * math.log(n / v.total()) for n in v.values()) < least for v in inside)


def _recursive(groups: _Groups, model: Mapping[str, Any]) -> int:
    inside, _, _ = groups.histograms(model["column"])
    descending = [sorted(values.values(), reverse=True) for values in inside]
    return sum(counts[0] >= Fraction(model["c"]) * sum(counts[model["l"] - 1 :]) for counts in descending)


def _t_closeness(groups: _Groups, model: Mapping[str, Any]) -> int:
    if model["distance"] == "hierarchical":
        height = len(groups.lines(model["column"])[0]) - 1
        far = [Fraction(0)] * len(groups.sizes)
        for level in range(height):
            inside, whole, _ = groups.histograms(model["column"], level)
            far = [sum_ + _moved(values, whole) / height for sum_, values in zip(far, inside, strict=True)]
    else:
        inside, whole, values = groups.histograms(model["column"])
        ordered = model["distance"] == "ordered"
        far = [_carried(group, whole) / max(values - 1, 1) if ordered else _moved(group, whole) for group in inside]
    return sum(distance > Fraction(model["t"]) for distance in far)


def _moved(group: Counter[int], whole: Counter[int]) -> Fraction:
    """Half the sum of the differences of shares."""
    size, records = group.total(), whole.total()
    return Fraction(sum(max(0, n * records - whole[value] * size) for value, n in group.items()), size * records)


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
        return (model["every_value"] and len(group) < values) or any(abs(math.log(share)) >= delta for share in shares)

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

"""`ArxProject`: what an ARX project says of its input. What ARX made of it is not read.

The parts in XML and CSV come first; details that only the serialised configuration has (models with
their numbers, the aggregate of the quality model, the research subset) are taken from there. Uses
`archive`, `java` and `formats`; recipes use it.
"""

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

import polars as pl

from shoal.arguments import typed
from shoal.arx.archive import Archive, decoded
from shoal.arx.java import JavaObject, load
from shoal.data.kinds import Kind
from shoal.data.schema import Role
from shoal.zones import owner_only

__all__ = ["ArxProject", "Attribute", "Criterion", "Quality", "read"]

_ROLES = {
    "IDENTIFYING_ATTRIBUTE": Role.IDENTIFYING,
    "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI,
    "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": Role.INSENSITIVE,
}
_KINDS = {
    "String": Kind.TEXT,
    "Ordinal": Kind.TEXT,
    "Integer": Kind.INTEGER,
    "Decimal": Kind.FLOAT,
    "Date/Time": Kind.DATE,
}
_CONFIGURED = "input/config.dat"
_TRANSFORMED = {
    "MICRO_AGGREGATION": "microaggregation",
    "CLUSTERING_AND_MICRO_AGGREGATION": "clustering and microaggregation",
}


@dataclass(frozen=True)
class Attribute:
    """A column of a project.

    datatype: as ARX calls it; `kind` is what that is here
    format, language: how values are written, where that is not usual
    lines: of its hierarchy; None if it has none
    lowest, highest: the levels that it may be released at; None where all are allowed
    weight: its weight in the quality model, 0.5 unless changed
    transformed: how values are replaced, where that is not by generalising
    is_response: whether ARX predicts it
    """

    name: str
    role: Role
    datatype: str
    format: str | None
    language: str | None
    lines: tuple[tuple[str, ...], ...] | None
    lowest: int | None
    highest: int | None
    weight: float
    transformed: str | None
    is_response: bool

    def __repr__(self) -> str:
        return f"<Attribute {self.name!r}, {self.role.value}, {self.datatype}>"

    @property
    def kind(self) -> Kind:
        return _KINDS.get(self.datatype, Kind.TEXT)


@dataclass(frozen=True)
class Criterion:
    """A privacy model of a project: the name of its class, and its numbers and texts by name.

    column: the sensitive column that it is about, if there is one
    said: how ARX writes it
    lines: of the hierarchy that it measures by, if it has one of its own
    scheme: levels by column that it fixes, of differential privacy
    """

    name: str
    numbers: Mapping[str, float]
    column: str | None = None
    said: str = ""
    estimator: str | None = None
    lines: tuple[tuple[str, ...], ...] | None = None
    scheme: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Quality:
    """The quality model: the name of its class, how columns are put together, and the coefficient
    of generalisation and suppression.
    """

    name: str
    aggregate: str | None
    balance: float | None


@owner_only
@dataclass(frozen=True, eq=False)
class ArxProject:
    """An ARX project: its input and its settings. It holds the private table.

    frame: the input, all of it as texts
    subset: which rows are the research subset; None if that is all
    suppression: the share of records that may be suppressed
    settings: other settings that are not the usual ones, in words
    """

    title: str
    version: str
    frame: pl.DataFrame
    attributes: tuple[Attribute, ...]
    criteria: tuple[Criterion, ...]
    quality: Quality
    suppression: float
    subset: pl.Series | None
    settings: tuple[str, ...]
    search_budget: float | None = None

    name: ClassVar[str] = "arx project"

    def attribute(self, name: str) -> Attribute | None:
        return next((one for one in self.attributes if one.name == name), None)


@typed
def read(path: str | os.PathLike[str]) -> ArxProject:
    """An ARX project from its file (.deid).

    FileError if it is not a whole project; no message has a value of its table.
    """
    with Archive(path) as archive:
        try:
            return _ProjectReader(archive).project()
        except RecursionError:
            raise archive.broken("nests objects deeper than any project") from None


class _ProjectReader:
    """A project on its way out of an archive."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.about = archive.xml("project.xml")
        self.config = archive.xml("input/config.xml")
        self.saved: JavaObject | None = None
        if _CONFIGURED in archive:
            what = f"{archive.where}: {_CONFIGURED}"
            self.saved = load(archive.part(_CONFIGURED), what)
            if self.saved.name != "ModelConfiguration":
                raise archive.broken(f"has another object than a configuration in {_CONFIGURED!r}")

    @property
    def setting(self) -> JavaObject | None:
        return self.saved.object("config") if self.saved is not None else None

    def project(self) -> ArxProject:
        version = ""
        if "metadata.xml" in self.archive:
            version = _text(self.archive.xml("metadata.xml"), "version") or ""
        frame = self.frame()
        attributes = self.attributes()
        if [one.name for one in attributes] != frame.columns:
            raise self.archive.broken("has other columns in its data than in its definition")
        setting = self.setting
        return ArxProject(
            title=_text(self.about, "name") or "",
            version=version,
            frame=frame,
            attributes=attributes,
            criteria=self.criteria(),
            quality=self.quality(),
            suppression=self.suppression(),
            subset=self.subset(frame.height),
            settings=tuple(self.settings()),
            search_budget=None if setting is None else setting.number("dpSearchBudget"),
        )

    def frame(self) -> pl.DataFrame:
        separator = _text(self.about, "separator", strip=False) or ";"
        if len(separator) != 1 or ord(separator) > 127 or separator in '"\r\n':
            raise self.archive.broken("separates the cells of its data by something unusual")
        content = self.archive.part("data/input.csv")
        try:
            return pl.read_csv(
                io.BytesIO(content),
                separator=separator,
                quote_char='"',
                infer_schema=False,
            ).fill_null("")
        except Exception:
            # Its message may show a line.
            raise self.archive.broken("has data that is not a table") from None

    def attributes(self) -> tuple[Attribute, ...]:
        weights = self.weights()
        modes = {} if self.saved is None else self.saved.map("transformationModes")
        found = []
        for given in self.archive.xml("input/definition.xml").iter("assigment"):
            name = _text(given, "name", strip=False) or ""
            role = _text(given, "type")
            if role not in _ROLES:
                raise self.archive.broken(f"gives column {name!r} a role that is not known")
            transformed = _TRANSFORMED.get(str(modes.get(name)))
            found.append(
                Attribute(
                    name=name,
                    role=_ROLES[role],
                    datatype=_text(given, "datatype") or "String",
                    format=_text(given, "format", strip=False) or None,
                    language=_text(given, "locale"),
                    lines=self.lines(_text(given, "ref", strip=False)),
                    lowest=_level(_text(given, "min")),
                    highest=_level(_text(given, "max")),
                    weight=weights.get(name, 0.5),
                    transformed=transformed or self.aggregated(given, name),
                    is_response=_text(given, "response") == "true",
                )
            )
        if not found:
            raise self.archive.broken("defines no columns")
        return tuple(found)

    def aggregated(self, given: Element, name: str) -> str | None:
        """How values are put together, where the definition says so."""
        function = _text(given, "microaggregationFunction")
        return f"microaggregation ({function.lower()})" if function else None

    def lines(self, reference: str | None) -> tuple[tuple[str, ...], ...] | None:
        """The lines of a hierarchy that the definition refers to."""
        if not reference:
            return None
        name = f"input/{reference}"
        if not name.startswith("input/hierarchies/") or name not in self.archive:
            raise self.archive.broken("refers to a hierarchy that it does not have")
        separator = _text(self.about, "separator", strip=False) or ";"
        text = io.StringIO(decoded(self.archive.part(name)), newline="")
        try:
            rows = [tuple(row) for row in csv.reader(text, delimiter=separator) if row]
        except csv.Error:
            raise self.archive.broken(
                f"has a hierarchy {reference!r} that is not a table"
            ) from None
        return tuple(rows) or None

    def weights(self) -> dict[str, float]:
        weights = {}
        for given in self.config.iter("attributeWeight"):
            name, weight = _text(given, "attribute", strip=False), _number(_text(given, "weight"))
            if name is not None and weight is not None:
                weights[name] = weight
        return weights

    def suppression(self) -> float:
        said = _number(_text(self.config, "relativeMaxOutliers"))
        return min(max(said if said is not None else 0.0, 0.0), 1.0)

    def criteria(self) -> tuple[Criterion, ...]:
        if self.setting is None:
            said = [one.text or "" for one in self.config.iter("criterion")]
            return tuple(map(criterion_of, said))
        objects = [one for one in self.setting.list("criteria") if isinstance(one, JavaObject)]
        return tuple(sorted(map(_criterion, objects), key=lambda one: (one.name, one.said)))

    def quality(self) -> Quality:
        said = _text(self.config, "metric") or ""
        metric = None if self.setting is None else self.setting.object("metric")
        # The text is what ARX shows; a serialised model may keep its coefficient further inside.
        shown = re.match(r"Loss \(([0-9.Ee-]+)/", said)
        balance = None if shown is None else _number(shown[1])
        if metric is None:
            return Quality("MetricMDNMLoss" if shown else said, None, balance)
        if balance is None:
            inner = metric.object("defaultMetric") or metric
            balance = inner.number("gsFactor")
        return Quality(metric.name, metric.text("function"), balance)

    def subset(self, rows: int) -> pl.Series | None:
        """Which rows are the research subset, if a model uses it."""
        chosen = None if self.saved is None else self.saved.object("researchSubset")
        if chosen is None:
            return None
        length, words = chosen.whole("length"), chosen.list("array")
        if length != rows or len(words) != (rows + 63) // 64 or not _are_words(words):
            raise self.archive.broken("has a research subset of another table")
        is_in = [bool(words[row >> 6] >> (row & 63) & 1) for row in range(rows)]
        return None if all(is_in) else pl.Series(is_in, dtype=pl.Boolean)

    def settings(self) -> list[str]:
        """Settings that change what ARX does, and have no counterpart."""
        found = []
        if _text(self.config, "practicalMonotonicity") == "true":
            found.append("practical monotonicity, which makes ARX faster and its result worse")
        types = {one.text for one in self.config.iter("type")}
        if types - {"QUASI_IDENTIFYING_ATTRIBUTE"}:
            found.append("suppressing values of other columns than quasi-identifying ones")
        setting = self.setting
        if setting is not None and setting.get("heuristicSearchEnabled") is True:
            found.append("the heuristic search and its limits of time and steps")
        if setting is not None and setting.get("utilityBasedMicroaggregation") is True:
            found.append("utility-based microaggregation")
        if self.saved is None:
            found.append(
                "what only a serialised configuration has, which the file lacks: the research "
                "subset, and how the quality model puts columns together"
            )
        return found


def _criterion(given: JavaObject) -> Criterion:
    names = "k l minSize c t b d dMin dMax epsilon delta threshold highestRisk recordsAtRisk"
    numbers = {name: given.number(name) for name in names.split()}
    scheme = given.object("generalization")
    levels = None
    if scheme is not None:
        chosen = scheme.map("levels")
        levels = {str(name): level for name, level in chosen.items() if isinstance(level, int)}
    tree = given.object("hierarchy")
    return Criterion(
        name=given.name,
        numbers={name: value for name, value in numbers.items() if value is not None},
        column=given.text("attribute"),
        estimator=given.text("estimator"),
        lines=None if tree is None else _lines(tree.list("hierarchy")),
        scheme=levels,
    )


def _lines(rows: Sequence[Any]) -> tuple[tuple[str, ...], ...] | None:
    """The lines of a hierarchy that is an array of arrays of texts."""
    if not rows or not all(isinstance(row, list) for row in rows):
        return None
    if not all(isinstance(cell, str) for row in rows for cell in row):
        return None
    return tuple(map(tuple, rows))


_OF = r" for attribute '(?P<column>.*)'"
_N = r"[0-9.eE+-]+"
_SAID = {
    "KAnonymity": rf"(?P<k>{_N})-anonymity",
    "DistinctLDiversity": rf"distinct-(?P<minSize>{_N})-diversity{_OF}",
    "EntropyLDiversity": rf"(?P<estimator>\w+)-entropy-(?P<l>{_N})-diversity{_OF}",
    "RecursiveCLDiversity": rf"recursive-\((?P<c>{_N}),(?P<minSize>{_N})\)-diversity{_OF}",
    "EqualDistanceTCloseness": rf"(?P<t>{_N})-closeness with equal ground-distance{_OF}",
    "OrderedDistanceTCloseness": rf"(?P<t>{_N})-closeness with ordered distance{_OF}",
    "HierarchicalDistanceTCloseness": (
        rf"(?P<t>{_N})-closeness with hierarchical ground-distance{_OF}"
    ),
    "DDisclosurePrivacy": rf"(?P<d>{_N})-disclosure privacy{_OF}",
    "BasicBLikeness": rf"basic-(?P<b>{_N})-likeness{_OF}",
    "EnhancedBLikeness": rf"enhanced-(?P<b>{_N})-likeness{_OF}",
    "EDDifferentialPrivacy": rf"\((?P<epsilon>{_N}),(?P<delta>{_N})\)-DP",
    "SampleUniqueness": rf"\((?P<threshold>{_N})\)-sample-uniqueness",
    "AverageReidentificationRisk": rf"\((?P<threshold>{_N})\)-avg-reidentification-risk",
}
"""How ARX writes models, where the numbers are all there is to say."""


def criterion_of(said: str) -> Criterion:
    """A model by the text that ARX writes for it.

    >>> criterion_of("distinct-3-diversity for attribute 'ill'").numbers
    {'minSize': 3.0}
    """
    for name, pattern in _SAID.items():
        match = re.fullmatch(pattern, said, re.DOTALL)
        if match is None:
            continue
        parts = match.groupdict()
        column, estimator = parts.pop("column", None), parts.pop("estimator", None)
        numbers = {key: _number(part) for key, part in parts.items()}
        if None not in numbers.values():
            known = {key: value for key, value in numbers.items() if value is not None}
            return Criterion(name, known, column, said, estimator)
    return Criterion("", {}, None, said)


def _are_words(words: Sequence[object]) -> bool:
    return all(type(word) is int for word in words)


def _text(element: Element, tag: str, *, strip: bool = True) -> str | None:
    found = element.find(tag)
    if found is None or found.text is None:
        return None
    return found.text.strip() if strip else found.text


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and abs(value) < float("inf") else None


def _level(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 4 else None

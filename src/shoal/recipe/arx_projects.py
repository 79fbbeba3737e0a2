"""`from_arx`: a recipe from an ARX project, with its data and hierarchies beside it.

What has no counterpart is listed, never dropped silently: in the result, and as comments of the
recipe. Where something stricter takes its place, that is listed too. No list has a value of the
table. Uses `arx` and `schema`; the command line and the workbench use it.
"""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import polars as pl

from shoal import __version__
from shoal.arguments import typed
from shoal.arx import ArxProject, Attribute, Criterion
from shoal.arx.formats import converter
from shoal.data import toml
from shoal.data.disk import placing
from shoal.data.hierarchy import Hierarchy, write
from shoal.data.kinds import Kind
from shoal.data.schema import Role
from shoal.errors import FileError, HierarchyError, plural
from shoal.exact.numbers import printed
from shoal.methods.optimal import LARGEST
from shoal.recipe.editing import PLACEHOLDER

__all__ = ["RECIPE", "TakenOver", "from_arx"]

RECIPE = "recipe.toml"
DATA = "data.csv"
POPULATION = "population.csv"

_AGGREGATES = {
    "SUM": "sum",
    "ARITHMETIC_MEAN": "arithmetic mean",
    "GEOMETRIC_MEAN": "geometric mean",
    "MAXIMUM": "maximum",
    "RANK": "rank",
}
_LOSSES = (
    ("MetricMDNMLoss", "granularity"),
    ("MetricMDNMPrecision", "intensity"),
    ("MetricMDPrecision", "intensity"),
    ("MetricMDNU", "entropy"),
    ("MetricSDDiscernability", "discernibility"),
    ("MetricSDNMDiscernability", "discernibility"),
    ("MetricSDAECS", "group_size"),
    ("MetricSDNMAmbiguity", "ambiguity"),
    ("MetricSDNMKLDivergence", "divergence"),
)
"""Quality models by how their classes begin, and the losses that they are here."""

_LN2 = Fraction(693147180559, 10**12)
"""ln 2, rounded down: a smaller δ is stricter."""

_USUAL_WEIGHT = 0.5

_CHEAP = 0.1
"""A coefficient below it lets ARX suppress nearly all records in every step of a recoding."""


@dataclass(frozen=True)
class TakenOver:
    """What became of a project.

    recipe: where the recipe is
    taken: what was taken over, one line each
    left: what was not, or not as it was, each with what to do about it; "?" in the recipe if
        something has to be decided first
    """

    recipe: Path
    taken: tuple[str, ...]
    left: tuple[str, ...]


@typed
def from_arx(project: ArxProject, folder: str | os.PathLike[str]) -> TakenOver:
    """Write a recipe for a project into a new folder, with the data and hierarchies it needs.

    FileError if there is a folder with something in it.
    """
    writing = _Writing(project)
    text = writing.recipe()
    with placing(folder, _require_empty) as part:
        # Others may not read what they may not read in the project.
        part.chmod(0o700)
        writing.write(part)
        (part / RECIPE).write_text(text, encoding="utf-8", newline="\n")
    return TakenOver(Path(folder) / RECIPE, tuple(writing.taken), tuple(writing.left))


def _require_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is not empty", "give another folder, or move it away")


@dataclass
class _TakenColumn:
    """A column on its way into a recipe: its values and hierarchy as Shoal reads them."""

    attribute: Attribute
    kind: Kind
    values: pl.Series
    tree: Hierarchy | None = None
    file: str = ""
    levels: tuple[int, ...] = ()
    """The levels of ARX's hierarchy that are kept, in order."""

    rooted: bool = False
    """Whether a root was put above."""

    @property
    def name(self) -> str:
        return self.attribute.name

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest level."""
        assert self.tree is not None
        lowest, highest = self.attribute.lowest, self.attribute.highest
        low = sum(level < lowest for level in self.levels) if lowest is not None else 0
        top = len(self.levels) - 1
        if highest is not None:
            top = max(sum(level <= highest for level in self.levels) - 1, 0)
        return min(low, top), top


@dataclass
class _Writing:
    project: ArxProject
    taken: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    # The table

    @cached_property
    def columns(self) -> list[_TakenColumn]:
        names: set[str] = set()
        columns = []
        for attribute in self.project.attributes:
            column = self._column(attribute)
            self._grow(column)
            if column.tree is not None:
                column.file = _file_name(attribute.name, names)
            columns.append(column)
        return columns

    def _column(self, attribute: Attribute) -> _TakenColumn:
        texts = self.project.frame[attribute.name]
        kind = attribute.kind
        if attribute.datatype not in ("String", "Ordinal", "Integer", "Decimal", "Date/Time"):
            self._leave(f"column {attribute.name!r}: the type {attribute.datatype!r}", "it is text")
        if kind is Kind.TEXT:
            return _TakenColumn(attribute, kind, texts)
        convert = converter(kind, attribute.format, attribute.language)
        if isinstance(convert, str):
            self._leave(f"column {attribute.name!r}: {convert}", "it is text")
            return _TakenColumn(attribute, Kind.TEXT, texts)
        converted: dict[str, str] = {}
        misfits = False
        for text in texts.unique().to_list():
            try:
                converted[text] = convert(text)
            except (ValueError, OverflowError):
                misfits = True
        if misfits:
            # How many would be told to everybody who gets the recipe.
            self._leave(
                f"column {attribute.name!r}: the type {attribute.datatype!r}, which not all of its "
                "values have",
                "it is text; clean the column, then give it a type",
            )
            return _TakenColumn(attribute, Kind.TEXT, texts)
        return _TakenColumn(
            attribute, kind, texts.replace_strict(converted, return_dtype=pl.String)
        )

    # Hierarchies

    def _grow(self, column: _TakenColumn) -> None:
        """Give a column its hierarchy, if it needs one."""
        attribute = column.attribute
        lines = attribute.lines
        if attribute.role is Role.SENSITIVE:
            lines = self._sensitive_lines(column)
        elif attribute.role is not Role.QUASI:
            if lines is not None:
                self._leave(
                    f"column {attribute.name!r}: its hierarchy, since it is {attribute.role.value}",
                    "give it the role quasi to generalise it",
                )
            return
        if lines is None:
            if attribute.role is Role.QUASI:
                self._unchanged(column)
            return
        kept, left_out = _nested(lines)
        if left_out:
            numbers = ", ".join(map(str, left_out))
            self._leave(
                f"column {attribute.name!r}: levels {numbers} of its hierarchy, which do not lie "
                "inside those above them",
                "a hierarchy is a tree in Shoal",
            )
        column.levels = kept
        rows = self._leaves(column, [[line[level] for level in kept] for line in lines])
        column.rooted = len({row[-1] for row in rows}) > 1
        if column.rooted:
            rows = [[*row, "*"] for row in rows]
        try:
            column.tree = Hierarchy.from_lines(rows, column.kind)
        except HierarchyError as error:
            raise error.at(f"the hierarchy of column {attribute.name!r}") from None

    def _sensitive_lines(self, column: _TakenColumn) -> tuple[tuple[str, ...], ...] | None:
        """What a model of distances goes by: a hierarchy, or an order of texts."""
        attribute = column.attribute
        for one in self.project.criteria:
            if one.column != attribute.name:
                continue
            if one.name == "HierarchicalDistanceTCloseness":
                return one.lines or attribute.lines
            if one.name == "OrderedDistanceTCloseness" and attribute.datatype == "Ordinal":
                order = [text for text in (attribute.format or "").splitlines() if text]
                return tuple((text, "*") for text in order) or None
        if attribute.lines is not None:
            self._leave(
                f"column {attribute.name!r}: its hierarchy, since no model measures by it",
                "give it the role quasi to generalise it",
            )
        return None

    def _leaves(self, column: _TakenColumn, rows: list[list[str]]) -> list[list[str]]:
        """Lines with leaves as the values are written; one for missing values is left out."""
        if column.kind is Kind.TEXT:
            return rows
        convert = converter(column.kind, column.attribute.format, column.attribute.language)
        assert not isinstance(convert, str)
        written = []
        for row in rows:
            try:
                leaf = convert(row[0])
            except (ValueError, OverflowError):
                raise HierarchyError(
                    f"a value is not of the type {column.attribute.datatype!r}",
                    "correct it in ARX, or make the column a string there",
                    where=f"the hierarchy of column {column.name!r}",
                ) from None
            if leaf:
                written.append([leaf, *row[1:]])
        return written

    def _unchanged(self, column: _TakenColumn) -> None:
        """A column without a hierarchy: its values as they are, and nothing above them."""
        values = [text for text in column.values.unique().to_list() if text]
        values.sort(key=lambda text: column.kind.key(text))  # type: ignore[arg-type,return-value]
        rows = [[text, "*"] for text in values or ["*"]]
        column.tree = Hierarchy.from_lines(rows, column.kind, derived=True)
        column.levels, column.rooted = (0,), True
        self._leave(
            f"column {column.name!r}: it has no hierarchy, and is released unchanged as in ARX",
            "its values were taken from the rows; write a hierarchy of what may occur",
        )

    # The recipe

    def recipe(self) -> str:
        """The text of the recipe; fills the lists of what was taken over and what was not."""
        project = self.project
        columns = self.columns
        rows = "all rows" if project.subset is None else "the research subset"
        self.taken.append(f"data: {rows}, {plural(len(columns), 'column')}")
        method = list(self._method())
        body = [*self._source(), *self._roles(), *self._hierarchies(), "", *method]
        self._further()
        head = [
            _comment(f"Taken over from a project of ARX {project.version} by Shoal {__version__}."),
            *_commented("Taken over:", self.taken),
            *_commented("Not taken over, or not as it was:", self.left),
            'missing = "category"',
        ]
        return "\n".join([*head, *body]) + "\n"

    def _source(self) -> Iterator[str]:
        yield from ("", "[source]", f'path = "{DATA}"', 'separator = ","', 'encoding = "utf-8"')
        yield from ("", "[source.types]")
        for column in self.columns:
            yield f'{toml.key(column.name)} = "{column.kind.value}"'
        kinds = [column for column in self.columns if column.kind is not Kind.TEXT]
        if kinds:
            words = ", ".join(f"{column.name!r} ({column.kind.value})" for column in kinds)
            self.taken.append(f"types: {words}; all others are text")

    def _roles(self) -> Iterator[str]:
        yield from ("", "[roles]")
        for column in self.columns:
            yield f'{toml.key(column.name)} = "{column.attribute.role.value}"'
        for role in Role:
            names = [column.name for column in self.columns if column.attribute.role is role]
            if names:
                self.taken.append(f"{role.value}: {', '.join(map(repr, names))}")

    def _hierarchies(self) -> Iterator[str]:
        with_trees = [column for column in self.columns if column.tree is not None]
        for column in with_trees:
            yield from ("", f"[hierarchies.{toml.key(column.name)}]")
            yield f"file = {toml.quoted(f'hierarchies/{column.file}')}"
            yield 'separator = ";"'
        if with_trees:
            self.taken.append(f"hierarchies: of {plural(len(with_trees), 'column')}")

    @cached_property
    def _quasi(self) -> list[_TakenColumn]:
        return [column for column in self.columns if column.attribute.role is Role.QUASI]

    def _method(self) -> Iterator[str]:
        private = [one for one in self.project.criteria if one.name == "EDDifferentialPrivacy"]
        yield "[method]"
        if private:
            yield from self._safepub(private[0])
            return
        yield 'name = "optimal"'
        yield f"suppression = {_number(self.project.suppression)}"
        yield 'suppressed = "star"  # as in ARX; "drop" leaves suppressed records out'
        self.taken.append(f"suppression limit: {self.project.suppression:g}")
        yield from self._levels()
        yield from self._loss()
        nodes = prod(top - low + 1 for low, top in (column.bounds for column in self._quasi))
        if nodes > LARGEST:
            yield 'search = "greedy"  # the lattice is too large for the best node'
            self._leave(
                f"the search: {nodes:,} combinations of levels are too many to find the best",
                "a greedy search takes one that no other level of a single column betters",
            )
        models = [line for one in self.project.criteria for line in self._model(one)]
        if not models:
            models = [f'"{PLACEHOLDER}"']
            self._leave("models: there is none that can be taken over", "name one in the recipe")
        yield "models = ["
        yield from (f"    {model}," for model in _needed(models))
        yield "]"

    def _levels(self) -> Iterator[str]:
        bounds = {column.name: (*column.bounds, column.tree) for column in self._quasi}
        floor = {name: low for name, (low, _, _) in bounds.items() if low > 0}
        ceiling = {
            name: top for name, (_, top, tree) in bounds.items() if tree and top < tree.height
        }
        for option, levels in (("floor", floor), ("ceiling", ceiling)):
            if levels:
                yield f"{option} = {_inline(levels)}"
        asked = [
            column.name
            for column in self._quasi
            if column.attribute.lowest is not None or column.attribute.highest is not None
        ]
        if asked:
            self.taken.append(f"levels: of {', '.join(map(repr, asked))}")

    def _loss(self) -> Iterator[str]:
        quality = self.project.quality
        loss = next((loss for begin, loss in _LOSSES if quality.name.startswith(begin)), None)
        weights = self._weights()
        is_known = loss is not None
        if loss is None:
            self._leave(
                f"the quality model {quality.name!r}", "granularity (ARX's Loss) is used instead"
            )
            loss = "granularity"
        yield f'loss = "{loss}"'
        if loss not in ("granularity", "intensity", "entropy"):
            self.taken.append(f"quality model: {loss}")
            if weights:
                self._leave("the weights of columns", f"{loss} is not a loss of columns")
            if quality.balance not in (None, 0.5):
                self._leave("the coefficient of generalisation and suppression", "it is 0.5")
            return
        aggregate = _AGGREGATES.get(quality.aggregate or "")
        if aggregate is None:
            aggregate = "geometric mean"
            self._leave(
                "how the quality model puts columns together",
                "the geometric mean is used, which is ARX's default",
            )
        yield f'aggregate = "{aggregate}"'
        balance = 0.5 if quality.balance is None else min(max(quality.balance, 0.0), 1.0)
        if balance != _USUAL_WEIGHT:
            yield f"balance = {_number(balance)}"
        if balance < _CHEAP:
            self._leave(
                f"local recoding, which a coefficient of suppression of {balance:g} is for",
                "one step suppresses most records where that costs little; balance = 0.5 does not",
            )
        if weights:
            yield f"importance = {_inline(weights)}"
            self.taken.append(f"weights: of {', '.join(map(repr, weights))}")
        if is_known:
            self.taken.append(
                f"quality model: {loss}, {aggregate}, coefficient of suppression {balance:g}"
            )

    def _weights(self) -> dict[str, str]:
        """The importance of columns that do not weigh as usual."""
        given = {column.name: column.attribute.weight for column in self._quasi}
        if len(set(given.values())) <= 1:
            return {}
        shares = {name: weight / _USUAL_WEIGHT for name, weight in given.items() if weight >= 0}
        return {name: _number(share) for name, share in shares.items() if share != 1}

    # Models

    def _model(self, one: Criterion) -> Iterator[str]:
        """A model as the recipe writes it, or nothing."""
        said = _said(one)
        column = self.project.attribute(one.column) if one.column is not None else None
        if one.name == "Inclusion":
            return
        if one.column is not None and (column is None or column.role is not Role.SENSITIVE):
            self._leave(f"{said}: its column is not sensitive", "give the column that role")
            return
        if one.name == "DPresence":
            yield from self._presence(one, said)
            return
        if one.name == "KAnonymity" and "k" in one.numbers:
            self.taken.append(f"model: {said}")
            yield f'"{int(one.numbers["k"])}-anonymity"'
            return
        model = _COUNTERPARTS.get(one.name, lambda _: None)(one)
        if model is not None:
            self.taken.append(f"model: {said}")
            if one.name == "EntropyLDiversity" and (one.estimator or "").upper() == "GRASSBERGER":
                self._leave(f"{said}: Grassberger's estimate", "Shannon's entropy is used")
            yield _inline(model)
            return
        k = _stricter(one)
        if k is None:
            self._leave(f"model: {said}", "there is no counterpart; choose another model")
            return
        self._leave(f"model: {said}", f"{k}-anonymity takes its place, which implies it")
        yield f'"{k}-anonymity"'

    def _presence(self, one: Criterion, said: str) -> Iterator[str]:
        lowest, highest = one.numbers.get("dMin"), one.numbers.get("dMax")
        if lowest is None or highest is None or self.project.subset is None:
            self._leave(f"model: {said}", "it has no research subset")
            return
        self.taken.append(f"model: {said}, with all rows as the population")
        yield _inline(
            {
                "model": toml.quoted("delta-presence"),
                "lowest": _number(lowest),
                "highest": _number(highest),
                "population": toml.quoted(POPULATION),
            }
        )

    def _safepub(self, one: Criterion) -> Iterator[str]:
        epsilon, delta = one.numbers.get("epsilon"), one.numbers.get("delta")
        if epsilon is None or delta is None or not epsilon > 0:
            raise FileError("the project has differential privacy without ε or δ")
        yield 'name = "safepub"'
        yield f'epsilon = "{_exact(epsilon)}"'
        yield f'delta = "{_exact(delta)}"'
        yield 'definition = "probabilistic"  # as in ARX; "standard" keeps more records'
        self.taken.append(f"model: {_said(one)}, by SafePub, which ARX uses as well")
        yield from self._levels_by(one.scheme)
        budget = self.project.search_budget
        if one.scheme is None and budget is not None and 0 < budget < epsilon:
            split = 1 - Fraction(_exact(budget)) / Fraction(_exact(epsilon))
            yield f'split = "{printed(split)}"'
        for other in self.project.criteria:
            if other is not one and other.name != "Inclusion":
                self._leave(f"model: {_said(other)}", "SafePub promises differential privacy alone")
        self._leave(
            "suppression limit, quality model and weights",
            "SafePub scores by granularity, and groups by every released column",
        )

    def _levels_by(self, scheme: Mapping[str, int] | None) -> Iterator[str]:
        """Levels that were fixed beforehand, or bounds of them."""
        if scheme is None:
            yield from self._levels()
            return
        levels = {}
        for column in self._quasi:
            level = scheme.get(column.name, 0)
            levels[column.name] = max(sum(kept <= level for kept in column.levels) - 1, 0)
        yield f"levels = {_inline(levels)}"
        self.taken.append("levels: all of them, as the generalisation scheme fixes them")

    # What is left

    def _further(self) -> None:
        for column in self.columns:
            attribute = column.attribute
            if attribute.transformed is not None and attribute.role is Role.QUASI:
                self._leave(
                    f"column {column.name!r}: {attribute.transformed}",
                    "it is generalised by its hierarchy",
                )
            if attribute.is_response:
                self._leave(
                    f"column {column.name!r}: being a response variable",
                    "judge the release with: shoal judge --classes",
                )
            if attribute.datatype == "Ordinal" and column.tree is None:
                self._leave(f"column {column.name!r}: the order of its texts", "it is text")
        for setting in self.project.settings:
            self._leave(setting, "it is ignored")
        self._leave("what ARX made: the output, chosen transformations, filters, statistics", "")

    def _leave(self, what: str, instead: str) -> None:
        self.left.append(f"{what}; {instead}" if instead else what)

    # The files

    def write(self, folder: Path) -> None:
        frame = pl.DataFrame([column.values.alias(column.name) for column in self.columns])
        subset = self.project.subset
        released = frame if subset is None else frame.filter(subset)
        _write_private(released, folder / DATA)
        if any(one.name == "DPresence" for one in self.project.criteria) and subset is not None:
            names = [column.name for column in self._quasi]
            _write_private(frame.select(names), folder / POPULATION)
        (folder / "hierarchies").mkdir()
        for column in self.columns:
            if column.tree is not None:
                write(column.tree, folder / "hierarchies" / column.file)


def _write_private(frame: pl.DataFrame, path: Path) -> None:
    """Write rows of the private table, for nobody but the owner."""
    path.touch(mode=0o600)
    frame.write_csv(path)


def _on_column(model: str, one: Criterion, **numbers: str) -> dict[str, str] | None:
    """A model of a sensitive column; None if a number of it is missing."""
    found = {}
    for option, name in numbers.items():
        value = one.numbers.get(name)
        if value is None or one.column is None:
            return None
        found[option] = _number(value)
    return {"model": toml.quoted(model), "column": toml.quoted(one.column or ""), **found}


def _closeness(distance: str, one: Criterion) -> dict[str, str] | None:
    model = _on_column("t-closeness", one, t="t")
    return None if model is None else {**model, "distance": toml.quoted(distance)}


def _disclosure(one: Criterion) -> dict[str, str] | None:
    """ARX takes logarithms to base 2, and Shoal natural ones."""
    model = _on_column("delta-disclosure", one, delta="d")
    if model is None:
        return None
    return {**model, "delta": toml.quoted(str(Fraction(_exact(one.numbers["d"])) * _LN2))}


def _enhanced(one: Criterion) -> dict[str, str] | None:
    model = _on_column("beta-likeness", one, beta="b")
    return None if model is None else {**model, "enhanced": "true"}


_COUNTERPARTS: Mapping[str, Any] = {
    "DistinctLDiversity": lambda one: _on_column("distinct-diversity", one, l="minSize"),
    "EntropyLDiversity": lambda one: _on_column("entropy-diversity", one, l="l"),
    "RecursiveCLDiversity": lambda one: _on_column("recursive-diversity", one, c="c", l="minSize"),
    "EqualDistanceTCloseness": lambda one: _closeness("equal", one),
    "OrderedDistanceTCloseness": lambda one: _closeness("ordered", one),
    "HierarchicalDistanceTCloseness": lambda one: _closeness("hierarchical", one),
    "BasicBLikeness": lambda one: _on_column("beta-likeness", one, beta="b"),
    "EnhancedBLikeness": _enhanced,
    "DDisclosurePrivacy": _disclosure,
}
"""Models by the name of their class, as a recipe writes them."""


def _stricter(one: Criterion) -> int | None:
    """The k of a k-anonymity that implies a model about the whole table, or about a population."""
    if one.name == "KMap":
        k = one.numbers.get("k")
        return None if k is None else int(k)
    if one.name in ("SampleUniqueness", "PopulationUniqueness"):
        return 2
    if one.name == "AverageReidentificationRisk":
        risks = [one.numbers.get("threshold"), one.numbers.get("highestRisk")]
        sizes = [math.ceil(1 / Fraction(_exact(risk))) for risk in risks if risk]
        return max(sizes, default=None)
    return None


def _needed(models: Sequence[str]) -> list[str]:
    """Models without repetitions, and of several k-anonymities the strictest."""
    sizes = {model: re.fullmatch(r'"(\d+)-anonymity"', model) for model in dict.fromkeys(models)}
    largest = max((int(match[1]) for match in sizes.values() if match), default=0)
    return [model for model, match in sizes.items() if match is None or int(match[1]) == largest]


def _said(one: Criterion) -> str:
    """A model in words, by its class and numbers."""
    numbers = ", ".join(f"{name} {value:g}" for name, value in one.numbers.items())
    of = "" if one.column is None else f" of {one.column!r}"
    name = one.name or "a model that is not known"
    return f"{name}{of} ({numbers})" if numbers else f"{name}{of}"


def _nested(lines: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The levels that lie inside those above them, and the others."""
    width = max(map(len, lines))
    if any(len(line) != width for line in lines):
        raise HierarchyError("lines of a hierarchy have different numbers of levels")
    kept = [0]
    left_out: list[int] = []
    for level in range(1, width):
        above: dict[str, str] = {}
        is_inside = all(
            above.setdefault(line[kept[-1]], line[level]) == line[level] for line in lines
        )
        (kept if is_inside else left_out).append(level)
    return tuple(kept), tuple(left_out)


def _file_name(name: str, taken: set[str]) -> str:
    """A name for the file of a column, whatever the column is called."""
    base = re.sub(r"[^\w -]+", "_", name, flags=re.ASCII).strip(" .")[:60] or "column"
    file, number = f"{base}.csv", 1
    while file.lower() in taken:
        number += 1
        file = f"{base}-{number}.csv"
    taken.add(file.lower())
    return file


def _exact(number: float) -> str:
    """A number as it was typed: the shortest text that gives it."""
    return str(number) if isinstance(number, int) else repr(float(number))


def _number(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _inline(section: Mapping[str, object]) -> str:
    """An inline table; values are written already."""
    return "{ " + ", ".join(f"{toml.key(key)} = {value}" for key, value in section.items()) + " }"


def _commented(head: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield _comment(head)
        yield from (_comment(f"- {line}") for line in lines)


def _comment(text: str) -> str:
    """A text as a comment; what comes from the file may have line ends, which would end it."""
    return f"# {re.sub(r'[^ -~¡-￿]', ' ', text)}"

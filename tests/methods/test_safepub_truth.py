"""An adversary who knows all but the coins: the exact law of what the shipped SafePub puts out, on
every tiny table.

Chance is replaced by enumeration (`enumeration`), an outcome is all that leaves (the table's rows
and types, the certificate), and three claims of docs/proofs/safepub.md are checked for all
neighbours in both orders: the search keeps (ε_search, 0), a release at given levels
(ε_anonymisation, δ), and both together (ε, δ). Broken twins, each a small change to the shipped
code, must fail the same check.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise, product
from typing import Any, ClassVar, Protocol
from unittest import mock

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack.coins import ONE, ZERO, Enumerated, Interval, exp, law, probabilistic, standard
from shoal.chance import Chance
from shoal.counts import Counts
from shoal.data import bounding
from shoal.data.hierarchy import Hierarchy
from shoal.data.schema import Schema
from shoal.data.tables import Table
from shoal.exact.epsilon import Epsilon
from shoal.lattice import Node
from shoal.methods import safepub
from shoal.methods.method import Progress
from shoal.methods.safepub import SafePub, SafePubPlan, SearchChoice
from shoal.methods.searching import search
from shoal.methods.searching.scores import SCORES, Candidates, Score, Scores
from shoal.methods.searching.search import sampled_k
from shoal.privacy.calculus import (
    Definition,
    SafePubParameters,
    safepub_parameters,
    search_epsilon,
)
from shoal.releases.release import Release

Law = dict[Any, Interval]
Database = tuple[int, ...]  # how often each of a world's records occurs

TREE = Hierarchy.from_lines([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])
PAIR = Hierarchy.from_lines([["0", "*"], ["1", "*"]])


@dataclass(frozen=True)
class World:
    """A schema with few possible records. Columns without a hierarchy are sensitive, and are the
    classes.
    """

    columns: Mapping[str, Sequence[str]]
    hierarchies: Mapping[str, Hierarchy]

    @cached_property
    def records(self) -> list[tuple[str, ...]]:
        return list(product(*self.columns.values()))

    def table(self, database: Database) -> Table:
        rows = [
            record
            for record, count in zip(self.records, database, strict=True)
            for _ in range(count)
        ]
        frame = pl.DataFrame(rows, schema=dict.fromkeys(self.columns, pl.String), orient="row")
        sensitive = [name for name in self.columns if name not in self.hierarchies]
        return shoal.table(
            frame,
            quasi=list(self.hierarchies),
            sensitive=sensitive,
            hierarchies=self.hierarchies,
            missing="refuse",
        )

    def databases(self, most: int) -> list[Database]:
        """All with at most so many records."""
        places = range(len(self.records))
        return [
            tuple(chosen.count(place) for place in places)
            for size in range(most + 1)
            for chosen in combinations_with_replacement(places, size)
        ]

    def neighbours(self, databases: Sequence[Database]) -> Iterator[tuple[Database, Database]]:
        """Pairs of which one has a record more, both ways."""
        known = set(databases)
        for one in databases:
            for place in range(len(self.records)):
                other = (*one[:place], one[place] + 1, *one[place + 1 :])
                if other in known:
                    yield one, other
                    yield other, one


CHAIN = World({"x": "abc"}, {"x": TREE})
GRID = World({"x": "01", "y": "01"}, {"x": PAIR, "y": PAIR})
CLASS = World({"x": "01", "ill": "uv"}, {"x": PAIR})

# The law of a release, in parts


class SampleSize(Protocol):
    """What the size of a search's sample depends on, besides the number of records."""

    @property
    def k(self) -> int: ...

    @property
    def beta(self) -> Fraction: ...


def noised(total: int, parameters: SampleSize, more: Sequence[int] = ()) -> type[Enumerated]:
    """Chance whose noise has one outcome for all values that lead to the same size of the search's
    groups.

    `sampled_k` does not rise with the number of records it is told, so these values are a run,
    whose probability is known. `more` are further numbers of records at which a run begins.
    """

    def size(about: int) -> int:
        return sampled_k(parameters.k, parameters.beta, about)

    far = 1
    while size(far) > min(search.LEAST, parameters.k):
        far *= 2
    starts = [1]  # what is below counts as one record
    while size(starts[-1]) > size(far):
        starts.append(
            bisect_left(
                range(far + 1), 1 - size(starts[-1]), starts[-1], key=lambda about: -size(about)
            )
        )

    starts = sorted({*starts, *more})

    def discrete_laplace(chance: Enumerated, scale: Fraction) -> int:
        ratio = exp(-1 / scale)

        def beyond(z: int) -> Interval:
            """The probability of at least z."""
            power = exp(-abs(z if z > 0 else 1 - z) / scale)
            tail = power / (ONE + ratio)
            return tail if z > 0 else ONE - tail

        tails = [ONE, *(beyond(start - total) for start in starts[1:]), ZERO]
        weights = [more - less for more, less in pairwise(tails)]
        return (
            starts[chance.branch([Interval(max(w.low, Fraction(0)), w.high) for w in weights])]
            - total
        )

    return type("Noised", (Enumerated,), {"discrete_laplace": discrete_laplace})


CHOSEN_ROWS = bounding.chosen_rows
SELECT, WALK = search.select, search.walk


class Remembered:
    """A function whose law is worked out once for all calls alike: the same law, in less time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.known: dict[Any, tuple[list[Any], list[Interval]]] = {}

    def __call__(self, *given: Any) -> Any:
        place = next(i for i, value in enumerate(given) if isinstance(value, Chance))
        key = tuple(_key(value) for i, value in enumerate(given) if i != place)
        if key not in self.known:
            found = law(
                lambda chance: _plain(self.function(*given[:place], chance, *given[place + 1 :]))
            )
            self.known[key] = list(found), list(found.values())
        outcomes, weights = self.known[key]
        taken = outcomes[given[place].branch(weights)]
        return np.array(taken, dtype=np.bool_) if self.function is CHOSEN_ROWS else taken


def _key(value: Any) -> Any:
    match value:
        case Counts():
            return (
                tuple(codes.tobytes() for codes in value.codes),
                value.count.tobytes(),
                value.cards,
            )
        case np.ndarray():
            return value.tobytes()
        case Candidates():
            return value.names, value.low, value.high
    return getattr(value, "name", value) if not callable(value) else None


def _plain(value: Any) -> Any:
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


def silent(done: int, total: int, what: str) -> None:
    pass


def choice(method: SafePub, table: Table) -> Law:
    """The law of the node that is searched for, and of the parameters to release it with."""
    plan = method.plan(table.schema)
    if plan.searching is None:
        return {SearchChoice(plan.candidates.low, plan.parameters): ONE}
    counts = table.count(table.schema.released)
    kind = noised(counts.total, plan.parameters, (MANY,) if method.beta == "auto" else ())
    return law(lambda chance: method.choose(plan, counts, chance, silent), kind)


def everything(release: Release) -> tuple[str, str, str]:
    """All that leaves: the rows in their order, their types, and the certificate, whose number is
    always the same here.
    """
    assert len(release.certificate.number) == 32
    return str(release.table.rows()), str(release.table.schema), release.certificate.to_json()


def given_levels(method: SafePub, table: Table, chosen: SearchChoice) -> Law:
    """The law of what leaves once the search has found a node."""
    with mock.patch.object(type(method), "choose", return_value=chosen):
        return law(lambda chance: everything(method.release(table, chance)))


def together(choices: Law, releases: Mapping[SearchChoice, Law]) -> Law:
    return {
        outcome: choices[chosen] * w
        for chosen, outcomes in releases.items()
        for outcome, w in outcomes.items()
    }


def whole(method: SafePub, table: Table) -> Law:
    """The law of what leaves, from beginning to end."""
    return law(
        lambda chance: everything(method.release(table, chance)),
        noised(
            table.rows,
            method.plan(table.schema).parameters,
            (MANY,) if method.beta == "auto" else (),
        ),
    )


# The check


@dataclass
class Found:
    """The least δ that the laws allow for each claim, and what was promised."""

    search: Interval
    anonymisation: Interval
    whole: Interval
    delta: Fraction

    @property
    def kept(self) -> bool:
        return self.search.high == 0 and max(self.anonymisation.high, self.whole.high) <= self.delta

    @property
    def broken(self) -> set[str]:
        """The claims that surely fail."""
        claims = {"search": self.search.low > 0}
        claims |= {
            name: getattr(self, name).low > self.delta for name in ("anonymisation", "whole")
        }
        return {name for name, fails in claims.items() if fails}


def growth(epsilon: Epsilon | None) -> Interval:
    if epsilon is None:
        return ONE
    low, high = epsilon.exponential(60)
    return Interval(low, high)


def most(values: Iterator[Interval]) -> Interval:
    found = list(values)
    return Interval(max(v.low for v in found), max(v.high for v in found))


def examine(
    method: SafePub,
    world: World,
    databases: Sequence[Database],
    law_of: Callable[..., Law] | None = None,
) -> Found:
    """Check all neighbours among the databases; `law_of` gives the law of all that leaves, by
    itself from its parts.
    """
    tables = {database: world.table(database) for database in databases}
    plan = SafePub.plan(method, tables[databases[0]].schema)
    choices = {database: choice(method, table) for database, table in tables.items()}
    releases = {
        database: {node: given_levels(method, table, node) for node in choices[database]}
        for database, table in tables.items()
    }
    wholes = {
        database: law_of(method, table)
        if law_of
        else together(choices[database], releases[database])
        for database, table in tables.items()
    }
    least = standard if method.definition == "standard" else probabilistic
    pairs = list(world.neighbours(databases))
    return Found(
        most(
            standard(choices[one], choices[other], growth(plan.searching)) for one, other in pairs
        ),
        most(
            least(releases[one][node], releases[other][node], growth(plan.parameters.epsilon))
            for one, other in pairs
            for node in releases[one].keys() & releases[other].keys()
        ),
        most(least(wholes[one], wholes[other], growth(method.epsilon)) for one, other in pairs),
        method.delta,
    )


def searches(method: SafePub, world: World, databases: Sequence[Database]) -> Interval:
    """The least δ that the search alone needs, where 0 is claimed."""
    choices = {database: choice(method, world.table(database)) for database in databases}
    searching = method.plan(world.table(databases[0]).schema).searching
    return most(
        standard(choices[one], choices[other], growth(searching))
        for one, other in world.neighbours(databases)
    )


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, name in ((search, "select"), (search, "walk"), (bounding, "chosen_rows")):
        monkeypatch.setattr(room, name, Remembered(getattr(room, name)))


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a tiny table is too large to be searched as a whole, so that the noisy count matters."""
    monkeypatch.setattr(search, "WANTED", 2)
    monkeypatch.setattr(search, "LEAST", 1)


MANY = 3
"""From how many records on a larger β is chosen, by the rule of these tests."""


def two_betas(
    epsilon: Epsilon, delta: Fraction, definition: Definition, records: int
) -> SafePubParameters:
    """One of two β is chosen by the number of records, so that the choice tells of it."""
    beta = Fraction(1, 8) if records < MANY else Fraction(3, 5)
    return safepub_parameters(epsilon, delta, definition, beta=beta)


@pytest.fixture
def two_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safepub, "chosen_parameters", two_betas)


# What ships


FIXED = {
    "k = 3": SafePub("1/2", "1/5", "probabilistic", levels={"x": 0}),
    "k = 2, standard": SafePub("1/2", "1/5", "standard", levels={"x": 0}),
    "k = 4": SafePub(1, "1/5", "probabilistic", levels={"x": 1}),
    "k = 4, standard": SafePub(1, "1/5", "standard", levels={"x": 1}),
    "k = 1": SafePub("1/4", "2/5", "probabilistic", levels={"x": 0}),
    "k = 2, few drawn": SafePub("1/2", "1/50", levels={"x": 0}, beta="1/8"),
    "k = 3, few drawn": SafePub("1/2", "0.031", "probabilistic", levels={"x": 0}, beta="1/8"),
    "k = 4, many drawn": SafePub("1/2", "1/5", levels={"x": 1}, beta="3/5"),
    "k = 2, chosen": SafePub(1, "1/5", levels={"x": 0}, beta="auto", records=9),
}
# Half an ε with k = 3 for the release, one for the search.
SEARCHING = SafePub("3/2", "1/5", "probabilistic", split="1/3")
STANDARD = replace(SEARCHING, definition="standard")  # k = 2
CLASSES = replace(SEARCHING, score="classification", classes=("ill",))


@pytest.mark.parametrize("method", FIXED.values(), ids=FIXED)
def test_a_release_at_given_levels_keeps_its_promise(method: SafePub) -> None:
    found = examine(method, CHAIN, CHAIN.databases(5))
    assert found.kept
    assert found.whole.low > found.delta / 2  # so that there is something to break


@pytest.mark.parametrize("score", [name for name in SCORES if name != "classification"])
def test_a_search_keeps_its_share_by_every_score(score: str) -> None:
    assert searches(replace(SEARCHING, score=score), CHAIN, CHAIN.databases(4)).high == 0
    assert searches(replace(STANDARD, score=score), GRID, GRID.databases(3)).high == 0


def test_a_search_for_classification_keeps_its_share() -> None:
    assert searches(CLASSES, CLASS, CLASS.databases(4)).high == 0


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("score", [name for name in SCORES if name != "classification"])
def test_a_search_on_a_small_part_of_the_table_keeps_its_share(score: str) -> None:
    assert len({sampled_k(4, Fraction(1, 2), about) for about in range(20)}) == 4
    assert (
        searches(SafePub(2, "1/5", split="1/2", score=score), CHAIN, CHAIN.databases(3)).high == 0
    )


def test_a_search_of_a_random_part_of_the_lattice_keeps_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "LARGEST", 2)
    monkeypatch.setattr(search, "PART", 2)
    assert searches(SEARCHING, CHAIN, CHAIN.databases(4)).high == 0


@pytest.mark.parametrize("steps", [1, 3])
def test_a_walk_keeps_its_share(steps: int) -> None:
    walking = replace(SEARCHING, search="walk", steps=steps)
    assert searches(walking, CHAIN, CHAIN.databases(4)).high == 0
    assert searches(walking, GRID, GRID.databases(2)).high == 0


@pytest.mark.parametrize("method", [SEARCHING, STANDARD], ids=["probabilistic", "standard"])
def test_search_and_release_together_keep_the_promise(method: SafePub) -> None:
    found = examine(method, CHAIN, CHAIN.databases(4))
    assert found.kept
    assert found.whole.low > 0


@pytest.mark.usefixtures("small_samples")
def test_columns_that_leave_as_they_are_keep_the_promise() -> None:
    found = examine(CLASSES, CLASS, CLASS.databases(3))
    assert found.kept
    assert found.whole.low > 0


CHOSEN = SafePub("3/2", "1/5", split="1/3", beta="auto")


@pytest.mark.usefixtures("two_chances")
def test_a_chance_chosen_by_a_noisy_number_of_records_keeps_the_promise() -> None:
    databases = CHAIN.databases(4)
    assert len({chosen.parameters for chosen in choice(CHOSEN, CHAIN.table(databases[-1]))}) == 2
    found = examine(CHOSEN, CHAIN, databases)
    assert found.kept
    assert found.whole.low > 0


@pytest.mark.slow
@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("method", [SEARCHING, STANDARD], ids=["probabilistic", "standard"])
@pytest.mark.parametrize("score", SCORES)
def test_every_table_of_five_records_keeps_the_promise(method: SafePub, score: str) -> None:
    world = CLASS if score == "classification" else GRID
    assert examine(
        replace(method, score=score, classes=("ill",) * (world is CLASS)), world, world.databases(5)
    ).kept


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("method", [SEARCHING, STANDARD], ids=["probabilistic", "standard"])
@pytest.mark.parametrize("database", [(0, 0, 0), (2, 0, 0), (1, 0, 1)])
def test_the_law_of_a_release_is_that_of_its_parts(method: SafePub, database: Database) -> None:
    """The search and the release share only the node, and what is remembered changes no law."""
    table = CHAIN.table(database)
    parts = together(
        choices := choice(method, table),
        {node: given_levels(method, table, node) for node in choices},
    )
    with mock.patch.multiple(search, select=SELECT, walk=WALK):
        found = whole(method, table)
    assert found.keys() == parts.keys()
    for outcome, weight in found.items():
        assert abs(float(weight - parts[outcome])) < 1e-80


# People with several rows

PEOPLE = [("a",), ("b",), ("a", "a"), ("a", "b")]
"""The rows that a person may have."""


@dataclass(frozen=True)
class Crowd(World):
    """A world whose records are people, each with the rows of one of PEOPLE."""

    @cached_property
    def records(self) -> list[tuple[str, ...]]:
        return PEOPLE

    def table(self, database: Database) -> Table:
        people = [rows for rows, count in zip(PEOPLE, database, strict=True) for _ in range(count)]
        rows = [(str(who), value) for who, values in enumerate(people) for value in values]
        frame = pl.DataFrame(rows, schema={"who": pl.String, "x": pl.String}, orient="row")
        return shoal.table(
            frame, quasi=["x"], identifying=["who"], hierarchies=self.hierarchies, missing="refuse"
        )


CROWD = Crowd({}, {"x": TREE})
ONE_ROW = SafePub("1/2", "1/5", "standard", levels={"x": 0}, unit="who")
TWO_ROWS = SafePub(1, "3/5", "standard", levels={"x": 0}, unit="who", rows=2)


def crowds(method: SafePub, people: int) -> Interval:
    """The least δ for neighbours that differ in one person."""
    laws = {}
    for database in CROWD.databases(people):
        table = CROWD.table(database)
        total = sum(
            min(method.rows, len(rows)) * count
            for rows, count in zip(PEOPLE, database, strict=True)
        )
        parameters = method.plan(table.schema).parameters
        laws[database] = law(
            lambda chance: everything(method.release(table, chance)),  # noqa: B023
            noised(total, parameters),
        )
    pairs = CROWD.neighbours(list(laws))
    return most(standard(laws[one], laws[other], growth(method.epsilon)) for one, other in pairs)


@pytest.mark.parametrize("method", [ONE_ROW, TWO_ROWS], ids=["one row", "two rows"])
def test_a_person_with_several_rows_is_protected_as_a_whole(method: SafePub) -> None:
    found = crowds(method, 3)
    assert method.delta / 2 < found.low <= found.high <= method.delta


def test_a_person_with_several_rows_is_protected_through_a_search() -> None:
    method = SafePub(2, "3/5", "standard", split="1/2", unit="who", rows=2, ceiling={"x": 1})
    assert crowds(method, 2).high <= Fraction(3, 5)


class Unpaid(SafePub):
    """A person's rows are bounded, and paid for as if they were one."""

    def plan(self, schema: Schema) -> SafePubPlan:
        return replace(ONE_ROW, epsilon=self.epsilon, delta=self.delta).plan(schema)


class Unbounded(SafePub):
    """All rows of a person are used, and paid for as if they were one."""

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        unbound = replace(twin(SafePub, self), unit=None)
        return unbound.release(replace(table, rows_are_people=True), chance, progress=progress)


def twin(kind: type[SafePub], method: SafePub) -> SafePub:
    return kind(**{field.name: getattr(method, field.name) for field in fields(method)})


def test_a_persons_rows_that_are_not_paid_for_are_caught() -> None:
    assert crowds(twin(Unpaid, TWO_ROWS), 3).low > TWO_ROWS.delta
    assert crowds(twin(Unbounded, ONE_ROW), 3).low > ONE_ROW.delta


# Twins, each a small change to what ships; the same check finds them


class Fewer(SafePub):
    """k is one too small."""

    def plan(self, schema: Schema) -> SafePubPlan:
        plan = super().plan(schema)
        return replace(plan, parameters=replace(plan.parameters, k=plan.parameters.k - 1))


class Unsampled(SafePub):
    """Every record is drawn."""

    def plan(self, schema: Schema) -> SafePubPlan:
        plan = super().plan(schema)
        return replace(plan, parameters=replace(plan.parameters, beta=Fraction(1)))


class Placeholders(SafePub):
    """Suppressed records leave as empty rows."""

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        made = super().release(table, chance, progress=progress)
        return replace(made, table=made.table.clear(made.suppressed).vstack(made.table))


class Sized(SafePub):
    """The certificate says how many records were drawn."""

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        with samples_kept() as samples:
            made = super().release(table, chance, progress=progress)
        told = {**made.certificate.derived, "sample": samples[-1].total}
        return replace(made, certificate=replace(made.certificate, derived=told))


class Twice(SafePub):
    """The sample that was searched is the one that is released."""

    def release(
        self, table: Table, chance: Chance | None = None, *, progress: Progress | None = None
    ) -> Release:
        with samples_kept(again=True):
            return super().release(table, chance, progress=progress)


@contextmanager
def samples_kept(again: bool = False) -> Iterator[list[Counts]]:
    """Notes the samples that are drawn; `again` gives the first of them ever after."""
    samples: list[Counts] = []
    shipped = search.drawn

    def drawn(counts: Counts, share: Fraction, chance: Chance) -> Counts:
        if not (again and samples):
            samples.append(shipped(counts, share, chance))
        return samples[-1]

    with mock.patch.object(safepub, "drawn", drawn), mock.patch.object(search, "drawn", drawn):
        yield samples


@pytest.mark.parametrize("kind", [Fewer, Unsampled, Placeholders, Sized])
@pytest.mark.parametrize("method", ["k = 3", "k = 2, standard", "k = 2, few drawn"])
def test_twins_of_the_release_are_caught(kind: type[SafePub], method: str) -> None:
    assert "whole" in examine(twin(kind, FIXED[method]), CHAIN, CHAIN.databases(3)).broken


def test_a_k_that_is_too_small_for_a_larger_chance_is_caught() -> None:
    many = FIXED["k = 4, many drawn"]
    assert "whole" in examine(twin(Fewer, many), CHAIN, CHAIN.databases(5)).broken
    usual = replace(many, beta=None).plan(CHAIN.table((0, 0, 0)).schema).parameters.k

    class Careless(SafePub):
        """Draws more often, with the k of the usual chance."""

        def plan(self, schema: Schema) -> SafePubPlan:
            plan = super().plan(schema)
            return replace(plan, parameters=replace(plan.parameters, k=usual))

    assert "whole" in examine(twin(Careless, many), CHAIN, CHAIN.databases(5)).broken


def paper(*given: Any) -> Node:
    """The walk as it is printed: line 10 takes the best pivot by its true score."""
    chance = next(value for value in given if isinstance(value, Chance))
    with mock.patch.object(chance, "permute_and_flip", lambda scores, rate: int(np.argmax(scores))):
        return WALK(*given)


def test_the_papers_line_10_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "walk", Remembered(paper))
    method = SafePub(2, "1/5", split="1/2", search="walk", steps=2)
    assert examine(method, CHAIN, CHAIN.databases(4)).broken >= {"search", "whole"}


# A score that tells as much as it may: of the others, tiny tables do not show how far they can go


@dataclass(frozen=True)
class Telling:
    """As many as there are "b" for level 0, "a" for level 1 and a lead of 3: one record moves one
    score by 1.
    """

    name: ClassVar[str] = "telling"
    claimed: Fraction = Fraction(1)

    def spread(self, nodes: Candidates, k: int) -> Fraction:
        return self.claimed

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        a, b = (int(sample.count[sample.codes[0] == code].sum()) for code in (0, 1))
        return Told([b, a + 3, 0])


@dataclass(frozen=True)
class Told:
    scores: list[int]
    unit: Fraction = Fraction(1)

    def of(self, node: Node) -> int:
        return self.scores[node[0]]

    def permute_and_flip(self, chance: Chance, rate: Fraction, progress: object = None) -> Node:
        return (chance.permute_and_flip(np.array(self.scores), rate * self.unit),)


class Sizing(Telling):
    """Tells how large a group is to be, and so about how many records there are."""

    def on(self, nodes: Candidates, sample: Counts, k: int) -> Scores:
        return Told([-100 * (k != search.ramped(size)) for size in (3, 2, 1)])


@pytest.fixture
def telling(monkeypatch: pytest.MonkeyPatch) -> SafePub:
    monkeypatch.setitem(SCORES, "telling", Telling())
    return SafePub(3, "13/50", "probabilistic", split="1/3", score="telling")  # k = 3


LONELY = [(0, 0, 0), (0, 1, 0), (1, 0, 0)]


def test_a_search_that_tells_as_much_as_it_may_keeps_its_share(telling: SafePub) -> None:
    assert searches(telling, CHAIN, LONELY).high == 0


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
def test_the_same_sample_for_search_and_release_is_caught(
    telling: SafePub, definition: Definition
) -> None:
    pair = [(0, 4, 0), (1, 4, 0)]
    if definition == "standard":
        telling = SafePub("5/2", "3/40", definition, split="1/5", score="telling")
        pair = [(0, 6, 0), (1, 6, 0)]
    assert examine(telling, CHAIN, pair).kept
    assert examine(twin(Twice, telling), CHAIN, pair, whole).broken == {"whole"}


def test_half_the_noise_is_caught(telling: SafePub, monkeypatch: pytest.MonkeyPatch) -> None:
    def louder(
        nodes: Candidates, score: Score, sample: Counts, k: int, epsilon: Fraction, *rest: Any
    ) -> Node:
        return SELECT(nodes, score, sample, k, 2 * epsilon, *rest)

    monkeypatch.setattr(search, "select", Remembered(louder))
    assert searches(telling, CHAIN, LONELY).low > 0


def test_a_score_that_claims_to_move_less_than_it_does_is_caught(
    telling: SafePub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCORES, "telling", Telling(Fraction(9, 10)))
    assert searches(telling, CHAIN, LONELY).low > 0


def test_a_budget_that_forgets_how_small_the_sample_is_is_caught(
    telling: SafePub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        search, "search_epsilon", lambda epsilon, share: search_epsilon(epsilon, share / 2)
    )
    assert searches(telling, CHAIN, LONELY).low > 0


class Louder(SafePub):
    """The number of records is known with half the noise."""

    def choose(self, *given: Any) -> SearchChoice:
        chance = next(value for value in given if isinstance(value, Chance))
        shipped = chance.discrete_laplace
        with mock.patch.object(chance, "discrete_laplace", lambda scale: shipped(scale / 2)):
            return super().choose(*given)


class Counted(SafePub):
    """The chance is chosen by the number of records as it is, without noise."""

    def choose(
        self, plan: SafePubPlan, counts: Counts, chance: Chance, progress: Progress
    ) -> SearchChoice:
        chosen = super().choose(plan, counts, chance, progress)
        usual = plan.parameters
        parameters = two_betas(usual.epsilon, usual.delta, usual.definition, counts.total)
        return replace(chosen, parameters=parameters)


@pytest.mark.usefixtures("two_chances")
def test_a_chance_chosen_by_the_true_number_of_records_is_caught() -> None:
    databases = CHAIN.databases(3)
    assert examine(twin(Counted, CHOSEN), CHAIN, databases).broken >= {"search", "whole"}


@pytest.mark.usefixtures("small_samples")
def test_half_the_noise_of_the_count_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORES, "telling", Sizing())
    monkeypatch.setattr(
        search, "COUNTING", Fraction(9, 10)
    )  # by itself it is so little that twice as much is little, too
    method = replace(SEARCHING, score="telling")
    assert searches(method, CHAIN, CHAIN.databases(4)).high == 0
    assert searches(twin(Louder, method), CHAIN, CHAIN.databases(4)).low > 0

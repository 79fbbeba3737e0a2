"""What is measured, one function a thing, each from a `Source`."""

import random
from functools import cache
from pathlib import Path

import polars as pl

import shoal
from bench.sources import Source
from shoal.counts import Counts
from shoal.lattice import Lattice, Node
from shoal.measure.loss import Granularity
from shoal.measure.risk import Assessment
from shoal.measure.risk import assess as assess_table
from shoal.methods.columns import Columns
from shoal.methods.optimal import BestNode, search
from shoal.privacy.models import KAnonymity
from shoal.releases.release import Release

K = 5
GRANULARITY = Granularity()
RATED = 1000
"""Items of the large table of ratings."""

WALK = 300
"""Nodes of the random walk in growth with columns, as in the study this is compared with."""


def read(source: Source) -> pl.DataFrame:
    """R, the yardstick: `polars.read_csv` as it is called; as text where its guess of types fails,
    as on timeuse.
    """
    return pl.read_csv(source.path, separator=";", infer_schema=is_guessed(source.path))


def read_text(source: Source) -> pl.DataFrame:
    """The same without guessing types: what Shoal itself does."""
    return pl.read_csv(source.path, separator=";", infer_schema=False)


@cache
def is_guessed(path: Path) -> bool:
    """Whether Polars can guess the types of a file."""
    try:
        pl.read_csv(path, separator=";")
    except pl.exceptions.ComputeError:
        return False
    return True


def code(source: Source) -> shoal.Table:
    """From a file to a table with every column coded."""
    table = shoal.read(source.path, hierarchies=source.hierarchies())
    table.records(table.names)
    return table


def count(table: shoal.Table) -> Counts:
    """From coded columns to distinct rows."""
    return table.count(table.names)


def assess(source: Source) -> Assessment:
    """From a file to k, groups and risks."""
    table = shoal.read(source.path)
    return assess_table(table, quasi=table.names)


def lattice(table: shoal.Table, counts: Counts) -> Lattice:
    return Lattice(counts, {name: table.hierarchy(name) for name in table.names})


def optimum(nodes: Lattice) -> BestNode:
    """The node with the least granularity under 5-anonymity, any number of records suppressed."""
    return search(nodes, (KAnonymity(K),), GRANULARITY, 1)


def everything(nodes: Lattice) -> dict[Node, float]:
    """The granularity of every node after suppressing groups below 5."""
    return {groups.node: GRANULARITY.limited(groups, K) for groups in nodes.walk()}


def walk(nodes: Lattice) -> float:
    """Three hundred steps from the top downwards at random, each node scored."""
    chance, node, score = random.Random(7), nodes.top, 0.0
    for _ in range(WALK):
        score += GRANULARITY.limited(nodes.groups(node), K)
        node = chance.choice(nodes.finer(node) or [nodes.top])
    return score


def ratings(source: Source) -> shoal.Table:
    """From a file of ratings to a table with every column coded."""
    names = ("person", "item", "rating")
    table = shoal.read(
        source.path,
        identifying=names[:1],
        insensitive=names[1:],
        separator=",",
        types=dict.fromkeys(names, "integer"),
    )
    table.records(names)
    return table


def columns(source: Source, groups: int = 50, most: int = 6) -> Release:
    """From a file of ratings of items 0, 1, … to a release by columns, with a schema that no rating
    decides.
    """
    table = ratings(source)
    schema = [range(start, RATED, groups) for start in range(groups)]
    method = Columns(
        "ln(10)",
        "1e-3",
        most=most,
        schema=schema,  # type: ignore[arg-type]
        person="person",
        item="item",
        value="rating",
    )
    return method.release(table)


def few_columns(source: Source) -> Release:
    """The same with ten groups of a hundred items."""
    return columns(source, 10, 3)


def whole(source: Source) -> BestNode:
    """From a file to the optimum."""
    table = code(source)
    return optimum(lattice(table, count(table)))

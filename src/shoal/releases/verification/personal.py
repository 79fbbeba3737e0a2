"""The check of personal generalisation: does every record keep the utility that is promised?

Uses `labels`.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.data.hierarchy.tree import Hierarchy
from shoal.data.kinds import Kind
from shoal.errors import listed, plural
from shoal.privacy.promises import LowestRisk
from shoal.releases.verification.claims import Claims, is_table_or_none
from shoal.releases.verification.labels import canonical
from shoal.releases.verification.levels import has_level_of_each
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.models import SLACK
from shoal.releases.verification.numbers import is_numeric, number
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.rows import column_of, frequencies
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK"]

_CHOICES = {
    "solver": ("exact", "genetic", "lagrangian", "relaxed"),
    "measure": ("leaves", "log", "depth"),
    "model": ("fixed", "uniform", "harmonic"),
}


@dataclass(frozen=True)
class PersonalClaim:
    """What a certificate of personal generalisation says."""

    claims: Claims
    utility: Fraction
    """The least that any record keeps, by the promise."""

    given_utility: Fraction
    wishes: tuple[Fraction | None, ...]
    """The utility that each wish asks for."""

    choices: Mapping[str, str]
    """Solver, measure and model, by the parameters."""

    promised_choices: Mapping[str, str]
    counted_in: str
    has_register: bool
    commitment: object
    """That to the register; None if there is none."""

    importance: Mapping[str, Fraction]

    @property
    def measure(self) -> str:
        return self.choices["measure"]


def parse(claims: Claims) -> PersonalClaim:
    given = claims.parameters
    promise = claims.promise
    given.require(is_numeric, "weights", "importance", "effort", "pull", "power")
    given.require(is_table_or_none, "register")
    given.require(_is_text_or_none, "choice")
    given.require(_are_wishes, "wishes")
    importance = given.part["importance"]
    return PersonalClaim(
        claims,
        utility=promise.number("utility"),
        given_utility=given.number("utility"),
        wishes=tuple(_utility(wish) for wish in given.part["wishes"].values()),
        choices={name: given.text(name) for name in _CHOICES},
        promised_choices={name: promise.text(name) for name in _CHOICES},
        counted_in=promise.text("counted_in"),
        has_register=given.part["register"] is not None,
        commitment=claims.certificate.derived.get("register_commitment"),
        importance={name: number(weight) for name, weight in importance.items()},
    )


def _utility(wish: Mapping[str, Any]) -> Fraction | None:
    return None if wish["utility"] is None else number(wish["utility"])


def _is_text_or_none(given: object) -> bool:
    return given is None or type(given) is str


def _are_wishes(given: object) -> bool:
    return isinstance(given, Mapping) and all(map(_is_wish, given.values()))


def _is_wish(given: object) -> bool:
    if not isinstance(given, Mapping) or given.keys() != {"is", "utility", "weights"}:
        return False
    numeric = is_numeric(given["utility"]) and is_numeric(given["weights"])
    return given["is"] == "Wish" and numeric


def derivation(record: PersonalClaim) -> Iterator[str]:
    """Whether the promise is that of the parameters."""
    yield from has_level_of_each(record.claims.levels, ())
    if any(record.choices[name] not in known for name, known in _CHOICES.items()):
        yield NOT_TAKEN
    least = min([record.given_utility, *(wish for wish in record.wishes if wish is not None)])
    counted_in = "register" if record.has_register else "table"
    same_choices = record.promised_choices == record.choices
    if not same_choices or record.counted_in != counted_in or record.utility != least:
        yield "the promise is not that of the parameters"
    if record.has_register != (record.commitment is not None):
        yield "a commitment to a register belongs to a certificate that names one, and only there"
    elif record.has_register and not _is_digest(record.commitment):
        yield "the commitment to the register is not a digest"


def _is_digest(given: object) -> bool:
    return isinstance(given, str) and re.fullmatch("[0-9a-f]{64}", given) is not None


def released(record: PersonalClaim, tables: ReleasedTables) -> Iterator[str]:
    """With all hierarchies: whether every record keeps the utility promised.

    A text that occurs at several levels counts by the best of them.
    """
    quasi = record.claims.quasi
    table = tables.table
    if not table.rows or any(name not in tables.hierarchies for name in quasi):
        return
    often = frequencies(table)
    kept = np.zeros(len(often))
    most = 0.0
    for name in quasi:
        column = column_of(table, name)
        kind = record.claims.kind(name)
        tree = tables.hierarchies[name].of_kind(kind).with_missing()
        weight = float(record.importance.get(name, 1))
        utilities = _utilities(tree, record.measure, kind)
        texts = [canonical(key, kind) for key in column.keys]
        wrong = sum(text not in utilities for text in texts)
        if wrong:
            values = plural(wrong, "value")
            yield f"column {name!r} has {values} that its hierarchy does not have"
            return
        kept += weight * np.array([utilities[text] for text in texts])[column.codes]
        most += weight * _largest_utility(tree, record.measure)
    # Utilities are floats, so a record fails only where it clearly does.
    short = int(often[kept < (float(record.utility) - SLACK) * most].sum())
    if short:
        records = plural(short, "record")
        yield f"{records} of {table.rows:,} keep less utility than is promised"


def _utilities(tree: Hierarchy, measure: str, kind: Kind) -> dict[str, float]:
    """The utility of every text of a hierarchy, the best where it is at several levels."""
    leaves = int(tree.cover(tree.height).max())
    utilities: dict[str, float] = {}
    for level, labels in enumerate(tree.labels):
        for label, covered in zip(labels, tree.cover(level).tolist(), strict=True):
            if measure == "depth":
                utility = float(tree.height - level)
            elif measure == "leaves":
                utility = 1 / covered
            else:
                utility = math.log(leaves / covered)
            text = canonical(label, kind)
            utilities[text] = max(utilities.get(text, 0.0), utility)
    return utilities


def _largest_utility(tree: Hierarchy, measure: str) -> float:
    """That of a value as it is."""
    if measure == "depth":
        return tree.height
    if measure == "leaves":
        return 1
    return math.log(int(tree.cover(tree.height).max()))


def trusted(record: PersonalClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that no generalisation of a record with this utility has a lower risk, "
        "for which the input is needed"
    )
    unknown = [name for name in record.claims.quasi if name not in hierarchies]
    if unknown:
        yield OpenEnd(
            "that every record keeps its utility: "
            f"the hierarchies of {listed(unknown)} were not given"
        )
    if len(set(record.wishes)) > 1:
        yield OpenEnd("that people who chose a higher utility than the lowest one keep it")


def free(record: PersonalClaim) -> Iterator[str]:
    yield from ("weights", "importance", "choice", "wishes", "effort", "pull", "power")
    if record.wishes:
        # That of a wish may be below.
        yield "utility"


CHECK = MethodCheck(
    name="personal",
    promises=(LowestRisk.name,),
    parameters="utility solver measure model weights importance choice wishes register"
    " effort pull power unit",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
    whole=lambda record: True,
    derived="register_commitment",
)

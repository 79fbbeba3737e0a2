"""Exact linear algebra in fractions: what the floats of the auditors are judged by."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit.matrices import Floats

__all__ = ["growing", "indicators", "inverse", "rank", "solution", "times"]


def inverse(matrix: Sequence[Sequence[Any]]) -> list[list[Fraction]] | None:
    """The inverse of a square matrix; None if it is singular."""
    n = len(matrix)
    units = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    return _reduced(matrix, units)


def solution(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Fraction] | None:
    """Where as many equations as there are unknowns meet; None if that is not one point."""
    reduced = _reduced(matrix, [[Fraction(side)] for side in right])
    return None if reduced is None else [row[0] for row in reduced]


def _reduced(
    matrix: Sequence[Sequence[Any]], right: Sequence[list[Fraction]]
) -> list[list[Fraction]] | None:
    """What the right side becomes while elimination turns a square matrix into the unit matrix."""
    n = len(matrix)
    rows = [
        [Fraction(each) for each in row] + side for row, side in zip(matrix, right, strict=True)
    ]
    for place in range(n):
        pivot = next((row for row in range(place, n) if rows[row][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [each / rows[place][place] for each in rows[place]]
        for row in range(n):
            factor = rows[row][place]
            if row != place and factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[place], strict=True)]
    return [row[n:] for row in rows]


def times(matrix: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    """A matrix times a vector."""
    return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


def rank(matrix: Sequence[Sequence[int]]) -> int:
    """The rank of a matrix of whole numbers."""
    rows = [[Fraction(each) for each in row] for row in matrix]
    independent = 0
    for column in range(len(rows[0])):
        pivot = next((row for row in range(independent, len(rows)) if rows[row][column]), None)
        if pivot is None:
            continue
        rows[independent], rows[pivot] = rows[pivot], rows[independent]
        for row in range(independent + 1, len(rows)):
            factor = rows[row][column] / rows[independent][column]
            if factor:
                pairs = zip(rows[row], rows[independent], strict=True)
                rows[row] = [a - factor * b for a, b in pairs]
        independent += 1
    return independent


def indicators(sets: Sequence[int], people: int) -> list[list[int]]:
    """One row per set: 1 for those in it."""
    return [[each >> person & 1 for person in range(people)] for each in sets]


def growing(n: int) -> Floats:
    """Rows 1, 1, 0, 1, 0, 1 … from the diagonal on.

    They are independent, and with each the inverse grows by a half or more.
    """
    return np.array(
        [[float(j == i or (j > i and (j - i) % 2)) for j in range(n)] for i in range(n)]
    )

"""The adversary of query auditing: knows the auditor, hears answers and denials, and rules out what would have sounded otherwise.

For maxima and minima, exactly: an auditor compares values with those it has heard and with public bounds, so that of every
person, or of people who were always asked about together, it matters only which of these their value is, or between which.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, inf, prod
from typing import Any

from shoal.audit.maxima import Minima
from shoal.audit.model import Auditor, Number, members
from shoal.errors import InputError, TooLargeError

__all__ = ["Heard", "Possible", "possible"]

LARGEST = 2_000_000
"""Ways to put people between the values heard that are tried at most."""

Bound = Number | float  # of floats only the infinite ones


@dataclass(frozen=True)
class Heard:
    """A question about some people, and the answer; None is a denial."""

    people: int
    answer: Number | None


@dataclass(frozen=True)
class Possible:
    """What someone's value can be: one of these `values`, or within one of the open intervals `between`."""

    values: tuple[Number, ...]
    between: tuple[tuple[Bound, Bound], ...]

    @property
    def known(self) -> Number | None:
        """The value, where it is found out."""
        return self.values[0] if len(self.values) == 1 and not self.between else None

    @property
    def low(self) -> Bound:
        """The least it can be, or what it is above."""
        return min([*self.values, *(low for low, _ in self.between)], default=inf)

    @property
    def high(self) -> Bound:
        """The most it can be, or what it is below."""
        return max([*self.values, *(high for _, high in self.between)], default=-inf)

    @property
    def width(self) -> Bound:
        """How far apart its possible values are."""
        return self.high - self.low


def possible(
    auditor: Auditor[Any],
    transcript: Sequence[Heard],
    *,
    domain: Sequence[Number] = (),
    bounds: tuple[Bound, Bound] | None = None,
    marks: Sequence[Number] = (),
) -> dict[int, Possible]:
    """What the values of those who were asked about can be, given what an auditor of maxima or minima said.

    domain: all values there are, where that is public; else values are real numbers
    bounds: public bounds of these, by themselves the auditor's
    marks: what else the auditor compares values with, besides its bounds and what it has answered
    """
    if isinstance(auditor, Minima):
        mirrored = [
            Heard(each.people, None if each.answer is None else -each.answer) for each in transcript
        ]
        ends = None if bounds is None else (-bounds[1], -bounds[0])
        found = possible(
            auditor.mirrored,
            mirrored,
            domain=[-value for value in domain],
            bounds=ends,
            marks=[-value for value in marks],
        )
        return {
            person: Possible(
                tuple(-value for value in reversed(one.values)),
                tuple((-high, -low) for low, high in reversed(one.between)),
            )
            for person, one in found.items()
        }
    if bounds is None:
        low, high = (getattr(auditor, name, None) for name in ("low", "high"))
        bounds = -inf if low is None else low, inf if high is None else high
    groups, cells = _together(transcript), _cells(auditor, transcript, domain, bounds, marks)
    tops = [
        min(
            (each.answer for each in transcript if each.people & group and each.answer is not None),
            default=inf,
        )
        for group in groups
    ]
    allowed = [[cell for cell in cells if cell.value <= top] for top in tops]
    ways = prod(map(len, allowed))
    if ways > LARGEST:
        raise TooLargeError(
            f"{ways:,} orders of values are possible, more than the {LARGEST:,} that are tried; take fewer questions"
        )
    survivors = list(_survivors(auditor, transcript, groups, allowed))
    if not survivors:
        raise InputError("no table gives this transcript; the auditor or its parameters are others")
    found = {}
    for place, group in enumerate(groups):
        seen = {cells_[place] for cells_ in survivors}
        if group & (
            group - 1
        ):  # only the largest of these people's values matters, and whose it is is open
            top = max(seen, key=lambda cell: cell.value)
            seen = {cell for cell in cells if cell.value <= top.value}
        ordered = sorted(seen, key=lambda cell: cell.value)
        shown = Possible(
            tuple(cell.value for cell in ordered if cell.ends is None),
            tuple(cell.ends for cell in ordered if cell.ends is not None),
        )
        found.update(dict.fromkeys(members(group), shown))
    return found


@dataclass(frozen=True)
class _Cell:
    """A value, or one that stands for all between two `ends`."""

    value: Number
    ends: tuple[Bound, Bound] | None = None


def _together(transcript: Iterable[Heard]) -> list[int]:
    """Sets of people who were always asked about together."""
    found: dict[int, list[int]] = defaultdict(list)
    everyone = 0
    for each in transcript:
        everyone |= each.people
    for person in members(everyone):
        asked = sum(
            1 << number for number, each in enumerate(transcript) if each.people >> person & 1
        )
        found[asked].append(person)
    return [sum(1 << person for person in people) for people in found.values()]


def _cells(
    auditor: Any,
    transcript: Iterable[Heard],
    domain: Sequence[Number],
    bounds: tuple[Bound, Bound],
    further: Sequence[Number],
) -> list[_Cell]:
    """Values that the auditor can tell apart, in order: those heard and what it is told itself, and one between any two."""
    if domain:
        return [_Cell(value) for value in sorted(domain)]
    low, high = bounds
    marks = [
        low,
        high,
        low + getattr(auditor, "width", 0),
        *further,
        *(each.answer for each in transcript),
    ]
    ordered: list[Any] = sorted(
        {mark for mark in marks if mark not in (None, inf, -inf) and low <= mark <= high}
    )
    whole = getattr(auditor, "integers", False)
    if not ordered:
        return [_Cell(0, (low, high))]
    found = [_Cell(mark) for mark in ordered if not whole or mark == int(mark)]
    for one, other in pairwise(ordered):
        if not whole:
            found.append(_Cell(Fraction(one + other) / 2, (one, other)))
        elif (inside := ceil(other) - floor(one) - 1) > 0:
            found.append(_Cell(floor(one) + 1, (one, other) if inside > 1 else None))
    found += [_Cell(floor(ordered[0]) - 1, (low, ordered[0]))] if low == -inf else []
    found += [_Cell(ceil(ordered[-1]) + 1, (ordered[-1], high))] if high == inf else []
    return sorted(found, key=lambda cell: cell.value)


def _survivors(
    auditor: Auditor[Any],
    transcript: Sequence[Heard],
    groups: Sequence[int],
    allowed: Sequence[Sequence[_Cell]],
) -> Iterator[tuple[_Cell, ...]]:
    """The ways to give every group a largest value that would have sounded the same."""
    asked = [
        [place for place, group in enumerate(groups) if group & each.people] for each in transcript
    ]
    said: dict[
        Any, Any
    ] = {}  # number and state by question, state so far and true answer; None if it sounds otherwise
    start = auditor.start()
    distinct = getattr(auditor, "distinct", False)
    for cells in product(*allowed):
        if distinct and len(single := [cell.value for cell in cells if cell.ends is None]) > len(
            set(single)
        ):
            continue
        state = 0, start
        for number, (each, places) in enumerate(zip(transcript, asked, strict=True)):
            answer = max(cells[place].value for place in places)
            if each.answer is not None and answer != each.answer:
                break
            key = number, state[0], answer
            if key not in said:
                entry = auditor.decide(state[1], each.people, answer)
                same = entry.answered == (each.answer is not None)
                said[key] = (len(said) + 1, auditor.after(state[1], entry)) if same else None
            if said[key] is None:
                break
            state = said[key]
        else:
            yield cells

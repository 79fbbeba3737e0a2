"""What views reveal together, as pictures: how sure one can be, and who is exposed.

They name people, and are the owner's. Uses `look` and `checking`, whose results lead here.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from shoal.exact.numbers import percent
from shoal.look.charts import ChartAxis, histogram, shifts
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.views.checking import Checked, ExposedPerson
from shoal.views.model import OUTSIDE

__all__ = ["SHOWN", "of_checked"]

SHOWN = 30
"""People and values that are drawn."""


def of_checked(checked: Checked) -> tuple[Picture, ...]:
    """How sure one can be of the most probable value of everybody, and who is exposed."""
    exposed = (*checked.exposed, *checked.undecided)
    pictures = [_sure(checked)]
    if exposed:
        pictures.append(_exposed(checked, exposed))
    return tuple(pictures)


def _sure(checked: Checked) -> Picture:
    """How many people have a most probable value of which probability."""
    gamma = checked.views.gamma
    edges = sorted({Fraction(tenth, 10) for tenth in range(10)} | {gamma} - {Fraction(1)})
    people = [0] * len(edges)
    for belief in checked.beliefs:
        values = [value for value in belief.shares if value is not OUTSIDE]
        most = max((belief.between(value)[1] for value in values), default=Fraction(0))
        # A bin has its upper end and not its lower one, so that γ itself is within the limit.
        place = max((at for at, edge in enumerate(edges) if edge < most), default=0)
        people[place] += len(belief.people)
    ends = [*edges[1:], Fraction(1)]
    names = [_span(low, high) for low, high in zip(edges, ends, strict=True)]
    mark = None
    if gamma in edges:
        mark = edges.index(gamma), f"more than γ, {percent(float(gamma))}"
    return Picture(
        title=_title(checked),
        sentence=(
            "How many people have a most probable value of which probability, to somebody who has "
            "seen all views. Values with limits of their own may be allowed more or less than γ."
        ),
        head=["probability of the most probable value", "people"],
        rows=[[name, f"{number:,}"] for name, number in zip(names, people, strict=True)],
        draw=partial(
            histogram,
            [(name, {"": float(number)}) for name, number in zip(names, people, strict=True)],
            "probability of the most probable value",
            ChartAxis("people"),
            mark=mark,
            beyond=True,
        ),
        zone=Zone.OWNER,
    )


def _span(low: Fraction, high: Fraction) -> str:
    return f"{float(low * 100):.3g}–{float(high * 100):.3g} %"


def _title(checked: Checked) -> str:
    whole = f"{len(checked.views.people):,} people"
    number = len({one.person for one in checked.exposed})
    if number:
        return f"{number:,} of {whole} {'is' if number == 1 else 'are'} exposed by these views"
    if checked.undecided:
        return f"Whether some of {whole} are exposed is not decided"
    return f"None of {whole} is exposed by these views"


def _exposed(checked: Checked, exposed: Sequence[ExposedPerson]) -> Picture:
    shown = exposed[:SHOWN]
    named = []
    for one in shown:
        value = "missing" if one.value is None else str(one.value)
        named.append((f"{one.name}: {value}", float(one.high), None, float(one.limit)))
    more = ""
    if len(exposed) > len(shown):
        more = f" The first {len(shown):,} of {len(exposed):,} are shown."
    return Picture(
        title=f"The most probable value has a probability of {percent(named[0][1])}",
        sentence=(
            "Values that are, or may be, more probable than allowed for somebody; upper bounds "
            f"where probabilities are not exact.{more}"
        ),
        head=["person: value", "probability", "allowed"],
        rows=[[name, percent(now), percent(limit)] for name, now, _, limit in named],
        draw=partial(shifts, named, ChartAxis("probability", shares=True, ends=(0, 1))),
        zone=Zone.OWNER,
    )

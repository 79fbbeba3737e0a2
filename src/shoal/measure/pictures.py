"""Risks, groups and explanations as pictures: each finding with its chart and its table.

Uses `look` and the results of this room, whose `pictures()` lead here; reports put some of them
side by side, before and after.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from shoal.errors import plural
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import percent, percent_down, percent_up, short
from shoal.look.charts import ChartAxis, Mark, bars, histogram, lines, parts, slopes
from shoal.look.pictures import Picture
from shoal.look.zoned import Zone
from shoal.measure.comparing import Comparison
from shoal.measure.explaining import CountExplanation, Explanation
from shoal.measure.previewing import Preview
from shoal.measure.risk import Assessment, Risk, SizeBin
from shoal.privacy.promises import DifferentialPrivacy

__all__ = [
    "beliefs",
    "of_assessment",
    "of_comparison",
    "of_counts",
    "of_explanation",
    "of_preview",
    "risks_before_and_after",
    "sizes_before_and_after",
]

_RISK = ChartAxis("chance of being recognised", shares=True)

_BELIEFS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""What somebody may have believed before, in a picture of beliefs."""

_POINTS = 150
"""Places of a curve, at most."""


# Risks


def of_assessment(assessment: Assessment, zone: Zone) -> tuple[Picture, ...]:
    """The risks, the sizes of groups, and the share of each column in the risk."""
    pictures = [_risks(assessment, zone), _sizes(assessment, zone)]
    if assessment.column_risks:
        pictures.append(_columns(assessment, zone))
    return tuple(pictures)


def _risks(assessment: Assessment, zone: Zone) -> Picture:
    attackers = _attackers(assessment)
    rows = [(name, {"": value}) for name, value in attackers.items()]
    marks = [Mark(assessment.threshold, "threshold")]
    return Picture(
        title=_at_risk(assessment),
        sentence=_meaning(assessment),
        head=["attacker", "risk"],
        rows=[[name, percent(value)] for name, value in attackers.items()],
        draw=partial(bars, rows, _RISK, marks=marks),
        zone=zone,
    )


def risks_before_and_after(
    before: Assessment,
    after: Assessment,
    zone: Zone = Zone.OWNER,
    called: tuple[str, str] = ("before", "after"),
) -> Picture:
    """The risks of an input beside those of its release, or of any two tables.

    called: what the two are called
    """
    was, now = _attackers(before), _attackers(after)
    one, other = called
    names = [name for name in was if name in now]
    rows = [(name, {one: was[name], other: now[name]}) for name in names]
    risks = before.prosecutor, after.prosecutor
    return Picture(
        title=_capital(
            f"{_many(risks[0].records_at_risk, before)} at risk {one}, "
            f"{risks[1].records_at_risk:,} of {after.number:,} {other}"
        ),
        sentence=_meaning(after),
        head=["attacker", one, other],
        rows=[[name, percent(was[name]), percent(now[name])] for name in names],
        draw=partial(bars, rows, _RISK, marks=[Mark(after.threshold, "threshold")]),
        zone=zone,
    )


def _attackers(assessment: Assessment) -> dict[str, float]:
    """The risks by attacker, each in words."""
    one = _one(assessment)
    by: list[tuple[str, Risk]] = [("prosecutor", assessment.prosecutor)]
    if assessment.journalist is not None:
        by.append(("journalist", assessment.journalist))
    risks = {}
    for name, risk in by:
        risks[f"{name}: most exposed {one}"] = risk.highest
        risks[f"{name}: {one} on average"] = risk.average
    return risks | {"marketer: share recognised": assessment.marketer}


def _one(assessment: Assessment) -> str:
    return "record" if assessment.members == "records" else "person"


def _many(number: int, assessment: Assessment) -> str:
    """A number of records or people among all."""
    whole = f"{assessment.number:,} {assessment.members}"
    if number in (0, assessment.number):
        return f"all {whole}" if number else f"none of {whole}"
    return f"{number:,} of {whole}"


def _at_risk(assessment: Assessment) -> str:
    many = _many(assessment.prosecutor.records_at_risk, assessment)
    verb = "has" if assessment.prosecutor.records_at_risk == 1 else "have"
    return _capital(f"{many} {verb} a risk above {percent(assessment.threshold)}")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _meaning(assessment: Assessment) -> str:
    """Who the attackers are."""
    text = (
        f"How likely it is that somebody who knows these columns of a {_one(assessment)} picks the "
        "right one. A prosecutor knows that this person is in the table, and a marketer tries "
        "everybody"
    )
    if assessment.journalist is None:
        return f"{text}. Above the threshold, a {_one(assessment)} counts as at risk."
    return (
        f"{text}; a journalist knows only the population. Above the threshold, a "
        f"{_one(assessment)} counts as at risk."
    )


# Groups


def _sizes(assessment: Assessment, zone: Zone) -> Picture:
    bins = assessment.sizes
    shown = [(each.span, {"": float(each.members)}) for each in bins]
    return Picture(
        title=_smallest(assessment),
        sentence=_reading(assessment),
        head=["members of a group", "groups", assessment.members],
        rows=[[each.span, f"{each.groups:,}", f"{each.members:,}"] for each in bins],
        draw=partial(
            histogram,
            shown,
            "members of the group",
            ChartAxis(assessment.members),
            mark=_enough(bins, assessment.threshold),
        ),
        zone=zone,
    )


def sizes_before_and_after(
    before: Assessment,
    after: Assessment,
    zone: Zone = Zone.OWNER,
    called: tuple[str, str] = ("before", "after"),
) -> Picture:
    """The sizes of groups in an input and in its release, or in any two tables."""
    one, other = called
    sides = [{each.low: each for each in table.sizes} for table in (before, after)]
    widest = {low: each for side in sides for low, each in side.items()}
    bins = [widest[low] for low in sorted(widest)]
    shown, rows = [], []
    for each in bins:
        was, now = (side[each.low].members if each.low in side else 0 for side in sides)
        shown.append((each.span, {one: float(was), other: float(now)}))
        rows.append([each.span, f"{was:,}", f"{now:,}"])
    return Picture(
        title=(
            f"The smallest group has {_of_them(before.k or 0, before)} {one} "
            f"and {after.k or 0:,} {other}"
        ),
        sentence=_reading(after),
        head=["members of a group", one, other],
        rows=rows,
        draw=partial(
            histogram,
            shown,
            "members of the group",
            ChartAxis(after.members),
            mark=_enough(bins, after.threshold),
        ),
        zone=zone,
    )


def _of_them(number: int, assessment: Assessment) -> str:
    """A number of records, or of people."""
    return f"{number:,} {_one(assessment) if number == 1 else assessment.members}"


def _enough(bins: Sequence[SizeBin], threshold: float) -> tuple[int, str] | None:
    """The first bin whose groups are large enough, and what that means."""
    for at, each in enumerate(bins):
        if each.low * threshold >= 1 - 1e-9:
            return at, f"not at risk: groups of {each.low:,} or more"
    return None


def _smallest(assessment: Assessment) -> str:
    """What the smallest groups are."""
    if assessment.k is None:
        return "There are no records"
    if assessment.uniques:
        verb = "is" if assessment.uniques == 1 else "are"
        return _capital(f"{_many(assessment.uniques, assessment)} {verb} alone in a group")
    return f"The smallest group has {assessment.k:,} {assessment.members}"


def _reading(assessment: Assessment) -> str:
    return (
        f"A group is all {assessment.members} that share their values in "
        f"{', '.join(assessment.columns)}. Each column shows how many {assessment.members} are in "
        "groups of a size."
    )


def _columns(assessment: Assessment, zone: Zone) -> Picture:
    risks = sorted(assessment.column_risks or (), key=lambda risk: -risk.share)
    first = risks[0]
    return Picture(
        title=f"{first.column} has the largest share in the average risk: {percent(first.share)}",
        sentence=(
            "How much of the average risk is due to each column: what it adds, averaged over all "
            "orders in which columns may become known."
        ),
        head=["column", "values", "share", "alone", "all others"],
        rows=[
            [
                risk.column,
                f"{risk.values:,}",
                percent(risk.share),
                percent(risk.alone),
                percent(risk.without),
            ]
            for risk in risks
        ],
        draw=partial(
            bars,
            [(risk.column, {"": risk.share}) for risk in risks],
            ChartAxis("share in the average risk", shares=True),
        ),
        zone=zone,
    )


def of_comparison(comparison: Comparison) -> tuple[Picture, ...]:
    """The risks and the group sizes of two tables; the owner's, as one of them may be the input."""
    called = ("before", "after") if comparison.a_is_input else ("in A", "in B")
    sides = (comparison.a.assessment, comparison.b.assessment)
    return (
        risks_before_and_after(*sides, called=called),
        sizes_before_and_after(*sides, called=called),
    )


def of_preview(preview: Preview) -> tuple[Picture, ...]:
    """What is suppressed at some levels, for several k and by the models."""
    whole = max(preview.records, 1)
    named = {f"groups below {k}": one for k, one in preview.by_k.items()}
    named |= {f"groups that fail {name}": one for name, one in preview.by_model.items()}
    shares = {name: one.records / whole for name, one in named.items()}
    marks = []
    if preview.allowed is not None:
        marks.append(Mark(preview.allowed / whole, "allowed"))
    return (
        Picture(
            title=(
                f"{plural(preview.groups, 'group')} at these levels, the smallest of "
                f"{plural(preview.k or 0, 'record')}"
            ),
            sentence=(
                f"The share of the {preview.records:,} records that is suppressed with the groups "
                f"which are too small or fail a model. Loss is by {preview.loss_model}."
            ),
            head=["suppressed are", "groups", "records", "share", "loss"],
            rows=[
                [
                    name,
                    f"{one.groups:,}",
                    f"{one.records:,}",
                    percent(shares[name]),
                    percent(one.loss),
                ]
                for name, one in named.items()
            ],
            draw=partial(
                bars,
                [(name, {"": share}) for name, share in shares.items()],
                ChartAxis("share of the records", shares=True),
                marks=marks,
            ),
            zone=Zone.OWNER,
        ),
    )


# Explanations, from parameters alone


def of_explanation(explanation: Explanation) -> tuple[Picture, ...]:
    """What somebody may believe after a release by SafePub, and the chance of being drawn."""
    drawn = float(explanation.beta)
    shares = [("drawn", drawn), ("not even looked at", explanation.not_drawn)]
    return (
        beliefs(explanation.promise),
        Picture(
            title=f"A row is not even looked at with a probability of {percent(1 - drawn)}",
            sentence=(
                "The released table is made from rows drawn at random. A drawn row is released "
                f"only as one of at least {explanation.k:,} drawn rows that look the same, for "
                f"which about {explanation.crowd:,} rows of the table must look like it."
            ),
            head=["a row is", "probability"],
            rows=[[name, percent(share)] for name, share in shares],
            draw=partial(parts, shares),
            zone=Zone.RELEASED,
        ),
    )


def _never(k: int) -> str:
    """Which rows have no chance of being released."""
    if k == 1:
        return "A row that is not in the data is never released."
    return f"A row that fewer than {k:,} share is never released."


def of_counts(explanation: CountExplanation) -> tuple[Picture, ...]:
    """What somebody may believe after a release of noisy counts, and which rows are released."""
    half = explanation.parameters.half
    return (
        beliefs(explanation.promise),
        Picture(
            title=f"A row that {half:,} records share is more likely than not to be released",
            sentence=(
                "The chance that a row is released, by the number of records that share it. "
                f"{_never(explanation.parameters.k)}"
            ),
            head=["records", "chance"],
            rows=[[f"{records:,}", _chance(chance)] for records, chance in explanation.chances],
            draw=partial(
                lines,
                list(_chances(explanation)),
                ChartAxis("records that share a row"),
                ChartAxis("chance that the row is released", shares=True, ends=(0, 1)),
                marks=[Mark(half, "one half at")],
            ),
            zone=Zone.RELEASED,
        ),
    )


def _chance(share: float) -> str:
    return "under 0.01 %" if 0 < share < 0.0001 else percent(share)


def _chances(explanation: CountExplanation) -> Iterator[tuple[str, float, float]]:
    """The curve of chances, up to where it hardly grows any more."""
    last = max((records for records, _ in explanation.chances), default=1)
    step = max(1, last // _POINTS)
    for records in range(0, last + step, step):
        chance = 0.0
        if records >= explanation.parameters.k:
            chance = float(explanation.parameters.chance(records))
        yield "", float(records), chance


def beliefs(promise: DifferentialPrivacy) -> Picture:
    """What a belief may become at most, whatever somebody knows."""
    odds = Epsilon.of(promise.epsilon).exponential()[1]
    rows = []
    for before in _BELIEFS:
        most = before * odds / (1 - before + before * odds)
        least = before / (before + (1 - before) * odds)
        rows.append((before, most, least))
    *_, half, _ = rows
    return Picture(
        title=f"Even odds that you are in the table become {percent_up(half[1])} at most",
        sentence=(
            "Each line leads from how likely somebody thinks it is that you are in the table to "
            "the most that they may think after they have seen the release, whatever else they "
            f"know. The bounds hold up to a δ of {short(Fraction(promise.delta))}."
        ),
        head=["before", "after, at most", "after, at least"],
        rows=[
            [percent(float(before)), percent_up(most), percent_down(least)]
            for before, most, least in rows
        ],
        draw=partial(
            slopes,
            [(float(before), _rounded_up(most)) for before, most, _ in rows],
            ("before the release", "after it, at most"),
            "belief that you are in the table",
        ),
        zone=Zone.RELEASED,
    )


def _rounded_up(share: Fraction) -> float:
    """A share as its table has it, so that both say the same."""
    return float(percent_up(share).removesuffix(" %")) / 100

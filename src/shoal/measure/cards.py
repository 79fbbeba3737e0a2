"""What notebooks show of risks, comparisons, previews and explanations.

Uses `look`; the classes load it when a notebook asks.
"""

from shoal.errors import plural
from shoal.exact.numbers import percent, short
from shoal.look import Html, Zone, entries
from shoal.look.notebooks import NOTHING, Card, first_of, fold, note, paragraph
from shoal.measure.comparing import Comparison
from shoal.measure.conventions import RiskVerdict
from shoal.measure.explaining import CountExplanation, Explanation, odds_of
from shoal.measure.previewing import Preview, Suppression
from shoal.measure.risk import Assessment, Risk

__all__ = [
    "card_of_assessment",
    "card_of_comparison",
    "card_of_count_explanation",
    "card_of_explanation",
    "card_of_preview",
]

_MOST = 40
"""Rows of a table of figures."""


def card_of_assessment(assessment: Assessment) -> Card:
    """How many are at risk, and how large the groups are."""
    whose = _whose(assessment)
    at_risk, number = assessment.prosecutor.records_at_risk, assessment.records
    if assessment.person is not None:
        number = assessment.people or 0
    title = f"{at_risk:,} of {number:,} {whose} are at risk above {percent(assessment.threshold)}"
    verdict = assessment.verdict
    parts: list[object] = [
        paragraph(verdict.line),
        _risks(assessment),
        entries(_groups(assessment)),
        fold("Conventions", _conventions(verdict)),
    ]
    if assessment.sensitive:
        parts.append(fold("Sensitive columns", _sensitive(assessment)))
    if assessment.column_risks:
        rows = [
            [one.column, f"{one.values:,}", percent(one.share), percent(one.alone)]
            for one in assessment.column_risks
        ]
        head = ["column", "values", "share of the average risk", "risk by it alone"]
        parts.append(fold("Share of each column", first_of("column", _MOST, head, rows)))
    return Card(title, parts, Zone.OWNER)


def _conventions(verdict: RiskVerdict) -> Html:
    """Thresholds that people use, and whether they are kept."""
    words = {True: "kept", False: "not kept", None: "not judged"}
    rows = [
        [one.convention.name, one.convention.asks, one.shown, words[one.passed]]
        for one in verdict.results
    ]
    return first_of("convention", _MOST, ["convention", "asks for", "here", "so it is"], rows)


def _whose(assessment: Assessment) -> str:
    return "records" if assessment.person is None else "people"


def _groups(assessment: Assessment) -> list[tuple[str, str]]:
    """The groups that the columns make."""
    alone = f"{assessment.uniques:,} ({percent(assessment.sample_uniqueness)})"
    suppressed = f"{assessment.suppressed:,}"
    smallest = NOTHING if assessment.k is None else f"{assessment.k:,}"
    return [
        ("quasi-identifying", ", ".join(assessment.columns)),
        ("left out", ", ".join(assessment.left_out) or "no column"),
        ("records", f"{assessment.records:,}, and {suppressed} suppressed"),
        ("groups", f"{assessment.groups:,}, the smallest of {smallest}"),
        ("alone in their group", alone),
    ]


def _risks(assessment: Assessment) -> Html:
    """The risks by attacker."""
    rows = [_risk("prosecutor", assessment.prosecutor)]
    if assessment.journalist is not None:
        rows.append(_risk("journalist", assessment.journalist))
    rows.append(["marketer", NOTHING, percent(assessment.marketer), NOTHING])
    head = ["risk", "highest", "average", f"{_whose(assessment)} above the threshold"]
    return first_of("risk", _MOST, head, rows)


def _risk(name: str, risk: Risk) -> list[str]:
    above = f"{risk.records_at_risk:,} ({percent(risk.at_risk)})"
    return [name, percent(risk.highest), percent(risk.average), above]


def _sensitive(assessment: Assessment) -> Html:
    head = ["column", "distinct values", "entropy", "t-closeness", "β-likeness"]
    rows = [
        [name, str(own.distinct), *(f"{x:.4g}" for x in (own.entropy, own.closeness, own.likeness))]
        for name, own in assessment.sensitive.items()
    ]
    return first_of("column", _MOST, head, rows)


def card_of_comparison(comparison: Comparison) -> Card:
    """Two tables side by side."""
    sides = (comparison.a, comparison.b)
    found = [side.assessment for side in sides]
    losses = [NOTHING if side.loss is None else percent(side.loss) for side in sides]
    rows = [
        ["records", *(f"{one.records:,}" for one in found)],
        ["suppressed", *(f"{one.suppressed:,}" for one in found)],
        ["groups", *(f"{one.groups:,}" for one in found)],
        ["smallest group", *(NOTHING if one.k is None else f"{one.k:,}" for one in found)],
        ["highest risk", *(percent(one.prosecutor.highest) for one in found)],
        ["average risk", *(percent(one.prosecutor.average) for one in found)],
        ["at risk", *(percent(one.prosecutor.at_risk) for one in found)],
        ["granularity lost", *losses],
    ]
    names = ["A, the input", "B"] if comparison.a_is_input else ["A", "B"]
    figures = first_of("figure", _MOST, ["of the tables", *names], rows)
    return Card("Two tables side by side", [figures], Zone.OWNER)


def card_of_preview(preview: Preview) -> Card:
    """What becomes of a table at some levels."""
    levels = [
        [name, f"{own.level} of {own.height}", f"{own.values:,}"]
        for name, own in preview.columns.items()
    ]
    limits = {f"groups below {k}": one for k, one in preview.by_k.items()}
    limits |= {f"groups that fail {name}": one for name, one in preview.by_model.items()}
    rows = [_without(name, one, preview.records) for name, one in limits.items()]
    smallest = NOTHING if preview.k is None else f"{preview.k:,}"
    title = f"{plural(preview.groups, 'group')} of {plural(preview.records, 'record')}"
    parts = [
        entries([("smallest group", smallest), (preview.loss_model, f"{preview.loss:,.6g}")]),
        first_of("column", _MOST, ["column", "level", "values there"], levels),
        first_of("limit", _MOST, ["without", "groups", "records", "loss then"], rows),
    ]
    return Card(title, parts, Zone.OWNER)


def _without(name: str, one: Suppression, records: int) -> list[str]:
    share = percent(one.records / max(records, 1))
    return [name, f"{one.groups:,}", f"{one.records:,} ({share})", f"{one.loss:,.6g}"]


def card_of_explanation(explanation: Explanation) -> Card:
    """What ε and δ mean for one person in a SafePub release."""
    search = "nothing" if explanation.search is None else f"ε {explanation.search}"
    factor = float(odds_of(explanation.promise.epsilon))
    odds = f"at most {factor:g} times as likely or as unlikely, but for δ"
    facts = [
        ("any conclusion about a person becomes", odds),
        ("chance of being drawn", percent(float(explanation.beta))),
        ("rows drawn that must look the same", f"{explanation.k:,}"),
        ("rows of the table for that", f"about {explanation.crowd:,}"),
        ("spent on the anonymisation", f"ε {explanation.anonymisation}"),
        ("spent on the search", search),
    ]
    parts = _concerned([paragraph(explanation.promise.statement), entries(facts)], explanation)
    return Card("What SafePub does with these parameters", parts, Zone.RELEASED)


def card_of_count_explanation(explanation: CountExplanation) -> Card:
    """What ε, δ and k mean for one person in a release of noisy counts."""
    bound = "no bound" if explanation.bound is None else f"{explanation.bound:,}"
    facts = [
        ("a count is off by, on average", f"{explanation.error:.4g}"),
        ("and at most by", bound),
        ("released from a noisy count of", f"{explanation.parameters.k:,}"),
        ("ε and δ of each count", _amount(explanation)),
    ]
    rows = [[f"{records:,}", percent(chance)] for records, chance in explanation.chances]
    table = first_of("number", _MOST, ["records that share a row", "chance of release"], rows)
    parts = [paragraph(explanation.promise.statement), entries(facts), table]
    parts = _concerned(parts, explanation)
    return Card("What noisy counts do with these parameters", parts, Zone.RELEASED)


def _amount(explanation: CountExplanation) -> str:
    return f"ε {explanation.parameters.epsilon}, δ {short(explanation.parameters.delta)}"


def _concerned(parts: list[Html], explanation: Explanation | CountExplanation) -> list[Html]:
    if explanation.concern is None:
        return parts
    return [*parts, note(f"Note: {explanation.concern}")]

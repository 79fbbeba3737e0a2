"""The promise of a release in plain words: what it is, against whom, for one person, and what not.

Written for someone who knows nothing of the project; the certificate's own statement stands beside
it. Everything follows from the certificate. Uses `subject`; `for_public` uses it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.errors import ShoalError, plural
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import percent, percent_up, printed
from shoal.look import Html, section, tag
from shoal.measure.explaining import CountExplanation, Explanation, explain, explain_counts, odds_of
from shoal.measure.pictures import beliefs
from shoal.privacy.limits import BucketLimits
from shoal.privacy.models import parse_model
from shoal.privacy.promises import (
    Coincidence,
    DifferentialPrivacy,
    LowestRisk,
    Sampled,
    SemanticAnonymity,
    Syntactic,
)
from shoal.releases.certificate import Certificate
from shoal.releases.looking import ASSUMED, TITLE, choices_of
from shoal.report.subject import Published
from shoal.studies.promised import rows_of_each, unit_of

__all__ = ["PlainPromise", "explained", "in_plain_words", "sections", "warnings"]

WEAK = 20
"""A factor above which a promise is called weak: a suspicion of 5 % may become an even bet."""

TEST = (
    "The random draws came from a seed, so that they can be repeated. This release is a test. "
    "Nothing is promised about it."
)


@dataclass(frozen=True)
class PlainPromise:
    """A promise for people.

    finding: in one line
    meaning: in a short paragraph
    person: what it means for one person, in a line and in a paragraph
    """

    finding: str
    meaning: str
    person: tuple[str, str]


def sections(shown: Published) -> Iterator[Html]:
    """The sections of a report about the promise; of one that does not hold, what it claims."""
    if shown.failures:
        yield _claimed(shown.certificate)
        return
    yield _promised(shown)
    yield _against(shown)
    yield _for_one(shown)
    yield _not_promised(shown.certificate)


def warnings(shown: Published) -> Iterator[Html]:
    """What must be seen first: that nothing is promised, or that the promise may break."""
    if not shown.certificate.private:
        yield _alarm(TEST, "NOT PRIVATE")
    if shown.failures:
        yield _alarm(
            "The files do not keep what the certificate says. Do not rely on this release; "
            "the reasons are under “How to check this release”.",
            "Verification failed",
        )
        return
    breaks = _breaks(shown)
    if breaks is not None:
        yield _alarm(breaks[1])


def _alarm(text: str, mark: str = "Warning") -> Html:
    return tag("p", tag("strong", f"{mark}: "), text, cls="box alarm")


def in_plain_words(certificate: Certificate) -> PlainPromise:
    """The promise of a certificate; one of an unknown kind is only quoted."""
    promise = certificate.promise
    words = _WORDS.get(str(promise.get("promise")))
    if words is None:
        person = ("The certificate states what holds", "Its statement is quoted above.")
        return PlainPromise("The release keeps what its certificate states", "", person)
    return words(certificate)


# What is promised


def _promised(shown: Published) -> Html:
    certificate = shown.certificate
    plain = in_plain_words(certificate)
    title = plain.finding
    if not certificate.private:
        title = f"Nothing is promised. If this were not a test: {plain.finding}"
    return section(
        title,
        tag("p", plain.meaning, cls="lead") if plain.meaning else None,
        tag("p", _whom(certificate)),
        tag("p", "Exactly, in the words of the certificate:"),
        tag("blockquote", certificate.statement),
        *_chosen(certificate),
        name="promise",
    )


def _claimed(certificate: Certificate) -> Html:
    """What a certificate says that its files do not keep."""
    return section(
        "Nothing is promised that can be relied on",
        tag("p", "The certificate claims the following, and the check of the files failed:"),
        tag("blockquote", certificate.statement),
        name="promise",
    )


def _chosen(certificate: Certificate) -> Iterator[Html]:
    """What was chosen after looking at the data, which the promise does not cover."""
    choices = choices_of(certificate.chosen_after_looking)
    if choices:
        yield tag("p", tag("strong", f"{TITLE}. "), ASSUMED, cls="box")
        yield tag("ul", *(tag("li", str(choice)) for choice in choices))


def _whom(certificate: Certificate) -> str:
    """Whom the promise is made to."""
    unit = unit_of(certificate)
    if unit is None:
        return (
            "The promise covers every row of the data that the release was made from. Somebody "
            "who is in several rows is protected less."
        )
    used = rows_of_each(certificate)
    whole = f"The promise is made to every person: {unit!r} says whose rows belong together, and "
    if certificate.promise["promise"] == DifferentialPrivacy.name:
        return f"{whole}at most {plural(used, 'row')} of each person went into the release."
    return f"{whole}one row of each person, drawn at random, went into the release."


def _differential(certificate: Certificate) -> PlainPromise:
    promise = certificate.promise
    odds = odds_of(promise["epsilon"])
    factor = f"{float(odds):g}"
    whose = _one(certificate)
    meaning = (
        "Whatever somebody knows already, and whatever they compute from this release: anything "
        f"they conclude is at most {factor} times as likely with {whose} in the data as without, "
        f"and at least 1/{factor} times."
    )
    if odds > WEAK:
        meaning += " That factor is large: the promise is weak."
    allowance = _allowance(Fraction(promise["delta"]))
    if allowance:
        meaning += f" A small allowance δ = {promise['delta']} is added: {allowance}."
    if promise.get("semantic_k"):
        meaning += (
            f" Besides, no row is released that fewer than {promise['semantic_k']} records share."
        )
    besides = f", but for the allowance δ = {promise['delta']}" if allowance else ""
    # One record in the place of another is two steps: one is removed and one added.
    twice = odds_of(Epsilon.of(promise["epsilon"]) * 2)
    person = (
        f"For one person: a suspicion of 50 % grows to at most {percent_up(odds / (1 + odds))}",
        f"{_wondering(certificate)} Below is what they may believe once "
        f"they have seen the release, by what they believed before{besides}. Somebody who knows "
        "that you are in the data, and wonders which of two things it says about you, may go from "
        f"50 % to at most {percent_up(twice / (1 + twice))}.",
    )
    finding = f"Nobody’s {_data(certificate)} any conclusion more than {factor} times as likely"
    return PlainPromise(finding, meaning, person)


def _allowance(delta: Fraction) -> str:
    """What a δ means; empty if there is none."""
    if not delta:
        return ""
    if delta > Fraction(1, 1000):
        return f"at worst, as if the promise did not hold with a probability of {percent_up(delta)}"
    return f"at worst, as if the promise did not hold once in {int(1 / delta):,} times"


def _data(certificate: Certificate) -> str:
    return "row makes" if unit_of(certificate) is None else "rows make"


def _one(certificate: Certificate) -> str:
    return "any one row" if unit_of(certificate) is None else "the rows of any one person"


def _wondering(certificate: Certificate) -> str:
    if unit_of(certificate) is None:
        return "Suppose you are in the data with one row or not at all, and somebody wonders which."
    return "Suppose somebody wonders whether you are in the data."


def _semantic(certificate: Certificate) -> PlainPromise:
    k = int(certificate.promise["k"])
    meaning = (
        f"A row is released only if at least {plural(k, 'record')} of the data look exactly like "
        "it in every released column. So each record either made no difference to the release, or "
        f"could have been that of any of {k:,} people, also for someone who knows how the release "
        "was made."
    )
    person = (
        f"For one person: you are one of at least {k:,} who look the same, or left no trace",
        f"If your record was released, at least {plural(k - 1, 'other')} look exactly like it. The "
        "numbers of such records are exact, so someone who knows all of these people but you "
        "learns whether you are among them.",
    )
    return PlainPromise(f"Every released record is one of at least {k:,} alike", meaning, person)


def _syntactic(certificate: Certificate) -> PlainPromise:
    models = certificate.promise["models"]
    meaning = (
        "Records are in groups: those of a group look the same in the columns that others may know "
        f"about a person. {_models(models)} This is a property of the table that anyone can check. "
        "It is not a limit to what can be found out."
    )
    k = _least(models)
    person = (
        "For one person: no bound on what can be found out is promised",
        "Someone who knows that you are in the table, and what it says about you in the columns "
        "that others may know, finds your group. What the records of that group have in common, "
        "they know about you.",
    )
    if k is not None:
        person = (
            f"For one person: at least {plural(k - 1, 'other record')} "
            f"{'looks' if k == 2 else 'look'} like yours",
            f"{person[1]} By the table alone, they pick your record among those of your group with "
            f"a chance of at most 1 in {k:,}. If they know how the groups were made, it may be "
            "more.",
        )
    return PlainPromise(f"Every group satisfies {' and '.join(models)}", meaning, person)


def _models(names: list[str]) -> str:
    """What models mean, one sentence after the other."""
    meanings = []
    for name in names:
        try:
            called = name[:1].upper() + name[1:]
            meanings.append(f"{called} means that {parse_model(name).meaning}.")
        except ShoalError:  # such as one that compares with a population
            meanings.append(f"Every group satisfies {name}.")
    return " ".join(meanings)


def _least(names: list[str]) -> int | None:
    """The smallest size that models allow a group to have, if they say so."""
    sizes = []
    for name in names:
        try:
            sizes.append(getattr(parse_model(name), "k", None))
        except ShoalError:
            continue
    known = [size for size in sizes if size is not None]
    return max(known) if known else None


def _sampled(certificate: Certificate) -> PlainPromise:
    share = Fraction(certificate.promise["share"])
    meaning = (
        f"Each record was drawn with a probability of {printed(share)}, independently of all "
        "others, and is shown unchanged. That somebody is missing from the release does not show "
        "that they are missing from the data. Nothing else is hidden."
    )
    person = (
        f"For one person: your record is in the release with a chance of {percent(float(share))}",
        "If it is, it is shown as it was, and anyone who knows some of your values may recognise "
        "it.",
    )
    finding = f"Each record was released with a probability of {printed(share)}, unchanged"
    return PlainPromise(finding, meaning, person)


def _coincidence(certificate: Certificate) -> PlainPromise:
    models = certificate.promise["models"]
    meaning = (
        "Records are in groups. All that can be found out about somebody’s sensitive values is how "
        "these are spread in that person’s group, even by someone who knows how the groups were "
        "made, who is in which group, and everybody’s values in the columns that others may know. "
        f"{_models(models)}"
    )
    person = (
        "For one person: your group is all that can be known about your sensitive value",
        "Who is in the table counts as known, and so does what it says in the columns that others "
        "may know. Somebody who looks for your sensitive value can do no better than guess by how "
        "often each value occurs in your group.",
    )
    finding = "Nobody’s sensitive value can be inferred beyond what their group shows"
    return PlainPromise(finding, meaning, person)


def _lowest_risk(certificate: Certificate) -> PlainPromise:
    utility = percent(float(Fraction(certificate.promise["utility"])))
    meaning = (
        "Each record is shown in the form in which its person is hardest to recognise, among the "
        f"forms that keep at least {utility} of the record’s detail. How hard that is was counted "
        f"by the people of the {certificate.promise['counted_in']} whom the record fits. It is not "
        "a limit: somebody unlike all others stays easy to recognise."
    )
    person = (
        "For one person: no bound on the risk of being recognised is promised",
        "The risk is as low as the detail allows. It depends on how many people are like you.",
    )
    finding = f"Every record keeps {utility} of its detail at the lowest risk that was found"
    return PlainPromise(finding, meaning, person)


def _buckets(certificate: Certificate) -> PlainPromise:
    column = str(certificate.promise["column"])
    meaning = (
        f"The people are released as they are, but not with their values of {column!r}: these "
        "stand in a second table, bucket by bucket, and several people share a bucket. Nobody can "
        f"be linked to a value of {column!r} with a probability above the limit that was set for "
        "that value, even by someone who knows how the buckets were made."
    )
    seen = "Anyone can see that you are in the table, and all your other columns. "
    believes = "Someone who knows no more than that believes that you have a value with a "
    limits = certificate.promise["limits"]
    person = (
        f"For one person: each value of {column!r} has a limit on how surely it can be yours",
        f"{seen}{believes}probability of at most its limit, which is in the statement above.",
    )
    if limits.keys() == {"others"} and isinstance(limits["others"], str):
        most = percent_up(Fraction(limits["others"]))
        person = (
            f"For one person: no value of {column!r} can be yours with more than {most}",
            f"{seen}{believes}probability of at most {most}, whichever value it is.",
        )
    finding = f"Nobody can be linked to a value of {column!r} beyond that value’s limit"
    return PlainPromise(finding, meaning, person)


_WORDS: dict[str, Callable[[Certificate], PlainPromise]] = {
    DifferentialPrivacy.name: _differential,
    SemanticAnonymity.name: _semantic,
    Syntactic.name: _syntactic,
    Sampled.name: _sampled,
    Coincidence.name: _coincidence,
    LowestRisk.name: _lowest_risk,
    BucketLimits.name: _buckets,
}


# Against whom


def _breaks(shown: Published) -> tuple[str, str] | None:
    """Why the promise is worth less than it seems, in a line and in a paragraph, if it is."""
    entry = shown.entry
    if entry is None or entry.public_algorithm:
        return None
    if entry.not_attacked:
        return (
            "It hides nobody who is in the release",
            "Whoever is in this release is shown unchanged, and may be recognised by anyone who "
            "knows some of their values. Nothing about them is hidden.",
        )
    return (
        "It may break: someone who knows how the release was made may find out more",
        "This promise does not hold against someone who knows how the release was made. The "
        "program is public, so anyone may know. What the table shows is as promised; what can be "
        "inferred from how it was made is not limited.",
    )


def _against(shown: Published) -> Html:
    breaks = _breaks(shown)
    knows = tag(
        "ul",
        tag("li", "the algorithm, the program that ran it, and this certificate;"),
        tag("li", "all parameters, and that the release was made with them;"),
        tag("li", "everything else that can be known, except the data itself and the coin flips."),
    )
    if breaks is not None:
        lead = tag("p", "Assume someone who knows:")
        return section(breaks[0], lead, knows, tag("p", breaks[1]), name="against")
    lead = tag("p", "The promise is made against someone who knows:")
    end = tag("p", "A promise that needs its method kept secret would not be one.", cls="note")
    named = certificate_assumptions(shown.certificate)
    return section(
        "It holds even against someone who knows exactly how the release was made",
        lead,
        knows,
        tag("p", named) if named else None,
        end,
        name="against",
    )


def certificate_assumptions(certificate: Certificate) -> str:
    """What else a promise assumes about what somebody knows; empty if nothing."""
    kind = certificate.promise.get("promise")
    if kind in (Coincidence.name, BucketLimits.name):
        return (
            "It assumes that, before the release, they knew no more about who has which sensitive "
            "value than anybody: whoever knows the values of some people learns more about others."
        )
    return ""


# For one person


def _for_one(shown: Published) -> Html:
    certificate = shown.certificate
    title, text = in_plain_words(certificate).person
    parts: list[object] = [tag("p", text)]
    if certificate.promise.get("promise") == DifferentialPrivacy.name:
        parts.append(beliefs(_promise(certificate.promise)).html())
    explanation = explained(certificate)
    if explanation is not None:
        # Its beliefs are those of a part of ε, where another part chose the levels.
        parts += (picture.html() for picture in explanation.pictures()[1:])
    if isinstance(explanation, CountExplanation):
        parts.append(tag("p", _off(explanation)))
    return section(title, *parts, name="person")


def explained(certificate: Certificate) -> Explanation | CountExplanation | None:
    """What the parameters mean for one record, by the certificate alone; None if nothing is known.

    What is derived says how a release was made: of a sample of records, or with noisy counts.
    """
    derived, parameters = certificate.derived, certificate.parameters
    try:
        if derived.get("beta") is not None:
            searched = derived.get("epsilon_search")
            return explain(
                parameters["epsilon"],
                parameters["delta"],
                parameters["definition"],
                split=parameters["split"] if searched else 1,
                beta=derived["beta"],
                rows=rows_of_each(certificate),
            )
        for epsilon, delta in (("epsilon_group", "delta_group"), ("epsilon_counts", "delta")):
            if derived.get(epsilon) is not None and derived.get("k") is not None:
                return explain_counts(
                    derived[epsilon],
                    derived[delta],
                    derived["k"],
                    derived["definition"],
                    noise=derived["noise"],
                )
    except (ShoalError, KeyError, TypeError, ValueError):  # anybody may have written it
        return None
    return None


def _promise(parts: Mapping[str, Any]) -> DifferentialPrivacy:
    """The promise that a certificate has in parts."""
    return DifferentialPrivacy(
        parts["epsilon"], parts["delta"], parts["definition"], parts.get("unit", "row")
    )


def _off(explanation: CountExplanation) -> str:
    """How far released numbers are from the true ones."""
    off = f"A released number of equal rows is off by {explanation.error:.3g} on average"
    if explanation.bound is None:
        return f"{off}."
    return f"{off}, and by {explanation.bound:,} at most."


# What is not promised


def _not_promised(certificate: Certificate) -> Html:
    lines = certificate.unprotected
    number = len(lines)
    things = "One thing is" if number == 1 else f"{number} things are"
    return section(
        f"{things} not promised" if number else "The certificate lists nothing as not promised",
        tag("p", "The promise does not protect from, or is not about:") if number else None,
        tag("ul", *(tag("li", line[:1].upper() + line[1:]) for line in lines)) if number else None,
        name="not-promised",
    )

"""What Shoal can say about a release, each under the name that forms call it by.

A public fact is given `Published` only, so that it cannot show more than the released files. What
the owner's facts say reveals information about the input. A fact that has nothing to say gives no
line. Uses `subject` and the rooms that measure; `answering` uses it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import ShoalError, plural
from shoal.exact.numbers import percent, percent_up
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.certificate import Certificate
from shoal.report.subject import Published, Reported
from shoal.studies.promised import rows_of_each

if TYPE_CHECKING:
    from shoal.measure.risk import Assessment, Risk

__all__ = ["FACTS", "Fact", "OwnerFact", "PublicFact"]

Told = tuple[str, ...]
"""The lines of an answer; none where nothing can be said."""

_ROLES = {
    "quasi": "quasi-identifying",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "identifying": "identifying",
}


@dataclass(frozen=True)
class PublicFact:
    """What anyone can say who has the released files."""

    source: str
    tell: Callable[[Published], Told]
    needs: str = "This release shows nothing about it."


@dataclass(frozen=True)
class OwnerFact:
    """What only the owner can say.

    part: what of `Reported` it is taken from, which knows why it is missing
    """

    source: str
    tell: Callable[[Reported], Told]
    needs: str
    part: str


Fact = PublicFact | OwnerFact


# From the certificate


def promise(shown: Published) -> Told:
    """What is promised, exactly."""
    return (shown.certificate.statement, *draws_from_a_seed(shown))


def draws_from_a_seed(shown: Published) -> Told:
    """That nothing is promised, if draws came from a seed."""
    if shown.certificate.private:
        return ()
    return ("The draws came from a seed: this release is a test, and promises nothing.",)


def unprotected(shown: Published) -> Told:
    """What the promise does not protect."""
    return tuple(f"Not protected: {line}" for line in shown.certificate.unprotected)


def algorithm_known(shown: Published) -> Told:
    """Whether the promise holds against someone who knows the algorithm."""
    entry = shown.entry
    if entry is None:
        return ()
    if entry.public_algorithm:
        return ("The promise holds against someone who knows the algorithm and its parameters.",)
    return ("Someone who knows the algorithm may infer more than the promise says.",)


def differential_privacy(shown: Published) -> Told:
    """The parameters of differential privacy, or that there is none."""
    parts = shown.certificate.promise
    if not _is_differential(shown.certificate):
        return ("This release does not promise differential privacy: it has no ε and no δ.",)
    told = f"ε = {parts['epsilon']}, δ = {parts['delta']}, {parts['definition']} definition"
    return (f"{told}; neighbours: {parts['neighbours']}.", *draws_from_a_seed(shown))


def unit(shown: Published) -> Told:
    """Whom the promise protects: rows, or the people whom a column tells apart."""
    certificate = shown.certificate
    name = certificate.promise.get("unit", "row")
    if name == "row":
        return ("One row of the input. Somebody with several rows is protected less.",)
    used = rows_of_each(certificate)
    return (f"All rows with one value of {name!r}. Rows used of each, at most: {used}.",)


def method(shown: Published) -> Told:
    """The method, in a few words, and the software."""
    certificate = shown.certificate
    entry = shown.entry
    summary = "" if entry is None else f": {entry.summary}"
    return (f"{certificate.method}{summary}. Shoal {certificate.version}.",)


def parameters(shown: Published) -> Told:
    """The parameters, and what was derived from them."""
    sections = dict(shown.certificate.sections())
    return (*sections["Parameters"], *sections["Derived from the parameters"])


def columns(shown: Published) -> Told:
    """Every released column with its role and level."""
    certificate = shown.certificate
    told = []
    for column in certificate.columns:
        name, role = column["name"], _ROLES.get(column["role"], column["role"])
        level = ""
        if name in certificate.levels:
            level = f", at level {certificate.levels[name]} of its hierarchy"
        told.append(f"{name}: {role}, {column['type']}{level}")
    if certificate.refined is not None:
        told.append("Values of several levels stand side by side, region by region.")
    return tuple(told)


def identifiers(shown: Published) -> Told:
    """That no column with the role of an identifier is released."""
    named = [one["name"] for one in shown.certificate.columns if one["role"] == "identifying"]
    if named:
        return ()
    return (
        "No column that was declared as identifying is released, and no code in its place. Shoal "
        "goes by the roles that columns were given: it does not look for identifiers in others.",
    )


def truthful(shown: Published) -> Told:
    """Whether values and counts are true, and whether records are left out."""
    certificate, entry = shown.certificate, shown.entry
    if entry is None:
        return ()
    told = []
    if certificate.parameters.get("fakes"):
        told.append("Values that nobody has are added on purpose, as the parameters say.")
    elif entry.truthful:
        told.append(
            "Every released value is a generalisation of a value of the input, and no count is "
            "changed by noise."
        )
    else:
        told.append("Counts are changed by noise: they are estimates.")
    if not certificate.whole:
        told.append("Records that are left out bias what is computed from the rest.")
    return tuple(told)


def cells(shown: Published) -> Told:
    """Whether it is part of the promise which rows are there."""
    if not _is_differential(shown.certificate):
        return differential_privacy(shown)
    return (
        "The promise is about the whole release: it covers which rows are there, not only how "
        "often each is.",
    )


def draws(shown: Published) -> Told:
    """Where the randomness came from."""
    return draws_from_a_seed(shown) or (
        "What was drawn came from the randomness of the operating system, not from a seed. The "
        "files cannot show that to others.",
    )


def identity(shown: Published) -> Told:
    """Which release this is, and which files."""
    certificate = shown.certificate
    files = dict(certificate.sections())["File"]
    return (f"Release {certificate.number}, made by Shoal {certificate.version}.", *files)


def verifying(shown: Published) -> Told:
    """How others can check the release."""
    return (
        "Anyone who has the files can check them: shoal verify CERTIFICATE TABLE. One byte that "
        "was changed in either is noticed. Whoever forges both is noticed where they contradict "
        "each other.",
    )


# From the released table


def size(shown: Published) -> Told:
    """How large the released table is."""
    rows, width = shown.rows.shape
    return (f"{plural(int(rows), 'row')} and {plural(int(width), 'column')} are released.",)


def groups(shown: Published) -> Told:
    """How many released rows look alike, by what others may know of people."""
    after = _assessed(shown)
    if after is None:
        return ()
    told = [
        f"By {', '.join(after.columns)}, {plural(after.records, 'released row')} form "
        f"{plural(after.groups, 'group')}, the smallest of {plural(after.k or 0, 'row')} and the "
        f"largest of {after.largest:,}. That is so in this table; it is not a promise."
    ]
    if after.suppressed:
        told.append(f"{plural(after.suppressed, 'further row')} show nothing but stars.")
    if shown.entry is not None and not shown.entry.truthful:
        told.append("Counts are noisy, so these figures are estimates.")
    return tuple(told)


def risks_after(shown: Published) -> Told:
    """The risks of the released table, as anyone can compute them."""
    after = _assessed(shown)
    return () if after is None else _risks(after, "released table")


def diversity(shown: Published) -> Told:
    """How many sensitive values the groups of the released table have."""
    after = _assessed(shown)
    if after is None:
        return ()
    return tuple(
        f"{name}: {plural(figures.distinct, 'different value')} in every group at least; "
        f"t-closeness {figures.closeness:.3g}"
        for name, figures in after.sensitive.items()
    )


def _assessed(shown: Published) -> "Assessment | None":
    """The risks of the released table; None where its rows are not records, or there are none."""
    try:
        after = shown.assessment
    except ShoalError:
        return None
    return after if after.records else None


def verified(shown: Published) -> Told:
    """What the verifier found."""
    verdict = shown.verification
    if verdict is None:
        return ()
    if verdict:
        return (f"Verification failed: {'; '.join(verdict)}",)
    return (
        f"Verified, as far as the files show: {verdict.statement}",
        *(f"Not checked: {line}" for line in verdict.unchecked),
    )


# About Shoal, whatever is released


def proofs(shown: Published) -> Told:
    """What speaks for the implementation."""
    entry = shown.entry
    told = []
    if _is_differential(shown.certificate):
        told.append(
            "This promise has a proof (docs/proofs), an adversary who enumerates the draws on "
            "small tables, and broken versions of the method that the adversary must catch."
        )
    elif entry is not None and entry.proof:
        told.append(f"This promise has a proof: docs/proofs/{entry.proof}.")
    told.append(
        "shoal verify computes anew what the files show of the promise, and shares no code with "
        "the methods."
    )
    return tuple(told)


def exactness(shown: Published) -> Told:
    """How numbers are treated that a promise depends on."""
    return (
        "Numbers that a promise depends on are integers or fractions, or rounded to the safe side. "
        "Noise and samples are drawn exactly, without floating-point numbers (docs/proofs/chance).",
    )


def side_channels(shown: Published) -> Told:
    """What besides the release may be observed."""
    return (
        "The release is made in one step, without queries of others. How long it took, how much "
        "memory it used and which files were left behind are not protected.",
    )


def release_model(shown: Published) -> Told:
    """That this is a release of data."""
    return (
        "A release of data: the table is made once. Whatever is computed from it spends nothing "
        "more.",
    )


def trust(shown: Published) -> Told:
    """Who has to be trusted."""
    return (
        "The central model: whoever runs Shoal reads the input as it is, and is trusted. Those who "
        "get the release are not.",
    )


# From what the owner has


def input_size(subject: Reported) -> Told:
    """How large the input is."""
    table = subject.table
    if table is None:
        return ()
    return (f"{plural(table.rows, 'record')} with {plural(len(table.names), 'column')} came in.",)


def roles(subject: Reported) -> Told:
    """The columns of the input by role, those that are not released included."""
    table = subject.table
    if table is None:
        return ()
    told = []
    for role, words in _ROLES.items():
        names = [name for name, own in table.roles.items() if own.value == role]
        if names:
            left = ", not released" if role == "identifying" else ""
            told.append(f"{words}{left}: {', '.join(names)}")
    return tuple(told)


def people(subject: Reported) -> Told:
    """How many people the input is about."""
    before = subject.before
    if before is None:
        return ()
    if before.repeated:
        named = ", ".join(before.repeated)
        return (f"People are evidently in several rows of the input, by {named}.",)
    if before.people is None:
        return ("Nothing says which rows are about the same person: figures are of records.",)
    records = plural(before.records, "record")
    return (f"People in the input: {before.people:,}, in {records}.",)


def risks_before(subject: Reported) -> Told:
    """The risks of the input."""
    return () if subject.before is None else _risks(subject.before, "input")


def kept(subject: Reported) -> Told:
    """How many records are left."""
    judgement = subject.judgement
    if judgement is None:
        return ()
    return (
        f"{judgement.kept:,} of {plural(judgement.records, 'record')} are kept "
        f"({percent(judgement.share)}), in {plural(judgement.groups, 'group')}.",
    )


def losses(subject: Reported) -> Told:
    """What is lost, by each measure of loss."""
    if subject.judgement is None:
        return ()
    return tuple(
        f"{name}: {percent(lost.normalised)} lost, from 0 % for the input to 100 % for nothing left"
        for name, lost in subject.judgement.losses.items()
    )


def utility(subject: Reported) -> Told:
    """What can still be predicted and counted."""
    judgement = subject.judgement
    if judgement is None:
        return ()
    told = [
        f"{one.column} is predicted ({one.classifier}) right for {percent(one.released)} of the "
        f"records; with the input for {percent(one.original)}, by its most frequent value for "
        f"{percent(one.majority)}"
        for one in judgement.accuracies
    ]
    if judgement.queries is not None:
        errors = judgement.queries
        told.append(
            f"counts are off by {percent(errors.median)} (median) and {percent(errors.mean)} "
            f"(mean), by {errors.count:,} random queries"
        )
    return tuple(told)


def spending(subject: Reported) -> Told:
    """What the ledger says about all releases of the data."""
    account = subject.ledger
    if account is None:
        return ()
    releases = plural(len(account.reserved), "release")
    told = [f"The ledger has {releases} of these data, which spent {account.spent_text}."]
    if account.left is not None:
        told.append(f"Left of the budget: {account.left.rounded(up=False)}.")
    return tuple(told)


def recipe(subject: Reported) -> Told:
    """The recipe that was followed."""
    if subject.recipe is None:
        return ()
    followed = "is the one that the certificate names"
    if subject.certificate.recipe != subject.recipe.digest:
        followed = "is not named by the certificate"
    return (f"The recipe {subject.recipe.path.name} (SHA-256 {subject.recipe.digest}) {followed}.",)


def _risks(risks: "Assessment", what: str) -> Told:
    """The risks of a table, of people where they are told apart."""
    whom = "records" if risks.people is None else "people"
    limit = percent(risks.threshold)

    def told(risk: "Risk", name: str) -> str:
        return (
            f"picks out the right record with a chance of {percent_up(risk.exact_highest)} at "
            "most, and of "
            f"{percent(risk.average)} on average; {percent(risk.at_risk)} of {whom} are above "
            f"{limit} ({name}’s risk)."
        )

    known = told(risks.prosecutor, "prosecutor")
    lines = [f"By group sizes alone, whoever knows that somebody is in the {what} {known}"]
    if risks.journalist is not None:
        known = told(risks.journalist, "journalist")
        lines.append(
            f"By group sizes alone, whoever knows only that somebody is in the population {known}"
        )
    lines += [
        f"Whoever names somebody for every record of the {what} is right for "
        f"{percent(risks.marketer)} of them (marketer’s risk).",
        f"{percent(risks.sample_uniqueness)} of {whom} are alone in their group of the {what}.",
    ]
    return tuple(lines)


def _is_differential(certificate: Certificate) -> bool:
    return certificate.promise.get("promise") == DifferentialPrivacy.name


# All of them

_CERTIFICATE = "the certificate"
_TABLE = "the released table"
_SHOAL = "Shoal itself"
_NO_GROUPS = "The rows of this release do not form groups of records."
_NEEDS_TABLE = "Shoal can say more to the owner, from the input: --for owner --recipe RECIPE."
_NEEDS_USES = "Shoal can measure for the owner what is still predicted and counted: shoal judge."
_NEEDS_LEDGER = "Shoal can say more to the owner, from the ledger of a recipe that names one."

FACTS: Mapping[str, Fact] = {
    "promise": PublicFact(_CERTIFICATE, promise),
    "unprotected": PublicFact(_CERTIFICATE, unprotected),
    "algorithm_known": PublicFact(_CERTIFICATE, algorithm_known),
    "differential_privacy": PublicFact(_CERTIFICATE, differential_privacy),
    "unit": PublicFact(_CERTIFICATE, unit),
    "method": PublicFact(_CERTIFICATE, method),
    "parameters": PublicFact(_CERTIFICATE, parameters),
    "columns": PublicFact(_CERTIFICATE, columns),
    "identifiers": PublicFact(_CERTIFICATE, identifiers),
    "truthful": PublicFact(_CERTIFICATE, truthful),
    "cells": PublicFact(_CERTIFICATE, cells),
    "draws": PublicFact(_CERTIFICATE, draws),
    "identity": PublicFact(_CERTIFICATE, identity),
    "verifying": PublicFact(_CERTIFICATE, verifying),
    "size": PublicFact(_TABLE, size),
    "groups": PublicFact(_TABLE, groups, _NO_GROUPS),
    "risks_after": PublicFact(_TABLE, risks_after, _NO_GROUPS),
    "diversity": PublicFact(_TABLE, diversity, "No sensitive column stands beside its group."),
    "verified": PublicFact("the verification", verified, "Verify the release: shoal verify."),
    "proofs": PublicFact(_SHOAL, proofs),
    "exactness": PublicFact(_SHOAL, exactness),
    "side_channels": PublicFact(_SHOAL, side_channels),
    "release_model": PublicFact(_SHOAL, release_model),
    "trust": PublicFact(_SHOAL, trust),
    "input": OwnerFact("the input", input_size, _NEEDS_TABLE, "table"),
    "roles": OwnerFact("the input", roles, _NEEDS_TABLE, "table"),
    "people": OwnerFact("the assessment of the input", people, _NEEDS_TABLE, "before"),
    "risks_before": OwnerFact("the assessment of the input", risks_before, _NEEDS_TABLE, "before"),
    "kept": OwnerFact("the judgement", kept, _NEEDS_TABLE, "judgement"),
    "losses": OwnerFact("the judgement", losses, _NEEDS_TABLE, "judgement"),
    "utility": OwnerFact("the judgement", utility, _NEEDS_USES, "judgement"),
    "ledger": OwnerFact("the ledger", spending, _NEEDS_LEDGER, "ledger"),
    "recipe": OwnerFact("the recipe", recipe, _NEEDS_TABLE, "recipe"),
}
"""What can be said, by the names that forms have."""

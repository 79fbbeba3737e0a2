"""The owner's report: the public one, and what is left of the data, its risks, and the ledger.

All that is added reveals information about the input, and is marked as such, section by section and
on every printed sheet. What cannot be computed says why. Uses `subject`, `neighbours` and the
sections of the public report; the command line uses it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data.tables import Role, Table
from shoal.errors import InfeasibleError, ShoalError, plural
from shoal.exact.numbers import percent
from shoal.ledger.account import Account, amount
from shoal.look import Html, Picture, Zone, entries, page, section, table, tag, together
from shoal.measure.pictures import risks_before_and_after, sizes_before_and_after
from shoal.measure.risk import Assessment
from shoal.measure.spaces import solution_space
from shoal.methods.method import people_of
from shoal.privacy.models import KAnonymity, Model
from shoal.report import contents, promising, provenance
from shoal.report.for_public import chapters_of, contents_list
from shoal.report.neighbours import THIS, neighbourhood
from shoal.report.subject import Published, Reported
from shoal.studies.judging import Judgement
from shoal.studies.pictures import of_releases

__all__ = ["owner"]

LOOKED_AT = 4_000
"""Combinations of levels that are looked at, so that it takes seconds."""

NO_RECIPE = "The recipe is not at hand, which says how it was made."

Part = tuple[str, Sequence[object]]
"""A section: its title, which says the finding, and what stands below."""

OWN = {
    "kept": "How much is left",
    "risk-before": "Risks before and after",
    "before": "Columns before and after",
    "loss": "What was lost",
    "utility": "What can still be learnt",
    "map": "This release among its neighbours",
    "lattice": "All levels that could have been chosen",
    "ledger": "What was spent",
    "concerns": "What else to know",
}
"""The sections that only the owner has, for whoever looks for one."""


@typed
def owner(reported: Reported) -> str:
    """The owner's report on a release as a page of HTML.

    >>> import shoal
    >>> people = shoal.demo.table()
    >>> made = shoal.Optimal([shoal.KAnonymity(5)]).release(people)
    >>> "Owner only" in owner(Reported(made, table=people))
    True
    """
    shown = reported.published
    number = reported.certificate.number
    lead = (
        f"This page is about release {number} and the data that it was made from. It is for those "
        "who may see that data: every figure in a section with an amber edge reveals something "
        "about it, and no promise covers that. For others there is the public report."
    )
    heights = {}
    if reported.table is not None:
        heights = {name: tree.height for name, tree in reported.table.hierarchies.items()}
    return page(
        f"Owner’s report on release {number[:8]}",
        tag("div", *promising.warnings(shown), tag("p", lead)),
        contents_list({**OWN, **chapters_of(shown)}),
        *_sections(reported),
        *promising.sections(shown),
        *_explained(shown, heights),
        zone=Zone.OWNER,
    )


def _explained(shown: Published, heights: Mapping[str, int]) -> Iterator[Html]:
    """What the files contain, and how to check them; only that if they fail."""
    if shown.failures:
        yield provenance.checking(shown)
        return
    yield from contents.sections(shown, heights)
    yield from provenance.sections(shown)


def _sections(reported: Reported) -> Iterator[Html]:
    """What only the owner may see."""
    parts: Sequence[tuple[str, Callable[[Reported], Part]]] = (
        ("kept", _kept),
        ("risk-before", _risks),
        ("before", _before_and_after),
        ("loss", _losses),
        ("utility", _utility),
        ("map", _map),
        ("lattice", _lattice),
        ("ledger", _ledger),
        ("concerns", _concerns),
    )
    for name, make in parts:
        title, content = make(reported)
        yield section(title, *content, zone=Zone.OWNER, name=name)


def _why(reported: Reported, name: str) -> Html:
    """Why something is not known."""
    return tag("p", _sentence(reported.unknown.get(name, "it was not computed")))


# What is left


def _kept(reported: Reported) -> Part:
    judgement = reported.judgement
    if judgement is None:
        figures = {} if reported.table is None else {"records in": f"{reported.table.rows:,}"}
        title = "How many records are left is not known"
        return title, [_why(reported, "judgement"), entries(figures)]
    left_out = max(judgement.records - judgement.kept, 0)
    figures = {
        "records in": f"{judgement.records:,}",
        "in the release": f"{judgement.kept:,} ({percent(judgement.share)})",
        "suppressed, or not drawn": f"{left_out:,}",
        "groups": f"{judgement.groups:,}",
    }
    if judgement.rate is not None:
        figures["chance of being drawn"] = f"{judgement.rate:.6g}"
    title = f"{judgement.kept:,} of {plural(judgement.records, 'record')} are in the release"
    noisy = reported.published.entry
    note = None
    if noisy is not None and not noisy.truthful:
        note = tag("p", "Numbers of rows are noisy in this release, and so is what is kept.")
    return title, [entries(figures), note]


# Risks


def _risks(reported: Reported) -> Part:
    before, after = reported.before, reported.after
    if before is None or after is None:
        name = "before" if before is None else "after"
        only = after if before is None else before
        parts: list[object] = [_why(reported, name)]
        if only is not None:
            parts += (picture.html() for picture in only.pictures())
        return f"The risks {name} the release are not known", parts
    highest = [percent(one.prosecutor.highest) for one in (before, after)]
    parts = [_verdicts(before, after)]
    if after.journalist is not None:
        # Who knows only that somebody is in the input knows no less than before.
        before = replace(before, journalist=before.prosecutor)
    parts += [
        risks_before_and_after(before, after).html(),
        sizes_before_and_after(before, after).html(),
        tag("p", _whose(before), cls="note"),
    ]
    return f"The highest risk is {highest[0]} before and {highest[1]} after", parts


def _verdicts(before: Assessment, after: Assessment) -> Html:
    """What the figures mean, by the conventions that people use."""
    lines = [("before", before.verdict.line), ("after", after.verdict.line)]
    both = zip(before.verdict.results, after.verdict.results, strict=True)
    rows = [
        [was.convention.name, was.convention.asks, _passes(was.passed), _passes(now.passed)]
        for was, now in both
    ]
    head = ["convention", "asks for", "before", "after"]
    listed = table(head, rows, numbers=[], caption="Conventions on group sizes and risks")
    return together(entries(lines), tag("details", tag("summary", "All conventions"), listed))


def _passes(passed: bool | None) -> str:
    if passed is None:
        return "not judged"
    return "passes" if passed else "fails"


def _whose(before: Assessment) -> str:
    """Whom the figures are of."""
    text = "The figures before are of records."
    if before.person is not None:
        text = f"The figures before are of people, whom {before.person!r} tells apart."
    elif before.people is not None:
        text = "The figures before are of people: the recipe says that every row is another one."
    elif before.repeated:
        text = (
            "People seem to be in several rows, and no column was said to tell them apart: the "
            "figures are of rows, not of people."
        )
    if before.journalist is not None:
        return f"{text} For the journalist, the population is the input: who was drawn is unknown."
    return (
        f"{text} The journalist’s risk is not known, since the people of the input cannot be "
        "counted by the values of this release; it is at most the prosecutor’s."
    )


# Columns, loss and utility


@dataclass(frozen=True)
class _Judged:
    """The pictures of a judgement, by what they are about."""

    lost: Sequence[Picture]
    learnt: Sequence[Picture]
    moved: Picture | None
    columns: Sequence[Picture]

    @classmethod
    def of(cls, judgement: Judgement) -> "_Judged":
        pictures = judgement.pictures()
        number = len(judgement.columns)
        general = pictures[: len(pictures) - number - 1] if number else pictures
        at = len(general) - bool(judgement.accuracies)
        moved = pictures[-number - 1] if number else None
        return cls(general[:at], general[at:], moved, pictures[-number:] if number else ())


def _before_and_after(reported: Reported) -> Part:
    judgement = reported.judgement
    title = "Columns before and after are not known"
    if judgement is None:
        return title, [_why(reported, "judgement")]
    judged = _Judged.of(judgement)
    if judged.moved is None:
        return title, [tag("p", _changed_nothing(reported)), _unknown(judgement)]
    columns = [
        tag("details", tag("summary", picture.title), picture.html(titled=False))
        for picture in judged.columns
    ]
    note = tag("p", "Each column, before (grey) and after (teal):")
    return judged.moved.title, [judged.moved.html(titled=False), note, *columns]


def _changed_nothing(reported: Reported) -> str:
    if reported.published.form.apart:
        return "This method releases the columns of people unchanged, and sensitive values apart."
    return "No column was compared."


def _losses(reported: Reported) -> Part:
    judgement = reported.judgement
    title = "What was lost is not known"
    if judgement is None:
        return title, [_why(reported, "judgement")]
    lost = _Judged.of(judgement).lost
    if not lost:
        return title, [_unknown(judgement)]
    return lost[0].title, [*_figures(lost), _unknown(judgement)]


def _figures(pictures: Sequence[Picture]) -> Iterator[Html]:
    """Pictures below a heading that says what the first of them says."""
    for place, picture in enumerate(pictures):
        yield picture.html(titled=place > 0)


def _unknown(judgement: Judgement) -> Html | None:
    if not judgement.unknown:
        return None
    return together(tag("p", "Not measured:"), entries(judgement.unknown))


def _utility(reported: Reported) -> Part:
    judgement = reported.judgement
    if judgement is None:
        return "What can still be learnt is not known", [_why(reported, "judgement")]
    learnt = _Judged.of(judgement).learnt
    parts: list[object] = [*_figures(learnt)]
    found = judgement.queries
    if found is not None:
        words = (
            f"Of {found.count:,} count queries about random subgroups, asked of the release, half "
            f"are answered with an error below {percent(found.median)}; the mean error is "
            f"{percent(found.mean)}."
        )
        parts.append(tag("p", words))
    apart = [name for name in reported.classes if name not in reported.predicted]
    if apart:
        words = f"{_names(apart)}: the released table does not have it, so it cannot be predicted."
        parts.append(tag("p", f"Not measured: {words}"))
    asked = []
    if not reported.classes:
        asked.append("columns to be predicted by classifiers: --class COLUMN")
    if not reported.queries:
        asked.append("count queries: --queries N")
    if asked:
        parts.append(tag("p", f"Not measured, since it was not asked for: {'; '.join(asked)}."))
    if learnt:
        return learnt[0].title, parts
    if found is not None:
        return f"Half of the count queries are off by less than {percent(found.median)}", parts
    return "What can still be learnt was not measured", parts


# Neighbours


def _map(reported: Reported) -> Part:
    title = "This release has no neighbours to compare it with"
    if reported.table is None or reported.recipe is None:
        return title, [tag("p", NO_RECIPE)]
    try:
        method = reported.recipe.method()
        found = neighbourhood(reported.table, reported.release, method)
    except ShoalError as error:
        return title, [tag("p", _sentence(error.what))]
    this = found.compared.releases[0]
    if this.unranked is not None:
        return title, [tag("p", _sentence(this.unranked))]
    others = plural(len(found.compared.releases) - 1, "neighbour")
    title = f"None of its {others} is less risky without keeping less"
    if this.outdone_by:
        title = f"By risk and loss alone, it is outdone by {_names(this.outdone_by)}"
    refused = "; ".join(_refused(found.refused))
    simulated = (
        "The neighbours were made for this page only, from the data, and thrown away. Nothing was "
        "entered in a ledger for them: they are simulations for the owner. Choosing a release by "
        "looking at them reveals something about the data that no promise covers."
    )
    return title, [
        tag("p", simulated),
        *(picture.html() for picture in of_releases(found.compared, THIS)),
        tag("p", f"Left out: {refused}.", cls="note") if refused else None,
    ]


def _refused(neighbours: Mapping[str, str]) -> Iterator[str]:
    """The neighbours that are left out, those for the same reason together."""
    reasons: dict[str, list[str]] = {}
    for name, why in neighbours.items():
        reasons.setdefault(why, []).append(name)
    return (f"{_names(names)}: {why}" for why, names in reasons.items())


def _names(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _lattice(reported: Reported) -> Part:
    title = "There are no other levels to compare these with"
    table, recipe = reported.table, reported.recipe
    if table is None or recipe is None:
        return title, [tag("p", NO_RECIPE)]
    try:
        method = recipe.method()
        names = _levelled(reported, table)
        models = _models(reported, method)
        levels = reported.certificate.levels
        found = solution_space(
            people_of(method, _grouped_by(table, names), Chance()),
            models,
            suppression=getattr(method, "suppression", None),
            chosen={name: levels[name] for name in names} if levels.keys() >= set(names) else None,
            most=LOOKED_AT,
        )
    except ShoalError as error:
        return title, [tag("p", _sentence(error.what))]
    notes = _how_levels_compare(reported, table, names, models)
    [picture] = found.pictures()
    return picture.title, [*(tag("p", note) for note in notes), picture.html(titled=False)]


def _how_levels_compare(
    reported: Reported, table: Table, names: Sequence[str], models: Sequence[Model]
) -> Iterator[str]:
    """What must be known to read the map of levels."""
    certificate, entry = reported.certificate, reported.published.entry
    if not certificate.levels.keys() >= set(names):
        yield (
            "This release has no levels that hold for all of its records, so it has no place of "
            "its own here: this is what could be had with one level for each column."
        )
    half = certificate.derived.get("half")
    if half is not None and models == [KAnonymity(half)]:
        yield (
            f"Groups of fewer than {half:,} count as suppressed here. In the release itself chance "
            f"decides: a row that {half:,} records share is more likely than not to be released."
        )
    if certificate.derived.get("beta") is not None:
        yield (
            "The draw is not counted here: this is what levels alone lose and suppress. The "
            "release leaves out records by chance besides."
        )
    others = [name for name in table.released if name not in names]
    if others and entry is not None and entry.generalises == "released":
        yield (
            f"Records also have to agree in {_names(others)} to be released as one row. Without a "
            "hierarchy, that is not counted here."
        )


def _levelled(reported: Reported, table: Table) -> list[str]:
    """The columns that the method gives levels to; ShoalError if levels cannot be compared."""
    entry = reported.published.entry
    if entry is not None and entry.not_compared:
        raise InfeasibleError(entry.not_compared)
    if entry is not None and entry.generalises == "released":
        return [name for name in table.released if name in table.hierarchies]
    if not table.quasi:
        raise InfeasibleError("no column is one that others may know")
    if not all(name in table.hierarchies for name in table.quasi):
        raise InfeasibleError("not every column that others may know has a hierarchy")
    return list(table.quasi)


def _grouped_by(table: Table, names: Sequence[str]) -> Table:
    """A table whose groups share these columns."""
    roles = {
        role.value: [name for name in table.having(role) if name not in names]
        for role in Role
        if role is not Role.QUASI
    }
    return table.with_roles(quasi=names, **roles)


def _models(reported: Reported, method: object) -> Sequence[Model]:
    """What groups must satisfy: the method's models, or the size that the release asks for.

    With noisy counts that is the size that is more likely than not to be released.
    """
    models: Sequence[Model] = getattr(method, "models", ())
    k = contents.promised_k(reported.published) or reported.certificate.derived.get("half")
    if models:
        return models
    if k is None:
        raise InfeasibleError(
            "this method asks nothing of groups, so levels do not decide which are suppressed"
        )
    return [KAnonymity(k)]


# Ledger


def _ledger(reported: Reported) -> Part:
    account = reported.ledger
    if account is None:
        why = reported.unknown.get("ledger", "it was not read")
        words = f"{why[:1].upper()}{why[1:]}. What earlier releases of the same data spent is "
        return "What was spent in all is not known", [tag("p", f"{words}not added up here.")]
    figures = {"spent": account.spent_text}
    title = f"{account.spent_text} is spent, and nothing limits it"
    if account.limit is not None and account.left is not None:
        figures["budget"] = amount(*account.limit)
        figures["left"] = account.left.rounded(up=False)
        title = f"{figures['left']} is left of a budget of {figures['budget']}"
    if account.gamma is not None:
        figures["γ"] = str(account.gamma)
    return title, [entries(figures), _releases(account, reported.certificate.number)]


def _releases(account: Account, number: str) -> Html:
    """The releases that a ledger has, this one marked."""
    rows = []
    for entry in account.reserved:
        facts = entry.facts
        done = account.completed.get(entry.number)
        state = "reserved, and not completed"
        if done is not None:
            state = f"release {done.facts.certificate['number'][:8]}"
            if done.facts.certificate["number"] == number:
                state += " (this one)"
        elif entry.number in account.refused:
            state = "refused"
        cost = facts.cost
        words = "no bound" if cost.delta is None else amount(cost.epsilon, cost.delta)
        rows.append([f"{entry.number}", facts.method, words, state])
    head = ["entry", "method", "cost", "what became of it"]
    return table(head, rows, numbers=[], caption="Releases of the same data, by the ledger")


# Concerns


def _concerns(reported: Reported) -> Part:
    lines: list[str] = []
    recipe, certificate = reported.recipe, reported.certificate
    if recipe is not None and certificate.recipe not in (None, recipe.digest):
        lines.append("The release was made by another recipe, or this one has changed since.")
    if recipe is not None and reported.table is not None:
        try:
            lines += (_sentence(line) for line in recipe.concerns(reported.table))
        except ShoalError as error:
            lines.append(_sentence(error.what))
    if reported.before is not None and reported.before.repeated:
        names = ", ".join(reported.before.repeated)
        lines.append(f"People seem to be in several rows of the input, by {names}.")
    gone = (
        "What the method noticed while it made the release is not kept in files, and no longer "
        "known: it was shown once, after the release. What is listed here was found again."
    )
    number = plural(len(lines), "concern") if lines else "No concerns"
    title = f"{number}, as far as they can still be known"
    return title, [
        tag("ul", *(tag("li", line) for line in lines)) if lines else None,
        tag("p", gone),
    ]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")

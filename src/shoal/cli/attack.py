"""`shoal attack`: what attackers learn from a release.

For buckets, attackers have some help; else they know the algorithm.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import (
    figures,
    indented,
    listing,
    percent,
    print_json,
    remark,
    show,
    title,
    working,
)
from shoal.errors import ParameterError, listed, plural
from shoal.zones import NOT_FOR_RELEASE, NOTICE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.attack import AttackResult, ExposedRecord, HelpedAttackers
    from shoal.recipe import Recipe
    from shoal.releases.release import Release

__all__ = ["attack"]

_REASONS = 3
"""Reasons shown per person; --json has all."""

_HOW = {
    "counting": "by counting all inputs that lead to it",
    "enumeration": "by trying all inputs",
    "sampling": "by sampling inputs",
    "both": "by counting inputs, and sampling them where there are too many",
}


def attack(
    releases: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE...",
            help="Directories of releases of buckets, or one of any release.",
            show_default=False,
        ),
    ],
    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE",
            help="The recipe of the release: what can someone learn who knows the algorithm?",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The sensitive column, if there are several.", show_default=False
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many exposed people are listed.")
    ] = 5,
    tries: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How many inputs are sampled, if they cannot be counted."
        ),
    ] = 1_000,
    json: options.Json = False,
) -> None:
    """How sure does an attacker become of a value, given a release?

    Of buckets: someone who knows the values of others in the bucket, and someone who rules out what
    is seen not to go together. Give a release with fakes and one without, to see what fakes are
    worth.

    With --recipe: someone who knows everybody's quasi-identifying values and the algorithm. Who is
    exposed, and why? The answer is owner only. Only these columns of the source are read.

    What can be attacked: Mondrian and optimal tables of any size, though large ones take minutes,
    and inputs are sampled where models that look at values suppress groups; other methods where up
    to 3,000 inputs lead to what is seen, or where it shows who is in which group. Coincident and
    disclosure releases reveal nothing more than they show, which is proven (docs: proofs): attack
    them on small tables.

    Of personal releases: how often is the right person named, by someone who has the recipe's
    register, or everybody's values, and runs the method for each? Columns of choices are read too.
    """
    if recipe is None:
        _with_help(releases, json)
    elif len(releases) > 1:
        raise ParameterError(
            "belongs to one release, and several are given",
            "attack them one by one",
            option="recipe",
        )
    else:
        _knowing_the_algorithm(releases[0], recipe, column, most, tries, json)


def _knowing_the_algorithm(
    path: Path, recipe: Path, column: str | None, most: int, tries: int, json: bool
) -> None:
    from shoal.attack import Effort, expose, require_attackable
    from shoal.methods.catalogue import entry_of
    from shoal.recipe import Recipe
    from shoal.releases.release import Release

    chosen = Recipe.load(recipe)
    release = Release.read(path)
    if release.certificate.recipe not in (None, chosen.digest):
        remark("note: the release was made by another recipe, or this one has changed since")
    require_attackable(chosen.method())
    if entry_of(chosen.method().name).attack == "people":
        _naming_people(path, release, chosen, json)
        return
    name = _sensitive_column(chosen, column)
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        people = chosen.people()
    with working("attacking") as report:
        result = expose(
            chosen.method(),
            people,
            release.table,
            name,
            effort=Effort(tries=tries),
            kind=chosen.content.source.types.get(name),
            hierarchy=chosen.hierarchies.get(name),
            progress=report,
        )
    exposed = result.exposed_records(people, most)
    if json:
        about = {**NOT_FOR_RELEASE, "release": str(path)}
        listed_people = [asdict(person) for person in exposed]
        print_json({**about, **_plain(result), "exposed": listed_people})
        return
    both = result.how == "counting" and result.sampled
    how = _HOW["both" if both else result.how]
    show(NOTICE, "", f"What someone who knows the algorithm learns about {name!r}, {how}", "")
    show(_summary(result))
    if exposed:
        show(title("Most exposed"))
    for _, alike in groupby(exposed, key=lambda person: replace(person, row=0)):
        show(*_described(name, list(alike)))
    show("", NOTICE)


def _naming_people(path: Path, release: "Release", chosen: "Recipe", json: bool) -> None:
    """Who a record is about, to someone who runs the method for everybody."""
    from shoal.attack import recognise

    method: Any = chosen.method()
    with working(f"reading {options.shown(chosen.content.source.path)}"):
        people = chosen.people([method.choice] if method.choice else [])
    with working("attacking") as report:
        seen = recognise(method, people, release.table, progress=report)
    if json:
        about = {**NOT_FOR_RELEASE, "release": str(path)}
        print_json({**about, **asdict(seen)})
        return
    show(NOTICE, "", "Whom someone recognises who has everybody's values and knows the algorithm")
    if not seen.replayed:
        remark(
            "note: running the method gives another release, as it draws by chance or the source "
            "has changed; the figures are those of a run whose draws are known"
        )
    show(
        "",
        listing(
            ("", "as counted", "algorithm known"),
            (
                "the right person is named",
                percent(seen.named_as_counted),
                percent(seen.named),
            ),
            (
                "records with one person left",
                percent(seen.alone_as_counted),
                percent(seen.alone),
            ),
        ),
        "",
        NOTICE,
    )


def _sensitive_column(recipe: "Recipe", given: str | None) -> str:
    from shoal.data.tables import Role

    sensitive = recipe.having(Role.SENSITIVE)
    if given is None and len(sensitive) == 1:
        return sensitive[0]
    if given is None or given not in sensitive:
        has = listed(sensitive) if sensitive else "none"
        raise ParameterError(
            "must name the sensitive column that is attacked",
            f"the recipe has {has}",
            option="column",
            given=given,
        )
    return given


def _plain(result: "AttackResult") -> dict[str, Any]:
    """The figures for JSON."""
    accepted = None
    if result.accepted is not None:
        kept, tried = result.accepted
        accepted = {"kept": kept, "tried": tried}
    return {
        "how": result.how,
        "sampled": result.sampled,
        "people": result.people,
        "changed": result.changed,
        "surer": result.surer,
        "broken": result.broken,
        "certain": result.certain,
        "unknown": result.unknown,
        "largest_gain": float(result.gain),
        "accepted": accepted,
    }


def _summary(result: "AttackResult") -> "RenderableType":
    at_least = "at least " if result.sampled else ""

    def of_all(number: int) -> str:
        return f"{number:,} ({percent(number / max(result.people, 1))})"

    lines = [
        ("people", f"{result.people:,}"),
        ("for whom more is learnt than their group shows", at_least + of_all(result.changed)),
        ("for whom a value is surer than the group shows", at_least + of_all(result.surer)),
        ("for whom a model no longer holds", at_least + of_all(result.broken)),
        ("whose value is certain", at_least + of_all(result.certain)),
        ("largest gain in probability", at_least + percent(float(result.gain))),
    ]
    if result.unknown:
        lines.append(("about whom nothing can be said here", of_all(result.unknown)))
    if result.accepted:
        kept, tried = result.accepted
        lines.append(("samples that led to the release", f"{kept:,} of {tried:,}"))
    return figures(*lines)


def _described(name: str, alike: "Sequence[ExposedRecord]") -> "Iterator[RenderableType]":
    """Who is exposed, what is learnt, and why: people who differ in nothing but their row."""
    person = alike[0]
    public = ", ".join(f"{key} {value}" for key, value in person.public.items())
    rows = ", ".join(f"{each.row:,}" for each in alike)
    yield f"{'row' if len(alike) == 1 else 'rows'} {rows}: {public}"
    at_least = "at least " if person.at_least else ""
    learnt = f"shown {percent(person.shown)}, inferred {at_least}{percent(person.inferred)}"
    broken = f"; not {' nor '.join(person.broken)}" if person.broken else ""
    yield indented(f"{name} {person.value or 'missing'}: {learnt}{broken}")
    yield from map(indented, person.why[:_REASONS])
    more = len(person.why) - _REASONS
    if more > 0:
        yield indented(f"and {plural(more, 'more reason')}")


def _refuse_if_nothing_to_find(release: "Release") -> None:
    """ParameterError where someone who knows the method would find nothing, which says why."""
    from shoal.methods.catalogue import CATALOGUE, entry_of

    method = release.certificate.method
    why = entry_of(method).not_attacked if method in CATALOGUE else ""
    if why:
        raise ParameterError(f"this is a release by {method}: {why}")


def _with_help(paths: Sequence[Path], json: bool) -> None:
    from shoal.attack import helped
    from shoal.releases.release import Release

    attackers: list[HelpedAttackers] = []
    for path in paths:
        release = Release.read(path)
        if "buckets" not in release.further:
            _refuse_if_nothing_to_find(release)
            raise ParameterError(
                f"{path} does not have buckets",
                "give `recipe`, to attack as someone who knows how it was made",
            )
        attackers.append(helped(release))
    if json:
        pairs = zip(paths, attackers, strict=True)
        rows = [{"release": str(path), **asdict(each)} for path, each in pairs]
        print_json({"releases": rows})
        return
    show("How sure an attacker is of somebody's value, at most", "")
    show(
        listing(
            ("", *map(str, paths)),
            ("fakes in every bucket", *(str(each.fakes) for each in attackers)),
            ("negative associations seen", *(f"{each.associations:,}" for each in attackers)),
            ("knows nobody", *(percent(each.knows_nobody) for each in attackers)),
            ("knows one of the bucket", *(percent(each.knows_one) for each in attackers)),
            ("knows all others of it", *(percent(each.knows_all_others) for each in attackers)),
            (
                "rules out what does not go together",
                *(percent(each.rules_out) for each in attackers),
            ),
        )
    )
    if any(each.fakes for each in attackers):
        show("\nWith fakes, someone who also knows how often each value occurs may be surer.")

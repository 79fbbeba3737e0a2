"""`shoal attack`: what attackers learn from a release: helped ones from buckets, and one who knows the algorithm from groups."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import (
    complain,
    figures,
    indented,
    listing,
    percent,
    print_json,
    show,
    title,
    working,
)
from shoal.errors import ParameterError, listed, plural

if TYPE_CHECKING:
    from shoal.attack import Belief, Exposed
    from shoal.data.tables import Table
    from shoal.recipe import Recipe

__all__ = ["attack"]

_REASONS = 3  # that are told of a person; --json has all
_HOW = {
    "counting": "by counting all inputs that lead to it",
    "enumeration": "by trying all inputs",
    "sampling": "by sampling inputs",
    "both": "by counting inputs, and sampling them where they are too many",
}


def attack(
    releases: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE...",
            help="Directories of releases of buckets, or one of any.",
            show_default=False,
        ),
    ],
    recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="RECIPE",
            help="Its recipe: what does one learn who knows the algorithm?",
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
        int, typer.Option(metavar="N", min=1, help="How many inputs are sampled, where they are.")
    ] = 1_000,
    json: options.Json = False,
) -> None:
    """How sure does an attacker become of a value, given a release?

    Of buckets: one who knows the values of others in the bucket, and one who rules out what is seen not to go together. Give a
    release with fakes and one without, to see what these are worth.

    With --recipe: one who knows everybody's quasi-identifying values and the algorithm. Who is exposed, and why? The answer is
    for the owner alone. Of the source only these columns are read.

    What can be attacked: Mondrian and optimal tables in which nobody is suppressed, of any size, though large ones take minutes;
    other methods where up to 3,000 inputs lead to what is seen, or where it shows who is in which group. Of coincident and
    disclosure releases nothing more than they show can be learnt, which is proven (docs: proofs): attack them on small tables.
    """
    if recipe is None:
        _helped(releases, json)
    elif len(releases) > 1:
        raise ParameterError("--recipe is that of one release; attack them one by one")
    else:
        _knowing(releases[0], recipe, column, most, tries, json)


def _knowing(
    path: Path, recipe: Path, column: str | None, most: int, tries: int, json: bool
) -> None:
    from shoal.attack import expose
    from shoal.measure.judging import NOTICE
    from shoal.recipe import Recipe
    from shoal.releases.release import Release

    chosen = Recipe.load(recipe)
    method = chosen.method()
    made = Release.read(path)
    if made.certificate.recipe not in (None, chosen.digest):
        complain("note: the release was made by another recipe, or this one has changed since")
    name = _column(chosen, column)
    with working(f"reading {chosen.source.name}"):
        people = chosen.people()
    with working("attacking") as report:
        found = expose(
            method,
            people,
            made.table,
            name,
            kind=chosen.content.source.types.get(name),
            hierarchy=chosen.hierarchies.get(name),
            tries=tries,
            progress=report,
        )
    how = "both" if found.how == "counting" and found.sampled else found.how
    exposed = [
        _person(people, row, belief) for belief in found.most_exposed() for row in belief.rows
    ][:most]
    if json:
        print_json(
            {
                "not_for_release": True,
                "notice": NOTICE,
                "release": str(path),
                **_figures(found),
                "exposed": exposed,
            }
        )
        return
    show(
        NOTICE,
        "",
        f"What someone learns about {name!r} who knows the algorithm, {_HOW[how]}",
        "",
        _told(found),
    )
    if exposed:
        show(title("Most exposed"))
    for one in exposed:
        public = ", ".join(f"{key} {value}" for key, value in one["public"].items())
        broken = f"; not {' nor '.join(one['broken'])}" if one["broken"] else ""
        inferred = ("at least " if one["at_least"] else "") + percent(one["inferred"])
        more = (
            [f"and {plural(len(one['why']) - _REASONS, 'reason')} more"]
            if len(one["why"]) > _REASONS
            else []
        )
        show(f"row {one['row']:,}: {public}")
        said = f"{name} {one['value'] or 'missing'}: shown {percent(one['shown'])}, inferred {inferred}{broken}"
        show(*map(indented, [said, *one["why"][:_REASONS], *more]))
    show("", NOTICE)


def _column(recipe: "Recipe", given: str | None) -> str:
    from shoal.data.tables import Role

    there = recipe.having(Role.SENSITIVE)
    if given is None and len(there) == 1:
        return there[0]
    if given is None or given not in there:
        has = f"has {listed(there)}" if there else "has none"
        raise ParameterError(
            f"--column names the sensitive column that is attacked; the recipe {has}"
        )
    return given


def _figures(found: "Exposed") -> dict[str, Any]:
    return {
        "how": found.how,
        "sampled": found.sampled,
        "people": found.people,
        "changed": found.changed,
        "surer": found.surer,
        "broken": found.broken,
        "certain": found.certain,
        "unknown": found.unknown,
        "largest_gain": float(found.gain),
        "accepted": None
        if found.accepted is None
        else {"kept": found.accepted[0], "tried": found.accepted[1]},
    }


def _told(found: "Exposed") -> Any:
    def of_all(number: int) -> str:
        return f"{least}{number:,} ({percent(number / max(found.people, 1))})"

    least = "at least " if found.sampled else ""

    return figures(
        ("people", f"{found.people:,}"),
        ("of whom more is learnt than their group shows", of_all(found.changed)),
        ("of whom one is surer than the group shows", of_all(found.surer)),
        ("for whom a model does not hold any more", of_all(found.broken)),
        ("whose value is certain", of_all(found.certain)),
        ("the largest gain in probability", least + percent(float(found.gain))),
        *(
            [("of whom nothing can be said here", of_all(found.unknown).removeprefix(least))]
            if found.unknown
            else []
        ),
        *(
            [("samples that led to the release", f"{found.accepted[0]:,} of {found.accepted[1]:,}")]
            if found.accepted
            else []
        ),
    )


def _person(people: "Table", row: int, belief: "Belief") -> dict[str, Any]:
    """Who it is, and what is learnt: the value whose probability grows most."""
    value = max(
        belief.inherent, key=lambda one: (belief.least(one) - belief.apparent[one], str(one))
    )
    known = people.frame[[row], :].rows(named=True)[0]
    return {
        "row": row + 1,
        "public": {name: "" if one is None else str(one) for name, one in known.items()},
        "value": None if value is None else str(value),
        "shown": float(belief.apparent[value]),
        "inferred": float(belief.least(value)),
        "at_least": belief.bounds is not None,
        "broken": list(belief.broken),
        "why": list(belief.why),
    }


def _helped(releases: list[Path], json: bool) -> None:
    from shoal.attack import association, corruption
    from shoal.measure.buckets import Reading
    from shoal.releases.release import Release

    told: list[dict[str, Any]] = []
    for path in releases:
        made = Release.read(path)
        if made.certificate.method != "buckets":
            raise ParameterError(
                f"{path} has no buckets; give --recipe, to attack as someone who knows how it was made"
            )
        negative, ruling = association(made)
        told.append(
            {
                "release": str(path),
                "fakes": Reading(made).fakes,
                "knows_nobody": corruption(made, 0).largest,
                "knows_one": corruption(made, 1).largest,
                "knows_all_others": corruption(made).largest,
                "associations": negative,
                "rules_out": ruling.largest,
            }
        )
    if json:
        print_json({"releases": told})
        return
    surest = {
        "knows nobody": "knows_nobody",
        "knows one of the bucket": "knows_one",
        "knows all others of it": "knows_all_others",
        "rules out what does not go together": "rules_out",
    }
    show(
        "How sure an attacker is of somebody's value, at most",
        "",
        listing(
            ("", *(one["release"] for one in told)),
            ("fakes in every bucket", *(str(one["fakes"]) for one in told)),
            ("negative associations seen", *(f"{one['associations']:,}" for one in told)),
            *((words, *(percent(one[name]) for one in told)) for words, name in surest.items()),
        ),
    )
    if any(one["fakes"] for one in told):
        show("\nWith fakes, someone who also knows how often each value occurs may be surer.")

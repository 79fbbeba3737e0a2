"""`shoal preview`: what becomes of a table at given levels."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import (
    complain,
    figures,
    listing,
    percent,
    print_json,
    rows_of,
    show,
    title,
    working,
)
from shoal.errors import HierarchyError, ParameterError, listed, plural

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from shoal.data.tables import Table
    from shoal.lattice import Groups
    from shoal.measure.loss import Loss

__all__ = ["preview"]

SIZES = (2, 3, 5, 10, 20)  # the k for which suppression is shown


def preview(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RECIPE|FILE", help="A recipe, or a table with options.", show_default=False
        ),
    ],
    levels: options.Levels = [],  # noqa: B006  typer wants a list, and nobody changes it
    rows: Annotated[int, typer.Option(metavar="N", min=0, help="How many groups are shown.")] = 10,
    quasi: options.Quasi = [],  # noqa: B006
    hierarchy: options.Hierarchies = [],  # noqa: B006
    json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    missing: options.MissingPolicy = "category",
    types: options.Types = [],  # noqa: B006
    root: options.Root = None,
    add_root: options.AddRoot = None,
) -> None:
    """What becomes of a table at given levels?

    Takes a recipe, with the models of its method, or a table with --quasi and a --hierarchy for each of those columns.
    """
    from shoal.data.people import repeated
    from shoal.lattice import Lattice
    from shoal.measure.loss import LOSSES
    from shoal.privacy.models import bound, holds_all

    if source.suffix == ".toml":
        from shoal.chance import Chance
        from shoal.methods import people_of
        from shoal.recipe import Recipe

        asked = {
            "quasi": quasi,
            "hierarchy": hierarchy,
            "type": types,
            "root": root,
            "add-root": add_root,
        }
        asked |= {"separator": separator, "quote": quote, "encoding": encoding}
        if extra := [f"--{name}" for name, value in asked.items() if value not in (None, [])]:
            raise ParameterError(
                f"{extra[0]} is for a table; a recipe says it itself, so change it there"
            )
        recipe = Recipe.load(source)
        method: Any = recipe.method()
        with working(f"reading {recipe.source.name}"):
            table = people_of(method, recipe.table(), Chance())
    else:
        method, given = None, options.hierarchies(hierarchy, types, root, add_root)
        with working(f"reading {source.name}"):
            table = options.read(
                source,
                separator,
                encoding,
                missing,
                types,
                quote=quote,
                quasi=quasi,
                hierarchies=given,
            )
        if found_twice := repeated(table, table.quasi, table.unmentioned):
            complain(
                f"note: people seem to be in several rows, by {listed(one.column for one in found_twice)}; these figures are "
                "of rows"
            )
    chosen = _levels(levels, table, method is not None)
    models = [bound(model, table) for model in getattr(method, "models", ())]
    named = getattr(method, "loss", "granularity")
    loss = LOSSES[named] if isinstance(named, str) else named
    with working(f"grouping {table.rows:,} rows"):
        trees = {name: table.hierarchy(name) for name in table.quasi}
        carried = sorted({column for model in models for column in model.columns})
        groups = Lattice(table.count([*table.quasi, *carried]), trees).groups(
            tuple(chosen.values())
        )
        sizes = groups.sizes
        by_k = {k: _without(groups, sizes >= k, loss) for k in (1, *SIZES)}
        by_model = {str(model): _without(groups, model.holds(groups), loss) for model in models}
        kept = holds_all(models, groups)
        first = [
            [trees[name].labels[level][code] for code in groups.codes(j)[:rows]]
            for j, (name, level) in enumerate(chosen.items())
        ]
    found: dict[str, Any] = {
        "records": table.rows,
        "levels": chosen,
        "groups": len(sizes),
        "k": int(sizes.min()) if len(sizes) else None,
        "loss_model": loss.name,
        "loss": by_k.pop(1)["loss"],
        "suppressed": [
            {"k": k, "records": without["records"], "loss": without["loss"]}
            for k, without in by_k.items()
        ],
        "models": [{"model": model, **without} for model, without in by_model.items()],
        "all_models": {**_without(groups, kept, loss), **_allowed(method, groups, kept)}
        if models
        else None,
        "first": [
            {
                "values": dict(zip(chosen, values, strict=True)),
                "records": int(size),
                "kept": bool(is_kept),
            }
            for *values, size, is_kept in zip(*first, sizes[:rows], kept[:rows], strict=True)
        ],
    }
    if json:
        print_json(found)
        return
    show(
        listing(
            ["", "level", "of", "values"],
            *(
                [name, f"{at}", f"{trees[name].height}", f"{trees[name].cardinality(at):,}"]
                for name, at in chosen.items()
            ),
        ),
        title("The table at these levels"),
        figures(
            ("records", f"{table.rows:,}"),
            ("groups", f"{len(sizes):,}"),
            ("k, the smallest group", "no records" if found["k"] is None else f"{found['k']:,}"),
            (f"loss ({loss.name})", percent(found["loss"])),
        ),
        title("With groups below k suppressed"),
        listing(
            ["k", *_HEAD], *([f"{k}", *_row(without, table.rows)] for k, without in by_k.items())
        ),
    )
    if models:
        total = {"all of them": found["all_models"]} if len(models) > 1 else {}
        show(
            title("With groups suppressed that fail the models of the recipe"),
            listing(
                ["", *_HEAD],
                *(
                    [name, *_row(without, table.rows)]
                    for name, without in {**by_model, **total}.items()
                ),
            ),
        )
    if method is not None:
        show(*(f"\n{note}" for note in _notes(method, found["all_models"], chosen)))
    if found["first"]:
        show(
            title(f"The first {plural(len(found['first']), 'group')}"),
            rows_of(
                ["records", *(["kept"] if models else []), *chosen],
                *(
                    [
                        f"{g['records']:,}",
                        *(["yes" if g["kept"] else "no"] if models else []),
                        *g["values"].values(),
                    ]
                    for g in found["first"]
                ),
            ),
        )


_HEAD = ("groups", "records", "share", "loss")


def _without(groups: "Groups", kept: "npt.NDArray[np.bool_]", loss: "Loss") -> dict[str, Any]:
    """What is suppressed where only some groups are kept, and the loss then."""
    from shoal.measure.loss import normalised

    return {
        "groups": int((~kept).sum()),
        "records": int(groups.sizes[~kept].sum()),
        "loss": normalised(loss, groups, kept),
    }


def _row(without: dict[str, Any], records: int) -> list[str]:
    share = without["records"] / max(records, 1)
    return [
        f"{without['groups']:,}",
        f"{without['records']:,}",
        percent(share),
        percent(without["loss"]),
    ]


def _allowed(method: Any, groups: "Groups", kept: "npt.NDArray[np.bool_]") -> dict[str, Any]:
    """How many records a method may suppress, where it has such a limit, and whether that is enough."""
    if not hasattr(method, "suppression"):
        return {"allowed": None, "within": None}
    allowed = int(method.suppression * int(groups.sizes.sum()))
    return {"allowed": allowed, "within": int(groups.sizes[~kept].sum()) <= allowed}


def _notes(method: Any, together: dict[str, Any] | None, chosen: dict[str, int]) -> Iterator[str]:
    """What the recipe has to say about a release at these levels."""
    if method.name == "safepub":
        yield (
            "safepub counts records that agree in all released columns, in a sample: "
            "the groups of its release are others than these. "
            "Levels that are chosen by looking at this page tell about the table, and no budget pays for that."
        )
    if not hasattr(method, "ceiling"):
        yield f"{method.name} chooses no levels: the groups of its release are others than these."
        return
    if together and together["within"] is not None:
        verdict = "so these levels will do" if together["within"] else "so these levels will not do"
        yield f"The recipe allows {plural(together['allowed'], 'record')} to be suppressed, {verdict}."
    lowest, highest = method.floor, method.ceiling
    outside = [
        name
        for name, at in chosen.items()
        if not lowest.get(name, 0) <= at <= highest.get(name, at)
    ]
    if outside:
        yield f"Beyond the floor or ceiling of the recipe: {', '.join(outside)}."


def _levels(given: list[str], table: "Table", recipe: bool) -> dict[str, int]:
    """The level of every quasi-identifying column."""
    if not table.quasi:
        raise ParameterError("no quasi-identifying columns to preview; name them with --quasi")
    if lacking := [name for name in table.quasi if name not in table.hierarchies]:
        fix = (
            f"add [hierarchies.{lacking[0]}] to the recipe"
            if recipe
            else f"give --hierarchy {lacking[0]}=FILE"
        )
        raise HierarchyError(
            f"no hierarchy for {listed(lacking)}; {fix} (shoal hierarchy make writes such files)"
        )
    chosen = dict.fromkeys(table.quasi, 0)
    for name, text in options.pairs(given, "--levels").items():
        if name not in chosen:
            raise ParameterError(
                f"--levels names {name!r}; the quasi-identifying columns are {listed(chosen)}"
            )
        height = table.hierarchy(name).height
        if not text.isdecimal() or int(text) > height:
            raise ParameterError(f"--levels {name}={text}: the column has levels 0 to {height}")
        chosen[name] = int(text)
    return chosen

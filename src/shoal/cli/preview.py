"""`shoal preview`: what becomes of a table at given levels."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.bundles import bundled
from shoal.cli.terminal import (
    figures,
    listing,
    percent,
    print_json,
    remark,
    rows_of,
    show,
    title,
    working,
)
from shoal.errors import HierarchyError, ParameterError, listed, plural
from shoal.zones import NOT_FOR_RELEASE, NOTICE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from shoal.data.hierarchy import Hierarchy
    from shoal.data.tables import Table
    from shoal.measure.previewing import Preview, Suppression
    from shoal.recipe import Recipe

__all__ = ["preview"]


@bundled
def preview(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE|FILE", help="A recipe, or a table with options.", show_default=False
        ),
    ],
    *,
    levels: options.Levels = [],  # noqa: B006  typer wants a list, and nobody changes it
    rows: Annotated[int, typer.Option(metavar="N", min=0, help="How many groups are shown.")] = 10,
    quasi: options.Quasi = [],  # noqa: B006
    files: options.HierarchyFiles,
    json: options.Json = False,
    form: options.Form,
) -> None:
    """What becomes of a table at given levels?

    Takes a recipe, with the models of its method, or a table with --quasi and a --hierarchy for
    each of those columns.
    """
    from shoal.measure.previewing import preview as preview_table

    if options.is_recipe(source):
        recipe = form.of_recipe(
            source,
            quasi=quasi,
            hierarchy=files.hierarchy,
            root=files.root,
            add_root=files.add_root,
        )
        table, method = _of_recipe(recipe)
    else:
        trees = files.read(form.types, [source])
        table, method = _of_file(source, form, quasi, trees), None
    chosen = {}
    for name, text in options.pairs(levels, "--levels").items():
        if not text.isdecimal():
            raise ParameterError(f"--levels {name}={text} is not a level", "give a whole number")
        chosen[name] = int(text)
    _require_hierarchies(table, is_recipe=method is not None)
    with working(f"grouping {table.rows:,} rows"):
        result = preview_table(
            table,
            chosen,
            models=getattr(method, "models", ()),
            loss=getattr(method, "loss", "granularity"),
            suppression=getattr(method, "suppression", None),
            groups=rows,
        )
    if json:
        print_json({**NOT_FOR_RELEASE, **result.to_dict()})
        return
    show(NOTICE, "", *_pages(result))
    if method is not None:
        show(*(f"\n{note}" for note in _notes(method, result)))
    if result.first:
        show(*_first_pages(result))
    show("", NOTICE)


def _of_recipe(recipe: "Recipe") -> "tuple[Table, Any]":
    """The table of a recipe, one row for each person where it says so, and its method."""
    from shoal.chance import Chance
    from shoal.methods.method import people_of

    method: Any = recipe.method()
    with working(f"reading {options.shown(recipe.content.source.path)}"):
        return people_of(method, recipe.table(), Chance()), method


def _of_file(
    path: str, form: options.Form, quasi: list[str], trees: "dict[str, Hierarchy]"
) -> "Table":
    from shoal.data.people import repeated

    with working(f"reading {options.shown(path)}"):
        table = form.read(path, quasi=quasi, hierarchies=trees)
    if twice := repeated(table, table.quasi, table.unmentioned):
        columns = listed(one.column for one in twice)
        remark(f"note: people seem to be in several rows, by {columns}; these figures are of rows")
    return table


def _require_hierarchies(table: "Table", *, is_recipe: bool) -> None:
    lacking = [name for name in table.quasi if name not in table.hierarchies]
    if not lacking:
        return
    fix = f"give --hierarchy {lacking[0]}=FILE"
    if is_recipe:
        fix = f"add [hierarchies.{lacking[0]}] to the recipe"
    raise HierarchyError(
        f"no hierarchy for {listed(lacking)}", f"{fix} (shoal hierarchy make writes such files)"
    )


def _pages(result: "Preview") -> "Iterator[RenderableType]":
    """The preview as tables."""
    columns = result.columns.items()
    yield listing(
        ["", "level", "of", "values"],
        *(
            [name, f"{column.level}", f"{column.height}", f"{column.values:,}"]
            for name, column in columns
        ),
    )
    yield title("The table at these levels")
    yield figures(
        ("records", f"{result.records:,}"),
        ("groups", f"{result.groups:,}"),
        ("k, the smallest group", "no records" if result.k is None else f"{result.k:,}"),
        (f"loss ({result.loss_model})", percent(result.loss)),
    )
    yield title("With groups below k suppressed")
    by_k = result.by_k.items()
    yield listing(["k", *_HEAD], *([f"{k}", *_row(one, result.records)] for k, one in by_k))
    if result.all_models is not None:
        by_model = dict(result.by_model)
        if len(by_model) > 1:
            by_model["all of them"] = result.all_models
        yield title("With groups suppressed that fail the models of the recipe")
        yield listing(
            ["", *_HEAD],
            *([name, *_row(one, result.records)] for name, one in by_model.items()),
        )


def _first_pages(result: "Preview") -> "Iterator[RenderableType]":
    judged = result.all_models is not None
    head = ["records", "kept"] if judged else ["records"]
    rows = []
    for group in result.first:
        row = [f"{group.records:,}"]
        if judged:
            row.append("yes" if group.kept else "no")
        rows.append([*row, *group.values.values()])
    yield title(f"The first {plural(len(result.first), 'group')}")
    yield rows_of([*head, *result.columns], *rows)


_HEAD = ("groups", "records", "share", "loss")


def _row(suppression: "Suppression", records: int) -> list[str]:
    share = suppression.records / max(records, 1)
    return [
        f"{suppression.groups:,}",
        f"{suppression.records:,}",
        percent(share),
        percent(suppression.loss),
    ]


def _notes(method: Any, result: "Preview") -> Iterator[str]:
    """What the recipe has to say about a release at these levels."""
    from shoal.methods.catalogue import entry_of
    from shoal.methods.method import refines

    if note := entry_of(method.name).levels_note:
        yield note
    if not hasattr(method, "ceiling"):
        yield f"{method.name} chooses no levels: the groups of its release differ from these."
        return
    if refines(method):
        yield (
            f"{method.name} grows a tree: its release has values of several levels, finer ones "
            "where more records are alike, so its groups differ from these."
        )
    if result.within is not None and result.allowed is not None:
        verdict = "will do" if result.within else "will not do"
        allowed = plural(result.allowed, "record")
        yield f"The recipe allows {allowed} to be suppressed, so these levels {verdict}."
    outside = [
        name
        for name, level in result.levels.items()
        if not method.floor.get(name, 0) <= level <= method.ceiling.get(name, level)
    ]
    if outside:
        yield f"Beyond the floor or ceiling of the recipe: {', '.join(outside)}."

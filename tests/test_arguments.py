"""Whatever is given to a public function or class, it answers or says what is wrong: never an error
of Python's own."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import Groups, Lattice, Table
from shoal.arguments import keep
from shoal.audit import Secret
from shoal.errors import ColumnError, InternalError, ParameterError, ShoalError
from shoal.methods.disclosure import Predicate, Space
from shoal.views import Candidate, View, Views

loose: Any = shoal  # which takes more than a type checker allows

ROOT = Path(__file__).resolve().parents[1]
FRAME = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(12)],
        "age": [20, 21, 22, 23, 30, 31, 32, 33, 20, 21, 30, 31],
        "sex": ["f", "m"] * 6,
        "ill": ["flu", "cold", "flu", "gout", "gout", "flu"] * 2,
    }
)
WRONG = {
    "None": None,
    "1": 1,
    "text": "x",
    "list": [5],
    "object": object(),
    "frame": FRAME,
    "dict": {"x": None},
    "class": int,
    "nan": float("nan"),
}
SIGNATURE = re.compile(r"argument|positional|keyword|signature")


def people() -> Table:
    return shoal.table(
        FRAME,
        identifying=["name"],
        quasi=["age", "sex"],
        sensitive=["ill"],
        hierarchies={
            "age": shoal.hierarchy.intervals(20, 39, widths=[10]),
            "sex": shoal.hierarchy.suppress(["f", "m"]),
        },
        types={"age": "integer", "name": "text", "sex": "text", "ill": "text"},
    )


def public() -> dict[str, Any]:
    """Everything on the page of the reference, by its address."""
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    found = {f"shoal.{name}": getattr(shoal, name) for name in shoal.__all__}
    for place, options in re.findall(r"^::: (\S+)((?:\n    .*)*)", page, re.MULTILINE):
        members = re.search(r"members: \[(.*)\]", options)
        room, _, name = place.rpartition(".")
        if members:
            room, names = place, members[1].split(", ")
        else:
            names = [] if "members" in options else [name]
        found |= {f"{room}.{one}": getattr(import_module(room), one) for one in names}
    return {
        place: thing
        for place, thing in found.items()
        # Enums and exceptions are Python's own, with Python's own errors.
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception | Enum))
    }


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What goes through for parameters of a name, wherever they occur."""
    folder = tmp_path_factory.mktemp("given")
    table = people()
    method = shoal.Personal("1/2")
    views = Views(["a", "b"], [View("v", [0, 1], ["x", "y"])])
    tree = table.hierarchy("sex")
    space = Space(("a", "b"), ((frozenset("a"), frozenset("b")), (frozenset("ab"),)))
    counts = shoal.Counts((), (), (), pl.Series([1]).to_numpy())
    lattice = shoal.Lattice(
        table.count(["age", "sex"]),
        {name: table.hierarchy(name) for name in table.quasi},
    )
    buckets = shoal.Buckets("ill", shoal.Limits.formula(1, "1/2"), "multi").release(table)
    return {
        "frame": FRAME,
        "table": table,
        "people": table,
        "like": table,
        "register": table,
        "data": table,
        "path": str(folder / "file.csv"),
        "directory": str(folder / "folder"),
        "schema": table.schema,
        "method": method,
        "models": [shoal.KAnonymity(2)],
        "column": "ill",
        "limits": shoal.Limits.formula(1, "1/2"),
        "views": views,
        "candidates": [Candidate("c", frozenset({0}))],
        "space": space,
        "predicate": Predicate(lambda states: True),
        "function": {"a": 0, "b": 0},
        "one": {"a": 0, "b": 0},
        "other": {"a": 0, "b": 0},
        "hierarchy": tree,
        "hierarchies": dict(table.hierarchies),
        "counts": counts,
        "lattice": lattice,
        "release": loose.Optimal([shoal.KAnonymity(2)]).release(table),
        "epsilon": 1,
        "delta": "1/1000",
        "k": 2,
        "l": 2,
        "c": 2,
        "t": "1/2",
        "p": 2,
        "beta": "1/2",
        "lowest": 0,
        "highest": 1,
        "population": lattice.rollup and table.count(["age", "sex"]),
        "utility": "1/2",
        "probability": "1/2",
        "rows": 1,
        "columns": 2,
        "values": ["a", "b"],
        "sizes": [2],
        "tree": {"all": ["a", "b"]},
        "first": "2024-01-01",
        "last": "2024-02-01",
        "groups": 1,
        "definition": "standard",
        "a": 1,
        "b": "1/2",
        "ks": [2],
        "row": 0,
        "x": 10,
        "y": 20,
        "trials": 10,
        "tries": 100,
        "number": 1,
        "size": 1,
        "sequence": [[[1]]],
        "certificate": str(folder / "certificate.json"),
        "released": FRAME,
        "possible": [["x", "y"]],
        "domain": ["a", "b"],
        "records": 1,
        "algorithm": lambda database: 0,
        "shown": {"x": 1, "y": 1},
        "shares": {"x": 1, "y": 1},
        "procedure": lambda table: 0,
        "tables": [("x", "y")],
        "place": str(folder / "audit"),
        "make": shoal.hierarchy.suppress,
        "where": {"sex": "f"},
        "node": (0, 0),
        "names": ["age"],
        "name": "age",
        "query": "max(age)",
        "kind": shoal.Kind.TEXT,
        "secrets": Secret("age", "max", 0, 99),
        "public": ["sex"],
        "buckets": buckets,
        "gamma": "1/2",
        "value": "x",
        "unit": "name",
        "text": "{}",
        "role": shoal.Role.QUASI,
    }


OWN: dict[str, dict[str, Any]] = {
    "shoal.data.hierarchy.intervals": {"low": 0, "high": 9, "widths": [5]},
    "shoal.measure.buckets.count": {"release": "buckets"},
    "shoal.measure.buckets.BucketReading": {"release": "buckets"},
    "shoal.attack.corruption": {"release": "buckets"},
    "shoal.attack.association": {"release": "buckets"},
    "shoal.privacy.limits.BucketLimits": {},
}


def arguments(place: str, thing: Callable[..., Any], good: dict[str, Any]) -> dict[str, Any]:
    """Arguments that a call needs, each of a type it takes."""
    own = {
        name: good[value] if isinstance(value, str) and value in good else value
        for name, value in OWN.get(place, {}).items()
    }
    needed = {
        name
        for name, one in inspect.signature(thing).parameters.items()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }
    return {name: good.get(name) for name in needed} | own


def refused(call: Callable[[], Any]) -> None:
    """Run a call that may be refused: by Shoal, or by Python where the signature itself is
    wrong."""
    try:
        found = call()
        if isinstance(found, Iterator):
            list(found)
    except ShoalError as error:
        if "shape:" in str(error) or " object at 0x" in str(error):
            raise AssertionError(f"an error shows what it was given: {error}") from None
    except TypeError as error:
        if not SIGNATURE.search(str(error)):
            raise


def mistakes(thing: Callable[..., Any], needed: dict[str, Any]) -> list[str]:
    """What a callable raises that is no answer, for every parameter and every wrong value in its
    place."""
    found = []
    for name, parameter in inspect.signature(thing).parameters.items():
        for called, wrong in WRONG.items():
            try:
                if parameter.kind is parameter.VAR_POSITIONAL:
                    refused(partial(thing, wrong))
                elif parameter.kind is not parameter.VAR_KEYWORD:
                    refused(partial(thing, **needed | {name: wrong}))
            except Exception as error:
                found.append(f"{name}={called}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("place", public())
def test_public_callables_refuse_arguments_of_the_wrong_type(
    place: str, good: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    thing = public()[place]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mistakes(thing, arguments(place, thing, good))
    assert not found, "\n".join(found)


METHODS: dict[str, dict[str, Any]] = {
    name: {"schema": [["age"], ["sex", "ill"]], "most": 1} if name == "Columns" else {}
    for name in (
        *("SafePub", "NoisyCounts", "KDGS", "Columns", "Buckets", "Personal"),
        *("Coincident", "Disclosure", "Optimal", "Mondrian", "RandomSample"),
    )
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_refuse_what_they_are_given_wrongly_when_they_are_made_or_when_they_release(
    name: str, good: dict[str, Any]
) -> None:
    make = getattr(shoal, name)
    needed = arguments(f"shoal.{name}", make, good) | METHODS[name]
    assert not mistakes(make(**needed).promise, {"schema": good["schema"]})
    assert not mistakes(make(**needed).release, {"table": good["table"]})

    def released(**options: Any) -> None:
        method = make(**options)
        method.promise(good["schema"])
        method.release(good["table"])

    released.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
    found = mistakes(released, needed)
    assert not found, "\n".join(found)


def test_methods_of_public_classes_refuse_arguments_of_the_wrong_type(
    good: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    things = {
        "table": good["table"],
        "release": good["release"],
        "ledger": shoal.Ledger.create(tmp_path / "ledger.db"),
        "limits": good["limits"],
        "views": good["views"],
        "lattice.groups": good["lattice"].groups,
    }
    found = []
    for called, thing in things.items():
        members = {"": thing} if inspect.ismethod(thing) else dict(inspect.getmembers(thing))
        for name, member in members.items():
            # What `together` needs, views give; the command line puts them together.
            if name.startswith(("_", "together")):
                continue
            if inspect.ismethod(member):
                needed = arguments("", member, good)
                found += [f"{called}.{name} {what}" for what in mistakes(member, needed)]
    assert not found, "\n".join(found)


def test_what_was_reported_is_said_clearly() -> None:
    table = people()
    with pytest.raises(ParameterError, match=r"quasi='age' is a text; give a list"):
        loose.assess(FRAME, quasi="age")
    with pytest.raises(ParameterError, match="`models` has an int, which has no"):
        loose.Optimal([5])
    with pytest.raises(ColumnError, match="`table` is a DataFrame; it takes a Table"):
        loose.judge(FRAME, FRAME)
    with pytest.raises(ParameterError, match="`chance` is an int; it takes a Chance"):
        loose.SafePub(1, "1e-3").release(table, 1)
    with pytest.raises(ParameterError, match="DataFrame is not a finite number"):
        loose.SafePub(FRAME, "1e-3")


@pytest.mark.parametrize(
    "call",
    [
        lambda: shoal.table(FRAME, sensitive="ill"),
        lambda: people().with_roles(quasi="age"),
        lambda: loose.assess(people(), sensitive="ill"),
        lambda: loose.SafePub(1, "1e-3", score="classification", classes="ill"),
        lambda: people().records("age"),
        lambda: shoal.hierarchy.dates("2024-01-01", "2024-02-01", levels="month"),
    ],
)
def test_a_text_is_never_taken_letter_by_letter(call: Callable[[], Any]) -> None:
    with pytest.raises(ParameterError, match="is a text; give a list, as in"):
        call()


class AtLeastTwo:
    """A model of the owner's own, as docs/how-to/extend-model.md describes it."""

    name = "at-least-two"
    hereditary = True
    columns = ()
    meaning = "every group has two records"

    def holds(self, groups: Groups) -> Any:
        return groups.sizes >= 2

    def achieved(self, groups: Groups, kept: Any = None) -> int:
        return int(groups.sizes.min())


class Ruined:
    """A loss of the owner's own: the number of groups."""

    name = "ruined"

    def of(self, groups: Groups, kept: Any) -> float:
        return float(len(groups.sizes))

    def span(self, lattice: Lattice) -> tuple[float, float]:
        return 0.0, float(lattice.total)


@pytest.mark.parametrize(
    "method",
    [
        loose.Optimal([AtLeastTwo()], loss=Ruined()),
        loose.Mondrian([AtLeastTwo()]),
        loose.Mondrian([AtLeastTwo()], relaxed=True),
        loose.Coincident([AtLeastTwo()]),
    ],
    ids=["optimal", "mondrian", "mondrian relaxed", "coincident"],
)
def test_a_model_and_a_loss_of_ones_own_are_used_and_named(method: Any, tmp_path: Path) -> None:
    release = method.release(people())
    assert release.certificate.parameters["models"] == [{"is": "at-least-two"}]
    assert "at-least-two" in release.certificate.statement
    release.write(tmp_path / "out")
    text = (tmp_path / "out" / "certificate.json").read_text()
    assert " object at 0x" not in text + str(release.certificate)


def test_a_model_or_loss_that_lacks_something_is_refused_by_what_it_lacks() -> None:
    class Half:
        name = "half"

    with pytest.raises(ParameterError, match="'achieved', 'columns', 'hereditary', 'holds'"):
        loose.Optimal([Half()])
    with pytest.raises(ParameterError, match="`loss` is a Half, which has no 'of', 'span'"):
        loose.Optimal(["2-anonymity"], loss=Half())
    with pytest.raises(ParameterError, match="the class AtLeastTwo"):
        loose.Optimal([AtLeastTwo])
    with pytest.raises(ParameterError, match=r"at-least-two .*depends on which values"):
        loose.Disclosure([AtLeastTwo()]).release(people())


def test_a_constructor_keeps_all_fields_and_no_others() -> None:
    @dataclass(frozen=True, init=False)
    class Share:
        share: Fraction
        unit: str | None

        def __init__(self, **values: Any) -> None:
            keep(self, **values)

    assert Share(share=Fraction(1), unit=None).share == 1
    for values in ({"share": 1}, {"share": 1, "unit": None, "more": 2}):
        with pytest.raises(InternalError, match=r"not kept: '(unit|more)'"):
            Share(**values)

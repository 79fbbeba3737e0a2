"""Hierarchies that ARX saved: the levels and labels that ARX makes of them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shoal.arx import hierarchy
from shoal.data.kinds import Kind
from shoal.errors import FileError, HierarchyError, ParameterError
from tests.arx.streams import Constant, Thing, stream

AGGREGATES = "org.deidentifier.arx.aggregates."
FUNCTION = AGGREGATES + "AggregateFunction$"
INTEGER = Thing("org.deidentifier.arx.DataType$ARXInteger")
DECIMAL = Thing("org.deidentifier.arx.DataType$ARXDecimal")
STRING = Thing("org.deidentifier.arx.DataType$ARXString")
HALF_OPEN = Thing(
    FUNCTION + "GenericInterval", {"lowerIncluded": ("Z", True), "upperIncluded": ("Z", False)}
)
SET = Thing(FUNCTION + "GenericSet")


def constant(label: str) -> Thing:
    return Thing(FUNCTION + "GenericConstant", {"value": ("L", label)})


def levels(*sizes: list[int | tuple[int, Thing]], function: Thing = HALF_OPEN) -> dict[int, Thing]:
    made = {}
    for number, groups in enumerate(sizes):
        pairs = [one if isinstance(one, tuple) else (one, function) for one in groups]
        things = [
            Thing("Group", {"size": ("I", size), "function": ("L", label)}) for size, label in pairs
        ]
        made[number] = Thing("Level", {"level": ("I", number), "list": ("L", things)})
    return made


def bounds(repeated: Any, coded: Any, extreme: Any) -> Thing:
    return Thing(
        "Range",
        {
            "repeatBound": ("L", repeated),
            "snapBound": ("L", coded),
            "labelBound": ("L", extreme),
        },
    )


def intervals(*ends: float, groups: Any = None, **more: Any) -> Thing:
    things = [
        Thing("Interval", {"min": ("L", low), "max": ("L", high), "function": ("L", HALF_OPEN)})
        for low, high in pairwise(ends)
    ]
    none = bounds(None, None, None)
    return Thing(
        AGGREGATES + "HierarchyBuilderIntervalBased",
        {
            "datatype": ("L", more.get("datatype", INTEGER)),
            "intervals": ("L", things),
            "groups": ("L", groups or {}),
            "lowerRange": ("L", more.get("lower", none)),
            "upperRange": ("L", more.get("upper", none)),
        },
    )


def saved(tmp_path: Path, thing: Thing) -> Path:
    path = tmp_path / "made.ahs"
    path.write_bytes(stream(thing))
    return path


def test_intervals_repeat_and_are_grouped(tmp_path: Path) -> None:
    given = intervals(
        0, 5, groups=levels([2], [2]), lower=bounds(0, 0, 0), upper=bounds(30, 30, 30)
    )
    tree = hierarchy(saved(tmp_path, given))
    assert tree.kind is Kind.INTEGER
    assert tree.leaves == 30
    lines = {line[0]: line[1:] for line in tree.lines()}
    assert lines["0"] == ["[0, 5[", "[0, 10[", "[0, 20[", "*"]
    assert lines["29"] == ["[25, 30[", "[20, 30[", "[20, 30[", "*"]


def test_values_beyond_the_coded_ends_are_only_outside(tmp_path: Path) -> None:
    given = intervals(0, 10, lower=bounds(20, 20, 18), upper=bounds(60, 60, 70))
    lines = {line[0]: line[1:] for line in hierarchy(saved(tmp_path, given)).lines()}
    assert lines["18"] == ["<20", "*"]
    assert lines["20"] == ["[20, 30[", "*"]
    assert lines["69"] == [">=60", "*"]


def test_intervals_of_unequal_widths_have_their_own_ends(tmp_path: Path) -> None:
    lines = {line[0]: line[1:] for line in hierarchy(saved(tmp_path, intervals(0, 3, 18))).lines()}
    assert lines["2"] == ["[0, 3[", "*"]
    assert lines["17"] == ["[3, 18[", "*"]


def test_decimals_are_named(tmp_path: Path) -> None:
    given = intervals(0.0, 0.5, 1.0, datatype=DECIMAL)
    path = saved(tmp_path, given)
    with pytest.raises(ParameterError, match="values"):
        hierarchy(path)
    tree = hierarchy(path, [0.25, "0.75", 0.5])
    assert tree.kind is Kind.FLOAT
    assert tree.lines()[0] == ["0.25", "[0.0, 0.5[", "*"]
    with pytest.raises(ParameterError, match="outside"):
        hierarchy(path, [7])


def ordered(groups: Any, comparator: Thing | None = None, datatype: Thing = STRING) -> Thing:
    return Thing(
        AGGREGATES + "HierarchyBuilderOrderBased",
        {
            "datatype": ("L", datatype),
            "groups": ("L", groups),
            "comparator": ("L", comparator),
        },
    )


def test_orders_take_so_many_at_a_time(tmp_path: Path) -> None:
    path = saved(tmp_path, ordered(levels([2], [(2, constant("some"))], function=SET)))
    with pytest.raises(ParameterError, match="values"):
        hierarchy(path)
    tree = hierarchy(path, ["c", "a", "b", "d", "e"])
    assert tree.lines() == [
        ["c", "{c, a}", "some", "*"],
        ["a", "{c, a}", "some", "*"],
        ["b", "{b, d}", "some", "*"],
        ["d", "{b, d}", "some", "*"],
        ["e", "{e}", "some-1", "*"],
    ]


def test_an_order_that_was_saved_names_the_values(tmp_path: Path) -> None:
    order = Thing("Comparator", {"val$map": ("L", {"low": 0, "middle": 1, "high": 2})})
    tree = hierarchy(saved(tmp_path, ordered(levels([2], function=SET), order)))
    assert [line[0] for line in tree.lines()] == ["low", "middle", "high"]


def test_masks_hide_one_character_after_the_other(tmp_path: Path) -> None:
    given = Thing(
        AGGREGATES + "HierarchyBuilderRedactionBased",
        {
            "paddingCharacter": ("C", "#"),
            "redactionCharacter": ("C", "*"),
            "redactionOrder": ("L", Constant("Order", "RIGHT_TO_LEFT")),
            "aligmentOrder": ("L", Constant("Order", "LEFT_TO_RIGHT")),
        },
    )
    tree = hierarchy(saved(tmp_path, given), ["123", "45"])
    assert tree.lines() == [["123", "12*", "1**", "***"], ["45", "45*", "4**", "***"]]


@pytest.mark.parametrize(
    ("function", "label"),
    [
        (Thing(FUNCTION + "GenericBounds"), "[abc, abd]"),
        (Thing(FUNCTION + "GenericCommonPrefix", {"redaction": ("L", None)}), "ab"),
        (Thing(FUNCTION + "GenericSetOfPrefixes", {"length": ("I", 1)}), "a-a"),
    ],
)
def test_labels_of_groups(tmp_path: Path, function: Thing, label: str) -> None:
    path = saved(tmp_path, ordered(levels([2], function=function)))
    assert hierarchy(path, ["abc", "abd", "x"]).lines()[0][1] == label


@pytest.mark.parametrize("kind", ["HierarchyBuilderDate", "HierarchyBuilderPriorityBased"])
def test_what_has_no_counterpart_says_what_to_do(tmp_path: Path, kind: str) -> None:
    with pytest.raises(HierarchyError, match="CSV"):
        hierarchy(saved(tmp_path, Thing(AGGREGATES + kind)))


@pytest.mark.parametrize(
    "thing",
    [
        Thing("java.util.Evil"),
        intervals(),
        intervals(5, 5),
        intervals(0, 5, groups=levels([0])),
        intervals(0, 5, groups={7: Thing("Level")}),
        intervals(0, 5, lower=bounds("x", None, None)),
        ordered(levels([(1, Thing("Evil"))])),
    ],
)
def test_what_arx_never_saves_is_refused(tmp_path: Path, thing: Thing) -> None:
    with pytest.raises((FileError, ParameterError)):
        hierarchy(saved(tmp_path, thing), ["1", "2"])


def test_a_domain_without_end_has_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="values"):
        hierarchy(saved(tmp_path, intervals(0, 1 << 30)))


def test_the_example_of_arx(shared_data: Path) -> None:
    tree = hierarchy(shared_data / "arx-projects" / "age.ahs")
    assert (tree.leaves, tree.height) == (100, 5)
    assert tree.lines()[13] == ["13", "[10, 15[", "[10, 20[", "[0, 20[", "[0, 40[", "*"]

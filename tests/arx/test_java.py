"""Streams of Java: plain values come out, and nothing else happens."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.arx.java import JavaObject, load
from shoal.errors import FileError
from tests.arx.streams import MAGIC, Array, Constant, Thing, described, stream, written

MADE = Thing(
    "org.made.Up",
    {
        "whole": ("I", 7),
        "long": ("J", -1),
        "share": ("D", 0.5),
        "flag": ("Z", True),
        "letter": ("C", "x"),
        "text": ("L", "täxt"),
        "nothing": ("L", None),
        "boxed": ("L", 3),
        "constant": ("L", Constant("org.made.Choice", "FIRST")),
        "numbers": ("[", Array("[I", [1, 2, 3])),
        "texts": ("[", Array("[Ljava.lang.String;", ["a", "b"])),
        "map": ("L", {"a": 1, "b": 2}),
        "list": ("L", ["x", 2.5]),
        "set": ("L", frozenset(["y"])),
        "inner": ("L", Thing("org.made.Inner", {"k": ("I", 5)})),
    },
)


def test_fields_are_plain_values() -> None:
    made = load(stream(MADE), "it")
    assert made.name == "Up"
    assert (made.whole("whole"), made.get("long"), made.number("share")) == (7, -1, 0.5)
    assert (made.get("flag"), made.text("letter"), made.text("text")) == (True, "x", "täxt")
    assert made.get("nothing") is None
    assert made.get("absent") is None
    assert made.get("boxed") == 3
    assert made.text("constant") == "FIRST"
    assert made.list("numbers") == [1, 2, 3]
    assert made.list("texts") == ["a", "b"]
    assert made.map("map") == {"a": 1, "b": 2}
    assert made.list("list") == ["x", 2.5]
    assert made.list("set") == ["y"]
    inner = made.object("inner")
    assert isinstance(inner, JavaObject)
    assert inner.whole("k") == 5


def test_a_field_of_another_type_is_none() -> None:
    made = load(stream(MADE), "it")
    assert made.whole("text") is None
    assert made.number("flag") is None
    assert made.text("whole") is None
    assert made.object("list") is None
    assert made.list("map") == []
    assert made.map("list") == {}


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", MAGIC, MAGIC + b"\x74\x00\x01a", b"\0" * 99]
)
def test_what_is_not_a_stream_of_objects_is_refused(content: bytes) -> None:
    with pytest.raises(FileError, match="not a whole stream"):
        load(content, "it")


@given(st.integers(0, len(stream(MADE)) - 1), st.integers(0, 255))
def test_a_forged_stream_is_an_error_or_plain_values(place: int, byte: int) -> None:
    forged = bytearray(stream(MADE))
    forged[place] = byte
    said = ""
    try:
        made = load(bytes(forged), "it")
        for name in MADE.fields:
            made.get(name)
    except FileError as error:
        said = str(error)
    assert "täxt" not in said


def test_a_truncated_stream_is_refused() -> None:
    whole = stream(MADE)
    for end in range(0, len(whole), 7):
        with pytest.raises(FileError):
            load(whole[:end], "it")


def test_a_list_that_holds_itself_ends() -> None:
    head = described("java.util.ArrayList", 3, {"size": "I"})
    # The list is the second thing with a handle after the object's own class and field's type.
    outer = described("org.made.Up", 2, {"list": "L"})
    for handle in range(3, 9):
        back = b"\x71" + (0x7E0000 + handle).to_bytes(4, "big")
        inner = b"\x73" + head + bytes(4) + b"\x77\x04" + bytes(4) + back + back + b"\x78"
        with suppress(FileError):
            load(MAGIC + b"\x73" + outer + inner, "it").get("list")


def test_objects_nested_without_end_are_refused() -> None:
    deep = b"".join(b"\x73" + described("org.made.Up", 2, {"up": "L"}) for _ in range(5000))
    with pytest.raises(FileError):
        load(MAGIC + deep + b"\x70", "it")


def test_lists_of_lists_do_not_multiply() -> None:
    inner: object = ["x"]
    for _ in range(12):
        inner = [inner, "y"]
    made = load(MAGIC + written(Thing("Up", {"list": ("L", inner)})), "it")
    assert made.list("list")[1] == "y"

"""Streams of Java objects, and projects of ARX, as tests make them up."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

MAGIC = b"\xac\xed\x00\x05"
_FORMATS = {"I": ">i", "J": ">q", "D": ">d", "F": ">f", "Z": ">?", "C": ">H"}


@dataclass(frozen=True)
class Constant:
    """A constant of an enumeration."""

    kind: str
    name: str


@dataclass(frozen=True)
class Array:
    kind: str
    items: Sequence[Any]


@dataclass(frozen=True)
class Thing:
    """An object: its class, and the type and value of each field."""

    kind: str
    fields: Mapping[str, tuple[str, Any]] = field(default_factory=dict)


def utf(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded


def described(kind: str, flags: int = 2, fields: Mapping[str, str] | None = None) -> bytes:
    given = fields or {}
    parts = [b"\x72", utf(kind), bytes(8), bytes([flags]), struct.pack(">H", len(given))]
    for name, code in given.items():
        parts += [code[0].encode(), utf(name)]
        if code[0] in "L[":
            parts.append(b"\x74" + utf("Ljava/lang/Object;" if code[0] == "L" else "[I"))
    return b"".join([*parts, b"\x78\x70"])


def written(value: Any) -> bytes:
    """A value after its type code."""
    if value is None:
        return b"\x70"
    if isinstance(value, str):
        return b"\x74" + utf(value)
    if isinstance(value, bool):
        return written(Thing("java.lang.Boolean", {"value": ("Z", value)}))
    if isinstance(value, int):
        return written(Thing("java.lang.Integer", {"value": ("I", value)}))
    if isinstance(value, float):
        return written(Thing("java.lang.Double", {"value": ("D", value)}))
    if isinstance(value, Constant):
        return b"\x7e" + described(value.kind, 0x12) + written(value.name)
    if isinstance(value, Array):
        items = b"".join(_field(value.kind[1], item) for item in value.items)
        return b"\x75" + described(value.kind) + struct.pack(">i", len(value.items)) + items
    if isinstance(value, dict):
        head = described("java.util.HashMap", 3, {"loadFactor": "F", "threshold": "I"})
        pairs = b"".join(written(part) for pair in value.items() for part in pair)
        block = b"\x77\x08" + struct.pack(">ii", 16, len(value))
        return b"\x73" + head + struct.pack(">fi", 0.75, 12) + block + pairs + b"\x78"
    if isinstance(value, list):
        head = described("java.util.ArrayList", 3, {"size": "I"})
        block = b"\x77\x04" + struct.pack(">i", len(value))
        items = b"".join(map(written, value))
        return b"\x73" + head + struct.pack(">i", len(value)) + block + items + b"\x78"
    if isinstance(value, set | frozenset):
        block = b"\x77\x0c" + struct.pack(">ifi", 16, 0.75, len(value))
        items = b"".join(map(written, value))
        return b"\x73" + described("java.util.HashSet", 3) + block + items + b"\x78"
    assert isinstance(value, Thing)
    head = described(value.kind, 2, {name: code for name, (code, _) in value.fields.items()})
    body = b"".join(_field(code, inner) for code, inner in value.fields.values())
    return b"\x73" + head + body


def _field(code: str, value: Any) -> bytes:
    if code[0] in "L[":
        return written(value)
    packed = ord(value) if code == "C" else value
    return struct.pack(_FORMATS[code], packed)


def stream(value: Any) -> bytes:
    return MAGIC + written(value)


# Projects

CRITERIA = "org.deidentifier.arx.criteria."


def criterion(kind: str, column: str | None = None, **numbers: float | int) -> Thing:
    """A privacy model with its numbers."""
    fields: dict[str, tuple[str, Any]] = {
        name: ("I" if isinstance(number, int) else "D", number) for name, number in numbers.items()
    }
    if column is not None:
        fields["attribute"] = ("L", column)
    return Thing(CRITERIA + kind, fields)


@dataclass
class Made:
    """A project that is being made up; parts can be changed before it is written."""

    columns: Sequence[tuple[str, str, str]]
    """Name, role and further elements of each column's definition."""

    rows: Sequence[Sequence[str]]
    hierarchies: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    criteria: Sequence[Thing] = ()
    said: Sequence[str] = ()
    metric: Thing | None = None
    shown_metric: str = "Loss (0.5/1.0/1.0)"
    suppression: str = "1.0"
    weights: Mapping[str, float] = field(default_factory=dict)
    subset: Sequence[int] | None = None
    settings: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    serialised: bool = True
    parts: dict[str, bytes | None] = field(default_factory=dict)

    def content(self) -> dict[str, bytes]:
        names = [name for name, _, _ in self.columns]
        parts = {
            "metadata.xml": "<metadata><version>3.9.1</version></metadata>",
            "project.xml": "<project><name>made up</name><separator>;</separator></project>",
            "input/config.xml": self._config(),
            "input/definition.xml": self._definition(),
            "data/input.csv": _csv([names, *self.rows]),
        }
        for name, lines in self.hierarchies.items():
            parts[f"input/hierarchies/{name.replace('/', '')}.csv"] = _csv(lines)
        content = {name: text.encode() for name, text in parts.items()}
        if self.serialised:
            content["input/config.dat"] = stream(self._configuration())
        for name, part in self.parts.items():
            if part is None:
                del content[name]
            else:
                content[name] = part
        return content

    def write(self, path: Path) -> Path:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in self.content().items():
                archive.writestr(name, part)
        path.write_bytes(packed.getvalue())
        return path

    def _definition(self) -> str:
        parts = []
        for name, role, more in self.columns:
            reference = ""
            if name in self.hierarchies:
                reference = f"<ref>hierarchies/{escape(name.replace('/', ''))}.csv</ref>"
            parts.append(
                f"<assigment><name>{escape(name)}</name><type>{role}_ATTRIBUTE</type>"
                f"{reference}{more}</assigment>"
            )
        return f"<definition>{''.join(parts)}</definition>"

    def _config(self) -> str:
        weights = "".join(
            f"<attributeWeight><attribute>{escape(name)}</attribute><weight>{weight}</weight>"
            "</attributeWeight>"
            for name, weight in self.weights.items()
        )
        said = "".join(f"<criterion>{escape(text)}</criterion>" for text in self.said)
        return (
            f"<config><relativeMaxOutliers>{self.suppression}</relativeMaxOutliers>"
            f"<metric>{self.shown_metric}</metric><attributeWeights>{weights}</attributeWeights>"
            f"<criteria>{said}</criteria></config>"
        )

    def _configuration(self) -> Thing:
        metric = self.metric or Thing(
            "org.deidentifier.arx.metric.v2.MetricMDNMLoss",
            {"function": ("L", Constant("AggregateFunction", "GEOMETRIC_MEAN"))},
        )
        config = Thing(
            "org.deidentifier.arx.ARXConfiguration",
            {"criteria": ("L", list(self.criteria)), "metric": ("L", metric), **self.settings},
        )
        modes = {name: Constant("Mode", mode) for name, mode in self.modes.items()}
        fields = {"config": ("L", config), "transformationModes": ("L", modes)}
        if self.subset is not None:
            fields["researchSubset"] = ("L", self._subset())
        return Thing("org.deidentifier.arx.gui.model.ModelConfiguration", fields)

    def _subset(self) -> Thing:
        assert self.subset is not None
        words = [0] * ((len(self.rows) + 63) // 64)
        for row in self.subset:
            words[row >> 6] |= 1 << (row & 63)
        signed = [word - (1 << 64) if word >> 63 else word for word in words]
        return Thing(
            "org.deidentifier.arx.RowSet",
            {
                "length": ("I", len(self.rows)),
                "size": ("I", len(self.subset)),
                "array": ("[", Array("[J", signed)),
            },
        )


def _csv(lines: Sequence[Sequence[str]]) -> str:
    return "".join(";".join(line) + "\n" for line in lines)


SECRET = "Hapax"
"""A value of a made-up table, which no message may have."""

AGES = [[str(age), f"{age // 10 * 10}s", "*"] for age in range(20, 60)]
TOWNS = [[town, "north" if town in ("Aa", "Bo") else "south", "*"] for town in ("Aa", "Bo", SECRET)]
ILLS = ["cold", "flu", "asthma"]


def people(**changes: Any) -> Made:
    """Sixty people with a name, an age, a town and an illness."""
    rows = []
    for number in range(60):
        age = str(20 + (number * 7) % 40)
        town = TOWNS[(number * number) % 3][0]
        rows.append([f"P{number}", age, town, ILLS[number % 3]])
    given: dict[str, Any] = {
        "columns": [
            ("name", "IDENTIFYING", "<datatype>String</datatype>"),
            ("age", "QUASI_IDENTIFYING", "<datatype>Integer</datatype><min>All</min>"),
            ("town", "QUASI_IDENTIFYING", "<datatype>String</datatype>"),
            ("ill", "SENSITIVE", "<datatype>String</datatype>"),
        ],
        "rows": rows,
        "hierarchies": {"age": AGES, "town": TOWNS},
        "criteria": [criterion("KAnonymity", k=3)],
    }
    return Made(**{**given, **changes})

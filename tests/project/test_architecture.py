"""The rooms stand in the order that docs/project/rooms.md gives: each uses those above it, none
below. What pages say of files is true.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "shoal"
FOLDER = ROOT / "docs" / "project"
PAGE = FOLDER / "rooms.md"
PAGES = [FOLDER / name for name in ("architecture.md", "rooms.md", "walks.md")]


def rooms() -> list[str]:
    """The rooms in the order of the page's table."""
    return [
        name.rstrip("/")
        for name in re.findall(r"^\| `(\w+/?)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Every room that a module imports from, late or for types only included, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "shoal":
            names = [f"shoal.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        yield from (
            (name.split(".")[1], node.lineno) for name in names if name.startswith("shoal.")
        )


def below(order: list[str], source: Path) -> list[str]:
    """The imports that lead from a room to one below it."""
    wrong = []
    for path in sorted(source.rglob("*.py")):
        own = path.relative_to(source).parts[0].removesuffix(".py")
        for room, line in imported(path) if own in order else ():
            if room in order and order.index(room) > order.index(own):
                wrong.append(f"{path.relative_to(source)}:{line} uses {room}")
    return wrong


def used() -> dict[str, set[str]]:
    """The rooms that each room uses, by the code."""
    uses: dict[str, set[str]] = {room: set() for room in rooms()}
    for path in sorted(SOURCE.rglob("*.py")):
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own in uses:
            uses[own] |= {room for room, _ in imported(path) if room in uses and room != own}
    return uses


def test_the_page_says_which_rooms_each_room_uses() -> None:
    rows = re.findall(
        r"^\| `(\w+)/?` \|.*\| ([\w, ]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    page = {room: set() if uses == "nothing" else set(uses.split(", ")) for room, uses in rows}
    assert page == used()


def test_every_room_is_on_the_page() -> None:
    there = {
        path.name.removesuffix(".py") for path in SOURCE.iterdir() if not path.name.startswith("_")
    } - {"py.typed"}
    assert there == set(rooms())


def test_every_file_that_the_pages_name_exists_and_defines_what_they_say() -> None:
    page = " ".join(" ".join(each.read_text(encoding="utf-8") for each in PAGES).split())
    said = re.findall(r"`([\w/]+\.py)`(?: \(((?:`[\w.]+`(?:, )?)+)\))?", page)
    assert len(said) > 20
    for file, names in said:
        code = (SOURCE / file).read_text(encoding="utf-8")
        for name in re.findall(r"[\w.]+", names):
            defined = rf"^ *(def|class) {name.rpartition('.')[2]}\b"
            assert re.search(defined, code, re.MULTILINE), f"{file} does not define {name}"


def test_no_room_uses_one_below_it() -> None:
    assert not below(rooms(), SOURCE)


def test_a_room_that_used_one_below_it_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "errors.py").write_text("def late():\n    from shoal import data\n")
    (tmp_path / "data.py").write_text("import shoal.errors\nfrom shoal.errors import ShoalError\n")
    assert below(rooms(), tmp_path) == ["errors.py:2 uses data"]


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert not {name: where for name, where in places.items() if len(where) > 1}

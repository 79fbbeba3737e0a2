"""Runs the example notebooks, cell by cell, in this process.

`scripts/notebooks` stores what the cells show; a test compares it with what they show now. There is
no kernel: nbclient and ipykernel would be a dozen packages and seconds for each notebook, and all
that these notebooks use of them is that a cell shows its last value.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from tests.conftest import ROOT

__all__ = ["NOTEBOOKS", "cells", "changes", "outputs_of", "read"]

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

VARIES = "varies"
"""The tag of a cell that shows something drawn by chance, or a time."""

_TEMPORARY = re.compile(re.escape(gettempdir()) + r"/tmp\w+")

Json = dict[str, Any]


def read(path: Path) -> Json:
    """A notebook as it is stored."""
    notebook: Json = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def write(path: Path, notebook: Json) -> None:
    """Store a notebook as Jupyter would."""
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def cells(notebook: Json) -> list[Json]:
    """The cells with code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def varies(cell: Json) -> bool:
    """Whether a cell shows something else every time."""
    return VARIES in cell["metadata"].get("tags", [])


def outputs_of(notebook: Json, name: str) -> Iterator[list[Json]]:
    """Run all cells in one namespace and a folder of their own; what each shows."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with TemporaryDirectory() as folder, chdir(folder):
        for number, cell in enumerate(cells(notebook), 1):
            code = "".join(cell["source"])
            yield _run(code, f"{name}, cell {number}", namespace)


def _run(code: str, where: str, namespace: dict[str, Any]) -> list[Json]:
    """What a cell prints, and what its last expression shows."""
    tree = ast.parse(code, where)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    printed = StringIO()
    value = None
    with redirect_stdout(printed):
        exec(compile(tree, where, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), namespace)
    outputs: list[Json] = []
    if printed.getvalue():
        text = _lines(printed.getvalue())
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        shown = {"data": _shown(value), "execution_count": None, "metadata": {}}
        outputs.append({"output_type": "execute_result", **shown})
    return outputs


def _shown(value: Any) -> Json:
    """What a notebook shows of a value, in the formats it has."""
    data: Json = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = _lines(value._repr_html_())
    return data


def _lines(text: str) -> list[str]:
    """A text as notebooks store it; folders that a cell made for itself have one name."""
    return _TEMPORARY.sub("folder", text).splitlines(keepends=True)


def changes(notebook: Json, shown: list[list[Json]]) -> Iterator[str]:
    """The cells whose stored outputs are not what is shown now.

    Of a cell that varies, only the kinds of its outputs are compared.
    """
    for number, (cell, outputs) in enumerate(zip(cells(notebook), shown, strict=True), 1):
        kept = cell["outputs"]
        same_kinds = _kinds(kept) == _kinds(outputs)
        if not same_kinds or (not varies(cell) and _contents(kept) != _contents(outputs)):
            yield f"cell {number}"


def _kinds(outputs: list[Json]) -> list[list[str]]:
    """Of which kinds outputs are."""
    return [[output["output_type"], *sorted(output.get("data", {}))] for output in outputs]


def _contents(outputs: list[Json]) -> list[Any]:
    """What outputs show."""
    return [output.get("data", output.get("text")) for output in outputs]


def main() -> None:
    """Run the notebooks that are named, or all of them, and store what they show."""
    named = sys.argv[1:]
    for path in NOTEBOOKS:
        if named and path.stem not in named:
            continue
        notebook = read(path)
        shown = list(outputs_of(notebook, path.name))
        for number, (cell, outputs) in enumerate(zip(cells(notebook), shown, strict=True), 1):
            cell["execution_count"] = number
            cell["outputs"] = outputs
            for output in outputs:
                if "execution_count" in output:
                    output["execution_count"] = number
        write(path, notebook)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()

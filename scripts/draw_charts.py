"""Draw the images of docs/how-to/charts.md: its examples run, some are saved."""

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shoal.look import Picture
from shoal.look.drawing import content

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"


def examples() -> dict[str, Any]:
    """What the examples of the page define."""
    page = (ROOT / "docs" / "how-to" / "charts.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    here = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
                exec(block, names)
        finally:
            os.chdir(here)
    return names


def pictures(names: dict[str, Any]) -> dict[str, Picture]:
    """The pictures of the page, by the names of their images."""
    groups = names["shoal"].assess(names["people"], quasi=["age", "sex", "ward"]).pictures()[1]
    columns = {one.title.split(":")[0]: one for one in names["judgement"].pictures()}
    return {
        "sizes": groups,
        "beliefs": names["explanation"].pictures()[0],
        "map": names["risk_and_utility"],
        "space": names["heat"],
        "column": columns["ward"],
    }


if __name__ == "__main__":
    for name, picture in pictures(examples()).items():
        drawn = content(picture.chart(), "svg")
        (IMAGES / f"chart-{name}.svg").write_bytes(drawn)
        print(f"docs/images/chart-{name}.svg  {picture.title}")

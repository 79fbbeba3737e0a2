"""The oldest versions of what is always installed, one constraint per line, by pyproject.toml."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lowest(requirements: list[str]) -> list[str]:
    """Constraints that fix each requirement to its lower bound.

    >>> lowest(["polars>=1.32,<3", "shoal[audit]"])
    ['polars==1.32']
    """
    found = [re.match(r"([\w.-]+)(?:\[[^]]*])?>=([\w.]+)", text) for text in requirements]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(lowest(project["dependencies"])))

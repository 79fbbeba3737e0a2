"""What must be in the wheel and the sdist, and what must not: check_package.py dist"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMED = (
    "shoal/py.typed",
    "shoal/workbench/static/htmx.min.js",
    "shoal/workbench/templates/ask.html",
    "shoal/look/page.css",
    "shoal/report/committees/gdpr.toml",
)
"""Some that were forgotten once somewhere; all tracked files are compared besides."""
SDIST = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "packaging/man/shoal.1")


def tracked() -> set[str]:
    """The files of the package, as git has them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "src"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return {name.removeprefix("src/") for name in listed.split("\0") if name}


def faults(wheel: set[str], sdist: set[str], own: set[str]) -> list[str]:
    """What is wrong with the names in a wheel and an sdist."""
    code = {name for name in wheel if ".dist-info/" not in name and ".data/" not in name}
    found = [f"the wheel lacks {name}" for name in sorted({*own, *NAMED} - wheel)]
    found += [f"the wheel has {name}" for name in sorted(code - own)]
    if not any(name.endswith("share/man/man1/shoal.1") for name in wheel):
        found.append("the wheel lacks the man page")
    wanted = {*SDIST, *(f"src/{name}" for name in own)}
    found += [f"the sdist lacks {name}" for name in sorted(wanted - sdist)]
    others = ("tests/", "bench/", "docs/", "notebooks/", "shared/", "site/", "demo-data/")
    found += [f"the sdist has {name}" for name in sorted(sdist) if name.startswith(others)]
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as zipped:
        in_wheel = set(zipped.namelist())
    with tarfile.open(sdist) as tarred:
        in_sdist = {name.partition("/")[2] for name in tarred.getnames()}
    found = faults(in_wheel, in_sdist, tracked())
    if found:
        sys.exit("\n".join(found))
    for path in (wheel, sdist):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, nothing missing, nothing besides")


if __name__ == "__main__":
    main()

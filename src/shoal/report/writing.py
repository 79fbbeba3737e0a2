"""Reports as files: never in the folder of a release, whoever may read them.

Uses `printing` and `data.disk`; the command line uses it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from shoal.data.disk import together
from shoal.errors import FileError
from shoal.report.printing import as_pdf
from shoal.studies.judging import refuse_beside_a_release

__all__ = ["refuse_in_a_release", "write"]


def refuse_in_a_release(path: str | os.PathLike[str]) -> None:
    """FileError if a path leads into the folder of a release, which must hold nothing else."""
    try:
        refuse_beside_a_release(path)
    except FileError:
        raise FileError(
            f"{os.fspath(path)} is in the folder of a release, which must hold nothing else",
            "write the report somewhere else",
        ) from None


def write(page: str, files: Sequence[Path]) -> None:
    """Write a page into files, as PDF where they end in .pdf: all of them, or none."""
    for path in files:
        refuse_in_a_release(path)
    contents = [as_pdf(page) if path.suffix.lower() == ".pdf" else page.encode() for path in files]
    with together(*files) as opened:
        for file, content in zip(opened, contents, strict=True):
            file.write(content)

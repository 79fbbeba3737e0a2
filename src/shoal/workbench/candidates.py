"""Candidates of a project: what was simulated, in figures alone, kept in its hidden folder.

Nothing here is a release: there are no rows, no certificates and no numbers of releases. Each
candidate remembers the section of a recipe that it was made with. Uses `studies` and `projects`;
the screens Run and Explore use it, and the jobs that make candidates.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.data.disk import finite, is_address, replacing
from shoal.errors import ParameterError, ShoalError
from shoal.recipe.editing import Draft
from shoal.recipe.loading import with_section
from shoal.studies.simulating import Details, Simulation
from shoal.workbench.projects import Project

__all__ = ["CandidateFolder", "KeptCandidate", "basis_of", "method_of", "said_of"]

KEPT = 100
"""Candidates of a project that are kept, the newest."""

_BASIS = ("source", "roles", "hierarchies", "missing", "rows_are_people")
"""What candidates must have in common to be compared."""

_SAID = {
    "epsilon": "ε {}",
    "k": "k {}",
    "models": "{}",
    "suppression": "suppression {}",
    "utility": "utility {}",
    "probability": "probability {}",
    "levels": "{}",
    "search": "{}",
    "score": "{}",
    "loss": "{}",
}
"""How options are named that tell candidates apart, in this order; others are not named."""


@dataclass(frozen=True)
class KeptCandidate:
    """What was simulated, or measured of a release.

    method: the section of a recipe it was made with; None of a release
    basis: by what it may be compared with others
    """

    key: str
    when: float
    method: Mapping[str, Any] | None
    basis: str
    made: Simulation

    @property
    def name(self) -> str:
        """What it is called."""
        return self.made.name

    @property
    def kept(self) -> int | None:
        """How many records it kept; None if that was not measured."""
        found = self.made.compared.assessment
        return None if found is None else found.records


@dataclass(frozen=True)
class CandidateFolder:
    """The candidates of a project."""

    project: Project

    @property
    def _folder(self) -> Path:
        folder = self.project.hidden / "candidates"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def all(self) -> list[KeptCandidate]:
        """All candidates, the oldest first; a file that is damaged is passed over."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                found.append(self._read(path))
            except (OSError, ValueError, KeyError, TypeError, ShoalError):
                continue
        return found

    def current(self) -> list[KeptCandidate]:
        """Those that were made from the table, roles and hierarchies as they are now."""
        basis = basis_of(self.project)
        return [one for one in self.all() if one.basis == basis]

    def candidate(self, key: str) -> KeptCandidate:
        """A candidate by its key; ParameterError if there is none."""
        for one in self.all():
            if one.key == key:
                return one
        raise ParameterError("there is no such candidate", "choose one from the list")

    def details(self, key: str) -> Details | None:
        """Columns and pairs of a candidate; None if they are not there."""
        path = self._folder / self.candidate(key).key / "details.json"
        try:
            return Details.from_dict(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(
        self,
        made: Simulation,
        details: Details,
        method: Mapping[str, Any] | None,
        basis: str,
    ) -> KeptCandidate:
        """Keep a candidate; the oldest ones go where there are too many."""
        now = time.time()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)) + f"-{int(now % 1 * 1e6):06}"
        key = f"{stamp}-{secrets.token_hex(3)}"
        inside = self._folder / key
        inside.mkdir(mode=0o700)
        with replacing(inside / "details.json") as file:
            file.write(json.dumps(finite(details.to_dict())).encode())
        section = None if method is None else dict(method)
        parts = {"when": now, "section": section, "basis": basis}
        # Whoever finds the file reads first what it is not.
        content = {**made.to_dict(), **parts}
        with replacing(self._folder / f"{key}.json") as file:
            file.write(json.dumps(finite(content)).encode())
        for path in sorted(self._folder.glob("*.json"))[:-KEPT]:
            self._remove(path)
        return KeptCandidate(key, now, section, basis, made)

    def remove(self, key: str) -> None:
        """Forget a candidate."""
        self._remove(self._folder / f"{self.candidate(key).key}.json")

    def unique(self, name: str, taken: list[str]) -> str:
        """A name that no other candidate has."""
        others = {*taken, *(one.name for one in self.all())}
        number, unique = 1, name
        while unique in others:
            number += 1
            unique = f"{name} ({number})"
        return unique

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        inside = path.with_suffix("")
        if inside.is_dir():
            (inside / "details.json").unlink(missing_ok=True)
            inside.rmdir()

    def _read(self, path: Path) -> KeptCandidate:
        parts = json.loads(path.read_text("utf-8"))
        return KeptCandidate(
            path.stem, parts["when"], parts["section"], parts["basis"], Simulation.from_dict(parts)
        )


def basis_of(project: Project) -> str:
    """What changes when candidates can no longer be compared: the table, roles or hierarchies."""
    content = project.draft().content
    parts: dict[str, Any] = {name: content.get(name) for name in _BASIS}
    files = [(content.get("source") or {}).get("path")]
    trees = content.get("hierarchies")
    sections = trees.values() if isinstance(trees, dict) else ()
    files += [tree.get("file") for tree in sections if isinstance(tree, dict)]
    stamps = [
        _stamp(project.folder / file)
        for file in files
        if isinstance(file, str) and not is_address(file)
    ]
    written = json.dumps([parts, stamps], sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def method_of(draft: Draft) -> dict[str, Any]:
    """The method of a recipe, as a section, also where only its name is given; it may have "?"."""
    section = with_section(draft.content).get("method")
    return dict(section) if isinstance(section, Mapping) else {}


def said_of(section: Mapping[str, Any]) -> str:
    """A method with the options that matter most, in a few words.

    >>> said_of({"name": "noisy-counts", "epsilon": 0.5, "delta": 1e-6, "levels": "tree"})
    'noisy-counts, ε 0.5, tree'
    """
    words = [str(section.get("name", "?"))]
    for name, how in _SAID.items():
        value = section.get(name)
        if isinstance(value, list):
            value = " and ".join(map(_model, value))
        if value is not None and not isinstance(value, Mapping):
            words.append(how.format(value))
    if any(isinstance(section.get(name), Mapping) for name in ("levels", "floor", "ceiling")):
        words.append("own levels")
    if section.get("truthful"):
        words.append("true records")
    return ", ".join(words)[:80]


def _model(model: object) -> str:
    return str(model.get("model", "model")) if isinstance(model, Mapping) else str(model)

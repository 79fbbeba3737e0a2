"""What can be wrong with a hierarchy, found and named. Uses `kinds`; `Hierarchy` and the command line use it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from shoal.kinds import Kind

__all__ = ["Problems", "problems"]


@dataclass
class Problems:
    """Errors make a hierarchy unusable; warnings are worth a look."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def problems(lines: Sequence[Sequence[str]], kind: Kind = Kind.TEXT) -> Problems:
    """Everything wrong with the lines of a hierarchy: a hierarchy is public, so its own values may be named."""
    found = Problems()
    if not lines or not lines[0]:
        found.errors.append("the hierarchy is empty; give it one line a value")
        return found
    depth = len(lines[0])
    ragged = [i + 1 for i, line in enumerate(lines) if len(line) != depth]
    if ragged:
        found.errors.append(f"ragged: line 1 has {depth} levels, {_some(ragged)} not; fill every line to the same length")
        return found
    keys: dict[object, int] = {}
    twice: list[str] = []
    for i, line in enumerate(lines):
        try:
            key = kind.key(line[0])
        except (ValueError, TypeError):
            found.errors.append(f"line {i + 1}: {line[0]!r} is not of the declared type {kind.value!r}")
            continue
        if key in keys:
            twice.append(f"{line[0]!r} (lines {keys[key] + 1} and {i + 1})")
        keys.setdefault(key, i)
    if twice:
        found.errors.append(f"duplicates: {_some(twice)}; keep one line a value")
    for level in range(1, depth - 1):
        parents: dict[str, set[str]] = {}
        for line in lines:
            parents.setdefault(line[level], set()).add(line[level + 1])
        for label, above in parents.items():
            if len(above) > 1:
                found.errors.append(
                    f"{label!r} at level {level} is on two paths: at level {level + 1} it becomes "
                    f"{_some(sorted(map(repr, above)))}; give the two different names"
                )
    roots = {line[-1] for line in lines}
    if len(roots) > 1:
        found.errors.append(
            f"{len(roots)} roots: {_some(sorted(map(repr, roots)))}; give every line the same last level, such as '*' "
            "(or read the file with root='*')"
        )
    for level in range(1, depth):
        if len({line[level] for line in lines}) == len({line[level - 1] for line in lines}):
            found.warnings.append(f"level {level} merges nothing that level {level - 1} has not merged; it only costs time")
    return found


def _some(things: Iterable[object], most: int = 5) -> str:
    listed = [str(thing) for thing in things]
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")

"""One way to ask for differential privacy: the method that keeps most for what the owner wants.

It is decided by what the owner asks for, never by the rows, so nothing is spent on it; what else
depends on the rows is paid for by the method itself. Uses `safepub` and `noisy_counts`; recipes
know it as the method "auto".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.data.tables import Table
from shoal.exact.epsilon import Epsilon
from shoal.exact.numbers import Exact
from shoal.methods.method import Progress
from shoal.methods.noisy_counts import NoisyCounts
from shoal.methods.safepub import SafePub
from shoal.releases.release import Release

__all__ = ["AUTO", "automatic", "name_of", "release"]

AUTO = "auto"
"""What recipes call it."""


def name_of(truthful: bool) -> str:
    """The name of the method that is taken."""
    return SafePub.name if truthful else NoisyCounts.name


@typed
def automatic(  # noqa: PLR0913  what may be asked for
    epsilon: Epsilon | Exact,
    delta: Exact,
    truthful: bool = False,
    score: str = "granularity",
    importance: Mapping[str, Exact] | None = None,
    floor: Mapping[str, int] | None = None,
    ceiling: Mapping[str, int] | None = None,
    classes: Sequence[str] = (),
    unit: str | None = None,
    rows: int = 1,
) -> NoisyCounts | SafePub:
    """The method that keeps most at this ε and δ.

    truthful: only true records, a sample of them, with true counts among these; else all records
        count, and counts are noisy, which keeps far more
    score: what a good release is. For granularity regions with many records are refined further
        than others; for all others one level per column is searched for

    epsilon: how much one person may matter: a number such as 0.5, or "ln(2)"
    delta: the chance that this fails, such as 1e-6
    importance: how much columns count in the choice of levels; 1 if not named
    floor: the lowest level that a column may be released at
    ceiling: the highest level that a column may be released at
    classes: columns to be predicted, for the score "classification"
    unit: the identifying column that says whose rows belong together
    rows: how many rows of each person are used

    >>> automatic(1, "1e-6").levels, automatic(1, "1e-6", truthful=True).search
    ('tree', 'tree')
    """
    asked: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "score": score,
        "importance": importance,
        "floor": floor,
        "ceiling": ceiling,
        "classes": classes,
        "unit": unit,
        "rows": rows,
    }
    # On census tables the tree kept most at every ε (docs/reference/benchmarks-kept.md).
    refined = score == "granularity"
    if truthful:
        return SafePub(**asked, search="tree" if refined else "select", beta="auto")
    return NoisyCounts(**asked, levels="tree" if refined else "search")


@typed
def release(  # noqa: PLR0913  what may be asked for
    table: Table,
    epsilon: Epsilon | Exact,
    delta: Exact,
    *,
    truthful: bool = False,
    score: str = "granularity",
    importance: Mapping[str, Exact] | None = None,
    floor: Mapping[str, int] | None = None,
    ceiling: Mapping[str, int] | None = None,
    classes: Sequence[str] = (),
    unit: str | None = None,
    rows: int = 1,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> Release:
    """Release a table with differential privacy, by the method that keeps most.

    The certificate says which it was, and with which parameters. `automatic` has the parameters.

    >>> from shoal import demo
    >>> made = release(demo.table(), epsilon=1, delta="1e-6")
    >>> made.certificate.method, made.certificate.promise["epsilon"]
    ('noisy-counts', '1')
    """
    method = automatic(
        epsilon, delta, truthful, score, importance, floor, ceiling, classes, unit, rows
    )
    return method.release(table, chance, progress=progress)

"""The evaluation of Zhang: audited queries, coincident generalisation and several views (2010).

Values, questions and views are drawn by a seeded generator: this is making data, not protecting it.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from shoal.audit.cells import Constraint
from shoal.audit.maxima import Maxima
from shoal.audit.model import STRATEGIES, Number, Strategy, crowd, members
from shoal.audit.polytope import free
from shoal.audit.sums import Sums, SumState
from shoal.data.hierarchy import intervals
from shoal.data.tables import Table
from shoal.data.tables import table as as_table
from shoal.errors import InfeasibleError, ParameterError
from shoal.experiments import heart
from shoal.experiments.experiment import Cell, Experiment, Findings, Panel, Plot, RunSetting
from shoal.experiments.tables import census
from shoal.methods.coincident import Coincident
from shoal.methods.coincident.schemes import Scheme
from shoal.methods.mondrian import Mondrian
from shoal.privacy.models import EntropyDiversity, Model, PSensitive
from shoal.views.candidates import refinements
from shoal.views.restoring import restore

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EXPERIMENTS"]

NAMES = {"simple": "simple (unsafe)", "simulatable": "simulatable", "binding": "binding"}
PAPER = "Zhang"

Row = tuple[Cell, ...]


# Chapter 3: auditing


def _maxima(setting: RunSetting) -> Findings:
    """Questions about maxima that are answered, by strategy."""
    runs = range(setting.of(4, 50))
    counts = setting.of((1000, 2000), (1000, 1200, 1400, 1600, 1800, 2000))
    asked = setting.of((50, 100, 150, 200, 250), tuple(range(10, 251, 10)))
    answered: list[Row] = []
    growth: list[Row] = []
    jobs = [(people, strategy) for people in counts for strategy in STRATEGIES]
    for people, strategy in setting.each(jobs, "maxima"):
        replies = [_maxima_answered(people, strategy, setting.seed * 1000 + run) for run in runs]
        of_200 = [sum(each[:200]) for each in replies]
        first = [each.index(False) if False in each else len(each) for each in replies]
        answered.append((people, NAMES[strategy], mean(of_200), _error(of_200), mean(first)))
        if people == counts[0]:
            growth += [
                (number, NAMES[strategy], mean(sum(each[:number]) for each in replies))
                for number in asked
            ]
    head = ("people", "strategy", "answered of 200", "two standard errors", "before first denial")
    return Findings(
        (
            Panel(
                "answered of 200 questions, and before the first denial (A, B)",
                head,
                tuple(answered),
                Plot("people", "answered of 200", "strategy"),
            ),
            Panel(
                f"answered of that many questions, {counts[0]:,} people (C)",
                ("asked", "strategy", "answered"),
                tuple(growth),
                Plot("asked", "answered", "strategy"),
            ),
        ),
        "Agrees, with an auditor that is safe, which the printed one is not. Binding regains about "
        f"{_regained(answered):.0%} of what simulatable auditing denies more than the simple "
        "strategy.",
    )


def _regained(answered: Sequence[Row]) -> float:
    """Of what simulatable auditing denies more than the simple strategy, what binding answers."""
    by: dict[Cell, list[float]] = {}
    for _, strategy, of_200, *_ in answered:
        by.setdefault(strategy, []).append(float(of_200 or 0))
    simple, least, binding = (
        mean(by[NAMES[each]]) for each in ("simple", "simulatable", "binding")
    )
    return (binding - least) / (simple - least)


def _maxima_answered(people: int, strategy: Strategy, seed: int) -> list[bool]:
    """Which of 250 random questions about up to a tenth of the people are answered."""
    drawn = random.Random(seed)
    values = [drawn.randint(1, people) for _ in range(people)]
    auditor = Maxima(people, strategy=strategy)
    state = auditor.start()
    replies = []
    for _ in range(250):
        who = drawn.sample(range(people), drawn.randint(1, people // 10))
        decision = auditor.decide(state, crowd(who), max(values[person] for person in who))
        state = auditor.after(state, decision)
        replies.append(decision.answered)
    return replies


def _error(values: Sequence[float]) -> float:
    """Two standard errors of a mean."""
    return 2 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def _sums(setting: RunSetting) -> Findings:
    """Independent sums that are answered, one fewer than there are people."""
    sizes: tuple[tuple[int, int, float], ...] = setting.of(
        ((20, 4, 0.0), (40, 2, 0.4), (60, 1, 0.5)),
        (
            (50, 10, 0.0),
            (100, 5, 0.0),
            (200, 3, 0.5),
            (500, 2, 0.8),
            (1000, 1, 0.9),
            (2000, 1, 0.97),
        ),
    )
    rows: list[Row] = []
    strategies: tuple[Strategy, ...] = ("simple", "binding")
    for people, runs, skipped in setting.each(sizes, "sums"):
        first = int(people * skipped)
        for strategy in strategies:
            seeds = [setting.seed * 1000 + run for run in range(runs)]
            found = [_sums_answered(people, strategy, seed, first) for seed in seeds]
            share = mean(found) / (people - 1)
            rows.append((people, NAMES[strategy], runs, first, mean(found), share))
        rows.append((people, NAMES["simulatable"], runs, first, 0, 0.0))
    head = ("people", "strategy", "runs", "taken as answered", "answered", "share")
    return Findings(
        (Panel("sums answered", head, tuple(rows), Plot("people", "answered", "strategy")),),
        "Agrees: nearly as many sums are answered as by the simple strategy, and with everyone's "
        "value uncertain by 1, which the printed algorithm does not keep. Simulatable auditing "
        "answers none. Where noted, the first questions were taken as answered without deciding "
        "them, which is what happens while there are far fewer sums than people.",
    )


def _sums_answered(people: int, strategy: Strategy, seed: int, first: int) -> int:
    """How many of n - 1 independent sums are answered; the first ones are taken as that."""
    drawn = random.Random(seed)
    values = [Fraction(drawn.randrange(10**7 + 1), 10**6) for _ in range(people)]
    questions = _independent(drawn, people)
    totals: list[Number] = [
        sum((values[person] for person in members(each)), Fraction(0)) for each in questions
    ]
    pairs = list(zip(questions, totals, strict=True))
    auditor = Sums(people, 0, 10, strategy=strategy)
    state = SumState(tuple(Constraint(asked, "=", total) for asked, total in pairs[:first]))
    answered = first
    for asked, total in pairs[first:]:
        decision = auditor.decide(state, asked, total)
        state = auditor.after(state, decision)
        answered += decision.answered
    return answered


def _independent(drawn: random.Random, people: int) -> list[int]:
    """Questions that are all answered where there are no bounds."""
    while True:
        questions = [drawn.getrandbits(people) or 1 for _ in range(people - 1)]
        before = tuple(Constraint(asked, "=", 0) for asked in questions[:-1])
        # if the last one leaves everyone free, so do those before it
        if free(before, questions[-1]):
            return questions


# Chapter 5: coincident generalisation

QUASI, HIDDEN = ("age", "education", "workclass"), "occupation"
PAIRS: tuple[Scheme, ...] = ("UU", "UA")


def _people(setting: RunSetting, values: int | None = None) -> Table:
    """The table, with the records of the most frequent sensitive values."""
    given = setting.table
    if given is None:
        made = census(setting.of(3000, 30_000), setting.seed)
        quasi, hidden, trees, frame = list(QUASI), HIDDEN, made.hierarchies, made.frame
    elif given.quasi and len(given.sensitive) == 1:
        quasi, [hidden], trees, frame = (
            list(given.quasi),
            given.sensitive,
            given.hierarchies,
            given.frame,
        )
    else:
        raise ParameterError(
            "coincident generalisation needs quasi-identifying columns and one sensitive one",
            "give their roles",
            option="data",
        )
    if values is not None:
        often = frame[hidden].value_counts(sort=True)[hidden].to_list()[:values]
        frame = frame.filter(frame[hidden].is_in(often))
    chosen = {name: tree for name, tree in trees.items() if name in quasi}
    native = frame.select(*quasi, hidden).to_native()
    return as_table(native, quasi=quasi, sensitive=[hidden], hierarchies=chosen)


def _models(people: Table, parameters: Sequence[int]) -> Iterator[tuple[str, int, Model]]:
    [hidden] = people.sensitive
    values = len(people.keys(hidden))
    for parameter in parameters:
        if parameter <= values:
            yield "p-sensitive", parameter, PSensitive(hidden, parameter, 2)
            yield "entropy l", parameter, EntropyDiversity(hidden, parameter)


def _mean_size(people: Table, method: Callable[[], Any], setting: RunSetting) -> float | None:
    """The mean size of groups; None if nothing is released."""
    try:
        release = method().release(people, chance=setting.chance())
    except InfeasibleError:
        return None
    return people.rows / (release.facts.groups or 1)


def _smallest(
    people: Table, model: Model, parameter: int, scheme: Scheme, setting: RunSetting
) -> float | None:
    """The least mean size over some sizes to start with, as by tries on public data."""
    starts = sorted({max(2, 2 * -(-parameter * times // 4)) for times in (2, 3, 4, 6, 8, 16)})
    sizes = []
    for start in setting.of(starts[1:4], starts):
        size = _mean_size(people, partial(Coincident, (model,), start, scheme), setting)
        if size is not None:
            sizes.append(size)
    return min(sizes, default=None)


def _pairs(setting: RunSetting) -> Findings:
    """Mean group sizes of pair-based and interleaved generalisation, by parameter and values."""
    parameters = setting.of((2, 4, 6), (2, 3, 4, 5, 6, 8, 10))
    rows: list[Row] = []
    gains: list[Row] = []
    jobs = [
        (values, *each)
        for values in (14, 8, 5)
        for each in _models(_people(setting, values), parameters)
    ]
    for values, name, parameter, model in setting.each(jobs, "coincident generalisation"):
        people = _people(setting, values)
        sizes = {
            scheme: _smallest(people, model, parameter, scheme, setting)
            for scheme in (*PAIRS, "interleaved", "forest")
        }
        for scheme, size in sizes.items():
            rows.append((f"{name}, {values} values", parameter, scheme, size))
        for scheme in PAIRS:
            pair, mixed = sizes[scheme], sizes["interleaved"]
            if pair is not None and mixed is not None:
                gain = 1 - mixed / pair
                gains.append((f"{name}, {values} values", parameter, scheme, gain))
    head = ("model", "parameter", "scheme", "mean group size")
    reductions = [float(row[3] or 0) for row in gains]
    smaller = sum(each > 0.001 for each in reductions)
    most = max(reductions, default=0.0)
    return Findings(
        (
            Panel("mean group size (5.5)", head, tuple(rows), Plot("parameter", head[3], "scheme")),
            Panel(
                "reduced by interleaving (5.6)",
                ("model", "parameter", "beside", "reduction"),
                tuple(gains),
                Plot("parameter", "reduction", "model"),
            ),
        ),
        "Agrees that groups grow with the parameter and shrink with the number of values. The "
        "chapter finds that interleaving makes them clearly smaller, with exceptions. Here, with "
        f"the best starting size for each, that is so in {smaller} of {len(gains)} cases, by up to "
        f"{most:.0%}.",
    )


def _beside_mondrian(setting: RunSetting) -> Findings:
    """What it costs that groups are safe though the algorithm is known."""
    people = _people(setting)
    rows: list[Row] = []
    jobs = list(_models(people, setting.of((2, 4, 6, 8), (2, 3, 4, 5, 6, 8, 10))))
    for name, parameter, model in setting.each(jobs, "beside Mondrian"):
        sizes: dict[str, float | None] = {
            scheme: _smallest(people, model, parameter, scheme, setting)
            for scheme in ("UA", "interleaved", "forest")
        }
        try:
            release = Mondrian((model,)).release(people)
            sizes["Mondrian (unsafe)"] = people.rows / (release.facts.groups or 1)
        except InfeasibleError:
            sizes["Mondrian (unsafe)"] = None
        rows += [(name, parameter, scheme, size) for scheme, size in sizes.items()]
    ratios = [ratio for name, parameter, _ in jobs for ratio in _costs(rows, name, parameter)]
    head = ("model", "parameter", "method", "mean group size")
    panels = []
    for name in ("p-sensitive", "entropy l"):
        chosen = tuple(row[1:] for row in rows if row[0] == name)
        panels.append(Panel(name, head[1:], chosen, Plot("parameter", head[3], "method")))
    return Findings(
        tuple(panels),
        "The chapter calls the cost of a public algorithm marginal. Here the groups of the best "
        f"safe scheme are {min(ratios):.1f} to {max(ratios):.1f} times as large as Mondrian's, "
        "which give people away to whoever knows how they were made; the strictest entropy "
        "diversity costs most.",
    )


def _costs(rows: Sequence[Row], name: str, parameter: int) -> Iterator[float]:
    """How many times as large as Mondrian's the groups of the best safe scheme are."""
    sizes = {row[2]: row[3] for row in rows if row[:2] == (name, parameter)}
    unsafe = sizes.pop("Mondrian (unsafe)")
    safe = [float(size) for size in sizes.values() if size is not None]
    if safe and unsafe is not None:
        yield min(safe) / float(unsafe)


def _starting_size(setting: RunSetting) -> Findings:
    """Group sizes by the size to start with."""
    people = _people(setting)
    [hidden] = people.sensitive
    limit = min(8, len(people.keys(hidden)) // 2)
    model = EntropyDiversity(hidden, limit)
    rows: list[Row] = []
    starts = setting.of((8, 12, 16, 24, 32), (4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64))
    for start in setting.each(starts, "sizes to start with"):
        for scheme in (*PAIRS, "forest"):
            size = _mean_size(people, partial(Coincident, (model,), start, scheme), setting)
            rows.append((start, scheme, size))
    known = [float(row[2]) for row in rows if row[1] == "UA" and row[2] is not None]
    # a size that does not fit can make all people one group
    sizes = [size for size in known if size < people.rows / 2] or known
    head = ("starting size", "scheme", "mean group size")
    return Findings(
        (Panel(f"entropy {limit}-diversity", head, tuple(rows), Plot(head[0], head[2], "scheme")),),
        "The chapter finds a minor effect. Here groups of UA are "
        f"{max(sizes) / min(sizes):.1f} times as large with the worst size as with the best: "
        "merging doubles groups, so what counts is how the starting size fits the size needed. "
        f"With {len(known) - len(sizes)} of {len(known)} sizes all people become one group.",
    )


def _distribution(setting: RunSetting) -> Findings:
    """The difference between pairing with any and with unsafe groups, by how values are spread."""
    rows: list[Row] = []
    records, runs = setting.of(2000, 10_000), range(setting.of(2, 10))
    parameters = setting.of((3, 5), (2, 3, 4, 5, 6, 7))
    jobs = [(spread, parameter) for spread in ("uniform", "binomial") for parameter in parameters]
    for spread, parameter in setting.each(jobs, "how values are spread"):
        differences = []
        for run in runs:
            people = as_table(
                _drawn_values(spread, records, setting.seed * 100 + run),
                quasi=["a", "b"],
                sensitive=["value"],
                hierarchies={name: intervals(0, 100, widths=[10, 50]) for name in "ab"},
            )
            model = EntropyDiversity("value", parameter)
            sizes = [
                _mean_size(people, partial(Coincident, (model,), 2 * parameter, scheme), setting)
                for scheme in ("UA", "UU")
            ]
            if sizes[0] is not None and sizes[1] is not None:
                differences.append(sizes[0] - sizes[1])
        difference = mean(differences) if differences else None
        rows.append((spread, parameter, difference, _error(differences) if differences else None))
    head = ("values", "l", "UA less UU", "two standard errors")
    found = {
        spread: [row[2] for row in rows if row[0] == spread and isinstance(row[2], float)]
        for spread in ("uniform", "binomial")
    }
    text = ", ".join(
        f"{spread} {min(each):+.1f} to {max(each):+.1f}" for spread, each in found.items() if each
    )
    return Findings(
        (Panel("mean group size", head, tuple(rows), Plot("l", head[2], "values")),),
        "The chapter has UU ahead for uniform values (above 0) and UA for binomial ones (below 0). "
        f"Here the differences are {text}.",
    )


def _drawn_values(spread: str, records: int, seed: int) -> "pl.DataFrame":
    """Two numbers to tell people apart, and ten values, evenly spread or by ten coins."""
    import numpy as np
    import polars as pl

    drawn = np.random.default_rng(seed)
    if spread == "uniform":
        values = drawn.integers(0, 10, records)
    else:
        values = drawn.binomial(9, 0.5, records)
    public = {name: drawn.integers(0, 100, records) for name in "ab"}
    return pl.DataFrame({**public, "value": values.astype(str)})


# Chapter 6: several views

KINDS = {"own": "the view's own column", "any": "any column"}


def _restoring(setting: RunSetting) -> Findings:
    """How often one or two more views restore what views expose."""
    rows: list[Row] = []
    runs = setting.of(12, 300)
    widths = setting.of(("2 to 4 %",), tuple(heart.WIDTHS))
    jobs = [(columns, width) for columns in (1, 2, 3, 4) for width in widths]
    for columns, width in setting.each(jobs, "restoring"):
        added: dict[str, list[int | None]] = {}
        for run in range(runs):
            for kind, count in _restored(columns, width, setting.seed * 1000 + run, setting):
                added.setdefault(kind, []).append(count)
        for kind, counts in added.items():
            one = sum(count == 1 for count in counts) / len(counts)
            two = sum(count in (1, 2) for count in counts) / len(counts)
            never = counts.count(None) / len(counts)
            label = f"{width}, intervals of {KINDS[kind]}"
            rows.append((columns, label, len(counts), one, two, never))
    head = ("columns", "views and candidates", "runs", "one view", "up to two views", "never")
    panels = [
        Panel(
            f"restored by {head[place]} ({figure})",
            head,
            tuple(rows),
            Plot(head[0], head[place], head[1]),
        )
        for place, figure in ((3, "6.3"), (4, "6.4"))
    ]
    return Findings(
        tuple(panels),
        "With four columns the chapter restores about 50 % by one view and 60 % by two, from "
        f"refinements of earlier views. Here it is {_shares(rows, 'own')} from intervals of a "
        f"view's own column, and {_shares(rows, 'any')} from intervals of any column. As there, "
        "the choice looks at the table, so that it holds against those who do not know that views "
        "were chosen to restore.",
    )


def _shares(rows: Sequence[Row], kind: str) -> str:
    """What one view and up to two restore with four columns, over all widths of views."""
    chosen = [row for row in rows if row[0] == 4 and str(row[1]).endswith(KINDS[kind])]
    one, two = (mean(float(row[place] or 0) for row in chosen) for place in (3, 4))
    return f"{one:.0%} and {two:.0%}"


def _restored(
    columns: int, width: str, seed: int, setting: RunSetting
) -> Iterator[tuple[str, int | None]]:
    """For each kind of candidates how many views were added.

    It is 0 if none restored, and None if it is proven that no more views can.
    """
    shown = heart.violated(seed, columns, heart.WIDTHS[width])
    for kind in KINDS if columns > 1 else ("own",):
        own = shown.by if kind == "own" else None
        candidates = refinements(shown.views, shown.columns, same=own)
        effort = setting.of(20, 60)
        done = restore(shown.views, shown.levels, candidates, additions=2, effort=effort)
        if any(each.proven == "never" for each in done.unrestored):
            yield kind, None
        else:
            yield kind, len(done.added) if done.private else 0


TAKES = "quasi-identifying columns with hierarchies, and one sensitive column"

EXPERIMENTS = (
    Experiment(
        "zhang-maxima",
        PAPER,
        "figure 3.8",
        "questions about maxima that three strategies answer",
        "Binding regains more than half of what simulatable auditing denies needlessly.",
        _maxima,
    ),
    Experiment(
        "zhang-sums",
        PAPER,
        "figure 3.9",
        "sums within bounds that three strategies answer",
        "Binding answers nearly as many as the simple strategy, simulatable auditing none.",
        _sums,
    ),
    Experiment(
        "zhang-coincident",
        PAPER,
        "figures 5.5 and 5.6",
        "mean group sizes of coincident generalisation, by model and number of values",
        "Groups grow with p or l, and shrink with more values; interleaving makes them smaller.",
        _pairs,
        TAKES,
    ),
    Experiment(
        "zhang-mondrian",
        PAPER,
        "figure 5.7",
        "mean group sizes of coincident generalisation beside Mondrian",
        "The cost of safety with a public algorithm is marginal.",
        _beside_mondrian,
        TAKES,
    ),
    Experiment(
        "zhang-starting-size",
        PAPER,
        "figure 5.8",
        "mean group sizes by the size to start with",
        "The starting size has a minor effect.",
        _starting_size,
        TAKES,
    ),
    Experiment(
        "zhang-distribution",
        PAPER,
        "figure 5.9",
        "pairing with any group or with unsafe ones, by how values are spread",
        "Unsafe with unsafe is better for uniform values, unsafe with any for binomial ones.",
        _distribution,
    ),
    Experiment(
        "zhang-restoring",
        PAPER,
        "figures 6.3 and 6.4",
        "how often one or two more views restore what views expose",
        "About 50 % with one view and 60 % with up to two, with four columns; less with fewer.",
        _restoring,
    ),
)

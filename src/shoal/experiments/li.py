"""The evaluation of Li and Li: noisy counts and columns for sparse, wide data (2011).

What the paper measures on the Netflix data is measured on ratings made by code, or on given ones. A
tenth of them, drawn at random, is held out before anything is released, and then predicted from the
same person's others by `measure.ratings`. Schemas come from other people, who stand for public
data. Uses the methods as they ship.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.data.tables import Table
from shoal.errors import InputError
from shoal.exact.epsilon import Epsilon
from shoal.experiments.experiment import Cell, Experiment, Findings, Panel, Plot, RunSetting
from shoal.experiments.ratings import PersonalRatings, draw, given
from shoal.measure.ratings import Predictor, Ratings, Training, item_means, train
from shoal.methods.columns import Columns, schema_of
from shoal.methods.noisy_counts import noisy
from shoal.privacy.noise import NoisyCountParameters, noisy_count_parameters

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EXPERIMENTS"]

Row = tuple[Cell, ...]

EPSILONS, DELTAS, KS = ("1", "ln(5)", "ln(10)"), ("1e-3", "1e-5", "1e-7"), (3, 10, 20)
EPSILON, DELTA, K = "ln(5)", "1e-5", 10
"""The paper's table 1: its parameters, and the one that is taken where others vary."""

SCHEMAS: dict[tuple[int, ...], int] = {(5,): 2, (10,): 3, (50,): 6, (5, 10): 4, (5, 10, 50): 8}
"""The paper's table 2: into how many groups items are clustered, and how many anyone may touch."""

PEOPLE = 480_189
"""Subscribers in the Netflix data, of whom the paper draws 5, 10 or 20 %."""

DRAWN = 0.2
"""The share of them in its figures 2 and 3."""

EACH = {100: 3, 500: 6}
"""About as many ratings as a person gives to the first 100 or 500 films there."""

MEANS, WITH_HABITS, INPUT = "item means of the input", "item means and habits", "input"
WHOLE = "whole records"
"""What ratings are learnt from, besides the schemas."""

NAMES: dict[str, Any] = {"person": "person", "item": "item", "value": "rating"}
TAKES = "ratings: who, what and a number, in the first three columns"

# Figure 1: noise against how often a row occurs


def _noise(setting: RunSetting) -> Findings:
    """The mean of |released count − count| / count by the exact law, and where rows appear."""
    counts = setting.of((10, 15, 20, 25, 30, 35, 40, 50, 75, 100), tuple(range(1, 101)))
    panels = []
    settings = (
        ("(a) by epsilon", "epsilon", [(epsilon, DELTA, K) for epsilon in EPSILONS]),
        ("(b) by delta", "delta", [(EPSILON, delta, K) for delta in DELTAS]),
        ("(c) by k", "k", [(EPSILON, DELTA, k) for k in KS]),
    )
    for place, (title, varied, cases) in enumerate(settings):
        rows: list[Row] = []
        for case in setting.each(cases, "noise"):
            parameters = noisy_count_parameters(*case, "probabilistic")
            name = str(case[place])
            rows += [(name, count, _level(parameters, count)) for count in counts]
        head = (varied, "records", "noise level")
        panels.append(Panel(title, head, tuple(rows), Plot("records", "noise level", varied)))
    panels.append(_thresholds())
    return Findings(
        tuple(panels),
        "The same curves, here by the exact law. The paper reads off single runs where releasing "
        "starts: at those counts a row is released with a chance of 0.3 % (epsilon ln(10)) to 96 % "
        "(k = 20). It is more likely than not at 32 records for epsilon 1, not 30, and at 18, 24 "
        "and 30 for the three deltas. That the chance is .99 at 35 records holds at 36.",
    )


def _level(parameters: NoisyCountParameters, count: int) -> float:
    return float(parameters.error(count)[0]) / count


PRINTED = {
    ("1", DELTA, K): 30,
    (EPSILON, DELTA, K): 23,
    ("ln(10)", DELTA, K): 15,
    (EPSILON, "1e-3", K): 15,
    (EPSILON, "1e-7", K): 30,
    (EPSILON, DELTA, 3): 13,
    (EPSILON, DELTA, 20): 35,
}
"""The number of records at which the paper says that releasing starts."""


def _thresholds() -> Panel:
    """At how many records rows are released, beside what the paper prints."""
    rows: list[Row] = []
    for (epsilon, delta, k), printed in PRINTED.items():
        parameters = noisy_count_parameters(epsilon, delta, k, "probabilistic")
        standard = noisy_count_parameters(epsilon, delta, k, "standard")
        chance = float(parameters.chance(printed))
        rows.append((epsilon, delta, k, printed, chance, parameters.half, standard.half))
    head = (
        "epsilon",
        "delta",
        "k",
        "printed start",
        "chance there",
        "likely from",
        "likely from, standard definition",
    )
    return Panel("where releasing starts", head, tuple(rows))


def _users(setting: RunSetting) -> Findings:
    """Noise in releases of whole records, for several numbers of people."""
    shares = (0.05, 0.1, 0.2)
    most = setting.of(PEOPLE // 4, PEOPLE)
    if setting.table is None:
        people = round(most * max(shares))
        every = draw(people, 100, EACH[100] * people, seed=setting.seed)
    else:
        every = given(setting.table).among(100)
        most = round(every.people / max(shares))
    parameters = noisy_count_parameters(EPSILON, DELTA, K, "probabilistic")
    # The people in random order, of whom the first ones are taken.
    order = np.random.default_rng(setting.seed).permutation(every.people)
    rows: list[Row] = []
    largest = []
    for run, share in enumerate(setting.each(shares, "releasing")):
        people = round(most * share)
        counts = _record_counts(every.only(order[every.person] < people))
        largest.append(int(counts.max()))
        shown = noisy(counts, parameters, setting.chance(run))
        rows += _levels(f"{people:,}", counts, shown, parameters)
    head = ("people", "records", "rows", "noise level", "by the law")
    plot = Plot("records", "noise level", "people", log_x=True)
    sizes = ", ".join(f"{size:,}" for size in largest)
    return Findings(
        (Panel("(d) by the number of people", head, tuple(rows), plot),),
        "With more people rows occur more often, so that the curve goes on to larger counts "
        f"(up to {sizes}). At the same count the noise is the same, up to chance, as its law "
        "does not know the number of people.",
    )


STARTS = (1, 5, 10, 15, 20, 25, 30, 40, 60, 100, 200, 400, 1000, 4000)
"""Where ranges of counts begin, for means over rows that occur about equally often."""


def _levels(
    name: str,
    counts: npt.NDArray[np.int64],
    shown: npt.NDArray[np.int64],
    parameters: NoisyCountParameters,
) -> list[Row]:
    """The mean noise of the rows in each range of counts, drawn and expected."""
    rows: list[Row] = []
    for start, end in zip(STARTS, (*STARTS[1:], np.inf), strict=True):
        here = (counts >= start) & (counts < end)
        if not here.any():
            continue
        level = np.abs(shown[here] - counts[here]) / counts[here]
        different, often = np.unique(counts[here], return_counts=True)
        expected = [_level(parameters, count) for count in different.tolist()]
        by_law = float(np.average(expected, weights=often))
        rows.append((name, start, int(here.sum()), float(level.mean()), by_law))
    return rows


def _record_counts(ratings: PersonalRatings) -> npt.NDArray[np.int64]:
    """How often each different record, with all ratings of a person, occurs."""
    import polars as pl

    rating = pl.struct("item", "rating")
    records = ratings.frame().sort("person", "item").group_by("person").agg(rating)
    return np.sort(records.group_by("item").len()["len"].to_numpy().astype(np.int64))


# Figures 2 and 3: what a recommender learns


@dataclass(frozen=True, eq=False)
class _Case:
    """People whose ratings are released, what they are asked, and others who are public."""

    items: int
    known: Ratings
    asked: Ratings
    table: Table
    public: Table

    @classmethod
    def of(cls, setting: RunSetting, items: int) -> "_Case":
        """Half of the people are public, and a tenth of the others' ratings is held out."""
        rng = np.random.default_rng(setting.seed)
        if setting.table is None:
            people = 2 * round(PEOPLE * DRAWN)
            every = draw(people, items, EACH[items] * people, seed=setting.seed)
        else:
            every = given(setting.table).among(items)
        is_public = rng.random(every.people) < 0.5
        private = every.only(~is_public[every.person])
        public = every.only(is_public[every.person])
        held = rng.random(len(private)) < 0.1
        rest, asked = private.only(~held), private.only(held)
        if not len(public) or not len(rest) or not len(asked):
            raise InputError(
                "there are too few ratings to learn from", "give those of a few hundred people"
            )
        return cls(items, _ratings(rest), _ratings(asked), rest.table(), public.table())

    def error(self, model: Predictor) -> float:
        """The root-mean-square error of predictions from the same person's other ratings."""
        return self._miss(model.predict(self.known, self.asked.record, self.asked.item))

    def _miss(self, predicted: npt.NDArray[np.float64]) -> float:
        return float(np.sqrt(np.mean((predicted - self.asked.value) ** 2)))

    def baselines(self) -> dict[str, float]:
        """What needs the input: the paper's two, and means with the habits of people."""
        means = item_means(self.known, self.items)
        habits = train(self.known, self.items, Training(factors=0))
        return {
            MEANS: self._miss(means[self.asked.item]),
            WITH_HABITS: self.error(habits),
            INPUT: self.error(train(self.known, self.items)),
        }

    def released(self, method: Columns, setting: RunSetting, runs: int) -> tuple[int, float | None]:
        """Records that are released, and the error of what they teach: means over some runs."""
        frames = [method.release(self.table, setting.chance(run)).table for run in range(runs)]
        records = [int(frame.unique("record")["count"].sum()) for frame in frames]
        errors = [self._taught(frame) for frame in frames if len(frame)]
        return round(mean(records)), mean(errors) if errors else None

    def _taught(self, frame: "pl.DataFrame") -> float:
        record, item = (frame[name].to_numpy().astype(np.int64) for name in ("record", "item"))
        value, weight = (frame[name].to_numpy().astype(np.float64) for name in ("rating", "count"))
        return self.error(train(Ratings(record, item, value, weight), self.items))


def _ratings(rows: PersonalRatings) -> Ratings:
    """Ratings as predictors take them."""
    person, item = rows.person.astype(np.int64), rows.item.astype(np.int64)
    return Ratings(person, item, rows.value.astype(np.float64))


def _whole(case: _Case, epsilon: str, delta: str, k: int) -> Columns:
    """Noisy counts of people's whole records: columns of one group, which has every item."""
    every = [str(item) for item in range(case.items)]
    return Columns(epsilon, delta, k, 1, [every], counts=True, noise="printed", **NAMES)


def _counts(setting: RunSetting) -> Findings:
    """Errors of a recommender that learns from noisy counts of whole records (Figure 2)."""
    runs = setting.of(1, 3)
    panels = []
    texts = []
    for items, ks in ((100, (10, 3)), (500, (10,))):
        case = _Case.of(setting, items)
        baselines = case.baselines()
        for k in ks:
            errors: dict[tuple[str, str], float | None] = {}
            rows = _baseline_rows(baselines, list(map(float, DELTAS)))
            cases = list(product(EPSILONS, DELTAS))
            for epsilon, delta in setting.each(cases, f"{items} items, k = {k}"):
                method = _whole(case, epsilon, delta, k)
                records, error = case.released(method, setting, runs)
                rows.append((f"epsilon {epsilon}", float(delta), records, error))
                errors[epsilon, delta] = error
            title = f"{items} items, k = {k}"
            panels.append(_error_panel(title, "delta", rows))
            texts.append(f"{title}: {_summary(errors, baselines)}")
    return Findings(tuple(panels), " ".join((*texts, HABITS)))


HABITS = (
    "All by the standard definition. Item means with the habits of the person who is asked need "
    "no link between items, and are a fairer baseline than item means alone."
)


def _summary(errors: dict[tuple[str, str], float | None], baselines: dict[str, float]) -> str:
    """How errors over epsilon and delta compare with each other and with those of the input."""
    seen = [error for error in errors.values() if error is not None]
    if not seen:
        return "nothing is released."
    middle, means = mean(seen), baselines[MEANS]
    by_epsilon = [_mean_where(errors, 0, epsilon) for epsilon in EPSILONS]
    by_delta = [_mean_where(errors, 1, delta) for delta in reversed(DELTAS)]
    falls = [
        name
        for name, series in (("epsilon", by_epsilon), ("delta", by_delta))
        if series == sorted(series, reverse=True)
    ]
    return (
        f"{min(seen):.3f} to {max(seen):.3f}, mean {middle:.3f}, "
        f"{'below' if max(seen) < means else 'not always below'} item means ({means:.3f}) and "
        f"{'above' if min(seen) > baselines[INPUT] else 'not always above'} the input "
        f"({baselines[INPUT]:.3f}; with item means and habits alone {baselines[WITH_HABITS]:.3f}); "
        f"on average it falls with {' and with '.join(falls) or 'neither epsilon nor delta'}."
    )


def _mean_where(errors: dict[tuple[str, str], float | None], place: int, value: str) -> float:
    """The mean error of those with one value of epsilon or delta; infinite where there is none."""
    seen = [error for key, error in errors.items() if key[place] == value and error is not None]
    return mean(seen) if seen else np.inf


def _columns(setting: RunSetting) -> Findings:
    """Errors of a recommender that learns from columns, by the five schemas (Figure 3)."""
    runs = setting.of(1, 3)
    case = _Case.of(setting, 500)
    baselines = case.baselines()
    parts = (
        ("(a) by epsilon", "epsilon", [(epsilon, DELTA) for epsilon in EPSILONS]),
        ("(b) by delta", "delta", [(EPSILON, delta) for delta in DELTAS]),
    )
    schemas = {groups: schema_of(case.public, groups, **NAMES) for groups in SCHEMAS}
    # Both parts have the middle setting.
    known: dict[tuple[str, str, str], tuple[int, float | None]] = {}
    panels = [_schema_panel(schemas)]
    for place, (title, varied, cases) in enumerate(parts):
        values = [float(Epsilon.of(pair[place])) for pair in cases]
        rows = _baseline_rows(baselines, values)
        for value, (epsilon, delta) in zip(values, setting.each(cases, title), strict=True):
            methods = {WHOLE: _whole(case, epsilon, delta, K)}
            for groups, most in SCHEMAS.items():
                schema = schemas[groups]
                method = Columns(
                    epsilon, delta, K, most, schema, counts=True, noise="printed", **NAMES
                )
                methods[_schema_name(groups)] = method
            for name, method in methods.items():
                key = (name, epsilon, delta)
                if key not in known:
                    known[key] = case.released(method, setting, runs)
                rows.append((name, value, *known[key]))
        panels.append(_error_panel(title, varied, rows))
    errors = {name: known[name, *BEST][1] for name in methods}
    panels.append(_bought_panel(case, setting, runs))
    return Findings(tuple(panels), _compared(errors, baselines))


def _bought_panel(case: _Case, setting: RunSetting, runs: int) -> Panel:
    """What is learnt where no public table has a schema, so that it is bought."""
    rows: list[Row] = []
    items = tuple(str(item) for item in range(case.items))
    chosen = [groups for groups in SCHEMAS if len(groups) == 1]
    epsilon, delta = BEST
    for groups in setting.each(chosen, "bought schemas"):
        method = Columns(
            epsilon,
            delta,
            K,
            SCHEMAS[groups],
            groups=groups,
            buying="0.1",
            items=items,
            counts=True,
            **NAMES,
        )
        rows.append((_schema_name(groups), *case.released(method, setting, runs)))
    head = ("schema", "records", "RMSE")
    return Panel(f"bought with a tenth of epsilon {epsilon}, delta {delta}", head, tuple(rows))


BEST = (EPSILON, "1e-3")
"""Where schemas are compared: the setting of Figure 3 in which they learn most."""


def _compared(errors: dict[str, float | None], baselines: dict[str, float]) -> str:
    """What Figure 3 shows here."""
    seen = {name: error for name, error in errors.items() if error is not None}
    if WHOLE not in seen:
        return "Whole records release nothing here, so there is nothing to compare columns with."
    order = sorted(seen, key=seen.__getitem__)
    listed = ", ".join(f"{name} {seen[name]:.3f}" for name in order)
    better = [name for name in order if seen[name] < seen[WHOLE]]
    close = [name for name in order if seen[name] < baselines[WITH_HABITS]]
    return (
        f"At epsilon {BEST[0]} and delta {BEST[1]}, from the best: {listed}; the input "
        f"{baselines[INPUT]:.3f}, item means {baselines[MEANS]:.3f}. {len(better)} of "
        f"{len(seen) - 1} schemas learn more than whole records; in the paper these fail and "
        f"columns do not. {len(close) or 'None'} of the releases reach item means with people's "
        f"habits ({baselines[WITH_HABITS]:.3f}); the paper has some close to the input. Schemas "
        "are from other people: one chosen from the private ratings, as in the paper, keeps no "
        "promise."
    )


def _schema_name(groups: tuple[int, ...]) -> str:
    number = 1 + list(SCHEMAS).index(groups)
    return f"schema {number}"


def _schema_panel(schemas: dict[tuple[int, ...], tuple[tuple[str, ...], ...]]) -> Panel:
    """The paper's table 2, and what came of it."""
    rows: list[Row] = []
    for groups, schema in schemas.items():
        clusterings = ", ".join(map(str, groups))
        sizes = [len(group) for group in schema]
        row = (_schema_name(groups), clusterings, SCHEMAS[groups], len(schema), max(sizes))
        rows.append(row)
    head = ("schema", "groups of its clusterings", "c*", "different groups", "items in the largest")
    return Panel("table 2: the schemas", head, tuple(rows))


def _baseline_rows(baselines: dict[str, float], values: Sequence[float]) -> list[Row]:
    """What needs the input, the same at every value of what is varied."""
    return [(name, value, None, error) for name, error in baselines.items() for value in values]


def _error_panel(title: str, varied: str, rows: Sequence[Row]) -> Panel:
    head = ("ratings from", varied, "records", "RMSE")
    is_delta = varied == "delta"
    plot = Plot(varied, "RMSE", "ratings from", log_x=is_delta)
    return Panel(title, head, tuple(rows), plot)


EXPERIMENTS = (
    Experiment(
        "li-noise",
        "Li",
        "figure 1 (a) to (c)",
        "how far a released count is off, against how many records share the row",
        "The noise level is 1 below some count (30 at epsilon 1) and below 0.1 at 50 records. "
        "It falls with epsilon and delta and grows with k.",
        _noise,
    ),
    Experiment(
        "li-users",
        "Li",
        "figure 1 (d)",
        "the same in releases of whole records, for several numbers of people",
        "With more people counts grow, and the average noise level falls quickly with the count.",
        _users,
        TAKES,
    ),
    Experiment(
        "li-counts",
        "Li",
        "figure 2",
        "the error of a recommender that learns from noisy counts of whole records",
        "RMSE falls with epsilon and delta and with a smaller k; it lies between item means and "
        "the input for 100 films, and close to item means or above for 500.",
        _counts,
        TAKES,
    ),
    Experiment(
        "li-columns",
        "Li",
        "figure 3 and table 2",
        "the error of a recommender that learns from columns, by five schemas",
        "RMSE falls with epsilon and delta. Schemas 2, 4 and 5 come close to the input at epsilon "
        "ln(10) or delta 1e-3; ten groups are better than five and than fifty; schema 4 is "
        "slightly better than 5.",
        _columns,
        TAKES,
    ),
)

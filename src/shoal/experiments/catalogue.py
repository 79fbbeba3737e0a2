"""Every experiment by its name, and the one way to run one.

To add one, define it in the module of its paper; that module's `EXPERIMENTS` lists it.
"""

from functools import cache
from importlib import import_module

from shoal.arguments import typed
from shoal.data.tables import Table
from shoal.errors import ParameterError
from shoal.experiments.experiment import Experiment, Result, RunSetting
from shoal.methods.method import Progress

__all__ = ["PAPERS", "experiments", "find", "run"]

PAPERS = ("safepub", "li", "wang", "fouad", "zhang")
"""The modules of the papers, in the order of the listing."""


@cache
def experiments() -> tuple[Experiment, ...]:
    """All experiments, paper by paper in the order of their figures."""
    modules = [import_module(f"shoal.experiments.{name}") for name in PAPERS]
    return tuple(experiment for module in modules for experiment in module.EXPERIMENTS)


@typed
def find(name: str) -> Experiment:
    """The experiment of a name; ParameterError if there is none."""
    known = {experiment.name: experiment for experiment in experiments()}
    if name not in known:
        raise ParameterError(
            f"there is no experiment {name!r}", "`shoal experiment list` shows all of them"
        )
    return known[name]


@typed
def run(
    name: str,
    *,
    quick: bool = True,
    data: Table | None = None,
    data_name: str = "a given table",
    seed: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Repeat a figure or table of a paper.

    quick: settings that take seconds; else those of the paper
    data: your own table instead of one made by code; the result is owner only then
    data_name: what the result calls it

    >>> result = run("safepub-parameters")
    >>> result.panels[0].head
    ('epsilon', 'delta', 'k', 'k, standard definition')
    """
    experiment = find(name)
    if data is not None:
        data = data.in_memory(data.names)
    setting = RunSetting(quick, data, seed)
    if progress is not None:
        setting = RunSetting(quick, data, seed, progress)
    experiment.refuse(setting)
    findings = experiment.run(setting)
    return Result(experiment, quick, None if data is None else data_name, findings)

"""The evaluation of Fouad and others: risk and utility traded off for every person (2012)."""

from shoal.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = ()

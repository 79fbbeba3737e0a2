"""The evaluation of Wang and others: buckets with a limit for every sensitive value (2011)."""

from shoal.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = ()

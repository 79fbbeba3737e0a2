"""The evaluation of Li and Li: noisy counts and columns for sparse, wide data (2011)."""

from shoal.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = ()

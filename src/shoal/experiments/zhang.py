"""The evaluation of Zhang: audited queries, coincident generalisation and several views (2010)."""

from shoal.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = ()

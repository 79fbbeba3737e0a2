"""The evaluations of the five papers, to be repeated with one command.

Each experiment is one figure or table of a paper, run with the methods that are shipped, on tables
made by code or on the reader's own. What does not make sense after the corrections is left out, and
docs/reference/papers.md says so. Uses all rooms about methods; the command line uses it.

>>> from shoal import experiments
>>> experiments.find("safepub-parameters").paper
'SafePub'
"""

from shoal.experiments.catalogue import experiments, find, run
from shoal.experiments.experiment import Experiment, Panel, Plot, Result, RunSetting

__all__ = ["Experiment", "Panel", "Plot", "Result", "RunSetting", "experiments", "find", "run"]

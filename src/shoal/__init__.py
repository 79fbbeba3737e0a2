"""Shoal releases tables about people without exposing anybody.

The promise holds even against someone who knows the algorithm.

This page lists everything public. Importing it is light: each name loads its room when it is first
used.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# Who wants to see what happens configures it: docs/how-to/pipelines.md.
logging.getLogger("shoal").addHandler(logging.NullHandler())

_ROOMS = {
    "read": "data.files",
    "write": "data.files",
    "table": "data.tables",
    "Table": "data.tables",
    "Role": "data.tables",
    "Kind": "data.kinds",
    "Hierarchy": "data.hierarchy",
    "Counts": "counts",
    "Lattice": "lattice",
    "Groups": "lattice",
    "assess": "measure.risk",
    "suggest": "measure.suggesting",
    "RiskLimits": "measure.gates",
    "preview": "measure.previewing",
    "compare": "studies.candidates",
    "marginal": "measure.marginals",
    "explain": "measure.explaining",
    "explain_counts": "measure.explaining",
    "KAnonymity": "privacy",
    "DistinctDiversity": "privacy",
    "EntropyDiversity": "privacy",
    "RecursiveDiversity": "privacy",
    "TCloseness": "privacy",
    "PSensitive": "privacy",
    "DeltaPresence": "privacy",
    "BetaLikeness": "privacy",
    "DeltaDisclosure": "privacy",
    "release": "methods.auto",
    "SafePub": "methods.safepub",
    "NoisyCounts": "methods.noisy_counts",
    "KDGS": "methods.noisy_counts",
    "Columns": "methods.columns",
    "Buckets": "methods.buckets",
    "Personal": "methods.personal",
    "Coincident": "methods.coincident",
    "Disclosure": "methods.disclosure",
    "Limits": "privacy.limits",
    "Optimal": "methods.optimal",
    "Mondrian": "methods.mondrian",
    "RandomSample": "methods.sampling",
    "Release": "releases.release",
    "Certificate": "releases.certificate",
    "About": "releases.metadata",
    "metadata": "releases.metadata",
    "verify": "releases.verification",
    "judge": "studies.judging",
    "forecast": "studies.forecasting",
    "Answers": "choosing",
    "choose": "choosing",
    "Ledger": "ledger",
    "Audit": "audit",
    "Recipe": "recipe",
    "BudgetError": "errors",
    "ColumnError": "errors",
    "FileError": "errors",
    "ForkError": "errors",
    "HierarchyError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "InternalError": "errors",
    "OverridableError": "errors",
    "ParameterError": "errors",
    "QueryError": "errors",
    "RecipeError": "errors",
    "ShoalError": "errors",
    "SourceError": "errors",
    "Stopped": "errors",
    "TooLargeError": "errors",
}
_WHOLE = {
    "arx": "arx",
    "hierarchy": "data.hierarchy",
    "demo": "demo",
    "experiments": "experiments",
    "report": "report",
    "research": "research",
    "views": "views",
}
"""Rooms used by a name of their own, as in shoal.demo.table."""

__all__ = ["__version__", *_ROOMS, *_WHOLE]

if TYPE_CHECKING:
    from shoal import arx as arx
    from shoal import demo as demo
    from shoal import experiments as experiments
    from shoal import report as report
    from shoal import research as research
    from shoal import views as views
    from shoal.audit import Audit as Audit
    from shoal.choosing import Answers as Answers
    from shoal.choosing import choose as choose
    from shoal.counts import Counts as Counts
    from shoal.data import hierarchy as hierarchy
    from shoal.data.files import read as read
    from shoal.data.files import write as write
    from shoal.data.hierarchy import Hierarchy as Hierarchy
    from shoal.data.kinds import Kind as Kind
    from shoal.data.tables import Role as Role
    from shoal.data.tables import Table as Table
    from shoal.data.tables import table as table
    from shoal.errors import BudgetError as BudgetError
    from shoal.errors import ColumnError as ColumnError
    from shoal.errors import FileError as FileError
    from shoal.errors import ForkError as ForkError
    from shoal.errors import HierarchyError as HierarchyError
    from shoal.errors import InfeasibleError as InfeasibleError
    from shoal.errors import InputError as InputError
    from shoal.errors import InternalError as InternalError
    from shoal.errors import OverridableError as OverridableError
    from shoal.errors import ParameterError as ParameterError
    from shoal.errors import QueryError as QueryError
    from shoal.errors import RecipeError as RecipeError
    from shoal.errors import ShoalError as ShoalError
    from shoal.errors import SourceError as SourceError
    from shoal.errors import Stopped as Stopped
    from shoal.errors import TooLargeError as TooLargeError
    from shoal.lattice import Groups as Groups
    from shoal.lattice import Lattice as Lattice
    from shoal.ledger import Ledger as Ledger
    from shoal.measure.explaining import explain as explain
    from shoal.measure.explaining import explain_counts as explain_counts
    from shoal.measure.gates import RiskLimits as RiskLimits
    from shoal.measure.marginals import marginal as marginal
    from shoal.measure.previewing import preview as preview
    from shoal.measure.risk import assess as assess
    from shoal.measure.suggesting import suggest as suggest
    from shoal.methods.auto import release as release
    from shoal.methods.buckets import Buckets as Buckets
    from shoal.methods.coincident import Coincident as Coincident
    from shoal.methods.columns import Columns as Columns
    from shoal.methods.disclosure import Disclosure as Disclosure
    from shoal.methods.mondrian import Mondrian as Mondrian
    from shoal.methods.noisy_counts import KDGS as KDGS
    from shoal.methods.noisy_counts import NoisyCounts as NoisyCounts
    from shoal.methods.optimal import Optimal as Optimal
    from shoal.methods.personal import Personal as Personal
    from shoal.methods.safepub import SafePub as SafePub
    from shoal.methods.sampling import RandomSample as RandomSample
    from shoal.privacy import BetaLikeness as BetaLikeness
    from shoal.privacy import DeltaDisclosure as DeltaDisclosure
    from shoal.privacy import DeltaPresence as DeltaPresence
    from shoal.privacy import DistinctDiversity as DistinctDiversity
    from shoal.privacy import EntropyDiversity as EntropyDiversity
    from shoal.privacy import KAnonymity as KAnonymity
    from shoal.privacy import PSensitive as PSensitive
    from shoal.privacy import RecursiveDiversity as RecursiveDiversity
    from shoal.privacy import TCloseness as TCloseness
    from shoal.privacy.limits import Limits as Limits
    from shoal.recipe import Recipe as Recipe
    from shoal.releases.certificate import Certificate as Certificate
    from shoal.releases.metadata import About as About
    from shoal.releases.metadata import metadata as metadata
    from shoal.releases.release import Release as Release
    from shoal.releases.verification import verify as verify
    from shoal.studies.candidates import compare as compare
    from shoal.studies.forecasting import forecast as forecast
    from shoal.studies.judging import judge as judge


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(import_module(f"shoal.{_ROOMS[name]}"), name)
    if name in _WHOLE:
        return import_module(f"shoal.{_WHOLE[name]}")
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

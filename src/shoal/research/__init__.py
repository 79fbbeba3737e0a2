"""What papers propose and what does not hold what it was meant to: to study, not to release by.

Nothing here makes a `Release` or a certificate, and nothing here is on the command line. Uses
`methods` and `audit`; tests use it.
"""

from shoal.research.frequent import FrequentScore, frequent_exponential
from shoal.research.layered import Layers, frequency_bound, layered_exponential
from shoal.research.printed import PrintedMaxima, PrintedSums
from shoal.research.printed_search import HardScores, PrintedWalk, study_printed
from shoal.research.rotations import Rotations, is_conservative, is_weakly_optimal

__all__ = [
    "FrequentScore",
    "HardScores",
    "Layers",
    "PrintedMaxima",
    "PrintedSums",
    "PrintedWalk",
    "Rotations",
    "frequency_bound",
    "frequent_exponential",
    "is_conservative",
    "is_weakly_optimal",
    "layered_exponential",
    "study_printed",
]

"""What is promised about a table, and models that its groups are checked against.

Uses `counts`, `hierarchy` and `tables`.
"""

from shoal.exact.epsilon import Epsilon
from shoal.privacy.bounded import BoundedCountParameters, bounded_count_parameters
from shoal.privacy.calculus import (
    SafePubParameters,
    delta_concern,
    delta_for,
    per_row,
    safepub_parameters,
    sampled_epsilon,
    search_epsilon,
)
from shoal.privacy.limits import BucketLimits, Limits, Linear
from shoal.privacy.models import (
    MODELS,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    bound,
    holds_all,
    parse_model,
)
from shoal.privacy.neighbours import Replacement, replaced
from shoal.privacy.noise import NoisyCountParameters, highest_chance, noisy_count_parameters
from shoal.privacy.promises import (
    DifferentialPrivacy,
    Promise,
    Sampled,
    SemanticAnonymity,
    Syntactic,
    composed,
)
from shoal.privacy.sharing import column_parameters, count_parameters

__all__ = [
    "MODELS",
    "BetaLikeness",
    "BoundedCountParameters",
    "BucketLimits",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "DistinctDiversity",
    "EntropyDiversity",
    "Epsilon",
    "KAnonymity",
    "Limits",
    "Linear",
    "Model",
    "NoisyCountParameters",
    "PSensitive",
    "Promise",
    "RecursiveDiversity",
    "Replacement",
    "SafePubParameters",
    "Sampled",
    "SemanticAnonymity",
    "Syntactic",
    "TCloseness",
    "bound",
    "bounded_count_parameters",
    "column_parameters",
    "composed",
    "count_parameters",
    "delta_concern",
    "delta_for",
    "highest_chance",
    "holds_all",
    "noisy_count_parameters",
    "parse_model",
    "per_row",
    "replaced",
    "safepub_parameters",
    "sampled_epsilon",
    "search_epsilon",
]

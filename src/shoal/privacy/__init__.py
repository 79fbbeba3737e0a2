"""What is promised about a table, and checks of its groups against models. Uses `counts`, `hierarchy` and `tables`."""

from shoal.privacy.calculus import (
    SafePubParameters,
    delta_concern,
    delta_for,
    per_row,
    safepub_parameters,
    sampled_epsilon,
    search_epsilon,
)
from shoal.privacy.epsilon import Epsilon
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
from shoal.privacy.promises import DifferentialPrivacy, Promise, Sampled, Syntactic, composed

__all__ = [
    "MODELS",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "DistinctDiversity",
    "EntropyDiversity",
    "Epsilon",
    "KAnonymity",
    "Model",
    "PSensitive",
    "Promise",
    "RecursiveDiversity",
    "SafePubParameters",
    "Sampled",
    "Syntactic",
    "TCloseness",
    "bound",
    "composed",
    "delta_concern",
    "delta_for",
    "holds_all",
    "parse_model",
    "per_row",
    "safepub_parameters",
    "sampled_epsilon",
    "search_epsilon",
]

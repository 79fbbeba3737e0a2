"""What is promised about a table, and checks of its groups against models. Uses `counts`, `hierarchy` and `tables`."""

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
from shoal.privacy.promises import Promise, Sampled, Syntactic

__all__ = [
    "MODELS",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EntropyDiversity",
    "KAnonymity",
    "Model",
    "PSensitive",
    "Promise",
    "RecursiveDiversity",
    "Sampled",
    "Syntactic",
    "TCloseness",
    "bound",
    "holds_all",
    "parse_model",
]

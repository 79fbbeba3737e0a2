"""The adversaries. They see outputs, code and public knowledge, never the data.

Uses every room above; the command line, tests and docs use it.
"""

from shoal.attack.audited import Disclosed, disclosed
from shoal.attack.buckets import (
    Exposure,
    HelpedAttackers,
    association,
    corruption,
    helped,
    posterior,
)
from shoal.attack.inference import NoisyRatio, noisy_ratio
from shoal.attack.inferences import AttackResult, Effort, ExposedRecord, Inference
from shoal.attack.knowledge import require_attackable
from shoal.attack.minimality import beliefs, expose, first_safe, inputs
from shoal.attack.personal import RecognisedPeople, Recognition, recognise, recognised
from shoal.attack.semantic import Breach, Observation, breach, releases
from shoal.attack.transcript import Heard, Possible, possible
from shoal.attack.transcript_sums import ValueRange, ranges

__all__ = [
    "AttackResult",
    "Breach",
    "Disclosed",
    "Effort",
    "ExposedRecord",
    "Exposure",
    "Heard",
    "HelpedAttackers",
    "Inference",
    "NoisyRatio",
    "Observation",
    "Possible",
    "RecognisedPeople",
    "Recognition",
    "ValueRange",
    "association",
    "beliefs",
    "breach",
    "corruption",
    "disclosed",
    "expose",
    "first_safe",
    "helped",
    "inputs",
    "noisy_ratio",
    "possible",
    "posterior",
    "ranges",
    "recognise",
    "recognised",
    "releases",
    "require_attackable",
]

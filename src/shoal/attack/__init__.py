"""The adversaries. They see outputs, code and public knowledge, never the data. Uses every room above; tests and docs use it."""

from shoal.attack.audited import Disclosed, disclosed
from shoal.attack.buckets import Exposure, association, corruption, posterior
from shoal.attack.inference import NoisyRatio, noisy_ratio
from shoal.attack.minimality import Belief, Exposed, beliefs, expose, first_safe, inputs
from shoal.attack.personal import Recognition, recognised
from shoal.attack.semantic import Breach, Shown, breach, releases
from shoal.attack.transcript import Heard, Possible, possible
from shoal.attack.transcript_sums import ValueRange, ranges

__all__ = [
    "Belief",
    "Breach",
    "Disclosed",
    "Exposed",
    "Exposure",
    "Heard",
    "NoisyRatio",
    "Possible",
    "Recognition",
    "Shown",
    "ValueRange",
    "association",
    "beliefs",
    "breach",
    "corruption",
    "disclosed",
    "expose",
    "first_safe",
    "inputs",
    "noisy_ratio",
    "possible",
    "posterior",
    "ranges",
    "recognised",
    "releases",
]

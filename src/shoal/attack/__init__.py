"""The adversaries. They see outputs, code and public knowledge, never the data. Uses every room above; tests and docs use it."""

from shoal.attack.audited import Told, told
from shoal.attack.buckets import Exposure, association, corruption, posterior
from shoal.attack.inference import NoisyRatio, noisy_ratio
from shoal.attack.minimality import Belief, Exposed, beliefs, expose, first_safe, inputs
from shoal.attack.personal import Recognition, recognised
from shoal.attack.semantic import Breach, Shown, breach, releases
from shoal.attack.transcript import Heard, Possible, possible
from shoal.attack.transcript_sums import Range, ranges

__all__ = [
    "Belief",
    "Breach",
    "Exposed",
    "Exposure",
    "Heard",
    "NoisyRatio",
    "Possible",
    "Range",
    "Recognition",
    "Shown",
    "Told",
    "association",
    "beliefs",
    "breach",
    "corruption",
    "expose",
    "first_safe",
    "inputs",
    "noisy_ratio",
    "possible",
    "posterior",
    "ranges",
    "recognised",
    "releases",
    "told",
]

"""Inference from noisy answers: how well y/x can be read off two counts.

The counts are protected by differential privacy. Wang et al., section 2: someone who asks how many
people are like Alice, and how many of these have the illness, believes that she has it with the
ratio of the answers. Noise that hides whether Alice is in the table hardly changes that ratio where
x is large.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from shoal.arguments import typed
from shoal.chance import Chance
from shoal.errors import ParameterError
from shoal.exact.numbers import Exact, fraction, whole

__all__ = ["NoisyRatio", "noisy_ratio"]


@dataclass(frozen=True)
class NoisyRatio:
    """The law of Y/X if X and Y are x and y with noise of the scale 1/ε each.

    It is given as drawn, and as the paper approximates it.

    `bias` and `deviation` come from the delta method: an expansion around (x, y), good where x is
    far larger than 1/ε. They are not moments of Y/X, which has none: X is 0, or close to it, with a
    probability above 0. `undefined` is how often that was drawn. The quantiles are of all draws,
    with these counted as the largest.
    """

    truth: float
    bias: float
    deviation: float
    low: float
    median: float
    high: float
    undefined: float

    def __str__(self) -> str:
        usually = f"{self.low:.3f} to {self.high:.3f}"
        return (
            f"{self.truth:.3f} is read off as {self.median:.3f}, and 95 times of 100 as {usually}"
        )


@typed
def noisy_ratio(
    x: int,
    y: int,
    epsilon: Exact,
    trials: int = 10_000,
    chance: Chance | None = None,
) -> NoisyRatio:
    """What someone infers from two noisy answers.

    The questions are "how many are like her?" and "and how many of these are ill?". Each answer is
    ε-differentially private, so both together are with 2ε. Noise is drawn exactly.

    >>> noisy_ratio(1000, 990, "0.1").bias
    1.0002
    """
    people = whole(x, "x")
    ill = whole(y, "y", 0)
    if ill > people:
        raise ParameterError(
            "is larger than `x`",
            "it counts some of the people that `x` counts; give at most that number",
            option="y",
            given=str(ill),
        )
    scale = 1 / fraction(epsilon, "epsilon", 0, above=True)
    number = whole(trials, "trials")
    source = chance or Chance()
    below = people + source.discrete_laplaces(scale, number)
    above = ill + source.discrete_laplaces(scale, number)
    ratio = np.full(number, np.inf)
    np.divide(above, below, out=ratio, where=below > 0)
    quantiles = np.quantile(ratio, [0.025, 0.5, 0.975], method="nearest")
    low, median, high = quantiles.tolist()
    noise = 2 * float(scale) ** 2 / people**2
    share = ill / people
    return NoisyRatio(
        truth=share,
        bias=1 + noise,
        deviation=sqrt(noise * (1 + share**2)),
        low=low,
        median=median,
        high=high,
        undefined=float((below <= 0).mean()),
    )

"""The evaluation of SafePub: parameters, and what its releases keep.

Bild, Kuhn, Prasser: SafePub, a truthful data anonymization algorithm with strong privacy
guarantees (2018).
"""

from shoal.experiments.experiment import Cell, Experiment, Findings, Panel, Plot, Setting
from shoal.privacy.calculus import safepub_parameters

__all__ = ["EXPERIMENTS"]


def _parameters(setting: Setting) -> Findings:
    """k and β over ε and δ, under both definitions."""
    epsilons = setting.of(("0.1", "0.5", "1", "1.5", "2"), tuple(f"{i / 10}" for i in range(1, 21)))
    deltas = tuple(f"1e-{power}" for power in range(4, 9))
    sizes: list[tuple[Cell, ...]] = []
    drawn: list[tuple[Cell, ...]] = []
    for epsilon in setting.each(epsilons, "k and beta"):
        for delta in deltas:
            papers = safepub_parameters(epsilon, delta, "probabilistic")
            standard = safepub_parameters(epsilon, delta, "standard")
            sizes.append((float(epsilon), delta, papers.k, standard.k))
        drawn.append((float(epsilon), float(papers.beta)))
    head = ("epsilon", "delta", "k", "k, standard definition")
    return Findings(
        (
            Panel("k", head, tuple(sizes), Plot("epsilon", "k", "delta")),
            Panel("beta", ("epsilon", "beta"), tuple(drawn), Plot("epsilon", "beta")),
        ),
        "The same shape. k is the smallest that keeps the promise; the paper's search stops one "
        "later, and under the standard definition a fifth fewer records are enough at epsilon 1.",
    )


EXPERIMENTS = (
    Experiment(
        "safepub-parameters",
        "SafePub",
        "figures 9 and 10",
        "the group size k and the chance of being drawn, over epsilon and delta",
        "k grows with epsilon above 0.5 and with the logarithm of 1/delta; beta is 1 - e^-epsilon.",
        _parameters,
    ),
)

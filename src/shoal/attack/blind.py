"""The attack on methods that choose without looking at the values that are attacked.

Someone who knows the people can run such a method: it releases and suppresses the same groups
whatever the values are. So there is nothing to learn but what the groups show, and the one thing
to find is that the release is not what the method makes of these people. Uses `knowledge`;
`minimality` and `optimal` use it.
"""

from fractions import Fraction

import numpy as np

from shoal.attack.inferences import AttackResult, Effort, Inference
from shoal.attack.knowledge import Knowledge, Value
from shoal.chance import Seeded
from shoal.errors import InputError
from shoal.methods.method import Method, Progress, silent

__all__ = ["counted"]


def counted(
    method: Method,
    knowledge: Knowledge,
    effort: Effort,
    progress: Progress = silent,
) -> AttackResult | None:
    """What is inferred of everyone: what their group shows, and nothing of the suppressed.

    None where it is not known who is in which group.
    """
    number = knowledge.people.rows
    if not len(knowledge.frame):
        return AttackResult("counting", number, (), Fraction(1), number)
    if knowledge.group_of is None:
        return None
    order = np.argsort(knowledge.group_of, kind="stable")
    numbers = np.arange(len(knowledge.labels) + 1)
    starts = np.searchsorted(knowledge.group_of[order], numbers)
    # One input that the release allows stands for all of them.
    given: list[Value] = [knowledge.keys[0]] * number
    inferences = []
    for group, bag in enumerate(knowledge.bags.tolist()):
        rows = order[starts[group] : starts[group + 1]].tolist()
        values = [key for key, often in zip(knowledge.keys, bag, strict=True) for _ in range(often)]
        for row, value in zip(rows, values, strict=True):
            given[row] = value
        shown = knowledge.apparent(group)
        inferences.append(Inference(tuple(rows), shown, shown))
    frame = knowledge.release_of(given, Seeded(effort.seed))
    names = () if frame is None else frame.columns
    if frame is None or knowledge.rows_of(frame, names) != knowledge.rows_of(
        knowledge.frame, names
    ):
        raise InputError(
            "the method does not lead to these groups with these people",
            "give the recipe of the release",
        )
    return AttackResult("counting", number, tuple(inferences), Fraction(1), int(starts[0]))

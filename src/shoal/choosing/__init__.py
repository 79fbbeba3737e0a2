"""Which method fits a case: the questions of an interview, and what the answers lead to.

One source for the docs, `shoal choose` and every other door that asks. Uses `methods` and what they
promise; nothing here looks at a table.

The questions are light to load, as those who ask show them before anything else; methods load with
the first recommendation.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.choosing.deciding import AUDIT, ELSEWHERE
from shoal.choosing.questions import QUESTIONS, UNKNOWN, Answer, Answers, Question, following

if TYPE_CHECKING:
    from shoal.choosing.guides import guide_of
    from shoal.choosing.recommending import Reason, Recommendation, RunnerUp, Strength, choose

_LATE = {
    "guide_of": "guides",
    **dict.fromkeys(("Reason", "Recommendation", "RunnerUp", "Strength", "choose"), "recommending"),
}

__all__ = [
    "AUDIT",
    "ELSEWHERE",
    "QUESTIONS",
    "UNKNOWN",
    "Answer",
    "Answers",
    "Question",
    "Reason",
    "Recommendation",
    "RunnerUp",
    "Strength",
    "choose",
    "following",
    "guide_of",
]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f"shoal.choosing.{_LATE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

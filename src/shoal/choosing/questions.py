"""The questions of the interview, and `Answers` to them.

Uses `errors`; `deciding` reads the answers, and every door asks these questions in this order.

"I don't know" is an answer to every question, and stands for all that are left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from shoal.arguments import require_one_of, typed, typed_fields
from shoal.errors import ParameterError

__all__ = ["QUESTIONS", "UNKNOWN", "Answer", "Answers", "Question", "following", "question_of"]

UNKNOWN = "unknown"
"""The answer of somebody who does not know; what follows errs to the safe side."""


@dataclass(frozen=True)
class Answer:
    """One of the answers that a question has."""

    key: str
    text: str


@typed_fields
@dataclass(frozen=True)
class Answers:
    """What somebody answered; None for what is not asked after the other answers.

    A question that is asked and left out is answered by "I don't know".

    >>> Answers(who="anyone", use="counts").harm
    'unknown'
    >>> Answers(use="software", harm="value")
    Traceback (most recent call last):
    shoal.errors.ParameterError: harm='value' is not asked after the other answers; leave it out
    """

    who: str | None = None
    use: str | None = None
    ask: str | None = None
    harm: str | None = None
    algorithm: str | None = None
    rule: str | None = None
    shape: str | None = None
    rows: str | None = None
    person: str | None = None
    people: str | None = None
    before: str | None = None

    def __post_init__(self) -> None:
        for question in QUESTIONS:
            key, given = question.key, getattr(self, question.key)
            if question.asked(self):
                object.__setattr__(self, key, UNKNOWN if given is None else given)
                require_one_of(key, getattr(self, key), *question.keys)
            elif given is not None:
                raise ParameterError(
                    "is not asked after the other answers",
                    "leave it out",
                    option=key,
                    given=repr(given),
                )

    def to_dict(self) -> dict[str, str]:
        """The answers to what is asked, by question."""
        return {name: answer for name, answer in vars(self).items() if answer is not None}

    @classmethod
    def fitting(cls, given: Mapping[str, str]) -> "Answers":
        """The answers among some that are still asked for, in the order of the questions.

        >>> Answers.fitting({"use": "software", "harm": "value"}).to_dict()
        {'who': 'unknown', 'use': 'software'}
        """
        kept: dict[str, str] = {}
        for question in QUESTIONS:
            if question.key in given and question.asked(cls(**kept)):
                kept[question.key] = given[question.key]
        return cls(**kept)


@dataclass(frozen=True)
class Question:
    """A question, in the words of whoever is responsible for the data.

    asked: whether it is asked after the answers to the questions before it
    """

    key: str
    text: str
    help: str
    answers: tuple[Answer, ...]
    asked: Callable[[Answers], bool] = lambda answers: True

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The short names of its answers."""
        return tuple(answer.key for answer in self.answers)

    def text_of(self, key: str) -> str:
        """The text of an answer."""
        [text] = [answer.text for answer in self.answers if answer.key == key]
        return text


def _is_elsewhere(answers: Answers) -> bool:
    return answers.use in ("totals", "software")


def _is_asked_only(answers: Answers) -> bool:
    return answers.who == "questions"


def _is_sample(answers: Answers) -> bool:
    return answers.who == "colleagues" and answers.harm == "least"


def _is_audit(answers: Answers) -> bool:
    """Whether questions will be answered one by one, without a released table."""
    private = answers.harm in ("membership", UNKNOWN)
    return _is_asked_only(answers) and answers.ask in ("totals", "extremes") and not private


def _is_released(answers: Answers) -> bool:
    """Whether people get a table, all records of which are protected."""
    others = (_is_elsewhere, _is_asked_only, _is_sample)
    return not any(other(answers) for other in others)


def _is_trusting(answers: Answers) -> bool:
    """Whether recipients are known, and what they know may matter."""
    known = answers.who in ("contract", "colleagues")
    return known and answers.harm in ("record", "value")


def _has_people(answers: Answers) -> bool:
    """Whether anything depends on the number of people."""
    others = (_is_elsewhere, _is_audit, _is_sample)
    return not any(other(answers) for other in others)


def _question(
    key: str,
    text: str,
    help: str,
    asked: Callable[[Answers], bool] | None = None,
    **answers: str,
) -> Question:
    """A question whose last answer is "I don't know"; keys have dashes for underscores."""
    given = [Answer(name.replace("_", "-"), said) for name, said in answers.items()]
    every = (*given, Answer(UNKNOWN, "I don't know"))
    return Question(key, text, help, every, asked or (lambda answers: True))


QUESTIONS = (
    _question(
        "who",
        "Who will get it?",
        "The more people, the more somebody among them knows.",
        anyone="Anyone",
        contract="Researchers under contract",
        colleagues="Colleagues",
        questions="Nobody gets a table; people ask questions",
    ),
    _question(
        "use",
        "What will they do with it?",
        "Take the most demanding use.",
        lambda answers: not _is_asked_only(answers),
        records="Look at records and subgroups",
        counts="Count and cross-tabulate",
        model="Train a model that predicts a column",
        join="Join it with other tables by exact values",
        totals="Only look at totals of one or two columns at a time, at full detail",
        software="Only try out software; people may be made up",
    ),
    _question(
        "ask",
        "What will they ask for?",
        "A column answers one kind of question.",
        _is_asked_only,
        totals="Sums and means of a number",
        extremes="The highest or the lowest value",
        counts="How many people have some values",
    ),
    _question(
        "harm",
        "What must not be found out?",
        "If several apply, take the first of them.",
        lambda answers: not _is_elsewhere(answers),
        membership="That someone is in the table at all",
        record="Which row is whose",
        value="A value, such as a diagnosis, of someone known to be in the table",
        least="Nothing in particular; they should just not get more than they need",
    ),
    _question(
        "algorithm",
        "Might they know how it was made?",
        "Shoal's code is public. Secrecy about a method rarely lasts.",
        _is_trusting,
        yes="Yes",
        no="No, and they are bound not to find out",
    ),
    _question(
        "rule",
        "Does a rule prescribe a model?",
        "A law, an ethics board, a policy of the data's owner.",
        _is_released,
        none="No",
        cells="k-anonymity, or no cell below 11",
        nine="A risk of at most 9 %, as for clinical trial data",
        diversity="l-diversity or the like",
    ),
    _question(
        "shape",
        "How is the table shaped?",
        "Count the columns that would be released.",
        _is_released,
        dozen="Up to a few dozen columns",
        wide="Hundreds or thousands of columns, most of them empty",
        numbers="Up to a few dozen columns, and numbers must stay numbers",
    ),
    _question(
        "rows",
        "Must every row be a real record?",
        "If numbers of equal rows may be off by a few, far more is kept.",
        lambda answers: _is_released(answers) and answers.shape != "wide",
        noisy="No, numbers of equal rows may be off by a few",
        real="Yes, but records may be missing",
        all="Yes, and every record must be in it",
    ),
    _question(
        "person",
        "What is a person in the table?",
        "The promise is about whatever this is.",
        lambda answers: not _is_elsewhere(answers),
        row="One row each",
        several="Several rows each; a column tells whose they are",
        household="People of a household belong together",
    ),
    _question(
        "people",
        "About how many people are in it, as far as that is public?",
        "Do not count them for this: the answer shows in the parameters.",
        _has_people,
        thousand="Up to 1,000",
        hundred_thousand="Up to 100,000",
        ten_million="Up to 10 million",
        more="More",
    ),
    _question(
        "before",
        "Has anything about them been released before, or will it be again?",
        "By anyone, in any form.",
        lambda answers: not _is_elsewhere(answers),
        once="No, this is the only release",
        before="Something has been released before",
        again="It will be released again, such as every month",
    ),
)
"""The questions, in the order in which they are asked."""


def question_of(key: str) -> Question:
    """The question of a key."""
    [question] = [one for one in QUESTIONS if one.key == key]
    return question


@typed
def following(given: Mapping[str, str]) -> Question | None:
    """The question to ask next, after some answers; None if there is none.

    Answers to what is not asked after the others do not count.

    >>> following({}).text
    'Who will get it?'
    >>> following({"who": "questions"}).key
    'ask'
    """
    answers = Answers.fitting(given)
    return next((one for one in QUESTIONS if one.asked(answers) and one.key not in given), None)

"""The forms of committees: what a document asks of a release, filled in as far as Shoal can.

`framework` gives a form, `filled` fills it in for a release, `html` and `markdown` show it. Uses
the rooms above `report`; the command line uses it.
"""

from shoal.report.committees.answering import (
    Answered,
    AnsweredSection,
    FilledForm,
    Given,
    answers,
    filled,
)
from shoal.report.committees.forms import (
    FRAMEWORKS,
    FormQuestion,
    FormSection,
    Framework,
    ReadSource,
    framework,
)
from shoal.report.committees.showing import html, markdown

__all__ = [
    "FRAMEWORKS",
    "Answered",
    "AnsweredSection",
    "FilledForm",
    "FormQuestion",
    "FormSection",
    "Framework",
    "Given",
    "ReadSource",
    "answers",
    "filled",
    "framework",
    "html",
    "markdown",
]

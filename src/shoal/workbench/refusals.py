"""What is said to those who may not come in, or not do something: what is wrong, and what to do.

It tells nothing that they should not know: no project, no address, nobody's role but their own.
Uses `texts` by way of the pages; `access` refuses, `pages` shows it.
"""

from dataclasses import dataclass

__all__ = [
    "ANOTHER_USER",
    "BUG",
    "ELSEWHERE",
    "NOT_OURS",
    "NO_TOKEN",
    "WRONG_HOST",
    "WRONG_ROLE",
    "Refusal",
]


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused.

    status: of the answer
    title: what is wrong
    fixes: what to do
    opens: whether the first page is offered: those who come from elsewhere may open it themselves
    names: whether the page says what it is of; a page elsewhere may read what has no host of ours
    place: where in the code, for a bug
    """

    status: int
    title: str
    fixes: tuple[str, ...]
    opens: bool = False
    names: bool = True
    place: str = ""

    @property
    def text(self) -> str:
        """The same for programs, in English."""
        place = f" ({self.place})" if self.place else ""
        return " ".join((f"{self.title}{place}.", *self.fixes))


WRONG_HOST = Refusal(
    421,
    "This address is not served here",
    ("Look for a mistake in the address, or ask whoever gave it to you.",),
    names=False,
)

ANOTHER_USER = Refusal(
    403,
    "This workbench belongs to another user",
    (
        "Only the person who started it may use it.",
        "Start one of your own with `shoal workbench`; teams share one with `shoal serve`.",
    ),
)

ELSEWHERE = Refusal(
    403,
    "Pages elsewhere cannot use the workbench",
    (
        "You came by a link or a form on another page, which may not be what it seems.",
        "If you wanted to come here, go on from this page.",
    ),
    opens=True,
)

NOT_OURS = Refusal(
    403,
    "Only pages of the workbench may change anything",
    ("Nothing was changed. Open the workbench, and send the form again from there.",),
    opens=True,
)

NO_TOKEN = Refusal(
    401,
    "This workbench is locked",
    (
        "Open the address that `shoal workbench` printed, with its token.",
        "It printed another one if it was started again.",
    ),
)

WRONG_ROLE = Refusal(
    403,
    "Your role does not allow this",
    ("Nothing was changed. Ask an owner to do it, or to give you another role.",),
    opens=True,
)

BUG = Refusal(
    500,
    "A bug in Shoal",
    ("Please report it. Reload the page to see what was saved.",),
    opens=True,
)
"""What is said where Shoal itself is wrong; a place in its code tells nothing of the data."""

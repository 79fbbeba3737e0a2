"""For the reference page: the examples in docstrings as code blocks.

Mkdocs.yml names this file; nothing else uses it.
"""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class FenceExamples(griffe.Extension):
    """Puts every example into a fence, without which Markdown would take its prompts for
    quotations.
    """

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(
                lambda example: f"```pycon\n{example[0]}\n```", obj.docstring.value
            )

"""Typeset maths of the documentation while it is built: no script and no font is sent to readers.

`$…$` and `$$…$$` are LaTeX, and become MathML, which every browser of today draws itself. Proofs
write their formulas in plain text; of those, indices and powers (`p_{i+1}`, `e^ε`) are set as such.
An extension of Python-Markdown; `scripts/docs` puts this folder on the path.
"""

import re
from xml.etree.ElementTree import Element, SubElement

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from markdown.util import AtomicString

__all__ = ["makeExtension"]

INLINE = r"(?<![\\$\w])\$(?=[^\s$])([^$\n]*?[^\s$\\])\$(?![\w$])"
DISPLAYED = re.compile(r"^\$\$\s*\n?(.+?)\n?\s*\$\$[ ]*$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[ ]*$", re.MULTILINE | re.DOTALL)

_BRACED = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_ROUND = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
# An index is that of one letter, a sign of sums or a bracket, so that some_name is left alone.
_INDEX = (
    rf"(?:(?<![A-Za-z_`])(?:[^\W\d_]\u0302?|max|min|sup|inf|log)[′″*]?|(?<=[)\]}}Σ∏⋃⋂∫]))"
    rf"_(?:{_BRACED}|[^\W_]+)"
)
_ABOVE = rf"\^(?:{_BRACED}|[−-]?{_ROUND}|\|\w+\||[−-]?[^\W_]+(?:_[^\W_]+)?[′*]?)"
_POWER = rf"[^\W_]*[\w)\]}}′]{_ABOVE}"
SCRIPTS = rf"({_INDEX}(?:{_ABOVE})?|{_POWER})"
_PIECE = re.compile(
    rf"([_^])({_BRACED}|[−-]?{_ROUND}|\|\w+\||[−-]?[^\W_]+(?:(?<=ε)_[^\W_]+)?[′*]?)"
)


class Inline(InlineProcessor):
    """`$…$`"""

    def handleMatch(self, m, data):  # type: ignore[no-untyped-def,override]  # noqa: N802
        return self.md.htmlStash.store(convert(m[1], display="inline")), m.start(0), m.end(0)


class Displayed(Preprocessor):
    """`$$…$$` on lines of its own."""

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        fences = [found.span() for found in FENCE.finditer(text)]

        def set_apart(found: re.Match[str]) -> str:
            if any(start <= found.start() < end for start, end in fences):
                return found[0]
            drawn = convert(found[1], display="block")
            return f'\n\n<div class="maths" tabindex="0">{drawn}</div>\n\n'

        return DISPLAYED.sub(set_apart, text).split("\n")


def _fill(parent: Element, text: str) -> None:
    """Put a formula in plain text into an element, its indices and powers set as such."""
    last: Element | None = None
    at = 0
    for found in _PIECE.finditer(text):
        _append(parent, last, text[at : found.start()])
        last = SubElement(parent, "sub" if found[1] == "_" else "sup")
        inner = found[2]
        # Brackets that only hold an index or a power together are not shown.
        held = inner[0] + inner[-1] in ("{}", "()")
        _fill(last, inner[1:-1] if held else inner)
        at = found.end()
    _append(parent, last, text[at:])


def _append(parent: Element, last: Element | None, text: str) -> None:
    if last is None:
        parent.text = AtomicString((parent.text or "") + text)
    else:
        last.tail = AtomicString((last.tail or "") + text)


class Scripts(InlineProcessor):
    """Indices and powers of formulas in plain text."""

    def handleMatch(self, m, data):  # type: ignore[no-untyped-def,override]  # noqa: N802
        whole = Element("span")
        whole.set("class", "formula")
        _fill(whole, m[1])
        return whole, m.start(0), m.end(0)


class Maths(Extension):
    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        # Behind code (190), before escapes (180): Markdown would take `\{` for one of its own.
        md.inlinePatterns.register(Inline(INLINE, md), "maths", 185)
        # Before links and emphasis.
        md.inlinePatterns.register(Scripts(SCRIPTS, md), "scripts", 171)
        # Before raw HTML is taken out (20), behind fenced code (25) where that is Markdown's own.
        md.preprocessors.register(Displayed(md), "displayed maths", 22)


def makeExtension(**options: object) -> Maths:  # noqa: N802
    return Maths(**options)

"""Draw what the documentation looks like: its mark, its colours, and the picture of the promise.

    .venv/bin/python scripts/draw_site.py

Everything comes from `shoal.look`: the same mark and the same colours as reports and workbench.
A test draws it again and compares.
"""

from pathlib import Path

from shoal.look.pages import MARK
from shoal.look.palette import COLOURS

ROOT = Path(__file__).parent.parent
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
LIGHT, DARK = 0, 1


def palette() -> str:
    """The colours as variables, in both schemes of the theme."""
    text = "/* Written by scripts/draw_site.py from shoal.look.palette. */\n"
    for scheme, at in (("default", LIGHT), ("slate", DARK)):
        lines = "".join(f"  --{name}: {pair[at]};\n" for name, pair in COLOURS.items())
        text += f'[data-md-color-scheme="{scheme}"] {{\n{lines}}}\n'
    return text


def mark() -> str:
    """The mark as an icon, which takes the colour of its text."""
    return MARK.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def stroke(x: float, y: float, length: float = 7, more: str = "") -> str:
    return f'<path d="M{x:g} {y:g}h{length:g}"{more}/>'


def favicon() -> str:
    """The mark for small sizes: seven equal strokes, the middle one hidden."""
    paper, accent = COLOURS["paper"][LIGHT], COLOURS["accent"][LIGHT]
    seen = [(7.5, 9), (18.5, 9), (4, 16), (22, 16), (7.5, 23), (18.5, 23)]
    strokes = "".join(stroke(x, y, 6) for x, y in seen)
    hidden = stroke(13.4, 16, 5, ' stroke-dasharray=".1 4.6" stroke-width="2.6" opacity=".7"')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="7" fill="{accent}"/>'
        f'<g fill="none" stroke="{paper}" stroke-width="3.2" stroke-linecap="round">'
        f"{strokes}{hidden}</g></svg>\n"
    )


class Drawing:
    """Parts of one picture, in the colours of one scheme."""

    def __init__(self, width: int, height: int, scheme: int) -> None:
        self.width, self.height, self.scheme = width, height, scheme
        self.parts: list[str] = []

    def colour(self, name: str) -> str:
        return COLOURS[name][self.scheme]

    def add(self, part: str) -> None:
        self.parts.append(part)

    def box(self, x: float, y: float, w: float, h: float, fill: str, line: str) -> None:
        fill, line = self.colour(fill), self.colour(line)
        self.add(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="8" fill="{fill}" '
            f'stroke="{line}" stroke-width="1.5"/>'
        )

    def text(
        self, x: float, y: float, words: str, ink: str = "ink", size: int = 15, **more: str
    ) -> None:
        given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
        self.add(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{self.colour(ink)}"{given}>'
            f"{words}</text>"
        )

    def arrow(self, path: str, ink: str = "muted") -> None:
        self.add(
            f'<path d="{path}" fill="none" stroke="{self.colour(ink)}" stroke-width="2" '
            'marker-end="url(#tip)"/>'
        )

    def shoal(self, x: float, y: float, *, you: bool) -> None:
        """Twelve strokes in three rows: the one in the middle is you, or is missing."""
        for row in range(3):
            for place in range(4):
                left = x + place * 34 + (row % 2) * 12
                at = y + row * 22
                if (row, place) == (1, 1):
                    look = f'stroke="{self.colour("owner-line")}"'
                    if not you:
                        look += ' stroke-dasharray=".1 7" opacity=".8"'
                else:
                    look = f'stroke="{self.colour("before")}"'
                self.add(
                    f'<path d="M{left:g} {at:g}h20" {look} stroke-width="6" '
                    'stroke-linecap="round" fill="none"/>'
                )

    def coin(self, x: float, y: float, letter: str) -> None:
        self.add(
            f'<circle cx="{x:g}" cy="{y:g}" r="12" fill="{self.colour("owner")}" '
            f'stroke="{self.colour("owner-line")}" stroke-width="2"/>'
        )
        self.text(x, y + 5, letter, "owner-ink", 13, text_anchor="middle", font_weight="600")

    def bar(self, x: float, y: float, length: float, words: str, ink: str) -> None:
        self.add(
            f'<rect x="{x:g}" y="{y:g}" width="{length:g}" height="14" rx="3" '
            f'fill="{self.colour(ink)}"/>'
        )
        self.text(x + length + 8, y + 12, words, "muted", 14)

    def eye(self, x: float, y: float) -> None:
        ink = self.colour("alarm")
        self.add(
            f'<path d="M{x - 22:g} {y:g}q22 -26 44 0q-22 26 -44 0z" fill="none" stroke="{ink}" '
            f'stroke-width="2.5"/><circle cx="{x:g}" cy="{y:g}" r="6.5" fill="{ink}"/>'
        )

    def svg(self, title: str) -> str:
        muted = self.colour("muted")
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" font-family="{FONT}">\n'
            f"<title>{title}</title>\n"
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{muted}"/></marker>'
            f"</defs>\n{body}\n</svg>\n"
        )


TITLE = (
    "Two tables, one with you and one without, go through a public algorithm with secret coins. "
    "What is released is about as likely from either. Someone who knows everything but the coins "
    "can hardly tell which one it was."
)


def _worlds(drawing: Drawing, at: tuple[tuple[int, int], tuple[int, int]]) -> None:
    for (x, y), you in zip(at, (True, False), strict=True):
        words = "The table with you" if you else "The table without you"
        drawing.box(x, y, 200, 122, "raised", "line")
        drawing.text(x + 100, y + 26, words, text_anchor="middle", font_weight="600")
        drawing.shoal(x + 27, y + 54, you=you)


def _machine(drawing: Drawing, x: int, y: int) -> None:
    drawing.box(x, y, 200, 132, "raised", "ink")
    drawing.text(x + 100, y + 28, "The algorithm", text_anchor="middle", font_weight="600")
    drawing.text(x + 100, y + 49, "published, with its code", "muted", 14, text_anchor="middle")
    for place, letter in enumerate("HTTHT"):
        drawing.coin(x + 42 + place * 29, y + 78, letter)
    drawing.text(x + 100, y + 114, "secret coins", "owner-ink", 14, text_anchor="middle")


def _release(drawing: Drawing, x: int, y: int) -> None:
    drawing.box(x, y, 250, 142, "released", "accent")
    drawing.text(x + 125, y + 28, "The release", "accent", text_anchor="middle", font_weight="600")
    drawing.text(x + 22, y + 54, "How likely it was", "ink", 14)
    drawing.bar(x + 22, y + 66, 116, "with you", "owner-line")
    drawing.bar(x + 22, y + 90, 104, "without you", "before")
    drawing.text(x + 22, y + 127, "about the same: ε is the limit", "ink", 14)


def _adversary(drawing: Drawing, x: int, y: int, lines: tuple[str, ...]) -> None:
    drawing.eye(x + 24, y + 24)
    for place, line in enumerate(lines):
        drawing.text(x + 60, y + 16 + 22 * place, line, font_weight="600" if place > 1 else "400")


def promise(scheme: int, *, wide: bool) -> str:
    """Someone who knows everything but the coins."""
    if wide:
        drawing = Drawing(830, 392, scheme)
        _worlds(drawing, ((10, 10), (10, 152)))
        _machine(drawing, 290, 75)
        _release(drawing, 570, 70)
        drawing.arrow("M212 71C250 71 255 118 284 123")
        drawing.arrow("M212 213C250 213 255 164 284 159")
        drawing.arrow("M492 141H564")
        drawing.arrow("M695 214V342H580")
        _adversary(
            drawing,
            60,
            305,
            (
                "Someone who knows the algorithm, the code, the parameters",
                "and every other row, but not the coins,",
                "can hardly tell which of the two tables it was.",
            ),
        )
    else:
        drawing = Drawing(430, 624, scheme)
        _worlds(drawing, ((10, 10), (220, 10)))
        _machine(drawing, 115, 172)
        _release(drawing, 90, 342)
        drawing.arrow("M110 134V148Q110 158 140 164L158 167")
        drawing.arrow("M320 134V148Q320 158 290 164L272 167")
        drawing.arrow("M215 306V336")
        drawing.arrow("M215 486V514")
        _adversary(
            drawing,
            8,
            532,
            (
                "Someone who knows the algorithm, the code,",
                "parameters and all other rows, not the coins,",
                "can hardly tell which of",
                "the two tables it was.",
            ),
        )
    return drawing.svg(TITLE)


def drawn() -> dict[str, str]:
    """Every file by its path."""
    return {
        "docs/assets/palette.css": palette(),
        "docs/assets/favicon.svg": favicon(),
        "scripts/theme/.icons/shoal/mark.svg": mark(),
        "docs/images/promise.svg": promise(LIGHT, wide=True),
        "docs/images/promise-dark.svg": promise(DARK, wide=True),
        "docs/images/promise-narrow.svg": promise(LIGHT, wide=False),
        "docs/images/promise-narrow-dark.svg": promise(DARK, wide=False),
    }


if __name__ == "__main__":
    for path, text in drawn().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
        print(path)

"""Draw the charts of docs/benchmarks.md from the tables of docs/reference, and write its tables.

    .venv/bin/python scripts/draw_numbers.py

Figures are read off the pages where benchmarks put them, so the short page cannot say anything
else. A test draws it again and compares.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from draw_site import DARK, LIGHT, ROOT, Drawing

PAGE = ROOT / "docs" / "benchmarks.md"
SPEED = ROOT / "docs" / "reference" / "benchmarks.md"
KEPT = ROOT / "docs" / "reference" / "benchmarks-kept.md"
MARKS = "<!-- {}: written by scripts/draw_numbers.py -->"


def rows_under(page: Path, heading: str) -> Iterator[dict[str, str]]:
    """The lines of the first table under a heading, by the names of its columns."""
    text = page.read_text(encoding="utf-8")
    section = re.split(rf"^#+ {re.escape(heading)}.*$", text, maxsplit=1, flags=re.MULTILINE)[1]
    found = re.search(r"^\|.*\n\|[ :|-]+\n(?:\|.*\n)+", section, re.MULTILINE)
    assert found is not None, f"no table under {heading!r} of {page.name}"
    lines = [
        [cell.strip() for cell in line.strip()[1:-1].split("|")] for line in found[0].splitlines()
    ]
    names = lines[0]
    for line in lines[2:]:
        yield dict(zip(names, line, strict=True))


def number(text: str) -> float:
    return float(text.replace(",", ""))


@dataclass(frozen=True)
class Race:
    """How long one task takes Shoal and a peer, in times of reading the file."""

    task: str
    shoal: float
    peer: str
    theirs: float


def races() -> list[Race]:
    found = []
    for row in rows_under(SPEED, "Speed and memory"):
        if row["what"] == "optimum":
            name = row["table"].partition(":")[0]
            task = f"best 5-anonymous table, {name}"
            found.append(Race(task, number(row["R"]), "ARX", number(row["ARX"])))
    tasks = {
        "5-anonymity, 5 % suppressed": "5-anonymity, 5 % suppressed, adult",
        "the same, l, entropy l, t, β, δ": "all risks and models, adult",
        "k of the table": "k alone, adult",
    }
    for row in rows_under(SPEED, "Peers on adult"):
        if row["question"] in tasks:
            task = tasks[row["question"]]
            ours, theirs = number(row["Shoal's R"]), number(row["its R"])
            found.append(Race(task, ours, row["peer"], theirs))
    return found


METHODS = {
    "noisy counts, tree": "noisy counts (the default)",
    "noisy counts, search": "noisy counts, one level per column",
    "shoal.release, truthful": "real records only",
    "SafePub": "SafePub, one level per column",
}


def kept() -> dict[str, dict[str, float]]:
    """The information kept at ε = 1, by table and method."""
    return {
        table: {
            row["method"]: number(row["information kept"])
            for row in rows_under(KEPT, table)
            if row["ε"] == "1" and row["method"] in METHODS
        }
        for table in ("adult", "acs")
    }


def plain(value: float) -> str:
    """A number with two digits that matter.

    >>> plain(0.0133), plain(3.2), plain(945.0), plain(4500.0)
    ('0.013', '3.2', '945', '4,500')
    """
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if value >= 0.1 else f"{value:.{1 - math.floor(math.log10(value))}f}"


def speed_chart(scheme: int) -> str:
    found = races()
    left, width, step = 24, 476, 64
    height = 24 + step * len(found) + 44
    drawing = Drawing(560, height, scheme)
    most = 4

    def at(value: float) -> float:
        return left + width * math.log10(value) / most

    for power in range(most + 1):
        x = at(10**power)
        drawing.add(
            f'<path d="M{x:g} 8V{height - 40}" stroke="{drawing.colour("line")}" fill="none"/>'
        )
        drawing.text(x, height - 24, f"{10**power:,}", "muted", 13, text_anchor="middle")
    drawing.text(
        left + width / 2,
        height - 5,
        "times as long as reading the file (each line is ten times the one before)",
        "muted",
        13,
        text_anchor="middle",
    )
    for place, race in enumerate(found):
        y = 42 + step * place
        drawing.text(left, y - 14, race.task, size=14)
        ours, theirs = at(race.shoal), at(race.theirs)
        drawing.add(
            f'<path d="M{ours:g} {y}H{theirs:g}" stroke="{drawing.colour("faded")}" '
            'stroke-width="3" fill="none"/>'
        )
        for x, ink in ((ours, "after"), (theirs, "before")):
            drawing.add(f'<circle cx="{x:g}" cy="{y}" r="7" fill="{drawing.colour(ink)}"/>')
        for x, words, weight in (
            (ours, f"Shoal {plain(race.shoal)}", "600"),
            (theirs, f"{race.peer} {plain(race.theirs)}", "400"),
        ):
            middle = max(x, left + 34)
            drawing.text(middle, y + 22, words, size=13, text_anchor="middle", font_weight=weight)
    return drawing.svg(
        "How long Shoal and its peers take: fewer is faster. The table below has it."
    )


def kept_chart(scheme: int) -> str:
    found = kept()
    drawing = Drawing(560, 56 + 2 * (36 + 34 * len(METHODS)), scheme)
    y = 8
    shapes = {
        "adult": "adult, 30,162 people, nine columns",
        "acs": "acs, 68,725 people, five columns",
    }
    for table, title in shapes.items():
        drawing.text(20, y + 18, title, size=14, font_weight="600")
        y += 30
        for method, words in METHODS.items():
            share = found[table][method]
            default = method == "noisy counts, tree"
            drawing.add(
                f'<rect x="250" y="{y + 4}" width="240" height="22" rx="3" '
                f'fill="{drawing.colour("raised")}"/>'
                f'<rect x="250" y="{y + 4}" width="{240 * share:g}" height="22" rx="3" '
                f'fill="{drawing.colour("after" if default else "before")}"/>'
            )
            drawing.text(240, y + 20, words, size=13, text_anchor="end")
            drawing.text(498, y + 20, f"{share:.0%}".replace("%", " %"), size=14, font_weight="600")
            y += 34
        y += 6
    drawing.text(250, y + 16, "information kept of all records, ε = 1, δ = 1e-6", "muted", 13)
    return drawing.svg("How much of two census tables is kept. The table below has it.")


def speed_table() -> str:
    lines = ["| task | Shoal | peer | times faster |", "|---|---:|---:|---:|"]
    for race in races():
        ratio = plain(float(f"{race.theirs / race.shoal:.2g}"))
        theirs = f"{race.peer} {plain(race.theirs)}"
        lines.append(f"| {race.task} | {plain(race.shoal)} | {theirs} | {ratio} |")
    return "\n".join(lines)


def use_table() -> str:
    """What a release of adult is good for at ε = 1, beside synthetic data."""
    lines = [
        "| adult, ε = 1 | information kept | marginals off by "
        "| half of counts off by less than | classifier |",
        "|---|---:|---:|---:|---:|",
    ]
    wanted = {
        **METHODS,
        "noisy counts, tree to medium": "noisy counts, to given levels",
        "synthetic data (MST)": "synthetic data, MST",
        "synthetic data (AIM)": "synthetic data, AIM",
    }
    rows = {row["method"]: row for row in rows_under(KEPT, "adult") if row["ε"] == "1"}
    columns = (
        "information kept",
        "two-way marginals off by",
        "half of them by less than",
        "relative accuracy",
    )
    for method, words in wanted.items():
        cells = [rows[method][column] for column in columns]
        shown = [cell and f"{number(cell):.2g}".replace("-", "−") for cell in cells]
        lines.append(f"| {words} | {' | '.join(shown)} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables as the figures have them."""
    for name, table in (("speed", speed_table()), ("use", use_table())):
        begin, end = MARKS.format(name), MARKS.format("end of " + name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        assert after, f"docs/benchmarks.md needs the marks of {name}"
        text = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return text


def drawn() -> dict[str, str]:
    """Every file by its path."""
    return {
        "docs/images/numbers-speed.svg": speed_chart(LIGHT),
        "docs/images/numbers-speed-dark.svg": speed_chart(DARK),
        "docs/images/numbers-kept.svg": kept_chart(LIGHT),
        "docs/images/numbers-kept-dark.svg": kept_chart(DARK),
        "docs/benchmarks.md": page(PAGE.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    for path, text in drawn().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(path)

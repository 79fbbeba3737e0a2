"""What several tests of views share: the views of chapter 6, and trying all tables."""

from collections import Counter
from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
from hypothesis import strategies as st

from shoal.views import (
    OUTSIDE,
    Candidate,
    View,
    Views,
    refinements,
)
from shoal.views.model import Value

NAMES = [
    "Alan",
    "Bob",
    "Clark",
    "Donald",
    "Ellen",
    "Fen",
    "Garcia",
    "Helen",
    "Jessica",
    "Kathy",
    "Lucy",
]


CONDITION = dict(zip(NAMES, "HSVSVSFSVHV", strict=True))


SEEN = {
    "6.3A": ["Alan", "Bob", "Clark", "Donald"],
    "6.3B": ["Donald", "Ellen", "Fen", "Garcia"],
    "6.5A": ["Clark", "Donald"],
    "6.5B": ["Donald", "Ellen"],
    "6.7": ["Helen", "Jessica", "Kathy", "Lucy"],
    "6.8": ["Donald", "Lucy"],
}


def chapter(*names: str) -> Views:
    people = NAMES if "6.7" in names else NAMES[:7]
    return Views(
        people,
        [
            View(one, map(NAMES.index, SEEN[one]), [CONDITION[who] for who in SEEN[one]])
            for one in names
        ],
    )


def brute(views: Views) -> tuple[int, dict[int, Counter[object]]]:
    """By trying all tables: how many fit the views, and how often everybody has each value."""
    inside = sorted(set().union(*(view.people for view in views.views)))
    number, has = 0, {person: Counter[object]() for person in inside}
    bags = [
        (view.people, dict(zip(views.values, views.bag(view), strict=True))) for view in views.views
    ]
    able = [
        [value for value in views.values if all(bag[value] for who, bag in bags if one in who)]
        for one in inside
    ]
    for given_ in product(*able):
        table = dict(zip(inside, given_, strict=True))
        if all(
            Counter(table[one] for one in view.people if table[one] is not OUTSIDE) == view.bag
            for view in views.views
        ):
            number += 1
            for person, value in table.items():
                has[person][value] += 1
    return number, has


@st.composite
def random_views(draw: st.DrawFn, outside: bool = False) -> Views:
    people = draw(st.integers(1, 7))
    kinds = draw(st.integers(1, 3))
    table = draw(
        st.lists(st.integers(-1 if outside else 0, kinds - 1), min_size=people, max_size=people)
    )
    sets = draw(st.lists(st.sets(st.integers(0, people - 1), min_size=1), min_size=1, max_size=5))
    views = [
        View(f"v{k}", who, Counter(table[one] for one in who if table[one] >= 0))
        for k, who in enumerate(sets)
    ]
    return Views(people, views, complete=not outside)


def puzzles() -> Iterable[Views]:
    """Views that overlap in several people: too many tables to try, few enough to count."""
    source = np.random.default_rng(5)
    for _ in range(6):
        value = source.choice(4, 40, p=[0.4, 0.3, 0.2, 0.1])
        sets = [np.flatnonzero(source.random(40) < 0.25).tolist() for _ in range(4)]
        yield Views(
            40, [View(str(k), who, value[who].tolist()) for k, who in enumerate(sets) if who]
        )


def entangled() -> Views:
    source = np.random.default_rng(2)
    value = source.choice(5, 200)
    sets = [np.flatnonzero(source.random(200) < 0.3).tolist() for _ in range(8)]
    return Views(200, [View(str(k), who, value[who].tolist()) for k, who in enumerate(sets)])


OPEN = """
gamma = "3/4"
[register]
person = "name"
types = { age = "integer" }
people = [
  { name = "A", age = 22 }, { name = "B", age = 27 },
  { name = "C", age = 28 }, { name = "D", age = 35 },
]
[sensitive]
column = "ill"
[[views]]
table = "table.csv"
columns = { age = "age" }
"""


def lay_open(folder: Path) -> Path:
    """Files of two groups that share people: in one everybody has a, in the other half of them."""
    (folder / "table.csv").write_text("age,ill\n20-30,a\n20-30,a\n25-40,a\n25-40,b\n")
    (folder / "views.toml").write_text(OPEN)
    return folder


AGES = [23, 24, 25, 26, 27, 28, 28, 29, 30, 30, 33]


TABLE: list[Value] = [CONDITION[name] for name in NAMES]


HALF = Fraction(1, 2)


def intervals(views: Views) -> list[Candidate]:
    return refinements(views, {"age": AGES[: len(views.people)]})


def named(*names: str) -> list[Candidate]:
    return [Candidate(name, frozenset(map(NAMES.index, SEEN[name]))) for name in names]


def shown(views: Iterable[View]) -> tuple[Hashable, ...]:
    """What somebody sees of views: also in which order values are listed."""
    return tuple((view.name, view.people, tuple(view.bag.items())) for view in views)


def private(views: Views) -> bool:
    """By trying all tables."""
    number, has = brute(views)
    return all(
        often <= views.limit(value) * number  # type: ignore[arg-type]
        for own in has.values()
        for value, often in own.items()
    )


def covered(views: Views, source: Random) -> list[Value]:
    """A table with values for everybody, with two or three values."""
    return [source.choice("abc") for _ in views.people]


def written(folder: Path, text: str) -> Path:
    path = folder / "VIEWS.toml"
    path.write_text(text, encoding="utf-8")
    return path

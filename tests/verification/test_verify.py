"""`verify`: what was changed is found, what is forged is found where files can show it, and k is derived once more."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import shoal
from shoal import KDGS, Columns, KAnonymity, Mondrian, NoisyCounts
from shoal.chance import Seeded
from shoal.cli.app import app
from shoal.data.hierarchy import Hierarchy, suppress
from shoal.data.kinds import Kind
from shoal.data.tables import Table
from shoal.errors import FileError
from shoal.methods import Method
from shoal.methods.safepub import SafePub
from shoal.privacy.calculus import delta_for, safepub_parameters
from shoal.privacy.promises import DifferentialPrivacy
from shoal.releases.sealed import canonical, seal_of
from shoal.releases.verification import unchecked, verify
from shoal.releases.verification.labels import is_acyclic
from shoal.releases.verification.numbers import StatedEpsilon
from shoal.releases.verification.safepub import Sampling

AGES = Hierarchy.from_lines(
    [[f"0{a}", f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(30, 60)], Kind.INTEGER
)
SEXES = Hierarchy.from_lines([["m", "*"], ["f", "*"]])
ILLS = Hierarchy.from_lines([["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "joint", "*"]])
TREES = {"age": AGES, "sex": SEXES}

Content = dict[str, Any]
Change = Callable[[Content], object]


def people(each: int = 400, **options: Any) -> Table:
    """Few kinds of people, and many of each: every release has groups."""
    kinds = [*product(["f", "m"], [31, 45], ["flu", "gout"])] * each
    sexes, ages, ills = (list(values) for values in zip(*kinds, strict=True))
    frame = pl.DataFrame(
        {"who": [i // 2 for i in range(len(kinds))], "sex": sexes, "age": ages, "ill": ills}
    )
    roles: dict[str, Any] = {"identifying": ["who"], "quasi": ["sex", "age"], "sensitive": ["ill"]}
    roles["rows_are_people"] = True  # where no unit is named
    return shoal.table(frame, **{**roles, "hierarchies": TREES, **options})


def method(**options: Any) -> SafePub:
    return SafePub(**{"epsilon": 2, "delta": "1e-4", "levels": {"age": 1, "sex": 0}, **options})


SEARCHED = {"levels": None}
METHODS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "searched": SEARCHED,
    "walked": {**SEARCHED, "search": "walk"},
    "standard": {"definition": "standard"},
    "ln": {**SEARCHED, "epsilon": "ln(9)", "split": "1/2"},
    "by person": {**SEARCHED, "definition": "standard", "unit": "who", "rows": 2},
    "one row a person": {"definition": "standard", "unit": "who"},
    "bounded": {**SEARCHED, "floor": {"sex": 0}, "ceiling": {"age": 1, "sex": 0}},
    "nothing to choose": {
        **SEARCHED,
        "floor": {"age": 1, "sex": 0},
        "ceiling": {"age": 1, "sex": 0},
    },
    "at the root": {**SEARCHED, "floor": {"age": 2, "sex": 1}},
}


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Path]:
    """The certificate and the table of a release."""
    path = method().release(people()).write(tmp_path)
    return tmp_path / "certificate.json", path


def forge(
    paper: Path,
    change: Change,
    table: Path | None = None,
    rows: Callable[[list[str]], list[str]] | None = None,
) -> None:
    """What someone can do who knows everything about certificates: change one, and its table, and seal it anew."""
    content = json.loads(paper.read_text(encoding="utf-8"))
    del content["seal"]
    if table and rows:
        import hashlib

        head, *lines = table.read_text(encoding="utf-8").splitlines()
        table.write_text("".join(f"{line}\n" for line in (head, *rows(lines))), encoding="utf-8")
        content["file"]["sha256"] = hashlib.sha256(table.read_bytes()).hexdigest()
    change(content)
    paper.write_text(canonical({**content, "seal": seal_of(content)}), encoding="utf-8")


def put(place: str, value: Any) -> Change:
    """The change that puts a value into a place such as "derived.k"."""

    def change(content: Content) -> None:
        *path, last = place.split(".")
        for key in path:
            content = content[key]
        content[last] = value

    return change


def both(*changes: Change) -> Change:
    return lambda content: [change(content) for change in changes]


# Releases as they are made


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_release_verifies_with_and_without_hierarchies(
    tmp_path: Path, options: dict[str, Any], form: str
) -> None:
    path = method(**options).release(people()).write(tmp_path, form)
    assert verify(tmp_path / "certificate.json", path) == []
    assert verify(tmp_path / "certificate.json", path, TREES) == []


def test_a_generalised_sensitive_column_is_looked_up_in_the_hierarchy_on_the_certificate(
    tmp_path: Path,
) -> None:
    table = people(hierarchies={**TREES, "ill": ILLS})
    path = method(levels={"age": 1, "sex": 0, "ill": 1}).release(table).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path) == []
    forge(paper, both(put("levels.ill", 0), put("parameters.levels.ill", 0)))
    assert verify(paper, path) == [
        "column 'ill' has 2 values that level 0 of its hierarchy does not have"
    ]


def test_missing_values_and_an_empty_table_verify(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"sex": ["f", None] * 500, "age": [31, 31, None, None] * 250, "ill": [None] * 1000}
    )
    for number, rows in enumerate((frame, frame.clear())):
        table = shoal.table(
            rows, quasi=["sex", "age"], sensitive=["ill"], hierarchies=TREES, types={"ill": "text"}
        )
        release = method(levels={"age": 0, "sex": 0}).release(table)
        assert bool(len(release.table)) == bool(len(rows))
        path = release.write(tmp_path / str(number))
        assert verify(path.with_name("certificate.json"), path, TREES) == []


def test_a_release_from_a_seed_promises_nothing(tmp_path: Path) -> None:
    path = method().release(people(), Seeded(1)).write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == [
        "the release was made with a seed, as a test: nothing is promised"
    ]


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_releases_by_other_methods_verify_with_hierarchies(tmp_path: Path, suppressed: Any) -> None:
    kinds = (
        [("f", 31, "flu")] * 20 + [("m", 45, "flu")] * 20 + [("f", 59, "gout"), ("m", 31, "cold")]
    )
    frame = pl.DataFrame(kinds, schema=["sex", "age", "ill"], orient="row")
    table = shoal.table(frame, quasi=["sex", "age"], sensitive=["ill"], hierarchies=TREES)
    release = shoal.Optimal(
        (shoal.KAnonymity(3),), suppression="1/10", suppressed=suppressed
    ).release(table)
    assert release.suppressed == 2
    path = release.write(tmp_path)
    assert verify(tmp_path / "certificate.json", path, TREES) == []


# Accidents


def test_every_change_of_one_byte_of_a_certificate_is_found(written: tuple[Path, Path]) -> None:
    paper, table = written
    content = paper.read_bytes()
    for place in range(len(content)):
        paper.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert verify(paper, table), place
    for place in range(0, len(content), 29):
        for other in (
            b"",
            bytes([content[place] ^ 128]),
            bytes([content[place]]) * 2,
            b" " + content[place : place + 1],
        ):
            if other != content[place : place + 1]:
                paper.write_bytes(content[:place] + other + content[place + 1 :])
                assert verify(paper, table), place
    paper.write_bytes(content)
    assert verify(paper, table) == []


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_changed_byte_of_a_table_is_found(tmp_path: Path, form: str) -> None:
    table, paper = method().release(people()).write(tmp_path, form), tmp_path / "certificate.json"
    content = table.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 200)):
        table.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert verify(paper, table) == [
            "the table is not the one that the certificate was written for: their digests differ"
        ]
    for other in (content[:-1], content + b"\n", b"", content.replace(b"\n", b"\r\n", 1) + b" "):
        table.write_bytes(other)
        assert verify(paper, table)


# Forgeries: whoever changes a part and seals it anew is found, unless the files cannot show it

FORGERIES: dict[str, tuple[Change, str]] = {
    "k too small": (lambda content: put("derived.k", content["derived"]["k"] - 1)(content), "is too small"),
    "k of none": (put("derived.k", 0), "not a valid Shoal certificate"),
    "k above what is there": (put("derived.k", 10**6), "8 of 8 groups over all columns have fewer than k"),
    "a larger beta": (put("derived.beta", "9/10"), "above 1 - e^-epsilon"),
    "no beta": (put("derived.beta", "0"), "beta"),
    "a smaller epsilon in the promise": (put("promise.epsilon", "1"), "not those of the parameters"),
    "a smaller delta in the promise": (put("promise.delta", "1e-6"), "not those of the parameters"),
    "a smaller epsilon everywhere but in the derivation": (
        both(put("promise.epsilon", "1"), put("parameters.epsilon", "1")), "do not add up",
    ),
    "a smaller epsilon everywhere but for beta and k": (
        both(put("promise.epsilon", "1"), put("parameters.epsilon", "1"), put("derived.epsilon_anonymisation", "1")),
        "above 1 - e^-epsilon",
    ),
    "a smaller delta everywhere but for k": (
        both(put("promise.delta", "1e-9"), put("parameters.delta", "1e-9"), put("derived.delta", "1e-9")), "is too small",
    ),
    "a smaller delta everywhere but in the derivation": (
        both(put("promise.delta", "1e-9"), put("parameters.delta", "1e-9")), "the delta of a row is too large",
    ),
    "the stronger definition in the promise": (put("promise.definition", "standard"), "do not name one definition"),
    "parts that exceed the whole": (put("derived.epsilon_search", "1/10"), "do not add up"),
    "a search that nobody paid for": (put("parameters.levels", None), "had to be chosen"),
    "another unit": (put("promise.unit", "who"), "the unit of the promise"),
    "a person in two rows who paid for one": (
        both(put("promise.unit", "who"), put("parameters.unit", "who"), put("parameters.rows", 2)), "how many rows",
    ),
    "people, by the probabilistic definition": (
        both(put("promise.unit", "who"), put("parameters.unit", "who")), "the standard definition only",
    ),
    "the column of people is released": (
        both(put("promise.unit", "ill"), put("parameters.unit", "ill")), "which tells people apart, is released",
    ),
    "no record left out": (put("whole", True), "no record was left out"),
    "not private": (put("private", False), "nothing is promised"),
    "nearly private": (put("private", 1), "nothing is promised"),
    "another statement": (put("statement", "nobody will ever know"), "is not what its promise says"),
    "a stronger kind of neighbours": (put("promise.neighbours", "any"), "is not what its promise says"),
    "a count told": (put("derived.suppressed", 12), "the certificate states 'suppressed'"),
    "a score told": (put("parameters.best", "1/3"), "the certificate states 'best'"),
    "another method": (put("method", "optimal"), "does not promise differential privacy"),
    "another promise": (put("promise", {"promise": "sampled", "share": "1/2"}), "does not promise sampled"),
    "another level than the one fixed": (put("levels.age", 0), "not those that the parameters fix"),
    "a level too few": (lambda content: content["levels"].pop("age"), "a level for every generalised column"),
    "a level below none": (put("levels.age", -1), "not a valid Shoal certificate"),
    "a role of none": (lambda content: put("role", "identifying")(content["columns"][2]), "no column is released"),
    "an epsilon that fills the memory": (put("promise.epsilon", "1e999999999"), "epsilon"),
    "a beta that fills the memory": (put("derived.beta", "1e-999999999"), "not a valid Shoal certificate"),
    "nothing derived": (put("derived", {}), "not a valid Shoal certificate"),
    "no parameters": (put("parameters", []), "not a valid Shoal certificate"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_part_is_found(written: tuple[Path, Path], change: Change, words: str) -> None:
    paper, table = written
    forge(paper, change)
    assert any(words in fault for fault in verify(paper, table)), verify(paper, table)


def test_only_what_no_promise_depends_on_can_be_changed_alone(written: tuple[Path, Path]) -> None:
    paper, table = written
    honest = paper.read_text(encoding="utf-8")
    content = json.loads(honest)

    def leaves(inside: Any, place: tuple[Any, ...] = ()) -> Any:
        for key, inner in inside.items() if isinstance(inside, dict) else enumerate(inside):
            if isinstance(inner, dict | list) and inner:
                yield from leaves(inner, (*place, key))
            else:
                yield (*place, key), inner

    passed = set()
    for place, value in leaves({key: value for key, value in content.items() if key != "seal"}):

        def change(content: Content, place: tuple[Any, ...] = place, value: Any = value) -> None:
            for key in place[:-1]:
                content = content[key]
            number = isinstance(value, int) and not isinstance(value, bool)
            content[place[-1]] = (
                value - 1 if number else "quasi" if value == "sensitive" else f"{value}x"
            )

        forge(paper, change)
        passed |= (
            set()
            if verify(paper, table)
            else {".".join(map(str, place[:2] if place[0] == "parameters" else place[:1]))}
        )
        paper.write_text(honest, encoding="utf-8")
    assert not passed
    assert (
        verify(paper, table) == []
    )  # what is known to pass does: tests/test_forgeries.py changes more, and likelier


def test_a_promise_that_the_parameters_do_not_make_is_found_for_models_too(tmp_path: Path) -> None:
    path = shoal.Optimal((shoal.KAnonymity(3),)).release(people()).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert verify(paper, path, TREES) == []
    statement = json.loads(paper.read_text())["statement"].replace("3-", "300-")
    forge(paper, both(put("promise.models", ["300-anonymity"]), put("statement", statement)))
    assert verify(paper, path) == [
        "300-anonymity is promised, which is not among the parameters",
        "3-anonymity is among the parameters, and not promised",
    ]


def test_a_certificate_of_another_version_is_for_that_version_to_verify(
    written: tuple[Path, Path],
) -> None:
    paper, table = written
    forge(paper, put("version", "0.0.1"))
    assert verify(paper, table) == [
        f"the certificate was written by Shoal 0.0.1, and this is {shoal.__version__}; verify it with the version "
        "that wrote it"
    ]


# Tables that were changed together with their certificate


def test_a_group_below_k_is_found(written: tuple[Path, Path]) -> None:
    paper, table = written
    k = json.loads(paper.read_text())["derived"]["k"]
    first = table.read_text().splitlines()[1]

    def cut(lines: list[str], left: int) -> list[str]:
        return (
            [line for line in lines if line != first]
            if not left
            else [first] * left + [one for one in lines if one != first]
        )

    forge(paper, lambda content: None, table, lambda lines: cut(lines, k))
    assert verify(paper, table, TREES) == []
    forge(paper, lambda content: None, table, lambda lines: cut(lines, k - 1))
    assert verify(paper, table, TREES) == [
        f"1 of 8 groups over all columns have fewer than k = {k} rows"
    ]
    forge(paper, lambda content: None, table, lambda lines: cut(lines, 0))
    assert verify(paper, table, TREES) == []


def test_groups_are_those_over_all_columns(written: tuple[Path, Path]) -> None:
    paper, table = written
    forge(
        paper,
        lambda content: None,
        table,
        lambda lines: [*lines[:-1], lines[-1].replace("gout", "rare")],
    )
    assert any("1 of 9 groups over all columns" in fault for fault in verify(paper, table))


def test_a_changed_level_is_found_with_hierarchies(tmp_path: Path) -> None:
    path = (
        method(levels=None, floor={"age": 1, "sex": 0}, ceiling={"age": 1, "sex": 1})
        .release(people())
        .write(tmp_path)
    )
    paper = tmp_path / "certificate.json"
    honest = paper.read_text()
    for level, words in (
        (0, "has 2 values that level 0"),
        (2, "has 2 values that level 2"),
        (3, "ends at level 2"),
    ):
        forge(
            paper,
            both(
                put("levels.age", level), put("parameters.floor", {}), put("parameters.ceiling", {})
            ),
        )
        assert verify(paper, path) == []  # nobody can see it without
        assert any(words in fault for fault in verify(paper, path, TREES))
        paper.write_text(honest)
        forge(paper, put("levels.age", level))
        assert any("which the parameters do not allow" in fault for fault in verify(paper, path))
        paper.write_text(honest)


def test_rows_that_tell_nothing_must_not_be_there(tmp_path: Path) -> None:
    table = shoal.table(
        people().frame.to_native().select("age", "sex"), quasi=["age", "sex"], hierarchies=TREES
    )
    path = method(levels={"age": 2, "sex": 1}).release(table).write(tmp_path)
    paper = tmp_path / "certificate.json"
    assert path.read_text().splitlines() == ["age,sex"]
    assert verify(paper, path, TREES) == []
    forge(paper, lambda content: None, path, lambda lines: ["*,*"] * 500)
    for trees in (None, TREES):
        assert [fault.partition(":")[0] for fault in verify(paper, path, trees)] == [
            "every column is at its root"
        ]


def test_a_hierarchy_made_from_rows_is_found(written: tuple[Path, Path]) -> None:
    assert any(
        "made from rows" in fault
        for fault in verify(*written, {"age": replace(AGES, derived=True)})
    )


def test_an_order_that_values_do_not_decide_is_found(written: tuple[Path, Path]) -> None:
    paper, table = written
    honest = table.read_text().splitlines()[1:]
    groups = list(dict.fromkeys(honest))
    sizes = [honest.count(one) for one in groups]

    def laid(order: list[int]) -> list[str]:
        return [groups[i] for i in order for _ in range(sizes[i])]

    def faults(rows: list[str], trees: Any = None) -> list[str]:
        forge(paper, lambda content: None, table, lambda lines: rows)
        return verify(paper, table, trees)

    assert faults(laid([*range(8)]), TREES) == []
    assert "not in the order" in faults(honest[::2] + honest[1::2])[0]  # equal rows apart
    assert (
        "not in the order" in faults(laid([1, 0, 2, 3, 4, 5, 6, 7]))[0]
    )  # by the last column, which has an order of its own
    assert (
        "not in the order" in faults(laid([2, 3, 0, 1, 4, 5, 6, 7]))[0]
    )  # ages one way for one sex, another for the other
    turned = laid(
        [4, 5, 6, 7, 0, 1, 2, 3]
    )  # another order of the sexes: only their hierarchy has theirs
    assert faults(turned) == []
    assert "not in the order" in faults(turned, TREES)[0]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=6), st.randoms())
def test_some_order_makes_rows_sorted_iff_no_column_goes_round_in_a_circle(
    rows: list[tuple[int, int]], random: Any
) -> None:
    orders = [*permutations(range(3))]
    possible = any(
        rows == sorted(rows, key=lambda row: (one[row[0]], other[row[1]]))
        for one in orders
        for other in orders
    )
    steps: list[list[tuple[int, int]]] = [[], []]
    for before, after in pairwise(rows):
        if before != after:
            column = 0 if before[0] != after[0] else 1
            steps[column].append((before[column], after[column]))
    assert possible == all(
        is_acyclic(np.array(one, dtype=np.int64).reshape(-1, 2).T) for one in steps
    )


# k, once more


def kept(parameters: Any, k: int | None = None) -> bool:
    epsilon = StatedEpsilon.read(str(parameters.epsilon))
    sampling = Sampling(parameters.beta, epsilon, parameters.delta, parameters.definition)
    return sampling.keeps(k or parameters.k)


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
def test_the_smallest_k_is_enough_and_one_less_is_not(definition: Any) -> None:
    epsilons = [
        "0.01",
        "0.1",
        "0.5",
        "ln(2)",
        "0.6931471805599453",
        "0.9*ln(2)",
        "0.9",
        "1",
        "1.5",
        "2",
        "5",
        "ln(3/2)",
        "12",
    ]
    for epsilon, digits in product(epsilons, [2, 4, 6, 10, 20]):
        parameters = safepub_parameters(epsilon, f"1e-{digits}", definition)
        assert kept(parameters), (epsilon, digits)
        assert kept(parameters, parameters.k + 1)
        if parameters.k > 1:
            assert not kept(parameters, parameters.k - 1), (epsilon, digits)


@given(
    st.integers(1, 300),
    st.integers(1, 100),
    st.integers(1, 6),
    st.sampled_from(["probabilistic", "standard"]),
)
def test_both_arithmetics_agree_for_every_beta(
    epsilon: int, share: int, digits: int, definition: Any
) -> None:
    largest = 1 - math.exp(-epsilon / 100)
    beta = Fraction(int(largest * share * 10_000) or 1, 10**6 + 1)
    parameters = safepub_parameters(Fraction(epsilon, 100), f"1e-{digits}", definition, beta=beta)
    assert kept(parameters)
    assert parameters.k == 1 or not kept(parameters, parameters.k - 1)


@pytest.mark.parametrize("definition", ["probabilistic", "standard"])
@pytest.mark.parametrize("power", [Fraction(2), Fraction(3, 2), Fraction(5)])
def test_the_sum_is_that_of_the_laws_themselves(power: Fraction, definition: str) -> None:
    """δ from the two laws of what is seen of a group, as the definitions say it, in rationals."""
    beta = 1 - 1 / power

    def law(n: int, k: int) -> dict[int, Fraction]:
        drawn = {j: math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)}
        return {
            0: sum(p for j, p in drawn.items() if j < k),  # type: ignore[dict-item]
            **{j: p for j, p in drawn.items() if j >= k},
        }

    def delta(k: int, sizes: int) -> Fraction:
        worst = Fraction(0)
        for n in range(1, sizes):
            for p, q in ((law(n, k), law(n - 1, k)), (law(n - 1, k), law(n, k))):
                bad = {
                    o: chance for o, chance in p.items() if chance > power * q.get(o, Fraction(0))
                }
                lost = (
                    power * sum(q.get(o, Fraction(0)) for o in bad)
                    if definition == "standard"
                    else 0
                )
                worst = max(worst, sum(bad.values(), Fraction(0)) - lost)
        return worst

    epsilon = StatedEpsilon.read(f"ln({power})")
    for k in (1, 2, 5, 9):
        worst = delta(k, 60)
        exact = Sampling(beta, epsilon, worst, definition)
        assert exact.last_size < 60  # so all sizes that matter were looked at
        assert exact.keeps(k)  # δ met exactly is enough
        assert not replace(exact, delta=worst * (1 - Fraction(1, 10**9))).keeps(k)


def test_the_chance_to_be_drawn_is_compared_exactly(tmp_path: Path) -> None:
    for epsilon, largest in (("ln(4)", Fraction(3, 4)), ("2", safepub_parameters(2, "1e-4").beta)):
        path = method(epsilon=epsilon).release(people()).write(tmp_path)
        paper = tmp_path / "certificate.json"
        for beta, words in (
            (largest, ""),
            (largest + Fraction(1, 1 << 64), "above 1 - e^-epsilon"),
        ):
            forge(paper, put("derived.beta", str(beta)))
            assert words in " ".join(verify(paper, path))
        forge(paper, put("derived.beta", str(largest)))
        assert verify(paper, path) == []


def test_the_delta_of_a_row_must_be_what_group_privacy_asks_for(tmp_path: Path) -> None:
    path = method(**METHODS["by person"]).release(people()).write(tmp_path)
    paper = tmp_path / "certificate.json"
    derived = json.loads(paper.read_text())["derived"]
    assert Fraction(derived["delta"]) < Fraction("1e-4") / 2
    forge(paper, put("derived.delta", str(Fraction(derived["delta"]) * Fraction(1001, 1000))))
    assert any("too large for 2 rows" in fault for fault in verify(paper, path))


def test_an_epsilon_too_small_to_add_up_is_told(tmp_path: Path) -> None:
    path = method(epsilon="1e-6").release(people()).write(tmp_path)
    assert verify(tmp_path / "certificate.json", path) == []
    assert any("the sum is too long" in what for what in unchecked(tmp_path / "certificate.json"))


def test_verification_has_an_arithmetic_of_its_own() -> None:
    source = (Path(shoal.__file__).parent / "releases" / "verification" / "__init__.py").read_text(
        encoding="utf-8"
    )
    assert "shoal.privacy.calculus" not in source
    assert "shoal.exact.epsilon" not in source
    assert "shoal.methods" not in source


def test_the_statement_of_every_promise_is_known(tmp_path: Path) -> None:
    stated = DifferentialPrivacy("ln(9)", "1e-4", "standard", "who")
    path = (
        method(epsilon="ln(9)", definition="standard", unit="who").release(people()).write(tmp_path)
    )
    assert json.loads((tmp_path / "certificate.json").read_text())["statement"] == stated.statement
    assert verify(tmp_path / "certificate.json", path) == []
    assert delta_for(
        safepub_parameters("ln(9)", "1e-4", "standard").k, "ln(9)", "standard"
    ) <= Fraction("1e-4")


# What is no certificate, and what is not checked


@pytest.mark.parametrize(
    "text",
    [
        '{"certificate": 2, "seal": "", "promise": NaN, "statement": "", "unprotected": [], "method": "", "parameters": {}, '
        '"columns": [], "number": ""}',
        '{"certificate": 2, "seal": "", "promise": "\\ud800", "statement": "", "unprotected": [], "method": "", '
        '"parameters": {}, "columns": [], "number": ""}',
        '{"certificate": 2, "seal": "", "promise": '
        + "[" * 900
        + "]" * 900
        + ', "statement": "", "unprotected": [], '
        '"method": "", "parameters": {}, "columns": [], "number": ""}',
        "[" * 100_000,
        "9" * 100_000,
        "\ufeff{}",
    ],
    ids=["nan", "surrogate", "deep", "deeper", "long", "mark"],
)
def test_whatever_the_certificate_is_the_answer_is_in_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "certificate.json").write_text(text, encoding="utf-8")
    (tmp_path / "release.csv").write_text("a\n")
    assert "certificate" in verify(tmp_path / "certificate.json", tmp_path / "release.csv")[0]
    with pytest.raises(FileError, match="certificate"):
        unchecked(tmp_path / "certificate.json")


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_table_that_cannot_be_read_though_its_digest_is_right_is_told(
    tmp_path: Path, form: str
) -> None:
    import hashlib

    table, paper = method().release(people()).write(tmp_path, form), tmp_path / "certificate.json"
    content = table.read_bytes()
    for cut in (b"", content[: len(content) // 2], content[:-8] + b"\xff" * 4 + content[-4:]):
        table.write_bytes(cut)
        forge(paper, put("file.sha256", hashlib.sha256(cut).hexdigest()))
        assert verify(paper, table) == [f"the table is not a readable {form} file"]


def test_what_cannot_be_checked_is_listed() -> None:
    paper = method(**METHODS["by person"]).release(people()).certificate
    told = " / ".join(unchecked(paper))
    for words in (
        "drawn by chance",
        "by the search",
        "'who' gave at most 2 rows",
        "labels of their levels",
        "were public",
    ):
        assert words in told
    assert "labels of their levels" not in " ".join(unchecked(paper, TREES))
    assert "by the search" not in " ".join(unchecked(method().release(people()).certificate))


# The command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


def test_the_command_ends_with_0_if_nothing_is_wrong(written: tuple[Path, Path]) -> None:
    done = run(*written)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "differential privacy" in " ".join(done.stdout.split())
    assert "not checked" in done.stdout
    told = json.loads(run(*written, "--json").stdout)
    assert (told["holds"], told["failures"], told["promise"]["epsilon"]) == (True, [], "2")
    assert len(told["unchecked"]) == 8
    assert ["parameters", "score"] in told["unchecked_places"]
    assert told["statement"] == json.loads(written[0].read_text())["statement"]


def test_the_command_ends_with_1_and_a_line_for_all_that_does_not_hold(
    written: tuple[Path, Path],
) -> None:
    paper, table = written
    forge(paper, both(put("whole", True), put("derived.k", 5)))
    done = run(paper, table)
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 2
    done = run(paper, table, "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["holds"], len(told["failures"]), told["promise"]) == (False, 2, None)


def test_a_changed_file_is_1_and_one_that_is_not_there_2(
    written: tuple[Path, Path], tmp_path: Path
) -> None:
    paper, table = written
    for changed in written:
        content = changed.read_bytes()
        for other in (content[:-2], b"", b"\xff" + content, content.replace(b"3", b"4", 1)):
            changed.write_bytes(other)
            assert run(paper, table).exit_code == 1
        changed.write_bytes(content)
    assert run(table, paper).exit_code == 1  # swapped: neither is what it should be
    for wrong in (
        [tmp_path / "none", table],
        [paper, tmp_path / "none"],
        [paper, tmp_path],
        [paper],
    ):
        done = run(*wrong)
        assert (done.exit_code, done.stdout) == (2, "")
    assert run(paper, table).exit_code == 0


def test_the_command_takes_hierarchies_from_files_or_a_recipe(
    written: tuple[Path, Path], tmp_path: Path
) -> None:
    paper, table = written
    (tmp_path / "age.csv").write_text(
        "".join(f"{a};{a // 10 * 10}-{a // 10 * 10 + 9};*\n" for a in range(30, 60))
    )
    (tmp_path / "wrong.csv").write_text("".join(f"{a};{a // 5};*\n" for a in range(30, 60)))
    (tmp_path / "sex.csv").write_text("m;*\nf;*\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[source]\npath = "people.csv"\ntypes = {age = "integer"}\n[roles]\nwho = "identifying"\nsex = "quasi"\nage = "quasi"\n'
        'ill = "sensitive"\n[hierarchies]\nage = {file = "age.csv"}\nsex = {file = "sex.csv"}\n'
        '[method]\nname = "sampling"\nprobability = "1/2"\n'
    )
    for options in (
        ["--recipe", recipe],
        [
            "--hierarchy",
            f"age={tmp_path / 'age.csv'}",
            "--hierarchy",
            f"sex={tmp_path / 'sex.csv'}",
        ],
        ["--recipe", recipe, "--hierarchy", f"age={tmp_path / 'age.csv'}"],
    ):
        done = run(paper, table, *options)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "labels of their levels" not in " ".join(done.stdout.split())
    assert "labels of their levels" in " ".join(run(paper, table).stdout.split())
    done = run(paper, table, "--hierarchy", f"age={tmp_path / 'wrong.csv'}")
    assert done.exit_code == 1
    assert "level 1 of its hierarchy does not have" in done.stderr
    assert run(paper, table, "--hierarchy", f"aeg={tmp_path / 'age.csv'}").exit_code == 2
    assert run(paper, table, "--recipe", tmp_path / "none.toml").exit_code == 2
    forge(paper, put("recipe", shoal.Recipe.load(recipe).digest))
    assert run(paper, table, "--recipe", recipe).exit_code == 0
    forge(paper, put("recipe", "0" * 64))
    done = run(paper, table, "--recipe", recipe)
    assert (done.exit_code, "not the one that was followed" in done.stderr) == (1, True)


# ----------------------------------------------------------------------------- what else a certificate could be made to tell


def _told_more() -> dict[str, tuple[Method, Change, str]]:
    people = NoisyCounts(1, "1e-3", levels={"age": 2})
    every = {
        "nothing is left open": lambda paper: paper.update(unprotected=[]),
        "a column has a note": lambda paper: paper["columns"][0].update(note="4,711 records"),
        "the file has a note": lambda paper: paper["file"].update(records=4711),
        "the number is a word": lambda paper: paper.update(number="4,711 records"),
        "the recipe is a word": lambda paper: paper.update(recipe="4,711 records"),
    }
    found: dict[str, tuple[Method, Change, str]] = {}
    for called, change in every.items():
        words = "not protected" if "open" in called else "states more"
        for method in (
            people,
            KDGS(3, levels={"age": 2}),
            Columns(2, "1e-3", k=3, schema=[["sex"]]),
        ):
            found[f"{method.name}: {called}"] = method, change, words
    half = "more likely than not"
    found["noisy-counts: half"] = people, lambda paper: paper["derived"].update(half=11), half
    found["columns: half"] = (
        Columns(2, "1e-3", schema=[["sex"]]),
        lambda paper: paper["derived"].update(half=11),
        half,
    )
    found["no domain"] = (
        NoisyCounts(1, 0),
        lambda paper: paper["levels"].pop("sex"),
        "a declared domain",
    )

    def level(paper: Content) -> None:
        paper["levels"] = paper["parameters"]["levels"] = {"age": 2, "height": 4711}

    found["a level of no column"] = people, level, "states more"
    splits = Mondrian((KAnonymity(3),), splits="middle")
    found["a level of splits"] = (
        splits,
        lambda paper: paper["levels"].update(age=4711),
        "which splits do not have",
    )
    found["more of a model"] = (
        splits,
        lambda paper: paper["parameters"]["models"][0].update(seen=4711),
        "more of a model",
    )
    return found


@pytest.mark.parametrize("which", _told_more())
def test_a_certificate_that_tells_more_than_it_may_is_found(tmp_path: Path, which: str) -> None:
    method, change, words = _told_more()[which]
    ages = Hierarchy.from_lines([[str(age), str(age // 2), "*"] for age in range(4)], Kind.INTEGER)
    trees = {"age": ages, "sex": suppress(["f", "m"])}
    frame = pl.DataFrame({"age": [0, 1, 2, 3] * 20, "sex": ["f", "m"] * 40})
    table = method.release(shoal.table(frame, quasi=["age", "sex"], hierarchies=trees)).write(
        tmp_path
    )
    assert verify(tmp_path / "certificate.json", table) == []
    forge(tmp_path / "certificate.json", change)
    found = verify(tmp_path / "certificate.json", table)
    assert any(words in fault for fault in found), found


def test_items_that_were_not_declared_cannot_have_been_bought(tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": [*range(50)] * 2, "item": ["a"] * 50 + ["b"] * 50})
    method = Columns(5, "1e-3", groups=1, buying="1/2", person="who", item="item", items=["a", "b"])
    table = method.release(shoal.table(frame, identifying=["who"], insensitive=["item"])).write(
        tmp_path
    )
    assert verify(tmp_path / "certificate.json", table) == []
    forge(tmp_path / "certificate.json", lambda paper: paper["parameters"].update(items=[]))
    assert any("nobody declared" in fault for fault in verify(tmp_path / "certificate.json", table))

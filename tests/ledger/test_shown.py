"""A ledger remembers what was shown, and refuses what does not keep γ together with it."""

import base64
import datetime as dt
import json
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.chance.source import Seeded
from shoal.data.hierarchy import intervals, suppress
from shoal.data.tables import Table
from shoal.errors import (
    BudgetError,
    FileError,
    InfeasibleError,
    InputError,
    ParameterError,
    TooLargeError,
)
from shoal.ledger import Ledger, book
from shoal.ledger import shown as room
from shoal.ledger.entries import Gamma
from shoal.privacy.models import DistinctDiversity, KAnonymity
from shoal.releases.facts import WithEarlier
from shoal.releases.release import Release
from shoal.views import Register, Views, certify, check
from tests import regions
from tests.ledger.private import unsync
from tests.views_files import (
    AGES,
    BY_AGE,
    BY_SEX,
    NOBODY,
    RECIPE,
    REGISTER,
    SECRETS,
    at,
    laid_out,
    numbered,
    people,
    run,
)


def together(release: Release) -> WithEarlier | None:
    """What the ledger entered about a release together with earlier ones."""
    assert release.entry is not None
    return release.entry.together


def is_kept(release: Release) -> bool | None:
    """Whether γ is kept together with earlier releases."""
    stands = together(release)
    assert stands is not None
    return stands.kept


@pytest.fixture(scope="module", autouse=True)
def unsynced() -> Iterator[None]:
    """Entries are not waited for to reach the disk."""
    with pytest.MonkeyPatch.context() as here:
        unsync(here)
        yield


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger", gamma="1/2")


# Refusing


def test_a_release_that_betrays_somebody_together_with_another_is_refused(
    ledger: Ledger, tmp_path: Path
) -> None:
    first = ledger.release(BY_SEX, people(), tmp_path / "one")
    assert is_kept(first) is True
    with pytest.raises(
        BudgetError, match=r"γ = 1/2 is not kept.*Keep this refusal secret.*keeps that it was tried"
    ) as refused:
        ledger.release(BY_AGE, people(), tmp_path / "two")
    assert not any(secret in str(refused.value) for secret in SECRETS)
    assert not (tmp_path / "two").exists()
    assert [entry.what for entry in ledger.entries()] == [
        "created",
        "reserved",
        "completed",
        "reserved",
        "refused",
    ]
    assert ledger.entries()[-1].facts.together.checked["ill"].to_dict() == {
        "largest": "1",
        "tables": "144",
        "method": "exact",
        "confidence": None,
    }
    ledger.release(NOBODY, people(), tmp_path / "three")  # says nothing new
    assert ledger.entries()[-1].facts.together.entries == (2,)
    assert ledger.verify() == []


def test_either_release_alone_is_not_refused(tmp_path: Path) -> None:
    for number, method in enumerate((BY_SEX, BY_AGE)):
        made = Ledger.create(tmp_path / f"ledger{number}", gamma="1/2").release(method, people())
        assert is_kept(made) is True


def test_the_owner_may_override_and_that_is_entered(ledger: Ledger, tmp_path: Path) -> None:
    ledger.release(BY_SEX, people())
    with pytest.raises(ParameterError, match="give a reason"):
        ledger.release(BY_AGE, people(), override=" ")
    ledger.release(BY_AGE, people(), tmp_path / "two", override="the board knows")
    assert (tmp_path / "two" / "certificate.json").exists()
    last = ledger.entries()[-1].facts
    assert (last.override, last.together.kept) == ("the board knows", False)
    shown = run("ledger", "show", ledger.path).stdout
    assert "OVERRIDDEN: does not keep γ 1/2, with 1 earlier release" in shown
    assert "reason: the board knows" in shown
    assert max(map(len, shown.splitlines())) <= 80
    with pytest.raises(BudgetError, match="not kept"):  # what was overridden counts
        ledger.release(NOBODY, people())


def test_an_override_that_was_not_needed_is_none(ledger: Ledger) -> None:
    ledger.release(BY_SEX, people(), override="just in case")
    assert ledger.entries()[-1].facts.override is None


def test_without_a_gamma_everything_is_entered_and_remembered(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    for method in (BY_SEX, BY_AGE):
        assert not together(ledger.release(method, people()))
    ledger.set_gamma("1/2")
    with pytest.raises(BudgetError, match="not kept"):
        ledger.release(NOBODY, people())
    ledger.set_gamma(1)
    ledger.release(NOBODY, people())
    assert ledger.account().gamma is None


def test_single_values_have_limits_of_their_own(tmp_path: Path) -> None:
    lax = Ledger.create(tmp_path / "lax", gamma=1, limits={"flu": "1/2"})
    for method in (BY_SEX, BY_AGE):
        lax.release(method, people())
    strict = Ledger.create(tmp_path / "strict", gamma=1, limits={"SARS": "1/3"})
    with pytest.raises(BudgetError, match="γ = 1, SARS 1/3 is not kept"):
        strict.release(BY_SEX, people())


def test_a_limit_of_a_value_that_nothing_shows_is_told(folder: Path) -> None:
    run("ledger", "create", "own.ledger", "--gamma", "1/2", "--limit", "SRAS=1/4")
    told = run("release", "one.toml", "-o", "one")
    assert "limits for 'SRAS', which nothing shows" in " ".join(told.stderr.split())
    assert Ledger("own.ledger").entries()[-1].facts.together.unmet == ("SRAS",)


def test_a_budget_and_a_gamma_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="two ledgers"):
        Ledger.create(tmp_path / "ledger", epsilon=1, delta=0, gamma="1/2")
    assert not (tmp_path / "ledger").exists()
    with pytest.raises(ParameterError, match="two ledgers"):
        Ledger.create(tmp_path / "budget", epsilon=1, delta=0).set_gamma("1/2")
    with pytest.raises(ParameterError, match="two ledgers"):
        Ledger.create(tmp_path / "gamma", gamma="1/2").set_budget(epsilon=1, delta=0)


def test_differential_privacy_is_no_view_and_passes(ledger: Ledger) -> None:
    ledger.release(BY_SEX, people())
    ledger.release(shoal.SafePub(epsilon=1, delta="1e-2"), people())
    done = ledger.entries()[-1].facts
    assert done.together is None
    assert done.shown is None
    ledger.release(NOBODY, people())
    assert ledger.entries()[-1].facts.together.entries == (2,)


def test_what_is_neither_a_view_nor_private_is_refused_before_anything_is_drawn(
    ledger: Ledger,
) -> None:
    with pytest.raises(BudgetError, match="not a view that could be counted"):
        ledger.release(shoal.RandomSample("1/2"), people())
    with pytest.raises(
        BudgetError, match="not a view that could be counted"
    ):  # draws from a seed promise nothing
        ledger.release(shoal.SafePub(epsilon=1, delta="1e-2"), people(), chance=Seeded(1))
    assert len(ledger.entries()) == 1
    ledger.release(shoal.RandomSample("1/2"), people(), override="a test table")
    ledger.release(BY_SEX, people())  # of which the sample says nothing that could be counted
    views = ledger.together(BY_SEX.release(people()), people())
    assert any("entered though it is not a view" in note for note in views.notes)


def test_releases_before_the_gamma_that_cannot_be_counted_stand_in_the_way(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.release(shoal.RandomSample("1/2"), people())
    ledger.set_gamma("1/2")
    with pytest.raises(BudgetError, match=r"cannot be decided.*entry 2, by sampling"):
        ledger.release(BY_SEX, people())


def test_what_is_too_entangled_is_refused_with_that_reason(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: Any, **options: Any) -> Any:
        raise TooLargeError("9 views of 900 people are too entangled")

    monkeypatch.setattr(room, "check", never)
    with pytest.raises(BudgetError, match=r"cannot be decided.*too entangled.*override"):
        ledger.release(BY_SEX, people())
    assert ledger.entries()[-1].facts.together.kept is None
    assert (
        "REFUSED: not decided whether it keeps γ 1/2" in run("ledger", "show", ledger.path).stdout
    )


def test_data_that_changed_cannot_be_counted_together(ledger: Ledger) -> None:
    ledger.release(BY_SEX, people())
    with pytest.raises(
        BudgetError, match=r"cannot be decided.*entry 2.*the data has changed since"
    ):
        ledger.release(
            NOBODY, people(("heart", "SARS", "virus", "SARS", "flu", "virus", "flu", "gout"))
        )


def test_a_column_that_is_secret_in_one_release_and_public_in_another_is_refused(
    ledger: Ledger,
) -> None:
    ledger.release(BY_SEX, people())
    other = shoal.table(
        people().frame.to_native(),
        quasi=["sex", "ill"],
        sensitive=["age"],
        identifying=["name"],
        hierarchies={
            "sex": suppress(["F", "M"]),
            "ill": suppress(["SARS", "flu", "gout", "heart", "virus"]),
        },
    )
    with pytest.raises(
        BudgetError, match=r"cannot be decided.*known by 'ill', which entry 2 shows as sensitive"
    ):
        ledger.release(at(sex=1, ill=0), other)


def with_roles(**roles: Any) -> Table:
    return people().with_roles(**{"identifying": ["name"], "sensitive": ["ill"], **roles})


@pytest.mark.parametrize(
    "first",
    [{"quasi": ["sex"], "insensitive": ["age"]}, {"quasi": ["sex"], "sensitive": ["ill", "age"]}],
)
def test_a_column_that_people_are_known_by_may_not_lie_open_in_another_release(
    ledger: Ledger, first: dict[str, list[str]]
) -> None:
    # each age beside its illness; the second release takes for granted that ages are known
    ledger.release(at(sex=0), with_roles(**first), override="as ages are not known")
    with pytest.raises(
        BudgetError, match=r"cannot be decided.*known by 'age', which entry 2 shows as"
    ):
        ledger.release(NOBODY, people())


def test_a_sensitive_column_of_another_name_is_not_taken_for_another_column(ledger: Ledger) -> None:
    ledger.release(BY_SEX, people())
    renamed = people().frame.to_native().rename({"ill": "disease"})
    roles: dict[str, Any] = {
        "quasi": ["sex", "age"],
        "sensitive": ["disease"],
        "identifying": ["name"],
    }
    other = shoal.table(renamed, **roles, hierarchies=people().hierarchies)
    with pytest.raises(BudgetError, match=r"cannot be decided.*entry 2 had no column 'disease'"):
        ledger.release(BY_AGE, other)
    with_both = people().frame.to_native().with_columns(income=pl.Series([1, 2, 3, 4, 5, 6, 7, 8]))
    fresh = Ledger.create(ledger.path.with_name("other"), gamma="1/2")
    table = shoal.table(with_both, hierarchies=people().hierarchies)
    fresh.release(
        BY_SEX,
        table.with_roles(quasi=["sex", "age"], sensitive=["ill"], identifying=["name", "income"]),
    )
    done = fresh.release(
        BY_AGE,
        table.with_roles(quasi=["sex", "age"], sensitive=["income"], identifying=["name", "ill"]),
    )
    stands = together(done)
    assert stands is not None
    assert stands.entries == ()  # of another column nothing was shown before


def test_what_others_have_shown_is_not_forgotten(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "others.toml").write_text(
        '[[views]]\nwhere = ""\nvalues = { SARS = 3, virus = 2, heart = 1, flu = 1, gout = 1 }\n'
    )
    ledger.release(NOBODY, people(), others=tmp_path / "others.toml")
    with pytest.raises(
        BudgetError,
        match=r"cannot be decided.*entry 2 counted views of others that are not counted now",
    ):
        ledger.release(BY_SEX, people())
    (tmp_path / "more.toml").write_text(
        (tmp_path / "others.toml").read_text().replace('""', '"age > 0"')
    )
    with pytest.raises(BudgetError, match="not counted now"):
        ledger.release(BY_SEX, people(), others=tmp_path / "more.toml")  # other views are not those
    (tmp_path / "more.toml").write_text(
        (tmp_path / "others.toml").read_text() + (tmp_path / "more.toml").read_text()
    )
    ledger.release(BY_SEX, people(), others=tmp_path / "more.toml")
    late = Ledger.create(tmp_path / "late")
    late.release(NOBODY, people(), others=tmp_path / "others.toml")
    late.set_gamma("1/2")
    with pytest.raises(BudgetError, match="not counted now"):
        late.release(BY_SEX, people())


@pytest.mark.parametrize("name", ["receipt", "count", "group", "bucket"])
def test_rows_of_two_releases_that_can_be_joined_are_not_decided(ledger: Ledger, name: str) -> None:
    ledger.release(BY_SEX, numbered(name))
    with pytest.raises(
        BudgetError,
        match=rf"cannot be decided.*both show '{name}', by which their rows can be joined",
    ):
        ledger.release(NOBODY, numbered(name))


def test_rows_that_can_be_joined_with_those_of_others_are_not_decided(
    ledger: Ledger, tmp_path: Path
) -> None:
    numbered().frame.to_native().select("sex", "ill", "receipt").write_csv(tmp_path / "table.csv")
    (tmp_path / "others.toml").write_text(
        '[[views]]\nname = "o"\ntable = "table.csv"\nsensitive = "ill"\ncolumns = { sex = "sex" }\n'
    )
    ledger.release(BY_SEX, people(), others=tmp_path / "others.toml")
    with pytest.raises(
        BudgetError, match=r"cannot be decided.*o and this release both show 'receipt'"
    ):
        ledger.release(NOBODY, numbered(), others=tmp_path / "others.toml")


def test_a_file_of_others_is_read_before_anything_is_entered_whatever_the_ledger_limits(
    tmp_path: Path,
) -> None:
    free = Ledger.create(tmp_path / "free")
    with pytest.raises(FileError):
        free.release(BY_SEX, people(), others=tmp_path / "absent.toml")
    assert [entry.what for entry in free.entries()] == ["created"]


def test_what_a_release_without_sensitive_values_makes_known_is_counted(ledger: Ledger) -> None:
    ledger.release(BY_SEX, numbered())
    roles: dict[str, Any] = {"quasi": ["sex", "age", "receipt"], "identifying": ["name", "ill"]}
    trees = {**people().hierarchies, "receipt": suppress([f"r{at}" for at in range(8)])}
    open_ = shoal.table(numbered().frame.to_native(), **roles, hierarchies=trees)
    with pytest.raises(
        BudgetError, match=r"cannot be decided.*known by 'receipt', which entry 2 shows"
    ):
        ledger.release(at(sex=0, age=0, receipt=0), open_)


@pytest.mark.parametrize(
    "values",
    [
        [True, False] * 4,
        [dt.datetime(2020, 1, 1 + one % 2, 3, 4) for one in range(8)],
        [dt.datetime(2020, 1, 1 + one % 2) for one in range(8)],
        [1.0, 2.5] * 4,
    ],
)
def test_values_of_any_type_are_remembered_as_they_are_read(
    ledger: Ledger, values: list[Any]
) -> None:
    held = people().frame.to_native().with_columns(told=pl.Series(values))
    trees = people().hierarchies
    secret: dict[str, Any] = {
        "quasi": ["sex", "age"],
        "sensitive": ["told"],
        "identifying": ["name", "ill"],
    }
    for method in (BY_SEX, NOBODY):
        ledger.release(method, shoal.table(held, **secret, hierarchies=trees))
    other = Ledger.create(ledger.path.with_name("quasi"), gamma="3/4")
    public: dict[str, Any] = {
        "quasi": ["told"],
        "sensitive": ["ill"],
        "identifying": ["name", "sex", "age"],
    }
    for _ in range(2):
        other.release(
            shoal.Mondrian((KAnonymity(4),), ranges="observed"), shoal.table(held, **public)
        )


def test_limits_of_a_file_do_not_loosen_those_of_a_ledger(ledger: Ledger) -> None:
    ledger.release(BY_SEX, people())
    register = Register(
        shoal.table(people().frame.to_native().select("sex", "age"), types={"age": "integer"})
    )
    old = register.view("old", "age > 25", ["SARS", "flu", "virus", "SARS", "gout"])
    given = Views(8, [old], "1/2", {"SARS": 1})
    assert check(ledger.together_with(given, register)).private is False
    without = Ledger.create(ledger.path.with_name("no-gamma"))
    without.release(BY_SEX, people())
    assert dict(without.together_with(given, register).limits) == {"SARS": 1}


def test_a_release_that_is_no_view_is_entered_with_its_reason_and_passed_over(
    ledger: Ledger,
) -> None:
    ledger.release(shoal.RandomSample("1/2"), people(), override="the board")
    assert ledger.entries()[-1].facts.override == "the board"
    assert ledger.entries()[-1].facts.together.kept is None
    ledger.release(BY_SEX, people())


def test_another_release_than_that_of_the_certificate_is_not_entered(ledger: Ledger) -> None:
    entry = ledger.reserve(BY_SEX.promise(people().schema), "optimal", people())
    made, other = BY_SEX.release(people()), NOBODY.release(people())
    with pytest.raises(ParameterError, match="another certificate"):
        ledger.complete(entry.number, made.certificate, release=other, table=people())


def test_buckets_with_fakes_are_refused_before_they_are_made_and_block_nothing(
    ledger: Ledger,
) -> None:
    fakes = shoal.Buckets("diagnosis", shoal.Limits.each({}, others="1/2"), solver="two", fakes=1)
    with pytest.raises(BudgetError, match="not a view that could be counted"):
        ledger.release(fakes, patients())
    ledger.set_gamma("9/10")
    ledger.release(fakes, patients(), override="the board")
    ledger.release(
        at(sex=1),
        patients().with_roles(quasi=["sex"], sensitive=["diagnosis"], identifying=["age", *HELD]),
    )


def test_people_left_out_of_coincident_groups_are_no_other_data(ledger: Ledger) -> None:
    ledger.set_gamma("99/100")
    method = shoal.Coincident(
        (DistinctDiversity("diagnosis", 2),), 14, "interleaved", spare="records"
    )
    assert is_kept(ledger.release(method, patients())) is True


def test_truth_values_are_read_as_they_are_written(ledger: Ledger) -> None:
    smoking = people().frame.to_native().with_columns(smoker=pl.Series([True, False] * 4))
    given = shoal.table(
        smoking, quasi=["smoker"], sensitive=["ill"], identifying=["name", "sex", "age"]
    )
    ledger.set_gamma("3/4")
    ledger.release(shoal.Mondrian((KAnonymity(4),), ranges="observed"), given)


def test_a_release_with_differential_privacy_is_said_to_be_no_view(ledger: Ledger) -> None:
    table = shoal.demo.table(200)
    book_ = Ledger.create(ledger.path.with_name("dp"), gamma="1/2")
    made = book_.release(shoal.SafePub(1, "1/1000"), table)
    with pytest.raises(InputError, match="not a view"):
        book_.together(made, table)


OVERLAPPING = """
[sensitive]
column = "ill"
[register]
person = "name"
types = { age = "integer" }
people = [
    { name = "A", age = 22 }, { name = "B", age = 27 },
    { name = "C", age = 28 }, { name = "D", age = 35 },
]
[[views]]
table = "table.csv"
columns = { age = "age" }
"""


def test_groups_that_share_people_are_not_taken_for_one_that_keeps_gamma(
    ledger: Ledger, tmp_path: Path
) -> None:
    # A fits the first group alone, so A has a; joined, everybody would have a with one half only
    (tmp_path / "table.csv").write_text("age,ill\n20-30,a\n20-30,a\n25-40,b\n25-40,b\n")
    (tmp_path / "VIEWS.toml").write_text(OVERLAPPING)
    with pytest.raises(InfeasibleError, match=r"may not be kept.*joined.*nothing to certify"):
        certify(tmp_path / "VIEWS.toml")
    table = patients()
    ledger.set_gamma("9/10")
    ledger.release(METHODS["buckets"], table)  # in no bucket more than half have a value
    assert ledger.entries()[-1].facts.together.kept is True
    with pytest.raises(BudgetError, match=r"cannot be decided.*joined"):
        ledger.release(shoal.Optimal((KAnonymity(40),)), table)
    ledger = Ledger.create(tmp_path / "apart.ledger", gamma="9/10")
    apart = table.with_roles(
        quasi=["age", "sex", "patient"],
        sensitive=["diagnosis"],
        identifying=["postcode", "admitted", "ward", "stay", "insurance", "outcome"],
    )
    ledger.release(METHODS["buckets"], apart)  # nobody looks like another
    assert ledger.entries()[-1].facts.together.kept is True


def test_steps_one_by_one_need_the_release_too(ledger: Ledger) -> None:
    promise = BY_SEX.promise(people().schema)
    entry = ledger.reserve(promise, "optimal", people())
    made = BY_SEX.release(people())
    with pytest.raises(ParameterError, match="give `complete` the `release` and the `table`"):
        ledger.complete(entry.number, made.certificate)
    ledger.complete(entry.number, made.certificate, release=made, table=people())
    entry = ledger.reserve(BY_AGE.promise(people().schema), "optimal", people())
    made = BY_AGE.release(people())
    with pytest.raises(BudgetError, match="not kept"):
        ledger.complete(entry.number, made.certificate, release=made, table=people())
    with pytest.raises(ParameterError, match="refused already"):
        ledger.complete(
            entry.number, made.certificate, release=made, table=people(), override="now I want it"
        )


def test_whoever_is_slower_is_judged_with_what_the_faster_showed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, judged = room.judge, []

    def slow(account: Any, *rest: Any) -> Any:
        verdict = judge(account, *rest)
        judged.append(verdict.kept)
        if len(judged) == 1:  # while it was judged, another process releases
            Ledger(ledger.path).release(BY_SEX, people())
        return verdict

    monkeypatch.setattr(room, "judge", slow)
    with pytest.raises(BudgetError, match="not kept"):
        ledger.release(BY_AGE, people())
    assert judged == [True, True, False]


def test_the_race_would_be_lost_if_nobody_looked_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "_known", lambda account: ())
    judge, judged = room.judge, []

    def slow(account: Any, *rest: Any) -> Any:
        judged.append(1)
        verdict = judge(account, *rest)
        if len(judged) == 1:
            Ledger(ledger.path).release(BY_SEX, people())
        return verdict

    monkeypatch.setattr(room, "judge", slow)
    ledger.release(BY_AGE, people())
    assert len(ledger.account().shown) == 2


# The verdict is the truth


def surest(table: Table, releases: Sequence[Release]) -> Fraction:
    """How sure one can become, by all tables there are and the test's own reading of groups."""
    rows = table.frame.select("sex", "age", "ill").rows()
    values = [ill for _, _, ill in rows]
    groups: list[list[int]] = []
    for made in releases:
        for sex, age in sorted(set(made.table.select("sex", "age").rows())):
            fits = [
                i
                for i, (own, years, _) in enumerate(rows)
                if sex in (own, "*")
                and str(age) in (str(years), "young" if years < 26 else "old", "*")
            ]
            groups.append(fits)
    shown = [Counter(values[i] for i in some) for some in groups]
    possible = [
        given
        for given in set(permutations(values))
        if all(
            Counter(given[i] for i in some) == bag for some, bag in zip(groups, shown, strict=True)
        )
    ]
    return max(
        Fraction(sum(given[i] == value for given in possible), len(possible))
        for i in range(len(rows))
        for value in values
    )


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("MF"), st.integers(23, 28), st.sampled_from("abc")),
        min_size=3,
        max_size=6,
    ),
    nodes=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=2, max_size=3),
    gamma=st.sampled_from(["1/2", "2/3", "3/4"]),
)
@settings(max_examples=40)
def test_what_is_refused_is_what_all_tables_say(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, int, str]],
    nodes: list[tuple[int, int]],
    gamma: str,
) -> None:
    sex, age, ill = zip(*rows, strict=True)
    table = shoal.table(
        pl.DataFrame({"sex": sex, "age": age, "ill": ill}),
        quasi=["sex", "age"],
        sensitive=["ill"],
        hierarchies={"sex": suppress(["F", "M"]), "age": AGES},
    )
    ledger = Ledger.create(tmp_path_factory.mktemp("some") / "ledger", gamma=gamma)
    out: list[Release] = []
    for sexes, ages in nodes:
        method = at(sex=sexes, age=ages)
        allowed = surest(table, [*out, method.release(table)]) <= Fraction(gamma)
        try:
            out.append(ledger.release(method, table))
        except BudgetError:
            assert not allowed
        else:
            assert allowed


def test_judging_the_new_release_alone_would_be_noticed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "earlier", lambda account: ([], []))
    made = [ledger.release(method, people()) for method in (BY_SEX, BY_AGE)]
    assert surest(people(), made[:1]) <= Fraction(1, 2) < surest(people(), made)


# What is remembered


HELD = ["patient", "postcode", "admitted", "ward", "stay", "insurance", "outcome"]


def patients() -> Table:
    return shoal.demo.table(120).with_roles(
        quasi=["age", "sex"],
        sensitive=["diagnosis"],
        identifying=HELD,
    )


METHODS: dict[str, Any] = {
    "optimal": shoal.Optimal((KAnonymity(5),), suppression="0.1", suppressed="star"),
    "dropped": shoal.Optimal((KAnonymity(5),), suppression="0.1"),
    "mondrian": shoal.Mondrian((KAnonymity(4),)),
    "buckets": shoal.Buckets("diagnosis", shoal.Limits.each({}, others="1/2"), solver="two"),
    "coincident": shoal.Coincident((DistinctDiversity("diagnosis", 2),)),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_ledger_remembers_the_views_of_a_release(name: str) -> None:
    table = patients()
    made = METHODS[name].release(table, Seeded(1))
    kept = room.packed(made, table)
    assert kept is not None
    again = room.unpacked(room.NEW, kept, json.loads(made.certificate.to_json()))
    gamma = Gamma(Fraction(1, 2))
    one = room.together(
        [room.ShownRelease(room.NEW, made, table.hierarchies)], table, "diagnosis", gamma
    )
    other = room.together([again], table, "diagnosis", gamma)
    assert one.views == other.views
    assert one.views


def test_hierarchies_with_intervals_without_end_are_remembered(ledger: Ledger) -> None:
    tree = intervals(kind="float", widths=[10, 50], bottom=10, top=90)
    assert {float("inf"), float("-inf")} & set(tree.cuts)
    frame = pl.DataFrame({"weight": [5.5, 20.25, 55.0, 300.0], "ill": ["a", "b", "a", "b"]})
    table = shoal.table(frame, quasi=["weight"], sensitive=["ill"], hierarchies={"weight": tree})
    ledger.release(at(weight=2), table)
    bare = shoal.table(
        frame,
        quasi=["weight"],
        sensitive=["ill"],
        hierarchies={"weight": suppress([5.5, 20.25, 55.0, 300.0])},
    )
    ledger.release(at(weight=1), bare)  # by another hierarchy
    assert ledger.entries()[-1].facts.together.entries == (2,)


def test_a_ledger_of_an_older_shoal_opens_and_is_told_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    with monkeypatch.context() as older:
        older.setattr(room, "packed", lambda release, table: None)
        ledger.release(BY_SEX, people(), tmp_path / "one")
    ledger.set_gamma("1/2")
    with pytest.raises(BudgetError, match=r"what entry 2 showed is not in the ledger.*remember"):
        ledger.release(NOBODY, people())
    with pytest.raises(ParameterError, match="no release with this certificate"):
        ledger.remember(BY_SEX.release(people()), people())
    ledger.remember(Release.read(tmp_path / "one"), people())
    with pytest.raises(ParameterError, match="remembered already"):
        ledger.remember(Release.read(tmp_path / "one"), people())
    ledger.release(NOBODY, people())
    with pytest.raises(BudgetError, match="not kept"):
        ledger.release(BY_AGE, people())
    assert "added what entry 2 showed" in run("ledger", "show", ledger.path).stdout
    assert ledger.verify() == []


def test_what_a_large_release_showed_is_small_and_every_byte_is_accounted_for(
    tmp_path: Path,
) -> None:
    dice = random.Random(5)
    frame = pl.DataFrame(
        {
            "age": [dice.randrange(20_000) for _ in range(20_000)],
            "ill": [dice.choice("abcdefgh") for _ in range(20_000)],
        }
    )
    table = shoal.table(
        frame,
        quasi=["age"],
        sensitive=["ill"],
        hierarchies={"age": suppress(range(20_000), kind="integer")},
    )
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.release(shoal.Mondrian((KAnonymity(2),)), table)
    assert 0 < ledger.path.stat().st_size < 1_000_000
    assert ledger.verify() == []


def test_nothing_but_what_was_released_is_kept(ledger: Ledger) -> None:
    ledger.release(NOBODY, people())
    shown = room.unpacked("x", ledger.account().shown[2], ledger.entries()[-1].facts.certificate)
    assert shown.release.table.to_dict(as_series=False) == {
        "sex": ["*"] * 8,
        "age": ["*"] * 8,
        "ill": sorted(people().frame["ill"].to_list()),
    }
    assert set(shown.hierarchies) == {"sex", "age"}


# The command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return laid_out(tmp_path)


def test_a_recipe_releases_into_a_ledger_with_a_gamma(folder: Path) -> None:
    assert "γ 1/2" in run("ledger", "create", "own.ledger", "--gamma", "50%").stderr
    done = run("release", "one.toml", "-o", "one")
    assert done.exit_code == 0, done.output
    assert "γ is kept, together with 0 earlier releases" in done.stderr
    refused = run("release", "two.toml", "-o", "two")
    assert refused.exit_code == 2
    assert "Keep this refusal secret" in refused.stderr
    assert not any(secret in refused.output for secret in SECRETS)
    assert not Path("two").exists()
    done = run("release", "two.toml", "-o", "two", "--override", "the board knows")
    assert done.exit_code == 0, done.output
    assert "your reason is entered" in done.stderr
    found = json.loads(run("ledger", "show", "own.ledger", "--json").stdout)
    assert found["gamma"] == {"share": "1/2", "limits": {}}
    assert found["entries"][-1]["override"] == "the board knows"
    assert isinstance(found["entries"][-1]["shown"], int)


def test_one_more_release_is_checked_with_a_ledger(folder: Path) -> None:
    run("ledger", "create", "own.ledger", "--gamma", "1/2")
    run("release", "one.toml", "-o", "one")
    BY_AGE.release(people()).write("new")
    bad = run("views", "check", "new", "--with", "own.ledger", "--person", "name", "--json")
    assert bad.exit_code == 1, bad.output
    found = json.loads(bad.stdout)
    assert found["tables"] == "144"
    assert [(one["person"], one["value"], one["probability"]) for one in found["exposed"]] == [
        ("D", "SARS", "1")
    ]
    assert set(found["exposed"][0]["views"]) <= {
        "entry 2/1",
        "entry 2/2",
        "this release/1",
        "this release/2",
    }
    NOBODY.release(people()).write("fine")
    assert run("views", "check", "fine", "--with", "own.ledger").exit_code == 0
    again = run("views", "check", "one", "--with", "own.ledger", "--json")  # is in it already
    assert (again.exit_code, json.loads(again.stdout)["views"]) == (0, 2)
    assert (
        run("views", "check", "new", "--with", "own.ledger", "--recipe", "two.toml").exit_code == 1
    )
    assert "by --with" in run("views", "check", "new").stderr
    Ledger.create("empty.ledger")
    assert "by --recipe" in run("views", "check", "new", "--with", "empty.ledger").stderr


def test_views_of_a_file_are_checked_with_a_ledger(folder: Path) -> None:
    run("ledger", "create", "own.ledger")
    run("release", "one.toml", "-o", "one")
    Path("VIEWS.toml").write_text(
        REGISTER
        + '[[views]]\nname = "others"\nwhere = "age < 26"\nvalues = ["heart", "SARS", "virus"]\n'
    )
    alone = json.loads(run("views", "check", "VIEWS.toml", "--json").stdout)
    assert (alone["private"], alone["tables"]) == (True, "6")
    found = json.loads(run("views", "check", "VIEWS.toml", "--with", "own.ledger", "--json").stdout)
    assert found["tables"] == str(6 * 24)
    assert [(one["person"], one["value"], one["probability"]) for one in found["exposed"]] == [
        ("D", "SARS", "1")
    ]


def test_what_others_have_shown_counts_where_the_recipe_names_it(folder: Path) -> None:
    run("ledger", "create", "own.ledger", "--gamma", "1/2")
    Path("others.toml").write_text(
        '[[views]]\nname = "insurer"\nwhere = "age < 26"\nvalues = ["heart", "SARS", "virus"]\n'
    )
    Path("one.toml").write_text(RECIPE + '\n[views]\nothers = "others.toml"\n')
    refused = run("release", "one.toml", "-o", "one")
    assert refused.exit_code == 2
    assert "is not kept" in refused.stderr
    Path("others.toml").write_text(
        '[[views]]\nname = "insurer"\nwhere = "age < 26"\nvalues = ["heart", "gout", "virus"]\n'
    )
    assert "cannot be decided" in run("release", "one.toml", "-o", "one").stderr
    before = len(Ledger("own.ledger").entries())
    for wrong, words in (
        (
            '[sensitive]\ncolumn = "income"\n[[views]]\nwhere = ""\nvalues = { high = 8 }\n',
            "about the column 'income'",
        ),
        (
            '[[views]]\nname = "insurer"\nwhere = "agee < 26"\nvalues = []\n',
            "[[views]] number 1, 'insurer': ",
        ),
        ("[[views]]\nwhere = 3\n", "where: should be a text"),
    ):
        Path("others.toml").write_text(wrong)
        told = run("release", "one.toml", "-o", "one")
        assert (told.exit_code, words in " ".join(told.stderr.split())) == (2, True), told.stderr
    assert (
        len(Ledger("own.ledger").entries()) == before
    )  # nothing is entered for a mistake in a file


def test_the_gamma_of_a_ledger_is_set_anew(folder: Path) -> None:
    run("ledger", "create", "own.ledger")
    done = run("ledger", "gamma", "own.ledger", "2/3", "--limit", "SARS=1/2")
    assert "entry 2: γ is 2/3, SARS 1/2; before, there was none" in done.stderr
    assert "γ is none" in run("ledger", "gamma", "own.ledger", "1").stderr
    assert "changed to no γ" in run("ledger", "show", "own.ledger").stdout
    assert run("ledger", "gamma", "own.ledger", "3/2").exit_code == 2


def test_an_older_release_is_remembered_by_the_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("ledger", "create", "own.ledger")
    with monkeypatch.context() as older:
        older.setattr(room, "packed", lambda release, table: None)
        run("release", "one.toml", "-o", "one")
    done = run("ledger", "remember", "own.ledger", "one", "--recipe", "one.toml")
    assert "entry 4: what entry 2 showed" in done.stderr
    assert list(Ledger("own.ledger").account().shown) == [2]


def test_python_checks_a_release_with_a_ledger(ledger: Ledger) -> None:
    ledger.release(BY_SEX, people())
    views = ledger.together(BY_AGE.release(people()), people(), person="name")
    assert check(views).private is False
    assert check(ledger.together(BY_AGE.release(people()), people(), gamma=1)).private is True
    with pytest.raises(InputError, match="name the one that is checked"):
        ledger.together(BY_AGE.release(people()), people(), "sex")


@pytest.mark.parametrize("method", regions.METHODS)
def test_a_private_tree_is_entered_with_its_steps_and_is_no_view(
    ledger: Ledger, method: str
) -> None:
    table = regions.town_table()
    book_ = Ledger.create(ledger.path.with_name("tree"), gamma="1/2")
    made = book_.release(regions.METHODS[method], table)
    done = book_.entries()[-1].facts
    assert done.certificate["derived"]["tree"] == made.certificate.derived["tree"]
    assert (done.together, done.shown) == (None, None)
    with pytest.raises(InputError, match="not a view"):
        book_.together(made, table)


def test_a_release_is_kept_as_its_different_rows() -> None:
    table = shoal.table(
        pl.DataFrame({"sex": ["f"] * 500 + ["m"] * 300, "ill": ["flu"] * 800}),
        quasi=["sex"],
        sensitive=["ill"],
        hierarchies={"sex": suppress(["f", "m"])},
    )
    release = shoal.Optimal((KAnonymity(5),)).release(table)
    text = room.packed(release, table)
    assert text is not None
    content = json.loads(zlib.decompress(base64.b85decode(text)))
    assert content["tables"]["release"] == {"sex": ["f", "m"], "ill": ["flu", "flu"]}
    again = room.unpacked("again", text, json.loads(release.certificate.to_json()))
    assert again.release.table.select("sex", "ill").equals(release.table)

"""A certificate for several releases: what it says, and that a forged one is found."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import ColumnError, InfeasibleError, InputError
from shoal.views import (
    certify,
    verify,
)
from tests.views.cases import lay_open
from tests.views_files import (
    BY_SEX,
    NOBODY,
    REGISTER,
    laid_out,
    numbered,
    people,
    two_releases,
)


def test_what_is_not_decided_has_no_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lay_open(tmp_path))
    with pytest.raises(InfeasibleError, match="may not be kept"):
        certify("views.toml")


CERTIFIED = """
[register]
person = "name"
types = { age = "integer" }
people = [
  { name = "A", age = 22 }, { name = "B", age = 27 },
  { name = "C", age = 35 }, { name = "D", age = 36 },
]
[sensitive]
column = "ill"
[[views]]
where = "age < 30"
values = ["a", "b"]
[[views]]
table = "table.csv"
columns = { age = "age" }
"""


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("views.toml", '"a", "b"', '"a", "c"'),
        ("table.csv", "30-40,b", "30-40,c"),
        ("table.csv", "", ""),
    ],
)
def test_other_content_with_the_same_counts_is_not_what_was_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("views.toml").write_text(CERTIFIED)
    Path("table.csv").write_text("age,ill\n30-40,a\n30-40,b\n")
    before = certify("views.toml")
    before.write("paper.json")
    Path(file).write_text(Path(file).read_text().replace(old, new))
    after = certify("views.toml")
    assert (after.tables, after.largest, after.register) == (
        before.tables,
        before.largest,
        before.register,
    )
    assert len([one for one in verify("paper.json", "views.toml") if "certificate" in one]) == (
        2 if old else 0
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return laid_out(tmp_path)


@pytest.fixture
def both(folder: Path) -> Path:
    two_releases(folder)
    return folder


@pytest.mark.parametrize(
    "forge",
    [
        {"tables": "100000"},
        {"statement": "Nobody can ever learn anything.", "unprotected": []},
        {"columns": ["hiv"]},
        {"register": "0" * 64},
        {"people": 8.0},
        {"complete": 1},
    ],
)
def test_a_forged_certificate_is_found(both: Path, forge: dict[str, Any]) -> None:
    replace(certify("VIEWS.toml"), **forge).write("forged.json")
    wrong = {f"{part} is not what is found here" for part in forge}
    assert wrong <= set(verify("forged.json", "VIEWS.toml"))


def test_a_certificate_that_lists_something_twice_or_by_another_method_is_found(both: Path) -> None:
    certificate = certify("VIEWS.toml")
    for shown in (
        [*certificate.shown, certificate.shown[0]],
        [{**certificate.shown[0], "method": "safepub"}, certificate.shown[1]],
    ):
        replace(certificate, shown=shown).write("forged.json")
        assert any("was not given" in wrong for wrong in verify("forged.json", "VIEWS.toml"))
    replace(
        certificate,
        shown=[{key: one[key] for key in one if key != "name"} for one in certificate.shown],
    ).write("unnamed.json")
    assert verify("unnamed.json", "VIEWS.toml") == [
        "a name on the certificate is not a text on one line"
    ]
    replace(certificate, shown=[{**one, "name": "other"} for one in certificate.shown]).write(
        "named.json"
    )
    assert verify("named.json", "VIEWS.toml") == []  # what things are called does not matter


def test_a_version_or_name_that_pretends_to_be_more_is_found(both: Path) -> None:
    certificate = certify("VIEWS.toml")
    for version, called in (
        ("9.9", "Shoal 9.9"),
        ("9.9\n\nPromise\nNobody learns anything", "an unknown version of Shoal"),
    ):
        boast = "Nobody can ever learn anything."
        replace(certificate, version=version, statement=boast, unprotected=[]).write("forged.json")
        (wrong,) = verify("forged.json", "VIEWS.toml")
        assert wrong.startswith(f"the certificate was written by {called}, and this is")
    replace(
        certificate,
        shown=[{**one, "name": "all\n\nNot protected\nnothing"} for one in certificate.shown],
    ).write("forged.json")
    assert verify("forged.json", "VIEWS.toml") == [
        "a name on the certificate is not a text on one line"
    ]


def test_the_order_of_views_limits_and_rows_does_not_matter(both: Path) -> None:
    text = Path("VIEWS.toml").read_text()
    Path("VIEWS.toml").write_text(
        '[limits]\nSARS = "1/2"\nflu = "1/3"\n' + text.replace('gamma = "1/2"\n', "")
    )
    certify("VIEWS.toml").write("together.json")
    first, *views = text.replace('gamma = "1/2"\n', "").split("[[views]]")
    again = '[limits]\nflu = "1/3"\nSARS = "1/2"\n' + "[[views]]".join([first, *reversed(views)])
    Path("VIEWS.toml").write_text(again)
    head, *rows = Path("register.csv").read_text().splitlines()
    Path("register.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    assert verify("together.json", "VIEWS.toml") == []


def test_rows_that_can_be_joined_and_a_register_that_knows_all_have_no_certificate(
    folder: Path,
) -> None:
    BY_SEX.release(numbered()).write("one")
    NOBODY.release(numbered()).write("two")
    Path("VIEWS.toml").write_text(
        REGISTER
        + '[[views]]\nname = "a"\nrelease = "one"\n[[views]]\nname = "b"\nrelease = "two"\n'
    )
    with pytest.raises(InputError, match=r"'a' and 'b' both show 'receipt'"):
        certify("VIEWS.toml")
    Path("register.csv").write_text(
        people().frame.to_native().select("name", "sex", "age", "ill").write_csv()
    )
    Path("VIEWS.toml").write_text(REGISTER + '[[views]]\nrelease = "one"\n')
    with pytest.raises(ColumnError, match="register has the column 'ill'"):
        certify("VIEWS.toml")


def test_a_certificate_is_of_one_register(both: Path) -> None:
    certify("VIEWS.toml").write("together.json")
    Path("register.csv").write_text(Path("register.csv").read_text().replace("A,M", "Zoe,M"))
    assert verify("together.json", "VIEWS.toml") == ["register is not what is found here"]


def test_a_certificate_says_which_column_was_checked_and_which_were_not(folder: Path) -> None:
    held = people().frame.to_native().with_columns(hiv=pl.Series(["yes"] * 4 + ["no"] * 4))
    roles: dict[str, Any] = {
        "quasi": ["sex", "age"],
        "sensitive": ["ill", "hiv"],
        "identifying": ["name"],
    }
    BY_SEX.release(shoal.table(held, **roles, hierarchies=people().hierarchies)).write("one")
    Path("VIEWS.toml").write_text(REGISTER + '[[views]]\nrelease = "one"\nsensitive = "ill"\n')
    certificate = certify("VIEWS.toml")
    assert "no value of ill more probable" in certificate.statement
    assert (
        certificate.unprotected[0]
        == "other sensitive columns of these releases, which were not checked: hiv"
    )
    Path("VIEWS.toml").write_text(REGISTER + '[[views]]\nrelease = "one"\nsensitive = "hiv"\n')
    with pytest.raises(InfeasibleError, match="is not kept"):
        certify("VIEWS.toml")


def test_where_tables_are_drawn_the_seed_follows_from_what_is_shown(
    both: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as here:
        here.setattr("shoal.views.checking.count", lambda *given: None)
        certificate = certify("VIEWS.toml", gamma="3/4")
        assert certificate.checked == {"how": "importance", "confidence": "99/100"}
        assert certificate == certify("VIEWS.toml", gamma="3/4")
        certificate.write("t.json")
        assert verify("t.json", "VIEWS.toml") == []
    assert "checked is not what is found here" in verify(
        "t.json", "VIEWS.toml"
    )  # whoever can count does

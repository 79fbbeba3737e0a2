"""One way to ask for differential privacy: which method is taken; the certificate says so."""

from pathlib import Path

import pytest

import shoal
from shoal.chance import Seeded
from shoal.errors import ParameterError
from shoal.methods.auto import automatic, name_of
from tests.methods.test_safepub import people


@pytest.mark.parametrize("truthful", [False, True])
def test_the_release_is_that_of_the_method_and_the_certificate_says_which(truthful: bool) -> None:
    table = people(400)
    made = shoal.release(table, epsilon=2, delta="1e-4", truthful=truthful, chance=Seeded(1))
    method = automatic(2, "1e-4", truthful)
    same = method.release(table, Seeded(1))
    assert made.table.equals(same.table)
    assert made.certificate == same.certificate
    assert made.certificate.method == method.name == name_of(truthful)
    assert made.certificate.promise["epsilon"] == "2"


def test_what_the_owner_wants_decides_on_the_method() -> None:
    assert automatic(1, "1e-6") == shoal.NoisyCounts(1, "1e-6", levels="tree")
    assert automatic(1, "1e-6", truthful=True) == shoal.SafePub(
        1, "1e-6", search="tree", beta="auto"
    )
    entropy = automatic(1, "1e-6", score="entropy", ceiling={"age": 1}, unit="who", rows=2)
    assert entropy == shoal.NoisyCounts(
        1, "1e-6", levels="search", score="entropy", ceiling={"age": 1}, unit="who", rows=2
    )
    predicted = automatic(1, "1e-6", True, score="classification", classes=["sex"])
    assert predicted == shoal.SafePub(
        1, "1e-6", score="classification", classes=["sex"], beta="auto"
    )


def test_what_does_not_go_together_is_refused_as_by_the_methods() -> None:
    with pytest.raises(ParameterError, match="score"):
        automatic(1, "1e-6", score="beauty")
    with pytest.raises(ParameterError, match="classes"):
        automatic(1, "1e-6", classes=["sex"])
    with pytest.raises(ParameterError, match="delta"):
        automatic(1, 0)


RECIPE = """
%s
[source]
path = "people.csv"
[roles]
a = "quasi"
[hierarchies]
a = { build = "suppress", values = ["x", "y"] }
%s
"""


@pytest.mark.parametrize(
    ("above", "section"),
    [
        ("", '[method]\nname = "auto"\nepsilon = 1\ndelta = 1e-6'),
        ('method = "auto"\nepsilon = 1\ndelta = 1e-6', ""),
        ('method = { name = "auto", epsilon = 1, delta = 1e-6 }', ""),
    ],
)
def test_recipes_ask_for_it_by_name(above: str, section: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a\n" + "x\n" * 60 + "y\n" * 3)
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE % (above, section))
    recipe = shoal.Recipe.load(path)
    assert recipe.method() == automatic(1, "1e-6")
    assert recipe.run().certificate.method == "noisy-counts"
    path.write_text((RECIPE % (above, section)).replace("1e-6", "1e-6\ntruthful = true"))
    if "{" not in above:
        assert shoal.Recipe.load(path).method() == automatic(1, "1e-6", truthful=True)

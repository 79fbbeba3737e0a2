"""Neighbours of a release: one step away, and never entered or written."""

import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.report.neighbours import THIS, neighbourhood, variants
from tests.methods.examples import METHODS, people
from tests.report.conftest import ONE_OF_EACH

PEOPLE = people()
WITHOUT = ("buckets",)
"""Methods whose parameters are not numbers or levels."""


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_method_has_neighbours_or_a_reason(name: str) -> None:
    method = ONE_OF_EACH[name]
    release = method.release(PEOPLE)
    if name in WITHOUT:
        with pytest.raises(InfeasibleError):
            neighbourhood(PEOPLE, release, method)
        return
    found = neighbourhood(PEOPLE, release, method)
    assert found.compared.releases[0].name == THIS
    assert len(found.compared.releases) > 1
    assert "owner only" in repr(found)


def test_neighbours_in_the_lattice_are_one_level_away() -> None:
    method = shoal.Optimal([shoal.KAnonymity(2)], suppression=1, ceiling={"age": 1, "town": 1})
    release = method.release(PEOPLE)
    levels = release.certificate.levels
    found = dict(variants(method, release.certificate, PEOPLE))
    assert found
    for name, other in found.items():
        made = other.release(PEOPLE).certificate.levels
        column, _, words = name.rpartition(" ")
        step = {"finer": -1, "coarser": 1}[words]
        assert made == {**levels, column: levels[column] + step}


def test_neighbours_of_differential_privacy_have_half_and_twice_the_epsilon() -> None:
    method = shoal.NoisyCounts("ln(2)", "1e-3", levels={})
    certificate = method.release(PEOPLE).certificate
    names = [name for name, _ in variants(method, certificate, PEOPLE)]
    assert names == ["ε 0.5*ln(2)", "ε ln(4)"]


def test_neighbours_of_diversity_ask_for_one_value_more_or_less() -> None:
    method = shoal.Coincident([shoal.DistinctDiversity("ill", 3)])
    found = dict(variants(method, method.release(PEOPLE).certificate, PEOPLE))
    assert list(found) == ["l 2", "l 4"]
    assert [other.changed["models"] for other in found.values()] == [
        (shoal.DistinctDiversity("ill", 2),),
        (shoal.DistinctDiversity("ill", 4),),
    ]


def test_a_method_without_such_parameters_says_so() -> None:
    method = METHODS["buckets of two"]
    with pytest.raises(InfeasibleError, match="its parameters are not numbers or levels"):
        neighbourhood(PEOPLE, method.release(PEOPLE), method)

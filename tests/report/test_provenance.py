"""How a release came about: parameters that were given, defaults, and what ε was spent on."""

import inspect
import re
from pathlib import Path

import pytest

import shoal
from shoal.methods.catalogue import CATALOGUE, entry_of
from shoal.report import Published
from shoal.report.provenance import meanings, sections
from tests.methods.examples import people


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_parameter_has_a_meaning(name: str) -> None:
    entry = entry_of(name)
    known = meanings(entry)
    assert not [one for one in inspect.signature(entry.method).parameters if not known.get(one)]


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_meaning_is_not_the_name_of_a_value(name: str) -> None:
    entry = entry_of(name)
    known = meanings(entry)
    named = {one: known[one] for one in inspect.signature(entry.method).parameters}
    assert not {one: text for one, text in named.items() if re.match(r'(at )?"', text)}


def test_only_words_that_are_used_are_explained() -> None:
    counts = Published.of(shoal.NoisyCounts(1, "1e-3").release(people()))
    groups = Published.of(shoal.Optimal([shoal.KAnonymity(3)]).release(people()))
    glossaries = [[*sections(shown)][-1] for shown in (counts, groups)]
    assert ["ε (epsilon)" in one for one in glossaries] == [True, False]
    assert all("whom a promise is made to" in one for one in glossaries)


def listed(page: str, caption: str) -> list[str]:
    """The parameters in the table under a caption."""
    table = page[page.index(caption) :].partition("</table>")[0]
    return re.findall(r'<th scope="row">([^<]+)</th>', table)


def test_parameters_are_given_or_defaults() -> None:
    method = shoal.NoisyCounts(1, "1e-3", levels="search", split="4/5")
    page = next(sections(Published.of(method.release(people()))))
    assert listed(page, "Given:") == ["epsilon", "delta", "split"]
    # k and levels have values that the method chose by itself.
    assert {"k", "levels", "noise"} <= {*listed(page, "Defaults:")}
    assert "choosing how coarse columns are" in page


def test_a_default_that_was_changed_is_given() -> None:
    models = [shoal.KAnonymity(3)]
    for method, given in (
        (shoal.Optimal(models), ["models"]),
        (shoal.Optimal(models, suppression=0.1), ["models", "suppression"]),
    ):
        page = next(sections(Published.of(method.release(people()))))
        assert listed(page, "Given:") == given


def test_a_release_that_was_changed_after_it_was_certified_is_said_to_fail(
    released: dict[str, Path],
) -> None:
    shown = Published.read(released["seeded"])
    page = "".join(sections(shown))
    assert "do not keep what the certificate says" in page
    whole = "".join(sections(Published.read(released["optimal"])))
    assert "the files agree with the certificate" in whole
    assert "shoal verify certificate.json release.csv" in whole

"""Every ready-made hierarchy is whole: each value on one path, at the levels that it names."""

from functools import cache

import pytest

from shoal.data.hierarchy import READY, Hierarchy, problems, ready
from shoal.data.hierarchy.ready_made import entry, form_of
from shoal.errors import HierarchyError, ParameterError

FORMS = [(made.name, form) for made in READY.values() for form in made.forms]
LISTED = [(name, form) for name, form in FORMS if READY[name].forms[form].is_listed]
# Made as quickly as the others, and checked value by value as slowly as all of them together.
LARGE = {"postcodes-in"}


@cache
def whole(name: str, form: str) -> Hierarchy:
    """A hierarchy with all of its values, made once."""
    return ready(name, form=form)


@pytest.mark.parametrize(("name", "form"), LISTED)
def test_every_value_is_on_one_path_and_no_label_misleads(name: str, form: str) -> None:
    tree = whole(name, form)
    assert not tree.derived
    assert tree.find(tree.kind.key(READY[name].forms[form].example)) >= 0
    assert tree.labels[-1] == ("*",)
    for finer, coarser in zip(tree.maps, tree.maps[1:], strict=False):
        # One parent for each code of the finer level.
        pairs = set(zip(finer.tolist(), coarser.tolist(), strict=True))
        assert len(pairs) == len(set(finer.tolist()))
    if name in LARGE or tree.leaves > 20_000:
        return
    found = problems(tree.lines(), tree.kind)
    assert not found.fatal
    # The rule itself says 000 for places that must not be told apart.
    assert not found.minor or (name, form) == ("postcodes-us-hipaa", "first-3")


SPELLED = [
    pytest.param(name, form, marks=[pytest.mark.slow] if form.endswith("-5") else [])
    for name, form in LISTED
    if READY[name].forms[form].leaves is not None
]


@pytest.mark.parametrize(("name", "form"), SPELLED)
def test_lists_are_sound_so_that_they_need_not_be_checked_again(name: str, form: str) -> None:
    # With another root they are checked line by line.
    checked = ready(name, form=form, root="all together")
    tree = whole(name, form)
    assert checked.labels[:-1] == tree.labels[:-1]
    assert all((one == other).all() for one, other in zip(checked.maps, tree.maps, strict=True))


@pytest.mark.parametrize(("name", "form"), LISTED)
def test_a_form_lists_what_it_says(name: str, form: str) -> None:
    written = READY[name].forms[form]
    if written.lists is None:
        return
    assert all(map(written.lists, whole(name, form).labels[0][::97]))
    assert not written.lists("E11.749")
    assert not written.lists("X9A.1")
    assert written.size == 0 or abs(written.size - whole(name, form).leaves) < 0.1 * written.size


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_a_declared_value_becomes_what_it_becomes_in_the_whole(name: str, form: str) -> None:
    written = READY[name].forms[form]
    if written.path is None:
        with pytest.raises(ParameterError, match="cannot be chosen"):
            ready(name, form=form, values=[written.example])
        return
    line = ready(name, form=form, values=[written.example]).lines()[0]
    assert line[0] == written.example
    if written.is_listed and name not in LARGE:
        tree = whole(name, form)
        leaf = tree.find(written.example)
        levels = zip(tree.labels, tree.maps, strict=True)
        assert line == [labels[codes[leaf]] for labels, codes in levels]
    else:
        assert len(line) > 2


@pytest.mark.parametrize("name", READY)
def test_an_entry_says_what_it_is_and_what_allows_to_use_it(name: str) -> None:
    made = entry(name)
    assert all((made.about, made.source, made.licence, made.levels))
    assert made.form in made.forms
    # Postcodes lose one character after the other; all others have a name for every level.
    if not name.startswith("postcodes"):
        assert whole(name, made.form).height <= len(made.levels)


@pytest.mark.parametrize(
    ("name", "heights"),
    {
        "sex": [1] * 7,
        "age": [4],
        "dates": [5],
        "marital-status": [2, 2],
        "isced-2011": [2, 2],
        "countries": [4, 4, 4, 4],
        "us-states": [3, 3, 3],
        "german-states": [2, 2, 2],
        "postcodes-de": [5],
        "postcodes-us-hipaa": [2, 2],
        "isco-08": [4, 3, 2],
        "nace-2": [4, 4, 3, 2],
        "icd-10": [3, 4, 4, 4, 4],
    }.items(),
)
def test_a_lattice_is_as_high_as_the_classification(name: str, heights: list[int]) -> None:
    assert [whole(name, form).height for form in READY[name].forms] == heights


def test_a_name_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean 'isco-08'"):
        ready("isco08")
    with pytest.raises(ParameterError, match="there are 'sex', 'age'"):
        ready("???")
    with pytest.raises(ParameterError, match="it takes 'alpha-2', 'alpha-3', 'numeric'"):
        form_of(entry("countries"), "iso2")


def test_a_declared_value_that_is_not_in_the_list_is_refused_and_never_guessed() -> None:
    with pytest.raises(HierarchyError, match="1 of the declared values is not one of 'countries'"):
        ready("countries", values=["FR", "fr"])
    with pytest.raises(HierarchyError, match="2 of the declared values are not of 'icd-10'"):
        ready("icd-10", form="dotted", values=["J18.9", "A11.0", "J18.90000"])


def test_what_cannot_be_listed_needs_values() -> None:
    with pytest.raises(ParameterError, match="too many to list"):
        ready("postcodes-gb", form="whole")


def test_the_root_is_what_one_likes() -> None:
    assert ready("age", root="any").labels[-1] == ("any",)
    assert ready("countries", values=["FR"], root="any").labels[-1] == ("any",)

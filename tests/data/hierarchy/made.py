"""Hierarchies that several tests use."""

from hypothesis import strategies as st

AGES = [["1", "0-4", "0-9", "*"], ["7", "5-9", "0-9", "*"], ["12", "10-14", "10-19", "*"]]


# Anything but what cannot be encoded; a hierarchy may hold quotes, line ends and separators.
labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@st.composite
def trees(draw: st.DrawFn) -> list[list[str]]:
    """The lines of some hierarchy, in any order."""
    leaves = draw(st.lists(labels, min_size=1, max_size=12, unique=True))
    columns: list[list[str]] = [leaves]
    for level in range(draw(st.integers(0, 3))):
        parents = {
            label: draw(st.sampled_from("abcde")) + str(level)
            for label in dict.fromkeys(columns[-1])
        }
        columns.append([parents[label] for label in columns[-1]])
    columns.append([draw(labels)] * len(leaves))
    return [list(line) for line in zip(*columns, strict=True)]

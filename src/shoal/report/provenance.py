"""How a release came about, how to check it, and how to cite it: parameters, files, glossary.

Everything follows from the certificate and from what `verify` found. Uses `subject`;
`for_public` uses it.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any

from shoal.errors import ShoalError, plural
from shoal.exact.epsilon import Epsilon
from shoal.look import Html, entries, section, table, tag, together
from shoal.methods.entry import Entry
from shoal.releases.certificate import Certificate, in_words, plain
from shoal.releases.refined import Refined
from shoal.report.subject import Published
from shoal.studies.promised import rows_of_each

__all__ = ["checking", "meanings", "sections"]

PARTS = {
    "epsilon_anonymisation": "making the table",
    "epsilon_counts": "the noise of counts",
    "epsilon_columns": "the noise of counts, of all groups of columns together",
    "epsilon_group": "the noise of counts, of each group of columns",
    "epsilon_schema": "choosing which columns stand together",
    "epsilon_search": "choosing how coarse columns are",
    "epsilon_order": "of that, in which order columns are refined",
    "epsilon_tree": "of that, where they are refined",
}
"""What a part of ε pays for, by the name that certificates have for it."""

GLOSSARY = {
    "release": "the table that was published, with its certificate",
    "certificate": "the file certificate.json: what was promised, how, and the digests of files",
    "record": "a row of the data that the release was made from",
    "role of a column": "quasi-identifying: others may know it about a person; sensitive: nobody "
    "should learn it; insensitive: harmless; identifying: never released",
    "level": "how coarse a value is: at level 0 it is as it was; each step up replaces it by a "
    "coarser one, up to * for any value",
    "group": "records that look the same in all quasi-identifying columns",
    "suppressed": "left out of the release, or shown as nothing but *",
    "unit": "whom a promise is made to: each row, or each person with all their rows",
    "method": "how the release was made; each one can make certain promises",
    "parameter": "a number or choice that a method was given, or derived from others",
    "ε (epsilon)": "how much a single row or person may matter: the smaller, the better protected",
    "δ (delta)": "a small allowance for what ε does not cover",
    "digest": "a number that changes if a single letter of a file changes",
}
"""The few words that reports use."""

SAID = {
    "epsilon": "how much a single row or person may matter: the smaller, the better protected",
    "delta": "a small allowance for what ε does not cover",
    "k": "how many records must look the same, at least",
    "rows": "how many rows of a person are used, at most",
    "levels": "how coarse columns are: levels that were given, or how they were chosen",
    "search": "how it was chosen how coarse columns are",
    "definition": "what ε and δ mean together: the usual definition, or a stronger one",
    "noise": "the kind of noise of numbers",
    "counts": "whether equal rows are released once, with their number",
    "models": "what every group must satisfy",
    "unit": "the column that says whose rows belong together",
    "floor": "the finest levels that were allowed",
    "ceiling": "the coarsest levels that were allowed",
}
"""What parameters mean that several methods have."""

BESIDES = {
    "loss": "what counts as a loss of detail when levels are chosen",
    "suppression": "the largest share of records that may be left out",
    "suppressed": "whether records that do not fit are left out, or shown as rows of *",
    "relaxed": "whether records with equal values may come into different groups",
    "ranges": "what ranges show: where a group was cut, or its smallest and largest value",
    "splits": "where groups are cut in two",
    "probability": "the chance that a record is released",
    "utility": "how much of its detail every record keeps, at least",
    "solver": "how the lowest risk is looked for",
    "measure": "how detail is measured",
    "model": "how sensitive what is shown counts as",
    "weights": "how sensitive the columns are",
    "importance": "how much columns count",
    "choice": "the column that says what each person chose",
    "wishes": "what people could choose from",
    "register": "the people among whom a record is looked for",
    "effort": "how long the lowest risk is looked for",
    "pull": "how much a low risk weighs in the search",
    "power": "how much detail weighs in the search",
    "gap": "how far from the least loss the search may stop",
    "seconds": "how long the search may take",
    "scheme": "in which order groups may be joined until each satisfies what it must",
    "rule": "which of the tables on the path may be released",
}
"""What parameters mean whose methods describe them in prose; others are documented one by one."""

DERIVED = {
    "k": "how many rows must look the same, at least",
    "beta": "the chance that a record is drawn",
    "bound": "by how much a released number of rows is off, at most",
    "half": "how many records make it more likely than not that their row is released",
    "threshold": "the smallest noisy number of a row that is released",
    "scale": "how much noise is added",
    "most": "to how many groups of columns a record may give values",
    "schema": "which columns stand together",
    "composition": "how the parts of ε add up",
    "delta_group": "the δ of each group of columns",
    "steps of the tree": "the order in which columns are refined, each to a level",
    "threshold of the tree": "how many records a region must seem to have to be refined",
    "cut of the tree": "below how many records a region is not refined",
    "bias of the tree": "what is added so that deep regions are not refined by noise alone",
    "scale of the tree": "how much noise decides about a region",
    "fake_odds": "how likely each number of values that nobody has was, by the size of the table",
    "gap_reached": "how far the solution may be from the best one",
}
"""What derived numbers mean, by the names that certificates have for them."""

MANY = 12
"""Parts of a table whose digests are listed."""


def sections(shown: Published) -> Iterator[Html]:
    """How the release was made, how to check it, how to cite it, and the words used."""
    yield _parameters(shown)
    yield checking(shown)
    yield _files(shown.certificate)
    yield section("The words used here", entries(_words(shown.certificate)), name="glossary")


def _words(certificate: Certificate) -> dict[str, str]:
    """The words that a report on a certificate uses."""
    spends = certificate.promise.get("epsilon") is not None
    return {word: said for word, said in GLOSSARY.items() if spends or word[0] not in "εδ"}


# Parameters


def _parameters(shown: Published) -> Html:
    certificate, entry = shown.certificate, shown.entry
    defaults = {} if entry is None else _defaults(entry, certificate)
    said = {} if entry is None else meanings(entry)
    given, usual, empty = [], [], []
    for name in _in_order(entry, certificate.parameters):
        value = certificate.parameters[name]
        row = [name, in_words(value), said.get(name, "")]
        if row[1] == "none":
            empty.append(name)
        elif name in defaults and _same(defaults[name], value):
            usual.append(row)
        else:
            given.append(row)
    derived = [
        [name, in_words(value), DERIVED.get(name) or SAID.get(name, "")]
        for name, value in _derived(certificate)
    ]
    origin = "Derived from the others"
    if certificate.promise.get("epsilon") is not None:
        origin += ", or from noisy numbers that ε paid for"
    summary = "" if entry is None else f" ({entry.summary})"
    finding = f"{plural(len(given), 'parameter')} of {certificate.method} "
    unused = tag("p", f"Not given, and not used: {', '.join(empty)}.", cls="note")
    return section(
        finding + ("was given" if len(given) == 1 else "were given"),
        tag(
            "p",
            f"The release was made by Shoal {certificate.version} with the method "
            f"{certificate.method}{summary}.",
        ),
        _listed("Given: chosen by whoever made the release", given),
        _spent(certificate),
        _listed(origin, derived),
        _listed("Defaults: what the method takes unless it is told otherwise", usual),
        unused if empty else None,
        name="parameters",
    )


def _listed(caption: str, rows: list[list[str]]) -> Html | None:
    head = ["parameter", "value", "what it is"]
    if not rows:
        return None
    return table(head, rows, numbers=[], caption=caption, cls="parameters")


def _in_order(entry: Entry | None, names: Mapping[str, Any]) -> list[str]:
    """The names of parameters as the method has them; certificates sort them."""
    known = [] if entry is None else list(inspect.signature(entry.method).parameters)
    return [
        *(name for name in known if name in names),
        *(name for name in names if name not in known),
    ]


def _defaults(entry: Entry, certificate: Certificate) -> dict[str, Any]:
    """What the parameters would have been if only those that are required had been given."""
    known = inspect.signature(entry.method).parameters
    required = [name for name, one in known.items() if one.default is inspect.Parameter.empty]
    defaults = {name: plain(one.default) for name, one in known.items() if name not in required}
    given = {name: certificate.parameters.get(name) for name in required}
    if "models" in given:
        given["models"] = certificate.promise.get("models")
    try:
        made = entry.method(**given)
    except (ShoalError, TypeError, ValueError, KeyError):  # such as limits, which are not a text
        return defaults
    # What only made another parameter, such as the aggregate of a loss, is not kept.
    return {name: plain(getattr(made, name, one)) for name, one in defaults.items()}


def _same(one: object, other: object) -> bool:
    """Whether two values of a certificate are the same; a number may be written in two ways."""
    if one == other or (one in _EMPTY and other in _EMPTY):
        return True
    try:
        return Fraction(str(one)) == Fraction(str(other))
    except (ValueError, ZeroDivisionError):
        return False


_EMPTY: tuple[Any, ...] = (None, {}, [], "")


def meanings(entry: Entry) -> dict[str, str]:
    """What the parameters of a method are, by the method's own documentation."""
    text = inspect.getdoc(entry.method) or ""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in text.partition(">>>")[0].splitlines():
        start = re.match(r"([a-z_]+(?:, [a-z_]+)*): (.+)", line)
        if start is not None:
            names = start[1].split(", ")
            found |= dict.fromkeys(names, start[2])
        elif line.startswith("    ") and names:
            found |= dict.fromkeys(names, f"{found[names[0]]} {line.strip()}")
        else:
            names = []
    first = {name: re.split(r"[;.:] ", text)[0].replace("`", "") for name, text in found.items()}
    # What names the values that it may have is for those who choose one.
    plain_words = {name: text for name, text in first.items() if '"' not in text}
    return {**first, **BESIDES, **plain_words, **SAID}


def _derived(certificate: Certificate) -> Iterator[tuple[str, Any]]:
    """What was derived and is not a parameter as well."""
    for name, value in certificate.derived.items():
        shown_elsewhere = name in PARTS or certificate.parameters.get(name) == value
        if value is None or shown_elsewhere:
            continue
        if name == "tree" and certificate.refined is not None:
            yield from _tree(certificate.refined, value)
        elif isinstance(value, Mapping):
            yield from ((f"{inner} of the {name}", part) for inner, part in value.items())
        else:
            yield name, value


def _tree(refined: Refined, parts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a tree was grown by: its steps in words first."""
    yield (
        "steps of the tree",
        ", ".join(f"{name} to level {level}" for name, level in refined.steps),
    )
    yield from ((f"{name} of the tree", part) for name, part in parts.items() if name != "steps")


def _spent(certificate: Certificate) -> Html | None:
    """What ε was spent on, part by part."""
    parts = [
        (words, certificate.derived[name])
        for name, words in PARTS.items()
        if certificate.derived.get(name) is not None
    ]
    if not parts:
        return None
    rows = [[words, str(value), _decimal(str(value))] for words, value in parts]
    used = rows_of_each(certificate)
    each = f", for each of the {used} rows that a person may have" if used > 1 else ""
    return table(["what it pays for", "ε", "about"], rows, caption=f"How ε was spent{each}")


def _decimal(epsilon: str) -> str:
    return f"{float(Epsilon.of(epsilon)):.4g}"


# Checking


def checking(shown: Published) -> Html:
    """How to check a release, and what the check found."""
    verdict, certificate = shown.verification, shown.certificate
    names = ["certificate.json", str((certificate.file or {}).get("name", "release.csv"))]
    command = tag("pre", tag("code", f"shoal verify {' '.join(names)}"), tabindex=0)
    how = tag(
        "p",
        "Anyone can check the files, in the folder where they are, without any secret. The check "
        "shares no code with what made the release:",
    )
    if verdict is None:
        return section("How to check this release", how, command, name="check")
    if verdict:
        faults = tag("ul", *(tag("li", fault, cls="alarm") for fault in verdict))
        said = tag("p", "For this report it was run, and found:")
        title = "How to check this release: the files do not keep what the certificate says"
        return section(title, how, command, said, faults, name="check")
    said = tag(
        "p",
        "For this report it was run: everything that the files can show holds. The files cannot "
        "show the following, for which you have to trust whoever made the release:",
    )
    ends = tag("ul", *(tag("li", line) for line in verdict.unchecked))
    trust = tag(
        "p",
        "A digest is not a signature: get the files from someone you trust.",
        cls="note",
    )
    title = "How to check this release: the files agree with the certificate"
    return section(title, how, command, said, ends, trust, name="check")


# Files


def _files(certificate: Certificate) -> Html:
    paper = sha256(certificate.to_json().encode()).hexdigest()
    rows: list[list[object]] = [["certificate.json", tag("code", paper)]]
    file = certificate.file or {}
    for one in (file, *file.get("further", {}).values()):
        rows += _file_rows(one)
    cited = (
        f"Shoal release {certificate.number}, made with {certificate.method} of Shoal "
        f"{certificate.version}; SHA-256 of the certificate {paper}."
    )
    recipe = "No recipe is named: the release was made by a program."
    if certificate.recipe:
        recipe = (
            "The recipe that was followed stays with the owner. Its SHA-256 is "
            f"{certificate.recipe}: by that the owner can show it later."
        )
    return section(
        f"How to cite this release: its number is {certificate.number}",
        tag("p", "The number was drawn at random and says nothing. To cite the release:"),
        tag("blockquote", cited),
        table(["file", "SHA-256"], rows, numbers=[], caption="The files of the release"),
        tag("p", recipe),
        _hierarchies(certificate),
        name="files",
    )


def _file_rows(file: Mapping[str, Any]) -> Iterator[list[object]]:
    if not file:
        return
    name, digests = str(file["name"]), file["sha256"]
    if isinstance(digests, str):
        yield [name, tag("code", digests)]
    elif len(digests) > MANY:
        yield [name, f"{plural(len(digests), 'part')}, whose digests are in the certificate"]
    else:
        yield [name, together(*(tag("div", tag("code", digest)) for digest in digests))]


def _hierarchies(certificate: Certificate) -> Html | None:
    """By which hierarchies released texts are read."""
    rows = [
        [str(column["name"]), tag("code", str(column["hierarchy_sha256"]))]
        for column in certificate.columns
        if column.get("hierarchy_sha256")
    ]
    if not rows:
        return None
    caption = "The hierarchies that say what released texts stand for, by their digests"
    shown = table(["column", "SHA-256 of its hierarchy"], rows, numbers=[], caption=caption)
    return tag("details", tag("summary", "By which hierarchies values are to be read"), shown)

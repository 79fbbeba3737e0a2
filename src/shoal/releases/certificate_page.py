"""A certificate as a page of HTML: what it says, and nothing else.

Uses `look`; the command line, the cards of releases and reports use it.
"""

from collections.abc import Sequence

from shoal.look import Html, Zone, page, section, table, tag
from shoal.releases.certificate import Certificate

__all__ = ["certificate_page", "zone_of_release"]


def certificate_page(certificate: Certificate) -> str:
    """A whole page: the sections of the certificate for people, and the released columns."""
    number = tag("code", certificate.number)
    made = tag("p", "Release ", number, f", made by Shoal {certificate.version}.")
    claimed = tag(
        "p",
        "This is what the certificate says. Whether the released files keep it was not checked for "
        "this page: ",
        tag("code", "shoal verify"),
        " does that.",
    )
    warning = None
    if not certificate.private:
        words = "Not private: the draws came from a seed. This release is a test."
        warning = tag("p", tag("strong", words))
    sections = [section(title, _listed(lines)) for title, lines in certificate.sections() if lines]
    rows = [[column["name"], column["role"], column["type"]] for column in certificate.columns]
    columns = table(["column", "role", "type"], rows, caption="Released columns", numbers=())
    return page(
        f"Certificate of a release by {certificate.method}",
        made,
        claimed,
        warning,
        *sections,
        section("Columns", columns),
        zone=zone_of_release(certificate),
    )


def zone_of_release(certificate: Certificate) -> Zone:
    """A release whose draws could be repeated promises nothing, so it stays with its owner."""
    return Zone.RELEASED if certificate.private else Zone.OWNER


def _listed(lines: Sequence[str]) -> Html:
    """One entry as a paragraph, several as a list."""
    if len(lines) == 1:
        return tag("p", lines[0])
    return tag("ul", *(tag("li", line.removeprefix("- ")) for line in lines))

"""Pages: one file, no script, nothing from elsewhere, and the zone in words."""

import re

import pytest

from shoal.look.markup import tag
from shoal.look.pages import page, section
from shoal.look.zoned import Zone


@pytest.mark.parametrize("zone", Zone)
def test_a_page_says_its_zone_in_its_title_and_at_both_ends(zone: Zone) -> None:
    shown = page("Title", tag("p", "text"), zone=zone)
    assert shown.count(zone.words) == 4  # title, head, foot, printed sheets
    assert f"<title>Title – {zone.words}</title>" in shown
    [other] = set(Zone) - {zone}
    assert other.words not in shown


def test_a_page_needs_no_script_and_no_network() -> None:
    shown = page("Title", zone=Zone.OWNER)
    assert "<script" not in shown
    assert not re.search(r"(src|href)=|url\(|@import|https?:", shown)


def test_a_title_is_text() -> None:
    assert "<b>" not in page("<b>", section("<b>"), zone=Zone.RELEASED)


def test_a_section_of_another_zone_is_marked() -> None:
    shown = section("Risks", zone=Zone.OWNER)
    assert Zone.OWNER.short in shown
    assert Zone.OWNER.short not in section("Risks")

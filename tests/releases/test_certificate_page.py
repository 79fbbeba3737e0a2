"""A certificate as a page: all that it says, and nothing from elsewhere."""

from dataclasses import replace
from html import unescape

import shoal
from shoal.releases.certificate_page import certificate_page
from shoal.studies.promised import in_order


def certificate() -> shoal.Certificate:
    release = shoal.SafePub(2, "1e-4").release(shoal.demo.table())
    return replace(release.certificate, number="12ab")


def test_a_page_says_all_that_the_certificate_says() -> None:
    paper = certificate()
    page = unescape(certificate_page(paper))
    assert "Certificate of a release by safepub" in page
    assert "12ab" in page
    for title, lines in paper.sections():
        for line in lines:
            assert title in page
            assert line.removeprefix("- ") in page
    for column in paper.columns:
        assert column["name"] in page
    assert "May be published" in page
    assert "Whether the released files keep it was not checked for this page" in page


def test_a_page_is_a_function_of_the_certificate() -> None:
    paper = certificate()
    again = in_order(shoal.Certificate.from_json(paper.to_json()))
    assert certificate_page(again) == certificate_page(paper)
    assert str(again) == str(paper)


def test_a_test_release_says_that_nothing_is_promised() -> None:
    words = "Not private: the draws came from a seed"
    assert words in certificate_page(replace(certificate(), private=False))
    assert words not in certificate_page(certificate())


def test_a_name_is_not_markup() -> None:
    column = {"name": "<script>alert(1)</script>", "role": "quasi", "type": "text"}
    page = certificate_page(replace(certificate(), columns=[column]))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page

"""HTML from parts: what is not HTML is escaped."""

from shoal.look.markup import Html, entries, table, tag, together


def test_text_is_escaped_and_html_is_not() -> None:
    assert tag("p", "<b>", Html("<i>x</i>")) == "<p>&lt;b&gt;<i>x</i></p>"


def test_an_attribute_cannot_end_its_quotes() -> None:
    assert tag("p", title='" onclick="x') == '<p title="&quot; onclick=&quot;x"></p>'


def test_no_text_turns_the_direction_of_what_follows_it() -> None:
    shown = tag("p", "a\u202eb\x00", title="\u2067c")
    assert shown == '<p title="\\u2067c">a\\u202eb\\x00</p>'
    ordinary = "é\t日本\n\N{NO-BREAK SPACE}ש"
    assert tag("p", ordinary) == f"<p>{ordinary}</p>"


def test_attributes_that_are_absent_are_left_out() -> None:
    assert tag("details", open=True, id=None, hidden=False) == "<details open></details>"


def test_what_is_put_together_is_html() -> None:
    assert tag("p", together("a&b", None, Html("<br>"))) == "<p>a&amp;b<br></p>"


def test_cells_and_captions_are_escaped() -> None:
    shown = table(["<a>", "<b>"], [["<c>", "<d>"]], caption="<e>")
    assert not any(f"<{letter}>" in shown for letter in "abcde")
    assert 'aria-label="&lt;e&gt;"' in shown


def test_names_and_values_are_escaped() -> None:
    assert "&lt;k&gt;" in entries({"<k>": "<v>"})
    assert "<v>" not in entries([("<k>", "<v>")])

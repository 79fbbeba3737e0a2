"""JSON lines: one record per line, and clear errors for everything else."""

from pathlib import Path

import pytest

import shoal
from shoal.errors import ShoalError


def test_records_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_bytes(
        b'\xef\xbb\xbf{"age":39,"ill":"flu","paid":1}\r\n{"ill":null,"age":40,"paid":1.5}\n\n'
        b'{"age":39,"ok":true,"paid":2,"id":18446744073709551617}\n'
    )
    table = shoal.read(path)
    assert table.keys("age") == (39, 40)
    assert table.labels("ill") == ("flu", "")
    assert table.keys("paid") == (1.0, 1.5, 2.0)
    assert table.labels("ok") == ("true", "")
    assert table.labels("id") == ("18446744073709551617", "")
    assert table.guessed == set(table.names)


@pytest.mark.parametrize(
    "content",
    ['{"a":1\n', '{"a":1}{"a":2}\n', '{"a":NaN}\n', '{"a":[1,2]}\n', '{"a":{"b":"secret"}}\n'],
)
def test_what_is_not_a_record_is_refused_without_a_value(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(ShoalError) as caught:
        shoal.read(tmp_path / "t.jsonl")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a":1,"b":2}\n{"a":1,"b":2,"a":3}\n', "the same key twice"),
        ('{"a":"\\ud83d"}\n', "half of a character"),
        ('{"a":9007199254740993}\n{"a":0.5}\n', "'a' has fractions, and whole numbers"),
    ],
)
def test_nothing_is_read_that_a_record_does_not_say(
    content: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "t.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(ShoalError, match=said) as caught:
        shoal.read(tmp_path / "t.jsonl")
    assert "900719" not in str(caught.value)


def test_large_numbers_and_pairs_of_escapes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a":1e300,"b":"\\ud83d\\ude00"}\n\r\n{"a":0.5,"b":"\\\\ud83d"}\n')
    table = shoal.read(path)
    assert table.keys("a") == (0.5, 1e300)
    assert set(table.labels("b")) == {"😀", "\\ud83d"}

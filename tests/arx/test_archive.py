"""Archives of any kind: a project's parts, or a clear error."""

import io
import zipfile
from pathlib import Path

import pytest

from shoal.arx import read
from shoal.arx.archive import Archive, decoded
from shoal.errors import FileError
from tests.arx.streams import SECRET, people


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.deid"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("data/input.csv", "w", force_zip64=True) as part,
    ):
        for _ in range(70):
            part.write(bytes(1 << 20))
    with Archive(path) as archive_of_ours, pytest.raises(FileError, match="expands to 73,400,320"):
        archive_of_ours.part("data/input.csv")


@pytest.mark.parametrize("part", ["input/config.dat", "input/config.xml"])
def test_parts_that_are_parsed_are_no_bombs_either(tmp_path: Path, part: str) -> None:
    made = people(parts={part: bytes(5 << 20)})
    with pytest.raises(FileError, match="expands to 5,242,880"):
        read(made.write(tmp_path / "people.deid"))


def test_a_part_has_no_million_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.arx.archive._ELEMENTS", 1000)
    made = people(parts={"input/config.xml": b"<config>" + b"<a/>" * 1000 + b"</config>"})
    with pytest.raises(FileError, match="not XML of ARX"):
        read(made.write(tmp_path / "people.deid"))


def test_a_size_that_is_not_true_is_noticed(tmp_path: Path) -> None:
    path = people().write(tmp_path / "people.deid")
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("data/input.csv").file_size
    forged = content.replace(size.to_bytes(4, "little"), (size - 9).to_bytes(4, "little"))
    path.write_bytes(forged)
    with pytest.raises(FileError, match="damaged"):
        read(path)


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    path = people().write(tmp_path / "people.deid")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("project.xml", "<project/>")
    with pytest.raises(FileError, match="parts that no project has"):
        read(path)


@pytest.mark.parametrize(
    "xml",
    [
        '<!DOCTYPE c [<!ENTITY a "aaaa">]><config>&a;</config>',
        '<!DOCTYPE c SYSTEM "file:///etc/passwd"><config/>',
        "<config>" + "<a>" * 100 + "</a>" * 100 + "</config>",
        "<config>",
        "",
        "no xml",
        "<config>&undefined;</config>",
    ],
)
def test_xml_that_arx_never_writes_is_refused(tmp_path: Path, xml: str) -> None:
    made = people(parts={"input/config.xml": xml.encode()})
    with pytest.raises(FileError, match="not XML of ARX"):
        read(made.write(tmp_path / "people.deid"))


@pytest.mark.parametrize("part", ["project.xml", "input/config.xml", "data/input.csv"])
def test_a_part_that_is_not_there_is_named(tmp_path: Path, part: str) -> None:
    with pytest.raises(FileError, match=part):
        read(people(parts={part: None}).write(tmp_path / "people.deid"))


def test_no_file_and_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        read(tmp_path / "absent.deid")
    with pytest.raises(FileError):
        read(tmp_path)
    (tmp_path / "text.deid").write_text(SECRET)
    with pytest.raises(FileError, match="not a whole zip"):
        read(tmp_path / "text.deid")


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    whole = people().write(tmp_path / "people.deid").read_bytes()
    for tenth in range(10):
        (tmp_path / "part.deid").write_bytes(whole[: len(whole) * tenth // 10])
        with pytest.raises(FileError) as refused:
            read(tmp_path / "part.deid")
        assert SECRET not in str(refused.value)


def test_encrypted_parts_are_refused(tmp_path: Path) -> None:
    content = bytearray(people().write(tmp_path / "people.deid").read_bytes())
    for head in (b"PK\x03\x04", b"PK\x01\x02"):
        at = content.find(head)
        while at >= 0:
            content[at + (6 if head == b"PK\x03\x04" else 8)] |= 1
            at = content.find(head, at + 4)
    (tmp_path / "secret.deid").write_bytes(bytes(content))
    with pytest.raises(FileError, match="damaged"):
        read(tmp_path / "secret.deid")


def test_text_is_utf_8_or_what_windows_has() -> None:
    assert decoded("ä".encode()) == decoded("ä".encode("cp1252")) == "ä"
    assert io.StringIO(decoded("\ufeffa".encode())).read() == "a"

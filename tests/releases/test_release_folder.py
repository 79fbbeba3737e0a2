"""Releases as folders: whole or not there, for whoever looks and whenever the writer is killed;
nothing else is touched."""

import contextlib
import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.chance import Seeded
from shoal.data import disk, files
from shoal.data.hierarchy.build import suppress
from shoal.data.table_files import TableFiles
from shoal.errors import FileError, ParameterError
from shoal.releases import release as room
from shoal.releases.release import Release, certificate_at, earlier_files, require_place
from shoal.releases.verification import verify

TRACED = (disk.__file__, room.__file__)
Files = dict[str, bytes] | None


def made(ill: str = "flu") -> Release:
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [ill, "gout", ill, ill]})
    table = shoal.table(
        frame, quasi=["sex"], sensitive=["ill"], hierarchies={"sex": suppress(["f", "m"])}
    )
    return shoal.Optimal((shoal.KAnonymity(2),)).release(table, Seeded(1))


OLD, NEW = made("flu"), replace(made("cold"), further={"more": pl.DataFrame({"a": [1]})})


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are written without Polars, whose threads a fork does not have."""
    texts = {id(release.table): release.table.write_csv().encode() for release in (OLD, NEW)}
    texts |= {id(frame): frame.write_csv().encode() for frame in NEW.further.values()}

    def serialise(frame: Any, file: Any, format: str, **options: Any) -> None:
        content = texts[id(frame)]
        file.write(content[:5])
        file.write(content[5:])

    monkeypatch.setattr(files, "serialise", serialise)


def seen(folder: Path) -> Files:
    """What a reader finds in a folder."""
    try:
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    except FileNotFoundError:
        return None


def hidden(parent: Path) -> list[str]:
    return [path.name for path in parent.iterdir() if path.name.startswith(".")]


def started(folder: Path, before: str) -> Files:
    """A folder as it was before a release is written into it."""
    if before == "empty":
        folder.mkdir()
    elif before == "earlier":
        OLD.write(folder)
    return seen(folder)


PLACING = ("write", "placing", "_take_place", "_remove")  # where a release comes to be


def traced(step: Callable[[], None], names: tuple[str, ...] = ()) -> None:
    """Write a release, and do something before every line of Shoal that does so, or of some
    functions."""

    def trace(frame: Any, event: str, argument: object) -> Any:
        code = frame.f_code
        if code.co_filename not in TRACED or (names and code.co_name not in names):
            return None
        if event == "line":
            step()
        return trace

    sys.settrace(trace)
    try:
        NEW.write(Path("out"))
    finally:
        sys.settrace(None)


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def no_exchange(one: Path, other: Path) -> bool:
    return False


SYSTEMS = pytest.mark.parametrize("exchange", [True, False])
BEFORE = pytest.mark.parametrize("before", ["absent", "empty", "earlier"])


@pytest.mark.usefixtures("plain")
@SYSTEMS
@BEFORE
def test_a_reader_sees_the_earlier_release_or_the_new_one_whole(
    out: Path, monkeypatch: pytest.MonkeyPatch, before: str, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(disk, "_exchange", no_exchange)
    views = _views(out, before)
    assert [sorted(view) for view in views if view][-1] == [
        "certificate.json",
        "more.csv",
        "release.csv",
    ]
    gap = [] if exchange or before != "earlier" else [None]  # there may be none, never a mixture
    assert len(views) == 2 + len(gap)
    assert views[1:-1] == gap
    assert not hidden(out.parent)


def _views(out: Path, before: str) -> list[Files]:
    """All that a reader may see while a release is written, in order."""
    views = [started(out, before)]

    def look() -> None:
        if (now := seen(out)) != views[-1]:
            views.append(now)

    traced(look)
    look()
    return views


@pytest.mark.usefixtures("plain")
def test_a_twin_that_writes_into_the_folder_is_caught(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def careless(folder: Path, replaceable: object) -> Iterator[Path]:
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        yield folder

    monkeypatch.setattr(room, "placing", careless)
    assert len(_views(out, "earlier")) > 3


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("names", [PLACING, pytest.param((), marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("before", "exchange"),
    [("absent", True), ("empty", True), ("earlier", True), ("earlier", False)],
)
def test_a_writer_that_is_killed_leaves_all_or_nothing(
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    exchange: bool,
    names: tuple[str, ...],
) -> None:
    if not exchange:
        monkeypatch.setattr(disk, "_exchange", no_exchange)
    earlier = started(out, before)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    traced(count, names)
    whole = seen(out)
    assert whole
    fates = []
    for last in range(0, steps, 3 if names else 1):
        _emptied(out)
        if before == "empty":
            out.mkdir()
        elif before == "earlier":
            OLD.write(out)
        left = _killed(last, names)
        assert os.WIFSIGNALED(left)
        found = seen(out)
        assert found in (earlier, whole) or (found is None and not exchange)
        fates.append(found == whole)
        NEW.write(out)  # and whatever is left is removed by the next one
        assert not hidden(out.parent), hidden(out.parent)
    assert not fates[0]
    assert fates[-1]
    assert Release.read(out).table.height == 4


def _emptied(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def _killed(last: int, names: tuple[str, ...]) -> int:
    """How a fork ended that writes a release and is killed before a line."""
    child = os.fork()
    if not child:
        left = last

        def countdown() -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        try:
            traced(countdown, names)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


def test_linux_has_the_exchange(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("another system")
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    assert disk._exchange(tmp_path / "a", tmp_path / "b")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    with pytest.raises(FileNotFoundError):
        disk._exchange(tmp_path / "a", tmp_path / "absent")


def test_what_a_living_writer_holds_is_left_alone(out: Path) -> None:
    with disk.placing(out, earlier_files) as part:
        (part / "half").write_text("h")
        OLD.write(out)
        assert (part / "half").is_file()
        assert hidden(out.parent) == [part.name]
        (part / "half").unlink()
    assert not hidden(out.parent)


def test_a_release_that_is_replaced_while_it_is_read_is_not_mixed(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    OLD.write(out)
    read = TableFiles.table
    often: list[Any] = []

    def slowly(*given: Any) -> Any:
        found = read(*given)
        if not often:
            often.append(given)
            made("cold").write(out)
        return found

    monkeypatch.setattr(TableFiles, "table", slowly)
    found = Release.read(out)
    paper = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    assert found.certificate.number == paper["number"]
    assert "cold" in found.table["ill"].to_list()


# What is never touched


@pytest.mark.parametrize(
    ("name", "said"),
    [("release.csv", "belongs to no release"), ("people.csv", "belongs to no release")],
)
def test_a_table_of_somebody_is_not_taken_for_an_earlier_release(
    out: Path, name: str, said: str
) -> None:
    out.mkdir()
    (out / name).write_text("private")
    with pytest.raises(FileError, match=said):
        OLD.write(out)
    OLD.write(out / "new")
    (out / "new" / name).write_text("private")
    if name != "release.csv":  # which the certificate beside it names
        with pytest.raises(FileError, match=said):
            OLD.write(out / "new")
    assert (out / name).read_text() == "private"


def test_links_folders_and_files_are_no_place_for_a_release(out: Path) -> None:
    OLD.write(out)
    before = seen(out)
    Path("link").symlink_to(out)
    Path("dangling").symlink_to("absent")
    for name in ("link", "dangling"):
        with pytest.raises(FileError, match="is a symbolic link"):
            OLD.write(name)
    (out / "release.csv").rename("elsewhere.csv")
    (out / "release.csv").symlink_to("../elsewhere.csv")
    with pytest.raises(FileError, match=r"'release\.csv', which is not a plain file"):
        OLD.write(out)
    assert Path("elsewhere.csv").read_bytes() == (before or {})["release.csv"]
    Path("parent").symlink_to(".")
    NEW.write("parent/new")  # a folder above it may be a link
    assert Path("new/release.csv").is_file()
    with pytest.raises(FileError, match="the current folder"):
        OLD.write(".")


def test_a_folder_keeps_its_permissions(out: Path) -> None:
    out.mkdir(mode=0o700)
    for release in (OLD, NEW):
        release.write(out)
        assert stat.S_IMODE(out.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "inputs", ["out/people.csv", "out/sub/people.csv", "link/people.csv", "hard"]
)
def test_a_folder_with_an_input_is_refused_by_whatever_name(out: Path, inputs: str) -> None:
    (out / "sub").mkdir(parents=True)
    Path("link").symlink_to("out")
    (out / "people.csv").touch()
    if inputs == "hard":
        Path("hard").symlink_to("out/people.csv")
    with pytest.raises(FileError, match="lies in out and would be published along"):
        require_place("out", [Path(inputs)])


def test_names_that_differ_by_case_only_are_one_file(tmp_path: Path) -> None:
    for name in ("People.csv", "cafe\u0301.csv"):
        (tmp_path / name).touch()
    assert disk.same(tmp_path / "People.csv", tmp_path / "people.CSV")
    assert disk.same(tmp_path / "caf\u00e9.csv", tmp_path / "cafe\u0301.csv")
    assert not disk.same(tmp_path / "People.csv", tmp_path / "people2.csv")
    with disk.guarding():
        disk.reading(tmp_path / "People.csv")
        with pytest.raises(FileError, match="is what the command reads"):
            shoal.write(pl.DataFrame({"a": [1]}), tmp_path / "people.csv")
    shoal.write(
        pl.DataFrame({"a": [1]}), tmp_path / "people.csv"
    )  # of which a command knows nothing


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_a_certificate_that_might_never_end_is_not_read(out: Path, what: str) -> None:
    made().write(out)
    paper = out / "certificate.json"
    paper.unlink()
    if what == "pipe":
        os.mkfifo(paper)
    elif what == "device":
        paper.symlink_to("/dev/zero")
    else:
        paper.mkdir()
    with pytest.raises(FileError, match="has no certificate"):
        Release.read(out)
    with pytest.raises(FileError, match="not a plain file"):
        certificate_at(out)


# Cells that spreadsheets run


@pytest.mark.parametrize("ill", ["=1+1", "-9 to 0", "'=1+1", "@x"])
def test_a_neutralised_release_verifies_and_reads_back_as_it_was(out: Path, ill: str) -> None:
    release = replace(made(ill), certificate=replace(made(ill).certificate, private=True))
    path = release.write(out, neutralise=True)
    assert files.formulas(pl.read_csv(path)) == []
    assert verify(out / "certificate.json", path) == []
    assert Release.read(out).table.equals(release.table)
    again = Release.read(out).write(out)  # and back again, without releasing anything
    assert verify(out / "certificate.json", again) == []
    assert pl.read_csv(again)["ill"].to_list() == release.table["ill"].to_list()
    with pytest.raises(ParameterError, match="`neutralise` is for 'csv'"):
        release.write(out, "parquet", neutralise=True)

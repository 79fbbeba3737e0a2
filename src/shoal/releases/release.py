"""`Release`: a released table with its certificate, written into a folder of its own and read back."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from shoal.arguments import typed
from shoal.data.disk import placing, reading, refuse_inputs_in
from shoal.errors import FileError, ShoalError
from shoal.releases.certificate import Certificate
from shoal.releases.facts import Entered, Facts

__all__ = ["CERTIFICATE", "Release", "certificate_of", "earlier_files", "require_place"]


CERTIFICATE = "certificate.json"
"""The file beside a released table."""
_NO_RELEASE = "{} has no certificate.json with its table; give the directory of a release"
_READS = 5  # of a folder that is replaced meanwhile; each time the writer would have to come in between again


@typed
@dataclass(frozen=True, eq=False)
class Release:
    """A released table with its certificate, and what only the owner should see.

    table: a dataframe of the kind that came in
    facts: what the method learnt about the input on its way; never written
    further: the other tables that some methods release, by their names
    entry: where a ledger has this release; never written
    """

    table: Any
    certificate: Certificate
    facts: Facts = field(default_factory=Facts)
    further: Mapping[str, Any] = field(default_factory=dict)
    entry: Entered | None = None

    @property
    def suppressed(self) -> int:
        """How many records were suppressed; owner only."""
        return self.facts.suppressed

    def __repr__(self) -> str:
        """What the released files show, and no more: a notebook may be passed on."""
        tables = [self.table, *self.further.values()]
        shapes = " and ".join(f"{one.shape[0]:,} rows × {one.shape[1]} columns" for one in tables)
        paper = self.certificate
        return f"<shoal.Release {paper.number} by {paper.method}: {shapes}>"

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> "Release":
        """The release that was written into a directory: what its files show, and nothing about the input."""
        folder = Path(directory)
        for _ in range(_READS):
            before = _content(folder)
            try:
                certificate = Certificate.from_json(before.decode("utf-8"))
                frames = _frames(folder, certificate)
            except (OSError, ValueError, KeyError, TypeError, AttributeError, ShoalError) as error:
                if _content(folder) != before:
                    continue  # another release took its place meanwhile
                if isinstance(error, ShoalError):
                    raise
                raise FileError(_NO_RELEASE.format(folder)) from None
            if _content(folder) == before:
                break
        else:
            raise FileError(f"{folder} is being written again and again; read it later")
        return cls(frames.pop(""), certificate, further=frames)

    def write(
        self,
        directory: str | os.PathLike[str],
        format: str = "csv",
        *,
        neutralise: bool = False,
    ) -> Path:
        """Write release.<format>, further tables by their names, and certificate.json into a folder of their own.

        The folder is new or empty, or has an earlier release, which is replaced. It appears at once, whole, also where the
        process is killed. With `neutralise`, cells of a CSV file that a spreadsheet would run as formulas are written so
        that it does not. Gives the path of the released file.
        """
        from shoal.data.files import Format, serialise

        folder = Path(directory)
        tables = {"release": self.table, **self.further}
        told = []
        try:
            with placing(folder, earlier_files) as part:
                for called, frame in tables.items():
                    target = part / f"{called}.{format}"
                    with open(target, "x+b") as file:
                        serialise(frame, file, cast(Format, format), neutralise=neutralise)
                        file.flush()
                        os.fsync(file.fileno())
                        file.seek(0)
                        digest = hashlib.file_digest(file, "sha256").hexdigest()
                    told.append({"name": target.name, "sha256": digest})
                facts: dict[str, Any] = {**told[0], "format": format}
                if neutralise:
                    facts["neutralised"] = True
                if self.further:
                    facts["further"] = dict(zip(self.further, told[1:], strict=True))
                with open(part / CERTIFICATE, "xb") as paper:
                    paper.write(replace(self.certificate, file=facts).to_json().encode())
                    paper.flush()
                    os.fsync(paper.fileno())
        except OSError as error:
            raise FileError(
                f"cannot write {folder}: {error.strerror}; give a new folder, in one you may write to"
            ) from None
        return folder / str(told[0]["name"])


def _content(folder: Path) -> bytes:
    try:
        return (folder / CERTIFICATE).read_bytes()
    except OSError:
        raise FileError(_NO_RELEASE.format(folder)) from None


def _frames(folder: Path, certificate: Certificate) -> dict[str, Any]:
    """The tables of a release, the first under no name."""
    from shoal.data.files import read

    file = certificate.file or {}
    further = {name: {**file, **own} for name, own in file.get("further", {}).items()}
    frames = {}
    for called, own in {"": file, **further}.items():
        target = folder / Path(own["name"]).name
        reading(target, folder / CERTIFICATE)
        with open(target, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != own["sha256"]:
            raise FileError(
                f"{target} is not the table that its certificate was written for: their digests differ"
            )
        options: dict[str, Any] = {}
        if own["format"] == "csv":
            neutralised = file.get("neutralised") is True
            options = {"separator": ",", "quote": '"', "encoding": "utf-8"}
            options |= {"neutralised": neutralised}
        frames[called] = read(target, **options).frame.to_native()
    return frames


def require_place(directory: str | os.PathLike[str], inputs: Iterable[Path] = ()) -> list[Path]:
    """The files of an earlier release in a folder, if there are any; FileError if no release can be written there.

    It must hold nothing else, and none of the `inputs` that the release is made from.
    """
    folder = Path(directory)
    refuse_inputs_in(folder, inputs)
    try:
        found = earlier_files(folder)
    except OSError as error:  # such as a name that is too long
        raise FileError(f"cannot write {folder}: {error.strerror}; give another folder") from None
    way = [folder.absolute(), *folder.absolute().parents]
    above = next(path for path in way[1:] if os.path.lexists(path))
    for needed in (above, *way[:1]) if os.path.lexists(folder) else (above,):
        if not needed.is_dir() or not os.access(needed, os.W_OK | os.X_OK):
            raise FileError(
                f"cannot write {folder}: you may not write to {needed}; give a folder elsewhere"
            )
    return found


def earlier_files(folder: Path) -> list[Path]:
    """The files of an earlier release in a folder, none if it is new or empty; FileError if it holds anything else."""
    if folder.is_symlink():
        raise FileError(f"{folder} is a symbolic link; give the folder itself")
    if not os.path.lexists(folder):
        return []
    if not folder.is_dir():
        raise FileError(f"{folder} is a file; give the name of a folder")
    if os.path.ismount(folder) or _current(folder):
        raise FileError(
            f"{folder} cannot be replaced as a whole: something is mounted there, or it is the current folder; "
            "give a new folder inside it"
        )
    there = sorted(folder.iterdir())
    if not there:
        return []
    if strange := [path for path in there if path.is_symlink() or not path.is_file()]:
        raise FileError(
            f"{folder} holds {strange[0].name!r}, which is no plain file; give a new or empty folder"
        )
    try:
        paper = Certificate.from_json((folder / CERTIFICATE).read_bytes().decode("utf-8"))
        own = paper.file or {}
        names = {
            CERTIFICATE,
            own["name"],
            *(one["name"] for one in own.get("further", {}).values()),
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ShoalError):
        names = set()
    if others := [path.name for path in there if path.name not in names]:
        raise FileError(
            f"{folder} holds {others[0]!r}, which belongs to no release there; give a new or empty folder"
        )
    return there


def _current(folder: Path) -> bool:
    try:
        return os.path.samefile(folder, os.getcwd())
    except OSError:  # it was deleted
        return False


def certificate_of(path: str | os.PathLike[str]) -> Certificate | None:
    """The certificate that lies beside a released file and names it, if there is one."""
    target = Path(path)
    try:
        found = Certificate.from_json((target.parent / "certificate.json").read_text("utf-8"))
    except (OSError, UnicodeDecodeError, FileError):
        return None
    return found if (found.file or {}).get("name") == target.name else None

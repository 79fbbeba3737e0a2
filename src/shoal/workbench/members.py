"""Members of a team at a workbench: who has a key, and what each role may do.

Owners do everything; reviewers look at projects and approve releases; analysts only ask. Keys are
shown once: a file beside the projects keeps their digests. Uses the keys of `log`; `access` and
the command line use it.
"""

import json
import re
from dataclasses import asdict, dataclass
from hmac import compare_digest
from pathlib import Path

from shoal.data.disk import replacing
from shoal.errors import FileError, ParameterError, listed
from shoal.log.keys import digest, new_key

__all__ = ["NOBODY", "OWNER", "ROLES", "Member", "Members", "may"]

ROLES = ("owner", "reviewer", "analyst")

_FILE = Path(".workbench") / "members.json"

_EVERYONE = re.compile(r"/(language|leave|p/[^/]+/(steps)?)?")
_ANALYST = re.compile(r"/p/[^/]+/ask(/.*)?")
_REVIEWER = re.compile(
    r"/start|/p/[^/]+/(card|data|roles(/(risk|people))?|hierarchies|risk(/[a-z]+)?|promise(/[a-z]+)?"
    r"|run(/(queue|candidates))?|explore(/(picture|map|map/picture))?|release(/.+)?|jobs/[^/]+"
    r"|approval|looking(/all)?|ask)"
)
"""What reviewers look at: no parts with single rows, values or people, as they judge a release.

What is not named here is refused, so that a new screen is not shown to them by oversight.
"""
_REVIEWER_DOES = re.compile(r"/p/[^/]+/approval/(approve|decline)")


@dataclass(frozen=True)
class Member:
    """Somebody at the workbench."""

    name: str
    role: str

    @property
    def is_owner(self) -> bool:
        """Whether they may see what is owner only, and decide."""
        return self.role == "owner"


NOBODY = Member("", "")
"""Somebody who has not come in yet."""

OWNER = Member("owner", "owner")
"""Whoever has the printed address: the person who started the workbench."""


def may(member: Member, method: str, path: str) -> bool:
    """Whether somebody's role allows a request."""
    if member.is_owner or _EVERYONE.fullmatch(path):
        return True
    if member.role == "analyst":
        return bool(_ANALYST.fullmatch(path))
    if member.role != "reviewer":
        return False
    looks = method in ("GET", "HEAD") and _REVIEWER.fullmatch(path)
    return bool(looks or (method == "POST" and _REVIEWER_DOES.fullmatch(path)))


@dataclass(frozen=True)
class _StoredMember:
    """What is kept of a member's key."""

    name: str
    role: str
    digest: str


class Members:
    """The members of the team that works in a folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / _FILE

    def all(self) -> list[Member]:
        """Everyone who has a key."""
        return [Member(kept.name, kept.role) for kept in self._kept()]

    def add(self, name: str, role: str) -> str:
        """A new key for somebody, which is shown only now."""
        if role not in ROLES:
            raise ParameterError(
                "is unknown", f"it takes {listed(ROLES)}", option="role", given=repr(role)
            )
        if not (0 < len(name) <= 100 and name.isprintable()):
            raise ParameterError("a name is a printable text of up to 100 characters")
        kept = self._kept()
        if name in [one.name for one in kept]:
            raise ParameterError(
                f"{name!r} has a key already", "remove it first, or take another name"
            )
        key = new_key()
        self._keep([*kept, _StoredMember(name, role, digest(key))])
        return key

    def remove(self, name: str) -> None:
        """Somebody's key is refused from now on; ParameterError if they have none."""
        kept = self._kept()
        left = [one for one in kept if one.name != name]
        if len(left) == len(kept):
            raise ParameterError(f"nobody called {name!r} has a key")
        self._keep(left)

    def find(self, known: str) -> Member | None:
        """Whose key has this digest; all are compared, each in constant time."""
        match = None
        for kept in self._kept():
            if compare_digest(kept.digest, known):
                match = Member(kept.name, kept.role)
        return match

    def _kept(self) -> list[_StoredMember]:
        try:
            written = json.loads(self.path.read_text("utf-8"))
            return [_StoredMember(**one) for one in written]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError):
            raise FileError("the list of members cannot be read", where=str(self.path)) from None

    def _keep(self, kept: list[_StoredMember]) -> None:
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        with replacing(self.path) as file:
            file.write(json.dumps([asdict(one) for one in kept], indent=1).encode())
        self.path.chmod(0o600)

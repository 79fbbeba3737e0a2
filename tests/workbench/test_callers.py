"""Another user of the machine does not come in, whatever they know."""

import os
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from shoal.workbench.callers import is_another_user
from tests.workbench.benches import running

CLIENT, SERVER = ("127.0.0.1", 0xD79B), ("127.0.0.1", 0x1F90)
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
ASK = """
import encodings.idna, os, sys, urllib.request, urllib.error
os.setuid(int(sys.argv[3]))  # not before: somebody else may not be able to read Python
asked = urllib.request.Request(sys.argv[1], headers={"Cookie": sys.argv[2]})
try:
    print(urllib.request.urlopen(asked).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


def listed(tmp_path: Path, user: int, ends: str = "0100007F:D79B 0100007F:1F90") -> Path:
    """What Linux says of one connection."""
    path = tmp_path / "tcp"
    line = f"   0: {ends} 01 00000000:00000000 00:00000000 00000000 {user:>5} 0 116880\n"
    path.write_text(HEADER + line, encoding="ascii")
    return path


def test_the_owner_of_the_socket_decides(tmp_path: Path) -> None:
    other = os.getuid() + 1
    assert not is_another_user(CLIENT, SERVER, listed(tmp_path, os.getuid()))
    assert not is_another_user(CLIENT, SERVER, listed(tmp_path, 0))  # root reads everything anyway
    assert is_another_user(CLIENT, SERVER, listed(tmp_path, other))


def test_other_connections_do_not_matter(tmp_path: Path) -> None:
    other = os.getuid() + 1
    for ends in ("0100007F:1F90 0100007F:D79B", "0100007F:D79B 0200007F:1F90"):
        assert not is_another_user(CLIENT, SERVER, listed(tmp_path, other, ends))


def test_where_nobody_can_tell_the_cookie_decides(tmp_path: Path) -> None:
    assert not is_another_user(CLIENT, SERVER, tmp_path / "missing")
    assert not is_another_user(None, SERVER)
    assert not is_another_user(("testclient", 50000), SERVER)


@pytest.mark.skipif(
    not Path("/proc/net/tcp").exists() or os.getuid() != 0,
    reason="needs Linux, and root to become somebody else",
)
def test_a_stolen_cookie_does_not_let_another_user_in(tmp_path: Path) -> None:
    with running(tmp_path) as started:
        cookies = CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
        assert opener.open(started.address).status == 200
        stolen = "; ".join(f"{cookie.name}={cookie.value}" for cookie in cookies)
        command = [sys.executable, "-c", ASK, f"{started.origin}/new", stolen]
        for user, status in (("0", "200"), ("65534", "403")):
            found = subprocess.run([*command, user], capture_output=True, text=True, check=False)
            assert found.stdout.strip() == status, found.stderr

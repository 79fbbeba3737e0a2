"""A private PostgreSQL server for tests: its own folder, a unix socket only, gone afterwards."""

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Server"]


class Server:
    """Started when it is made.

    PostgreSQL refuses to run as root, so that root starts it as someone else.
    """

    def __init__(self) -> None:
        versions = Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")
        found = max(versions, key=lambda path: int(path.parts[-3]), default=None) or shutil.which(
            "pg_ctl"
        )
        if found is None:
            pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
        self.programs = Path(found).parent
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-pg-"))
        self.numbers = itertools.count()
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:
            names = [entry.pw_name for entry in pwd.getpwall()]
            other = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.folder, other.pw_uid, other.pw_gid)
            self.user = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
        self.run(
            "initdb",
            "--no-locale",
            "--encoding=UTF8",
            "--auth=trust",
            "--username=shoal",
            "--no-sync",
            f"{self.folder}/data",
        )
        self.start()

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            **self.user,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

    def start(self, *, fsync: bool = True) -> None:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.folder,
            "fsync": fsync,
            "max_connections": 60,
        }
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self.run(
            "pg_ctl",
            "--wait",
            f"--pgdata={self.folder}/data",
            f"--log={self.folder}/log",
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "fast") -> None:
        """Mode "immediate" is as if the machine had lost its power, as far as a process can."""
        self.run("pg_ctl", "--wait", f"--pgdata={self.folder}/data", f"--mode={mode}", "stop")

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, statement: str) -> Any:
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(self.url("public"), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def url(self, schema: str) -> str:
        return (
            f"postgresql:///postgres?host={self.folder}&user=shoal&options=-csearch_path%3D{schema}"
        )

    def fresh(self) -> str:
        """The URL of a new, empty schema: a database takes half a second to make, and longer to
        recover after a crash.
        """
        name = f"audit{next(self.numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return self.url(name)

"""Running the service: what the system allows, and where it listens."""

import resource
import socket
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import FileError, ParameterError
from shoal.service import serve
from shoal.service.run import allow_files
from tests.audit.salaries import made


def test_more_connections_than_the_system_allows_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 1_024))
    allowed: list[Any] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: allowed.append(limits))
    allow_files(200)
    allow_files(1_000)
    with pytest.raises(ParameterError, match="976 connections fewer"):
        allow_files(2_000)
    assert allowed == [(1_000, 1_024)]


def test_half_of_tls_and_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    audit = made(str(tmp_path / "a"))
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    certificate.write_text("")
    with pytest.raises(ParameterError, match="give both, or neither"):
        serve(audit, certificate=certificate)
    with pytest.raises(FileError, match=r"key\.pem: there is no such file"):
        serve(audit, certificate=certificate, key=key)
    key.write_text("no key")
    with pytest.raises(FileError, match="are not a certificate and its key"):
        serve(audit, certificate=certificate, key=key)


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    opened: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=r"cannot listen on 127\.0\.0\.1"):
            serve(made(str(tmp_path / "a")), port=port, ready=opened.append)
    assert not opened

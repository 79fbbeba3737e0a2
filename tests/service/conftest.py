"""Services that several tests share."""

import ssl
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.audit.salaries import made
from tests.service.serving import EAGER, Service


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(made(str(tmp_path / "people.audit")))


@pytest.fixture
def quick(tmp_path: Path) -> Service:
    """A service with little patience."""
    return Service(made(str(tmp_path / "a")), replace(EAGER, timeout=0.3))


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    folder = tmp_path_factory.mktemp("tls")
    made = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=here", "-days", "2"),
    ]
    try:
        subprocess.run(made, cwd=folder, check=True, capture_output=True)
    except OSError:
        pytest.skip("there is no openssl to make a certificate with")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context

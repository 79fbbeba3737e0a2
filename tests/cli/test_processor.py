"""Where numpy would be slow it is told to do otherwise, and nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli import processor

ZEN_4 = """processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
flags		: fpu sse2 avx2 avx512f avx512dq
"""
FEATURES = "NPY_DISABLE_CPU_FEATURES"


def described(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, loaded: bool = False
) -> str | None:
    """What numpy is told on a processor of this description."""
    file = folder / "cpuinfo"
    file.write_text(text)
    monkeypatch.setattr(processor, "_CPUINFO", str(file))
    if not loaded:
        monkeypatch.delitem(sys.modules, "numpy", raising=False)
    # So that it is as before when the test is done.
    monkeypatch.setenv(FEATURES, "")
    del os.environ[FEATURES]
    processor.sort_quickly()
    return os.environ.get(FEATURES)


def test_numpy_sorts_without_avx_512_on_zen_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert described(ZEN_4, tmp_path, monkeypatch) == "X86_V4"


@pytest.mark.parametrize(
    "other",
    [
        ZEN_4.replace(" avx512f avx512dq", ""),
        ZEN_4.replace(": 25", ": 26"),
        ZEN_4.replace("AuthenticAMD", "GenuineIntel"),
        "",
    ],
    ids=["Zen 3", "Zen 5", "Intel", "no description"],
)
def test_nothing_is_changed_on_other_processors(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert described(other, tmp_path, monkeypatch) is None


def test_nothing_is_changed_once_numpy_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", sys)
    assert described(ZEN_4, tmp_path, monkeypatch, loaded=True) is None


def test_what_the_environment_says_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPY_ENABLE_CPU_FEATURES", "X86_V4")
    assert described(ZEN_4, tmp_path, monkeypatch) is None


def test_numpy_takes_what_it_is_told_without_a_warning() -> None:
    code = "import numpy; print(numpy.sort([2, 1]))"
    environment = {**os.environ, FEATURES: "X86_V4"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[1 2]\n", "")


@pytest.mark.parametrize(
    ("words", "given", "told"),
    [
        (["release", "recipe.toml"], None, "1"),
        (["audit", "ask"], None, None),
        ([], None, None),
        (["release"], "2", "2"),
    ],
)
def test_only_commands_that_count_do_without_threads_for_matrices(
    words: list[str], given: str | None, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = "OPENBLAS_NUM_THREADS"
    monkeypatch.setenv(threads, given or "")
    if given is None:
        del os.environ[threads]
    processor.start_quickly(words)
    assert os.environ.get(threads) == told

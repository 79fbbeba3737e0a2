"""How numpy uses the processor, which has to be said before numpy is loaded.

Uses nothing; `main` asks for it. Counting rows and finding optima is sorting, for the most part. On
AMD's Zen 4, numpy's sorting by AVX-512 takes five times as long as by AVX2, since one instruction
of it is slow there (numpy/x86-simd-sort#6); Zen 5 has mended that. And numpy starts threads for
products of matrices, which takes as long as the rest of loading it.
"""

import os
import re
import sys

__all__ = ["sort_quickly", "start_quickly"]

_COUNTING = ("assess", "preview", "recipe", "release", "verify")
"""Commands that count, and multiply no large matrices."""

_THREADS = "OPENBLAS_NUM_THREADS"

_CPUINFO = "/proc/cpuinfo"
_FIRST = 8192  # bytes, enough for the first of many processors
_ZEN_4 = (r"^vendor_id\s*: AuthenticAMD$", r"^cpu family\s*: 25$", r"^flags\s*:.* avx512f ")
"""What its description has; Zen 3 is of the same family and has no AVX-512."""


def sort_quickly() -> None:
    """Let numpy sort by AVX2 where it would take AVX-512 and be slower.

    Nothing happens if numpy is loaded, or if the environment says already what numpy is to use.
    """
    decided = {"NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"} & set(os.environ)
    if "numpy" not in sys.modules and not decided and _is_slow(_description()):
        os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4"


def start_quickly(words: list[str]) -> None:
    """Let numpy start no threads where the command that is typed would not use them."""
    if words and words[0] in _COUNTING:
        os.environ.setdefault(_THREADS, "1")


def _description() -> str:
    """What Linux says about the first processor; nothing elsewhere."""
    try:
        with open(_CPUINFO, encoding="utf-8", errors="replace") as file:
            return file.read(_FIRST)
    except OSError:
        return ""


def _is_slow(description: str) -> bool:
    return all(re.search(line, description, re.MULTILINE) for line in _ZEN_4)

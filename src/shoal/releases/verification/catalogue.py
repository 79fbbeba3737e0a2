"""Every method that may be on a certificate, and its check. A new method is one line here."""

from collections.abc import Mapping
from typing import Any

from shoal.releases.verification import (
    buckets,
    coincident,
    columns,
    disclosure,
    mondrian,
    noisy_counts,
    optimal,
    personal,
    safepub,
    sampling,
)
from shoal.releases.verification.method import MethodCheck

__all__ = ["CHECKS"]

_CHECKS: tuple[MethodCheck[Any], ...] = (
    optimal.CHECK,
    mondrian.CHECK,
    sampling.CHECK,
    personal.CHECK,
    safepub.CHECK,
    noisy_counts.NOISY_COUNTS,
    noisy_counts.KDGS,
    columns.CHECK,
    buckets.CHECK,
    coincident.CHECK,
    disclosure.CHECK,
)

CHECKS: Mapping[str, MethodCheck[Any]] = {check.name: check for check in _CHECKS}

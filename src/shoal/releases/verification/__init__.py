"""`verify`: does a written release keep what its certificate says? The doors use it.

It shares no code with methods, models or the calculus on purpose: every property is computed again,
plainly, from the files. So a mistake there does not hide itself here. Only how a promise is put
into words comes from `privacy`.
"""

from shoal.releases.verification.core import Verdict, unchecked, verify

__all__ = ["Verdict", "unchecked", "verify"]

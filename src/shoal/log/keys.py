"""Keys: random texts by which somebody is known, and what is kept of them.

Uses `chance`; audits and the workbench of a team have keys.
"""

import hashlib

__all__ = ["digest", "new_key"]

_BYTES = 32
"""Random bytes of a key."""


def new_key() -> str:
    """A key that nobody has."""
    # Chance takes a moment to load, and few make keys.
    from shoal.chance import Chance

    return f"shoal-{Chance().bytes(_BYTES).hex()}"


def digest(key: str) -> str:
    """What is kept of a key.

    It is 256 random bits, so that trying keys out is hopeless, and one pass of SHA-256 is enough.
    """
    return hashlib.sha256(f"shoal key\n{key}".encode(errors="surrogatepass")).hexdigest()

"""What clients of the service may do. Uses nothing of the service; all of it uses this."""

import math
from dataclasses import dataclass

from shoal.errors import ParameterError

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What one client may do, and how replies are timed.

    body: bytes of a request
    rate, burst: requests per second and key, and how many may come at once
    waiting: requests of one key that are being answered, or wait for it, at the same time
    cost: steps of roughly ten nanoseconds that a query may take; it follows from what was asked, not from anybody's value
    connections, per_address: connections at the same time, in total and from one address (of IPv6, from one /64 network)
    timeout: seconds for the head of a request, for its body, and for a client to read a reply
    quantum: seconds; replies to queries leave a multiple of it after they came in. 0 for as soon as they can
    """

    body: int = 1_000_000
    rate: float = 10.0
    burst: int = 20
    quantum: float = 0.25
    waiting: int = 16
    cost: int = 200_000_000
    connections: int = 512
    per_address: int = 64
    timeout: float = 15.0

    def __post_init__(self) -> None:
        counts = (
            self.body,
            self.burst,
            self.waiting,
            self.cost,
            self.connections,
            self.per_address,
        )
        above_zero = all(count > 0 for count in counts)
        finite = 0 < self.rate < math.inf and 0 < self.timeout < math.inf
        if not (above_zero and finite and 0 <= self.quantum < math.inf):
            raise ParameterError(
                "a limit of the service is out of range; give numbers above 0 (the quantum may be 0)"
            )

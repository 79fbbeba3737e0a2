"""What clients of the service may do. Uses nothing of the service; all of it uses this."""

from dataclasses import asdict, dataclass
from math import inf

from shoal.errors import ParameterError

__all__ = ["ServiceLimits"]


@dataclass(frozen=True)
class ServiceLimits:
    """What one client may do, and how replies are timed.

    body: bytes of a request
    rate, burst: requests per second and key, and how many may come at once
    quantum: seconds; replies to queries are sent a multiple of it after they came in. 0 for as soon
        as possible
    waiting: requests of one key that are being answered, or wait for it, at the same time
    cost: steps of roughly ten nanoseconds that a query may take; it follows from what was asked,
        not from anybody's value
    connections, per_address: connections at the same time, in total and from one address (of IPv6,
        from one /64 network)
    timeout: seconds for the headers of a request, for its body, and for a client to read a reply
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
        for name, value in asdict(self).items():
            if 0 < value < inf or (name == "quantum" and value == 0):
                continue
            takes = "from 0" if name == "quantum" else "above 0"
            raise ParameterError(
                "is out of range", f"it takes a number {takes}", option=name, given=str(value)
            )

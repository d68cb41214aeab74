from vernal.values.records import dataclass

"""How long a model request may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long a model request may take, in seconds; None is without limit.

    | field | bounds | does not bound |
    | --- | --- | --- |
    | `connect` | name resolution, TCP and TLS of a new connection | an open connection |
    | `first_token` | from sending the request to the first byte of the answer | what follows |
    | `between_chunks` | each silence after that | the length of the answer |
    | `total` | the whole answer, retries not included | |

    A service answers a request that is not streamed with all of it at once: there `first_token` bounds
    the whole.

    Raises:
        ValueError: a limit is not greater than 0.
    """

    connect: float | None = 10.0
    first_token: float | None = 600.0
    between_chunks: float | None = 120.0
    total: float | None = None

    def __post_init__(self) -> None:
        for name in ("connect", "first_token", "between_chunks", "total"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(
                    f"timeout {name} is {value!r}; seconds greater than 0 are wanted, or None for no limit"
                )


DEFAULT_TIMEOUTS = Timeouts()

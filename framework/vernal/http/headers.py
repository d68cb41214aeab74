"""Reading the headers of answers."""

from collections.abc import Callable, Mapping, Sequence

from vernal.values.responses import RateLimit

Headers = Mapping[str, str]
"""The headers of an answer, looked up by names in any case."""


def request_id(headers: Headers | None) -> str | None:
    """The id under which the service knows the request, None where it says none."""
    if headers is None:
        return None
    for name in ("x-request-id", "request-id", "apim-request-id"):
        value = headers.get(name)
        if value is not None:
            return value if value.isascii() else value.encode("utf-8", "replace").decode()  # bytes that are no text
    return None


def read_rate_limit(
    headers: Headers, names: Sequence[str], seconds: Callable[[str | None], float | None]
) -> RateLimit | None:
    """What the service says about the caller's limits, None where it says nothing.

    `names` are the headers of limit, remaining and reset of requests, then of tokens; `seconds` reads a reset.
    """
    texts = [headers.get(name) for name in names]
    if not any(texts):
        return None
    requests, requests_left, requests_reset, tokens, tokens_left, tokens_reset = texts
    return RateLimit(
        _count(requests),
        _count(requests_left),
        seconds(requests_reset),
        _count(tokens),
        _count(tokens_left),
        seconds(tokens_reset),
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None

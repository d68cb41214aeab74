"""Tokens that expire: asked for anew with each request, from whoever keeps them fresh."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable, iscoroutinefunction

TokenProvider = Callable[[], str] | Callable[[], Awaitable[str]]
"""Gives a token that is valid now; `azure.identity.get_bearer_token_provider(…)` makes one."""


async def fresh_token(provider: TokenProvider) -> str:
    """The token that `provider` gives; a blocking one runs in a thread, since it may ask a service."""
    given: object = provider() if iscoroutinefunction(provider) else await asyncio.to_thread(provider)
    token = await given if isawaitable(given) else given
    if not isinstance(token, str) or not token:
        raise TypeError(f"the token provider {provider!r} gave a {type(token).__name__}; a token is wanted")
    return token

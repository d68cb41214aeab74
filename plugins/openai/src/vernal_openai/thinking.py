"""The ways in which services of OpenAI's protocol are told to think, or not to."""

from collections.abc import Callable, Mapping
from typing import Any

Thinking = Callable[[bool], Mapping[str, Any]]
"""The members of a request that switch thinking on or off."""


def thinking_by_type(on: bool) -> Mapping[str, Any]:
    """`thinking`, as DeepSeek has it."""
    return {"thinking": {"type": "enabled" if on else "disabled"}}


def thinking_by_template(on: bool) -> Mapping[str, Any]:
    """A variable of the chat template, as most open models that may think have it."""
    return {"chat_template_kwargs": {"enable_thinking": on}}


def thinking_by_effort(on: bool) -> Mapping[str, Any]:
    """An effort of none; on is what the service does by itself."""
    return {} if on else {"reasoning_effort": "none"}

"""`DeepSeekChatModel`: chat models of DeepSeek, over OpenAI's protocol."""

from dataclasses import dataclass
from typing import Unpack

from vernal import ChatOptions
from vernal_openai import PROFILES, OpenAiChatModel, OpenAiChatOptions, ServiceArguments

PROFILE = PROFILES["deepseek"]
BASE_URL = "https://api.deepseek.com"


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class DeepSeekChatOptions(OpenAiChatOptions):
    """What to ask of DeepSeek's models: the options of OpenAI's protocol, of which these are DeepSeek's.

    - `thinking`: whether to think before answering; the service does by default.
    - `reasoning_effort`: how long: `"low"`, `"high"`, `"max"`.
    """


class DeepSeekChatModel(OpenAiChatModel):
    """A chat model of DeepSeek.

    `options` are the model's own, under those of client and request; `deepseek-v4-flash` is the model by default. The
    rest is that of every `OpenAiService`: key, base URL, headers, clients, timeouts, retries. While the model thinks,
    the service refuses a `tool_choice` that forces a call.

    Raises:
        ValueError: the base URL is none.
    """

    settings_prefix = "deepseek"

    def __init__(self, *, options: ChatOptions | None = None, **service: Unpack[ServiceArguments]) -> None:
        service.setdefault("base_url", BASE_URL)
        service.setdefault("profile", PROFILE.name)
        super().__init__(options=options, **service)

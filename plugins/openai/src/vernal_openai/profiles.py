"""What sets the services that speak OpenAI's protocol apart, as data.

A profile is chosen by name, or recognised by the host of the base URL; any other address is `COMPATIBLE`.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from vernal_openai.thinking import Thinking, thinking_by_effort, thinking_by_template, thinking_by_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How one service differs.

    - `hosts`: the hosts that are recognised, with their subdomains; `host:port` where the port tells.
    - `base_url`: its address, where the profile is named and no address is.
    - `key_variable`: the variable that others read its key from; such a key goes to `hosts` only (R28).
    - `url_variable`: the variable that others read its address from.
    - `needs_key`: whether a request without a key is refused before it is sent.
    - `key_header`: the header of the key; `authorization` takes it as a bearer token.
    - `default_model`: the model where none is set.
    - `names`: members of the request that the service calls otherwise, by OpenAI's first names for them.
    - `thinking`: the members that switch thinking on or off; None: the service has no such switch.
    - `usage_on_request`: whether a stream reports usage only where `stream_options` asks for it.
    - `content_beside_calls`: the content of an assistant message that has tool calls and no text; None: left out.
    - `call_ids`: the ids of calls that the service takes; others, of another service, are replaced. None: any.
    - `reasoning`: the member in which reasoning is sent back (OAI-08); None: it is not.
    - `reasoning_beside_calls`: whether that member is sent beside tool calls even where there is no reasoning, empty.
    - `echoed`: further members of an assistant message that are sent back as they came, or as its metadata has them.
    - `schema_output`: whether structured output takes a JSON schema.
    """

    name: str
    hosts: tuple[str, ...] = ()
    base_url: str | None = None
    key_variable: str | None = None
    url_variable: str | None = None
    needs_key: bool = True
    key_header: str = "authorization"
    default_model: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    thinking: Thinking | None = None
    usage_on_request: bool = True
    content_beside_calls: str | None = None
    call_ids: re.Pattern[str] | None = None
    reasoning: str | None = None
    reasoning_beside_calls: bool = False
    echoed: tuple[str, ...] = ()
    schema_output: bool = True

    def knows(self, base_url: str) -> bool:
        """Whether the address is one of the service's own."""
        address = urlsplit(base_url)
        host, port = address.hostname or "", address.port
        return any(host == known or host.endswith(f".{known}") or f"{host}:{port}" == known for known in self.hosts)


COMPATIBLE = Profile(name="compatible", needs_key=False, reasoning="reasoning_content")
"""Any other service."""

NINE_OR_SHORT = re.compile("[a-zA-Z0-9]{9}|.{1,15}", re.DOTALL)
"""Mistral's own ids have nine letters and digits. Those of other services and of the engine are longer than 15; shorter
ones are of a gateway before it, which wants them back."""
SHORT_IDS = re.compile(".{1,40}", re.DOTALL)
NEW_NAMES: Mapping[str, Any] = {"max_tokens": "max_completion_tokens"}

OPENAI = Profile(
    name="openai",
    hosts=("openai.com",),
    base_url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    default_model="gpt-5-mini",
    names=NEW_NAMES,
    call_ids=SHORT_IDS,
)

PROFILES = {
    profile.name: profile
    for profile in (
        OPENAI,
        COMPATIBLE,
        Profile(
            name="azure",
            hosts=("openai.azure.com", "services.ai.azure.com"),
            key_variable="AZURE_OPENAI_API_KEY",
            url_variable="AZURE_OPENAI_ENDPOINT",
            key_header="api-key",
            names=NEW_NAMES,
            call_ids=SHORT_IDS,
        ),
        Profile(
            name="deepseek",
            hosts=("api.deepseek.com",),
            base_url="https://api.deepseek.com",
            key_variable="DEEPSEEK_API_KEY",
            default_model="deepseek-v4-flash",
            thinking=thinking_by_type,
            content_beside_calls="",
            reasoning="reasoning_content",
            reasoning_beside_calls=True,  # refused without while it thinks, also where another model made the calls
            echoed=("prefix",),
            schema_output=False,
        ),
        Profile(
            name="fireworks",
            hosts=("api.fireworks.ai",),
            base_url="https://api.fireworks.ai/inference/v1",
            key_variable="FIREWORKS_API_KEY",
            reasoning="reasoning_content",
        ),
        Profile(
            name="gemini",
            hosts=("generativelanguage.googleapis.com",),
            base_url="https://generativelanguage.googleapis.com/v1beta/openai",
            key_variable="GEMINI_API_KEY",
        ),
        Profile(
            name="groq",
            hosts=("api.groq.com",),
            base_url="https://api.groq.com/openai/v1",
            key_variable="GROQ_API_KEY",
            names=NEW_NAMES,
        ),
        Profile(
            name="huggingface",
            hosts=("router.huggingface.co",),
            base_url="https://router.huggingface.co/v1",
            key_variable="HF_TOKEN",
        ),
        Profile(
            name="llamacpp",
            base_url="http://localhost:8080/v1",
            needs_key=False,
            thinking=thinking_by_template,
            reasoning="reasoning_content",
        ),
        Profile(
            name="lmstudio",
            hosts=("localhost:1234", "127.0.0.1:1234"),
            base_url="http://localhost:1234/v1",
            needs_key=False,
            reasoning="reasoning_content",
        ),
        Profile(
            name="mistral",
            hosts=("api.mistral.ai",),
            base_url="https://api.mistral.ai/v1",
            key_variable="MISTRAL_API_KEY",
            names={"seed": "random_seed"},
            usage_on_request=False,
            content_beside_calls="",
            call_ids=NINE_OR_SHORT,
            echoed=("prefix",),
        ),
        Profile(
            name="ollama",
            hosts=("ollama.com", "localhost:11434", "127.0.0.1:11434"),
            base_url="http://localhost:11434/v1",
            key_variable="OLLAMA_API_KEY",
            needs_key=False,
            thinking=thinking_by_effort,
            content_beside_calls="",
            reasoning="reasoning",
        ),
        Profile(
            name="openrouter",
            hosts=("openrouter.ai",),
            base_url="https://openrouter.ai/api/v1",
            key_variable="OPENROUTER_API_KEY",
            content_beside_calls="",
            echoed=("reasoning_details",),
        ),
        Profile(
            name="perplexity",
            hosts=("api.perplexity.ai",),
            base_url="https://api.perplexity.ai",
            key_variable="PERPLEXITY_API_KEY",
        ),
        Profile(
            name="together",
            hosts=("api.together.xyz", "api.together.ai"),
            base_url="https://api.together.xyz/v1",
            key_variable="TOGETHER_API_KEY",
        ),
        Profile(
            name="vllm",
            base_url="http://localhost:8000/v1",
            needs_key=False,
            thinking=thinking_by_template,
            reasoning="reasoning_content",
        ),
        Profile(name="xai", hosts=("api.x.ai",), base_url="https://api.x.ai/v1", key_variable="XAI_API_KEY"),
    )
}


def profile_for(base_url: str, name: str | None = None) -> Profile:
    """The profile called `name`, else the one that knows the host of `base_url`, else `COMPATIBLE`.

    Raises:
        ValueError: there is no profile of that name.
    """
    if name is not None:
        return profile_named(name)
    return next((profile for profile in PROFILES.values() if profile.knows(base_url)), COMPATIBLE)


def profile_named(name: str) -> Profile:
    """The profile of that name.

    Raises:
        ValueError: there is none.
    """
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(map(repr, sorted(PROFILES)))
        near = difflib.get_close_matches(name, PROFILES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        text = f"profile is {name!r}; one of {known} is wanted, or None to go by the base URL{hint}"
        raise ValueError(text) from None

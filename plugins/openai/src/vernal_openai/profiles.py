"""What sets the services that speak OpenAI's protocol apart, as data.

A profile is chosen by name, or recognised by the host of the base URL; any other address is `COMPATIBLE`.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How one service differs.

    - `hosts`: the hosts that are recognised, with their subdomains; `host:port` where the port tells.
    - `needs_key`: whether a request without a key is refused before it is sent.
    - `key_header`: the header of the key; `authorization` takes it as a bearer token.
    - `default_model`: the model where none is set.
    - `max_tokens`: the member for the greatest number of output tokens.
    - `usage_on_request`: whether a stream reports usage only where `stream_options` asks for it.
    - `content_beside_calls`: the content of an assistant message that has tool calls and no text; None: left out.
    - `reasoning`: the member in which reasoning is sent back (OAI-08); None: it is not.
    - `echoed`: further members of an assistant message that are sent back as they came.
    - `schema_output`: whether structured output takes a JSON schema.
    """

    name: str
    hosts: tuple[str, ...] = ()
    needs_key: bool = True
    key_header: str = "authorization"
    default_model: str | None = None
    max_tokens: str = "max_tokens"
    usage_on_request: bool = True
    content_beside_calls: str | None = None
    reasoning: str | None = None
    echoed: tuple[str, ...] = ()
    schema_output: bool = True


COMPATIBLE = Profile(name="compatible", needs_key=False, reasoning="reasoning_content")
"""Any other service: llama.cpp, vLLM, LM Studio and their like."""

OPENAI = Profile(
    name="openai",
    hosts=("api.openai.com",),
    default_model="gpt-5-mini",
    max_tokens="max_completion_tokens",
)

PROFILES = {
    profile.name: profile
    for profile in (
        OPENAI,
        COMPATIBLE,
        Profile(
            name="azure",
            hosts=("openai.azure.com", "services.ai.azure.com"),
            key_header="api-key",
            max_tokens="max_completion_tokens",
        ),
        Profile(
            name="deepseek",
            hosts=("api.deepseek.com",),
            content_beside_calls="",
            reasoning="reasoning_content",
            schema_output=False,
        ),
        Profile(name="groq", hosts=("api.groq.com",)),
        Profile(name="mistral", hosts=("api.mistral.ai",), usage_on_request=False, content_beside_calls=""),
        Profile(
            name="ollama",
            hosts=("ollama.com", "localhost:11434", "127.0.0.1:11434"),
            needs_key=False,
            content_beside_calls="",
            reasoning="reasoning",
        ),
        Profile(name="openrouter", hosts=("openrouter.ai",), content_beside_calls="", echoed=("reasoning_details",)),
        Profile(name="xai", hosts=("api.x.ai",)),
    )
}


def profile_for(base_url: str, name: str | None = None) -> Profile:
    """The profile called `name`, else the one that knows the host of `base_url`, else `COMPATIBLE`.

    Raises:
        ValueError: there is no profile of that name.
    """
    if name is not None:
        try:
            return PROFILES[name]
        except KeyError:
            known = ", ".join(map(repr, sorted(PROFILES)))
            raise ValueError(f"profile is {name!r}; one of {known} is wanted, or None to go by the base URL") from None
    address = urlsplit(base_url)
    host, port = address.hostname or "", address.port
    for profile in PROFILES.values():
        for known in profile.hosts:
            if host == known or host.endswith(f".{known}") or f"{host}:{port}" == known:
                return profile
    return COMPATIBLE

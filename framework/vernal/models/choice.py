"""Which model answers: the rule by which an application chooses its chat model."""

import difflib
import logging
from collections.abc import Sequence

from vernal.errors import ConfigurationError
from vernal.models.chat import ChatModel
from vernal.models.provider import ChatModelProvider
from vernal.values.records import dataclass

OFFLINE = "offline"
OURS = ("openai", "anthropic", "gemini", "ollama")
"""Providers whose distributions are in this repository, named `vernal-` and the provider."""

_log = logging.getLogger("vernal.models")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModelChoice:
    """Which chat model answers in an application, and why; the model itself comes with `create`.

    `provider` is None for the embedded offline model. `model` is the one that is named, None for the provider's
    default. `advice` says what to configure where the offline model answers only because nothing else is there.
    """

    provider: ChatModelProvider | None
    model: str | None = None
    reason: str
    advice: str = ""

    def create(self) -> ChatModel:
        """The chosen model; one warning where it is the offline model for want of another."""
        if self.provider is not None:
            return self.provider.create(self.model)
        if self.advice:
            _log.warning(
                "no chat model is configured: the embedded offline model answers, which knows only the tools on "
                "offer; %s. VERNAL_CHAT__MODEL=offline chooses it on purpose, without this warning",
                self.advice,
            )
        from vernal.models.offline import OfflineChatModel

        return OfflineChatModel()


def choose_chat_model(
    name: str | None, providers: Sequence[ChatModelProvider], *, offline_fallback: bool = True
) -> ChatModelChoice:
    """The choice that `name` and the installed `providers` lead to.

    `name` is `provider:model`, a provider alone (its default model), or `offline`. Without a name it is the only
    provider that is configured (has a key or a base URL); without such a one the embedded offline model.

    Raises:
        ConfigurationError: `name` names no installed provider, several providers are configured and none is named,
            or nothing is configured and `offline_fallback` is False.
    """
    if name is not None and name.strip():
        return _named(name.strip(), providers)
    configured = [provider for provider in providers if provider.configured]
    if len(configured) > 1:
        names = " and ".join(sorted(provider.name for provider in configured))
        raise ConfigurationError(
            f"the providers {names} are configured, so it is open which one answers; choose with "
            f"VERNAL_CHAT__MODEL=provider:model, such as {min(p.name for p in configured)}:its-model"
        )
    if configured:
        return ChatModelChoice(provider=configured[0], reason="it is the only provider that is configured")
    if not offline_fallback:
        raise ConfigurationError(
            f"no chat model is configured, and chat.offline_fallback is false; {_installed(providers)}"
        )
    return ChatModelChoice(provider=None, reason="no provider is configured", advice=_installed(providers))


def _named(name: str, providers: Sequence[ChatModelProvider]) -> ChatModelChoice:
    provider_name, _, model = name.partition(":")
    reason = f"chat.model is {name!r}"
    if provider_name == OFFLINE:
        return ChatModelChoice(provider=None, reason=reason)
    for provider in providers:
        if provider.name == provider_name:
            return ChatModelChoice(provider=provider, model=model or None, reason=reason)
    names = sorted(provider.name for provider in providers)
    near = difflib.get_close_matches(provider_name, [*names, OFFLINE], n=1)
    if near:
        cure = f"did you mean {near[0]!r}? Wanted is provider:model, such as openai:gpt-5-mini"
    elif not model and names:
        cure = f"wanted is provider:model, such as {names[0]}:{name}"
    else:
        cure = f"a provider comes with its plugin, such as vernal-{provider_name if provider_name in OURS else OURS[0]}"
    raise ConfigurationError(
        f"chat.model is {name!r}, but no provider {provider_name!r} is installed and enabled "
        f"(there are: {', '.join([*names, OFFLINE])}); {cure}"
    )


def _installed(providers: Sequence[ChatModelProvider]) -> str:
    if not providers:
        return "install a provider, such as plugins/openai, and give its key, such as OPENAI_API_KEY"
    names = ", ".join(sorted(provider.name for provider in providers))
    return f"give a key or a base URL to an installed provider ({names}), such as OPENAI_API_KEY"

"""What a chat client, its builder and a request know: the layers of defaults, copied faithfully (R26)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from vernal.advisors.api import Advisor
from vernal.client.templates import TemplateRenderer, render_braces
from vernal.tools.callback import ToolCallback, ToolCallbackProvider
from vernal.tools.interception import SuspendedTurn
from vernal.values.mappings import EMPTY
from vernal.values.messages import Media, Message, SystemMessage, UserMessage
from vernal.values.options import ChatOptions, merge_options
from vernal.values.prompt import Prompt
from vernal.values.replay import replayable

logger = logging.getLogger("vernal.client")


@dataclass(slots=True, eq=False)
class Text:
    """A system or user text with its parameters, media and metadata; each is set and overridden by itself (CCL-24)."""

    text: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    media: tuple[Media, ...] = ()
    metadata: Mapping[str, Any] = EMPTY

    def copy(self) -> "Text":
        """An independent copy."""
        return Text(self.text, dict(self.parameters), self.media, self.metadata)

    def update(
        self,
        text: str | None,
        parameters: Mapping[str, Any],
        media: tuple[Media, ...] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Set what is given, keep the rest."""
        if text is not None:
            self.text = checked_text(text)
        self.parameters.update(parameters)
        self.media += media
        if metadata:
            self.metadata = {**self.metadata, **metadata}

    def rendered(self, renderer: TemplateRenderer) -> str | None:
        """The text with its parameters filled in; without parameters as it stands (CCL-26)."""
        if self.text is None or not self.parameters:
            return self.text
        return renderer(self.text, self.parameters)


@dataclass(slots=True, eq=False)
class RequestState:
    """All that makes a request, or the defaults of one."""

    system: Text = field(default_factory=Text)
    user: Text = field(default_factory=Text)
    messages: list[Message] = field(default_factory=list)
    options: ChatOptions | None = None
    tools: list[ToolCallback] = field(default_factory=list)
    providers: list[ToolCallbackProvider] = field(default_factory=list)
    tool_context: dict[str, Any] = field(default_factory=dict)
    advisors: list[Advisor] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    renderer: TemplateRenderer = render_braces
    suspended: SuspendedTurn | None = None

    def copy(self) -> Self:
        """An independent copy of every field."""
        return type(self)(
            self.system.copy(),
            self.user.copy(),
            list(self.messages),
            self.options,
            list(self.tools),
            list(self.providers),
            dict(self.tool_context),
            list(self.advisors),
            dict(self.parameters),
            self.renderer,
            self.suspended,
        )

    def add_prompt(self, prompt: str | Prompt) -> None:
        """Take the user's text, or the messages and options of a prompt."""
        if isinstance(prompt, Prompt):
            self.messages += prompt.messages
            if prompt.options is not None:
                self.add_options(prompt.options)
        elif isinstance(prompt, str):
            self.user.text = checked_text(prompt)
        else:
            raise TypeError(
                f"prompt(…) was given {prompt!r}; the user's text or a Prompt is wanted; messages go to .messages(…)"
            )

    def add_options(self, options: ChatOptions) -> None:
        """Layer `options` over those that are set, field by field."""
        if not isinstance(options, ChatOptions):
            raise TypeError(f"options is {options!r}; ChatOptions are wanted, such as ToolCallingChatOptions(…)")
        self.options = merge_options(self.options, options) if self.options is not None else options

    def add_tools(self, objects: tuple[object, ...]) -> None:
        """Add tools; providers among them are asked only when a request needs them (CCL-08)."""
        from vernal.tools.collection import expand_tools  # the reading of objects is not needed before there are some

        callbacks, providers = expand_tools(objects)
        self.tools += callbacks
        self.providers += providers

    def add_tool_context(self, entries: Mapping[str, Any] | None, more: Mapping[str, Any]) -> None:
        """Add entries to the tool context."""
        self.tool_context.update(checked_entries("tool_context", entries if entries is not None else {}))
        self.tool_context.update(checked_entries("tool_context", more))

    def add_advisors(self, advisors: tuple[Advisor, ...], parameters: Mapping[str, Any]) -> None:
        """Add advisors and advisor parameters."""
        for advisor in advisors:
            if not isinstance(advisor, Advisor):
                raise TypeError(f"among the advisors is {advisor!r}; Advisor objects are wanted")
        self.advisors += advisors
        self.parameters.update(checked_entries("advisor parameters", parameters))

    def conversation(self) -> tuple[Message, ...]:
        """The messages of the request: system text first, then the given messages, the user text last (CCL-22).

        Of a suspended turn it is what was said in it.
        """
        if self.suspended is not None:
            return self.suspended.messages
        messages = list(self.messages)
        system, user = self.system.rendered(self.renderer), self.user.rendered(self.renderer)
        if system is not None:
            messages.insert(0, SystemMessage(system, self.system.metadata))
        if user is not None:
            messages.append(UserMessage(user, self.user.media, self.user.metadata))
        elif self.user.media:
            messages.append(UserMessage("", self.user.media, self.user.metadata))
        given = tuple(messages)
        fit = replayable(given, foreign=True)
        if fit is not given:
            logger.warning("the given messages have tool calls without answers, or the like; they are repaired")
        return fit


def checked_text(text: object) -> str:
    """Refuse anything but a non-empty string (CCL-04)."""
    if not isinstance(text, str):
        raise TypeError(f"the text is {text!r}; a str is wanted")
    if not text:
        raise ValueError("the text is empty; a non-empty str is wanted")
    return text


def checked_entries(what: str, entries: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse keys that are no non-blank strings, and None as a value (CCL-01, CCL-03)."""
    if not isinstance(entries, Mapping):
        raise TypeError(f"{what} is {entries!r}; a mapping is wanted")
    for key, value in entries.items():
        if not isinstance(key, str) or not key.strip():
            raise ValueError(f"{what} has the key {key!r}; non-blank strings are wanted")
        if value is None:
            raise ValueError(f"{what} has None for {key!r}; leave the entry out instead")
    return entries

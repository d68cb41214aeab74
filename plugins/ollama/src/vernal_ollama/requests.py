"""The body of a request, joined from parts that are encoded once. Imported with the first request."""

from dataclasses import dataclass
from typing import Any

from vernal import ChatOptions, Message, Prompt, ToolDefinition, UsageError
from vernal.http import WireCache, encode_json
from vernal_ollama.messages import encode_message, encode_tool
from vernal_ollama.options import ROOT_FIELDS, RUNNER_FIELDS, OllamaChatOptions, on_top_of


@dataclass(frozen=True, slots=True)
class Prepared:
    """What follows from the options of a request alone: the model, JSON members with a comma after each, the tools."""

    model: str
    members: bytes
    tools: tuple[ToolDefinition, ...]


class RequestWriter:
    """Writes requests: messages, tools and options are immutable, so each is encoded once, however often it is sent.

    The order of tools and members is that of the options, so that equal requests have equal bytes (R24).
    """

    def __init__(self, defaults: OllamaChatOptions) -> None:
        self._defaults = defaults
        self._messages: WireCache[Message, bytes] = WireCache(encode_message)
        self._tools: WireCache[ToolDefinition, bytes] = WireCache(encode_tool)
        self._options: WireCache[ChatOptions, Prepared] = WireCache(self._prepare)

    def prepared(self, prompt: Prompt) -> Prepared:
        """What follows from the options of `prompt`, on top of the model's own."""
        return self._options(self._defaults if prompt.options is None else prompt.options)

    def body(self, prompt: Prompt, *, stream: bool = False) -> bytes:
        """The JSON body for `prompt`.

        Raises:
            UsageError: no model is set, or the prompt has no messages.
        """
        if not prompt.messages:
            raise UsageError("the prompt has no messages; give at least one, such as Prompt('What is …?')")
        prepared = self.prepared(prompt)
        pieces = [b"{", prepared.members]
        if prepared.tools:
            pieces += (b'"tools":[', b",".join(map(self._tools, prepared.tools)), b"],")
        pieces += (
            b'"stream":true,"messages":[' if stream else b'"stream":false,"messages":[',
            b",".join(filter(None, map(self._messages, prompt.messages))),
            b"]}",
        )
        return b"".join(pieces)

    def _prepare(self, given: ChatOptions) -> Prepared:
        options = on_top_of(self._defaults, given)
        if not options.model:
            raise UsageError(
                "no model is set: give OllamaChatOptions(model=…), or set VERNAL_OLLAMA__MODEL to the name of one that "
                "'ollama list' shows"
            )
        members: dict[str, Any] = {n: value for n in ROOT_FIELDS if (value := getattr(options, n)) is not None}
        runner = {to: value for n, to in RUNNER_FIELDS.items() if (value := getattr(options, n)) is not None}
        runner.update(options.runner_options or {})
        if runner:
            members["options"] = runner
        if options.output_schema is not None:
            members["format"] = options.output_schema
        members.update(options.extra_body or {})
        return Prepared(options.model, encode_json(members)[1:-1] + b",", _shown(options))


def _shown(options: OllamaChatOptions) -> tuple[ToolDefinition, ...]:
    """The tools that the model may choose among."""
    choice = options.tool_choice
    definitions = tuple(callback.definition for callback in options.tool_callbacks or ())
    if choice in (None, "auto", "required"):
        return definitions
    return tuple(definition for definition in definitions if definition.name == choice)

"""The body of a request, joined from parts that are encoded once. Imported with the first request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vernal import ChatOptions, Message, Prompt, ToolCallback, ToolDefinition, UsageError
from vernal.http import WireCache, encode_json
from vernal_openai.audio import audio_type
from vernal_openai.messages import encode_message, encode_strict_tool, encode_tool
from vernal_openai.options import PLAIN_FIELDS, OpenAiChatOptions, on_top_of
from vernal_openai.profiles import Profile
from vernal_openai.schemas import closed_schema, is_strict, strict_schema

TOOL_CHOICES = frozenset({"auto", "none", "required"})


@dataclass(frozen=True, slots=True)
class Prepared:
    """The parts of a request that follow from its options alone, as JSON members, each with a comma after it."""

    model: str
    members: bytes
    tool_members: bytes
    streaming: bytes
    more_tools: tuple[bytes, ...]
    tool_callbacks: tuple[ToolCallback, ...]
    strict: bool
    audio_type: str


class RequestWriter:
    """Writes requests: messages, tools and options are immutable, so each is encoded once, however often it is sent.

    The order of tools and members is that of the options, so that equal requests have equal bytes (R24).
    """

    def __init__(self, profile: Profile, defaults: OpenAiChatOptions) -> None:
        self._profile = profile
        self._defaults = defaults
        self._messages: WireCache[Message, bytes] = WireCache(lambda message: encode_message(message, profile))
        self._tools: WireCache[ToolDefinition, bytes] = WireCache(encode_tool)
        self._strict_tools: WireCache[ToolDefinition, bytes] = WireCache(encode_strict_tool)
        self._options: WireCache[ChatOptions, Prepared] = WireCache(self._prepare)
        self._last_tools: tuple[tuple[bool, tuple[ToolDefinition, ...], tuple[bytes, ...]] | None, bytes] = (None, b"")

    def prepared(self, prompt: Prompt) -> Prepared:
        """What follows from the options of `prompt`, on top of the model's own."""
        return self._options(self._defaults if prompt.options is None else prompt.options)

    def body(self, prompt: Prompt, *, stream: bool = False) -> bytes:
        """The JSON body for `prompt`.

        Raises:
            UsageError: no model is set, the prompt has no messages, or an option is not for this service.
        """
        if not prompt.messages:
            raise UsageError("the prompt has no messages; give at least one, such as Prompt('What is …?')")
        prepared = self.prepared(prompt)
        pieces = [b"{", prepared.members]
        if prepared.tool_callbacks or prepared.more_tools:
            pieces += (b'"tools":[', self._tool_list(prepared), b"],", prepared.tool_members)
        if stream:
            pieces.append(prepared.streaming)
        messages = b",".join(filter(None, map(self._messages, prompt.messages)))
        pieces += (b'"messages":[', messages, b"]}")
        return b"".join(pieces)

    def _tool_list(self, prepared: Prepared) -> bytes:
        """The tools, joined anew only where they are not those of the request before: 37 µs for 200 tools, else 92."""
        definitions = tuple([callback.definition for callback in prepared.tool_callbacks])
        key, tools = self._last_tools
        if key != (prepared.strict, definitions, prepared.more_tools):
            encode = self._strict_tools if prepared.strict else self._tools
            tools = b",".join((*map(encode, definitions), *prepared.more_tools))
            self._last_tools = (prepared.strict, definitions, prepared.more_tools), tools
        return tools

    def _prepare(self, given: ChatOptions) -> Prepared:
        options = on_top_of(self._defaults, given)
        if not options.model:
            raise UsageError(
                "no model is set: give OpenAiChatOptions(model=…), or set VERNAL_OPENAI__MODEL to the name of one"
            )
        extra = dict(options.extra_body or {})
        more_tools = tuple(map(encode_json, extra.pop("tools", ())))
        tool_members: dict[str, Any] = {}
        if options.tool_choice is not None:
            tool_members["tool_choice"] = _tool_choice(options.tool_choice)
        if options.parallel_tool_calls is not None:
            tool_members["parallel_tool_calls"] = options.parallel_tool_calls
        streaming: dict[str, Any] = {"stream": True}
        if self._profile.usage_on_request and options.stream_usage is not False and "stream_options" not in extra:
            streaming["stream_options"] = {"include_usage": True}
        return Prepared(
            options.model,
            _members({**self._members(options), **extra}),
            _members({name: value for name, value in tool_members.items() if name not in extra}),
            _members(streaming),
            more_tools,
            tuple(options.tool_callbacks or ()),
            bool(options.strict),
            audio_type(options.audio),
        )

    def _members(self, options: OpenAiChatOptions) -> dict[str, Any]:
        names = self._profile.names
        members = {
            names.get(name, name): value for name in PLAIN_FIELDS if (value := getattr(options, name)) is not None
        }
        if options.thinking is not None:
            members.update(self._thinking(options.thinking))
        if options.stop_sequences:
            members["stop"] = options.stop_sequences
        if options.output_schema is not None:
            members["response_format"] = self._response_format(options, options.output_schema)
        return members

    def _thinking(self, on: bool) -> Mapping[str, Any]:
        if self._profile.thinking is None:
            raise UsageError(
                f"thinking is {on}, but the service {self._profile.name!r} has no switch for it; "
                "leave it out, and see whether reasoning_effort or extra_body says what is meant"
            )
        return self._profile.thinking(on)

    def _response_format(self, options: OpenAiChatOptions, schema: Mapping[str, Any]) -> dict[str, Any]:
        if not self._profile.schema_output:
            return {"type": "json_object"}
        wanted = strict_schema(schema) if options.strict else closed_schema(schema)
        if options.strict and not is_strict(wanted):
            wanted = closed_schema(schema)
        described: dict[str, Any] = {"name": options.output_schema_name or "answer", "schema": wanted}
        if options.strict is not False and is_strict(wanted):
            described["strict"] = True
        return {"type": "json_schema", "json_schema": described}


def _tool_choice(choice: str) -> str | dict[str, Any]:
    return choice if choice in TOOL_CHOICES else {"type": "function", "function": {"name": choice}}


def _members(values: Mapping[str, Any]) -> bytes:
    """The members of an object, without its braces and with a comma after the last."""
    return encode_json(values)[1:-1] + b"," if values else b""

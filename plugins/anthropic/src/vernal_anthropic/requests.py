"""The body of a request, joined from parts that are encoded once. Imported with the first request."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vernal import ChatOptions, Message, Prompt, ToolDefinition, UsageError
from vernal.http import WireCache, encode_json
from vernal_anthropic.messages import Encoded, encode_message, encode_strict_tool, encode_tool
from vernal_anthropic.options import DEFAULT_MAX_TOKENS, AnthropicChatOptions, on_top_of
from vernal_anthropic.schemas import strict_schema

TOOL_CHOICES: Mapping[str, dict[str, Any]] = {
    "auto": {"type": "auto"},
    "none": {"type": "none"},
    "required": {"type": "any"},
}
PLAIN_FIELDS = ("model", "temperature", "top_p", "top_k", "service_tier")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What follows from the options of a request alone: JSON members with a comma after each, tools, cache marks."""

    members: bytes
    tools: tuple[bytes, ...]
    cached: frozenset[str]
    mark: bytes


class RequestWriter:
    """Writes requests: messages, tools and options are immutable, so each is encoded once, however often it is sent.

    The order of tools and members is that of the options, so that equal requests have equal bytes (R24).
    """

    def __init__(self, defaults: AnthropicChatOptions) -> None:
        self._defaults = defaults
        self._messages: WireCache[Message, Encoded] = WireCache(encode_message)
        self._tools: WireCache[ToolDefinition, bytes] = WireCache(encode_tool)
        self._strict_tools: WireCache[ToolDefinition, bytes] = WireCache(encode_strict_tool)
        self._options: WireCache[ChatOptions, Prepared] = WireCache(self._prepare)

    def body(self, prompt: Prompt, *, stream: bool = False) -> bytes:
        """The JSON body for `prompt`.

        Raises:
            UsageError: the prompt has no message but system messages.
        """
        prepared = self._options(self._defaults if prompt.options is None else prompt.options)
        encoded = list(map(self._messages, prompt.messages))
        system = [block for each in encoded if each.role == "system" for block in each.blocks]
        messages = list(_merged(encoded))
        if not messages:
            raise UsageError("the prompt has no message of a user; give at least one, such as Prompt('What is …?')")
        pieces = [b"{", prepared.members]
        if prepared.tools:
            pieces += (b'"tools":[', b",".join(prepared.tools), b"],")
        if system:
            marked = prepared.mark if "system" in prepared.cached else b""
            pieces += (b'"system":[', _joined(system, marked), b"],")
        if stream:
            pieces.append(b'"stream":true,')
        last, mark = len(messages) - 1, prepared.mark if "messages" in prepared.cached else b""
        pieces += (
            b'"messages":[',
            b",".join(
                b'{"role":"%s","content":[%s]}' % (role.encode(), _joined(blocks, mark if index == last else b""))
                for index, (role, blocks) in enumerate(messages)
            ),
            b"]}",
        )
        return b"".join(pieces)

    def _prepare(self, given: ChatOptions) -> Prepared:
        options = on_top_of(self._defaults, given)
        extra = dict(options.extra_body or {})
        encode = self._strict_tools if options.strict else self._tools
        tools = [encode(callback.definition) for callback in options.tool_callbacks or ()]
        tools += map(encode_json, extra.pop("tools", ()))
        cached, mark = frozenset(options.cache or ()), _mark(options.cache_ttl)
        if tools and "tools" in cached:
            tools[-1] = _marked(tools[-1], mark)
        members = _members(options)
        if tools and (choice := _tool_choice(options)) is not None:
            members["tool_choice"] = choice
        members.update(extra)
        return Prepared(encode_json(members)[1:-1] + b",", tuple(tools), cached, mark)


def _members(options: AnthropicChatOptions) -> dict[str, Any]:
    members = {name: value for name in PLAIN_FIELDS if (value := getattr(options, name)) is not None}
    budget = options.thinking_budget
    members["max_tokens"] = options.max_tokens or DEFAULT_MAX_TOKENS + (budget or 0)
    if options.stop_sequences:
        members["stop_sequences"] = options.stop_sequences
    if budget:
        members["thinking"] = {"type": "enabled", "budget_tokens": budget}
    elif budget == 0 or options.thinking is not None:
        members["thinking"] = {"type": "disabled" if budget == 0 else options.thinking}
    if options.user is not None:
        members["metadata"] = {"user_id": options.user}
    output: dict[str, Any] = {"effort": options.effort} if options.effort is not None else {}
    if options.output_schema is not None:
        output["format"] = {"type": "json_schema", "schema": strict_schema(options.output_schema)}
    if output:
        members["output_config"] = output
    return members


def _tool_choice(options: AnthropicChatOptions) -> dict[str, Any] | None:
    choice, parallel = options.tool_choice, options.parallel_tool_calls
    if choice is None and parallel is None:
        return None
    chosen = TOOL_CHOICES.get(choice or "auto") or {"type": "tool", "name": choice}
    if parallel is None or chosen["type"] == "none":
        return chosen
    return {**chosen, "disable_parallel_tool_use": not parallel}


def _merged(encoded: list[Encoded]) -> Iterator[tuple[str, Sequence[bytes]]]:
    """The messages but the system's, those of one speaker after the other as one; ones without content are left out."""
    role, blocks = "", list[bytes]()
    for each in encoded:
        if each.role == "system" or not each.blocks:
            continue
        if each.role != role:
            if blocks:
                yield role, blocks
            role, blocks = each.role, []
        blocks += each.blocks
    if blocks:
        yield role, blocks


def _joined(blocks: Sequence[bytes], mark: bytes) -> bytes:
    """Blocks as the elements of a list, the last one with a mark of the cache."""
    return b",".join((*blocks[:-1], _marked(blocks[-1], mark)) if mark else blocks)


def _mark(ttl: str | None) -> bytes:
    kept: dict[str, Any] = {"type": "ephemeral", **({"ttl": ttl} if ttl is not None else {})}
    return b',"cache_control":%s}' % encode_json(kept)


def _marked(block: bytes, mark: bytes) -> bytes:
    """The JSON of an object with a mark of the cache; thinking, which cannot have one, is left as it is."""
    return block if block.startswith((b'{"type":"thinking"', b'{"type":"redacted_thinking"')) else block[:-1] + mark

"""The body of a request, joined from parts that are encoded once. Imported with the first request."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vernal import ChatOptions, Message, Prompt, ToolDefinition, UsageError
from vernal.http import WireCache, encode_json
from vernal_gemini.messages import Encoded, encode_message, encode_tool, with_id
from vernal_gemini.options import CONFIG_FIELDS, THINKING_FIELDS, GeminiChatOptions, generation, on_top_of
from vernal_gemini.schemas import schema_member

TOOL_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
IN_WORDS = "Give the final answer as JSON only, without a code fence. It must satisfy this JSON schema: "


@dataclass(frozen=True, slots=True)
class Prepared:
    """What follows from the options of a request alone: the model, JSON members with a comma after each, more to say.

    `signed`: whether calls need signatures, as they do from the third generation on.
    """

    model: str
    members: bytes
    instruction: bytes | None
    signed: bool


class RequestWriter:
    """Writes requests: messages, tools and options are immutable, so each is encoded once, however often it is sent.

    The order of tools and members is that of the options, so that equal requests have equal bytes (R24).
    """

    def __init__(self, defaults: GeminiChatOptions) -> None:
        self._defaults = defaults
        self._plain: WireCache[Message, Encoded] = WireCache(lambda message: encode_message(message, signed=False))
        self._signed: WireCache[Message, Encoded] = WireCache(lambda message: encode_message(message, signed=True))
        self._tools: WireCache[ToolDefinition, bytes] = WireCache(encode_tool)
        self._options: WireCache[ChatOptions, Prepared] = WireCache(self._prepare)

    def body(self, prompt: Prompt) -> tuple[bytes, str]:
        """The JSON body for `prompt`, and the name of the model, which belongs into the address.

        Raises:
            UsageError: the prompt has no message but system messages.
        """
        prepared = self._options(self._defaults if prompt.options is None else prompt.options)
        encoded = list(map(self._signed if prepared.signed else self._plain, prompt.messages))
        system = [part for each in encoded if each.role == "system" for part in each.parts]
        if prepared.instruction is not None:
            system.append(prepared.instruction)
        contents = [
            b'{"role":"%s","parts":[%s]}' % (role.encode(), b",".join(parts)) for role, parts in _merged(encoded)
        ]
        if not contents:
            raise UsageError("the prompt has no message of a user; give at least one, such as Prompt('What is …?')")
        pieces = [b"{", prepared.members]
        if system:
            pieces += (b'"systemInstruction":{"parts":[', b",".join(system), b"]},")
        pieces += (b'"contents":[', b",".join(contents), b"]}")
        return b"".join(pieces), prepared.model

    def _prepare(self, given: ChatOptions) -> Prepared:
        options = on_top_of(self._defaults, given)
        model = options.model or ""
        extra = dict(options.extra_body or {})
        declared = b",".join(self._tools(callback.definition) for callback in options.tool_callbacks or ())
        tools = [b'{"functionDeclarations":[%s]}' % declared] if declared else []
        tools += map(encode_json, extra.pop("tools", ()))
        # Before the third generation there is no schema for the answer beside functions.
        in_words = options.output_schema is not None and bool(declared) and generation(model) < 3
        members = _members(options, native=not in_words)
        if declared and options.tool_choice is not None:
            members["toolConfig"] = {"functionCallingConfig": _calling(options.tool_choice)}
        members.update(extra)
        text = encode_json(members)[1:-1] + b"," if members else b""
        if tools:
            text += b'"tools":[%s],' % b",".join(tools)
        instruction = None
        if in_words:
            instruction = encode_json({"text": IN_WORDS + encode_json(options.output_schema).decode()})
        return Prepared(model, text, instruction, generation(model) >= 3)


def _members(options: GeminiChatOptions, *, native: bool) -> dict[str, Any]:
    config: dict[str, Any] = {to: v for n, to in CONFIG_FIELDS.items() if (v := getattr(options, n)) is not None}
    thinking = {to: value for n, to in THINKING_FIELDS.items() if (value := getattr(options, n)) is not None}
    if thinking:
        config["thinkingConfig"] = thinking
    if options.logprobs is not None:
        config |= {"responseLogprobs": True, "logprobs": options.logprobs}
    if options.output_schema is not None and native:
        config["responseMimeType"] = "application/json"
        config |= schema_member("responseSchema", options.output_schema)
    config.update(options.generation_config or {})
    members: dict[str, Any] = {"generationConfig": config} if config else {}
    if options.safety_settings:
        members["safetySettings"] = [{"category": c, "threshold": t} for c, t in options.safety_settings.items()]
    if options.cached_content is not None:
        members["cachedContent"] = options.cached_content
    return members


def _calling(choice: str) -> Mapping[str, Any]:
    if choice in TOOL_MODES:
        return {"mode": TOOL_MODES[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}


def _merged(encoded: list[Encoded]) -> Iterator[tuple[str, Sequence[bytes]]]:
    """The messages but the system's, those of one speaker after the other as one; ones without content are left out.

    A result has the id of its call where the call, as it goes out, has one.
    """
    role, parts, ids = "", list[bytes](), frozenset[str]()
    for each in encoded:
        if each.role == "system" or not each.parts:
            continue
        if each.role != role:
            if parts:
                yield role, parts
            role, parts = each.role, []
        if each.role == "model":
            ids = each.ids
        if each.of_call and ids:
            results = zip(each.parts, each.of_call, strict=False)
            parts += (with_id(part, call_id) if call_id in ids else part for part, call_id in results)
            parts += each.parts[len(each.of_call) :]
        else:
            parts += each.parts
    if parts:
        yield role, parts

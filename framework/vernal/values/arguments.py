"""The arguments of a tool call as models write them: parsed, and stored so that the history stays replayable."""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from vernal.values.messages import ToolCall

logger = logging.getLogger("vernal.tools")

RAW_ARGUMENTS = "rawArguments"
"""Metadata of a tool call that holds the text of arguments which could not be parsed (R1)."""

DEEPEST = 100
"""How many levels of objects and arrays arguments may have. What is deeper is no argument of any tool, and some reader
of the history would fail at it, depending on how much of its stack is left."""

_FENCED = re.compile(r"\s*```\w*\s*(.*?)\s*```\s*", re.DOTALL)


def parse_arguments(text: str | None) -> Mapping[str, Any] | None:
    """The object that `text` means, None where it means none.

    Accepted beside the JSON text of an object: blank text and `null` (no arguments), an object in a fenced block, an
    object encoded twice (R5).
    """
    if text is None or not text.strip():
        return {}
    value = _loads(text)
    if value is _NO_JSON:
        value = _loads(without_fence(text))
    if isinstance(value, str):
        value = _loads(value)
    if value is None:
        return {}
    return value if isinstance(value, dict) else None


def without_fence(text: str) -> str:
    """`text` without the code fence around it, if it has one."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced is not None else text


def normalise(call: ToolCall) -> tuple[ToolCall, Mapping[str, Any] | None]:
    """The call as it goes into the history, and its parsed arguments (None where they cannot be parsed).

    Arguments that are the JSON text of an object stay as they are, to the byte (TCM-26); other accepted forms become
    such a text; unparsable ones become `{}`, with the raw text in the call's metadata (R1). Blank arguments are warned
    of (TCM-24).
    """
    value = _loads(call.arguments) if call.arguments else _NO_JSON
    if isinstance(value, dict):
        return call, value
    arguments = parse_arguments(call.arguments)
    if arguments is None:
        metadata = {**call.metadata, RAW_ARGUMENTS: call.arguments}
        return ToolCall(call.id, call.name, "{}", call.type, metadata), None
    if not call.arguments or not call.arguments.strip():
        logger.warning("the arguments of a call of tool %r are blank; {} is taken instead", call.name)
    text = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call.id, call.name, text, call.type, call.metadata), arguments


def is_json_object(text: str) -> bool:
    """Whether `text` is the JSON text of an object, of a depth that every reader can take."""
    return isinstance(_loads(text), dict)


def raw_arguments(call: ToolCall) -> str:
    """The text of the arguments as the model wrote it."""
    if not call.metadata:
        return call.arguments
    text: str = call.metadata.get(RAW_ARGUMENTS, call.arguments)
    return text


def comparable_arguments(call: ToolCall) -> Mapping[str, Any]:
    """What two calls must have in common to be the same call again (R10).

    The parsed arguments; of arguments that cannot be parsed their raw text, under `rawArguments`.
    """
    text = raw_arguments(call)
    arguments = parse_arguments(text)
    return arguments if arguments is not None else {RAW_ARGUMENTS: text}


_NO_JSON = object()


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)
"""Made once: `json.loads` with an option makes a decoder for each call, which takes as long as the decoding."""


def _loads(text: str) -> Any:
    try:
        # Nothing stands around the object that nearly all models give; to look for it costs as much as to read it.
        value, end = _decoder.raw_decode(text) if isinstance(text, str) and text[:1] == "{" else (None, -1)
        if end != len(text):
            value = _decoder.decode(text)
    except (ValueError, RecursionError):
        return _NO_JSON
    if text.count("{") + text.count("[") > DEEPEST and _is_deep(value):
        return _NO_JSON
    return value


def _is_deep(value: Any) -> bool:
    """Whether containers stand in `value` more than `DEEPEST` levels deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            item
            for each in level
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True

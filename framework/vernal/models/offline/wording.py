"""Wording: answers from what tools gave, and the honest sentence where there is nothing to answer with."""

import json
from collections.abc import Sequence
from typing import Any

from vernal.models.offline.facts import parsed, phrase
from vernal.models.offline.planning import Plan
from vernal.tools.definition import ToolDefinition
from vernal.values.messages import ToolCall, ToolResponse

CONFIGURE = (
    "For answers of a language model, install a provider (such as the plugin vernal-openai) and set "
    "VERNAL_CHAT__MODEL=openai:gpt-5-mini and OPENAI_API_KEY."
)
_NAMES_SHOWN = 12


def answer(results: Sequence[tuple[ToolCall, ToolResponse]]) -> str:
    """An answer made of what the tools gave, one line a call."""
    return "\n".join(_line(call, response, alone=len(results) == 1) for call, response in results)


def confession(text: str, offered: Sequence[ToolDefinition], plan: Plan, *, note: str = "") -> str:
    """What the model is, what it understood, what it was offered, and how to get a real one."""
    parts = ["I am vernal's offline model: I understand no language, I only match your words with the tools on offer."]
    if note:
        parts.append(note)
    values = [mention.text for mention in plan.reading.mentions if mention.kind not in ("words", "initial")]
    if values:
        parts.append(f"In your prompt I recognised {_listed(values)}.")
    if not text.strip():
        parts.append("There was no text to read.")
    if not offered:
        parts.append("No tool was offered to me, so there is nothing that I can do with it.")
    elif note:
        parts.append(f"On offer were {_listed([tool.name for tool in offered])}.")
    elif plan.lacking:
        parts += [
            f"{name} seems to fit, but I found no value for {_listed(missing)}."
            for name, missing in plan.lacking.items()
        ]
    else:
        parts.append(f"None of the tools on offer fits: {_listed([tool.name for tool in offered])}.")
    return " ".join([*parts, CONFIGURE])


def _line(call: ToolCall, response: ToolResponse, *, alone: bool) -> str:
    arguments = parsed(call.arguments)
    given = arguments.items() if isinstance(arguments, dict) else ()
    label = f"{call.name}({', '.join(f'{name}={json.dumps(value, ensure_ascii=False)}' for name, value in given)})"
    if response.is_error:
        return f"{label} failed: {response.data or 'no reason was given'}"
    media = (
        f" [{len(response.media)} attached: {_listed([m.mime_type for m in response.media])}]" if response.media else ""
    )
    value = parsed(response.data)
    if isinstance(value, str):
        speaks = alone or any(str(said).casefold() in value.casefold() for said in _said(arguments))
        if speaks and len(value.split()) > 1:
            return value + media
    words = phrase(value) if not isinstance(value, str) else value.strip() or "no result"
    return f"{label}:{chr(10) if chr(10) in words else ' '}{words}{media}"


def _said(arguments: Any) -> list[Any]:
    return (
        [value for value in arguments.values() if isinstance(value, str) and value]
        if isinstance(arguments, dict)
        else []
    )


def _listed(values: Sequence[str]) -> str:
    shown = list(dict.fromkeys(values))
    more = len(shown) - _NAMES_SHOWN
    shown = [*shown[:_NAMES_SHOWN], *([f"{more} more"] if more > 0 else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))

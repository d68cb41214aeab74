"""Which tools a conversation has found: read from the answers of searches."""

import json
from collections.abc import Sequence

from vernal import Message, ToolResponseMessage
from vernal_tool_search.tool import TOOL_NAME


def discovered_in(messages: Sequence[Message], *, accumulate: bool) -> list[str]:
    """The names that searches have given, in the order in which they were found.

    Without `accumulate` only those of the last message with such answers (TSA-14). What is no list of names, such as
    the text of an error, names nothing (TSA-18).
    """
    found: dict[str, None] = {}
    for message in messages:
        names = _named_in(message)
        if names and not accumulate:
            found.clear()
        found.update(names)
    return list(found)


def _named_in(message: Message) -> dict[str, None]:
    if not isinstance(message, ToolResponseMessage):
        return {}
    answers = [r.data for r in message.responses if r.name.casefold() == TOOL_NAME.casefold()]  # TSA-19
    return dict.fromkeys(name for answer in answers for name in _names_of(answer))


def _names_of(answer: str) -> list[str]:
    try:
        names = json.loads(answer)
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

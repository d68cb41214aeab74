"""What a tool receives beside the model's arguments."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vernal.values.mappings import frozen
from vernal.values.messages import Message, ToolCall


class ToolContext(Mapping[str, Any]):
    """Data for tools that the model never sees, as a read-only mapping (TCM-23).

    A parameter annotated with `ToolContext` receives it, whatever the parameter is called (R17). `tool_call` is the
    call that is being answered, with its id, None outside of a call; `conversation_history` are the messages that led
    to it, without the model's answer that asks for it (in Spring AI: `getToolCallHistory()`).
    """

    __slots__ = ("_entries", "_report", "conversation_history", "tool_call")

    def __init__(
        self,
        entries: Mapping[str, Any] | None = None,
        /,
        *,
        tool_call: ToolCall | None = None,
        conversation_history: tuple[Message, ...] = (),
        report: Callable[[str, float | None], None] | None = None,
    ) -> None:
        self._entries = frozen(entries)
        self._report = report
        self.tool_call = tool_call
        self.conversation_history = conversation_history

    @property
    def context(self) -> Mapping[str, Any]:
        """All entries (in Spring AI: `getContext()`)."""
        return self._entries

    def report_progress(self, message: str, *, fraction: float | None = None) -> None:
        """Tell who listens to the turn's events how far the tool is, `fraction` from 0 to 1; from any thread."""
        if self._report is not None:
            self._report(message, fraction)

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"ToolContext({', '.join(sorted(self._entries))})"


NO_CONTEXT = ToolContext()

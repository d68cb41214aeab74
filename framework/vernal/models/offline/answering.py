"""Answering: the next message of a turn, which is tool calls that were not made yet, or else the answer."""

import json
import re
from collections.abc import Sequence

from vernal.models.offline.facts import Facts
from vernal.models.offline.planning import Plan, Planner
from vernal.models.offline.structured import instructed_schema, structured, without_instruction
from vernal.models.offline.wording import answer, confession
from vernal.tools.definition import ToolDefinition
from vernal.values.messages import AssistantMessage, Message, ToolCall, ToolResponse, ToolResponseMessage, UserMessage
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.records import dataclass

MOST_READ = 4000
"""How many characters of the prompt are read."""

_CALL_ID = re.compile(r"call_(\d{1,9})")


def next_message(prompt: Prompt, today: str | None) -> AssistantMessage:
    """The answer to `prompt`, the same for the same prompt."""
    return _Turn.of(prompt, today).answer()


@dataclass(frozen=True, slots=True)
class _Turn:
    """The prompt taken apart: the user's last text, what happened before it, and the calls since with their results."""

    prompt: Prompt
    text: str
    before: Sequence[Message]
    results: Sequence[tuple[ToolCall, ToolResponse]]
    tools: Sequence[ToolDefinition]
    choice: str
    planner: Planner

    @classmethod
    def of(cls, prompt: Prompt, today: str | None) -> "_Turn":
        messages = prompt.messages
        start = next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], UserMessage)), 0)
        options = prompt.options if isinstance(prompt.options, ToolCallingChatOptions) else ToolCallingChatOptions()
        tools = [callback.definition for callback in options.tool_callbacks or ()]
        choice = options.tool_choice or "auto"
        if choice not in ("auto", "none", "required"):
            tools = [tool for tool in tools if tool.name == choice]
        text = without_instruction(prompt.user_message.text)[:MOST_READ]
        planner = Planner.of([] if choice == "none" else tools, text, today)
        return cls(prompt, text, messages[:start], _results(messages[start:]), tools, choice, planner)

    def answer(self) -> AssistantMessage:
        """The next message: tool calls that were not made in this turn yet, else the answer."""
        plan = self.planner.plan(last_used=_last_tool(self.before), must=self.choice not in ("auto", "none"))
        calls = self._open_calls(plan)
        if calls:
            return AssistantMessage(None, calls)
        return AssistantMessage(self._text(plan))

    def _open_calls(self, plan: Plan) -> list[ToolCall]:
        made = {(call.name, _canonical(call.arguments)) for call, _ in self.results}
        calls = list(plan.calls)
        good = [response.data for _, response in self.results if not response.is_error]
        if good:
            calls += self.planner.chained(plan, Facts.of(good), {call.name for call, _ in self.results})
        texts = [(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in calls]
        fresh = [(name, text) for name, text in texts if (name, _canonical(text)) not in made]
        if isinstance(self.prompt.options, ToolCallingChatOptions) and self.prompt.options.parallel_tool_calls is False:
            fresh = fresh[:1]
        number = _next_number(self.prompt.messages)
        return [ToolCall(f"call_{number + index}", name, text) for index, (name, text) in enumerate(fresh)]

    def _text(self, plan: Plan) -> str:
        schema = getattr(self.prompt.options, "output_schema", None) or instructed_schema(self.prompt.messages)
        data = [response.data for _, response in self.results if not response.is_error]
        if schema is not None and (data or not self.results):  # where every call failed, the failure is the answer
            text = structured(schema, self.text, data, self.planner.today)
            if text is not None:
                return text
        if self.results:
            return answer(self.results)
        note = "Tools are switched off for this request (tool_choice is 'none')." if self.choice == "none" else ""
        if self.choice not in ("auto", "none", "required") and not self.tools:
            note = f"The tool {self.choice!r}, which tool_choice names, is not among the tools on offer."
        return confession(self.text, self.tools, plan, note=note)


def _results(messages: Sequence[Message]) -> list[tuple[ToolCall, ToolResponse]]:
    calls = {
        call.id: call for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls
    }
    responses = [r for message in messages if isinstance(message, ToolResponseMessage) for r in message.responses]
    return [(calls.get(response.id) or ToolCall(response.id, response.name), response) for response in responses]


def _last_tool(messages: Sequence[Message]) -> str | None:
    for message in reversed(messages):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            return message.tool_calls[-1].name
    return None


def _next_number(messages: Sequence[Message]) -> int:
    """One above every call number in the conversation, so that ids are unique in it and the same in a second run."""
    calls = [call for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls]
    return 1 + max((int(found[1]) for call in calls if (found := _CALL_ID.fullmatch(call.id))), default=0)


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments

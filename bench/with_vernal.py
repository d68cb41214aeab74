"""The same with vernal, as a user writes it."""

from collections.abc import AsyncIterator

from scenario import QUESTION, SYSTEM
from tools import Tool
from vernal import ChatClient, DefaultToolCallingManager, ToolCallingAdvisor, ToolCallLimits
from vernal_openai import OpenAiChatModel, OpenAiChatOptions


class Vernal:
    """A chat client with default tools; the limits are lifted for the conversation of 200 rounds."""

    def __init__(self, url: str, model: str, tools: list[Tool]) -> None:
        chat_model = OpenAiChatModel(base_url=url, api_key="key", options=OpenAiChatOptions(model=model))
        limits = ToolCallLimits(max_calls_per_tool_default=None, max_total_tool_calls=None)
        advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(limits=limits))
        builder = ChatClient.builder(chat_model).default_system(SYSTEM).default_tools(*tools)
        self._client = builder.tool_advisor(advisor).build()

    async def ask(self) -> str | None:
        """The answer to the question."""
        return await self._client.prompt(QUESTION).acall().content()

    def stream(self) -> AsyncIterator[str]:
        """The answer to the question as it arrives."""
        return self._client.prompt(QUESTION).astream().content()

"""What comes with vernal passes the contract suites."""

import asyncio
from typing import Any

from vernal import (
    ChatMemoryRepository,
    ChatModel,
    ChatResponse,
    FunctionToolCallback,
    InMemoryChatMemoryRepository,
    ObservationRegistry,
    ObservedChatModel,
    OfflineChatModel,
    ToolAdvisor,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingManager,
    Usage,
)
from vernal.testing import (
    ChatMemoryRepositoryContract,
    ChatModelContract,
    FaultyChatMemoryRepository,
    FaultyChatModel,
    FaultyToolCallback,
    ScriptedChatModel,
    ToolAdvisorContract,
    ToolCallbackContract,
    chunks,
)


class TestInMemoryChatMemoryRepository(ChatMemoryRepositoryContract):
    def create_repository(self) -> ChatMemoryRepository:
        return InMemoryChatMemoryRepository()


class TestFaultyChatMemoryRepositoryWithoutFaults(ChatMemoryRepositoryContract):
    def create_repository(self) -> ChatMemoryRepository:
        return FaultyChatMemoryRepository(InMemoryChatMemoryRepository())


class TestOfflineChatModel(ChatModelContract):
    def create_model(self) -> ChatModel:
        return OfflineChatModel()


class TestScriptedChatModel(ChatModelContract):
    def create_model(self) -> ChatModel:
        return ScriptedChatModel([chunks("Hel", "lo", ChatResponse.of("!", usage=Usage(3, 1)))] * 9)


class TestFaultyChatModelWithoutFaults(TestScriptedChatModel):
    def create_model(self) -> ChatModel:
        return FaultyChatModel(super().create_model())


class TestObservedChatModel(TestScriptedChatModel):
    def create_model(self) -> ChatModel:
        return ObservedChatModel(super().create_model(), ObservationRegistry())


class TestToolCallingAdvisor(ToolAdvisorContract):
    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return ToolCallingAdvisor(tool_calling_manager=manager)


class TestFunctionToolCallback(ToolCallbackContract):
    arguments = '{"city": "Oslo", "days": 2}'
    unfit = ('{"city": 7}', '{"city": "Oslo", "days": "many"}')

    def create_tool(self) -> ToolCallback:
        def forecast(city: str, days: int = 1) -> str:
            """The weather of the next days."""
            return f"{days} days of rain in {city}"

        return FunctionToolCallback(forecast)


class TestAsynchronousFunctionToolCallback(TestFunctionToolCallback):
    def create_tool(self) -> ToolCallback:
        async def forecast(city: str, days: int = 1) -> str:
            """The weather of the next days."""
            await asyncio.sleep(0)
            return f"{days} days of rain in {city}"

        return FunctionToolCallback(forecast)


class TestRawSchemaToolCallback(TestFunctionToolCallback):
    def create_tool(self) -> ToolCallback:
        def forecast(**given: Any) -> str:
            """The weather of the next days."""
            return f"{given}"

        properties = {"city": {"type": "string"}, "days": {"type": "integer"}}
        schema = {"type": "object", "properties": properties, "required": ["city"]}
        return FunctionToolCallback(forecast, input_schema=schema)


class TestToolWithoutParameters(ToolCallbackContract):
    def create_tool(self) -> ToolCallback:
        return FunctionToolCallback(lambda: "noon", name="get_time", description="The time.")


class TestFaultyToolCallbackWithoutFaults(TestFunctionToolCallback):
    def create_tool(self) -> ToolCallback:
        return FaultyToolCallback(super().create_tool())

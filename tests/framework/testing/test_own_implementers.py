"""What comes with vernal passes the contract suites."""

from vernal import (
    ChatMemoryRepository,
    ChatModel,
    ChatResponse,
    InMemoryChatMemoryRepository,
    ObservationRegistry,
    ObservedChatModel,
    OfflineChatModel,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    Usage,
)
from vernal.testing import (
    ChatMemoryRepositoryContract,
    ChatModelContract,
    FaultyChatMemoryRepository,
    FaultyChatModel,
    ScriptedChatModel,
    ToolAdvisorContract,
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

"""What comes with vernal passes the contract suites."""

from vernal import ChatMemoryRepository, InMemoryChatMemoryRepository
from vernal.testing import ChatMemoryRepositoryContract, FaultyChatMemoryRepository


class TestInMemoryChatMemoryRepository(ChatMemoryRepositoryContract):
    def create_repository(self) -> ChatMemoryRepository:
        return InMemoryChatMemoryRepository()


class TestFaultyChatMemoryRepositoryWithoutFaults(ChatMemoryRepositoryContract):
    def create_repository(self) -> ChatMemoryRepository:
        return FaultyChatMemoryRepository(InMemoryChatMemoryRepository())

"""What an implementer of an interface of vernal inherits in their tests: one file for each interface.

A suite is a class whose tests pytest collects from a subclass that says how to make what is tested:

    class TestSqliteRepository(ChatMemoryRepositoryContract):
        def create_repository(self) -> ChatMemoryRepository:
            return SqliteChatMemoryRepository(":memory:")
"""

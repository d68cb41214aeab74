"""The auto-configurations of chat memory and of HTTP clients."""

import asyncio

import httpx

from vernal import (
    ChatMemory,
    ChatMemoryRepository,
    HttpClients,
    InMemoryChatMemoryRepository,
    MessageWindowChatMemory,
    SettingsError,
)
from vernal.testing import ApplicationContextRunner


def test_one_repository_and_one_memory(runner: ApplicationContextRunner) -> None:
    """The defaults are a window over this process; a user's repository replaces the default's (REP-02)."""
    with runner.run() as run:
        memory = run.context.get(ChatMemory)
        assert isinstance(memory, MessageWindowChatMemory)
        assert memory.chat_memory_repository is run.context.get(ChatMemoryRepository)
        assert memory.max_messages == 20
    own = InMemoryChatMemoryRepository()
    with runner.with_bean(ChatMemoryRepository, own).run() as run:
        memory = run.context.get(ChatMemory)
        assert isinstance(memory, MessageWindowChatMemory)
        assert memory.chat_memory_repository is own


def test_the_window_is_a_setting(runner: ApplicationContextRunner) -> None:
    """`chat.memory.max_messages` is the size of the window."""
    with runner.with_environ({"VERNAL_CHAT__MEMORY__MAX_MESSAGES": "4"}).run() as run:
        memory = run.context.get(ChatMemory)
        assert isinstance(memory, MessageWindowChatMemory)
        assert memory.max_messages == 4


def test_http_settings_reach_the_clients(runner: ApplicationContextRunner) -> None:
    """Time limits are durations."""
    environ = {"VERNAL_HTTP__CONNECT_TIMEOUT": "3s", "VERNAL_HTTP__TOTAL_TIMEOUT": "2m"}
    with runner.with_environ(environ).run() as run:
        timeouts = run.context.get(HttpClients).timeouts
        assert (timeouts.connect, timeouts.total) == (3.0, 120.0)
        assert isinstance(run.context.get(httpx.AsyncClient), httpx.AsyncClient)


def test_a_proxy_that_is_no_address_is_refused_at_the_start(runner: ApplicationContextRunner) -> None:
    """The error names the setting and what is wanted, before a request could fail of it."""
    with runner.with_environ({"VERNAL_HTTP__PROXY": "proxy:3128"}).run() as run:
        assert isinstance(run.failure, SettingsError)
        assert "http.proxy = 'proxy:3128': wanted an address such as http://proxy" in str(run.failure)
    with runner.with_environ({"VERNAL_HTTP__PROXY": "http://proxy:3128"}).run() as run:
        assert run.failure is None


def test_a_client_of_ones_own_is_used_by_all(runner: ApplicationContextRunner) -> None:
    """A user's httpx.AsyncClient is what providers use, and what is injected; the context does not close it."""
    own = httpx.AsyncClient()
    with runner.with_bean(httpx.AsyncClient, own).run() as run:
        assert run.context.get(HttpClients).async_client is own
        assert run.context.get(httpx.AsyncClient) is own
    assert not own.is_closed
    asyncio.run(own.aclose())

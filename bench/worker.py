"""One client in a process of its own: `run.py` sends it jobs over a pipe, one JSON list a line.

    python bench/worker.py floor|vernal URL

Figures are times in milliseconds, memory in MiB.
"""

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Protocol

from scenario import Scenario
from tools import CALLED_AT, Tool, many_tools

Figures = dict[str, float]


class Client(Protocol):
    """What is measured."""

    async def ask(self) -> str | None:
        """The whole answer."""

    def stream(self) -> AsyncIterator[str]:
        """The answer as it arrives."""


def client_class(name: str) -> Callable[[str, str, list[Tool]], Client]:
    """The client of a name; the other one is not imported."""
    if name == "floor":
        from floor import Floor

        return Floor
    from with_vernal import Vernal

    return Vernal


class Worker:
    """Runs jobs; clients are made once for each scenario and kept."""

    def __init__(self, name: str, url: str) -> None:
        self._make = client_class(name)
        self._url = url
        self._clients: dict[tuple[str, int], Client] = {}
        self._resting = 0.0

    async def loop(self, model: str, conversations: int, tools: int = 1) -> Figures:
        """CPU time of a conversation, one after the other."""
        await self._ask(model, tools)
        gc.collect()
        started = time.process_time()
        for _ in range(conversations):
            await self._ask(model, tools)
        cpu = time.process_time() - started
        expect_calls(conversations + 1, Scenario.of(model))
        return {"cpu": cpu / conversations * 1e3}

    async def together(self, model: str, conversations: int) -> Figures:
        """Conversations a second, all at once, and the memory that they need."""
        gc.collect()
        self._resting = self._resting or memory("VmRSS")
        reset_peak()
        started = time.perf_counter()
        await asyncio.gather(*(self._ask(model) for _ in range(conversations)))
        rate = conversations / (time.perf_counter() - started)
        expect_calls(conversations, Scenario.of(model))
        return {"rate": rate, "peak": memory("VmHWM"), "growth": memory("VmHWM") - self._resting}

    async def stream(self, model: str) -> Figures:
        """CPU time and chunks of a streamed conversation, and the time to its first text."""
        client, scenario = self._client(model), Scenario.of(model)
        gc.collect()
        cpu, started = time.process_time(), time.perf_counter()
        first = 0.0
        texts: list[str] = []
        async for text in client.stream():
            first = first or time.perf_counter() - started
            texts.append(text)
        cpu = time.process_time() - cpu
        expect("".join(texts), scenario)
        return {"cpu": cpu * 1e3, "chunks": float(len(texts)), "first": first * 1e3}

    async def history(self, model: str) -> Figures:
        """CPU time of one long conversation, and how much more its last 20 rounds take than its first."""
        gc.collect()
        cpu = time.process_time()
        await self._ask(model)
        cpu = time.process_time() - cpu
        growth = (CALLED_AT[-1] - CALLED_AT[-21]) / (CALLED_AT[21] - CALLED_AT[1])
        return {"cpu": cpu * 1e3, "growth": growth}

    def _client(self, model: str, tools: int = 1) -> Client:
        client = self._clients.get((model, tools))
        if client is None:
            client = self._clients[model, tools] = self._make(self._url, model, many_tools(tools))
        return client

    async def _ask(self, model: str, tools: int = 1) -> None:
        expect(await self._client(model, tools).ask(), Scenario.of(model))


def expect(answer: str | None, scenario: Scenario) -> None:
    """Refuse an answer that is not the one of the scenario."""
    if answer != scenario.answer:
        raise AssertionError(f"the answer is {answer!r}; {scenario.answer!r} is wanted")


def expect_calls(conversations: int, scenario: Scenario) -> None:
    """Refuse a job whose tools have not run as often as its conversations ask for."""
    if len(CALLED_AT) != conversations * scenario.tool_calls:
        raise AssertionError(f"{len(CALLED_AT)} calls of tools in {conversations} conversations of {scenario}")


def memory(field: str) -> float:
    """A figure of `/proc/self/status`, NaN on systems that have none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), float("nan"))


def reset_peak() -> None:
    """Let the peak of the memory begin anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def main(name: str, url: str) -> None:
    """Do the jobs that come in, until there are no more."""
    worker = Worker(name, url)
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            job, *arguments = json.loads(line)
            CALLED_AT.clear()
            figures = runner.run(getattr(worker, job)(*arguments))
            print(json.dumps(figures), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

"""The floor: the loop written by hand with `httpx.AsyncClient`, and nothing else."""

import inspect
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx

from scenario import QUESTION, SYSTEM
from tools import Tool

JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


class Floor:
    """Asks the model until it answers, and runs the tools in between."""

    def __init__(self, url: str, model: str, tools: list[Tool]) -> None:
        limits = httpx.Limits(max_connections=1000, max_keepalive_connections=1000)
        self._client = httpx.AsyncClient(
            base_url=url, headers={"authorization": "Bearer key"}, timeout=60, limits=limits
        )
        self._model = model
        self._functions = {tool.__name__: tool for tool in tools}
        self._tools = [described(tool) for tool in tools]

    async def ask(self) -> str | None:
        """The answer to the question."""
        messages = opening()
        while True:
            body = {"model": self._model, "messages": messages, "tools": self._tools}
            response = await self._client.post("/chat/completions", json=body)
            response.raise_for_status()
            message = json.loads(response.content)["choices"][0]["message"]
            if not message.get("tool_calls"):
                text: str = message["content"]
                return text
            self._run(message["tool_calls"], messages)

    async def stream(self) -> AsyncIterator[str]:
        """The answer to the question as it arrives."""
        messages = opening()
        while True:
            calls: list[dict[str, Any]] = []
            body = {"model": self._model, "messages": messages, "tools": self._tools, "stream": True}
            body["stream_options"] = {"include_usage": True}
            async with self._client.stream("POST", "/chat/completions", json=body) as response:
                response.raise_for_status()
                async for line in response.aiter_lines():
                    if not line.startswith("data: ") or line == "data: [DONE]":
                        continue
                    for choice in json.loads(line[6:])["choices"]:
                        collect(choice["delta"], calls)
                        if choice["delta"].get("content"):
                            yield choice["delta"]["content"]
            if not calls:
                return
            self._run(calls, messages)

    def _run(self, calls: list[dict[str, Any]], messages: list[dict[str, Any]]) -> None:
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in calls:
            function = self._functions[call["function"]["name"]]
            result = function(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def opening() -> list[dict[str, Any]]:
    """The first messages of a conversation."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


def collect(delta: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    """Add what a chunk says of tool calls to `calls`."""
    for fragment in delta.get("tool_calls") or ():
        if fragment["index"] == len(calls):
            calls.append({"id": fragment["id"], "type": "function", "function": dict(fragment["function"])})
        else:
            calls[fragment["index"]]["function"]["arguments"] += fragment["function"]["arguments"]


def described(tool: Tool) -> dict[str, Any]:
    """What the model is told of a function, as one would write it out by hand."""
    parameters = inspect.signature(tool).parameters.values()
    properties = {each.name: {"type": JSON_TYPES[each.annotation], "description": each.name} for each in parameters}
    required = [each.name for each in parameters if each.default is each.empty]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    description = (tool.__doc__ or "").partition("\n")[0]
    return {"type": "function", "function": {"name": tool.__name__, "description": description, "parameters": schema}}

"""The mock service: OpenAI's chat completions over HTTP/1.1, one process, answers rendered once.

A request whose history lacks tool results is refused, so that nobody looks fast by dropping work. `GET /count` gives
the number of conversations that have ended and of requests that were refused.
"""

import asyncio
import json
import os
import sys
from functools import cache
from typing import Any

from scenario import CITIES, Scenario

HEADERS = (
    b"HTTP/1.1 200 OK\r\ndate: Fri, 01 Jan 2027 00:00:00 GMT\r\nserver: bench\r\nx-request-id: req_0123456789abcdef\r\n"
    b"openai-processing-ms: 1\r\nx-ratelimit-limit-requests: 10000\r\nx-ratelimit-remaining-requests: 9999\r\n"
)
COUNT = {"answers": 0, "refused": 0}


def encoded(value: object) -> bytes:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def calls_of(scenario: Scenario, number: int) -> list[dict[str, Any]]:
    """The tool calls of a round; none after the last one."""
    if number >= scenario.rounds:
        return []
    return [
        {
            "id": f"call_{number:04d}_{index:02d}_q8Jx2LmN",
            "type": "function",
            "function": {
                "name": "get_weather",
                "arguments": json.dumps({"city": CITIES[(number + index) % len(CITIES)]}, ensure_ascii=False),
            },
        }
        for index in range(scenario.calls)
    ]


def usage_of(scenario: Scenario, number: int) -> dict[str, Any]:
    """The tokens that a response reports."""
    prompt, completion = 50 + 40 * number, scenario.tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


@cache
def whole(model: str, number: int) -> bytes:
    """The response of round `number`, headers included."""
    scenario = Scenario.of(model)
    calls = calls_of(scenario, number)
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else scenario.answer, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if calls else "stop"}
    head = {"id": f"chatcmpl-{number:08d}", "object": "chat.completion", "created": 1800000000, "model": model}
    body = encoded({**head, "choices": [choice], "usage": usage_of(scenario, number), "system_fingerprint": "fp_1"})
    return HEADERS + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


@cache
def events(model: str, number: int) -> tuple[bytes, ...]:
    """The streamed response of round `number`: each event a piece of its own, headers with the first."""
    scenario = Scenario.of(model)
    head = {"id": f"chatcmpl-{number:08d}", "object": "chat.completion.chunk", "created": 1800000000, "model": model}

    def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return encoded({**head, "system_fingerprint": "fp_1", "choices": [choice], "usage": None})

    calls = calls_of(scenario, number)
    found = [event({"role": "assistant", "content": None if calls else "", "refusal": None})]
    for index, call in enumerate(calls):
        text = call["function"]["arguments"]
        begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        found.append(event({"tool_calls": [begun]}))
        pieces = (text[start : start + 4] for start in range(0, len(text), 4))
        found += [event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in pieces]
    found += [event({"content": word}) for word in (() if calls else scenario.words)]
    found.append(event({}, "tool_calls" if calls else "stop"))
    found.append(encoded({**head, "choices": [], "usage": usage_of(scenario, number)}))
    sent = [b"data: %s\n\n" % payload for payload in (*found, b"[DONE]")]
    chunks = [b"%x\r\n%s\r\n" % (len(data), data) for data in sent]
    first = HEADERS + b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" + chunks[0]
    return (first, *chunks[1:-1], chunks[-1] + b"0\r\n\r\n")


def round_of(request: dict[str, Any], scenario: Scenario) -> int:
    """How many rounds the history of a request holds.

    Raises:
        ValueError: tool results are missing, or the tools are.
    """
    results = [message for message in request["messages"] if message["role"] == "tool"]
    number, rest = divmod(len(results), scenario.calls)
    if rest or not request.get("tools") or not all(message.get("content") for message in results[-1:]):
        raise ValueError(
            f"{len(results)} results of {scenario.calls} calls a round, {len(request.get('tools', ()))} tools"
        )
    return number


async def answer(body: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer one chat completion."""
    try:
        request = json.loads(body)
        scenario = Scenario.of(request["model"])
        number = round_of(request, scenario)
    except (ValueError, KeyError) as error:
        COUNT["refused"] += 1
        reply(writer, b"400 Bad Request", {"error": {"message": str(error), "type": "invalid_request_error"}})
        return
    COUNT["answers"] += number >= scenario.rounds
    if scenario.delay_ms:
        await asyncio.sleep(scenario.delay_ms / 1000)
    if not request.get("stream"):
        writer.write(whole(scenario.model, number))
        return
    for event in events(scenario.model, number):
        writer.write(event)
        await asyncio.sleep(0)


def reply(writer: asyncio.StreamWriter, status: bytes, value: object) -> None:
    """Answer with a JSON object."""
    body = encoded(value)
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body))
    writer.write(head + body)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection until the client closes it."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            _, found, after = head.partition(b"\r\ncontent-length:")
            body = await reader.readexactly(int(after.split(b"\r\n", 1)[0])) if found else b""
            if head.startswith(b"get /count"):
                reply(writer, b"200 OK", COUNT)
            else:
                await answer(body, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has gone
    finally:
        writer.close()


async def main() -> None:
    """Listen on a free port, print it, and serve until the process is ended."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        os.sched_setaffinity(0, {int(sys.argv[1])})
    asyncio.run(main())

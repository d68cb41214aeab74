"""Recorded conversations of OpenAI's protocol: what was read of an answer goes back as the service accepted it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.wire.test_recordings import (
    FOLDER,
    RECORDINGS,
    Fixed,
    ask,
    comparable,
    content,
    cut,
    load,
    profile,
    values_of,
)

from vernal import Message, Prompt
from vernal.testing.server import Reply, replaying
from vernal_openai import OpenAiChatModel, OpenAiChatOptions


def conversations() -> list[Any]:
    """Each recorded answer with the request that came after it."""
    turns: dict[tuple[str, int], Path] = {}
    for path in RECORDINGS:
        recording = load(path)
        if recording["protocol"] == "openai-chat" and (place := recording.get("conversation")):
            turns[place["id"], place["turn"]] = path
    return [
        pytest.param(path, turns[name, turn + 1], id=path.stem)
        for (name, turn), path in turns.items()
        if (name, turn + 1) in turns
    ]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not at {FOLDER}")
@pytest.mark.parametrize(("answered", "next_asked"), conversations())
def test_an_answer_goes_back_as_the_service_accepted_it(answered: Path, next_asked: Path) -> None:
    """Ids, arguments, thoughts and signatures that were read, also of a stream in pieces, are the next turn's."""
    before, wanted = load(answered), load(next_asked)["request"]["body"]
    place = len(before["request"]["body"]["messages"])

    async def sent() -> Any:
        response = await ask(before, answered.name, cut(content(before["response"]), 1))
        assert response.result is not None
        known = values_of(wanted["messages"])
        messages: list[Message] = [*values_of(wanted["messages"][:place]), response.result.output]
        async with replaying(Reply.of_json({"choices": [{"message": {"content": "ok"}}]})) as server:
            options = OpenAiChatOptions(model="m", tool_callbacks=[Fixed(tool) for tool in wanted.get("tools", ())])
            model = OpenAiChatModel(api_key="k", base_url=server.url, options=options, profile=profile(answered.name))
            await model.acall(Prompt([*messages, *known[len(messages) :]]))
            return server.asked[0].json["messages"]

    assert list(map(comparable, asyncio.run(sent()))) == list(map(comparable, wanted["messages"]))

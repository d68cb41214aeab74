"""Answers that are spoken."""

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import AssistantMessage, Media, Prompt, UserMessage, dump_messages, load_messages
from vernal.http import ProtocolError
from vernal.testing.server import Reply
from vernal_openai import OpenAiChatModel, OpenAiChatOptions
from vernal_openai.audio import AudioCollector

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

SOUND = b"RIFF\x00\xff sound"
SPOKEN = OpenAiChatOptions(model="m", modalities=["text", "audio"], audio={"voice": "alloy", "format": "mp3"})


@pytest.fixture
def service(service_of: "type[Service]") -> "Service":
    """A service of the protocol, which is asked to speak."""
    empty = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
    return service_of(lambda **given: OpenAiChatModel(options=SPOKEN, **given), empty)


def audio(**members: Any) -> dict[str, Any]:
    """The member `audio` of an answer."""
    return {"id": "audio_1", "expires_at": 1, "data": b64encode(SOUND).decode(), "transcript": "Hello.", **members}


def answer(**members: Any) -> Reply:
    """An answer that is spoken."""
    return Reply.of_json({"choices": [{"message": {"content": None, "audio": audio(**members)}}]})


def test_a_spoken_answer_has_sound_and_text(service: "Service") -> None:
    """The sound is media of the format that was asked for, what is said is the text; the id is kept."""
    result = service.called(answer()).result
    assert result is not None
    assert result.output.text == "Hello."
    assert result.output.media == (Media("audio/mpeg", data=SOUND, name="audio_1"),)
    assert result.output.metadata["audio"] == {"id": "audio_1", "expires_at": 1}
    assert load_messages(dump_messages([result.output])) == (result.output,)


def test_a_spoken_answer_is_asked_for_and_goes_back_as_its_text(service: "Service") -> None:
    """What was said stays true when the service has forgotten the sound, and for every other model."""
    said = service.called(answer()).result
    assert said is not None
    body = service.sent(Prompt([UserMessage("Hi"), said.output, UserMessage("Again")]))
    assert (body["modalities"], body["audio"]) == (["text", "audio"], {"voice": "alloy", "format": "mp3"})
    assert body["messages"][1] == {"role": "assistant", "content": "Hello."}


def test_a_streamed_answer_is_read_while_it_is_spoken(service: "Service") -> None:
    """What is said arrives piece by piece, the sound is whole in the end."""
    encoded = b64encode(SOUND).decode()
    pieces: list[dict[str, Any]] = [
        {"id": "audio_1", "transcript": "Hel"},
        {"data": encoded[:6]},
        {"transcript": "lo."},
        {"data": encoded[6:]},
        {"expires_at": 1},
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"audio": piece}, "finish_reason": None}]} for piece in pieces]
    reply = Reply.of_events(*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    assert [chunk.text for chunk in service.chunks(reply) if chunk.text] == ["Hel", "lo."]
    result = service.streamed(reply).result
    assert result is not None
    assert result.output == AssistantMessage(
        "Hello.",
        media=[Media("audio/mpeg", data=SOUND, name="audio_1")],
        metadata={"audio": {"id": "audio_1", "expires_at": 1}},
    )


def test_sound_that_is_none_is_no_answer(service: "Service") -> None:
    """Data that is no base64 is an answer outside of the protocol."""
    with pytest.raises(ProtocolError):
        service.called(answer(data="!!!!"))


@given(st.binary(max_size=60), st.lists(st.integers(1, 9)))
def test_sound_is_joined_wherever_it_is_cut(sound: bytes, cuts: list[int]) -> None:
    """Every way to cut the text of the sound gives the same sound."""
    collector, encoded = AudioCollector(), b64encode(sound).decode()
    for size in [*cuts, len(encoded)]:
        collector.add({"data": encoded[:size]})
        encoded = encoded[size:]
    assert b"".join(medium.data or b"" for medium in collector.media("audio/wav")) == sound


def test_further_options_are_members_of_the_request(service: "Service") -> None:
    """Each goes in under its own name."""
    options: dict[str, Any] = {
        "prediction": {"type": "content", "content": "x = 1"},
        "web_search_options": {"search_context_size": "low"},
        "prompt_cache_key": "shop",
        "safety_identifier": "u-1",
    }
    body = service.sent(Prompt("hi", OpenAiChatOptions(**options)))
    assert {name: body[name] for name in options} == json.loads(json.dumps(options))


def test_modalities_are_several() -> None:
    """A single text in their place is refused."""
    with pytest.raises(TypeError, match=r"modalities is 'audio'"):
        OpenAiChatOptions(modalities="audio")

"""`OpenAiEmbeddingModel` over HTTP, and its settings."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vernal_autoconfig.plugin
import vernal_openai.plugin
from vernal import EmbeddingModel, EmbeddingResponse
from vernal.http import AuthenticationError, BadRequestError, ProtocolError, RetryPolicy
from vernal.testing import ApplicationContextRunner
from vernal.testing.server import ReplayServer, Reply, replaying
from vernal_openai import OpenAiEmbeddingModel

R = TypeVar("R")
PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "openai": vernal_openai.plugin}


def answer(*vectors: list[float], tokens: int = 0) -> Reply:
    """A reply with these vectors."""
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Reply.of_json({"data": data, "model": "m-1", "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})


def against(*replies: Reply, ask: Callable[[OpenAiEmbeddingModel, ReplayServer], Awaitable[R]], **options: Any) -> R:
    """What `ask` makes of a model whose service gives these replies."""

    async def main() -> R:
        async with replaying(*replies) as server:
            retry = RetryPolicy(initial_delay=0)
            return await ask(OpenAiEmbeddingModel(model="m", base_url=server.url, retry=retry, **options), server)

    return asyncio.run(main())


async def two(model: OpenAiEmbeddingModel, _: ReplayServer) -> EmbeddingResponse:
    """The vectors of two texts."""
    return await model.aembed(["a", "b"])


def test_texts_become_vectors_in_their_order() -> None:
    """One request has all texts; vectors are put in the order of their index; usage and model are told."""

    async def ask(model: OpenAiEmbeddingModel, server: ReplayServer) -> tuple[EmbeddingResponse, Any, str]:
        response = await two(model, server)
        return response, server.asked[0].json, server.asked[0].path

    data = [{"index": 1, "embedding": [0.5]}, {"index": 0, "embedding": [0.25]}]
    reply = Reply.of_json({"data": data, "model": "m-1", "usage": {"prompt_tokens": 7, "total_tokens": 7}})
    response, body, path = against(reply, ask=ask, dimensions=1)
    assert [list(vector) for vector in response.vectors] == [[0.25], [0.5]]
    assert (response.usage.prompt_tokens, response.usage.total_tokens, response.model) == (7, 7, "m-1")
    assert body == {"model": "m", "input": ["a", "b"], "encoding_format": "float", "dimensions": 1}
    assert path == "/v1/embeddings"


@given(count=st.integers(0, 9), batch_size=st.integers(1, 4))
def test_every_number_of_texts_is_asked_for_in_batches(count: int, batch_size: int) -> None:
    """No request has more texts than `batch_size`; the vectors of all come in order, and their usage is summed."""
    sizes = [min(batch_size, count - start) for start in range(0, count, batch_size)]
    replies = [answer(*[[float(place)] for place in range(size)], tokens=size) for size in sizes] or [answer()]

    async def ask(model: OpenAiEmbeddingModel, server: ReplayServer) -> tuple[EmbeddingResponse, list[str]]:
        response = await model.aembed([str(number) for number in range(count)])
        return response, [text for asked in server.asked for text in asked.json["input"]]

    response, asked = against(*replies, ask=ask, batch_size=batch_size)
    assert asked == [str(number) for number in range(count)]
    assert [vector[0] for vector in response.vectors] == [float(place) for size in sizes for place in range(size)]
    assert response.usage.prompt_tokens == count


@pytest.mark.parametrize(
    "reply",
    [
        answer([0.5]),
        Reply.of_json({"data": [{"embedding": [0.5]}, {"embedding": [0.5]}]}),
        Reply.of_json({"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [0.5]}]}),
        Reply.of_json({}),
        Reply.of_json([]),
    ],
    ids=["too few", "no index", "no numbers", "no data", "no object"],
)
def test_an_answer_of_another_shape_is_told(reply: Reply) -> None:
    """What cannot be read as the vectors of the texts is an error that shows how the answer begins."""
    with pytest.raises(ProtocolError, match="the answer is not one of its protocol, but begins with"):
        against(reply, ask=two)


def test_a_refusal_carries_what_the_service_says() -> None:
    """R19: an error status is an error with the service's own message."""
    with pytest.raises(BadRequestError, match="input too long"):
        against(Reply.of_json({"error": {"message": "input too long"}}, status=400), ask=two)


def test_a_single_text_is_refused() -> None:
    """A text is a sequence of texts too, each a letter, which nobody means."""
    with pytest.raises(TypeError, match=r"a sequence of texts is wanted, such as \[text\]"):
        OpenAiEmbeddingModel().embed("Amsterdam")


def test_a_missing_key_fails_at_first_use() -> None:
    """R25: the model is made without a key; the first request names the variables to set."""
    with pytest.raises(AuthenticationError, match="Set VERNAL_OPENAI__API_KEY or OPENAI_API_KEY"):
        OpenAiEmbeddingModel().embed(["a"])


def runner(**environ: str) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


def test_the_embedding_model_exists_where_its_name_is_set() -> None:
    """Without `openai.embedding.model` there is none, though the service has a key."""
    with runner(OPENAI_API_KEY="k").run() as run:
        assert not run.context.get_all(EmbeddingModel)
    with runner(OPENAI_API_KEY="k", VERNAL_OPENAI__EMBEDDING__MODEL="e-1").run() as run:
        model = run.context.get(EmbeddingModel)
        assert (
            repr(model)
            == "OpenAiEmbeddingModel(model='e-1', url='https://api.openai.com/v1/embeddings', profile='openai')"
        )


def headers_at_an_address_of_its_own(**more: str) -> dict[str, str]:
    """The headers that arrive at `openai.embedding.base_url`."""

    async def main() -> dict[str, str]:
        async with replaying(answer([0.5])) as server:
            environ = {
                "VERNAL_OPENAI__API_KEY": "of-the-chat",
                "VERNAL_OPENAI__HEADERS__X_SECRET": "of-the-chat-too",
                "VERNAL_OPENAI__EMBEDDING__MODEL": "e-1",
                "VERNAL_OPENAI__EMBEDDING__BASE_URL": server.url,
                **more,
            }
            async with runner(**environ).run() as run:
                await run.context.get(EmbeddingModel).aembed(["a"])
            return server.asked[0].headers

    return asyncio.run(main())


def test_keys_stay_with_their_service() -> None:
    """R28: at an address of its own the embedding model sends its own key, and nothing that is the chat model's."""
    headers = headers_at_an_address_of_its_own(VERNAL_OPENAI__EMBEDDING__API_KEY="its-own")
    assert headers["authorization"] == "Bearer its-own"
    assert "of-the-chat" not in " ".join(headers_at_an_address_of_its_own().values())

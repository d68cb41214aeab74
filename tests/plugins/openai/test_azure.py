"""Azure: two schemes of addresses, and tokens that expire."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from vernal import Prompt
from vernal.http import AuthenticationError, RetryPolicy
from vernal.testing.server import Reply, replaying
from vernal_openai import PROFILES, OpenAiChatModel, OpenAiChatOptions, OpenAiEmbeddingModel
from vernal_openai.addresses import address_for

HOST = "https://me.openai.azure.com"
ANSWER = Reply.of_json({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]})
VERSION = "2024-10-21"


@pytest.mark.parametrize(
    ("base_url", "version", "address"),
    [
        (HOST, None, "/openai/v1/chat/completions"),
        (f"{HOST}/", None, "/openai/v1/chat/completions"),
        (f"{HOST}/openai/v1", None, "/openai/v1/chat/completions"),
        (f"{HOST}/openai/v1/", VERSION, "/openai/v1/chat/completions"),
        (HOST, VERSION, f"/openai/deployments/gpt%204/chat/completions?api-version={VERSION}"),
        (f"{HOST}/openai", VERSION, f"/openai/deployments/gpt%204/chat/completions?api-version={VERSION}"),
        (f"{HOST}/openai/deployments/d", VERSION, f"/openai/deployments/d/chat/completions?api-version={VERSION}"),
        (f"{HOST}/openai/deployments/d?api-version=1", VERSION, "/openai/deployments/d/chat/completions?api-version=1"),
        (f"{HOST}/openai/deployments/d/chat/completions", None, "/openai/deployments/d/chat/completions"),
    ],
)
def test_an_endpoint_is_completed_to_an_address(base_url: str, version: str | None, address: str) -> None:
    """The endpoint alone is enough; a whole address is taken as it is."""
    found = address_for(PROFILES["azure"], base_url, "/chat/completions", version)
    assert found.url + found.path("gpt 4") == f"{HOST}{address}"


def test_a_version_changes_nothing_elsewhere() -> None:
    """OPENAI_API_VERSION may be set for other tools while another service is asked."""
    found = address_for(PROFILES["groq"], "https://api.groq.com/openai/v1", "/chat/completions", VERSION)
    assert found.url + found.path("m") == "https://api.groq.com/openai/v1/chat/completions"


def asked(ask: Callable[[str], Any], *replies: Reply) -> list[tuple[str, dict[str, str]]]:
    """Path and headers of the requests that `ask` makes of a service at an address."""

    async def main() -> list[tuple[str, dict[str, str]]]:
        async with replaying(*replies) as server:
            await ask(server.url.removesuffix("/v1"))
            return [(one.path, {name.lower(): value for name, value in one.headers.items()}) for one in server.asked]

    return asyncio.run(main())


def test_the_model_of_a_request_is_its_deployment() -> None:
    """Each request goes to the deployment that its options name; the key goes in the header that Azure wants."""

    async def ask(url: str) -> None:
        options = OpenAiChatOptions(model="small")
        model = OpenAiChatModel(api_key="k", base_url=url, profile="azure", api_version=VERSION, options=options)
        await model.acall(Prompt("hi"))
        await model.acall(Prompt("hi", OpenAiChatOptions(model="large")))

    (first, headers), (second, _) = asked(ask, ANSWER, ANSWER)
    assert first == f"/openai/deployments/small/chat/completions?api-version={VERSION}"
    assert second == f"/openai/deployments/large/chat/completions?api-version={VERSION}"
    assert headers["api-key"] == "k"
    assert "authorization" not in headers


def test_vectors_come_from_their_deployment() -> None:
    """Embeddings have the same scheme."""
    answer = Reply.of_json({"data": [{"index": 0, "embedding": [1.0]}]})

    async def ask(url: str) -> None:
        model = OpenAiEmbeddingModel(api_key="k", base_url=url, profile="azure", api_version=VERSION, model="vectors")
        await model.aembed(["hi"])

    ((path, _),) = asked(ask, answer)
    assert path == f"/openai/deployments/vectors/embeddings?api-version={VERSION}"


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
def test_a_token_is_asked_for_with_each_request(kind: str) -> None:
    """A token that expires is fresh each time, and is a bearer token whatever header a key would go in."""
    tokens = iter(["one", "two"])

    async def later() -> str:
        return next(tokens)

    async def ask(url: str) -> None:
        model = OpenAiChatModel(
            base_url=url,
            profile="azure",
            token_provider=later if kind == "asynchronous" else lambda: next(tokens),
            options=OpenAiChatOptions(model="m"),
        )
        await model.acall(Prompt("hi"))
        async for _ in model.astream(Prompt("hi")):
            pass

    sent = asked(ask, ANSWER, Reply.of_events({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}))
    assert [headers["authorization"] for _, headers in sent] == ["Bearer one", "Bearer two"]
    assert not any("api-key" in headers for _, headers in sent)


def test_a_token_is_in_no_error() -> None:
    """R28: what a service says back of the token is masked."""
    told = Reply.of_json({"error": {"message": "the token tok-secret has expired"}}, status=401)
    given = {"options": OpenAiChatOptions(model="m"), "retry": RetryPolicy(max_attempts=1)}

    async def ask(url: str) -> None:
        model = OpenAiChatModel(base_url=url, token_provider=lambda: "tok-secret", **given)  # type: ignore[arg-type]
        with pytest.raises(AuthenticationError, match=r"the token \*\*\* has expired"):
            await model.acall(Prompt("hi"))

    asked(ask, told)

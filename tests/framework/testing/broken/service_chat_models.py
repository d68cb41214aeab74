"""Models behind a service that each do one thing wrong, and the checks of the suite that must see it (`fails`)."""

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from tests.plugins.openai import test_contract

from vernal import (
    AssistantMessage,
    ChatModel,
    ChatOptions,
    ChatResponse,
    Generation,
    MessageAggregator,
    ModelError,
    Prompt,
    UserMessage,
)
from vernal.http import BrokenStreamError, RetryPolicy, ServiceError


class _Suite(test_contract.TestOpenAiChatModel):
    """The suite as `OpenAiChatModel` passes it, around which something is wrong."""

    patience = 0.5
    broken: "type[_Around]"

    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        return self.broken(super().create_model(base_url, retry))


class _Around(ChatModel):
    """Does what the model does."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    async def acall(self, prompt: Prompt) -> ChatResponse:
        return await self.model.acall(self.asked(prompt))

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        stream = self.model.astream(self.asked(prompt))
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await stream.aclose()  # type: ignore[attr-defined]  # streams of models can be closed

    def asked(self, prompt: Prompt) -> Prompt:
        """What goes to the model."""
        return prompt


class TestSound(_Suite):
    """Nothing is wrong."""

    fails: frozenset[str] = frozenset()
    broken = _Around


class TestWithoutUsage(_Suite):
    """What the service counts is dropped."""

    fails = frozenset({"test_an_answer_is_read_whole"})

    class broken(_Around):  # noqa: N801  # stands where the attribute stands
        async def acall(self, prompt: Prompt) -> ChatResponse:
            return ChatResponse((await super().acall(prompt)).generations)

        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            async for chunk in super().astream(prompt):
                yield ChatResponse(chunk.generations)


class TestStreamsWithoutReasons(_Suite):
    """A stream does not say why it ended."""

    fails = frozenset({"test_an_answer_is_read_whole", "test_the_four_forms_agree"})

    class broken(_Around):  # noqa: N801
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            async for chunk in super().astream(prompt):
                yield chunk.copy(generations=tuple(Generation(each.output) for each in chunk.generations))


class TestBuffering(_Suite):
    """The stream is read to its end before any of it is given."""

    fails = frozenset(
        {
            "test_a_stream_gives_text_in_pieces_and_calls_whole",
            "test_text_is_there_while_the_service_still_writes",
            "test_a_broken_stream_is_an_error_after_what_came",
        }
    )

    class broken(_Around):  # noqa: N801
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            aggregator = MessageAggregator()
            async for chunk in super().astream(prompt):
                aggregator.add(chunk)
            yield aggregator.collected()


class TestLeavesConnections(_Suite):
    """A stream that is closed goes on below."""

    fails = frozenset({"test_text_is_there_while_the_service_still_writes"})

    class broken(_Around):  # noqa: N801
        kept: AsyncIterator[ChatResponse]

        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            self.kept = self.model.astream(prompt)
            async for chunk in self.kept:
                yield chunk


class TestShielded(_Suite):
    """A cancelled request goes on below."""

    fails = frozenset({"test_a_cancelled_request_closes_its_connection"})

    class broken(_Around):  # noqa: N801
        async def acall(self, prompt: Prompt) -> ChatResponse:
            return await asyncio.shield(super().acall(prompt))


class TestSwallowsBreaks(_Suite):
    """A broken stream ends as if it were whole."""

    fails = frozenset({"test_a_broken_stream_is_an_error_after_what_came"})

    class broken(_Around):  # noqa: N801
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            try:
                async for chunk in super().astream(prompt):
                    yield chunk
            except BrokenStreamError:
                pass


class TestOneError(_Suite):
    """All errors are one."""

    fails = frozenset({"test_a_refusal_has_its_class"})

    class broken(_Around):  # noqa: N801
        async def acall(self, prompt: Prompt) -> ChatResponse:
            try:
                return await super().acall(prompt)
            except ModelError as error:
                raise ServiceError("it failed", service="test") from error


class TestWithoutRetries(_Suite):
    """The policy of retries is not used."""

    fails = frozenset({"test_a_refusal_has_its_class", "test_a_failed_request_is_sent_again"})
    broken = _Around

    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        return super().create_model(base_url, RetryPolicy(max_attempts=1))


class TestTellsItsKey(_Suite):
    """What the model is printed as has the key."""

    fails = frozenset({"test_no_key_is_told"})

    class broken(_Around):  # noqa: N801
        def __repr__(self) -> str:
            return f"Model(api_key={_Suite.api_key!r})"


class TestConnectsAtOnce(_Suite):
    """The service is reached when the model is made."""

    fails = frozenset({"test_nothing_is_asked_before_the_first_request"})
    broken = _Around

    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        parts = urlsplit(base_url)
        with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # until the server has noticed
        return super().create_model(base_url, retry)


class TestNumbersRequests(_Suite):
    """Each request has something of its own."""

    fails = frozenset({"test_equal_requests_are_equal_bytes", "test_a_suspended_turn_goes_on"})

    class broken(_Around):  # noqa: N801
        numbers = itertools.count()

        def asked(self, prompt: Prompt) -> Prompt:
            return prompt.with_messages((*prompt.messages, UserMessage(f"{next(self.numbers)}")))


class TestWritesIntoThePrompt(_Suite):
    """The model puts options into the prompt that it was given."""

    fails = frozenset({"test_the_prompt_is_not_touched", "test_equal_requests_are_equal_bytes"})

    class broken(_Around):  # noqa: N801
        def asked(self, prompt: Prompt) -> Prompt:
            options = prompt.options
            if options is not None and options.model is None:
                object.__setattr__(prompt, "options", options.copy(max_tokens=(options.max_tokens or 0) + 1))
            return prompt


class TestOneModelOnly(_Suite):
    """The request cannot name another model."""

    fails = frozenset({"test_the_request_names_another_model"})

    class broken(_Around):  # noqa: N801
        def asked(self, prompt: Prompt) -> Prompt:
            return prompt.with_options((prompt.options or ChatOptions()).copy(model=None))


class TestSendsCallsAlone(_Suite):
    """What was said beside calls does not go back."""

    fails = frozenset({"test_results_of_tools_are_accepted_back"})

    class broken(_Around):  # noqa: N801
        def asked(self, prompt: Prompt) -> Prompt:
            return prompt.with_messages(
                each.copy(text=None) if isinstance(each, AssistantMessage) and each.tool_calls else each
                for each in prompt.messages
            )


class TestKeepsTheRawAnswer(_Suite):
    """An object of the service's library is among the metadata."""

    fails = frozenset({"test_a_suspended_turn_goes_on"})

    class broken(_Around):  # noqa: N801
        async def acall(self, prompt: Prompt) -> ChatResponse:
            response = await super().acall(prompt)
            (generation,) = response.generations
            output = generation.output.copy(metadata={"raw": object()})
            return response.copy(generations=(Generation(output, generation.metadata),))


class TestOneStreamAtATime(_Suite):
    """The model has one place for the stream that it reads."""

    fails = frozenset({"test_one_model_answers_many_at_once"})

    class broken(_Around):  # noqa: N801
        busy = False

        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            if self.busy:
                raise RuntimeError("a stream is being read")
            self.busy = True
            try:
                async for chunk in super().astream(prompt):
                    yield chunk
            finally:
                self.busy = False

"""Models that each do one thing wrong, and the checks of the suite that must see it (`fails`)."""

import asyncio
from collections.abc import AsyncIterator

from vernal import AssistantMessage, ChatModel, ChatOptions, ChatResponse, Generation, Prompt
from vernal.testing import ChatModelContract


class _Sound(ChatModel):
    """Takes a step, and answers."""

    async def acall(self, prompt: Prompt) -> ChatResponse:
        await asyncio.sleep(0)
        return ChatResponse.of("Hello")

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        await asyncio.sleep(0)
        yield ChatResponse((Generation(AssistantMessage("Hel")),))
        yield ChatResponse.of("lo")


class TestSound(ChatModelContract):
    """Nothing is wrong."""

    fails: frozenset[str] = frozenset()

    def create_model(self) -> ChatModel:
        return _Sound()


class TestOwnVocabulary(ChatModelContract):
    """The finish reason is the service's word."""

    fails = frozenset({"test_an_answer_is_whole"})

    class Broken(ChatModel):
        async def acall(self, prompt: Prompt) -> ChatResponse:
            return ChatResponse.of("Hello", finish_reason="end_turn")

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestLosesTheLastChunk(ChatModelContract):
    """The stream says less than the call."""

    fails = frozenset({"test_an_answer_is_whole", "test_the_four_forms_agree", "test_one_model_answers_many_at_once"})

    class Broken(_Sound):
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            yield ChatResponse((Generation(AssistantMessage("Hel")),))

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestWritesIntoThePrompt(ChatModelContract):
    """The model puts its options into the prompt that it was given."""

    fails = frozenset({"test_the_prompt_is_not_touched"})
    prompt = Prompt("Hello", ChatOptions(max_tokens=1))

    class Broken(_Sound):
        async def acall(self, prompt: Prompt) -> ChatResponse:
            options = prompt.options or ChatOptions()
            object.__setattr__(prompt, "options", options.copy(max_tokens=(options.max_tokens or 0) + 1))
            return await super().acall(prompt)

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestLeavesATask(ChatModelContract):
    """A stream is filled by a task that nobody ends."""

    fails = frozenset({"test_a_stream_can_be_left_early", "test_it_can_be_cancelled_anywhere"})

    class Broken(_Sound):
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            self.task = asyncio.ensure_future(asyncio.Event().wait())
            async for chunk in super().astream(prompt):
                yield chunk
            self.task.cancel()

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestSwallowsCancellation(ChatModelContract):
    """A cancelled call is answered."""

    fails = frozenset({"test_it_can_be_cancelled_anywhere"})

    class Broken(_Sound):
        async def acall(self, prompt: Prompt) -> ChatResponse:
            try:
                return await super().acall(prompt)
            except asyncio.CancelledError:
                return ChatResponse.of("cancelled")

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestBelongsToOneLoop(ChatModelContract):
    """Only the event loop that asked first may ask again."""

    fails = frozenset({"test_one_model_answers_many_at_once", "test_a_stream_can_be_left_early"})

    class Broken(_Sound):
        loop: asyncio.AbstractEventLoop | None = None

        async def acall(self, prompt: Prompt) -> ChatResponse:
            self._check()
            return await super().acall(prompt)

        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            self._check()
            async for chunk in super().astream(prompt):
                yield chunk

        def _check(self) -> None:
            self.loop = self.loop or asyncio.get_running_loop()
            if self.loop is not asyncio.get_running_loop():
                raise RuntimeError("attached to a different loop")

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestKeepsTheRawAnswer(ChatModelContract):
    """An object of the service's library is among the metadata."""

    fails = frozenset({"test_an_answer_survives_json"})

    class Broken(_Sound):
        async def acall(self, prompt: Prompt) -> ChatResponse:
            response = await super().acall(prompt)
            (generation,) = response.generations
            output = generation.output.copy(metadata={"raw": object()})
            return response.copy(generations=(Generation(output, generation.metadata),))

    def create_model(self) -> ChatModel:
        return self.Broken()


class TestNameless(ChatModelContract):
    """Nobody knows which model it is."""

    fails = frozenset({"test_it_says_what_it_is"})

    class Broken(_Sound):
        service_name = " "

    def create_model(self) -> ChatModel:
        return self.Broken()

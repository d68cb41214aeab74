"""What every chat model must hold, whatever it is made of."""

import asyncio
import threading

import pytest

from vernal.models.aggregator import MessageAggregator
from vernal.models.chat import ChatModel
from vernal.testing.cancellation import every_cancellation
from vernal.testing.contracts.histories import assert_survives_json
from vernal.testing.forms import Form
from vernal.values.options import ChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse, FinishReason
from vernal.values.serialization import dump_messages

ASYNCHRONOUS = (Form.ACALL, Form.ASTREAM)


class ChatModelContract:
    """Tests for a `ChatModel` that answers from what is on this machine; a subclass defines `create_model`.

    `prompt` is what is asked. The model gives the same answer to it each time. A model behind an HTTP service has
    `ServiceChatModelContract`.
    """

    prompt = Prompt("Hello")

    def create_model(self) -> ChatModel:
        """A new model."""
        raise NotImplementedError(f"{type(self).__name__} has no create_model; let it give a new model")

    @pytest.mark.parametrize("form", Form)
    def test_an_answer_is_whole(self, form: Form) -> None:
        """It has a text or tool calls, and says why it ended, in the one vocabulary."""
        response = aggregate(form.ask_model(self.create_model(), self.prompt))
        assert response.text or response.has_tool_calls, f"{response!r} says nothing"
        assert response.finish_reason in list(FinishReason), f"{response.finish_reason!r} is no FinishReason"

    def test_the_four_forms_agree(self) -> None:
        """Text, calls, reasoning, finish reason and usage are the same; a stream aggregates to the call."""
        told = {form: plain(aggregate(form.ask_model(self.create_model(), self.prompt))) for form in Form}
        for form in Form:
            assert told[form] == told[Form.CALL], f"{form.value!r} gives another answer than 'call'"

    @pytest.mark.parametrize("form", Form)
    def test_the_prompt_is_not_touched(self, form: Form) -> None:
        """R26: messages and options are what they were."""
        options = self.prompt.options
        before = dump_messages(self.prompt.messages), repr(options)
        form.ask_model(self.create_model(), self.prompt)
        assert (dump_messages(self.prompt.messages), repr(self.prompt.options)) == before
        assert self.prompt.options is options

    @pytest.mark.parametrize("blocking", [True, False])
    def test_a_stream_can_be_left_early(self, blocking: bool) -> None:
        """R20: after its first chunk; nothing is left running, and the model answers the next request."""
        model = self.create_model()

        async def leave() -> None:
            stream = model.astream(self.prompt)
            async for _ in stream:
                break
            assert hasattr(stream, "aclose"), f"{stream!r} cannot be closed; give an asynchronous generator"
            await stream.aclose()
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, f"the stream was closed, and left running: {left}"

        if blocking:
            with model.stream(self.prompt) as stream:
                next(iter(stream))
        else:
            asyncio.run(leave())
        assert aggregate(Form.CALL.ask_model(model, self.prompt)).generations

    @pytest.mark.parametrize("form", ASYNCHRONOUS)
    def test_it_can_be_cancelled_anywhere(self, form: Form) -> None:
        """R11, R20: the cancellation comes out, and nothing is left running."""
        for _ in every_cancellation(lambda: form.aask_model(self.create_model(), self.prompt)):
            pass

    def test_one_model_answers_many_at_once(self) -> None:
        """Requests of several threads and event loops, in all forms, each get their own answer."""
        alone = plain(aggregate(Form.CALL.ask_model(self.create_model(), self.prompt)))
        model, given = self.create_model(), list[object]()

        def ask(form: Form) -> None:
            try:
                given.append(plain(aggregate(form.ask_model(model, self.prompt))))
            except BaseException as error:  # noqa: BLE001  # shown below, in the thread of the test
                given.append(error)

        threads = [threading.Thread(target=ask, args=(form,)) for form in Form]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert given == [alone] * len(Form)

    def test_an_answer_survives_json(self) -> None:
        """R1, R3: a turn that is suspended goes on in another process with the very same message."""
        assert_survives_json(aggregate(Form.CALL.ask_model(self.create_model(), self.prompt)))

    def test_it_says_what_it_is(self) -> None:
        """A name for observations, and options of its own or None, the same each time (R26)."""
        model = self.create_model()
        assert model.service_name.strip(), "service_name is blank"
        assert isinstance(model.default_options, ChatOptions | None), f"{model.default_options!r} are no ChatOptions"
        assert model.default_options == model.default_options, "default_options differ from one time to the next"


def aggregate(chunks: tuple[ChatResponse, ...]) -> ChatResponse:
    """One response of the chunks of a stream."""
    if len(chunks) == 1:
        return chunks[0]
    aggregator = MessageAggregator()
    for chunk in chunks:
        aggregator.add(chunk)
    return aggregator.response


def plain(response: ChatResponse) -> dict[str, object]:
    """What must be the same in each form."""
    usage = response.usage
    return {
        "texts": [generation.output.text or "" for generation in response.generations],
        "calls": [(call.name, call.arguments) for call in response.tool_calls],
        "reasoning": [generation.output.reasoning or "" for generation in response.generations],
        "finish reason": response.finish_reason,
        "usage": (usage.prompt_tokens, usage.completion_tokens),
    }

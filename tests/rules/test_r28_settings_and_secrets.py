"""R28: a misspelt setting is reported; no secret appears in a repr, log, report or error."""

import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vernal import ChatClient, ChatModel
from vernal.testing import ApplicationContextRunner
from vernal_openai.settings import OpenAiSettings

SECRETS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12, max_size=24).map(lambda t: "sk" + t)
KEYS = ["max_total_tool_calls", "throw_exception_on_error", "max_parallel_calls"]


def runner(secret: str) -> ApplicationContextRunner:
    """An application with a key; its service answers on a port where nobody listens."""
    values = {
        "chat": {"model": "openai:some-model"},
        "openai": {"api_key": secret, "base_url": "http://127.0.0.1:9", "max_attempts": 1},
    }
    return ApplicationContextRunner().with_plugins().with_settings(values)


@settings(max_examples=max(3, settings().max_examples // 8))  # each starts an application
@given(secret=SECRETS)
def test_a_key_is_shown_nowhere(secret: str) -> None:
    """R28: not by what holds it, not by the report of settings, and not by the error of a request that used it."""
    shown: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            shown.append(self.format(record))

    handler = Listening()
    logging.getLogger("vernal").addHandler(handler)
    try:
        with runner(secret).run() as run:
            model = run.context.get(ChatModel)
            shown += [repr(model), repr(run.context), repr(vars(type(model))), repr(getattr(model, "settings", ""))]
            shown += [str(run.conditions), repr(run.context.get(OpenAiSettings)), str(run.context.get(OpenAiSettings))]
            with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is
                run.context.get(ChatClient).prompt("Hello.").call().content()
            error: Any = caught.value
            while error is not None:
                shown += [str(error), repr(error), *getattr(error, "__notes__", ())]
                error = error.__cause__ or error.__context__
    finally:
        logging.getLogger("vernal").removeHandler(handler)
    assert len(shown) > 6
    assert not any(secret in text for text in shown)


def typos(word: str) -> st.SearchStrategy[str]:
    """`word` with a letter left out, doubled, or two changed about."""
    places = st.integers(1, len(word) - 2)
    return st.one_of(
        places.map(lambda i: word[:i] + word[i + 1 :]),
        places.map(lambda i: word[:i] + word[i] + word[i:]),
        places.map(lambda i: word[:i] + word[i + 1] + word[i] + word[i + 2 :]),
    ).filter(lambda text: text not in KEYS and text.replace("_", "") != word.replace("_", ""))


@settings(max_examples=max(3, settings().max_examples // 8))
@given(data=st.data(), key=st.sampled_from(KEYS))
def test_a_misspelt_setting_is_an_error_with_the_near_name(data: st.DataObject, key: str) -> None:
    """R28: in `settings=`; the name that was meant is in the text."""
    wrong = data.draw(typos(key))
    with ApplicationContextRunner().with_plugins().with_settings({"tools": {wrong: 1}}).run() as run:
        assert run.failure is not None
        assert wrong in str(run.failure)
        assert key in str(run.failure)

"""R27: auto-configuration does not depend on discovery order; two candidates fail only where one is needed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    ChatClient,
    ChatModel,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    ToolExecutionExceptionProcessor,
    bean,
    configuration,
    hookimpl,
)
from vernal.testing import ApplicationContextRunner, ScriptedChatModel
from vernal_autoconfig import plugin

DEFAULTS = plugin.vernal_auto_configurations()


def discovered(order: list[type]) -> ApplicationContextRunner:
    """An application that finds its auto-configurations in this order."""

    class Ordered:
        @staticmethod
        @hookimpl
        def vernal_auto_configurations() -> list[type]:
            return order

        vernal_settings = plugin.vernal_settings

    model = ScriptedChatModel(["done"])
    return ApplicationContextRunner().with_plugins({"ordered": Ordered}).with_bean(ChatModel, model)


@given(order=st.permutations(DEFAULTS))
def test_the_beans_are_the_same_in_whatever_order_they_are_found(order: list[type]) -> None:
    """R27: every permutation of the shipped auto-configurations gives the same decisions, and a client that works."""
    with discovered(list(DEFAULTS)).run() as run:
        expected = _decisions(run)
    with discovered(order).run() as run:
        assert _decisions(run) == expected
        client = run.context.get(ChatClient)
        assert client.prompt("Go on.").call().content() == "done"
        advisor = run.context.get(ToolAdvisor)
        assert isinstance(advisor, ToolCallingAdvisor)
        assert advisor.tool_calling_manager is run.context.get(ToolCallingManager)


def _decisions(run: Any) -> list[str]:
    return sorted(run.conditions.render().splitlines()) if hasattr(run.conditions, "render") else [str(run.conditions)]


@configuration
class Two:
    """Two candidates of one type."""

    @bean
    def strict(self) -> ToolExecutionExceptionProcessor:
        return _Strict()

    @bean
    def lenient(self) -> ToolExecutionExceptionProcessor:
        return _Strict()


class _Strict(ToolExecutionExceptionProcessor):
    def process(self, exception: Any) -> str:
        return "told"


def test_two_candidates_fail_where_one_is_needed_naming_both_and_the_remedy() -> None:
    """R27: and where a list is wanted, or nobody asks, they are welcome."""
    with ApplicationContextRunner().with_sources(Two).run() as run:
        assert len(run.context.get_all(ToolExecutionExceptionProcessor)) == 2
        with pytest.raises(Exception, match=r"(?s)strict.*lenient.*primary"):
            run.context.get(ToolExecutionExceptionProcessor)

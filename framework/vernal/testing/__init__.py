"""The testing kit: scripted models, faults, contract suites, the check of histories, and a runner of contexts.

`pytest_plugin` comes with the installation: fixtures, and real models blocked in tests. The contract suites need
pytest; nothing else here does.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vernal.testing.blocking import RealModelBlockedError, real_models_blocked
    from vernal.testing.cancellation import Cancellation, every_cancellation
    from vernal.testing.contracts.chat_memory_repository import ChatMemoryRepositoryContract
    from vernal.testing.contracts.chat_model import ChatModelContract
    from vernal.testing.contracts.service_chat_model import ServiceChatModelContract, StandardAnswer
    from vernal.testing.contracts.tool_advisor import ToolAdvisorContract
    from vernal.testing.contracts.tool_callback import ToolCallbackContract
    from vernal.testing.faults import Fault, FaultyChatMemoryRepository, FaultyChatModel, FaultyToolCallback
    from vernal.testing.forms import Form, Outcome
    from vernal.testing.gate import Gate
    from vernal.testing.replay import assert_replayable
    from vernal.testing.runner import ApplicationContextRunner
    from vernal.testing.scripted import ScriptedChatModel, chunks, tool_call, tool_calls

_HOMES = {
    "ApplicationContextRunner": "runner",
    "Cancellation": "cancellation",
    "ChatMemoryRepositoryContract": "contracts.chat_memory_repository",
    "ChatModelContract": "contracts.chat_model",
    "Fault": "faults",
    "FaultyChatMemoryRepository": "faults",
    "FaultyChatModel": "faults",
    "FaultyToolCallback": "faults",
    "Form": "forms",
    "Gate": "gate",
    "Outcome": "forms",
    "RealModelBlockedError": "blocking",
    "ScriptedChatModel": "scripted",
    "ServiceChatModelContract": "contracts.service_chat_model",
    "StandardAnswer": "contracts.service_chat_model",
    "ToolAdvisorContract": "contracts.tool_advisor",
    "ToolCallbackContract": "contracts.tool_callback",
    "assert_replayable": "replay",
    "chunks": "scripted",
    "every_cancellation": "cancellation",
    "real_models_blocked": "blocking",
    "tool_call": "scripted",
    "tool_calls": "scripted",
}

__all__ = [
    "ApplicationContextRunner",
    "Cancellation",
    "ChatMemoryRepositoryContract",
    "ChatModelContract",
    "Fault",
    "FaultyChatMemoryRepository",
    "FaultyChatModel",
    "FaultyToolCallback",
    "Form",
    "Gate",
    "Outcome",
    "RealModelBlockedError",
    "ScriptedChatModel",
    "ServiceChatModelContract",
    "StandardAnswer",
    "ToolAdvisorContract",
    "ToolCallbackContract",
    "assert_replayable",
    "chunks",
    "every_cancellation",
    "real_models_blocked",
    "tool_call",
    "tool_calls",
]

if not TYPE_CHECKING:  # the runner needs the whole context; who scripts a model does not pay for it

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"vernal.testing.{_HOMES[name]}"), name)

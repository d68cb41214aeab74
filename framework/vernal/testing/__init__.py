"""The testing kit: a scripted model, the check that a history can be replayed, and a runner of contexts.

`pytest_plugin` comes with the installation: fixtures, and real models blocked in tests.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vernal.testing.blocking import RealModelBlockedError, real_models_blocked
    from vernal.testing.replay import assert_replayable
    from vernal.testing.runner import ApplicationContextRunner
    from vernal.testing.scripted import ScriptedChatModel, chunks, tool_call, tool_calls

__all__ = [
    "ApplicationContextRunner",
    "RealModelBlockedError",
    "ScriptedChatModel",
    "assert_replayable",
    "chunks",
    "real_models_blocked",
    "tool_call",
    "tool_calls",
]

if not TYPE_CHECKING:  # the runner needs the whole context; who scripts a model does not pay for it

    def __getattr__(name: str) -> object:
        from importlib import import_module

        homes = {
            "ApplicationContextRunner": "runner",
            "RealModelBlockedError": "blocking",
            "assert_replayable": "replay",
            "real_models_blocked": "blocking",
        }
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"vernal.testing.{homes.get(name, 'scripted')}"), name)

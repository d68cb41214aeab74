"""One plugin: what it is, where it comes from, and what it contributes."""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from vernal.errors import ConfigurationError

if TYPE_CHECKING:
    from vernal.context.settings import Settings

_log = logging.getLogger("vernal.plugins")

State = Literal["loaded", "disabled", "not enabled", "failed"]


class PluginError(ConfigurationError):
    """A plugin that cannot be used, in strict mode; `plugin` says which, `reason` why. The cause is chained."""

    def __init__(self, plugin: "Plugin", reason: str) -> None:
        self.plugin = plugin
        self.reason = reason
        super().__init__(
            f"{plugin}: {reason}. Mend or remove it, set VERNAL_PLUGINS__DISABLED={plugin.name}, "
            "or go on without it with VERNAL_PLUGINS__STRICT=false"
        )


class Plugin:
    """A plugin that was found, loaded or not.

    `state` is "loaded", "disabled" (by `plugins.disabled`), "not enabled" (`plugins.enabled` is set and does not name
    it) or "failed"; `failure` then says why, and `cause` is what was raised. Each hook is called when its contribution
    is first read, once, guarded: where one fails, the plugin becomes "failed" and gives nothing more (`PluginError` is
    raised in strict mode).
    """

    def __init__(self, *, name: str, module: str, distribution: str | None = None, version: str | None = None) -> None:
        self.name = name
        self.module = module
        self.distribution = distribution
        self.version = version
        self.state: State = "loaded"
        self.failure: str | None = None
        self.cause: Exception | None = None
        self.strict = False
        self._hooks: Mapping[str, Callable[[], object]] = {}
        self._answers: dict[str, tuple[Any, ...]] = {}

    def __str__(self) -> str:
        source = f"{self.distribution} {self.version}" if self.distribution else "given to the application"
        return f"plugin {self.name!r} ({source}, {self.module})"

    def __repr__(self) -> str:
        return f"<{self} {self.state}>"

    @property
    def auto_configurations(self) -> tuple[type, ...]:
        """The auto-configurations that it contributes."""
        return self._ask("vernal_auto_configurations", of_classes=True)

    @property
    def settings(self) -> "tuple[type[Settings], ...]":
        """The settings classes that it reads."""
        return self._ask("vernal_settings", of_classes=True)

    @property
    def chat_client_customizers(self) -> tuple[Any, ...]:
        """Callables that change each new chat-client builder."""
        return self._ask("vernal_chat_client_customizers")

    @property
    def tools(self) -> tuple[Any, ...]:
        """Tools, or objects that hold tools."""
        return self._ask("vernal_tools")

    @property
    def commands(self) -> tuple[Any, ...]:
        """Commands for the command line."""
        return self._ask("vernal_commands")

    def attach(self, hooks: Mapping[str, Callable[[], object]]) -> None:
        """Take the plugin's implementations of the hooks; the loader does this."""
        self._hooks = hooks

    def fail(self, reason: str, cause: Exception | None = None) -> None:
        """Note that the plugin cannot be used, and withdraw what it contributed.

        Raises:
            PluginError: In strict mode, once loading is over.
        """
        self.state, self.failure, self.cause = "failed", reason, cause
        self._answers.clear()
        if self.strict:
            raise PluginError(self, reason) from cause
        _log.warning("%s is left out: %s", self, reason)

    def _ask(self, hook: str, *, of_classes: bool = False) -> tuple[Any, ...]:
        if self.state != "loaded" or hook not in self._hooks:
            return ()
        if hook not in self._answers:
            try:
                answer = self._hooks[hook]()
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and stops nobody else
                self.fail(f"{hook}() raised {type(error).__name__}: {error}", error)
                return ()
            if not isinstance(answer, (list, tuple)) or (of_classes and not all(isinstance(x, type) for x in answer)):
                self.fail(f"{hook}() returned {answer!r}, wanted a list" + (" of classes" if of_classes else ""))
                return ()
            self._answers[hook] = tuple(answer)
        return self._answers[hook]

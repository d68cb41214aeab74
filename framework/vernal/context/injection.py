"""Beans for the parameters of tools that are marked `Inject`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vernal.context.points import point_of
from vernal.tools.callback import ToolCallback
from vernal.tools.customization import ToolCustomizer

if TYPE_CHECKING:
    from vernal.context.application_context import ApplicationContext


class BeanInjector(ToolCustomizer):
    """Fills the injected parameters of tools with the beans of a context.

    Whether the beans are there is checked when the tools of a request meet, before a model is asked; they are asked for
    at each call of the tool.

    Raises:
        MissingBeanError, AmbiguousBeanError: where tools are customized, a parameter cannot be filled.
    """

    def __init__(self, context: "ApplicationContext") -> None:
        self._context = context

    def customize(self, callbacks: Sequence[ToolCallback]) -> Sequence[ToolCallback]:
        """The tools, those with injected parameters with their beans."""
        if not any(one.injected for one in callbacks):
            return callbacks
        return [one.with_beans(self._beans(one)) if one.injected else one for one in callbacks]

    def _beans(self, callback: ToolCallback) -> dict[str, Callable[[], Any]]:
        asker = f"the tool {callback.definition.name!r} ({callback.origin})"
        beans: dict[str, Callable[[], Any]] = {}
        for parameter in callback.injected:
            point = point_of(parameter.name, parameter.annotation, asker, has_default=parameter.has_default)
            provider = self._context._provider_of(replace(point, asker=asker))
            if provider is not None:
                beans[parameter.name] = provider
        return beans

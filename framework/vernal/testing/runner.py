"""`ApplicationContextRunner`: applications for tests, isolated; a failed start is a value to assert on."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from vernal.context import Application, ApplicationContext, ConditionReport, bean, configuration
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from dependency_injector.containers import Container


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationContextRunner:
    """Describes an application for a test; every `with_…` and `without_…` gives a new runner.

    Nothing of the surroundings is read unless asked for: no installed plugins, no environment variables, no files.

        runner = ApplicationContextRunner().with_auto_configurations(ToolCallingAutoConfiguration)
        with runner.with_settings({"tools": {"throw_exception_on_error": True}}).run() as run:
            assert run.context.get(ToolExecutionExceptionProcessor).always_throw
        with runner.without_modules("httpx").run() as run:
            assert isinstance(run.failure, MissingBeanError)
    """

    sources: "tuple[type | Container, ...]" = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    directory: Path = Path(os.devnull)
    auto_configurations: tuple[type, ...] | None = None
    plugins: bool | Mapping[str, object] = False
    exclusions: tuple[type | str, ...] = ()
    hidden_modules: frozenset[str] = frozenset()

    def with_sources(self, *sources: "type | Container") -> Self:
        """Add configuration classes and containers."""
        return replace(self, sources=(*self.sources, *sources))

    def with_bean(
        self, bean_type: Callable[..., object], value: object, *, name: str | None = None, primary: bool = False
    ) -> Self:
        """Add an object as a bean of a type; its name is that of the type in small letters unless it is given."""
        return self.with_sources(_holder(bean_type, value, name or _bean_name(bean_type), primary))

    def with_settings(self, settings: Mapping[str, object]) -> Self:
        """Add settings, as the argument `settings=` takes them; top-level keys replace earlier ones."""
        return replace(self, settings={**self.settings, **settings})

    def with_environ(self, environ: Mapping[str, str]) -> Self:
        """Add environment variables."""
        return replace(self, environ={**self.environ, **environ})

    def with_directory(self, directory: Path) -> Self:
        """Look for `.env` and `vernal.toml` in a directory."""
        return replace(self, directory=directory)

    def with_auto_configurations(self, *classes: type) -> Self:
        """Add auto-configurations; they are the only ones then."""
        return replace(self, auto_configurations=(*(self.auto_configurations or ()), *classes))

    def with_plugins(self, plugins: bool | Mapping[str, object] = True) -> Self:
        """Load the installed plugins (True), none (False), or the given modules or objects by plugin name."""
        return replace(self, plugins=plugins)

    def without(self, *auto_configurations: type | str) -> Self:
        """Exclude auto-configurations."""
        return replace(self, exclusions=(*self.exclusions, *auto_configurations))

    def without_modules(self, *names: str) -> Self:
        """Hide modules while the application runs: they cannot be imported, and conditions do not find them."""
        return replace(self, hidden_modules=self.hidden_modules.union(names))

    def application(self) -> Application:
        """The application that is described."""
        return Application(
            *self.sources,
            settings=self.settings,
            auto_configurations=self.auto_configurations,
            plugins=self.plugins,
            exclude=self.exclusions,
            directory=self.directory,
            environ=self.environ,
        )

    def run(self) -> "ContextRun":
        """Start it inside `with` or `async with`, and close it at the end of the block."""
        return ContextRun(self.application(), self.hidden_modules)


class ContextRun:
    """A start of an application, which may have failed."""

    def __init__(self, application: Application, hidden_modules: frozenset[str]) -> None:
        self._application = application
        self._hidden = _hidden(hidden_modules)
        self._context: ApplicationContext | None = None
        self.failure: Exception | None = None

    @property
    def context(self) -> ApplicationContext:
        """The started context.

        Raises:
            Exception: what kept it from starting.
        """
        if self.failure is not None:
            raise self.failure
        if self._context is None:
            raise RuntimeError("the run has not begun; use 'with runner.run() as run'")
        return self._context

    @property
    def conditions(self) -> ConditionReport:
        """What was decided, also where the start failed."""
        report = self._application.conditions
        return report if report is not None else ConditionReport()

    def __enter__(self) -> Self:
        self._hidden.__enter__()
        try:
            self._context = self._application.start()
        except Exception as error:  # noqa: BLE001 - a failed start is what a test may be about
            self.failure = error
        except BaseException:
            self._hidden.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._context is not None:
                self._context.close()
        finally:
            self._hidden.__exit__(None, None, None)

    async def __aenter__(self) -> Self:
        self._hidden.__enter__()
        try:
            self._context = await self._application.astart()
        except Exception as error:  # noqa: BLE001 - the same
            self.failure = error
        except BaseException:
            self._hidden.__exit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._context is not None:
                await self._context.aclose()
        finally:
            self._hidden.__exit__(None, None, None)


@contextmanager
def _hidden(names: frozenset[str]) -> Iterator[None]:
    """Modules that cannot be imported: None in `sys.modules` stops both an import and a search for the module."""
    inside = {
        loaded for loaded in sys.modules if any(loaded == name or loaded.startswith(f"{name}.") for name in names)
    }
    kept: dict[str, ModuleType | None] = {name: sys.modules.get(name) for name in inside | names}
    hiding: dict[str, Any] = dict.fromkeys(kept)
    sys.modules.update(hiding)
    try:
        yield
    finally:
        for name, module in kept.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def _holder(bean_type: Any, value: object, name: str, primary: bool) -> type:
    """A configuration class with one bean."""

    def give() -> Any:
        return value

    give.__annotations__["return"] = bean_type
    give.__name__ = name
    method = bean(name=name, primary=primary)(give)
    return configuration(type(f"Bean_{name}", (), {name: staticmethod(method), "__module__": __name__}))


def _bean_name(bean_type: Any) -> str:
    name = getattr(bean_type, "__name__", str(bean_type))
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").lower()

"""Looking into an application without starting it: everything decided and checked, nothing built."""

import importlib
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vernal.context.application import Application
from vernal.context.failures import FailureReport, analyze
from vernal.errors import UsageError

if TYPE_CHECKING:
    from vernal.context.application_context import ApplicationContext
    from vernal.context.settings import SettingRow, Settings
    from vernal.context.settings.unknown import UnknownSetting


@dataclass(kw_only=True, eq=False)
class Inspection:
    """What became of an application: `context` where its beans fit together, else `failure`.

    `warnings` are what was logged meanwhile, and is then said by the views.
    """

    application: Application
    context: "ApplicationContext | None" = None
    failure: FailureReport | None = None
    warnings: list[logging.LogRecord] = field(default_factory=list)

    @classmethod
    def of(cls, application: Application) -> "Inspection":
        """Decide the application without starting it: no server is asked, no file opened; a failure is a value."""
        inspection = cls(application=application)
        with collected_warnings() as inspection.warnings:
            try:
                inspection.context = application.check()
            except Exception as error:  # noqa: BLE001 - whatever keeps it from starting is what is looked for
                inspection.failure = analyze(error)
        return inspection

    @contextmanager
    def building_on_request(self) -> "Iterator[ApplicationContext]":
        """A context whose beans are built when they are asked for, and none before; it is closed at the end."""
        with collected_warnings():  # deciding again says nothing that is not in `warnings`
            context = self.application._decided()
            try:
                context._fill_open_dependencies()
                yield context
            finally:
                context.close()

    @contextmanager
    def running(self) -> "Iterator[ApplicationContext]":
        """The context of the application, started and closed again as it is in earnest."""
        with collected_warnings(), self.application as context:
            yield context

    @property
    def settings_classes(self) -> "tuple[type[Settings], ...]":
        """The settings classes that are known: the framework's, those of plugins, and those that beans take."""
        from vernal.context.own_settings import AutoConfigureSettings
        from vernal.context.settings import PluginsSettings, RootSettings

        plugins, environment = self.application.loaded_plugins, self.application.environment
        contributed = plugins.settings if plugins is not None else ()
        asked = environment.settings_classes if environment is not None else ()
        return tuple(dict.fromkeys((RootSettings, PluginsSettings, AutoConfigureSettings, *contributed, *asked)))

    @property
    def unknown_settings(self) -> "list[UnknownSetting]":
        """The keys that nothing reads; none is known before the beans are, since beans take settings."""
        from vernal.context.settings.unknown import find_unknown

        environment, plugins = self.application.environment, self.application.loaded_plugins
        if environment is None or plugins is None or self.context is None:
            return []
        return list(find_unknown(environment, self.settings_classes, plugins.left_out))

    @property
    def settings_rows(self) -> "list[SettingRow]":
        """Every setting with its value and origin; none where even the environment could not be read."""
        from vernal.context.settings import describe

        environment = self.application.environment
        return describe(environment, self.settings_classes) if environment is not None else []


def inspect_application(place: str | None) -> Inspection:
    """Decide the application at `module:attribute`, or one without sources of its own.

    Raises:
        UsageError: There is nothing at that place that could be an application.
    """
    return Inspection.of(Application() if place is None else find_application(place))


class _Collector(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


@contextmanager
def collected_warnings() -> Iterator[list[logging.LogRecord]]:
    """What vernal warns of inside the block, in place of the error stream where no logging is set up."""
    records: list[logging.LogRecord] = []
    handler = _Collector(records)
    logger = logging.getLogger("vernal")
    logger.addHandler(handler)
    try:
        yield records
    finally:
        logger.removeHandler(handler)


def find_application(place: str) -> Application:
    """The application at `module:attribute`: an `Application`, a source of beans, or a list of sources.

    Modules are looked for in the working directory too.

    Raises:
        UsageError: There is no such module or attribute, or it is something else.
    """
    module_name, _, attribute = place.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"--app {place!r}: wanted module:attribute, such as 'app:application' or 'app:Beans'")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise UsageError(f"--app {place!r}: there is no module {error.name!r} here or installed") from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise UsageError(f"--app {place!r}: {module_name} has no {attribute!r}")
        found = getattr(found, name)
    if isinstance(found, Application):
        return found
    sources = tuple(found) if isinstance(found, (list, tuple)) else (found,)
    try:
        return Application(*sources)
    except TypeError as error:
        raise UsageError(f"--app {place!r}: {error}") from error

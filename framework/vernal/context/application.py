"""`Application`: what an application is made of, and how it becomes a started context."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from vernal.context.application_context import ApplicationContext
from vernal.context.collection import Collection
from vernal.context.conditions.base import ModuleProbe
from vernal.context.conditions.outcome import ConditionReport
from vernal.context.configurations import ConfigurationSource, Provenance, configuration_mark
from vernal.context.containers import ContainerSource, is_container
from vernal.context.definitions import BeanDefinition, Construction, Origin, OriginKind
from vernal.context.exclusions import exclusions_of
from vernal.context.failures.errors import KeptOut
from vernal.context.graph import BeanGraph
from vernal.context.ordering import AutoConfigurationOrder
from vernal.errors import UsageError
from vernal.runtime.loading import loading

if TYPE_CHECKING:
    from dependency_injector.containers import Container

    from vernal.context.plugins import LoadedPlugins
    from vernal.context.settings import Environment


class Application:
    """An application: the user's beans, completed by the auto-configurations of vernal and of the installed plugins.

    `with Application(Beans, Tools) as context` (or `async with`) starts it and closes it; `start()` and `astart()`
    leave the closing to the caller. It may be started again, each time with new beans. Nothing is read before.

    Args:
        sources: Classes marked `@configuration`, and containers of dependency-injector (class or instance).
        settings: Settings that win over all others, nested or dotted: `{"tools": {"throw_exception_on_error": True}}`.
        auto_configurations: Exactly these auto-configurations, in place of those that plugins bring.
        plugins: True for the installed plugins, False for none (and so no auto-configurations), or the plugins
            themselves by name: modules or objects with `@hookimpl` functions, in place of the installed ones.
        exclude: Auto-configurations to leave out, as classes or names; `VERNAL_AUTOCONFIGURE__EXCLUDE` adds to it.
        directory: Where `.env` and `vernal.toml` are looked for; the working directory by default.
        environ: Environment variables, in place of those of the process.

    Raises:
        TypeError: a source is neither a configuration class nor a container, or another argument is of a wrong kind.
    """

    def __init__(
        self,
        *sources: "type | Container",
        settings: Mapping[str, object] | None = None,
        auto_configurations: Sequence[type] | None = None,
        plugins: bool | Mapping[str, object] = True,
        exclude: Iterable[type | str] = (),
        directory: Path | str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        for source in sources:
            _check_source(source)
        for each in auto_configurations or ():
            if not _is_auto_configuration(each):
                raise TypeError(f"auto_configurations: {each!r} is not a class marked @auto_configuration")
        _check_mapping("settings", settings, "nested or dotted names, such as {'tools.timeout': '5s'}")
        _check_mapping("environ", environ, "variables by their names")
        if not isinstance(plugins, bool):
            _check_mapping("plugins", plugins, "True, False, or plugins by their names")
        self._sources = tuple(dict.fromkeys(sources))
        self._settings = settings
        self._auto_configurations = auto_configurations
        self._plugins = plugins
        self._exclude = _excluded(exclude)
        self._directory = None if directory is None else Path(directory)
        self._environ = environ
        self._entered: list[ApplicationContext] = []
        self._collection: Collection | None = None
        self.conditions: ConditionReport | None = None
        self.environment: Environment | None = None
        self.loaded_plugins: LoadedPlugins | None = None

    @property
    def directory(self) -> Path:
        """Where `.env` and `vernal.toml` are looked for."""
        return self._directory or Path.cwd()

    @property
    def beans(self) -> Mapping[str, BeanDefinition]:
        """The beans that the last start or check has chosen, by name, also where they do not fit together."""
        chosen = self._collection.registry if self._collection is not None else ()
        return MappingProxyType({one.name: one for one in chosen})

    @property
    def kept_out(self) -> tuple[KeptOut, ...]:
        """The beans that the last start or check has not chosen, each with the decision that kept it out."""
        rejected = self._collection.rejected if self._collection is not None else ()
        return tuple(each.kept_out for each in rejected)

    def check(self) -> ApplicationContext:
        """Choose, check and link the beans without building any: what would keep the application from starting.

        The context that is given can be looked at (`beans`, `graph`, `conditions`); it gives no beans and needs no
        closing. What was decided stays in `conditions`, `environment`, `loaded_plugins`, `beans` and `kept_out`, also
        when the check fails.

        Raises:
            ContextError: the beans do not fit together.
            SettingsError: a setting is wrong.
            PluginError: a plugin cannot be used, and `plugins.strict` is true.
        """
        context = self._decided()
        context._dismiss()
        return context

    def start(self) -> ApplicationContext:
        """Choose, check and link the beans, start those that start with the context, and give the context.

        What was decided stays in the attributes that `check` names, also when the start fails.

        Raises:
            ContextError: the beans do not fit together, or one that starts with the context could not be built.
            SettingsError: a setting is wrong.
            PluginError: a plugin cannot be used, and `plugins.strict` is true.
        """
        context = self._decided()
        context._start()
        return context

    async def astart(self) -> ApplicationContext:
        """Like `start`, with the asynchronous beans on the running event loop."""
        context = self._decided()
        await context._astart()
        return context

    def __enter__(self) -> ApplicationContext:
        self._entered.append(self.start())
        return self._entered[-1]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._leave().close()

    async def __aenter__(self) -> ApplicationContext:
        self._entered.append(await self.astart())
        return self._entered[-1]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._leave().aclose()

    def _leave(self) -> ApplicationContext:
        if not self._entered:
            raise UsageError("this application is left more often than it was entered")
        return self._entered.pop()

    @loading("vernal.context.plugins.loading")
    def _decided(self) -> ApplicationContext:
        """A context in which everything is decided, checked and linked, and nothing is built."""
        self._collection = self.conditions = self.environment = self.loaded_plugins = None
        environment, plugins = self._surroundings()
        collection = self._collection = Collection(environment=environment, has_module=ModuleProbe())
        self.conditions = collection.report
        containers = [ContainerSource(source) for source in self._sources if is_container(source)]
        try:
            return ApplicationContext(collection, self._graph(collection, containers, plugins), containers)
        except BaseException:
            for container in containers:
                container.release()
            raise

    def _graph(
        self, collection: Collection, containers: Iterable[ContainerSource], plugins: "LoadedPlugins"
    ) -> BeanGraph:
        """All that is collected, checked."""
        from vernal.context.own_settings import AutoConfigureSettings

        environment = collection.environment
        collection.add_definitions(_context_beans(environment, plugins))
        for container in containers:
            collection.add_definitions(container.definitions())
        collection.add_configurations(
            ConfigurationSource(source, Provenance())
            for source in self._sources
            if isinstance(source, type) and not is_container(source)
        )
        try:
            self._add_auto_configurations(collection, plugins)
        finally:
            plugins.check()  # what a missing plugin has led to is no news beside it
        failed = plugins.failures
        graph = BeanGraph(collection.registry, environment, collection.rejected, failed_plugins=failed)
        environment.check_unknown(
            (*plugins.settings, *graph.settings, AutoConfigureSettings), disabled_plugins=plugins.left_out
        )
        return graph

    def _surroundings(self) -> "tuple[Environment, LoadedPlugins]":
        """What is set and what is installed, read anew for each start."""
        from vernal.context.plugins import load_plugins
        from vernal.context.settings import Environment

        self.environment = Environment.load(self._settings, directory=self.directory, environ=self._environ)
        extra = None if isinstance(self._plugins, bool) else self._plugins
        self.loaded_plugins = load_plugins(self.environment, discover=self._plugins is True, extra=extra)
        return self.environment, self.loaded_plugins

    def _add_auto_configurations(self, collection: Collection, plugins: "LoadedPlugins") -> None:
        found = list(self._found_auto_configurations(plugins))
        exclusions = exclusions_of(found, self._exclude, collection.environment)
        for source in found:
            if source.full_name in exclusions:
                collection.reject_excluded(source, exclusions[source.full_name])
        collection.add_auto_configurations(
            AutoConfigurationOrder(source for source in found if source.full_name not in exclusions)
        )

    def _found_auto_configurations(self, plugins: "LoadedPlugins") -> Iterator[ConfigurationSource]:
        if self._auto_configurations is not None:
            provenance = Provenance(kind=OriginKind.AUTO_CONFIGURATION)
            for each in dict.fromkeys(self._auto_configurations):
                yield ConfigurationSource(each, provenance)
            return
        seen: set[type] = set()
        for plugin in plugins:
            provenance = Provenance(
                kind=OriginKind.AUTO_CONFIGURATION,
                plugin=plugin.name,
                version=plugin.version,
                rank=plugins.preference(plugin),
            )
            for each in plugin.auto_configurations:
                if not _is_auto_configuration(each):
                    plugin.fail(f"it brings {each.__qualname__}, which is not marked @auto_configuration")
                    break
                if each not in seen:
                    seen.add(each)
                    yield ConfigurationSource(each, provenance)


def _excluded(given: object) -> tuple[type | str, ...]:
    excluded = tuple(given) if isinstance(given, Iterable) and not isinstance(given, (str, type)) else (given,)
    for each in excluded:
        if not isinstance(each, (str, type)):
            raise TypeError(f"exclude has {each!r}; auto-configurations are wanted, as classes or by their names")
    return excluded


def _check_mapping(name: str, value: object, wanted: str) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{name} is {value!r}; a mapping is wanted: {wanted}")


def _check_source(source: Any) -> None:
    mark = configuration_mark(source)
    if mark is not None and mark.automatic:
        raise TypeError(
            f"Application({source.__qualname__}): an auto-configuration is no source of user beans; pass it as "
            "auto_configurations=[…], or mark it @configuration"
        )
    if mark is None and not is_container(source):
        wanted = "a class marked @configuration or a DeclarativeContainer is wanted"
        if not isinstance(source, type) and configuration_mark(type(source)) is not None:
            wanted += f"; give the class {type(source).__qualname__}, of which the context makes an object itself"
        raise TypeError(f"Application({source!r}): {wanted}")


def _is_auto_configuration(cls: Any) -> bool:
    mark = configuration_mark(cls)
    return mark is not None and mark.automatic


def _context_beans(environment: "Environment", plugins: "LoadedPlugins") -> Iterator[BeanDefinition]:
    """What the context itself offers to beans."""
    own: dict[str, tuple[type, object]] = {
        "application_context": (ApplicationContext, None),
        "environment": (type(environment), environment),
        "loaded_plugins": (type(plugins), plugins),
    }
    for name, (bean_type, value) in own.items():
        yield BeanDefinition(
            name=name,
            type=bean_type,
            origin=Origin(kind=OriginKind.CONTEXT, source="the context"),
            construction=Construction.OBJECT,
            value=value,
        )

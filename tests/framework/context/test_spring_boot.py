"""What Spring Boot's context does, row by row of the table in the specification: each has its counterpart here.

Rows about web servers are left out. Background pre-initialisation is in `tests/framework/http/test_first_requests.py`;
for the rest, what is slow is imported when it is first needed, and `test_imports.py` keeps that.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from pathlib import Path

import pytest

from vernal.context import (
    AmbiguousBeanError,
    Application,
    BeanCreationError,
    FailureReport,
    MissingBeanError,
    ObjectProvider,
    OrderCycleError,
    UnknownExclusionError,
    analyze,
    auto_configuration,
    bean,
    configuration,
    on_bean,
    on_missing_bean,
    on_module,
    on_profile,
    on_setting,
    on_single_candidate,
    primary,
)
from vernal.context.plugins import PluginError, hookimpl
from vernal.context.settings import Settings, SettingsError, describe
from vernal.errors import VernalError
from vernal.testing.runner import ApplicationContextRunner

RUNNER = ApplicationContextRunner()


class Store:
    def __init__(self, by: str = "user") -> None:
        self.by = by


class FileStore(Store):
    pass


class Index:
    pass


@auto_configuration
class StoreAutoConfiguration:
    @bean
    @on_missing_bean
    def store(self) -> Store:
        return Store("default")


@auto_configuration(after=StoreAutoConfiguration)
class IndexAutoConfiguration:
    @bean
    @on_single_candidate(Store)
    def index(self, store: Store) -> Index:
        return Index()


@configuration
class OwnStore:
    @bean
    def file_store(self) -> FileStore:
        return FileStore()


DEFAULTS = RUNNER.with_auto_configurations(IndexAutoConfiguration, StoreAutoConfiguration)


def test_discovery() -> None:
    """Discovery: plugins list their auto-configurations; one that lists nothing at all is refused by name and place."""

    class Good:
        @hookimpl
        def vernal_auto_configurations(self) -> list[type]:
            return [StoreAutoConfiguration]

    class Empty:
        pass

    plugins = {"good": Good(), "empty": Empty()}
    with RUNNER.with_plugins(plugins).run() as run:
        assert run.context.get(Store).by == "default"
    with RUNNER.with_plugins(plugins).with_settings({"plugins": {"strict": True}}).run() as run:
        assert isinstance(run.failure, PluginError)
        assert "plugin 'empty' (given to the application, test_discovery.<locals>.Empty): it has no function" in str(
            run.failure
        )


def test_order_of_work() -> None:
    """Order of work: the user's beans come first, auto-configurations last, whatever is named first."""
    with DEFAULTS.with_sources(OwnStore).run() as run:
        assert run.context.get(Store).by == "user"
        assert [name for name in run.context.beans if "store" in name] == ["file_store"]


def test_sorting() -> None:
    """Sorting: by name, then by `order`, then by before and after; unknown targets are ignored, a cycle is an error."""

    def declare(name: str, **order: object) -> type:
        cls = type(name, (), {"__module__": __name__, "__qualname__": name})
        return auto_configuration(**order)(cls)  # type: ignore[call-overload,no-any-return]  # any of its options

    first, second = declare("B", order=-1), declare("A", before=["D", "NoSuchAutoConfiguration"])
    third, fourth = declare("C"), declare("D", order=-2)
    with RUNNER.with_auto_configurations(third, fourth, second, first).run() as run:
        seen = [record.source for record in run.conditions]
    assert seen == ["A", "D", "B", "C"]
    with RUNNER.with_auto_configurations(declare("E", before="F"), declare("F", before="E")).run() as run:
        assert isinstance(run.failure, OrderCycleError)
        assert {"E", "F"} == {one.__name__ for one in run.failure.cycle}


def test_exclusion() -> None:
    """Exclusion: by class, by setting, all at once, and under a former name; an unknown one is an error."""
    excluded = DEFAULTS.with_settings({"autoconfigure": {"exclude": ["IndexAutoConfiguration"]}})
    with excluded.without(StoreAutoConfiguration).run() as run:
        assert not run.context.has(Store)
        assert not run.context.has(Index)
        assert set(run.conditions.exclusions) == {"StoreAutoConfiguration", "IndexAutoConfiguration"}
    with DEFAULTS.with_environ({"VERNAL_AUTOCONFIGURE__ENABLED": "false"}).run() as run:
        assert not run.context.has(Store)
        assert "VERNAL_AUTOCONFIGURE__ENABLED" in run.conditions.exclusions["StoreAutoConfiguration"]
    with DEFAULTS.without("StoreAutoConfig").run() as run:
        assert isinstance(run.failure, UnknownExclusionError)
        assert "StoreAutoConfiguration" in run.failure.near


def test_a_former_name_still_counts() -> None:
    """Exclusion: who excludes an auto-configuration, or stands before it, under its former name still does so."""

    @auto_configuration(replaces=["OldStoreAutoConfiguration"])
    class NewStoreAutoConfiguration:
        @bean
        @on_missing_bean
        def store(self) -> Store:
            return Store("renamed")

    @auto_configuration(before="OldStoreAutoConfiguration", order=9)
    class PluginStoreAutoConfiguration:
        @bean
        @on_missing_bean
        def plugin_store(self) -> Store:
            return Store("plugin")

    both = RUNNER.with_auto_configurations(NewStoreAutoConfiguration, PluginStoreAutoConfiguration)
    with both.run() as run:
        assert run.context.get(Store).by == "plugin"
    with both.without("OldStoreAutoConfiguration", PluginStoreAutoConfiguration).run() as run:
        assert not run.context.has(Store)


def test_two_evaluation_stages() -> None:
    """Two evaluation stages: modules decide before anything of the class is read, beans decide in order at the end."""

    @auto_configuration
    @on_module("no_such_module")
    class Unreadable:
        @bean
        def store(self) -> "NoSuchModule.Store":  # type: ignore[name-defined]  # noqa: F821  # it is never read
            raise AssertionError

    @auto_configuration
    class Late:
        @bean
        @on_bean(Store)
        def index(self) -> Index:
            return Index()

        @bean
        def store(self) -> Store:
            return Store()

    with RUNNER.with_auto_configurations(Unreadable, Late).run() as run:
        assert run.context.has(Index)
        assert run.conditions["Unreadable"].failure is not None


def test_conditions_on_beans() -> None:
    """OnMissingBean, OnBean, OnSingleCandidate: subtypes count; single is one, or one primary among several."""
    with DEFAULTS.run() as run:
        assert run.context.has(Index)
    with DEFAULTS.with_sources(OwnStore).with_bean(Store, Store(), name="other").run() as run:
        assert not run.context.has(Index)
    with DEFAULTS.with_sources(OwnStore).with_bean(Store, Store(), name="other", primary=True).run() as run:
        assert run.context.has(Index)


def test_conditions_on_settings() -> None:
    """OnProperty: present and not false, or a wanted value in any case; the reason tells absent from different."""

    @auto_configuration
    class Switched:
        @bean
        @on_setting("store.kind", having="File")
        def store(self) -> Store:
            return Store()

        @bean
        @on_setting("store.index", match_if_missing=True)
        def index(self) -> Index:
            return Index()

    runner = RUNNER.with_auto_configurations(Switched)
    for environ, store, index in (
        ({}, False, True),
        ({"VERNAL_STORE__KIND": "FILE", "VERNAL_STORE__INDEX": "False"}, True, False),
        ({"VERNAL_STORE__KIND": "s3", "VERNAL_STORE__INDEX": "anything"}, False, True),
    ):
        with runner.with_environ(environ).run() as run:
            assert (run.context.has(Store), run.context.has(Index)) == (store, index)
            reason = str(run.conditions["Switched.store"].outcomes[0].reason)
            assert ("is not set" in reason) is (not environ)
            assert ("does not have the value 'File'" in reason) is (environ.get("VERNAL_STORE__KIND") == "s3")


def test_report() -> None:
    """Report: each outcome under its class and method, in positive, negative, excluded and unconditional parts."""
    runner = DEFAULTS.with_sources(OwnStore).without(IndexAutoConfiguration)
    with runner.with_auto_configurations(StoreAutoConfiguration).run() as run:
        report = run.conditions.as_dict()
    assert [one["source"] for one in report["negative"]] == ["StoreAutoConfiguration.store"]
    assert report["exclusions"] == {"IndexAutoConfiguration": "excluded by exclude="}
    assert report["unconditional"] == ["OwnStore", "OwnStore.file_store", "StoreAutoConfiguration"]
    assert report["positive"] == []


def test_report_delta() -> None:
    """Report: a delta holds what another start decided otherwise, and nothing else."""
    with DEFAULTS.run() as before, DEFAULTS.with_sources(OwnStore).run() as after:
        delta = after.conditions.delta(before.conditions)
        assert [record.source for record in delta.negative] == ["StoreAutoConfiguration.store"]
        assert "OwnStore" in delta
        assert "StoreAutoConfiguration" not in delta
        back = before.conditions.delta(after.conditions)
        assert back.exclusions["OwnStore"] == "no longer considered"
        assert len(after.conditions.delta(after.conditions)) == 0


def test_ignored_types() -> None:
    """OnMissingBean: beans of ignored types do not keep a default out; the reason says which are ignored."""

    class Fake(Store):
        pass

    @auto_configuration
    class Defaults:
        @bean
        @on_missing_bean(ignored=Fake)
        def store(self) -> Store:
            return Store()

    runner = ApplicationContextRunner().with_auto_configurations(Defaults)
    with runner.with_bean(Fake, Fake(), name="fake").run() as run:
        assert len(run.context.get_all(Store)) == 2
        assert "ignored=" in str(run.conditions["Defaults.store"].outcomes[0])
    with runner.with_bean(Store, Store(), name="own").run() as run:
        assert len(run.context.get_all(Store)) == 1


def test_message_grammar() -> None:
    """Message grammar: every reason is the condition as it is written, a colon, and what was found or not."""
    with DEFAULTS.with_sources(OwnStore).run() as run:
        outcome = run.conditions["StoreAutoConfiguration.store"].outcomes[0]
    assert str(outcome).startswith(
        f"on_missing_bean(): found bean of type {__name__}.Store: 'file_store' from OwnStore"
    )


def test_failure_analyzers() -> None:
    """Failure analyzers: errors are reports with description and action; a plugin registers one for its own errors."""

    class QuotaError(VernalError):
        pass

    @analyze.register
    def _(error: QuotaError) -> FailureReport:
        return FailureReport(kind="quota", summary="The quota is used up.", action="Buy more.")

    assert analyze(QuotaError()).action == "Buy more."
    with RUNNER.run() as run, pytest.raises(MissingBeanError) as missing:
        run.context.get(Store)
    assert missing.value.report.action.startswith("Declare a bean of type")


class Level(Enum):
    LOW_NOISE = "low-noise"


class StoreSettings(Settings, prefix="store"):
    level: Level = Level.LOW_NOISE
    size: int = 1


def test_binding_of_properties(tmp_path: Path) -> None:
    """Properties binding: relaxed, typed, validated, with the origin of each value as file and line."""
    (tmp_path / "vernal.toml").write_text("[store]\nlevel = 'LOW_NOISE'\n")
    with RUNNER.with_directory(tmp_path).with_environ({"vernal_store__size": "3"}).run() as run:
        settings = run.context.get(StoreSettings)
        rows = {row.key: row for row in describe(run.context.environment, [StoreSettings])}
    assert (settings.level, settings.size) == (Level.LOW_NOISE, 3)
    assert "vernal.toml:2" in rows["store.level"].origin
    assert "vernal_store__size" in rows["store.size"].origin
    (tmp_path / "vernal.toml").write_text("[store]\nsize = 'big'\n")
    with RUNNER.with_directory(tmp_path).run() as run, pytest.raises(SettingsError, match=r"vernal\.toml:2"):
        run.context.get(StoreSettings)


def test_precedence(tmp_path: Path) -> None:
    """Precedence: defaults, files, files of profiles (the last wins), environment, arguments; `on_profile` follows."""

    @configuration
    class Profiled:
        @bean
        @on_profile("prod")
        def store(self) -> Store:
            return Store()

        @bean
        def index(self, settings: StoreSettings) -> Index:
            return Index()

    sizes = []
    runner = RUNNER.with_directory(tmp_path).with_sources(Profiled)
    (tmp_path / ".env.dev").write_text("VERNAL_STORE__SIZE=3\n")
    (tmp_path / ".env.prod").write_text("VERNAL_STORE__SIZE=4\n")
    for step in (
        runner,
        (toml := runner.with_environ({})),
        (profiled := toml.with_environ({"VERNAL_PROFILES": "dev,prod"})),
        (environ := profiled.with_environ({"VERNAL_STORE__SIZE": "5"})),
        environ.with_settings({"store": {"size": 6}}),
    ):
        if step is toml:
            (tmp_path / ".env").write_text("VERNAL_STORE__SIZE=2\n")
        with step.run() as run:
            sizes.append(run.context.get(StoreSettings).size)
            assert run.context.has(Store) is (len(sizes) > 2)
    assert sizes == [1, 2, 4, 5, 6]


def test_providers_prototypes_and_primaries() -> None:
    """ObjectProvider, prototype, @Primary, ordered streams: available, unique, in order, and fresh for each."""

    @configuration
    class Stores:
        @bean(order=2)
        def second(self) -> Store:
            return Store("second")

        @bean(order=1)
        @primary
        def first(self) -> Store:
            return Store("first")

        @bean(scope="prototype")
        def index(self) -> Index:
            return Index()

        @bean
        def names(self, stores: ObjectProvider[Store], index: ObjectProvider[Index]) -> list[str]:
            assert index.get() is not index.get()
            return [one.by for one in stores]

    with RUNNER.with_sources(Stores).run() as run:
        assert run.context.get(list[str]) == ["first", "second"]
        assert [one.by for one in run.context.get_all(Store)] == ["first", "second"]
        assert run.context.get(Store).by == "first"
        assert run.context.get(ObjectProvider[Store]).get_if_unique() is run.context.get(Store)
        assert run.context.get(ObjectProvider[FileStore]).get_if_available() is None


def test_lifecycle() -> None:
    """Lifecycle: started in order of dependency and stopped in reverse, each with its time limit."""
    events: list[str] = []

    @configuration
    class Living:
        @bean
        async def index(self, store: Store) -> AsyncIterator[Index]:
            events.append("index starts")
            yield Index()
            events.append("index stops")

        @bean
        def store(self) -> Iterator[Store]:
            events.append("store starts")
            yield Store()
            events.append("store stops")

    with RUNNER.with_sources(Living).run() as run:
        assert run.failure is None
    assert events == ["store starts", "index starts", "index stops", "store stops"]

    @configuration
    class Slow:
        @bean(timeout=0.01)
        async def store(self) -> Store:
            await asyncio.Event().wait()
            return Store()

    with RUNNER.with_sources(Slow).run() as run:
        assert isinstance(run.failure, BeanCreationError)
        assert "its time was up" in str(run.failure)


def test_test_runner() -> None:
    """Test runner: an immutable description; a start that failed is a value, and modules can be hidden."""

    @auto_configuration
    @on_module("json")
    class JsonStore:
        @bean
        def json_store(self) -> Store:
            return Store("json")

    runner = RUNNER.with_auto_configurations(JsonStore)
    with runner.run() as run:
        assert run.context.get(Store).by == "json"
    with runner.without_modules("json").run() as run:
        assert not run.context.has(Store)
    with runner.with_bean(Store, Store(), name="other").run() as run, pytest.raises(AmbiguousBeanError):
        run.context.get(Store)


def test_actuator() -> None:
    """Actuator: beans, conditions and settings of a context as data, without starting it."""
    application = Application(
        OwnStore, auto_configurations=[StoreAutoConfiguration], plugins=False, environ={"VERNAL_STORE__SIZE": "3"}
    )
    context = application.check()
    assert context.beans["file_store"].type is FileStore
    assert context.graph["file_store"] == (f"{__name__}.OwnStore",)
    assert [one.name for one in application.kept_out] == ["store"]
    assert application.conditions is not None
    assert application.conditions.as_dict()["negative"]
    assert {row.value for row in describe(context.environment, [StoreSettings])} == {"3", "low-noise"}

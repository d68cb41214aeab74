"""Conditions: what they look at, what they decide, and what is recorded of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vernal.context import (
    ConditionContext,
    ConditionOutcome,
    auto_configuration,
    bean,
    condition,
    configuration,
    on_bean,
    on_missing_bean,
    on_missing_module,
    on_module,
    on_profile,
    on_setting,
    on_single_candidate,
)
from vernal.context.conditions import Condition
from vernal.context.settings import Settings
from vernal.errors import ConfigurationError
from vernal.testing.runner import ApplicationContextRunner


class Thing:
    pass


class Special(Thing):
    pass


class Other:
    pass


class ThingSettings(Settings, prefix="thing"):
    kind: object = None


@configuration
class Known:
    """Takes the settings of the tests, so that their keys are known."""

    @bean
    def kind(self, settings: ThingSettings) -> complex:
        raise AssertionError(settings)


def decided(one: Condition, runner: ApplicationContextRunner | None = None) -> ConditionOutcome:
    """What a condition decides on a bean method of an application."""

    @auto_configuration
    class Defaults:
        @bean
        @one
        def thing(self) -> Other:
            return Other()

    runner = runner or ApplicationContextRunner()
    with runner.with_auto_configurations(Defaults).run() as run:
        (outcome,) = run.conditions["Defaults.thing"].outcomes
        assert run.context.has(Other) is outcome.matched
        return outcome


def test_a_default_steps_back_for_a_bean_of_the_user() -> None:
    """TAC-09: bare `@on_missing_bean` means the method's own type; a bean of the user, also of a subtype, wins."""

    @auto_configuration
    class Defaults:
        @bean
        @on_missing_bean
        def thing(self) -> Thing:
            return Thing()

    @configuration
    class Beans:
        @bean
        def special(self) -> Special:
            return Special()

    runner = ApplicationContextRunner().with_auto_configurations(Defaults)
    with runner.run() as run:
        assert type(run.context.get(Thing)) is Thing
        assert run.conditions["Defaults.thing"].matched
    with runner.with_sources(Beans).run() as run:
        assert type(run.context.get(Thing)) is Special
        failure = run.conditions["Defaults.thing"].failure
        assert failure is not None
        assert "'special' from Beans.special" in failure.reason


def test_missing_bean_by_type_and_by_name() -> None:
    """`on_missing_bean(T)` and `on_missing_bean(name=…)` look for what they name."""
    runner = ApplicationContextRunner().with_bean(Thing, Thing(), name="present")
    assert not decided(on_missing_bean(Thing), runner).matched
    assert decided(on_missing_bean(Special), runner).matched
    assert not decided(on_missing_bean(name="present"), runner).matched
    assert decided(on_missing_bean(name="absent"), runner).matched
    assert decided(on_missing_bean(Special, name="present"), runner).matched


def test_bean_and_single_candidate() -> None:
    """`on_bean` needs each of its beans; `on_single_candidate` one, or one that is primary."""
    none = ApplicationContextRunner()
    one = none.with_bean(Thing, Thing(), name="one")
    two = one.with_bean(Special, Special(), name="two")
    primary = one.with_bean(Special, Special(), name="two", primary=True)
    assert [decided(on_bean(Thing), each).matched for each in (none, one, two)] == [False, True, True]
    assert not decided(on_bean(Thing, Special), one).matched
    matched = [decided(on_single_candidate(Thing), each).matched for each in (none, one, two, primary)]
    assert matched == [False, True, False, True]


def test_a_bean_condition_on_a_class_must_say_which_bean() -> None:
    """Bare bean conditions have no type to mean on a class."""

    @auto_configuration
    @on_missing_bean()
    class Defaults:
        pass

    with ApplicationContextRunner().with_auto_configurations(Defaults).run() as run:
        assert isinstance(run.failure, ConfigurationError)
        assert "@on_missing_bean(TheBeanType)" in str(run.failure)


def test_modules() -> None:
    """`on_module` needs every module, `on_missing_module` none of them; parents that are missing are no error."""
    assert decided(on_module("json", "email.message")).matched
    assert not decided(on_module("json", "no_such_module")).matched
    assert not decided(on_module("no_such_module.inner")).matched
    assert not decided(on_module("json.no_such_module")).matched
    assert decided(on_missing_module("no_such_module")).matched
    assert not decided(on_missing_module("json")).matched
    assert not decided(on_module("json"), ApplicationContextRunner().without_modules("json")).matched


def test_a_condition_on_a_module_finds_it_without_importing_it() -> None:
    """A module that is looked for is not run."""
    assert decided(on_module("antigravity")).matched  # importing it would open a browser


@pytest.mark.parametrize(
    ("given", "having", "if_missing", "matched"),
    [
        (None, None, False, False),
        (None, None, True, True),
        (None, "x", True, True),
        ("", None, False, False),
        ("", None, True, True),
        ("true", None, False, True),
        ("anything", None, False, True),
        ("false", None, True, False),
        ("0", None, True, False),
        ("Off", None, True, False),
        ("OpenAI", "openai", False, True),
        ("ollama", "openai", True, False),
        ("yes", True, False, True),
        ("no", True, False, False),
        ("no", False, False, True),
        (True, None, False, True),
        (False, None, True, False),
        (3, 3, False, True),
        ("Hybrid", ("semantic", "hybrid"), False, True),
        ("regex", ("semantic", "hybrid"), True, False),
        (None, ("semantic", "hybrid"), False, False),
    ],
)
def test_settings(given: object, having: object, if_missing: bool, matched: bool) -> None:
    """`on_setting`: present and not false, or a wanted value; an absent or empty one is decided by the default."""
    runner = ApplicationContextRunner()
    if given is not None:
        runner = runner.with_settings({"thing": {"kind": given}}).with_sources(Known)
    assert decided(on_setting("thing.kind", having=having, match_if_missing=if_missing), runner).matched is matched


def test_a_decision_on_a_setting_keeps_its_origin_and_cure() -> None:
    """The outcome says where the value came from, and which variable to set where it did not match."""
    runner = ApplicationContextRunner().with_environ({"VERNAL_THING__KIND": "false"}).with_sources(Known)
    outcome = decided(on_setting("thing.kind"), runner)
    assert "environment variable VERNAL_THING__KIND" in outcome.evidence["origin"]
    assert outcome.cure == "set VERNAL_THING__KIND=…"
    assert decided(on_setting("thing.kind", having=True)).cure == "set VERNAL_THING__KIND=true"


def test_what_cannot_be_read_as_a_bool_is_explained() -> None:
    """Where true or false is wanted, another value is neither: it does not match, and the reason says so."""
    runner = ApplicationContextRunner().with_environ({"VERNAL_THING__KIND": "banana"}).with_sources(Known)
    for having in (True, False):
        outcome = decided(on_setting("thing.kind", having=having), runner)
        assert not outcome.matched
        assert "thing.kind can be read neither as true nor as false (environment variable" in outcome.reason
        assert outcome.cure == f"set VERNAL_THING__KIND={str(having).lower()}"


def test_profiles() -> None:
    """`on_profile` needs one of its profiles, `!name` that it is not active."""
    runner = ApplicationContextRunner().with_environ({"VERNAL_PROFILES": "dev,local"})
    assert decided(on_profile("dev"), runner).matched
    assert decided(on_profile("prod", "local"), runner).matched
    assert not decided(on_profile("prod"), runner).matched
    assert decided(on_profile("!prod"), runner).matched
    assert not decided(on_profile("!dev"), runner).matched


def test_a_condition_of_ones_own() -> None:
    """A function of the `ConditionContext` is a condition; it may see settings, definitions and modules."""

    def two_things(context: ConditionContext) -> bool:
        return len(context.beans.candidates(Thing)) == 2 and context.has_module("json")

    runner = ApplicationContextRunner().with_bean(Thing, Thing(), name="one")
    assert not decided(condition(two_things), runner).matched
    outcome = decided(condition(two_things), runner.with_bean(Thing, Thing(), name="two"))
    assert outcome.matched
    assert "two_things" in outcome.condition


def test_a_condition_that_raises_says_where_it_stood() -> None:
    """The error of a user's condition carries the method that was being decided on."""

    def broken(context: ConditionContext) -> bool:
        raise ZeroDivisionError(context.environment.profiles)

    @auto_configuration
    class Defaults:
        @bean
        @condition(broken)
        def thing(self) -> Thing:
            return Thing()

    with ApplicationContextRunner().with_auto_configurations(Defaults).run() as run:
        assert isinstance(run.failure, ZeroDivisionError)
        assert "Defaults.thing" in run.failure.__notes__[0]


def test_methods_without_bean_conditions_come_first() -> None:
    """Within a class a default written above the bean it waits for still steps back."""

    @auto_configuration
    class Defaults:
        @bean
        @on_missing_bean(Thing)
        def fallback(self) -> Thing:
            return Thing()

        @bean
        def special(self) -> Special:
            return Special()

    with ApplicationContextRunner().with_auto_configurations(Defaults).run() as run:
        assert type(run.context.get(Thing)) is Special


def test_a_class_that_does_not_match_brings_nothing() -> None:
    """A condition on the class holds for all its methods, whose annotations are not even read."""

    @auto_configuration
    @on_module("no_such_module")
    class Defaults:
        @bean
        def thing(self) -> "no_such_module.Thing":  # type: ignore[name-defined]  # noqa: F821 - that is the point
            raise AssertionError

    with ApplicationContextRunner().with_auto_configurations(Defaults).run() as run:
        assert run.failure is None
        assert [record.source for record in run.conditions.negative] == ["Defaults"]


def test_cheap_conditions_are_asked_first_and_the_first_failure_ends_it() -> None:
    """Conditions that look at beans come after those that do not, however they are written."""

    @auto_configuration
    class Defaults:
        @bean
        @on_missing_bean
        @on_module("no_such_module")
        def thing(self) -> Thing:
            return Thing()

    with ApplicationContextRunner().with_auto_configurations(Defaults).run() as run:
        assert [one.condition for one in run.conditions["Defaults.thing"].outcomes] == ["on_module('no_such_module')"]


def test_user_configurations_may_have_conditions_too() -> None:
    """A user's conditional bean is decided after all the user's other beans, whatever the order of the sources."""

    @configuration
    class Fallback:
        @bean
        @on_missing_bean
        def thing(self) -> Thing:
            return Thing()

    @configuration
    class Beans:
        @bean
        def special(self) -> Special:
            return Special()

    with ApplicationContextRunner().with_sources(Fallback, Beans).run() as run:
        assert run.context.get_all(Thing) == [run.context.get(Special)]


def test_the_report_survives_a_failed_start_and_is_plain_data() -> None:
    """The report has positive, negative, excluded and unconditional parts, also when nothing could start."""

    @auto_configuration
    class Defaults:
        @bean
        @on_missing_bean
        def thing(self, other: Other) -> Thing:
            return Thing()

        @bean
        @on_module("no_such_module")
        def other(self) -> Other:
            return Other()

    with ApplicationContextRunner().with_auto_configurations(Defaults).run() as run:
        assert run.failure is not None
        report = run.conditions.as_dict()
    assert [each["source"] for each in report["positive"]] == ["Defaults.thing"]
    assert [each["source"] for each in report["negative"]] == ["Defaults.other"]
    assert report["negative"][0]["outcomes"][0]["cure"].startswith("install the package")
    assert report["unconditional"] == ["Defaults"]
    assert "- on_module('no_such_module'): module 'no_such_module' is not installed" in str(run.conditions)


def test_wrong_arguments_of_conditions_are_refused_at_once() -> None:
    """A condition that cannot mean anything is a TypeError where it is written."""
    wrong: list[Callable[[], object]] = [
        on_module,
        lambda: on_module(""),
        lambda: on_setting(""),
        on_profile,
        lambda: condition(3),  # type: ignore[arg-type]  # that is the point
    ]
    for make in wrong:
        with pytest.raises(TypeError):
            make()


def test_a_setting_in_a_file_decides_too(tmp_path: Path) -> None:
    """The `.env` file counts as the environment does."""
    (tmp_path / ".env").write_text("VERNAL_THING__KIND=on\n")
    runner = ApplicationContextRunner().with_directory(tmp_path).with_sources(Known)
    outcome = decided(on_setting("thing.kind"), runner)
    assert outcome.matched
    assert ".env:1" in outcome.evidence["origin"]

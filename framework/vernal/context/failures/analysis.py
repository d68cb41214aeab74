"""From an error to its report: one function per kind of error."""

from collections.abc import Sequence
from functools import singledispatch

from vernal.context.definitions import BeanDefinition, InjectionPoint, Wish
from vernal.context.failures import errors
from vernal.context.failures.report import FailureReport
from vernal.context.plugins.plugin import PluginError
from vernal.context.settings.errors import SettingsError
from vernal.context.types import type_name


@singledispatch
def analyze(error: BaseException) -> FailureReport:
    """The report of any error; one that is not known here is reported by its class and text."""
    return FailureReport(kind=type(error).__qualname__, summary=errors.describe_exception(error))


@analyze.register
def _(error: errors.MissingBeanError) -> FailureReport:
    wanted = _wanted(error.point)
    cures = list(dict.fromkeys(each.outcome.cure for each in error.kept_out if each.outcome and each.outcome.cure))
    mend = [f"mend the plugin {plugin.name!r} (it may bring one)" for plugin in error.failed_plugins]
    declare = f"declare a bean of type {type_name(error.point.type)} in a container or @configuration class"
    return FailureReport(
        kind="missing-bean",
        summary=f"There is no {wanted}.",
        path=_path(error.path or error.point.asker, f"{error.point}   <- missing"),
        details=(
            *(f"kept out: {each}" for each in error.kept_out),
            *(f"not loaded: {plugin}: {plugin.failure}" for plugin in error.failed_plugins),
        ),
        near=error.near,
        action=_sentence(" or ".join([*cures, *mend, declare])),
    )


@analyze.register
def _(error: errors.AmbiguousBeanError) -> FailureReport:
    return FailureReport(
        kind="ambiguous-bean",
        summary=f"{len(error.candidates)} beans fit where one {_wanted(error.point)} is wanted.",
        path=_path(error.path or error.point.asker, f"{error.point}   <- ambiguous"),
        details=tuple(
            f"candidate: {candidate}{' (primary)' if candidate.primary else ''}" for candidate in error.candidates
        ),
        action="Mark one of them @primary, ask for one by name with Annotated[T, Named('…')], or take list[T].",
    )


@analyze.register
def _(error: errors.CircularDependencyError) -> FailureReport:
    steps = [f"{definition}, through {parameter!r}" for definition, parameter in error.cycle]
    if len(steps) == 1:
        summary = f"The bean {error.cycle[0][0].name!r} needs itself."
    else:
        summary = f"{len(steps)} beans need each other: none can be built first."
    return FailureReport(
        kind="circular-dependency",
        summary=summary,
        path=(*steps, f"{error.cycle[0][0].name!r} again"),
        action="Break the circle: take an ObjectProvider[T] and ask it when the bean is used, or split one of the "
        "beans. A bean that wraps a default of its own type builds that default itself.",
    )


@analyze.register
def _(error: errors.DuplicateBeanError) -> FailureReport:
    return FailureReport(
        kind="duplicate-bean",
        summary=f"Two beans have the name {error.definition.name!r}.",
        details=(str(error.existing), str(error.definition)),
        action="Rename one of them: its method or attribute, or @bean(name='…').",
    )


@analyze.register
def _(error: errors.ReservedNameError) -> FailureReport:
    return FailureReport(
        kind="reserved-name",
        summary=f"The bean name {error.definition.name!r} is reserved: the container has a method of that name.",
        details=(str(error.definition),),
        action="Rename the method or attribute, or give @bean(name='…').",
    )


@analyze.register
def _(error: errors.UntypedBeanError) -> FailureReport:
    return FailureReport(
        kind="untyped-bean",
        summary=f"The type of bean {error.name!r} cannot be told: {error.reason}.",
        details=(str(error.origin),),
        action="Annotate what the function returns; in a container, provide a class or an annotated function.",
    )


@analyze.register
def _(error: errors.AnnotationError) -> FailureReport:
    return FailureReport(
        kind="unreadable-annotation",
        summary=f"{error.subject} of {error.source}: {error.reason}.",
        action=error.action,
    )


@analyze.register
def _(error: errors.ScopeError) -> FailureReport:
    return FailureReport(
        kind="impossible-scope",
        summary=f"The bean {error.definition.name!r} {error.reason}.",
        details=(str(error.definition),),
        action=error.action,
    )


@analyze.register
def _(error: errors.OrderCycleError) -> FailureReport:
    names = [type_name(each) for each in error.cycle]
    return FailureReport(
        kind="order-cycle",
        summary="Auto-configurations come before each other.",
        path=(*names, f"{names[0]} again"),
        action="Take one before= or after= of them away.",
    )


@analyze.register
def _(error: errors.UnknownExclusionError) -> FailureReport:
    place = f" ({error.origin})" if error.origin else ""
    return FailureReport(
        kind="unknown-exclusion",
        summary=f"The exclusion {error.given!r}{place} names no auto-configuration.",
        near=error.near,
        action="Name the class of an auto-configuration; `vernal conditions` lists them.",
    )


@analyze.register
def _(error: errors.BeanCreationError) -> FailureReport:
    way = tuple(each for each in error.path if each is not error.definition)
    return FailureReport(
        kind="bean-creation",
        summary=f"The bean {error.definition.name!r} could not be built: {error.reason}.",
        path=_path(way, f"{error.definition}   <- failed"),
        details=() if way else (str(error.definition),),
        action="See the cause above; the function of the bean is where it says."
        if error.__cause__
        else "Return the object; a bean that may be absent needs a condition instead.",
    )


@analyze.register
def _(error: errors.BeanCloseError) -> FailureReport:
    return FailureReport(
        kind="bean-close",
        summary=f"The bean {error.definition.name!r} could not be closed: {error.reason}.",
        details=(str(error.definition),),
        action="See the cause above; the other beans were closed all the same.",
    )


@analyze.register
def _(error: SettingsError) -> FailureReport:
    return FailureReport(
        kind="wrong-setting",
        summary="A setting is wrong." if len(error.problems) == 1 else f"{len(error.problems)} settings are wrong.",
        details=tuple(str(problem) for problem in error.problems),
        action=next((f"{problem.action}." for problem in error.problems if problem.action), ""),
    )


@analyze.register
def _(error: PluginError) -> FailureReport:
    return FailureReport(
        kind="broken-plugin",
        summary=f"The {error.plugin} cannot be used: {error.reason}.",
        action=f"Mend or remove it, set VERNAL_PLUGINS__DISABLED={error.plugin.name}, or go on without it with "
        "VERNAL_PLUGINS__STRICT=false.",
    )


def _path(path: Sequence[BeanDefinition] | str, end: str) -> tuple[str, ...]:
    """From the first bean, or from who asks without being one, to the end."""
    if isinstance(path, str):
        return (path, end) if path else ()
    return (*(str(definition) for definition in path), end) if path else ()


def _wanted(point: InjectionPoint) -> str:
    named = f" named {point.name!r}" if point.name else ""
    kind = "list of beans" if point.wish is Wish.LIST else "bean"
    return f"{kind} of type {type_name(point.type)}{named}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

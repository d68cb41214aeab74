"""What can be wrong with an application, as data; `analyze` makes a report of it, and the report the text.

ConfigurationError
└── ContextError                    an application that cannot start as it was declared
    ├── MissingBeanError            a parameter or lookup that no bean fits
    ├── AmbiguousBeanError          several beans fit, none of them primary
    ├── CircularDependencyError     beans that need each other
    ├── DuplicateBeanError          two beans of one name
    ├── ReservedNameError           a name that belongs to the container of dependency-injector
    ├── UntypedBeanError            a bean whose type cannot be told
    ├── AnnotationError             a parameter whose annotation the context cannot read
    ├── ScopeError                  a scope that cannot be kept
    ├── OrderCycleError             auto-configurations that come before each other
    ├── UnknownExclusionError       an exclusion that excludes nothing
    ├── BeanCreationError           a bean whose function raised, or gave None
    └── BeanCloseError              a bean that could not be closed
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vernal.context.definitions import BeanDefinition, InjectionPoint, Origin
from vernal.errors import ConfigurationError
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.conditions.outcome import ConditionOutcome
    from vernal.context.failures.report import FailureReport
    from vernal.context.plugins import Plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOut:
    """A bean that would have fitted, and the decision that kept it out."""

    name: str
    origin: Origin
    outcome: "ConditionOutcome | None" = None
    excluded: str = ""

    def __str__(self) -> str:
        return f"{self.name!r} from {self.origin}: {self.outcome or self.excluded}"


class ContextError(ConfigurationError):
    """An application that cannot work as it was declared; its text is its rendered report.

    `others` are further problems that were found at the same time.
    """

    others: tuple[ConfigurationError, ...] = ()

    @property
    def report(self) -> "FailureReport":
        """What failed, the path that led there, and what to do, as data."""
        from vernal.context.failures.analysis import analyze

        return analyze(self)

    def __str__(self) -> str:
        from vernal.context.failures.analysis import analyze
        from vernal.context.failures.rendering import render

        return "\n\n".join(render(analyze(each)) for each in (self, *self.others))


class MissingBeanError(ContextError):
    """No bean fits a parameter or a lookup.

    `path` leads from a bean that nobody needs to the one that asks; it is empty for a lookup. `failed_plugins` are
    those that could not be loaded: nobody knows what they would have brought.
    """

    def __init__(
        self,
        point: InjectionPoint,
        *,
        path: Sequence[BeanDefinition] = (),
        kept_out: Sequence[KeptOut] = (),
        near: Sequence[str] = (),
        failed_plugins: "Sequence[Plugin]" = (),
    ) -> None:
        super().__init__(point)
        self.point = point
        self.path = tuple(path)
        self.kept_out = tuple(kept_out)
        self.near = tuple(near)
        self.failed_plugins = tuple(failed_plugins)


class AmbiguousBeanError(ContextError):
    """Several beans fit a parameter or a lookup that wants one, and not exactly one of them is primary."""

    def __init__(
        self, point: InjectionPoint, candidates: Sequence[BeanDefinition], *, path: Sequence[BeanDefinition] = ()
    ) -> None:
        super().__init__(point)
        self.point = point
        self.candidates = tuple(candidates)
        self.path = tuple(path)


class CircularDependencyError(ContextError):
    """Beans that need each other: each of `cycle` needs the next, through the parameter beside it."""

    def __init__(self, cycle: Sequence[tuple[BeanDefinition, str]]) -> None:
        super().__init__(cycle)
        self.cycle = tuple(cycle)


class DuplicateBeanError(ContextError):
    """Two beans have one name."""

    def __init__(self, definition: BeanDefinition, existing: BeanDefinition) -> None:
        super().__init__(definition, existing)
        self.definition = definition
        self.existing = existing


class ReservedNameError(ContextError):
    """A bean has a name that the container of dependency-injector uses itself."""

    def __init__(self, definition: BeanDefinition) -> None:
        super().__init__(definition)
        self.definition = definition


class UntypedBeanError(ContextError):
    """The type of a bean cannot be told; `reason` says what stands there instead."""

    def __init__(self, name: str, origin: Origin, reason: str) -> None:
        super().__init__(name)
        self.name = name
        self.origin = origin
        self.reason = reason


class AnnotationError(ContextError):
    """An annotation that cannot be read, or that the context does not know how to fill."""

    def __init__(self, source: str, subject: str, reason: str, *, action: str) -> None:
        super().__init__(source)
        self.source = source
        self.subject = subject
        self.reason = reason
        self.action = action


class ScopeError(ContextError):
    """A bean whose scope cannot be kept."""

    def __init__(self, definition: BeanDefinition, reason: str, *, action: str) -> None:
        super().__init__(definition)
        self.definition = definition
        self.reason = reason
        self.action = action


class OrderCycleError(ContextError):
    """Auto-configurations whose `before` and `after` contradict each other; each of `cycle` comes before the next."""

    def __init__(self, cycle: Sequence[type]) -> None:
        super().__init__(cycle)
        self.cycle = tuple(cycle)


class UnknownExclusionError(ContextError):
    """An exclusion names no auto-configuration."""

    def __init__(self, given: str, *, near: Sequence[str] = (), origin: str = "") -> None:
        super().__init__(given)
        self.given = given
        self.near = tuple(near)
        self.origin = origin


class BeanCreationError(ContextError):
    """The function of a bean raised (see `__cause__`), or `reason` says what it did instead of giving an object."""

    def __init__(self, definition: BeanDefinition, reason: str, *, path: Sequence[BeanDefinition] = ()) -> None:
        super().__init__(definition)
        self.definition = definition
        self.reason = reason
        self.path = tuple(path)


class BeanCloseError(ContextError):
    """A bean could not be closed (see `__cause__`); the others were closed all the same."""

    def __init__(self, definition: BeanDefinition, reason: str) -> None:
        super().__init__(definition)
        self.definition = definition
        self.reason = reason


def describe_exception(error: BaseException) -> str:
    """An exception in one line: its class and its text."""
    if isinstance(error, TimeoutError) and not error.args:
        return "TimeoutError: its time was up"
    text: Any = str(error)
    return f"{type(error).__qualname__}: {text}" if text else type(error).__qualname__

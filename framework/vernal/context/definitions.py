"""What is known of a bean before it exists: its definition, where it comes from, and what it asks for."""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from vernal.context.types import type_name
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from dependency_injector.providers import Provider

    from vernal.context.conditions.base import Condition

LOWEST_PRECEDENCE = 2**31 - 1


class Scope(StrEnum):
    """How many objects a definition stands for: one in the context, or a fresh one for each that asks."""

    SINGLETON = "singleton"
    PROTOTYPE = "prototype"


class OriginKind(StrEnum):
    """Who declared a bean."""

    USER = "user"
    AUTO_CONFIGURATION = "auto-configuration"
    SETTINGS = "settings"
    CONTEXT = "context"


class Construction(StrEnum):
    """How the object of a bean comes about, and with it whether there is something to close."""

    CALL = "call"
    COROUTINE = "coroutine"
    MANAGER = "context manager"
    ASYNC_MANAGER = "asynchronous context manager"
    OBJECT = "object"

    @property
    def is_async(self) -> bool:
        """It can only be built on an event loop, so it starts with the context."""
        return self in (Construction.COROUTINE, Construction.ASYNC_MANAGER)

    @property
    def is_resource(self) -> bool:
        """It has an end: it is closed with the context."""
        return self in (Construction.MANAGER, Construction.ASYNC_MANAGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a bean was declared: by whom, under which name, in which file.

    `source` is the declaring class and method, such as `Tools.weather_tools`; `module` its module. `plugin` and
    `version` name the distribution of a plugin.
    """

    kind: OriginKind
    source: str
    module: str = ""
    file: str = ""
    line: int = 0
    plugin: str | None = None
    version: str | None = None

    def __str__(self) -> str:
        place = f"{self.module}:{self.line}" if self.line else self.module
        plugin = f"plugin {self.plugin} {self.version or ''}".rstrip() if self.plugin else ""
        where = ", ".join(part for part in (place, plugin) if part)
        return f"{self.source} ({where})" if where else self.source


class Wish(StrEnum):
    """The shape in which a parameter wants its beans."""

    ONE = "one"
    LIST = "list"
    MAPPING = "mapping"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionPoint:
    """A parameter that the context fills: which type, in which shape, and what happens when there is none.

    `type` is the bean type inside the shape, `annotation` the shape with it. `name` is the only bean that will do;
    `hint` the one that is taken where several fit. `asker` says who asks, where it is no bean.
    """

    parameter: str
    type: Any
    annotation: Any
    wish: Wish = Wish.ONE
    name: str | None = None
    hint: str | None = None
    optional: bool = False
    has_default: bool = False
    positional: bool = False
    asker: str = ""

    @property
    def required(self) -> bool:
        """Nothing to inject is an error."""
        return self.wish is Wish.ONE and not self.optional and not self.has_default

    def __str__(self) -> str:
        text = type_name(self.annotation) + (" | None" if self.optional else "")
        return f"{self.parameter}: {text}" + (f" named {self.name!r}" if self.name else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BeanDefinition:
    """All that is known of a bean while nothing is built.

    `type` is the declared type, by which it is found. `order` sorts it within `list[T]` (lower first; None: what the
    object's own `order` says, else last). `lazy` is None for the default: singletons are built on first use, resources
    start with the context. `timeout` bounds the start and the end of an asynchronous bean, in seconds each. One of
    `function` (with the `owner` that it is a method of), `provider` (of a user's container, used as it is) and `value`
    brings the object about. `conditions` are those of its class and method, all of which matched.
    """

    name: str
    type: Any
    origin: Origin
    scope: Scope = Scope.SINGLETON
    construction: Construction = Construction.CALL
    order: int | None = None
    primary: bool = False
    lazy: bool | None = None
    timeout: float | None = None
    points: tuple[InjectionPoint, ...] = ()
    function: Callable[..., Any] | None = None
    owner: "BeanDefinition | None" = None
    provider: "Provider[Any] | None" = None
    value: Any = None
    infrastructure: bool = False
    conditions: "tuple[Condition, ...]" = ()

    @property
    def starts_with_context(self) -> bool:
        """It is built when the context starts, not when it is first asked for."""
        if self.construction.is_async:
            return True
        return not self.lazy if self.construction.is_resource else self.lazy is False

    def __str__(self) -> str:
        return f"{self.name!r} ({type_name(self.type)}) from {self.origin}"

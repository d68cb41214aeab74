"""`ObjectProvider[T]` and `Named`: ways for a parameter to say more than a type."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.application_context import ApplicationContext

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Named:
    """Pick one bean by its name: `Annotated[ChatModel, Named("fast_model")]`."""

    name: str


class ObjectProvider(Generic[T]):
    """Asks the context for beans of a type when they are needed, not when the asking bean is built.

    Take one as a parameter, `models: ObjectProvider[ChatModel]`, for a bean that may be absent, that is a prototype, or
    that would close a circle.
    """

    def __init__(self, context: "ApplicationContext", bean_type: Callable[..., T], name: str | None = None) -> None:
        self._context = context
        self._type = bean_type
        self._name = name

    def get(self) -> T:
        """The bean.

        Raises:
            MissingBeanError: there is none.
            AmbiguousBeanError: there are several, and none of them is primary.
        """
        return self._context.get(self._type, name=self._name)

    @overload
    def get_if_available(self) -> T | None: ...
    @overload
    def get_if_available(self, default: D) -> T | D: ...
    def get_if_available(self, default: Any = None) -> Any:
        """The bean, or `default` if there is none.

        Raises:
            AmbiguousBeanError: there are several, and none of them is primary.
        """
        return self.get() if self._context.has(self._type, name=self._name) else default

    @overload
    def get_if_unique(self) -> T | None: ...
    @overload
    def get_if_unique(self, default: D) -> T | D: ...
    def get_if_unique(self, default: Any = None) -> Any:
        """The bean, or `default` if there is none or no single one."""
        return self.get() if self._context.has(self._type, name=self._name, unique=True) else default

    def stream(self) -> Iterator[T]:
        """Every bean of the type, in order."""
        return iter(self._context.get_all(self._type))

    def __iter__(self) -> Iterator[T]:
        return self.stream()

    def __repr__(self) -> str:
        return f"ObjectProvider({self._type!r})"

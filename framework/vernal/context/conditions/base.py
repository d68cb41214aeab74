"""What a condition is, what it may look at, and `@condition` for a user's own."""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from vernal.context.conditions.outcome import ConditionOutcome
from vernal.context.marks import CONDITIONS, get_mark, set_mark
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.registry import DefinitionRegistry
    from vernal.context.settings import Environment

T = TypeVar("T", bound=Callable[..., object])


class ModuleProbe:
    """Tells whether a module can be imported, without importing it (its parent packages are); answers are kept."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def __call__(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = self._probe(name)
        return self._known[name]

    def _probe(self, name: str) -> bool:
        if name in sys.modules:
            return sys.modules[name] is not None
        parent = name.rpartition(".")[0]
        if parent and not self(parent):
            return False
        try:
            return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):  # a broken parent package, or a module without a spec
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionContext:
    """What a condition may look at: the settings, the beans defined so far (never built ones), and the modules.

    `declared_type` gives the type of the bean whose method is being considered; None for a class.
    """

    environment: "Environment"
    beans: "DefinitionRegistry"
    has_module: Callable[[str], bool] = field(default_factory=ModuleProbe)
    declared_type: Callable[[], Any] | None = None


class Condition:
    """Decides whether a configuration class or a bean method counts. An instance is the decorator that attaches it.

    A subclass implements `evaluate`; `looks_at_beans` tells that the answer depends on the beans defined so far, which
    puts it after conditions that do not, and its method after the methods of its class without such.
    """

    looks_at_beans: ClassVar[bool] = False

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        """Decide, and say why."""
        raise NotImplementedError(f"{type(self).__qualname__} does not implement evaluate(context)")

    def __call__(self, target: T) -> T:
        set_mark(target, CONDITIONS, (self, *(get_mark(target, CONDITIONS) or ())))
        return target

    def outcome(self, matched: bool, reason: str, *, cure: str = "", **evidence: str) -> ConditionOutcome:
        """An outcome in the name of this condition; `cure` counts only where it did not match."""
        return ConditionOutcome(
            matched=matched, condition=str(self), reason=reason, cure="" if matched else cure, evidence=evidence
        )


class PredicateCondition(Condition):
    """A user's own condition: a function of the `ConditionContext`."""

    looks_at_beans = True

    def __init__(self, predicate: Callable[[ConditionContext], bool | ConditionOutcome]) -> None:
        if not callable(predicate):
            raise TypeError(f"condition({predicate!r}): a function of one argument, the ConditionContext, is wanted")
        self.predicate = predicate

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        answer = self.predicate(context)
        if isinstance(answer, ConditionOutcome):
            return answer
        return self.outcome(bool(answer), f"it returned {answer!r}")

    def __str__(self) -> str:
        return f"condition({getattr(self.predicate, '__qualname__', repr(self.predicate))})"


def condition(predicate: Callable[[ConditionContext], bool | ConditionOutcome], /) -> Condition:
    """Make a condition of a function of the `ConditionContext`, which returns a bool or a `ConditionOutcome`."""
    return PredicateCondition(predicate)

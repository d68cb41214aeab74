"""From sources to definitions: the user's first, then the auto-configurations, each condition asked and recorded."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from vernal.context.conditions.base import Condition, ConditionContext
from vernal.context.conditions.outcome import ConditionOutcome, ConditionRecord, ConditionReport
from vernal.context.configurations import BeanMethod, ConfigurationSource
from vernal.context.definitions import BeanDefinition, Origin
from vernal.context.failures.errors import KeptOut
from vernal.context.ordering import AutoConfigurationOrder
from vernal.context.registry import DefinitionRegistry
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.settings import Environment

_log = logging.getLogger("vernal.context")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A bean method that a decision kept out: its own condition, its class's, or an exclusion."""

    method: BeanMethod
    outcome: ConditionOutcome | None
    excluded: str = ""

    @property
    def kept_out(self) -> KeptOut:
        """The same as data for reports."""
        method = self.method
        return KeptOut(name=method.name, origin=method.origin, outcome=self.outcome, excluded=self.excluded)


@dataclass(kw_only=True, eq=False)
class Collection:
    """The definitions of one application, and how they came to be chosen."""

    environment: "Environment"
    has_module: Callable[[str], bool]
    registry: DefinitionRegistry = field(default_factory=DefinitionRegistry)
    report: ConditionReport = field(default_factory=ConditionReport)
    rejected: list[Rejected] = field(default_factory=list)
    makers: dict[str, ConfigurationSource] = field(default_factory=dict)

    def add_definitions(self, definitions: Iterable[BeanDefinition]) -> None:
        """Add what needs no deciding: beans of containers, values of tests, what the context itself offers."""
        for definition in definitions:
            self.registry.add(definition)

    def add_configurations(self, sources: Iterable[ConfigurationSource]) -> None:
        """Add the user's configuration classes; methods whose conditions look at beans come after all others."""
        methods: list[BeanMethod] = []
        for source in sources:
            if not source.methods:
                _log.warning("%s declares no bean; mark the methods that make beans with @bean", source.full_name)
            if self._class_matches(source):
                methods += source.methods
        for method in _beans_last(methods):
            self._consider(method)

    def add_auto_configurations(self, order: AutoConfigurationOrder) -> None:
        """Add the auto-configurations, one after the other; each sees the beans of those before it."""
        for source in order.sorted:
            if self._class_matches(source):
                for method in _beans_last(source.methods):
                    self._consider(method, order)

    def reject_excluded(self, source: ConfigurationSource, reason: str) -> None:
        """Record an auto-configuration that is not considered at all."""
        self.report.exclude(self._source_name(source), reason)
        self.rejected += [Rejected(method, None, reason) for method in source.methods]

    def _class_matches(self, source: ConfigurationSource) -> bool:
        failure = self._decide(self._source_name(source), source.origin, source.conditions, None)
        if failure is not None:
            self.rejected += [Rejected(method, failure) for method in source.methods]
        return failure is None

    def _consider(self, method: BeanMethod, order: AutoConfigurationOrder | None = None) -> None:
        name = f"{self._source_name(method.source)}.{method.function.__name__}"
        failure = self._decide(name, method.origin, method.conditions, lambda: method.bean_type)
        if failure is not None:
            self.rejected.append(Rejected(method, failure))
            self._warn_of_rivals(method, failure, order)
            return
        if method.of_instance and method.source.definition.name not in self.registry:
            self.registry.add(method.source.definition)
        definition = method.define()
        self.registry.add(definition)
        self.makers[definition.name] = method.source

    def _decide(
        self,
        name: str,
        origin: Origin,
        conditions: Sequence[Condition],
        declared_type: Callable[[], Any] | None,
    ) -> ConditionOutcome | None:
        """Ask the conditions until one does not match, record the answers, and give the failure."""
        outcomes: list[ConditionOutcome] = []
        if conditions:
            context = ConditionContext(
                environment=self.environment,
                beans=self.registry,
                has_module=self.has_module,
                declared_type=declared_type,
            )
            for condition in sorted(conditions, key=lambda one: one.looks_at_beans):
                try:
                    outcomes.append(condition.evaluate(context))
                except Exception as error:
                    error.add_note(f"while {condition} decided on {name}, from {origin}")
                    raise
                if not outcomes[-1].matched:
                    break
        self.report.add(ConditionRecord(source=name, origin=str(origin), outcomes=tuple(outcomes)))
        return outcomes[-1] if outcomes and not outcomes[-1].matched else None

    def _source_name(self, source: ConfigurationSource) -> str:
        """The short name, or the full one where another class has taken it."""
        known = self._names.setdefault(source.name, source.full_name)
        return source.name if known == source.full_name else source.full_name

    _names: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def _warn_of_rivals(
        self, method: BeanMethod, failure: ConditionOutcome, order: AutoConfigurationOrder | None
    ) -> None:
        """Two plugins bring the same default, and nothing says which of them is meant."""
        winner = self.makers.get(failure.evidence.get("by", ""))
        loser = method.source
        if order is None or winner is None or winner.provenance.plugin in (None, loser.provenance.plugin):
            return
        if order.is_settled(winner, loser):
            return
        _log.warning(
            "The plugins %r and %r both bring %r by default; that of %r is taken. Set VERNAL_PLUGINS__PREFER to the "
            "plugin that is meant.",
            winner.provenance.plugin,
            loser.provenance.plugin,
            method.name,
            winner.provenance.plugin,
        )


def _beans_last(methods: Sequence[BeanMethod]) -> list[BeanMethod]:
    return sorted(methods, key=lambda method: any(condition.looks_at_beans for condition in method.conditions))

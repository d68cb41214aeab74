"""Planning: the tool calls that a prompt asks for."""

import functools
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from vernal.models.offline.facts import NO_FACTS, Facts
from vernal.models.offline.filling import Filling, fill
from vernal.models.offline.lexicon import word_set
from vernal.models.offline.matching import ENOUGH, OfferedTool, select, vocabulary
from vernal.models.offline.reading import Reading, clauses, read
from vernal.models.offline.words import split_name, stem
from vernal.tools.definition import ToolDefinition
from vernal.values.records import dataclass

_LOOK_UPS = word_set("find get lookup look search fetch list read resolve")


@dataclass(slots=True)
class Plan:
    """The calls to make, in order, what the prompt was read as, and the matching tools that lack arguments.

    `lacking` has the names of the arguments, `clauses` the clause of each such tool.
    """

    reading: Reading
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    lacking: dict[str, tuple[str, ...]] = field(default_factory=dict)
    clauses: dict[str, Reading] = field(default_factory=dict)

    def add(self, name: str, filling: Filling, clause: Reading) -> None:
        """Add what `filling` gives for `clause`, each call once."""
        self.calls += [(name, call) for call in filling.arguments if (name, call) not in self.calls]
        if filling.missing:
            self.lacking.setdefault(name, filling.missing)
            self.clauses.setdefault(name, clause)


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans over the `tools` on offer for one prompt; `today` is the ISO date that relative days are counted from."""

    tools: Sequence[OfferedTool]
    reading: Reading
    today: str | None
    readings: dict[str, Reading] = field(default_factory=dict)

    @classmethod
    def of(cls, definitions: Sequence[ToolDefinition], text: str, today: str | None) -> "Planner":
        """A planner for the prompt `text`."""
        tools = [OfferedTool.of(definition) for definition in definitions]
        return cls(tools, read(text, vocabulary(tools)), today)

    def plan(self, *, last_used: str | None = None, must: bool = False) -> Plan:
        """The calls for the prompt.

        `last_used` is the tool that a prompt without a word of any tool follows up ("And in Oslo?"); with `must`, a
        tool is called whatever the prompt says.
        """
        plan = Plan(self.reading)
        if not self.tools:
            return plan
        for clause in clauses(self.reading, frozenset().union(*(tool.heads for tool in self.tools))):
            for tool, score in select(self.tools, clause, functools.partial(self._evidence, clause)):
                filling = self._fill(tool, clause)
                if filling.sure or score >= ENOUGH or len(self.tools) == 1:
                    plan.add(tool.definition.name, filling, clause)
        if not plan.calls and not plan.lacking:
            self._add_unspoken(plan, last_used)
        if plan.lacking and not plan.calls:
            self._add_helpers(plan)
        if must and not plan.calls:
            for tool in sorted(self.tools, key=lambda tool: tool.definition.name not in plan.lacking):
                plan.add(tool.definition.name, self._fill(tool, self.reading, invent=True), self.reading)
                if plan.calls:
                    break
        return plan

    def chained(self, plan: Plan, facts: Facts, called: set[str]) -> list[tuple[str, dict[str, Any]]]:
        """Calls of tools that lacked arguments, filled from what other tools gave; once in a turn for each tool."""
        for tool in self.tools:
            name = tool.definition.name
            if name in plan.lacking and name not in called:
                plan.add(name, self._fill(tool, plan.clauses[name], facts=facts), plan.clauses[name])
        return [(name, call) for name, call in plan.calls if name in plan.lacking and name not in called]

    def _add_unspoken(self, plan: Plan, last_used: str | None) -> None:
        """Where no word matches: the only tool, or the one of the turn before, if the prompt can fill it."""
        tools = self.tools if len(self.tools) == 1 else [t for t in self.tools if t.definition.name == last_used]
        for tool in tools:
            filling = self._fill(tool, self.reading)
            if filling.sure and filling.arguments:
                plan.add(tool.definition.name, filling, self.reading)

    def _add_helpers(self, plan: Plan) -> None:
        """Where arguments are missing: a tool that looks such things up (`find_customer` for a `customer_id`)."""
        wanted = {stem(word) for names in plan.lacking.values() for name in names for word in split_name(name)}
        for tool in self.tools:
            name = tool.definition.name
            looks_up = not _LOOK_UPS.isdisjoint(split_name(name)[:1])
            if looks_up and name not in plan.lacking and not tool.names.isdisjoint(wanted):
                filling = self._fill(tool, self.reading)
                if filling.sure and filling.arguments:
                    plan.add(name, filling, self.reading)
                    return

    def _fill(self, tool: OfferedTool, clause: Reading, *, facts: Facts = NO_FACTS, invent: bool = False) -> Filling:
        """Fill from the clause, else from the whole prompt."""
        schema, whole = tool.definition.input_schema, self._read_for(tool)
        part = whole.within(clause.first, clause.last)
        filling = fill(schema, part, today=self.today)
        if filling.missing and (clause is not self.reading or facts is not NO_FACTS or invent):
            filling = fill(schema, whole, facts=facts, invent=invent, clause=part, today=self.today)
        return filling

    def _read_for(self, tool: OfferedTool) -> Reading:
        """The prompt read with the words of `tool` alone: what another tool is called may be a value here."""
        if len(self.tools) == 1:
            return self.reading
        name = tool.definition.name
        if name not in self.readings:
            self.readings[name] = read(self.reading.text, vocabulary([tool]))
        return self.readings[name]

    def _evidence(self, clause: Reading, tool: OfferedTool) -> float:
        filling = self._fill(tool, clause)
        return -1 if filling.missing else filling.evidence

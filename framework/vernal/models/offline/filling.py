"""Filling: the arguments of a tool from a reading of the prompt, and from what other tools gave."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from vernal.models.offline.facts import NO_FACTS, Facts
from vernal.models.offline.freetext import FreeText
from vernal.models.offline.lexicon import JOINERS, PREPOSITIONS, word_set
from vernal.models.offline.parameters import SPECIFIC, Parameter, choices_in, parameter, value_of
from vernal.models.offline.reading import Mention, Reading, link
from vernal.models.offline.schemas import NOTHING, Schema, accepts, choices, kinds, least, properties, required, resolve
from vernal.models.offline.words import stem
from vernal.values.records import dataclass

_DEEPEST = 4
_NO = word_set("no not without don't dont never exclude excluding skip non un isn't")
_ON = word_set("on enable enabled activate true yes start")
_OFF = word_set("off disable disabled deactivate false no stop")
_SWITCHES = frozenset({"on", "enabled", "enable", "active", "power", "state", "status"})
_EMPTY_FLAG_WORDS = frozenset(stem(word) for word in ["is", "has", "should", "include", "with", "use", "enable", "do"])


@dataclass(frozen=True, slots=True)
class Filling:
    """The arguments of each call to make, or the names of what is `missing`; `evidence` counts what was said.

    `sure` says that the form or the place of at least one value spoke for its parameter.
    """

    arguments: tuple[dict[str, Any], ...] = ()
    missing: tuple[str, ...] = ()
    evidence: int = 0
    sure: bool = False


def fill(
    schema: Schema,
    reading: Reading,
    *,
    facts: Facts = NO_FACTS,
    facts_first: bool = False,
    invent: bool = False,
    clause: Reading | None = None,
    today: str | None = None,
) -> Filling:
    """Fill an object of `schema`.

    Values of the prompt come first, then `facts` (the other way round with `facts_first`); with `invent`, what is
    required and was not said gets the least value that the schema allows. Free texts are looked for in `clause` only
    (None for the whole reading). All arguments satisfy the schema.
    """
    filler = _Filler(schema, reading, clause or reading, facts, facts_first, invent, today)
    resolved = resolve(schema, schema)
    arguments = filler.fill_object(resolved)
    missing = tuple(name for name in required(resolved) if name not in arguments)
    if missing:
        return Filling((), missing, filler.evidence, filler.sure)
    calls = [arguments, *filler.further(arguments)]
    valid = tuple(call for call in calls if accepts(schema, call, schema))
    return Filling(valid, () if valid else tuple(arguments), filler.evidence, filler.sure)


@dataclass(slots=True)
class _Filler:
    root: Schema
    reading: Reading
    clause: Reading
    facts: Facts
    facts_first: bool
    invent: bool
    today: str | None
    used: set[int] = field(default_factory=set)
    evidence: int = 0
    sure: bool = False
    chosen: dict[str, tuple[Parameter, Mention]] = field(default_factory=dict)

    def fill_object(self, schema: Schema, depth: int = 0) -> dict[str, Any]:
        """The members of an object that can be filled."""
        names = required(schema)
        members = properties(schema)
        options = {
            name: list(parameter(name, member, self.root, required=name in names)) for name, member in members.items()
        }
        found = self._from_literal(members)
        if self.facts_first:
            self._add_facts(found, options)
        self._choose(found, [p for name, ps in options.items() if name not in found for p in ps], root=depth == 0)
        self._add_free_text(found, options)
        for name, parameters in options.items():
            for each in parameters if name not in found else ():
                value = self._composite(each, depth)
                if value is not NOTHING:
                    found[name] = value
                    break
        self._add_facts(found, {name: ps for name, ps in options.items() if name in names})
        for name in names:
            if name not in found and (value := self._unsaid(members.get(name, {}))) is not NOTHING:
                found[name] = value
        return {name: found[name] for name in (*members, *names) if name in found}

    def further(self, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        """The calls for the other members of a list, where one single value was wanted of it."""
        groups = [mention.group for _, mention in self.chosen.values()]
        calls = []
        for name, (wanted, chosen) in self.chosen.items():
            if wanted.many or not chosen.listed or groups.count(chosen.group) > 1 or name not in arguments:
                continue
            for other in self._group(wanted, chosen)[1:]:
                value = value_of(wanted, other, self.reading, self.root, self.today)
                if other.kind == "words" != chosen.kind:
                    continue  # "Which is nicer, Oslo or Rome?"
                if value is not None and self.used.isdisjoint(other.span):
                    calls.append({**copy.deepcopy(arguments), name: value})
            break
        return calls

    def _from_literal(self, members: dict[str, Any]) -> dict[str, Any]:
        """The members that stand in the prompt as a JSON object."""
        for mention in self.reading.mentions:
            if mention.kind == "json" and isinstance(mention.value, dict) and self.used.isdisjoint(mention.span):
                found = {
                    name: value
                    for name, value in mention.value.items()
                    if name in members and accepts(members[name], value, self.root)
                }
                if found:
                    self._use(mention)
                    return found
        return {}

    def _choose(self, found: dict[str, Any], parameters: Sequence[Parameter], *, root: bool) -> None:
        """Give mentions to parameters, the best pair first."""
        pairs = []
        for index, wanted in enumerate(parameters):
            for mention in self._candidates(wanted):
                score = wanted.score(mention)
                if score and (wanted.required or score >= SPECIFIC or wanted.hint(mention) >= 2):
                    score += min(3, len(self._group(wanted, mention)) - 1) if wanted.many else 0
                    pairs.append((-score, not wanted.required, index, mention.first, -mention.last, wanted, mention))
        for *_, wanted, mention in sorted(pairs, key=lambda pair: pair[:5]):
            if wanted.name in found or not self.used.isdisjoint(mention.span):
                continue
            value = self._values(wanted, mention) if wanted.many else self._value(wanted, mention)
            if value is not None:
                found[wanted.name] = value
                self.sure |= mention.kind not in ("words", "initial", "numeral") or wanted.hint(mention) >= 2
                self.sure |= wanted.many and mention.listed
                if root:
                    self.chosen[wanted.name] = wanted, mention
        for wanted in parameters:
            if wanted.name not in found and wanted.kind == "boolean" and not wanted.many:
                said = self._flag(wanted)
                if said is not None and accepts(wanted.schema, said, self.root):
                    found[wanted.name] = said
                    self.evidence += 1

    def _candidates(self, wanted: Parameter) -> Iterable[Mention]:
        values = choices(wanted.item)
        if values is None:
            return self.reading.mentions
        return link(self.reading.text, self.reading.tokens, list(choices_in(self.reading, values)))

    def _value(self, wanted: Parameter, mention: Mention) -> Any:
        value = value_of(wanted, mention, self.reading, self.root, self.today)
        if value is not None and accepts(wanted.schema, value, self.root):
            self._use(mention)
            return value
        return None

    def _values(self, wanted: Parameter, mention: Mention) -> list[Any] | None:
        group = self._group(wanted, mention)
        values: list[Any] = []
        for member in group:
            value = value_of(wanted, member, self.reading, self.root, self.today)
            if value is not None and value not in values[: len(values) if wanted.schema.get("uniqueItems") else 0]:
                values.append(value)
        if not values or not accepts(wanted.schema, values, self.root):
            return None
        for member in group:
            self._use(member)
        return values

    def _group(self, wanted: Parameter, mention: Mention) -> list[Mention]:
        """The unused mentions of the list that `mention` stands in, itself first unless a list is wanted."""
        others = [
            other
            for other in self._candidates(wanted)
            if (
                other.group == mention.group or (wanted.many and wanted.kind != "string" and other.kind == mention.kind)
            )
            and self.used.isdisjoint(other.span)
            and (wanted.suits(other) or other.kind == mention.kind)
        ]
        return others if wanted.many else [mention, *(other for other in others if other != mention)]

    def _flag(self, wanted: Parameter) -> bool | None:
        words = [self.reading.tokens[index].lower for index in self.reading.indices]
        if not _SWITCHES.isdisjoint(wanted.raw):
            return True if not _ON.isdisjoint(words) else False if not _OFF.isdisjoint(words) else None
        names = wanted.words - _EMPTY_FLAG_WORDS
        places = [index for index, word in enumerate(words) if stem(word) in names]
        if not names or not names <= {stem(word) for word in words}:
            return None
        near = [*words[max(0, places[0] - 3) : places[0]], *words[places[-1] + 1 : places[-1] + 3]]
        return _NO.isdisjoint(near) and _OFF.isdisjoint(near)

    def _add_free_text(self, found: dict[str, Any], options: dict[str, list[Parameter]]) -> None:
        """Give phrases to the parameters that want such, the required ones first."""
        wanting = [p for name, ps in options.items() for p in ps if p.is_free and name not in found]
        phrases = FreeText(self.clause, self.used, {word for ps in options.values() for p in ps for word in p.raw})
        previous: str | None = None
        for wanted in sorted(wanting, key=lambda p: not p.required):
            span = phrases.span_for(wanted)
            phrase = (
                self.reading.written(span.start, span.stop - 1) if span else (previous if wanted.required else None)
            )
            if phrase and wanted.name not in found and accepts(wanted.schema, phrase, self.root):
                found[wanted.name] = previous = phrase
                self.used.update(span or ())
                self.evidence += 1
                self.sure |= wanted.is_topical

    def _composite(self, wanted: Parameter, depth: int) -> Any:
        """A nested object, or a list of objects of which each part of a list in the prompt fills one."""
        kind = (kinds(wanted.schema) or ("",))[0]
        if depth >= _DEEPEST or kind not in ("object", "array") or wanted.many:
            return NOTHING
        before = self.evidence
        if kind == "object":
            if not properties(wanted.schema):
                return NOTHING
            value: Any = self.fill_object(wanted.schema, depth + 1)
        else:
            value = self._objects(resolve(wanted.schema.get("items"), self.root), depth)
        said = self.evidence > before or bool(self.facts_first and value)
        return value if said and accepts(wanted.schema, value, self.root) else NOTHING

    def _objects(self, item: Schema, depth: int) -> list[Any]:
        whole, values = self.reading, []
        starts = [whole.first]
        starts += [i + 1 for i in whole.indices if whole.tokens[i].text == "," or whole.tokens[i].lower in JOINERS]
        for first, following in zip(starts, [*starts[1:], whole.last + 2], strict=True):
            self.reading = whole.within(first, self._end_of_part(whole, first, following - 2))
            before = self.evidence
            value = self.fill_object(item, depth + 1)
            if self.evidence > before and accepts(item, value, self.root):
                values.append(value)
        self.reading = whole
        return values

    def _end_of_part(self, whole: Reading, first: int, last: int) -> int:
        """Where a part of a list ends: before the preposition that goes on with something else."""
        begun = min((m.first for m in whole.mentions if m.first >= first), default=last)
        ends = (i - 1 for i in range(begun + 1, last + 1) if whole.tokens[i].lower in PREPOSITIONS - {"of"})
        return next(ends, last)

    def _add_facts(self, found: dict[str, Any], options: dict[str, list[Parameter]]) -> None:
        """Give what other tools gave to the parameters that are called like it."""
        for name, parameters in options.items():
            for wanted in parameters if name not in found else ():
                value = next(
                    (v for v in self.facts.values_for(wanted) if accepts(wanted.schema, v, self.root)), NOTHING
                )
                if value is not NOTHING:
                    found[name] = value
                    break

    def _unsaid(self, member: Any) -> Any:
        """What stands for a required member of which nothing was said: default, only choice, null, or no."""
        schema = resolve(member, self.root)
        values = [schema["default"]] if "default" in schema else []
        only = choices(schema)
        values += only if only is not None and len(only) == 1 else []
        values += [None, *([False] if kinds(schema) == ("boolean",) else [])] if schema else []
        for value in values:
            if accepts(schema, value, self.root):
                return value
        return least(member, self.root) if self.invent else NOTHING

    def _use(self, mention: Mention) -> None:
        self.used.update(mention.span)
        self.evidence += 1

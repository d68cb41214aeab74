"""Matching: which of the tools on offer a clause of the prompt speaks of."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from vernal.models.offline.lexicon import GREETINGS, PREPOSITIONS, STOP, TOOL_STOP
from vernal.models.offline.reading import Reading
from vernal.models.offline.schemas import branches, choices, properties, resolve
from vernal.models.offline.words import kindred, related, split_name, stem, stems, subject
from vernal.tools.definition import ToolDefinition
from vernal.values.records import dataclass

ENOUGH = 1.5
"""The score from which a tool is called: one word of its name or its description."""
BARELY = 1.0
"""The score from which it is called if a value in the prompt clearly is meant for it: one word of a parameter."""
CLEARLY = 3.0
"""The score, in words that no better tool explains, from which a further tool is called."""

_SILENT = (STOP - GREETINGS) | TOOL_STOP
_MEANT = 0.45
_SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power", "%": "remainder"}
_FORMS = {"email": ("email",), "url": ("url", "web", "page"), "file": ("file",), "expression": ("calculate",)}


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool on offer, and how much each word speaks for it."""

    definition: ToolDefinition
    weights: Mapping[str, float]
    names: frozenset[str]

    @classmethod
    def of(cls, definition: ToolDefinition) -> "OfferedTool":
        """Weigh the words of `definition`: its name most, then its description, enumerations and parameters."""
        weights: dict[str, float] = {}
        schema = definition.input_schema
        for name, member in properties(resolve(schema, schema)).items():
            resolved = resolve(member, schema)
            _weigh(weights, stems(subject(str(resolved.get("description") or "")), without=_SILENT), 0.5)
            _weigh(weights, stems(" ".join(split_name(name)), without=_SILENT), 1)
            for branch in branches(resolved, schema):
                values = choices(branch) or choices(resolve(branch.get("items"), schema)) or ()
                for value in values[:100]:
                    _weigh(weights, stems(value, without=_SILENT) if isinstance(value, str) else (), 1.5)
        _weigh(weights, stems(subject(definition.description), without=_SILENT), 1.5)
        words = stems(" ".join(split_name(definition.name)), without=_SILENT)
        begins_with_verb = len(words) > 1 and split_name(definition.name)[0] not in _SILENT
        _weigh(weights, words[:1], 2 if begins_with_verb else 3)
        _weigh(weights, words[1:], 3)
        return cls(definition, weights, frozenset(words))

    @property
    def verb(self) -> str:
        """The first word of the name, with which a request for this tool is likely to begin."""
        return next((stem(word) for word in split_name(self.definition.name)), "")

    @property
    def heads(self) -> frozenset[str]:
        """The words with which a request for this tool may begin."""
        return self.names | {self.verb}

    def score(self, said: frozenset[str], meant: frozenset[str]) -> float:
        """How much `said` speaks for this tool; words that are only `meant` count less."""
        return sum(
            weight if word in said else weight * _MEANT if word in meant else 0 for word, weight in self.weights.items()
        )

    def covered(self, said: frozenset[str]) -> float:
        """Which part of the tool's name was said."""
        return len(self.names & said) / len(self.names) if self.names else 0


def vocabulary(tools: Sequence[OfferedTool]) -> frozenset[str]:
    """The stems that the tools themselves use, proper names left out."""
    words = frozenset(word for tool in tools for word in _vocabulary(tool.definition))
    return words | kindred(words)


def select(
    tools: Sequence[OfferedTool], clause: Reading, evidence: Callable[[OfferedTool], float]
) -> list[tuple[OfferedTool, float]]:
    """The tools that `clause` speaks of with their scores, the best first.

    Between equals it decides whether the clause has what they need (`evidence` is negative where not), then how much
    of their names was said, then how many values they would take.

    A second tool is taken only for words that the first does not explain, one of its name among them.
    """

    def rank(covered: float, tool: OfferedTool) -> tuple[bool, float, float]:
        values = evidence(tool)
        return values >= 0, covered, values

    said, meant = _said(clause)
    begins = clause.tokens[clause.first].stem if clause.first <= clause.last else ""
    scored = [(tool.score(said, meant) + (tool.verb == begins), tool.covered(said | meant), tool) for tool in tools]
    least = BARELY if len(tools) > 1 else 0.1
    selected: list[tuple[OfferedTool, float]] = []
    while scored:
        best = max(score for score, *_ in scored)
        equals = [(covered, tool) for score, covered, tool in scored if score == best]
        _, chosen = max(equals, key=lambda each: rank(*each)) if len(equals) > 1 else equals[0]
        if best < (CLEARLY if selected else least) or (selected and not chosen.covered(said | meant)):
            break
        selected.append((chosen, best))
        explained = frozenset(chosen.weights) | related(chosen.weights)
        said, meant = said - explained, meant - explained
        scored = [(t.score(said, meant), t.covered(said | meant), t) for *_, t in scored if t is not chosen]
    return selected


def _said(clause: Reading) -> tuple[frozenset[str], frozenset[str]]:
    sums = [mention for mention in clause.mentions if mention.kind == "expression"]
    within = {index for mention in sums for index in mention.span}
    words = [clause.tokens[i] for i in clause.indices if i not in within]
    said = {s for t in words if t.kind in ("word", "id", "day") for s in stems(t.text, without=_SILENT)}
    for mention in sums:
        signs = [_SIGNS[sign] for sign in mention.value.lstrip("-") if sign in _SIGNS]
        said.add(stem(signs[0] if len(signs) == 1 else "calculate"))
    asides = {i - 1 for i in clause.indices if clause.tokens[i].lower in ("me", "us")}  # "tell me" tells nobody else
    meant = related({*said, *(clause.tokens[i].stem for i in clause.indices if i not in within | asides)})
    meant.update(stem(word) for mention in clause.mentions for word in _FORMS.get(mention.kind, ()))
    return frozenset(said), frozenset(meant - said)


def _weigh(weights: dict[str, float], words: Sequence[str], weight: float) -> None:
    for word in words:
        weights[word] = max(weight, weights.get(word, 0))


def _vocabulary(definition: ToolDefinition) -> Iterator[str]:
    yield from (stem(word) for word in split_name(definition.name) if word not in PREPOSITIONS)
    texts = [definition.description]
    for name, member in properties(resolve(definition.input_schema, definition.input_schema)).items():
        yield from (stem(word) for word in split_name(name) if word not in PREPOSITIONS)
        texts.append(str(resolve(member, definition.input_schema).get("description") or ""))
    for text in texts:
        for sentence in re.split(r"[.!?\n]+\s*", subject(text)):
            first, *rest = sentence.split() or [""]
            yield from stems(" ".join([first, *(word for word in rest if not word[:1].isupper())]))

"""What the mock service is asked to do: the scenario is spelt out in the name of the model."""

import re
from dataclasses import dataclass
from typing import Self

CITIES = ("Amsterdam", "Bergen", "Cádiz", "Delft", "Essen", "Faro", "Ghent", "Hilo")
WORDS = ("It", " is", " mild", " and", " dry", ",", " with", " a", " light", " wind", " from", " the", " sea", ".")

SYSTEM = "You are an assistant for travellers. Use the tools."
QUESTION = "What is the weather like in the cities of my tour? Answer in one paragraph."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`rounds` of `calls` tool calls each, then an answer of `tokens`; each response begins after `delay_ms`."""

    rounds: int = 1
    calls: int = 1
    tokens: int = 20
    delay_ms: int = 0

    @property
    def model(self) -> str:
        """The name of the model that behaves like this."""
        return f"bench-{self.rounds}-{self.calls}-{self.tokens}-{self.delay_ms}"

    @classmethod
    def of(cls, model: str) -> Self:
        """The scenario that the name of a model spells out.

        Raises:
            ValueError: it spells none.
        """
        match = re.fullmatch(r"bench-(\d+)-(\d+)-(\d+)-(\d+)", model)
        if match is None:
            raise ValueError(f"the model is {model!r}; a name such as {cls().model!r} is wanted")
        rounds, calls, tokens, delay_ms = map(int, match.groups())
        return cls(rounds=rounds, calls=calls, tokens=tokens, delay_ms=delay_ms)

    @property
    def words(self) -> tuple[str, ...]:
        """The answer, cut as it is streamed."""
        return tuple(WORDS[index % len(WORDS)] for index in range(self.tokens))

    @property
    def answer(self) -> str:
        """The text of the answer."""
        return "".join(self.words)

    @property
    def tool_calls(self) -> int:
        """How many tool calls one conversation has."""
        return self.rounds * self.calls

"""Free text: the phrase of the prompt that a query, a message or a title is meant to have."""

from vernal.models.offline.lexicon import GREETINGS, JOINERS, PREPOSITIONS, STOP
from vernal.models.offline.parameters import Parameter
from vernal.models.offline.reading import Reading, breaks
from vernal.models.offline.words import stem

_SPEECH = frozenset({"saying", "says", "say", "that", "reads", "reading"})
_TOPIC = frozenset({"about", "for", "regarding", "called", "titled", "named"})
_TITLES = frozenset({"subject", "title", "reason"})
_EQUALS = frozenset({"is", "=", ":", "as", "to"})


class FreeText:
    """Finds phrases in what the other parameters left over."""

    def __init__(self, reading: Reading, used: set[int], names: set[str]) -> None:
        self._reading = reading
        self._used = used
        self._names = names

    def span_for(self, wanted: Parameter) -> range | None:
        """The tokens of the phrase for `wanted`; one that is not required must be introduced by a word of its own."""
        reading = self._reading
        found = self._named(wanted)
        if found is None:
            start = self._introduced(wanted)
            if start is not None:
                found = self._trimmed(range(start, self._end_of_topic(start)), vocabulary=False)
            elif wanted.required:
                found = self._trimmed(range(reading.first, reading.last + 1), vocabulary=True)
        return found

    def _named(self, wanted: Parameter) -> range | None:
        """The phrase behind the parameter's own name: "with the subject Lunch and the body See you"."""
        reading = self._reading
        for index in range(reading.first, reading.last):
            token = reading.tokens[index]
            if token.lower not in wanted.raw or index in self._used:
                continue
            start = index + 1
            if reading.tokens[start].lower in _EQUALS and start < reading.last:
                if reading.tokens[start].lower == "to":
                    continue
                start += 1
            elif reading.tokens[start].lower in PREPOSITIONS or reading.tokens[start].kind == "mark":
                continue
            end = start
            while end <= reading.last and not self._ends_named(end, wanted):
                end += 1
            return self._trimmed(range(start, end), vocabulary=False)
        return None

    def _ends_named(self, index: int, wanted: Parameter) -> bool:
        """Whether another parameter's name follows here, or what another parameter has used."""
        tokens = self._reading.tokens
        ahead = [tokens[i].lower for i in range(index, min(index + 4, self._reading.last + 1))]
        led = bool(ahead) and (ahead[0] in JOINERS or ahead[0] in ("with", ",", "to", "in"))
        others = self._names - set(wanted.raw) - PREPOSITIONS
        return led and (not others.isdisjoint(ahead[1:]) or index + 1 in self._used)

    def _introduced(self, wanted: Parameter) -> int | None:
        reading = self._reading
        topical = wanted.is_topical or not _TITLES.isdisjoint(wanted.raw)
        leads = _TOPIC if topical else _SPEECH
        for index in range(reading.first, reading.last):
            token = reading.tokens[index]
            colon = token.text in (":", "：") and not topical  # noqa: RUF001  # a full-width colon
            if index in self._used or not (colon or (token.lower in leads and index > reading.first)):
                continue
            if index + 1 not in self._used:
                return index + 1
        return None

    def _end_of_topic(self, start: int) -> int:
        reading = self._reading
        ends = (i for i in range(start + 1, reading.last + 1) if reading.tokens[i].lower in _SPEECH - {"that"})
        return next(ends, reading.last + 1)

    def _trimmed(self, span: range, *, vocabulary: bool) -> range | None:
        """`span` up to a marker of speech or a used value, without the words at its ends that carry nothing."""
        tokens = self._reading.tokens
        named = {index for mention in self._reading.mentions if mention.kind == "name" for index in mention.span}

        def carries_nothing(index: int) -> bool:
            token = tokens[index]
            if index in named and index not in self._used:
                return False
            if token.lower in GREETINGS and index > self._reading.first:
                return False
            if index in self._used or token.lower in STOP or breaks(token) or token.kind == "mark":
                return not (token.kind == "mark" and token.text in ("(", ")", "$", "€", "+", "-", "!"))
            return vocabulary and stem(token.text) in self._reading.vocabulary

        start, stop = span.start, span.stop
        while start < stop and (carries_nothing(start) if vocabulary else start in self._used or breaks(tokens[start])):
            start += 1
        while stop > start and (carries_nothing(stop - 1) if vocabulary else self._closes(stop - 1)):
            stop -= 1
        return range(start, stop) if start < stop else None

    def _closes(self, index: int) -> bool:
        token = self._reading.tokens[index]
        return index in self._used or breaks(token) or token.text == "," or token.lower in PREPOSITIONS

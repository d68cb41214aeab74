"""A reading of the prompt: what in it could be a value, and the words that lead to it."""

# ruff: noqa: RUF001  # the marks and signs that people type

import itertools
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from vernal.models.offline.lexicon import JOINERS, PREPOSITIONS, STOP, word_set
from vernal.models.offline.tokens import Token, expressions, tokens
from vernal.models.offline.words import stem
from vernal.values.records import dataclass

TEXTS = frozenset({"name", "code", "words", "quoted", "initial"})
"""Kinds of mentions that may stand beside each other in one list."""

_PARTICLES = word_set("of de del la du da di van von der den the al el y")
_ARTICLES = word_set("The La Los Las El Le Les Den De San")
"""What a name may begin with: The Hague, Los Angeles."""
_COMPOUNDS = word_set("room street road avenue square station list")
_SENTENCE_ENDS = frozenset(".?!;\n。？！；¿¡")
_CLAUSE_HEADS = word_set("what who when where which how is are does tell show also then please can could")


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in the prompt.

    `first` and `last` are the tokens it covers, `lead` the words before it (nearest first, a number as "#"), `after`
    the word behind it. Mentions that are listed together ("Oslo, Rome and Bergen") share `group`; `listed` says that
    the list is more than a pair with a comma, which could as well be a place and its country.
    """

    kind: str
    text: str
    value: Any
    first: int
    last: int
    lead: tuple[str, ...] = ()
    after: str = ""
    unit: str = ""
    group: int = -1
    listed: bool = False

    @property
    def span(self) -> range:
        """The tokens it covers."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True)
class Reading:
    """The tokens of a prompt, or of the clause from `first` to `last`, and the mentions in it."""

    text: str
    tokens: Sequence[Token]
    mentions: tuple[Mention, ...]
    vocabulary: frozenset[str]
    first: int
    last: int

    def within(self, first: int, last: int) -> "Reading":
        """The part from token `first` to token `last`."""
        inside = tuple(m for m in self.mentions if first <= m.first and m.last <= last)
        return Reading(self.text, self.tokens, inside, self.vocabulary, first, last)

    def written(self, first: int, last: int) -> str:
        """What is written from token `first` to token `last`."""
        return self.text[self.tokens[first].start : self.tokens[last].end] if first <= last else ""

    @property
    def clause(self) -> str:
        """What is written here."""
        return self.written(self.first, self.last)

    @property
    def indices(self) -> range:
        """The tokens of this part."""
        return range(self.first, self.last + 1)


def read(text: str, vocabulary: frozenset[str]) -> Reading:
    """Read `text`; `vocabulary` has the stems that the tools use, which are therefore hardly values."""
    reader = _Reader(text, vocabulary)
    reader.collect()
    return Reading(
        text, reader.tokens, link(text, reader.tokens, reader.mentions), vocabulary, 0, len(reader.tokens) - 1
    )


def clauses(reading: Reading, verbs: frozenset[str]) -> list[Reading]:
    """The clauses of a prompt: sentences, and parts that a joiner and a question word or a tool's verb begin."""
    starts = [0]
    for index in range(1, len(reading.tokens)):
        token, before = reading.tokens[index], reading.tokens[index - 1]
        head = token.lower in _CLAUSE_HEADS or token.stem in verbs
        joined = before.lower in JOINERS or before.text == "," or before.lower in ("then", "also")
        if before.text in _SENTENCE_ENDS or "\n" in reading.text[before.end : token.start] or (joined and head):
            starts.append(index)
    ends = [*(start - 1 for start in starts[1:]), len(reading.tokens) - 1]
    return [reading.within(first, last) for first, last in zip(starts, ends, strict=True)]


def link(text: str, read: Sequence[Token], mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions in order, with what leads to each, and lists recognised."""
    linked: list[Mention] = []
    named = {index for mention in mentions if mention.kind in TEXTS - {"words"} for index in mention.span}
    for mention in sorted(mentions, key=lambda m: (m.first, m.last)):
        before = linked[-1] if linked else None
        if before is not None and _alike(before, mention) and _joined(read, before.last, mention.first):
            mention = _with(mention, lead=before.lead, group=before.group, after=_after(read, mention.last))
            if before.kind == "initial":
                linked[-1] = _with(before, kind="name")
        else:
            mention = _with(
                mention, lead=_lead(read, mention.first, named), group=mention.first, after=_after(read, mention.last)
            )
        linked.append(mention)
    return tuple(_with(m, listed=_is_list(read, [n for n in linked if n.group == m.group])) for m in linked)


def breaks(token: Token) -> bool:
    """Whether a sentence ends with `token`."""
    return token.text in _SENTENCE_ENDS


@dataclass
class _Reader:
    text: str
    vocabulary: frozenset[str]
    mentions: list[Mention] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)

    def collect(self) -> None:
        self.tokens = tokens(self.text)
        index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            last = index
            if token.kind == "word":
                last = self._collect_words(index)
            elif token.kind not in ("mark", "stop", "join"):
                self._add(token.kind, index, index, token.value)
            index = last + 1
        for start, end, signs in expressions(self.text):
            inside = [i for i, token in enumerate(self.tokens) if start <= token.start and token.end <= end]
            if inside and all(self.tokens[i].kind in ("number", "mark", "word") for i in inside):
                self._add("expression", inside[0], inside[-1], signs)

    def _collect_words(self, index: int) -> int:
        if self._is_name(index):
            last = self._end_of_name(index)
            kind = "initial" if self._is_initial(index) and last == index else "name"
            kind = (
                "code"
                if self.tokens[index].text.isupper() and last == index and len(self.tokens[index].text) > 1
                else kind
            )
            self._add(kind, index, last, self._plain(index, last))
            return last
        last = index
        if self._is_content(index):
            while self._adjacent(last) and self._is_content(last + 1) and not self._is_name(last + 1):
                last += 1
            self._add("words", index, last, self._plain(index, last))
        return last

    def _is_name(self, index: int) -> bool:
        token = self.tokens[index]
        if token.kind != "word":
            return False
        if token.text in _ARTICLES and self._adjacent(index) and not (token.text == "The" and self._begins(index)):
            return self._is_name(index + 1)
        if token.lower in STOP or not (token.text[0].isupper() or _is_caseless(token.text)):
            return False
        return not (token.stem in self.vocabulary and not token.text.isupper())

    def _is_initial(self, index: int) -> bool:
        """Whether the word has its capital from its place: the first of a sentence, with other words behind it."""
        followed = index + 1 < len(self.tokens) and self.tokens[index + 1].kind != "mark"
        return self._begins(index) and followed and not _is_caseless(self.tokens[index].text)

    def _begins(self, index: int) -> bool:
        return index == 0 or breaks(self.tokens[index - 1]) or self.tokens[index - 1].text in ("-", "*", ":")

    def _end_of_name(self, index: int) -> int:
        last = index
        while self._adjacent(last) and not _is_caseless(self.tokens[last].text):
            ahead = last + 1
            while ahead < len(self.tokens) - 1 and self.tokens[ahead].text in _PARTICLES and self._adjacent(ahead):
                ahead += 1
            if not self._is_name(ahead) or self.tokens[ahead].text.isupper() != self.tokens[index].text.isupper():
                break
            last = ahead
        return last

    def _is_content(self, index: int) -> bool:
        token = self.tokens[index]
        if token.text in _COMPOUNDS and index and self._adjacent(index - 1) and self._is_content(index - 1):
            return True
        return token.kind == "word" and token.lower not in STOP and token.stem not in self.vocabulary

    def _adjacent(self, index: int) -> bool:
        """Whether another token follows with nothing but spaces between, in the same line."""
        if index + 1 >= len(self.tokens) or self.tokens[index].text.endswith(("'s", "’s")):
            return False
        return self.text[self.tokens[index].end : self.tokens[index + 1].start].strip(" ") == ""

    def _plain(self, first: int, last: int) -> str:
        written = self.text[self.tokens[first].start : self.tokens[last].end]
        owns = last + 1 < len(self.tokens) and self.tokens[last + 1].lower not in STOP
        return written[:-2] if owns and written.endswith(("'s", "’s")) else written

    def _add(self, kind: str, first: int, last: int, value: Any) -> None:
        written = self.text[self.tokens[first].start : self.tokens[last].end]
        self.mentions.append(Mention(kind, written, value, first, last, unit=self.tokens[first].unit))


def _with(mention: Mention, **changes: Any) -> Mention:
    values = {name: getattr(mention, name) for name in Mention.__slots__}
    return Mention(**{**values, **changes})


def _is_caseless(text: str) -> bool:
    """Whether the script has no capitals, so that a name cannot be told from another word."""
    return text.upper() == text.lower()


def _alike(left: Mention, right: Mention) -> bool:
    return left.kind == right.kind or (left.kind in TEXTS and right.kind in TEXTS)


def _is_joiner(token: Token) -> bool:
    return token.kind == "join" or token.text in (",", "、", "&") or token.lower in JOINERS


def _joined(read: Sequence[Token], left: int, right: int) -> bool:
    """Whether only joiners stand between, and at most one preposition or article behind them."""
    between = list(read[left + 1 : right])
    if between and between[0].kind == "unit":
        between = between[1:]
    joiners = 0
    while joiners < len(between) and _is_joiner(between[joiners]):
        joiners += 1
    rest = between[joiners:]
    return joiners > 0 and len(rest) <= 1 and all(token.lower in PREPOSITIONS for token in rest)


def _is_list(read: Sequence[Token], members: Sequence[Mention]) -> bool:
    between = [token for a, b in itertools.pairwise(members) for token in read[a.last + 1 : b.first]]
    return len(members) > 2 or any(_is_joiner(token) and token.text != "," for token in between)


def _lead(read: Sequence[Token], first: int, named: set[int]) -> tuple[str, ...]:
    words: list[str] = []
    for index in range(first - 1, max(-1, first - 6), -1):
        token = read[index]
        if breaks(token) or index in named or len(words) == 3:
            break
        if token.kind in ("word", "numeral", "stop", "id"):
            words.append(token.lower)
        elif token.kind == "number":
            words.append("#")
    return tuple(words)


def _after(read: Sequence[Token], last: int) -> str:
    for token in read[last + 1 : last + 3]:
        if token.kind == "word":
            return "" if token.lower in STOP else stem(token.text)
        if token.text != "-":
            break
    return ""

"""Words: which of them carry meaning, and when two of them are the same."""

# ruff: noqa: RUF001  # the marks and signs that people type

import functools
import re
from collections.abc import Iterable

from vernal.models.offline.lexicon import NUMBERS, RELATED, STOP

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_EXAMPLES = re.compile(
    r"""["“'‘`«].*|\b(?:such as|like|e\.g\.|for example|for instance)\b.*""", re.IGNORECASE | re.DOTALL
)
_SUFFIXES = (("ies", "y", 2), ("xes", "x", 2), ("ches", "ch", 2), ("shes", "sh", 2), ("sses", "ss", 2))
_ENDINGS = (("ation", 4), ("ion", 5), ("ing", 3), ("ed", 3), ("er", 5), ("or", 5), ("e", 3))


def split_name(name: str) -> list[str]:
    """The lower-case words of an identifier in snake, kebab or camel case."""
    return [word.lower() for word in re.split(r"[\W_]+|(?<=[^\W\d])(?=\d)", _CAMEL.sub(" ", name)) if word]


@functools.lru_cache(4096)
def stem(word: str) -> str:
    """The part of a word that plural, -ing, -ed, -er and -ation leave alone."""
    word = re.sub(r"['’]\w{0,2}$", "", word.casefold())
    for suffix, instead, least in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word.removesuffix(suffix) + instead
            break
    else:
        if len(word) > 3 and word.endswith("s") and word[-2] not in "sui":
            word = word[:-1]
    for suffix, least in _ENDINGS:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word.removesuffix(suffix)
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def stems(text: str, *, without: frozenset[str] = STOP) -> list[str]:
    """The stems of the words of `text` that carry meaning; of scripts without spaces, pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", text.replace("_", " "))):
        if _IDEOGRAPHS.search(word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        elif word.casefold() not in without and word.casefold() not in NUMBERS:
            found.append(stem(word))
    return found


def subject(description: str) -> str:
    """A description without its examples."""
    return _EXAMPLES.sub("", description)


_VALUED = frozenset({stem("currency"), stem("unit")})


@functools.cache
def _related() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for canonical, others in RELATED.items():
        for word in others.split():
            table[stem(word)] = (*table.get(stem(word), ()), stem(canonical))
    return table


def kindred(words: frozenset[str]) -> frozenset[str]:
    """Stems of the words that lead to one of `words` in the same table; names of units stay values."""
    return frozenset(word for word, others in _related().items() if not words.isdisjoint({*others} - _VALUED))


def related(words: Iterable[str]) -> set[str]:
    """Stems of the words that a person would also look for, from one small table."""
    table = _related()
    return {other for word in words for other in table.get(word, ())}

"""Words: which of them carry meaning, and when two of them are the same."""

import functools
import re
from collections.abc import Iterable

PREPOSITIONS = frozenset(
    "in at on for of from to into with by about near around until till since as under over above below after before "
    "between named called titled saying says via per than through"
    " à au aux en dans pour de du des i på til fra für bei nach von aus zu zum zur im am um a al em para voor naar van"
    " op te der del della di da do el la los las le les den det die das dem een et y ein une un una".split()
)
"""Words that lead to a value, never a part of it."""

GREETINGS = frozenset(
    "hello hi hey dear hallo guten tag moin bonjour salut hola ciao olá hej привет здравствуйте 你好 您好 谢谢 안녕하세요 "
    "مرحبا שלום नमस्ते สวัสดี".split()
)

STOP = PREPOSITIONS | GREETINGS | frozenset(
    "a an the this that these those it its itself i me my mine we us our you your yours he him his she her they them "
    "their there here is are am was were be been being do does did doing done have has had will would shall should can "
    "could may might must not no don doesn didn isn what whats which who whose whom when where why how if then else so "
    "and or but nor plus minus please kindly thanks thank ok okay yes just also too very really now "
    "right like want wants need needs let lets go going gonna tell show give gave know see say said look much many any "
    "some all every each both more most less than up down out off again still only let's i'm what's how's ll re ve "
    "s d m t get gets got fetch use using make put set both either today's per same such e.g etc "
    "wie was wer wo wann ist sind bitte mir ich du wir ihr und oder quel quelle quels quelles est sont il elle je tu "
    "nous vous fait qu que qui quoi où comment qué cuál cuánto cómo dónde hace hay es son por wat hoe waar is het de "
    "hvad hvordan hvor er vad hur är che chi come dove è sono qual quanto como onde está".split()
)
"""Words that say nothing of the subject; beside English a handful of other languages'."""

TOOL_STOP = frozenset("current currently given return returns tool function value values result results provide".split())
"""Words of tool descriptions that say nothing of the subject."""

JOINERS = frozenset("and or & plus und oder et ou y e o en och og eller и или 和 与 及 跟 と や vs versus than".split())
"""Words between two values of a list; commas are joiners too."""

NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
    )
}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january february march april may june july august september october november december".split()
)

_RELATED = {
    "weather": "temperature warm cold hot rain raining rainy sunny snow snowing windy cloudy degrees forecast umbrella",
    "time": "clock hour",
    "date": "day today",
    "email": "mail e-mail",
    "message": "text sms dm tell",
    "add": "plus sum total together create append",
    "subtract": "minus difference",
    "multiply": "times product multiplied multiplication",
    "divide": "divided quotient ratio division",
    "calculate": "compute evaluate plus minus times divided math",
    "convert": "conversion exchange worth",
    "currency": "dollars euros pounds usd eur gbp yen",
    "search": "find lookup google look information",
    "find": "search locate",
    "delete": "remove erase drop",
    "remove": "delete erase drop",
    "cancel": "abort revoke",
    "create": "add new make open",
    "book": "reserve reservation",
    "event": "meeting appointment calendar",
    "meeting": "appointment event",
    "schedule": "meeting appointment plan",
    "reminder": "remember",
    "todo": "task",
    "task": "todo",
    "define": "mean meaning definition",
    "definition": "mean meaning define",
    "read": "open show contents",
    "order": "purchase buy package parcel",
    "customer": "client",
    "price": "cost costs expensive",
    "stock": "share shares",
    "light": "lamp lights",
    "play": "listen",
    "route": "directions drive distance far",
    "distance": "far",
    "alarm": "wake",
}

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_EXAMPLES = re.compile(r"""["“'‘`«].*|\b(?:such as|like|e\.g\.|for example|for instance)\b.*""", re.IGNORECASE | re.DOTALL)
_SUFFIXES = (("ies", "y", 2), ("xes", "x", 2), ("ches", "ch", 2), ("shes", "sh", 2), ("sses", "ss", 2))
_ENDINGS = (("ation", 4), ("ion", 5), ("ing", 3), ("ed", 3), ("er", 4), ("or", 4), ("e", 3))


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


@functools.cache
def _related() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for canonical, words in _RELATED.items():
        for word in words.split():
            table[stem(word)] = (*table.get(stem(word), ()), stem(canonical))
    return table


def kindred(words: frozenset[str]) -> frozenset[str]:
    """Stems of the words that lead to one of `words` in the same table; names of currencies stay values."""
    return frozenset(word for word, others in _related().items() if not words.isdisjoint({*others} - {stem("currency")}))


def related(words: Iterable[str]) -> set[str]:
    """Stems of the words that a person would also look for, from one small table."""
    table = _related()
    return {other for word in words for other in table.get(word, ())}

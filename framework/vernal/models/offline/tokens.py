"""Tokens: a prompt cut into words and the literals that are recognised by their form."""

# ruff: noqa: RUF001  # the marks and signs that people type

import functools
import json
import math
import re
from typing import Any

from vernal.models.offline.lexicon import MONTHS, NUMBERS, WEEKDAYS
from vernal.models.offline.words import stem
from vernal.values.records import dataclass

_JSON = json.JSONDecoder()
_MONTH = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in MONTHS)}|sept)\.?"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_DAYS = "|".join(WEEKDAYS)
_UNITS = (
    "km|mm|cm|dm|mi|m|ft|kg|mg|g|lbs|lb|oz|ml|cl|l|hrs|hr|h|mins|min|secs|sec|ms|s|gb|mb|kb|tb|px|eur|usd|gbp|c|f|w|kwh"
)
_SPANS = "day|week|night|hour|minute|month|year|person|people|star"
_AMOUNT = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|\.\d+"
_OPERATION = r"\s*(?:[-+*/×÷^%−]|\*\*|plus|minus|times|multiplied\ by|divided\ by)\s*"
_OPERAND = r"[-(\s]*\d+(?:\.\d+)?[)\s]*"

_TOKEN = rf"""
  (?P<quoted>"[^"\n]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|「[^」]+」|『[^』]+』|`[^`]+`
    |(?<!\w)'[^'\n]+'(?!\w)|(?<!\w)‘[^’]+’(?!\w))
| (?P<url>(?:https?|ftp)://[^\s<>"'、。]*[^\s<>"'、。.,;:!?)\]]|www\.[\w-]+\.[^\s<>"']*[\w/])
| (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
| (?P<datetime>\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)(?!\w)
| (?P<date>\d{{4}}[-/]\d\d[-/]\d\d|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}|\d{{1,2}}/\d{{1,2}}/\d{{4}}
    |{_ORDINAL}\ (?:of\ )?{_MONTH}(?:,?\ \d{{4}})?|{_MONTH}\ {_ORDINAL}(?:,?\ \d{{4}})?)(?!\w)
| (?P<time>\d{{1,2}}:\d\d(?::\d\d)?(?:\ ?[ap]\.?m)?|\d{{1,2}}\ ?[ap]m|noon|midnight)(?!\w)
| (?P<uuid>[\da-f]{{8}}-[\da-f]{{4}}-[\da-f]{{4}}-[\da-f]{{4}}-[\da-f]{{12}})(?!\w)
| (?P<phone>\+\d[\d\ ()-]{{6,}}\d)(?!\w)
| (?P<day>the\ day\ after\ tomorrow|today|tonight|tomorrow|yesterday|{_DAYS}
    |(?:next|this|last)\ (?:week(?:end)?|month|year|{_DAYS}))(?!\w)
| (?P<file>(?<!\w)(?:~|\.{{1,2}}|[a-z]:)?[\\/]\w[\w.\\/+-]*\w
    |(?!(?-i:[A-Z]{{2,5}}/[A-Z]{{2,5}})(?!\w))(?=[\w./+-]*[^\W\d])[\w+-]+(?:[./][\w+-]+)*/[\w+-]+(?:\.\w+)*
    |\w[\w-]*(?:\.[\w-]+)*\.(?-i:[a-z]\w{{1,4}}|[A-Z]{{2,4}}))(?!\w)
| (?P<number>(?:[$€£¥₹]\s?)?(?:(?<![\w)])[-+−])?(?:[$€£¥₹]\s?)?(?:{_AMOUNT})
    (?P<unit>st|nd|rd|th|\s?%|\s?°\s?[cf]?|[$€£¥₹]|(?:{_UNITS}))?(?!\w|\.\d|-\d\d\d|-(?!{_SPANS})[^\W\d]))
| (?P<word>(?-i:St|Mt|Ft|Dr|Mr|Mrs|Ms)\.(?=\s))
| (?P<id>\#?[^\W_]+(?:(?:[-_'’]|\.(?=\d))[^\W_]+)*)
| (?P<mark>\S)
"""

_ASIDE = "你好|您好|谢谢|怎么样|怎么|什么|多少|如何|请问|今天|明天|现在|[的在是了吗呢有么请帮我你您查给]"
_IDEOGRAPHIC = rf"""
  (?P<join>[和与及跟と、])
| (?P<stop>{_ASIDE}|[\u3040-\u309f])
| (?P<word>[\u30a0-\u30ff]+|(?:(?!{_ASIDE}|[和与及跟])[\u3400-\u9fff])+)
"""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the prompt: its kind, its text as written, what it stands for, and where it begins and ends."""

    kind: str
    text: str
    start: int
    end: int
    value: Any = None
    unit: str = ""

    @property
    def lower(self) -> str:
        """The word for comparisons: without case, and without a possessive or a contraction."""
        return re.sub(r"['’]\w{0,2}$", "", self.text.casefold())

    @property
    def stem(self) -> str:
        """The stem of the word."""
        return stem(self.text)


def tokens(text: str) -> list[Token]:
    """The tokens of `text`, in order."""
    token, word = _patterns()
    found: list[Token] = []
    position = 0
    while position < len(text):
        if text[position] in "{[" and (literal := _literal(text, position)) is not None:
            found.append(literal)
            position = literal.end
            continue
        match = word.match(text, position) or token.match(text, position)
        if match is None:
            position += 1
            continue
        found += _with_unit(_token(match))
        position = match.end()
    return found


def expressions(text: str) -> list[tuple[int, int, str]]:
    """Calculations such as `2 + 3 * 4` or `12 times 7`: start, end, and the text in the signs of a calculator."""
    found = []
    for match in _expression().finditer(text):
        written = match.group().strip()
        start = match.start() + match.group().index(written)
        signs = re.sub(r"times|multiplied\s+by|×", "*", written, flags=re.IGNORECASE)
        signs = re.sub(r"divided\s+by|÷", "/", signs, flags=re.IGNORECASE)
        signs = re.sub(r"minus|−", "-", re.sub("plus", "+", signs, flags=re.IGNORECASE), flags=re.IGNORECASE)
        if signs.count("(") == signs.count(")"):
            found.append((start, start + len(written), signs))
    return found


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    word = re.compile(rf"(?:{_IDEOGRAPHIC})", re.VERBOSE)
    return re.compile(_TOKEN, re.VERBOSE | re.IGNORECASE), word


@functools.cache
def _expression() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){_OPERAND}(?:{_OPERATION}{_OPERAND})+(?![\w-])", re.VERBOSE | re.IGNORECASE)


def _literal(text: str, position: int) -> Token | None:
    try:
        value, end = _JSON.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None
    return Token("json", text[position:end], position, end, value) if value else None


def _token(match: re.Match[str]) -> Token:
    kind, text = match.lastgroup or "mark", match.group()
    if kind == "unit":
        kind = "number"
    if kind == "id":
        kind = _kind_of_word(text)
    value: Any = text
    unit = ""
    if kind == "quoted":
        value = text[1:-1].strip()
    elif kind == "number":
        unit = (match.groupdict().get("unit") or "").strip() or "".join(c for c in text if c in "$€£¥₹")
        value = number(text.removesuffix(unit) if unit.isalpha() else text)
        kind = "mark" if value is None else kind
    elif kind == "id" and text.startswith("#"):
        value = text[1:]
        if value.isdecimal() and len(value) < 300:
            kind, value = "number", int(value)
    elif kind == "word" and text.casefold() in NUMBERS:
        kind, value = "numeral", NUMBERS[text.casefold()]
    return Token(kind, text, match.start(), match.end(), value, unit)


def _with_unit(token: Token) -> list[Token]:
    """A number with the unit behind it ("5km") as two tokens, since the unit may be a value too."""
    size = len(token.unit)
    if token.kind != "number" or not token.unit.isalpha() or token.unit.lower() in ("st", "nd", "rd", "th"):
        return [token]
    number = Token("number", token.text[:-size], token.start, token.end - size, token.value, token.unit)
    return [number, Token("word", token.text[-size:], token.end - size, token.end, token.text[-size:])]


def _kind_of_word(text: str) -> str:
    return "id" if any(c.isdigit() or c == "#" for c in text) else "word"


def number(text: str) -> int | float | None:
    """The number that `text` writes, None where it is none or too large to be sent as JSON."""
    digits = re.sub(r"[^\d.e+-]", "", text.replace("−", "-").casefold())
    try:
        if len(digits) < 300 and re.fullmatch(r"[-+]?\d+", digits):
            return int(digits)
        value = float(digits)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

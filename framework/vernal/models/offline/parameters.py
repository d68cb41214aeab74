"""Parameters: what a declared argument seems to want, and how well a mention in the prompt suits it."""

import re
from collections.abc import Iterator
from typing import Any

from vernal.models.offline.lexicon import ARTICLES, PREPOSITIONS, word_set
from vernal.models.offline.reading import Mention, Reading
from vernal.models.offline.schemas import Schema, accepts, branches, choices, kinds, resolve
from vernal.models.offline.words import split_name, stem, stems, subject
from vernal.values.records import dataclass

Suits = dict[str, float]

TOPICAL = word_set("query question topic search prompt keyword")
"""Names of parameters that want to know what something is about."""

SPECIFIC = 6.0
"""What a mention scores whose form alone says that it is meant: an e-mail address for an e-mail parameter."""

_WISHES: dict[str, tuple[frozenset[str], Suits]] = {
    "email": (frozenset({"email", "mail"}), {"email": 6, "quoted": 3, "name": 2}),
    "url": (frozenset({"url", "uri", "link", "website", "webpage", "homepage"}), {"url": 6, "file": 3, "quoted": 3}),
    "phone": (frozenset({"phone", "telephone", "mobile"}), {"phone": 6, "number": 3, "id": 3, "quoted": 3}),
    "file": (
        frozenset({"file", "filename", "path", "filepath", "folder", "directory", "filenames", "files", "paths"}),
        {"file": 6, "quoted": 5, "url": 2, "id": 2, "name": 1, "words": 1},
    ),
    "datetime": (frozenset({"datetime", "timestamp"}), {"datetime": 6, "date": 5, "day": 4, "time": 3, "quoted": 3}),
    "date": (
        frozenset({"date", "day", "deadline", "due", "birthday", "when", "checkin", "checkout"}),
        {"date": 6, "day": 6, "datetime": 5, "quoted": 3},
    ),
    "time": (frozenset({"time", "hour"}), {"time": 6, "datetime": 4, "quoted": 3}),
    "expression": (
        frozenset({"expression", "formula", "equation", "calculation"}),
        {"expression": 6, "quoted": 5, "number": 1},
    ),
    "id": (
        frozenset({"id", "ids", "number", "code", "key", "sku", "reference", "ref", "zip", "zipcode", "uuid", "no"}),
        {"id": 6, "uuid": 6, "quoted": 5, "number": 4, "code": 3.5, "phone": 1, "file": 1},
    ),
    "free": (
        word_set(
            "text message body content contents query question prompt note title description summary comment task todo "
            "sentence phrase input subject topic reason search answer details instructions sql statement command"
        ),
        {"quoted": 5},
    ),
}
_TEXT: Suits = {
    "quoted": 5, "name": 3, "code": 3, "id": 2, "file": 2, "email": 2, "url": 2, "uuid": 2, "phone": 1, "date": 1,
    "day": 0.2, "time": 0.5, "datetime": 1, "words": 1, "initial": 0.7,
}  # fmt: skip
_NUMBER: Suits = {"number": 3, "numeral": 2}
_FORMATS = {
    "email": "email", "idn-email": "email", "uri": "url", "url": "url", "date": "date", "date-time": "datetime",
    "time": "time", "uuid": "uuid", "duration": "duration", "uri-reference": "url",
}  # fmt: skip
_STRICT: dict[str, Suits] = {
    "email": {"email": 6},
    "url": {"url": 6},
    "date": {"date": 6, "day": 6, "datetime": 5},
    "datetime": {"datetime": 6, "date": 5, "day": 4},
    "time": {"time": 6, "datetime": 4},
    "uuid": {"uuid": 6},
    "duration": {"number": 3},
}
_ROLES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(words.split()), frozenset(leads.split()))
    for words, leads in (
        ("from source origin departure start begin since sender", "from since starting von de desde da fra från"),
        ("end until", "until till to through"),
        (
            "to target destination recipient arrival into receiver",
            "to into in as until till nach zu auf en till til vers",
        ),
        ("query topic subject search keyword keywords term", "for about on regarding"),
        (
            "city location place country town region area address where room venue station",
            "in at near for of around à au en i på em bei für voor para di ב في",
        ),
        ("date day when deadline due", "on by from for at am om le el"),
        ("time hour", "at by um à om"),
        ("name title label", "named called titled"),
        ("limit max maximum count size top", "top first last latest only most under below"),
        ("min minimum", "over above least"),
        ("price cost amount budget", "of at under pay"),
        ("guests people persons travelers passengers attendees participants", "for with"),
        ("user person contact customer assignee", "to for with by of"),
        ("days hours minutes nights weeks duration length", "for"),
        ("age", "aged"),
        ("artist author composer creator", "by from"),
        ("currency language unit units format", "in to into"),
        ("symbol ticker stock company", "of for"),
    )
)
_UNITS = frozenset({"unit", "units", "currency"})
_MONEY = word_set("amount price cost budget total sum value salary fee")


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument to be filled: its schema (resolved, one alternative), and the words that speak of it."""

    name: str
    schema: Schema
    required: bool
    words: frozenset[str]
    raw: tuple[str, ...]
    about: frozenset[str]
    wish: str
    format: str
    many: bool

    @property
    def item(self) -> Schema:
        """The schema of one value: of an item where a list is wanted."""
        return self.schema["items"] if self.many else self.schema

    @property
    def kind(self) -> str:
        """The JSON type of one value, `string` where the schema leaves it open."""
        return (kinds(self.item) or ("string",))[0]

    @property
    def is_free(self) -> bool:
        """Whether whole phrases are wanted, not names."""
        return self.wish == "free" and self.kind == "string" and not self.many and choices(self.schema) is None

    @property
    def is_topical(self) -> bool:
        """Whether the whole of a question can be its value."""
        return self.is_free and not TOPICAL.isdisjoint(self.raw)

    def score(self, mention: Mention) -> float:
        """How well `mention` suits; 0 where it does not at all."""
        hint, base = self.hint(mention), self.suits(mention)
        if not base and hint >= 4:
            base = 1.0 if self._may_be_named(mention) else 0
        return base and base + hint

    def suits(self, mention: Mention) -> float:
        """How well the form alone of `mention` suits."""
        if mention.kind == "choice":
            return SPECIFIC
        if self.wish == "id" and mention.kind == "number" and mention.after and not self.hint(mention):
            return 0  # "2 apples" numbers no order
        if self.kind in ("number", "integer"):
            return _NUMBER.get(mention.kind, 0)
        if self.kind != "string" or (self.many and mention.kind == "initial"):
            return 0
        if self.format in _STRICT:
            return _STRICT[self.format].get(mention.kind, 0)
        return _WISHES.get(self.wish, (None, _TEXT))[1].get(mention.kind, 0)

    def hint(self, mention: Mention) -> float:
        """How much the words around `mention` speak for it."""
        score = 0.0
        for distance, word in enumerate(mention.lead):
            if word in self.raw or (stem(word) in self.words and stem(word) not in ("", "i")):
                score = max(score, 4.0 - distance)
            elif distance == 0 and stem(word) in self.about:
                score = max(score, 1.0)
        passing = {word for word in mention.lead if word in ARTICLES or stem(word) in self.words} - PREPOSITIONS
        leads = [word for word in mention.lead if word not in passing]
        if leads and leads[0] in self._leads:
            score += 2.0
        if mention.lead[:1] == ("#",) and "from" in self.raw and not _UNITS.isdisjoint(self.raw):
            score += 2.0  # "5 miles", "100 USD"
        if mention.kind == "name" and stem(mention.text.split()[-1]) in self.words:
            score += 3.0  # "Main Street" for a street
        behind = {mention.after, stem(mention.unit)} - {""}
        if behind & self.words:
            score += 4.0
        elif behind & self.about:
            score += 2.0
        if mention.unit in ("$", "€", "£", "¥", "₹") and not _MONEY.isdisjoint(self.raw):
            score += 4.0
        return score

    @property
    def _leads(self) -> frozenset[str]:
        return next((leads for words, leads in _ROLES if not words.isdisjoint(self.raw)), frozenset())

    def _may_be_named(self, mention: Mention) -> bool:
        """Whether a value that is introduced by the parameter's own name is taken though its form is unusual."""
        if self.format in _STRICT or self.kind != "string" or mention.kind in ("json", "numeral", "expression"):
            return False
        return not (self.is_free and mention.kind == "words")


def parameter(name: str, schema: Any, root: Schema, *, required: bool) -> Iterator[Parameter]:
    """The alternatives of the parameter `name`, the most telling first."""
    resolved = resolve(schema, root)
    text = subject(str(resolved.get("description") or ""))
    raw = tuple(split_name(name))
    for branch in branches(resolved, root):
        if kinds(branch) == ("null",):
            continue
        items = resolve(branch.get("items"), root)
        many = kinds(branch) == ("array",) and (kinds(items) or ("string",))[0] not in ("object", "array")
        branch = {**branch, "items": branches(items, root)[0]} if many else branch
        form = _FORMATS.get(str((branch["items"] if many else branch).get("format")), "")
        words = frozenset(stem(word) for word in raw)
        about = frozenset(stems(text))
        yield Parameter(name, branch, required, words, raw, about, _wish(raw, text, form), form, many)


def value_of(parameter: Parameter, mention: Mention, reading: Reading, root: Schema, today: str | None) -> Any:
    """What `mention` gives as a value of `parameter`; the first form that the schema accepts, else None."""
    from vernal.models.offline.dates import written_as

    forms: list[Any] = []
    if parameter.kind in ("number", "integer"):
        forms = [mention.value]
        if mention.unit.startswith("%") or mention.after == "percent":
            forms.append(mention.value / 100)
        if parameter.kind == "integer" and isinstance(mention.value, float) and mention.value.is_integer():
            forms.insert(0, int(mention.value))
    elif mention.kind == "choice":
        forms = [mention.value]
    elif parameter.format in ("date", "datetime", "time", "duration"):
        forms = [written_as(parameter.format, mention, reading, today)]
    elif mention.kind in ("number", "numeral"):
        forms = [mention.text.lstrip("#").strip(), str(mention.value)]
    elif isinstance(mention.value, str):
        forms = [mention.value, mention.text]
    return next((form for form in forms if form is not None and accepts(parameter.item, form, root)), None)


def choices_in(reading: Reading, values: list[Any]) -> Iterator[Mention]:
    """Where the prompt names one of the `values` of an enumeration."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        wanted = split_name(str(value)) or [str(value)]
        for first in reading.indices:
            last = first + len(wanted) - 1
            if last <= reading.last and all(
                _names(reading, first + i, word, str(value)) for i, word in enumerate(wanted)
            ):
                yield Mention("choice", reading.written(first, last), value, first, last)


def _names(reading: Reading, index: int, word: str, value: str) -> bool:
    token = reading.tokens[index]
    if len(value) == 1 or (value.isupper() and len(value) == 2):
        return token.text == value
    written = str(token.value).casefold()
    return word in (written, token.lower) or (len(word) > 3 and stem(word) == stem(written))


def _wish(raw: tuple[str, ...], text: str, form: str) -> str:
    if form:
        return form
    if "zone" in raw or (raw and raw[-1] in ("timezone", "name", "city", "country") and "file" not in raw):
        return "text"
    head = re.split(
        r"\b(?:of|to|for|in|that|which|from|with|where)\b|[.,;:(]", text.lower().replace("e-mail", "email")
    )[0]
    described = re.findall(r"[a-z]+", head)
    for words in (raw, described):
        for wish, (names, _) in _WISHES.items():
            if not names.isdisjoint(words) and not (words is described and wish in ("id", "date", "time")):
                return wish
    return "text"

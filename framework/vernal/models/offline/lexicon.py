"""The lexicon: words that lead to values, words that say nothing, and words that mean alike. Data, no code."""


def word_set(text: str) -> frozenset[str]:
    """A set of words, written as one text."""
    return frozenset(text.split())


PREPOSITIONS = word_set(
    "in at on for of from to into with by about near around until till since as under over above below after before "
    "between named called titled saying says via per than through"
    " à au aux en dans pour de du des i på til fra für bei nach von aus zu zum zur im am um a al em para voor naar van"
    " op te der del della di da do el la los las le les den det die das dem een et y ein une un una في من إلى"
)
"""Words that lead to a value, never a part of it."""

ARTICLES = word_set("the a an my your our his her their this that der die das den dem le la les el los las il lo")
"""Words that may stand between a preposition and its value."""

GREETINGS = word_set(
    "hello hi hey dear hallo guten moin bonjour salut hola ciao olá hej привет здравствуйте "
    "你好 您好 谢谢 안녕하세요 مرحبا שלום नमस्ते สวัสดี"
)

_ENGLISH = word_set(
    "a an the this that these those it its itself i me my mine we us our you your yours he him his she her they them "
    "their there here is are am was were be been being do does did doing done have has had will would shall should "
    "can could may might must not no don doesn didn isn what whats which who whose whom when where why how if then "
    "else so and or but nor plus minus please kindly thanks thank ok okay yes just also too very really now right like "
    "want wants need needs let lets go going gonna tell show give gave know see say said look much many any some all "
    "every each both more most less than up down out off again still only ll re ve s d m t get gets got fetch use "
    "using make put set either per same such e.g etc"
)
_OTHERS = word_set(
    "wie was wer wo wann ist sind bitte mir ich du wir ihr und oder quel quelle quels quelles est sont il elle je tu "
    "nous vous fait qu que qui quoi où comment qué cuál cuánto cómo dónde hace hay es son por wat hoe waar is het de "
    "hvad hvordan hvor er vad hur är che chi come dove è sono qual quanto como onde está ما هو هي"
)
STOP = PREPOSITIONS | GREETINGS | _ENGLISH | _OTHERS
"""Words that say nothing of the subject; beside English a handful of other languages'."""

TOOL_STOP = word_set("current currently given return returns tool function value values result results provide")
"""Words of tool descriptions that say nothing of the subject."""

JOINERS = word_set("and or & plus und oder et ou y e o en och og eller и или 和 与 及 跟 と や vs versus than")
"""Words between two values of a list; commas are joiners too."""

NUMBERS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
NUMBERS |= {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "twenty": 20, "hundred": 100}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]

RELATED = {
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
    "unit": "miles kilometers kilometres km meters metres feet inches pounds kilograms kg grams liters gallons celsius",
    "population": "people live inhabitants",
    "switch": "turn",
    "turn": "switch",
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

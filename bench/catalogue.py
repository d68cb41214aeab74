"""A catalogue of a thousand tools, and two hundred questions each of which one of them answers.

`catalogue.txt` has 25 domains of 8 objects, 5 things that can be done with each, and a question for each object: in the
words of somebody who has never seen the tools, and in the few words in which a model would search for one. The tools
are made of it, the same each time.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("catalogue.txt")
PHRASES = {
    "accept": "Agree to {}",
    "appeal": "Object to the decision on {}",
    "archive": "Put {} away without deleting it",
    "book": "Reserve {}",
    "compare": "Set {} beside another",
    "create": "Make {}",
    "delete": "Remove {} for good",
    "disable": "Switch {} off until it is needed again",
    "escalate": "Hand {} to the next level",
    "export": "Write {} to a file",
    "get": "Return {} by its id",
    "list": "Return every {}, page by page",
    "mute": "Silence {}",
    "offboard": "End the access and the contract of {}",
    "publish": "Make {} public",
    "rate": "Give stars to {}",
    "remind": "Send a reminder of {}",
    "schedule": "Set the time of {}",
    "search": "Find {} by words",
    "set": "Set the value of {}",
    "share": "Give others access to {}",
    "turnOff": "Switch {} off",
    "turnOn": "Switch {} on",
    "update": "Change the fields of {}",
}
"""How descriptions put a verb; of any other verb they say the verb itself."""
_ID = {"id": {"type": "string", "description": "Identifier."}}
_PAGE = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Number of results at most."},
    "cursor": {"type": "string", "description": "Where the last page ended."},
}


@dataclass(frozen=True)
class CatalogueTool:
    """A tool as a model would be told of it."""

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True)
class Question:
    """What somebody asks, the words in which a model would search, and the name of the tool that answers it."""

    text: str
    search: str
    tool: str


@cache
def catalogue() -> tuple[tuple[CatalogueTool, ...], tuple[Question, ...]]:
    """The tools and the questions, in the order of the file."""
    tools: list[CatalogueTool] = []
    questions: list[Question] = []
    domain, style, title = "", "", ""
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            domain, style, title = line[2:].split(" ", 2)
        elif not line.startswith("#"):
            thing, detail, verbs, labelled = (part.strip() for part in line.split("|"))
            wanted, text, search = re.split("> | > ", labelled)
            for number, verb in enumerate(verbs.split()):
                tools.append(_tool(domain, style, title, verb, thing, detail, number))
                if verb == wanted:
                    questions.append(Question(text, search, tools[-1].name))
    return tuple(tools), tuple(questions)


def _tool(domain: str, style: str, title: str, verb: str, thing: str, detail: str, number: int) -> CatalogueTool:
    done = PHRASES.get(verb, f"{verb.capitalize()} {{}}").format(thing if verb == "list" else _with_article(thing))
    ways = (f"{done}: {detail}.", f"{done} ({detail}).", f"{title}: {done[0].lower()}{done[1:]}, {detail}.")
    return CatalogueTool(_name(domain, style, verb, thing), ways[number % 3], _schema(verb, thing))


def _name(domain: str, style: str, verb: str, thing: str) -> str:
    words = [
        domain,
        *re.findall("[a-z]+", re.sub("(?=[A-Z])", " ", verb).lower()),
        *re.findall("[a-z]+", thing.lower()),
    ]
    return "_".join(words) if style == "snake" else words[0] + "".join(word.capitalize() for word in words[1:])


def _schema(verb: str, thing: str) -> dict[str, Any]:
    properties: dict[str, Any] = dict(_ID)
    required = ["id"]
    if verb in ("list", "search"):
        words = {"query": {"type": "string", "description": f"Words to look for in each {thing}."}}
        properties, required = {**(words if verb == "search" else {}), **_PAGE}, []
    elif verb in ("create", "update", "schedule", "book", "set"):
        fields = {"type": "object", "description": f"What to set of the {thing}, by the names of its fields."}
        properties = {**(_ID if verb != "create" else {}), "fields": fields}
        required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _with_article(thing: str) -> str:
    return f"{'an' if thing[0].lower() in 'aeiou' else 'a'} {thing}"

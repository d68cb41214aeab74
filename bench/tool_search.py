"""What a search for tools finds, saves and costs: a thousand tools, two hundred questions.

python bench/tool_search.py
"""

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from catalogue import CatalogueTool, Question, catalogue
from vernal import ChatClient, FunctionToolCallback, Prompt, ToolCallback, ToolCallingAdvisor, ToolCallingChatOptions
from vernal.testing import ScriptedChatModel, tool_call
from vernal_tool_search import (
    HybridToolIndex,
    KeywordToolIndex,
    RegexToolIndex,
    SemanticToolIndex,
    ToolIndex,
    ToolReference,
    ToolSearchRequest,
    ToolSearchToolCallingAdvisor,
    WordLlamaEmbeddingModel,
)

RESULTS = 5
MODEL = WordLlamaEmbeddingModel()
INDEXES: dict[str, Callable[[], ToolIndex]] = {
    "regex": RegexToolIndex,
    "keyword": KeywordToolIndex,
    "semantic": lambda: SemanticToolIndex(MODEL),
    "hybrid": lambda: HybridToolIndex(KeywordToolIndex(), SemanticToolIndex(MODEL)),
}


@dataclass(frozen=True)
class Measured:
    """A line of the table; the recalls are shares of the questions whose tool is among the results."""

    name: str
    recall_of_searches: float
    recall_of_questions: float
    search_ms: float
    index_ms: float
    index_mib: float

    def cells(self) -> tuple[str, ...]:
        """The cells of the line."""
        return (
            self.name,
            f"{self.recall_of_searches:.1%}",
            f"{self.recall_of_questions:.1%}",
            f"{self.search_ms:.1f} ms",
            f"{self.index_ms:.0f} ms",
            f"{self.index_mib:.1f} MiB",
        )


HEAD = (
    "index",
    f"recall@{RESULTS}, a model's search",
    f"recall@{RESULTS}, the question itself",
    "a search",
    "to index",
    "memory",
)


def measured(name: str, tools: Sequence[CatalogueTool], questions: Sequence[Question]) -> Measured:
    """What an index finds and costs: the median of the searches, the best of three times to index."""
    references = [ToolReference(tool.name, tool.description) for tool in tools]
    times = []
    for _ in range(3):
        index = INDEXES[name]()
        start = time.perf_counter()
        _fill(index, references)
        times.append(_milliseconds_since(start))
    spent: list[float] = []

    def recall(wording: Callable[[Question], str]) -> float:
        hits = 0
        for question in questions:
            start = time.perf_counter()
            found = _found(index, wording(question))
            spent.append(_milliseconds_since(start))
            hits += question.tool in found
        return hits / len(questions)

    searches, asked = recall(lambda question: question.search), recall(lambda question: question.text)
    return Measured(name, searches, asked, median(spent), min(times), _memory(name, references))


def _found(index: ToolIndex, query: str) -> list[str]:
    request = ToolSearchRequest("s", query, RESULTS)
    return [tool.tool_name for tool in index.search(request).tool_references]


def _fill(index: ToolIndex, references: Sequence[ToolReference]) -> None:
    index.index("s", references)
    _found(index, "warm up")  # what is prepared is prepared now


def _milliseconds_since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def _memory(name: str, references: Sequence[ToolReference]) -> float:
    gc.collect()
    tracemalloc.start()
    index = INDEXES[name]()
    _fill(index, references)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    return held


class TokenCounter:
    """Counts the tokens of requests, definitions of tools included, as the tokenizer of Llama 2 does."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, prompt: Prompt) -> int:
        """The tokens of messages and tools."""
        options = prompt.options
        tools = (options.tool_callbacks or ()) if isinstance(options, ToolCallingChatOptions) else ()
        return sum(map(self._of_text, [*map(_definition, tools), *map(repr, prompt.messages)]))

    def _of_text(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = MODEL.embed([text]).usage.prompt_tokens
        return self._known[text]


def _definition(callback: ToolCallback) -> str:
    told = callback.definition
    function = {"name": told.name, "description": told.description, "parameters": told.input_schema}
    return json.dumps({"type": "function", "function": function}, default=dict)


def tokens_of_turns(tools: Sequence[CatalogueTool], questions: Sequence[Question], index: ToolIndex | None) -> float:
    """The input tokens of a turn, on average: the model calls the tool that it needs, after a search with `index`."""
    counter = TokenCounter()
    callbacks = [_callback(tool) for tool in tools]
    total = 0
    for number, question in enumerate(questions):
        call = tool_call(question.tool, id="1")
        if index is None:
            model, advisor = ScriptedChatModel([call, "Done."]), ToolCallingAdvisor()
        else:
            model = ScriptedChatModel([tool_call("toolSearchTool", query=question.search), call, "Done."])
            advisor = ToolSearchToolCallingAdvisor(tool_index=index, max_results=RESULTS)
        client = ChatClient.builder(model).tool_advisor(advisor).build()
        client.prompt(question.text).tools(*callbacks).advisors(conversation_id=str(number)).call().content()
        total += sum(map(counter.of, model.requests))
    return total / len(questions)


def _callback(tool: CatalogueTool) -> ToolCallback:
    def run(**arguments: object) -> str:
        return "done"

    return FunctionToolCallback(run, name=tool.name, description=tool.description, input_schema=tool.input_schema)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    tools, questions = catalogue()
    MODEL.embed(["load"])
    print(f"{len(tools)} tools, {len(questions)} questions, {RESULTS} results a search\n")
    print(_row(HEAD))
    print(_row(["---"] * len(HEAD)))
    for name in INDEXES:
        print(_row(measured(name, tools, questions).cells()))
    index = INDEXES["keyword"]()
    _fill(index, [ToolReference(tool.name, tool.description) for tool in tools])
    found = [question for question in questions if question.tool in _found(index, question.search)]
    everything = tokens_of_turns(tools, found, None)
    searched = tokens_of_turns(tools, found, index)
    print(
        f"\ninput tokens of a turn in which one tool is called: {everything:,.0f} with all tools (2 rounds), "
        f"{searched:,.0f} with a search (3 rounds), {1 - searched / everything:.1%} saved"
    )


if __name__ == "__main__":
    main()

"""What the indexes find in the catalogue of bench/: no change makes them worse without being noticed."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from vernal_tool_search import (
    HybridToolIndex,
    KeywordToolIndex,
    RegexToolIndex,
    SemanticToolIndex,
    ToolIndex,
    ToolReference,
    ToolSearchRequest,
    WordLlamaEmbeddingModel,
)

if TYPE_CHECKING:
    from catalogue import CatalogueTool, Question

    Catalogue = tuple[tuple[CatalogueTool, ...], tuple[Question, ...]]

BENCH = Path(__file__).parents[3] / "bench"
MODEL = WordLlamaEmbeddingModel()


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> "Catalogue":
    """The tools and the questions."""
    monkeypatch.syspath_prepend(BENCH)
    return cast("Catalogue", importlib.import_module("catalogue").catalogue())


def test_the_catalogue_is_what_is_said_of_it(
    catalogue: "Catalogue",
) -> None:
    """A thousand tools, no two of one name or description; two hundred questions, each answered by one of them."""
    tools, questions = catalogue
    assert len({tool.name for tool in tools}) == len({tool.description for tool in tools}) == len(tools) == 1000
    assert len({question.text for question in questions}) == len({question.tool for question in questions}) == 200
    assert {question.tool for question in questions} <= {tool.name for tool in tools}


@pytest.mark.parametrize(
    ("index", "least"),
    [
        (RegexToolIndex(), 0.80),
        (KeywordToolIndex(), 0.87),
        (SemanticToolIndex(MODEL), 0.93),
        (HybridToolIndex(KeywordToolIndex(), SemanticToolIndex(MODEL)), 0.92),
    ],
    ids=["regex", "keyword", "semantic", "hybrid"],
)
def test_what_a_model_searches_for_is_found(index: ToolIndex, least: float, catalogue: "Catalogue") -> None:
    """Of a model's searches, this share has the wanted tool among the first five results."""
    tools, questions = catalogue
    index.index("s", [ToolReference(tool.name, tool.description) for tool in tools])
    hits = 0
    for question in questions:
        found = index.search(ToolSearchRequest("s", question.search, 5)).tool_references
        hits += question.tool in {tool.tool_name for tool in found}
    assert hits / len(questions) >= least

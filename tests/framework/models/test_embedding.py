"""`EmbeddingModel`: either face may be implemented."""

import asyncio
from collections.abc import Sequence

import pytest

from vernal import EmbeddingModel, EmbeddingResponse, Usage


class Blocking(EmbeddingModel):
    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return EmbeddingResponse(tuple((float(len(text)),) for text in texts), Usage(len(texts)))


class Asynchronous(EmbeddingModel):
    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return EmbeddingResponse(tuple((float(len(text)),) for text in texts), Usage(len(texts)))


@pytest.mark.parametrize("model", [Blocking(), Asynchronous()], ids=["blocking", "asynchronous"])
def test_a_model_that_defines_one_face_has_both(model: EmbeddingModel) -> None:
    """A batch of texts becomes vectors in their order, with the usage of all, through either face."""
    expected = EmbeddingResponse(((1.0,), (3.0,)), Usage(2))
    assert model.embed(["a", "abc"]) == expected
    assert asyncio.run(model.aembed(["a", "abc"])) == expected


def test_a_model_without_a_face_is_refused() -> None:
    """A class that defines neither face is refused when it is created."""
    with pytest.raises(TypeError, match="define 'embed' or 'aembed'"):
        type("Faceless", (EmbeddingModel,), {})

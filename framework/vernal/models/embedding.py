"""The interface to an embedding model: texts in, vectors out."""

from collections.abc import Sequence
from typing import ClassVar

from vernal.runtime.faces import Face, TwoFaced
from vernal.values.records import dataclass
from vernal.values.usage import EMPTY_USAGE, Usage


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """The vectors of a batch of texts, in their order and all of one length.

    `usage` counts the tokens of all texts, `model` is the name that the service gives itself, None where it says none.
    """

    vectors: tuple[Sequence[float], ...]
    usage: Usage = EMPTY_USAGE
    model: str | None = None


class EmbeddingModel(TwoFaced, abstract=True):
    """Turns texts into vectors whose directions lie close where the texts mean the same.

    Implement one of `embed` and `aembed`; the other follows. Vectors need not be of length 1.
    """

    __faces__: ClassVar = (Face("embed", "aembed"),)

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """The vectors of `texts`, asked for in one go; of no texts none, without asking anybody."""
        raise NotImplementedError

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """The vectors of `texts`, asked for in one go; of no texts none, without asking anybody."""
        raise NotImplementedError

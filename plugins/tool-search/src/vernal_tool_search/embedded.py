"""An embedding model that runs in the process: no key, no network, no waiting."""

from array import array
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vernal import ConfigurationError, EmbeddingModel, EmbeddingResponse, Usage

PACKAGE = "wordllama"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
WEIGHTS = "weights/l2_supercat_256.safetensors"


class WordLlamaEmbeddingModel(EmbeddingModel):
    """The embeddings that the package `wordllama` ships: 256 numbers a text, the mean of those of its tokens.

    English in the first place. Comes with `pip install vernal-tool-search[embedded]`; loads 16 MB at the first use.

    Raises:
        ConfigurationError: from embedding, where the package is not installed.
    """

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """The vectors of `texts`; the usage counts their tokens."""
        import numpy as np

        tokenizer, table = self._loaded
        rows = [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        nothing = np.zeros(table.shape[1], dtype=np.float32)
        means = (table[ids].astype(np.float32).mean(axis=0) if ids else nothing for ids in rows)
        vectors = tuple(array("f", mean.tobytes()) for mean in means)
        return EmbeddingResponse(vectors, Usage(sum(map(len, rows))), PACKAGE)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer, and a row for each token.

        The files are read as they are: importing the package would set up the logging of the whole process.
        """
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ConfigurationError(
                "the embedded embedding model needs the package 'wordllama', which is not installed; install "
                "vernal-tool-search[embedded]"
            )
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        place = Path(spec.submodule_search_locations[0])
        tokenizer = Tokenizer.from_file(str(place / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer, load_file(place / WEIGHTS)["embedding.weight"]

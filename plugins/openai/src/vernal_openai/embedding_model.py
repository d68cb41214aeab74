"""`OpenAiEmbeddingModel`: vectors from OpenAI, and from all services that speak its protocol."""

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from vernal import EMPTY_USAGE, EmbeddingModel, EmbeddingResponse, check_range
from vernal_openai.service import OpenAiService, ServiceArguments

if TYPE_CHECKING:
    from vernal.http import Endpoint

DEFAULT_MODEL = "text-embedding-3-small"
BATCH_SIZE = 512


class OpenAiEmbeddingModel(OpenAiService, EmbeddingModel):
    """An embedding model behind OpenAI's embeddings, at OpenAI or any compatible service.

    - `model`: its name. `dimensions`: the length of the vectors, for models that let one choose.
    - `batch_size`: texts in one request at most (OpenAI takes 2048); further ones follow one after the other.

    Everything else is that of every `OpenAiService`: key, base URL, profile, headers, clients, timeouts, retries.
    Vectors are of 32-bit numbers, as the service computes them.

    Raises:
        ValueError: the base URL is none, the profile is unknown, or a number is out of range.
    """

    path = "/embeddings"

    def __init__(
        self,
        *,
        model: str = DEFAULT_MODEL,
        dimensions: int | None = None,
        batch_size: int = BATCH_SIZE,
        **service: Unpack[ServiceArguments],
    ) -> None:
        super().__init__(**service)
        check_range("dimensions", dimensions, 1, kind=int)
        check_range("batch_size", batch_size, 1, kind=int)
        self._model, self._dimensions, self._batch_size = model, dimensions, batch_size

    def __repr__(self) -> str:
        return f"OpenAiEmbeddingModel(model={self._model!r}, url={self._address.url!r}, profile={self._profile.name!r})"

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """The vectors of `texts`, in their order.

        Raises:
            TypeError: a single text was given.
            ModelError: a request failed; the class says how.
        """
        if isinstance(texts, str):
            raise TypeError(f"the texts to embed are {texts!r}; a sequence of texts is wanted, such as [text]")
        vectors: list[Sequence[float]] = []
        usage, model = EMPTY_USAGE, None
        for start in range(0, len(texts), self._batch_size):
            answer = await self._embed(list(texts[start : start + self._batch_size]))
            vectors += answer.vectors
            usage, model = usage + answer.usage, answer.model
        return EmbeddingResponse(tuple(vectors), usage, model)

    async def _embed(self, texts: list[str]) -> EmbeddingResponse:
        from vernal.http import MISSHAPEN, encode_json
        from vernal_openai.replies import read_usage

        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        endpoint = self._endpoint
        whole = await endpoint.post(encode_json(body), self._address.path(self._model))
        content = whole.content
        answer = endpoint.read_object(content)
        if answer.get("error"):
            raise endpoint.refusal(content, headers=whole.headers)
        try:
            data = sorted(answer["data"], key=lambda item: item["index"])
            vectors = tuple(array("f", item["embedding"]) for item in data)
            if [item["index"] for item in data] != list(range(len(texts))):
                raise ValueError("the vectors are not those of the texts")
            return EmbeddingResponse(vectors, read_usage(answer), answer.get("model"))
        except MISSHAPEN as error:
            raise endpoint.misshapen(content) from error

    @cached_property
    def _endpoint(self) -> "Endpoint":
        return self.open()

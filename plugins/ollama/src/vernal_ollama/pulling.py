"""Fetching a model that Ollama does not have; never silent. Imported with the first request."""

import dataclasses
import logging

from vernal.http import Endpoint, NdjsonReader, encode_json

PATH = "/api/pull"
STEP = 10
"""Per cent of a layer between two lines of the log."""

_log = logging.getLogger("vernal.ollama")


async def pull_model(endpoint: Endpoint, model: str) -> None:
    """Have Ollama fetch `model`; a warning says so, and the log tells of the progress.

    Only silence ends it early (the limit between chunks), not the limit for a whole answer.

    Raises:
        ModelError: it could not be fetched.
    """
    limits = dataclasses.replace(endpoint.limits, total=None)
    endpoint = dataclasses.replace(endpoint, timeouts=limits)
    _log.warning("Ollama does not have the model %r: it is fetched now, which may take long and much space", model)
    stream = await endpoint.stream(encode_json({"model": model, "stream": True}), PATH)
    try:
        reader, progress, data = NdjsonReader(), _Progress(model), b"-"
        while data:
            data = await stream.read()
            for _, line in reader.feed(data) if data else reader.close():
                report = endpoint.read_object(line)
                if report.get("error"):
                    raise endpoint.refusal(line)
                progress.tell(str(report.get("status")), report.get("completed"), report.get("total"))
        if not progress.succeeded:
            raise endpoint.broken(f"the model {model!r} was not fetched to its end", stream.headers)
    finally:
        await stream.aclose()


class _Progress:
    """Tells the log of each new step, and of each tenth of a layer."""

    def __init__(self, model: str) -> None:
        self.succeeded = False
        self._model = model
        self._told: tuple[str, int] | None = None

    def tell(self, status: str, completed: object, total: object) -> None:
        self.succeeded = status == "success"
        share = 0
        if isinstance(completed, int) and isinstance(total, int) and total > 0:
            share = completed * 100 // total // STEP * STEP
        if self._told != (status, share):
            self._told = status, share
            _log.info("%s: %s%s", self._model, status, f" {share} %" if share else "")

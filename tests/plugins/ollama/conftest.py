"""Ollama."""

from typing import TYPE_CHECKING, Any

import pytest

from vernal_ollama import OllamaChatModel, OllamaChatOptions

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

EMPTY = {"message": {"role": "assistant", "content": ""}, "done": True}


@pytest.fixture
def service(service_of: "type[Service]") -> "Service":
    """Ollama and its model."""

    def make(**given: Any) -> OllamaChatModel:
        return OllamaChatModel(**{"options": OllamaChatOptions(model="m"), **given})

    return service_of(make, EMPTY)

"""Gemini's service."""

from typing import TYPE_CHECKING

import pytest

from vernal_gemini import GeminiChatModel

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

EMPTY = {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}


@pytest.fixture
def service(service_of: "type[Service]") -> "Service":
    """The service and its model."""
    return service_of(GeminiChatModel, EMPTY)

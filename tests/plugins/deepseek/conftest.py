"""DeepSeek's service."""

from typing import TYPE_CHECKING

import pytest

from vernal_deepseek import DeepSeekChatModel

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

EMPTY = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}


@pytest.fixture
def service(service_of: "type[Service]") -> "Service":
    """The service and its model."""
    return service_of(DeepSeekChatModel, EMPTY)

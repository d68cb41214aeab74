"""The advisor that logs what goes to the model and what comes back."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from vernal.advisors.api import AdvisorChain, BaseAdvisor
from vernal.values.exchange import ChatClientRequest, ChatClientResponse

_log = logging.getLogger("vernal.client")


def _request_text(request: ChatClientRequest) -> str:
    return "; ".join(f"{message.message_type}: {message.text!r}" for message in request.prompt.messages)


def _response_text(response: ChatClientResponse) -> str:
    names = ", ".join(call.name for call in response.tool_calls)
    return f"{response.text!r}" + (f", calls of {names}" if names else "")


@dataclass(kw_only=True, eq=False)
class SimpleLoggerAdvisor(BaseAdvisor):
    """Logs each request and response that passes, at level DEBUG of the logger `vernal.client`.

    With the default order 0 it stands inside the tool loop and logs every round; a stream is logged as a whole.
    Texts may be private: register it on purpose. `request_to_text` and `response_to_text` say what is logged.
    """

    request_to_text: Callable[[ChatClientRequest], str] = _request_text
    response_to_text: Callable[[ChatClientResponse], str] = _response_text
    logger_order: int = 0

    @property
    def order(self) -> int:
        """`logger_order`, unless a subclass says otherwise."""
        return self.logger_order

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """Logs the request."""
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug("request: %s", self.request_to_text(request))
        return request

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """Logs the response."""
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug("response: %s", self.response_to_text(response))
        return response

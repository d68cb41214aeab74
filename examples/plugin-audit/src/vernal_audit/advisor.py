"""The tool loop that writes down what it is about to do."""

import asyncio
from dataclasses import dataclass

from vernal import AdvisorChain, ChatClientResponse, ToolCallingAdvisor
from vernal_audit.journal import Journal


@dataclass(kw_only=True, eq=False)
class AuditingToolCallingAdvisor(ToolCallingAdvisor):
    """The loop of vernal; each call that a model asks for is in the journal before it runs."""

    journal: Journal

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """Write the calls of a round down. Streams come here too: of a hook and its stream twin one will do."""
        for call in response.tool_calls:
            await asyncio.to_thread(self.journal.record, call.name, call.arguments)
        return response

"""A plugin given to the application by hand: by name, in place of the installed ones, so the defaults are named too.

This one replaces the tool loop of every client, unless `audit.enabled` is false or the user has a `ToolAdvisor` bean.
As an installed package it is found by itself, through an entry point of the group `vernal`.

Run: python examples/plugin_by_hand.py

Prints:
    AUDIT get_weather {"city": "Oslo"}
    18 °C in Oslo
"""

from dataclasses import dataclass

import vernal_autoconfig.plugin
from vernal import (
    AdvisorChain,
    Application,
    ChatClient,
    ChatClientResponse,
    Settings,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    auto_configuration,
    bean,
    hookimpl,
    on_missing_bean,
    on_setting,
    tool,
)


class AuditSettings(Settings, prefix="audit"):
    enabled: bool = True
    label: str = "audit"


@dataclass(kw_only=True, eq=False)
class AuditingToolCallingAdvisor(ToolCallingAdvisor):
    label: str

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        for call in response.tool_calls:
            print(self.label, call.name, call.arguments)
        return response


@auto_configuration(before="ChatClientAutoConfiguration", after="ToolCallingAutoConfiguration")
@on_setting("audit.enabled", match_if_missing=True)
class AuditAutoConfiguration:
    @bean
    @on_missing_bean
    def tool_advisor(self, manager: ToolCallingManager, settings: AuditSettings) -> ToolAdvisor:
        return AuditingToolCallingAdvisor(tool_calling_manager=manager, label=settings.label)


class AuditPlugin:
    @hookimpl
    def vernal_auto_configurations(self) -> list[type]:
        return [AuditAutoConfiguration]

    @hookimpl
    def vernal_settings(self) -> list[type]:
        return [AuditSettings]


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def main() -> None:
    plugins = {"vernal-autoconfig": vernal_autoconfig.plugin, "audit": AuditPlugin()}
    settings = {"chat": {"model": "offline"}, "audit": {"label": "AUDIT"}}
    with Application(plugins=plugins, settings=settings) as context:
        print(context.get(ChatClient).prompt("What is the weather in Oslo?").tools(get_weather).call().content())


if __name__ == "__main__":
    main()

"""The views as text for people; rich draws them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from logging import LogRecord
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from vernal.context.failures import FailureReport, render

_WIDTH = 160  # where the output is no terminal
_LEVELS = {"error": "bold red", "warning": "yellow", "note": "dim"}


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or wide enough for a table where there is none."""
    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal:
        made.width = _WIDTH
    return made


def show_settings(view: Mapping[str, Any]) -> None:
    """A table of the settings, then the keys that nothing reads."""
    rows = [
        (
            _two(row["key"], row["variable"]),
            _two(_or_none(row["value"]), row["problem"] or row["origin"], "red" if row["problem"] else "dim"),
            _two(row["type"], "default " + _or_none(row["default"])),
            row["description"] or "",
        )
        for row in view["settings"]
    ]
    _table(("Setting", "Value", "Type", "Meaning"), rows)
    unknown = [
        (each["written"], each["origin"], each["nearest"] or "", each["plugin"] or "") for each in view["unknown"]
    ]
    if unknown:
        _table(("Nothing reads", "Found in", "Perhaps meant", "Plugin not loaded"), unknown)


def show_plugins(view: Mapping[str, Any]) -> None:
    """A table of the plugins."""
    rows = []
    for plugin in view["plugins"]:
        gives = [
            f"{title}: {', '.join(plugin[key])}"
            for key, title in (
                ("auto_configurations", "auto-configurations"),
                ("settings", "settings"),
                ("chat_client_customizers", "chat-client customizers"),
                ("tools", "tools"),
                ("commands", "commands"),
            )
            if plugin[key]
        ]
        origin = f"{plugin['distribution']} {plugin['version']}" if plugin["distribution"] else "given"
        state = _two(plugin["state"], plugin["failure"] or "", "red")
        rows.append((_two(plugin["name"], plugin["module"]), origin, state, "\n".join(gives)))
    _table(("Plugin", "From", "State", "Gives"), rows)


def show_beans(view: Mapping[str, Any]) -> None:
    """A table of the beans, or the list of what was chosen before the start failed."""
    if view["chosen"]:
        _table(("Chosen before the failure",), [(source,) for source in view["chosen"]])
        return
    rows = [
        (
            bean["name"],
            _two(bean["type"], ", ".join(filter(None, [bean["scope"], "primary" if bean["primary"] else ""]))),
            _two(bean["kind"], bean["origin"]),
            "\n".join(bean["needs"]),
        )
        for bean in view["beans"]
    ]
    _table(("Bean", "Type", "From", "Is given"), rows)


def show_tools(view: Mapping[str, Any], *, schema: bool = False) -> None:
    """A table of the tools; with `schema`, what each takes."""
    rows = [
        (
            _two(tool["name"] or "?", _unusual(tool["metadata"] or {})),
            _two(tool["source"], tool["origin"]),
            _two(tool["problem"], "") if tool["problem"] else _two(tool["description"], _arguments(tool, schema)),
        )
        for tool in view["tools"]
    ]
    if not rows:
        console().print(
            "No tool is known. --start lists those of clients too; what requests bring with .tools(…) is not listed."
        )
        return
    _table(("Tool", "From", "What it does"), rows)


def show_models(view: Mapping[str, Any]) -> None:
    """Which model answers, what it said, and a table of the providers."""
    console().print(Text("\n".join(_model_lines(view["models"]))))
    rows = [
        (
            _two(provider["name"], "answers" if provider["chosen"] else ""),
            _two(_state(provider), provider["problem"], "red"),
            provider["origin"],
        )
        for provider in view["models"]["providers"]
    ]
    if rows:
        _table(("Provider", "State", "From"), rows)


def show_findings(view: Mapping[str, Any]) -> None:
    """The findings of the doctor, the worst first."""
    if not view["findings"]:
        console().print("Nothing looks wrong. `vernal models --check` asks the model.")
        return
    rows = [
        (
            Text(each["level"], _LEVELS[each["level"]]),
            each["about"],
            _two(each["text"], each["cure"] and f"What to do: {each['cure']}"),
        )
        for each in view["findings"]
    ]
    _table(("Level", "About", "What is wrong"), rows)


def show_warnings(records: Iterable[LogRecord]) -> None:
    """What was warned of meanwhile, on the error stream."""
    for record in records:
        console(stderr=True).print(Text.assemble(("Warning: ", "yellow"), record.getMessage()))


def show_failure(report: FailureReport) -> None:
    """Why the application does not start, on the error stream."""
    console(stderr=True).print(Text.assemble(("The application does not start.\n", "bold red"), render(report)))


def _table(titles: Iterable[str], rows: Iterable[Iterable[str | Text]]) -> None:
    table = Table(box=None, padding=(0, 2, 1, 0), header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    console().print(table)


def _model_lines(models: Mapping[str, Any]) -> Iterator[str]:
    if models["problem"]:
        yield f"No model answers: {models['problem']}"
    elif models["name"] is None:
        yield f"It is not known which model answers: {models['reason']}."
    else:
        yield f"{models['name']} answers: {models['reason']}."
    if models["advice"]:
        yield f"To have another: {models['advice']}."
    if not models["configured"]:
        yield "Its provider has neither a key nor a base URL, so the first request will fail."
    answer = models["answer"]
    if answer is not None:
        outcome = f"failed: {answer['problem']}" if answer["problem"] else f"said: {answer['text']}"
        yield f"After {answer['seconds']:.1f} s it {outcome}"


def _state(provider: Mapping[str, Any]) -> str:
    if provider["problem"]:
        return "not known"
    return "configured" if provider["configured"] else "not configured"


def _unusual(metadata: Mapping[str, Any]) -> str:
    """What is not as usual with a tool."""
    set_ones = {name: value for name, value in metadata.items() if value not in (None, False)}
    return ", ".join(name if value is True else f"{name}={value}" for name, value in set_ones.items())


def _arguments(tool: Mapping[str, Any], schema: bool) -> str:
    properties = (tool["schema"] or {}).get("properties", {})
    return (
        json.dumps(tool["schema"], indent=2, default=dict) if schema else f"takes {', '.join(properties) or 'nothing'}"
    )


def _two(first: str, second: str, style: str = "dim") -> Text:
    """Two lines, the second of them quieter."""
    return Text.assemble(first, ("\n" + second if second else "", style))


def _or_none(value: str | None) -> str:
    return "none" if value is None else value

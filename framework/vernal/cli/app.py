"""The commands of `vernal`, and the program that they make."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vernal.cli import screen, views
from vernal.cli.diagram import draw
from vernal.cli.doctor import Level, examine_inspected
from vernal.cli.extensions import add_plugin_commands
from vernal.cli.inspection import Inspection, inspect_application
from vernal.cli.models import ask_model, find_models
from vernal.cli.new.naming import Kind, Naming
from vernal.cli.new.writing import write
from vernal.cli.tools import find_tools, list_tools
from vernal.errors import VernalError

App = Annotated[
    str | None,
    typer.Option("--app", metavar="MODULE:ATTRIBUTE", help="The application, or its sources: 'app:application'."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Schema = Annotated[bool, typer.Option("--schema", help="Print the JSON schema of vernal.toml, for editors.")]
ToolSchema = Annotated[bool, typer.Option("--schema", help="Show the JSON schema of each tool's arguments too.")]
Graph = Annotated[
    Literal["text", "dot", "svg"] | None,
    typer.Option("--graph", help="Print who is given whom: as a tree, for Graphviz, or as a picture."),
]
Start = Annotated[
    bool, typer.Option("--start", help="Start the application, to list also what only beans and providers know.")
]
Check = Annotated[
    bool,
    typer.Option("--check", help="Start the application, ask the model a short question, and say whether it answers."),
]


def settings(place: App = None, as_json: AsJson = False, schema: Schema = False) -> None:
    """Every setting: type, default, meaning, present value and where it came from; secrets are masked."""
    inspection = _inspect(place)
    if schema:
        from vernal.context.settings import settings_schema

        typer.echo(json.dumps(settings_schema(inspection.settings_classes), indent=2))
        return
    _show(inspection, views.settings_view(inspection), screen.show_settings, as_json)


def plugins(place: App = None, as_json: AsJson = False) -> None:
    """Every plugin: loaded or not, from which distribution, and what it gives."""
    inspection = _inspect(place)
    _show(inspection, views.plugins_view(inspection), screen.show_plugins, as_json)


def conditions(place: App = None, as_json: AsJson = False) -> None:
    """For every auto-configuration and bean, which conditions matched and which did not, and why."""
    inspection = _inspect(place)
    report = inspection.application.conditions
    _show(inspection, views.conditions_view(inspection), lambda _: typer.echo(str(report or "")), as_json)


def beans(place: App = None, as_json: AsJson = False, graph: Graph = None) -> None:
    """Every bean: type, scope, where it was declared, and what it is given."""
    inspection = _inspect(place)
    show: Show = screen.show_beans
    if graph is not None:
        if as_json:
            raise typer.BadParameter("--json and --graph exclude each other; the JSON says what each bean is given")
        drawn = draw(inspection, graph)
        show = lambda _: typer.echo(drawn)  # noqa: E731 - the picture in place of the table
    _show(inspection, views.beans_view(inspection), show, as_json)


def tools(place: App = None, as_json: AsJson = False, schema: ToolSchema = False, start: Start = False) -> None:
    """Every tool that beans and plugins bring: name, description, origin and how it is treated."""
    inspection = _inspect(place)
    found = list_tools(inspection) if start else find_tools(inspection)
    _show(inspection, views.tools_view(found), partial(screen.show_tools, schema=schema), as_json)


def models(place: App = None, as_json: AsJson = False, check: Check = False) -> None:
    """Which chat model answers and why, and every provider; of all beans only the providers are built."""
    inspection = _inspect(place)
    found = ask_model(inspection) if check else find_models(inspection)
    _show(inspection, views.models_view(found), screen.show_models, as_json, failed=found.failed)


def doctor(place: App = None, as_json: AsJson = False) -> None:
    """Everything that looks wrong, each with its cure; the exit code is 1 where something cannot work."""
    inspection = _inspect(place)
    findings = examine_inspected(inspection)
    inspection.warnings.clear()  # they are among the findings
    failed = any(finding.level is Level.ERROR for finding in findings)
    _show(inspection, views.doctor_view(findings), screen.show_findings, as_json, failed=failed)


def new(
    kind: Annotated[Kind, typer.Argument(help="What is written.")],
    name: Annotated[str, typer.Argument(help="Its name, such as order-desk.")],
    directory: Annotated[Path, typer.Option("--in", help="Where its folder is made.")] = Path(),
) -> None:
    """Write a new plugin or application: a package with tests, which pass as it stands."""
    try:
        project, files = write(Naming(kind, name), directory)
    except VernalError as error:
        raise typer.BadParameter(str(error)) from error
    for file in files:
        typer.echo(project / file)
    typer.echo(f"\nNext: cd {project}, pip install -e . --group dev, pytest; README.md says what is in it.")


COMMANDS: Mapping[str, Callable[..., None]] = {
    "settings": settings,
    "plugins": plugins,
    "conditions": conditions,
    "beans": beans,
    "tools": tools,
    "models": models,
    "doctor": doctor,
    "new": new,
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vernal {version('vernal')}, Python {platform.python_version()}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What an application is made of, and why; it is looked at, not started. And new ones."""


def program(arguments: Sequence[str]) -> typer.Typer:
    """The program for these arguments; plugins are asked for commands only where none of ours is meant."""
    made = typer.Typer(
        name="vernal",
        help="What an application is made of, and why; it is looked at, not started. And new ones.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback()(_options)
    for name, command in COMMANDS.items():
        made.command(name)(command)
    if not arguments or arguments[0] not in COMMANDS:
        add_plugin_commands(made, COMMANDS)
    return made


Show = Callable[[Mapping[str, Any]], None]


def _inspect(place: str | None) -> Inspection:
    try:
        return inspect_application(place)
    except VernalError as error:
        raise typer.BadParameter(str(error)) from error


def _show(inspection: Inspection, data: Mapping[str, Any], show: Show, as_json: bool, *, failed: bool = False) -> None:
    """Print a view, then warnings, and the failure where the application would not start.

    The exit code is 1 where it would not, or where the view itself tells of something that has failed.
    """
    failure = inspection.failure
    if as_json:
        whole = {**data, "failure": failure.as_dict() if failure is not None else None}
        typer.echo(json.dumps(whole, indent=2, default=_plain, ensure_ascii=False))
    else:
        show(data)
    screen.show_warnings(inspection.warnings)
    if failure is not None and not as_json:
        screen.show_failure(failure)
    if failed or failure is not None:
        raise typer.Exit(1)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)

"""The commands of `vernal`, and the program that they make."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from vernal.cli import screen, views
from vernal.cli.extensions import add_plugin_commands
from vernal.cli.inspection import Inspection, inspect_application
from vernal.errors import VernalError

App = Annotated[
    str | None,
    typer.Option("--app", metavar="MODULE:ATTRIBUTE", help="The application, or its sources: 'app:application'."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings(
    place: App = None,
    as_json: AsJson = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of vernal.toml, for editors.")
    ] = False,
) -> None:
    """Every setting: type, default, meaning, present value and where it came from; secrets are masked."""
    if schema:
        from vernal.context.settings import settings_schema

        typer.echo(json.dumps(settings_schema(_inspect(place).settings_classes), indent=2))
        return
    _show(place, views.settings_view, screen.show_settings, as_json)


def plugins(place: App = None, as_json: AsJson = False) -> None:
    """Every plugin: loaded or not, from which distribution, and what it gives."""
    _show(place, views.plugins_view, screen.show_plugins, as_json)


def conditions(place: App = None, as_json: AsJson = False) -> None:
    """For every auto-configuration and bean, which conditions matched and which did not, and why."""
    _show(place, views.conditions_view, None, as_json)


def beans(place: App = None, as_json: AsJson = False) -> None:
    """Every bean: type, scope, where it was declared, and what it is given."""
    _show(place, views.beans_view, screen.show_beans, as_json)


COMMANDS: Mapping[str, Callable[..., None]] = {
    "settings": settings,
    "plugins": plugins,
    "conditions": conditions,
    "beans": beans,
}


def program(arguments: Sequence[str]) -> typer.Typer:
    """The program for these arguments; plugins are asked for commands only where none of ours is meant."""
    made = typer.Typer(
        name="vernal",
        help="What an application is made of, and why; it is looked at, not started.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name, command in COMMANDS.items():
        made.command(name)(command)
    if not arguments or arguments[0] not in COMMANDS:
        add_plugin_commands(made, COMMANDS)
    return made


def _inspect(place: str | None) -> Inspection:
    try:
        return inspect_application(place)
    except VernalError as error:
        raise typer.BadParameter(str(error)) from error


def _show(
    place: str | None,
    view: Callable[[Inspection], Mapping[str, Any]],
    show: Callable[[Mapping[str, Any]], None] | None,
    as_json: bool,
) -> None:
    """Print a view, then the failure where the application would not start; the exit code is then 1."""
    inspection = _inspect(place)
    data = view(inspection)
    failure = inspection.failure
    if as_json:
        whole = {**data, "failure": failure.as_dict() if failure is not None else None}
        typer.echo(json.dumps(whole, indent=2, default=str, ensure_ascii=False))
    else:
        if show is not None:
            show(data)
        elif inspection.application.conditions is not None:
            typer.echo(str(inspection.application.conditions))
        if failure is not None:
            screen.show_failure(failure)
    if failure is not None:
        raise typer.Exit(1)

"""The command line `vernal`: what an application is made of, and why, also when it does not start.

    app.py         the commands, and the program that they make
    inspection.py  finding the user's application, and deciding it without building anything
    tools.py       the tools of an application
    models.py      which model answers, and whether it does
    doctor/        everything that looks wrong, with cures
    diagram/       the beans as a tree, for Graphviz, and as a picture
    new/           packages to begin with
    views.py       each view as plain data
    screen.py      the same data as text for people
    extensions.py  commands of plugins

It needs the extra `vernal[cli]` (typer, rich and packaging).
"""

import sys


def main() -> None:
    """Run the command line; without what it needs, say how to get them."""
    try:
        from vernal.cli.app import program
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "packaging"):
            raise
        raise SystemExit(f"The command line needs {error.name}; install it with: pip install 'vernal[cli]'") from None
    program(sys.argv[1:])()

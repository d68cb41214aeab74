"""Installed packages that are older than what vernal and its plugins need."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.inspection import Inspection


def check_packages(inspection: Inspection) -> Iterator[Finding]:
    """Requirements of vernal and of each loaded plugin that the installed versions do not meet.

    Those of an extra count where the package is installed at all.
    """
    plugins = inspection.application.loaded_plugins or ()
    distributions = ["vernal", *(plugin.distribution for plugin in plugins if plugin.distribution)]
    for distribution in dict.fromkeys(distributions):
        try:
            requirements = requires(distribution) or []
        except PackageNotFoundError:
            yield Finding(
                level=Level.NOTE,
                about=distribution,
                text="it is not installed as a package, so the versions of what it needs are not known",
                cure=f"pip install {distribution}, or pip install -e in its directory",
            )
            continue
        for text in requirements:
            yield from _unmet(distribution, Requirement(text))


def _unmet(distribution: str, requirement: Requirement) -> Iterator[Finding]:
    extra = requirement.marker is not None and not requirement.marker.evaluate({"extra": ""})
    wanted = f"{requirement.name}{requirement.specifier}"
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        if extra:
            return
        text = f"it needs {wanted}, which is not installed"
    else:
        if requirement.specifier.contains(installed, prereleases=True):
            return
        text = f"it needs {wanted}, and {installed} is installed"
    yield Finding(
        level=Level.WARNING if extra else Level.ERROR,
        about=distribution,
        text=text,
        cure=f"pip install --upgrade '{wanted}'",
    )

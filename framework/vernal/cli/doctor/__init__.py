"""`vernal doctor`: everything about an application that looks wrong, each with its cure.

    finding.py    what is found, and how bad it is
    start.py      what keeps the application from starting, warnings of the start, plugins
    settings.py   keys that nothing reads, wrong values, profiles, secrets that others can read
    models.py     which model answers, and whether it can
    tools.py      tools that a model will hardly understand
    packages.py   installed packages older than what is needed

From Python: `examine(application)`.
"""

from collections.abc import Callable, Iterator

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.doctor.models import check_models
from vernal.cli.doctor.packages import check_packages
from vernal.cli.doctor.settings import check_profiles, check_secret_files, check_unknown_settings, check_values
from vernal.cli.doctor.start import check_plugins, check_start, check_warnings
from vernal.cli.doctor.tools import check_tools
from vernal.cli.inspection import Inspection
from vernal.context.application import Application

__all__ = ["Finding", "Level", "examine", "examine_inspected"]

CHECKS: tuple[Callable[[Inspection], Iterator[Finding]], ...] = (
    check_start,
    check_plugins,
    check_unknown_settings,
    check_values,
    check_profiles,
    check_secret_files,
    check_warnings,
    check_models,
    check_tools,
    check_packages,
)


def examine(application: Application) -> tuple[Finding, ...]:
    """What looks wrong with an application, the worst first; it is not started, and of its beans only the providers
    of chat models are built."""
    return examine_inspected(Inspection.of(application))


def examine_inspected(inspection: Inspection) -> tuple[Finding, ...]:
    """What looks wrong with an application that has been decided, the worst first."""
    found = [finding for check in CHECKS for finding in check(inspection)]
    return tuple(sorted(found, key=lambda finding: list(Level).index(finding.level)))

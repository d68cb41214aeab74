"""The command `vernal audit`."""

from vernal import Environment
from vernal_audit.journal import Journal
from vernal_audit.settings import AuditSettings


def audit(last: int = 10) -> None:
    """The tool calls that were written down last."""
    settings = Environment.load().bind(AuditSettings)
    for entry in Journal(settings.path).last(last):
        print(entry)

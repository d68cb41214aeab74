"""The one renderer of failure reports."""

from vernal.context.failures.report import FailureReport


def render(report: FailureReport) -> str:
    """A report as text: the summary, the drawn path, the details, near names and what to do."""
    lines = [report.summary]
    if report.path:
        lines.append("")
        first, *below = report.path
        lines += [f"  {first}", *(f"  {'   ' * depth}└─ {step}" for depth, step in enumerate(below))]
    if report.details:
        lines.append("")
        lines += [f"  - {detail}" for detail in report.details]
    if report.near:
        lines += ["", f"Did you mean {' or '.join(report.near)}?"]
    if report.action:
        lines += ["", f"What to do: {report.action}"]
    return "\n".join(lines)

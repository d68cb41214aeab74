"""Which model answers, and whether it can."""

from collections.abc import Iterator

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.inspection import Inspection
from vernal.cli.models import find_models


def check_models(inspection: Inspection) -> Iterator[Finding]:
    """No model, a provider without a key, the offline model for want of another."""
    if inspection.context is None:
        return
    models = find_models(inspection)
    if models.name is None and not models.problem:
        yield Finding(level=Level.NOTE, about="chat model", text=models.reason, cure="ask with `vernal models --check`")
        return
    for provider in models.providers:
        if provider.problem:
            yield Finding(
                level=Level.ERROR,
                about=f"provider {provider.name}",
                text=f"it cannot be built: {provider.problem}",
                cure=f"mend it, or set VERNAL_PLUGINS__DISABLED, if it comes from a plugin: {provider.origin}",
            )
    if models.problem:
        yield Finding(
            level=Level.ERROR, about="chat model", text=models.problem, cure="choose one with VERNAL_CHAT__MODEL"
        )
    elif not models.configured and models.name is not None:
        provider_name = models.name.partition(":")[0]
        yield Finding(
            level=Level.ERROR,
            about="chat model",
            text=f"{models.name} answers, since {models.reason}, but its provider has neither a key nor a base URL",
            cure=_key_of(provider_name, inspection),
        )
    elif models.advice:
        yield Finding(
            level=Level.WARNING,
            about="chat model",
            text="no model is configured, so the embedded offline model answers, which knows only the tools on offer",
            cure=f"{models.advice}; VERNAL_CHAT__MODEL=offline says that it is meant",
        )


def _key_of(provider: str, inspection: Inspection) -> str:
    """The variables of the provider's secrets, as the settings under its name have them."""
    secrets = [row for row in inspection.settings_rows if row.secret and row.key.startswith(f"{provider}.")]
    variables = [name for row in secrets for name in (row.variable, *row.fallbacks)]
    return f"set {' or '.join(variables)}" if variables else f"configure the provider {provider!r}"

"""Which model answers, and whether it can."""

from collections.abc import Iterator

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.inspection import Inspection
from vernal.cli.models import find_models


def check_models(inspection: Inspection) -> Iterator[Finding]:
    """No model, a provider without a key or the name of a model, the offline model for want of another."""
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
            level=Level.ERROR, about="chat model", text=models.problem, cure="`vernal models` lists the providers"
        )
    elif not models.configured and models.name is not None:
        provider_name = models.name.partition(":")[0]
        yield Finding(
            level=Level.ERROR,
            about="chat model",
            text=f"{models.name} answers, since {models.reason}, but its provider has neither a key nor a base URL",
            cure=_key_of(provider_name, inspection),
        )
    elif models.nameless:
        yield Finding(
            level=Level.WARNING,
            about="chat model",
            text=f"{models.name} answers, since {models.reason}, but no model of it is named",
            cure=f"name one, as VERNAL_CHAT__MODEL={models.name}:its-model; else each request has to",
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
    own = [row for row in secrets if row.key.count(".") == 1]  # not those of its further models, such as embeddings
    variables = [name for row in own or secrets for name in (row.variable, *row.fallbacks)]
    return f"set {' or '.join(variables)}" if variables else f"configure the provider {provider!r}"

"""Templates of system and user texts: `{name}` is replaced by the parameter of that name."""

import re
from collections.abc import Callable, Mapping
from typing import Any

TemplateRenderer = Callable[[str, Mapping[str, Any]], str]
"""Renders a text with its parameters; called only where there are parameters (CCL-26)."""


def template_renderer(start: str = "{", end: str = "}") -> TemplateRenderer:
    """A renderer of placeholders between other delimiters, such as `template_renderer("<", ">")` (CCU-06)."""
    placeholder = re.compile(re.escape(start) + r"([A-Za-z_]\w*)" + re.escape(end))

    def render(text: str, parameters: Mapping[str, Any]) -> str:
        missing = sorted({name for name in placeholder.findall(text) if name not in parameters})
        if missing:
            given = ", ".join(sorted(parameters))
            raise ValueError(
                f"the template names {', '.join(missing)}, but only {given} is given; give every parameter, or another "
                f"template_renderer where the text has braces of its own"
            )
        return placeholder.sub(lambda match: str(parameters[match[1]]), text)

    return render


render_braces = template_renderer()

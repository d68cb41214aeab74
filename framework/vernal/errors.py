"""The root of the exception tree, and the few errors that every room of the house may raise.

    VernalError
    ├── ConfigurationError            what the user declared cannot work (vernal.context adds its reports)
    ├── UsageError                    a call that cannot be meant (also a RuntimeError)
    └── …                             each room adds its own: tools, models, context

Errors say what was given, what is wanted and what to do. They carry data; the text is made from it.
"""


class VernalError(Exception):
    """Root of every error that vernal raises on its own account."""


class ConfigurationError(VernalError):
    """What was declared (beans, settings, plugins, advisors) cannot work together."""


class UsageError(VernalError, RuntimeError):
    """A call that cannot be carried out as it was made; the text names the cure."""

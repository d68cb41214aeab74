"""What a tool is: its definition, which the model sees, and its metadata, which the engine follows."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from vernal.values.choices import chosen
from vernal.values.mappings import frozen
from vernal.values.records import dataclass


class ToolEffects(StrEnum):
    """What a tool does to the world; decides what may be repeated, run in parallel, or needs approval."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


_CHANGING = frozenset({ToolEffects.WRITE, ToolEffects.DESTRUCTIVE})


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ToolDefinition:
    """What the model is told of a tool.

    `name` is unique within the tools of a request; `input_schema` is the JSON schema of the arguments, an object.

    Raises:
        ValueError: the name is blank (TDU-06).
        TypeError: the schema is no mapping.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"a tool has the name {self.name!r}; a non-blank name is wanted, such as 'get_weather'")
        if not isinstance(self.input_schema, Mapping):
            raise TypeError(
                f"the input_schema of tool {self.name!r} is {self.input_schema!r}; a mapping (JSON schema) is wanted"
            )
        object.__setattr__(self, "input_schema", frozen(self.input_schema))


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class ToolMetadata:
    """How the engine treats a tool.

    - `return_direct`: the result goes to the caller, not back to the model (R14).
    - `timeout`: seconds, None for the manager's default.
    - `exclusive`: runs alone, never beside other calls (R16).
    - `effects`: calls of a tool that declares `write` or `destructive` run alone too, in the order that the model gave,
      and are not repeated in a turn (R10); `ApprovalInterceptor` asks about some. None: nothing is known of them.
    - `idempotent`: doing it twice is the same as doing it once, so that it may be repeated.
    - `max_attempts`: how often a failing call is tried; more than once only where the tool reads or is idempotent.
    - `polling`: repeated identical calls are meant.

    Raises:
        ValueError: a number is out of range, the effects are unknown, or a tool would be tried again that must not.
    """

    return_direct: bool = False
    timeout: float | None = None
    exclusive: bool = False
    effects: ToolEffects | None = None
    idempotent: bool = False
    polling: bool = False
    max_attempts: int = 1

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout is {self.timeout!r}; seconds greater than 0 are wanted, or None for the default")
        if self.effects is not None and type(self.effects) is not ToolEffects:
            object.__setattr__(self, "effects", chosen("effects", self.effects, ToolEffects))
        if isinstance(self.max_attempts, bool) or not isinstance(self.max_attempts, int) or self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts!r}; an integer of at least 1 is wanted")
        if self.max_attempts > 1 and not self.repeatable:
            raise ValueError(
                f"max_attempts is {self.max_attempts!r}, but a failing call may have taken effect; declare "
                f"effects='read' or idempotent=True where it may be tried again"
            )

    @property
    def repeatable(self) -> bool:
        """Whether a call may be made again without harm."""
        return self.idempotent or self.effects is ToolEffects.READ

    @property
    def runs_alone(self) -> bool:
        """Whether no other call may run at the same time."""
        return self.exclusive or self.effects in _CHANGING


DEFAULT_METADATA = ToolMetadata()

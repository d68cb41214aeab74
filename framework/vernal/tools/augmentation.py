"""Augmented arguments: what the model is asked to say beside a tool's own arguments, such as why it calls the tool."""

import copy
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, Generic, Self, TypeVar

from vernal.tools.callback import ToolCallback
from vernal.tools.collection import tool_callbacks
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolDefinition, ToolMetadata
from vernal.tools.exceptions import InvalidToolError, ToolArgumentsError
from vernal.tools.parameters import InjectedParameter
from vernal.values.arguments import parse_arguments
from vernal.values.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AugmentedArguments(Generic[T]):
    """What the consumer gets: the augmented definition, the raw input, and the extra arguments, parsed (AUG-09)."""

    tool_definition: ToolDefinition
    tool_input: str
    arguments: T


ArgumentConsumer = Callable[[AugmentedArguments[T]], Awaitable[None] | None]
"""Takes the extra arguments of a call; a plain function or an `async` one."""


class AugmentedToolCallback(ToolCallback, Generic[T]):
    """A tool whose schema asks for more than the tool itself takes.

    `argument_type` is a dataclass or a pydantic model; its fields are added to the schema, the required ones to
    `required`. For each call `consumer` gets them parsed, before the tool runs; the tool gets the input without them,
    or as it came with `remove=False` (AUG-05, AUG-07). All else, metadata included, is the delegate's.

    Raises:
        InvalidToolError: `argument_type` is of another kind, has no fields, or shares a name with the tool's arguments.
        ToolArgumentsError: from a call whose extra arguments do not fit; the model is told, the tool does not run.
    """

    def __init__(
        self,
        delegate: ToolCallback,
        argument_type: type[T],
        consumer: ArgumentConsumer[T] | None = None,
        *,
        remove: bool = True,
    ) -> None:
        if not isinstance(delegate, ToolCallback):
            raise TypeError(f"delegate is {delegate!r}; a ToolCallback is wanted, such as tool_callbacks(object) gives")
        self._delegate, self._consumer, self._remove = delegate, consumer, remove
        self._reader = _Reader(argument_type)
        definition, schema = delegate.definition, dict(delegate.definition.input_schema)
        shared = sorted(self._reader.names & set(schema.get("properties", {})))
        if shared:
            raise InvalidToolError(
                f"the tool {definition.name!r} has arguments of the names {', '.join(shared)} already; give the fields "
                f"of {argument_type.__name__} other names"
            )
        self._definition = ToolDefinition(definition.name, definition.description, self._reader.augmented(schema))

    @property
    def definition(self) -> ToolDefinition:
        """The delegate's, with the augmented schema (AUG-02)."""
        return self._definition

    @property
    def metadata(self) -> ToolMetadata:
        """The delegate's (other than AUG-10, a direct tool stays direct)."""
        return self._delegate.metadata

    @property
    def origin(self) -> str:
        """Where the delegate comes from."""
        return self._delegate.origin

    @property
    def injected(self) -> tuple[InjectedParameter, ...]:
        """The parameters of the tool itself that beans fill."""
        return self._delegate.injected

    def with_beans(self, beans: Mapping[str, Callable[[], Any]]) -> Self:
        """The same tool with these beans."""
        twin = copy.copy(self)
        twin._delegate = self._delegate.with_beans(beans)
        return twin

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Hand the extra arguments to the consumer, and the rest to the delegate."""
        given = parse_arguments(tool_input)
        if given is None:
            return await self._delegate.acall(tool_input, tool_context)
        arguments = self._reader.read({name: value for name, value in given.items() if name in self._reader.names})
        if self._consumer is not None:
            consumed = self._consumer(AugmentedArguments(self._definition, tool_input, arguments))
            if inspect.isawaitable(consumed):
                await consumed
        if self._remove:
            rest = {name: value for name, value in given.items() if name not in self._reader.names}
            tool_input = json.dumps(rest, ensure_ascii=False)
        return await self._delegate.acall(tool_input, tool_context)


def augmented_tools(
    *objects: Any, argument_type: type[T], consumer: ArgumentConsumer[T] | None = None, remove: bool = True
) -> tuple[ToolCallback, ...]:
    """The tools in `objects` (whatever `tool_callbacks` takes), each asking for the fields of `argument_type` too."""
    return tuple(
        AugmentedToolCallback(callback, argument_type, consumer, remove=remove) for callback in tool_callbacks(*objects)
    )


class _Reader(Generic[T]):
    """The fields of the extra arguments, as a schema and as objects."""

    def __init__(self, kind: type[T]) -> None:
        from pydantic import BaseModel, TypeAdapter

        from vernal.tools.schema import canonical

        if not (isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, BaseModel))):
            raise InvalidToolError(f"argument_type is {kind!r}; a dataclass or a pydantic model is wanted")
        self._adapter: TypeAdapter[T] = TypeAdapter(kind)
        self._schema = canonical(self._adapter.json_schema())
        self.names = set(self._schema.get("properties", {}))
        if not self.names:
            raise InvalidToolError(f"argument_type {kind.__name__} has no fields; there is nothing to ask for")

    def augmented(self, schema: dict[str, Any]) -> dict[str, Any]:
        """`schema` with these fields; all that it says itself stays (AUG-13, AUG-14, AUG-17)."""
        clashing = sorted(set(self._schema.get("$defs", {})) & set(schema.get("$defs", {})))
        if clashing:
            raise InvalidToolError(f"both schemas define the types {', '.join(clashing)}; rename one of them")
        definitions = {**schema.get("$defs", {}), **self._schema.get("$defs", {})}
        schema["properties"] = {**schema.get("properties", {}), **self._schema["properties"]}
        schema["required"] = [*schema.get("required", []), *self._schema.get("required", [])]
        return {**schema, "$defs": definitions} if definitions else schema

    def read(self, values: dict[str, Any]) -> T:
        from pydantic import ValidationError

        try:
            return self._adapter.validate_python(values)
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
                for each in error.errors(include_input=False, include_url=False)
            )
            raise ToolArgumentsError(f"The arguments are not valid: {faults}.") from None

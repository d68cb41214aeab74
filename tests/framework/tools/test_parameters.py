"""Which parameters of a callable a model fills, and which callables are refused (R17)."""

import datetime as dt
import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Generic, Optional, TypeVar

import pytest
from pydantic import BaseModel, Field

from vernal.tools.collection import tool_callbacks
from vernal.tools.context import NO_CONTEXT, ToolContext
from vernal.tools.decorator import tool
from vernal.tools.exceptions import InvalidToolError
from vernal.tools.function import FunctionToolCallback

if TYPE_CHECKING:
    from decimal import Decimal

    from vernal.tools.context import ToolContext as Context

T = TypeVar("T")
CONTEXT = ToolContext({"tenant": "acme"})


def offered(function: Callable[..., Any]) -> list[str]:
    return list(FunctionToolCallback(function).definition.input_schema["properties"])


def run(function: Callable[..., Any], context: ToolContext | None = None, /, **arguments: Any) -> Any:
    return json.loads(FunctionToolCallback(function).call(json.dumps(arguments), context))


def test_the_context_is_known_by_its_type() -> None:
    """R17, MTC-04, MTC-13, FTC-02: under each way to write the type, wherever it stands and whatever it is called."""

    def spread(
        before: ToolContext,
        city: str,
        optional: ToolContext | None,
        old: Optional[ToolContext],  # noqa: UP045  # the old way must work
        annotated: Annotated[ToolContext, "anything"],
        text: "ToolContext",
        both: Annotated["ToolContext | None", 1] = None,
    ) -> list[Any]:
        return [each is CONTEXT for each in (before, optional, old, annotated, text, both)]

    assert offered(spread) == ["city"]
    assert run(spread, CONTEXT, city="Oslo") == [True] * 6


def test_a_parameter_called_context_is_the_models() -> None:
    """R17: the name alone means nothing."""

    def f(context: str, tool_context: dict[str, int]) -> list[Any]:
        return [context, tool_context]

    assert run(f, CONTEXT, context="c", tool_context={"a": 1}) == ["c", {"a": 1}]


def test_without_a_context_there_is_an_empty_one() -> None:
    """TCM-22 (against MTC-09, FTC-12): a tool that takes a context gets one; one that may take None gets None."""

    def f(context: ToolContext, optional: ToolContext | None) -> list[bool]:
        return [context is NO_CONTEXT, optional is None]

    assert run(f) == [True, True]


def test_the_model_cannot_give_the_context() -> None:
    """R17: a member of the context's name is ignored, with and without `**kwargs`."""

    def f(context: ToolContext, **more: Any) -> list[Any]:
        return [dict(context), more]

    assert run(f, CONTEXT, context={"tenant": "evil"}, a=1) == [{"tenant": "acme"}, {"a": 1}]


def test_positional_only_and_keyword_only_parameters_are_filled() -> None:
    """Each kind of parameter reaches its place, with the function's own defaults where nothing is given."""

    def f(a: int, context: ToolContext, b: int = 2, /, c: int = 3, *, d: int = 4) -> list[int]:
        return [a, b, c, d, len(context)]

    assert run(f, CONTEXT, a=1, d=9) == [1, 2, 3, 9, 1]
    assert run(f, CONTEXT, a=1, b=5, c=6, d=7) == [1, 5, 6, 7, 1]


def test_variadic_positional_parameters_are_refused_by_name() -> None:
    """R17: a model gives arguments by name, so `*cities` cannot be filled."""

    def f(*cities: str) -> None: ...

    with pytest.raises(InvalidToolError, match=r"tool 'f' takes '\*cities'.*take a list instead"):
        FunctionToolCallback(f)


def test_what_a_partial_has_bound_is_not_the_models() -> None:
    """R17: bound parameters are not offered, and the model cannot overrule them, not even through `**kwargs`."""

    def search(query: str, tenant: str, **more: Any) -> list[Any]:
        return [query, tenant, more]

    by_name = functools.partial(search, tenant="acme")
    by_position = functools.partial(search, "everything")
    assert offered(by_name) == ["query"]
    assert run(by_name, query="q", tenant="evil", page=2) == ["q", "acme", {"page": 2}]
    assert offered(by_position) == ["tenant"]
    assert run(by_position, query="q", tenant="acme") == ["everything", "acme", {}]
    assert FunctionToolCallback(by_name).definition.name == "search"


def test_callable_objects_are_tools() -> None:
    """R17: an object with `__call__` is named after its class, and described by it."""

    class Lookup:
        """Looks things up."""

        def __call__(self, key: int) -> int:
            return key

    callback = FunctionToolCallback(Lookup())
    assert (callback.definition.name, callback.definition.description) == ("Lookup", "Looks things up.")
    assert callback.call('{"key": 4}') == "4"


def test_wrappers_show_what_they_wrap() -> None:
    """R17: decorators that use functools.wraps, and functools.cache, keep the parameters and their description."""

    def twice(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> int:
            return 2 * function(*args, **kwargs)

        return wrapper

    @twice
    def add(a: int, b: "int" = 1) -> int:
        """Add."""
        return a + b

    @functools.cache
    def square(n: int) -> int:
        return n * n

    assert run(add, a=1) == 4
    assert FunctionToolCallback(add).definition.description == "Add."
    assert run(square, n=3) == 9


def trip_planner() -> Callable[..., Any]:
    class Trip(BaseModel):
        to: str

    @tool
    def plan(trip: "Trip", more: list["Trip"] | None = None, days: "Annotated[int, Field(ge=1)]" = 1) -> "Trip":
        return trip

    return plan


def test_string_annotations_may_name_local_classes() -> None:
    """R17: what the enclosing function knew when `@tool` stood there is enough, also after it has returned."""
    assert run(trip_planner(), trip={"to": "Oslo"}) == {"to": "Oslo"}


def test_string_annotations_of_plain_local_functions_are_resolved_where_they_are_registered() -> None:
    """R17: without `@tool`, the enclosing function must still run, as it does when it registers its own tools."""

    class Trip(BaseModel):
        to: str

    def plan(trip: "list[Trip]") -> "list[Trip]":
        return trip

    assert run(plan, trip=[{"to": "Oslo"}]) == [{"to": "Oslo"}]


class Todos:
    class Item(BaseModel):
        text: str

    def list(self) -> None: ...

    @tool
    def add(self, item: "Item", tags: "list[str]") -> str:  # type: ignore[valid-type]  # what mypy and Python differ on
        return item.text + "".join(tags)


def test_string_annotations_may_name_nested_classes() -> None:
    """R17: names of the class body count, but a method called `list` does not hide the builtin."""
    (add,) = tool_callbacks(Todos())
    assert add.call('{"item": {"text": "a"}, "tags": ["b"]}') == "ab"


def test_the_context_may_be_imported_for_type_checking_only() -> None:
    """R17: `ToolContext` is recognised by its name where it cannot be resolved otherwise."""

    def f(context: "ToolContext") -> list[str]:
        return list(context)

    f.__globals__["ToolContext"], kept = None, f.__globals__.pop("ToolContext")
    del f.__globals__["ToolContext"]
    try:
        assert run(f, CONTEXT) == ["tenant"]
    finally:
        f.__globals__["ToolContext"] = kept


def test_unresolvable_annotations_are_refused_with_the_cure() -> None:
    """R17: the text names annotation, parameter and tool, and says what to do."""

    def pay(amount: "Decimal") -> None: ...
    def pay_in(context: "Context") -> None: ...

    with pytest.raises(InvalidToolError, match=r"'Decimal' of parameter 'amount' of tool 'pay'.*TYPE_CHECKING"):
        FunctionToolCallback(pay)
    with pytest.raises(InvalidToolError, match=r"'Context' of parameter 'context' of tool 'pay_in'"):
        FunctionToolCallback(pay_in)


def test_an_unresolvable_return_annotation_does_not_matter() -> None:
    """R17: what is returned is known when it is there."""

    def price() -> "Decimal":
        return 3  # type: ignore[return-value]  # the annotation is what is tried

    assert FunctionToolCallback(price).call("{}") == "3"


def test_types_without_json_form_are_refused_with_the_cure() -> None:
    """R17: the text names parameter, tool and type, and says what to do; without asking for pydantic settings."""

    class Connection: ...

    def query(sql: str, connection: Connection) -> None: ...
    def later(then: Callable[[], int]) -> None: ...
    def many(sql: str, **connections: Connection) -> None: ...

    with pytest.raises(InvalidToolError, match=r"'connection' of tool 'query' has the type .*Connection.*bind it") as e:
        FunctionToolCallback(query)
    assert "arbitrary_types_allowed" not in str(e.value)
    with pytest.raises(InvalidToolError, match="parameter 'then' of tool 'later'"):
        FunctionToolCallback(later)
    with pytest.raises(InvalidToolError, match=r"parameter '\*\*' of tool 'many'"):
        FunctionToolCallback(many)


def test_a_method_without_its_object_is_refused() -> None:
    """MTC-12: `self` is nothing that a model can give."""
    with pytest.raises(InvalidToolError, match=r"'add' is the method 'Todos.add' without its object.*Todos\(\)\.add"):
        FunctionToolCallback(Todos.add)


class Store(Generic[T]):
    @tool
    def put(self, item: T, others: list[T] | None = None) -> list[Any]:
        return [item, others]


class Dates(Store[dt.date]): ...


class Lists(Store[list[T]], Generic[T]): ...


class Numbers(Lists[int]): ...


def test_type_variables_of_base_classes_are_resolved() -> None:
    """R17, MTP-09: a tool of a generic base class takes what its subclass has filled in."""
    (dates,) = tool_callbacks(Dates())
    assert dates.definition.input_schema["properties"]["item"] == {"type": "string", "format": "date"}
    assert dates.call('{"item": "2026-01-02"}') == '["2026-01-02",null]'
    (numbers,) = tool_callbacks(Numbers())
    assert numbers.definition.input_schema["properties"]["item"] == {"type": "array", "items": {"type": "integer"}}


def test_a_default_may_be_a_field() -> None:
    """`days: int = Field(3, ge=1)` counts as default and constraint, as users of pydantic expect."""

    def f(
        days: int = Field(3, ge=1),
        tags: list[str] = Field(default_factory=list),  # noqa: B008  # what is tried
        name: str = Field(),
    ) -> list[Any]:
        return [days, tags, name]

    schema = FunctionToolCallback(f).definition.input_schema
    assert schema["required"] == ["name"]
    assert schema["properties"]["days"] == {"type": "integer", "minimum": 1, "default": 3}
    assert run(f, name="x") == [3, [], "x"]


def test_an_alias_is_what_the_model_sees() -> None:
    """A parameter may have a name for the model that Python does not allow."""

    def f(from_: Annotated[str, Field(alias="from")]) -> str:
        return from_

    callback = FunctionToolCallback(f)
    assert callback.definition.input_schema["required"] == ["from"]
    assert callback.call('{"from": "Oslo"}') == "Oslo"


def test_text_in_annotated_describes() -> None:
    """`Annotated[str, "…"]` is a description, as in other frameworks."""

    def f(city: Annotated[str, "Name of the city"]) -> None: ...

    assert FunctionToolCallback(f).definition.input_schema["properties"]["city"]["description"] == "Name of the city"

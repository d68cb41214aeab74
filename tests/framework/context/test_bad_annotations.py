"""Annotations that the context cannot follow are refused where they stand, with what to write instead."""

import functools
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import pytest

from vernal.context import AnnotationError, ContextError, Named, ObjectProvider, UntypedBeanError, bean, configuration
from vernal.testing.runner import ApplicationContextRunner

T = TypeVar("T")


class Part:
    pass


class Whole:
    pass


def failure_of(method: Callable[..., Any], **annotations: Any) -> ContextError:
    """What keeps an application with this one bean from starting."""
    method.__annotations__.update({"return": Whole, **annotations})
    source = configuration(type("Beans", (), {"whole": bean(name="whole")(method), "__module__": __name__}))
    with ApplicationContextRunner().with_sources(source).run() as run:
        assert isinstance(run.failure, ContextError)
        return run.failure


@pytest.mark.parametrize("returned", [5, T, None, Any, object])
def test_what_is_no_type_is_no_bean_type(returned: Any) -> None:
    """A bean whose function says that it returns a value, a type variable or anything cannot be found by type."""

    def whole(self: object) -> Any:
        raise AssertionError

    assert isinstance(failure_of(whole, **{"return": returned}), UntypedBeanError)


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (5, "5 is no type that a bean could have"),
        (T, "~T is no type that a bean could have"),
        (ObjectProvider, r"ObjectProvider says not of which type.*Write ObjectProvider\[T\]"),
        (Annotated[Part, Named], r"it is Named without a name.*Annotated\[T, Named"),
        ("Part[", "it cannot be read at run time.*Mend what is written there"),
        ("Unknown", "it cannot be read at run time.*Import the type at module level"),
    ],
)
def test_what_is_no_type_cannot_be_injected(annotation: Any, reason: str) -> None:
    """A parameter that names no type is refused with what to write."""

    def whole(self: object, part: Any) -> Any:
        raise AssertionError

    failure = failure_of(whole, part=annotation)
    assert isinstance(failure, AnnotationError)
    assert re.search(reason, str(failure), re.DOTALL)


@pytest.mark.parametrize("around", [property, functools.cached_property])
def test_a_property_is_no_bean(around: Any) -> None:
    """`@property` over `@bean` would hide the bean: it is refused by name."""

    @bean
    def part(self: object) -> Part:
        raise AssertionError

    source = configuration(type("Beans", (), {"part": around(part), "__module__": __name__}))
    with ApplicationContextRunner().with_sources(source).run() as run:
        assert isinstance(run.failure, AnnotationError)
        assert f"Take @{around.__name__} away" in str(run.failure)

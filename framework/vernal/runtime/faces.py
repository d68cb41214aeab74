"""The two faces of an operation: a blocking one of the plain name, an asynchronous one with `a` before it.

A class implements either. Where a class body defines one face, the other is generated for that very class and calls
that class's own function, so that the most derived definition of either face counts and `super()` works from both.
A mixin that is no subclass of the interface is completed by the class that takes it in.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from vernal.runtime.portal import run_blocking
from vernal.runtime.streams import AsyncStream, Stream, iterate_in_thread
from vernal.runtime.threads import run_in_thread
from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True)
class Face:
    """A pair of method names. Of the pairs of one `group` (by default the pair itself), a class must define one."""

    blocking: str
    asynchronous: str
    group: str = ""
    stream: bool = False


class TwoFaced:
    """Base of the interfaces that may be implemented blocking or asynchronously.

    An interface lists its pairs in `__faces__` and is declared with `abstract=True`, as is an unfinished base class.

    Raises:
        TypeError: at class creation, where no face of a group is defined, or a face is of the wrong kind.
    """

    __faces__: ClassVar[tuple[Face, ...]] = ()

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__faces__" in vars(cls):
            return  # an interface: its methods are declarations and defaults
        for face in cls.__faces__:
            _complete(cls, face)
        if not abstract:
            _refuse_faceless(cls)


def _complete(cls: type, face: Face) -> None:
    """Give `cls` the missing face of the class body, its own or that of a mixin, which defines the pair last."""
    body = next(vars(base) for base in cls.__mro__ if face.blocking in vars(base) or face.asynchronous in vars(base))
    if "__faces__" in body:
        return  # nobody but the interface itself defines this pair
    blocking, asynchronous = body.get(face.blocking), body.get(face.asynchronous)
    if blocking is not None and _is_async(blocking):
        raise TypeError(
            f"{cls.__qualname__}.{face.blocking} is asynchronous; call it {face.asynchronous!r}, "
            f"and the blocking face is generated"
        )
    if asynchronous is not None and not face.stream and not _is_async(asynchronous):
        raise TypeError(
            f"{cls.__qualname__}.{face.asynchronous} is a plain function; make it 'async def', or call it "
            f"{face.blocking!r}, and the asynchronous face is generated"
        )
    if face.stream and inspect.iscoroutinefunction(asynchronous):
        raise TypeError(
            f"{cls.__qualname__}.{face.asynchronous} is a coroutine function without a 'yield'; write an asynchronous "
            f"generator ('async def' with 'yield'), or a plain function that returns an asynchronous iterator"
        )
    if blocking is not None and asynchronous is None:
        make = _async_stream_of if face.stream else _async_of
        setattr(cls, face.asynchronous, _named(make(blocking), cls, face.asynchronous, blocking))
    elif asynchronous is not None and blocking is None:
        make = _blocking_stream_of if face.stream else _blocking_of
        setattr(cls, face.blocking, _named(make(asynchronous), cls, face.blocking, asynchronous))


def _refuse_faceless(cls: type[TwoFaced]) -> None:
    groups: dict[str, list[Face]] = {}
    for face in cls.__faces__:
        groups.setdefault(face.group or face.blocking, []).append(face)
    implementers = [base for base in cls.__mro__ if issubclass(base, TwoFaced) and "__faces__" not in vars(base)]
    mixins = [base for base in cls.__mro__ if not issubclass(base, TwoFaced)]
    for faces in groups.values():
        names = [name for face in faces for name in (face.blocking, face.asynchronous)]
        if not any(name in vars(base) for base in (*implementers, *mixins) for name in names):
            wanted = " or ".join(repr(name) for name in names)
            raise TypeError(
                f"class {cls.__qualname__} defines none of its faces; define {wanted}, the rest follows "
                f"(or declare the class with abstract=True)"
            )


def _is_async(function: Any) -> bool:
    function = inspect.unwrap(getattr(function, "__func__", function))
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _async_of(function: Callable[..., Any]) -> Callable[..., Any]:
    async def face(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await run_in_thread(function, self, *args, **kwargs)

    return face


def _blocking_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def face(self: Any, *args: Any, **kwargs: Any) -> Any:
        return run_blocking(function, self, *args, **kwargs)

    return face


def _async_stream_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def face(self: Any, *args: Any, **kwargs: Any) -> AsyncStream[Any]:
        return AsyncStream(lambda: iterate_in_thread(lambda: function(self, *args, **kwargs)))

    return face


def _blocking_stream_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def face(self: Any, *args: Any, **kwargs: Any) -> Stream[Any]:
        return Stream(lambda: function(self, *args, **kwargs))

    return face


def _named(face: Callable[..., Any], cls: type, name: str, twin: Callable[..., Any]) -> Callable[..., Any]:
    functools.update_wrapper(face, twin, assigned=("__module__", "__doc__"), updated=())
    del face.__wrapped__  # type: ignore[attr-defined]  # set by update_wrapper; the twin is of another kind
    face.__name__, face.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return face

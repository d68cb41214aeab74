"""The faster `dataclass`: whatever is made by it behaves as what Python's own makes."""

import copy
import dataclasses
import inspect
import pickle
import sys
import typing
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal.values import records

# Under the name `dataclass` a type checker takes it for Python's own; here it is called as what it is.
FAST: Callable[..., Any] = vars(records)["dataclass"]
Decorator = Callable[..., Any]


def classes(decorate: Decorator) -> dict[str, Any]:
    """The same classes, made by either decorator."""

    @decorate(frozen=True, slots=True)
    class Plain:
        """Fields with and without defaults."""

        a: Any
        b: "int | str" = 1
        c: list[int] = dataclasses.field(default_factory=list)
        shared: ClassVar[int] = 3

    @decorate(frozen=True, slots=True, weakref_slot=True, kw_only=True)
    class Keywords:
        """Fields that are given by name."""

        a: Any
        b: int = 1

    @decorate(frozen=True, slots=True)
    class Odd:
        """Fields that are not compared, shown, hashed or given."""

        a: Any
        b: Any = dataclasses.field(default=1, compare=False)
        c: Any = dataclasses.field(default=2, repr=False)
        d: Any = dataclasses.field(default=3, hash=False)
        e: Any = dataclasses.field(default=4, init=False)
        f: Any = dataclasses.field(default_factory=tuple, init=False)
        g: Any = dataclasses.field(default=5, kw_only=True)

    @decorate(frozen=True, slots=True)
    class Checked:
        """A field that is set, and one that is refused, when an object is made."""

        a: Any
        b: Any = None

        def __post_init__(self) -> None:
            if self.a == "refused":
                raise ValueError("refused")
            object.__setattr__(self, "b", self.a)

    @decorate(frozen=True, slots=True)
    class Below(Plain):
        """A field behind those of its base, one of which has another default."""

        b: "int | str" = 7
        d: int = 8

    @decorate(frozen=True, slots=True, init=False)
    class Own:
        """A constructor, an equality and a text of its own."""

        a: Any

        def __init__(self, a: Any = None) -> None:
            object.__setattr__(self, "a", a)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @decorate(frozen=True, slots=True, eq=False, repr=False)
    class Identity:
        """Compared by identity."""

        a: Any

    @decorate(frozen=True, slots=True)
    class Empty:
        """No fields."""

    @decorate(slots=True)
    class Changing:
        """Not frozen."""

        a: Any = 0

    return {cls.__name__: cls for cls in (Plain, Keywords, Odd, Checked, Below, Own, Identity, Empty, Changing)}


OURS, PYTHONS = classes(FAST), classes(dataclasses.dataclass)
EACH = pytest.mark.parametrize("name", OURS)
Arguments = tuple[list[Any], dict[str, Any]]
VALUES = st.recursive(st.none() | st.integers(0, 2) | st.text(max_size=2), st.tuples, max_leaves=3) | st.lists(
    st.integers(), max_size=2
)
ARGUMENTS = st.tuples(st.lists(VALUES, max_size=3), st.dictionaries(st.sampled_from("abcdg"), VALUES, max_size=2))


def outcome(act: Callable[[], Any]) -> Any:
    """What `act` gives, or the error that it raises."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001  # whatever it is, both must raise it
        return type(error), str(error)


def behaviour(cls: Any, one: Arguments, other: Arguments) -> list[Any]:
    """What an object made with the arguments `one` does, alone and beside one made with `other`."""
    value = outcome(lambda: cls(*one[0], **one[1]))
    if isinstance(value, tuple):
        return [value]
    beside = outcome(lambda: cls(*other[0], **other[1]))
    equal = value == beside
    named = cls.__name__ != "Identity"  # whose texts and hashes tell where it lies
    return [
        outcome(lambda: [getattr(value, field.name) for field in dataclasses.fields(value)]),
        outcome(lambda: repr(value) if named else None),
        outcome(lambda: dataclasses.asdict(value)),
        (equal, value != beside, value == copy.copy(value), value == object()),
        outcome(lambda: hash(value) is None),
        outcome(lambda: hash(value) == hash(beside)) if equal and named else None,
        outcome(lambda: setattr(value, "a", 1)) if cls.__name__ != "Empty" else None,  # Python's own fails itself there
        outcome(lambda: delattr(value, "a")) if cls.__name__ != "Empty" else None,
        outcome(lambda: repr(dataclasses.replace(value, a=5))) if named else None,
    ]


@EACH
def test_it_looks_alike(name: str) -> None:
    """Signature, fields, annotations, slots and what it is called are those of Python's own."""
    ours, pythons = OURS[name], PYTHONS[name]
    assert str(inspect.signature(ours)) == str(inspect.signature(pythons))
    assert typing.get_type_hints(ours.__init__) == typing.get_type_hints(pythons.__init__)
    assert [repr(field) for field in dataclasses.fields(ours)] == [repr(field) for field in dataclasses.fields(pythons)]
    assert repr(ours.__dataclass_params__) == repr(pythons.__dataclass_params__)
    for attribute in ("__slots__", "__match_args__", "__qualname__", "__module__", "__doc__"):
        assert getattr(ours, attribute) == getattr(pythons, attribute), attribute
    assert ours.__init__.__qualname__ == pythons.__init__.__qualname__
    assert (ours.__hash__ is None) == (pythons.__hash__ is None)


@EACH
@given(one=ARGUMENTS, other=ARGUMENTS)
def test_it_behaves_alike(name: str, one: Arguments, other: Arguments) -> None:
    """Whatever it is made with: the same errors, texts, values, hashes, equalities and copies."""
    assert behaviour(OURS[name], one, other) == behaviour(PYTHONS[name], one, other)


@dataclasses.dataclass(frozen=True)
class OfPython(OURS["Plain"]):  # type: ignore[misc, valid-type, name-defined]  # a class
    """Somebody's own class on one of ours."""

    more: int = 0


class WithoutFields(OURS["Plain"]):  # type: ignore[misc, valid-type, name-defined]  # a class
    """A subclass that is no dataclass."""


def test_others_inherit_from_it() -> None:
    """A frozen dataclass of Python may stand above one of ours, or below it, and a plain class below it."""
    assert repr(OfPython(1, more=2)) == "OfPython(a=1, b=1, c=[], more=2)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        OfPython(1).more = 3  # type: ignore[misc]  # it is refused
    below = FAST(frozen=True, slots=True)(type("Ours", (PYTHONS["Keywords"],), {"__annotations__": {"more": int}}))
    assert repr(below(3, a=1, b=2)).endswith("Ours(a=1, b=2, more=3)")
    plain = WithoutFields(1)
    plain.extra = 2
    assert plain.extra == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        plain.a = 2
    with pytest.raises(TypeError, match="non-default argument 'more' follows default argument"):
        FAST(frozen=True, slots=True)(type("Ours", (PYTHONS["Plain"],), {"__annotations__": {"more": int}}))
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclasses.dataclass(type("Changing", (OURS["Plain"],), {}))


@records.dataclass(frozen=True, slots=True)
class Pickled:
    """Found again by its name."""

    a: int
    b: object = None


def test_it_is_pickled_and_copied_deeply() -> None:
    """Its state passes by what refuses changes."""
    value = Pickled(1, [2])
    again = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    assert [value, copy.deepcopy(value)] * 2 == [value] * 4
    assert again == [value] * len(again)
    assert copy.deepcopy(value).b is not value.b


def test_what_holds_itself_has_a_text() -> None:
    """A value within itself is shown as dots."""
    inner: list[object] = []
    value = Pickled(1, inner)
    inner.append(value)
    assert repr(value) == "Pickled(a=1, b=[...])"


def test_errors_name_the_constructor_and_its_module() -> None:
    """What goes wrong in the constructor is told with its name, and annotations are looked up where it stands."""
    with pytest.raises(TypeError, match=r"Pickled\.__init__\(\) missing 1 required positional argument: 'a'"):
        Pickled()  # type: ignore[call-arg]  # it is missing
    assert Pickled.__init__.__globals__ is vars(sys.modules[__name__])

# SPDX-License-Identifier: Apache-2.0
"""Frozen, slotted classes for data, that cost next to nothing to define.

They are used like frozen dataclasses with slots, and type checkers know them as such. The reason not to use these: a
dataclass compiles six methods while its module is imported, and most of the hundred have no instance in a small run
(docs/performance.md: records). Here only `__init__` is made: for few fields from one that is compiled with this file,
with other names, and for many fields when there are so many instances that compiling pays (docs/performance.md:
few-instances).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from operator import attrgetter
from types import FunctionType
from typing import Any, Final, Self, TypeVar, dataclass_transform

EMPTY: Final[Mapping[Any, Any]] = {}
"""The default of a field that holds a mapping; not to be mutated. (A read-only view could not be pickled.)"""

_OMITTED: Final = object()
"""What stands for a field without a default."""


_slot: Any = None
_set_0 = _set_1 = _set_2 = _set_3 = _set_4 = _set_5 = _slot
"""What the functions below name, which run with the slots of a class in place of these."""


def _of_1(self: Any, _0: Any) -> None:
    _set_0(self, _0)


def _of_2(self: Any, _0: Any, _1: Any) -> None:
    _set_0(self, _0)
    _set_1(self, _1)


def _of_3(self: Any, _0: Any, _1: Any, _2: Any) -> None:
    _set_0(self, _0)
    _set_1(self, _1)
    _set_2(self, _2)


def _of_4(self: Any, _0: Any, _1: Any, _2: Any, _3: Any) -> None:
    _set_0(self, _0)
    _set_1(self, _1)
    _set_2(self, _2)
    _set_3(self, _3)


def _of_5(self: Any, _0: Any, _1: Any, _2: Any, _3: Any, _4: Any) -> None:
    _set_0(self, _0)
    _set_1(self, _1)
    _set_2(self, _2)
    _set_3(self, _3)
    _set_4(self, _4)


def _of_6(self: Any, _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: Any) -> None:
    _set_0(self, _0)
    _set_1(self, _1)
    _set_2(self, _2)
    _set_3(self, _3)
    _set_4(self, _4)
    _set_5(self, _5)


_SHORT: Final = (_of_1, _of_2, _of_3, _of_4, _of_5, _of_6)
"""What `__init__` does in a class of so many fields."""

_FEW: Final = 32
"""So many instances of a class have their fields set in a loop; for more it is worth compiling what sets them."""


@dataclass_transform(frozen_default=True)
class RecordType(type):
    """The type of record classes: makes a slot of each annotated name, and a default of what is assigned to it."""

    _defaults: dict[str, Any]
    _instances: int
    """How many were made while there were few."""
    _values: Callable[[Any], tuple[Any, ...]]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordType:
        """Make the class, with slots; what sets them is made with the first instance, which few classes have."""
        names = tuple(namespace.get("__annotations__", ()))
        own = {field: namespace.pop(field, _OMITTED) for field in names}
        inherited = getattr(bases[0], "_defaults", None) if bases else None
        if inherited:
            # Not that of the base, which may be made already.
            namespace["__init__"] = Record.__init__
            own = {**inherited, **own}
        namespace.update(__slots__=names, _defaults=own, _instances=0, _values=_getter(tuple(own)))
        return super().__new__(cls, name, bases, namespace)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) == 1:
        get = attrgetter(names[0])
        return lambda record: (get(record),)
    return attrgetter(*names) if names else lambda _: ()


_set: Final = object.__setattr__


class Record(metaclass=RecordType):
    """The base of a class of immutable data, whose fields are its annotated names, behind those of the record
    that it inherits from. Records inherit from nothing else.

    Two records are equal when they are of the same class and their fields are; their hash is that of the fields. A
    default is shared by all instances and must therefore not be mutable. A method `__post_init__` runs after the
    fields are set.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        record = type(self)
        record._instances += 1
        if record._instances == 1 and _is_short(record):
            record.__init__ = _renamed_init(record)  # type: ignore[method-assign]  # from now on without this detour
            record.__init__(self, *args, **kwargs)
            return
        values = _values_of(record, args, kwargs) if record._instances <= _FEW else None
        if values is None:
            record.__init__ = _compiled_init(record)  # type: ignore[method-assign]  # from now on without this detour
            record.__init__(self, *args, **kwargs)
            return
        for name, value in values.items():
            _set(self, name, value)
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot assign to {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        values = type(self)._values
        return values(self) == values(other)

    def __hash__(self) -> int:
        return hash(type(self)._values(self))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self)._defaults)
        return f"{type(self).__qualname__}({fields})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), type(self)._values(self)


_R = TypeVar("_R", bound=Record)


def field_names(record: type[Record]) -> tuple[str, ...]:
    """The names of the fields, in the order of the class."""
    return tuple(record._defaults)


def replace(record: _R, **changes: Any) -> _R:
    """The record with other values for the fields that are named. Raises TypeError for a name that is no field."""
    kind = type(record)
    return kind(**{**dict(zip(kind._defaults, kind._values(record), strict=True)), **changes})


def _values_of(record: RecordType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The value of each field; None for wrong arguments, of which a compiled `__init__` tells what is wrong."""
    fields = record._defaults
    if len(args) > len(fields) or (kwargs and not kwargs.keys().isdisjoint(islice(fields, len(args)))):
        return None
    values = {**fields, **dict(zip(fields, args, strict=False)), **kwargs}
    if len(values) > len(fields):
        return None
    for value in values.values():
        if value is _OMITTED:
            return None
    return values


def _compiled_init(record: RecordType) -> Callable[..., None]:
    """The `__init__` of a class of records: one parameter for each field, set through its slot."""
    known: dict[str, Any] = {f"_default_{name}": value for name, value in record._defaults.items()}
    known.update((f"_set_{name}", getattr(record, name).__set__) for name in record._defaults)
    parameters = ", ".join(
        name if value is _OMITTED else f"{name}=_default_{name}" for name, value in record._defaults.items()
    )
    lines = [f"_set_{name}(self, {name})" for name in record._defaults]
    if hasattr(record, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__(self, {parameters}):\n " + "\n ".join(lines or ["pass"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{record.__qualname__}.__init__"
    return init


def _is_short(record: RecordType) -> bool:
    return 0 < len(record._defaults) <= len(_SHORT) and not hasattr(record, "__post_init__")


def _renamed_init(record: RecordType) -> Callable[..., None]:
    """The same as `_compiled_init` without compiling: that of another class with as many fields, and other names."""
    names = tuple(record._defaults)
    code = _SHORT[len(names) - 1].__code__
    code = code.replace(co_varnames=("self", *names), co_qualname=f"{record.__qualname__}.__init__")
    known = {f"_set_{index}": getattr(record, name).__set__ for index, name in enumerate(names)}
    values = tuple(record._defaults.values())
    while values and values[0] is _OMITTED:
        values = values[1:]
    if _OMITTED in values:
        raise TypeError(f"{record.__qualname__} has a field without a default behind one with a default")
    return FunctionType(code, known, "__init__", values)

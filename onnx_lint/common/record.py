# SPDX-License-Identifier: Apache-2.0
"""Frozen, slotted classes for data that take almost no time to define.

They are used like frozen dataclasses with slots, and type checkers treat them as such. A dataclass compiles six methods
when its module is imported, but most of the hundred classes have few instances in a small run (docs/performance.md:
records). Here only `__init__` is compiled, after the first instances of a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, Self, TypeVar, dataclass_transform

EMPTY: Final[Mapping[Any, Any]] = {}
"""The default of a field with a mapping. It must not be mutated; a read-only view could not be pickled."""

_OMITTED: Final = object()
"""Marks a field without a default."""

_FEW: Final = 8
"""The number of instances of a class for which compiling its `__init__` would take more time than it saves."""


@dataclass_transform(frozen_default=True)
class RecordType(type):
    """The metaclass of records. It makes a slot of each annotated name, and a default of the value assigned to it."""

    _defaults: dict[str, Any]
    _instances: int
    """The number of instances created before `__init__` was compiled."""
    _values: Callable[[Any], tuple[Any, ...]]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordType:
        """Create the class, with slots."""
        names = tuple(namespace.get("__annotations__", ()))
        own = {field: namespace.pop(field, _OMITTED) for field in names}
        inherited = getattr(bases[0], "_defaults", None) if bases else None
        if inherited:
            # The __init__ of the base may be compiled already, for its own fields.
            namespace["__init__"] = Record.__init__
            own = {**inherited, **own}
        namespace.update(__slots__=names, _defaults=own, _instances=0, _values=_getter(tuple(own)))
        return super().__new__(cls, name, bases, namespace)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) == 1:
        get = attrgetter(names[0])
        return lambda record: (get(record),)
    return attrgetter(*names) if names else lambda _: ()


class Record(metaclass=RecordType):
    """The base class of immutable data. Its fields are the annotated names, after those of the record it inherits from.

    A record inherits only from records. Two records are equal if they have the same class and equal fields; the hash is
    that of the fields. A default is shared by all instances and must not be mutated. A method `__post_init__` runs
    after the fields are set.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        record = type(self)
        record._instances += 1
        values = _values_of(record, args, kwargs) if record._instances <= _FEW else None
        if values is None:
            record.__init__ = _compiled_init(record)  # type: ignore[method-assign]  # replaces this method
            record.__init__(self, *args, **kwargs)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
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
    """Return the names of the fields, in the order of the class."""
    return tuple(record._defaults)


def replace(record: _R, **changes: Any) -> _R:
    """Return the record with other values for the named fields. Raises TypeError for a name that is not a field."""
    kind = type(record)
    return kind(**{**dict(zip(kind._defaults, kind._values(record), strict=True)), **changes})


def _values_of(record: RecordType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Return the values of the fields; None for wrong arguments, which a compiled `__init__` reports."""
    names = record._defaults
    given = dict(zip(names, args, strict=False))
    values = {**names, **given, **kwargs}
    is_right = len(args) <= len(names) == len(values) and given.keys().isdisjoint(kwargs)
    return values if is_right and not any(value is _OMITTED for value in values.values()) else None


def _compiled_init(record: RecordType) -> Callable[..., None]:
    """Return the `__init__` of a record class: one parameter for each field, set through its slot."""
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

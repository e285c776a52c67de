# SPDX-License-Identifier: Apache-2.0
"""Caches: of an object for its lifetime, or of results that hold for all models of a run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Final, Generic, Self, TypeVar, overload

from onnx_lint.common.deadline import check_deadline

_Value = TypeVar("_Value")
_Key = TypeVar("_Key", bound=Hashable)


class cached_property(Generic[_Value]):  # noqa: N801 - named like the one of functools, which it replaces
    """`functools.cached_property` without a lock, which that takes up to Python 3.11.

    A model of 5,000 functions has fifty thousand of these.
    """

    def __init__(self, func: Callable[[Any], _Value]) -> None:
        self.func = func
        self.__doc__ = func.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _Value: ...

    def __get__(self, instance: object, owner: type | None = None) -> Self | _Value:
        if instance is None:
            return self
        kept = instance.__dict__
        if _RAISED in kept:
            _raise_again(instance, self.name)
        check_deadline()
        try:
            # The class has no __set__, so from now on Python finds the entry of the instance before the property.
            value = kept[self.name] = self.func(instance)
        except (MemoryError, OSError):
            raise  # it may succeed the next time
        except Exception as error:
            _keep_raised(instance, self.name, error)
            raise
        return value


# --- exceptions of properties, which are raised again at each access

_RAISED: Final = "raised by properties"
"""The key of the exceptions in the dictionary of an instance; no attribute can have this name."""

_PROPERTY: Final = "raised_by_property"


def _keep_raised(instance: object, name: str, error: Exception) -> None:
    """Keep the exception of a property, so that the same object is raised at the next access."""
    instance.__dict__.setdefault(_RAISED, {})[name] = error, error.__traceback__
    # The innermost property comes first.
    error.__dict__.setdefault(_PROPERTY, f"{type(instance).__name__}.{name}")


def _raise_again(instance: object, name: str) -> None:
    """Raise the kept exception of a property, if any."""
    kept = instance.__dict__[_RAISED].get(name)
    if kept is not None:
        raise kept[0].with_traceback(kept[1])


def exceptions_of(instance: object) -> list[Exception]:
    """Return the exceptions that properties of an object raised, each once, in order."""
    kept = instance.__dict__.get(_RAISED, {})
    return list({id(error): error for error, _ in kept.values()}.values())


def property_of(error: Exception) -> str | None:
    """Return the innermost property that raised an exception, such as `Model.value_flow`; None if none did."""
    name: str | None = error.__dict__.get(_PROPERTY)
    return name


_Class = TypeVar("_Class", bound=type)


def laid_out(kind: _Class) -> _Class:
    """Make the instances of a class share the table of names of their cached properties.

    Python builds that table from the first instances. For a name that these lack, such as a property that is computed
    later, each instance gets a table of its own: a graph then needs 800 bytes instead of 300. The same happens to a
    class of more than 28 names: Python keeps no more than 30, and two fewer after the first two instances.
    """
    first: object = object.__new__(kind)
    for name, value in vars(kind).items():
        if isinstance(value, cached_property):
            object.__setattr__(first, name, None)
    return kind


class Memory(dict[_Key, _Value]):
    """A cache whose entries hold for any model. It is the only kind of cache that outlives a model.

    Keys may come from files, so there are at most `bound` entries; a full cache is emptied. Entries with keys of more
    than `longest` characters, bytes and elements are not kept. A file's numbers are in keys only as `salted_key` makes
    them, or one number alone.
    """

    __slots__ = ("bound", "longest")

    def __init__(self, bound: int, longest: int = 4_000) -> None:
        super().__init__()
        self.bound = bound
        self.longest = longest

    def keep(self, key: _Key, value: _Value) -> _Value:
        """Store the value, and return it."""
        if _size_of(key, self.longest) <= self.longest:
            size = len(self)
            if not size % _ENTRIES_BETWEEN_LOOKS:
                check_deadline()
            if size >= self.bound:
                self.clear()
            self[key] = value
        return value


_ENTRIES_BETWEEN_LOOKS: Final = 16
_ABSENT: Final[Any] = object()


_TEXTS: Final = frozenset({str, bytes})
_LISTS: Final = (tuple, frozenset)
_SIZED: Final = (str, bytes, *_LISTS)
_SIZED_TYPES: Final = frozenset(_SIZED)
"""Most keys have hardly any other parts, and no size of a part is looked at in a list of numbers."""


def _size_of(key: object, longest: int) -> int:
    """Return the characters and elements of a key; at least more than `longest` if there are too many."""
    if not isinstance(key, _SIZED):
        return 0
    size = len(key)
    if size <= longest and not isinstance(key, (str, bytes)) and not _SIZED_TYPES.isdisjoint(map(type, key)):
        for part in key:
            if type(part) in _TEXTS:
                size += len(part)
            elif isinstance(part, _LISTS):
                size += _size_of(part, longest)
    return size


def remembered(bound: int) -> Callable[[Callable[[_Key], _Value]], Callable[[_Key], _Value]]:
    """Return a decorator that caches up to `bound` results of a function, for all models of the run."""

    def remembering(function: Callable[[_Key], _Value]) -> Callable[[_Key], _Value]:
        memory: Memory[_Key, _Value] = Memory(bound)

        @wraps(function)
        def answer(key: _Key) -> _Value:
            found = memory.get(key, _ABSENT)  # in one step, since another thread may empty it
            return memory.keep(key, function(key)) if found is _ABSENT else found

        return answer

    return remembering

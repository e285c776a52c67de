# SPDX-License-Identifier: Apache-2.0
"""Keeps what was worked out: as long as the object that it belongs to, or for the next model of a run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Final, Generic, Self, TypeVar, overload

_Value = TypeVar("_Value")
_Key = TypeVar("_Key", bound=Hashable)


class cached_property(Generic[_Value]):  # noqa: N801 - named as the one of functools, which it stands for
    """`functools.cached_property` without what that does beside it: up to Python 3.11 it takes a lock.

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
        if _RAISED in instance.__dict__:
            _raise_again(instance, self.name)
        try:
            # As the class has no __set__, what stands in the instance is found before the property from now on.
            value = instance.__dict__[self.name] = self.func(instance)
        except (MemoryError, OSError):
            raise  # it may go well the next time
        except Exception as error:
            _keep_raised(instance, self.name, error)
            raise
        return value


class shared_property(cached_property[_Value]):  # noqa: N801 - as above
    """A property that equal objects share: it is asked of `twin` where the object has one."""

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _Value: ...

    def __get__(self, instance: object, owner: type | None = None) -> Self | _Value:
        if instance is None:
            return self
        twin = instance.__dict__["twin"]
        if twin is None:
            return super().__get__(instance, owner)
        value: _Value = getattr(twin, self.name)
        instance.__dict__[self.name] = value
        return value


# --- exceptions of properties, which are raised to everybody who asks

_RAISED: Final = "raised by properties"
"""The entry of an object that has the exceptions of its properties; no attribute can have this name."""

_PROPERTY: Final = "raised_by_property"


def _keep_raised(instance: object, name: str, error: Exception) -> None:
    """Keep the exception of a property, so that it is raised to the next one who asks: the same object each time."""
    instance.__dict__.setdefault(_RAISED, {})[name] = error, error.__traceback__
    # The innermost property comes first.
    error.__dict__.setdefault(_PROPERTY, f"{type(instance).__name__}.{name}")


def _raise_again(instance: object, name: str) -> None:
    """Raise the exception of a property that was kept; return where there is none."""
    kept = instance.__dict__[_RAISED].get(name)
    if kept is not None:
        raise kept[0].with_traceback(kept[1])


def exceptions_of(instance: object) -> list[Exception]:
    """Return the exceptions that properties of an object raised, each once, in the order in which they came."""
    kept = instance.__dict__.get(_RAISED, {})
    return list({id(error): error for error, _ in kept.values()}.values())


def property_of(error: Exception) -> str | None:
    """Return the innermost property that raised an exception, such as `Model.value_flow`; None if none did."""
    name: str | None = error.__dict__.get(_PROPERTY)
    return name


_Class = TypeVar("_Class", bound=type)


def laid_out(kind: _Class) -> _Class:
    """Have the instances of a class share the names of their cached properties, as they share those of attributes.

    Python takes the names from the first instances. What these do not have, as a property that nobody asked for yet,
    costs each instance a table of its own: a graph takes up 800 bytes then, in place of 300.
    """
    first: object = object.__new__(kind)
    for name, value in vars(kind).items():
        if isinstance(value, cached_property):
            object.__setattr__(first, name, None)
    return kind


class Memory(dict[_Key, _Value]):
    """Answers by key that hold for any model, and so are kept for the next one: nothing else outlives a model.

    What writers of files choose may be a key, so there are never more than `bound`; then all are forgotten, which costs
    time only. What has a long key is not kept either.
    """

    __slots__ = ("bound",)

    def __init__(self, bound: int) -> None:
        super().__init__()
        self.bound = bound

    def keep(self, key: _Key, value: _Value) -> _Value:
        """Remember the value, and return it."""
        if _size_of(key) <= _MOST_OF_A_KEY:
            if len(self) >= self.bound:
                self.clear()
            self[key] = value
        return value


_MOST_OF_A_KEY: Final = 4_000


def _size_of(key: object) -> int:
    """How many characters and elements a key has, at least where they are too many."""
    if isinstance(key, (str, bytes)):
        return len(key)
    if not isinstance(key, (tuple, frozenset)):
        return 0
    size = len(key)
    if size <= _MOST_OF_A_KEY:
        for part in key:
            if isinstance(part, (str, bytes)):
                size += len(part)
            elif isinstance(part, (tuple, frozenset)):
                size += _size_of(part)
    return size


def remembered(bound: int) -> Callable[[Callable[[_Key], _Value]], Callable[[_Key], _Value]]:
    """Have a function remember up to so many answers, for the next model too."""

    def remembering(function: Callable[[_Key], _Value]) -> Callable[[_Key], _Value]:
        memory: Memory[_Key, _Value] = Memory(bound)

        @wraps(function)
        def answer(key: _Key) -> _Value:
            return memory[key] if key in memory else memory.keep(key, function(key))

        return answer

    return remembering

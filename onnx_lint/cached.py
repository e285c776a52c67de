# SPDX-License-Identifier: Apache-2.0
"""A property that is worked out when first asked for and then kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

_Value = TypeVar("_Value")


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
        # As the class has no __set__, what stands in the instance is found before the property from now on.
        value = instance.__dict__[self.name] = self.func(instance)
        return value

# SPDX-License-Identifier: Apache-2.0
"""Computed values are kept."""

from __future__ import annotations

import sys

import pytest

from onnx_lint.common.cached import (
    Memory,
    cached_property,
    exceptions_of,
    laid_out,
    property_of,
)


class _Counted:
    def __init__(self) -> None:
        self.asked = 0

    @cached_property
    def value(self) -> int:
        """The value."""
        self.asked += 1
        return 7


def test_a_cached_property_is_worked_out_once_for_each_object():
    one, other = _Counted(), _Counted()
    assert (one.value, one.value, other.value) == (7, 7, 7)
    assert (one.asked, other.asked) == (1, 1)
    assert (type(_Counted.value), _Counted.value.__doc__) == (cached_property, "The value.")


def test_instances_of_a_class_that_is_laid_out_share_the_names_of_their_properties():
    class Plain:
        @cached_property
        def one(self) -> int:
            """One."""
            return 1

        @cached_property
        def two(self) -> int:
            """Two."""
            return 2

    class LaidOut(Plain):
        one, two = Plain.one, Plain.two

    laid_out(LaidOut)
    sizes: list[int] = []
    for kind in (Plain, LaidOut):
        instances = [kind() for _ in range(100)]
        assert [(each.one, each.two) for each in instances] == [(1, 2)] * 100
        sizes.append(sys.getsizeof(instances[-1].__dict__))
    assert sizes[1] < sizes[0]


def test_what_has_a_long_key_is_not_kept():
    memory: Memory[object, int] = Memory(10)
    for key in ("x" * 5_000, b"x" * 5_000, ("x",) * 5_000, ("x" * 3_000, ("y" * 3_000,)), frozenset({"x" * 5_000})):
        assert memory.keep(key, 1) == 1
    assert memory == {}
    for index in range(11):
        memory.keep(("x" * 3_000, index), index)
    assert list(memory.values()) == [10]


@pytest.mark.parametrize(
    "key", [("a", (1,) * 3_999), (1, ("b" * 2_000, (2, "c" * 2_000))), (None, frozenset({"d" * 4_000}))]
)
def test_long_parts_of_a_key_count_wherever_they_are(key: tuple[object, ...]):
    memory: Memory[object, int] = Memory(10)
    memory.keep(key, 1)
    memory.keep((1, 2.5, None, True), 2)
    assert list(memory.values()) == [2]


@pytest.mark.parametrize("key", [("a", (1,) * 3_999), (1, ("b" * 2_000, (2, "c" * 2_000))), (None, frozenset({"d" * 4_000}))])
def test_long_parts_of_a_key_count_wherever_they_are(key: tuple[object, ...]):
    memory: Memory[object, int] = Memory(10)
    memory.keep(key, 1)
    memory.keep((1, 2.5, None, True), 2)
    assert list(memory.values()) == [2]


class _Broken:
    def __init__(self) -> None:
        self.calls = 0

    @cached_property
    def analysis(self) -> int:
        self.calls += 1
        raise ValueError("boom")

    @cached_property
    def of_analysis(self) -> int:
        return self.analysis

    @cached_property
    def without_memory(self) -> int:
        self.calls += 1
        raise MemoryError


def test_an_exception_of_a_property_is_kept_and_raised_to_everybody_who_asks():
    broken = _Broken()
    raised = []
    for name in ("of_analysis", "analysis", "of_analysis"):
        with pytest.raises(ValueError, match="boom") as caught:
            getattr(broken, name)
        raised.append(caught.value)
    assert broken.calls == 1
    assert raised[0] is raised[1] is raised[2]
    assert exceptions_of(broken) == raised[:1]
    assert property_of(raised[0]) == "_Broken.analysis"


def test_a_lack_of_memory_is_not_kept():
    broken = _Broken()
    for _ in range(2):
        with pytest.raises(MemoryError):
            _ = broken.without_memory
    assert broken.calls == 2
    assert exceptions_of(broken) == []

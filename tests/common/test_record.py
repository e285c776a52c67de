# SPDX-License-Identifier: Apache-2.0
"""Records behave like frozen dataclasses with slots."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterable

import pytest

from onnx_lint.common.record import Record, field_names, replace


class Point(Record):
    x: int
    y: int = 0
    """The second coordinate."""

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")

    @property
    def mirrored(self) -> Point:
        return Point(self.y, self.x)


class Other(Record):
    x: int
    y: int = 0


class Single(Record):
    value: object


class Empty(Record):
    """No fields."""


def test_fields_are_set_by_position_name_and_default():
    assert [(point.x, point.y) for point in (Point(1), Point(1, 2), Point(y=3, x=4))] == [(1, 0), (1, 2), (4, 3)]
    assert Point(1, 2).mirrored == Point(2, 1)


def test_the_first_instance_is_checked_like_the_others():
    class Fresh(Record):
        x: int

    for _ in range(2):
        with pytest.raises(TypeError, match=r"Fresh.*x"):
            Fresh()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"Fresh.*unexpected keyword argument 'z'"):
            Fresh(1, z=2)  # type: ignore[call-arg]
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            Point(-1)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1, 2), {}, "missing 1 required positional argument: 'c'"),
        (range(8), {}, "takes from 4 to 8 positional arguments but 9 were given"),
        ((1, 2, 3), {"b": 2}, "got multiple values for argument 'b'"),
        ((1, 2, 3), {"z": 2}, "got an unexpected keyword argument 'z'"),
        ((1, 2), {"z": 2}, "got an unexpected keyword argument 'z'"),
    ],
)
def test_wrong_arguments_for_many_fields_are_told(args: Iterable[int], kwargs: dict[str, int], message: str):
    class Wide(Record):
        a: int
        b: int
        c: int
        d: int = 4
        e: int = 5
        f: int = 6
        g: int = 7

    with pytest.raises(TypeError, match=rf"Wide\.__init__\(\) {message}"):
        Wide(*args, **kwargs)


def test_equal_are_records_of_one_class_with_equal_fields():
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Other(1, 2)
    assert Point(1, 2) != (1, 2)
    assert Single((1, 2)) == Single((1, 2))
    assert Empty() == Empty()
    assert len({Point(1), Point(1, 0), Single(1), Empty(), Empty()}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Single([]))


def test_records_are_immutable_and_hold_nothing_else():
    point = Point(1, 2)
    with pytest.raises(AttributeError, match="Point is immutable: cannot assign to 'x'"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="Point is immutable: cannot delete 'x'"):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 3  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")
    assert (point.x, point.y) == (1, 2)


def test_replace_makes_another_and_knows_the_fields():
    point = Point(1, 2)
    assert replace(point, y=5) == Point(1, 5)
    assert point == Point(1, 2)
    assert field_names(Point) == ("x", "y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        replace(point, z=1)
    with pytest.raises(ValueError, match="negative"):
        replace(point, x=-1)


def test_records_survive_pickling_and_copying():
    for record in (Point(1, 2), Single([1]), Empty()):
        assert pickle.loads(pickle.dumps(record)) == record
        assert copy.deepcopy(record) == record
        assert copy.copy(record) == record


def test_the_text_of_a_record_names_its_fields():
    assert (repr(Point(1, 2)), repr(Single("a")), repr(Empty())) == ("Point(x=1, y=2)", "Single(value='a')", "Empty()")


def test_a_clean_run_does_not_import_dataclasses():
    code = "import onnx_lint.engine.lint, onnx_lint.reporters, sys; print('dataclasses' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("count", [1, 100])
def test_all_instances_of_a_class_are_made_alike(count):
    """The first ones without compiling anything, and later ones by a compiled `__init__`."""

    class Checked(Record):
        x: int
        y: str = "y"

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("less than 0")

    made = [Checked(each) for each in range(count)]
    assert [(each.x, each.y) for each in made] == [(each, "y") for each in range(count)]
    assert Checked(1, y="z") == Checked(1, "z")
    with pytest.raises(ValueError, match="less than 0"):
        Checked(-1)
    for arguments, given in [((), {}), ((1, "y", 2), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]:
        with pytest.raises(TypeError, match=r"Checked\.__init__\(\)"):
            Checked(*arguments, **given)


def test_classes_with_as_many_fields_know_their_own():
    class First(Record):
        a: int
        b: int = 2

    class Second(Record):
        b: int
        c: int = 3

    assert (repr(First(1)), repr(Second(b=1))) == (repr(First(b=2, a=1)), repr(Second(c=3, b=1)))
    with pytest.raises(TypeError, match=r"Second\.__init__\(\) got an unexpected keyword argument 'a'"):
        Second(a=1)  # type: ignore[call-arg]

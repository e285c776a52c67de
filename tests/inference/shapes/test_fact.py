# SPDX-License-Identifier: Apache-2.0
"""Facts about values: one object for equal ones."""

from __future__ import annotations

from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, _key, fact


def test_equal_facts_are_one_object():
    assert fact("tensor(int64)", (2,), (3, 4)) is fact("tensor(int64)", (2,), (3, 4))
    assert fact("tensor(int64)", (2,), (3, 4)).bare is fact("tensor(int64)", (2,))
    assert fact(None) is UNKNOWN
    assert fact("") is ABSENT


def test_integers_and_floats_that_are_equal_are_told_apart():
    assert type(fact("tensor(float)", (), (1.0,)).content[0]) is float
    assert type(fact("tensor(float)", (), (1,)).content[0]) is int


def test_only_one_number_is_in_a_key_without_salt():
    assert _key("tensor(float)", (2,), None, None, ()) == ("tensor(float)", (2,), None)
    for shape, content, elements in (
        ((2, 3), None, ()),
        ((), (1,), ()),
        (None, (1,), ()),
        ((2,), (1, 2), ()),
        (None, None, ((2,), (3,))),
    ):
        assert isinstance(_key("tensor(float)", shape, content, None, elements)[1], bytes)

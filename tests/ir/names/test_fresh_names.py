# SPDX-License-Identifier: Apache-2.0
"""New names differ from all that are in use, and from each other."""

from __future__ import annotations

from onnx_lint.ir.names.fresh_names import FreshNames


def test_a_name_gets_a_number_if_something_has_it():
    fresh = FreshNames(["a", "a_1", "b"])
    assert [fresh.like(name) for name in ("a", "a", "c", "c", "b")] == ["a_2", "a_3", "c", "c_1", "b_1"]


def test_a_hundred_thousand_equal_names_take_no_longer_than_others():
    fresh = FreshNames(["n"])
    assert len({fresh.like("n") for _ in range(100_000)}) == 100_000

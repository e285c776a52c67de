# SPDX-License-Identifier: Apache-2.0
"""Keys for the numbers of a file."""

from __future__ import annotations

import pytest
from support.hostile.colliding import colliding, colliding_behind_any_salt

from onnx_lint.common.salted import salted_key, salted_text


@pytest.mark.parametrize("length", [2, 4, 16])
def test_tuples_of_one_hash_have_keys_of_different_hashes(length):
    numbers = colliding(1_000, length)
    assert len({hash(each) for each in numbers}) == 1
    assert len({hash(salted_key(each)) for each in numbers}) == 1_000


def test_a_salt_in_a_tuple_of_numbers_would_not_help():
    numbers = colliding_behind_any_salt(1_000)
    assert len(set(numbers)) == 1_000
    few = [len({hash((f"salt {number}", *each)) for each in numbers}) for number in range(10)]
    assert sorted(few)[5] < 10
    assert len({hash(salted_key(("salt", *each))) for each in numbers}) == 1_000


def test_equal_parts_have_equal_keys_whatever_objects_they_share():
    name = "".join(["ba", "tch"])
    assert salted_key((name, 2**62, (name, None))) == salted_key(("batch", 2**61 * 2, ("batch", None)))


def test_numbers_of_different_types_have_different_keys():
    assert len({salted_key((each,)) for each in (1, 1.0, True, "1", b"1", None, 0.0, -0.0, ())}) == 9


def test_single_numbers_of_one_hash_have_keys_of_different_hashes():
    numbers = [number * (2**61 - 1) for number in range(4)]
    assert len({hash(each) for each in numbers}) == 1
    assert len({hash(salted_text(each)) for each in numbers}) == 4
    assert salted_text(1) != salted_text(b"1")

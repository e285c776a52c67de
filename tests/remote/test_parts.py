# SPDX-License-Identifier: Apache-2.0
"""The parts of a remote object that were fetched."""

from __future__ import annotations

import gc
import warnings

import pytest

from onnx_lint.remote.parts import MEMORY_BYTES, Parts


@pytest.mark.parametrize("size", [10, MEMORY_BYTES // 2, MEMORY_BYTES, MEMORY_BYTES + 1])
def test_parts_are_found_again_in_memory_and_in_the_file(size: int):
    parts = Parts()
    parts.add(size, b"b" * size)
    parts.add(0, b"a" * size)
    parts.add(3 * size, b"c")
    assert parts.at(0, 2 * size) == b"a" * size
    assert parts.at(size + 1, 4) == b"bbbb"
    assert (parts.at(2 * size, 1), parts.at(3 * size, 9)) == (b"", b"c")
    assert parts.next_start(size) == 3 * size
    parts.clear()
    assert parts.at(0, 1) == b""
    parts.add(0, b"new")
    assert parts.at(0, 9) == b"new"


@pytest.mark.parametrize("size", [0, 10, MEMORY_BYTES + 1])
def test_nothing_is_left_open_that_would_print_a_traceback_at_the_end(size: int):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        parts = Parts()
        parts.add(0, b"a" * size)
        parts.clear()
        del parts
        gc.collect()
    assert [str(each.message) for each in seen] == []

# SPDX-License-Identifier: Apache-2.0
"""The memory kept from one model for the next does not grow with anything that authors of models choose."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Mapping

import pytest
from support.wire.wire_bytes import BASE, length, number

from onnx_lint import lint

pytestmark = pytest.mark.slow

LONG = 10_000
MODELS = 5


def _name(index: int) -> str:
    return f"n{index}".ljust(LONG, "z")


def _graph(content: bytes) -> bytes:
    return BASE + length(7, length(2, "g") + content)


def _node(content: bytes) -> bytes:
    return _graph(length(1, length(2, "y") + content))


def _relu_of(value_type: bytes) -> bytes:
    relu = length(1, length(1, "x") + length(2, "y") + length(4, "Relu"))
    return _graph(relu + length(11, length(1, "x") + length(2, value_type)))


def _tensor_type(dimension: bytes) -> bytes:
    return length(1, number(1, 1) + length(2, length(1, dimension)))


def _external(key: str, value: str) -> bytes:
    entry = length(13, length(1, key) + length(2, value))
    return _graph(length(5, number(2, 1) + number(1, 3) + length(8, "t") + number(14, 1) + entry))


SERIES: Mapping[str, Callable[[int], bytes]] = {
    "a dimension variable": lambda index: _relu_of(_tensor_type(length(2, _name(index)))),
    "an opaque type": lambda index: _relu_of(length(7, length(1, _name(index)) + length(2, "n"))),
    "a sequence of tensors": lambda index: _relu_of(length(4, length(1, _tensor_type(length(2, _name(index)))))),
    "a denotation": lambda index: _relu_of(_tensor_type(length(3, _name(index)))),
    "an operator": lambda index: _node(length(4, _name(index))),
    "a domain": lambda index: _node(length(4, "Relu") + length(7, _name(index))),
    "an imported domain": lambda index: _graph(b"") + length(8, length(1, _name(index)) + number(2, 1)),
    "an attribute": lambda index: _node(length(4, "Relu") + length(5, length(1, _name(index)) + number(20, 2))),
    "a string": lambda index: _node(
        length(4, "Conv") + length(5, length(1, "auto_pad") + number(20, 3) + length(4, _name(index)))
    ),
    "a list": lambda index: _node(
        length(4, "Transpose") + length(5, length(1, "perm") + number(20, 7) + length(8, b"\1" * (LONG + index)))
    ),
    "omitted inputs": lambda index: _node(length(4, "Sum") + length(1, "") * (LONG // 2 + index)),
    "inputs": lambda index: _node(length(4, "Sum") + length(1, "x") * (LONG // 2 + index)),
    "a shape": lambda index: _graph(
        length(5, number(2, 1) + length(8, "t") + number(1, 1) * (LONG // 2) + number(1, index) + length(9, "1234"))
    ),
    "a location": lambda index: _external("location", _name(index)),
    "a key": lambda index: _external(_name(index), "x"),
    "a checksum": lambda index: _external("checksum", _name(index)),
    "metadata": lambda index: _graph(b"") + length(14, length(1, _name(index)) + length(2, "x")),
}


@pytest.mark.parametrize("name", SERIES)
def test_nothing_long_outlives_its_model(name: str):
    make = SERIES[name]
    for index in range(10):  # records compile their methods after a few uses
        lint(make(MODELS + index))
    gc.collect()
    tracemalloc.start()
    try:
        for index in range(MODELS):
            lint(make(index))
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The last model may leave something; so little that nothing of the others is there.
    assert kept < 3 * LONG

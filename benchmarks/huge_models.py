# SPDX-License-Identifier: Apache-2.0
"""Writes models with gigabytes of weights, without building them in memory; the weights are holes of a sparse file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from large_models import FLOAT, declare, model

from onnx_lint import schema
from onnx_lint.schema.wire import WireType, encode_varint

TENSORS = 64
"""The number of initializers that share the weights: about as many as a small convolutional network has."""
_ROWS = 1024
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9


def _key(number: int, length: int) -> bytes:
    """Return the tag and the length that come before `length` bytes of the length-delimited field `number`."""
    return encode_varint(number << 3 | WireType.LEN) + encode_varint(length)


def _chain() -> Any:
    """A model that is a chain of MatMul nodes, without its weights."""
    made = model(FLOAT, "x0", 1, _ROWS)
    for index in range(TENSORS):
        inputs = [f"x{index}", f"w{index}"]
        made.graph.node.add(name=f"node_{index}", op_type="MatMul", input=inputs, output=[f"x{index + 1}"])
    declare(made.graph.output, f"x{TENSORS}", FLOAT, 1, _ROWS)
    return made


def _weight(index: int, columns: int) -> Any:
    dims = [_ROWS, columns] if index % 2 == 0 else [columns, _ROWS]
    return schema.message("TensorProto")(name=f"w{index}", data_type=FLOAT, dims=dims)


def write_inlined(path: Path, size: int) -> None:
    """Write a model whose initializers hold `size` bytes of zeros in raw_data."""
    columns = size // TENSORS // 4 // _ROWS
    payload = columns * _ROWS * 4
    chain = _chain()
    graph = chain.graph.SerializeToString()
    chain.ClearField("graph")
    heads = [_weight(index, columns).SerializeToString() + _key(_RAW_DATA, payload) for index in range(TENSORS)]
    keys = [_key(_INITIALIZER, len(head) + payload) for head in heads]
    weights = sum(len(key) + len(head) + payload for key, head in zip(keys, heads, strict=True))
    with path.open("wb") as file:
        file.write(chain.SerializeToString())
        file.write(_key(_GRAPH, len(graph) + weights) + graph)
        for key, head in zip(keys, heads, strict=True):
            file.write(key + head)
            file.seek(payload, 1)
        file.truncate()

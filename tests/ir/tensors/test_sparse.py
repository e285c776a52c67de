# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors, compared with a plain loop."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.models.tensor_samples import TENSOR_SETTINGS
from support.project.fixture_files import lint

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load


def _sparse(rows: Any, dims: list[int], values: Any) -> bytes:
    model = schema.message("ModelProto")()
    model.ir_version = 14
    sparse = model.graph.sparse_initializer.add()
    sparse.dims.extend(dims)
    sparse.values.name, sparse.values.data_type = "s", 1
    sparse.values.dims.append(len(values))
    sparse.values.raw_data = np.asarray(values, "<f4").tobytes()
    sparse.indices.data_type = 7
    sparse.indices.dims.extend(rows.shape)
    sparse.indices.int64_data.extend(int(number) for number in rows.ravel())
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("way", ["in the message", "in the source", "in small pieces"])
@pytest.mark.parametrize("seed", range(6))
def test_sparse_indices_are_those_that_a_plain_loop_finds(way: str, seed: int, request: pytest.FixtureRequest):
    generator = random.Random(seed)
    dims = [7, 11, 13]
    positions = sorted(generator.sample(range(7 * 11 * 13), 500))
    rows = np.stack(np.unravel_index(positions, dims), axis=1)
    for _ in range(seed):
        row, column = generator.randrange(500), generator.randrange(3)
        rows[row, column] = generator.choice([-1, 0, 6, 13, 100])
    values = [generator.choice([0.0, -0.0, 1.0, 2.0]) for _ in positions]
    listed = [tuple(map(int, row)) for row in rows]
    outside = [i for i, row in enumerate(listed) if any(not 0 <= n < d for n, d in zip(row, dims, strict=True))]
    unordered = [i for i in range(1, 500) if listed[i] <= listed[i - 1]]
    zeros = [i for i, value in enumerate(values) if struct.pack("<f", value) == bytes(4)]
    if way != "in the message":
        request.getfixturevalue("values_stay_in_the_source")
    if way == "in small pieces":
        request.getfixturevalue("small_pieces")

    found = {each.rule: each.message for each in lint(load(BytesSource(_sparse(rows, dims, values))), TENSOR_SETTINGS)}

    def expected(places: list[int], text: Callable[[int], str]) -> str | None:
        more = f" ({len(places) - 1} more like it)" if len(places) > 1 else ""
        return f"{text(places[0])}{more}" if places else None

    def shown(place: int) -> str:
        return str(list(listed[place]))

    def order(place: int) -> str:
        if listed[place] == listed[place - 1]:
            return f"index {place} of sparse tensor 's' of main graph repeats {shown(place)}"
        return f"index {place} of sparse tensor 's' of main graph is {shown(place)}, but comes after {shown(place - 1)}"

    assert found.get("sparse-index-out-of-range") == expected(
        outside,
        lambda i: f"index {i} of sparse tensor 's' of main graph is {shown(i)}, outside the dense shape [7, 11, 13]",
    )
    assert found.get("unordered-sparse-indices") == expected(unordered, order)
    assert found.get("explicit-default-value") == expected(
        zeros, lambda i: f"value {i} of sparse tensor 's' of main graph is 0, which is the default"
    )

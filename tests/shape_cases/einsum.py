# SPDX-License-Identifier: Apache-2.0
"""Cases of Einsum."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    yield case((2, 3), (3, 4), equation="ij,jk->ik")
    yield case((2, 3), (3, 4), equation="ij, jk")
    yield case((2, 5, 3), (1, 3, "K"), equation="...ij,...jk->...ik")
    yield case((None, 5, 3), ("K", 3, 4), equation="...ij,...jk->...ik")
    yield case(("N", 5, 3), ("K", 3, 4), equation="...ij,...jk->...ik")
    yield case(("N", 5, 3), (1, 3, 4), equation="...ij,...jk->...ik")
    yield case((7, 2, 3), equation="...ii ->...i")
    yield case((3, 3), equation="ii")
    yield case((7, 3, 3), equation="...ii")
    yield case(("N", 3), ("N",), (), equation="bA,b,->A")
    yield case((2, 3, 4), (4, 3), equation="b...,...->b...")
    yield case((2, 3), (3, 4), equation="ij,jk->ikl")
    yield case((2, 3), (3, 4), equation="ij->i")


EXPLAINED = (
    Explained(
        "Einsum",
        r"output 0: onnx .*onnx-lint \(.*(None|'K')[,)]",
        "the ellipsis broadcasts: a variable may be 1, and another dimension decides; onnx takes the first",
    ),
    Explained("Einsum", "onnx-lint: Unequal", "a letter is one axis; onnx does not compare sizes"),
    Explained(
        "Einsum", "onnx: .*(label missing|Number of input tensors)", "faults of the equation are for another rule"
    ),
    Explained("Einsum", "onnx: .*Rank of input [01] .* does not match", "this equation has another fault"),
)

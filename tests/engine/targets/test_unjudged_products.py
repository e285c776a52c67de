# SPDX-License-Identifier: Apache-2.0
"""Products of float16 that end the process of ONNX Runtime are not said to load, and all others are."""

from __future__ import annotations

from itertools import permutations

import pytest
from support.models.asked_releases import states

ONES = ", ".join(["1"] * 72)
WEIGHTS = f"float16[24, 3] w = {{{ONES}}}"
PRODUCT = "(float16[5, 2, 24] x%s) => (float16[2, 5, 3] y) <%s> { t = Transpose<perm = [1, 0, 2]>(x) %s }"
SCALE, BIAS = "float16[1] s = {2}", "float16[3] b = {1, 2, 3}"
OF_BATCH = f"float16[2, 24, 3] w = {{{ONES}, {ONES}}}"
LOADS, CRASHES = [True] * 4, [True, True, None, None]


def product(body: str, constants: str = WEIGHTS, inputs: str = "") -> list[bool | None]:
    return states(PRODUCT % (inputs, constants, body), imports=', "com.microsoft": 1')


@pytest.mark.parametrize(
    "body",
    [
        "y = MatMul(t, w)",
        "i = Identity(t) y = MatMul(i, w)",
        "i = Dropout(t) y = MatMul(i, w)",
        "i = Cast<to = 10>(t) y = MatMul(i, w)",
        "v = Identity(w) y = MatMul(t, v)",
        "i = Mul(t, s) y = MatMul(i, w)",
        "m = MatMul(t, w) y = Mul(m, b)",
        "y = com.microsoft.FusedMatMul(t, w)",
    ],
)
def test_a_product_of_a_transpose_and_a_constant(body: str) -> None:
    constants = ", ".join([WEIGHTS, *([SCALE] if ", s)" in body else []), *([BIAS] if ", b)" in body else [])])
    assert product(body, constants) == CRASHES
    assert (
        states(
            (PRODUCT % ("", constants, body)).replace("float16", "float").replace("to = 10", "to = 1"),
            imports=', "com.microsoft": 1',
        )
        == LOADS
    )


@pytest.mark.parametrize(
    ("body", "constants"),
    [
        ("i = Relu(t) y = MatMul(i, w)", WEIGHTS),
        ("m = MatMul(t, w) y = Add(b, m)", f"{WEIGHTS}, {BIAS}"),
        ("m = MatMul(t, w) y = Add(m, b)", f"{WEIGHTS}, {BIAS}"),
        ("y = MatMul(t, w)", OF_BATCH),
    ],
)
def test_other_products(body: str, constants: str) -> None:
    assert product(body, constants) == LOADS


def test_a_bias_is_fused_if_the_sizes_are_known() -> None:
    for sizes in ("n, 2, 24", "5, n, 24"):
        graph = PRODUCT.replace("5, 2, 24", sizes).replace("2, 5, 3", "a, b, c")
        assert states(graph % ("", f"{WEIGHTS}, {BIAS}", "m = MatMul(t, w) y = Add(m, b)")) == CRASHES
    assert product("m = MatMul(t, w) y = Add(m, s)", f"{WEIGHTS}, {SCALE}") == CRASHES


def test_an_input_is_no_constant_and_one_with_a_default_may_be() -> None:
    given = PRODUCT.replace(" <%s>", "") % (", float16[24, 3] w", "y = MatMul(t, w)")
    assert states(given) == LOADS
    assert product("y = MatMul(t, w)", WEIGHTS, ", float16[24, 3] w") == CRASHES


def test_permutations_of_three_axes() -> None:
    found = set()
    for order in permutations(range(3)):
        inner = [5, 2, 24][order[2]]
        ones = ", ".join(["1"] * inner)
        graph = f"""(float16[5, 2, 24] x) => (float16[a, b, c] y) <float16[{inner}, 1] w = {{{ones}}}>
        {{ t = Transpose<perm = [{", ".join(map(str, order))}]>(x) y = MatMul(t, w) }}"""
        if states(graph) != LOADS:
            found.add(order)
    assert found == {(1, 0, 2), (1, 2, 0)}


def test_a_product_in_a_function() -> None:
    function = """<domain: "f", opset_import: ["": 17]> M (a, b) => (c) { c = MatMul(a, b) }"""
    graph = PRODUCT % ("", WEIGHTS, "y = f.M(t, w)") + function
    assert states(graph, imports=', "f": 1') == CRASHES

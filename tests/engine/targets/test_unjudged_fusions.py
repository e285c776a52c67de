# SPDX-License-Identifier: Apache-2.0
"""Nodes that ONNX Runtime fuses are not said to load."""

from __future__ import annotations

import pytest
from support.models.asked_releases import states

CONV = "(float[1, 16, 4, 4] x, float[16, 16, 1, 1] w) => (float[1, 16, 4, 4] y) { y = %s<%s>(x, w) }"
DFT = "(float[1, 5, 2] x) => (float[1, n, 1] y) { y = DFT<axis = 1, inverse = %d, onesided = %d>(x) }"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('activation = "Relu"', [True] * 4),
        ('activation = "HardSwish"', [None, None, None, True]),
        ('activation = "Gelu"', [None] * 4),
        ('activation = "Clip", activation_params = [0.0, 1.0]', [True] * 4),
        ('activation = "Clip"', [None] * 4),
    ],
)
@pytest.mark.parametrize("operator", ["com.microsoft.nchwc.Conv", "com.microsoft.FusedConv"])
def test_kernels_know_some_activations(operator: str, attributes: str, expected: list[bool | None]) -> None:
    domain = operator.rpartition(".")[0]
    found = states(CONV % (operator, attributes), imports=f', "{domain}": 1')
    assert [each or None for each in found] == expected  # for FusedConv there are rows that refuse HardSwish


def test_older_releases_infer_no_inverse_of_one_side() -> None:
    assert states(DFT % (1, 1)) == [None, None, None, True]
    assert states((DFT % (1, 0)).replace("n, 1", "n, 2")) == [True] * 4


LAYER = """(float[1, 1, 3] x) => (float[1, 1, 2] y)
<float[1, 1, 3] k = {1, 1, 1}, float[1, 2, 3] w = {1, 1, 1, 1, 1, 1}, float[1, 2, 2] r = {1, 1, 1, 1}>
{ %s = RNN<hidden_size = 2>(%s, w, r) }"""


@pytest.mark.parametrize(
    ("outputs", "operand", "expected"),
    [
        ('"", y', "k", [None, None, None, True]),
        ('"", y', "x", [True] * 4),
        ("z, y", "k", [True] * 4),
    ],
)
def test_older_releases_compute_no_layer_of_constants_without_the_first_output(
    outputs: str, operand: str, expected: list[bool | None]
) -> None:
    assert states(LAYER % (outputs, operand)) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("ReduceMax<axes = [0]>(k)", [None, None, True, True]),
        ("ReduceMax<axes = [0]>(i) i = Relu(k)", [None, None, True, True]),
        ("ReduceMax<axes = [1]>(k)", [True] * 4),
        ("ReduceMax<axes = [0]>(x)", [True] * 4),
        ("ReduceMin<axes = [0]>(k)", [True] * 4),
        ("ArgMax<axis = 0>(k)", [None, None, None, True]),
        ("ArgMin<axis = 1>(k)", [True] * 4),
    ],
)
def test_older_releases_reduce_no_constant_of_nothing(node: str, expected: list[bool | None]) -> None:
    last, _, first = node.partition(") ")
    kind = "int64" if "Arg" in node else "float"
    graph = f"(float[0, 3] x) => ({kind}[a, b] y) <float[0, 3] k = {{}}> {{ {first} y = {last.rstrip(')')}) }}"
    assert states(graph) == expected


@pytest.mark.parametrize(
    ("kind", "dividend", "divisor", "expected"),
    [
        ("int32", -(2**31), -1, None),
        ("int64", -(2**63), -1, None),
        ("int64", -(2**31), -1, True),
        ("int64", -(2**63), 1, True),
    ],
)
def test_the_lowest_integer_divided_by_minus_1_ends_the_process(
    kind: str, dividend: int, divisor: int, expected: bool | None
) -> None:
    constants = f"<{kind}[1] a = {{{dividend}}}, {kind}[1] b = {{{divisor}}}>"
    graph = f"({kind}[1] x) => ({kind}[1] y) {constants} {{ y = Div(%s, b) }}"
    assert states(graph % "a") == [expected] * 4
    assert states(graph % "x") == [True] * 4


def test_a_constant_of_many_gib_may_not_fit_into_memory() -> None:
    for size, older in ((2**40, None), (2**20, True)):
        graph = f"(float[1] x) => (float[n] y) <int64[1] s = {{{size}}}> {{ y = ConstantOfShape(s) }}"
        assert states(graph) == [older, older, older, True]


PARAMETER = '<domain: "f", opset_import: ["": 17]> F <k> (a) => (b) { b = %s }'


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ("MaxPool<kernel_shape = [2, 2], pads: ints = @k>(a)", "[2, 2, 2, 2]"),
        ("LRN<size: int = @k>(a)", "4"),
        ("RandomNormalLike<dtype: int = @k>(a)", "10"),
    ],
)
def test_an_attribute_that_a_call_gives_may_be_refused(node: str, value: str) -> None:
    graph = f"(float[1, 3, 4, 4] x) => (float[a, b, c, d] y) {{ y = f.F<k = {value}>(x) }} {PARAMETER % node}"
    assert states(graph.replace("float[a", "float16[a") if "dtype" in node else graph, imports=', "f": 1') == [None] * 4


@pytest.mark.parametrize("operator", ["MaxPool<kernel_shape = [2, 2]>", "GlobalAveragePool"])
def test_a_pool_of_no_channels(operator: str) -> None:
    pool = "(float[1, %d, 4, 4] x) => (float[a, b, c, d] y) { y = %s(x) }"
    assert states(pool % (0, operator)) == [None] * 4
    assert states(pool % (1, operator)) == [True] * 4


MEL = """(%sint64 r) => (float[a, b] y) <int64 n = {8}, int64 d = {16}, float l = {0}, float u = {4}%s>
{ y = MelWeightMatrix(n, d, r, l, u) }"""


def test_older_releases_compute_a_mel_weight_matrix_of_constants() -> None:
    assert states(MEL % ("", "")) == [True] * 4
    assert states(MEL.replace("(%sint64 r)", "()%s") % ("", ", int64 r = {16}")) == [None, None, None, True]


@pytest.mark.parametrize(("indices", "expected"), [("[1, 3, 4, 4]", True), ("[n]", None), ("[]", None)])
def test_indices_of_a_max_unpool(indices: str, expected: bool | None) -> None:
    graph = f"(float[1, 3, 4, 4] x, int64{indices} i) => (float[a, b, c, d] y)"
    assert states(f"{graph} {{ y = MaxUnpool<kernel_shape = [2, 2]>(x, i) }}")[:3] == [expected] * 3


TREE = """(float[n, 3] x) => (float[n, 1] y) { y = ai.onnx.ml.TreeEnsembleRegressor<n_targets = 1,
nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], nodes_values = [0.5, 0.0, 0.0],
nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [%d, 0, 0],
target_ids = [0, 0], target_nodeids = [1, 2], target_treeids = [0, 0], target_weights = [1.0, 2.0]>(x) }"""


@pytest.mark.parametrize(("end", "expected"), [(2, [True] * 4), (1, [None, None, True, True])])
def test_older_releases_refuse_trees_that_share_nodes(end: int, expected: list[bool | None]) -> None:
    assert states(TREE % end, imports=', "ai.onnx.ml": 3') == expected

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from onnx_lint.model import Graph, Model, Node, Proto
from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.operators.mismatch import attributes_with
from onnx_lint.model.tensors import describe_shape
from onnx_lint.model.types.stated_dims import Dims, stated_dims
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import quote


@rule(clause="NOD-7b", since="0.1.0", needs="node", security=("CWE-125", "CWE-369", "CWE-787"))
def impossible_operator_extent(model: Model) -> Iterator[Finding]:
    """A node states extents that no operands can have, or that its operands do not have.

    ### Why it matters

    Readers take these numbers for true. A stride of 0 has been divided by, a kernel of more axes than the input has
    been written beyond its buffer, and weights have been read beyond their end where N, K and the number of bits say
    that there are more of them.

    ### What is allowed

    - Convolution and pooling: `strides`, `dilations` and `kernel_shape` of positive numbers, one for each spatial axis
      of the input; `group` positive; weights of as many dimensions as the input.
    - Split: `num_outputs` is the number of the node's outputs.
    - RNN, GRU and LSTM: `hidden_size` positive; input, weights and recurrence weights of three dimensions.
    - MatMulNBits of ONNX Runtime: weights of as many bytes as `N`, `K`, `bits` and `block_size` make.
    - SVMClassifier and SVMRegressor: as many support vectors, coefficients and class labels as `vectors_per_class` or
      `n_supports` say.

    Dimensions are those that the graph states for inputs, initializers and in value_info; where it states none, nothing
    is judged that depends on them, and neither is a reference to a parameter of a function.

    ### Example

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [0, 0] } }
    ```
    """
    judged: dict[Graph, list[tuple[Judge, set[NodeForm]]]] = {}
    for alike in model.operators.verified_nodes:
        judge = _JUDGES.get((alike.operator.domain, alike.operator.op_type))
        if judge is not None:
            for graph, forms in alike.forms.items():
                judged.setdefault(graph, []).append((judge, forms))
    for graph, groups in judged.items():
        yield from _in_graph(graph, groups)


Judge = Callable[[Node, dict[str, Dims]], Iterator[Finding]]


def _in_graph(graph: Graph, groups: list[tuple[Judge, set[NodeForm]]]) -> Iterator[Finding]:
    members: list[list[int]] = [[] for _ in groups]
    member_of = {form: members[number] for number, (_, forms) in enumerate(groups) for form in forms}
    for index, form in enumerate(graph.forms):
        if form in member_of:
            member_of[form].append(index)
    inputs = graph.node_inputs
    dims = stated_dims(graph, {name for indices in members for index in indices for name in inputs[index] if name})
    # Large models repeat a few layers: nodes of one form whose inputs have the same dimensions have one verdict.
    sound: set[tuple[object, ...]] = set()
    for (judge, _), indices in zip(groups, members, strict=True):
        for index in indices:
            like = graph.forms[index], *map(dims.get, inputs[index])
            if like not in sound:
                findings = list(judge(graph.nodes[index], dims))
                yield from findings
                if not findings:
                    sound.add(like)


def _attribute(node: Node, name: str, type_name: str) -> Proto | None:
    """The attribute of this name and type, if the node has one with a value of its own."""
    for proto in node.attribute_protos:
        if proto.name == name:
            return proto if proto.type == ATTRIBUTE_TYPE_CODES[type_name] and not proto.ref_attr_name else None
    return None


def _number(node: Node, name: str) -> int | None:
    proto = _attribute(node, name, "INT")
    return None if proto is None else int(proto.i)


def _numbers(node: Node, name: str) -> Sequence[int] | None:
    proto = _attribute(node, name, "INTS")
    numbers: Sequence[int] | None = None if proto is None else proto.ints
    return numbers


def _finding(node: Node, name: str, what: str, allowed: str) -> Finding:
    index = next(attributes_with(node, {name}))
    message = f"attribute {quote(name)} of {node.describe()} {what}"
    return Finding(node.place.at("attribute", index), message, allowed=allowed, subject=name)


def _dims_of(node: Node, index: int, dims: dict[str, Dims]) -> Dims | None:
    return dims.get(node.inputs[index]) if index < len(node.inputs) else None


_SPATIAL = ("kernel_shape", "strides", "dilations")


def _window(weights: int | None) -> Judge:
    """Judges an operator that moves a window over input 0; `weights`: which input holds the weights, if one does."""

    def judge(node: Node, dims: dict[str, Dims]) -> Iterator[Finding]:
        data = _dims_of(node, 0, dims)
        for name in _SPATIAL:
            numbers = _numbers(node, name)
            if numbers is None:
                continue
            if numbers and min(numbers) < 1:
                yield _finding(node, name, f"holds {min(numbers)}", "positive numbers")
            elif data is not None and len(data) >= 2 and len(numbers) != len(data) - 2:
                what = f"has {_counted(len(numbers), 'number')}, input 0 has {_counted(len(data), 'dimension')}"
                yield _finding(node, name, what, f"{len(data) - 2}, one for each spatial axis")
        group = _number(node, "group")
        if group is not None and group < 1:
            yield _finding(node, "group", f"is {group}", "a positive number")
        kernel = None if weights is None else _dims_of(node, weights, dims)
        if data is not None and kernel is not None and weights is not None and len(data) != len(kernel):
            what = f"input {weights} of {node.describe()} has {_counted(len(kernel), 'dimension')}"
            yield Finding(
                node.place.at("input", weights),
                f"{what}, input 0 has {len(data)}",
                allowed="weights of as many dimensions as the input",
            )

    return judge


def _split(node: Node, _: dict[str, Dims]) -> Iterator[Finding]:
    number = _number(node, "num_outputs")
    if number is not None and number != len(node.outputs):
        what = f"is {number}, the node has {_counted(len(node.outputs), 'output')}"
        yield _finding(node, "num_outputs", what, "the number of the outputs")


_RECURRENT_RANK = 3


def _recurrent(node: Node, dims: dict[str, Dims]) -> Iterator[Finding]:
    hidden = _number(node, "hidden_size")
    if hidden is not None and hidden < 1:
        yield _finding(node, "hidden_size", f"is {hidden}", "a positive number")
    for index in range(3):
        found = _dims_of(node, index, dims)
        if found is not None and len(found) != _RECURRENT_RANK:
            yield Finding(
                node.place.at("input", index),
                f"input {index} of {node.describe()} has {_counted(len(found), 'dimension')}",
                allowed="three dimensions",
            )


def _quantized(node: Node, dims: dict[str, Dims]) -> Iterator[Finding]:
    weights = _dims_of(node, 1, dims)
    rows, columns, block = (_number(node, name) for name in ("N", "K", "block_size"))
    bits = _number(node, "bits") if "bits" in {proto.name for proto in node.attribute_protos} else 4
    if weights is None or None in weights or rows is None or columns is None or block is None or bits is None:
        return
    if min(rows, columns, block, bits) < 1:
        return
    needed = rows * -(-columns // block) * (block * bits // 8)
    there = math.prod(size for size in weights if size is not None)
    if there < needed:
        yield Finding(
            node.place.at("input", 1),
            f"input 1 of {node.describe()} is {describe_shape([size or 0 for size in weights])}, {there:,} bytes; "
            f"N={rows}, K={columns}, bits={bits} and block_size={block} stand for {needed:,}",
            allowed=f"{needed:,} bytes",
        )


def _support_vectors(node: Node, _: dict[str, Dims]) -> Iterator[Finding]:
    per_class = _numbers(node, "vectors_per_class")
    number = sum(per_class) if per_class is not None else _number(node, "n_supports")
    if not number:
        return  # a linear model has no support vectors
    source = "vectors_per_class" if per_class is not None else "n_supports"
    if number < 0 or (per_class is not None and min(per_class) < 0):
        yield _finding(node, source, "is negative", "numbers of support vectors")
        return
    coefficients_each = max(len(per_class) - 1, 1) if per_class is not None else 1
    for name, unit in (("support_vectors", 0), ("coefficients", coefficients_each)):
        proto = _attribute(node, name, "FLOATS")
        count = None if proto is None else len(proto.floats)
        if count is None or (count == number * unit if unit else count % number == 0 and count):
            continue
        what = f"has {_counted(count, 'number')}, {quote(source)} says that there are {number} support vectors"
        yield _finding(node, name, what, f"{number * unit:,}" if unit else f"a multiple of {number}")
    for name, type_name in (("classlabels_ints", "INTS"), ("classlabels_strings", "STRINGS")):
        proto = _attribute(node, name, type_name)
        if per_class is None or proto is None:
            continue
        count = len(proto.ints) if type_name == "INTS" else len(proto.strings)
        if count and count != len(per_class):
            what = f"has {_counted(count, 'label')}, {quote(source)} has {len(per_class)} classes"
            yield _finding(node, name, what, f"{len(per_class)}, one for each class")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_JUDGES: dict[tuple[str, str], Judge] = {
    **{("", name): _window(1) for name in ("Conv", "ConvInteger", "ConvTranspose", "DeformConv")},
    ("", "QLinearConv"): _window(3),
    **{("", name): _window(None) for name in ("AveragePool", "LpPool", "MaxPool", "MaxUnpool")},
    ("", "Split"): _split,
    **{("", name): _recurrent for name in ("GRU", "LSTM", "RNN")},
    ("com.microsoft", "MatMulNBits"): _quantized,
    **{("ai.onnx.ml", name): _support_vectors for name in ("SVMClassifier", "SVMRegressor")},
}

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.ir.columns.attribute_kinds import FLOAT_KINDS
from onnx_lint.ir.columns.tensor_encodings import may_be_nan
from onnx_lint.ir.tensors.numbers import FLOAT, Constants, element_is, raw_numbers, small_constant
from onnx_lint.model import Graph, Model, Node, Place, holds_numbers
from onnx_lint.model.constants import constants_of, large_tensors, of_wrong_size
from onnx_lint.rule import Finding, on_elements, on_numbers, replace, reworded, rule
from onnx_lint.spec.element_types import FLOATING_TYPES
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.records import record_of
from onnx_lint.wording import MAX_LISTED_ELEMENTS

if TYPE_CHECKING:
    from onnx_lint.model import StoredTensor, Tensor

_ReadNames = dict[int, set[str]]
"""By the identity of a graph the names that its nodes compute with."""

_SCALES: Final[Mapping[str, Sequence[int]]] = {
    "QuantizeLinear": (1,),
    "DequantizeLinear": (1,),
    "QLinearConv": (1, 4, 6),
    "QLinearMatMul": (1, 4, 6),
}
"""The inputs that are scales, by operator. Records have those of com.microsoft."""

_MAX_INPUTS: Final = 3_000
"""The most inputs of a node whose scales are read."""


@rule(
    clause=("HYG-15", "HYG-16"), since="0.2.0", about=holds_numbers, needs="tensor", flag=("--verify-numbers", "verify")
)
def impossible_number(model: Model, *, verify: bool = False) -> Iterator[Finding]:
    """A constant number cannot be meant: a NaN, or a scale that is 0, negative or infinite.

    ### How to fix

    Find the step that wrote the number, and repeat it.

    - A scale of 0: calibrate with data that reach this layer, or leave the layer unquantized.
    - A NaN after a conversion to float16: clip the weights first, or keep the layer in float32 (`op_block_list` of
      `onnxconverter_common.float16`).
    - A NaN after training: load an earlier checkpoint.

    ### Example

    ```
    initializer { name: "scale" data_type: 1 float_data: 0 }
    initializer { name: "zero" data_type: 3 int32_data: 0 }
    node { op_type: "QuantizeLinear" input: "x" input: "scale" input: "zero" output: "y" }
    ```

    Corrected:

    ```
    initializer { name: "scale" data_type: 1 float_data: 0.02 }
    initializer { name: "zero" data_type: 3 int32_data: 0 }
    node { op_type: "QuantizeLinear" input: "x" input: "scale" input: "zero" output: "y" }
    ```

    ### Why it matters

    The model loads and runs, and its results are NaN, infinite or all equal. Nothing says which layer is the cause.

    ### Details

    - A constant scale of a quantized operator must be positive and finite.
    - The scales of blocks (`MatMulNBits` and its relatives, `QMoE`, `block_size`) may be 0 or negative, because
      quantizers write such scales.
    - A NaN is reported in an initializer, in the value of a Constant, and in an attribute of numbers.
    - Tensors above 64 KiB, and those in other files, are read only with `verify` (`--verify-numbers`).
    - In a store, tensors from 4 KiB on are also read only with `verify`, because each may cost a request.
    - A NaN that marks missing values is not reported: in Imputer, LabelEncoder, TreeEnsemble, ConstantOfShape, and in
      tensors that only Where, Equal and IsNaN read, or nothing. Nodes that only move elements may be between them.
    - Element types of 8 bits and fewer are not read.
    - A scale that several operators read is one finding with all these nodes.
    - A node whose operands have wrong types is left out: its scale may be another input (`mismatched-operand-type`).
    - A tensor with a wrong number of values is not read.
    - Reported by other rules: infinite weights, overflowing casts and negative variances (`degenerate-number`), a wrong
      number of values (`tensor-size-mismatch`).
    """
    yield from _in_tensors(model, verify=verify)
    yield from _in_attributes(model)
    yield from _with_one_cause_each(_wrong_scales(model, constants_of(model, verify=verify)))


def _wrong_scales(model: Model, constants: Constants) -> Iterator[Finding]:
    refused: set[Place] | None = None
    for graph in model.graphs:
        scaled = {form: found for form in graph.form_counts if (found := _scales_of(form.domain, form.op_type))}
        if not scaled:
            continue
        for node in graph.nodes_of(scaled.keys()):
            wrong = list(_scales(node, constants, *scaled[node.form]))
            if wrong and refused is None:
                refused = {each.node.place for each in model.value_flow.operands}
            if refused is None or node.place not in refused:
                yield from wrong


def _scales_of(domain: str, op_type: str) -> tuple[Sequence[int], bool] | None:
    """Return the inputs of an operator that are scales, and whether they are those of blocks; None if it has none."""
    if op_type in _SCALES:
        return _SCALES[op_type], False
    record = record_of(op_type) if domain == _RECORDED else None
    names = record.scales or record.block_scales if record is not None else ""
    schema = BUILT_IN.find(domain, op_type, 1) if names else None
    if record is None or schema is None:
        return None
    indices = [index for index, each in enumerate(schema.inputs) if each.name in names.split()]
    repeated = record.repeated.split()
    starts = [index for index, each in enumerate(repeated, len(schema.inputs) - 1) if each in names.split()]
    indices += [index for start in starts for index in range(start, _MAX_INPUTS, len(repeated))]
    return indices, bool(record.block_scales)


_RECORDED: Final = "com.microsoft"


def _scales(node: Node, constants: Constants, indices: Sequence[int], of_blocks: bool) -> Iterator[Finding]:
    inputs = node.inputs
    is_of_blocks = of_blocks or any(each.name == "block_size" and each.i for each in node.attribute_protos)
    for index in indices:
        if index >= len(inputs) or (not is_of_blocks and _is_single_scale(node.graph, inputs[index])):
            continue
        scales = constants.of(node.graph, inputs[index])
        if scales is None or scales.has_nan:  # a NaN is another finding
            continue
        if scales.greatest == math.inf or (scales.least <= 0 and not is_of_blocks):
            yield on_numbers(scales, _is_no_scale, partial(_of_scale, node, index, scales.place))


def _is_no_scale(number: float) -> bool:
    return number == math.inf or number <= 0


def _of_scale(node: Node, index: int, place: Place, said: str, which: str) -> Finding:
    return Finding(
        place,
        f"{said}, but it is a scale: input {index} of {node.describe()}",
        clause="HYG-15",
        allowed="positive finite scales",
        cause=f"{node.op_type} {said.rpartition(' is ')[2]}",
        inner=which,
        user=node.place.at("input", index),
    )


def _is_single_scale(graph: Graph, name: str) -> bool:
    """Return whether a name is that of an initializer with one number, which may be a scale.

    Nearly all scales are such initializers (docs/performance.md: single-scales).
    """
    index = graph.initializer_index.get(name)
    if index is None:
        return False
    tensor = graph.message_at("initializer", index)
    raw = tensor.raw_data
    numbers = struct.unpack("<f", raw) if len(raw) == 4 else tensor.float_data
    return tensor.data_type == FLOAT and len(numbers) == 1 and 0 < numbers[0] < math.inf


def _with_one_cause_each(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings; those at one scale, which several operators may read, get one cause."""
    at_scale: dict[Place, list[Finding]] = {}
    for finding in findings:
        at_scale.setdefault(finding.place, []).append(finding)
    for same in at_scale.values():
        cause = "; ".join(sorted({str(each.cause) for each in same}))
        yield from (reworded(each, partial(replace, cause=cause)) for each in same)


def _in_tensors(model: Model, *, verify: bool) -> Iterator[Finding]:
    """Yield the findings on tensors with NaN."""
    stored = large_tensors(model) if verify else lambda tensor: None
    computed: _ReadNames = {}
    left_out = of_wrong_size(model)
    for tensor in model.tensors.of(FLOATING_TYPES, may_be_nan=not verify):
        if tensor.place.key in left_out or not may_be_nan(tensor.proto, raw_numbers(tensor, model.source)):
            continue
        found = small_constant(tensor, model.source, tensor.describe())
        if found is not None and found.has_nan:
            if not _is_harmless(tensor, computed):
                yield on_numbers(found, math.isnan, partial(_of_nan, found.place))
        elif verify and found is None and not _is_harmless(tensor, computed):
            yield from _in_large(tensor, stored(tensor))


def _in_attributes(model: Model) -> Iterator[Finding]:
    """Yield the findings on attributes of numbers with NaN."""
    for attribute in model.attributes(lambda kind: kind.may_be_nan and kind.type in FLOAT_KINDS):
        if attribute.node is not None and attribute.node.op_type in _MISSING:
            continue
        floats = attribute.proto.floats
        from onnx_lint.ir.long_lists import pieces_of

        # A list may have millions of numbers: the sum of a piece says whether one of them may be NaN.
        count = sum(sum(map(math.isnan, piece)) for piece in pieces_of(floats) if math.isnan(sum(piece)))
        if count and len(floats) > 1:
            first = next(index for index, number in enumerate(floats) if math.isnan(number))
            finding = partial(_of_element, attribute.place, attribute.describe())
            yield on_elements(finding, first, count, partial(_nan_among, floats))
        elif count or math.isnan(attribute.proto.f):
            yield _of_nan(attribute.place, f"{attribute.describe()} is NaN", "")


def _nan_among(floats: Sequence[float]) -> Sequence[int]:
    """Return the indices of the first NaN."""
    return list(islice((index for index, number in enumerate(floats) if math.isnan(number)), MAX_LISTED_ELEMENTS))


def _of_element(place: Place, owner: str, index: int, count: int) -> Finding:
    return _of_nan(place, element_is(index, owner, "NaN", count), f"element {index}")


def _is_harmless(tensor: Tensor, computed: _ReadNames) -> bool:
    """Return whether no node computes with a tensor: Where chooses elements, and NaN marks missing ones."""
    graph, names = tensor.graph, {tensor.proto.name}
    holder = next((step for step in reversed(tensor.place.key) if step[0] in _HOLDERS), None)
    if holder is None or holder[1] is None:
        return True  # a tensor by itself is data, and the default of an attribute is used by a call
    if holder[0] == "node":
        if graph.forms[holder[1]].op_type in _MISSING:
            return True
        names = set(graph.node_outputs[holder[1]])
    return names.isdisjoint(_computed(graph, computed))


def _computed(graph: Graph, known: _ReadNames) -> set[str]:
    """Return the values that nodes of a graph, or of those nested in it, compute with.

    Nodes that only choose elements do not. Nor do those that only move elements, if no node computes with their output
    and the graph does not return it.
    """
    if id(graph) not in known:
        names = known[id(graph)] = set[str]().union(*(_computed(each, known) for each in graph.nested))
        results = set(graph.output_names)
        for form, inputs, outputs in zip(
            reversed(graph.forms), reversed(graph.node_inputs), reversed(graph.node_outputs), strict=True
        ):
            is_idle = form.op_type in _MOVING and names.isdisjoint(outputs) and results.isdisjoint(outputs)
            names.update(() if is_idle or form.op_type in _CHOOSING else inputs)
    return known[id(graph)]


_MISSING: Final = frozenset({"ConstantOfShape", "Imputer", "LabelEncoder", "TreeEnsemble"})
"""Operators for which NaN stands for a missing value, or separates members."""
_HOLDERS: Final = frozenset({"node", "initializer", "sparse_initializer"})
_CHOOSING: Final = frozenset({"Where", "Equal", "IsNaN"})
_MOVING: Final = frozenset(
    {"Cast", "CastLike", "Concat", "Expand", "Identity", "Pad", "Reshape", "ScatterElements", "ScatterND", "Squeeze"}
    | {"Tile", "Transpose", "Unsqueeze"}
)


def _of_nan(place: Place, said: str, which: str) -> Finding:
    return Finding(place, said, clause="HYG-16", allowed="numbers", inner=which)


def _in_large(tensor: Tensor, stored: StoredTensor | None) -> Iterator[Finding]:
    """Yield the finding on a tensor that is read in pieces, perhaps from another file."""
    first, count = None, 0
    for start, places in _nan_in(stored):
        first = start + int(places[0]) if first is None else first
        count += int(places.size)
    if first is not None:
        finding = partial(_of_element, tensor.place, tensor.describe())
        yield on_elements(finding, first, count, partial(_most_in, stored))


def _nan_in(stored: StoredTensor | None) -> Iterator[tuple[int, Any]]:
    """Yield the pieces with NaN: the index of the first element, and the places of the NaN."""
    from onnx_lint.ir.tensors.numbers import number_pieces

    if stored is None:
        return
    start = 0
    for piece in number_pieces(stored):
        places = (piece != piece).nonzero()[0]
        if places.size:
            yield start, places
        start += len(piece)


def _most_in(stored: StoredTensor | None) -> Sequence[int]:
    return list(
        islice((start + int(place) for start, places in _nan_in(stored) for place in places), MAX_LISTED_ELEMENTS)
    )

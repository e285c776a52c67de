# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from onnx_lint.ir.tensors.numbers import Constant, Constants
from onnx_lint.model import ELEMENT_TYPES, Model, Node, Place
from onnx_lint.model.constants import constants_of
from onnx_lint.rule import Finding, Record, on_numbers, rule


class _Seen(Record):
    """A model, and what was looked up in it."""

    model: Model
    constants: Constants
    divisors: dict[int, dict[tuple[str, bool], int]]
    """By the identity of a graph the values that a node divides by or takes the root of, each with the first such node.

    The keys are the value, and whether it is added to another one first.
    """


_MULTIPLIERS: Final = ("Mul", "Conv", "ConvTranspose", "Gemm", "MatMul")
_NORMALIZATIONS: Final = (
    "BatchNormalization",
    "GroupNormalization",
    "InstanceNormalization",
    "LayerNormalization",
    "RMSNormalization",
    "SimplifiedLayerNormalization",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
)
_GREATEST: Final = {1: 3.4028235677973366e38, 10: 65520.0, 16: 3.3961775292304601e38}
_NOT_SATURATED: Final = {17: 465.0, 18: 248.0, 19: 61440.0, 20: 61440.0}
"""The same for the 8-bit types, which overflow only if `saturate` is 0."""
_LEAST: Final = {1: 2.0**-150, 10: 2.0**-25, 16: 2.0**-134}
"""By element type: the least number that is rounded to infinity, and the greatest that is rounded to 0."""
_TYPES: Final = {f"tensor({ELEMENT_TYPES[number].name})": number for number in (*_GREATEST, *_NOT_SATURATED)}
_DIVISORS: Final = {"Div": 1, "Sqrt": 0, "Reciprocal": 0}
"""The operators that divide by an input, or take its root before a division, and the index of that input."""


@rule(clause="HYG-17", since="0.2.0", needs="node", flag=("--verify-numbers", "verify"))
def degenerate_number(model: Model, *, verify: bool = False) -> Iterator[Finding]:
    """A constant number makes results infinite or NaN.

    ### How to fix

    Replace the constant by one that the type can represent.

    - A mask of -3.4e38 that is cast to float16: use -65504.
    - An epsilon that float16 cannot represent: use 1e-5, or keep the layer in float32 (`op_block_list` of
      `onnxconverter_common.float16`).
    - An infinite weight or a negative variance: repeat the step that wrote it.

    ### Example

    ```
    initializer { name: "mask" data_type: 1 float_data: -3.4028235e38 }
    node { op_type: "Cast" input: "mask" output: "half" attribute { name: "to" type: INT i: 10 } }
    ```

    Corrected:

    ```
    initializer { name: "mask" data_type: 1 float_data: -65504 }
    node { op_type: "Cast" input: "mask" output: "half" attribute { name: "to" type: INT i: 10 } }
    ```

    ### Why it matters

    The model loads and runs, and its results are NaN or infinite, often only for some inputs.

    ### Details

    - An infinite constant of a multiplication, convolution or normalization is reported, and +infinity in an Add.
      Bounds of bins, and masks, may be infinite.
    - A floating-point constant is reported if it is 0 and a node divides by it, or if it is negative and a node takes
      its root.
    - A constant, also one of integers, is reported that a Cast or CastLike to float, float16 or bfloat16 turns into
      infinity; also one that a Cast to an 8-bit type with `saturate` 0 turns into infinity or NaN.
    - A constant is reported that such a Cast turns into 0, if a node divides by the result or takes its root, or adds
      it before as an epsilon.
    - A constant 0 is reported if it is added to a value before a node divides by the sum or takes its root.
    - A negative variance of BatchNormalization is reported if its sum with `epsilon` is not positive. Rounding leaves
      variances of -1e-9, which are harmless.
    - An epsilon of a normalization that is 0 or negative is reported. It may be 0 beside constant positive variances.
    - Constants above 64 KiB, and those in other files, are read only with `verify` (`--verify-numbers`).
    - Reported by another rule: NaN and faulty scales (`impossible-number`).
    """
    seen = _Seen(model, constants_of(model, verify=verify), {})
    for graph in model.graphs:
        judged = {form for form in graph.form_counts if form.op_type in _JUDGES}
        if judged:
            for node in graph.nodes_of(judged):
                for judge in _JUDGES[node.op_type]:
                    yield from judge(node, seen)


def _dividing(node: Node, seen: _Seen, *, is_added: bool = False) -> str | None:
    """Return in words the first node that divides by an output of a node or takes its root; None if none does.

    `is_added`: whether to look for those that do it after the output was added to another value.
    """
    graph, divisors = node.graph, seen.divisors
    if id(graph) not in divisors:
        first = divisors[id(graph)] = {}
        for number, (form, inputs) in enumerate(zip(graph.forms, graph.node_inputs, strict=True)):
            at = _DIVISORS.get(form.op_type)
            if at is not None and at < len(inputs):
                first.setdefault((inputs[at], False), number)
        for form, inputs, outputs in zip(graph.forms, graph.node_inputs, graph.node_outputs, strict=True):
            divisor = first.get((outputs[0], False)) if form.op_type == "Add" and outputs else None
            if divisor is not None:
                first.update({(name, True): divisor for name in inputs})
    known = divisors[id(graph)]
    found = [known[name, is_added] for name in node.outputs if (name, is_added) in known]
    return graph.nodes[min(found)].describe() if found else None


def _infinite_weights(node: Node, seen: _Seen) -> Iterator[Finding]:
    wrong = {math.inf} if node.op_type == "Add" else {math.inf, -math.inf}  # a mask adds -infinity
    for index, name in enumerate(node.inputs):
        found = seen.constants.of(node.graph, name)
        if found is not None and not wrong.isdisjoint((found.least, found.greatest)):
            yield on_numbers(found, wrong.__contains__, partial(_of_infinity, node, index, found.place))


def _of_infinity(node: Node, index: int, place: Place, fact: str, which: str) -> Finding:
    said = f"{fact}, but must be finite as input {index} of {node.describe()}"
    cause = f"{node.op_type} {fact.rpartition(' is ')[2]}"
    inner, user = f"{which} of input {index}", node.place.at("input", index)
    return Finding(place, said, allowed="finite weights", cause=cause, inner=inner, user=user)


def _casts(node: Node, seen: _Seen) -> Iterator[Finding]:
    to = _target(node, seen)
    saturates = next((each.i for each in node.attribute_protos if each.name == "saturate"), 1)
    greatest = _GREATEST.get(to) if saturates else (_GREATEST | _NOT_SATURATED).get(to)
    if greatest is None or not node.inputs:
        return
    found = seen.constants.of(node.graph, node.inputs[0])
    if found is None or found.has_nan:
        return
    if any(greatest <= abs(number) < math.inf for number in (found.least, found.greatest)):
        lost = "infinity" if to in _LEAST else "infinity or NaN"
        words = f"which {node.describe()} turns into {lost}", "a number that fits"
        is_beyond = partial(_is_from, greatest)
        yield on_numbers(found, is_beyond, partial(_of_number, node, found.place, *words))
    elif found.smallest <= _LEAST.get(to, 0.0):
        yield from _lost_divisors(node, seen, found, _LEAST.get(to, 0.0))


def _target(node: Node, seen: _Seen) -> int:
    """Return the element type that a Cast or CastLike produces; 0 if it is unknown or no floating-point type."""
    if node.op_type == "CastLike":
        like = seen.model.value_flow.fact_of(node.inputs[1], node.graph).kind if len(node.inputs) > 1 else None
        return _TYPES.get(like or "", 0)
    return next((each.i for each in node.attribute_protos if each.name == "to" and not each.ref_attr_name), 0)


def _lost_divisors(node: Node, seen: _Seen, found: Constant, least: float) -> Iterator[Finding]:
    """Report a constant of numbers up to `least`, which a Cast rounds to 0, if a node divides by the result."""
    dividing = _dividing(node, seen)
    if dividing is None and found.least == found.greatest:
        dividing = _dividing(node, seen, is_added=True)
    if dividing is not None:
        said = f"which {node.describe()} turns into 0, and {dividing} divides by it"
        finding = partial(_of_number, node, found.place, said, "a number that is not rounded to 0")
        yield on_numbers(found, lambda number: 0 < abs(number) <= least, finding)


def _added_zeros(node: Node, seen: _Seen) -> Iterator[Finding]:
    for name in node.inputs:
        found = seen.constants.of(node.graph, name)
        if found is not None and found.least == found.greatest == 0 and isinstance(found.least, float):
            dividing = _dividing(node, seen)
            if dividing is not None:
                zero, _ = found.first(lambda number: number == 0)  # all of them are 0
                said = f"{zero}, but {node.describe()} adds it to keep the input of {dividing} away from 0"
                yield Finding(found.place, said, allowed="an epsilon above 0", user=node.place)


def _operands(node: Node, seen: _Seen) -> Iterator[Finding]:
    index = _DIVISORS[node.op_type]
    found = seen.constants.of(node.graph, node.inputs[index]) if index < len(node.inputs) else None
    if found is None or isinstance(found.least, int):
        return
    if node.op_type == "Sqrt" and found.least < 0:
        words = f"and {node.describe()} takes its root", "a number of at least 0"
        yield on_numbers(found, lambda number: number < 0, partial(_of_number, node, found.place, *words))
    if node.op_type != "Sqrt" and found.has_zero:
        words = f"and {node.describe()} divides by it", "a number other than 0"
        yield on_numbers(found, lambda number: number == 0, partial(_of_number, node, found.place, *words))


def _is_from(least: float, number: float) -> bool:
    return least <= abs(number) < math.inf


def _of_number(node: Node, place: Place, what: str, allowed: str, said: str, which: str) -> Finding:
    return Finding(place, f"{said}, {what}", allowed=allowed, inner=which, user=node.place)


def _normalizations(node: Node, seen: _Seen) -> Iterator[Finding]:
    is_batch = node.op_type == "BatchNormalization" and len(node.inputs) > 4
    variances = seen.constants.of(node.graph, node.inputs[4]) if is_batch else None
    epsilon = 9.999999747378752e-06  # the default: 1e-5 as a float
    for attribute, place in node.attributes():
        if attribute.name == "epsilon":
            epsilon = attribute.f if not attribute.ref_attr_name else math.inf  # the call decides
            is_harmless = epsilon == 0 and variances is not None and variances.least > 0
            if epsilon <= 0 and not is_harmless:
                said = f"attribute 'epsilon' of {node.describe()} is {epsilon:g}, but must be above 0"
                yield Finding(place, said, allowed="an epsilon above 0", subject="epsilon")
    if variances is not None and variances.least < 0 and variances.least + epsilon <= 0:
        words = f"but must be at least 0 as input 4 (variance) of {node.describe()}", "variances of at least 0"
        finding = partial(_of_number, node, variances.place, *words)
        yield on_numbers(variances, lambda number: number + epsilon <= 0, finding)


_Judge = Callable[[Node, _Seen], Iterator[Finding]]
_JUDGES: Final[dict[str, tuple[_Judge, ...]]] = {
    **dict.fromkeys(("Cast", "CastLike"), (_casts,)),
    "Add": (_added_zeros, _infinite_weights),
    **dict.fromkeys(_DIVISORS, (_operands,)),
    **dict.fromkeys(_MULTIPLIERS, (_infinite_weights,)),
    **dict.fromkeys(_NORMALIZATIONS, (_infinite_weights, _normalizations)),
}

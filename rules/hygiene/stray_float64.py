# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator

from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.model import ELEMENT_TYPES, Model, are_sizes
from onnx_lint.rule import Finding, rule

_DOUBLE = "tensor(double)"
_SMALLER = {number for number, element in ELEMENT_TYPES.items() if element.name in {"float", "float16", "bfloat16"}}
_SOURCES = {"Cast", "CastLike", "Constant", "ConstantOfShape", "Identity"}
"""The operators that compute nothing; what they produce is reported where it is used."""


@rule(clause="HYG-7", since="0.2.0", kinds={"least_elements": "count"})
def stray_float64(model: Model, *, least_elements: int = 64) -> Iterator[Finding]:
    """A model of 32-bit floating-point numbers computes with 64-bit ones inside.

    ### How to fix

    Convert constants to 32 bits before the export, for example `np.float32(0.5)` or `torch.tensor(0.5)`.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    node { op_type: "Cast" input: "x" output: "wide" attribute { name: "to" type: INT i: 11 } }
    node { op_type: "Exp" input: "wide" output: "wide_exp" }
    node { op_type: "Cast" input: "wide_exp" output: "y" attribute { name: "to" type: INT i: 1 } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    node { op_type: "Exp" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    Processors compute 64-bit numbers at half the speed or less, and accelerators barely or not at all. The usual
    cause is a constant from NumPy or Python, whose numbers have 64 bits.

    ### Details

    - A model with a 64-bit input or output in the main graph is not reported.
    - A model without inputs and initializers of 32 or 16 bits is not reported.
    - Tensors that are known to have fewer elements than the option `least_elements` are not reported, for example
      computed sizes.
    """
    if not _is_of_smaller_numbers(model):
        return
    for graph in model.graphs:
        facts = model.value_flow.facts_seen(graph)
        for node in graph.nodes:
            if node.op_type in _SOURCES:
                continue
            operands = (facts(name) for name in (*node.inputs, *node.outputs) if name)
            if any(each is not None and _is_large_double(each, least_elements) for each in operands):
                yield Finding(
                    node.place,
                    f"{node.describe()} computes with 64-bit floating-point numbers, in a model of smaller ones",
                    allowed="FLOAT or a smaller type",
                    subject=node.name or next(filter(None, node.outputs), None),
                    cause="float64",
                )


def _is_of_smaller_numbers(model: Model) -> bool:
    """Return whether the main graph has 32-bit or 16-bit inputs or initializers, and no 64-bit inputs or outputs."""
    graph, types = model.main_graph, model.value_flow.types
    ends = {types.get(name) for name in (*graph.input_names, *graph.output_names)}
    smaller = {f"tensor({ELEMENT_TYPES[number].name})" for number in _SMALLER}
    has_smaller = not (ends.isdisjoint(smaller) and _SMALLER.isdisjoint(graph.initializers.element_types))
    return has_smaller and _DOUBLE not in ends


def _is_large_double(fact: Fact, least: int) -> bool:
    if fact.kind != _DOUBLE:
        return False
    return fact.shape is None or not are_sizes(fact.shape) or math.prod(fact.shape) >= least

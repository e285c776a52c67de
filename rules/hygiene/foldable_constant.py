# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.inference.flow.folding import foldable_nodes
from onnx_lint.model import Model
from onnx_lint.rule import Finding, by_share, rule


@rule(clause=("HYG-6", "HYG-20"), since="0.2.0", needs="attribute")
def foldable_constant(model: Model) -> Iterator[Finding]:
    """A node computes a value that follows from constants alone.

    ### How to fix

    Store the result as an initializer.

    - PyTorch: `torch.onnx.export(..., dynamo=True)`, or `do_constant_folding=True` for the older exporter.
    - `onnxscript.optimizer.fold_constants(model)`, or the offline optimization of ONNX Runtime.

    ### Example

    ```
    initializer { name: "one" data_type: 1 dims: 1 float_data: 1 }
    node { op_type: "Neg" input: "one" output: "minus_one" }
    node { op_type: "Add" input: "x" input: "minus_one" output: "y" }
    ```

    Corrected:

    ```
    initializer { name: "minus_one" data_type: 1 dims: 1 float_data: -1 }
    node { op_type: "Add" input: "x" input: "minus_one" output: "y" }
    ```

    ### Why it matters

    A runtime that does not fold constants computes the same value in each run, and a reader cannot see what is
    constant.

    ### Details

    - Only the last node of such a computation is reported.
    - A node is not reported if an input depends on a graph input, or on an initializer that callers may replace.
    - Operators with random results are not reported.
    - A result of more than 1,024 bytes is not reported if it is larger than the operands, for example an Expand of a
      small constant.
    - If such nodes are fewer than a tenth of the model's nodes, or one or two, they are reported only if the rule is
      selected by its name. So are a Reshape, Flatten, Squeeze and Unsqueeze of an initializer, which compute nothing.
    - DequantizeLinear is not reported, because it keeps weights small.
    """
    yield from by_share(model, _findings(model), "HYG-6", "HYG-20")


def _findings(model: Model) -> Iterator[Finding]:
    for node in foldable_nodes(
        model.graphs, model.operators, model.value_flow, model.effective_ir_version, model.proto.training_info
    ):
        yield Finding(
            node.place,
            f"{node.describe()} computes a value that follows from constants alone",
            allowed="nodes that depend on an input of the graph",
            subject=node.name or next(filter(None, node.outputs), None),
            cause="constant",
            clause="HYG-20" if node.op_type in _VIEWS and node.graph.producer_of(node.inputs[0]) is None else None,
        )


_VIEWS: Final = frozenset({"Flatten", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that copy no element of an initializer. ONNX Runtime's quantizer writes one for each bias."""

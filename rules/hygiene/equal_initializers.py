# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, find_equal_initializers, has_initializers
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="HYG-8", since="0.2.0", about=has_initializers, needs="graph")
def equal_initializers(model: Model, *, least_bytes: int = 1_024) -> Iterator[Finding]:
    """Two initializers of a graph have the same type, shape and values.

    ### How to fix

    Let all nodes use one of them; `onnx_ir.passes.common.DeduplicateInitializersPass()(model)` does so.

    ### Example

    ```
    # option: equal-initializers.least_bytes = 8
    initializer { name: "a" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
    initializer { name: "b" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
    node { op_type: "Add" input: "a" input: "b" output: "y" }
    ```

    Corrected:

    ```
    # option: equal-initializers.least_bytes = 8
    initializer { name: "a" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
    node { op_type: "Add" input: "a" input: "a" output: "y" }
    ```

    ### Why it matters

    The file is larger than it needs to be, and so is the memory of whoever loads it. Weights that are shared in the
    program, such as those of an embedding and of the last layer, are often stored twice.

    ### Details

    Equal initializers that need fewer bytes than the option `least_bytes`, those in different graphs, and those that
    are inputs as well. Tensors of strings are not compared, nor values in different fields. Values in other files are
    read, up to the limit `external_bytes`.
    """
    for found in find_equal_initializers(model.graphs, model.source, model.payloads, model.data_folder, least_bytes):
        graph, names = found.graph, found.graph.initializer_names
        name, other = quote(names[found.index]), quote(names[found.first])
        yield Finding(
            graph.at("initializer", found.index),
            f"initializer {name} of {graph.describe()} equals initializer {other} ({found.bytes:,} bytes)",
            allowed="one initializer for equal values",
            related=(Related(graph.at("initializer", found.first), "the first one"),),
            subject=names[found.index],
            cause="equal",
        )

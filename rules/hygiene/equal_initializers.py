# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.tensors.equal import find_equal_initializers
from onnx_lint.model import Model, has_initializers
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="HYG-8", since="0.2.0", about=has_initializers, needs="attribute", kinds={"least_bytes": "count"})
def equal_initializers(model: Model, *, least_bytes: int = 65_536) -> Iterator[Finding]:
    """Two initializers of a graph have the same type, shape and values.

    ### How to fix

    Use one of them in all nodes, and delete the other.

    - `onnx-lint fix --select equal-initializers` (safe) does it; for 16-bit floating-point numbers, add
      `--unsafe-fixes`.
    - `onnx_ir.passes.common.DeduplicateInitializersPass()(model)` also does it.

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

    The file and the memory of a loaded model are larger than necessary. Exporters often store a weight twice that two
    layers share, for example the embedding and the last layer.

    ### Details

    - Only initializers of at least `least_bytes` bytes (an option) are compared, and only within one graph.
    - Zero points and biases of 0 are often equal. They are rarely that large.
    - Initializers that are also inputs are not compared.
    - Tensors of strings, and values in different fields, are not compared.
    - Values in other files are read up to the limit `external_bytes`.
    """
    for found in find_equal_initializers(model.graphs, model.source, model.payloads, model.data_folder, least_bytes):
        graph, names = found.graph, found.graph.initializer_names
        name, other = quote(names[found.index]), quote(names[found.first])
        yield Finding(
            graph.at("initializer", found.index),
            f"initializer {name} of {graph.describe()} equals initializer {other} ({found.bytes:,} bytes)",
            allowed="one initializer for equal values",
            related=(Related(graph.at("initializer", found.first), "the one that is used first"),),
            subject=names[found.index],
            cause="equal",
            fix=model.removals.delete_initializer(
                f"delete initializer {name} and read {other} instead",
                graph,
                names[found.index],
                graph.at("initializer", found.index),
                {names[found.index]: names[found.first]},
            ),
        )

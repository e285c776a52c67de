# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from onnx_lint.model import ROOT, Assign, Fix, Graph, Model, initializers_must_be_inputs
from onnx_lint.rule import Finding, folded, replace, rule
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.wording import quote


@rule(clause="INI-4", since="0.1.0", about=initializers_must_be_inputs, needs="graph")
def initializer_without_input(model: Model) -> Iterator[Finding]:
    """An initializer is not an input, which IR versions before 4 require.

    ### How to fix

    - Declare the input. PyTorch: `torch.onnx.export(..., keep_initializers_as_inputs=True)`.
    - Or set IR version 4 or later, which needs no such input. `onnx-lint fix --unsafe-fixes` (unsafe: an initializer is
      then a constant, and old readers refuse the model) sets 4.

    ### Example

    ```
    ir_version: 3
    graph { name: "g" initializer { name: "w" data_type: 1 dims: 1 float_data: 1 } }
    ```

    Corrected:

    ```
    ir_version: 4
    opset_import { version: 9 }
    graph { name: "g" initializer { name: "w" data_type: 1 dims: 1 float_data: 1 } }
    ```

    ### Why it matters

    Up to IR version 3, an initializer is only the default value of an input. `onnx.checker` and older consumers
    refuse the model; ONNX Runtime loads it.

    ### Details

    - In IR versions 1 to 3, each initializer, dense or sparse, must have an input of its name in the same graph.
    - Subgraphs are checked as well.
    """
    if model.effective_ir_version >= FREE_INITIALIZERS_SINCE:
        return
    what = f"state IR version {FREE_INITIALIZERS_SINCE}, in which no initializer needs an input"
    fix = Fix(what, (Assign(ROOT.at("ir_version"), FREE_INITIALIZERS_SINCE),), is_safe=False)
    for graph in model.graphs:
        inputs = {*graph.input_names, ""}
        lists = {"initializer": graph.initializer_names, "sparse_initializer": graph.sparse_initializer_names}
        for field, names in lists.items():
            missing = [(index, name) for index, name in enumerate(names) if name not in inputs]
            for finding in folded(missing, partial(_finding, model, graph, field), graph.name, _MORE):
                yield replace(finding, fix=fix if model.kind == "ModelProto" else None)


_MORE: Final = ("more initializer is no input", "more initializers are no inputs")


def _finding(model: Model, graph: Graph, field: str, initializer: tuple[int, str]) -> Finding:
    index, name = initializer
    return Finding(
        graph.at(field, index),
        f"{field.replace('_', ' ')} {quote(name)} of {graph.describe()} is not an input of that graph; IR version "
        f"{model.ir_version} requires it, IR version {FREE_INITIALIZERS_SINCE} does not",
        allowed="an input of the same name",
        subject=name,
    )

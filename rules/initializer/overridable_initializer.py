# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Graph, Model, has_initializers
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.wording import quote_some


@rule(clause="INI-6", since="0.1.0", about=has_initializers, needs="graph")
def overridable_initializer(model: Model) -> Iterator[Finding]:
    """An initializer of the main graph is also an input, which callers may override.

    ### How to fix

    Delete the input (from IR version 4 on); the initializer is then a constant.

    - PyTorch: `torch.onnx.export(..., keep_initializers_as_inputs=False)`.
    - `onnx_ir.passes.common.RemoveInitializersFromInputsPass()(model)`.
    - ONNX Runtime: `python -m onnxruntime.tools.remove_initializer_from_input --input model.onnx --output
      model.onnx`.

    ### Example

    ```
    input { name: "w" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }
    ```

    ### Why it matters

    A runtime cannot treat the tensor as a constant: it cannot fold or prepare anything that depends on it.

    ### Details

    - From IR version 4 on, an initializer should be an input only if callers may change it.
    - The file does not say which initializers these are. The rule therefore runs only with `--pedantic`, or if you
      select it.
    - There is one finding for the graph.
    - Before IR version 4, each initializer must be an input, and nothing is reported.
    """
    graph = model.main_graph
    if model.effective_ir_version < FREE_INITIALIZERS_SINCE:
        return
    initializers = {*graph.initializer_names, *graph.sparse_initializer_names} - {""}
    indices = [index for index, name in enumerate(graph.input_names) if name in initializers]
    if indices:
        yield _finding(graph, indices)


def _finding(graph: Graph, indices: Sequence[int]) -> Finding:
    names = [graph.input_names[index] for index in indices]
    what = "initializer" if len(names) == 1 else "initializers"
    are = "is also an input" if len(names) == 1 else "are also inputs"
    shown = "" if len(names) <= 3 else ", first 3 shown"
    return Finding(
        graph.at("input", indices[0]),
        f"{len(names):,} {what} of {graph.describe()} {are}, which callers may override{shown}: {quote_some(names)}",
        allowed="initializers that are no inputs, unless callers are meant to override them",
        subject=graph.name,
        collective=True,
        parts=Faults.of_entries(_finding, graph, "input", graph.input_names, indices),
    )

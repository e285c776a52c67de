# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, lacks_outputs
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import counted


@rule(clause="GRA-10a", since="0.3.0", about=lacks_outputs)
def graph_without_outputs(model: Model) -> Iterator[Finding]:
    """The main graph has nodes and no output, so that nothing it computes can be read.

    ### How to fix

    Declare what the model is for as an output of the graph: the fourth argument of `onnx.helper.make_graph`. If a tool
    has split the model, look for the value that the next part reads.

    ### Example

    ```
    graph {
      name: "main"
      node { op_type: "Relu" input: "x" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    }
    ```

    Corrected:

    ```
    graph {
      name: "main"
      node { op_type: "Relu" input: "x" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    }
    ```

    ### Why it matters

    The specification allows it, and the model conforms. But no node is needed by an output, so a tool that deletes
    unneeded nodes deletes all of them.

    ### Details

    - A main graph without nodes is not reported: such files hold weights.
    - A model with training information is not reported: its training graphs may read what the main graph computes.
    """
    main = model.main_graph
    if lacks_outputs(model):
        nodes = counted(len(main.nodes), "node")
        yield Finding(main.at("output"), f"the main graph has {nodes} and no output", allowed="one output or more")

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_unusual_header
from onnx_lint.rule import Finding, rule


@rule(clause=("MOD-3", "MOD-3a"), since="0.1.0", about=has_unusual_header)
def missing_graph(model: Model) -> Iterator[Finding]:
    """The model has no graph.

    ### How to fix

    Write the graph. If your program removed it to save space, put it back. A file of functions alone is no model: give
    it to the tool that reads it.

    ### Example

    ```
    # proto: ModelProto
    ir_version: 10
    opset_import { version: 21 }
    ```

    Corrected:

    ```
    # proto: ModelProto
    ir_version: 10
    opset_import { version: 21 }
    graph { name: "g" }
    ```

    ### Why it matters

    The graph is what a model computes. Without one there is nothing to run.

    ### Details

    - The field `graph` must be set; the graph may be empty. No sentence of the specification requires it, but it
      defines a model as a graph and what has to be known about it.
    - A file with functions alone is a library for other models, and a warning, because nothing that runs models reads
      it. Its functions are checked like those of any model.
    - Edition 1.9 has no functions: under it such a file is a model without a graph.
    """
    if model.proto.HasField("graph"):
        return
    if model.functions and model.standard.at_least("1.16"):
        message = "the model has functions but no graph, so consumers refuse it"
        yield Finding(ROOT.at("graph"), message, clause="MOD-3a", allowed="one graph")
    else:
        yield Finding(ROOT.at("graph"), "the model has no graph", clause="MOD-3", allowed="one graph")

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_unusual_header
from onnx_lint.rule import Finding, rule


@rule(clause=("MOD-3", "MOD-3a"), since="0.1.0", about=has_unusual_header)
def missing_graph(model: Model) -> Iterator[Finding]:
    """The model has no graph.

    ### How to fix

    Write the graph; a program that removed it for size has to put it back. A file of functions alone is for the tool
    that reads it, and no model.

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

    The graph is what a model computes; without one there is nothing to evaluate.

    ### Details

    A graph in the field `graph`, be it an empty one. No sentence of the specification demands it; a model is
    defined as a graph and what has to be known about it. A file that holds only functions, to be used by other
    models, is a library; it gives a warning, since nothing that runs models reads it. Its functions are judged like
    those of any model. Edition 1.9 has no functions, so under it such a file is a model without a graph.
    """
    if model.proto.HasField("graph"):
        return
    if model.functions and model.standard.at_least("1.16"):
        message = "the model has functions but no graph, so consumers refuse it"
        yield Finding(ROOT.at("graph"), message, clause="MOD-3a", allowed="one graph")
    else:
        yield Finding(ROOT.at("graph"), "the model has no graph", clause="MOD-3", allowed="one graph")

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="MOD-3", since="0.1.0")
def missing_graph(model: Model) -> Iterator[Finding]:
    """The model has no graph.

    ### Why it matters

    The graph is what a model computes; without one there is nothing to evaluate.

    ### What is allowed

    A graph in the field `graph`, be it an empty one. No sentence of the specification demands it; a model is
    defined as a graph and what has to be known about it. A file that holds only functions, to be used by other
    models, has no place in the format and is reported too.

    ### Example

    ```
    ir_version: 10
    opset_import { version: 21 }
    ```
    """
    if not model.proto.HasField("graph"):
        yield Finding(ROOT.at("graph"), "the model has no graph", allowed="one graph")

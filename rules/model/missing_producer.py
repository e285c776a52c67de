# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_unusual_header
from onnx_lint.rule import Finding, rule


@rule(clause=("MOD-10", "MOD-11"), since="0.1.0", about=has_unusual_header)
def missing_producer(model: Model) -> Iterator[Finding]:
    """The model does not name the tool that wrote it, or not the tool's version.

    ### How to fix

    Set the tool that wrote the model, and its version: `onnx.helper.make_model(graph, producer_name=...,
    producer_version=...)`.

    ### Example

    ```
    graph { name: "g" }
    ```

    Corrected:

    ```
    producer_name: "trainer"
    producer_version: "2.1"
    graph { name: "g" }
    ```

    ### Why it matters

    Most faults of models are faults of their exporters. Without the exporter's name and version you do not know where
    to look, and runtimes cannot work around known faults.

    ### Details

    - `producer_name` must have the name of the tool, and `producer_version` its version.
    - Both are reported only with `--pedantic` or a selection, because few users of such a model can change them. The
      last line of the report counts a missing name.
    """
    if not model.proto.producer_name:
        yield Finding(
            ROOT.at("producer_name"),
            "the model names no producer",
            "MOD-10",
            allowed="the name of the tool that made the model",
        )
    if not model.proto.producer_version:
        yield Finding(
            ROOT.at("producer_version"),
            "the model states no producer version",
            "MOD-11",
            allowed="the version of that tool",
        )

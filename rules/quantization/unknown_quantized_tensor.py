# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, Model, Place, Proto
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, suggestion

TENSOR_KEYS = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")
"""The keys whose values are names of tensors."""


@rule(clause="QNT-2", since="0.1.0")
def unknown_quantized_tensor(model: Model) -> Iterator[Finding]:
    """A quantization annotation names a tensor that the graph does not have.

    ### Why it matters

    The annotation is about nothing, or the scale or zero point that it promises is nowhere to be found. Tools that
    rename or fuse values tend to leave such annotations behind.

    ### What is allowed

    In `tensor_name`, and as the value of `SCALE_TENSOR` and `ZERO_POINT_TENSOR`: the name of an input, an
    initializer or a node output of the graph, or of a value that the graph sees from outside. The values of other
    keys are not taken for names.

    ### Example

    ```
    quantization_annotation {
      tensor_name: "x"
      quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "no_such_tensor" }
    }
    ```
    """
    for graph in model.graphs:
        if graph.is_function:
            continue
        for index, annotation in enumerate(graph.proto.quantization_annotation):
            for name, fields in _names(annotation):
                if not name or (name not in graph.positions and not graph.sees(name)):
                    yield _finding(graph, index, name, fields)


Fields = tuple[int, str] | None
"""The entry of the annotation and its key; None for `tensor_name`."""


def _names(annotation: Proto) -> Iterator[tuple[str, Fields]]:
    yield annotation.tensor_name, None
    for position, entry in enumerate(annotation.quant_parameter_tensor_names):
        if entry.key in TENSOR_KEYS:
            yield entry.value, (position, entry.key)


def _finding(graph: Graph, index: int, name: str, fields: Fields) -> Finding:
    what = f"quantization annotation {index} of {graph.describe()}"
    place: Place = graph.place.at("quantization_annotation", index)
    if fields is None:
        place = place.at("tensor_name")
        missing = "states no tensor"
    else:
        position, key = fields
        place = place.at("quant_parameter_tensor_names", position).at("value")
        what = f"{key} in {what}"
        missing = "names no tensor"
    said = f"is {quote(name)}" if fields else f"is about {quote(name)}"
    hint = suggestion(name, graph.positions)
    return Finding(
        place,
        f"{what} {said}, which is no value of the graph{hint}" if name else f"{what} {missing}",
        allowed="an input, an initializer or a node output",
        subject=name or None,
    )

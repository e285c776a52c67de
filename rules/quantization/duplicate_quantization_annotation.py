# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, GraphKind, Model, Place, Proto, has_quantization_annotations
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("QNT-3", "TRN-9"), since="0.1.0", about=has_quantization_annotations, needs="attribute")
def duplicate_quantization_annotation(model: Model) -> Iterator[Finding]:
    """A tensor has two quantization annotations, or an annotation has a key twice.

    ### How to fix

    Keep one annotation for each tensor, and in it one entry for each key.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "s" data_type: 1 float_data: 0.5 }
    initializer { name: "t" data_type: 1 float_data: 0.25 }
    quantization_annotation { tensor_name: "x" quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "s" } }
    quantization_annotation { tensor_name: "x" quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "t" } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "s" data_type: 1 float_data: 0.5 }
    quantization_annotation { tensor_name: "x" quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "s" } }
    ```

    ### Why it matters

    Some readers take the first scale or zero point, others the last.

    ### Details

    - Each tensor of a graph may have at most one annotation.
    - Each key must occur only once in an annotation.
    - Each nested graph has its own annotations.
    """
    for graph in model.graphs_with("quantization_annotation"):
        yield from _repeated_tensors(graph)
        for index, annotation in enumerate(graph.proto.quantization_annotation):
            yield from _repeated_keys(annotation, graph.at("quantization_annotation", index))
        if graph.kind is GraphKind.ALGORITHM and graph.parent is not None:
            yield from _repeated_across(graph, graph.parent)


def _repeated_tensors(graph: Graph) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, annotation in enumerate(graph.proto.quantization_annotation):
        name = annotation.tensor_name
        other = first.setdefault(name, index)
        if name and other != index:
            yield Finding(
                graph.at("quantization_annotation", index),
                f"quantization annotations {other} and {index} of {graph.describe()} are both about {quote(name)}",
                clause="QNT-3",
                related=(Related(graph.at("quantization_annotation", other), f"first one of {quote(name)}"),),
                allowed="one annotation for each tensor",
                subject=name,
                cause=f"{graph.place} {index - other} later",  # of a list that is written twice, all are as far apart
            )


def _repeated_across(algorithm: Graph, main: Graph) -> Iterator[Finding]:
    """Yield a finding for each tensor that both a training algorithm and the main graph annotate."""
    first: dict[str, int] = {}
    for index, annotation in enumerate(main.proto.quantization_annotation):
        first.setdefault(annotation.tensor_name, index)
    for index, annotation in enumerate(algorithm.proto.quantization_annotation):
        name = annotation.tensor_name
        if name and name in first:
            yield Finding(
                algorithm.at("quantization_annotation", index),
                f"quantization annotation {index} of {algorithm.describe()} is about {quote(name)}, which "
                f"{main.describe()} annotates already",
                clause="TRN-9",
                related=(Related(main.at("quantization_annotation", first[name]), f"first one of {quote(name)}"),),
                allowed="one annotation for each tensor",
                subject=name,
                cause=str(algorithm.place),
            )


def _repeated_keys(annotation: Proto, place: Place) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for position, entry in enumerate(annotation.quant_parameter_tensor_names):
        other = first.setdefault(entry.key, position)
        if other != position:
            yield Finding(
                place.at("quant_parameter_tensor_names", position).at("key"),
                f"key {quote(entry.key)} of the quantization annotation of {quote(annotation.tensor_name)} "
                "is listed twice",
                clause="QNT-3",
                related=(Related(place.at("quant_parameter_tensor_names", other), f"first {quote(entry.key)}"),),
                allowed="each key once",
                subject=annotation.tensor_name or None,
            )

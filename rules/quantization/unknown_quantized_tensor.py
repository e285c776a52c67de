# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, Model, Place, has_quantization_annotations
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, quote

TENSOR_KEYS = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")
"""The keys whose values are names of tensors."""


@rule(clause="QNT-2", since="0.1.0", about=has_quantization_annotations, needs="attribute")
def unknown_quantized_tensor(model: Model) -> Iterator[Finding]:
    """A quantization annotation names a tensor that the graph does not have.

    ### How to fix

    - Write the name of a value of the graph.
    - If a pass renames or removes tensors, let it update the annotations, and delete those of removed values.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    quantization_annotation {
      tensor_name: "x" quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "no_such_tensor" }
    }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "s" data_type: 1 float_data: 0.5 }
    quantization_annotation { tensor_name: "x" quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "s" } }
    ```

    ### Why it matters

    The annotation describes nothing, or its scale or zero point does not exist.

    ### Details

    - `tensor_name` and the values of `SCALE_TENSOR` and `ZERO_POINT_TENSOR` are checked.
    - Each must be the name of an input, an initializer or a node output of the graph, or of a value that is visible
      from an enclosing graph.
    - A file with a node or an attribute does not have the graphs around it. There only empty names are reported.
    - The values of other keys are not checked, because they are not names.
    """
    suggestions = Suggestions()
    for graph in model.graphs_with("quantization_annotation"):
        for index, annotation in enumerate(graph.proto.quantization_annotation):
            place = graph.at("quantization_annotation", index)
            described = f"quantization annotation {index} of {graph.describe()}"
            if not _is_known(annotation.tensor_name, graph):
                yield _finding(place.at("tensor_name"), described, annotation.tensor_name, graph, suggestions)
            for position, entry in enumerate(annotation.quant_parameter_tensor_names):
                if entry.key in TENSOR_KEYS and not _is_known(entry.value, graph):
                    entry_place = place.at("quant_parameter_tensor_names", position).at("value")
                    yield _finding(entry_place, f"{entry.key} in {described}", entry.value, graph, suggestions)


def _is_known(name: str, graph: Graph) -> bool:
    return bool(name) and (name in graph.positions or graph.sees(name) or graph.may_see_more)


def _finding(place: Place, described: str, name: str, graph: Graph, suggestions: Suggestions) -> Finding:
    hint = suggestions(name, graph.positions)
    return Finding(
        place,
        f"{described} names {quote(name)}, which is not a value of the graph{hint}"
        if name
        else f"{described} names no tensor",
        allowed="an input, an initializer or a node output",
        subject=name or None,
        cause=f"{graph.place} {'named' if name else 'unnamed'}{' alike' if hint else ''}",
    )

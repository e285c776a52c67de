# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.model import Model, Place, has_quantization_annotations
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.wording import quote, suggestion

DEFINED = ("SCALE_TENSOR", "ZERO_POINT_TENSOR")


@rule(clause="QNT-1", since="0.1.0", about=has_quantization_annotations, needs="attribute")
def unknown_quantization_parameter(model: Model) -> Iterator[Finding]:
    """A quantization annotation has a key that ONNX does not define.

    ### How to fix

    Use the keys of the specification. Write other notes into `metadata_props`.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "s" data_type: 1 float_data: 0.5 }
    quantization_annotation { tensor_name: "x" quant_parameter_tensor_names { key: "SCALE" value: "s" } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "s" data_type: 1 float_data: 0.5 }
    quantization_annotation { tensor_name: "x" quant_parameter_tensor_names { key: "SCALE_TENSOR" value: "s" } }
    ```

    ### Why it matters

    A consumer ignores a key that it does not know, and the parameter is lost.

    ### Details

    - The defined keys are `SCALE_TENSOR` and `ZERO_POINT_TENSOR`, with exactly this spelling.
    - Another key is a warning: the schema requires keys that ONNX defines and names these two, but its wording leaves
      the list open.
    - There is one finding for each different key.
    - QONNX and FINN store their data types under the key `finn_datatype`, which other tools cannot read.
    """
    found: dict[str, list[Place]] = {}
    for graph in model.graphs_with("quantization_annotation"):
        for index, annotation in enumerate(graph.proto.quantization_annotation):
            for position, entry in enumerate(annotation.quant_parameter_tensor_names):
                if entry.key not in DEFINED:
                    place = graph.at("quantization_annotation", index)
                    found.setdefault(entry.key, []).append(place.at("quant_parameter_tensor_names", position).at("key"))
    for key, places in found.items():
        yield _finding(key, places)


def _finding(key: str, places: Sequence[Place]) -> Finding:
    count = f" ({len(places):,} occurrences)" if len(places) > 1 else ""
    return Finding(
        places[0],
        f"quantization parameter {quote(key)} is not defined by ONNX{count}{_meant(key)}",
        allowed=" or ".join(DEFINED),
        subject=key or None,
        collective=True,
        parts=Faults(places, partial(_finding, key), lambda place: (place, key or None)),
    )


def _meant(key: str) -> str:
    return f"; did you mean {quote(key.upper())}?" if key.upper() in DEFINED else suggestion(key, DEFINED)

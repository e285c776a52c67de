# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from onnx_lint.model import Model, StoredTensor, has_suspect_tensors, message
from onnx_lint.rule import Finding, folded, rule


@rule(clause="TEN-5", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def ambiguous_tensor_data(model: Model) -> Iterator[Finding]:
    r"""A tensor with elements has values in no field, or in several.

    ### How to fix

    - Keep one field and clear the others. `onnx.helper.make_tensor` and `onnx.numpy_helper.from_array` fill one
      field.
    - If the values were stripped from the file, take the complete model.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 raw_data: "\000\000\200\077" }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 1 raw_data: "\000\000\200\077" }
    ```

    ### Why it matters

    If two fields have values, consumers differ in which one they read. If none has values, the model is not complete.

    ### Details

    - A tensor must have its values in one field: `raw_data`, or the typed field of its element type.
    - A tensor with a dimension of 0, or with external data, needs no field.
    - An empty `raw_data` beside a filled typed field is reported, because readers use `raw_data` if it is set. Only
      onnx.checker accepts such a tensor.
    """
    for tensor in model.tensors.miscounted:
        if not tensor.is_external and tensor.elements != 0 and len(tensor.fields) > 1:
            yield _finding(tensor, f"has values in the fields {_listed(tensor)}")
    more = ("more tensor has no values", "more tensors have no values")
    for graph, tensors in groupby(filter(_lacks_values, model.tensors.miscounted), lambda each: each.tensor.graph):
        yield from folded(tensors, _finding_without_values, graph.name, more)


def _lacks_values(tensor: StoredTensor) -> bool:
    if tensor.is_external or tensor.fields or not tensor.elements:
        return False
    return not _may_lack_values(tensor)


def _may_lack_values(tensor: StoredTensor) -> bool:
    """Return true for an empty segment, or an undefined location, which `unknown-data-location` reports."""
    if tensor.proto.data_location not in message("TensorProto").DataLocation.values():
        return True
    return tensor.segment is not None and tensor.segment[0] >= tensor.segment[1]


def _listed(tensor: StoredTensor) -> str:
    names = [f"{field} (empty)" if not tensor.count(field) else field for field in tensor.fields]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _finding_without_values(tensor: StoredTensor) -> Finding:
    return _finding(tensor, f"has no values for {tensor.describe_type()}")


def _finding(tensor: StoredTensor, complaint: str) -> Finding:
    return Finding(
        tensor.place,
        f"{tensor.describe()} {complaint}",
        allowed="values in one field",
        offset=tensor.offset,
        subject=tensor.proto.name,
    )

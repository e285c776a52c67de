# SPDX-License-Identifier: Apache-2.0
"""The numbers in a model's constants, for rules that check them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from onnx_lint.ir.tensors.numbers import Constants

if TYPE_CHECKING:
    from onnx_lint.ir.parts import Tensor
    from onnx_lint.ir.places.place import PlaceKey
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.model.model import Model


def constants_of(model: Model, *, verify: bool = False) -> Constants:
    """Return the small constants of a model, and with `verify` also large ones and those in other files."""
    large = large_tensors(model) if verify else lambda tensor: None
    return Constants(model.source, model.payloads, large, of_wrong_size(model))


def of_wrong_size(model: Model) -> frozenset[PlaceKey]:
    """Return the tensors with a wrong number of values, which is a finding: their elements are not what was meant."""
    return frozenset(stored.place.key for stored in model.tensors.miscounted if stored.has_wrong_size)


def large_tensors(model: Model) -> Callable[[Tensor], StoredTensor | None]:
    """Return a function from a tensor to its values in the model or in another file; None if they cannot be read."""
    from onnx_lint.ir.tensors.outside import tensor_in_file
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor

    outside = {data.tensor.place.key: data for data in model.external_data if data.is_external}

    def stored(tensor: Tensor) -> StoredTensor | None:
        data = outside.get(tensor.place.key)
        if data is None:
            return StoredTensor(tensor, model.source)
        return tensor_in_file(data, model.data_folder) if model.data_folder is not None else None

    return stored

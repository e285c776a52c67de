# SPDX-License-Identifier: Apache-2.0
"""The values of tensors: what types there are, how many values are stored, and what they are, in bounded pieces.

Sizes and structure come from the message and from the payloads that the loader left in the source; only rules on
contents read those. `Model.tensor_survey` is where rules begin.
"""

from __future__ import annotations

from onnx_lint.model.tensor_data.element_type import ELEMENT_TYPES, UNDEFINED, ElementType
from onnx_lint.model.tensor_data.sparse import StoredSparseTensor
from onnx_lint.model.tensor_data.stored_tensor import MAX_INT64, StoredTensor, describe_shape, element_count
from onnx_lint.model.tensor_data.strings import Occurrences, others
from onnx_lint.model.tensor_data.survey import TensorSurvey, survey

__all__ = [
    "ELEMENT_TYPES",
    "MAX_INT64",
    "UNDEFINED",
    "ElementType",
    "Occurrences",
    "StoredSparseTensor",
    "StoredTensor",
    "TensorSurvey",
    "describe_shape",
    "element_count",
    "others",
    "survey",
]

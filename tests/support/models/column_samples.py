# SPDX-License-Identifier: Apache-2.0
"""Tensors and value infos for columns."""

from __future__ import annotations

from typing import Any

from onnx_lint import schema

TENSOR = schema.message("TensorProto")


PLAIN = {"name": "w", "dims": [2, 3], "data_type": 1, "raw_data": bytes(24)}
"""A tensor that says what all tensors say, and no more."""


VALUE_INFO = schema.message("ValueInfoProto")


VALUES: tuple[dict[str, Any], ...] = (
    {"name": "x", "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 3}, {"dim_param": "N"}]}}}},
    {"name": "y", "type": {"sequence_type": {"elem_type": {"tensor_type": {"elem_type": 7}}}}},
    {"name": "x", "type": {}},
    {"name": "z"},
    {"name": "", "type": {"map_type": {"key_type": 8}}},
    {"type": {"tensor_type": {"elem_type": 1}}},
    {"name": "d", "doc_string": "a value"},
    {"name": "m", "type": {}, "metadata_props": [{"key": "k"}]},
    {},
)

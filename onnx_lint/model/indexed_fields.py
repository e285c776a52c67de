# SPDX-License-Identifier: Apache-2.0
"""The fields that can be found in a model without a search through all messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

METADATA: Final = "metadata_props"
"""A field that six messages have. All of them are searched at once."""

_LISTED: Final = frozenset({"ModelProto", "GraphProto", "FunctionProto", "NodeProto"})
"""The messages whose fields are all found in the lists of the model."""

_FOUND_BY_KIND: Final = frozenset(
    {f"AttributeProto.{field}" for field in ("tp", "type_protos", "sparse_tensor", "sparse_tensors")}
    | {"TensorProto.external_data", "TensorProto.data_location"}
    | {f"{message}.{METADATA}" for message in ("ValueInfoProto", "TensorProto")}
)
"""The fields of other messages that are found without a search through all messages."""


def fields_sought_everywhere(premature: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the fields, as `Message.field`, that require a search through all messages.

    There are none until ONNX adds a field to a message whose new fields have been values or annotations so far.
    """
    return frozenset(
        f"{message}.{field}"
        for message, fields in premature.items()
        for field in fields
        if message not in _LISTED and f"{message}.{field}" not in _FOUND_BY_KIND
    )

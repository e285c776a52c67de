# SPDX-License-Identifier: Apache-2.0
"""The IR versions that introduced fields and types; for element types see `onnx_lint.spec.element_types`.

Source: the history in the schema, beside its enumeration of versions. Anything that is not in these tables is as old as
the format, or came without a new IR version, such as `TypeProto.denotation`. The history has no date for
`TensorProto.external_data` and `data_location`; they came in the same month as IR version 4.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from onnx_lint.common.record import Record


class Since(Record):
    """The IR version that introduced something, and the clause that requires it."""

    ir_version: int
    clause: str | None = None
    """The gate clause that a model of an older IR version violates; None if no clause checks it separately."""


FROM_THE_START: Final = Since(1)

_TABLE_OF_FIELDS: Final = {
    "AttributeProto.type": Since(2),
    "AttributeProto.ref_attr_name": Since(2),
    "ModelProto.opset_import": Since(3, "MOD-7"),
    "NodeProto.domain": Since(3, "MOD-7a"),
    "TensorProto.external_data": Since(4, "EXT-18"),
    "TensorProto.data_location": Since(4, "EXT-18"),
    "GraphProto.quantization_annotation": Since(5, "QNT-G"),
    "GraphProto.sparse_initializer": Since(6, "SPA-G"),
    "AttributeProto.sparse_tensor": Since(6, "ATT-12"),
    "AttributeProto.sparse_tensors": Since(6, "ATT-12"),
    "ModelProto.training_info": Since(7, "TRN-G"),
    "FunctionProto.opset_import": Since(7),
    "ModelProto.functions": Since(8, "FUN-G1"),
    "FunctionProto.domain": Since(8),
    "AttributeProto.tp": Since(8, "ATT-12"),
    "AttributeProto.type_protos": Since(8, "ATT-12"),
    "FunctionProto.attribute_proto": Since(9, "FUN-G2"),
    "NodeProto.overload": Since(10, "FUN-G3"),
    "FunctionProto.overload": Since(10, "FUN-G3"),
    "FunctionProto.value_info": Since(10, "FUN-G4"),
    "FunctionProto.metadata_props": Since(10, "META-3"),
    "GraphProto.metadata_props": Since(10, "META-3"),
    "NodeProto.metadata_props": Since(10, "META-3"),
    "ValueInfoProto.metadata_props": Since(10, "META-3"),
    "TensorProto.metadata_props": Since(10, "META-3"),
    "ModelProto.configuration": Since(11, "DEV-G"),
    "NodeProto.device_configurations": Since(11, "DEV-G"),
}

_TABLE_OF_TYPES: Final = {
    "sequence_type": Since(6, "TYP-G1"),
    "map_type": Since(6, "TYP-G1"),
    "sparse_tensor_type": Since(8, "TYP-G2"),
    "optional_type": Since(8, "TYP-G3"),
    "opaque_type": Since(14, "TYP-G4"),
}

FREE_INITIALIZERS_SINCE: Final = 4
"""The first IR version in which an initializer need not be an input; one that is not an input is a constant."""

LATER_FIELDS: Final[Mapping[str, Since]] = MappingProxyType(_TABLE_OF_FIELDS)
"""The fields that were introduced after IR version 1, by message and field."""

TYPES: Final[Mapping[str, Since]] = MappingProxyType(_TABLE_OF_TYPES)
"""The kinds of type, by the case of TypeProto, that were introduced in the variant `onnx` after IR version 1."""

ML_FROM_THE_START: Final = frozenset({"sequence_type", "map_type", "opaque_type"})
"""The kinds of type that the variant `onnx-ml` has in every IR version."""


@functools.cache
def later_fields(known: int) -> Mapping[str, list[str]]:
    """Return the fields of each message that were introduced after the IR version `known` and that a clause checks."""
    found: dict[str, list[str]] = {}
    for name, since in LATER_FIELDS.items():
        if since.ir_version > known and since.clause is not None:
            message, _, field = name.rpartition(".")
            found.setdefault(message, []).append(field)
    return found

# SPDX-License-Identifier: Apache-2.0
"""The columns of value infos have the same values as the messages."""

from __future__ import annotations

from support.models.column_samples import VALUE_INFO, VALUES

from onnx_lint.ir.columns.value_infos import NO_VALUE_INFOS, columns_of


def test_value_infos_of_all_kinds():
    protos = [VALUE_INFO(**value) for value in (*VALUES, *VALUES)]
    found = columns_of(protos, {})
    assert found.names == [proto.name for proto in protos]
    assert found.types == [proto.type.SerializePartialToString() for proto in protos]
    assert found.annotated == [index for index, each in enumerate(protos) if each.doc_string or each.metadata_props]
    assert len({id(kind) for kind in found.types}) == len(set(found.types))
    assert columns_of([], {}) is NO_VALUE_INFOS

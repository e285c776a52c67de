# SPDX-License-Identifier: Apache-2.0
"""The columns of value infos have the same values as the messages."""

from __future__ import annotations

import random

import pytest
from support.models.column_samples import VALUE_INFO, VALUES

from onnx_lint.ir.columns import value_infos
from onnx_lint.ir.columns.value_infos import columns_of


def test_value_infos_of_any_kinds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(value_infos, "CHUNK", 3)
    chance = random.Random("value infos")
    for _ in range(300):
        kinds = chance.sample(VALUES, chance.randint(1, 4))
        lists = {
            role: [VALUE_INFO(**chance.choice(kinds)) for _ in range(chance.randint(0, 3))]
            for role in chance.sample(("input", "output", "value_info"), chance.randint(0, 3))
        }
        found = columns_of(
            {role: [proto.SerializePartialToString() for proto in protos] for role, protos in lists.items()}
        )
        assert list(found) == list(lists)
        for role, protos in lists.items():
            assert found[role].names == [proto.name for proto in protos]
            assert found[role].types == [proto.type.SerializePartialToString() for proto in protos]
            assert found[role].annotated == [
                index for index, proto in enumerate(protos) if proto.doc_string or proto.metadata_props
            ]

# SPDX-License-Identifier: Apache-2.0
"""Which fields are found without a look at each message."""

from __future__ import annotations

from onnx_lint.model.indexed_fields import fields_sought_everywhere
from onnx_lint.spec.ir_versions import later_fields


def test_each_field_of_the_published_releases_has_an_index():
    assert fields_sought_everywhere(later_fields(1)) == frozenset()


def test_a_field_without_an_index_is_sought_everywhere():
    premature = {"NodeProto": ["later"], "TensorProto": ["external_data", "later"], "TypeProto.Tensor": ["later"]}
    assert fields_sought_everywhere(premature) == {"TensorProto.later", "TypeProto.Tensor.later"}

# SPDX-License-Identifier: Apache-2.0
"""Attributes asked for by their kind are those that walking all of them one by one gives."""

from __future__ import annotations

from collections import defaultdict

from support.models import exhaustive_walk as walked
from support.models.fixture_models import fixture_models

from onnx_lint.ir.columns.attribute_kinds import AttributeKind
from onnx_lint.ir.columns.tensor_encodings import is_evident, set_fields
from onnx_lint.model import Proto

SINGULAR = ("f", "i", "s", "t", "g", "sparse_tensor", "tp")


REPEATED = ("floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos")


_Signature = tuple[int, tuple[str, ...], bool, bool, bool, bool, tuple[int, ...], bool]


def _signature(proto: Proto) -> _Signature:
    """The signature, asked of each field by itself."""
    fields = [field for field in SINGULAR if proto.HasField(field)]
    fields += [field for field in REPEATED if len(getattr(proto, field))]
    tensors = [proto.t] * proto.HasField("t") + list(proto.tensors)
    in_field_order = sorted(fields, key=lambda field: proto.DESCRIPTOR.fields_by_name[field].number)
    is_text = all(_is_utf8(value) for value in [proto.s, *proto.strings])
    return (
        proto.type,
        tuple(in_field_order),
        proto.name != "",
        proto.ref_attr_name != "",
        proto.doc_string != "",
        is_text,
        tuple(sorted({tensor.data_type for tensor in tensors})),
        all(map(is_evident, map(set_fields, tensors))) and not any("sparse" in field for field in fields),
    )


def _as_tuple(found: AttributeKind) -> _Signature:
    return (
        found.type,
        found.fields,
        found.is_named,
        found.is_reference,
        found.is_documented,
        found.is_text,
        tuple(sorted(found.element_types)),
        found.are_tensors_evident,
    )


def _is_utf8(value: bytes) -> bool:
    return value.decode("utf-8", "replace").encode("utf-8") == value


def test_the_fixtures_hold_every_value_field():
    fields = {
        field
        for model in fixture_models().values()
        for each in walked.attributes(model)
        for field in _signature(each.proto)[1]
    }
    assert fields == {*SINGULAR, *REPEATED}


def test_attributes_by_signature():
    for name, model in fixture_models().items():
        expected: dict[_Signature, set[str]] = defaultdict(set)
        for attribute in walked.attributes(model):
            expected[_signature(attribute.proto)].add(str(attribute.place))
        asked: list[AttributeKind] = []
        assert list(model.attributes(lambda kind, asked=asked: asked.append(kind))) == [], name
        assert sorted(map(_as_tuple, asked)) == sorted(expected), name
        for wanted, places in expected.items():

            def is_wanted(kind: AttributeKind, wanted: _Signature = wanted) -> bool:
                return _as_tuple(kind) == wanted

            found = list(model.attributes(is_wanted))
            assert {str(attribute.place) for attribute in found} == places, name
            assert len(found) == len(places) == model.attribute_index.count(is_wanted)


def test_an_attribute_that_is_found_knows_where_it_stands():
    for name, model in fixture_models().items():
        expected = {
            str(each.place): (each.graph.place, each.node and each.node.place) for each in walked.attributes(model)
        }
        found = {str(each.place): (each.graph.place, each.node and each.node.place) for each in model.attributes(bool)}
        assert found == expected, name

# SPDX-License-Identifier: Apache-2.0
"""The bulk questions of the model give what walking all attributes and types one by one gives, and ask less."""

from __future__ import annotations

import functools
from collections import defaultdict

import pytest
import walked
from fixture_files import FIXTURES, read_fixture
from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.model.columns.attribute_kinds import VALUE_FIELD_OF_TYPE, AttributeKind, utf8_fault
from onnx_lint.model.columns.nodes import MAX_SHARED_BYTES
from onnx_lint.model.columns.tensor_encodings import is_evident
from onnx_lint.source import BytesSource

SINGULAR = ("f", "i", "s", "t", "g", "sparse_tensor", "tp")
REPEATED = ("floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos")
CASES = ("tensor_type", "sequence_type", "map_type", "optional_type", "sparse_tensor_type", "opaque_type", None)


RULES = (
    "ambiguous-attribute-value",
    "data-in-attribute-reference",
    "incomplete-type",
    "mismatched-attribute-type",
    "misplaced-attribute-reference",
    "missing-documentation",
    "missing-graph-name",
    "non-utf8-attribute",
    "unknown-element-type",
    "unnamed-opaque-type",
    "unsupported-optional-element",
    "untyped-attribute",
)
"""Rules whose fixtures have attributes and types in every place where they can stand."""


@functools.cache
def _fixtures() -> dict[str, Model]:
    paths = [path for rule in RULES for path in sorted((FIXTURES / rule).glob("*/*.textproto"))]
    models = {str(path.relative_to(FIXTURES)): read_fixture(path).model() for path in paths}
    return {name: model for name, model in models.items() if model.loaded}


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
        all(map(is_evident, tensors)) and not any("sparse" in field for field in fields),
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


def _model(text: str) -> Model:
    proto = text_format.Parse(text, schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def test_value_fields_are_those_of_the_schema():
    attribute = schema.message("AttributeProto")
    assert sorted(VALUE_FIELD_OF_TYPE.values()) == sorted(SINGULAR + REPEATED)
    assert {*VALUE_FIELD_OF_TYPE, 0} == set(attribute.AttributeType.values())
    lists = {field for field in VALUE_FIELD_OF_TYPE.values() if field in REPEATED}
    assert lists == {VALUE_FIELD_OF_TYPE[code] for name, code in attribute.AttributeType.items() if name.endswith("S")}


def test_the_fixtures_hold_every_value_field():
    fields = {
        field
        for model in _fixtures().values()
        for each in walked.attributes(model)
        for field in _signature(each.proto)[1]
    }
    assert fields == {*SINGULAR, *REPEATED}


def test_attributes_by_signature():
    for name, model in _fixtures().items():
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
            assert len(found) == len(places) == model.count_attributes(is_wanted)


def test_an_attribute_that_is_found_knows_where_it_stands():
    for name, model in _fixtures().items():
        expected = {
            str(each.place): (each.graph.place, each.node and each.node.place) for each in walked.attributes(model)
        }
        found = {str(each.place): (each.graph.place, each.node and each.node.place) for each in model.attributes(bool)}
        assert found == expected, name


def test_long_attributes_are_told_apart():
    long = MAX_SHARED_BYTES * "a"
    model = _model(f"""
        graph {{
          node {{ attribute {{ name: "p" s: "{long}" }} attribute {{ name: "q" s: "{long}" type: STRING }} }}
          node {{ attribute {{ name: "p" s: "{long}" }} attribute {{ name: "q" s: "b" type: STRING }} }}
        }}
    """)
    found = model.attributes(lambda kind: kind.type == 3)
    assert [str(attribute.place) for attribute in found] == ["graph.node[0].attribute[1]", "graph.node[1].attribute[1]"]


@pytest.mark.parametrize("case", CASES)
def test_types_by_case(case: str | None):
    found_any = False
    for name, model in _fixtures().items():
        expected = [str(each.place) for each in walked.types(model) if each.kind == case]
        found = [str(each.place) for each in model.types(lambda proto: proto.WhichOneof("value") == case)]
        assert found == expected, name
        found_any = found_any or bool(found)
    assert found_any


def test_equal_types_are_asked_for_once():
    kind = "type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } }"
    model = _model(
        f'graph {{ input {{ name: "a" {kind} }} output {{ name: "b" {kind} }} value_info {{ name: "c" {kind} }} }}'
    )
    asked: list[str | None] = []
    assert list(model.types(lambda proto: asked.append(proto.WhichOneof("value")) is not None)) == []
    assert asked == ["sequence_type", "tensor_type"]
    found = model.types(lambda proto: proto.HasField("tensor_type"))
    inner = "type.sequence_type.elem_type"
    assert [str(each.place) for each in found] == [
        f"graph.input[0].{inner}",
        f"graph.output[0].{inner}",
        f"graph.value_info[0].{inner}",
    ]


def test_an_absent_type_is_none():
    model = _model('graph { output { name: "a" } output { name: "b" type { } } }')
    assert [str(each.place) for each in model.types(lambda proto: True)] == ["graph.output[1].type"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b"", None),
        ("gr\u00fcn \u65e5\u672c \U0001f600\0".encode(), None),
        (b"a\xff", 1),
        (b"\xed\xa0\x80", 0),
        (b"ab\xc3", 2),
        (b"\xc0\x80", 0),
    ],
)
def test_utf8_fault(value: bytes, fault: int | None):
    assert utf8_fault(value) == fault

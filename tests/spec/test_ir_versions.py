# SPDX-License-Identifier: Apache-2.0
"""The table of what each IR version brought, against the schema, the clauses and the rule."""

from __future__ import annotations

import pytest
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.engine.registry import registry
from onnx_lint.schema.reserved import FORMER_NAMES, is_reserved
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.domains import is_reverse_domain_name, shown_domain
from onnx_lint.spec.element_types import ELEMENT_TYPES as TABLE
from onnx_lint.spec.ir_versions import LATER_FIELDS, ML_FROM_THE_START, TYPES
from onnx_lint.spec.releases import NEWEST_IR_VERSION

FROM_THE_START = {
    "FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT16", "DOUBLE", "UINT32",
    "UINT64", "COMPLEX64", "COMPLEX128",
}  # fmt: skip
"""The element types of IR version 1."""

ELEMENT_TYPES = {element.name.upper(): element.since for element in TABLE.values() if element.since.ir_version > 1}
ROWS = {**LATER_FIELDS, **TYPES, **ELEMENT_TYPES}


UNDATED = {
    "AttributeProto": "name doc_string f i s t g floats ints strings tensors graphs",
    "DeviceConfigurationProto": "name num_devices device",
    "FunctionProto": "name input output attribute node doc_string",
    "GraphProto": "node name initializer doc_string input output value_info",
    "IntIntListEntryProto": "key value",
    "ModelProto": ("ir_version producer_name producer_version domain model_version doc_string graph metadata_props"),
    "NodeDeviceConfigurationProto": "configuration_id sharding_spec pipeline_stage",
    "NodeProto": "input output name op_type attribute doc_string",
    "OperatorSetIdProto": "domain version",
    "ShardedDimProto": "axis simple_sharding",
    "ShardingSpecProto": "tensor_name device index_to_device_group_map sharded_dim",
    "SimpleShardedDimProto": "dim_value dim_param num_shards",
    "SparseTensorProto": "values indices dims",
    "StringStringEntryProto": "key value",
    "TensorAnnotation": "tensor_name quant_parameter_tensor_names",
    "TensorProto": (
        "dims data_type segment float_data int32_data string_data int64_data double_data "
        "uint64_data raw_data name doc_string"
    ),
    "TensorProto.Segment": "begin end",
    "TensorShapeProto": "dim",
    "TensorShapeProto.Dimension": "dim_value dim_param denotation",
    "TrainingInfoProto": "initialization algorithm initialization_binding update_binding",
    "TypeProto": "tensor_type sequence_type map_type optional_type sparse_tensor_type opaque_type denotation",
    "TypeProto.Map": "key_type value_type",
    "TypeProto.Opaque": "domain name",
    "TypeProto.Optional": "elem_type",
    "TypeProto.Sequence": "elem_type",
    "TypeProto.SparseTensor": "elem_type shape",
    "TypeProto.Tensor": "elem_type shape",
    "ValueInfoProto": "name type doc_string",
}
"""The fields that are as old as their message, or that a clause of their own dates, by message.

A field of a new ONNX release belongs here or into the table: without a date, models of any IR version may have it.
"""


def test_each_field_of_a_model_is_dated_or_as_old_as_its_message():
    fields: dict[str, str] = {}
    waiting = [schema.message("ModelProto").DESCRIPTOR]
    while waiting:
        message = waiting.pop()
        name = message.full_name.partition(".")[2]
        if name not in fields:
            fields[name] = " ".join(
                field.name for field in message.fields if f"{name}.{field.name}" not in LATER_FIELDS
            )
            waiting += [field.message_type for field in message.fields if field.message_type is not None]
    assert {name: undated for name, undated in fields.items() if undated} == UNDATED


def test_each_field_exists():
    missing = []
    for name in LATER_FIELDS:
        message, _, field = name.rpartition(".")
        if field not in schema.message(message).DESCRIPTOR.fields_by_name:
            missing.append(name)
    assert missing == []


def test_each_type_is_a_case_of_type_proto():
    cases = {field.name for field in schema.message("TypeProto").DESCRIPTOR.oneofs_by_name["value"].fields}
    assert cases == {*TYPES, "tensor_type"}
    assert TYPES.keys() >= ML_FROM_THE_START


def test_each_element_type_has_a_row_or_is_as_old_as_the_format():
    names = set(schema.message("TensorProto").DataType.keys())
    assert names == {"UNDEFINED", *FROM_THE_START, *ELEMENT_TYPES}
    assert FROM_THE_START.isdisjoint(ELEMENT_TYPES)


@each_case("name", ROWS)
def test_the_ir_version_is_one_after_the_first(name):
    assert 1 < ROWS[name].ir_version <= NEWEST_IR_VERSION


@each_case("name", [name for name, since in ROWS.items() if since.clause is not None])
def test_the_clause_is_a_gate_that_starts_at_the_ir_version_or_earlier(name):
    clause = clauses()[ROWS[name].clause]
    # No sentence forbids metadata in older models, see the note there.
    assert set(clause.keyword.values()) == {"practice" if clause.id == "META-3" else "gate"}
    if clause.id in ("MOD-7", "MOD-7a"):  # are about the models before
        assert clause.until == ROWS[name].ir_version - 1
    elif clause.id == "ATT-12":  # sparse tensors came first
        assert clause.since <= ROWS[name].ir_version
    else:
        assert clause.since == ROWS[name].ir_version


def test_the_rule_cites_the_clauses_of_the_table():
    cited = set(registry()["premature-feature"].rule.clauses)
    assert cited == {since.clause for since in ROWS.values()} - {None, "MOD-7"}


def test_the_documentation_of_the_rule_names_each_element_type_at_its_ir_version():
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in registry()["premature-feature"].rule.documentation.splitlines()
        if line.startswith("| ")
    ]
    brought = {int(version): what for version, what in rows if version.isdigit()}
    listed = {
        name: version
        for version, what in brought.items()
        for name in ELEMENT_TYPES
        if name.lower() in what.replace(";", ",").replace(",", " ").split()
    }
    assert listed == {name: since.ir_version for name, since in ELEMENT_TYPES.items()}
    assert set(brought) == {since.ir_version for since in ROWS.values() if since.clause not in (None, "MOD-7")}


@pytest.mark.parametrize(
    "name", ["ai.onnx", "com.microsoft", "custom.FB.1", "pkg.onnxscript.torch_lib", "a-b.c_d", "größe.日本"]
)
def test_a_reverse_domain_name(name):
    assert is_reverse_domain_name(name)


@each_case(
    "name", ["", "onnxml", ".", "a.", ".a", "a..b", "a b.c", "-a.b", "a-.b", "a.b\n", "http://example.org", "a.b/c"]
)
def test_no_reverse_domain_name(name):
    assert not is_reverse_domain_name(name)


def test_a_domain_is_shown_by_its_name():
    assert [shown_domain(domain) for domain in ("", "ai.onnx", "com.example")] == ["ai.onnx", "ai.onnx", "com.example"]


def test_the_reserved_numbers_are_those_of_the_schema():
    reserved = {
        message: [number for number in range(1, 40) if is_reserved(message, number)]
        for message in ("AttributeProto", "GraphProto", "FunctionProto", "TypeProto.Opaque", "NodeProto")
    }
    assert reserved == {
        "AttributeProto": [12, 16, 17, 18, 19],
        "GraphProto": [3, 4, 6, 7, 8, 9],
        "FunctionProto": [2, 3],
        "TypeProto.Opaque": [3],
        "NodeProto": [],
    }
    assert [key for key in FORMER_NAMES if not is_reserved(*key)] == []
    assert not is_reserved("GraphProto", None)
    with pytest.raises(KeyError):
        is_reserved("NoSuchProto", 1)

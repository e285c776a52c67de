# SPDX-License-Identifier: Apache-2.0
"""The schema against its source, against the `onnx` package, and against what the linter needs of it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import onnx
import onnx.onnx_data_pb
import onnx.onnx_operators_pb
import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from support.project.each_case import each_case

import onnx_lint
from onnx_lint import schema
from onnx_lint.schema.pool import compiled, files_of
from onnx_lint.schema.variants import packed_file
from tools import compile_schema as compiler

OURS = schema.pool().FindFileByName(compiler.RECORDED_NAME)
THEIRS = [
    onnx.ModelProto.DESCRIPTOR.file,
    onnx.onnx_data_pb.SequenceProto.DESCRIPTOR.file,
    onnx.onnx_operators_pb.OperatorSetProto.DESCRIPTOR.file,
]
ONNX_VERSION = tuple(int(part) for part in onnx.__version__.split(".")[:2])
NEWEST = "onnx.Version.IR_VERSION"


class FieldFacts(NamedTuple):
    number: int
    type: str
    label: str
    type_name: str
    oneof: str | None
    packed: bool
    has_presence: bool
    default: str


def field_facts(file: FileDescriptor, owner: str, message: DescriptorProto, field: Any) -> FieldFacts:
    live = file.pool.FindFieldByName(f"{owner}.{field.name}")
    return FieldFacts(
        number=field.number,
        type=FieldDescriptorProto.Type.Name(field.type),
        label=FieldDescriptorProto.Label.Name(field.label),
        type_name=field.type_name,
        oneof=message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None,
        packed=live.is_packed,
        has_presence=live.has_presence,
        default=field.default_value,
    )


def enum_facts(owner: str, enum: EnumDescriptorProto) -> Iterator[tuple[str, object]]:
    for value in enum.value:
        yield f"{owner}.{enum.name}.{value.name}", value.number


def message_facts(file: FileDescriptor, owner: str, message: DescriptorProto) -> Iterator[tuple[str, object]]:
    name = f"{owner}.{message.name}"
    yield name, "message"
    for field in message.field:
        yield f"{name}.{field.name}", field_facts(file, name, message, field)
    for span in message.reserved_range:
        yield from ((f"{name} reserves number {number}", True) for number in range(span.start, span.end))
    yield from ((f"{name} reserves name {reserved}", True) for reserved in message.reserved_name)
    for enum in message.enum_type:
        yield from enum_facts(name, enum)
    for nested in message.nested_type:
        yield from message_facts(file, name, nested)


def file_facts(file: FileDescriptor) -> Iterator[tuple[str, object]]:
    """Everything that a file declares, by full name."""
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    for enum in proto.enum_type:
        yield from enum_facts(proto.package, enum)
    for message in proto.message_type:
        yield from message_facts(file, proto.package, message)


def our_facts() -> dict[str, object]:
    return dict(file_facts(OURS))


def their_facts() -> dict[str, object]:
    return {name: fact for file in THEIRS for name, fact in file_facts(file)}


def with_nested(message: Descriptor) -> Iterator[Descriptor]:
    yield message
    for nested in message.nested_types:
        yield from with_nested(nested)


def messages(files: list[FileDescriptor]) -> list[Descriptor]:
    return [nested for file in files for top in file.message_types_by_name.values() for nested in with_nested(top)]


def fields(*types: int) -> list[Any]:
    """Return our fields of the given types."""
    return [field for message in messages([OURS]) for field in message.fields if field.type in types]


def create(message: Descriptor) -> Any:
    return message_factory.GetMessageClass(message)()


def is_repeated(field: FieldDescriptor) -> bool:
    # `label` is gone from newer protobuf and `is_repeated` is missing from older.
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


# The source and the compiled file


@pytest.fixture
def _protoc() -> None:
    pytest.importorskip("grpc_tools", reason="the oldest protobuf is tested without the development tools")


@pytest.mark.usefixtures("_protoc")
def test_the_compiled_file_is_what_the_source_compiles_to(tmp_path):
    fresh = tmp_path / "onnx.binpb"

    assert compiler.main(compiled=fresh) == 0
    assert [FileDescriptorSet.FromString(path.read_bytes()) for path in (compiler.COMPILED, fresh)] == [
        compiler.compile_schema(compiler.SOURCE.read_text(encoding="utf-8"))
    ] * 2


def test_the_compiled_file_holds_schema_and_variants_under_stable_names_and_no_source_positions():
    compiled = FileDescriptorSet.FromString(compiler.COMPILED.read_bytes())

    assert [(file.name, file.package) for file in compiled.file] == [
        ("onnx_lint/schema/onnx.proto", "onnx"),
        ("onnx_lint/schema/onnx.proto.outline", "onnx.outline"),
        ("onnx_lint/schema/onnx.proto.nodeless", "onnx.nodeless"),
        ("onnx_lint/schema/onnx.proto.columns", "onnx.columns"),
    ]
    assert not any(file.HasField("source_code_info") for file in compiled.file)


@pytest.mark.usefixtures("_protoc")
def test_a_source_that_does_not_compile_is_reported_and_nothing_is_written(tmp_path, capsys):
    source, compiled = tmp_path / "onnx.proto", tmp_path / "onnx.binpb"
    source.write_text('edition = "2023";\nmessage M { Missing field = 1; }\n', encoding="utf-8")

    assert compiler.main(source=source, compiled=compiled) == 2
    assert capsys.readouterr().err.startswith("onnx_lint/schema/onnx.proto:2:13: ")
    assert not compiled.exists()


def test_each_clause_that_the_comments_cite_is_in_the_catalogue():
    catalogue = tomllib.loads((Path(onnx_lint.__file__).parent / "spec" / "clauses.toml").read_text(encoding="utf-8"))
    cited = re.findall(
        r"\b(?!UTF-8|SHA-1)[A-Z]+-(?:G\d?|D-\w+|\d+[a-z]?)\b", compiler.SOURCE.read_text(encoding="utf-8")
    )

    assert [clause for clause in cited if clause not in catalogue] == []


@pytest.mark.parametrize(
    ("name", "as_bytes"),
    [
        (
            "outline",
            [
                ("GraphProto", "node", ".onnx.NodeProto"),
                ("GraphProto", "initializer", ".onnx.TensorProto"),
                ("GraphProto", "value_info", ".onnx.ValueInfoProto"),
                ("FunctionProto", "node", ".onnx.NodeProto"),
                ("FunctionProto", "value_info", ".onnx.ValueInfoProto"),
            ],
        ),
        ("nodeless", [("GraphProto", "node", ".onnx.NodeProto"), ("FunctionProto", "node", ".onnx.NodeProto")]),
    ],
)
def test_an_outline_differs_from_the_schema_in_what_is_bytes_only(name: str, as_bytes: list[tuple[str, str, str]]):
    files = {file.package: file for file in FileDescriptorSet.FromString(compiler.COMPILED.read_bytes()).file}
    whole, outline = files["onnx"], files[f"onnx.{name}"]
    messages = {message.name: message for message in whole.message_type}
    assert sorted(message.name for message in outline.message_type) == sorted(compiler.OUTLINED)
    differing = []
    for message in outline.message_type:
        assert len(message.field) == len(messages[message.name].field)
        for ours, theirs in zip(message.field, messages[message.name].field, strict=True):
            held = theirs.type_name.rpartition(".")[2]
            expected = f".onnx.{name}.{held}" if held in compiler.OUTLINED else theirs.type_name
            if (ours.type, ours.type_name) != (theirs.type, expected):
                differing.append((message.name, ours.name, theirs.type_name))
                assert (ours.type, ours.type_name) == (FieldDescriptorProto.TYPE_BYTES, "")
            assert (ours.name, ours.number, ours.label) == (theirs.name, theirs.number, theirs.label)
            assert ours.options == theirs.options
    assert differing == as_bytes


@each_case("name", sorted(OURS.message_types_by_name))
def test_packed_messages_differ_from_the_schema_in_that_alone(name):
    theirs = DescriptorProto()
    schema.message(name).DESCRIPTOR.CopyToProto(theirs)
    ours = DescriptorProto()
    schema.packed(name).DESCRIPTOR.CopyToProto(ours)
    assert ours == theirs
    for field in schema.packed(name).DESCRIPTOR.fields:
        is_number = field.cpp_type not in (FieldDescriptor.CPPTYPE_STRING, FieldDescriptor.CPPTYPE_MESSAGE)
        assert field.is_packed == (is_repeated(field) and is_number), field.full_name


def test_every_message_through_which_a_graph_is_reached_is_in_the_outline():
    whole = FileDescriptorSet.FromString(compiler.COMPILED.read_bytes()).file[0]
    held = {m.name: {field.type_name.rpartition(".")[2] for field in m.field} for m in whole.message_type}
    holders = {"GraphProto", "FunctionProto"}
    while more := {name for name, fields in held.items() if fields & holders} - holders:
        holders |= more
    # An operator set is judged in a model around its functions.
    assert holders - {"OperatorSetProto"} == set(compiler.OUTLINED)


# The onnx package


def test_what_onnx_declares_is_declared_here_in_the_same_way():
    ours, theirs = our_facts(), their_facts()
    # The name IR_VERSION moves on to the newest number with each IR version; the number itself must be known.
    newest = theirs.pop(NEWEST)

    assert {name: (fact, ours.get(name)) for name, fact in theirs.items() if ours.get(name) != fact} == {}
    assert newest in {number for name, number in ours.items() if name.startswith("onnx.Version.")}


@pytest.mark.skipif(ONNX_VERSION < (1, 23), reason="an older onnx lacks what later IR versions brought")
def test_nothing_is_declared_here_that_onnx_does_not_declare():
    ours, theirs = our_facts(), their_facts()

    assert {name: fact for name, fact in ours.items() if name not in theirs} == {}
    assert ours[NEWEST] == theirs[NEWEST]


@pytest.mark.parametrize(
    "imports",
    ["import onnx; from onnx_lint import schema", "from onnx_lint import schema; schema.ModelProto(); import onnx"],
    ids=["onnx first", "schema first"],
)
def test_the_schema_works_beside_onnx_in_one_process(imports):
    program = f"""
{imports}
theirs = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g"))
ours = schema.ModelProto.FromString(theirs.SerializeToString())
print(type(ours) is type(theirs), ours.ir_version, ours.graph.name)
print(onnx.ModelProto.FromString(ours.SerializeToString()) == theirs)
"""
    root = Path(onnx_lint.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", program], cwd=root, check=False, capture_output=True, text=True)

    assert (run.returncode, run.stdout, run.stderr) == (0, "False 8 g\nTrue\n", "")


def test_the_schema_is_not_in_the_pool_that_all_share():
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindFileByName(compiler.RECORDED_NAME)


# What the linter needs to see


@pytest.mark.parametrize("field", fields(FieldDescriptor.TYPE_ENUM))
def test_a_number_that_the_enum_does_not_name_stays_readable(field):
    message = create(field.containing_type)
    setattr(message, field.name, 1)
    message.MergeFromString(message.SerializeToString()[:-1] + bytes([99]))

    assert (getattr(message, field.name), message.HasField(field.name)) == (99, True)
    assert len(UnknownFieldSet(message)) == 0


def with_last_byte_ff(field: FieldDescriptor, value: str | bytes) -> tuple[type[Message], bytes]:
    """The class of the field's message, and the bytes of one whose field is the single byte 0xFF."""
    message = create(field.containing_type)
    if is_repeated(field):
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)
    return type(message), message.SerializeToString()[:-1] + b"\xff"


@each_case("field", fields(FieldDescriptor.TYPE_STRING))
def test_a_string_that_is_not_utf_8_is_refused(field):
    message, data = with_last_byte_ff(field, "x")

    # The pure Python implementation of protobuf, used where there is no compiled one, lets UnicodeDecodeError out.
    with pytest.raises((DecodeError, UnicodeDecodeError)):
        message.FromString(data)


@each_case("field", fields(FieldDescriptor.TYPE_BYTES))
def test_a_bytes_field_takes_anything(field):
    message, data = with_last_byte_ff(field, b"x")
    value = getattr(message.FromString(data), field.name)

    assert (list(value) if is_repeated(field) else [value]) == [b"\xff"]


@each_case(
    "field",
    [
        field
        for message in messages([OURS])
        for field in message.fields
        if not is_repeated(field) and field.type != FieldDescriptor.TYPE_MESSAGE
    ],
)
def test_an_absent_scalar_differs_from_one_that_is_zero_or_empty(field):
    message = create(field.containing_type)
    absent = message.HasField(field.name)
    setattr(message, field.name, field.default_value)
    read = type(message).FromString(message.SerializeToString())

    assert (absent, read.HasField(field.name)) == (False, True)


def test_every_message_has_columns_of_the_same_fields():
    for name in schema.pool().FindFileContainingSymbol("onnx.ModelProto").message_types_by_name:
        fields = schema.columns(name).DESCRIPTOR.fields
        expected = {(field.name, field.number) for field in schema.message(name).DESCRIPTOR.fields}
        assert {(field.name, field.number) for field in fields} == expected
        assert all(len(getattr(schema.columns(name)(), field.name)) == 0 for field in fields)


def test_a_message_that_does_not_exist_has_no_columns():
    with pytest.raises(KeyError):
        schema.columns("NoProto")


@pytest.mark.parametrize("change", [b"", b"\x18\x02"], ids=["no features", "other features"])
def test_a_schema_without_the_feature_that_packing_changes_is_refused(change: bytes):
    file = next(files_of(compiled()))
    features = b"\x92\x03\x06\x10\x01\x18\x02\x20\x02"
    assert file.count(features) == 1
    with pytest.raises(ValueError, match="other features"):
        packed_file(file.replace(features, change))

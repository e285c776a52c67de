# SPDX-License-Identifier: Apache-2.0
"""Compile onnx.proto into onnx.binpb, the form in which the schema is read at run time.

The compiled set has three more files. Two are outlines: those messages again in which a graph can stand, with the nodes
of graphs and functions left as bytes, and in one of them their initializers and value infos too. The third has each
message with all fields as lists. onnx_lint.schema.variants says what they are for.

`python -m tools.compile_schema` writes the file. It needs grpcio-tools, a development dependency; users of onnx-lint
never run it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from onnx_lint.schema.variants import VARIANTS

_FOLDER: Final = Path(__file__).parent.parent / "onnx_lint" / "schema"
SOURCE: Final = _FOLDER / "onnx.proto"
COMPILED: Final = _FOLDER / "onnx.binpb"

RECORDED_NAME: Final = "onnx_lint/schema/onnx.proto"
"""The name of the file inside the descriptor, the same wherever the checkout lies."""


OUTLINED: Final = (
    "ModelProto",
    "GraphProto",
    "NodeProto",
    "AttributeProto",
    "FunctionProto",
    "TrainingInfoProto",
)
"""The messages of an outline: those that contain graphs, and those between one graph and another nested in it."""

OUTLINES: Final = {name: variant.as_bytes for name, variant in VARIANTS.items() if variant.as_bytes}
"""The variants of the schema that are compiled, with the fields of graphs and functions that are bytes in each."""


class CompileError(Exception):
    """The source is not a valid schema; the message is what protoc says of it."""


def compile_schema(source: str) -> FileDescriptorSet:
    """Compile the text of a .proto file into its file descriptor, without comments and positions, and its outlines.

    Raises CompileError when the text is not a valid schema, or grpcio-tools is not installed.
    """
    if importlib.util.find_spec("grpc_tools") is None:
        raise CompileError("grpcio-tools is not installed")
    # protoc records the path that it is given, so it is run where the relative one leads to the source.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        file = root / RECORDED_NAME
        file.parent.mkdir(parents=True)
        file.write_text(source, encoding="utf-8")
        protoc = [sys.executable, "-P", "-m", "grpc_tools.protoc"]
        options = ["--proto_path=.", "--descriptor_set_out=set", RECORDED_NAME]
        run = subprocess.run([*protoc, *options], cwd=root, check=False, capture_output=True, text=True)
        if run.returncode != 0:
            raise CompileError(run.stderr.strip())
        compiled = FileDescriptorSet.FromString((root / "set").read_bytes())
    (whole,) = compiled.file
    return FileDescriptorSet(file=[whole, *(outline(whole, name) for name in OUTLINES), columns(whole)])


def outline(whole: FileDescriptorProto, name: str) -> FileDescriptorProto:
    """An outline of the compiled schema, in a package of its own; all other messages are those of the schema."""
    package = f"{whole.package}.{name}"
    made = FileDescriptorProto(name=f"{whole.name}.{name}", package=package, dependency=[whole.name])
    made.syntax, made.edition = whole.syntax, whole.edition
    made.options.CopyFrom(whole.options)
    made.message_type.extend(
        _outlined(message, package, OUTLINES[name]) for message in whole.message_type if message.name in OUTLINED
    )
    return made


def _outlined(message: DescriptorProto, package: str, as_bytes: frozenset[str]) -> DescriptorProto:
    made = DescriptorProto()
    made.CopyFrom(message)
    made.ClearField("enum_type")  # fields refer to the enums of the schema
    for field in made.field:
        held = field.type_name.rpartition(".")[2]
        if field.name in as_bytes:
            field.type = FieldDescriptorProto.TYPE_BYTES
            field.ClearField("type_name")
        elif held in OUTLINED:
            field.type_name = f".{package}.{held}"
    return made


def columns(whole: FileDescriptorProto) -> FileDescriptorProto:
    """Return the schema with each field as a list, messages as bytes, and enums as numbers."""
    made = FileDescriptorProto(name=f"{whole.name}.columns", package=VARIANTS["columns"].package)
    made.message_type.extend(map(_in_lists, whole.message_type))
    return made


def _in_lists(message: DescriptorProto) -> DescriptorProto:
    made = DescriptorProto(name=message.name, nested_type=map(_in_lists, message.nested_type))
    for field in message.field:
        kind = _STORED_AS.get(field.type, field.type)
        made.field.add(name=field.name, number=field.number, type=kind, label=FieldDescriptorProto.LABEL_REPEATED)
    return made


_STORED_AS: Final = {
    FieldDescriptorProto.TYPE_ENUM: FieldDescriptorProto.TYPE_INT32,
    FieldDescriptorProto.TYPE_MESSAGE: FieldDescriptorProto.TYPE_BYTES,
}


def main(*, source: Path = SOURCE, compiled: Path = COMPILED) -> int:
    """Write `compiled`; return the exit code, which is not 0 if the source does not compile."""
    try:
        fresh = compile_schema(source.read_text(encoding="utf-8"))
    except CompileError as error:
        print(error, file=sys.stderr)
        return 2
    compiled.write_bytes(fresh.SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Recognizes the form of a file by its first bytes, and the message in it, if its content is unambiguous."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.documents.kinds import KINDS, MAGIC, MODEL_KIND, OPERATOR_SET_KIND
from onnx_lint.ir.places.place import ROOT
from onnx_lint.model import Fault, FaultKind
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

HEAD_BYTES = 4096

TEXT_BYTES = 1 << 16
"""How much of a text is looked at, since it may begin with a license; then the parser decides."""


class Form(Enum):
    """The forms in which a message is written."""

    BINARY = "binary"
    TEXTPROTO = "textproto"
    JSON = "json"


_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def _is_safetensors(head: bytes) -> bool:
    # An eight-byte little-endian length, then that many bytes of JSON.
    return len(head) > 9 and head[8:9] == b"{" and head[9:10] in b'"} \n' and head[5:8] == b"\0\0\0"


class ForeignFormat(Record):
    """A format of other files than models, recognized by its magic number."""

    offset: int
    magic: bytes
    name: str
    hint: str
    """What to do with such a file."""


_UNPACK: Final = "unpack it"
_EXPORT: Final = "convert or export it to ONNX"
_EXPORT_OR_UNPACK: Final = "export the model to ONNX; if the archive holds an ONNX file, unpack it"
_CHECK_PATH: Final = "check the path: files of this kind hold no model"

# The fields of `ForeignFormat`. Records are made of rows that match only, as most files are models.
# Sources: the formats' own descriptions of their magic numbers.
_ROWS: Final = (
    (0, b"\x1f\x8b", "a gzip archive", _UNPACK),
    (0, b"PK\x03\x04", "a zip archive (such as a PyTorch checkpoint or a NumPy .npz)", _EXPORT_OR_UNPACK),
    (0, b"PK\x05\x06", "an empty zip archive", "export, copy or download the model again"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (0, b"\xfd7zXZ\0", "an xz archive", _UNPACK),
    (0, b"BZh", "a bzip2 archive", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (4, b"ORTM", "an ONNX Runtime flatbuffer (.ort)", _EXPORT),
    (4, b"TFL3", "a TensorFlow Lite flatbuffer", _EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (0, b"\x93NUMPY", "a NumPy array", _CHECK_PATH),
    (0, b"GGUF", "a GGUF file", _EXPORT),
    (0, b"\x7fELF", "an ELF binary", _CHECK_PATH),
    (0, b"%PDF-", "a PDF document", _CHECK_PATH),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", _CHECK_PATH),
    (0, b"\xff\xd8\xff", "a JPEG image", _CHECK_PATH),
    (0, b"GIF87a", "a GIF image", _CHECK_PATH),
    (0, b"GIF89a", "a GIF image", _CHECK_PATH),
    (0, b"RIFF", "a RIFF file (such as a WebP image or a WAVE recording)", _CHECK_PATH),
    (0, b"SQLite format 3\0", "a SQLite database", _CHECK_PATH),
    (
        0,
        b"\0\x05\x16\x07",
        "an AppleDouble file, in which macOS keeps the attributes of the file without '._'",
        "use the file without '._' in its name",
    ),
    (0, b"PAR1", "an Apache Parquet file", _CHECK_PATH),
    (0, b"ARROW1\0\0", "an Apache Arrow file", _CHECK_PATH),
    (0, b"MATLAB 5.0 MAT-file", "a MATLAB file", _EXPORT),
    (0, b"ML\xefR", "MLIR bytecode", _EXPORT),
    (0, b"\0asm", "a WebAssembly module", _CHECK_PATH),
    (0, b"ftrt", "a TensorRT engine", _EXPORT),
    (4, b"ET12", "an ExecuTorch program", _EXPORT),
)
_SAFETENSORS: Final = (8, b"{", "a safetensors file", _EXPORT)
_PICKLE: Final = (0, b"\x80", "a Python pickle", _EXPORT)

_MAGICS_BY_OFFSET: Final = {
    start: tuple([magic for offset, magic, *_ in _ROWS if offset == start])
    for start in sorted({offset for offset, *_ in _ROWS})
}
"""The magic numbers by offset: there are far fewer offsets than formats."""


def format_by_magic(head: bytes) -> ForeignFormat | None:
    """Return the format that a file has by its magic number; None for a message of Protocol Buffers and for others."""
    for start, magics in _MAGICS_BY_OFFSET.items():
        if head.startswith(magics, start) and not (start and _may_be_model(head, start)):
            return next(ForeignFormat(*row) for row in _ROWS if row[0] == start and head.startswith(row[1], start))
    if _is_safetensors(head):
        return ForeignFormat(*_SAFETENSORS)
    if head.startswith(b"\x80") and head[1:2] in b"\x02\x03\x04\x05" and b"." in head:
        return ForeignFormat(*_PICKLE)
    return None


def _may_be_model(head: bytes, position: int) -> bool:
    """Return whether a model can begin with these bytes: a text, or fields that reach beyond `position`.

    For example, `08 08 12 09 "ORTModule"` are the fields ir_version and producer_name. In a file of the other format,
    the bytes before its magic number cannot be split into fields.
    """
    if is_utf8_text(head):
        return True
    try:
        for _, _, _, _, following in wire.records(BytesSource(head), 0, len(head)):
            if following > position:
                return True
    except WireError as error:
        return error.field is not None  # the length of a field that ends after the head
    return False


CONTROL_BYTES: Final = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\n\r")
"""The bytes that no text has."""

_HTML: Final = rb"(?i)\s*+<(!doctype|html|head|body|\?xml)"
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_IN_BRACKETS: Final = rf'[^()"]|{_STRING}'
# Types have brackets of their own, at most two levels deep here: optional(seq(float)).
_INPUTS: Final = rf"\((?:{_IN_BRACKETS}|\((?:{_IN_BRACKETS}|\((?:{_IN_BRACKETS})*+\))*+\))*+\)"
_FIELDS_IN_BRACKETS: Final = (
    "ir_version|opset_import|domain|overload|producer_name|producer_version|model_version|doc_string|metadata_props"
)
# What onnx.parser reads: fields of a model or function in angle brackets, or a graph or function that looks like a
# call. Comments are taken away before.
_PARSER_SYNTAX: Final = (
    rf"(?as)\s*+(?:<\s*+(?:{_FIELDS_IN_BRACKETS})\s*+:"
    rf'|(?:\w++|{_STRING})\s*+(?:<(?:[^>"]|{_STRING})*+>)?+\s*+{_INPUTS}\s*+=>)'
)
# The name of a field and a sign that may follow it. Comments are taken away before.
_TEXTPROTO: Final = r"(?a)\s*+[A-Za-z_][A-Za-z0-9_]*+\s*+[:{<]"
_ENCODING_MARKS = {b"\xff\xfe": "UTF-16 text", b"\xfe\xff": "UTF-16 text"}
_TEXT_SUFFIXES = (".textproto", ".txtpb", ".pbtxt", ".prototxt")
_JSON_SUFFIXES = (".json", ".onnxjson")
_BINARY_SUFFIXES = (".onnx", ".pb")
"""The suffixes for which consumers, such as the onnx package, parse the binary form without looking at the content."""


def _no_model(message: str, hint: str | None = None) -> Fault:
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0, hint=hint)


def identify(source: Source, name: str) -> Form | Fault:
    """Return the form of the model, or a fault that names the format of the file."""
    head = source.read_at(0, HEAD_BYTES)
    if not head:
        return _empty(name)
    foreign = format_by_magic(head)
    if foreign is not None:
        return _no_model(f"the file is {foreign.name}, not a model", foreign.hint)
    for mark, what in _ENCODING_MARKS.items():
        if head.startswith(mark):
            return _no_model(f"the file is {what}, not a model", "write the text in UTF-8")
    # The first bytes of a serialized model include a control byte, which no text has.
    if is_utf8_text(head):
        return _identify_text(source.read_at(0, TEXT_BYTES).removeprefix(b"\xef\xbb\xbf"), name)
    return Form.BINARY


def _empty(name: str) -> Fault:
    """Return the fault of an empty file. It is an empty message in every form, which is not a useful model."""
    if name == "-":
        return _no_model("standard input is empty", "check the command that writes to standard input")
    return _no_model("the file is empty", "export, copy or download it again")


def is_utf8_text(head: bytes) -> bool:
    """Return whether the beginning of a file is that of a text in UTF-8. It may end inside of a character."""
    may_be_cut = len(head) == HEAD_BYTES
    return head.translate(None, CONTROL_BYTES) == head and _is_utf8(head, may_be_cut=may_be_cut)


def offset_of_non_utf8(head: bytes) -> int | None:
    """Return the offset of the first byte that is not UTF-8 in the beginning of a text; None if there is none.

    Also None for binary data: for bytes that no text has, and if at most half of the bytes are ASCII.
    """
    if head.translate(None, CONTROL_BYTES) != head or 2 * len(head.decode("ascii", "ignore")) <= len(head):
        return None
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _is_utf8(head: bytes, *, may_be_cut: bool) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return may_be_cut and error.start >= len(head) - 3  # a character has up to four bytes
    return True


def _identify_text(head: bytes, name: str) -> Form | Fault:
    lower = name.lower()
    if head.startswith(_LFS_POINTER):
        from onnx_lint.ir.tensors.data_folder import HOW_TO_PULL, NOT_PULLED

        return _no_model(f"the file is a Git LFS pointer: {NOT_PULLED} the model", HOW_TO_PULL)
    if re.match(_HTML, head):
        return _no_model("the file is HTML or XML text, not a model", "download the model again; this is a page")
    plain = _without_comments(head.decode("utf-8", "replace"))
    if re.match(_PARSER_SYNTAX, plain):
        return _no_model(f"the file is in the syntax of onnx.parser, {_NOT_SERIALIZED}", _PARSE)
    if head.lstrip()[:1] == b"{" or lower.endswith(_JSON_SUFFIXES):
        return Form.JSON
    if re.match(_TEXTPROTO, plain) or lower.endswith(_TEXT_SUFFIXES):
        return Form.TEXTPROTO
    return _no_model("the file is text, not a model")


_NOT_SERIALIZED: Final = "which is not a serialized form of a model"
_PARSE: Final = "parse the text with onnx.parser.parse_model, and save the result with onnx.save"


def is_parser_syntax(beginning: str) -> bool:
    """Return whether a text begins as in the syntax of onnx.parser."""
    return re.match(_PARSER_SYNTAX, _without_comments(beginning)) is not None


def _without_comments(text: str) -> str:
    from onnx_lint.loader.text.text_tokens import with_comments_as  # late, as models in binary form need no patterns

    return with_comments_as(" ", text)


def misnamed(form: Form, name: str) -> tuple[Fault, ...]:
    """Return a fault if a file in text or JSON form has the name of one in binary form; empty otherwise."""
    suffix = next((each for each in _BINARY_SUFFIXES if name.lower().endswith(each)), None)
    if suffix is None or form is Form.BINARY:
        return ()
    what = "JSON" if form is Form.JSON else "text format"
    says = f"a name that ends in {suffix} says that it is in binary form"
    return (Fault(FaultKind.FILE_NAME, ROOT, f"the file is in Protocol Buffers' {what}, but {says}", offset=0),)


# --- the message in the file

DATA_SUFFIX = ".pb"
SET_SUFFIX = ".onnxopset"

_MAGIC = b"\x0a\x09" + MAGIC.encode()
"""The magic word as a field: its tag, its length, its letters."""

_TEXT_MAGIC = rb"""(?m)^[^\S\n]*+magic\s*+:\s*+["']ONNXOPSET["']"""
_JSON_MAGIC = rb'"magic"\s*+:\s*+"ONNXOPSET"'
# The comment in which the text format of Protocol Buffers names the message.
_TEXT_MESSAGE = rb"(?m)^#[^\S\n]*+proto-message:[^\S\n]*+(?:onnx\.)?(\w++)[^\S\n]*+$"


def kind_of_content(source: Source, form: Form, name: str) -> str | None:
    """Return the name of the message in `source`. It is `ModelProto` if the content does not decide.

    A tensor or value is recognized only in a file called `.pb`, as in the data of test cases: under another name, a
    tensor would pass as a conforming model. None if the content of a `.pb` file fits several messages, or none. A file
    called `.onnxopset` that cannot be anything else is an operator set without its magic word, which is then its fault.
    """
    head = source.read_at(0, HEAD_BYTES if form is Form.BINARY else TEXT_BYTES)
    if form is Form.TEXTPROTO:
        stated = re.search(_TEXT_MESSAGE, head)
        if stated is not None and stated[1].decode() in KINDS:
            return stated[1].decode()
        return OPERATOR_SET_KIND if re.search(_TEXT_MAGIC, head) else MODEL_KIND
    if form is Form.JSON:
        return OPERATOR_SET_KIND if re.search(_JSON_MAGIC, head) else MODEL_KIND
    if _MAGIC in head and _begins_with_magic(source):
        return OPERATOR_SET_KIND
    if not name.lower().endswith((DATA_SUFFIX, SET_SUFFIX)):
        return MODEL_KIND
    from onnx_lint.loader.identity.other_messages import data_kind, possible_kinds

    if name.lower().endswith(SET_SUFFIX):
        return OPERATOR_SET_KIND if possible_kinds(source) == [OPERATOR_SET_KIND] else MODEL_KIND
    return data_kind(source)


def _begins_with_magic(source: Source) -> bool:
    """Return true if the magic word is one of the first fields; some writers use another order."""
    try:
        for number, wire_type, tag, _, following in wire.records(source, 0, source.size):
            if number == 1 and wire_type == WireType.LEN:
                return source.read_at(tag, following - tag) == _MAGIC
            if tag > HEAD_BYTES:
                break
    except WireError:
        pass  # bytes that cannot be split have no fields
    return False

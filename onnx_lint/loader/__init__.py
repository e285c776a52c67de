# SPDX-License-Identifier: Apache-2.0
"""The loader: from a source to a Model, whatever the bytes are.

What is wrong with the bytes becomes faults of the model; nothing here raises for the content of a file.
"""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.loader.identify import Form, identify
from onnx_lint.loader.inspection import Inspection, inspect
from onnx_lint.loader.skeleton import Skeleton, read_skeleton
from onnx_lint.loader.text import parse_json, parse_textproto
from onnx_lint.model import Fault, FaultKind, Model, Proto
from onnx_lint.model.place import ROOT
from onnx_lint.schema.wire import WireError
from onnx_lint.source import BytesSource, Source
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard

MAX_PARSED_BYTES = (1 << 31) - 1
"""Protocol Buffers parses no message of 2 GiB or more."""


def load(
    source: Source, name: str = "", standard: Standard = DEFAULT_STANDARD, directory: Path | None = None
) -> Model:
    """Load the model in `source`. `name` is the file's name; its suffix decides only what the content leaves open.

    `directory`: the folder in which external data is to be looked for, None for nowhere.

    Always returns a Model; where no message could be read, `Model.loaded` is false and `Model.faults` says why.
    Raises OSError when the source cannot be read.
    """
    form = identify(source, name)
    if isinstance(form, Fault):
        return Model(None, source, faults=(form,), standard=standard)
    if form is Form.BINARY:
        return _load_binary(source, standard, directory)
    parse = parse_json if form is Form.JSON else parse_textproto
    parsed = parse(source)
    if isinstance(parsed, Fault):
        return Model(None, source, faults=(parsed,), form=form.value, standard=standard)
    return Model(parsed, source, form=form.value, directory=directory, standard=standard)


def _load_binary(source: Source, standard: Standard, directory: Path | None) -> Model:
    try:
        stripped = read_skeleton(source)
    except WireError:
        return Model(None, source, faults=inspect(source).faults, standard=standard)
    if len(stripped.data) > MAX_PARSED_BYTES:
        message = f"the model without its tensors has {len(stripped.data):,} bytes, more than Protocol Buffers parses"
        fault = Fault(FaultKind.NOT_A_MODEL, ROOT, message)
        return Model(None, source, faults=(fault,), standard=standard)
    proto = _parse(stripped.data)
    if proto is not None and _is_canonical(proto, stripped.data):
        return Model(proto, source, payloads=stripped.payloads, directory=directory, standard=standard)
    proto, faults = _load_irregular(source, stripped, proto)
    return Model(proto, source, faults=faults, payloads=stripped.payloads, directory=directory, standard=standard)


def _load_irregular(
    source: Source, stripped: Skeleton, proto: Proto | None
) -> tuple[Proto | None, tuple[Fault, ...]]:
    """A message that does not parse, or is not written as its parse would be: look at every field of it."""
    inspection = inspect(source)
    if inspection.faults and proto is None and not inspection.fatal:
        proto = _parse(_with_readable_strings(stripped.data))
    faults = inspection.faults
    if inspection.fatal:
        proto = None
    elif proto is None:
        faults = (*faults, Fault(FaultKind.NOT_A_MODEL, ROOT, "Protocol Buffers cannot parse the file"))
    return proto, faults


def _parse(data: bytes) -> Proto | None:
    try:
        return schema.message("ModelProto").FromString(data)
    except (DecodeError, UnicodeDecodeError):  # the pure-Python parser raises the second for a string
        return None


def _is_canonical(proto: Proto, data: bytes) -> bool:
    """Whether `data` is exactly what writing `proto` gives, unknown fields left out.

    Then there are no unknown fields, no wrong wire types and no singular field given twice, and the walk over every
    single field, which costs a hundred times as much, is not needed. Most writers write fields in ascending order.
    """
    proto.DiscardUnknownFields()
    return bool(proto.SerializePartialToString() == data)


def _with_readable_strings(data: bytes) -> bytes:
    """The message with `?` for each byte that is not UTF-8 in a string field, so that the rest can be judged."""
    patched = bytearray(data)
    inspection: Inspection = inspect(BytesSource(data))
    for fault in inspection.faults:
        if fault.kind is FaultKind.UTF8 and fault.offset is not None and fault.length is not None:
            span = slice(fault.offset, fault.offset + fault.length)
            readable = patched[span].decode("utf-8", "surrogateescape")
            patched[span] = "".join("?" if "\udc80" <= char <= "\udcff" else char for char in readable).encode()
    return bytes(patched)

# SPDX-License-Identifier: Apache-2.0
"""The loader: from a source to a Model, whatever the bytes are.

What is wrong with the bytes becomes faults of the model; nothing here raises for the content of a file.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.limits import DEFAULT_LIMITS, Limits
from onnx_lint.loader.bounds import limit_fault, too_large, too_many
from onnx_lint.loader.identify import Form, identify
from onnx_lint.loader.inspection import Inspection, inspect
from onnx_lint.loader.kinds import kind_of_content
from onnx_lint.loader.skeleton import MessageTooLargeError, Skeleton, read_skeleton
from onnx_lint.model import Fault, FaultKind, Model, Proto
from onnx_lint.model.documents import MODEL
from onnx_lint.model.place import ROOT
from onnx_lint.schema.wire import WireError
from onnx_lint.source import BytesSource, Source
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard

MAX_PARSED_BYTES = (1 << 31) - 1
"""Protocol Buffers parses no message of 2 GiB or more."""


def load(
    source: Source,
    name: str = "",
    standard: Standard = DEFAULT_STANDARD,
    directory: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    proto: str | None = None,
) -> Model:
    """Load the model in `source`. `name` is the file's name; its suffix decides only what the content leaves open.

    `directory`: the folder in which external data is to be looked for, None for nowhere. `limits`: what may be in the
    file; of a file that holds more there is a fault that says so and no message. `proto`: the message that the file
    holds, such as `TensorProto`; None to tell by its content.

    Always returns a Model; where no message could be read, `Model.loaded` is false and `Model.faults` says why.
    Raises ReadError when the source cannot be read.
    """
    form = identify(source, name)
    if isinstance(form, Fault) and source.size == 0 and proto not in {None, MODEL}:
        form = Form.BINARY
    if isinstance(form, Fault):
        return Model(None, source, faults=(form,), standard=standard)
    large = too_large(source, limits, is_text=form is not Form.BINARY)
    if large is not None:
        return Model(None, source, faults=(large,), form=form.value, standard=standard, limits=limits)
    kind = proto or kind_of_content(source, form, name)
    if form is Form.BINARY and kind == MODEL:
        return _load_binary(source, standard, directory, limits)
    if form is Form.BINARY:
        return _load_document(source, kind, standard, directory, limits)
    from onnx_lint.loader.text import parse_json, parse_textproto  # with the readers of protobuf, for text alone

    parse = parse_json if form is Form.JSON else parse_textproto
    parsed = parse(source, kind)
    if isinstance(parsed, Fault):
        return Model(None, source, faults=(parsed,), form=form.value, kind=kind, standard=standard)
    model = Model(parsed, source, form=form.value, kind=kind, directory=directory, standard=standard, limits=limits)
    return _bounded(model)


def _load_document(source: Source, kind: str, standard: Standard, directory: str | None, limits: Limits) -> Model:
    """A document that is no model. It is parsed whole: one of more bytes than a message may have is not judged."""
    if source.size > min(limits.message_bytes, MAX_PARSED_BYTES):
        fault = limit_fault("message_bytes", limits, f"the file takes up {source.size:,} bytes")
        return Model(None, source, faults=(fault,), kind=kind, standard=standard, limits=limits)
    data = source.read_at(0, source.size)
    proto = _parse(data, kind)
    faults: tuple[Fault, ...] = ()
    if proto is None or not _is_canonical(proto, data):
        inspection = inspect(source, kind)
        faults = inspection.faults
        if inspection.fatal:
            proto = None
        elif proto is None:
            proto = _parse(_with_readable_strings(data, kind), kind)
        if proto is None and not faults:
            faults = (Fault(FaultKind.NOT_A_MODEL, ROOT, f"Protocol Buffers cannot parse the file as {kind}"),)
    model = Model(proto, source, faults=faults, kind=kind, directory=directory, standard=standard, limits=limits)
    return _bounded(model)


def _bounded(model: Model) -> Model:
    """The model, or one that holds nothing but the fault that there is too much in it."""
    fault = too_many(model, model.limits) if model.loaded else None
    if fault is None:
        return model
    faults = (*model.faults, fault)
    return Model(
        None,
        model.source,
        faults=faults,
        form=model.form,
        kind=model.kind,
        standard=model.standard,
        limits=model.limits,
    )


def _load_binary(source: Source, standard: Standard, directory: str | None, limits: Limits) -> Model:
    try:
        stripped = read_skeleton(source, limits.message_bytes)
    except MessageTooLargeError as error:
        what = f"the model without the contents of its tensors takes up at least {error.size:,} bytes"
        fault = limit_fault("message_bytes", limits, what)
        return Model(None, source, faults=(fault,), standard=standard, limits=limits)
    except WireError as error:
        faults = inspect(source).faults or (_unsplit(error),)
        return Model(None, source, faults=faults, standard=standard, limits=limits)
    if len(stripped.data) > MAX_PARSED_BYTES:
        message = f"the model without its tensors has {len(stripped.data):,} bytes, more than Protocol Buffers parses"
        fault = Fault(FaultKind.NOT_A_MODEL, ROOT, message)
        return Model(None, source, faults=(fault,), standard=standard, limits=limits)
    proto = _parse(stripped.data)

    def model_of(proto: Proto | None, faults: tuple[Fault, ...]) -> Model:
        model = Model(
            proto,
            source,
            faults=faults,
            payloads=stripped.payloads,
            directory=directory,
            standard=standard,
            limits=limits,
        )
        return _bounded(model)

    if proto is not None:
        # Before the slow walk, which a million empty fields would keep busy for seconds.
        model = model_of(proto, ())
        if not model.loaded or _is_canonical(proto, stripped.data):
            return model
    return model_of(*_load_irregular(source, stripped, proto))


def _unsplit(error: WireError) -> Fault:
    """The fault of bytes that could not be split while the slow walk finds nothing wrong: a file that shrank."""
    kind = FaultKind.NESTING if error.problem == "nesting" else FaultKind.TRUNCATED
    return Fault(kind, ROOT, f"the file cannot be split into fields: {error.detail}", offset=error.offset)


def _load_irregular(source: Source, stripped: Skeleton, proto: Proto | None) -> tuple[Proto | None, tuple[Fault, ...]]:
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


def _parse(data: bytes, kind: str = MODEL) -> Proto | None:
    try:
        return schema.message(kind).FromString(data)
    except (DecodeError, UnicodeDecodeError):  # the pure-Python parser raises the second for a string
        return None


def _is_canonical(proto: Proto, data: bytes) -> bool:
    """Whether `data` is exactly what writing `proto` gives, unknown fields left out.

    Then there are no unknown fields, no wrong wire types and no singular field given twice, and the walk over every
    single field, which costs a hundred times as much, is not needed. Most writers write fields in ascending order.
    """
    proto.DiscardUnknownFields()
    return bool(proto.SerializePartialToString() == data)


def _with_readable_strings(data: bytes, kind: str = MODEL) -> bytes:
    """The message with `?` for each byte that is not UTF-8 in a string field, so that the rest can be judged."""
    patched = bytearray(data)
    inspection: Inspection = inspect(BytesSource(data), kind)
    for fault in inspection.faults:
        if fault.kind is FaultKind.UTF8 and fault.offset is not None and fault.length is not None:
            span = slice(fault.offset, fault.offset + fault.length)
            readable = patched[span].decode("utf-8", "surrogateescape")
            patched[span] = "".join("?" if "\udc80" <= char <= "\udcff" else char for char in readable).encode()
    return bytes(patched)

# SPDX-License-Identifier: Apache-2.0
"""From a source to a `Model`, whatever the bytes are.

What is wrong with the bytes becomes faults of the model; nothing here raises for the content of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from onnx_lint.common.memory import collect_new
from onnx_lint.common.record import EMPTY
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import MODEL, describe_kind
from onnx_lint.ir.places.place import ROOT, Key
from onnx_lint.loader.binary.canonical import assemble, canonical_outline, is_shallow
from onnx_lint.loader.binary.strip_payloads import (
    TOO_MANY_FIELDS,
    MessageTooLargeError,
    Skeleton,
    TooManyFieldsError,
    read_skeleton,
)
from onnx_lint.loader.identity.document_kind import kind_of_content
from onnx_lint.loader.identity.identify import Form, identify, misnamed
from onnx_lint.loader.limits.limit_faults import (
    FREE_BYTES,
    SMALL_BYTES,
    TooManyElementsError,
    limit_fault,
    too_large,
    too_many,
)
from onnx_lint.model import Fault, FaultKind, Model, Payload, Proto, TooDeepError
from onnx_lint.schema.wire import WireError
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.data_folder import DataFolder

MAX_PARSED_BYTES = (1 << 31) - 1
"""Protocol Buffers parses no message of 2 GiB or more."""


def load(
    source: Source,
    name: str = "",
    standard: Standard = DEFAULT_STANDARD,
    directory: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    proto: str | None = None,
    *,
    schemas: OperatorSchemas = BUILT_IN,
    target: Target = NO_TARGET,
    opset_imports: Mapping[str, int] = EMPTY,
    trusted_folders: Sequence[str] = (),
    given_folder: DataFolder | None = None,
) -> Model:
    """Load the model in `source`. `name` is the file's name; its suffix decides only what the content leaves open.

    `directory`: the folder in which external data is to be looked for, None for nowhere. `limits`: what may be in the
    file; of a file that holds more there is a fault that says so and no message. `proto`: the message that the file
    holds, such as `TensorProto`; None to tell by its content. `schemas`: the operators that are known. `target`: the
    consumer that the model is meant for. `opset_imports`: the versions of operator sets, by domain, that a graph or
    node is taken to import which stands in no model. `trusted_folders`: where links to external data may lead.
    `given_folder`: the files of external data where `directory` is none of the file system.

    Always returns a Model; where no message could be read, `Model.loaded` is false and `Model.faults` says why.
    Raises ReadError when the source cannot be read.
    """
    make = partial(
        Model,
        source=source,
        directory=directory,
        standard=standard,
        limits=limits,
        schemas=schemas,
        target=target,
        opset_imports=opset_imports,
        trusted_folders=trusted_folders,
        given_folder=given_folder,
    )
    form = identify(source, name)
    if isinstance(form, Fault) and source.size == 0 and proto not in {None, MODEL}:
        form = Form.BINARY
    if isinstance(form, Fault):
        return make(None, faults=(form,))
    # What a binary file holds may take a look at all of it.
    kind = proto or (MODEL if source.size > limits.file_bytes else kind_of_content(source, form, name))
    large = too_large(source, limits, kind, is_text=form is not Form.BINARY)
    if large is not None:
        return make(None, faults=(large,), form=form.value, kind=kind)
    if form is Form.BINARY:
        return _load_binary(source, kind, limits, make)
    from onnx_lint.loader.text.read_text import read_text  # with the readers of protobuf, for text alone

    parsed = read_text(source, form, kind, limits)
    if isinstance(parsed, Fault) and kind == MODEL and proto is None:
        from onnx_lint.loader.text.text_kinds import another_text  # late, as few texts are no model

        parsed = another_text(source, form, parsed, limits)
    if isinstance(parsed, Fault):
        return make(None, faults=(parsed,), form=form.value, kind=kind)
    return _bounded(partial(make, form=form.value, kind=kind), parsed, misnamed(form, name))


Make = Callable[..., Model]
"""Makes the model of a message, or of none, with what is known of the file beside it."""


def _bounded(make: Make, proto: Proto | None, faults: tuple[Fault, ...] = ()) -> Model:
    """The model, or one that holds nothing but the fault that there is too much in it."""
    model = make(proto, faults=faults)
    fault = too_many(model, model.limits) if model.loaded else None
    return model if fault is None else make(None, faults=(*faults, fault))


_TENSORS = ("TensorProto", "SparseTensorProto")


def _load_binary(source: Source, kind: str, limits: Limits, make: Make) -> Model:
    def model_of(proto: Proto | None, faults: tuple[Fault, ...]) -> Model:
        return _bounded(partial(make, payloads=payloads, kind=kind), proto, faults)

    payloads: Mapping[Key, tuple[Payload, ...]] = {}
    try:
        skeleton = _countable(source, kind, limits)
        payloads = skeleton.payloads
        if kind == MODEL:
            regular = _regular(canonical_outline(skeleton), model_of)
            if regular is not None:
                return regular
            if source.size > FREE_BYTES:
                collect_new()  # the model that was tried, of which parts refer to each other
        proto, is_as_written = assemble(skeleton, kind)
        if proto is None:
            from onnx_lint.loader.binary.irregular import read_irregular

            other = _other_message(source, kind)
            if other is not None:
                return model_of(None, (other,))
            return model_of(*read_irregular(source, kind, skeleton.data, limits))
    except MessageTooLargeError as error:
        contents = "its contents" if kind in _TENSORS else "the contents of its tensors"
        what = f"{describe_kind(kind)} without {contents} takes up at least {error.size:,} bytes"
        return model_of(None, (limit_fault("message_bytes", limits, kind, what),))
    except TooManyFieldsError:
        return model_of(None, (limit_fault("fields", limits, kind, TOO_MANY_FIELDS),))
    except TooManyElementsError as error:
        return model_of(None, (limit_fault("element_bytes", limits, kind, str(error)),))
    except WireError as error:
        return model_of(None, _unsplit(source, kind, limits, error))
    # Before the walk over single fields, which a million empty ones would keep busy.
    model = model_of(proto, ())
    is_suspect = model.loaded and not (is_as_written and is_shallow(model))
    if is_suspect or (kind == MODEL and not (proto.HasField("graph") or proto.functions)):
        other = _other_message(source, kind)
        if other is not None:
            return model_of(None, (other,))
    if not is_suspect:
        return model
    from onnx_lint.loader.binary.wire_audit import (
        inspect,  # late, as most files are written as Protocol Buffers writes them
    )

    inspection = inspect(source, kind, limits, skips_canonical=is_shallow(model))
    if inspection.fatal:
        return model_of(None, inspection.faults)
    return model.with_faults(inspection.faults)


def _countable(source: Source, kind: str, limits: Limits) -> Skeleton:
    """The skeleton of the message in `source`, whose elements have been counted.

    Raises what `read_skeleton` raises, and TooManyElementsError.
    """
    most = min(limits.message_bytes, MAX_PARSED_BYTES)
    skeleton = read_skeleton(source, most, limits.fields, kind)
    if source.size <= FREE_BYTES and limits.element_bytes >= DEFAULT_LIMITS.element_bytes:
        return skeleton
    # Late, as whatever only some files need (docs/performance.md: used-late).
    if source.size <= SMALL_BYTES:
        from onnx_lint.loader.limits.element_weights import is_out_of_reach

        if is_out_of_reach(skeleton.data, limits.element_bytes):
            return skeleton
    from onnx_lint.loader.limits.elements import count_elements

    try:
        count_elements(skeleton, kind, limits.element_bytes)
    except TooManyElementsError:
        # Values of tensors may be what there is too much of, and they need not be read; nor need equal nodes be.
        if skeleton.is_whole:
            skeleton = read_skeleton(source, most, limits.fields, kind, whole_bytes=0)
        count_elements(skeleton, kind, limits.element_bytes, shares_forms=True)
    return skeleton


def _regular(outline: Proto | None, model_of: Callable[[Proto | None, tuple[Fault, ...]], Model]) -> Model | None:
    """The model with this outline, which is canonical, when its nodes are so too, or there is too much of something.

    Of a file with too much, nothing else is told: what is wrong with its nodes is not looked for any more.
    """
    if outline is None or not (outline.HasField("graph") or outline.functions):
        return None
    try:
        model = model_of(outline, ())
    except (TooDeepError, DecodeError):  # the limits look into large nodes, whatever these are
        return None
    if not model.loaded:
        return model
    is_regular = is_shallow(model) and all(graph.table.is_canonical for graph in model.graphs)
    return model if is_regular else None


def _other_message(source: Source, kind: str) -> Fault | None:
    """The fault of a file that was to be a model and holds another message."""
    if kind != MODEL:
        return None
    from onnx_lint.loader.identity.other_messages import another_message  # late, as it is for what may be no model

    return another_message(source)


def _unsplit(source: Source, kind: str, limits: Limits, error: WireError) -> tuple[Fault, ...]:
    """Why bytes could not be split; where the walk finds nothing wrong, as in a file that shrank, the error."""
    from onnx_lint.loader.binary.wire_audit import inspect

    other = _other_message(source, kind)
    if other is not None:
        return (other,)
    fault_kind = FaultKind.NESTING if error.problem == "nesting" else FaultKind.TRUNCATED
    detail = f"the file cannot be split into fields: {error.detail}"
    return inspect(source, kind, limits).faults or (Fault(fault_kind, ROOT, detail, offset=error.offset),)

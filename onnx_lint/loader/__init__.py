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
    WHOLE_BYTES,
    MessageTooLargeError,
    Skeleton,
    TooManyFieldsError,
    read_skeleton,
)
from onnx_lint.loader.identity.document_kind import kind_of_content
from onnx_lint.loader.identity.identify import Form, identify, misnamed
from onnx_lint.loader.limits.not_checked import beyond_fields, beyond_memory, check_size, is_within
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
    file. `proto`: the message that the file
    holds, such as `TensorProto`; None to tell by its content. `schemas`: the operators that are known. `target`: the
    consumer that the model is meant for. `opset_imports`: the versions of operator sets, by domain, that a graph or
    node is taken to import which stands in no model. `trusted_folders`: where links to external data may lead.
    `given_folder`: the files of external data where `directory` is none of the file system.

    Always returns a Model; where no message could be read, `Model.loaded` is false and `Model.faults` says why.
    Raises ReadError when the source cannot be read, and NotCheckedError, which is one, when it is beyond a limit.
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
    check_size(source, name, limits, is_text=form is not Form.BINARY)
    kind = proto or kind_of_content(source, form, name)
    if form is Form.BINARY:
        return _load_binary(source, kind, limits, make)
    from onnx_lint.loader.text.read_text import read_text  # with the readers of protobuf, for text alone

    parsed = read_text(source, form, kind, limits)
    if isinstance(parsed, Fault) and kind == MODEL and proto is None:
        from onnx_lint.loader.text.text_kinds import another_text  # late, as few texts are no model

        parsed = another_text(source, form, parsed, limits)
    if isinstance(parsed, Fault):
        return make(None, faults=(parsed,), form=form.value, kind=kind)
    return make(parsed, faults=misnamed(form, name), form=form.value, kind=kind)


Make = Callable[..., Model]
"""Makes the model of a message, or of none, with what is known of the file beside it."""


_TENSORS = ("TensorProto", "SparseTensorProto")


def _load_binary(source: Source, kind: str, limits: Limits, make: Make) -> Model:
    def model_of(proto: Proto | None, faults: tuple[Fault, ...]) -> Model:
        return make(proto, faults=faults, payloads=payloads, kind=kind)

    payloads: Mapping[Key, tuple[Payload, ...]] = {}
    try:
        skeleton = _bounded_skeleton(source, kind, limits)
        payloads = skeleton.payloads
        if kind == MODEL:
            regular = _regular(canonical_outline(skeleton), model_of)
            if regular is not None:
                return regular
            if source.size > WHOLE_BYTES:
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
        what = f"{describe_kind(kind)} without {contents} has at least {error.size:,} bytes"
        message = f"{what}; Protocol Buffers parses no message of 2 GiB or more"
        return model_of(None, (Fault(FaultKind.NOT_A_MODEL, ROOT, message),))
    except TooManyFieldsError:
        raise beyond_fields(source, limits) from None
    except WireError as error:
        return model_of(None, _unsplit(source, kind, limits, error))
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


def _bounded_skeleton(source: Source, kind: str, limits: Limits) -> Skeleton:
    """Return the skeleton of the message in `source`.

    Raises what `read_skeleton` raises, and NotCheckedError where the message needs too much memory.
    """
    skeleton = read_skeleton(source, MAX_PARSED_BYTES, limits.fields, kind)
    if not is_within(source.size, limits):
        from onnx_lint.loader.limits.memory_estimate import needed_memory  # late, as few files are so large

        needed = needed_memory(skeleton, kind, limits.memory)
        if needed is not None:
            raise beyond_memory(kind, limits, needed)
    return skeleton


def _regular(outline: Proto | None, model_of: Callable[[Proto | None, tuple[Fault, ...]], Model]) -> Model | None:
    """The model with this outline, which is canonical, when its nodes are so too."""
    if outline is None or not (outline.HasField("graph") or outline.functions):
        return None
    model = model_of(outline, ())
    try:
        is_regular = is_shallow(model) and all(graph.table.is_canonical for graph in model.graphs)
    except (TooDeepError, DecodeError):  # what is wrong with the nodes is looked for by the walk over fields
        return None
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

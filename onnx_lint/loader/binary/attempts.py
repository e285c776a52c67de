# SPDX-License-Identifier: Apache-2.0
"""From the bytes of a binary file to a `Model`: a list of attempts, from the usual file to the broken one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint.common.memory import collect_new
from onnx_lint.input.limits import Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import MODEL_KIND, describe_kind
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.binary.canonical import assemble, canonical_outline, is_shallow
from onnx_lint.loader.binary.strip_payloads import (
    WHOLE_BYTES,
    MessageTooLargeError,
    Skeleton,
    TooManyFieldsError,
    read_skeleton,
)
from onnx_lint.loader.limits.not_checked import beyond_fields, beyond_memory, is_within
from onnx_lint.model import Fault, FaultKind, Model, Proto, TooDeepError
from onnx_lint.schema.wire import WireError

MAX_PARSED_BYTES = (1 << 31) - 1
"""Protocol Buffers parses no message of 2 GiB or more."""

Make = Callable[..., Model]
"""Makes the model of a message, or of None, with the other facts about the file."""

_TENSORS = ("TensorProto", "SparseTensorProto")


class BinaryFile:
    """A binary file, and the results of the attempts so far."""

    def __init__(self, source: Source, kind: str, limits: Limits, make: Make) -> None:
        self.source = source
        self.kind = kind
        self.limits = limits
        self._make = make
        self._skeleton: Skeleton | None = None
        self.parsed: Model | None = None
        """The model that Protocol Buffers reads; None before it was tried, and if it can read nothing."""
        self.is_sound = False
        """True if the bytes of `parsed` are as Protocol Buffers writes them, which excludes faults in them."""

    def skeleton(self) -> Skeleton:
        """The message without large payloads.

        Raises the errors of `read_skeleton`, and NotCheckedError if the message needs too much memory.
        """
        if self._skeleton is None:
            skeleton = read_skeleton(self.source, MAX_PARSED_BYTES, self.limits.fields, self.kind)
            self._skeleton = skeleton
            self.check_memory(shares_forms=self.kind == MODEL_KIND)
        return self._skeleton

    def check_memory(self, *, shares_forms: bool = False) -> None:
        """Raise NotCheckedError if the message needs too much memory.

        `shares_forms`: whether equal forms of nodes are read once; in a message that is parsed whole they are not.
        """
        assert self._skeleton is not None
        if not is_within(self.source.size, self.limits):
            from onnx_lint.loader.limits.memory_estimate import memory_if_exceeding

            needed = memory_if_exceeding(self._skeleton, self.kind, self.limits.memory, shares_forms=shares_forms)
            if needed is not None:
                raise beyond_memory(self.kind, self.limits, needed)

    def model_of(self, proto: Proto | None, faults: tuple[Fault, ...] = ()) -> Model:
        """Return the model with this message, or with None, and with these faults."""
        skeleton = self._skeleton
        left = {} if skeleton is None else {"payloads": skeleton.payloads, "long_lists": skeleton.long_lists}
        return self._make(proto, faults=faults, kind=self.kind, **left)


def load_binary(source: Source, kind: str, limits: Limits, make: Make) -> Model:
    """Return the model of a binary file, from the first attempt that succeeds.

    Raises ReadError and NotCheckedError, as `load`.
    """
    file = BinaryFile(source, kind, limits, make)
    try:
        for attempt in ATTEMPTS:
            model = attempt(file)
            if model is not None:
                return model
    except MessageTooLargeError as error:
        return file.model_of(None, (_too_large(kind, error),))
    except TooManyFieldsError:
        raise beyond_fields(limits) from None
    except WireError as error:
        return file.model_of(None, _unsplit(file, error))
    raise AssertionError("the last attempt always makes a model")


def regular(file: BinaryFile) -> Model | None:
    """Return a model whose every part is canonical, as exporters write it. It is never parsed whole."""
    if file.kind != MODEL_KIND:
        return None
    model = _regular(canonical_outline(file.skeleton()), file)
    if model is None and file.source.size > WHOLE_BYTES:
        collect_new()  # the rejected model, which has reference cycles
    return model


def _regular(outline: Proto | None, file: BinaryFile) -> Model | None:
    """Return the model with this canonical outline, if its nodes are canonical too."""
    if outline is None or not (outline.HasField("graph") or outline.functions):
        return None
    model = file.model_of(outline)
    try:
        shares_forms = is_shallow(model) and all(graph.table.is_canonical for graph in model.graphs)
    except (TooDeepError, DecodeError):  # the walk over fields finds the faults of the nodes
        return None
    return model if shares_forms else None


def parsed(file: BinaryFile) -> Model | None:
    """Return the message if its bytes are as Protocol Buffers writes them; a model also needs a graph or functions."""
    skeleton = file.skeleton()
    if file.source.size <= WHOLE_BYTES:
        file.check_memory()
    proto, is_as_written = assemble(skeleton, file.kind)
    if proto is None:
        return None
    file.parsed = model = file.model_of(proto)
    file.is_sound = is_as_written and is_shallow(model)
    is_empty = file.kind == MODEL_KIND and not (proto.HasField("graph") or proto.functions)
    return model if file.is_sound and not is_empty else None


def other_message(file: BinaryFile) -> Model | None:
    """Return a model with one fault if the file should be a model and holds another message."""
    fault = _other_message(file)
    return None if fault is None else file.model_of(None, (fault,))


def empty(file: BinaryFile) -> Model | None:
    """Return a model without graph and functions, after `other_message` has found no other message."""
    return file.parsed if file.is_sound else None


def irregular(file: BinaryFile) -> Model | None:
    """Return the readable part of a message that Protocol Buffers cannot read, with its faults."""
    if file.parsed is not None:
        return None
    from onnx_lint.loader.binary.wire_audit import read_irregular

    file.check_memory()
    return file.model_of(*read_irregular(file.source, file.kind, file.skeleton().data, file.limits))


def inspected(file: BinaryFile) -> Model | None:
    """Return the model with the faults that Protocol Buffers ignores. A walk over all fields finds them."""
    from onnx_lint.loader.binary.wire_audit import inspect

    assert file.parsed is not None
    inspection = inspect(file.source, file.kind, file.limits, skips_canonical=is_shallow(file.parsed))
    return file.model_of(None, inspection.faults) if inspection.fatal else file.parsed.with_faults(inspection.faults)


ATTEMPTS: Final = (regular, parsed, other_message, empty, irregular, inspected)
"""Each returns a model, or None if the file is of another sort; the last one always returns a model."""


def _too_large(kind: str, error: MessageTooLargeError) -> Fault:
    contents = "its contents" if kind in _TENSORS else "the contents of its tensors"
    what = f"{describe_kind(kind)} without {contents} has at least {error.size:,} bytes"
    message = f"{what}; Protocol Buffers parses no message of 2 GiB or more"
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message)


def _other_message(file: BinaryFile) -> Fault | None:
    """Return the fault of a file that should be a model and holds another message."""
    if file.kind != MODEL_KIND:
        return None
    from onnx_lint.loader.identity.other_messages import fault_of_other_message

    return fault_of_other_message(file.source)


def _unsplit(file: BinaryFile, error: WireError) -> tuple[Fault, ...]:
    """Return why the bytes cannot be split: another message, the faults that the walk finds, or the error."""
    from onnx_lint.loader.binary.wire_audit import inspect

    other = _other_message(file)
    if other is not None:
        return (other,)
    fault_kind = FaultKind.NESTING if error.problem == "nesting" else FaultKind.TRUNCATED
    detail = f"the file cannot be split into fields: {error.detail}"
    found = inspect(file.source, file.kind, file.limits).faults
    return found or (Fault(fault_kind, ROOT, detail, offset=error.offset),)

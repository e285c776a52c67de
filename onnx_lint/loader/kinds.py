# SPDX-License-Identifier: Apache-2.0
"""Tells which message a file holds, where its content leaves no doubt."""

from __future__ import annotations

import re

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.loader.identify import HEAD_BYTES, Form
from onnx_lint.loader.likeness import candidates, is_a_model
from onnx_lint.model.documents import MAGIC, MODEL, OPERATOR_SET
from onnx_lint.source import Source

_MAX_TRIED_BYTES = 1 << 28
"""A larger file is not parsed only to see what it is."""

DATA_SUFFIX = ".pb"

_TEXT_MAGIC = rb"""(?m)^\s*magic\s*:\s*["']ONNXOPSET["']"""
_JSON_MAGIC = rb'"magic"\s*:\s*"ONNXOPSET"'
# The comment by which the text format of Protocol Buffers says what a file holds.
_TEXT_MESSAGE = rb"(?m)^#\s*proto-message:\s*(?:onnx\.)?OperatorSetProto\s*$"

_STATED = {
    "TensorProto": "data_type",
    "SequenceProto": "elem_type",
    "MapProto": "key_type",
    "OptionalProto": "elem_type",
    "SparseTensorProto": "values",
}
"""The messages that data files hold, and a field without which none is taken for one."""


def kind_of_content(source: Source, form: Form, name: str) -> str:
    """The name of the message in `source`; `ModelProto` where that cannot be told, which says what else it may be.

    A tensor or value is taken for what it is only in a file called `.pb`, as in the data of test cases: one where a
    model was expected must not pass for a conforming file.
    """
    head = source.read_at(0, HEAD_BYTES)
    if form is Form.TEXTPROTO:
        return OPERATOR_SET if re.search(_TEXT_MAGIC, head) or re.search(_TEXT_MESSAGE, head) else MODEL
    if form is Form.JSON:
        return OPERATOR_SET if re.search(_JSON_MAGIC, head) else MODEL
    if head.startswith(b"\x0a\x09" + MAGIC.encode()):
        return OPERATOR_SET
    if not name.lower().endswith(DATA_SUFFIX) or source.size > _MAX_TRIED_BYTES or is_a_model(source):
        return MODEL
    found = [kind for kind in candidates(source) if kind in _STATED and _is_readable(source, kind)]
    return found[0] if len(found) == 1 else MODEL


def _is_readable(source: Source, kind: str) -> bool:
    """Whether the file parses as the message without a byte left over, and states what such a message states."""
    data = source.read_at(0, source.size)
    try:
        proto = schema.message(kind).FromString(data)
    except (DecodeError, UnicodeDecodeError):
        return False
    size = proto.ByteSize()
    proto.DiscardUnknownFields()
    return bool(proto.ByteSize() == size and proto.HasField(_STATED[kind]))

# SPDX-License-Identifier: Apache-2.0
"""Tells which message a file holds, where its content leaves no doubt."""

from __future__ import annotations

import re

from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import KINDS, MAGIC, MODEL, OPERATOR_SET
from onnx_lint.loader.identity.identify import HEAD_BYTES, Form
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

DATA_SUFFIX = ".pb"
SET_SUFFIX = ".onnxopset"

_MAGIC = b"\x0a\x09" + MAGIC.encode()
"""The magic word as a field: its tag, its length, its letters."""

_TEXT_MAGIC = rb"""(?m)^[^\S\n]*+magic\s*+:\s*+["']ONNXOPSET["']"""
_JSON_MAGIC = rb'"magic"\s*+:\s*+"ONNXOPSET"'
# The comment by which the text format of Protocol Buffers says what a file holds.
_TEXT_MESSAGE = rb"(?m)^#[^\S\n]*+proto-message:[^\S\n]*+(?:onnx\.)?(\w++)[^\S\n]*+$"


def kind_of_content(source: Source, form: Form, name: str) -> str:
    """The name of the message in `source`; `ModelProto` where that cannot be told, which says what else it may be.

    A tensor or value is taken for what it is only in a file called `.pb`, as in the data of test cases: one where a
    model was expected must not pass for a conforming file. A file called `.onnxopset` that can be nothing else is an
    operator set without its magic word, which is then what is wrong with it.
    """
    head = source.read_at(0, HEAD_BYTES)
    if form is Form.TEXTPROTO:
        stated = re.search(_TEXT_MESSAGE, head)
        if stated is not None and stated[1].decode() in KINDS:
            return stated[1].decode()
        return OPERATOR_SET if re.search(_TEXT_MAGIC, head) else MODEL
    if form is Form.JSON:
        return OPERATOR_SET if re.search(_JSON_MAGIC, head) else MODEL
    if _MAGIC in head and _begins_with_magic(source):
        return OPERATOR_SET
    if not name.lower().endswith((DATA_SUFFIX, SET_SUFFIX)):
        return MODEL
    from onnx_lint.loader.identity.other_messages import (  # late, because models are not called so
        data_kind,
        possible_kinds,
    )

    if name.lower().endswith(SET_SUFFIX):
        return OPERATOR_SET if possible_kinds(source) == [OPERATOR_SET] else MODEL
    return data_kind(source) or MODEL


def _begins_with_magic(source: Source) -> bool:
    """Whether the magic word is one of the first fields; some writers put fields in another order."""
    try:
        for number, wire_type, tag, _, following in wire.records(source, 0, source.size):
            if number == 1 and wire_type == WireType.LEN:
                return source.read_at(tag, following - tag) == _MAGIC
            if tag > HEAD_BYTES:
                break
    except WireError:
        pass  # what cannot be split has no fields
    return False

# SPDX-License-Identifier: Apache-2.0
"""Recognizes the message in a file, if its content is unambiguous."""

from __future__ import annotations

import re

from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import KINDS, MAGIC, MODEL_KIND, OPERATOR_SET_KIND
from onnx_lint.loader.identity.identify import HEAD_BYTES, TEXT_BYTES, Form
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

DATA_SUFFIX = ".pb"
SET_SUFFIX = ".onnxopset"

_MAGIC = b"\x0a\x09" + MAGIC.encode()
"""The magic word as a field: its tag, its length, its letters."""

_TEXT_MAGIC = rb"""(?m)^[^\S\n]*+magic\s*+:\s*+["']ONNXOPSET["']"""
_JSON_MAGIC = rb'"magic"\s*+:\s*+"ONNXOPSET"'
# The comment in which the text format of Protocol Buffers names the message.
_TEXT_MESSAGE = rb"(?m)^#[^\S\n]*+proto-message:[^\S\n]*+(?:onnx\.)?(\w++)[^\S\n]*+$"


def kind_of_content(source: Source, form: Form, name: str) -> str:
    """Return the name of the message in `source`; `ModelProto` if it is not recognized, with other possible messages.

    A tensor or value is recognized only in a file called `.pb`, as in the data of test cases: a tensor in the place of
    a model must not count as a conforming file. A file called `.onnxopset` that cannot be anything else is an operator
    set without its magic word, which is then its fault.
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
    from onnx_lint.loader.identity.other_messages import (
        data_kind,
        possible_kinds,
    )

    if name.lower().endswith(SET_SUFFIX):
        return OPERATOR_SET_KIND if possible_kinds(source) == [OPERATOR_SET_KIND] else MODEL_KIND
    return data_kind(source) or MODEL_KIND


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

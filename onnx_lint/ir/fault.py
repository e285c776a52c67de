# SPDX-License-Identifier: Apache-2.0
"""Faults of the file: of its bytes, before there is a model."""

from __future__ import annotations

from enum import Enum, auto

from onnx_lint.common.record import Record
from onnx_lint.ir.places.place import Place


class FaultKind(Enum):
    """The sorts of faults of a file; each has its rule."""

    NOT_A_MODEL = auto()
    TRUNCATED = auto()
    WIRE_TYPE = auto()
    """A field has another wire type than the schema says."""
    UTF8 = auto()
    """A text is not UTF-8."""
    NESTING = auto()
    """Messages are nested too deep."""
    REPEATED = auto()
    """A singular field occurs twice."""
    UNKNOWN_FIELD = auto()
    TEXT = auto()
    """A model in text form has a syntax error, or a field that does not exist."""
    FILE_NAME = auto()
    """The suffix of the file is that of another form."""

    # Enum.__hash__ is written in Python, and a file may have a million faults to be counted by kind.
    __hash__ = object.__hash__


class Fault(Record):
    """One fault of the file."""

    kind: FaultKind
    place: Place
    """The innermost message or field that could be identified; the root if none could."""
    message: str
    offset: int | None = None
    """The offset of its first byte in the file; None if unknown."""
    length: int | None = None
    """The number of its bytes; None if unknown."""
    message_type: str = "ModelProto"
    """The type of the message with the faulty field."""
    number: int | None = None
    """The number of the faulty field; None if the fault is not about a field."""
    hint: str | None = None
    """A short instruction for fixing it; None if there is only the general one of the rule."""

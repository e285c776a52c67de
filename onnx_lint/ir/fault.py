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
    UTF8 = auto()
    NESTING = auto()
    REPEATED = auto()
    UNKNOWN_FIELD = auto()
    TEXT = auto()
    FILE_NAME = auto()

    # The one that Enum has is written in Python, and a file may have a million faults to be counted by kind.
    __hash__ = object.__hash__


class Fault(Record):
    """One fault of the file."""

    kind: FaultKind
    place: Place
    """The innermost message or field that could be identified; the root if none could."""
    message: str
    offset: int | None = None
    """The byte at which it begins, counted from the start of the file."""
    length: int | None = None
    """The number of its bytes, if known."""
    message_type: str = "ModelProto"
    """The message that has the field."""
    number: int | None = None
    """The field's number."""
    hint: str | None = None
    """A short instruction for fixing it; None if there is only the general one of the rule."""

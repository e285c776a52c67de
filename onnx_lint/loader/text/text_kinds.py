# SPDX-License-Identifier: Apache-2.0
"""Finds the messages of ONNX that a text may be, if it is not a model."""

from __future__ import annotations

from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.text.outer_names import fields_of, names_in_text
from onnx_lint.loader.text.read_text import parse_textproto
from onnx_lint.model import Fault, FaultKind


def another_text(source: Source, fault: Fault, limits: Limits = DEFAULT_LIMITS) -> Fault:
    """Return the fault of a text that does not parse as a model: `fault`, or one that names the messages it may be."""
    if fault.kind is not FaultKind.TEXT:
        return fault
    text = source.read_at(0, source.size).decode("utf-8-sig", "replace")
    names = names_in_text(text)
    found = [
        kind
        for kind in KINDS
        if names and names <= fields_of(kind) and not isinstance(parse_textproto(source, kind, limits), Fault)
    ]
    if not found or MODEL_KIND in found:
        return fault
    message = f"the text is not a ModelProto, but may be {' or '.join(found)} (option --proto)"
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0)

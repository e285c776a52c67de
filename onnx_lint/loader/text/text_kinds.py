# SPDX-License-Identifier: Apache-2.0
"""Finds the messages of ONNX that a text may be, if it is not a model."""

from __future__ import annotations

import json

from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.identity.identify import Form
from onnx_lint.loader.text.outer_names import fields_of, names_in_text
from onnx_lint.loader.text.read_text import parse_json, parse_textproto
from onnx_lint.model import Fault, FaultKind
from onnx_lint.wording import quote_some


def another_text(source: Source, form: Form, fault: Fault, limits: Limits = DEFAULT_LIMITS) -> Fault:
    """Return the fault of a text that does not parse as a model: `fault`, or one that names the messages it may be."""
    if fault.kind is not FaultKind.TEXT:
        return fault
    text = source.read_at(0, source.size).decode("utf-8-sig", "replace")
    document = _json_of(text) if form is Form.JSON else None
    if form is Form.JSON:
        names, parse = set(document if isinstance(document, dict) else ()), parse_json
    else:
        names, parse = names_in_text(text), parse_textproto
    found = [kind for kind in KINDS if _has(kind, names) and not isinstance(parse(source, kind, limits), Fault)]
    if not found and document is not None and not _is_near(MODEL_KIND, document):
        keys = f"its keys are {quote_some(tuple(document), 3)}" if isinstance(document, dict) else "it is not an object"
        return Fault(FaultKind.NOT_A_MODEL, ROOT, f"the file is JSON, but not a model: {keys}", offset=0)
    if not found or MODEL_KIND in found:
        return fault
    message = f"the text is not a ModelProto, but may be {' or '.join(found)} (option --proto)"
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0)


def _has(kind: str, names: set[str]) -> bool:
    """Return true if all names are of fields of the message."""
    return bool(names) and names <= fields_of(kind)


def _is_near(kind: str, document: object) -> bool:
    """Return true if a document may be meant as the message: it is empty, or has one of its fields."""
    return isinstance(document, dict) and (not document or not fields_of(kind).isdisjoint(document))


def _json_of(text: str) -> object:
    """Return the value of the text as JSON; None if it is not JSON."""
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document

# SPDX-License-Identifier: Apache-2.0
"""Words for the parts of a document in place of those for the model around them, in which rules find them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from onnx_lint.model.documents.kinds import KINDS
from onnx_lint.model.places.place import ROOT, Key, Place

# A name in quotes may be any of these words, and means something else.
_PARTS: Final = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<place>\b(?:graph|functions\[\d+\])(?:\.[a-z_]+(?:\[\d+\])?)+|\bfunctions\[\d+\])(?: of the file)?"""
    r"""|(?P<model>\bthe model\b)"""
)
_STEP: Final = re.compile(r"([a-z_]+)(?:\[(\d+)\])?")

_OF_KIND: Final = {
    # The node that holds the attribute is made up, and has no operator.
    "AttributeProto": ((re.compile(r" of unnamed node 0 \(\)"), ""),),
    "NodeProto": ((re.compile(r"\bnode 0 of the file"), "the node"),),
    "TypeProto": ((re.compile(r" of input 0 without a name of the file"), ""),),
    "ValueInfoProto": (
        (re.compile(r"\binput 0 (without a name )?of the file"), r"the value"),
        (re.compile(r"\binput ('(?:[^'\\]|\\.)*') of the file"), r"value \1"),
    ),
}


def worded(message: str, kind: str, moved: Callable[[Place], Place | None]) -> str:
    """The message about the context of a document as one about the document; `moved` tells where a place stands."""

    def part(match: re.Match[str]) -> str:
        if match["model"]:
            return f"the {KINDS[kind].noun.replace('-', ' ')}"
        if match["quoted"]:
            return match[0]
        place = moved(_place(match["place"]))
        if place is None:
            return match[0]
        return str(place) if place != ROOT else "the root"

    message = _PARTS.sub(part, message)
    for words, replacement in _OF_KIND.get(kind, ()):
        message = words.sub(replacement, message)
    return message


def _place(path: str) -> Place:
    key: Key = tuple((name, int(index) if index else None) for name, index in _STEP.findall(path))
    place = ROOT
    for field, index in key:
        place = place.at(field, index)
    return place

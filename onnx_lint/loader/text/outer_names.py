# SPDX-License-Identifier: Apache-2.0
"""The names of the outermost fields in the beginning of a text, which show what message it may be."""

from __future__ import annotations

import json
import re
from typing import Final

from onnx_lint import schema
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.loader.identity.identify import TEXT_BYTES
from onnx_lint.loader.text.text_tokens import COMMENT_OR_STRING, JSON_TOKENS, with_comments_as

# Text in quotes may look like anything. A name behind a dot is part of a path, one behind a colon is a value, as in
# the lines of a report ("m.onnx: domain: error").
_TOKENS: Final = re.compile(
    rf"{COMMENT_OR_STRING}|[{{<]|[}}>]|:\s*+[A-Za-z_]\w*+|(?<![\w.])[A-Za-z_]\w*+(?=\s*+[:{{<])"
)


def fields_of(kind: str) -> set[str]:
    """Return the names of the fields of a message: those of the schema, and those of JSON."""
    return {name for field in schema.message(kind).DESCRIPTOR.fields for name in (field.name, field.json_name)}


def names_in_text(text: str) -> set[str]:
    """Return the names of the outermost fields."""
    names = set()
    depth = 0
    for token in _TOKENS.finditer(with_comments_as(" ", text[:TEXT_BYTES])):
        if token[0] in "{<":
            depth += 1
        elif token[0] in "}>":
            depth -= 1
        elif depth == 0 and token[0][0] not in "#\"':":
            names.add(token[0])
    return names


def _names_in_json(text: str) -> set[str]:
    """Return the keys of the outermost object."""
    names = set()
    depth = 0
    for token in JSON_TOKENS.finditer(text[:TEXT_BYTES]):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif depth == 1 and token["colon"]:
            names.add(_decoded(token["quoted"]))
    return names


def _decoded(key: str) -> str:
    """Return the text of a string in JSON, whose letters may be escaped; without its quotes only if it is none."""
    try:
        decoded: str = json.loads(key, strict=False)
    except ValueError:
        return key[1:-1]
    return decoded


def begins_like_message(beginning: str) -> bool:
    """Return whether all outermost names in the beginning of a text are fields of one message of ONNX."""
    names = names_in_text(beginning)
    return bool(names) and any(names <= fields_of(kind) for kind in KINDS)


def resembles_message(beginning: str) -> bool:
    """Return whether most of the outermost names in the beginning of a text are fields of one message of ONNX."""
    names = _names_in_json(beginning) if beginning.lstrip().startswith("{") else names_in_text(beginning)
    return any(2 * len(names & fields_of(kind)) > len(names) for kind in KINDS)

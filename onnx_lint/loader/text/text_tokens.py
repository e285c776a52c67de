# SPDX-License-Identifier: Apache-2.0
"""Tokens of the two text forms, and the names that fields have in JSON."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final

from onnx_lint import schema
from onnx_lint.schema import wire

# An unclosed string is a token up to the end of the line; otherwise the search would begin again at each quote in it.
# The patterns do not backtrack either: each part consumes all characters that the next one cannot begin with.
QUOTED: Final = r"""#[^\n]*+|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?"""
"""A comment or a string in the text format of Protocol Buffers."""
JSON_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
"""A string in JSON, for patterns with the flag DOTALL."""

# A row of numbers or words, separated by commas, is one token: a long list is then few tokens.
_ROW: Final = r"(?:[-+.\w]++\s*+,\s*+){1,4096}+"
TEXT_TOKENS: Final = re.compile(rf"(?P<quoted>{QUOTED})|(?P<row>{_ROW})|(?P<word>[-+.\w]++)|[][{{}}<>:,]")
JSON_TOKENS: Final = re.compile(
    rf"(?P<quoted>{JSON_STRING})\s*+(?P<colon>:?)|(?P<row>{_ROW})|(?P<word>[-+.\w]++)|[][{{}}]", re.DOTALL
)


@functools.cache
def json_fields(message: str) -> Mapping[str, wire.Field]:
    """Return the fields of a message by their names in JSON; both forms of a name are allowed."""
    known = wire.fields_by_name(message)
    names = (
        (name, field) for field in schema.message(message).DESCRIPTOR.fields for name in (field.json_name, field.name)
    )
    return {name: known[field.name] for name, field in names}

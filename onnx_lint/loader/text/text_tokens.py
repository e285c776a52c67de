# SPDX-License-Identifier: Apache-2.0
"""Tokens of the two text forms."""

from __future__ import annotations

import re
from typing import Final

# An unclosed string is a token up to the end of the line; otherwise the search would begin again at each quote in it.
# The patterns do not backtrack either: each part consumes all characters that the next one cannot begin with.
COMMENT_OR_STRING: Final = r"""#[^\n]*+|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?"""
"""A comment or a string in the text format of Protocol Buffers."""
JSON_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
"""A string in JSON, for patterns with the flag DOTALL."""

_COMMENT_OR_LONG_STRING: Final = re.compile(
    r"""(?P<comment>#[^\n]*+)|"[^"\\]*+(?:\\.[^"\\]*+)*+"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?""", re.DOTALL
)
"""A comment of the text format or of onnx.parser, or a string; in onnx.parser a string may have several lines."""


def with_comments_as(sign: str, text: str) -> str:
    """Return a text with `sign` in place of each comment."""
    if "#" not in text:
        return text
    return _COMMENT_OR_LONG_STRING.sub(lambda found: found[0] if found["comment"] is None else sign, text)


# A row of numbers or words, separated by commas, is one token: a long list is then few tokens.
_ROW: Final = r"(?:[-+.\w]++\s*+,\s*+){1,4096}+"
TEXT_TOKENS: Final = re.compile(rf"(?P<quoted>{COMMENT_OR_STRING})|(?P<row>{_ROW})|(?P<word>[-+.\w]++)|[][{{}}<>:,]")
JSON_TOKENS: Final = re.compile(rf"(?P<quoted>{JSON_STRING})\s*+(?P<colon>:?)|[{{}}]", re.DOTALL)

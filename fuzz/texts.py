# SPDX-License-Identifier: Apache-2.0
"""Edits of text: words are moved, and long, deep or unclosed pieces inserted."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from .corpus import JSON

MAX_LONG = 1 << 16
"""The length of a repeated piece: at a microsecond a byte it takes less than a tenth of a second."""

_TOKENS = (
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b'"',
    b"'",
    b"-1",
    b"1e999",
    b"nan",
    b"null",
    b"node",
    b"graph {",
    b'"graph": {',
    b"\\377",
    b"\\ud800",
    b"#",
    b"<",
    b">",
)

_OPENINGS = (b"", b'"', b"'", b"#", b'graph { name: "', b'"name": "', b"doc_string: '", b"[", b"{", b"/*")

_PIECES = (
    b'\\"',
    b"\\'",
    b"\\\\",
    b'\\\\"',
    b'"',
    b"'",
    b'"" ',
    b"'' ",
    b'"\\"" ',
    b"\\",
    b"\\x",
    b"\\u0041",
    b"{",
    b"[",
    b"<",
    b"}",
    b"graph{",
    b"graph: <",
    b"g { node { attribute { g { ",
    b'{"graph":',
    b"[[",
    b"{}",
    b"{},",
    b"a",
    b"a ",
    b"a.",
    b"a:",
    b"_",
    b"1",
    b"0",
    b"-",
    b"- ",
    b"1.",
    b"e1",
    b"1,",
    b".",
    b"#\n",
    b"# ",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b",",
    b";",
    b"/",
    b"\xc3\xa9",
    b"\xef\xbb\xbf",
    b"\0",
)
"""Pieces that may make a reader start again and again: unclosed quotes, brackets, letters of an endless token."""

_CLOSINGS = (b"", b"", b'"', b"'", b"\n", b"}", b"]", b"x", b"\\")


def edit_words(rng: Random, data: bytes) -> bytes:
    """Replace, repeat, drop or exchange words between blanks."""
    words = data.split(b" ")
    at = rng.randrange(len(words))
    choice = rng.randrange(4)
    if choice == 0:
        words[at] = rng.choice(_TOKENS)
    elif choice == 1:
        words.insert(at, rng.choice(words))
    elif choice == 2:
        del words[at]
    else:
        other = rng.randrange(len(words))
        words[at], words[other] = words[other], words[at]
    return b" ".join(words)


def insert_long(rng: Random, data: bytes) -> bytes:
    """Put one piece many times somewhere: a string that is never closed, a nest, a token without end."""
    piece = rng.choice(_PIECES)
    count = max(1, round(math.exp(rng.uniform(0, math.log(MAX_LONG)))) // len(piece))
    long = rng.choice(_OPENINGS) + piece * count + rng.choice(_CLOSINGS)
    at = rng.randrange(len(data) + 1)
    # Often nothing follows: what closes the string would be in what follows.
    return data[:at] + long + (data[at:] if rng.random() < 0.5 else b"")


def balanced(rng: Random, data: bytes, suffix: str) -> bytes:
    """Text of messages in one another that are all closed, mostly too deep, with the text given in the innermost."""
    depth = rng.choice((1, 9, 11, 33, 60, 98, 99, 100, 101, 102, 150, 1000, 5000))
    if suffix == JSON:
        way = rng.choice(((b'{"graph":{"node":[{"attribute":[{"g":', b"}]}]}}"), (b"[", b"]"), (b'{"a":', b"}")))
    else:
        way = rng.choice(
            ((b"graph{node{attribute{g{", b"}}}}"), (b"node<attribute<g<", b">>>"), (b"x{", b"}"), (b"a: [", b"]"))
        )
    return way[0] * depth + data + way[1] * depth


TEXT: tuple[Callable[[Random, bytes], bytes], ...] = (edit_words, edit_words, insert_long)

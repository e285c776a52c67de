# SPDX-License-Identifier: Apache-2.0
"""Reads models in protobuf text format and in protobuf JSON."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.binary.strip_payloads import whole
from onnx_lint.loader.identity.identify import Form
from onnx_lint.loader.limits.memory_estimate import memory_if_exceeding
from onnx_lint.loader.limits.not_checked import beyond_memory, is_within
from onnx_lint.loader.limits.text_memory_estimate import text_memory_if_exceeding
from onnx_lint.loader.text.text_tokens import COMMENT_OR_STRING, JSON_STRING
from onnx_lint.model import Fault, FaultKind, Proto

MAX_DEPTH = 100
"""The limit on the nesting of messages; the limit of the binary parser, applied here as well."""


def _fault(message: str, offset: int | None = None) -> Fault:
    return Fault(FaultKind.TEXT, ROOT, message, offset=offset)


def _read(source: Source) -> str | Fault:
    data = source.read_at(0, source.size)
    if len(data) < source.size:
        return Fault(
            FaultKind.TRUNCATED, ROOT, f"the file became shorter than its {source.size:,} bytes while it was read"
        )
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _fault(f"byte {error.start} is not UTF-8", error.start)


def _in_file(fault: Fault, source: Source) -> Fault:
    """Return the fault of a text with its byte in the file, where a byte order mark may come before the text."""
    mark = len(BOM_UTF8) if source.read_at(0, len(BOM_UTF8)) == BOM_UTF8 else 0
    return replace(fault, offset=fault.offset + mark) if fault.offset is not None and mark else fault


# Square brackets hold the elements of one field: they are not a message and add no depth.
_TEXT_TOKENS: Final = re.compile(rf"{COMMENT_OR_STRING}|[{{<]|[}}>]")
_JSON_TOKENS: Final = re.compile(rf"{JSON_STRING}|[{{}}]", re.DOTALL)


def _too_deep(text: str, tokens: re.Pattern[str], limit: int) -> Fault | None:
    """Return a fault if braces nest deeper than `limit`: the parsers are recursive and would overflow the stack."""
    depth = 0
    for token in tokens.finditer(text):
        depth += (token[0] in "{<") - (token[0] in "}>")
        if depth > limit:
            line = text.count("\n", 0, token.start()) + 1
            message = f"in line {line} messages nest more than {MAX_DEPTH} deep, deeper than Protocol Buffers parses"
            return Fault(FaultKind.NESTING, ROOT, message, offset=len(text[: token.start()].encode()))
    return None


_BACKSLASHES: Final = re.compile(r"(?:\\\\){16,}+")
"""Many escaped backslashes.

The parser of Protocol Buffers treats each as the possible beginning of a hexadecimal escape, and scans all that follow:
25 kB of them take two seconds, and 100 kB half a minute.
"""

_MAX_ESCAPES: Final = 256
"""The limit on escapes in one piece of a string.

The parser keeps its position at each escape up to the end of the string, in some 550 bytes of memory. It reads
consecutive strings as one.
"""
_ESCAPES: Final = re.compile(rf"(?:\\.[^\\]*+){{{_MAX_ESCAPES}}}+")
_STRINGS: Final = re.compile(COMMENT_OR_STRING)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of the text, written so that the parser can handle them, each when it is needed."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        check_deadline()
        yield _in_pieces(_with_short_rows(text[start:end]))
        start = end + 1
    yield _in_pieces(_with_short_rows(text[start:]))


def _with_short_rows(line: str) -> str:
    """Return the line with other escapes for many consecutive backslashes; its meaning is the same."""
    return _BACKSLASHES.sub(lambda row: r"\134" * (len(row[0]) // 2), line)


def _in_pieces(line: str) -> str:
    """Return the line with strings of many escapes cut into pieces; its meaning is the same."""
    return _STRINGS.sub(_cut, line) if line.count("\\") >= _MAX_ESCAPES else line


def _cut(token: re.Match[str]) -> str:
    """Return the token, a string in pieces.

    An unclosed string stays unclosed: each cut closes a piece and opens another.
    """
    text = token[0]
    return text if text[0] == "#" else _ESCAPES.sub(lambda piece: piece[0] + 2 * text[0], text)


def _column_before_cuts(column: int, line: str) -> int:
    """Return the column in the line that became `column` when its strings were cut into pieces."""
    cuts = (
        token.start() + piece.end()
        for token in _STRINGS.finditer(line)
        if line[token.start()] != "#"
        for piece in _ESCAPES.finditer(token[0])
    )
    return column - 2 * sum(cut + 2 * index < column for index, cut in enumerate(cuts, 1))


def _column_before_escapes(column: int, line: str) -> int:
    """Return the column in the line that became `column` when rows of backslashes grew to twice their length."""
    grown = 0
    for row in _BACKSLASHES.finditer(line):
        start = row.start() + grown
        if column <= start + 2 * len(row[0]):
            return min(column - grown, row.start() + 1)
        grown += len(row[0])
    return column - grown


def _check_memory(text: str, kind: str, limits: Limits) -> None:
    """Raise NotCheckedError for a text that takes too much memory to parse."""
    needed = text_memory_if_exceeding(text, limits.memory)
    if needed is not None:
        raise beyond_memory(kind, limits, needed, is_least=True)


def read_text(source: Source, form: Form, kind: str, limits: Limits) -> Proto | Fault:
    """Return the message in a text of this form, a model in outline; a fault if there is none.

    The message is freed before its outline is made. Otherwise memory that is allocated after it keeps the allocator
    from returning that of the message to the system.

    Raises NotCheckedError for a text, or a message, that needs too much memory.
    """
    parsed: list[Any] = [(parse_json if form is Form.JSON else parse_textproto)(source, kind, limits)]
    if isinstance(parsed[0], Fault) or (kind != MODEL_KIND and is_within(source.size, limits)):
        return parsed.pop()
    data = parsed[0].SerializePartialToString()
    needed = memory_if_exceeding(whole(BytesSource(data)), kind, limits.memory, shares_forms=kind == MODEL_KIND)
    if needed is not None:
        raise beyond_memory(kind, limits, needed)
    if kind != MODEL_KIND:
        return parsed.pop()
    parsed.clear()
    return schema.outline(MODEL_KIND).FromString(data)


def parse_textproto(source: Source, kind: str = MODEL_KIND, limits: Limits = DEFAULT_LIMITS) -> Proto | Fault:
    """Parse a model in protobuf text format; the fault gives the line and column of a syntax error."""
    text = _read(source)
    if isinstance(text, Fault):
        return text
    _check_memory(text, kind, limits)
    fault = _too_deep(text, _TEXT_TOKENS, MAX_DEPTH)
    if fault is not None:
        return _in_file(fault, source)
    # The published types of the library leave this function out.
    parse_lines = text_format.ParseLines  # type: ignore[attr-defined]
    try:
        return parse_lines(_lines(text), schema.message(kind)(), descriptor_pool=schema.pool())
    except text_format.ParseError as error:
        return _in_file(_syntax_error(error, text, kind), source)
    except (ValueError, OverflowError) as error:
        return _fault(f"the text is not {_noun(kind)} in protobuf text format: {_one_line(str(error))}")


def _noun(kind: str) -> str:
    """Return the name of a kind of document with its article: `a model`, `an operator set`."""
    noun = KINDS[kind].noun.replace("-", " ")
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _syntax_error(error: text_format.ParseError, text: str, kind: str) -> Fault:
    number, column = error.GetLine(), error.GetColumn()
    detail = str(error)
    if number is None or column is None:
        return _fault(f"the text is not {_noun(kind)} in protobuf text format: {_one_line(detail)}")
    before = text.split("\n", number)[:number]
    line = before.pop()
    with_short_rows = _with_short_rows(line)
    parsed = _in_pieces(with_short_rows)
    # The parser puts the position and the whole line, which may be the whole file, before its message.
    detail = detail.removeprefix(f"{number}:{column} : ").removeprefix(f"{parsed!r}: ").removeprefix(f"'{parsed}': ")
    column = _column_before_escapes(_column_before_cuts(column, with_short_rows), line)
    offset = sum(len(other.encode()) + 1 for other in before) + len(line[: column - 1].encode())
    place = f"line {number}, column {column}"
    return _fault(f"the text is not {_noun(kind)} in protobuf text format: {place}: {_one_line(detail)}", offset)


def parse_json(source: Source, kind: str = MODEL_KIND, limits: Limits = DEFAULT_LIMITS) -> Proto | Fault:
    """Parse a model in protobuf JSON."""
    from google.protobuf import json_format

    text = _read(source)
    if isinstance(text, Fault):
        return text
    # The model itself has braces in JSON.
    _check_memory(text, kind, limits)
    fault = _too_deep(text, _JSON_TOKENS, MAX_DEPTH + 1)
    if fault is not None:
        return _in_file(fault, source)
    if "3.4028235" in text:
        text = _with_readable_floats(text)
    try:
        return json_format.Parse(
            text, schema.message(kind)(), descriptor_pool=schema.pool(), max_recursion_depth=MAX_DEPTH + 1
        )
    except (json_format.ParseError, ValueError, OverflowError, RecursionError) as error:
        return _in_file(_json_fault(error, text, kind), source)


def _with_readable_floats(text: str) -> str:
    """Return JSON with another last digit in the greatest number of type float, which makes it the same number.

    Protocol Buffers writes that number rounded up, and its parser for Python finds it too great.
    """
    data = text.encode()
    changed = bytearray(data)
    for found in _STRING_OR_GREATEST_FLOAT.finditer(data):
        if found[1]:
            changed[found.end(1) - 1] = ord("4")
    return changed.decode()


_STRING_OR_GREATEST_FLOAT: Final = re.compile(rf"{JSON_STRING}|(3\.4028235(?=[eE]\+?38[\s,\]}}]))".encode(), re.DOTALL)


def _json_fault(error: Exception, text: str, kind: str) -> Fault:
    """Return the fault of a text that is not JSON, with its offset, or not a message in JSON."""
    detail, offset = _one_line(str(error).partition(" Available Fields")[0]), None
    try:
        json.loads(text)
    except json.JSONDecodeError as syntax:
        detail = f"line {syntax.lineno}, column {syntax.colno}: {syntax.msg}"
        offset = len(text[: syntax.pos].encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):  # a number of too many digits, or deeply nested lists
        pass
    return _fault(f"the text is not {_noun(kind)} in protobuf JSON: {detail}", offset)


_MAX_DETAIL = 200
_NO_INTEGER = re.compile(r"invalid literal for int\(\) with base 10: ('.*?')")
"""The error of Python for a text that is not a number."""
_STEP = re.compile(r"Failed to parse (\w+) field: ")


def _one_line(detail: str) -> str:
    """Return the error of a parser, shortened: it repeats whole values, and each level of nesting adds a sentence."""
    path = ".".join(_STEP.findall(detail))
    detail = _NO_INTEGER.sub(r"\1 is not an integer", " ".join(_STEP.sub("", detail).split()))
    if len(detail) > _MAX_DETAIL:
        detail = f"{detail[:_MAX_DETAIL]} ..."
    # The private package name means nothing to users.
    detail = detail.replace("onnx.", "").rstrip(".")
    return f"{path}: {detail}" if path else detail

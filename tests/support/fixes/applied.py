# SPDX-License-Identifier: Apache-2.0
"""Applies the output of `--diff` to the lines of a model, by the rules in docs/fixing.md, and compares with the result.

A value that no line shows must be named by a line of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from onnx_lint import schema
from onnx_lint.engine.lint import load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rounds import FixOutcome, Round
from onnx_lint.input.patched_source import PatchedSource
from onnx_lint.ir.places.edits import Delete
from onnx_lint.ir.places.place import PlaceKey, place_of
from onnx_lint.surroundings.lines import CONTAINERS, OF_HEADERS, line_of, site_of
from onnx_lint.surroundings.words import quoted

_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")
_LINE = re.compile(r"([-+ ])( *\d+|      ?) \| (.*)")
_NESTED = re.compile(r"[^ =<\[]+ \([^{]*\) => \([^{]*\) \{\.\.\.\}")
"""The header of a graph in the line of its node. The lines of that graph show what changes there."""
_VALUE = re.compile(r"((?:\w+(?:\[\d+\])?\.)*\w+(?:\[\d+\])?): (.*)")


@dataclass
class _Text:
    """A model as text."""

    message: Any
    lines: dict[PlaceKey, list[str]] = field(default_factory=dict)
    """The line of each element, by its list."""
    headers: dict[PlaceKey, str] = field(default_factory=dict)
    """The line with each field that is in no list."""


@dataclass
class _Part:
    """What the difference says of one list or field."""

    rows: list[tuple[str, int, str]] = field(default_factory=list)
    """The mark, the number and the text of each numbered line."""
    unnumbered: list[tuple[str, str]] = field(default_factory=list)


def check_applied(outcome: FixOutcome, settings: Settings) -> None:
    """Check that the difference of each round leads from the text of the model before it to the text afterwards."""
    text = difference_of(outcome, "-", settings)
    rounds = [each for each in re.split(r"^--- .*\n\+\+\+ .*\n", text, flags=re.MULTILINE) if each]
    assert len(rounds) == len(outcome.rounds)
    states = [*(each.before for each in outcome.rounds), outcome.source]
    for made, shown, after in zip(outcome.rounds, rounds, states[1:], strict=True):
        _check_round(made, _text(made.before, made.kind, settings), _text(after, made.kind, settings), shown)


def _check_round(made: Round, before: _Text, after: _Text, shown: str) -> None:
    parts = _parts(shown)
    for key, part in parts.items():
        if part.rows and key not in before.headers:
            before.lines.setdefault(key, [])
    numbers = {key: _applied(lines, parts.get(key, _Part())) for key, lines in before.lines.items()}
    moved = {key: {old: new for old, new in found.items() if old is not None} for key, (_, found) in numbers.items()}
    for key, (lines, _) in numbers.items():
        now = _moved(key, moved)
        if now is not None:
            assert after.lines.get(now, []) == lines, (now, shown)
    expected = {_moved(key, moved) for key in before.lines}
    for key in after.lines.keys() - expected:  # only in what is new
        assert any(_is_new(key[:size], numbers) for size in range(1, len(key))) or key in parts, (key, shown)
    earlier = {edit.place.key for edit in made.edits if isinstance(edit, Delete) and edit.keeps_last}
    _check_values(before, after, parts, moved, shown, earlier)


def _text(source: PatchedSource, kind: str, settings: Settings) -> _Text:
    model = load_source(source, "-", settings, is_file=False)
    message = schema.message(kind).FromString(source.read_at(0, source.size))
    text = _Text(message)
    for key, container, inner in _containers((), kind, message):
        for descriptor, value in inner.ListFields():
            name = descriptor.name
            if name in OF_HEADERS.get(container, ()) or not isinstance(descriptor.default_value, list):
                site = site_of(place_of((*key, (name, None))), model)
                text.headers[(*key, (name, None))] = line_of(site).text if site is not None else ""
                continue
            sites = [site_of(place_of((*key, (name, index))), model) for index in range(len(value))]
            lines = [_plain(line_of(site, with_name=name == "node").text) if site is not None else "" for site in sites]
            text.lines[(*key, (name, None))] = lines
    return text


def _plain(line: str) -> str:
    return line if line.startswith("function ") else _NESTED.sub("{...}", line)


def _containers(key: PlaceKey, kind: str, message: Any) -> Iterator[tuple[PlaceKey, str, Any]]:
    """Yield the messages whose elements have a line each: their places, kinds and contents."""
    if kind in CONTAINERS or not key:
        yield key, kind, message
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        is_list = isinstance(descriptor.default_value, list)
        for index, each in enumerate(value) if is_list else [(None, value)]:
            yield from _containers((*key, (descriptor.name, index)), descriptor.message_type.name, each)


def _parts(shown: str) -> dict[PlaceKey, _Part]:
    """Return what the difference of a round says, by the list or field."""
    parts: dict[PlaceKey, _Part] = {}
    part = _Part()
    for line in shown.splitlines():
        if line.startswith("@@ "):
            place = line.removeprefix("@@ ").removesuffix(" @@")
            *around, (name, _) = _key(place) if re.fullmatch(r"[\w.\[\]]+", place) else (("", None),)
            part = parts.setdefault((*around, (name, None)), _Part())
            continue
        found = _LINE.fullmatch(line)
        assert found is not None, line
        mark, number, text = found.groups()
        if number.strip():
            part.rows.append((mark, int(number), _plain(text)))
        else:
            part.unnumbered.append((mark, text))
    return parts


def _key(place: str) -> PlaceKey:
    steps = [_STEP.fullmatch(step) for step in place.split(".")]
    return tuple((step[1], None if step[2] is None else int(step[2])) for step in steps if step is not None)


def _applied(lines: list[str], part: _Part) -> tuple[list[str], dict[int | None, int]]:
    """Return the lines of a list after its part of the difference, and the new number of each element that is left.

    An element that goes and one that comes with the same line are one that moves. A line that is replaced by another
    one is the same element with changes.
    """
    gone: dict[int, str] = {}
    come: dict[int, str] = {}
    pairs: dict[int, int] = {}
    for row, (mark, number, text) in enumerate(part.rows):
        if mark == "+":
            come[number] = text
            if row and part.rows[row - 1][0] == "-":
                pairs[part.rows[row - 1][1]] = number
        else:
            assert lines[number] == text
            if mark == "-":
                gone[number] = text
    left = [number for number in range(len(lines)) if number not in gone]
    kept = iter(left)
    result: list[str] = []
    numbers: dict[int | None, int] = {}
    for new in range(len(left) + len(come)):
        if new in come:
            result.append(come[new])
            continue
        old = next(kept)
        numbers[old] = new
        result.append(lines[old])
    for old, text in gone.items():
        same = [new for new, other in come.items() if other == text and new not in numbers.values()]
        if same:
            numbers[old] = same[0]
        elif old in pairs:
            numbers[old] = pairs[old]
    return result, numbers


def _moved(key: PlaceKey, numbers: Mapping[PlaceKey, Mapping[int, int]]) -> PlaceKey | None:
    """Return the place of a list afterwards; None if an element around it is gone."""
    steps = []
    for size, (name, index) in enumerate(key):
        found = numbers.get((*key[:size], (name, None)))
        if index is not None and found is not None:
            if index not in found:
                return None
            index = found[index]
        steps.append((name, index))
    return tuple(steps)


def _is_new(key: PlaceKey, numbers: Mapping[PlaceKey, tuple[list[str], Mapping[int | None, int]]]) -> bool:
    *around, (name, index) = key
    found = numbers.get((*around, (name, None)))
    return found is not None and index is not None and index not in found[1].values()


def _check_value(message: Any, key: PlaceKey, text: str) -> None:
    """Check that a number or a string is the one at the place, or that the text has the size and the digest."""
    for name, index in key:
        is_list = isinstance(message.DESCRIPTOR.fields_by_name[name].default_value, list)
        message = getattr(message, name)
        if is_list and index is None:
            return  # of the whole list
        message = message if index is None else message[index]
    if "SHA-256" in text:
        data = message.encode() if isinstance(message, str) else message
        assert not isinstance(data, bytes) or len(data) <= 4096 or hashlib.sha256(data).hexdigest() in text
    elif isinstance(message, int | str):
        assert text == (quoted(message) if isinstance(message, str) else str(message))


def _check_values(
    before: _Text,
    after: _Text,
    parts: Mapping[PlaceKey, _Part],
    moved: dict[PlaceKey, dict[int, int]],
    shown: str,
    earlier: set[PlaceKey],
) -> None:
    """Check that the difference names each value that changes outside of what the lines show.

    `earlier`: the fields of which only earlier occurrences go, which no parser returns.
    """
    named: dict[str, set[PlaceKey]] = {"-": set(), "+": set()}
    for part in parts.values():
        for mark, text in part.unnumbered:
            found = _VALUE.fullmatch(text)
            if found is not None:
                named[mark].add(_key(found[1]))
                if _key(found[1]) not in earlier:
                    _check_value((before if mark == "-" else after).message, _key(found[1]), found[2])
    rows = {mark: [row[2] for part in parts.values() for row in part.rows if row[0] == mark] for mark in "-+"}
    rows["-"] += [text for part in parts.values() for mark, text in part.unnumbered if mark == "-"]
    rows["+"] += [text for part in parts.values() for mark, text in part.unnumbered if mark == "+"]
    changed = {key for key in before.headers.keys() | after.headers.keys() if key in parts}

    def compare(old: Any, new: Any, key: PlaceKey, now: PlaceKey) -> None:
        for descriptor in old.DESCRIPTOR.fields:
            name, value, other = descriptor.name, getattr(old, descriptor.name), getattr(new, descriptor.name)
            at, at_now = (*key, (name, None)), (*now, (name, None))
            if at in named["-"] or at_now in named["+"] or at in changed:
                continue
            if isinstance(descriptor.default_value, list):
                compare_lists(descriptor, value, other, key, now)
            elif descriptor.message_type is not None:
                assert old.HasField(name) == new.HasField(name) or is_shown(at), (str(place_of(at)), shown)
                if old.HasField(name) and new.HasField(name):
                    compare(value, other, at, at_now)
            elif value != other or old.HasField(name) != new.HasField(name):
                assert is_shown(at, value, other), (str(place_of(at)), value, other, shown)

    def compare_lists(descriptor: Any, value: Any, other: Any, key: PlaceKey, now: PlaceKey) -> None:
        name = descriptor.name
        numbers = moved.get((*key, (name, None)))
        if numbers is None:
            old = [index for index in range(len(value)) if (*key, (name, index)) not in named["-"]]
            new = [index for index in range(len(other)) if (*now, (name, index)) not in named["+"]]
            if len(old) != len(new):
                assert is_shown((*key, (name, None))), (str(place_of(key)), name, shown)
                return
            numbers = dict(zip(old, new, strict=True))
        for index, index_now in numbers.items():
            place, place_now = (*key, (name, index)), (*now, (name, index_now))
            if place in named["-"] or place_now in named["+"]:
                continue
            if descriptor.message_type is not None:
                compare(value[index], other[index_now], place, place_now)
            elif value[index] != other[index_now]:
                assert is_shown(place, value[index], other[index_now]), (str(place_of(place)), shown)

    def is_shown(key: PlaceKey, value: Any = "", other: Any = "") -> bool:
        """Return whether the line of an element around the place changes, and has the new text or had the old one."""
        lines = [
            (before.lines[*key[:size], (name, None)][index], moved[*key[:size], (name, None)].get(index))
            for size, (name, index) in enumerate(key)
            if index is not None and (*key[:size], (name, None)) in before.lines
        ]
        if not any(line in rows["-"] for line, _ in lines):
            return False
        texts = [(text, rows[mark]) for text, mark in ((value, "-"), (other, "+")) if isinstance(text, str) and text]
        return not texts or any(text in line for text, found in texts for line in found)

    compare(before.message, after.message, (), ())

# SPDX-License-Identifier: Apache-2.0
"""Pairs of models with the same fault of a rule in two places: in one part, and in its twin."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

import onnx
from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.folding import unfold
from support.baselines.changes import rename_all
from support.baselines.measure import report_on
from support.project.fixture_files import Fixture, fixtures


class Pair(NamedTuple):
    """Two models with one fault each, at different places."""

    name: str
    first: onnx.ModelProto
    second: onnx.ModelProto
    settings: Settings
    number: int = 0
    """The number of the list whose elements have another order, among those of the model."""


@functools.cache
def _models_of(rule: str, is_valid: bool) -> tuple[tuple[Fixture, onnx.ModelProto], ...]:
    found = []
    for fixture in fixtures():
        if fixture.rule == rule and fixture.is_valid == is_valid and fixture.is_text and not fixture.proto:
            try:
                model = text_format.Parse(fixture.text, onnx.ModelProto())
            except text_format.ParseError:
                continue
            if model.graph.name or model.graph.node:
                found.append((fixture, model))
    return tuple(found)


def exchanged_rules() -> list[str]:
    return sorted({fixture.rule for fixture in fixtures()})


def are_exchanged(rule: str, first: FileReport, second: FileReport) -> bool:
    """Return whether the rule finds its faults at other places of the second model, and not more of them.

    Imports are left out: the two parts of a model share them. The index of an attribute is left out as well: the same
    fault may have another one in the twin.
    """
    before, after = (
        [
            _ATTRIBUTE.sub("attribute", item.pointer)
            for item in unfold(file.diagnostics)
            if item.rule == rule and "opset_import" not in item.pointer
        ]
        for file in (first, second)
    )
    return bool(before and after) and set(before).isdisjoint(after) and len(after) <= len(before)


_ATTRIBUTE = re.compile(r"\battribute/\d+")


def are_exchanged_inside(rule: str, first: FileReport, second: FileReport) -> bool:
    """Return whether the rule finds its faults at the same places, and at others inside of them, as messages say."""
    before, after = (
        # What comes after the first part of a message are other nodes, and reasons.
        [
            (item.pointer, _INSIDE.findall(_REASON.split(item.message)[0])[:1])
            for item in unfold(file.diagnostics)
            if item.rule == rule
        ]
        for file in (first, second)
    )
    places = [[place for place, _ in found] for found in (before, after)]
    return bool(before) and places[0] == places[1] and before != after


_REASON = re.compile(";| because of ")
_INSIDE = re.compile(r"\b(?:byte|dimension|element|entry|index|key|string|value) \d+")


def pairs_of(rule: str, kind: str) -> Iterator[Pair]:
    """Yield pairs of each fixture that breaks the rule.

    `kind`: `twin` for a fault at another value or node, or `inner` for one at another place inside.
    """
    for fixture, model in _models_of(rule, is_valid=False):
        settings = replace(fixture.settings, has_baseline=True)
        if kind == "inner":
            for number, moved in enumerate(_rotated(model)):
                yield Pair(f"{fixture.id} {number}", model, moved, settings, number)
            continue
        twin = _nearest_valid(fixture, model)
        if twin is not None:
            first = _joined(_named(model, "_a"), _named(twin, "_b"))
            second = _joined(_named(twin, "_a"), _named(model, "_b"))
            yield Pair(fixture.id, first, second, settings)


def _nearest_valid(fixture: Fixture, model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return the most similar model without the fault that has the same operators; None if there is none."""
    operators = Counter(node.op_type for node in model.graph.node)
    known = [
        (other, valid)
        for other, valid in _models_of(fixture.rule, is_valid=True)
        if Counter(node.op_type for node in valid.graph.node) == operators and other.settings == fixture.settings
    ]
    likeness = lambda each: difflib.SequenceMatcher(None, fixture.text, each[0].text).ratio()  # noqa: E731
    return max(known, key=likeness)[1] if known else None


def _named(model: onnx.ModelProto, end: str) -> onnx.ModelProto:
    """Return a copy with an ending at each name, so that it can be a part of another model."""
    made = onnx.ModelProto.FromString(model.SerializeToString())
    rename_all(made, lambda name: f"{name}{end}" if name else "")
    names = {function.name for function in made.functions}
    for graph in [made.graph, *made.functions]:
        for node in graph.node:
            if node.op_type in names:
                node.op_type += end
    for function in made.functions:
        function.name += end
    for entry in made.metadata_props:
        entry.key += end
    return made


def doubled(fixture: Fixture) -> onnx.ModelProto | None:
    """Return a model with the content of a fixture twice, under different names; None if it is no model in text."""
    if not fixture.is_text or fixture.proto:
        return None
    try:
        model = text_format.Parse(fixture.text, onnx.ModelProto())
    except text_format.ParseError:
        return None
    return _joined(_named(model, "_a"), _named(model, "_b"))


_OF_GRAPH = ("node", "input", "output", "initializer", "sparse_initializer", "value_info", "quantization_annotation")


def _joined(one: onnx.ModelProto, other: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with the parts of both."""
    for field in _OF_GRAPH:
        getattr(one.graph, field).extend(getattr(other.graph, field))
    known = {entry.domain for entry in one.opset_import}
    one.opset_import.extend(entry for entry in other.opset_import if entry.domain not in known)
    one.functions.extend(other.functions)
    one.metadata_props.extend(other.metadata_props)
    one.training_info.extend(other.training_info)
    return one


_ORDERED = ("dim", "ints", "floats", "strings", "dims", "input", "output", "int64_data", "float_data", "int32_data")
"""Lists inside of values and nodes, whose order has a meaning."""

_ELEMENTS = (
    *_ORDERED,
    *("raw_data", "string_data", "double_data", "uint64_data", "attribute", "keys", "string_keys"),
    *("tensor_values", "sequence_values", "map_values", "optional_values", "sparse_tensor_values"),
)
"""The same of all kinds of documents, and bytes."""


def _rotated(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """Yield the model with one of its inner lists in another order."""
    count = sum(1 for _ in _lists(model))
    for number in range(min(count, 12)):
        made = onnx.ModelProto.FromString(model.SerializeToString())
        message, field, _ = _list(made, number)
        copies = _copies(message, field)
        _set(message, field, [*copies[1:], copies[0]])
        yield made


def with_one_more(rule: str) -> Iterator[tuple[str, FileReport, FileReport]]:
    """Yield the reports on each fixture that breaks the rule, and on it with an element at fault once more.

    Each of the first elements of each inner list takes the place of each other one. Only if the rule then finds more
    faults, the reports are yielded. Documents of other kinds are changed like models, and bytes like lists.
    """
    for fixture in fixtures():
        if fixture.rule != rule or fixture.is_valid or not fixture.is_text or fixture.directory:
            continue
        made = schema.message(fixture.proto or "ModelProto")()
        settings = replace(fixture.settings, has_baseline=True, proto=fixture.proto)
        try:
            text_format.Parse(fixture.text, made, descriptor_pool=schema.pool())
            data = made.SerializePartialToString()
            made.ParseFromString(data)
        except (text_format.ParseError, DecodeError):
            continue
        known = _report_on_text(made, settings)
        places = [item.pointer for item in unfold(known.diagnostics) if item.rule == rule]
        for number, (_, _, path) in enumerate(_lists(made, ordered=_ELEMENTS)):
            if number == _MAX_LISTS or not places:
                break
            if not any(_is_inside(path, place) or _is_inside(place, path) for place in places):
                continue
            for at, to in itertools.permutations(range(_MAX_COPIED), 2):
                now = _with_copy(made, number, at, to)
                if now is not None and _faults(rule, report := _report_on_text(now, settings)) > _faults(rule, known):
                    yield f"{fixture.id} {path} {at} {to}", known, report


def _is_inside(path: str, place: str) -> bool:
    return f"{path}/".startswith(f"{place}/")


def _report_on_text(document: Message, settings: Settings) -> FileReport:
    text = text_format.MessageToString(document, descriptor_pool=schema.pool()).encode()
    return lint_source(BytesSource(text), "model.textproto", settings)


def _with_copy(document: Message, number: int, at: int, to: int) -> Message | None:
    """Return the document with a copy of an element in the place of another one; None if nothing changes."""
    made = type(document)()
    made.CopyFrom(document)
    message, field, _ = next(each for index, each in enumerate(_lists(made, ordered=_ELEMENTS)) if index == number)
    values = getattr(message, field)
    if max(at, to) >= len(values) or values[at] == values[to]:
        return None
    if isinstance(values, bytes):
        setattr(message, field, values[:to] + values[at : at + 1] + values[to + 1 :])
    elif isinstance(values[at], Message):
        values[to].CopyFrom(values[at])
    else:
        values[to] = values[at]
    return made


def _faults(rule: str, file: FileReport) -> int:
    """Return how many faults the findings of a rule say that there are."""
    found = [item for item in unfold(file.diagnostics) if item.rule == rule]
    more = [int(count.replace(",", "")) for item in found for count in re.findall(r"(\d[\d,]*) more", item.message)]
    return max(len(found) + sum(more), sum(max(item.count, item.identity.element_count) for item in found))


_MAX_LISTS, _MAX_COPIED = 25, 3


def _list(model: onnx.ModelProto, number: int) -> tuple[Message, str, str]:
    return next(each for index, each in enumerate(_lists(model)) if index == number)


def _copies(message: Message, field: str) -> list[Any]:
    values = getattr(message, field)
    return [type(each).FromString(each.SerializeToString()) if isinstance(each, Message) else each for each in values]


def _set(message: Message, field: str, values: Iterable[Any]) -> None:
    del getattr(message, field)[:]
    getattr(message, field).extend(values)


def _places(rule: str, file: FileReport) -> Counter[str]:
    return Counter(item.pointer for item in unfold(file.diagnostics) if item.rule == rule)


def is_in_a_place_of(rule: str, known: FileReport, pair: Pair) -> bool:
    """Return whether the list that has another order is inside of a place at which the rule finds a fault."""
    path = _list(pair.first, pair.number)[2]
    return any(f"{path}/".startswith(f"{place}/") for place in _places(rule, known))


def is_at_another_element(rule: str, pair: Pair) -> bool:
    """Return whether the faults of the two models are at other elements of the list, whatever the reports say.

    An element is at fault if the model has fewer findings with another element of the list in its place.
    """
    first, second = (_elements_at_fault(rule, model, pair) for model in (pair.first, pair.second))
    return bool(first and second) and first.isdisjoint(second)


def _elements_at_fault(rule: str, model: onnx.ModelProto, pair: Pair) -> set[int]:
    made = onnx.ModelProto.FromString(model.SerializeToString())
    known = _places(rule, report_on(made, pair.settings))
    message, field, _ = _list(made, pair.number)
    values = _copies(message, field)[:_MOST]
    found = set()
    for at, other in itertools.permutations(range(len(values)), 2):
        if at not in found and values[at] != values[other]:
            _set(message, field, [*values[:at], values[other], *values[at + 1 :]])
            if known - _places(rule, report_on(made, pair.settings)):
                found.add(at)
    return found


_MOST = 8
"""The most elements of a list that are exchanged one by one."""


def _lists(
    message: Message, path: str = "", *, ordered: Collection[str] = _ORDERED
) -> Iterator[tuple[Message, str, str]]:
    """Yield the inner lists: the message around each, its field, and its place as a JSON Pointer."""
    is_graph = message.DESCRIPTOR.name in ("GraphProto", "FunctionProto")
    for field, value in message.ListFields():
        if field.name in ordered and not is_graph and len(value) > 1:
            yield message, field.name, f"{path}/{field.name}"
        if not field.is_repeated:
            if isinstance(value, Message):
                yield from _lists(value, f"{path}/{field.name}", ordered=ordered)
        elif field.message_type is not None:
            for index, each in enumerate(value):
                yield from _lists(each, f"{path}/{field.name}/{index}", ordered=ordered)

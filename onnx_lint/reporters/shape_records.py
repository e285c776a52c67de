# SPDX-License-Identifier: Apache-2.0
"""The inferred facts about values as plain data, for `onnx-lint shapes -f json`.

`docs/shapes.schema.json` has the schema. As in reports, names of more than a thousand characters are cut in the
middle.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from onnx_lint.common.visible import json_without_commands
from onnx_lint.inference.flow.provenance import Provenance, Value
from onnx_lint.inference.flow.walks import WalkResult
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.places.place import Place
from onnx_lint.reporters.json_text import indented
from onnx_lint.reporters.records import json_safe
from onnx_lint.wording import report_name


def document(head: dict[str, Any], name: str, parts: Iterable[Iterator[str]]) -> Iterator[str]:
    """Yield the pieces of a JSON document: `head`, and a list `name` whose members are created while they are read."""
    yield f'{indented(json_safe(head))[:-2]},\n  "{name}": ['
    separator = "\n    "
    for part in parts:
        yield separator
        yield from part
        separator = ",\n    "
    yield "\n  ]\n}\n"


def graph_parts(provenance: Provenance, walked: WalkResult) -> Iterator[str]:
    """Yield the pieces of a graph with its values, one line each."""
    yield _line(_graph(walked))[:-1] + ', "values": ['
    separator = "\n      "
    for value in provenance.values(walked):
        yield separator + _line(_value(value))
        separator = ",\n      "
    yield "\n    ]}"


def _line(record: dict[str, Any]) -> str:
    return json_without_commands(json.dumps(json_safe(record)))


def _graph(walked: WalkResult) -> dict[str, Any]:
    graph, call = walked.graph, walked.call
    return {
        **_place(graph.place),
        "kind": graph.kind.value,
        "name": report_name(graph.name),
        "function": None if graph.function is None else report_name(graph.function.qualified_name),
        "called_by": None if call is None else str(call.node.place),
    }


def _value(value: Value) -> dict[str, Any]:
    cause, elements = value.cause, value.elements
    return {
        "name": report_name(value.name),
        **_place(value.definition.place),
        **_fact(value.fact),
        "elements": None if elements is None else [_dimension(each) for each in elements],
        "unknown": None if cause is None else {"kind": cause[0], "name": report_name(cause[1])},
    }


def _place(place: Place) -> dict[str, Any]:
    return {"place": str(place), "pointer": place.pointer()}


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "type": None if fact.kind is None else report_name(fact.kind),
        "shape": None if fact.shape is None else [_dimension(each) for each in fact.shape],
        "inside": None if fact.inside is None else _fact(fact.inside),
    }


def _dimension(each: float | str | None) -> int | float | str | None:
    if isinstance(each, str):
        return report_name(each)
    # JSON has no such numbers; they are written as Protocol Buffers write them.
    if isinstance(each, float) and math.isnan(each):
        return "NaN"
    if isinstance(each, float) and math.isinf(each):
        return "Infinity" if each > 0 else "-Infinity"
    return each

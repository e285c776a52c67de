# SPDX-License-Identifier: Apache-2.0
"""JSON that is written piece by piece equals the result of `json.dump`."""

from __future__ import annotations

import io
import json
from typing import Any

from support.project.each_case import each_case

from onnx_lint.reporters.json_pieces import write_pieces

VALUES: list[Any] = [
    {},
    {"a": []},
    {"a": {}},
    {"a": 1, "b": [1, 2.5, None, True, 'line\nend \ud800 \u2028 "quoted"']},
    {"a": [[], {}, [[1]], {"b": {"c": [{}, {"d": [1, 2]}]}}], "b": [{"e": []}]},
]


def in_pieces(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: in_pieces(each) for name, each in value.items()}
    return map(in_pieces, value) if isinstance(value, list) else value


def in_outer_pieces(value: Any) -> Any:
    """The same with objects and arrays in the innermost ones as they are."""
    return {name: iter(each) if isinstance(each, list) else each for name, each in value.items()}


@each_case("indent", [None, 2])
@each_case("made", [in_pieces, in_outer_pieces, lambda value: value])
@each_case("value", VALUES)
def test_pieces_are_those_of_the_whole(value: Any, made: Any, indent: int | None):
    stream = io.StringIO()
    write_pieces(made(value), stream, indent=indent)
    whole = json.dumps(value, indent=indent, separators=None if indent else (",", ":"))
    assert stream.getvalue() == f"{whole}\n"


def test_an_element_is_made_when_those_before_it_are_written():
    stream = io.StringIO()

    def made():
        for index in range(3):
            assert stream.getvalue().count("{") == index
            yield {"index": index}

    write_pieces(made(), stream)
    assert json.loads(stream.getvalue()) == [{"index": index} for index in range(3)]

# SPDX-License-Identifier: Apache-2.0
"""The elements of text and JSON are counted before they are parsed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from support.hostile.dense_files import DENSE
from support.hostile.dense_texts import FORMS, grown, short_text
from support.processes.peak_memory import run
from support.processes.time_limit import time_limit
from support.wire.wire_bytes import rich_model

from onnx_lint import lint, schema
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.loader.limits.limit_faults import TooManyElementsError
from onnx_lint.loader.text.text_elements import count_json, count_text

MEGABYTE = 1 << 20
FIXED_BYTES = 64 * MEGABYTE
FACTOR = 12
"""So many bytes may be taken up at the peak, and for each byte of the text."""

COUNTS = {"textproto": count_text, "json": count_json}

QUICK = {("empty attributes", "textproto"), ("empty nodes", "json")}
"""What not only the long run holds the memory of."""


def is_counted(text: str, form: str) -> bool:
    try:
        COUNTS[form](text, "ModelProto", DEFAULT_LIMITS.element_bytes)
    except TooManyElementsError:
        return False
    return len(text) <= DEFAULT_LIMITS.text_bytes


def largest(name: str, form: str) -> str:
    """About the largest of these texts that is judged."""
    make = grown(DENSE[name], form)
    least, most = 1000, DEFAULT_LIMITS.text_bytes - 1000
    if is_counted(make(most), form):
        return make(most)
    while most - least > least // 20:
        middle = (least + most) // 2
        least, most = (middle, most) if is_counted(make(middle), form) else (least, middle)
    return make(least)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=[] if (name, form) in QUICK else pytest.mark.heavy)
        for name in DENSE
        for form in FORMS
    ],
)
def test_memory_is_bounded_by_the_text(name: str, form: str, tmp_path: Path):
    path = tmp_path / f"model.{form}"
    path.write_text(largest(name, form))
    done = run(path)
    assert (done.code in {0, 1}, done.errors) == (True, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * path.stat().st_size


LONG = {
    "a wide string": 'doc_string: "\U0001f600' + "a" * 3_900_000 + '"',
    "a wide string of bytes": 'doc_string: "\U0001f600" graph { initializer { raw_data: "'
    + r"\001" * 900_000
    + '" } }',
    "escapes": 'graph { initializer { raw_data: "' + r"\001" * 300_000 + '" } }',
    "as many escapes as are judged": 'graph { initializer { raw_data: "' + r"\001" * 70_000 + '" } }',
    "strings in pieces": 'doc_string: "\U0001f600' + 'a" "' * 900_000 + '"',
    "lines": 'doc_string: "\U0001f600"' + "#a\n" * 1_300_000,
    "a comment": "#" + "{" * 3_900_000,
    "escapes with long words between them": 'doc_string: "' + r"\U00010000" * 380_000 + '"',
    "escapes in a string that is not closed": 'doc_string: "' + r"\001" * 900_000,
    "blanks": " \r" * 130_000,
    "short lines": "\n" * 4_000_000,
    "backslashes": 'doc_string: "' + "\\\\" * 200_000 + '"',
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", LONG)
def test_memory_is_bounded_by_long_text(name: str, tmp_path: Path):
    path = tmp_path / "model.textproto"
    path.write_text(f"ir_version: 10 opset_import {{ version: 21 }} {LONG[name]}\n")
    done = run(path)
    assert (done.code in {0, 1}, done.errors) == (True, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * path.stat().st_size


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["empty attributes", "empty initializers", "empty nodes"])
def test_more_elements_than_are_judged_exceed_a_limit(name: str, form: str):
    with time_limit(1):
        [found] = lint(grown(DENSE[name], form)(2_500_000).encode()).diagnostics
    assert found.rule == "exceeded-limit"
    assert "element_bytes" in found.message


@pytest.mark.heavy
def test_memory_is_bounded_by_json_of_short_names(tmp_path: Path):
    path = tmp_path / "model.json"
    path.write_text(json_of_short_names(20_648))
    done = run(path)
    assert (done.code, done.errors) == (1, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * path.stat().st_size


def test_names_of_fields_in_json_cost_nothing():
    """The parser of JSON has each name once."""
    assert is_counted(json_of_short_names(20_648), "json")


def json_of_short_names(count: int) -> str:
    """A model of initializers and of values, each with a name and nothing else."""
    named = [{"name": f"{index:x}"} for index in range(count)]
    graph = {"name": "g", "initializer": named, "valueInfo": named, "input": named, "output": named}
    return json.dumps({"irVersion": "10", "graph": graph, "opsetImport": [{"version": "21"}]})


def elements_of(message: Any) -> int:
    """How many values the message has, those in the messages in it too."""
    count = 0
    for field, value in message.ListFields():
        values = value if hasattr(value, "extend") else [value]
        count += len(values)
        if field.message_type is not None:
            count += sum(map(elements_of, values))
    return count


def ways_of_writing(model: Any) -> dict[str, tuple[str, str]]:
    """The model as texts, each with its form."""
    plain = text_format.MessageToString(model)
    in_short = json.dumps(json_format.MessageToDict(model, preserving_proto_field_name=True), separators=(",", ":"))
    return {
        "lines": (plain, "textproto"),
        "one line": (text_format.MessageToString(model, as_one_line=True), "textproto"),
        "no spaces": (short_text(model.SerializeToString(), "textproto"), "textproto"),
        "lists": (text_format.MessageToString(model, use_short_repeated_primitives=True), "textproto"),
        "angle brackets": (text_format.MessageToString(model, pointy_brackets=True), "textproto"),
        "semicolons": (plain.replace("\n", " ;\n").replace("{ ;", "{"), "textproto"),
        "comments": (plain.replace("\n", ' # dims: [1, 2] { "\n'), "textproto"),
        "JSON": (json_format.MessageToJson(model), "json"),
        "JSON without spaces": (in_short, "json"),
    }


WAYS = tuple(ways_of_writing(schema.message("ModelProto")()))


@pytest.mark.parametrize("way", WAYS)
def test_elements_are_counted_however_they_are_written(way: str):
    model = schema.message("ModelProto").FromString(rich_model())
    model.doc_string = "braces { [ < and \" quotes ' and \\ backslashes, # commas"
    model.graph.node.add(op_type="X").attribute.add(name="a").ints.extend([1, 2, 3] * 3000)
    text, form = ways_of_writing(model)[way]
    assert COUNTS[form](text, "ModelProto", 1 << 40) == elements_of(model)


@pytest.mark.parametrize(
    "text",
    [
        'graph { node: [ { input: ["a", "b"] }, { output: "c" "d" } ] }',
        'graph { node [ < input: [ "a", "b" ] >, < output: "c" > ], }',
        "graph: < node: < input: 'a', input: 'b' >, node { output: 'c' } >",
    ],
)
def test_lists_of_messages_are_counted(text: str):
    model = text_format.Parse(text, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    assert count_text(text, "ModelProto", 1 << 40) == elements_of(model)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", ["{", "[", "<", "}", "]", ":", ",", '"', "'", "#", "\\", "a", "1,", " ", "\n", 'a:[{"']
)
def test_what_is_no_text_is_counted_in_linear_time(text: str, form: str):
    with time_limit(2):
        is_counted(text * 100_000, form)


@pytest.mark.parametrize("value", ["{}", "[]", '"ab"', "1.5", '{"a":1}'])
def test_objects_under_unknown_names_in_json_are_counted(value: str):
    """They are made before the names are looked at."""
    row = f"{value},"
    text = '{"x":[' + row * (3_000_000 // len(row)) + "1]}"
    assert not is_counted(text, "json")

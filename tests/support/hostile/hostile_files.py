# SPDX-License-Identifier: Apache-2.0
"""Attack files: how each known attack on readers of ONNX models looks in a file, and the rule that finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.text.read_text import parse_textproto
from support.wire.wire_bytes import group, length, number, tag

HEAD = 'ir_version: 10 producer_name: "test" opset_import { domain: "" version: 21 } '
VALUE = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
INPUT = f'input {{ name: "x" {VALUE} }}'
OUTPUT = f'output {{ name: "y" {VALUE} }}'
NODE = 'node { op_type: "Abs" input: "x" output: "y" }'


def in_bytes(text: str) -> bytes:
    """Return the model in a text, in binary form."""
    # The text is one of ours, however much there is in it.
    parsed = parse_textproto(BytesSource(text.encode()), limits=replace(DEFAULT_LIMITS, memory=1 << 40))
    assert isinstance(parsed, schema.message("ModelProto")), parsed
    return bytes(parsed.SerializeToString())


def graph(content: str, rest: str = "") -> bytes:
    """A model whose graph takes `x` to `y` and has `content` besides."""
    return in_bytes(f'{HEAD} graph {{ name: "graph" {INPUT} {OUTPUT} {NODE} {content} }} {rest}')


def located(location: str) -> bytes:
    """A model with an initializer in the file at `location`."""
    entry = f'external_data {{ key: "location" value: "{location}" }}'
    return graph(f'initializer {{ name: "w" dims: 2 data_type: 1 data_location: EXTERNAL {entry} }}')


def functions(bodies: dict[str, str]) -> str:
    """Functions of the domain com.example, each with the nodes in its body."""
    imports = 'opset_import { domain: "" version: 21 } opset_import { domain: "com.example" version: 1 }'
    return " ".join(
        f'functions {{ name: "{name}" domain: "com.example" input: "x" output: "y" {imports} {body} }}'
        for name, body in bodies.items()
    )


def call(name: str, given: str = "x", result: str = "y") -> str:
    return f'node {{ op_type: "{name}" domain: "com.example" input: "{given}" output: "{result}" }}'


def calling(bodies: dict[str, str]) -> bytes:
    """A model that calls the function F0."""
    head = HEAD + 'opset_import { domain: "com.example" version: 1 } '
    return in_bytes(f'{head} graph {{ name: "graph" {INPUT} {OUTPUT} {call("F0")} }} {functions(bodies)}')


def laughs(levels: int) -> bytes:
    """Functions that each call the next one twice."""
    bodies = {f"F{level}": call(f"F{level + 1}", "x", "m") + call(f"F{level + 1}", "m", "y") for level in range(levels)}
    return calling({**bodies, f"F{levels}": NODE})


def nested_ifs(depth: int) -> bytes:
    """A chain of Ifs, each in a branch of the one before."""
    body = 'node { op_type: "Abs" input: "x" output: "v0" }'
    for level in range(1, depth + 1):
        inner = f'g {{ name: "then{level}" {body} output {{ name: "v{level - 1}" {VALUE} }} }}'
        other = (
            f'g {{ name: "else{level}" node {{ op_type: "Neg" input: "x" output: "e{level}" }} '
            f'output {{ name: "e{level}" {VALUE} }} }}'
        )
        body = (
            f'node {{ op_type: "If" input: "c" output: "v{level}" '
            f'attribute {{ name: "then_branch" type: GRAPH {inner} }} '
            f'attribute {{ name: "else_branch" type: GRAPH {other} }} }}'
        )
    condition = 'input { name: "c" type { tensor_type { elem_type: 9 shape { } } } }'
    return in_bytes(
        f'{HEAD} graph {{ name: "graph" {INPUT} {condition} output {{ name: "v{depth}" {VALUE} }} {body} }}'
    )


def deep(levels: int) -> bytes:
    """Graphs in attributes of nodes in graphs, as bytes: three messages a level."""
    content = b""
    for _ in range(levels):
        content = length(1, length(5, length(6, content)))
    return number(1, 10) + length(7, content)


def deep_text(levels: int, opening: str = "node { attribute { g { ", closing: str = "} } } ") -> bytes:
    return (HEAD + "graph { " + opening * levels + closing * levels + "}").encode()


def deep_json(levels: int) -> bytes:
    opening, closing = '{"node": [{"attribute": [{"g": ', "}]}]}"
    return ('{"irVersion": "10", "graph": ' + opening * levels + "{}" + closing * levels + "}").encode()


START = number(1, 10) + length(2, "test")
"""The beginning of a model in bytes: its IR version and producer."""

TAIL = length(7, length(2, "graph")) + length(8, number(2, 21))


@dataclass(frozen=True)
class Attack:
    """A file that means harm, and what finds it."""

    name: str
    rule: str
    make: Callable[[], bytes]
    suffix: str = ".onnx"
    memory_bytes: int = 1 << 30
    """The address space that the program may have."""


ATTACKS = (
    # Graphs and functions
    Attack("billion laughs", "exceeded-limit", lambda: laughs(30)),
    Attack("billion laughs a thousand deep", "exceeded-limit", lambda: laughs(1000)),
    Attack("nested Ifs", "exceeded-limit", lambda: nested_ifs(20)),
    # Bytes
    Attack("CVE-2025-4565 messages", "excessive-nesting", lambda: deep(5000)),
    Attack("CVE-2025-4565 groups", "excessive-nesting", lambda: START + tag(100, 3) * 100_000 + TAIL),
    Attack("deep text", "excessive-nesting", lambda: deep_text(5000), suffix=".textproto"),
    Attack("CVE-2026-0994 deep JSON", "excessive-nesting", lambda: deep_json(5000), suffix=".json.onnx"),
)


MILLION = 1_000_000


def _graph_of(field: int) -> Callable[[], bytes]:
    return lambda: START + length(7, length(2, "graph") + length(field, b"") * MILLION) + length(8, number(2, 21))


def _named(name: bytes, field: int) -> Callable[[], bytes]:
    def make() -> bytes:
        fields = {1: b"x", 2: b"y", 3: b"n", 4: b"Abs"} | {field: name}
        node = b"".join(length(key, value) for key, value in fields.items())
        return START + length(7, length(1, node) + length(2, "graph")) + length(8, number(2, 21))

    return make


_LONG = 25 << 20
_FOR_LONG = 320 << 20
"""The address space for a name that long: a dozen times its size, as a gigabyte would be for 100 MB."""

NOT_CHECKED = "not checked"
"""In place of a rule: the file is beyond a limit."""

HEAVY_LIMIT = ("--limit", "memory=150MiB")
"""Under which the million tiny fields are refused; by default such a file is judged in half a minute."""

HEAVY = (
    # A million tiny fields
    Attack("nodes", NOT_CHECKED, _graph_of(1)),
    Attack("unknown fields", "unknown-field", lambda: START + TAIL + number(100, 1) * MILLION),
    Attack("groups", "unknown-field", lambda: START + TAIL + group(100) * (MILLION // 2)),
    Attack("one field again and again", "repeated-singular-field", lambda: START + TAIL + number(5, 1) * MILLION),
    Attack(
        "undefined names",
        "undefined-name",
        lambda: graph(
            " ".join(f'node {{ op_type: "Abs" input: "u{index}" output: "v{index}" }}' for index in range(20_000))
        ),
    ),
    # Names of 25 MB
    Attack("a name of 25 MB", "exceeded-limit", _named(b"A" * _LONG, 3), memory_bytes=_FOR_LONG),
    Attack("a value name of 25 MB", "exceeded-limit", _named(b"-" * _LONG, 1), memory_bytes=_FOR_LONG),
    Attack("an operator of 25 MB", "exceeded-limit", _named("é".encode() * (_LONG // 2), 4), memory_bytes=_FOR_LONG),
)

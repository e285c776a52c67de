# SPDX-License-Identifier: Apache-2.0
"""The cases of safe fixes."""

from __future__ import annotations

from support.fixes.case import (
    INTS,
    PRODUCER,
    RELU,
    THREES,
    USER,
    Case,
    Y,
    entry,
    function,
    graph,
    imports,
    info,
)

CYCLE = graph('node { op_type: "Abs" input: "b" output: "y" } node { op_type: "Add" input: "b" output: "b" }')
OTHER = info("a").replace("type", 'doc_string: "d" type', 1)
DIFFERING = graph(f"{RELU} {info('a')} {info('a', INTS)} {OTHER}")
OF_OUTPUT = graph(RELU).replace(Y, f'output {{ name: "y" {INTS} }}')
VERSIONS = graph(RELU, imports(("ai.onnx", 21), ("com.a", 1), ("com.a", 2)))
VALUES = graph(RELU, f"{entry('k')} {entry('k', 'w')}")

SAFE = [
    Case("unordered-nodes", graph(f"{USER} {PRODUCER}"), graph(RELU)),
    Case("unordered-nodes", CYCLE, CYCLE, id="a cycle"),
    Case(
        "duplicate-value-info",
        graph(f"{RELU} {info('a')} {info('a')} {info('y')} {info('a')}"),
        graph(f"{RELU} {info('a')} {info('y')}"),
    ),
    Case("duplicate-value-info", DIFFERING, DIFFERING, id="entries that differ"),
    Case(
        "unknown-value-info-name",
        graph(f"{RELU} {info('gone')} {info('a')} {info('left', INTS)}"),
        graph(f"{RELU} {info('a')}"),
    ),
    Case("contradictory-value-info", graph(f"{RELU} {info('y', INTS)} {info('a')}"), graph(f"{RELU} {info('a')}")),
    Case("contradictory-declared-type", graph(f"{RELU} {info('a', INTS)}"), graph(RELU)),
    Case("contradictory-declared-type", OF_OUTPUT, OF_OUTPUT, id="the output of a graph"),
    Case(
        "contradictory-declared-shape",
        graph(f"{RELU} {info('a', THREES)}"),
        graph(RELU),
    ),
    Case(
        "duplicate-opset-import",
        graph(RELU, imports(("com.example", 1), ("com.example", 1))),
        graph(RELU, imports(("com.example", 1))),
    ),
    Case("duplicate-opset-import", VERSIONS, VERSIONS, id="another spelling, another version"),
    Case(
        "duplicate-metadata-key",
        graph(RELU, f"{entry('k')} {entry('l')} {entry('k')}"),
        graph(RELU, f"{entry('k')} {entry('l')}"),
    ),
    Case("duplicate-metadata-key", VALUES, VALUES, id="another value"),
    Case("unused-opset-import", graph(RELU, function(("com.b", 1))), graph(RELU, function())),
    Case("repeated-singular-field", graph(RELU), graph(RELU), first=(b"\x08\x0a\x08\x0a", b"")),
    Case(
        "long-encoding",
        graph(RELU),
        graph(RELU),
        first=(b"\xf2\x00\x86\x80\x00\x0a\x81\x00k\x12\x00", b"\x72\x05\x0a\x01k\x12\x00"),
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""The cases of safe fixes."""

from __future__ import annotations

from support.fixes.case import (
    FLOATS,
    INTS,
    PRODUCER,
    RELU,
    THREES,
    USER,
    Case,
    X,
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

EMPTY = 'value_info { name: "y" type { } } '
NAMED = FLOATS.replace("dim_value: 2", 'dim_param: "%s"')
OF_VARIABLE = graph(f"{RELU} %s").replace(X, X.replace("dim_value: 2", 'dim_param: "batch"'))
OF_TWO_VARIABLES = graph(
    f"{RELU} {info('a', NAMED % 'unk_0')} {info('a', NAMED % 'batch')} {info('a', NAMED % 'rows')}"
).replace(
    X,
    X.replace("dim_value: 2", 'dim_param: "batch"')
    + X.replace('"x"', '"r"').replace("dim_value: 2", 'dim_param: "rows"'),
)
OF_RANK_2 = 'type { tensor_type { elem_type: 1 shape { dim { dim_param: "%s" } dim { dim_param: "%s" } } } }'
EARLY = 'node { name: "u" op_type: "Abs" input: "t" output: "y" }'
LATE = 'node { name: "w" op_type: "Relu" input: "x" output: "t" }'
CHOICE = (
    '{} node {{ name: "if" op_type: "If" input: "c" output: "{}" '
    'attribute {{ name: "then_branch" type: GRAPH g {{ name: "t" {} output {{ name: "{}" }} }} }} '
    'attribute {{ name: "else_branch" type: GRAPH g {{ name: "e" '
    'node {{ op_type: "Neg" input: "x" output: "q" }} output {{ name: "q" }} }} }} }} '
    'input {{ name: "c" type {{ tensor_type {{ elem_type: 9 shape {{ }} }} }} }}'
)
SIZES = 'initializer { name: "s" dims: 1 data_type: 7 int64_data: -1 }'
NARROW = SIZES.replace("7 int64", "6 int32")
RAW = SIZES.replace("7 int64_data: -1", r'6 raw_data: "\377\377\377\377"')
TWO_WAYS = 'node { op_type: "Abs" input: "s" output: "t" }'
IDENTITY = 'node { name: "a_1" op_type: "Identity" input: "a" output: "a_1" }'


def reshape(*parts: str) -> str:
    """Return a Reshape to the shape s, and more."""
    return graph('node { op_type: "Reshape" input: "x" input: "s" output: "y" } ' + " ".join(parts))


SAFE = [
    Case("mismatched-operand-type", reshape(NARROW, info("s", INTS)), reshape(SIZES, info("s", INTS))),
    Case("mismatched-operand-type", reshape(RAW), reshape(SIZES), id="bytes"),
    Case("mismatched-operand-type", reshape(NARROW, TWO_WAYS), reshape(NARROW, TWO_WAYS), id="another user"),
    Case(
        "duplicate-value-info",
        OF_VARIABLE % f"{info('a', NAMED % 'unk_0')} {info('a', NAMED % 'batch')} {info('a', NAMED % 'unk_1')}",
        OF_VARIABLE % info("a", NAMED % "batch"),
        id="other variables",
    ),
    Case("duplicate-value-info", OF_TWO_VARIABLES, OF_TWO_VARIABLES, id="variables of two inputs"),
    Case(
        "duplicate-value-info",
        graph(f"{RELU} {info('a', OF_RANK_2 % ('n', 'm'))} {info('a', OF_RANK_2 % ('k', 'k'))}"),
        graph(f"{RELU} {info('a', OF_RANK_2 % ('k', 'k'))}"),
        id="one variable in place of two",
    ),
    Case(
        "unordered-nodes",
        graph(CHOICE.format("", "y", f"{EARLY} {LATE}", "y")),
        graph(CHOICE.format("", "y", f"{LATE} {EARLY}", "y")),
        id="a branch with an output that is called like that of its If",
    ),
    Case(
        "unordered-nodes",
        graph(CHOICE.format('node { op_type: "Neg" input: "x" output: "t" }', "y", f"{EARLY} {LATE}", "y")),
        graph(CHOICE.format('node { op_type: "Neg" input: "x" output: "t" }', "y", f"{EARLY} {LATE}", "y")),
        id="a branch that defines a name of the graph around it again",
    ),
    Case("private-path", graph(RELU, entry("k", "/home/ada/secret/model.py")), graph(RELU)),
    Case(
        "outer-scope-output",
        graph(CHOICE.format(PRODUCER, "y", "", "a")),
        graph(CHOICE.format(PRODUCER, "y", IDENTITY, "a_1")),
    ),
    Case(
        "undefined-name",
        graph(CHOICE.format("", "y", "", "a") + PRODUCER),
        graph(CHOICE.format(PRODUCER, "y", "", "a")),
        id="a branch returns a value of a later node",
    ),
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
    Case(
        "incomplete-type",
        graph(f"{RELU} value_info {{ name: 'y' type {{ }} }} {info('a')}"),
        graph(f"{RELU} {info('a')}"),
    ),
    Case(
        "incomplete-type",
        graph(f"{RELU} {EMPTY * 20} {info('a')}"),
        graph(f"{RELU} {info('a')}"),
        id="more entries than rounds of fixes",
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

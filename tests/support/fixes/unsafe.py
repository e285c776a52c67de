# SPDX-License-Identifier: Apache-2.0
"""The cases of unsafe fixes."""

from __future__ import annotations

from hashlib import sha1

from support.fixes.case import FLOATS, PRODUCER, RELU, THREES, Case, X, Y, entry, function, graph, imports, info

FEATURES = graph(f"{RELU} {entry('k')}", function())
"""A function, which came with IR version 8, and metadata of a graph, which came with IR version 10."""
NEGATIVE = graph(f"{RELU} {info('a')}").replace("dim_value: 2", "dim_value: -1")


def branch(name: str, made: str, operator: str = "Relu", used: str = "x", more: str = "") -> str:
    """Return a graph for a branch of an If, whose one node makes a value of x."""
    node = f'node {{ name: "in_{name}" op_type: "{operator}" input: "{used}" output: "{made}" }}'
    return f'g {{ name: "{name}" {more} {node} output {{ name: "{made}" {FLOATS} }} }}'


def choice(then: str, other: str, output: str = "y") -> str:
    """Return an If with these graphs, and its condition."""
    attributes = " ".join(
        f'attribute {{ name: "{name}_branch" type: GRAPH {found} }}'
        for name, found in (("then", then), ("else", other))
    )
    condition = 'input { name: "c" type { tensor_type { elem_type: 9 shape { } } } }'
    return f'node {{ name: "if" op_type: "If" input: "c" output: "{output}" {attributes} }} {condition}'


def external(location: str, **entries: str) -> str:
    """Return a tensor of two floats in a file, and a node that uses it."""
    stated = {"location": location, **entries}
    pairs = " ".join(f'external_data {{ key: "{key}" value: "{value}" }}' for key, value in stated.items())
    tensor = f'initializer {{ name: "w" data_type: 1 dims: 2 data_location: EXTERNAL {pairs} }}'
    return graph(f'node {{ name: "add" op_type: "Add" input: "x" input: "w" output: "y" }} {tensor}')


BARE = 'output { name: "y" type { tensor_type { elem_type: 1 } } }'
WEIGHTS = {"w.bin": b"12345678"}
DIGEST = sha1(WEIGHTS["w.bin"]).hexdigest()
AXES = 'attribute { name: "axes" ints: 0 type: INTS }'
SQUEEZED = f'node {{ name: "q" op_type: "Squeeze" input: "y" output: "z" {AXES} }}'
SQUEEZE = f"{RELU} {SQUEEZED}"
FOREIGN = f'{RELU} node {{ name: "q" op_type: "Odd" domain: "com.odd" input: "y" output: "z" }}'
GELU = f'{RELU} node {{ name: "q" op_type: "Gelu" domain: "com.microsoft" input: "y" output: "z" }}'
CALL = f'{RELU} node {{ name: "q" op_type: "F" domain: "com.f" input: "y" output: "z" }}'
TWO_AGES = f'{SQUEEZE} node {{ name: "n" op_type: "Gelu" input: "y" output: "v" }}'
REPEATED = RELU.replace('"s"', '"r"')
MORE = 'node { name: "r_1" op_type: "Abs" input: "y" output: "z" }'
BODY = 'functions { name: "F" domain: "com.f" input: "i" output: "o" node { op_type: "Abs" input: "i" output: "o" } }'
RESHAPE = graph(
    'initializer { name: "s" data_type: 7 dims: 1 int64_data: -1 } '
    'node { name: "q" op_type: "Reshape" input: "x" input: "s" output: "y" }'
)

STATED = f"{imports(('com.f', 1))} {BODY[:-1]} {imports(('', 15))} }}"
WEIGHT = graph(f'{RELU} initializer {{ name: "w" data_type: 1 dims: 1 float_data: 1 }}')

CONST = (
    'node {{ name: "{0}" op_type: "Constant" output: "{0}" attribute {{ name: "value" type: TENSOR t {{ {1} }} }} }}'
)
PADDED = 'node {{ name: "c" op_type: "Pad" input: "x" {} output: "y" {} }}'
HALF = r'data_type: 10 raw_data: "\000<"'
PADS = 'attribute { name: "pads" ints: [1, 1] type: INTS } attribute { name: "value" f: 1 type: FLOAT }'
SLICED = 'node {{ name: "c" op_type: "Slice" input: "x" {} output: "y" {} }}'
RANGE = 'attribute { name: "starts" ints: 0 type: INTS } attribute { name: "ends" ints: 2 type: INTS }'
BOUND = 'node {{ name: "c" op_type: "Clip" input: "x" {} output: "y" {} }}'
CONVERT = 'node { name: "t" op_type: "Cast" input: "x" output: "a" attribute { name: "to" i: 11 type: INT } }'
ROOTED = 'node { name: "r" op_type: "Sqrt" input: "a" output: "b" }'
ADD = 'node {{ name: "d" op_type: "Add" input: "{}" input: "b" output: "{}" }}'
CONVERTED = graph(f"{CONVERT} {ROOTED} {ADD.format('x', 'y')} {info('a')} {info('b')}")
"""A Cast that a converter left at double, whose users take float."""
SOFT = 'node {{ name: "c" op_type: "LeakyRelu" input: "x" output: "y" attribute {{ name: "{}" f: 0.5 type: FLOAT }} }}'

UNSAFE = [
    Case(
        "unknown-operator-attribute",
        graph(SLICED.format("", RANGE)),
        graph(
            f"{CONST.format('starts', 'dims: 1 data_type: 7 int64_data: 0')} "
            f"{CONST.format('ends', 'dims: 1 data_type: 7 int64_data: 2')} "
            + SLICED.format('input: "starts" input: "ends"', "")
        ),
        safe=False,
        id="lists that became inputs",
    ),
    Case(
        "unknown-operator-attribute",
        graph(BOUND.format("", 'attribute { name: "max" f: 6 type: FLOAT }')),
        graph(
            CONST.format("max", r'data_type: 1 raw_data: "\000\000\300@"') + BOUND.format('input: "" input: "max"', "")
        ),
        safe=False,
        id="a number that became the second of two inputs",
    ),
    Case(
        "unknown-operator-attribute",
        graph(PADDED.format("", PADS)).replace("elem_type: 1 ", "elem_type: 10 "),
        graph(
            f"{CONST.format('pads', 'dims: 2 data_type: 7 int64_data: [1, 1]')} "
            f"{CONST.format('constant_value', HALF)} " + PADDED.format('input: "pads" input: "constant_value"', "")
        ).replace("elem_type: 1 ", "elem_type: 10 "),
        safe=False,
        id="a number of the type of another input",
    ),
    Case(
        "unknown-operator-attribute",
        graph(SOFT.format("alpa")),
        graph(SOFT.format("alpha")),
        safe=False,
        id="misspelled",
    ),
    Case(
        "unknown-operator-attribute", graph(SOFT.format("zzz")), graph(SOFT.format("zzz")), safe=False, id="unlike any"
    ),
    Case("initializer-without-input", WEIGHT, WEIGHT, safe=False, versions=(3, 4), opset=7),
    Case(
        "missing-opset-import",
        graph(f'{CALL} node {{ name: "t" op_type: "Abs" input: "x" output: "v" }}', STATED),
        graph(
            f'{CALL} node {{ name: "t" op_type: "Abs" input: "x" output: "v" }}',
            f"{imports(('com.f', 1), ('', 15))} {STATED[len(imports(('com.f', 1))) :]}",
        ),
        safe=False,
        opset=0,
        id="a function states the version",
    ),
    Case("shapeless-graph-value", graph(RELU).replace(Y, BARE), graph(RELU), safe=False),
    Case("untyped-graph-value", graph(RELU).replace(Y, 'output { name: "y" }'), graph(RELU), safe=False),
    Case("unused-opset-import", graph(RELU, imports(("com.b", 1))), graph(RELU), safe=False),
    Case("negative-dimension", NEGATIVE, NEGATIVE.replace("dim_value: -1", ""), safe=False),
    Case("outdated-ir-version", graph(RELU), graph(RELU), safe=False, versions=(8, 10)),
    Case("premature-feature", FEATURES, FEATURES, safe=False, versions=(7, 10)),
    Case("missing-opset-import", graph(RELU), graph(RELU, imports(("", 22))), safe=False, opset=0),
    Case(
        "missing-opset-import",
        graph(SQUEEZE),
        graph(SQUEEZE, imports(("", 12))),
        safe=False,
        opset=0,
        id="an operator of an old version",
    ),
    Case("missing-opset-import", graph(TWO_AGES), graph(TWO_AGES), safe=False, opset=0, id="no version has all"),
    Case("missing-opset-import", graph(FOREIGN), graph(FOREIGN), safe=False, id="a domain that nobody knows"),
    Case("missing-opset-import", graph(GELU), graph(GELU, imports(("com.microsoft", 1))), safe=False, id="a runtime's"),
    Case(
        "missing-opset-import",
        graph(CALL, function()),
        graph(CALL, f"{function()} {imports(('com.f', 1))}"),
        safe=False,
        id="a domain of functions",
    ),
    Case(
        "missing-opset-import",
        graph(CALL, f"{imports(('com.f', 1))} {BODY}"),
        graph(CALL, f"{imports(('com.f', 1))} {BODY[:-1]} {imports(('', 21))} }}"),
        safe=False,
        id="a function takes the version of the model",
    ),
    Case("duplicate-node-name", graph(REPEATED), graph(RELU.replace('"s"', '"r_1"')), safe=False),
    Case(
        "duplicate-node-name",
        graph(f"{REPEATED} {MORE}"),
        graph(RELU.replace('"s"', '"r_2"') + f" {MORE}"),
        safe=False,
        id="the next name is taken",
    ),
    Case(
        "duplicate-graph-name",
        graph(choice(branch("b", "p"), branch("b", "q"))),
        graph(choice(branch("b", "p"), branch("b", "q").replace('name: "b"', 'name: "b_1"'))),
        safe=False,
    ),
    Case(
        "contradictory-declared-shape",
        graph(RELU).replace(Y, Y.replace("dim_value: 2", "dim_value: 3")),
        graph(RELU),
        safe=False,
        id="an output",
    ),
    Case(
        "contradictory-declared-shape",
        graph(RELU).replace(Y, Y.replace("dim {", "dim { dim_value: 1 } dim {")),
        graph(RELU),
        safe=False,
        id="an output of another rank",
    ),
    Case(
        "contradictory-declared-shape",
        RESHAPE.replace(X, X.replace("dim {", "dim { } dim {")).replace(FLOATS, THREES, 2),
        RESHAPE.replace(X, X.replace("dim {", "dim { } dim {")).replace(FLOATS, THREES, 2),
        safe=False,
        id="the number of elements alone",
    ),
    Case(
        "checksum-mismatch",
        external("w.bin", checksum="0" * 40),
        external("w.bin", checksum=DIGEST),
        safe=False,
        files=WEIGHTS,
        options={"verify": True},
    ),
    Case(
        "checksum-mismatch",
        external("w.bin", checksum="abc"),
        external("w.bin", checksum="abc"),
        safe=False,
        files=WEIGHTS,
        id="a file that is not to be read",
    ),
    Case("missing-external-file", external("weights/w.bin"), external("w.bin"), safe=False, files=WEIGHTS),
    Case(
        "missing-external-file",
        external("weights/w.bin"),
        external("weights/w.bin"),
        safe=False,
        files={"w.bin": b"1234567"},
        id="a file that is too short",
    ),
    Case(
        "missing-external-file",
        external("weights/w.bin", offset="4"),
        external("weights/w.bin", offset="4"),
        safe=False,
        files=WEIGHTS,
        id="a range beyond the file",
    ),
    Case("non-relative-location", external("C:\\\\models\\\\w.bin"), external("w.bin"), safe=False, files=WEIGHTS),
    Case("non-relative-location", external("/models/w.bin"), external("/models/w.bin"), safe=False, id="no such file"),
    Case(
        "non-relative-location",
        external("/home/ada/sub/w.bin"),
        external("sub/w.bin"),
        safe=False,
        files={"sub/w.bin": WEIGHTS["w.bin"]},
        id="a folder beside the model",
    ),
    Case(
        "missing-external-file",
        external("old.bin"),
        external("w.bin"),
        safe=False,
        files={**WEIGHTS, "longer.bin": b"123456789"},
        id="a new name",
    ),
    Case(
        "missing-external-file",
        external("old.bin"),
        external("old.bin"),
        safe=False,
        files={**WEIGHTS, "v.bin": b"abcdefgh"},
        id="two new names",
    ),
    Case("contradictory-declared-type", CONVERTED, CONVERTED.replace("i: 11", "i: 1"), safe=False, id="a Cast"),
    Case("parent-directory-location", external("../w.bin"), external("w.bin"), safe=False, files=WEIGHTS),
    Case("parent-directory-location", external("../w.bin"), external("../w.bin"), safe=False, id="no such file"),
]


def loop(counter: str = "i", made: str = "b") -> str:
    """Return a Loop whose body takes a value from outside, and has an input and a value of these names."""
    condition = "type { tensor_type { elem_type: 9 shape { } } }"
    body = (
        f'input {{ name: "{counter}" type {{ tensor_type {{ elem_type: 7 shape {{ }} }} }} }} '
        f'input {{ name: "k" {condition} }} input {{ name: "{made}" {FLOATS} }} '
        'node { name: "l" op_type: "Identity" input: "k" output: "k_out" } '
        f'node {{ name: "m" op_type: "Add" input: "{made}" input: "x" output: "out" }} '
        f'output {{ name: "k_out" {condition} }} output {{ name: "out" {FLOATS} }}'
    )
    attribute = f'attribute {{ name: "body" type: GRAPH g {{ name: "body" {body} }} }}'
    return f'node {{ name: "loop" op_type: "Loop" input: "" input: "" input: "a" output: "y" {attribute} }}'


LISTS = graph(
    f'{PRODUCER} initializer {{ name: "c" data_type: 9 dims: 1 int32_data: 1 }} '
    + loop()
    .replace('input: "" input: ""', 'input: "" input: "c"')
    .replace("shape { }", "shape { dim { dim_value: 1 } }")
)
FIRST = 'node { name: "r" op_type: "Relu" input: "x" output: "a" }'
INNER = graph(f"{FIRST} {choice(branch('t', 'a'), branch('e', 'q'))}")
EARLY = branch("t", "a", more='node { name: "early" op_type: "Abs" input: "a" output: "other" }')
AMBIGUOUS = graph(f"{FIRST} {choice(EARLY, branch('e', 'q'))}")
C90 = graph(
    'node { name: "1st" op_type: "Relu" input: "x" output: "/a/b.0" } '
    'node { name: "s" op_type: "Add" input: "/a/b.0" input: "_a_b_0" output: "y" } '
    'initializer { name: "_a_b_0" data_type: 1 dims: 2 float_data: [1, 2] }'
)
INTERFACE = graph(RELU).replace('"x"', '"0x"').replace('"y"', '"0y"')


def clip(initializer: str, more: str = "", before: str = "") -> str:
    """Return a Clip whose least value is a tensor called `min`."""
    node = 'node { name: "n" op_type: "Clip" input: "x" input: "min" output: "y" }'
    return graph(f"{before} {node} {more} {initializer}")


ONE = 'initializer { name: "min" data_type: 1 dims: 1 float_data: 0 }'
SCALAR = ONE.replace("dims: 1 ", "")
CONSTANT = 'node { name: "c" op_type: "Constant" output: "min" attribute { name: "value" type: TENSOR t { %s } } }'
LIST = 'node { name: "c" op_type: "Constant" output: "min" attribute { name: "value_floats" type: FLOATS floats: 0 } }'
USED = 'node { name: "z" op_type: "Add" input: "x" input: "min" output: "z" }'
TWICE = 'node { name: "o" op_type: "Clip" input: "x" input: "min" input: "min" output: "z" }'

TAKEN_UP = graph(
    'node { name: "r" op_type: "Relu" input: "x" output: "a/b" } '
    + choice(branch("t", "a/b", used="a/b"), branch("e", "q"))
)
PIECE = b"\x3a\x07\x12\x05first"
"""A graph with a name."""

UNSAFE += [
    Case("shadowed-name", INNER, graph(f"{FIRST} {choice(branch('t', 'a_1'), branch('e', 'q'))}"), safe=False),
    Case(
        "shadowed-name",
        graph(f"{FIRST} {loop(made='a')}"),
        graph(f"{FIRST} {loop(made='a_1')}"),
        safe=False,
        id="an input of a body",
    ),
    Case("shadowed-name", AMBIGUOUS, AMBIGUOUS, safe=False, id="a name with two meanings"),
    Case(
        "non-c90-name",
        C90,
        C90.replace("1st", "n1st").replace("/a/b.0", "_a_b_0_1"),
        safe=False,
        id="values and nodes",
    ),
    Case("non-c90-name", INTERFACE, INTERFACE, safe=False, id="inputs and outputs"),
    Case("non-c90-name", TAKEN_UP, TAKEN_UP, safe=False, id="a name that a nested graph uses and then defines"),
    Case("incompatible-operand-shapes", clip(ONE), clip(SCALAR), safe=False),
    Case("incompatible-operand-shapes", clip(ONE, TWICE), clip(SCALAR, TWICE), safe=False, id="several users"),
    Case(
        "incompatible-operand-shapes",
        clip("", before=CONSTANT % "data_type: 1 dims: 1 float_data: 0"),
        clip("", before=CONSTANT % "data_type: 1 float_data: 0"),
        safe=False,
        id="a Constant",
    ),
    Case("incompatible-operand-shapes", clip(ONE, USED), clip(ONE, USED), safe=False, id="another user"),
    Case(
        "incompatible-operand-shapes",
        clip(ONE, info("min", FLOATS.replace("dim_value: 2", "dim_value: 1"))),
        clip(SCALAR, info("min", FLOATS.replace("dim { dim_value: 2 }", ""))),
        safe=False,
        id="a declared list",
    ),
    Case(
        "incompatible-operand-shapes",
        clip("", before=LIST),
        clip("", before=LIST.replace('"value_floats" type: FLOATS floats: 0', '"value_float" type: FLOAT f: 0')),
        safe=False,
        id="a list of numbers",
    ),
    Case("incompatible-operand-shapes", LISTS, LISTS, safe=False, id="a body declares a list"),
    Case(
        "repeated-singular-field",
        graph(RELU),
        graph(RELU),
        safe=False,
        first=(b"\x08\x09", b""),
        id="two versions",
    ),
    Case("repeated-singular-field", graph(RELU), graph(RELU), safe=False, first=(PIECE, PIECE), id="a graph in pieces"),
]

UNNAMED = graph(
    'node { name: "Relu" op_type: "Relu" input: "x" output: "a" } node { %sop_type: "Relu" input: "a" output: "b" } '
    'node { %sop_type: "my.op" domain: "d" input: "b" output: "c" } node { %sop_type: "Relu" input: "c" output: "y" }'
)
UNSAFE += [
    Case(
        "unnamed-node",
        UNNAMED % ("", "", ""),
        UNNAMED % ('name: "Relu_1" ', 'name: "my_op" ', 'name: "Relu_2" '),
        safe=False,
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""The cases of fixes that delete what changes no result, or that turn training off."""

from __future__ import annotations

from typing import Any

from support.fixes.case import FLOATS, Case, X, graph, imports, info
from support.fixes.unsafe import branch, choice


def node(operator: str, inputs: str, outputs: str, more: str = "") -> str:
    """Return a node; the names of inputs and outputs have spaces between them, and `_` leaves one out."""
    names = [
        f'{field}: "{name.replace("_", "")}"'
        for field, text in (("input", inputs), ("output", outputs))
        for name in text.split()
    ]
    return f'node {{ op_type: "{operator}" {" ".join(names)} {more} }}'


def whether(nodes: str, output: str = "y") -> str:
    """Return an If whose first branch has these nodes, which make t."""
    return choice(f'g {{ name: "t" {nodes} output {{ name: "t" {FLOATS} }} }}', branch("e", "u"), output)


def weight(name: str) -> str:
    """Return an initializer of two floats."""
    return f'initializer {{ name: "{name}" data_type: 1 dims: 2 float_data: 1 float_data: 2 }}'


def of_function(nodes: str) -> str:
    """Return a model with a function of these nodes."""
    body = f'functions {{ name: "F" domain: "com.f" input: "i" output: "o" opset_import {{ version: 21 }} {nodes} }}'
    return f"{graph(CALL, imports(('com.f', 1)))} {body}"


CALL = node("F", "x", "y", 'domain: "com.f"')
FIRST, LAST = node("Relu", "x", "a"), node("Abs", "a", "y")
SAME = node("Identity", "a", "b")
OF_B = node("Abs", "b", "y")
CHAIN = " ".join(node("Identity", f"c{number}", f"c{number + 1}") for number in range(5))
OUTPUT_Z = f'output {{ name: "z" {FLOATS} }}'
ZERO = 'initializer { name: "zero" data_type: 1 float_data: 0 }'
CONSTANTS = f"{weight('w')} {weight('v')}"
SPARSE = (
    'sparse_initializer { values { name: "s" data_type: 1 dims: 1 float_data: 1 }'
    " indices { data_type: 7 dims: 1 int64_data: 0 } dims: 2 }"
)
TAKE = node("Add", "a w", "y")
ON = 'initializer { name: "on" data_type: 9 int32_data: 1 }'
TRAINING = 'attribute { name: "training_mode" type: INT i: 1 }'
PRINT = node("Print", "a", "b", 'domain: "com.a"')
AS_INPUT = X.replace('"x"', '"w"')
SMALL = {"least_bytes": 1}


def _case(rule: str, name: str, before: str, after: str | None = None, **how: Any) -> Case:
    return Case(rule, before, before if after is None else after, id=name, **how)


DELETING = [
    _case(
        "ineffective-node",
        "a branch reads the value",
        graph(f"{FIRST} {SAME} {whether(node('Neg', 'b', 't'))} {info('a')} {info('b')}"),
        graph(f"{FIRST} {whether(node('Neg', 'a', 't'))} {info('a')}"),
    ),
    _case(
        "ineffective-node",
        "in a branch, of a value outside",
        graph(f"{FIRST} {whether(SAME + node('Neg', 'b', 't'))}"),
        graph(f"{FIRST} {whether(node('Neg', 'a', 't'))}"),
    ),
    _case(
        "ineffective-node",
        "an output of the graph keeps its name",
        graph(f"{FIRST} {node('Identity', 'a', 'y')} {node('Neg', 'a', 'z')} {info('a')} {OUTPUT_Z}"),
        graph(f"{node('Relu', 'x', 'y')} {node('Neg', 'y', 'z')} {OUTPUT_Z}"),
    ),
    _case(
        "ineffective-node",
        "a chain",
        graph(f"{node('Relu', 'x', 'c0')} {CHAIN} {node('Abs', 'c5', 'y')}"),
        graph(f"{node('Relu', 'x', 'c0')} {node('Abs', 'c0', 'y')}"),
    ),
    _case(
        "ineffective-node",
        "in a function",
        of_function(node("Relu", "i", "a") + SAME + node("Abs", "b", "o") + info("b")),
        of_function(node("Relu", "i", "a") + node("Abs", "a", "o")),
        safe=False,
    ),
    _case(
        "ineffective-node",
        "a branch gives the name to another value",
        graph(f"{FIRST} {SAME} {whether(node('Neg', 'x', 'a') + node('Add', 'a b', 't'))}"),
    ),
    _case("ineffective-node", "training information", graph(f"{FIRST} {SAME} {OF_B}", "training_info { }")),
    _case(
        "ineffective-node",
        "an annotation",
        graph(f'{FIRST} {SAME} {OF_B} quantization_annotation {{ tensor_name: "b" }}'),
    ),
    _case(
        "ineffective-node",
        "-0 + 0 is 0",
        graph(f"{FIRST} {node('Add', 'a zero', 'b')} {OF_B} {ZERO}"),
        graph(f"{FIRST} {LAST} {ZERO}"),
        safe=False,
    ),
    _case(
        "ineffective-node",
        "16 bits are rounded",
        graph(f"{FIRST} {SAME} {OF_B}").replace("elem_type: 1", "elem_type: 10"),
        graph(f"{FIRST} {LAST}").replace("elem_type: 1", "elem_type: 10"),
        safe=False,
    ),
    _case(
        "unneeded-node",
        "with what only it needs",
        graph(f"{FIRST} {node('Exp', 'a', 'b')} {node('Neg', 'b', 'c')} {node('Sin', 'b', 'd')} {LAST} {info('c')}"),
        graph(f"{FIRST} {LAST}"),
    ),
    _case(
        "unneeded-node",
        "an operator that ONNX does not define",
        graph(f"{FIRST} {PRINT} {LAST}", imports(("com.a", 1))),
        graph(f"{FIRST} {LAST}", imports(("com.a", 1))),
        safe=False,
    ),
    _case("unused-initializer", "", graph(f"{FIRST} {LAST} {CONSTANTS}"), graph(f"{FIRST} {LAST}")),
    _case("unused-initializer", "a sparse one", graph(f"{FIRST} {LAST} {SPARSE}"), graph(f"{FIRST} {LAST}")),
    _case("unused-initializer", "an input", graph(f"{FIRST} {LAST} {weight('w')} {AS_INPUT}")),
    _case(
        "unused-function",
        "",
        of_function(node("Relu", "i", "o")).replace(CALL, node("Abs", "x", "y")),
        graph(node("Abs", "x", "y"), imports(("com.f", 1))),
    ),
    _case(
        "equal-initializers",
        "a branch reads the second",
        graph(f"{FIRST} {node('Add', 'a w', 'b')} {whether(node('Add', 'b v', 't'))} {CONSTANTS}"),
        graph(f"{FIRST} {node('Add', 'a w', 'b')} {whether(node('Add', 'b w', 't'))} {weight('w')}"),
        options=SMALL,
    ),
    _case(
        "equal-initializers",
        "an output of the graph",
        graph(f"{FIRST} {TAKE} {CONSTANTS} {OUTPUT_Z.replace('z', 'v')}"),
        options=SMALL,
    ),
    _case(
        "repeated-node",
        "a chain twice",
        graph(
            f"{FIRST} {node('Exp', 'a', 'b')} {node('Neg', 'b', 'c')} {node('Exp', 'a', 'd')} {node('Neg', 'd', 'e')}"
            f"{node('Add', 'c e', 'y')} {info('e')}"
        ),
        graph(f"{FIRST} {node('Exp', 'a', 'b')} {node('Neg', 'b', 'c')} {node('Add', 'c c', 'y')}"),
        options=SMALL,
    ),
    _case(
        "training-mode",
        "Dropout",
        graph(f"{node('Dropout', 'x _ on', 'y')} {ON}"),
        graph(f"{node('Dropout', 'x', 'y')} {ON}"),
        safe=False,
    ),
    _case(
        "training-mode",
        "Dropout with a ratio",
        graph(f"{node('Dropout', 'x w on', 'y')} {ON} {weight('w')}"),
        graph(f"{node('Dropout', 'x w', 'y')} {ON} {weight('w')}"),
        safe=False,
    ),
    _case(
        "training-mode",
        "BatchNormalization",
        graph(f"{node('BatchNormalization', 'x w w w w', 'y m v', TRAINING)} {weight('w')} {info('m')}"),
        graph(f"{node('BatchNormalization', 'x w w w w', 'y')} {weight('w')}"),
        safe=False,
    ),
    _case(
        "training-mode",
        "a statistic is an output",
        graph(f"{node('BatchNormalization', 'x w w w w', 'y z v', TRAINING)} {weight('w')} {OUTPUT_Z}"),
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""Models with two lists, for rules that look up each entry of one list in the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

HEAD: Final = 'ir_version: 10 producer_name: "p" producer_version: "1" '
FLOAT: Final = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
DEFAULT: Final = 'opset_import { domain: "" version: 21 } '
OWN: Final = 'opset_import { domain: "com.example" version: 1 } '


def each(text: str, count: int) -> str:
    """The text as often as `count` says, with the number of each time for `#`."""
    return " ".join(text.replace("#", str(number)) for number in range(count))


def graph(content: str) -> str:
    """The main graph with a node and an output, and the content."""
    return f'graph {{ name: "g" output {{ name: "y" {FLOAT} }} node {{ op_type: "Neg" input: "y" }} {content} }} '


def function(content: str, name: str = "F") -> str:
    """A function of the domain com.example."""
    return f'functions {{ name: "{name}" domain: "com.example" {content} }} '


def of_rank(rank: int) -> str:
    """A tensor type of so many dimensions."""
    return f"type {{ tensor_type {{ shape {{ {each('dim { dim_value: 1 }', rank)} }} }} }}"


def calls(function: str, count: int) -> str:
    """A graph with calls of a function, each with an input of another size."""
    sized = 'input { name: "i#" type { tensor_type { elem_type: 1 shape { dim { dim_value: # } } } } } '
    return graph(
        each(f'{sized} node {{ op_type: "{function}" domain: "com.example" input: "i#" output: "z#" }}', count)
    )


def bound(name: str, variable: str, size: int = 2) -> str:
    """An input whose dimension variable its default binds to a size."""
    shape = f'shape {{ dim {{ dim_param: "{variable}" }} }}'
    values = ", ".join("1" * size)
    return (
        f'input {{ name: "{name}" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }} '
        f'initializer {{ name: "{name}" dims: {size} data_type: 1 float_data: [{values}] }} '
    )


CROSSED: Final[dict[str, tuple[str, Callable[[int], str]]]] = {
    "nodes of domains that are not among the imported": (
        "missing-opset-import",
        lambda count: (
            DEFAULT
            + each('opset_import { domain: "com.a#" version: 1 }', count)
            + graph(each('node { op_type: "X" domain: "com.b#" output: "y#" }', count))
        ),
    ),
    "functions, each with a domain that it does not import": (
        "missing-opset-import",
        lambda count: each(function('node { op_type: "X" domain: "com.b#" output: "y" }', "F#"), count),
    ),
    "calls of overloads, each in a function of its own": (
        "unresolved-overload",
        lambda count: (
            DEFAULT
            + OWN
            + graph(each('node { op_type: "F0" domain: "com.example" overload: "a#" output: "y#" }', 16 * count))
            + each(function(DEFAULT + 'node { op_type: "Relu" }', "F#"), 4 * count)
        ),
    ),
    "imports of one domain in other versions": (
        "duplicate-opset-import",
        lambda count: each('opset_import { domain: "com.a" version: # }', count) + graph(""),
    ),
    "functions that import other versions": (
        "incompatible-opset-import",
        lambda count: (
            DEFAULT
            + graph("")
            + each(
                function(
                    'opset_import { domain: "" version: 12 } opset_import { domain: "com.a#" version: 1 } '
                    'input: "x" node { op_type: "Relu" input: "x" output: "y" }',
                    "F#",
                ),
                count,
            )
        ),
    ),
    "names that nothing defines, each in a graph of its own": (
        "undefined-name",
        lambda count: (
            DEFAULT
            + graph(
                each(
                    'node { op_type: "If" output: "o#" attribute { name: "then_branch" type: GRAPH '
                    'g { name: "g#" node { op_type: "Abs" input: "u#" output: "v#" } } } }',
                    count,
                )
            )
        ),
    ),
    "attributes that no parameter is for": (
        "unknown-call-attribute",
        lambda count: (
            DEFAULT
            + OWN
            + function(each('attribute: "a#"', count) + 'node { op_type: "X" }')
            + graph(each('node { op_type: "F" domain: "com.example" attribute { name: "b#" type: INT i: 1 } }', count))
        ),
    ),
    "parameters that no call binds": (
        "unbound-required-attribute",
        lambda count: (
            DEFAULT
            + OWN
            + function(
                DEFAULT
                + 'input: "x" output: "y0" '
                + each('attribute: "a#"', count)
                + each(
                    'node { op_type: "Cast" input: "x" output: "y#" '
                    'attribute { name: "to" type: INT ref_attr_name: "a#" } }',
                    count,
                )
            )
            + graph(each('node { op_type: "F" domain: "com.example" output: "z#" }', count))
        ),
    ),
    "functions that hand a parameter on to the next": (
        "unbound-required-attribute",
        lambda count: (
            DEFAULT
            + OWN
            + graph(f'node {{ op_type: "F{count - 1}" domain: "com.example" output: "z" }}')
            + function(
                DEFAULT + 'input: "x" output: "y" attribute: "a" node { op_type: "Cast" input: "x" output: "y" '
                'attribute { name: "to" type: INT ref_attr_name: "a" } }',
                "F0",
            )
            + " ".join(
                function(
                    OWN + f'output: "y" attribute: "a" node {{ op_type: "F{number - 1}" domain: "com.example" '
                    'output: "y" attribute { name: "a" type: INT ref_attr_name: "a" } }',
                    f"F{number}",
                )
                for number in range(1, count)
            )
        ),
    ),
    "calls of functions that are not there": (
        "unknown-function",
        lambda count: (
            DEFAULT
            + OWN
            + each(function('node { op_type: "X" }', "F#"), count)
            + graph(each('node { op_type: "G#" domain: "com.example" }', count))
        ),
    ),
    "overloads that are not there": (
        "unresolved-overload",
        lambda count: (
            DEFAULT
            + OWN
            + each(function('overload: "a#" node { op_type: "X" }'), count)
            + graph(each('node { op_type: "F" domain: "com.example" overload: "b#" }', count))
        ),
    ),
    "calls with few arguments of a function with many": (
        "mismatched-operand-type",
        lambda count: (
            DEFAULT
            + OWN
            + function(
                DEFAULT + each('input: "x#"', count) + each('node { op_type: "Not" input: "x0" output: "n#" }', count)
            )
            + graph(
                f'input {{ name: "x" {FLOAT} }}'
                + each('node { op_type: "F" domain: "com.example" input: "x" output: "z#" }', count)
            )
        ),
    ),
    "calls that take one output of a function with many": (
        "undefined-name",
        lambda count: (
            DEFAULT
            + OWN
            + function(
                each('output: "x#"', 40 * count) + f'node {{ op_type: "X" {each("""output: "x#" """, 40 * count)} }}'
            )
            + graph(each('node { op_type: "F" domain: "com.example" output: "z#" }', 4 * count))
        ),
    ),
    "calls of a function that declares a value of many dimensions": (
        "undefined-name",
        lambda count: (
            DEFAULT
            + OWN
            + function(
                DEFAULT
                + 'input: "x" output: "y" node { op_type: "Neg" input: "x" output: "y" } '
                + f'value_info {{ name: "y" {of_rank(20 * count)} }}'
            )
            + calls("F", count)
        ),
    ),
    "calls of a function with many imports and a nested graph with many dimensions": (
        "undefined-name",
        lambda count: (
            DEFAULT
            + OWN
            + function(
                DEFAULT
                + each('opset_import { domain: "com.a#" version: 1 }', 20 * count)
                + 'input: "x" output: "y" node { op_type: "If" input: "x" output: "y" attribute { name: "then_branch" '
                + 'type: GRAPH g { name: "t" output { name: "w" } '
                + f'initializer {{ name: "w" data_type: 1 float_data: 1 dims: [{"1, " * 20 * count} 1] }} }} }} }}'
            )
            + calls("F", count)
        ),
    ),
    "calls of a function that hands a long attribute on": (
        "undefined-name",
        lambda count: (
            DEFAULT
            + OWN
            + function(
                DEFAULT
                + 'input: "x" output: "y" attribute: "v" node { op_type: "Neg" input: "x" output: "y" } '
                + 'node { op_type: "Constant" output: "c" '
                'attribute { name: "value_ints" type: INTS ref_attr_name: "v" } }'
            )
            + function(
                f'input: "x" output: "y" attribute_proto {{ name: "v" type: INTS ints: [{"1, " * 200 * count} 1] }} '
                'node { op_type: "F" domain: "com.example" input: "x" output: "y" '
                'attribute { name: "v" type: INTS ref_attr_name: "v" } }' + OWN,
                "G",
            )
            + calls("G", count)
        ),
    ),
    "operators that are not there, each its own": (
        "unknown-operator",
        lambda count: DEFAULT + graph(each('node { op_type: "Nosuch#" output: "z#" }', count)),
    ),
    "types of attributes, each in a function of its own": (
        "untyped-attribute",
        lambda count: (
            DEFAULT
            + OWN
            + graph("")
            + each(function('node { op_type: "X" attribute { name: "a" type: 9# i: 1 } }', "F#"), count)
        ),
    ),
    "inputs of a subgraph that have a default": (
        "initialized-subgraph-input",
        lambda count: (
            DEFAULT
            + graph(
                'node { op_type: "If" output: "z" attribute { name: "then_branch" type: GRAPH g { name: "t" '
                + each('input { name: "i#" } initializer { name: "i#" data_type: 1 float_data: 1 }', count)
                + "} } }"
            )
        ),
    ),
    "bindings beside initializers and outputs": (
        "training-binding-value",
        lambda count: (
            DEFAULT
            + graph(each('initializer { name: "w#" data_type: 1 float_data: 1 } output { name: "o#" }', count))
            + each('training_info { update_binding { key: "u#" value: "v#" } }', count)
        ),
    ),
    "training algorithms beside many nodes, the last of which repeats a node": (
        "duplicate-node-name",
        lambda count: (
            DEFAULT
            + graph(each('node { name: "n#" op_type: "Relu" input: "y" output: "v#" }', 8 * count))
            + each('training_info { algorithm { node { name: "a#" op_type: "Relu" output: "w#" } } }', 4 * count)
            + 'training_info { algorithm { node { name: "n0" op_type: "Relu" output: "v0" } } }'
        ),
    ),
    "shardings beside values": (
        "unmatched-sharded-tensor",
        lambda count: (
            DEFAULT
            + graph(
                'node { op_type: "Sum" output: "z"'
                + each('input: "i#"', count)
                + 'device_configurations { configuration_id: "c" '
                + each('sharding_spec { tensor_name: "t#" }', count)
                + "} }"
            )
        ),
    ),
    "device configurations that are not there": (
        "unknown-device-configuration",
        lambda count: (
            DEFAULT
            + each('configuration { name: "c#" num_devices: 1 }', count)
            + graph(each('node { op_type: "X" device_configurations { configuration_id: "d#" } }', count))
        ),
    ),
    "annotations beside values": (
        "unknown-quantized-tensor",
        lambda count: (
            DEFAULT
            + graph(each(f'input {{ name: "i#" {FLOAT} }} quantization_annotation {{ tensor_name: "t#" }}', count))
        ),
    ),
    "value infos beside values of a function": (
        "unknown-value-info-name",
        lambda count: DEFAULT + graph("") + function(each('input: "i#" value_info { name: "v#" }', count) + DEFAULT),
    ),
    "entries for one value, the first of many dimensions": (
        "duplicate-value-info",
        lambda count: (
            DEFAULT
            + graph(f'value_info {{ name: "y" {of_rank(count)} }}' + each(f'value_info {{ name: "y" {FLOAT} }}', count))
        ),
    ),
    "defaults of an input of many dimensions": (
        "mismatched-default-value",
        lambda count: (
            DEFAULT
            + graph(
                f'input {{ name: "w" {of_rank(count)} }}'
                + each('initializer { name: "w" data_type: 1 float_data: 1 }', count)
            )
        ),
    ),
    "variables of the outer graph, and a graph that has one": (
        "contradictory-dimension-variable",
        lambda count: (
            DEFAULT
            + graph(
                each(bound("#", "N#"), count)
                + bound("b", "N0", 3)
                + each(
                    'node { op_type: "If" output: "o#" attribute { name: "then_branch" type: GRAPH '
                    f'g {{ name: "g#" {bound("a#", "M")} }} }} }}',
                    count,
                )
            )
        ),
    ),
    "nodes in a graph with a long name": (
        "unknown-operator",
        lambda count: (
            DEFAULT
            + f'graph {{ name: "{"g" * 1_000 * count}" '
            + each('node { name: "n" op_type: "Nosuch#" output: "y" }', count)
            + "}"
        ),
    ),
    "nodes in the opposite order": (
        "unordered-nodes",
        lambda count: (
            DEFAULT
            + graph(
                " ".join(
                    f'node {{ op_type: "Abs" input: "v{number + 1}" output: "v{number}" }}' for number in range(count)
                )
                + f'input {{ name: "v{count}" {FLOAT} }}'
            )
        ),
    ),
    "nodes in a circle": (
        "cycle",
        lambda count: (
            DEFAULT
            + graph(
                " ".join(
                    f'node {{ op_type: "Abs" input: "v{(number + 1) % count}" output: "v{number}" }}'
                    for number in range(count)
                )
            )
        ),
    ),
    "functions in a circle": (
        "recursive-function",
        lambda count: (
            DEFAULT
            + OWN
            + graph("")
            + " ".join(
                function(OWN + f'node {{ op_type: "F{(number + 1) % count}" domain: "com.example" }}', f"F{number}")
                for number in range(count)
            )
        ),
    ),
    "nodes, each with a NaN of its own": (
        "impossible-number",
        lambda count: (
            DEFAULT
            + graph(
                each('initializer { name: "n#" data_type: 1 float_data: nan } ', count)
                + each('node { op_type: "Abs" input: "n#" output: "a#" } ', count)
            )
        ),
    ),
    "nodes with one scale of many elements, and one with a scale of 0": (
        "impossible-number",
        lambda count: (
            DEFAULT
            + graph(
                f'initializer {{ name: "s" data_type: 1 dims: {count * 16} {each("float_data: 1", count * 16)} }} '
                'initializer { name: "z" data_type: 1 float_data: 0 } '
                'node { op_type: "DequantizeLinear" input: "q" input: "z" output: "o" } '
                + each('node { op_type: "DequantizeLinear" input: "q" input: "s" output: "v#" } ', count)
            )
        ),
    ),
}
"""Pairs of a rule and the model in which it has findings."""

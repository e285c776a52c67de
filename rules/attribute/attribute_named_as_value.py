# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.model import Function, Model, Node, has_attributes_named_as_values
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="ATT-8", since="0.1.0", about=has_attributes_named_as_values, needs="attribute")
def attribute_named_as_value(model: Model) -> Iterator[Finding]:
    """An attribute has the name of an input or output of its node.

    ### How to fix

    Rename the value where it is defined and where it is used. You cannot rename the attribute: the operator defines
    its name.

    ### Example

    ```
    node { op_type: "Elu" input: "alpha" output: "y" attribute { name: "alpha" type: FLOAT f: 1 } }
    ```

    Corrected:

    ```
    node { op_type: "Elu" input: "elu_input" output: "y" attribute { name: "alpha" type: FLOAT f: 1 } }
    ```

    ### Why it matters

    Tools may put these names into one table, for example the variables of generated code. One of the two is then lost.

    ### Details

    - The name of an attribute must differ from the names of the inputs and outputs that the same node lists.
    - The same is true of a function: its attribute parameters must differ from its inputs and outputs.
    - Other values of the graph may have the name.
    - The names of inputs in the operator's definition are not compared, because the file does not have them.
    - IR.md contradicts itself: its table of attributes demands this, its section on names only distinct names among the
      attributes of a node; onnx-lint follows the table, whose demand is the stricter one.
    """
    names = {name for form in model.forms for name, _ in form.attribute_types} - {""}
    # A node's inputs and outputs are among the defined names, but for those that nothing defines.
    shared = names.intersection(model.resolution.undefined_names)
    for graph in model.graphs:
        shared |= graph.positions.keys() & names
    for alike in model.operators.alike_nodes:
        if not shared.isdisjoint(name for name, _ in alike.attributes):
            for node in alike.nodes:
                yield from _findings(node)
    for function in model.parametric_functions:
        yield from _of_function(function)


def _of_function(function: Function) -> Iterator[Finding]:
    """Yield the attribute parameters of a function that have the name of one of its inputs or outputs."""
    values = {name: ("output", index) for index, name in enumerate(function.body.output_names) if name}
    values |= {name: ("input", index) for index, name in enumerate(function.body.input_names) if name}
    without_default = (("attribute", index, name) for index, name in enumerate(function.attribute_names))
    with_default = (("attribute_proto", index, each.name) for index, each in enumerate(function.attribute_defaults))
    for parameter, index, name in chain(without_default, with_default):
        if name not in values:
            continue
        field, position = values[name]
        yield Finding(
            function.place.at(parameter, index),
            f"attribute parameter {quote(name)} of {function.body.describe()} has the name of its {field} {position}",
            related=(Related(function.place.at(field, position), f"{field} {position} of the function"),),
            allowed="a name that is none of the function's inputs and outputs",
            subject=name,
        )


def _findings(node: Node) -> Iterator[Finding]:
    values = {name: ("output", index) for index, name in enumerate(node.outputs) if name}
    values |= {name: ("input", index) for index, name in enumerate(node.inputs) if name}
    for index, attribute in enumerate(node.attribute_protos):
        if attribute.name not in values:
            continue
        field, position = values[attribute.name]
        yield Finding(
            node.place.at("attribute", index).at("name"),
            f"attribute {quote(attribute.name)} of {node.describe()} has the name of the node's {field} {position}",
            related=(Related(node.place.at(field, position), f"{field} {position} of the node"),),
            allowed="a name that is none of the node's inputs and outputs",
            subject=attribute.name,
        )

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.attribute_proposals import with_suffix, with_type
from onnx_lint.ir.operators.mismatch import (
    attributes_with,
    describe_schema,
    fitting_version,
    mistyped_attributes,
    version_cause,
    version_hint,
)
from onnx_lint.ir.operators.proposals import as_sentences, preferred
from onnx_lint.model import (
    ATTRIBUTE_TYPE_NAMES,
    Assign,
    Model,
    Node,
    OperatorSchema,
    Proposals,
    Proto,
    has_misused_operators,
    message,
    ready,
)
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators.attribute_values import allowed_values, element_type_name, holds_output_element_type
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import quote


@rule(clause="NOD-7", since="0.1.0", about=has_misused_operators, needs="node")
def wrong_operator_attribute_type(model: Model) -> Iterator[Finding]:
    """An attribute of a node has another type than its operator says.

    ### How to fix

    Write the value in the type of the signature. For `onnx.helper.make_node` in Python, `alpha=1.0` is a FLOAT and
    `alpha=1` an INT.

    ### Example

    ```
    node { op_type: "LeakyRelu" input: "x" output: "y" attribute { name: "alpha" i: 1 type: INT } }
    ```

    Corrected:

    ```
    node { op_type: "LeakyRelu" input: "x" output: "y" attribute { name: "alpha" f: 1 type: FLOAT } }
    ```

    ### Why it matters

    A consumer reads the field of the type that the operator requires, and finds no value there. ONNX converts nothing:
    INT is not FLOAT, and a single INT is not INTS.

    ### Details

    - The signature at the imported version decides, also for references to parameters of a function.
    - Reported by other rules: an attribute without a valid type (`untyped-attribute`), a value in the field of another
      type (`mismatched-attribute-type`).
    """
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        wrong = set(mistyped_attributes(schema, alike)) if alike.attributes else None
        if not wrong:
            continue
        fitting = fitting_version(model.operators.schemas, schema, alike)
        for node in alike.nodes:
            hint = version_hint(fitting, alike, node)
            for index in attributes_with(node, wrong):
                attribute = node.attribute_protos[index]
                expected = schema.attributes[attribute.name].type
                proposals = _proposals(model, schema, node, index)
                takes = f"{describe_schema(schema)} needs {expected}{'' if proposals else hint}"
                yield Finding(
                    node.place.at("attribute", index),
                    f"attribute {quote(attribute.name)} of {node.describe()} is of type "
                    f"{ATTRIBUTE_TYPE_NAMES.get(attribute.type, attribute.type)}, but {takes}",
                    allowed=expected,
                    subject=attribute.name,
                    proposals=proposals,
                    cause=version_cause(fitting, alike, f"{attribute.name} {attribute.type}"),
                    is_cause_shared=bool(fitting),
                )


def _proposals(model: Model, schema: OperatorSchema, node: Node, index: int) -> Proposals | None:
    """Return the value in the type that the operator needs, or another attribute for the value."""
    attribute = node.attribute_protos[index]
    shape = model.shape_of(node.inputs[0], node.graph) if node.inputs else None
    options = with_type(node, index, schema, None if shape is None else len(shape) - 2)
    number = _number(schema, attribute)
    if number is not None:
        code, words = number
        made = message("AttributeProto")(name=attribute.name, type=ATTRIBUTE_TYPE_CODES["INT"], i=code)
        text = f"write {attribute.name}={code} ({words})"
        options = (*options, ready(text, Assign(node.place.at("attribute", index), made)))
    other = _other_attribute(schema, attribute)
    if other is not None:
        text = f"the attribute for {ATTRIBUTE_TYPE_NAMES.get(attribute.type)} is {quote(other)}"
        options = (*options, ready(text, Assign(node.place.at("attribute", index).at("name"), other)))
    options = (*options, *with_suffix(node, index, schema))
    return as_sentences(lambda: preferred(options)) if options else None


def _other_attribute(schema: OperatorSchema, attribute: Proto) -> str | None:
    """Return the one attribute of the type whose name begins as this one does, as `value` and `value_int` do."""
    given = ATTRIBUTE_TYPE_NAMES.get(attribute.type)
    alike = [
        name
        for name, each in schema.attributes.items()
        if each.type == given and (name.startswith(f"{attribute.name}_") or attribute.name.startswith(f"{name}_"))
    ]
    return alike[0] if len(alike) == 1 else None


def _number(schema: OperatorSchema, attribute: Proto) -> tuple[int, str] | None:
    """Return the number of the element type that a string names, with the name; None if the operator has no such."""
    wanted = attribute.s.decode("utf-8", "replace").upper() if holds_output_element_type(schema, attribute.name) else ""
    codes = allowed_values(schema, attribute.name) if wanted else None
    return next(((int(code), wanted) for code in codes or () if element_type_name(int(code)) == wanted), None)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, Attribute, Model, is_mistyped
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="FUN-21a", since="0.1.0", about=Model.parametric_functions, needs="function")
def mismatched_attribute_default(model: Model) -> Iterator[Finding]:
    """The default of a function's attribute parameter is of another type than an attribute that refers to it.

    ### How to fix

    Give the default the type that the operator in the body asks for.

    ### Example

    ```
    functions { name: "F" domain: "com.example" input: "x" output: "y"
                attribute_proto { name: "kind" type: FLOAT f: 1 }
                node { op_type: "Cast" input: "x" output: "y"
                       attribute { name: "to" type: INT ref_attr_name: "kind" } } }
    ```

    Corrected:

    ```
    functions { name: "F" domain: "com.example" input: "x" output: "y"
                attribute_proto { name: "kind" type: INT i: 1 }
                node { op_type: "Cast" input: "x" output: "y"
                       attribute { name: "to" type: INT ref_attr_name: "kind" } } }
    ```

    ### Why it matters

    A call that leaves the parameter out gives the default to the node, whose attribute says that it is of another type.

    ### Details

    One type for the default and for all attributes in the body that refer to the parameter. No sentence says so for
    the two; it follows from what a call must pass. An attribute that states no valid type is reported by
    `untyped-attribute`, a reference that the operator of its node does not take by `wrong-operator-attribute-type`.
    """
    defaults = {
        (function.index, default.name): (function, index, default)
        for function in model.functions
        for index, default in enumerate(function.attribute_defaults)
        if default.type in ATTRIBUTE_TYPE_NAMES
    }
    if not defaults:
        return
    for reference in model.attributes(lambda kind: kind.is_reference):
        if reference.function is None or reference.node is None or reference.proto.type not in ATTRIBUTE_TYPE_NAMES:
            continue
        # A reference of a type that the operator does not take has a finding of its own.
        if is_mistyped(model.operators.operator(reference.node).schema, reference.proto.name, reference.proto.type):
            continue
        key = reference.function.index, reference.proto.ref_attr_name
        if key in defaults and defaults[key][2].type != reference.proto.type:
            # One finding for each default, at the first reference that differs.
            function, index, default = defaults.pop(key)
            place = function.place.at("attribute_proto", index)
            yield _finding(Attribute(default, place, function.body, None), reference)


def _finding(default: Attribute, reference: Attribute) -> Finding:
    held, stated = (ATTRIBUTE_TYPE_NAMES[each.proto.type] for each in (default, reference))
    name = quote(default.proto.name)
    return Finding(
        default.place,
        f"the default of parameter {name} is of type {held}, but {reference.describe()} refers to it as {stated}",
        related=(Related(reference.place, f"refers to {name} as {stated}"),),
        allowed=stated,
        subject=default.proto.name,
    )

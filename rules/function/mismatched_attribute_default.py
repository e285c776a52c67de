# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.mismatch import is_mistyped
from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, Attribute, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="FUN-21a", since="0.1.0", about=Model.parametric_functions, needs="function")
def mismatched_attribute_default(model: Model) -> Iterator[Finding]:
    """The default of a function's attribute parameter is of another type than an attribute that refers to it.

    ### How to fix

    Write a default of the type that the operator in the body requires.

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

    A call that omits the parameter passes the default to a node whose attribute states another type.

    ### Details

    - The default and all attributes in the body that refer to the parameter must have the same type.
    - The specification does not say this in one sentence. It follows from the type that a call must pass.
    - Reported by other rules: an attribute without a valid type (`untyped-attribute`), and a reference whose type
      differs from the operator's attribute (`wrong-operator-attribute-type`).
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
    own, stated = (ATTRIBUTE_TYPE_NAMES[each.proto.type] for each in (default, reference))
    name = quote(default.proto.name)
    return Finding(
        default.place,
        f"the default of parameter {name} is of type {own}, but {reference.describe()} refers to it as {stated}",
        related=(Related(reference.place, f"refers to {name} as {stated}"),),
        allowed=stated,
        subject=default.proto.name,
    )

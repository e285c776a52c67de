# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.mismatch import (
    describe_schema,
    missing_alternatives,
    missing_attributes,
    misspelt_attributes,
    moved_to_inputs,
    other_version,
    version_hint,
)
from onnx_lint.ir.operators.operators import AlikeNodes
from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.combinations import Combination
from onnx_lint.wording import quote


@rule(clause="NOD-7", since="0.1.0", about=Model.has_misused_operators, needs="node")
def missing_operator_attribute(model: Model) -> Iterator[Finding]:
    """A node lacks an attribute that its operator requires.

    ### Why it matters

    The operator is not defined without it, and there is no default to fall back on.

    ### What is allowed

    Every attribute that the signature at the imported version calls required is there. In a function body an
    attribute that refers to a parameter of the function counts as given; whether the calls give the parameter a
    value is for `unbound-required-attribute`. An attribute with nearly the name of the required one,
    such as `axsi` for `axis`, has one finding, of `unknown-operator-attribute`.

    Some operators leave a choice, of which the signature knows nothing and the description says that one has to be
    there: the values of Constant, `num_outputs` or the input `split` of Split since opset 18, `scales` or `sizes` of
    Resize since opset 13, the input or the `type` of Optional, the pools of TfIdfVectorizer, the keys and values of
    LabelEncoder, the class labels of classifiers and ZipMap, the `cats` of OneHotEncoder, the values of Imputer, the
    vocabularies of DictVectorizer, the lists of CategoryMapper.

    ### Example

    ```
    node { op_type: "Cast" input: "x" output: "y" }
    ```

    ### How to fix

    Give the attribute. Where the imported version takes it as an attribute and the node has it as an input, the
    version is wrong: import the one by which the node is written.

    ```
    node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" type: INT i: 1 } }
    ```
    """
    for alike in model.operators.verified_nodes:
        schema = alike.operator.schema
        assert schema is not None
        misspelt = set(misspelt_attributes(model.operators.schemas, schema, alike).values())
        missing = [name for name in missing_attributes(schema, alike) if name not in misspelt]
        groups = missing_alternatives(schema, alike)
        if groups:
            moved = set(moved_to_inputs(model.operators.schemas, schema, alike).values())
            groups = [group for group in groups if not _has_input(group, moved)]
        other = other_version(model.operators.schemas, schema, alike) if missing or groups else ""
        for name in missing:
            for node in alike.nodes:
                hint = version_hint(other, alike, node)
                yield Finding(
                    node.place,
                    f"{node.describe()} has no attribute {quote(name)}, {describe_schema(schema)} requires it{hint}",
                    allowed=f"a value of type {schema.attributes[name].type}",
                    subject=name,
                )
        for group in groups:
            yield from _without_any(schema, alike, group, other)


def _has_input(group: Combination, indices: set[int]) -> bool:
    """Whether one of the inputs is in the group: a node that gives it as an attribute has a finding for that."""
    return any(member.field == "input" and member.index in indices for side in group.sides for member in side)


def _without_any(schema: OperatorSchema, alike: AlikeNodes, group: Combination, other: str) -> Iterator[Finding]:
    """The findings of nodes that have no member of a group; each group has two members or more."""
    names = [member.describe() for side in group.sides for member in side]
    if len(names) > 2:
        members = f"the attributes {', '.join(quote(member.name) for side in group.sides for member in side)}"
        lacks = f"none of {members}"
    else:
        members = " and ".join(names)
        lacks = f"neither {' nor '.join(names)}"
    for node in alike.nodes:
        yield Finding(
            node.place,
            f"{node.describe()} has {lacks}, {describe_schema(schema)} requires one of them"
            f"{version_hint(other, alike, node)}",
            allowed=f"one of {members}",
            subject=group.sides[0][0].name,
        )

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.flow.repairs.search import numbers_of_missing_attribute
from onnx_lint.ir.operators.mismatch import (
    attributes_for_runtime,
    describe_schema,
    is_of_inputs,
    missing_alternatives,
    missing_attributes,
    misspelt_attributes,
    moved_to_inputs,
    other_version,
    version_cause,
    version_hint,
)
from onnx_lint.ir.operators.proposals import Proposal, attribute_edit
from onnx_lint.model import AlikeNodes, Model, Node, Proposals, has_misused_operators, message, only, ready
from onnx_lint.model.import_proposals import proposed_import
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators.attribute_values import allowed_values, element_type_name, holds_output_element_type
from onnx_lint.spec.operators.combinations import Combination
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_CODES, OperatorSchema
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.wording import quote


@rule(clause=("NOD-7", "NOD-7g"), since="0.1.0", about=has_misused_operators, needs="node")
def missing_operator_attribute(model: Model) -> Iterator[Finding]:
    """A node lacks an attribute that its operator requires.

    ### How to fix

    Set the attribute. If the node passes it as an input, the import is wrong: import the version for which the node was
    written.

    ### Example

    ```
    node { op_type: "Cast" input: "x" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" type: INT i: 1 } }
    ```

    ### Why it matters

    The operator has no default for the attribute and is not defined without it.

    ### Details

    - Every attribute that the signature at the imported version requires must be there.
    - In a function body, a reference to a parameter of the function is accepted. Calls without a value are reported by
      `unbound-required-attribute`.
    - An attribute with a similar name, for example `axsi` for `axis`, is reported only by `unknown-operator-attribute`.
    - Some descriptions require one of several: `num_outputs` or the input `split` of Split since opset 18, `scales` or
      `sizes` of Resize since opset 13, the input or the `type` of Optional.
    - The same applies to the values of Constant and Imputer, the pools of TfIdfVectorizer, the keys and values of
      LabelEncoder, the class labels of classifiers and ZipMap, the `cats` of OneHotEncoder, the vocabularies of
      DictVectorizer and the lists of CategoryMapper.
    - The `coefficients` of LinearRegressor "must be passed in".
    - ONNX Runtime refuses MaxpoolWithMask without `kernel_shape`, although its signature makes it optional.
    - It is a warning if the signature makes the attribute optional, no text defines the node without it, and ONNX
      Runtime refuses it: `hidden_size` of RNN, GRU and LSTM, `inputdimensions` of FeatureVectorizer, `intercepts` of
      LinearClassifier, `classes_strings` of LabelEncoder in version 1, `coefficients`, `kernel_params` and `rho` of
      SVMClassifier and SVMRegressor.
    - Reported by another rule: inputs without which ONNX Runtime does not run its own operators
      (`omitted-required-operand`).
    """
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        operator = alike.operator.versioned_name
        misspelt = set(misspelt_attributes(model.operators.schemas, schema, alike).values())
        missing = [name for name in missing_attributes(schema, alike) if name not in misspelt]
        groups = [group for group in missing_alternatives(schema, alike) if not is_of_inputs(schema, group)]
        if groups:
            moved = set(moved_to_inputs(model.operators.schemas, schema, alike).values())
            groups = [group for group in groups if not _has_input(group, moved)]
        other = other_version(model.operators.schemas, schema, alike, missing) if missing or groups else ""
        for name in missing:
            for node in alike.nodes:
                hint = version_hint(other, alike, node)
                yield Finding(
                    node.place,
                    f"{node.describe()} has no attribute {quote(name)}, "
                    f"but {describe_schema(schema)} requires it{hint}",
                    "NOD-7",
                    allowed=f"a value of type {schema.attributes[name].type}",
                    subject=name,
                    inner=name,
                    cause=version_cause(other, alike, name),
                    is_cause_shared=bool(other),
                    proposals=(proposed_import(model, alike, node) if other else None)
                    or _declared_type(model, schema, node, name)
                    or _fitting_number(model, schema, node, name),
                )
        for group in groups:
            yield from _without_any(model, schema, alike, group, other)
        for name in attributes_for_runtime(schema, alike):
            for node in alike.nodes:
                yield Finding(
                    node.place,
                    f"{node.describe()} has no attribute {quote(name)}, which {describe_schema(schema)} does not "
                    "require; no text says what the node does without it",
                    "NOD-7g",
                    allowed=f"a value of type {schema.attributes[name].type}",
                    subject=name,
                    inner=name,
                    cause=f"{operator} {name}",
                )


def _fitting_number(model: Model, schema: OperatorSchema, node: Node, name: str) -> Proposals:
    """Return the numbers of the attribute with which the shapes of the node fit."""

    def options() -> list[Proposal]:
        inputs = tuple([model.value_flow.fact_of(each, node.graph) for each in node.inputs])
        changes = numbers_of_missing_attribute(node, schema, inputs, name)
        return [Proposal(each.text, each.edits) for each in changes]

    return Proposals("with {} the shapes fit", options)


def _declared_type(model: Model, schema: OperatorSchema, node: Node, name: str) -> Proposals | None:
    """Return the number of the element type of output 0, if the attribute decides that and it is declared."""
    if not holds_output_element_type(schema, name) or not node.outputs:
        return None
    kind = model.value_flow.fact_of(node.outputs[0], node.graph).kind
    for value in allowed_values(schema, name) or ():
        element = value if isinstance(value, str) else element_type_name(value)  # a name up to opset 5
        if kind == f"tensor({element.lower()})":
            number = "" if element == value else f" ({element})"
            kinds = {"type": ATTRIBUTE_TYPE_CODES["STRING"], "s": value.encode()} if isinstance(value, str) else {}
            made = message("AttributeProto")(name=name, **(kinds or {"type": ATTRIBUTE_TYPE_CODES["INT"], "i": value}))
            text = f"write {name}={value}{number}, as output 0 is declared"
            return only(ready(text, attribute_edit(node, made)))
    return None


def _has_input(group: Combination, indices: set[int]) -> bool:
    """Return true if one of the inputs is in the group: another rule reports nodes with an attribute of its name."""
    return any(member.field == "input" and member.index in indices for side in group.sides for member in side)


def _without_any(
    model: Model, schema: OperatorSchema, alike: AlikeNodes, group: Combination, other: str
) -> Iterator[Finding]:
    """The findings of nodes that have no member of a group."""
    names = [member.describe() for side in group.sides for member in side]
    required = "one of them"
    if len(names) == 1:
        members, lacks, required = "", f"no {names[0]}", "it"
    elif len(names) > 2:
        members = f"the attributes {', '.join(quote(member.name) for side in group.sides for member in side)}"
        lacks = f"none of {members}"
    else:
        members = " and ".join(names)
        lacks = f"neither {' nor '.join(names)}"
    for node in alike.nodes:
        yield Finding(
            node.place,
            f"{node.describe()} has {lacks}, but {describe_schema(schema)} requires {required}"
            f"{version_hint(other, alike, node)}",
            "NOD-7",
            allowed=f"one of {members}" if members else f"{names[0]} (see {group.source})",
            subject=group.sides[0][0].name,
            inner=group.sides[0][0].name,
            cause=version_cause(other, alike, group.sides[0][0].name),
            is_cause_shared=bool(other),
            proposals=(proposed_import(model, alike, node) if other else None)
            or _fitting_number(model, schema, node, group.sides[0][0].name),
            # ONNX Runtime loads some of them, and crashes when it runs them.
            case="alternative" if schema.domain in ONNXRUNTIME.domains else None,
        )

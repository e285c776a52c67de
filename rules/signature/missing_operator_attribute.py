# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from onnx_lint.inference.flow.repairs.search import numbers_of_missing_attribute
from onnx_lint.ir.operators.mismatch import (
    attributes_for_runtime,
    describe_schema,
    fitting_version,
    is_of_inputs,
    missing_alternatives,
    missing_attributes,
    misspelt_attributes,
    moved_to_inputs,
    version_cause,
    version_hint,
)
from onnx_lint.ir.operators.proposals import Proposal, attribute_edit
from onnx_lint.model import (
    AlikeNodes,
    Model,
    Node,
    OperatorSchema,
    Proposals,
    Proto,
    has_misused_operators,
    message,
    only,
    ready,
)
from onnx_lint.model.import_proposals import proposed_import
from onnx_lint.rule import Finding, Record, rule
from onnx_lint.spec.operators.attribute_values import allowed_values, element_type_name, holds_output_element_type
from onnx_lint.spec.operators.combinations import Combination
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_CODES
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
        missing = list(_missing(model, alike))
        lacks = [*missing, *_missing_alternatives(model, alike)]
        if lacks:
            names = [lack.attribute for lack in missing]
            fitting = fitting_version(model.operators.schemas, alike.schema, alike, names)
            yield from _findings(model, alike, lacks, fitting)
        yield from _findings_for_runtime(alike)


class _Lack(Record):
    """An attribute that nodes lack, or a group of which they have no member."""

    attribute: str
    """The attribute, or the first member of the group."""
    has: str
    """What the nodes have, in words: "no attribute 'axis'", "neither attribute 'a' nor input 1 ('b')"."""
    allowed: str
    requires: str = "it"
    """What the operator requires, in words: "it" or "one of them"."""
    case: str | None = None
    """The case of the clause, see `Finding.case`."""


def _missing(model: Model, alike: AlikeNodes) -> Iterator[_Lack]:
    """Yield the attributes that the signature requires and the nodes lack, also under nearly the right name."""
    misspelt = set(misspelt_attributes(model.operators.schemas, alike.schema, alike).values())
    for name in missing_attributes(alike.schema, alike):
        if name not in misspelt:
            kind = alike.schema.attributes[name].type
            yield _Lack(name, f"no attribute {quote(name)}", f"a value of type {kind}")


def _missing_alternatives(model: Model, alike: AlikeNodes) -> Iterator[_Lack]:
    """Yield the groups of which the operator requires a member and the nodes have none."""
    schema = alike.schema
    groups = [group for group in missing_alternatives(schema, alike) if not is_of_inputs(schema, group)]
    if not groups:
        return
    # Another rule reports nodes that have an input of a group as an attribute.
    moved = set(moved_to_inputs(model.operators.schemas, schema, alike).values())
    for group in groups:
        if not _is_any_input_in(moved, group):
            yield _lack_of_group(schema, group)


def _is_any_input_in(indices: Set[int], group: Combination) -> bool:
    """Return whether one of these inputs is a member of the group."""
    return any(member.field == "input" and member.index in indices for side in group.sides for member in side)


def _lack_of_group(schema: OperatorSchema, group: Combination) -> _Lack:
    members = [member for side in group.sides for member in side]
    first = members[0].name
    described = [member.describe() for member in members]
    # ONNX Runtime loads some of them, and crashes when it runs them.
    case = "alternative" if schema.domain in ONNXRUNTIME.domains else None
    if len(members) == 1:
        return _Lack(first, f"no {described[0]}", f"{described[0]} (see {group.source})", case=case)
    if len(members) == 2:
        has, all_of_them = f"neither {' nor '.join(described)}", " and ".join(described)
    else:
        all_of_them = f"the attributes {', '.join(quote(member.name) for member in members)}"
        has = f"none of {all_of_them}"
    return _Lack(first, has, f"one of {all_of_them}", requires="one of them", case=case)


def _findings(model: Model, alike: AlikeNodes, lacks: Sequence[_Lack], fitting: str) -> Iterator[Finding]:
    """Yield the findings on what alike nodes lack. `fitting`: the result of `fitting_version`, in words."""
    schema = alike.schema
    for lack in lacks:
        for node in alike.nodes:
            yield Finding(
                node.place,
                f"{node.describe()} has {lack.has}, but {describe_schema(schema)} requires {lack.requires}"
                f"{version_hint(fitting, alike, node)}",
                "NOD-7",
                allowed=lack.allowed,
                subject=lack.attribute,
                inner=lack.attribute,
                cause=version_cause(fitting, alike, lack.attribute),
                is_cause_shared=bool(fitting),
                proposals=_proposals(model, alike, node, lack, fitting),
                case=lack.case,
            )


def _proposals(model: Model, alike: AlikeNodes, node: Node, lack: _Lack, fitting: str) -> Proposals:
    """Return the import that the node fits, else the declared type as the attribute, else numbers that fit."""
    imported = proposed_import(model, alike, node) if fitting else None
    if imported is not None:
        return imported
    declared = _declared_type(model, alike.schema, node, lack.attribute)
    return _fitting_number(model, alike.schema, node, lack.attribute) if declared is None else declared


def _findings_for_runtime(alike: AlikeNodes) -> Iterator[Finding]:
    """Yield the findings on attributes that only ONNX Runtime requires."""
    schema = alike.schema
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
                cause=f"{alike.operator.versioned_name} {name}",
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
            text = f"write {name}={value}{number}, as output 0 is declared"
            return only(ready(text, attribute_edit(node, _attribute(name, value))))
    return None


def _attribute(name: str, value: int | str) -> Proto:
    made = message("AttributeProto")(name=name)
    if isinstance(value, str):
        made.type, made.s = ATTRIBUTE_TYPE_CODES["STRING"], value.encode()
    else:
        made.type, made.i = ATTRIBUTE_TYPE_CODES["INT"], value
    return made

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from onnx_lint.model import (
    AlikeNodes,
    FreshNames,
    Graph,
    Model,
    Node,
    OperatorSchema,
    OperatorSchemas,
    attributes_with,
    describe_schema,
    has_misused_operators,
    inputs_instead,
    misspelt_attributes,
    moved_to_inputs,
    other_version,
    respelled,
    unknown_attributes,
    value_names,
    version_hint,
)
from onnx_lint.rule import Finding, Related, replace, rule
from onnx_lint.wording import nearest, quote, quote_some, suggestion


@rule(clause="NOD-7", since="0.1.0", about=has_misused_operators, needs="node")
def unknown_operator_attribute(model: Model) -> Iterator[Finding]:
    """A node has an attribute that its operator does not have.

    ### How to fix

    Drop the attribute, take the operator that has it, or import the version in which this one does. Notes of a tool's
    own go into `metadata_props`. `onnx-lint fix --unsafe-fixes` (unsafe: the version may be what is wrong) passes an
    attribute that became an input, such as `axes`, from a Constant, and corrects a misspelled name.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" attribute { name: "alpha" f: 0.1 type: FLOAT } }
    ```

    Corrected:

    ```
    node { op_type: "LeakyRelu" input: "x" output: "y" attribute { name: "alpha" f: 0.1 type: FLOAT } }
    ```

    ### Why it matters

    The content of the attribute is lost: consumers refuse the node or ignore the attribute. The cause is a
    misspelling, an attribute of another operator set version, or one of a framework's own.

    ### Details

    The attributes of the operator's signature at the imported version. Names that begin with two underscores are
    left to implementations: exporters and runtimes keep notes of their own in them, and onnx.checker ignores them.
    An attribute without a name is reported by `unnamed-attribute`, one of a call of a function by
    `unknown-call-attribute`.

    The schemas of `onnx` allow a few operators (LayerNormalization) any other attribute. The operators' documentation
    does not, and onnx-lint follows the documentation. ONNX Runtime allows some of its own operators any attribute:
    EPContext, to which each execution provider adds its own, Snpe, BiasDropout, BitmaskDropout, BitmaskBiasDropout and
    QOrderedLayerNormalization.

    Attributes by the name of an input that the node lacks, such as the axes of Unsqueeze, which were an attribute once,
    have one finding for each node, and the inputs that it lacks none. An attribute with nearly the name of a required
    one that the node lacks has one finding too: the missing required one is not reported again.
    """
    fresh: FreshNames | None = None
    for alike in model.operators.verified_nodes:
        schema = alike.operator.schema
        assert schema is not None
        unknown = set(unknown_attributes(schema, alike)) if alike.attributes else None
        if unknown:
            fresh = fresh or FreshNames(value_names(model.graphs))
            yield from _findings(model, schema, alike, unknown, fresh)


def _findings(
    model: Model, schema: OperatorSchema, alike: AlikeNodes, unknown: set[str], fresh: FreshNames
) -> Iterator[Finding]:
    schemas = model.operators.schemas
    other = other_version(schemas, schema, alike)
    noun = "attribute" if len(schema.attributes) == 1 else "attributes"
    allowed = f"the {noun} {quote_some(schema.attributes, 20)}" if schema.attributes else "no attribute"
    hints = {name: other or _hint(schemas, schema, name) for name in unknown}
    misspelt = misspelt_attributes(schemas, schema, alike)
    meant = {
        name: f"; did you mean {quote(misspelt[name])}, which it requires?"
        if name in misspelt
        else suggestion(name, schema.attributes)
        for name in unknown
    }
    moved = moved_to_inputs(schemas, schema, alike)
    operator = alike.operator.versioned_name
    for node in alike.nodes:
        if moved:
            hint = version_hint(other or _hint(schemas, schema, min(moved)), alike, node)
            kind_of = partial(_kind_of, model, node.graph)
            fix = inputs_instead(node, moved, fresh, kind_of)
            yield replace(_moved(schema, node, moved, hint), cause=f"{operator} {' '.join(sorted(moved))}", fix=fix)
        for index in attributes_with(node, unknown - moved.keys()):
            name = node.attribute_protos[index].name
            hint = version_hint(hints[name], alike, node) or meant[name]
            yield Finding(
                node.place.at("attribute", index),
                f"{node.describe()} has attribute {quote(name)}, "
                f"but {describe_schema(schema)} has no such attribute{hint}",
                allowed=allowed,
                subject=name,
                cause=f"{operator} {name}",
                fix=respelled(
                    node, index, misspelt.get(name) or nearest(name, schema.attributes) or "", schema.attributes
                ),
            )


def _kind_of(model: Model, graph: Graph, name: str) -> str | None:
    return model.value_flow.fact_of(name, graph).kind


def _moved(schema: OperatorSchema, node: Node, moved: Mapping[str, int], hint: str) -> Finding:
    """The one finding for the attributes of a node that have become inputs."""
    places = {node.attribute_protos[index].name: index for index in attributes_with(node, set(moved))}
    first, *rest = places
    names, inputs = " and ".join(map(quote, places)), " and ".join(str(moved[name]) for name in places)
    has, have = ("attributes", "no such attributes") if rest else ("attribute", "no such attribute")
    them = f"them as inputs {inputs}" if rest else f"it as input {inputs}"
    return Finding(
        node.place.at("attribute", places[first]),
        f"{node.describe()} has {has} {names}, but {describe_schema(schema)} has {have}; pass {them}{hint}",
        related=tuple(Related(node.place.at("attribute", places[name]), f"attribute {quote(name)}") for name in rest),
        allowed=f"{'inputs' if rest else 'input'} {inputs}",
        subject=first,
    )


def _hint(schemas: OperatorSchemas, schema: OperatorSchema, name: str) -> str:
    """Which version has the attribute; empty if none has."""
    versions = schemas.versions(schema.domain, schema.name)
    found = [version for version in versions if name in _attribute_names(schemas, schema, version)]
    later = [version for version in found if version > schema.since_version]
    if later:
        return f"it came with opset {later[0]}"
    return f"opset {next(version for version in versions if version > found[-1])} dropped it" if found else ""


def _attribute_names(schemas: OperatorSchemas, schema: OperatorSchema, version: int) -> set[str]:
    other = schemas.find(schema.domain, schema.name, version)
    return set() if other is None else set(other.attributes)

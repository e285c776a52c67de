# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from onnx_lint.ir.names.misspelling import is_respelt
from onnx_lint.ir.operators.attribute_fixes import inputs_instead, respelled
from onnx_lint.ir.operators.attribute_proposals import meant_attribute, with_name
from onnx_lint.ir.operators.mismatch import (
    attributes_with,
    describe_schema,
    fitting_version,
    misspelt_attributes,
    moved_to_inputs,
    unknown_attributes,
    version_cause,
    version_hint,
)
from onnx_lint.ir.operators.proposals import Proposal, preferred
from onnx_lint.model import (
    AlikeNodes,
    FreshNames,
    Graph,
    Model,
    Node,
    OperatorSchema,
    OperatorSchemas,
    Proposals,
    has_misused_operators,
    value_names,
)
from onnx_lint.model.import_proposals import proposed_import
from onnx_lint.rule import Finding, Related, replace, rule
from onnx_lint.wording import listed, quote, quote_some


@rule(clause="NOD-7", since="0.1.0", about=has_misused_operators, needs="node")
def unknown_operator_attribute(model: Model) -> Iterator[Finding]:
    """A node has an attribute that its operator does not have.

    ### How to fix

    Delete the attribute, use the operator that has it, or import the version in which this operator has it. Write a
    tool's own notes into `metadata_props`.

    `onnx-lint fix --unsafe-fixes` (unsafe: the version may be wrong instead) passes an attribute that became an input,
    for example `axes`, from a Constant, and corrects a misspelled name.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" attribute { name: "alpha" f: 0.1 type: FLOAT } }
    ```

    Corrected:

    ```
    node { op_type: "LeakyRelu" input: "x" output: "y" attribute { name: "alpha" f: 0.1 type: FLOAT } }
    ```

    ### Why it matters

    Consumers refuse the node or ignore the attribute. The cause is a misspelling, another operator set version, or an
    attribute of a framework.

    ### Details

    - The signature at the imported version lists the attributes.
    - Names that begin with two underscores are not reported: exporters and runtimes keep notes in them, and
      onnx.checker ignores them.
    - The schemas of `onnx` allow any attribute of a few operators (LayerNormalization). The documentation does not, and
      onnx-lint follows the documentation.
    - EPContext, to which execution providers add their own attributes, Snpe, BiasDropout, BitmaskDropout,
      BitmaskBiasDropout and QOrderedLayerNormalization (com.microsoft) may have any attribute.
    - Attributes named after an input that the node lacks, for example the former attribute `axes` of Unsqueeze, are one
      finding for each node. The missing inputs are not reported again.
    - All faults of nodes that fit another version of the operator are one finding, also those of other rules.
    - If the name is similar to a required attribute that the node lacks, the missing attribute is not reported again.
    - Reported by other rules: an attribute without a name (`unnamed-attribute`), an attribute of a function call
      (`unknown-call-attribute`).
    """
    fresh: FreshNames | None = None
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        unknown = set(unknown_attributes(schema, alike)) if alike.attributes else None
        if unknown:
            fresh = fresh or FreshNames(value_names(model.graphs))
            yield from _findings(model, schema, alike, unknown, fresh)


def _findings(
    model: Model, schema: OperatorSchema, alike: AlikeNodes, unknown: set[str], fresh: FreshNames
) -> Iterator[Finding]:
    schemas = model.operators.schemas
    fitting = fitting_version(schemas, schema, alike)
    noun = "attribute" if len(schema.attributes) == 1 else "attributes"
    allowed = f"the {noun} {quote_some(schema.attributes, 20)}" if schema.attributes else "no attribute"
    hints = {name: fitting or _hint(schemas, schema, name) for name in unknown}
    misspelt = misspelt_attributes(schemas, schema, alike)
    meant = {name: misspelt.get(name) or meant_attribute(name, schema) or "" for name in unknown}
    moved = moved_to_inputs(schemas, schema, alike)
    types = dict(alike.attributes)
    certain = {name for name in unknown if _is_respelt(name, types[name], meant[name], schema)}
    for node in alike.nodes:
        if moved:
            hint = version_hint(fitting or _hint(schemas, schema, min(moved)), alike, node)
            kind_of = partial(_kind_of, model, node.graph)
            fix = inputs_instead(node, moved, schema.inputs, fresh, kind_of)
            cause = version_cause(fitting, alike, " ".join(sorted(moved)))
            found = _moved(schema, node, moved, hint)
            proposals = proposed_import(model, alike, node) if hint else None
            yield replace(found, cause=cause, is_cause_shared=bool(fitting), fix=fix, proposals=proposals)
        for index in attributes_with(node, unknown - moved.keys()):
            name = node.attribute_protos[index].name
            hint = version_hint(hints[name], alike, node)
            options = partial(_options, model, schema, node, index, meant[name], is_required=name in misspelt)
            yield Finding(
                node.place.at("attribute", index),
                f"{node.describe()} has attribute {quote(name)}, "
                f"but {describe_schema(schema)} has no such attribute{hint}",
                allowed=allowed,
                subject=name,
                cause=version_cause(fitting, alike, name),
                is_cause_shared=bool(fitting),
                fix=respelled(node, index, meant[name], schema.attributes),
                proposals=proposed_import(model, alike, node)
                if hint
                else _proposals(options, needs_no_trial=name in certain),
            )


def _proposals(options: Callable[[], tuple[Proposal, ...]], *, needs_no_trial: bool) -> Proposals:
    return Proposals("did you mean {}?", options, ends_message=True, needs_no_trial=needs_no_trial)


def _is_respelt(name: str, type_code: int, meant: str, schema: OperatorSchema) -> bool:
    """Return whether an attribute differs from the one that is meant in case or separators alone, and from no other."""
    alike = [each for each in schema.attributes if is_respelt(name, each)]
    return alike == [meant] and schema.attributes[meant].type_code == type_code


def _options(
    model: Model, schema: OperatorSchema, node: Node, index: int, meant: str, *, is_required: bool
) -> tuple[Proposal, ...]:
    """Return the attribute with the name that was meant, with its value or with one number for each axis."""
    shape = model.shape_of(node.inputs[0], node.graph) if node.inputs else None
    axes = None if shape is None else len(shape) - 2
    return preferred(with_name(node, index, meant, schema, axes, is_required=is_required))


def _kind_of(model: Model, graph: Graph, name: str) -> str | None:
    return model.value_flow.fact_of(name, graph).kind


def _moved(schema: OperatorSchema, node: Node, moved: Mapping[str, int], hint: str) -> Finding:
    """The one finding for the attributes of a node that have become inputs."""
    found = sorted(attributes_with(node, set(moved)), key=lambda index: moved[node.attribute_protos[index].name])
    places = {node.attribute_protos[index].name: index for index in found}
    first, *rest = places
    names, inputs = listed([*map(quote, places)]), listed([str(moved[name]) for name in places])
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

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from onnx_lint.ir.crashes import true_if_it_crashes
from onnx_lint.ir.operators.attribute_faults import UnlistedValue, unlisted_value
from onnx_lint.ir.operators.mismatch import attributes_with, describe_schema, version_hint
from onnx_lint.model import AlikeNodes, Model, Node, OperatorSchema, OperatorSchemas, Place, has_faulty_attributes
from onnx_lint.rule import Finding, Record, Related, on_elements, rule
from onnx_lint.spec.operators.attribute_values import (
    RUNTIME_DOMAIN,
    AllowedValues,
    allowed_values,
    element_type_name,
    holds_output_element_type,
    is_flag,
)
from onnx_lint.wording import and_others, listed, quote, suggestion

if TYPE_CHECKING:
    from onnx_lint.ir.operators.bound_nodes import BoundNodes


@rule(clause=("NOD-7a", "NOD-7f"), since="0.1.0", about=has_faulty_attributes, needs="node")
def unsupported_attribute_value(model: Model) -> Iterator[Finding]:
    """An attribute of a node has a value that its operator does not allow.

    ### How to fix

    Use one of the values that the operator's description lists, in its spelling.

    ### Example

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "auto_pad" s: "SAME" type: STRING } }
    ```

    Corrected:

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y"
           attribute { name: "auto_pad" s: "SAME_UPPER" type: STRING } }
    ```

    ### Why it matters

    Only the listed values have a meaning. For any other value a consumer refuses the node or silently uses one of the
    listed ones.

    ### Details

    - Modes and other words (`auto_pad`, `mode`, `direction`, `reduction`, `coordinate_transformation_mode`, ...) must
      be in the list of the imported version, in the same letter case.
    - Numbers with a meaning (`center_point_box`), and each element of a list of words, must be one of the listed
      values.
    - Numbers of element types (`to`, `dtype`) must be types of the output. A precision (`stash_type`, `precision`) must
      be a floating-point type.
    - `activation` of FusedConv (com.microsoft) must be one that ONNX Runtime has: it refuses another.
    - Other numbers than 0 and 1 for flags (`keepdims`, `reverse`, `ceil_mode`) are a warning, because the text only
      says what 1 means. ONNX Runtime refuses some (`reverse`) and loads others (`keepdims`).
    - A `rotary_embedding_dim` of Attention (com.microsoft) other than 0, 32, 64 and 128 is a warning.
    - Another letter case of `activations` is reported.
    - If an attribute refers to a parameter of a function, the values of all calls and the default are checked, also if
      functions pass them to functions.
    - Attributes of domains that ONNX does not publish may have any value.
    - onnx.checker checks a few of these values, and only with `full_check`.
    - Reported by another rule: attributes of the wrong type (`wrong-operator-attribute-type`).
    """
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        allowed = _listed_values(schema, alike)
        if not allowed:
            continue
        if any(
            true_if_it_crashes(partial(unlisted_value, attribute, schema, allowed))
            for form in set().union(*alike.forms.values())
            for attribute in form.attributes
        ):
            for node in alike.nodes:
                with model.crashes.at(_CHECK, node):
                    yield from _findings(model.operators.schemas, alike, node, allowed)
    yield from _findings_of_calls(model)


def _listed_values(schema: OperatorSchema, alike: AlikeNodes) -> dict[str, AllowedValues]:
    """Return the listed values, by attribute, for the attributes of alike nodes that allow only a few values."""
    return {name: values for name, _ in alike.attributes if (values := allowed_values(schema, name))}


_CHECK = "checking the values of attributes"


class _Restricted(Record):
    """An attribute of a node that may only have some values."""

    nodes: AlikeNodes | BoundNodes
    """Nodes with these attributes, of which it is one."""
    node: Node
    place: Place
    name: str
    allowed: AllowedValues
    origins: tuple[Related, ...] = ()
    """What gives it the value, if it refers to a parameter of a function."""


def _findings_of_calls(model: Model) -> Iterator[Finding]:
    """Yield findings on values that calls or defaults of parameters pass into functions.

    There is one for each origin of a value and attribute that gets it.
    """
    reported: set[tuple[Place, Place]] = set()
    for nodes in model.bound_nodes:
        for attribute in nodes.bound.attributes:
            source = nodes.sources.get(attribute.name)
            allowed = allowed_values(nodes.schema, attribute.name) if source is not None else None
            if source is None or allowed is None:
                continue
            with model.crashes.at(_CHECK, partial(nodes.graph.first_of, nodes.form)):
                wrong = unlisted_value(attribute, nodes.schema, {attribute.name: allowed})
                if wrong is None:
                    continue
                origins = tuple(Related(*note) for note in nodes.notes([attribute.name]))
                for node in nodes.nodes:
                    place = node.place.at("attribute", next(attributes_with(node, {attribute.name})))
                    if (place, source.place) not in reported:
                        reported.add((place, source.place))
                        restricted = _Restricted(nodes, node, place, attribute.name, allowed, origins)
                        yield _on_values(model.operators.schemas, restricted, wrong)


def _findings(
    schemas: OperatorSchemas, alike: AlikeNodes, node: Node, allowed: dict[str, AllowedValues]
) -> Iterator[Finding]:
    """Yield a finding for each attribute of a node with values that are not `allowed` for its name."""
    for index, attribute in enumerate(node.attribute_protos):
        wrong = unlisted_value(attribute, alike.schema, allowed)
        if wrong is not None:
            place = node.place.at("attribute", index)
            restricted = _Restricted(alike, node, place, attribute.name, allowed[attribute.name])
            yield _on_values(schemas, restricted, wrong)


def _on_values(schemas: OperatorSchemas, restricted: _Restricted, wrong: UnlistedValue) -> Finding:
    """Return the finding on the wrong values of an attribute, of which `wrong` is the first."""
    values = (wrong, *wrong.others)
    return on_elements(partial(_finding, schemas, restricted), wrong, len(values), values)


def _finding(schemas: OperatorSchemas, restricted: _Restricted, wrong: UnlistedValue, count: int) -> Finding:
    schema, name, node = restricted.nodes.schema, restricted.name, restricted.node
    value, index = wrong.value, wrong.index
    hint = version_hint(_version(schemas, schema, name, value), restricted.nodes, node)
    hint = hint or _spelling(value, restricted.allowed)
    values = _listed(schema, name, restricted.allowed)
    inner = "" if index is None else f"element {index}"
    attribute = f"{inner and f'{inner} of '}attribute {quote(name)} of {node.describe()}"
    few = f"but {describe_schema(schema)} needs {listed(values, 'or')}"
    if schema.domain == RUNTIME_DOMAIN and is_flag(schema, name):
        hint = f"{hint}; only its description requires this"
    return Finding(
        restricted.place,
        f"{attribute} is {_shown(schema, name, value)}, "
        f"{few if len(values) <= _FEW else f'which {describe_schema(schema)} does not allow'}{and_others(count)}{hint}",
        clause="NOD-7f" if is_flag(schema, name) else "NOD-7a",
        related=restricted.origins,
        allowed=", ".join(values),
        subject=name,
        cause=f"{schema.domain}::{schema.name} {name} {value}",
        inner=inner,
        partners=tuple(each.place for each in restricted.origins),
    )


def _shown(schema: OperatorSchema, name: str, value: str | int) -> str:
    if isinstance(value, str):
        return quote(value)
    known = holds_output_element_type(schema, name) and element_type_name(value) != str(value)
    return f"{value} ({element_type_name(value)})" if known else str(value)


def _listed(schema: OperatorSchema, name: str, allowed: AllowedValues) -> list[str]:
    values: list[str | int] = [*allowed]
    return [_shown(schema, name, value) for value in sorted(values, key=_order)]


_FEW = 4
"""The most values that the message lists."""


def _order(value: str | int) -> tuple[int, str]:
    return (value, "") if isinstance(value, int) else (0, value)


def _version(schemas: OperatorSchemas, schema: OperatorSchema, name: str, value: str | int) -> str:
    """Return in words which version allows the value; empty if none does."""
    versions = schemas.versions(schema.domain, schema.name)
    found = [version for version in versions if _is_allowed(schemas, schema, version, name, value)]
    later = [version for version in found if version > schema.since_version]
    if later:
        return f"it came with opset {later[0]}"
    return f"opset {next(version for version in versions if version > found[-1])} dropped it" if found else ""


def _spelling(value: str | int, allowed: AllowedValues) -> str:
    if isinstance(value, int):
        return ""
    words = sorted(map(str, allowed))
    same = next((word for word in words if word.casefold() == value.casefold()), None)
    return f"; did you mean {quote(same)}?" if same is not None else suggestion(value, words)


def _is_allowed(schemas: OperatorSchemas, schema: OperatorSchema, version: int, name: str, value: str | int) -> bool:
    other = schemas.find(schema.domain, schema.name, version)
    return other is not None and value in (allowed_values(other, name) or ())

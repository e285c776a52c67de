# SPDX-License-Identifier: Apache-2.0
"""The nodes for which a release of ONNX Runtime has no kernel, or whose kernel refuses a value of an attribute."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from onnx_lint.model import Model, Node
from onnx_lint.refusals.causes import Refusal, RefusalCondition, refused_node
from onnx_lint.refusals.operands import (
    OperandTypes,
    attribute_values,
    kind_of,
    operand_types,
    operator_name,
    output_name,
)
from onnx_lint.refusals.refused_values import refused_values_of
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.runtime_releases import refused_attributes
from onnx_lint.spec.products import Kernel, ProductRelease
from onnx_lint.spec.products.refusals import REFUSED_FORMS
from onnx_lint.wording import quote


def refused_by_kernels(
    model: Model, node: Node, schema: OperatorSchema, version: int, release: ProductRelease
) -> Iterator[Refusal]:
    """Yield the refusals of a node that has no kernel, or attributes with refused values.

    `version`: that of the operator set.
    """
    types = operand_types(model, node, schema)
    name = operator_name(schema.domain, schema.name)
    missing = _missing_kernel(types, schema, version, release)
    if missing is not None:
        yield refused_node(node, name, missing, RefusalCondition.NODE_IS_KEPT)
    for what in _refused_attributes(model, node, schema, types, release):
        yield refused_node(node, name, f"{what}, which {release} refuses", RefusalCondition.NODE_IS_KEPT)


# --- kernels


def no_kernel(release: ProductRelease) -> str:
    """Return the phrase that a release has no kernel."""
    return f"for which {release} has no kernel for the processor (CPUExecutionProvider)"


def _missing_kernel(types: OperandTypes, schema: OperatorSchema, version: int, release: ProductRelease) -> str | None:
    """Return the operator that a release cannot run, in words; None if it runs a kernel or the function, or may."""
    if schema.has_function_body or release.runs_function(schema.domain, schema.name):
        what = _without_function(types, schema, version, release)
        more = ", and it cannot run the function of the operator"
    else:
        what, more = _without_kernel(types, schema, version, release), ""
    return None if what is None else f"{what}, {no_kernel(release)}{more}"


def _without_function(types: OperandTypes, schema: OperatorSchema, version: int, release: ProductRelease) -> str | None:
    """Return the operator with the types for which neither a kernel nor the function runs; None if one of them may."""
    for refused in release.refused_types(schema.domain, schema.name, version):
        if all(types.get(name) and types[name] <= kinds for name, kinds in refused.items()):
            return _operator_with(schema, set[str]().union(*(types[name] for name in refused)))
    return None


def _without_kernel(types: OperandTypes, schema: OperatorSchema, version: int, release: ProductRelease) -> str | None:
    """Return the operator with its version or the types for which there is no kernel; None if there may be one."""
    kernels = [kernel for kernel in release.kernels(schema.domain, schema.name) if kernel.is_for(schema.since_version)]
    if not kernels:
        return _operator_with(schema, ())
    # It inserts no Casts around a node that has graphs, or no inputs.
    in_float = types if schema.has_subgraphs or not schema.inputs else _in_float(types, schema, version)
    if any(_takes(kernel, types) or _takes(kernel, in_float) for kernel in kernels):
        return None
    return _operator_with(schema, _types_without_kernel(types, kernels))


def _operator_with(schema: OperatorSchema, kinds: Collection[str]) -> str:
    shown = f"with {' and '.join(sorted(kinds))}" if kinds else f"of version {schema.since_version}"
    return f"the operator {schema.name} {shown}"


def _takes(kernel: Kernel, types: OperandTypes) -> bool:
    return all(types.get(name, set()) <= allowed for name, allowed in kernel.types.items())


def _in_float(types: OperandTypes, schema: OperatorSchema, version: int) -> OperandTypes:
    """Return the types with which a node of float16 runs between the two Casts that ONNX Runtime inserts."""
    if not schema.domain and version < _CASTS_SINCE:
        return types
    in_float = {"tensor(float16)": "tensor(float)"}
    return {name: {in_float.get(kind, kind) for kind in kinds} for name, kinds in types.items()}


_CASTS_SINCE: Final = 6
"""The operator set from which on the Casts that ONNX Runtime inserts are valid."""


def _types_without_kernel(types: OperandTypes, kernels: Sequence[Kernel]) -> set[str]:
    """Return the types that no kernel takes; if each type has a kernel, all those that kernels distinguish."""
    taken = {name: frozenset[str]().union(*(kernel.types.get(name, ()) for kernel in kernels)) for name in types}
    judged = [name for name in types if taken[name]]
    without = set[str]().union(*(types[name] - taken[name] for name in judged))
    return without or set[str]().union(*(types[name] for name in judged))


# --- attributes


def _refused_attributes(
    model: Model, node: Node, schema: OperatorSchema, types: OperandTypes, release: ProductRelease
) -> Iterator[str]:
    """Yield the attributes with values that the release refuses, in words."""
    yield from refused_values_of(node.attribute_protos, schema, release)
    if not schema.domain and schema.name in REFUSED_FORMS:
        yield from _refused_forms(model, node, schema)
    if schema.domain in release.own_domains:
        yield from _later_values(node, schema, types, release)


def _refused_forms(model: Model, node: Node, schema: OperatorSchema) -> Iterator[str]:
    """Yield the attributes with values that ONNX Runtime refuses for the type of output 0, in words."""
    values = attribute_values(node, schema)
    kind = kind_of(model, node.graph, output_name(node, 0))
    for form in REFUSED_FORMS[schema.name]:
        is_refused = kind in form.types and schema.since_version in form.versions
        if is_refused and values.get(form.attribute) == form.value:
            yield f"attribute {quote(form.attribute)} with the value {form.value} and an output of type {kind}"


def _later_values(node: Node, schema: OperatorSchema, types: OperandTypes, release: ProductRelease) -> Iterator[str]:
    """Yield the attributes of one of ONNX Runtime's operators with values that the release does not have, in words."""
    values = {**attribute_values(node, schema), "outputs": str(len(node.outputs))}
    for attribute in refused_attributes(release.version, schema.name, values, types):
        yield f"attribute {quote(attribute.name)} with the value {attribute.value}"

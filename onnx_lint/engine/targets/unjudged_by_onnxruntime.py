# SPDX-License-Identifier: Apache-2.0
"""The parts that ONNX Runtime refuses in some models. Each makes the verdict *not proven*."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.engine.targets.model_parts import count_inputs_of_kind, nodes_of
from onnx_lint.engine.targets.node_attributes import has_attribute, is_parameter
from onnx_lint.engine.targets.onnx_inference import MISTAKEN_SHAPES, MVN, has_untyped_output
from onnx_lint.engine.targets.unjudged_kernels import (
    UNJUDGED_FUNCTION_BODIES,
    UNJUDGED_SIZES,
    UNJUDGED_VALUES,
    without_needed_attributes,
)
from onnx_lint.engine.targets.unjudged_kinds import UnjudgedKind, phrases
from onnx_lint.engine.targets.unjudged_tensors import UNJUDGED_TENSORS
from onnx_lint.model import Function, Model, Node
from onnx_lint.refusals.operands import input_name
from onnx_lint.spec.products import ProductRelease, version_number
from onnx_lint.spec.products.refusals import FIRST_TRUNCATED_VERSION


def unjudged_by_onnxruntime(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the parts that a release refuses in some models, as phrases."""
    version = version_number(release.version)
    yield from phrases(model, UNJUDGED_TENSORS)
    yield from phrases(model, _UNJUDGED_GRAPHS, version)
    if model.functions:
        yield from phrases(model, _UNJUDGED_FUNCTIONS)
    yield from phrases(model, (*UNJUDGED_FUNCTION_BODIES, _ODD_IMPORTS, *UNJUDGED_VALUES))
    yield from without_needed_attributes(model)
    yield from phrases(model, UNJUDGED_SIZES, version)
    from onnx_lint.engine.targets.unjudged_fusions import unjudged_fusions

    yield from unjudged_fusions(model, version)


# --- the main graph and tree ensembles


def _count_main_graphs_without_outputs(model: Model) -> int:
    return int(not model.main_graph.output_names)


def _tree_ensembles(model: Model) -> list[Node]:
    alike = [each for each in model.operators.alike_nodes if each.operator.op_type.startswith("TreeEnsemble")]
    return [node for each in alike if each.operator.domain == "ai.onnx.ml" for node in each.nodes]


def _count_trees_with_ids_after_0(model: Model) -> int:
    return sum(map(_ids_begin_after_0, _tree_ensembles(model)))


def _ids_begin_after_0(node: Node) -> bool:
    """Return whether the node IDs of a tree do not begin with 0, as ONNX Runtime counts them."""
    return is_parameter(node, "nodes_nodeids") or any(
        min(each.ints, default=0) > 0 for each in node.attribute_protos if each.name == "nodes_nodeids"
    )


def _count_trees_with_shared_nodes(model: Model) -> int:
    return sum(map(_has_shared_nodes, _tree_ensembles(model)))


def _has_shared_nodes(node: Node) -> bool:
    """Return whether two branches of a tree lead to one node."""
    lists = {each.name: each for each in node.attribute_protos}
    if not lists.keys() >= _LISTS_OF_BRANCHES:
        return False
    branches = zip(
        lists["nodes_modes"].strings,
        lists["nodes_treeids"].ints,
        lists["nodes_truenodeids"].ints,
        lists["nodes_falsenodeids"].ints,
        strict=False,
    )
    reached = [(tree, end) for mode, tree, *ends in branches if mode != b"LEAF" for end in ends]
    return len({*reached}) < len(reached)


_LISTS_OF_BRANCHES: Final = frozenset({"nodes_modes", "nodes_treeids", "nodes_truenodeids", "nodes_falsenodeids"})
_SHARES_NODES: Final = (1, 23)
"""The first known release that loads trees whose branches share nodes."""


def _count_inputs_of_rare_types(model: Model) -> int:
    return count_inputs_of_kind(model, _NOT_REGISTERED)


_NOT_REGISTERED: Final = (
    r"complex|sparse|opaque|float[46]e|seq\(seq|map\((?!(int64|string), (tensor\()?(double|float|int64|string)\b)"
)
"""A pattern of the types that ONNX Runtime does not register, or not in each release."""

_UNJUDGED_GRAPHS: Final = (
    UnjudgedKind("main graph", "without outputs", _count_main_graphs_without_outputs),
    UnjudgedKind("tree ensemble", "with ids that do not begin with 0", _count_trees_with_ids_after_0),
    UnjudgedKind("tree ensemble", "whose branches share nodes", _count_trees_with_shared_nodes, until=_SHARES_NODES),
    UnjudgedKind("input", "of a type that the release may not have", _count_inputs_of_rare_types),
)


# --- functions, in which onnx infers the shapes and refuses what it cannot infer


def _count_calls_with_more_operands(model: Model) -> int:
    return sum(_has_more_operands(node, function) for node, function in model.calls.all)


def _has_more_operands(node: Node, function: Function) -> bool:
    body = function.body
    return len(node.inputs) > len(body.input_names) or len(node.outputs) > len(body.output_names)


def _count_calls_of_overloads(model: Model) -> int:
    return sum(bool(function.proto.overload) and node.graph.function is not None for node, function in model.calls.all)


def _count_untyped_subgraphs_of_functions(model: Model) -> int:
    return sum(has_untyped_output(graph) for graph in model.graphs if graph.function is not None)


def _count_contributed_nodes_of_functions(model: Model) -> int:
    contributed = [each for each in model.operators.alike_nodes if each.operator.domain == _CONTRIBUTED]
    return sum(node.graph.function is not None for each in contributed for node in each.nodes)


_CONTRIBUTED: Final = "com.microsoft"


def _count_nodes_of_functions_with_mistaken_shapes(model: Model) -> int:
    mistaken = {**MISTAKEN_SHAPES, MVN: _lacks_axes, "Resize": _has_scales}
    return sum(
        node.graph.function is not None and is_mistaken(model, node)
        for name, is_mistaken in mistaken.items()
        for node in nodes_of(model, name)
    )


def _lacks_axes(_: Model, node: Node) -> bool:
    return not has_attribute(node, "axes")


def _has_scales(_: Model, node: Node) -> bool:
    return bool(input_name(node, 2))


_UNJUDGED_FUNCTIONS: Final = (
    UnjudgedKind("call", "with more operands than its function", _count_calls_with_more_operands),
    UnjudgedKind("call", "of an overload in a function", _count_calls_of_overloads),
    UnjudgedKind("subgraph", "of a function with outputs of unknown type", _count_untyped_subgraphs_of_functions),
    UnjudgedKind("node", f"of {_CONTRIBUTED} in a function", _count_contributed_nodes_of_functions),
    UnjudgedKind("node", "of a function whose shape onnx may mistake", _count_nodes_of_functions_with_mistaken_shapes),
)


# --- imports


def _count_imports_of_odd_versions(model: Model) -> int:
    """Return the number of imports of large versions, and of versions below 1 in functions and of used domains."""
    used = {form.domain for graph in model.graphs for form in graph.form_counts}
    own = [entry for entry in model.proto.opset_import if entry.version > 0 or entry.domain in used]
    of_functions = [entry for function in model.functions for entry in function.proto.opset_import]
    return sum(not 0 < entry.version < FIRST_TRUNCATED_VERSION for entry in (*own, *of_functions))


_ODD_IMPORTS: Final = UnjudgedKind(
    "import", "of version 0, or of one that takes more than 31 bits", _count_imports_of_odd_versions
)

# SPDX-License-Identifier: Apache-2.0
"""The faults that a program may not see, or reads in another way than the clause: there the rows say nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.engine.unjudged_parts import REPLACEABLE_SINCE
from onnx_lint.ir.graph import Definition, Graph, GraphKind
from onnx_lint.ir.operators.function_calls import OVERLOADS_SINCE
from onnx_lint.ir.operators.kept_nodes import KeptNodes
from onnx_lint.ir.operators.operators import OPSET_IMPORTS_SINCE
from onnx_lint.model import Model, Node
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.element_types import UNDEFINED_TYPE
from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.releases import is_onnx_domain, normalized_domain
from onnx_lint.spec.target import FULL_CHECK

_IsUnseen = Callable[[Diagnostic, Model], bool]


def is_unseen(item: Diagnostic, program: str, release: ProductRelease | None, model: Model) -> bool:
    """Return whether the rows of a clause say nothing of this finding for a program.

    `release`: the release of the program; None for the checks of onnx.
    """
    if _is_named_as_experimental(item):
        return True
    if release is not None:
        judge = _BY_ONNXRUNTIME.get(item.clause)
        return release.has_kernels and judge is not None and judge(item, model)
    if program == FULL_CHECK and item.clause in _BY_INFERENCE and _is_not_inferred(item, model):
        return True
    version = model.effective_ir_version
    if item.clause in _OF_IDENTITY and version < OVERLOADS_SINCE:
        has_calls = any(form.overload for graph in model.graphs for form in graph.form_counts)
        return has_calls or any(each.proto.overload for each in model.functions)
    return item.case in ("body", "nested") and version < _FUNCTIONS_SINCE


_OF_IDENTITY: Final = ("FUN-3", "FUN-4")
"""The clauses about functions of one identity, and about functions that call themselves. Both checks of onnx read
overloads before IR version 10."""
_FUNCTIONS_SINCE: Final = 8
"""The first IR version with functions. Both checks of onnx skip them before."""


def _is_named_as_experimental(item: Diagnostic) -> bool:
    """Return whether a function has the name of a removed experimental operator, which programs let pass or define."""
    domain, _, name = (item.subject or "").rpartition("::")
    return item.clause == "FUN-24a" and not normalized_domain(domain) and name in REMOVED_EXPERIMENTAL


# --- full_check


def _is_not_inferred(item: Diagnostic, model: Model) -> bool:
    """Return whether the inference of shapes of onnx may not come to a fault, or not know what onnx-lint knows."""
    if model.effective_ir_version < OPSET_IMPORTS_SINCE or _has_foreign_nodes(model):
        return True
    judge = _BY_INFERENCE[item.clause]
    return judge is not None and judge(item, model)


def _has_foreign_nodes(model: Model) -> bool:
    """Return whether a node has an operator that onnx does not know. It ends the inference of the graph quietly."""
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if operator.function is None and (operator.schema is None or not is_onnx_domain(operator.domain)):
            return True
    return False


def _has_unknown_shape(item: Diagnostic, model: Model) -> bool:
    """Return whether onnx may not infer the shape of the value that a finding is about."""
    name = item.subject or ""
    graphs = [graph for graph in model.graphs if name in graph.value_info_names]
    return not graphs or not all(_is_inferred(model, graph, name) for graph in graphs)


def _is_inferred(model: Model, graph: Graph, name: str) -> bool:
    """Return whether onnx infers the shape of a value, since that of each value before it needs no contents."""
    pending, seen = [graph.definition_of(name)], set[Node]()
    while pending:
        found = pending.pop()
        node = found.node if found is not None else None
        if found is None or not (_has_sizes(model, found) if node is None else _infers(model, found, node)):
            return False
        if node is not None and node not in seen:
            seen.add(node)
            pending += [node.graph.definition_of(each) for each in node.inputs if each]
    return True


def _has_sizes(model: Model, found: Definition) -> bool:
    """Return whether an input of the main graph, or an initializer, has a shape of numbers."""
    if found.field == "initializer":
        return True
    if found.field != "input" or found.graph.kind is not GraphKind.MAIN:
        return False
    shape = model.shape_of(found.graph.input_names[found.index], found.graph)
    return shape is not None and all(isinstance(size, int) for size in shape)


def _infers(model: Model, found: Definition, node: Node) -> bool:
    """Return whether onnx infers an output from the shapes of the inputs."""
    if normalized_domain(node.domain) or node.op_type not in INFERRED or found.index:
        return False
    return (model.imports.versions(node.graph.function).get("") or 0) >= INFERRED_SINCE


INFERRED_SINCE: Final = 7
"""The first version of the default domain in which onnx infers the shapes of all these operators."""

_NAMES: Final = (
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BatchNormalization Cast Ceil Celu Concat Constant Conv Cos Cosh "
    "Div Dropout Elu Equal Erf Exp Flatten Floor Gather Gelu Gemm GlobalAveragePool GlobalMaxPool Greater "
    "GreaterOrEqual HardSigmoid HardSwish Identity InstanceNormalization LayerNormalization LeakyRelu Less "
    "LessOrEqual Log LogSoftmax MatMul Max Mean Min Mish Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Shape "
    "Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu Transpose Where Xor"
)
INFERRED: Final = frozenset(_NAMES.split())
"""Operators of the default domain whose first output gets its shape from onnx without the contents of an input."""


def _is_unread(item: Diagnostic, model: Model) -> bool:
    """Return whether an initializer has a type that onnx looks at for a node only, and no node reads it."""
    around = {*item.at.ancestors()}
    (tensor,) = [each for each in model.tensors.miscounted if each.place in around]
    if tensor.proto.data_type == UNDEFINED_TYPE or tensor.place.field != "initializer":
        return False
    return not any(item.subject in names for graph in model.graphs for names in graph.node_inputs)


_BY_INFERENCE: Final[Mapping[str, _IsUnseen | None]] = {
    "OPT-4": None,
    "SUB-7": None,
    "SUB-7a": None,
    "TEN-1": _is_unread,
    "VI-6a": _has_unknown_shape,
}
"""The clauses whose violations full_check finds while it infers shapes, with what else hides one."""


# --- ONNX Runtime


def _is_never_called(item: Diagnostic, model: Model) -> bool:
    """Return whether a finding is in a function that nothing calls, which ONNX Runtime does not judge."""
    around = {*item.at.ancestors()}
    return any(each.place in around and each.index not in model.calls.called for each in model.functions)


def _may_be_dropped(item: Diagnostic, model: Model) -> bool:
    """Return whether ONNX Runtime may drop the node of a finding with a branch before it creates kernels."""
    node = _node_of(item, model)
    return node is None or not KeptNodes(model.graphs, model.calls).is_in_no_dropped_branch(node)


def _node_of(item: Diagnostic, model: Model) -> Node | None:
    """Return the innermost node around the place of a finding."""
    for place in item.at.ancestors():
        if place.field == "node" and place.index is not None:
            graphs = [graph for graph in model.graphs if graph.at("node", place.index) == place]
            return graphs[0].nodes[place.index] if graphs else None
    return None


def _has_replaceable_defaults(_: Diagnostic, model: Model) -> bool:
    """Return whether an input of the main graph has a default, which then is no constant."""
    graph = model.main_graph
    has_default = not graph.initializer_index.keys().isdisjoint(graph.input_names)
    return has_default and model.effective_ir_version >= REPLACEABLE_SINCE


_BY_ONNXRUNTIME: Final[Mapping[str, _IsUnseen]] = {
    "FUN-14a": _is_never_called,
    "NOD-7g": _may_be_dropped,
    "NOD-8f": _has_replaceable_defaults,
    "VER-3b": lambda _, model: len(model.proto.opset_import) > 0,  # it reads imports before IR version 3
}

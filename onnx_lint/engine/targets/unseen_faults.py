# SPDX-License-Identifier: Apache-2.0
"""The findings for which the rows `refused_by` and `accepted_by` of their clause say nothing about a program.

The program may not see the fault, or it reads the part in another way than the clause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.engine.targets.parts_in_question import nodes_of
from onnx_lint.engine.targets.unjudged_kernels import has_unknown_channels
from onnx_lint.ir.graph import Definition, GraphKind
from onnx_lint.ir.operators.function_calls import OVERLOADS_SINCE
from onnx_lint.ir.operators.operators import OPSET_IMPORTS_SINCE
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.tensors.stored_tensor import StoredTensor
from onnx_lint.model import Model, Node
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.element_types import DataType
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.releases import is_onnx_domain, normalized_domain
from onnx_lint.spec.target import FULL_CHECK


class UnseenFaults:
    """The faults of a model that programs may not see. Facts about the model are looked up once for all findings."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._are_inferred: dict[Node, bool] = {}
        """Whether onnx infers the shape of the first output of a node, for those that were asked about."""

    def is_unseen(self, item: Diagnostic, program: str, release: ProductRelease | None) -> bool:
        """Return whether the rows of its clause say nothing of a finding for a program.

        `release`: the release of the program; None for the checks of onnx.
        """
        if _is_named_as_experimental(item):
            return True
        if release is not None:
            judge = _BY_ONNXRUNTIME.get(item.clause)
            return release.has_kernels and judge is not None and judge(self, item)
        if program == FULL_CHECK and item.clause in _BY_INFERENCE and self._is_not_inferred(item):
            return True
        version = self.model.effective_ir_version
        if item.clause in _OF_IDENTITY and version < OVERLOADS_SINCE:
            return self._has_overloads
        return item.cited.case in ("body", "nested") and version < _FUNCTIONS_SINCE

    @cached_property
    def _has_overloads(self) -> bool:
        has_calls = any(form.overload for graph in self.model.graphs for form in graph.form_counts)
        return has_calls or any(each.proto.overload for each in self.model.functions)

    # --- full_check

    def _is_not_inferred(self, item: Diagnostic) -> bool:
        """Return whether the inference of shapes of onnx may not come to a fault, or not know what onnx-lint knows."""
        if self.model.effective_ir_version < OPSET_IMPORTS_SINCE or self._has_foreign_nodes:
            return True
        judge = _BY_INFERENCE[item.clause]
        return judge is not None and judge(self, item)

    @cached_property
    def _has_foreign_nodes(self) -> bool:
        """True if a node has an operator that onnx does not know. It ends the inference of the graph quietly."""
        operators = [alike.operator for alike in self.model.operators.alike_nodes]
        return any(
            each.function is None and (each.schema is None or not is_onnx_domain(each.domain)) for each in operators
        )

    def has_unknown_shape(self, item: Diagnostic) -> bool:
        """Return whether onnx may not infer the shape of the value that a finding is about."""
        name = item.subject or ""
        graphs = [graph for graph in self.model.graphs if name in graph.value_info_names]
        return not graphs or not all(self._is_inferred(graph.definition_of(name)) for graph in graphs)

    def _is_inferred(self, found: Definition | None) -> bool:
        """Return whether onnx infers the shape of a value, since that of each value before it needs no contents."""
        if found is not None and found.node is not None and found.node not in self._are_inferred:
            self._infer(found.node)
        return self._is_known_inferred(found)

    def _infer(self, node: Node) -> None:
        """Find `_are_inferred` for a node, and for those before it. A cycle is not inferred."""
        known = self._are_inferred
        pending, begun = [node], set[Node]()
        while pending:
            current = pending[-1]
            sources = [current.graph.definition_of(name) for name in current.inputs if name]
            if current not in begun and current not in known and self._infers(current):
                begun.add(current)
                before = [each.node for each in sources if each is not None and each.node is not None]
                pending += [each for each in before if each not in known and each not in begun]
                continue
            pending.pop()
            if current not in known:
                known[current] = current in begun and all(map(self._is_known_inferred, sources))

    def _is_known_inferred(self, found: Definition | None) -> bool:
        """Return `_is_inferred` of a value whose node has been looked at."""
        if found is None or found.node is None:
            return found is not None and self._has_sizes(found)
        return not found.index and self._are_inferred.get(found.node, False)

    def _has_sizes(self, found: Definition) -> bool:
        """Return whether an input of the main graph, or an initializer, has a shape of numbers."""
        if found.field == "initializer":
            return True
        if found.field != "input" or found.graph.kind is not GraphKind.MAIN:
            return False
        shape = self.model.shape_of(found.graph.input_names[found.index], found.graph)
        return shape is not None and all(isinstance(size, int) for size in shape)

    def _infers(self, node: Node) -> bool:
        """Return whether onnx infers the first output of a node from the shapes of the inputs."""
        if normalized_domain(node.domain) or node.op_type not in INFERRED:
            return False
        return (self.model.imports.versions(node.graph.function).get("") or 0) >= INFERRED_SINCE

    def is_unread(self, item: Diagnostic) -> bool:
        """Return whether an initializer has a type that onnx looks at for a node only, and no node reads it."""
        (tensor,) = [self._miscounted[each] for each in item.at.ancestors() if each in self._miscounted]
        if tensor.proto.data_type == DataType.UNDEFINED or tensor.place.field != "initializer":
            return False
        return item.subject not in self._read_names

    @cached_property
    def _miscounted(self) -> Mapping[Place, StoredTensor]:
        return {each.place: each for each in self.model.tensors.miscounted}

    @cached_property
    def _read_names(self) -> frozenset[str]:
        """The names that nodes of any graph read."""
        return frozenset(name for graph in self.model.graphs for names in graph.node_inputs for name in names)

    # --- ONNX Runtime

    def is_never_called(self, item: Diagnostic) -> bool:
        """Return whether a finding is in a function that nothing calls, which ONNX Runtime does not judge."""
        around = {*item.at.ancestors()}
        functions, called = self.model.functions, self.model.calls.called
        return any(each.place in around and each.index not in called for each in functions)

    def may_be_dropped(self, item: Diagnostic) -> bool:
        """Return whether ONNX Runtime may drop the node of a finding with a branch before it creates kernels."""
        node = self._node_around(item)
        return node is None or not self.model.kept_nodes.is_in_no_dropped_branch(node)

    def _node_around(self, item: Diagnostic) -> Node | None:
        """Return the innermost node around the place of a finding."""
        place = item.at.node_around()
        if place is None or place.index is None:
            return None
        graphs = [graph for graph in self.model.graphs if graph.at("node", place.index) == place]
        return graphs[0].nodes[place.index] if graphs else None

    def is_about_needed_shape(self, item: Diagnostic, release: ProductRelease | None) -> bool:
        """Return whether a finding may be about the lack of a shape that a release needs to load this model.

        ONNX Runtime makes the function of a CausalConvWithState only if it knows the rank of the data.
        """
        if release is None or not release.has_kernels or item.clause != _OF_SHAPES:
            return False
        return self._needs_shapes

    @cached_property
    def _needs_shapes(self) -> bool:
        """True if a node has no shape that ONNX Runtime needs."""
        return any(has_unknown_channels(self.model, node) for node in nodes_of(self.model, "CausalConvWithState"))

    @cached_property
    def has_replaceable_defaults(self) -> bool:
        """True if an input of the main graph has a default, which then is no constant."""
        graph = self.model.main_graph
        has_default = not graph.initializer_index.keys().isdisjoint(graph.input_names)
        return has_default and self.model.effective_ir_version >= FREE_INITIALIZERS_SINCE


_OF_SHAPES: Final = "VI-3"
"""The clause about the shapes that the main graph states."""
_OF_IDENTITY: Final = ("FUN-3", "FUN-4")
"""The clauses about functions of one identity, and about functions that call themselves. Both checks of onnx read
overloads before IR version 10."""
_FUNCTIONS_SINCE: Final = 8
"""The first IR version with functions. Both checks of onnx skip them before."""


def _is_named_as_experimental(item: Diagnostic) -> bool:
    """Return whether a function has the name of a removed experimental operator, which programs let pass or define."""
    domain, _, name = (item.subject or "").rpartition("::")
    return item.clause == "FUN-24a" and not normalized_domain(domain) and name in REMOVED_EXPERIMENTAL


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


_IsUnseen = Callable[[UnseenFaults, Diagnostic], bool]

_BY_INFERENCE: Final[Mapping[str, _IsUnseen | None]] = {
    "OPT-4": None,
    "SUB-7": None,
    "SUB-7a": None,
    "TEN-1": UnseenFaults.is_unread,
    "VI-6a": UnseenFaults.has_unknown_shape,
}
"""The clauses whose violations full_check finds while it infers shapes, with what else hides one."""

_BY_ONNXRUNTIME: Final[Mapping[str, _IsUnseen]] = {
    "FUN-14a": UnseenFaults.is_never_called,
    "NOD-7g": UnseenFaults.may_be_dropped,
    "NOD-8f": lambda unseen, _: unseen.has_replaceable_defaults,
    "VER-3b": lambda unseen, _: len(unseen.model.proto.opset_import) > 0,  # it reads imports before IR version 3
}

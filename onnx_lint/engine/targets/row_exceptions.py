# SPDX-License-Identifier: Apache-2.0
"""The exceptions to the rows `refused_by` and `accepted_by` of clauses.

A program may not see the fault of a finding, or it reads that part of the model in another way than the clause. Then
the rows do not say what the program does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.engine.targets.inferred_shapes import InferredShapes
from onnx_lint.engine.targets.model_parts import nodes_of
from onnx_lint.engine.targets.unjudged_kernels import has_unknown_channels
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

_SHAPE_CLAUSE: Final = "VI-3"
"""The clause about the shapes that the main graph states."""
_IDENTITY_CLAUSES: Final = ("FUN-3", "FUN-4")
"""The clauses about functions of one identity, and about functions that call themselves. Both checks of onnx read
overloads before IR version 10."""
_FUNCTIONS_SINCE: Final = 8
"""The first IR version with functions. Both checks of onnx skip them before."""
_FOUND_BY_INFERENCE: Final = frozenset({"OPT-4", "SUB-7", "SUB-7a", "TEN-1", "VI-6a"})
"""The clauses whose violations full_check finds while it infers shapes."""


class RowExceptions:
    """The exceptions for the findings in one model. Facts about the model are looked up once for all findings."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._inferred_shapes = InferredShapes(model)

    def is_exempt(self, item: Diagnostic, program: str, release: ProductRelease | None) -> bool:
        """Return whether the rows of its clause do not say what a program does with a finding.

        `release`: the release of the program; None for the checks of onnx.
        """
        if _is_named_as_experimental(item):
            return True
        if release is None:
            return self._is_exempt_for_onnx(item, program)
        return release.has_kernels and self._is_exempt_for_onnxruntime(item)

    # --- the checks of onnx

    def _is_exempt_for_onnx(self, item: Diagnostic, program: str) -> bool:
        if program == FULL_CHECK and self._may_be_missed_by_inference(item):
            return True
        version = self.model.effective_ir_version
        if item.clause in _IDENTITY_CLAUSES and version < OVERLOADS_SINCE:
            return self._has_overloads
        return item.cited.case in ("body", "nested") and version < _FUNCTIONS_SINCE

    @cached_property
    def _has_overloads(self) -> bool:
        has_calls = any(form.overload for graph in self.model.graphs for form in graph.form_counts)
        return has_calls or any(each.proto.overload for each in self.model.functions)

    def _may_be_missed_by_inference(self, item: Diagnostic) -> bool:
        """Return whether the shape inference of onnx may end before a fault, or not know what onnx-lint knows."""
        if item.clause not in _FOUND_BY_INFERENCE:
            return False
        if self.model.effective_ir_version < OPSET_IMPORTS_SINCE or self._has_foreign_nodes:
            return True
        if item.clause == "TEN-1":
            return self._is_unread(item)
        return item.clause == "VI-6a" and not self._inferred_shapes.are_inferred(item.subject or "")

    @cached_property
    def _has_foreign_nodes(self) -> bool:
        """True if a node has an operator that onnx does not know. It ends the inference of the graph quietly."""
        operators = [alike.operator for alike in self.model.operators.alike_nodes]
        return any(
            each.function is None and (each.schema is None or not is_onnx_domain(each.domain)) for each in operators
        )

    def _is_unread(self, item: Diagnostic) -> bool:
        """Return whether a finding is about the type of an initializer that onnx does not look at: no node reads it."""
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

    def _is_exempt_for_onnxruntime(self, item: Diagnostic) -> bool:
        match item.clause:
            case "FUN-14a":
                return self._is_never_called(item)
            case "NOD-7g":
                return self._may_be_dropped(item)
            case "NOD-8f":
                return self._has_replaceable_defaults
            case "VER-3b":  # ONNX Runtime reads imports also before IR version 3
                return len(self.model.proto.opset_import) > 0
        return False

    def _is_never_called(self, item: Diagnostic) -> bool:
        """Return whether a finding is in a function that nothing calls, which ONNX Runtime does not judge."""
        around = {*item.at.ancestors()}
        functions, called = self.model.functions, self.model.calls.called
        return any(each.place in around and each.index not in called for each in functions)

    def _may_be_dropped(self, item: Diagnostic) -> bool:
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
        if release is None or not release.has_kernels or item.clause != _SHAPE_CLAUSE:
            return False
        return self._needs_shapes

    @cached_property
    def _needs_shapes(self) -> bool:
        """True if a node has no shape that ONNX Runtime needs."""
        return any(has_unknown_channels(self.model, node) for node in nodes_of(self.model, "CausalConvWithState"))

    @cached_property
    def _has_replaceable_defaults(self) -> bool:
        """True if an input of the main graph has a default, which then is no constant."""
        graph = self.model.main_graph
        has_default = not graph.initializer_index.keys().isdisjoint(graph.input_names)
        return has_default and self.model.effective_ir_version >= FREE_INITIALIZERS_SINCE


def _is_named_as_experimental(item: Diagnostic) -> bool:
    """Return whether a function has the name of a removed experimental operator, which programs let pass or define."""
    domain, _, name = (item.subject or "").rpartition("::")
    return item.clause == "FUN-24a" and not normalized_domain(domain) and name in REMOVED_EXPERIMENTAL

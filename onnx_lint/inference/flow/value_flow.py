# SPDX-License-Identifier: Apache-2.0
"""The result of the inference: types and shapes, and contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.flow.kept_walks import KeptWalks, TrialState
from onnx_lint.inference.flow.knowledge import Knowledge, Origins
from onnx_lint.inference.flow.reachability import Reachability
from onnx_lint.inference.flow.walks import OmittedInput, WalkResult, Walks
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.inference.types.type_string import ValueType
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.operators.operators import Operators

if TYPE_CHECKING:
    from onnx_lint.inference.flow.conflict import Conflict, DeclaredValue
    from onnx_lint.inference.flow.shape_conflict import (
        DeclaredCountConflict,
        DeclaredShapeConflict,
        ShapeConflict,
    )
    from onnx_lint.inference.flow.subgraph_shape_conflict import SubgraphShapeProblem
    from onnx_lint.inference.flow.type_conflict import (
        DeclarationConflict,
        ImpossibleDeclaration,
        OperandConflict,
        SubgraphConflict,
    )
    from onnx_lint.ir.crashes import Crashes


class ValueFlow:
    """The facts of the values of the main graph, and the conflicts of all graphs.

    A function body is walked for each tuple of arguments. Each conflict in it is kept once.
    """

    def __init__(self, operators: Operators, crashes: Crashes, *, keeps_all: bool = False) -> None:
        self._operators = operators
        self.crashes = crashes
        """The crashes so far, which are the causes of some unknown values."""
        self.reachability = Reachability()
        self.trials = TrialState()
        self.kept = KeptWalks(self.reachability, self.trials, keeps_all=keeps_all)
        self.facts: dict[str, Fact] = {}
        """Facts about the values of the main graph. Values without an entry are unknown."""
        # --- the conflicts, which ConflictRecorder adds
        self.operands: list[OperandConflict] = []
        self.declarations: list[DeclarationConflict | ImpossibleDeclaration] = []
        self.subgraphs: list[SubgraphConflict] = []
        self.shapes: list[ShapeConflict] = []
        self.declared_shapes: list[DeclaredShapeConflict | DeclaredCountConflict] = []
        self.subgraph_shapes: list[SubgraphShapeProblem] = []
        self.of_some_calls: set[tuple[int, int]] = set()
        """The declarations that only some calls contradict: identity of the function body, and index in value_info."""
        self.idle_words: dict[int, str] = {}
        """The end of a message on a conflict in what does not run, by the identity of the conflict."""
        self.omitted_inputs: list[OmittedInput] = []
        """The inputs that calls leave out and the bodies need."""
        # --- caches of `equations`, None until a rule asks for them
        self.equations: Any = None
        """The equations between dimensions."""
        self.contradictions: Any = None
        """The equations that cannot be satisfied."""
        self.required_sizes: Any = None
        """The variables for which nodes leave only one size."""

    @property
    def walks(self) -> Walks:
        """The walks over the graphs and function bodies."""
        return self.kept.walks

    @property
    def running(self) -> list[WalkResult]:
        """The walks that run their graph and may give dimensions sizes: the first one over each, then later ones."""
        return self.kept.running

    @property
    def nodes_walked_again(self) -> int:
        """The number of nodes in walks after the first one over their graph, and in trials."""
        return self.kept.nodes_walked_again

    @cached_property
    def types(self) -> Mapping[str, ValueType | None]:
        """The types of the values of the main graph; None, or no entry, if unknown."""
        return {name: each.kind for name, each in self.facts.items()}

    def shape_of(self, name: str, graph: Graph | None = None) -> Shape:
        """Return the shape of a value that a graph sees, by default the main graph; None if unknown.

        In a function body it is the shape in the first call.
        """
        return self.fact_of(name, graph).shape

    def fact_of(self, name: str, graph: Graph | None = None) -> Fact:
        """Return the fact of a value that a graph sees, as in `shape_of`."""
        known: Mapping[str, Fact] = self.facts
        while graph is not None:
            walked = self.walks.of(graph, None)
            known = walked.facts if walked is not None else {}
            graph = graph.parent if name not in known else None
        return known.get(name, UNKNOWN)

    def facts_seen(self, graph: Graph) -> Callable[[str], Fact | None]:
        """Return a function that looks up the facts of the values that a graph sees by name. It may return None."""
        walked = self.walks.of(graph, None)
        if graph.parent is None and walked is not None:
            return walked.facts.get
        return lambda name: self.fact_of(name, graph)

    def never_runs(self, graph: Graph) -> bool:
        """Return whether a graph is in a branch or body that never runs, because constants decide so."""
        return self.reachability.never_runs(graph)

    def words_on_idle(self, conflict: object) -> str:
        """Return the end of a message on a conflict: that a branch or body does not run; empty if it may."""
        return self.idle_words.get(id(conflict), "")

    def is_in_idle(self, conflict: object, graph: Graph) -> bool:
        """Return whether a conflict in a graph is in what never runs, or only in calls that do not run it."""
        return id(conflict) in self.idle_words or self.never_runs(graph)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield all type conflicts."""
        yield from self.operands
        yield from self.declarations
        yield from self.subgraphs

    def clause_of(self, conflict: DeclaredValue, *, of_graph: str, of_function: str, of_call: str) -> str:
        """Return the clause that a declaration in value_info breaks.

        `of_graph`: the clause on declarations in graphs. `of_function`: the one on declarations in a function that
        every call contradicts. `of_call`: the one on those that only some calls contradict.
        """
        if not conflict.graph.is_function:
            return of_graph
        return of_call if (id(conflict.graph), conflict.index) in self.of_some_calls else of_function

    @property
    def has_shape_conflicts(self) -> bool:
        """True if any shape contradicts an operator or a declaration."""
        return bool(self.shapes or self.declared_shapes or self.subgraph_shapes)

    @cached_property
    def declares_variables(self) -> bool:
        """True if a declared dimension of a graph or function is a variable."""
        return any(
            isinstance(dim, str)
            for walked in self.walks.first
            for columns in walked.graph.value_infos.values()
            for each in set(facts_of_types(columns.types))
            for dim in each.shape or ()
        )

    @cached_property
    def knowledge(self) -> Knowledge:
        """The numbers of values with known shapes in all graphs and function bodies, and the causes of unknown ones."""
        unknown = [walked for walked in self.walks.first if walked.unknown]
        if not unknown:
            return Knowledge(sum([len(walked.graph.positions) for walked in self.walks.first]), 0, ())
        return Origins(self.walks, self._operators, self.crashes).knowledge()

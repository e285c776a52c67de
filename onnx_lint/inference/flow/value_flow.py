# SPDX-License-Identifier: Apache-2.0
"""The result of the inference: types and shapes, and contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import replace
from onnx_lint.inference.flow.joining import joined
from onnx_lint.inference.flow.knowledge import Knowledge, Origins, unknown_shapes
from onnx_lint.inference.flow.walks import MAX_FURTHER, Call, FurtherCalls, OmittedInput, WalkResult, Walks
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts
from onnx_lint.inference.shapes.problem import ShapeProblem, Warned, is_warning
from onnx_lint.inference.shapes.stated import fact_of_type, facts_of_types
from onnx_lint.inference.types.type_string import ValueType
from onnx_lint.ir.graph import Graph, GraphKind, Node
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.spec.operators import OperatorSchema

if TYPE_CHECKING:
    from onnx_lint.inference.flow.conflict import Conflict, DeclaredValue
    from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
    from onnx_lint.inference.flow.shape_conflict import (
        DeclaredCountConflict,
        DeclaredShapeConflict,
        ShapeConflict,
        SubgraphShapeProblem,
    )
    from onnx_lint.inference.flow.type_conflict import (
        DeclarationConflict,
        ImpossibleDeclaration,
        OperandConflict,
        SubgraphConflict,
    )
    from onnx_lint.inference.shapes.problem import PlainProblem
    from onnx_lint.inference.types.problem import TypeProblem
    from onnx_lint.inference.types.subgraph_types import Mismatch
    from onnx_lint.ir.columns.nodes import NodeForm
    from onnx_lint.ir.crashes import Crashes


GraphInCall = tuple[int, int]
"""A nested graph in a call of the function that has it: the identities of both."""

DeclarationEntry = tuple[str, int]
"""A declaration of a value: the list of the graph that has it, and the index in it."""


class ValueFlow:
    """The facts of the values of the main graph, and the conflicts of all graphs.

    A function body is walked for each tuple of arguments. Each conflict in it is kept once.
    """

    def __init__(self, operators: Operators, crashes: Crashes, *, keeps_all: bool = False) -> None:
        self.crashes = crashes
        """The crashes so far, which are the causes of some unknown values."""
        self.walks = Walks()
        """The walks over the graphs and function bodies."""
        self.keeps_all = keeps_all
        """True to keep every walk over a function body, not only the first."""
        self.facts: dict[str, Fact] = {}
        """Facts about the values of the main graph. Values without an entry are unknown."""
        self.operands: list[OperandConflict] = []
        self.declarations: list[DeclarationConflict | ImpossibleDeclaration] = []
        self.subgraphs: list[SubgraphConflict] = []
        self.shapes: list[ShapeConflict] = []
        self.declared_shapes: list[DeclaredShapeConflict | DeclaredCountConflict] = []
        self.of_some_calls: set[tuple[int, int]] = set()
        """The declarations that only some calls contradict: identity of the function body, and index in value_info."""
        self.subgraph_shapes: list[SubgraphShapeProblem] = []
        self._operators = operators
        self._schemas = operators.schemas
        self._noted: set[tuple[object, ...]] = set()
        self._further: dict[tuple[object, ...], FurtherCalls] = {}
        """The calls that have a noted problem as well, by the keys of these."""
        self.noted = 0
        """How often a problem of operands was noted, also again for another call."""
        # --- whether graphs run: idle graphs never do, sure ones whenever the graph around them does
        self.idle: list[str] = []
        """What never runs around the current walk, as constants decide: "branch" of an If, or "body" of a Loop."""
        self.idle_graphs: set[int] = set()
        """The identities of the graphs in what never runs."""
        self.sure_graphs: dict[GraphInCall, Call | None] = {}
        """The nested graphs that are sure to run in some walk; the calls must live as long as their identities."""
        self.doubtful_graphs: dict[GraphInCall, Call | None] = {}
        """The nested graphs that are not sure to run in some walk; in another one they may be."""
        self._idle_in_functions: dict[tuple[object, ...], tuple[Any, list[Any], str]] = {}
        """Conflicts in what a call of a function does not run, by their place, with their lists if no call meets them,
        and what does not run.
        """
        self._idle_conflicts: dict[int, str] = {}
        """The words that a message on a conflict in what does not run ends with, by the identity of the conflict."""
        self._idle_at_first: set[int] = set()
        """The identities of the graphs that their first walk does not run."""
        self._further_walks: list[WalkResult] = []
        """The later walks that run their graph and may give dimensions sizes, if not all walks are kept."""
        self.equal_calls: dict[int, list[Call]] = {}
        """A call whose body may give dimensions sizes, and those with the same arguments, by its identity."""
        self.sizing_walks = 0
        """The number of walks in calls that may give dimensions sizes; those with a known result count as well."""
        self.unsure = 0
        """The number of subgraphs around the current walk, within the function body, that are not sure to run."""
        self.omitted_inputs: list[OmittedInput] = []
        """The inputs that calls leave out and the bodies need."""
        self.is_trial = False
        """True during a trial: a walk that only tries a run of a Loop's body, and whose results are dropped."""
        self.equations: Any = None
        """The equations between dimensions, which only `equations` uses; None until a rule asks for them."""
        self.contradictions: Any = None
        """The equations that cannot be satisfied, for `equations` as well."""
        self.required_sizes: Any = None
        """The variables for which nodes leave only one size, for `equations` as well."""
        self.failing_bodies: set[int] = set()
        """The identities of the graphs that have a faulty node in a trial."""
        self._tried_nodes = 0
        """The number of nodes that trials have walked so far."""
        self._repeated_nodes = 0
        """The number of nodes in walks over a graph that was walked before."""

    @property
    def may_try(self) -> bool:
        """True until trials have walked `_MAX_TRIED` nodes.

        Trials contain trials, so their time could double at each depth of nested loops.
        """
        return self._tried_nodes < _MAX_TRIED

    @property
    def nodes_walked_again(self) -> int:
        """The number of nodes in walks after the first one over their graph."""
        return self._tried_nodes + self._repeated_nodes

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

    @property
    def running(self) -> list[WalkResult]:
        """The walks that run their graph and may give dimensions sizes: the first one over each, then later ones."""
        first = [walked for walked in self.walks.first if id(walked.graph) not in self._idle_at_first]
        return [*first, *self._further_walks]

    def never_runs(self, graph: Graph) -> bool:
        """Return whether a graph is in a branch or body that never runs, because constants decide so."""
        return id(graph) in self.idle_graphs

    def words_on_idle(self, conflict: object) -> str:
        """Return the end of a message on a conflict: that a branch or body does not run; empty if it may."""
        return self._idle_conflicts.get(id(conflict), "")

    def is_in_idle(self, conflict: object, graph: Graph) -> bool:
        """Return whether a conflict in a graph is in what never runs, or only in calls that do not run it."""
        return id(conflict) in self._idle_conflicts or self.never_runs(graph)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield all type conflicts."""
        yield from self.operands
        yield from self.declarations
        yield from self.subgraphs

    def clause_of(self, conflict: DeclaredValue, of_function: str, of_call: str, of_graph: str) -> str:
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

    def note_graph(
        self,
        graph: Graph,
        known: Mapping[str, Fact],
        memos: Mapping[NodeForm, OutcomeMemo],
        call: Call | None,
        *,
        has_unknown: bool,
        unequal: Sequence[int] = (),
    ) -> None:
        """Keep the first walk over a graph, and with `keeps_all` also later ones. Count the nodes of a trial.

        `has_unknown`: whether there may be values of unknown shape. `unequal`: see `WalkResult`.
        """
        if self.is_trial:
            self._tried_nodes += len(graph.forms)
            return
        self._note_whether_it_runs(graph)
        may_give_sizes = call is not None and not self.idle and (bool(unequal) or _have_variables(call.arguments))
        self.sizing_walks += may_give_sizes
        if self.keeps_all or graph not in self.walks:
            kind = graph.kind
            # The values of these are removed from `known` when the walk leaves them; for others `known` can be kept.
            is_inner = kind is GraphKind.NESTED or kind is GraphKind.INITIALIZATION or kind is GraphKind.ALGORITHM
            own = {name: known[name] for name in graph.positions if name in known} if is_inner else known
            unknown = unknown_shapes(graph, known) if has_unknown else _NONE_UNKNOWN
            self.walks.add(WalkResult(graph, own, unknown, memos, unequal, call))
        else:
            self._repeated_nodes += len(graph.forms)
            if may_give_sizes:
                self._keep_further(graph, known, memos, call, unequal)

    def _keep_further(
        self,
        graph: Graph,
        known: Mapping[str, Fact],
        memos: Mapping[NodeForm, OutcomeMemo],
        call: Call | None,
        unequal: Sequence[int],
    ) -> None:
        """Keep what `equations` needs of a later walk over a graph."""
        if len(self._further_walks) >= _MAX_FURTHER_WALKS:
            return
        of_unequal = {graph.forms[index]: memos[graph.forms[index]] for index in unequal}
        if not graph.is_function:  # the values of a nested graph, and outer ones, are removed from `known` later
            names = {name for inputs in graph.node_inputs for name in inputs}
            known = {name: known[name] for name in names if name in known}
        self._further_walks.append(WalkResult(graph, known, (), of_unequal, unequal, call))

    def note_equal_call(self, first: Call, call: Call) -> None:
        """Record a call with the arguments of another one, whose body may give dimensions sizes."""
        self.sizing_walks += 1
        calls = self.equal_calls.setdefault(id(first), [first])
        if len(calls) <= MAX_FURTHER:
            calls.append(call)

    def note_operand(
        self, node: Node, schema: OperatorSchema, problem: TypeProblem, inputs: Facts, call: Call | None
    ) -> None:
        """Record a type problem of a node's operands."""
        from onnx_lint.inference.flow.type_conflict import OperandConflict

        further = self._first_or_further(call, node.graph, node.index, problem)
        if further is not None:
            kinds = tuple([each.kind for each in inputs])
            conflict = OperandConflict(node, schema, self._schemas, problem, kinds, call, further)
            self.operands.append(conflict)

    def note_impossible(
        self, graph: Graph, field: str, index: int, declared: ValueType, schema: OperatorSchema, call: Call | None
    ) -> None:
        """Record a declaration in a list of the graph with a type that the operator of the node can never produce."""
        from onnx_lint.inference.flow.type_conflict import ImpossibleDeclaration

        if self._is_new(graph, field, index):
            conflict = ImpossibleDeclaration(graph, field, index, declared, schema, self._schemas, call)
            self.declarations.append(conflict)

    def note_subgraph(self, node: Node, graph: Graph, mismatch: Mismatch, call: Call | None) -> None:
        """Record an input or output of a subgraph whose type is not the one that the node requires."""
        from onnx_lint.inference.flow.type_conflict import SubgraphConflict

        if self._is_new(graph, mismatch.role, mismatch.index):
            self.subgraphs.append(SubgraphConflict(node, graph, mismatch, call))

    def note_shapes(
        self, node: Node, schema: OperatorSchema, problem: ShapeProblem, inputs: Facts, call: Call | None
    ) -> None:
        """Record a problem of the shapes of a node's operands, or of values that decide shapes."""
        from onnx_lint.inference.flow.shape_conflict import ShapeConflict

        if self.is_trial and not self.idle and not is_warning(problem):
            self.failing_bodies.add(id(node.graph))
        plain = problem.problem if isinstance(problem, Warned) else problem
        conflict = ShapeConflict(node, inputs, plain, schema, call)
        warning = problem.words if isinstance(problem, Warned) and not _fails_at_load(problem, conflict) else None
        is_idle = bool(self.idle)
        # A branch that never runs says more about the problem than the warning of its operator.
        conflict = replace(conflict, warning=_never_runs(self.idle[-1]) if is_idle else warning)
        if conflict.is_tolerated:
            return
        key = (node.index, *_key_of_problem(plain, is_in_call=call is not None))
        if is_idle and node.graph.function is not None and not self.is_trial:
            self._keep(conflict, self.shapes, node.graph, *key)
        else:
            further = self._first_or_further(call, node.graph, *key)
            if further is not None:
                self.shapes.append(replace(conflict, further=further))

    def note_idle_in_functions(self) -> None:
        """Record the conflicts in what no call of a function runs."""
        for key, (conflict, found, kind) in self._idle_in_functions.items():
            if key not in self._noted:
                words = _never_runs(kind) if key[0] in self.idle_graphs else f"; the {kind} does not run in this call"
                kept = replace(conflict, warning=words) if found is self.shapes else conflict
                self._idle_conflicts[id(kept)] = words
                found.append(kept)

    def note_declared(
        self, graph: Graph, entry: DeclarationEntry, declared: Fact, inferred: Fact, call: Call | None, branch: str = ""
    ) -> None:
        """Record a declaration in a list of the graph whose type or shape contradicts the inferred one.

        `branch`: the branch of an If that has the inferred shape.
        """
        if have_different_types(declared, inferred):
            from onnx_lint.inference.flow.type_conflict import DeclarationConflict

            kinds = declared.kind or "", inferred.kind or ""
            if self._is_new(graph, *entry):
                self.declarations.append(DeclarationConflict(graph, *entry, *kinds, call))
        else:
            from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict

            conflict = DeclaredShapeConflict(graph, *entry, declared, inferred, call, branch)
            self._keep(conflict, self.declared_shapes, graph, *entry)

    def note_declared_count(
        self, graph: Graph, field: str, index: int, declared: Fact, data: Fact, call: Call | None
    ) -> None:
        """Record a declaration of a Reshape's output with another number of elements than the input has."""
        from onnx_lint.inference.flow.shape_conflict import DeclaredCountConflict

        conflict = DeclaredCountConflict(graph, field, index, declared, data, call)
        self._keep(conflict, self.declared_shapes, graph, field, index)

    def note_supplied_shapes(self, node: Node, graph: Graph, supplied: tuple[Fact, ...], call: Call | None) -> None:
        """Record the inputs of a subgraph that are declared with another shape than its operator supplies."""
        for index, (value, argument) in enumerate(zip(graph.proto.input, supplied, strict=False)):
            if argument.shape is None and argument.inside is None:
                continue
            declared = fact_of_type(value.type)
            if joined(argument, declared)[1] == "shape":
                from onnx_lint.inference.flow.shape_conflict import SuppliedShapeConflict

                conflict = SuppliedShapeConflict(node, graph, index, (argument, declared), call)
                self._keep(conflict, self.subgraph_shapes, graph, "supplied shape", index)

    def note_branches(
        self, node: Node, graphs: Mapping[str, Graph], found: Mapping[str, Facts], index: int, call: Call | None
    ) -> None:
        """Record an If output whose branches produce different shapes."""
        from onnx_lint.inference.flow.shape_conflict import BranchShapeConflict

        one, other = graphs["then_branch"], graphs["else_branch"]
        shapes = found["then_branch"][index], found["else_branch"][index]
        conflict = BranchShapeConflict(node, other, index, shapes, call, one)
        self._keep(conflict, self.subgraph_shapes, other, "branches", index)

    def note_state(self, node: Node, graph: Graph, index: int, shapes: tuple[Fact, Fact], call: Call | None) -> None:
        """Record a state of a Scan that its body returns with another shape."""
        from onnx_lint.inference.flow.shape_conflict import StateShapeConflict

        supplied = id(graph), "supplied shape", index
        if supplied not in self._noted and supplied not in self._idle_in_functions:
            conflict = StateShapeConflict(node, graph, index, shapes, call)
            self._keep(conflict, self.subgraph_shapes, graph, "state", index)

    def note_piece(
        self, node: Node, graph: Graph, index: int, run: int, shapes: tuple[Fact, Fact], call: Call | None
    ) -> None:
        """Record a scan output of a Loop or Scan for which a run of the body returns another shape than the first."""
        from onnx_lint.inference.flow.shape_conflict import PieceShapeConflict

        conflict = PieceShapeConflict(node, graph, index, shapes, call, run)
        self._keep(conflict, self.subgraph_shapes, graph, "piece", index)

    def _first_or_further(self, call: Call | None, graph: Graph, *what: object) -> FurtherCalls | None:
        """Return where to add further calls with a problem if it is a new one; if not, add this call there."""
        self.noted += not self.is_trial
        key = (id(graph), *what)
        if self._is_new(graph, *what):
            return self._further.setdefault(key, FurtherCalls())
        further = self._further.get(key)
        if call is not None and further is not None and not self.is_trial and len(further.calls) < MAX_FURTHER:
            further.calls.append(call)
        return None

    def _note_whether_it_runs(self, graph: Graph) -> None:
        """Note whether a walk runs its graph; it may be idle in one call of a function, and run in another."""
        if not self.idle:
            self.idle_graphs.discard(id(graph))
        elif graph not in self.walks:
            self.idle_graphs.add(id(graph))
            self._idle_at_first.add(id(graph))

    def note_whether_sure(self, graph: Graph, call: Call | None, *, is_sure: bool) -> None:
        """Note whether a nested graph surely runs in a call, if the graph around it does."""
        (self.sure_graphs if is_sure else self.doubtful_graphs)[id(graph), id(call)] = call

    def _keep(self, conflict: Any, found: list[Any], graph: Graph, *what: object) -> None:
        """Add a conflict that no other walk found, and after all others one that only walks find that do not run it."""
        key = (id(graph), *what)
        if self.idle and graph.function is not None and not self.is_trial:
            self._idle_in_functions.setdefault(key, (conflict, found, self.idle[-1]))
        elif self._is_new(graph, *what):
            if self.idle:
                self._idle_conflicts[id(conflict)] = _never_runs(self.idle[-1])
            found.append(conflict)

    def _is_new(self, graph: Graph, *what: object) -> bool:
        key = (id(graph), *what)
        is_new = key not in self._noted
        if self.is_trial:
            return False
        self._noted.add(key)
        return is_new


def _never_runs(kind: str) -> str:
    """Return the end of a message on a conflict in a branch or body that never runs."""
    return f"; the {kind} never runs"


def _have_variables(facts: Facts) -> bool:
    """Return whether a dimension in some facts is a variable."""
    return any(isinstance(dim, str) for each in facts for dim in each.shape or ())


def have_different_types(one: Fact, other: Fact) -> bool:
    """Return whether the types in two facts are known and differ."""
    return bool(one.kind and other.kind and one.kind != other.kind)


def _fails_at_load(problem: Warned, conflict: ShapeConflict) -> bool:
    """Return whether a problem is an error after all, since the shapes of the operands are known without any run."""
    from onnx_lint.inference.flow.shape_conflict import has_shape_at_load

    if not problem.is_error_at_load or not conflict.operands:
        return False
    graph, names = conflict.node.graph, conflict.node.inputs
    return all(has_shape_at_load(graph, names[each], conflict.call) for each in conflict.operands)


def _key_of_problem(problem: PlainProblem, *, is_in_call: bool) -> tuple[object, ...]:
    """Return what identifies a problem at a node. In a function, it is the same problem with other numbers.

    The key has texts: Python does not salt the hashes of numbers, so a file could choose numbers with which most keys
    have one hash.
    """
    if not is_in_call:
        return (repr(problem),)
    about = [getattr(problem, name, None) for name in ("operand", "source", "output")]
    return type(problem), *about, str(getattr(problem, "place", ""))


_MAX_FURTHER_WALKS: Final = 5_000
"""The most later walks over graphs that are kept."""

_MAX_TRIED: Final = 20_000
"""The budget of all trials, in nodes."""

_NONE_UNKNOWN: Final[frozenset[str]] = frozenset()

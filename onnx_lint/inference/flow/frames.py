# SPDX-License-Identifier: Apache-2.0
"""The context of the nodes of a graph or function body: the attributes of the call, memos, and what is known."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence, Set
from typing import Final

from onnx_lint.common.cached import Memory, cached_property
from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.common.salted import salted_key
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo
from onnx_lint.inference.flow.walks import Call, CallNeeds
from onnx_lint.inference.shapes.attribute_values import READ_FLOAT_ELEMENTS, reads_floats
from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS, UNKNOWN, Fact, Facts
from onnx_lint.inference.shapes.stated import Outside
from onnx_lint.inference.types.argument import UNKNOWN as UNKNOWN_ARGUMENT
from onnx_lint.inference.types.argument import Protos, read_arguments
from onnx_lint.inference.types.typed_operator import TypedOperator, typed_operator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import Crashes, crash_of
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.control_flow import ControlFlow, attribute_name
from onnx_lint.ir.operators.imports import Imports
from onnx_lint.ir.operators.operators import Operator, Operators
from onnx_lint.spec.element_types import FLOATING_TYPES
from onnx_lint.spec.releases import newest_opset_version

OutcomeMemos = dict[NodeForm, OutcomeMemo]

Known = dict[str, Fact]
"""The facts of the values that the nodes of a graph see."""

Walk = Generator["Walk", Facts, Facts]
"""A walk over a graph, see inference/flow/traversal.py: it yields the walks that it needs, and returns the outputs."""


class FlowInput(Record):
    """The input of the inference: the graphs, and the operators."""

    main: Graph | None
    training: Sequence[Graph]
    functions: Sequence[Function]
    operators: Operators
    imports: Imports
    control_flow: ControlFlow
    outside: Outside
    """Reads the values of a small tensor with external data."""
    misfits: Mapping[int, Set[str]]
    """The initializers whose dimensions do not fit their values, by the identities of their graphs."""
    crashes: Crashes
    """Records bugs."""
    orders: Mapping[int, Sequence[int]] = EMPTY
    """The order in which to walk the nodes, by the identities of the graphs whose file has another one."""
    trusts_declarations: bool = True
    """False to use only what runtimes enforce: operators, constants, and the sizes of the main graph's inputs."""
    has_open_defaults: bool = True
    """True if callers may pass other values for initializers that are inputs: as of IR version 4."""
    trusts_defaults: bool = True
    """False to use of these initializers only what callers cannot change: the type and shape."""


_FEW_CONSTANTS: Final = 16
"""So many Constants of floating-point numbers, each with its own elements, are followed in any model."""

_MOST_FLOATS: Final = 64
"""The most elements of floating-point initializers that are read in models without NonZero."""

_FROM_FLOATS: Final = frozenset({"ArgMax", "ArgMin", "Cast", "CastLike", "TopK"})
"""The operators that make integers of the elements of floating-point tensors."""

_FREE: Final = frozenset({("f",), ("g",)})
_SINGLE: Final = _FREE | {("i",), ("s",)}
"""The fields of attributes of one number, string or graph."""

_MAX_MEMOS: Final = 2_000
"""The most memos to keep; a full cache is emptied, which costs only time."""


class NestedGraph(Record):
    """A graph in an attribute of a node, or of a call that passes it to the function around the node."""

    name: str
    """The attribute of the node; empty for one of a list of graphs."""
    graph: Graph
    frame: Frame
    """The context of the nodes of the graph."""
    known: Known
    """The facts of the values that the graph sees."""
    number: int = 0
    """Identifies a graph that a call passes; 0 for a graph of the node itself."""
    depth: int = 0
    """The number of functions around that call."""

    @property
    def is_passed_by_call(self) -> bool:
        """True if a call passes the graph to the function around the node."""
        return self.number != 0


class Frame(Record):
    """The context of the nodes of a function body, or of the graphs outside of functions."""

    memos: OutcomeMemos
    bound: Protos | None = None
    """The attributes of the call."""
    call: Call | None = None
    graphs: Mapping[str, NestedGraph] = EMPTY
    """The graphs that the call, or a default, gives to attribute parameters."""
    needs: CallNeeds | None = None
    """The inputs that the call omits and the body needs, found so far; None if the call omits none."""

    def subgraphs_of(self, node: Node, nested: Sequence[Graph], known: Known) -> list[NestedGraph]:
        """Return the graphs in the attributes of a node; `nested` are those that the node itself has."""
        found = [NestedGraph(attribute_name(node.attribute_protos, graph), graph, self, known) for graph in nested]
        if self.graphs:
            passed = [proto for proto in node.attribute_protos if proto.ref_attr_name in self.graphs]
            found += [replace(self.graphs[proto.ref_attr_name], name=proto.name) for proto in passed]
        return found


class WalkedNode(Record):
    """A node that runs graphs, with the facts of its inputs."""

    node: Node
    memo: OutcomeMemo
    inputs: Facts
    frame: Frame
    subgraphs: Sequence[NestedGraph]
    """The graphs in its attributes."""

    def subgraph(self, attribute: str) -> Graph:
        """Return the graph in an attribute."""
        return next(each.graph for each in self.subgraphs if each.name == attribute)


class GraphWalk:
    """The state of the walk over one graph."""

    def __init__(self, graph: Graph, frame: Frame, known: Known, declared: Mapping[str, Fact]) -> None:
        self.graph = graph
        self.frame = frame
        self.known = known
        self.declared = declared
        self.nested = dict(graph.nested_by_node) if graph.nested else {}
        if frame.graphs:
            for index, form in enumerate(graph.forms):
                if any(proto.ref_attr_name in frame.graphs for proto in form.attributes):
                    self.nested.setdefault(index, [])
        self.contradicted: dict[str, Fact] = {}
        """The facts of values whose declarations contradict them."""
        self.impossible: dict[str, OutcomeMemo] = {}
        """The values that are declared as what their operator never produces."""
        self.affected: set[str] = set()
        """The values whose shapes are lost to a fault."""
        self.unequal: list[int] = []
        """The nodes with equations between dimensions, see `WalkResult`."""
        self.has_unknown = False

    def results(self, differing: Set[str]) -> Facts:
        """Return the facts of the outputs of the graph; `differing` are the values that are declared with another type.

        These are reported, and unknown as outputs of a subgraph. With another shape a value is what the operator
        produces.
        """
        contradicted, known = self.contradicted, self.known
        return tuple(
            [
                UNKNOWN if name in differing else contradicted.get(name) or known.get(name, UNKNOWN)
                for name in self.graph.output_names
            ]
        )


class NodeStep(Record):
    """A node, the facts of its inputs, and what its operator makes of them."""

    index: int
    memo: OutcomeMemo
    inputs: tuple[Fact | None, ...]
    outcome: NodeOutcome


class Frames:
    """Finds the memo of each node form, when the first node of that form is walked."""

    def __init__(self, flow_input: FlowInput, *, keeps_elements: bool) -> None:
        """`keeps_elements`: whether to also follow elements on which nothing depends, because they are shown."""
        self.top = Frame({})
        """The frame of the graphs outside of functions."""
        self._input = flow_input
        self._operators = flow_input.operators
        self._imports = flow_input.imports
        self._crashes = flow_input.crashes
        self._called = {function.name for function in flow_input.functions}
        self._of_model: Memory[tuple[object, ...], OutcomeMemo] = Memory(_MAX_MEMOS)
        """The memos that forms of this model share, whose attributes are too large to keep for later models."""
        self._keeps_elements = keeps_elements
        self._constants = 0
        """The number of forms of Constants of floating-point numbers so far."""
        self._typed: dict[Operator, TypedOperator | None] = {}
        self._of_functions: dict[int, OutcomeMemos] = {}
        """The memos of functions without parameters, which those with the same imports share."""

    def may_call(self, op_type: str) -> bool:
        """Return whether a function has the name of an operator."""
        return op_type in self._called

    def of_body(
        self,
        function: Function,
        bound: Protos,
        call: Call | None,
        graphs: Mapping[str, NestedGraph],
        needs: CallNeeds | None = None,
    ) -> Frame:
        """Return the frame of a function body for a call. Bodies without parameters share their memos."""
        memos = {} if bound else self._of_functions.setdefault(self._imports.number_of(function), {})
        return Frame(memos, bound, call, graphs, needs)

    def memo(self, graph: Graph, form: NodeForm, frame: Frame) -> OutcomeMemo:
        """Return the memo of a form that is not in the frame yet."""
        memo = _NOTHING_KNOWN
        try:
            operator = self.operator_of(graph, form)
            if operator is not None:
                memo = self._memo(operator, form, frame)
        except Exception as error:
            self._crashes.note(crash_of(error), "looking up the operator", graph.first_of(form))
        frame.memos[form] = memo
        return memo

    def _memo(self, operator: TypedOperator, form: NodeForm, frame: Frame) -> OutcomeMemo:
        """Return the memo of an operator's nodes: an earlier one if their outcomes are the same."""
        # The outcome of a function call, and that of a node in a function's body, may depend on the call's attributes.
        depends_on_call = form.op_type in self._called or (frame.bound is not None and bool(form.attributes))
        alike = None if depends_on_call else self._key_of_alike(operator, form)
        if depends_on_call or not (form.is_shared or alike):
            return _made_memo(operator, form, frame)
        memos = _kept if form.is_shared else self._of_model
        key = alike or (operator, form)
        return memos.get(key) or memos.keep(key, _made_memo(operator, form, frame, has_content=not alike))

    def _key_of_alike(self, operator: TypedOperator, form: NodeForm) -> tuple[object, ...] | None:
        """Return the key of the memo of nodes whose differences do not matter; None for other nodes.

        They differ only in their subgraphs, which are inferred separately, or in floating-point numbers that decide
        nothing (docs/performance.md: memos-without-floats).
        """
        kinds = form.attribute_kinds or ()
        fields = [kind.fields for kind in kinds]
        given: Sequence[object]
        if form.op_type == "Constant":
            if fields != [("t",)] or not kinds[0].element_types <= FLOATING_TYPES or self._are_elements_read(form):
                return None
            given = form.attributes[0].t.dims
        elif not _FREE.isdisjoint(fields) and _SINGLE.issuperset(fields) and not reads_floats(operator.schema):
            others = [index for index, field in enumerate(fields) if field not in _FREE]
            attributes = form.attributes if others else ()
            given = [getattr(attributes[index], fields[index][0]) for index in others]
        else:
            return None
        # A single number follows salted hashes in the key, so a file cannot choose it so that hashes are equal.
        own = tuple(given) if len(given) < 2 else salted_key(tuple(given))
        return operator, form.inputs, form.outputs, form.attribute_types, kinds, own

    def _are_elements_read(self, form: NodeForm) -> bool:
        """Return whether anything may depend on the elements of a Constant of floating-point numbers."""
        self._constants += 1
        # A few Constants are not worth the search. Nodes in another order may read a Constant that comes later.
        if self._keeps_elements or self._constants <= _FEW_CONSTANTS or self._input.orders:
            return True
        return form in self._constants_read

    @cached_property
    def _constants_read(self) -> Set[NodeForm]:
        """The forms of the Constants whose elements a node may read."""
        from onnx_lint.inference.flow.floats_read import constants_among

        return constants_among(self.floats_read, self._roots)

    @cached_property
    def most_floats(self) -> int:
        """The most floating-point elements of an initializer that are read, if shapes may depend on them.

        Scales and ranges have few; only NonZero looks for elements in more.
        """
        names = self._operators.names
        if "NonZero" in names:
            return MAX_CONTENT_ELEMENTS
        return 0 if (READ_FLOAT_ELEMENTS | _FROM_FLOATS).isdisjoint(names) else _MOST_FLOATS

    @cached_property
    def floats_read(self) -> Set[str]:
        """The values with floating-point elements on which shapes may depend."""
        from onnx_lint.inference.flow.floats_read import floats_read

        return floats_read(self._roots, self._called)

    @property
    def _roots(self) -> tuple[Graph, ...]:
        """The graphs that are not nested in other graphs."""
        given = self._input
        main = () if given.main is None else (given.main,)
        return (*main, *given.training, *(each.body for each in given.functions))

    def operator_of(self, graph: Graph, form: NodeForm) -> TypedOperator | None:
        """Return the operator of the nodes of a form in a graph; None if it has no signature."""
        operator = self._operators.operator_in(graph, form)
        if operator not in self._typed:
            self._typed[operator] = _typed(operator)
        return self._typed[operator]


def _typed(operator: Operator) -> TypedOperator | None:
    if operator.schema is None or operator.opset_version is None:
        return None
    newest = newest_opset_version(operator.domain)
    # A deprecated operator does not belong to the operator set, and later operator sets are unknown.
    binds = not operator.schema.deprecated and (newest is None or operator.opset_version <= newest)
    return typed_operator(operator.schema, binds=binds)


def _made_memo(operator: TypedOperator, form: NodeForm, frame: Frame, *, has_content: bool = True) -> OutcomeMemo:
    arguments = read_arguments(form.attributes, operator.attributes, frame.bound)
    if operator.attributes and any(operator.schema.lacks_attribute(attribute.name) for attribute in form.attributes):
        # It may be a misspelt attribute of the signature: one fault, one finding.
        given = {name for name, _ in arguments}
        arguments += tuple((name, UNKNOWN_ARGUMENT) for name in sorted(operator.attributes - given))
    return OutcomeMemo(operator, arguments, form, frame.bound, has_content=has_content)


_NOTHING_KNOWN: Final = OutcomeMemo(None, (), NodeForm("", "", (), ()), None)
"""The memo of the nodes of an operator without a signature."""

_kept: Final[Memory[tuple[object, ...], OutcomeMemo]] = Memory(_MAX_MEMOS)
"""The memos that are kept for later models, which repeat a few forms, by operator and form, or by `_key_of_alike`.

Their nodes depend on nothing else: on no function call, and on no other operator set that the model imports.
"""

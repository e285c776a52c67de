# SPDX-License-Identifier: Apache-2.0
"""Runs the shape rule of a node again, to find out whether its shapes fit after a change."""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Iterator, Mapping, Set
from functools import partial
from itertools import count
from math import isqrt
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.joining import shapes_contradict
from onnx_lint.inference.flow.repairs.change import Change
from onnx_lint.inference.shapes.attribute_values import attribute_values
from onnx_lint.inference.shapes.dims import Dims, are_sizes
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import AttributeValue, Operands, Outputs
from onnx_lint.inference.shapes.registration import ShapeRule
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.spec.operators import OperatorSchema

_MAX_INPUTS: Final = 100
"""The most inputs of a node that is tried. A model may be made to take long."""

_LEAST_PRIME: Final = 10_007
"""The first number that is tried for variables: models rarely have such a size, or a multiple of it."""


class TriedNode(Record):
    """A node whose shape rule can run again, with other attributes or inputs."""

    node: Node
    schema: OperatorSchema
    rule: ShapeRule
    attributes: Mapping[str, AttributeValue]
    inputs: Facts

    @property
    def operands(self) -> Operands:
        """The attributes and inputs for a run of the rule."""
        return Operands(self.schema, self.attributes, self.inputs, len(self.node.outputs))

    def outputs_after(self, change: Change) -> Outputs | None:
        """Return the shapes of the outputs after a change; None if they do not fit."""
        # Not a copy: subgraphs are attributes without a value. ChainMap only reads here, but is typed as if it wrote.
        attributes: ChainMap[str, AttributeValue] = ChainMap(change.attributes, self.attributes)  # type: ignore[arg-type]
        inputs = tuple([change.inputs.get(index, given) for index, given in enumerate(self.inputs)])
        return replace(self, attributes=attributes, inputs=inputs).outputs

    @property
    def outputs(self) -> Outputs | None:
        """The shapes of the outputs; None if the rule finds a problem, or if they contradict their declarations."""
        operands = self.operands
        outputs = operands.finished(self.rule.infer(operands))
        fits = not operands.problems and self._are_as_declared(outputs) and self._fits_all_sizes
        return outputs if fits else None

    def _are_as_declared(self, outputs: Outputs) -> bool:
        variables = {dim for each in self.inputs for dim in each.shape or () if isinstance(dim, str)}
        declared = [declared_fact(self.node.graph, name) for name in self.node.outputs]
        return all(
            not isinstance(shape, tuple) or _is_as_declared(shape, declaration, variables)
            for shape, declaration in zip(outputs, declared, strict=True)
        )

    @property
    def _fits_all_sizes(self) -> bool:
        """Whether the inputs also fit if each variable is a number that no other dimension has or divides."""
        sizes: defaultdict[object, int] = defaultdict(partial(next, _primes()))
        inputs = tuple([_with_sizes(each, sizes) for each in self.inputs])
        if not sizes:
            return True
        operands = replace(self, inputs=inputs).operands
        operands.finished(self.rule.infer(operands))
        return not operands.problems


def tried_node(node: Node, schema: OperatorSchema, inputs: Facts) -> TriedNode | None:
    """Return the node, to try changes of it; None if its attributes are unknown, or if its operator has no rule."""
    rule, protos = shape_rule(schema), node.attribute_protos
    # The values that a call of the function around the node passes are not known here.
    has_parameters = any(proto.ref_attr_name for proto in protos)
    if rule is None or has_parameters or len(inputs) > _MAX_INPUTS:
        return None
    attributes = attribute_values(protos, schema, None)
    return None if attributes is None else TriedNode(node, schema, rule, attributes=attributes, inputs=inputs)


def fitting_outputs(node: Node, schema: OperatorSchema, inputs: Facts) -> Outputs | None:
    """Return the shapes of a node's outputs with these inputs; None if they do not fit, or nothing is known of it."""
    tried = tried_node(node, schema, inputs)
    return None if tried is None else tried.outputs


def declared_fact(graph: Graph, name: str) -> Fact:
    """Return what a graph declares for an output of its nodes."""
    declaration = graph.declaration_index.get(name)
    return UNKNOWN if declaration is None else fact_of_type(graph.message_at(*declaration).type)


def _is_as_declared(made: Dims, declaration: Fact, variables: Set[str]) -> bool:
    """Return whether a shape fits a declared one, in which variables of the inputs are no other known dimensions."""
    if shapes_contradict(made, declaration.shape):
        return False
    return all(
        dim is None or stated == dim or stated not in variables or (dim not in variables and isinstance(dim, str))
        for dim, stated in zip(made, declaration.shape or (), strict=False)
    )


def _with_sizes(given: Fact, sizes: defaultdict[object, int]) -> Fact:
    """Return a fact with a size for each variable, expression or unknown dimension.

    The same text has the same size, and so have unknown dimensions of an axis, which may be one size. That of a vector
    stays unknown: it is what other operands require.
    """
    shape = given.shape
    if shape is None or are_sizes(shape) or shape == (None,):
        return given
    made: list[int] = []
    for axis_from_end, dim in enumerate(shape, -len(shape)):
        made.append(dim if isinstance(dim, int) else sizes[axis_from_end if dim is None else dim])
    return fact(given.kind, tuple(made), None, given.inside)


def _primes() -> Iterator[int]:
    for number in count(_LEAST_PRIME, 2):
        if all(number % divisor for divisor in range(3, isqrt(number) + 1, 2)):
            yield number

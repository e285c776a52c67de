# SPDX-License-Identifier: Apache-2.0
"""Finds the one change of a node with which its shapes would fit, by trying a few that exporters get wrong."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.joining import joined_shapes
from onnx_lint.inference.shapes.attribute_values import attribute_values
from onnx_lint.inference.shapes.dims import Dims, Shape
from onnx_lint.inference.shapes.fact import Fact, Facts, fact
from onnx_lint.inference.shapes.operands import AttributeValue, Operands
from onnx_lint.inference.shapes.problem import NotBroadcast, PlainProblem, WrongRank
from onnx_lint.inference.shapes.registration import ShapeRule
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import quote

FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "FusedGemm": ("transA", "transB"),
    "FusedMatMul": ("transA", "transB"),
    "Gemm": ("transA", "transB"),
    "GRU": ("layout",),
    "LSTM": ("layout",),
    "RNN": ("layout",),
}
"""The attributes of 0 or 1 that are tried with the other value."""

CHANNELS_SECOND: Final = frozenset({"BatchNormalization", "Conv", "ConvTranspose", "InstanceNormalization"})
"""The operators whose input has its channels at axis 1, where other frameworks have them last."""

MATRICES: Final = frozenset({"MatMul", "MatMulInteger"})
"""The operators that multiply inputs 0 and 1. One of these may have to be transposed."""

LEAST_WITH_CHANNELS: Final = 3

MOST_INPUTS: Final = 100
MOST_CHANGES: Final = 20
"""So much is tried of one node at most: no more is of use to its writer, and a model may be made to take long."""


class Change(Record):
    """Another value of an attribute, or another shape of an input."""

    text: str
    attribute: tuple[str, AttributeValue] | None = None
    shape: tuple[int, Dims] | None = None
    """The index of the input and its shape."""


def repair_of(node: Node, schema: OperatorSchema, inputs: Facts, problem: PlainProblem) -> str | None:
    """Return in words the change with which the shapes of a node fit; None if there is none, or more than one.

    The shape rule runs again for each change. It must find nothing, and the outputs must fit the declarations.
    """
    rule = shape_rule(schema)
    protos = node.attribute_protos
    # What a call of the function around the node gives is not known here.
    if rule is None or len(inputs) > MOST_INPUTS or any(proto.ref_attr_name for proto in protos):
        return None
    attributes = attribute_values(protos, schema, None)
    if attributes is None:
        return None
    fitting: list[str] = []
    for change in islice(
        _changes(node, Operands(schema, attributes, inputs, len(node.outputs)), problem), MOST_CHANGES
    ):
        # Not a copy: subgraphs are attributes without a value. ChainMap only reads here, but is typed as if it wrote.
        values = ChainMap({} if change.attribute is None else dict([change.attribute]), attributes)  # type: ignore[arg-type]
        facts = list(inputs)
        if change.shape is not None:
            index, shape = change.shape
            facts[index] = fact(inputs[index].kind, shape)
        changed = Operands(schema, values, tuple(facts), len(node.outputs))
        outputs = changed.finished(rule.infer(changed))
        if (
            not changed.problems
            and all(
                not isinstance(made, tuple) or not joined_shapes(made, _declared_shape(node.graph, name))[1]
                for name, made in zip(node.outputs, outputs, strict=True)
            )
            and _fits_all_sizes(changed, values, rule)
        ):
            fitting.append(change.text)
    return fitting[0] if len(fitting) == 1 else None


def _fits_all_sizes(changed: Operands, values: Mapping[str, AttributeValue], rule: ShapeRule) -> bool:
    """Return whether the inputs also fit if each variable is a number that no other dimension has or divides."""
    sizes: dict[str, int] = {}
    facts = tuple([_sized(each, sizes) for each in changed.facts])
    if not sizes:
        return True
    sized = Operands(changed.schema, values, facts, changed.output_count)
    sized.finished(rule.infer(sized))
    return not sized.problems


def _sized(given: Fact, sizes: dict[str, int]) -> Fact:
    """Return a fact with a prime for each variable or expression; the same prime for the same text."""
    if given.shape is None or all(not isinstance(dim, str) for dim in given.shape):
        return given
    shape = [sizes.setdefault(dim, _PRIMES[len(sizes) % len(_PRIMES)]) if isinstance(dim, str) else dim
             for dim in given.shape]  # fmt: skip
    return fact(given.kind, tuple(shape), None, given.inside)


_PRIMES: Final = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093, 10099, 10103)


def _changes(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    operator = operands.operator
    for name in FLAGS.get(operator, ()):
        if name in operands.schema.attributes:
            value = 0 if operands.integer(name, 0) else 1
            yield Change(f"{name}={value}", attribute=(name, value))
    if operator in MATRICES:
        yield from (_permuted(node, index, shape, _last_two) for index, shape in _shapes(operands, 2, (0, 1)))
    if operator in CHANNELS_SECOND:
        yield from (
            _permuted(node, 0, shape, _channels_second) for _, shape in _shapes(operands, LEAST_WITH_CHANNELS, (0,))
        )
    if operator == "Concat":
        rank, axis = len(operands.facts[0].shape or ()), operands.integer("axis", 1)
        yield from (
            Change(f"axis={each}", attribute=("axis", each)) for each in range(rank) if axis not in (each, each - rank)
        )
    if isinstance(problem, NotBroadcast):
        yield from _with_axes_behind(node, operands, (problem.one.operand, problem.other.operand))
    if isinstance(problem, WrongRank) and problem.rank + 1 == problem.least:
        yield from _with_an_axis(node, operands, problem.operand)


def _shapes(operands: Operands, least: int, indices: tuple[int, ...]) -> Iterator[tuple[int, Dims]]:
    """Yield the inputs of at least that many dimensions with their shapes."""
    for index in indices:
        shape = operands.fact(index).shape
        if shape is not None and len(shape) >= least:
            yield index, shape


def _last_two(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def _channels_second(rank: int) -> list[int]:
    return [0, rank - 1, *range(1, rank - 1)]


def _permuted(node: Node, index: int, shape: Dims, order_for: Callable[[int], list[int]]) -> Change:
    order = order_for(len(shape))
    return Change(
        f"a Transpose of {_input(node, index)} with perm={order}",
        shape=(index, tuple([shape[axis] for axis in order])),
    )


def _with_axes_behind(node: Node, operands: Operands, indices: tuple[int, int]) -> Iterator[Change]:
    """Yield the input of fewer dimensions with axes of 1 behind it, as a number for each channel needs them."""
    (fewer, most) = sorted(indices, key=lambda index: len(operands.fact(index).shape or ()))
    shape, other = operands.fact(fewer).shape, operands.fact(most).shape
    if shape and other:
        for count in range(1, len(other) - len(shape) + 1):
            axes = list(range(len(shape), len(shape) + count))
            yield Change(f"an Unsqueeze of {_input(node, fewer)} with axes={axes}", shape=(fewer, shape + (1,) * count))


def _with_an_axis(node: Node, operands: Operands, index: int) -> Iterator[Change]:
    shape = operands.fact(index).shape or ()
    for axis in range(len(shape) + 1):
        text = f"an Unsqueeze of {_input(node, index)} with axes=[{axis}]"
        yield Change(text, shape=(index, (*shape[:axis], 1, *shape[axis:])))


def _input(node: Node, index: int) -> str:
    return f"input {index} {quote(node.inputs[index])}"


def _declared_shape(graph: Graph, name: str) -> Shape:
    outputs = graph.output_names if not graph.is_function else ()  # those of a function are names alone
    for field, names in (("value_info", graph.value_info_names), ("output", outputs)):
        if name in names:
            return fact_of_type(graph.message_at(field, names.index(name)).type).shape
    return None

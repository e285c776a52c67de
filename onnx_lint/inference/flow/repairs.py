# SPDX-License-Identifier: Apache-2.0
"""Finds the change of a node with which its shapes would fit, by trying a few that exporters get wrong."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain, islice, starmap
from math import prod
from operator import ne
from typing import TYPE_CHECKING, Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.inference.flow.joining import joined_shapes
from onnx_lint.inference.flow.repair_edits import flattened, transposed, unsqueezed, with_attributes, with_list
from onnx_lint.inference.shapes.attribute_values import attribute_values
from onnx_lint.inference.shapes.dims import Dims, Shape, are_sizes
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import AttributeValue, Operands, Outputs, OutputShape
from onnx_lint.inference.shapes.problem import (
    AxisOutOfRange,
    Element,
    Indivisible,
    InputDimension,
    NotBroadcast,
    PlainProblem,
    Unequal,
    WrongRank,
)
from onnx_lint.inference.shapes.registration import ShapeRule
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.shapes.stated import content_of, fact_of_type
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.names.meant_values import is_weight
from onnx_lint.ir.places.edits import Assign
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN
from onnx_lint.wording import describe_list, quote

if TYPE_CHECKING:
    from onnx_lint.ir.operators.operators import Operators
    from onnx_lint.ir.places.edits import Edit

    ChangeEdits = Callable[[Node, Operators], Iterable[Edit]]
    """Returns the edits of a change of a node."""

AttributeNumber = int | tuple[int, ...]

TriedValues = Callable[[Operands], Iterable[AttributeNumber]]


def _flag(_: Operands) -> Iterable[int]:
    return 0, 1


def _axes(operands: Operands) -> Iterable[int]:
    rank, given = len(operands.fact(0).shape or ()), operands.integer("axis", 0)
    return [axis for axis in range(rank) if given not in (axis, axis - rank)]


def _axes_of_channels(operands: Operands) -> Iterable[int]:
    """Return the other axes. Of images only those that may have the channels: parts of one height have one width."""
    rank = len(operands.fact(0).shape or ())
    return [axis for axis in _axes(operands) if rank < LEAST_OF_IMAGES or axis in (1, rank - 1)]


def _groups(operands: Operands) -> Iterable[int]:
    sizes = [size for index in (0, 1) for size in (operands.fact(index).shape or ())[1:2]]
    match sizes:
        case [int(channels), int(of_a_group)] if of_a_group:
            groups = channels // of_a_group
            # An exporter that writes group=1 means it: weights with fewer channels are pruned ones, unless depthwise.
            is_meant = operands.has("group") and operands.integer("group") == 1
            return [] if is_meant and of_a_group > 1 else [groups]
    return ()


def _blocks(_: Operands) -> Iterable[int]:
    return [2**power for power in range(4, 9)]


def _kernel_of(weights: int) -> TriedValues:
    def sizes(operands: Operands) -> Iterable[AttributeNumber]:
        kernel = (operands.fact(weights).shape or ())[2:]
        return [kernel] if kernel and are_sizes(kernel) else []

    return sizes


def _hidden(operands: Operands) -> Iterable[int]:
    """Return the size of the recurrence weights."""
    return [size for size in (operands.fact(2).shape or ())[2:] if isinstance(size, int)]


_VALUES: Final[Mapping[str, Mapping[str, TriedValues]]] = {
    "Concat": {"axis": _axes_of_channels},
    "Conv": {"group": _groups, "kernel_shape": _kernel_of(1)},
    "ConvInteger": {"kernel_shape": _kernel_of(1)},
    "ConvTranspose": {"kernel_shape": _kernel_of(1)},
    "DequantizeLinear": {"axis": _axes, "block_size": _blocks},
    "Gemm": {"transA": _flag, "transB": _flag},
    "GRU": {"hidden_size": _hidden, "layout": _flag},
    "LSTM": {"hidden_size": _hidden, "layout": _flag},
    "QLinearConv": {"kernel_shape": _kernel_of(3)},
    "QuantizeLinear": {"axis": _axes, "block_size": _blocks},
    "RNN": {"hidden_size": _hidden, "layout": _flag},
    "Split": {"num_outputs": lambda operands: [operands.output_count]},
}
"""The values of attributes that are tried, by operator of ONNX."""

_VALUES_OF_RUNTIME: Final[Mapping[str, TriedValues]] = {
    "block_size": _blocks,
    "group": _groups,
    "kernel_shape": _kernel_of(1),
    "transA": _flag,
    "transB": _flag,
}
"""The same of com.microsoft, whose operators have these attributes from those of ONNX that they extend."""


def _tried_values(schema: OperatorSchema) -> Mapping[str, TriedValues]:
    """Return the values that are tried for attributes of an operator."""
    own = _VALUES.get(schema.name, EMPTY)
    return _VALUES_OF_RUNTIME if schema.domain == RUNTIME_DOMAIN and not own else own


CHANNELS_SECOND: Final = frozenset({"BatchNormalization", "Conv", "ConvTranspose", "InstanceNormalization"})
"""The operators whose input has its channels at axis 1, where other frameworks have them last."""

FILTERS: Final = frozenset({"Conv", "ConvTranspose"})
"""The operators whose input 1 has two axes of channels, which other operators and frameworks have in another order."""

TAKES_FLAT: Final = frozenset({"Gemm", "MatMul"})
"""The operators of layers whose input 0 may lack a Flatten."""

WEIGHTED: Final = frozenset({"Gemm", "MatMul"})
"""The operators whose input 1 may be the weight of another layer."""

MATRICES: Final = frozenset({"MatMul", "MatMulInteger"})
"""The operators that multiply inputs 0 and 1. One of these may have to be transposed."""

READS_SHAPE: Final = frozenset({"Reshape"})
"""The operators whose input 1 is the shape of the output."""

READS_PARTS: Final = frozenset({"Split", "SplitToSequence"})
"""The operators whose input 1 has the sizes of parts."""

LEAST_WITH_CHANNELS: Final = 3
LEAST_OF_IMAGES: Final = 4

ELEMENTWISE: Final = frozenset(
    {"Add", "Cast", "Clip", "DequantizeLinear", "Div", "Identity", "Mul", "QuantizeLinear", "Relu", "Sub"}
)
"""The operators between an input of a graph and its first layer, which keep its layout."""

MAX_ELEMENTWISE: Final = 8
"""The most such nodes in a row."""

MAX_INPUTS: Final = 100
MAX_CHANGES: Final = 20
MAX_FITTING: Final = 4
"""So much is tried of one node at most: no more is of use to its writer, and a model may be made to take long."""


class Change(Record):
    """Other values of attributes, or another fact of an input."""

    text: str
    edits: ChangeEdits
    attributes: Mapping[str, AttributeValue] = EMPTY
    input: tuple[int, Fact] | None = None
    is_of_several: bool = False
    """True if two changes of its kind may be proposed: the nearest numbers that divide a dimension."""
    must_add_no_finding: bool = False
    """True if it is not proposed if any finding is new, even one that the fixed finding had hidden."""

    @property
    def must_be_only(self) -> bool:
        """True if it is a guess where another one fits as well: another axis runs, and computes something else."""
        return "axis" in self.attributes


def repairs_of(node: Node, schema: OperatorSchema, inputs: Facts, problem: PlainProblem) -> list[Change]:
    """Return the changes with which the shapes of a node fit, at most MAX_FITTING.

    The shape rule runs again for each change. It must find nothing, and the outputs must fit the declarations.
    """
    rule = shape_rule(schema)
    protos = node.attribute_protos
    # What a call of the function around the node gives is not known here.
    if rule is None or len(inputs) > MAX_INPUTS or any(proto.ref_attr_name for proto in protos):
        return []
    attributes = attribute_values(protos, schema, None)
    if attributes is None:
        return []
    fitting: dict[str, tuple[Change, Outputs]] = {}
    operands = Operands(schema, attributes, inputs, len(node.outputs))
    for change in islice(_changes(node, operands, problem), MAX_CHANGES):
        check_deadline()
        outputs = _outputs_after(change, node, operands, attributes, rule)
        if outputs is not None:
            fitting[change.text] = change, outputs
    if operands.operator in READS_SHAPE:
        fitting = _of_different_outputs(fitting, operands.fact(0).shape)
    if all(change.is_of_several for change, _ in fitting.values()):
        fitting = dict([*fitting.items()][:2])
    return [change for change, _ in fitting.values()] if len(fitting) <= MAX_FITTING else []


def values_of_missing(node: Node, schema: OperatorSchema, inputs: Facts, name: str) -> list[Change]:
    """Return the numbers of an attribute that a node lacks, with which its shapes fit."""
    rule, tried = shape_rule(schema), _tried_values(schema).get(name)
    attributes = attribute_values(node.attribute_protos, schema, None)
    if rule is None or tried is None or attributes is None or len(inputs) > MAX_INPUTS:
        return []
    operands = Operands(schema, attributes, inputs, len(node.outputs))
    found = []
    for value in islice((operands.integer(name, 0), *tried(operands)), MAX_CHANGES):
        change = _of_attributes({name: value})
        if _outputs_after(change, node, operands, attributes, rule) is not None:
            found.append(change)
    return found if len(found) <= MAX_FITTING else []


def value_behind(node: Node, schema: OperatorSchema, inputs: Facts, output: int, shape: Dims) -> Change | None:
    """Return the one other value of an attribute with which an output has exactly this shape; None without one."""
    rule, protos = shape_rule(schema), node.attribute_protos
    attributes = attribute_values(protos, schema, None)
    has_parameters = any(proto.ref_attr_name for proto in protos)
    if rule is None or attributes is None or has_parameters or len(inputs) > MAX_INPUTS:
        return None
    operands = Operands(schema, attributes, inputs, len(node.outputs))
    found = []
    for change in islice((*_orders(operands, shape), *_other_values(operands)), MAX_CHANGES):
        outputs = _outputs_after(change, node, operands, attributes, rule)
        if outputs is not None and outputs[output] == shape:
            found.append(change)
    return found[0] if len(found) == 1 else None


def _orders(operands: Operands, shape: Dims) -> Iterator[Change]:
    """Yield the order of the axes of a Transpose that makes a shape, if no two of its dimensions are equal."""
    given = operands.fact(0).shape
    if operands.operator != "Transpose" or given is None or None in given or len(set(given)) < len(given):
        return
    if len(shape) == len(given) and all(dim in given for dim in shape):
        yield _of_attributes({"perm": tuple([given.index(dim) for dim in shape])})


def _of_different_outputs(
    fitting: Mapping[str, tuple[Change, Outputs]], given: Shape
) -> dict[str, tuple[Change, Outputs]]:
    """Return the first of the changes with each shape of the output: -1 and 0 may be two ways to write one shape.

    `given`: the shape of the input. If its first dimension is a variable, that is the number of samples, which is kept.
    """
    found: dict[str, tuple[Change, Outputs]] = {}
    known = set()
    for text, (change, outputs) in fitting.items():
        if repr(outputs) not in known and _keeps_samples(outputs[0], given):
            known.add(repr(outputs))
            found[text] = change, outputs
    return found


def _keeps_samples(made: OutputShape, given: Shape) -> bool:
    """Return whether a shape has the first dimension of the given one, if that is a variable."""
    if not given or not isinstance(given[0], str) or not made or not isinstance(made, tuple):
        return True
    return made[0] in (None, given[0])


def fitting_outputs(node: Node, schema: OperatorSchema, inputs: Facts) -> Outputs | None:
    """Return the shapes of a node's outputs with these inputs; None if they do not fit, or nothing is known of it."""
    rule = shape_rule(schema)
    attributes = None if rule is None else attribute_values(node.attribute_protos, schema, None)
    if rule is None or attributes is None:
        return None
    return _fitting_outputs(node, Operands(schema, attributes, inputs, len(node.outputs)), attributes, rule)


def _outputs_after(
    change: Change, node: Node, operands: Operands, attributes: Mapping[str, AttributeValue], rule: ShapeRule
) -> Outputs | None:
    """Return the outputs of a node after a change of its operands or attributes; None if they do not fit."""
    # Not a copy: subgraphs are attributes without a value. ChainMap only reads here, but is typed as if it wrote.
    values: ChainMap[str, AttributeValue] = ChainMap(change.attributes, attributes)  # type: ignore[arg-type]
    facts = list(operands.facts)
    if change.input is not None:
        index, facts[index] = change.input
    changed = Operands(operands.schema, values, tuple(facts), operands.output_count)
    return _fitting_outputs(node, changed, values, rule)


def _fitting_outputs(
    node: Node, changed: Operands, values: Mapping[str, AttributeValue], rule: ShapeRule
) -> Outputs | None:
    """Return the outputs, if the rule finds nothing and they fit the declarations."""
    outputs = changed.finished(rule.infer(changed))
    variables = {dim for each in changed.facts for dim in each.shape or () if isinstance(dim, str)}
    fits = not changed.problems and all(
        not isinstance(made, tuple) or _is_as_declared(made, declared_fact(node.graph, name).shape, variables)
        for name, made in zip(node.outputs, outputs, strict=True)
    )
    return outputs if fits and _fits_all_sizes(changed, values, rule) else None


def _is_as_declared(made: Dims, declared: Shape, variables: Set[str]) -> bool:
    """Return whether a shape fits a declared one, in which variables of the inputs are no other known dimensions."""
    if joined_shapes(made, declared)[1]:
        return False
    return all(
        dim is None or stated == dim or stated not in variables or (dim not in variables and isinstance(dim, str))
        for dim, stated in zip(made, declared or (), strict=False)
    )


def _fits_all_sizes(changed: Operands, values: Mapping[str, AttributeValue], rule: ShapeRule) -> bool:
    """Return whether the inputs also fit if each variable is a number that no other dimension has or divides."""
    sizes: dict[object, int] = {}
    facts = tuple([_sized(each, sizes) for each in changed.facts])
    if not sizes:
        return True
    sized = Operands(changed.schema, values, facts, changed.output_count)
    sized.finished(rule.infer(sized))
    return not sized.problems


def _sized(given: Fact, sizes: dict[object, int]) -> Fact:
    """Return a fact with a prime for each variable, expression or unknown dimension.

    The same text has the same prime, and so have unknown dimensions of an axis, which may be one size. That of a vector
    stays unknown: it is what other operands require.
    """
    shape = given.shape
    if shape is None or are_sizes(shape) or shape == (None,):
        return given
    sized = [_prime(dim, axis - len(shape), sizes) for axis, dim in enumerate(shape)]
    return fact(given.kind, tuple(sized), None, given.inside)


def _prime(dim: int | str | None, axis: int, sizes: dict[object, int]) -> int:
    if isinstance(dim, int):
        return dim
    return sizes.setdefault(axis if dim is None else dim, _PRIMES[len(sizes) % len(_PRIMES)])


_PRIMES: Final = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093, 10099, 10103)


def _changes(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    operator = operands.operator
    exchanged = list(_exchanged_weights(node, operands)) if operator in WEIGHTED else []
    if exchanged:
        yield from exchanged  # a change of the node would also fit, and compute with the wrong weight
        return
    yield from _other_values(operands)
    if isinstance(problem, AxisOutOfRange) and isinstance(problem.place.source, str) and problem.place.index is None:
        yield from (_of_attributes({problem.place.source: axis}) for axis in range(problem.rank))
    if operator == "Scan":
        yield from _scan_inputs(node, operands)
    if isinstance(problem, Indivisible):
        yield from _divisors(operands, problem)
    if "broadcast" in operands.schema.attributes:
        first, second = (len(operands.fact(index).shape or ()) for index in (0, 1))
        yield from (_of_attributes({"broadcast": 1, "axis": axis}) for axis in range(first - second + 1))
    if operator in READS_SHAPE | READS_PARTS:
        yield from _contents(node, operands)
    yield from _changes_before(node, operands, problem)
    yield from _layouts(node, operands)
    if isinstance(problem, NotBroadcast):
        yield from _with_trailing_axes(node, operands, (problem.one.operand, problem.other.operand))
    if isinstance(problem, WrongRank) and problem.rank + 1 == problem.least:
        yield from _with_an_axis(node, operands, problem.operand)


def _exchanged_weights(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the exchange of input 1 with the weight of a later node, if that has the wanted shape and its number.

    The names of the two differ in one number, and the earlier node reads the one of the greater number.
    """
    graph, name, shape = node.graph, node.inputs[1], operands.fact(1).shape
    position = graph.initializer_index.get(name)
    if position is None or shape is None or shape == shape[::-1] or name in graph.input_names:
        return
    for other in _read_later(_with_lower_number(name, graph.initializer_names), node):
        index = graph.initializer_index[other]
        dims = tuple(graph.message_at("initializer", index).dims)
        if dims == shape[::-1] and other not in graph.input_names:
            text = f"initializers {quote(name)} and {quote(other)} exchanged"
            edits = partial(_renamed_initializers, {position: other, index: name})
            yield Change(text, edits, input=(1, fact(operands.fact(1).kind, dims)), must_add_no_finding=True)


def _with_lower_number(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ from this one in one number, which is lower in them."""
    numbers, pattern, begin = _numbers(name), _NUMBER.sub("#", name), _NUMBER.split(name, 1)[0]
    alike = (each for each in names if each.startswith(begin) and _NUMBER.sub("#", each) == pattern)
    return [each for each in alike if _numbers(each) < numbers and sum(map(ne, _numbers(each), numbers)) == 1]


def _read_later(names: Iterable[str], node: Node) -> list[str]:
    """Return the names that nodes of the graph read behind this one, and none before. The graph is read once."""
    nodes, left = node.graph.node_inputs, set(names)
    for inputs in islice(nodes, node.index + 1) if left else ():
        left.difference_update(inputs)
    later = chain.from_iterable(islice(nodes, node.index + 1, None)) if left else ()
    return list(dict.fromkeys(each for each in later if each in left))


def _numbers(name: str) -> list[int]:
    """Return the numbers in a name. One with more digits than a model needs is several."""
    return [int(each) for each in _NUMBER.findall(name)]


_NUMBER: Final = re.compile("[0-9]{1,9}")


def _renamed_initializers(names: Mapping[int, str], node: Node, _: Operators) -> Iterator[Edit]:
    for index, name in names.items():
        yield Assign(node.graph.at("initializer", index).at("name"), name)


def _layouts(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the operands with their axes in another order, or flat."""
    operator = operands.operator
    if operator in MATRICES:
        yield from (_permuted(node, operands, index, shape, _last_two) for index, shape in _shapes(operands, 2, (0, 1)))
    if operator in CHANNELS_SECOND:
        yield from (
            _permuted(node, operands, 0, shape, _channels_second, must_add_no_finding=True)
            for _, shape in _shapes(operands, LEAST_WITH_CHANNELS, (0,))
            if shape[-1] not in shape[2:-1] and _is_of_input(node.graph, node.inputs[0])
        )
    if operator in FILTERS:
        for order_for in (_channels_exchanged, _channels_first):
            is_sized_like_others = order_for is _channels_exchanged  # as pruned weights may be
            yield from (
                _permuted(node, operands, 1, shape, order_for, must_add_no_finding=is_sized_like_others)
                for _, shape in _shapes(operands, LEAST_WITH_CHANNELS, (1,))
            )
    if operator in TAKES_FLAT:
        yield from (_flat(node, operands, shape) for _, shape in _shapes(operands, LEAST_WITH_CHANNELS, (0,)))


def _other_values(operands: Operands) -> Iterator[Change]:
    """Yield the values to try that attributes of the operator do not have."""
    for name, values_of in _tried_values(operands.schema).items():
        known = operands.integer(name, 0)
        for value in values_of(operands) if name in operands.schema.attributes else ():
            if value != known:
                yield _of_attributes({name: value})


def _of_attributes(values: Mapping[str, AttributeNumber], *, is_of_several: bool = False) -> Change:
    written = [
        f"{name}={describe_list(value) if isinstance(value, tuple) else value}" for name, value in values.items()
    ]
    return Change(
        " and ".join(written), lambda node, _: with_attributes(node, values), values, is_of_several=is_of_several
    )


def _scan_inputs(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the numbers of scan inputs with which all inputs have the shapes that the body declares for its own.

    The shape rule only compares the lengths of the scan inputs. Nothing is tried if attributes say their axes.
    """
    body = next((proto.g for proto in node.attribute_protos if proto.name == "body"), None)
    if body is None or operands.integers("scan_input_axes") or len(body.input) != len(operands.facts):
        return
    given = [each.shape for each in operands.facts]
    declared = [fact_of_type(each.type).shape for each in body.input]
    if None in declared:
        return
    for count in range(1, min(len(given), MAX_CHANGES) + 1):
        pieces = [shape and shape[1:] for shape in given[-count:]]
        supplied = given[:-count] + pieces
        if None not in supplied and not any(starmap(_contradict, zip(supplied, declared, strict=True))):
            yield _of_attributes({"num_scan_inputs": count})


def _contradict(one: Shape, other: Shape) -> bool:
    return joined_shapes(one, other)[1] != ""


def _divisors(operands: Operands, problem: Indivisible) -> Iterator[Change]:
    """Yield other values of the attribute that does not divide a dimension, the nearest first.

    Attributes with numbers of heads change together if they are equal.
    """
    by = problem.by
    if not isinstance(by, Element) or not isinstance(by.source, str) or not isinstance(by.value, int):
        return
    heads = [each for each in operands.schema.attributes if each.endswith("num_heads")]
    names = [each for each in heads if operands.integer(each) == by.value] if by.source in heads else [by.source]
    for distance in range(1, MAX_CHANGES // 2):
        for value in (by.value - distance, by.value + distance):
            if value > 1:
                yield _of_attributes(dict.fromkeys(names, value), is_of_several=True)


def _contents(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield other contents of the list that is input 1: one element of a shape computed or copied; parts that add up"""
    given = operands.fact(1)
    content = given.content
    if content is None or not are_sizes(content) or len(content) > MAX_CHANGES:
        return
    lists = [(*content[:at], value, *content[at + 1 :]) for value in (-1, 0) for at in range(len(content))]
    if operands.operator in READS_PARTS:
        shape, axis = operands.fact(0).shape or (), operands.integer("axis", 0)
        size = shape[axis] if -len(shape) <= axis < len(shape) else None
        if not isinstance(size, int):
            return
        rest = size - sum(content)
        lists = [(*content[:at], each + rest, *content[at + 1 :]) for at, each in enumerate(content)]
    for each in lists:
        text = f"{describe_list(each)} as {_input(node, 1)}"
        yield Change(text, partial(_list_edits, each), input=(1, fact(given.kind, given.shape, each)))


class _WrongSize(Record):
    """A dimension of an input that another size would fit, and the node that makes the input."""

    operand: int
    axis: int
    size: int
    wanted: int
    given: Fact
    shape: Dims
    maker: Node


def _wrong_sizes(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[_WrongSize]:
    """Yield both dimensions of a problem that should be equal."""
    pairs: list[tuple[InputDimension, int]] = []
    if isinstance(problem, Unequal) and isinstance(problem.by, InputDimension):
        pairs = [(problem.place, problem.expected), (problem.by, problem.place.size)]
    elif isinstance(problem, NotBroadcast):
        pairs = [(problem.one, problem.other.size), (problem.other, problem.one.size)]
    for place, wanted in pairs:
        definition = node.graph.definition_of(node.inputs[place.operand])
        given = operands.fact(place.operand)
        if definition is not None and definition.node is not None and given.shape is not None:
            maker = definition.node
            yield _WrongSize(place.operand, place.axis, place.size, wanted, given, given.shape, maker)


def _changes_before(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    """Yield changes of a node before this one that makes an input of a wrong size."""
    for wrong in _wrong_sizes(node, operands, problem):
        if wrong.maker.op_type in READS_SHAPE and not wrong.maker.domain:
            yield from _sizes_of_reshape(wrong)
        elif wrong.maker.op_type == "Concat" and not wrong.maker.domain:
            yield from _axes_of_concat(wrong)


def _axes_of_concat(wrong: _WrongSize) -> Iterator[Change]:
    """Yield the other axis of a Concat of equal parts with which a dimension has the wanted size."""
    count, shape, axis = len(wrong.maker.inputs), wrong.shape, wrong.axis
    given = next((each.i for each in wrong.maker.attribute_protos if each.name == "axis"), 0)
    before = given + len(shape) if given < 0 else given
    if before >= len(shape) or before == axis or wrong.size * count != wrong.wanted:
        return
    size = shape[before]
    parts = size // count if isinstance(size, int) and size % count == 0 else None
    made = list(shape)
    made[before], made[axis] = parts, wrong.wanted
    yield Change(
        f"axis={axis} of {wrong.maker.describe()}",
        partial(_edits_of_concat, wrong.maker, axis),
        input=(wrong.operand, fact(wrong.given.kind, tuple(made))),
        must_add_no_finding=True,
    )


def _edits_of_concat(maker: Node, axis: int, _: Node, __: Operators) -> Iterator[Edit]:
    return with_attributes(maker, {"axis": axis})


def _sizes_of_reshape(wrong: _WrongSize) -> Iterator[Change]:
    """Yield the other size that a Reshape needs, if it gives each sample one row, and the given size does not.

    A shape such as `((72*N)//64, 64)` shows that: the Reshape to [-1, 64] gets 72 * N elements. It must keep N: with
    [-1, 36] each sample would become two.
    """
    maker, shape = wrong.maker, wrong.shape
    content = _constant_list(maker.graph, maker.inputs[1]) if len(maker.inputs) > 1 else None
    if content is None or len(content) != len(shape) or content[wrong.axis] != wrong.size:
        return
    sizes = (*content[: wrong.axis], wrong.wanted, *content[wrong.axis + 1 :])
    computed = shape[content.index(-1)] if content.count(-1) == 1 else None
    elements = _DIVIDED.match(computed) if isinstance(computed, str) else None
    if elements is not None and int(elements[1]) == prod(each for each in sizes if each > 0):
        made = tuple([None if asked < 1 else asked for asked in sizes])
        text = f"{describe_list(sizes)} as {_input(maker, 1)} of {maker.describe()}"
        edits = partial(_edits_of_reshape, maker, sizes)
        yield Change(text, edits, input=(wrong.operand, fact(wrong.given.kind, made)), must_add_no_finding=True)


def _edits_of_reshape(maker: Node, sizes: Sequence[int], _: Node, __: Operators) -> Iterator[Edit]:
    return with_list(maker, 1, sizes)


_DIVIDED: Final = re.compile(r"\(\(?(\d{1,9})\*.*//")
"""A number of elements that a Reshape divides, with its first factor."""


def _constant_list(graph: Graph, name: str) -> tuple[int, ...] | None:
    """Return the integers of a small initializer or Constant; None for any other value."""
    definition = graph.definition_of(name)
    if definition is None:
        return None
    if definition.field == "initializer":
        proto = definition.graph.message_at("initializer", definition.index)
    elif definition.node is not None and definition.node.op_type == "Constant":
        proto = next((each.t for each in definition.node.attribute_protos if each.name == "value"), None)
    else:
        return None
    content = () if proto is None else content_of(proto, tuple(proto.dims)) or ()
    integers = tuple([each for each in content if isinstance(each, int)])
    return integers if integers and len(integers) == len(content) else None


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


def _channels_exchanged(rank: int) -> list[int]:
    return [1, 0, *range(2, rank)]


def _channels_first(rank: int) -> list[int]:
    """Return the order that filters of TensorFlow need: theirs have the channels last."""
    return [rank - 1, rank - 2, *range(rank - 2)]


def _flat(node: Node, operands: Operands, shape: Dims) -> Change:
    sizes = [dim for dim in shape[1:] if isinstance(dim, int)]
    columns = prod(sizes) if len(sizes) == len(shape) - 1 else None
    made = fact(operands.fact(0).kind, (shape[0], columns))
    return Change(f"a Flatten of {_input(node, 0)}", lambda node, _: flattened(node, 0), input=(0, made))


def _is_of_input(graph: Graph, name: str) -> bool:
    """Return whether a value is an input of its graph, or what elementwise nodes make of one."""
    for _ in range(MAX_ELEMENTWISE):
        definition = graph.definition_of(name)
        node = None if definition is None else definition.node
        if definition is None or node is None:
            return definition is not None and definition.field == "input"
        if node.op_type not in ELEMENTWISE or not node.inputs:
            return False
        computed = [each for each in node.inputs if each and not is_weight(each, node.graph)]
        if len(computed) != 1:
            return False
        name, graph = computed[0], node.graph
    return False


def _permuted(
    node: Node,
    operands: Operands,
    index: int,
    shape: Dims,
    order_for: Callable[[int], list[int]],
    *,
    must_add_no_finding: bool = False,
) -> Change:
    order = order_for(len(shape))
    return Change(
        f"a Transpose of {_input(node, index)} with perm={order}",
        lambda node, _: transposed(node, index, order),
        input=(index, fact(operands.fact(index).kind, tuple([shape[axis] for axis in order]))),
        must_add_no_finding=must_add_no_finding,
    )


def _with_trailing_axes(node: Node, operands: Operands, indices: tuple[int, int]) -> Iterator[Change]:
    """Yield the input of fewer dimensions with trailing axes of 1, as a number for each channel needs them.

    A vector must get to axis 1, and no other axis may have as many elements: it would not be known which it is for.
    """
    (fewer, most) = sorted(indices, key=lambda index: len(operands.fact(index).shape or ()))
    shape, other = operands.fact(fewer).shape, operands.fact(most).shape
    if shape and other:
        counts = range(1, len(other) - len(shape) + 1)
        if len(shape) == 1 and len(other) >= LEAST_WITH_CHANNELS:
            counts = range(len(other) - 2, len(other) - 1) if other.count(shape[0]) == 1 else range(0)
        for count in counts:
            axes = list(range(len(shape), len(shape) + count))
            text = f"an Unsqueeze (axes={axes}) of {_input(node, fewer)}"
            made = fact(operands.fact(fewer).kind, shape + (1,) * count)
            yield Change(text, partial(_unsqueeze_edits, fewer, axes), input=(fewer, made))


def _with_an_axis(node: Node, operands: Operands, index: int) -> Iterator[Change]:
    shape = operands.fact(index).shape or ()
    for axis in range(len(shape) + 1):
        text = f"an Unsqueeze (axes=[{axis}]) of {_input(node, index)}"
        made = fact(operands.fact(index).kind, (*shape[:axis], 1, *shape[axis:]))
        yield Change(text, partial(_unsqueeze_edits, index, [axis]), input=(index, made), must_add_no_finding=True)


def _unsqueeze_edits(index: int, axes: Sequence[int], node: Node, operators: Operators) -> Iterator[Edit]:
    return unsqueezed(node, index, axes, operators)


def _list_edits(content: Sequence[int], node: Node, _: Operators) -> Iterator[Edit]:
    return with_list(node, 1, content)


def _input(node: Node, index: int) -> str:
    return f"input {index} {quote(node.inputs[index])}"


def declared_fact(graph: Graph, name: str) -> Fact:
    """Return what a graph declares for an output of its nodes."""
    declaration = graph.declaration_index.get(name)
    return UNKNOWN if declaration is None else fact_of_type(graph.message_at(*declaration).type)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from onnx_lint.model import (
    ATTRIBUTE_TYPE_CODES,
    OPERATOR_EXTENTS,
    WITH_EXTENTS,
    ExpectedCount,
    Extents,
    Fact,
    Graph,
    Model,
    Node,
    NodeForm,
    Place,
    Proto,
    Shape,
    are_sizes,
    attributes_with,
    describe_shape,
    expected_counts,
    packed_bytes,
)
from onnx_lint.rule import Finding, Related, findings_of_nodes, replace, rule
from onnx_lint.wording import quote


@rule(
    clause="NOD-7b",
    since="0.1.0",
    about=Model.may_have_impossible_extents,
    needs="node",
    security=("CWE-125", "CWE-369", "CWE-787"),
)
def impossible_operator_extent(model: Model) -> Iterator[Finding]:
    """A node states extents that no operands can have, or that its operands do not have.

    ### Why it matters

    Readers take these numbers for true. A stride of 0 has been divided by, a kernel of more axes than the input has
    been written beyond its buffer, and weights have been read beyond their end where N, K and the number of bits say
    that there are more of them.

    ### What is allowed

    - Convolution and pooling: `strides`, `dilations` and `kernel_shape` of positive numbers, one for each spatial axis
      of the input; `group` positive; for DeformConv weights of as many dimensions as the input.
    - Split: `num_outputs` is the number of the node's outputs.
    - RNN, GRU and LSTM: `hidden_size` positive.
    - MatMulNBits of ONNX Runtime: weights of as many bytes as `N`, `K`, `bits` and `block_size` make, of which it takes
      2, 4 or 8 bits and blocks of powers of two from 16 on. The pools of ONNX Runtime: windows as those of ONNX.
    - SVMClassifier and SVMRegressor: as many support vectors, coefficients and class labels as `vectors_per_class` or
      `n_supports` say, and at least one number in `rho` and `prob_a` for each pair of classes.
    - Classical machine learning, for input features [N, F]: a key of ZipMap for each column ("There must be as many
      columns as keys"); one `offset` and `scale` of Scaler, or F; one imputed value of Imputer, or as many as the last
      dimension has ("may be 1 or F"); F `coefficients` of LinearRegressor for each target ("M sets of coefficients
      must be passed in"), at least F of LinearClassifier for each intercept, F numbers for each support vector; no node
      of a tree that tests a feature beyond the last one; an element in `inputdimensions` of FeatureVectorizer for each
      input. ONNX Runtime runs some of them: where there are other numbers of imputed values it takes the first one for
      all features, and it passes over further coefficients. The message says so.
    - Any operator: an axis that the input has and a list that has it once, a list with as many numbers as the input has
      dimensions, sizes and counts that go with the input's, as the operator's description has it.

    Dimensions are those that follow from inputs, initializers and declarations, see `incompatible-operand-shapes`;
    where nothing is known, nothing is judged that depends on it. Attributes that refer to a parameter of a function are
    judged by what calls and defaults give. The same numbers in an input are for
    `unsupported-operand-value`.

    ### Example

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [0, 0] } }
    ```

    ### How to fix

    Give sizes that go with the input: here steps of 1 or more.

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [1, 1] } }
    ```
    """
    reported: set[Place] = set()
    for graph in model.graphs:
        for finding in _in_graph(model, graph):
            reported.add(finding.place)
            yield finding
    for finding in _handed_in(model):
        if finding.place not in reported:
            reported.add(finding.place)
            yield finding
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, str))
    yield from findings_of_nodes(model, ((each, "NOD-7b") for each in conflicts if each.place not in reported))


InputShapes = tuple[Shape, ...]
"""The shapes of the inputs of a node."""


def _in_graph(model: Model, graph: Graph) -> Iterator[Finding]:
    judged = {form: found for form in graph.form_counts if (found := _extents(model, graph, form)) is not None}
    if not judged:
        return
    # Large models repeat a few layers: nodes of one form of whose inputs the same is known have one verdict.
    sound: set[tuple[NodeForm, tuple[Fact | None, ...]]] = set()
    known = model.value_flow.facts_seen(graph)
    for node in graph.nodes_of(judged.keys()):
        key = node.form, tuple(map(known, node.inputs))
        if key not in sound:
            shapes = tuple([model.shape_of(name, graph) for name in node.inputs])
            findings = list(_of_node(node, node.form, judged[node.form], shapes))
            yield from findings
            if not findings:
                sound.add(key)


def _extents(model: Model, graph: Graph, form: NodeForm) -> Extents | None:
    """Return the extents that nodes of a form state for their operands; None if their operator has none."""
    if form.op_type not in WITH_EXTENTS:
        return None
    operator = model.operators.operator_in(graph, form)
    # A deprecated operator is no longer part of the operator set, so its old signature requires nothing.
    if operator.schema is None or operator.schema.deprecated:
        return None
    return OPERATOR_EXTENTS.get((operator.domain, operator.op_type))


def _handed_in(model: Model) -> Iterator[Finding]:
    """The findings for what calls and defaults bring into functions, whatever shapes the inputs have.

    Calls bring shapes as well; what these and the values of one call are together is followed in `value_flow`.
    """
    for bound in model.bound_nodes:
        extents = OPERATOR_EXTENTS.get((bound.operator.domain, bound.operator.op_type))
        if extents is None:
            continue
        for node in bound.nodes:
            shapes: InputShapes = (None,) * len(node.inputs)
            for finding in _of_node(node, bound.bound, extents, shapes):
                related = tuple(Related(*note) for note in bound.notes(bound.givers))
                yield replace(finding, related=(*finding.related, *related))


def _of_node(node: Node, form: NodeForm, extents: Extents, shapes: InputShapes) -> Iterator[Finding]:
    """The findings for a node; `form` has its attributes, with values in place of references to parameters."""
    data = shapes[0] if shapes else None
    for name in extents.positive:
        number = _number(form, name)
        if number is not None and number < 1:
            yield _finding(node, name, f"is {number}", "a positive number")
    for name in extents.spatial:
        yield from _of_axes(node, form, name, data)
    if extents.outputs is not None:
        number = _number(form, extents.outputs)
        if number is not None and number != len(node.outputs):
            what = f"is {number}, the node has {_counted(len(node.outputs), 'output')}"
            yield _finding(node, extents.outputs, what, "the number of the outputs")
    yield from _of_ranks(node, extents, shapes)
    if extents.sizes:
        yield from _of_packed_weights(node, form, extents.sizes, shapes)
    if extents.lengths is not None:
        yield from _of_lengths(node, form, extents.lengths)


def _of_axes(node: Node, form: NodeForm, name: str, data: Shape) -> Iterator[Finding]:
    numbers = _numbers(form, name)
    if numbers and min(numbers) < 1:
        yield _finding(node, name, f"holds {min(numbers)}", "positive numbers")
    elif numbers is not None and data is not None and len(data) >= 2 and len(numbers) != len(data) - 2:
        what = f"has {_counted(len(numbers), 'number')}, input 0 has {_counted(len(data), 'dimension')}"
        yield _finding(node, name, what, f"{len(data) - 2}, one for each spatial axis")


def _of_ranks(node: Node, extents: Extents, shapes: InputShapes) -> Iterator[Finding]:
    ranks = [None if shape is None else len(shape) for shape in shapes]
    index = extents.weights
    if index is not None and index < len(ranks) and None not in (ranks[0], ranks[index]) and ranks[0] != ranks[index]:
        what = f"input {index} of {node.describe()} has {_counted(ranks[index] or 0, 'dimension')}"
        allowed = "weights of as many dimensions as the input"
        yield Finding(node.place.at("input", index), f"{what}, input 0 has {ranks[0]}", allowed=allowed)


def _of_packed_weights(node: Node, form: NodeForm, names: Sequence[str], shapes: InputShapes) -> Iterator[Finding]:
    weights = shapes[1] if len(shapes) > 1 else None
    rows, columns, bits, block = (_number(form, name) for name in names)
    if "bits" not in {proto.name for proto in form.attributes}:
        bits = 4  # the default, at which the operator began
    if not are_sizes(weights) or rows is None or columns is None or block is None or bits is None:
        return
    if min(rows, columns, block, bits) < 1:
        return
    needed = packed_bytes(rows, columns, bits, block)
    there = math.prod(weights)
    if there < needed:
        yield Finding(
            node.place.at("input", 1),
            f"input 1 of {node.describe()} is {describe_shape(weights)}, {there:,} bytes; "
            f"N={rows}, K={columns}, bits={bits} and block_size={block} stand for {needed:,}",
            allowed=f"{needed:,} bytes",
        )


def _of_lengths(node: Node, form: NodeForm, sources: tuple[str, str]) -> Iterator[Finding]:
    source, numbers = sources[0], _numbers(form, sources[0])
    if numbers is None:
        number = _number(form, sources[1])
        source, numbers = sources[1], [] if number is None else [number]
    if sum(numbers) and min(numbers) < 0:
        yield _finding(node, source, "is negative", "numbers of support vectors")
    elif sum(numbers):  # a linear model has no support vectors
        for expected in expected_counts(source, numbers):
            yield from _of_count(node, form, expected)


_LISTS = {"FLOATS": "floats", "INTS": "ints", "STRINGS": "strings"}


def _of_count(node: Node, form: NodeForm, expected: ExpectedCount) -> Iterator[Finding]:
    proto = _attribute(form, expected.attribute, expected.type_name)
    if proto is None:
        return
    count = len(getattr(proto, _LISTS[expected.type_name]))
    is_right = count % expected.count == 0 and count > 0 if expected.is_multiple else count == expected.count
    is_right = is_right or (expected.or_more and count > expected.count)
    if is_right or (count == 0 and expected.may_be_empty):
        return
    what = f"has {_counted(count, expected.noun)}, {quote(expected.source)} {expected.said}"
    least = "at least " if expected.or_more else ""
    allowed = f"a multiple of {expected.count}" if expected.is_multiple else f"{least}{expected.count:,}"
    yield _finding(node, expected.attribute, what, f"{allowed}, {expected.why}" if expected.why else allowed)


def _attribute(form: NodeForm, name: str, type_name: str) -> Proto | None:
    """The attribute of this name and type, if the node has one with a value of its own."""
    for index, (known, code) in enumerate(form.attribute_types):
        if known == name:
            proto = form.attributes[index]
            return proto if code == ATTRIBUTE_TYPE_CODES[type_name] and not proto.ref_attr_name else None
    return None


def _number(form: NodeForm, name: str) -> int | None:
    proto = _attribute(form, name, "INT")
    return None if proto is None else int(proto.i)


def _numbers(form: NodeForm, name: str) -> Sequence[int] | None:
    proto = _attribute(form, name, "INTS")
    numbers: Sequence[int] | None = None if proto is None else proto.ints
    return numbers


def _finding(node: Node, name: str, what: str, allowed: str) -> Finding:
    index = next(attributes_with(node, {name}))
    message = f"attribute {quote(name)} of {node.describe()} {what}"
    return Finding(node.place.at("attribute", index), message, allowed=allowed, subject=name)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.fact import Content, Fact
from onnx_lint.ir.tensors.numbers import Constants
from onnx_lint.model import ELEMENT_TYPES, Graph, Model, Node, Proto, are_sizes, fact
from onnx_lint.model.constants import constants_of
from onnx_lint.rule import Finding, Record, by_share, replace, rule
from onnx_lint.wording import quote

_SAFE_DETOURS = {
    "bool": {"int8", "uint8", "int32", "int64", "float16", "float", "double"},
    "float16": {"float", "double"},
    "bfloat16": {"float", "double"},
    "float": {"double"},
    "int8": {"int16", "int32", "int64", "float16", "float", "double"},
    "uint8": {"int16", "uint16", "int32", "int64", "float16", "float", "double"},
    "int16": {"int32", "int64", "float", "double"},
    "uint16": {"int32", "uint32", "int64", "float", "double"},
    "int32": {"int64", "double"},
    "uint32": {"int64", "uint64", "double"},
}
"""For each type those that hold all of its values, so that a cast there and back changes nothing."""


@rule(clause=("HYG-5", "HYG-19"), since="0.2.0", needs="attribute")
def ineffective_node(model: Model) -> Iterator[Finding]:
    """A node returns its input: a Cast to the same type, a Reshape to the same shape, a Transpose that undoes another.

    ### How to fix

    Delete the node and use its input instead of its output.

    - `onnx-lint fix --select ineffective-node` (safe) does it.
    - The fix needs `--unsafe-fixes` for a 0 that is added to floating-point numbers, because -0 + 0 is 0; for 16-bit
      floating-point numbers, because the nodes around a value decide whether a runtime rounds it; and in functions.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    node { op_type: "Relu" input: "x" output: "positive" }
    node { op_type: "Flatten" input: "positive" output: "same" }
    node { op_type: "Neg" input: "same" output: "y" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    node { op_type: "Relu" input: "x" output: "positive" }
    node { op_type: "Neg" input: "positive" output: "y" }
    ```

    ### Why it matters

    A runtime that does not remove the node copies the value, and cannot fuse the nodes around it.

    ### Details

    - Cast: to the type that its input has, or back to the type before another Cast, if that Cast kept all values.
    - Reshape, Expand, Tile, Flatten, Pad, Slice, Resize, Upsample: with the shape of the input.
    - Transpose: with the axes in order, or undoing the Transpose before it. Squeeze and Unsqueeze: undoing the one
      before.
    - Concat, Sum, Max, Min and Mean of one input. Add and Sub of 0, Mul and Div by 1. Dropout in inference or of ratio
      0. A vector of zeros or ones is not reported: it may be a bias or scale that training has not changed.
    - Identity is reported only if the rule is selected by its name, because exporters write it between many parts of a
      model. So are other nodes, if they are fewer than a tenth of the model's nodes, or one or two.
    - A node whose output is a graph output is not reported if the graph needs it: its input is not computed in the
      graph, or is also an output.
    - Only shapes that are certain in every run are compared: those of the model's inputs, not those that `value_info`
      declares. Two inputs with one dimension variable may have two sizes.
    - In a function, where types and shapes depend on the call, only constants and the node before are compared.
    """
    yield from by_share(model, _findings(model), "HYG-5", "HYG-19")


def _findings(model: Model) -> Iterator[Finding]:
    if model.operators.names.isdisjoint(_EFFECTS):
        return
    constants = constants_of(model)
    for graph in model.graphs:
        outputs: set[str] = set(graph.output_names)
        for node in _nodes_that_may_be_idle(graph):
            found = _returned(model, node, constants)
            if found is None or not model.uses.used_in(graph).isdisjoint(filter(None, node.outputs[1:])):
                continue
            what, value = found
            if not _is_needed(graph, node.outputs[0], value, outputs):
                yield Finding(
                    node.place,
                    f"{node.describe()} {what}",
                    clause="HYG-19" if node.op_type == "Identity" else None,
                    allowed="nodes that change a value",
                    subject=node.name or node.outputs[0],
                    cause=node.op_type,
                    fix=model.removals.delete_nodes(
                        f"delete {node.describe()} and read {quote(value)} instead",
                        graph,
                        (node.index,),
                        {node.outputs[0]: value},
                        is_safe=node.op_type not in {"Add", "Sub"}
                        or (_type_of(model, node) or "").startswith(("int", "uint")),
                    ),
                )


def _nodes_that_may_be_idle(graph: Graph) -> Iterator[Node]:
    if not graph.is_file:
        forms = {form for form in graph.form_counts if form.op_type in _EFFECTS and form.outputs[:1] == (True,)}
        yield from graph.nodes_of(forms) if forms else ()


def _is_needed(graph: Graph, new: str, old: str, outputs: set[str]) -> bool:
    """Return whether a graph needs a node that renames a value: the new name is an output, the old one cannot be."""
    if new not in outputs:
        return False
    if graph.producer_of(old) is None or old in outputs:
        return True
    outputs.add(old)  # the next node that renames this value to an output is needed
    return False


_Returned = tuple[str, str] | None
"""In words what a node does, and the value that its output equals; None if it may change its input."""


class _Case(Record):
    """A node, and how to look up its inputs."""

    model: Model
    node: Node
    constants: Constants
    version: int
    knows_runs: bool
    """True for the facts that hold in every run, false for all that the model declares as well."""
    asked: list[str]
    """The inputs that were asked for by these facts."""


def _fact(case: _Case, index: int = 0) -> Fact:
    """Return the facts about an input. In a function only those about its constants are the same in each call."""
    graph, name = case.node.graph, case.node.inputs[index] if index < len(case.node.inputs) else ""
    before = _before(case, index)
    if graph.function is not None and (before is None or before.op_type != "Constant"):
        return fact(None)
    case.asked.append(name)
    return (case.model.proven_flow if case.knows_runs else case.model.value_flow).fact_of(name, graph)


def _before(case: _Case, index: int = 0, op_type: str = "") -> Node | None:
    """Return the node of the same graph that makes an input; None if it has another operator."""
    graph = case.node.graph
    producer = graph.producer_of(case.node.inputs[index]) if index < len(case.node.inputs) else None
    if producer is None:
        return None
    before = graph.nodes[producer]
    is_asked = before.domain in {"", "ai.onnx"} and op_type in {"", before.op_type} and not _refers(before)
    return before if is_asked else None


def _attribute(case: _Case, name: str) -> Proto | None:
    """Return an attribute; None if it is not there."""
    return next((each for each in case.node.attribute_protos if each.name == name), None)


def _numbers(case: _Case, index: int, name: str = "") -> Content:
    """Return the elements of an input, or of the attribute in earlier versions; None if unknown or not there."""
    if index < len(case.node.inputs):
        return _fact(case, index).content
    found = _attribute(case, name)
    return tuple(found.ints) if found is not None else None


def _is(case: _Case, index: int, number: int) -> bool:
    """Return whether the elements of an input are the number, whatever the caller supplies."""
    name, scope = case.node.inputs[index], case.node.graph
    while name not in scope.positions and scope.parent is not None:
        scope = scope.parent
    if name not in scope.positions or name in scope.input_names:
        return False
    found = case.constants.of(case.node.graph, name)
    if found is not None:
        return not found.has_nan and found.least == found.greatest == number
    content = _fact(case, index).content
    return _are_all(content, number)


def _are_all(values: tuple[object, ...] | None, number: int) -> bool:
    """Return whether there are values, and each is the number."""
    return values is not None and 0 < len(values) == values.count(number)


def _returned(model: Model, node: Node, constants: Constants) -> _Returned:
    """Return what a node does that changes no value, by what is known of every run."""
    if _refers(node) or node.domain not in {"", "ai.onnx"} or not any(node.inputs[:1]):
        return None
    schema = model.operators.operator(node).schema
    if schema is None or schema.domain:
        return None
    found: _Returned = None
    for knows_runs in (False, True):  # the first facts are at hand, and by them most nodes have an effect
        case = _Case(model, node, constants, schema.since_version, knows_runs, [])
        found = _EFFECTS[node.op_type](case)
        if found is None or not case.asked:
            break
    return found


def _refers(node: Node) -> bool:
    return any(each.ref_attr_name for each in node.attribute_protos)


def _always(words: str, is_one: Callable[[_Case], bool]) -> Callable[[_Case], _Returned]:
    """Return the judge of an operator that returns its first input under a condition."""
    return lambda case: (words, case.node.inputs[0]) if is_one(case) else None


def _neutral(words: str, number: int, *indices: int) -> Callable[[_Case], _Returned]:
    """Return the judge of an operator for which a number changes nothing as one of these inputs."""

    def judge(case: _Case) -> _Returned:
        if len(case.node.inputs) != 2 or not all(case.node.inputs):
            return None
        for index in indices:
            if _fits(_fact(case, index), _fact(case, 1 - index)) and _is(case, index, number):
                return words, case.node.inputs[1 - index]
        return None

    return judge


def _fits(small: Fact, whole: Fact) -> bool:
    """Return whether a constant is one number, and does not change the shape of the other operand."""
    if small.shape == ():
        return True
    return set(small.shape or ()) == {1} and whole.shape is not None and len(small.shape or ()) <= len(whole.shape)


def _is_covered(sizes: tuple[Dim | float, ...], shape: tuple[Dim | float, ...]) -> bool:
    """Return whether broadcasting a shape with these sizes leaves it as it is."""
    pairs = zip(reversed(sizes), reversed(shape), strict=False)
    return len(sizes) <= len(shape) and all(size == 1 or (size == dim and isinstance(dim, int)) for size, dim in pairs)


def _keeps_shape(case: _Case) -> bool:
    target, shape = _numbers(case, 1, "shape"), _fact(case).shape
    if target is None or shape is None or len(target) != len(shape) or target.count(-1) > 1:
        return False
    allows_zero = _attribute(case, "allowzero")
    copies = (-1,) if allows_zero is not None and allows_zero.i else (-1, 0)
    return all(
        size in copies or (size == dim and isinstance(dim, int)) for size, dim in zip(target, shape, strict=True)
    )


def _expands_to_itself(case: _Case) -> bool:
    target, shape = _numbers(case, 1), _fact(case).shape
    return target is not None and shape is not None and _is_covered(target, shape)


def _keeps_all(case: _Case) -> bool:
    starts, ends, shape = _numbers(case, 1, "starts"), _numbers(case, 2, "ends"), _fact(case).shape
    has_axes = _has_input(case, 3) or _attribute(case, "axes") is not None
    axes = _numbers(case, 3, "axes") if has_axes else tuple(range(len(starts or ())))
    has_steps = _has_input(case, 4) and not _are_all(_numbers(case, 4), 1)
    if has_steps or not ends or not axes or not _are_all(starts, 0):
        return False
    if starts is None or not len(starts) == len(ends) == len(axes):
        return False
    sizes: dict[object, Dim | float] = {}
    for place, size in enumerate(shape or ()):
        sizes[place] = sizes[place - len(shape or ())] = size
    return all(_reaches(end, sizes.get(axis)) for end, axis in zip(ends, axes, strict=True))


def _has_input(case: _Case, index: int) -> bool:
    return any(case.node.inputs[index : index + 1])


def _reaches(end: object, size: object) -> bool:
    """Return whether a slice that begins at 0 is known to reach the end of a dimension."""
    return isinstance(end, int) and (end >= _TO_THE_END or (isinstance(size, int) and end >= size))


_TO_THE_END: Final = 2**31 - 1
"""The text of Slice recommends it as the end of a dimension of unknown size."""


def _keeps_size(case: _Case) -> bool:
    mode = _attribute(case, "coordinate_transformation_mode")
    if case.version < 9 or (mode is not None and mode.s == b"tf_crop_and_resize"):
        return False
    has_sizes = len(case.node.inputs) > 3 and bool(case.node.inputs[3])
    if has_sizes:
        shape = _fact(case).shape
        return are_sizes(shape) and _numbers(case, 3) == shape and _attribute(case, "axes") is None
    return _are_all(_numbers(case, 1 if case.version < 11 else 2), 1)


def _drops_nothing(case: _Case) -> bool:
    if case.version < 7:
        return False
    is_idle = len(case.node.inputs) > 1 and _is(case, 1, 0)  # a ratio of 0
    return case.version < 12 or not any(case.node.inputs[2:]) or is_idle or _numbers(case, 2) == (0,)


def _transposed(case: _Case) -> _Returned:
    order, before = _order(case.node), _before(case, 0, "Transpose")
    if order is None:
        shape = _fact(case).shape
        order = range(len(shape))[::-1] if shape is not None and len(shape) < 2 else None
    if order is not None and [*order] == [*range(len(order))]:
        return "keeps the order of the axes", case.node.inputs[0]
    if before is None or not _is_inverse(_order(before), order):
        return None
    return f"reverses {before.describe()}", before.inputs[0]


def _is_inverse(first: Sequence[int] | None, order: Sequence[int] | None) -> bool:
    """Return whether the second of two orders of axes undoes the first; None is the reverse order."""
    if first is None or order is None:
        return first is order
    return [first[axis] for axis in order if 0 <= axis < len(first)] == [*range(len(first))]


def _order(node: Node) -> tuple[int, ...] | range | None:
    return next((tuple(each.ints) for each in node.attribute_protos if each.name == "perm"), None)


def _same_axes(case: _Case) -> _Returned:
    other = "Squeeze" if case.node.op_type == "Unsqueeze" else "Unsqueeze"
    before = _before(case, 0, other)
    if before is None:
        return None
    axes, others = _numbers(case, 1, "axes"), _numbers(replace(case, node=before), 1, "axes")
    if not axes or not others or sorted(map(str, axes)) != sorted(map(str, others)) or not are_sizes((*axes, *others)):
        return None
    return f"reverses {before.describe()}", before.inputs[0]


def _cast(case: _Case) -> _Returned:
    to, before = _target(case.node), _before(case, 0, "Cast")
    if to is None:
        return None
    if before is not None:
        through = _target(before)
        if through == to:
            return f"casts to {to}, the same type as {before.describe()}", case.node.inputs[0]
        if through in _SAFE_DETOURS.get(to, ()) and _type_of(case.model, before) == to:
            return f"casts back to {to}, the type before {before.describe()}", before.inputs[0]
    return (
        (f"casts to {to}, the type of its input", case.node.inputs[0])
        if _type_of(case.model, case.node) == to
        else None
    )


def _target(node: Node) -> str | None:
    """Return the name of the target type of a Cast; None if a call of a function decides it."""
    numbers = [each.i for each in node.attribute_protos if each.name == "to" and not each.ref_attr_name]
    element = ELEMENT_TYPES.get(numbers[0]) if numbers else None
    return element.name if element is not None else None


def _type_of(model: Model, node: Node) -> str | None:
    """Return the name of the element type of a node's input; None if it is unknown, or a call decides it."""
    if node.graph.function is not None or not node.inputs:
        return None
    kind = model.value_flow.fact_of(node.inputs[0], node.graph).kind
    return kind.removeprefix("tensor(").removesuffix(")") if kind else None


_ONE_INPUT: Final = _always("returns its only input", lambda case: len(case.node.inputs) == 1)
_NO_RESIZE: Final = _always("resizes its input to the same size", _keeps_size)

_EFFECTS: Final[dict[str, Callable[[_Case], _Returned]]] = {
    "Identity": _always("only renames its input", lambda case: True),
    "Cast": _cast,
    **dict.fromkeys(("Concat", "Sum", "Max", "Min", "Mean"), _ONE_INPUT),
    "Reshape": _always("reshapes its input to the same shape", _keeps_shape),
    "Expand": _always("expands its input to the same shape", _expands_to_itself),
    "Tile": _always("repeats its input once", lambda case: case.version > 1 and _are_all(_numbers(case, 1), 1)),
    "Flatten": _always(
        "flattens a matrix to the same matrix",
        lambda case: len(_fact(case).shape or ()) == 2 and getattr(_attribute(case, "axis"), "i", 1) in {1, -1},
    ),
    "Pad": _always("adds no padding", lambda case: _are_all(_numbers(case, 1, "pads"), 0)),
    "Slice": _always("keeps all of its input", _keeps_all),
    "Transpose": _transposed,
    "Squeeze": _same_axes,
    "Unsqueeze": _same_axes,
    "Dropout": _always("drops nothing", _drops_nothing),
    "Resize": _NO_RESIZE,
    "Upsample": _NO_RESIZE,
    "Add": _neutral("adds 0", 0, 0, 1),
    "Sub": _neutral("subtracts 0", 0, 1),
    "Mul": _neutral("multiplies by 1", 1, 0, 1),
    "Div": _neutral("divides by 1", 1, 1),
}
"""For each operator whether a node returns an input."""

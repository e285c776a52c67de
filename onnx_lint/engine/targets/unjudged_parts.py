# SPDX-License-Identifier: Apache-2.0
"""The parts of a model that a program refuses in some models only, so that it cannot be said to take the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, takewhile
from math import prod
from typing import TYPE_CHECKING, Final

from onnx_lint.engine.targets.parts_in_question import (
    CountedParts,
    has_attribute,
    inputs_of_kind,
    is_parameter,
    kind_of,
    nodes_of,
    normalized_sizes,
    phrases,
    stored_contents,
)
from onnx_lint.ir.graph import GraphKind
from onnx_lint.ir.operators.operators import OPSET_IMPORTS_SINCE
from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.model import Function, Graph, Model, Node, StoredTensor
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import EXTERNAL_LOCATION, MAX_INT64, DataType
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.spec.products import ProductRelease, version_number
from onnx_lint.spec.products.refusals import (
    FIRST_TRUNCATED_VERSION,
    FORBIDDEN_GATES,
    LINEAR_ATTENTION,
    ONNXRUNTIME_NEEDED_ATTRIBUTES,
    READ_INPUTS,
    REFUSED_FORMS,
    RefusedForm,
)
from onnx_lint.spec.releases import DOMAIN_ALIAS

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor


def unjudged_by_onnx(model: Model) -> Iterator[str]:
    """Yield what both checks of onnx refuse in some models that are right (docs/faults_of_onnx.md), in words."""
    names = [{entry.domain for entry in function.proto.opset_import} for function in model.functions]
    yield from phrases(
        (
            sum(DOMAIN_ALIAS in each and "" not in each for each in names),
            "function",
            "with no import of '' but 'ai.onnx'",
        ),
        (sum(each.proto.HasField("segment") for each in model.tensors.miscounted), "tensor", "in segments"),
        (sum(".." in each.location for each in model.external_data), "name", "of a data file with two dots"),
        _large(model),
    )


def unjudged_by_full_check(model: Model) -> Iterator[str]:
    """Yield what `full_check` refuses in some models that are right (docs/faults_of_onnx.md), in words."""
    if model.effective_ir_version < OPSET_IMPORTS_SINCE:
        yield f"a model of IR version {model.effective_ir_version}"
    calls = model.calls.all
    yield from phrases(
        (len(model.tensors.sparse), "sparse tensor", ""),
        (
            sum(each.is_external and each.data_type in _INTEGERS for each in model.external_data),
            "tensor",
            "of integers in data files",
        ),
        (sum(1 for _ in _read_from_files(model)), "tensor", "in data files that may decide a shape"),
        (
            sum(
                len(node.outputs) < len(function.body.output_names) or len(node.inputs) < len(function.body.input_names)
                for node, function in calls
            ),
            "call",
            "without all operands of its function",
        ),
        (sum(map(_may_have_forbidden_gates, nodes_of(model, LINEAR_ATTENTION))), *_FORBIDDEN),
        (_with_a_faulty_function(model), "node", f"of {_WITH_FAULTS} without axes, or of another type than float"),
        (sum(_has_untyped_output(graph) for graph in model.graphs), "subgraph", "with outputs of unknown type"),
    )
    for alike in model.operators.alike_nodes:
        name = alike.operator.op_type
        if not alike.operator.domain and name in _MISTAKEN:
            yield from phrases(
                (sum(map(_MISTAKEN[name], alike.nodes)), "node", f"of {name} whose shape full_check may mistake")
            )


def _may_have_forbidden_gates(node: Node) -> bool:
    """Return whether a LinearAttention may have an input that onnx forbids beside the update rule."""
    rules = [rule.encode() for rule, indices in FORBIDDEN_GATES.items() if any(map(partial(_has_input, node), indices))]
    return bool(rules) and has_attribute(node, "update_rule", *rules)


def _has_input(node: Node, index: int) -> bool:
    return index < len(node.inputs) and bool(node.inputs[index])


_FORBIDDEN: Final = ("node", f"of {LINEAR_ATTENTION} with an input that the update rule may forbid")


def unjudged_tensors(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the tensors that a release refuses in some models, in words."""
    if release.has_kernels:
        yield from _unjudged_by_onnxruntime(model, release)
    else:
        from onnx_lint.engine.targets.unjudged_conversions import unjudged_by_converters

        yield from unjudged_by_converters(model, release)


def _read_from_files(model: Model) -> Iterator[Proto]:
    """Yield the tensors of other types than integers in data files whose elements the inference of shapes reads."""
    for alike in model.operators.alike_nodes if model.external_data else ():
        rows = () if alike.operator.domain else READ_INPUTS.get(alike.operator.op_type, ())
        for index in {index for row in rows for index in row.inputs}:
            for node in alike.nodes:
                name = node.inputs[index] if index < len(node.inputs) else ""
                tensors = StoredElements(model.calls, model.main_graph).tensors_of(node.graph, name)
                for tensor in chain(tensors, _default_of(node.graph, name)):
                    if tensor.data_location == EXTERNAL_LOCATION and tensor.data_type not in _INTEGERS:
                        yield tensor


def _default_of(graph: Graph, name: str) -> Iterator[Proto]:
    """Yield the tensor that an input of a graph has if no other is given: onnx takes it for a constant."""
    found = graph.definition_of(name) if name else None
    if found is not None and found.field == "input" and name in found.graph.initializer_index:
        yield found.graph.message_at("initializer", found.graph.initializer_index[name])


def _with_a_faulty_function(model: Model) -> int:
    """Return the number of nodes whose function mixes float with the type of the input, or lacks the default axes."""
    operators = [each for each in model.operators.alike_nodes if each.operator.op_type == _WITH_FAULTS]
    nodes = [(each.operator, node) for each in operators if not each.operator.domain for node in each.nodes]
    return sum(
        not _is_float(model, node)
        or ((operator.opset_version or 0) >= 13 and all(each.name != "axes" for each in node.attribute_protos))
        for operator, node in nodes
        if node.inputs
    )


def _is_float(model: Model, node: Node) -> bool:
    fact = model.value_flow.facts_seen(node.graph)(node.inputs[0])
    return fact is not None and fact.kind == "tensor(float)"


_WITH_FAULTS: Final = "MeanVarianceNormalization"


def _has_untyped_output(graph: Graph) -> bool:
    """Return whether a graph of an attribute has an output without a type; one that is named twice counts as well."""
    return graph.parent is not None and any(not each.type.WhichOneof("value") for each in graph.proto.output)


def _rounds_up_without_padding(node: Node) -> bool:
    return has_attribute(node, "ceil_mode", 1) and has_attribute(node, "auto_pad", b"VALID")


def _has_empty_outputs(node: Node) -> bool:
    return len(node.outputs) > 1 and not any(node.outputs[1:])


_MISTAKEN: Final[Mapping[str, Callable[[Node], bool]]] = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _rounds_up_without_padding),
    "BatchNormalization": _has_empty_outputs,
    "ConvTranspose": lambda node: has_attribute(node, "auto_pad", b"SAME_UPPER", b"SAME_LOWER"),
    "STFT": lambda _: True,
}
"""Which nodes of an operator get a wrong shape, or none, from the inference of onnx."""

_INTEGERS: Final = (6, 7)
"""The numbers of INT32 and INT64 in the enum DataType, the types of tensors that decide shapes."""


def _unjudged_by_onnxruntime(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the parts that ONNX Runtime refuses in some models, in words."""
    yield from _unjudged_tensors(model)
    yield from phrases(
        (int(not model.main_graph.output_names), "main graph", "without outputs"),
        (sum(map(_has_ids_beyond, _trees(model))), "tree ensemble", "with ids that do not begin with 0"),
        (
            sum(map(_has_shared_nodes, _trees(model))) if version_number(release.version) < _SHARES_NODES else 0,
            "tree ensemble",
            "whose branches share nodes",
        ),
        (inputs_of_kind(model, _NOT_REGISTERED), "input", "of a type that the release may not have"),
    )
    yield from _unjudged_in_functions(model)
    yield from _unjudged_nodes(model)
    if version_number(release.version) < _NORMALIZES_HALF:
        halves = sum(_is_half_and_broadcasts(model, node) for node in nodes_of(model, "LayerNormalization"))
        yield from phrases((halves, "node", "of LayerNormalization of float16 with a scale of other sizes"))
    from onnx_lint.engine.targets.unjudged_fusions import unjudged_fusions

    yield from unjudged_fusions(model, release)


_NORMALIZES_HALF: Final = (1, 20)
"""The first known release with a kernel of LayerNormalization for float16. Others run its function."""


def _is_half_and_broadcasts(model: Model, node: Node) -> bool:
    """Return whether a scale or a bias of float16 may have another number of elements than 1 and what it scales."""
    if kind_of(model, node.graph, node.inputs[0]) != "tensor(float16)":
        return False
    sizes = normalized_sizes(model, node)
    return not all(_fills(model.shape_of(name, node.graph), sizes) for name in node.inputs[1:] if name)


def _fills(shape: Sequence[object] | None, sizes: Sequence[object] | None) -> bool:
    """Return whether a tensor surely has one element, or one for each place of these sizes."""
    if shape is None or None in shape:
        return False
    if sizes is not None and [*shape] == [*sizes]:
        return True
    counts = [_count(each) for each in (shape, sizes)]
    return counts[0] is not None and counts[0] in (1, counts[1])


def _count(sizes: Sequence[object] | None) -> int | None:
    """Return the number of elements; None if it is unknown."""
    known = [size for size in sizes or () if isinstance(size, int)]
    return prod(known) if sizes is not None and len(known) == len(sizes) else None


def _unjudged_tensors(model: Model) -> Iterator[str]:
    """Yield the tensors that ONNX Runtime refuses if it reads them, in words. It may remove a tensor unread."""
    miscounted = [each.proto for each in model.tensors.miscounted]
    in_segments = [*miscounted, *(each.proto for each in model.tensors.external)]
    external = [{entry.key for entry in each.proto.external_data} for each in model.tensors.external]
    yield from phrases(
        # It reads those of most types with a byte or more for each element.
        (
            sum(_is_packed(each.values) for each in model.tensors.sparse),
            "sparse tensor",
            "of strings or of less than a byte",
        ),
        (
            sum(map(_is_unusual, model.tensors.sparse)),
            "sparse tensor",
            "in a function, without indices, or very large",
        ),
        (sum(each.HasField("segment") for each in in_segments), "tensor", "in segments"),
        (sum(".." in each.location for each in model.external_data), "name", "of a data file with two dots"),
        (sum("basepath" in keys for keys in external), "tensor", "with the key 'basepath'"),
        (
            sum(proto.data_type == DataType.STRING and proto.HasField("raw_data") for proto in miscounted),
            "tensor",
            "of strings with raw_data",
        ),
        _large(model),
    )


def _unjudged_nodes(model: Model) -> Iterator[str]:
    """Yield the nodes and imports that ONNX Runtime refuses in some models, in words."""
    yield from phrases(
        (sum(map(partial(_is_narrow_clip, model), nodes_of(model, "Clip"))), "node", "of Clip with a narrow type"),
        (
            sum(map(partial(has_unknown_channels, model), nodes_of(model, "CausalConvWithState"))),
            "node",
            "of CausalConvWithState with an unknown number of channels",
        ),
        (
            sum(1 for _ in _imports_of_odd_versions(model)),
            "import",
            "of version 0, or of one that takes more than 31 bits",
        ),
        (sum(_may_divide_by_0(model, node) for name in ("Div", "Mod") for node in nodes_of(model, name)), *_DIVISORS),
    )
    parameters = [each for each in nodes_of(model, LINEAR_ATTENTION) if is_parameter(each, "update_rule")]
    yield from phrases((sum(map(_may_have_forbidden_gates, parameters)), *_FORBIDDEN))
    for name, forms in REFUSED_FORMS.items():
        doubted = sum(_may_have_a_form(model, node, forms) for node in nodes_of(model, name))
        yield from phrases((doubted, "node", f"of {name} with a value that the release may refuse for the type"))
    for name, is_doubtful in _DOUBTED.items():
        doubted = sum(map(is_doubtful, nodes_of(model, name)))
        yield from phrases((doubted, "node", f"of {name} with attributes that the kernel may refuse"))
    for alike in model.operators.alike_nodes:
        attribute = ONNXRUNTIME_NEEDED_ATTRIBUTES.get((alike.operator.domain, alike.operator.op_type))
        if attribute is not None and alike.operator.schema is not None:
            has_one = attribute in alike.operator.schema.attributes
            lacking = sum(not _gives(node, attribute) for node in alike.nodes) if has_one else 0
            yield from phrases((lacking, "node", f"of {alike.operator.op_type} without the attribute {attribute!r}"))
    for name in ("Resize", "Upsample"):
        if resized := nodes_of(model, name):
            from onnx_lint.engine.targets.unjudged_scales import may_refuse_scales

            doubted = sum(may_refuse_scales(model, node) for node in resized)
            yield from phrases((doubted, "node", f"of {name} with scales or attributes that the kernel may refuse"))


def _may_have_a_form(model: Model, node: Node, forms: Sequence[RefusedForm]) -> bool:
    """Return whether a node may have one of the values that are refused for its type: a call or the run knows it."""
    kind = kind_of(model, node.graph, node.outputs[0]) if node.outputs and node.outputs[0] else ""
    given = {each.name: bool(each.ref_attr_name) for each in node.attribute_protos}
    return any(
        form.attribute in given and (not kind or (given[form.attribute] and kind in form.types)) for form in forms
    )


def _unjudged_in_functions(model: Model) -> Iterator[str]:
    """Yield what ONNX Runtime may refuse because of a function of the model: there onnx infers the shapes, strictly."""
    calls = model.calls.all
    inside = [graph for graph in model.graphs if graph.function is not None]
    if not calls and not inside:
        return
    mistaken = 0
    for name, is_mistaken in {**_MISTAKEN, _WITH_FAULTS: _has_no_axes, "Resize": _has_scales}.items():
        mistaken += sum(node.graph.function is not None and is_mistaken(node) for node in nodes_of(model, name))
    contributed = [each for each in model.operators.alike_nodes if each.operator.domain == _CONTRIBUTED]
    yield from phrases(
        (sum(map(_has_too_many, calls)), "call", "with more operands than its function"),
        (
            sum(bool(function.proto.overload) and node.graph.function is not None for node, function in calls),
            "call",
            "of an overload in a function",
        ),
        (sum(map(_has_untyped_output, inside)), "subgraph", "of a function with outputs of unknown type"),
        (
            sum(node.graph.function is not None for each in contributed for node in each.nodes),
            "node",
            f"of {_CONTRIBUTED} in a function",
        ),
        (mistaken, "node", "of a function whose shape onnx may mistake"),
    )


_CONTRIBUTED: Final = "com.microsoft"


def _has_too_many(call: tuple[Node, Function]) -> bool:
    node, function = call
    body = function.body
    return len(node.inputs) > len(body.input_names) or len(node.outputs) > len(body.output_names)


def _has_no_axes(node: Node) -> bool:
    return all(each.name != "axes" for each in node.attribute_protos)


def _has_scales(node: Node) -> bool:
    return len(node.inputs) > 2 and bool(node.inputs[2])


def _trees(model: Model) -> list[Node]:
    alike = [each for each in model.operators.alike_nodes if each.operator.op_type.startswith("TreeEnsemble")]
    return [node for each in alike if each.operator.domain == "ai.onnx.ml" for node in each.nodes]


def _has_ids_beyond(node: Node) -> bool:
    """Return whether a node ID of a tree is not one of those that ONNX Runtime counts."""
    return is_parameter(node, "nodes_nodeids") or any(
        min(each.ints, default=0) > 0 for each in node.attribute_protos if each.name == "nodes_nodeids"
    )


def _has_shared_nodes(node: Node) -> bool:
    """Return whether two branches of a tree lead to one node."""
    lists = {each.name: each for each in node.attribute_protos if each.name.startswith("nodes_")}
    if len(lists.keys() & _OF_BRANCHES) < len(_OF_BRANCHES):
        return False
    modes, trees = lists["nodes_modes"].strings, lists["nodes_treeids"].ints
    ends = (lists["nodes_truenodeids"].ints, lists["nodes_falsenodeids"].ints)
    reached = [
        (tree, end) for mode, tree, *both in zip(modes, trees, *ends, strict=False) if mode != b"LEAF" for end in both
    ]
    return len({*reached}) < len(reached)


_OF_BRANCHES: Final = frozenset({"nodes_modes", "nodes_treeids", "nodes_truenodeids", "nodes_falsenodeids"})
_SHARES_NODES: Final = (1, 23)
"""The first known release that takes trees whose branches share nodes."""


def _gives(node: Node, name: str) -> bool:
    """Return whether a node has an attribute itself: a call may leave out the one that it refers to."""
    return any(each.name == name and not each.ref_attr_name for each in node.attribute_protos)


_NOT_REGISTERED: Final = (
    r"complex|sparse|opaque|float[46]e|seq\(seq|map\((?!(int64|string), (tensor\()?(double|float|int64|string)\b)"
)
"""The types that ONNX Runtime does not register, or not in each release."""


def _is_narrow_clip(model: Model, node: Node) -> bool:
    """Return whether the function of a Clip, which runs for want of a kernel, needs Less and Where of a narrow type."""
    narrow = ("tensor(int16)", "tensor(uint16)", "tensor(bfloat16)")
    return any(node.inputs[1:]) and kind_of(model, node.graph, node.inputs[0]) in narrow


def has_unknown_channels(model: Model, node: Node) -> bool:
    """Return whether the function of a CausalConvWithState, which runs for want of a kernel, may not be made.

    It needs the rank of the data, and a number of channels, which the data or the weights state.
    """
    data, weights = [model.shape_of(name, node.graph) for name in node.inputs[:2]]
    if data is None:
        return True
    return not any(isinstance(channels, int) for channels in (*data[1:2], *(weights or ())[:1]))


def _imports_of_odd_versions(model: Model) -> Iterator[Proto]:
    """Yield the imports of no positive version, in functions and of domains that are used, and of large versions."""
    used = {form.domain for graph in model.graphs for form in graph.form_counts}
    for entry in model.proto.opset_import:
        if entry.version >= FIRST_TRUNCATED_VERSION or (entry.version < 1 and entry.domain in used):
            yield entry
    for function in model.functions:
        yield from (entry for entry in function.proto.opset_import if not 1 <= entry.version < FIRST_TRUNCATED_VERSION)


def _may_divide_by_0(model: Model, node: Node) -> bool:
    """Return whether a divisor of a type whose elements are not followed may be a constant with a 0.

    Some releases end the process while they compute the quotient of constants.
    """
    name = node.inputs[1] if len(node.inputs) > 1 else ""
    if kind_of(model, node.graph, name) not in _NOT_FOLLOWED:
        return False
    found = node.graph.definition_of(name)
    if found is not None and found.field == "input" and found.graph.kind is GraphKind.MAIN:
        return name in found.graph.initializer_index and model.effective_ir_version < FREE_INITIALIZERS_SINCE
    contents = stored_contents(model, node.graph, name)
    return not contents or any(each is None or 0 in each for each in contents)


_NOT_FOLLOWED: Final = frozenset(f"tensor({name})" for name in ("int8", "int16", "uint8", "uint16", "uint32", "uint64"))
"""The types of integers whose elements the inference reads for few operators only."""
_DIVISORS: Final = ("node", "of Div or Mod that may divide by a constant 0")


def _pads_the_kernel(node: Node) -> bool:
    """Return whether a pad of a pool is as long as the kernel, for some axis."""
    if is_parameter(node, "kernel_shape", "pads"):
        return True
    lists = {each.name: each.ints for each in node.attribute_protos}
    return max(lists.get("pads", ()), default=0) >= min(lists.get("kernel_shape", ()), default=MAX_INT64)


def _has_odd_numbers_of_lrn(node: Node) -> bool:
    """Return whether the size is even, or alpha or beta is not above 0."""
    numbers = [each.f for each in node.attribute_protos if each.name in ("alpha", "beta")]
    return min(numbers, default=1.0) <= 0 or any(
        each.name == "size" and each.i % 2 == 0 for each in node.attribute_protos
    )


def _has_size_of_0(node: Node, *names: str) -> bool:
    lists = [each.ints for each in node.attribute_protos if each.name in names]
    return is_parameter(node, *names) or any(min(each, default=1) < 1 for each in lists)


def _has_lengths_and_number(node: Node) -> bool:
    return len(node.inputs) > 1 and any(each.name == "num_outputs" for each in node.attribute_protos)


_DOUBTED: Final[Mapping[str, Callable[[Node], bool]]] = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool", "MaxUnpool"), _pads_the_kernel),
    **dict.fromkeys(
        ("EyeLike", "RandomNormalLike", "RandomUniformLike"),
        lambda node: has_attribute(node, "dtype", DataType.FLOAT16),
    ),
    "BatchNormalization": _has_empty_outputs,
    "Col2Im": lambda node: _has_size_of_0(node, "dilations", "strides"),
    "LRN": _has_odd_numbers_of_lrn,
    "RotaryEmbedding": lambda node: any(
        each.name == "rotary_embedding_dim" and (each.i or each.ref_attr_name) for each in node.attribute_protos
    ),
    "Slice": lambda node: len({len(each.ints) for each in node.attribute_protos}) > 1,  # starts, ends and axes
    "Split": _has_lengths_and_number,
    "StringNormalizer": lambda _: True,  # a locale that the machine may lack
}
"""Which nodes the kernels of ONNX Runtime refuse for attributes, as far as these show it."""


def _large(model: Model) -> CountedParts:
    """Return the tensors whose sizes onnx and ONNX Runtime refuse to multiply."""
    return (
        sum(_overflows(each.proto.dims) for each in model.tensors.miscounted),
        "tensor",
        "with sizes that overflow before a 0",
    )


def _overflows(dims: Sequence[int]) -> bool:
    """Return whether the product of the sizes leaves 64 bits before a size of 0 ends it."""
    before = takewhile(bool, dims)
    return 0 in dims and prod(before) > MAX_INT64


def _is_unusual(tensor: StoredSparseTensor) -> bool:
    """Return whether a sparse tensor is in a function, has no indices, or makes a dense one of 2 GiB."""
    is_outside = bool(tensor.place.key) and tensor.place.key[0][0] != "graph"
    return is_outside or tensor.indices is None or prod(tensor.dims) > _MAX_BYTES


_MAX_BYTES: Final = 2**31


def _is_packed(values: StoredTensor | None) -> bool:
    return values is not None and (values.proto.data_type == DataType.STRING or values.proto.data_type > _LAST_OF_BYTES)


_LAST_OF_BYTES: Final = 20
"""The number of FLOAT8E5M2FNUZ in the enum DataType. Those that came later include types of less than a byte."""

# SPDX-License-Identifier: Apache-2.0
"""Functions that decide which rules run for a model: `@rule(about=has_faults)`.

A rule is neither imported nor run if its function returns False, None or an empty list. Most return a truth value.
Others return what the rule then reports, for example `dimension_contradictions`. Each must be cheap: it uses facts
that the model keeps, and looks at each node only if such a fact makes a finding likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from onnx_lint.inference.types.usual_types import traits_of
from onnx_lint.ir.columns.attribute_kinds import FLOAT_KINDS
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.documents.kinds import OPERATOR_SET_KIND
from onnx_lint.ir.graph import NO_NODES, Graph, Node, NodesOfGraphs
from onnx_lint.ir.names.plain_names import has_plain_names, repeats_outputs
from onnx_lint.ir.operators import attribute_faults, mismatch
from onnx_lint.ir.parts import METADATA
from onnx_lint.ir.places.place import ROOT
from onnx_lint.model.declared_values import ENDS, algorithms, empty_types
from onnx_lint.spec.element_types import FLOATING_TYPES
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE, LATER_FIELDS
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.spec.releases import (
    DOMAIN_ALIAS,
    OLDEST_LOADED_IR_VERSION,
    normalized_domain,
    release_of_edition,
    release_of_opset,
)
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.spec.target import NO_TARGET
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.equations.contradiction import Contradiction
    from onnx_lint.inference.flow.equations.open_variables import DeclaredSize, RequiredSize
    from onnx_lint.inference.flow.value_flow import ValueFlow
    from onnx_lint.ir.crashes import Crashes
    from onnx_lint.ir.names.resolution import UndefinedName
    from onnx_lint.ir.places.place import Place
    from onnx_lint.model.model import Model
    from onnx_lint.schema import Proto

_Found = TypeVar("_Found")


# --- the file, and what the run wants of it


def has_faults(model: Model) -> bool:
    """Return whether anything is wrong with the bytes of the file."""
    return bool(model.faults)


def may_exceed_limits(model: Model) -> bool:
    """Return whether the model may exceed what consumers can handle, by its numbers and sizes."""
    limits = model.limits
    return (
        model.source.size > limits.name_characters or len(model.graphs) > limits.graph_nesting or bool(model.functions)
    )


def has_target(model: Model) -> bool:
    """Return whether the intended consumer of the model is known."""
    return model.target is not NO_TARGET and model.target != NO_TARGET


# --- versions and imports


def has_unusual_header(model: Model) -> bool:
    """Return whether the model lacks its graph, its IR version or its producer, or has a domain."""
    proto = model.proto
    is_whole = model.ir_version and proto.producer_name and proto.producer_version and proto.HasField("graph")
    return not is_whole or bool(proto.domain)


def has_unusual_versions(model: Model) -> bool:
    """Return whether the model version is negative, or the IR version unknown to the edition or to ONNX Runtime."""
    newest = release_of_edition(model.standard.edition).ir_version
    known = model.ir_version == 0 or OLDEST_LOADED_IR_VERSION <= model.ir_version <= newest
    return model.proto.model_version < 0 or not known


def has_outdated_ir_version(model: Model) -> bool:
    """Return whether an imported operator set was published with a later version of the IR."""
    releases = [release_of_opset(entry.domain, entry.version) for entry in model.proto.opset_import]
    return any(release is not None and release.ir_version > model.ir_version for release in releases)


def has_unusual_imports(model: Model) -> bool:
    """Return whether a list of imports is not evidently valid, or the model cannot have one.

    For an earlier edition than the newest it is always true, since that may have fewer versions. It is also true if
    the operators of further domains are described, which may have fewer versions as well.
    """
    imports = model.imports
    if model.standard.edition != DEFAULT_STANDARD.edition or not imports.are_usual:
        return True
    if model.operators.schemas is not BUILT_IN and not imports.are_of_onnx:
        return True
    return model.effective_ir_version < LATER_FIELDS["ModelProto.opset_import"].ir_version


def may_lack_imports(model: Model) -> bool:
    """Return whether the model or a function imports fewer domains than ai.onnx and those that the model uses."""
    written = {form.domain for form in model.forms}.union([function.domain for function in model.functions])
    return not model.imports.all_have({"", *map(normalized_domain, written)})


def imports_onnxruntime(model: Model) -> bool:
    """Return whether nodes may be of a domain of ONNX Runtime: it is imported, or said to be imported by the model."""
    return any(entry.domain in ONNXRUNTIME.domains for entries in model.imports.distinct for entry in entries)


def functions_are_bound(model: Model) -> bool:
    """Return whether functions must state their domain and import operator sets.

    Those of an operator set had neither before the IR version that introduced functions in models.
    """
    return (
        model.kind != OPERATOR_SET_KIND or model.effective_ir_version >= LATER_FIELDS["ModelProto.functions"].ir_version
    )


def may_train(model: Model) -> bool:
    """Return whether a node is of an operator that may be in training mode."""
    return not model.operators.names.isdisjoint({"BatchNormalization", "Dropout"})


# --- graphs and names


def has_several_graphs(model: Model) -> bool:
    """Return whether there is a nested graph, or one for training."""
    return sum(not graph.is_function for graph in model.graphs) > 1


def runs_decoders(model: Model) -> bool:
    """Return whether a node of ONNX Runtime has a graph in an attribute, as a search for words has."""
    return any(
        graph.parent is not None
        and graph.position < len(graph.parent.forms)
        and graph.parent.forms[graph.position].domain == "com.microsoft"
        for graph in model.nested_graphs
    )


def has_unnamed_graphs(model: Model) -> bool:
    """Return whether a graph has no name."""
    return any(not graph.name and not graph.is_function for graph in model.graphs)


def lacks_outputs(model: Model) -> bool:
    """Return whether the main graph of a model without training has nodes and no output."""
    main = model.main_graph
    return not main.output_names and len(main.nodes) > 0 and not has_training_information(model)


def has_repeated_outputs(model: Model) -> bool:
    """Return whether a graph or function lists an output twice."""
    return has_unusual_names(model) and any(map(repeats_outputs, model.graphs))


def has_unusual_names(model: Model) -> bool:
    """Return whether a graph has names that are not evidently valid, see onnx_lint.ir.names.plain_names."""
    return not all(map(has_plain_names, model.graphs))


def has_undefined_names(model: Model) -> bool:
    """Return whether a node input or a graph output is undefined."""
    return model.resolution.has_undefined_names or any(
        name and name not in graph.positions and not graph.sees(name)
        for graph in model.graphs
        for name in graph.output_names
    )


def nameless_definition(model: Model) -> tuple[UndefinedName, Place] | None:
    """Return the only undefined name and the only initializer without a name, if the users of the name see its graph.

    Then the initializer has lost the name: one fault, and not two.
    """
    nameless = [
        graph.at("initializer", index)
        for graph in model.graphs
        if not graph.is_function and "" in graph.initializer_names
        for index, name in enumerate(graph.initializer_names)
        if not name
    ]
    if len(nameless) != 1 or len(list(model.resolution.undefined_names)) != 1:
        return None
    (undefined,) = model.resolution.undefined
    graphs = (undefined.graph, *(outer for outer, _ in undefined.graph.scopes()))
    return (undefined, nameless[0]) if nameless[0].parent in [graph.place for graph in graphs] else None


def has_late_uses(model: Model) -> bool:
    """Return whether a node uses a value that only a later node defines."""
    return model.resolution.has_late_uses


def has_attributes_named_as_values(model: Model) -> bool:
    """Return whether an attribute, or an attribute parameter of a function, has the name of a value."""
    if model.parametric_functions:
        return True
    names = {name for form in model.forms for name, _ in form.attribute_types} - {""}
    if not names:
        return False
    if not names.isdisjoint(model.resolution.undefined_names):
        return True
    return any(not graph.positions.keys().isdisjoint(names) for graph in model.graphs)


# --- nodes and attributes


def overloaded_nodes(model: Model) -> NodesOfGraphs:
    """Return the nodes that name an overload of a function."""
    forms = {form for form in model.forms if form.overload}
    return NodesOfGraphs(graph.nodes_of(forms) for graph in model.graphs) if forms else NO_NODES


def has_incomplete_nodes(model: Model) -> bool:
    """Return whether a node has no operator or no outputs."""
    return not all(form.op_type and form.outputs for form in model.forms)


def has_aliased_domains(model: Model) -> bool:
    """Return whether a node uses the alias of the default domain."""
    return any(form.domain == DOMAIN_ALIAS for form in model.forms)


def has_training_outputs(model: Model) -> bool:
    """Return whether a BatchNormalization has more than its first output, or the attribute that requests training."""
    return any(
        form.op_type == "BatchNormalization"
        and (any(form.outputs[1:]) or any(name == "training_mode" for name, _ in form.attribute_types))
        for form in model.forms
    )


def has_repeated_attributes(model: Model) -> bool:
    """Return whether a node has two attributes with the same name."""
    return any(len(dict(form.attribute_types)) != len(form.attribute_types) for form in model.forms)


def has_misused_operators(model: Model) -> bool:
    """Return whether a node uses an unknown or deprecated operator, or does not match its operator's signature."""
    return mismatch.has_mismatches(model.operators)


def has_faulty_attributes(model: Model) -> bool:
    """Return whether a node, or a node in a call of a function, has attributes that its operator does not allow.

    They have values that the operator cannot use or does not list, or exclude other attributes or operands of the node.
    """
    return attribute_faults.has_faulty_attributes(model.operators) or bool(model.bound_nodes)


def has_unusual_attributes(model: Model) -> bool:
    """Return whether an attribute is not simply a name and one valid value of the stated type."""
    return not all(kind.is_usual for kind in model.attribute_index.kinds)


def has_unnamed_attributes(model: Model) -> bool:
    """Return whether an attribute of a node, or an attribute parameter of a function, has no name."""
    has_parameters = any("" in function.attribute_names for function in model.parametric_functions)
    return has_parameters or not all(kind.is_named for kind in model.attribute_index.kinds)


# --- types and shapes


def has_unusual_types(model: Model) -> bool:
    """Return whether a type is not usual, see onnx_lint.inference.types.usual_types: few rules check usual ones."""
    return model.declared_types.has_unusual


def has_incomplete_types(model: Model) -> bool:
    """Return whether a type may lack a part, see `has_unusual_types`, or an entry of value_info has an empty one."""
    return has_unusual_types(model) or any(True for _ in empty_types(model))


def has_denoted_types(model: Model) -> bool:
    """Return whether a type has a denotation."""
    return has_unusual_types(model) and any(True for _ in model.types(lambda proto: bool(proto.denotation)))


def has_bare_graph_values(model: Model) -> bool:
    """Return whether an input or output of the main graph, or of an algorithm, has no type or no rank."""
    lists = [graph.value_infos[role].types for graph in (model.main_graph, *algorithms(model)) for role in ENDS]
    return not all(traits_of(kind).has_rank for kind in set(chain.from_iterable(lists)))


def has_repeated_declarations(model: Model) -> bool:
    """Return whether a graph declares values twice, or a training graph may do that together with the main graph."""
    return bool(model.repeated_declarations or model.training_graphs)


def has_value_infos(model: Model) -> bool:
    """Return whether a graph or function has a list `value_info`."""
    return bool(model.graphs_with("value_info"))


def has_type_conflicts(model: Model) -> bool:
    """Return whether the types of values contradict operators or declarations."""
    return any(True for _ in model.value_flow.conflicts())


def has_shape_conflicts(model: Model) -> bool:
    """Return whether the shapes of values contradict operators or declarations."""
    return model.value_flow.has_shape_conflicts


def has_wrong_values(model: Model) -> bool:
    """Return whether shapes contradict operators, or a Cast reads strings: constant ones may be no numbers."""
    return has_shape_conflicts(model) or any(
        _reads_strings(model, graph, forms)
        for alike in model.operators.verified_nodes
        if alike.operator.op_type in ("Cast", "CastLike")
        for graph, forms in alike.forms.items()
    )


def _reads_strings(model: Model, graph: Graph, forms: Set[NodeForm]) -> bool:
    """Return whether the first input of a node with one of these forms has strings."""
    seen = model.value_flow.facts_seen(graph)
    facts = (seen(name) for node in graph.nodes_of(forms) for name in node.inputs[:1])
    return any(fact is not None and fact.kind == "tensor(string)" for fact in facts)


# --- tensors


def has_initializers(model: Model) -> bool:
    """Return whether a graph has initializers, sparse or not."""
    return bool(model.graphs_with("initializer") or model.graphs_with("sparse_initializer"))


def initializers_must_be_inputs(model: Model) -> bool:
    """Return whether there are initializers, in an IR version that requires each of them to be an input too."""
    return model.effective_ir_version < FREE_INITIALIZERS_SINCE and has_initializers(model)


def has_suspect_tensors(model: Model) -> bool:
    """Return whether a tensor was not proved right by its bytes alone."""
    return bool(model.tensors.unproved)


def has_sparse_tensors(model: Model) -> bool:
    """Return whether there is a sparse tensor."""
    return bool(model.tensors.sparse)


# --- annotations


def has_metadata(model: Model) -> bool:
    """Return whether there is metadata anywhere in the model; also if value infos have documentation."""
    return bool(
        model.proto.metadata_props
        or model.graphs_with(METADATA)
        or model.nodes_with(METADATA)
        or model.annotated_value_infos
        or model.tensors.with_metadata
    )


def is_documented(model: Model) -> bool:
    """Return whether anything in the model may have documentation."""
    return bool(
        any(proto.doc_string for proto, _, _ in _roots_with_documentation(model))
        or model.graphs_with("doc_string")
        or model.nodes_with("doc_string")
        or model.annotated_value_infos
        or model.tensors.documented
        or any(kind.is_documented for kind in model.attribute_index.kinds)
    )


def documentation_of(model: Model, is_wanted: Callable[[str], object]) -> Iterator[tuple[str, Place, str]]:
    """Yield the documentation strings that `is_wanted` is true for, with the place of their message and its name."""
    for proto, place, name in _roots_with_documentation(model):
        if is_wanted(proto.doc_string):
            yield proto.doc_string, place, name
    nodes: dict[Graph, list[Node]] = {}
    for node in model.nodes_with("doc_string"):
        if is_wanted(node.proto.doc_string):
            nodes.setdefault(node.graph, []).append(node)
    graphs = model.graphs if nodes or model.graphs_with("doc_string") else []
    for graph in graphs:
        if is_wanted(graph.proto.doc_string):
            yield graph.proto.doc_string, graph.place, graph.describe()
        for node in nodes.get(graph, ()):
            yield node.proto.doc_string, node.place, node.describe()
    parts = (model.attributes(lambda kind: kind.is_documented), model.annotated_value_infos, model.tensors.documented)
    for part in (each for listed in parts for each in listed):
        if is_wanted(part.proto.doc_string):
            yield part.proto.doc_string, part.place, part.describe()


def _roots_with_documentation(model: Model) -> Iterator[tuple[Proto, Place, str]]:
    """Yield the model, or an operator set and its operators, each with its place and name."""
    if model.kind != OPERATOR_SET_KIND:
        yield model.proto, ROOT, "the model"
        return
    yield model.document, ROOT, model.describe()
    for index, operator in enumerate(model.document.operator):
        yield operator, ROOT.at("operator", index), f"operator {quote(operator.op_type)}"


def dimension_contradictions(model: Model) -> list[Contradiction]:
    """Return the dimension variables for which no sizes satisfy all declarations and nodes."""
    if not model.value_flow.declares_variables:
        return []  # without importing the module
    from onnx_lint.inference.flow.equations.findings import contradictions

    found = _in_any_call(model, contradictions)
    return found and _without_exchanged(found, model)


def _in_any_call(model: Model, find: Callable[[ValueFlow, Crashes], list[_Found]]) -> list[_Found]:
    """Return what is found whatever callers pass. They need not keep a size that only the default of an input has."""
    found = find(model.value_flow, model.crashes)
    if not found or model.flow_of_any_call is model.value_flow:
        return found
    return find(model.flow_of_any_call, model.crashes)


def _without_exchanged(found: list[Contradiction], model: Model) -> list[Contradiction]:
    """Return the contradictions that are not about a node whose inputs were exchanged: that is another finding."""
    from onnx_lint.inference.flow.repairs.exchange import exchange_for_declaration
    from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict

    declared = (each for each in model.value_flow.declared_shapes if isinstance(each, DeclaredShapeConflict))
    exchanges = (exchange_for_declaration(each, model.operators, model.value_flow) for each in declared)
    nodes = {each.node.place for each in exchanges if each is not None}
    return [each for each in found if nodes.isdisjoint({one.node.place for one in each.equations})]


def required_sizes(model: Model) -> list[RequiredSize]:
    """Return the variables of the main graph's inputs for which its nodes leave only one size."""
    if not model.value_flow.declares_variables:
        return []  # without importing the module
    from onnx_lint.inference.flow.equations import open_variables

    return _in_any_call(model, open_variables.required_sizes)


def declared_sizes(model: Model) -> list[DeclaredSize]:
    """Return the dimensions with a declared size in the main graph that its inputs leave open."""
    from onnx_lint.inference.flow.equations import open_variables

    return _in_any_call(model, open_variables.declared_sizes)


def holds_numbers(model: Model) -> bool:
    """Return whether a tensor or an attribute holds floating-point numbers."""
    kinds = model.attribute_index.kinds
    return not FLOATING_TYPES.isdisjoint(model.tensors.element_types) or any(kind.type in FLOAT_KINDS for kind in kinds)


def has_training_information(model: Model) -> bool:
    """Return whether the model has training information."""
    return bool(model.proto.training_info)


def has_device_configurations(model: Model) -> bool:
    """Return whether the model or a node is configured for devices."""
    return bool(model.proto.configuration or model.nodes_with("device_configurations"))


def has_quantization_annotations(model: Model) -> bool:
    """Return whether a graph annotates tensors with their quantization."""
    return bool(model.graphs_with("quantization_annotation"))

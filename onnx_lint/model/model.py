# SPDX-License-Identifier: Apache-2.0
"""The Model, which the loader makes and the rules ask."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.types.usual_types import sight_of
from onnx_lint.ir.names.plain_names import has_plain_names
from onnx_lint.ir.operators.given import has_broken_combinations
from onnx_lint.ir.operators.mismatch import has_mismatches
from onnx_lint.ir.parts import METADATA
from onnx_lint.model.analyses import Analyses
from onnx_lint.model.indexed_fields import fields_sought_everywhere
from onnx_lint.spec.element_types import later_element_types
from onnx_lint.spec.ir_versions import FIELDS, FREE_INITIALIZERS_SINCE, later_fields
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.extents import WITH_EXTENTS
from onnx_lint.spec.releases import (
    ALIAS,
    NEWEST_IR_VERSION,
    OLDEST_LOADED_IR_VERSION,
    normalized_domain,
    release_of_edition,
    release_of_opset,
)
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.spec.target import NO_TARGET


class Model(Analyses):
    """A model file as it is. Everything that is derived from the message is made once, when first asked for.

    What the file holds is told by `LoadedFile`, what stands in it by `FileParts`, what follows from that by `Analyses`.
    Here stands what a rule may be about: false or empty where there is nothing of the kind.
    """

    @cached_property
    def has_faults(self) -> bool:
        """Whether anything is wrong with the bytes of the file."""
        return bool(self.faults)

    @cached_property
    def may_exceed_limits(self) -> bool:
        """Whether a limit is reached, or one that consumers have may be, for all that numbers and sizes tell."""
        limits = self.limits
        return (
            self.has_faults
            or self.source.size > limits.name_characters
            or len(self.graphs) > limits.graph_nesting
            or bool(self.functions)
        )

    @cached_property
    def has_target(self) -> bool:
        """Whether it is known which consumer the model is meant for."""
        return self.target is not NO_TARGET and self.target != NO_TARGET

    @cached_property
    def has_unusual_header(self) -> bool:
        """Whether the model lacks its graph, its IR version or the tool that made it, or has a domain."""
        proto = self.proto
        is_whole = self.ir_version and proto.producer_name and proto.producer_version and proto.HasField("graph")
        return not is_whole or bool(proto.domain)

    @cached_property
    def has_several_graphs(self) -> bool:
        """Whether there is a nested graph, or one for training."""
        return sum(not graph.is_function for graph in self.graphs) > 1

    @cached_property
    def has_unnamed_graphs(self) -> bool:
        """Whether a graph has no name."""
        return any(not graph.name and not graph.is_function for graph in self.graphs)

    @cached_property
    def has_repeated_outputs(self) -> bool:
        """Whether a graph or function lists an output twice."""
        return self.has_unusual_names and any(
            len(set(graph.output_names)) != len(graph.output_names) for graph in self.graphs
        )

    @cached_property
    def has_unusual_names(self) -> bool:
        """Whether a graph has names that are not evidently right, see onnx_lint.ir.names.plain_names."""
        return not all(map(has_plain_names, self.graphs))

    @cached_property
    def has_undefined_names(self) -> bool:
        """Whether a node input or a graph output names what nothing defines."""
        return self.resolution.has_undefined_names or any(
            name and name not in graph.positions and not graph.sees(name)
            for graph in self.graphs
            for name in graph.output_names
        )

    @cached_property
    def has_unusual_versions(self) -> bool:
        """Whether the model version is negative, or the IR version unknown to the edition or to ONNX Runtime."""
        newest = release_of_edition(self.standard.edition).ir_version
        known = self.ir_version == 0 or OLDEST_LOADED_IR_VERSION <= self.ir_version <= newest
        return self.proto.model_version < 0 or not known

    @cached_property
    def has_outdated_ir_version(self) -> bool:
        """Whether an imported operator set was published with a later version of the IR."""
        releases = [release_of_opset(entry.domain, entry.version) for entry in self.proto.opset_import]
        return any(release is not None and release.ir_version > self.ir_version for release in releases)

    @cached_property
    def has_unusual_imports(self) -> bool:
        """Whether a list of imports is not evidently right in itself, or the model cannot have one.

        Under an earlier edition than the newest always, since it may know fewer versions; and where the operators of
        further domains are described, which may be known in fewer versions too.
        """
        imports = self.imports
        if self.standard.edition != DEFAULT_STANDARD.edition or not imports.are_usual:
            return True
        if self.operators.schemas is not BUILT_IN and not imports.are_of_onnx:
            return True
        return self.effective_ir_version < FIELDS["ModelProto.opset_import"].ir_version

    @cached_property
    def may_lack_imports(self) -> bool:
        """Whether the model or a function imports fewer domains than ai.onnx and all that nodes and functions have."""
        written = {form.domain for form in self.forms}.union([function.domain for function in self.functions])
        return not self.imports.all_have({"", *map(normalized_domain, written)})

    @cached_property
    def may_use_newer_features(self) -> bool:
        """Whether the model states an IR version before the newest, and may use what came with a later one."""
        known = self.ir_version
        if not 1 <= known < NEWEST_IR_VERSION:
            return False
        return (
            self.has_unusual_types
            or not self.tensors.element_types.isdisjoint(later_element_types(known))
            or any(self._may_have(message, fields) for message, fields in later_fields(known).items())
            or bool(fields_sought_everywhere(later_fields(known)))
            or any(self.named_element_types(later_element_types(known).keys()))
        )

    def _may_have(self, message: str, fields: Sequence[str]) -> bool:
        """Whether anything in the model may have one of these fields of a message."""
        match message:
            case "ModelProto":
                return any(getattr(self.proto, field) for field in fields)
            case "GraphProto":
                return any(self.graphs_with(field) for field in fields)
            case "FunctionProto":
                return bool(self.functions)
            case "NodeProto":
                return (
                    not self.annotations_of_nodes.isdisjoint(fields)
                    or ("overload" in fields and bool(self.overloaded_nodes))
                    or ("domain" in fields and any(form.domain for form in self.forms))
                )
            case "AttributeProto":
                return any(field in kind.fields for kind in self.attribute_kinds for field in fields)
            case "ValueInfoProto":
                return bool(self.annotated_value_infos)
            case _:
                return bool(self.tensors.external or self.tensors.with_metadata)

    @cached_property
    def has_metadata(self) -> bool:
        """Whether there is metadata anywhere in the model; also where value infos have documentation."""
        return bool(
            self.proto.metadata_props
            or self.graphs_with(METADATA)
            or self.nodes_with(METADATA)
            or self.annotated_value_infos
            or self.tensors.with_metadata
        )

    @cached_property
    def is_documented(self) -> bool:
        """Whether anything in the model may have documentation."""
        return bool(
            self.proto.doc_string
            or self.graphs_with("doc_string")
            or "doc_string" in self.annotations_of_nodes
            or self.annotated_value_infos
            or self.tensors.documented
            or any(kind.is_documented for kind in self.attribute_kinds)
        )

    @cached_property
    def has_training_information(self) -> bool:
        """Whether the model tells how it is trained."""
        return bool(self.proto.training_info)

    @cached_property
    def has_device_configurations(self) -> bool:
        """Whether the model or a node is configured for devices."""
        return bool(self.proto.configuration or self.nodes_with("device_configurations"))

    @cached_property
    def has_quantization_annotations(self) -> bool:
        """Whether a graph annotates tensors with their quantization."""
        return bool(self.graphs_with("quantization_annotation"))

    @cached_property
    def has_incomplete_nodes(self) -> bool:
        """Whether a node has no operator or no outputs."""
        return not all(form.op_type and form.outputs for form in self.forms)

    @cached_property
    def has_aliased_domains(self) -> bool:
        """Whether a node names the default domain by its other name."""
        return any(form.domain == ALIAS for form in self.forms)

    @cached_property
    def has_training_outputs(self) -> bool:
        """Whether a BatchNormalization has other outputs than its first, or says whether it trains."""
        return any(
            form.op_type == "BatchNormalization"
            and (any(form.outputs[1:]) or any(name == "training_mode" for name, _ in form.attribute_types))
            for form in self.forms
        )

    @cached_property
    def has_repeated_attributes(self) -> bool:
        """Whether a node has two attributes of one name."""
        return any(len(dict(form.attribute_types)) != len(form.attribute_types) for form in self.forms)

    @cached_property
    def has_attributes_named_as_values(self) -> bool:
        """Whether some attribute has the name of some value."""
        names = {name for form in self.forms for name, _ in form.attribute_types} - {""}
        if not names.isdisjoint(self.resolution.undefined_names):
            return True
        return any(not graph.positions.keys().isdisjoint(names) for graph in self.graphs)

    @cached_property
    def has_late_uses(self) -> bool:
        """Whether a node uses what only a later one defines."""
        return self.resolution.has_late_uses

    @cached_property
    def has_misused_operators(self) -> bool:
        """Whether a node uses an operator that is unknown or deprecated, or otherwise than its signature has it."""
        return has_mismatches(self.operators)

    @cached_property
    def has_broken_combinations(self) -> bool:
        """Whether a node gives attributes or operands at odds with each other, or calls may have it give such."""
        return has_broken_combinations(self.operators) or bool(self.bound_nodes)

    @cached_property
    def has_impossible_values(self) -> bool:
        """Whether operators can do nothing with the values of attributes, or calls may have it so."""
        from onnx_lint.ir.operators.attribute_faults import has_attribute_faults  # late, as nodes may have none

        return has_attribute_faults(self.operators) or bool(self.bound_nodes)

    @cached_property
    def has_unlisted_values(self) -> bool:
        """Whether attributes have other values than those that their operators list, or calls may have it so."""
        from onnx_lint.ir.operators.attribute_faults import has_unlisted_values  # late, as above

        return has_unlisted_values(self.operators) or bool(self.bound_nodes)

    @cached_property
    def has_unusual_attributes(self) -> bool:
        """Whether an attribute is other than a name and one valid value of the stated type."""
        return not all(kind.is_usual for kind in self.attribute_kinds)

    @cached_property
    def has_type_conflicts(self) -> bool:
        """Whether the types of values are at odds with operators or declarations."""
        return any(True for _ in self.value_flow.conflicts())

    @cached_property
    def has_shape_conflicts(self) -> bool:
        """Whether the shapes of values are at odds with operators or declarations."""
        return self.value_flow.has_shape_conflicts

    @cached_property
    def may_have_impossible_extents(self) -> bool:
        """Whether a node is of an operator whose attributes state extents, or shapes are at odds."""
        return self.has_shape_conflicts or any(form.op_type in WITH_EXTENTS for form in self.forms)

    @cached_property
    def has_denoted_types(self) -> bool:
        """Whether a type has a denotation."""
        return self.has_unusual_types and any(True for _ in self.types(lambda proto: bool(proto.denotation)))

    @cached_property
    def has_bare_graph_values(self) -> bool:
        """Whether an input or output of the main graph states no type, or not how many dimensions it has."""
        values = self.main_graph.value_infos
        return not all(sight_of(kind).has_rank for kind in {*values["input"].types, *values["output"].types})

    @cached_property
    def has_value_infos(self) -> bool:
        """Whether a graph or function has a list value_info."""
        return bool(self.graphs_with("value_info"))

    @cached_property
    def has_initializers(self) -> bool:
        """Whether a graph has initializers, sparse ones included."""
        return bool(self.graphs_with("initializer") or self.graphs_with("sparse_initializer"))

    @cached_property
    def initializers_must_be_inputs(self) -> bool:
        """Whether there are initializers in an IR version that wants each of them to be an input too."""
        return self.effective_ir_version < FREE_INITIALIZERS_SINCE and self.has_initializers

    @cached_property
    def has_suspect_tensors(self) -> bool:
        """Whether a tensor is not evidently right as it stands in the file."""
        return bool(self.tensors.unproved)

    @cached_property
    def has_sparse_tensors(self) -> bool:
        """Whether there is a sparse tensor."""
        return bool(self.tensors.sparse)

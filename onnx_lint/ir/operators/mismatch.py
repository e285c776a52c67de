# SPDX-License-Identifier: Apache-2.0
"""Differences between the use of an operator and its signature, and other versions of the operator that would fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.operators import AlikeNodes, Operators, OperatorStatus
from onnx_lint.spec.operators import (
    ATTRIBUTE_TYPE_NAMES,
    UNLIMITED,
    OperatorSchema,
    OperatorSchemas,
    Parameter,
    ParameterOption,
    sources,
)
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN
from onnx_lint.spec.operators.combinations import Choice, Combination, Member, combinations
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.wording import counted, listed, unquoted

if TYPE_CHECKING:
    from onnx_lint.ir.operators.bound_nodes import BoundNodes


class GivenOperands(Record):
    """The inputs or the outputs of alike nodes, and the facts that a signature states about them."""

    word: str
    """`input` or `output`, which is also the field of the node."""
    given: tuple[bool, ...]
    parameters: tuple[Parameter, ...]
    least: int
    greatest: int
    counts: frozenset[int] | None
    before: int = 0
    """The number of operands before the first group."""
    group: int = 1
    """The number of operands in each group; 1 if there are no groups."""

    @property
    def count_fits(self) -> bool:
        """True if the signature allows the number of operands; an omitted operand counts."""
        count = len(self.given)
        if self.counts is not None:
            return count in self.counts
        return self.least <= count <= self.greatest and (count - self.before) % self.group == 0

    @property
    def short_variadic(self) -> Parameter | None:
        """The variadic parameter, if it has fewer values than its minimum; an empty name is not a value."""
        last = self.parameters[-1] if self.parameters else None
        if last is None or last.option is not ParameterOption.VARIADIC:
            return None
        return last if sum(self.given[len(self.parameters) - 1 :]) < last.min_arity else None

    @property
    def omitted(self) -> list[int]:
        """The indices of required operands whose name is empty, also among those of a variadic parameter."""
        if all(self.given):
            return []
        pairs = enumerate(zip(self.given, self.parameters, strict=False))
        found = [
            index for index, (given, parameter) in pairs if not given and parameter.option is ParameterOption.SINGLE
        ]
        last = self.parameters[-1].option if self.parameters else None
        if last is ParameterOption.VARIADIC and self.short_variadic is None:
            found += [at for at in range(len(self.parameters) - 1, len(self.given)) if not self.given[at]]
        return found

    def describe_counts(self) -> str:
        """Return the allowed numbers in words: `1 input`, `2 to 3 inputs`, `at least 1 input`, `1 or 5 outputs`."""
        if self.counts is not None:
            numbers = listed([str(count) for count in sorted(self.counts)], "or")
            return f"{numbers} {self.word}{'' if numbers == '1' else 's'}"
        if self.group > 1:
            return f"{counted(self.before, self.word)} and {self.group} for each tensor"
        if self.greatest == UNLIMITED:
            return f"at least {counted(self.least, self.word)}"
        if self.least == self.greatest:
            return counted(self.least, self.word)
        return f"{self.least} to {self.greatest} {self.word}s"


def given_operands(schema: OperatorSchema, alike: AlikeNodes) -> tuple[GivenOperands, GivenOperands]:
    """Return the inputs and the outputs of alike nodes, with the facts that a signature states about them."""
    before, group, results = _groups(schema)
    inputs = GivenOperands(
        "input", alike.inputs, schema.inputs, schema.min_input, schema.max_input, schema.input_counts, before, group
    )
    counts = schema.output_counts
    if results and inputs.count_fits:
        counts = frozenset({(len(alike.inputs) - before) // group * results})
    outputs = GivenOperands("output", alike.outputs, schema.outputs, schema.min_output, schema.max_output, counts)
    return inputs, outputs


_GROUPS: Final[Mapping[tuple[str, str], tuple[int, int, int]]] = {
    ("ai.onnx.preview.training", "Adagrad"): (2, 3, 2),
    ("ai.onnx.preview.training", "Adam"): (2, 4, 3),
    ("ai.onnx.preview.training", "Momentum"): (2, 3, 2),
}
"""Operators on any number of tensors: the inputs before the groups, and the inputs and outputs of each group.

The descriptions of the variadic operands list them: tensors, gradients and one or two states of each.
"""

_NO_GROUPS: Final = (0, 1, 0)


def _groups(schema: OperatorSchema) -> tuple[int, int, int]:
    """Return the entry of `_GROUPS` for an operator, or what the record of one of com.microsoft says."""
    if schema.domain != RUNTIME_DOMAIN:
        return _GROUPS.get((schema.domain, schema.name), _NO_GROUPS)
    from onnx_lint.spec.operators.records import record_of

    record = record_of(schema.name)
    repeated = record.repeated.split() if record is not None else ()
    return (len(schema.inputs) - 1, len(repeated), 0) if repeated else _NO_GROUPS


def unknown_attributes(schema: OperatorSchema, alike: AlikeNodes) -> list[str]:
    """Return the attributes that the signature does not have, without those that belong to implementations."""
    return [name for name, _ in alike.attributes if name and schema.lacks_attribute(name)]


def moved_to_inputs(schemas: OperatorSchemas, schema: OperatorSchema, alike: AlikeNodes) -> dict[str, int]:
    """Return the attributes that have the name of an input, which the nodes lack; by name, the index of that input.

    Most were attributes in an earlier version. Letter case is ignored: `k` of TopK became `K`. A table has those that
    were also renamed.
    """
    names = {parameter.name.casefold(): index for index, parameter in enumerate(schema.inputs)}
    renamed = _RENAMED.get((schema.domain, schema.name), EMPTY)
    names.update({old: names[new] for old, new in renamed.items() if new in names})
    found = {
        name: index
        for name in unknown_attributes(schema, alike)
        if (index := names.get(name.casefold())) is not None and not any(alike.inputs[index : index + 1])
    }
    if not found:
        return {}
    earlier = [version for version in schemas.versions(schema.domain, schema.name) if version < schema.since_version]
    had = {
        name
        for version in earlier
        if (other := schemas.find(schema.domain, schema.name, version)) is not None
        for name in other.attributes
    }
    usual = {*had, *renamed}
    return {name: index for name, index in found.items() if name in usual or name == schema.inputs[index].name}


_AXES: Final = {"axis": "axes", "dim": "axes", "dims": "axes"}

_RENAMED: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("", "Pad"): {"paddings": "pads", "padding": "pads", "value": "constant_value"},
    **{
        ("", name): _AXES
        for name in (
            "ReduceL1",
            "ReduceL2",
            "ReduceLogSum",
            "ReduceLogSumExp",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSum",
            "ReduceSumSquare",
            "Squeeze",
            "Unsqueeze",
        )
    },
}
"""By operator, attributes that are inputs of other names: of an earlier version of Pad, and in other frameworks."""


def missing_attributes(schema: OperatorSchema, alike: AlikeNodes) -> list[str]:
    """Return the required attributes that the nodes lack; a reference to a parameter of the function counts."""
    given = {name for name, _ in alike.attributes}
    return [name for name, attribute in schema.attributes.items() if attribute.required and name not in given]


def attributes_for_runtime(schema: OperatorSchema, alike: AlikeNodes) -> list[str]:
    """Return the attributes that the signature makes optional and ONNX Runtime requires, if the nodes lack them."""
    names = _REQUIRED_BY_RUNTIME.get((schema.domain, schema.name), ())
    given = {name for name, _ in alike.attributes} if names else set()
    return [name for name in names if name not in given and name in schema.attributes]


_REQUIRED_BY_RUNTIME: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    **dict.fromkeys((("", "GRU"), ("", "LSTM"), ("", "RNN")), ("hidden_size",)),
    ("ai.onnx.ml", "FeatureVectorizer"): ("inputdimensions",),
    ("ai.onnx.ml", "LabelEncoder"): ("classes_strings",),
    ("ai.onnx.ml", "LinearClassifier"): ("intercepts",),
    ("ai.onnx.ml", "SVMClassifier"): ("coefficients", "kernel_params", "rho"),
    ("ai.onnx.ml", "SVMRegressor"): ("coefficients", "kernel_params", "rho"),
}
"""Attributes without which ONNX Runtime 1.32 makes no session, by operator. ONNX does not require them."""


def misspelt_attributes(schemas: OperatorSchemas, schema: OperatorSchema, alike: AlikeNodes) -> dict[str, str]:
    """Return the unknown attributes that mean a required one that the nodes lack: by name, that name."""
    missing = missing_attributes(schema, alike)
    if not missing:
        return {}
    unknown = set(unknown_attributes(schema, alike)) - moved_to_inputs(schemas, schema, alike).keys()
    if not unknown:
        return {}
    from onnx_lint.ir.operators.attribute_proposals import meant_attribute

    near = {name: meant_attribute(name, schema) for name in unknown}
    return {name: meant for name, meant in near.items() if meant in missing}


def missing_alternatives(schema: OperatorSchema, alike: AlikeNodes) -> list[Combination]:
    """Return the combinations without a member in the nodes although the operator needs one."""
    return alternatives_without(schema, {name for name, _ in alike.attributes}, alike.inputs)


def is_of_inputs(schema: OperatorSchema, group: Combination) -> bool:
    """Return whether ONNX Runtime requires one of a group of inputs that its signature calls optional."""
    return schema.domain in ONNXRUNTIME.domains and all(
        member.field == "input" for side in group.sides for member in side
    )


def alternatives_without(schema: OperatorSchema, given: Set[str], inputs: Sequence[bool]) -> list[Combination]:
    """Return the combinations that need a member and have none among the attributes `given` and the inputs.

    `inputs`: for each input of the node, whether it is given.
    """

    def is_given(member: Member) -> bool:
        if member.field == "attribute":
            return member.name in given
        return member.index < len(inputs) and inputs[member.index]

    needed = [each for each in combinations(schema) if each.kind in (Choice.ONE, Choice.SOME)]
    return [each for each in needed if not any(is_given(member) for side in each.sides for member in side)]


def mistyped_attributes(schema: OperatorSchema, alike: AlikeNodes) -> list[str]:
    """Return the attributes with another type than in the signature, without those of an invalid type."""
    return [
        name
        for name, code in alike.attributes
        if code in ATTRIBUTE_TYPE_NAMES and name in schema.attributes and schema.attributes[name].type_code != code
    ]


def is_mistyped(schema: OperatorSchema | None, name: str, code: int) -> bool:
    """Return whether an attribute of this type code has another type in the signature; false if it is not in it."""
    return schema is not None and name in schema.attributes and schema.attributes[name].type_code != code


def fits(schema: OperatorSchema, alike: AlikeNodes) -> bool:
    """Return true if operands and attributes of alike nodes match a signature; types of values are not checked."""
    return all(
        side.count_fits and not side.omitted and side.short_variadic is None for side in given_operands(schema, alike)
    ) and not (
        unknown_attributes(schema, alike)
        or missing_attributes(schema, alike)
        or missing_alternatives(schema, alike)
        or mistyped_attributes(schema, alike)
    )


def has_mismatches(operators: Operators) -> bool:
    """Return true if a node uses an operator that is unknown or deprecated, or does not match its signature.

    Types and values are not checked.
    """
    return any(map(_is_mismatch, operators.alike_nodes))


def _is_mismatch(alike: AlikeNodes) -> bool:
    schema = alike.operator.schema
    if schema is None:
        return alike.operator.status is OperatorStatus.UNKNOWN
    if schema.deprecated or alike.operator.status is OperatorStatus.UNKNOWN:
        return True
    if alike.form.fitting is schema:
        return False
    if not fits(schema, alike) or attributes_for_runtime(schema, alike):
        return True
    alike.form.fitting = schema
    return False


def fitting_version(
    schemas: OperatorSchemas, schema: OperatorSchema, alike: AlikeNodes, missing: Collection[str] = ()
) -> str:
    """Return the words that name another version of the operator that the nodes fit; empty if they fit none.

    The next newer version is preferred, then the next older one. `missing`: the attributes that the nodes lack. An
    older version that merely had a default for one of them is not meant: the attribute was forgotten.
    """

    def is_meant(other: OperatorSchema) -> bool:
        is_older = other.since_version < schema.since_version
        return fits(other, alike) and not (is_older and any(name in other.attributes for name in missing))

    found = version_with(schemas, schema, is_meant)
    if found is None:
        return ""
    version, is_later = found
    return f"this is {unquoted(schema.name)} as {'of' if is_later else 'it was up to'} opset {version}"


def version_with(
    schemas: OperatorSchemas, schema: OperatorSchema, is_wanted: Callable[[OperatorSchema], bool]
) -> tuple[int, bool] | None:
    """Return an operator set with another version of an operator that is wanted, and whether that version is later.

    It is the next later version that is wanted and not deprecated; or else the next earlier one, with the last operator
    set that has it. None if there is neither.
    """
    versions = schemas.versions(schema.domain, schema.name)
    earlier = [version for version in versions if version < schema.since_version]
    for version in (*[each for each in versions if each > schema.since_version], *reversed(earlier)):
        other = schemas.find(schema.domain, schema.name, version)
        if other is not None and not other.deprecated and is_wanted(other):
            is_later = version > schema.since_version
            return (version if is_later else min(each for each in versions if each > version) - 1), is_later
    return None


def version_hint(fitting: str, alike: AlikeNodes | BoundNodes, node: Node) -> str:
    """Return the end of a message that compares the result of `fitting_version` with the imported version."""
    return f"; {fitting}, but {describe_imports(alike, node)}" if fitting else ""


def version_cause(fitting: str, alike: AlikeNodes, fault: str) -> str:
    """Return the cause of a fault: one for all faults of nodes that fit another version, see `fitting_version`.

    Rules share the cause if there is another version.
    """
    return f"{alike.operator.versioned_name} {fitting or fault}"


def describe_imports(alike: AlikeNodes | BoundNodes, node: Node) -> str:
    """Return the words that name the imported version of the operator's domain."""
    return f"{describe_importer(node)} imports {alike.operator.opset_version}"


def describe_importer(node: Node) -> str:
    """Return whose operator set imports decide for the node, in words."""
    graph = node.graph
    if graph.function is not None:
        return "the function"
    while graph.parent is not None:
        graph = graph.parent
    if graph.place.parent is not None:
        return "the model"
    return "the node" if graph.is_file else "the graph"


def describe_schema(schema: OperatorSchema) -> str:
    """Return a signature as messages name it: `Split as of opset 13`."""
    if schema.domain in ONNXRUNTIME.domains and not schema.has_default_values:
        # All versions of ONNX Runtime call their operators version 1.
        return f"{schema.name} of onnxruntime {sources()['onnxruntime']}"
    return f"{unquoted(schema.name)} as of opset {schema.since_version}"


def attributes_with(node: Node, names: set[str]) -> Iterator[int]:
    """Return the indices of the node's attributes that have one of the names."""
    return (index for index, attribute in enumerate(node.attribute_protos) if attribute.name in names)

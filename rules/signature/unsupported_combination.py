# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, partial

from onnx_lint.inference.flow.repairs.fitting import fitting_outputs
from onnx_lint.inference.shapes.fact import ABSENT
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import true_if_it_crashes
from onnx_lint.ir.operators.broken_combinations import broken_by, is_empty_list
from onnx_lint.ir.operators.mismatch import attributes_with, describe_schema
from onnx_lint.model import AlikeNodes, Model, Node, OperatorSchema, Place, are_sizes, fact, has_faulty_attributes
from onnx_lint.rule import Finding, Record, Related, replace, rule
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN
from onnx_lint.spec.operators.combinations import Choice, Combination, Member, combinations
from onnx_lint.wording import listed


@rule(clause=("NOD-7c", "NOD-7d"), since="0.1.0", about=has_faulty_attributes, needs="node")
def unsupported_combination(model: Model) -> Iterator[Finding]:
    """A node has attributes or operands that exclude each other, or only one of a pair.

    ### How to fix

    Keep the one that you meant, or add the missing one of the pair.

    ### Example

    ```
    node {
      op_type: "Constant" output: "c"
      attribute { name: "value_int" type: INT i: 1 } attribute { name: "value_float" type: FLOAT f: 1 }
    }
    ```

    Corrected:

    ```
    node { op_type: "Constant" output: "c" attribute { name: "value_int" type: INT i: 1 } }
    ```

    ### Why it matters

    The signature makes each of them optional; only the operator's description says that they exclude or need each
    other. Consumers refuse the node, or silently ignore one of them.

    ### Details

    The descriptions of the operators decide, at the imported version:

    | Operator | Requirement |
    | --- | --- |
    | Attention | both or neither: `past_key` and `past_value`; `present_key` and `present_value` |
    | Attention | not both: `nonpad_kv_seqlen`, and past or present keys and values |
    | CategoryMapper | both or neither of its lists |
    | classifiers, ZipMap | one list of class labels |
    | Constant | one value |
    | DictVectorizer | one vocabulary |
    | GroupQueryAttention | both or neither: `key` and `value`; `cos_cache` and `sin_cache` |
    | GroupQueryAttention, MultiHeadAttention | both or neither: `past_key` and `past_value` |
    | Imputer | one list of imputed values |
    | LabelEncoder | one list of keys, and one of values |
    | OneHotEncoder | one of the `cats` |
    | Resize | one of `scales` and `sizes` |
    | Scaler | both or neither: `offset` and `scale`, which have one length |
    | Split | one of `num_outputs` and `split` |
    | SVMClassifier | both or neither: `prob_a` and `prob_b` |
    | TfIdfVectorizer | one pool |
    | TreeEnsembleClassifier, TreeEnsembleRegressor | all or none: the lists of nodes, and those of votes |
    | TreeEnsembleClassifier, TreeEnsembleRegressor | not both: an attribute, and the same with `_as_tensor` |
    | any with `auto_pad` | not both: `pads`, and an `auto_pad` other than NOTSET |

    What is a value, and what is accepted:

    - A number or text with the value that the signature has as its default counts as left out: both mean the same, and
      spox writes all of them for LabelEncoder, Imputer and CategoryMapper.
    - The lists of nodes and votes of trees form tuples. Only `nodes_hitrates` and `nodes_missing_value_tracks_true` are
      optional. ONNX Runtime refuses a model without one of the others.
    - Consumers ignore the pads of a pool with `auto_pad`, but its text is that of a convolution: "This attribute cannot
      be used simultaneously with auto_pad attribute."
    - A `default_*` of LabelEncoder since version 4 of another type than its `values_*` is a warning, because consumers
      ignore it.
    - An empty list is a value for Constant, whose `value_ints` without elements is a tensor of shape [0], and for
      LabelEncoder, OneHotEncoder, SVMClassifier and TfIdfVectorizer. ONNX does not decide it; onnx or ONNX Runtime
      refuses such a node.
    - For other operators, an empty list is no value: exporters leave one of both `classlabels_*` of ZipMap empty, and
      consumers run it.
    - An empty tensor of `scales` or `sizes` is no value: operator set 11 requires `scales`, which must be empty if the
      node has `sizes`. There, a `scales` of unknown length is accepted.
    - A reference to a parameter of a function has a value if a call or a default has one. A function may pass on two
      parameters if each call sets only one.
    - An input that a call omits is omitted in the body: the finding needs a call that passes both.
    - Reported by another rule: none of several where one is required (`missing-operator-attribute`).
    """
    given = cache(partial(_inputs_of_calls, model))
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        wanted = combinations(schema)
        if not wanted:
            continue
        for node in _nodes_that_break(wanted, alike):
            for combination in wanted:
                with model.crashes.at(_CHECK, node):
                    members = _broken_by(combination, node.form)
                    if not members:
                        continue
                    if node.graph.function is not None and not _are_given_together(node, members, given()):
                        continue
                    if schema.name == "Resize" and _has_empty_operand(model, node, members, schema):
                        continue
                    found = _finding(node, node.form, schema, combination, members)
                    yield replace(found, hint=_hint(model, node, schema, members))
    yield from _findings_of_calls(model)


def _nodes_that_break(wanted: Sequence[Combination], alike: AlikeNodes) -> Iterator[Node]:
    """Yield the nodes of an operator whose forms break one of the combinations."""
    for graph, forms in alike.forms.items():
        broken = {
            form
            for form in forms
            if any(true_if_it_crashes(partial(_broken_by, combination, form)) for combination in wanted)
        }
        if broken:
            yield from graph.nodes_of(broken)


_CHECK = "checking combinations of attributes and operands"


def _broken_by(combination: Combination, form: NodeForm) -> Sequence[Member]:
    """Return the members that break the combination; none if one is a reference, which may have no value."""
    members = broken_by(combination, form)
    references = {attribute.name for attribute in form.attributes if attribute.ref_attr_name}
    return () if any(member.field == "attribute" and member.name in references for member in members) else members


def _inputs_of_calls(model: Model) -> dict[int, set[bytes]]:
    """Return which inputs the calls of each function give, as a byte for each; a function is known by its index.

    An input of the function around a call is taken as present.
    """
    found: dict[int, set[bytes]] = defaultdict(set)
    for alike in model.operators.alike_nodes:
        if alike.operator.function is not None:
            found[alike.operator.function.index].add(bytes(alike.inputs))
    return found


def _are_given_together(node: Node, members: Sequence[Member], calls: Mapping[int, Set[bytes]]) -> bool:
    """Return whether all members may be given: true unless each call of the function around a node leaves one out."""
    parameters = set()
    for member in members:
        if member.field == "input":
            name = node.inputs[member.index]
            definition = node.graph.definition_of(name)
            if definition is not None and definition.field == "input" and definition.graph.is_function:
                parameters.add(definition.index)
    assert node.graph.function is not None
    return not parameters or any(
        all(any(given[index : index + 1]) for index in parameters) for given in calls.get(node.graph.function.index, ())
    )


def _findings_of_calls(model: Model) -> Iterator[Finding]:
    """Yield findings on combinations that calls or defaults of parameters make in functions, each once at a node."""
    reported: set[tuple[Place, Combination]] = set()
    for nodes in model.bound_nodes:
        for combination in combinations(nodes.schema):
            with model.crashes.at(_CHECK, partial(nodes.graph.first_of, nodes.form)):
                members = _broken_by(combination, nodes.bound)
                if not members or _broken_by(combination, nodes.form):
                    continue
                names = [member.name for side in combination.sides for member in side if member.field == "attribute"]
                related = tuple(Related(*note) for note in nodes.notes(names))
                for node in nodes.nodes:
                    if (node.place, combination) not in reported:
                        reported.add((node.place, combination))
                        yield _finding(node, nodes.bound, nodes.schema, combination, members, related)


_SCALES_REQUIRED = 11
"""The version of Resize in which an empty `scales` is how a node says that it gives `sizes`."""


def _has_empty_operand(model: Model, node: Node, members: Sequence[Member], schema: OperatorSchema) -> bool:
    """Return true if `scales` or `sizes` has no elements, or may have none and is not known to have some."""
    shapes = [model.shape_of(node.inputs[member.index], node.graph) for member in members]
    if schema.since_version == _SCALES_REQUIRED and not are_sizes(shapes[0]):
        return True
    return any(shape is not None and 0 in shape for shape in shapes)


def _hint(model: Model, node: Node, schema: OperatorSchema, members: Sequence[Member]) -> str | None:
    """Return how a node that has `scales` and `sizes` leaves out the scales, if its shapes then fit."""
    if schema.name != "Resize" or not all(member.field == "input" for member in members):
        return None
    scales = members[0].index
    facts = [model.value_flow.fact_of(name, node.graph) if name else ABSENT for name in node.inputs]
    is_required = schema.since_version == _SCALES_REQUIRED
    facts[scales] = fact(facts[scales].kind, (0,), ()) if is_required else ABSENT
    if fitting_outputs(node, schema, tuple(facts)) is None:
        return None
    what = "with an empty tensor" if is_required else "with the empty name"
    return f"{what} as {members[0].describe()}, the node has sizes alone"


def _finding(
    node: Node,
    form: NodeForm,
    schema: OperatorSchema,
    combination: Combination,
    members: Sequence[Member],
    origins: tuple[Related, ...] = (),
) -> Finding:
    are_needed_together = combination.kind in (Choice.TOGETHER, Choice.NEEDS)
    in_words = _lacking_in_words if are_needed_together else _excluding_in_words
    wording = in_words(combination, members, form)
    is_only_described = schema.domain == RUNTIME_DOMAIN and not combination.is_enforced
    end = "; only its description requires this" if is_only_described else ""
    return Finding(
        _place(node, members[-1]),
        f"{node.describe()} has {wording.has}, but {describe_schema(schema)} {wording.choice}{end}",
        "NOD-7c" if combination.is_enforced else "NOD-7d",
        (*(Related(_place(node, member), member.describe()) for member in members[:-1]), *origins),
        f"{wording.allowed} (see {combination.source})",
        subject=members[-1].name,
        partners=tuple(each.place for each in origins),
    )


class _CombinationWording(Record):
    """The words about a combination."""

    has: str
    """What the node has."""
    choice: str
    """What the operator allows or needs, as the end of a sentence."""
    allowed: str


def _lacking_in_words(combination: Combination, members: Sequence[Member], form: NodeForm) -> _CombinationWording:
    """Return the words about members without another one that they need."""
    lacking = next(side[0] for side in combination.sides if side[0] not in members)
    is_pair = len(combination.sides) == _PAIR
    choice = "needs both or neither" if is_pair else "needs all of these lists or none"
    if combination.kind is Choice.NEEDS:
        choice = "allows the former only with the latter"
    allowed = "both or neither" if is_pair else f"all or none of {listed(_every(combination))}"
    return _CombinationWording(f"{members[0].describe()} without {lacking.describe()}", choice, allowed)


def _excluding_in_words(combination: Combination, members: Sequence[Member], form: NodeForm) -> _CombinationWording:
    """Return the words about members that exclude each other."""
    is_one = combination.kind is Choice.ONE
    choice = "needs exactly one of them" if is_one else "allows at most one of them"
    names = {member.name for member in members}
    if any(attribute.name in names and is_empty_list(attribute) for attribute in form.attributes):
        choice += "; an empty list is a value as well"
    allowed = f"{'exactly' if is_one else 'at most'} one of {listed(_every(combination))}"
    return _CombinationWording(listed([member.describe() for member in members]), choice, allowed)


def _every(combination: Combination) -> list[str]:
    return [member.describe() for side in combination.sides for member in side]


_PAIR = 2


def _place(node: Node, member: Member) -> Place:
    if member.field == "attribute":
        return node.place.at("attribute", next(attributes_with(node, {member.name})))
    return node.place.at(member.field, member.index)

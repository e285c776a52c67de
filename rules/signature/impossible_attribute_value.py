# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.inference.flow.conflict import WHOLE
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.operators.attribute_faults import AttributeFault, attribute_faults
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.model import Model, Node, Place, has_faulty_attributes
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("NOD-7e", "NOD-7f", "NOD-7h"), since="0.1.0", about=has_faulty_attributes, needs="node")
def impossible_attribute_value(model: Model) -> Iterator[Finding]:
    """An attribute of a node has numbers or a list that its operator accepts for no operands.

    ### How to fix

    Use a value that the operator's description allows: here each axis of the input once.

    ### Example

    ```
    node { op_type: "Transpose" input: "x" output: "y" attribute { name: "perm" type: INTS ints: [1, 1] } }
    ```

    Corrected:

    ```
    node { op_type: "Transpose" input: "x" output: "y" attribute { name: "perm" type: INTS ints: [1, 0] } }
    ```

    ### Why it matters

    Such a node has no meaning for any input. Consumers refuse it, or read a list beyond its end because they trust the
    lengths.

    ### Details

    The descriptions of ONNX's operators decide, at the imported version:

    - `perm` of Transpose must name each axis once. `axes` of Unsqueeze, Resize and CenterCropPad must not repeat one.
    - Pads of convolutions and pools must not be negative.
    - `blocksize`, `size` of LRN, and numbers of heads and groups must be positive.
    - `clip` of GRU and LSTM must not be negative; 0 is a warning, because ONNX Runtime refuses it.
    - `axes` of Squeeze-1 and Unsqueeze-1 and `axis` of Flatten up to opset 10 must not be negative.
    - Parallel lists must have one length: `kernel_shape`, `strides`, `dilations` and half of `pads`; keys and values of
      LabelEncoder; the `nodes_*`, `class_*`, `target_*` and `leaf_*` of tree ensembles; `offset` and `scale` of Scaler,
      and others.
    - `equation` of Einsum must have one term of letters for each input, with at most one ellipsis in each. After `->`,
      each label must occur only once, and must also occur before it. An ellipsis only before `->` is a warning.
    - `pattern` of RegexFullMatch must compile in RE2, which has no lookahead, no reference to a group, no range such
      as `[z-a]` and no repetition such as `a{2,1}`. `x{,2}` is text there.
    - A negative `scale` of RandomNormal, a `low` of RandomUniform above its `high`, and a `ratio` of Dropout that is
      not from 0 to 1 are warnings, because the text does not say what they mean.
    - `activations` of RNN, GRU and LSTM must have 1, 2 or 3 for each direction. The default of RNN has two, which is
      accepted.
    - `value` of ConstantOfShape must be a list of one element; a scalar is a warning, because onnx and ONNX Runtime
      refuse it.
    - `kernel_params` of support vector machines must have three numbers.
    - TreeEnsemble needs nodes and leaves at existing positions, no node that is a child twice or leads back to itself,
      targets below `n_targets`, modes 0 to 6 of type uint8, and a set of `membership_values` for each node that tests
      membership.
    - TreeEnsembleClassifier and TreeEnsembleRegressor need no id twice in a tree, no node that leads back to itself,
      children and votes of existing nodes, votes for existing classes and targets, and base values for all of them or
      none. One base value for two classes is accepted, because converters write it.
    - `keys_tensor` and `values_tensor` of LabelEncoder must be lists. `default_tensor` must be a list of one element of
      the type of the values.
    - LinearClassifier must have one label for each of the `intercepts`, or two if there is one intercept, and the same
      number of `coefficients` for each. ONNX Runtime loads further labels.
    - TfIdfVectorizer: n-grams must have at least one element and at most the length of `ngram_counts`. The counts must
      ascend within the pool, with whole n-grams between them. `ngram_indexes` must have a coordinate for each n-gram
      ("This list is parallel to the specified 'pool_*' attribute"); ONNX Runtime accepts any number.
    - The ids of each tree of a TreeEnsembleRegressor must start at 0 and increment by 1. ONNX Runtime accepts ids that
      go on in the next tree.
    - The ids of a TreeEnsembleClassifier may start elsewhere, because its text allows it.
    - Two parents of one node are reported only for TreeEnsemble: consumers run such models of the other two operators.
    - An optional list may be empty. The lists of TreeEnsemble, and the keys and values of LabelEncoder, must have one
      length even if one is empty.
    - These need at least one element, because ONNX Runtime 1.32 refuses them without one: class labels, keys and
      values of LabelEncoder since version 4, categories of OneHotEncoder, values of Imputer, pools of TfIdfVectorizer
      and `coefficients` of LinearClassifier.
    - If an attribute refers to a parameter of a function, the values of all calls and the default are checked, also if
      functions pass them to functions.
    - onnx.checker checks a few of these values, and only with `full_check`.
    - Reported by other rules: what depends on shapes (`impossible-operator-extent`), words and numbers of a fixed set
      (`unsupported-attribute-value`).
    """
    for alike in model.operators.verified_nodes:
        schema = alike.operator.schema
        assert schema is not None
        if not alike.attributes:
            continue
        for graph, forms in alike.forms.items():
            faults: dict[NodeForm, list[AttributeFault]] = {}
            for form in forms:
                with model.crashes.at(_CHECK, partial(graph.first_of, form)):
                    if found := attribute_faults(schema, form):
                        faults[form] = found
            for node in graph.nodes_of(faults) if faults else ():
                for fault in faults[node.form]:
                    with model.crashes.at(_CHECK, node):
                        yield _finding(node, fault)
    yield from _handed_in(model)


def _handed_in(model: Model) -> Iterator[Finding]:
    """Report values that calls or defaults of parameters pass into functions, once for each source and attribute."""
    reported: set[tuple[Place, tuple[Place, ...]]] = set()
    for bound in model.bound_nodes:
        with model.crashes.at(_CHECK, partial(bound.graph.first_of, bound.form)):
            faults = attribute_faults(bound.schema, bound.bound)
            own = attribute_faults(bound.schema, bound.form) if faults else ()
            for fault in faults:
                if fault in own:
                    continue
                notes = bound.notes([name for name in (fault.attribute, fault.other) if name is not None])
                places = tuple(place for place, _ in notes)
                for node in bound.nodes:
                    found = _finding(node, fault, tuple(Related(*note) for note in notes))
                    if (found.place, places) not in reported:
                        reported.add((found.place, places))
                        yield found


_CHECK = "checking the values of attributes"


def _finding(node: Node, fault: AttributeFault, origins: tuple[Related, ...] = ()) -> Finding:
    related = (*(() if fault.other is None else (_related(node, fault.other),)), *origins)
    return Finding(
        node.place.at("attribute", next(attributes_with(node, {fault.attribute}))),
        f"attribute {quote(fault.attribute)} of {node.describe()} {fault.what}",
        clause="NOD-7h" if fault.is_allowed else "NOD-7f" if fault.is_unexplained else "NOD-7e",
        related=related,
        allowed=fault.allowed,
        subject=fault.attribute,
        cause=f"{node.domain}::{node.op_type} {fault.attribute} {fault.what}",
        inner=WHOLE if fault.index is None else f"element {fault.index}",
    )


def _related(node: Node, name: str) -> Related:
    place = node.place.at("attribute", next(attributes_with(node, {name})))
    return Related(place, f"attribute {quote(name)}")

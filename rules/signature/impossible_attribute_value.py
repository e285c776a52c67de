# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.model import (
    AttributeFault,
    Model,
    Node,
    NodeForm,
    Place,
    attribute_faults,
    attributes_with,
    has_faulty_attributes,
)
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("NOD-7e", "NOD-7h"), since="0.1.0", about=has_faulty_attributes, needs="node")
def impossible_attribute_value(model: Model) -> Iterator[Finding]:
    """An attribute of a node has numbers or a list that its operator accepts for no operands.

    ### How to fix

    Give a value that the operator's description allows: here each axis of the input once.

    ### Example

    ```
    node { op_type: "Transpose" input: "x" output: "y" attribute { name: "perm" type: INTS ints: [1, 1] } }
    ```

    Corrected:

    ```
    node { op_type: "Transpose" input: "x" output: "y" attribute { name: "perm" type: INTS ints: [1, 0] } }
    ```

    ### Why it matters

    Such a node has no meaning for any input. Consumers refuse it, or read a list beyond its end because they take
    the lengths for granted. onnx.checker checks a few of these values, and only with `full_check`; on some
    equations of Einsum with a stray dot it never ends.

    ### Details

    What the descriptions of ONNX's operators say, at the imported version:

    - `perm` of Transpose names each axis once; `axes` of Unsqueeze, Resize and CenterCropPad repeat none;
    - numbers in their range: pads of convolutions and pools are not negative, `blocksize`, `size` of LRN, numbers of
      heads and groups and the like are positive, `clip` of GRU and LSTM is not negative (0 is a warning: ONNX Runtime
      refuses it), `axes` of Squeeze-1 and Unsqueeze-1 and `axis` of Flatten up to opset 10 do not count from the back;
    - lists that belong together are equally long: `kernel_shape`, `strides` and `dilations`, and `pads`, with two for
      each; keys and values of LabelEncoder; the `nodes_*`, `class_*`, `target_*` and `leaf_*` of tree ensembles;
      `offset` and `scale` of Scaler, and so on;
    - `equation` of Einsum: terms of letters with at most one ellipsis each, as many as there are inputs, and behind
      `->` only labels that also occur before it, each once. An ellipsis before `->` and none behind it is a warning:
      ONNX Runtime refuses it;
    - `pattern` of RegexFullMatch: what RE2 compiles, so no lookahead and no reference to a group;
    - `activations` of RNN, GRU and LSTM: 1, 2 or 3 for each direction. The default of RNN has two, which is accepted;
    - `value` of ConstantOfShape: one element, in a list: a scalar is a warning, as onnx and ONNX Runtime refuse it;
      `kernel_params` of support vector machines: three;
    - TreeEnsemble: positions of nodes and leaves that are there, no node that is a child twice or leads back to
      itself, targets below `n_targets`, modes 0 to 6 of type uint8, and a set of `membership_values` for each node
      that tests membership;
    - TreeEnsembleClassifier and TreeEnsembleRegressor: no id twice in a tree, children and votes of nodes that are
      there, no node that leads back to itself, votes for classes and targets that are there, a base value for each of
      them or none;
    - `keys_tensor` and `values_tensor` of LabelEncoder: lists; `default_tensor`: a list of one element of the type of
      its values;
    - LinearClassifier: as many labels as `intercepts`, or two of one, since each class has a score, and as many
      `coefficients` for each of them. ONNX Runtime runs further labels, which have no score, and the message says so;
    - TfIdfVectorizer: n-grams of at least one element, and no longer ones than `ngram_counts` has places in the pool
      for; these ascend within the pool, and whole n-grams lie between them; a coordinate in `ngram_indexes` for each
      n-gram ("This list is parallel to the specified 'pool_*' attribute"); ONNX Runtime takes any number of them.

    The ids of each tree of a TreeEnsembleRegressor start at 0 and increment by 1. ONNX Runtime takes other ids as long
    as they are below the number of nodes of all trees, and the message says so. The text of TreeEnsembleClassifier
    says that ids need not restart at 0, so ids that start elsewhere are no fault there, although ONNX Runtime refuses
    those that reach the number of all nodes. Two parents of one node are a fault of TreeEnsemble alone: of the other
    two operators consumers run such models. One base value passes for two classes, as converters write it.

    A list that may be left out may be empty. Lists of TreeEnsemble are equally long also where one is empty, and so are
    the keys and values of LabelEncoder. Class labels, keys and values of LabelEncoder since version 4, categories of
    OneHotEncoder, values of Imputer, pools of TfIdfVectorizer and `coefficients` of LinearClassifier have at least one
    element: ONNX Runtime refuses a model without any.

    Where an attribute refers to a parameter of a function, the values of all calls and the default are checked,
    also if functions pass them on. What depends on shapes is reported by `impossible-operator-extent`, words and
    numbers that are one of a few by `unsupported-attribute-value`.
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
    """The findings for values that calls and defaults bring into functions; of one giver each attribute has one."""
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
        clause="NOD-7h" if fault.is_allowed else "NOD-7e",
        related=related,
        allowed=fault.allowed,
        subject=fault.attribute,
        cause=f"{node.domain}::{node.op_type} {fault.attribute} {fault.what}",
    )


def _related(node: Node, name: str) -> Related:
    place = node.place.at("attribute", next(attributes_with(node, {name})))
    return Related(place, f"attribute {quote(name)}")

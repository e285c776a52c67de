# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from onnx_lint.inference.flow.conflict import WHOLE
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.operators.attribute_faults import AttributeFault, attribute_faults
from onnx_lint.ir.operators.attribute_proposals import with_both_ends
from onnx_lint.ir.operators.bound_nodes import BoundNodes
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.operators.proposals import as_sentences
from onnx_lint.model import Graph, Model, Node, OperatorSchema, Place, Proposals, has_faulty_attributes
from onnx_lint.rule import Finding, Related, elements_of, rule
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_CODES
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

    The descriptions of ONNX's operators decide, at the imported version, and the message says what they require. The
    rule checks axes, pads, sizes and counts, lists that must have one length, the texts `equation` (Einsum), `pattern`
    (RegexFullMatch) and `activations`, and the lists of tree ensembles, LabelEncoder, LinearClassifier, support vector
    machines and TfIdfVectorizer.

    - Warnings, because the text does not say what they mean: a negative `scale` of RandomNormal, a `low` of
      RandomUniform above its `high`, a `ratio` of Dropout that is not from 0 to 1, an ellipsis of Einsum only before
      `->`.
    - `clip` of GRU and LSTM must not be negative; 0 is a warning, because ONNX Runtime refuses it.
    - `value` of ConstantOfShape must be a list of one element; a scalar is a warning, because onnx and ONNX Runtime
      refuse it.
    - `pattern` must compile in RE2, which has no lookahead, no reference to a group, no range such as `[z-a]` and no
      repetition such as `a{2,1}`. `x{,2}` is text there.
    - `activations` must have 1, 2 or 3 for each direction. The default of RNN has two, which is accepted.
    - An optional list may be empty, but not those of TreeEnsemble, nor keys and values of LabelEncoder. These need an
      element, because ONNX Runtime 1.32 refuses them without one: class labels, keys and values of LabelEncoder since
      version 4, categories of OneHotEncoder, values of Imputer, pools of TfIdfVectorizer and `coefficients` of
      LinearClassifier.
    - LinearClassifier needs a label for each of the `intercepts`, or two for one. ONNX Runtime loads further labels.
    - `ngram_indexes` of TfIdfVectorizer must have a coordinate for each n-gram; ONNX Runtime accepts any number.
    - The ids of each tree of a TreeEnsembleRegressor must start at 0 and increment by 1. ONNX Runtime accepts ids that
      go on in the next tree. Those of a TreeEnsembleClassifier may start elsewhere, because its text allows it.
    - TreeEnsembleClassifier and TreeEnsembleRegressor may have two parents of a node, and one base value for two
      classes, because converters write it. TreeEnsemble may not.
    - If an attribute refers to a parameter of a function, the values of all calls and the default are checked.
    - onnx.checker checks a few of these values, and only with `full_check`.
    - Reported by other rules: what depends on shapes (`impossible-operator-extent`), words and numbers of a fixed set
      (`unsupported-attribute-value`).
    """
    for alike in model.operators.verified_nodes:
        if alike.attributes:
            for graph, forms in alike.forms.items():
                yield from _findings_in(model, graph, forms, alike.schema)
    yield from _findings_of_calls(model)


def _findings_in(model: Model, graph: Graph, forms: Iterable[NodeForm], schema: OperatorSchema) -> Iterator[Finding]:
    """Yield the findings on nodes of a graph that have these forms."""
    faults: dict[NodeForm, list[AttributeFault]] = {}
    for form in forms:
        with model.crashes.at(_CHECK, partial(graph.first_of, form)):
            if found := attribute_faults(schema, form):
                faults[form] = found
    if not faults:
        return
    for node in graph.nodes_of(faults):
        for fault in faults[node.form]:
            with model.crashes.at(_CHECK, node):
                yield _finding(node, fault)


def _findings_of_calls(model: Model) -> Iterator[Finding]:
    """Yield findings on values that calls or defaults of parameters pass into functions.

    There is one for each node and origin of the values.
    """
    reported: set[tuple[Place, tuple[Place, ...]]] = set()
    for nodes in model.bound_nodes:
        with model.crashes.at(_CHECK, partial(nodes.graph.first_of, nodes.form)):
            for fault in _faults_of_call(nodes):
                notes = nodes.notes([name for name in (fault.attribute, fault.other) if name is not None])
                origins = tuple(Related(*note) for note in notes)
                places = tuple(origin.place for origin in origins)
                for node in nodes.nodes:
                    found = _finding(node, fault, origins)
                    if (found.place, places) not in reported:
                        reported.add((found.place, places))
                        yield found


def _faults_of_call(nodes: BoundNodes) -> list[AttributeFault]:
    """Return the faults that nodes of a function only have with the values from a call or a default."""
    faults = attribute_faults(nodes.schema, nodes.bound)
    own = attribute_faults(nodes.schema, nodes.form) if faults else ()
    return [fault for fault in faults if fault not in own]


_CHECK = "checking the values of attributes"


def _clause(fault: AttributeFault) -> str:
    if fault.is_allowed:
        return "NOD-7h"
    return "NOD-7f" if fault.is_unexplained else "NOD-7e"


def _finding(node: Node, fault: AttributeFault, origins: tuple[Related, ...] = ()) -> Finding:
    """Return the finding on a node. `origins`: the attributes of calls, or defaults, that give it the values."""
    others = () if fault.other is None else (_related(node, fault.other),)
    at = next(attributes_with(node, {fault.attribute}))
    is_of_element = fault.index is not None and node.attribute_protos[at].type not in _SINGLE
    element = f"element {fault.index} of " if is_of_element else ""
    found = Finding(
        node.place.at("attribute", at),
        f"{element}attribute {quote(fault.attribute)} of {node.describe()} {fault.what}",
        clause=_clause(fault),
        related=(*others, *origins),
        allowed=fault.allowed,
        subject=fault.attribute,
        cause=f"{node.domain}::{node.op_type} {fault.attribute} {fault.what}",
        inner=WHOLE if fault.index is None else f"element {fault.index}",
        partners=_partners(fault, others, origins),
        proposals=None if fault.index is not None or origins else _with_both_ends(node, at),
    )
    if fault.index is None:
        return found
    # Elements of an attribute have no place of their own, so no suppression names one of them alone.
    elements = [fault.index, *fault.others]
    return elements_of(found, elements, again=lambda _: found, at=lambda index: (found.place, f"element {index}"))


def _partners(fault: AttributeFault, others: tuple[Related, ...], origins: tuple[Related, ...]) -> tuple[Place, ...]:
    """Return the other places of a fault: the origins of the values, or the list that the attribute is longer than.

    Exchanged lengths are another fault, so only a list that is too long has the shorter one as a partner.
    """
    if origins:
        return tuple(origin.place for origin in origins)
    return tuple(other.place for other in others) if fault.is_longer else ()


_SINGLE: Final = frozenset(ATTRIBUTE_TYPE_CODES[name] for name in ("FLOAT", "INT", "STRING"))
"""The types of attributes that hold one value."""


def _related(node: Node, name: str) -> Related:
    place = node.place.at("attribute", next(attributes_with(node, {name})))
    return Related(place, f"attribute {quote(name)}")


def _with_both_ends(node: Node, index: int) -> Proposals | None:
    """Return the proposal to write each pad twice, for begin and end; None if the list has not one for each axis."""
    options = with_both_ends(node, index)
    return as_sentences(lambda: options) if options else None

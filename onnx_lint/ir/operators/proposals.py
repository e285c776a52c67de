# SPDX-License-Identifier: Apache-2.0
"""Proposals: changes that may fix a finding. The engine tries each on the whole model before a report shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnx_lint.common.record import Record, replace
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.names.renaming import FreshNames, value_names
from onnx_lint.ir.places.edits import Assign, Edit, Insert
from onnx_lint.ir.places.place import Place

if TYPE_CHECKING:
    from onnx_lint.ir.operators.operators import Operators
    from onnx_lint.schema import Proto

    EditsOf = Callable[[Operators], Iterable[Edit]]
    """Returns the edits of a change, made only if the change is tried."""


class Proposal(Record):
    """One change in words and as edits."""

    text: str
    edits: EditsOf
    note: tuple[Place, str] | None = None
    """A place to show if the proposal is reported, and what it is."""
    is_preferred: bool = False
    """True if this one alone is reported, provided that it fixes the model."""
    is_fallback: bool = False
    """True if it is tried only if none of the changes before it fixes the model without adding a finding."""
    must_be_only: bool = False
    """True if it is reported only alone. If another one fixes the model as well, both are guesses: none is reported."""
    must_add_no_finding: bool = False
    """True if it is not reported if any finding is new, even one that the fixed finding had hidden."""
    tolerates_fixable_finding: bool = False
    """True if it is also reported if it uncovers a finding at its own node that a change of that node fixes."""
    uncovers_own_node: bool = False
    """True if the fixed finding hides all others at its node. It is reported whatever it uncovers there."""
    leaves_out_numbers: bool = False
    """True if its edits leave out the numbers of a tensor. Findings that depend on these then only look fixed."""
    also_fixes: tuple[tuple[str, str, Place], ...] = ()
    """The rule, clause and place of findings that trials do not see, and that it is proven to fix as well."""


class Proposals(Record):
    """The changes that may fix a finding, of which the report shows those that do."""

    sentence: str
    """What to do, with `{}` for the changes."""
    options: Callable[[], Sequence[Proposal]]
    """Returns the changes, preferred ones first.

    At most two of the others are reported; if more of them fix the model, none is. The changes are made only for a
    report, and not for the findings of a trial.
    """
    cause: str | None = None
    """The cause that all findings with these proposals share if they fix the model. They are tried once."""
    ends_message: bool = False
    """True if the sentence ends the message; False if it is a line of its own."""
    otherwise: Callable[[], str | None] | None = None
    """Returns a fact that ends the message if no change is reported, tried or not."""
    if_none_fits: str | None = None
    """The hint if all changes were tried, none fixes the model, and `otherwise` returns no fact."""
    cause_if_none_fits: Callable[[], str | None] | None = None
    """Returns the cause of the finding if no change is reported, tried or not. Findings of other rules share it."""
    changes_node: bool = False
    """True if the options are the changes of a node with which its operands fit."""
    help_line: str | None = None
    """A further line, if the sentence ends the message."""
    is_proven_import: bool = False
    """True if the change is an import that signatures prove. It is made first, and other changes are tried with it.

    Such proposals need no trial either. An import that they do not prove is tried like any other change.
    """
    condition_in_model: Callable[[Any], bool] | None = None
    """Returns whether the model with the import, which it is given, shows that it is meant; None if that is known."""
    sentence_if_unchecked: str = ""
    """The sentence about an import if the model was not checked with it, or if it uncovers other findings."""
    needs_no_trial: bool = False
    """True if the signatures of operators alone prove the changes: they are reported without a trial."""


def ready(text: str, *edits: Edit) -> Proposal:
    """Return a change whose edits are made already."""
    return Proposal(text, lambda _: edits)


def preferred(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Return the changes, marked so that the first one that fixes the model is the only one to report."""
    return tuple([replace(each, is_preferred=True) for each in proposals])


def only(proposal: Proposal) -> Proposals:
    """Return one change, whose words are the whole sentence."""
    return as_sentences(lambda: (proposal,))


def as_sentences(options: Callable[[], Sequence[Proposal]], *, needs_no_trial: bool = False) -> Proposals:
    """Return changes whose words are whole sentences. See the fields of `Proposals`."""
    return Proposals("{}", options, needs_no_trial=needs_no_trial)


def attribute_edit(node: Node, attribute: Proto) -> Edit:
    """Return the edit that gives a node an attribute, in place of the one of that name."""
    names = [each.name for each in node.attribute_protos]
    if attribute.name in names:
        return Assign(node.place.at("attribute", names.index(attribute.name)), attribute)
    return Insert(node.place.at("attribute", len(names)), attribute)


def exchange_edits(node: Node, pair: tuple[int, int]) -> Iterator[Edit]:
    """Yield the edits that exchange two inputs of a node."""
    one, other = pair
    yield Assign(node.place.at("input", one), node.inputs[other])
    yield Assign(node.place.at("input", other), node.inputs[one])


def fresh_names(graph: Graph) -> FreshNames:
    """Return a source of names that are new in the graph, in the graphs around it and in the graphs in these."""
    while graph.parent is not None:
        graph = graph.parent
    return FreshNames(value_names(_tree(graph)))


def _tree(graph: Graph) -> Iterator[Graph]:
    yield graph
    for nested in graph.nested:
        yield from _tree(nested)

# SPDX-License-Identifier: Apache-2.0
"""What models of a run have in common, and what no rule that judges it by itself had anything to say about.

Thousands of models have a few hundred forms of nodes between them. A rule may declare what its silence follows from, as
`of="form"`: it finds nothing in a model if it finds nothing wrong with any form of a node in it, whatever else stands
there. Such a rule need not be asked about a model that has no form but such that were found right in earlier models
(docs/performance.md: census).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from operator import attrgetter
from typing import Final

from onnx_lint.engine.registry import Registered
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.documents.kinds import MODEL
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.model import Model

_MOST_KEPT: Final = 4_096
"""So many elements of a kind are remembered; then all are forgotten, which costs time only."""

_MOST_CHARACTERS: Final = 256
"""Elements with longer texts are hardly ever met again, and would take up memory."""

Elements = Mapping[Hashable, Set[Hashable]]
"""What a model has of a kind, for each of the circumstances that a verdict depends on."""

_NOTHING: Final[Set[Hashable]] = frozenset()

_IS_REFERENCE: Final = attrgetter("is_reference")


class Census:
    """The elements that were found right in the models so far, under the settings of a run."""

    def __init__(self) -> None:
        self._right: dict[str, dict[Hashable, set[Hashable]]] = {kind: {} for kind in ELEMENTS}

    def settled(self, model: Model) -> frozenset[str]:
        """The kinds of elements of which the model has none but such that were found right before."""
        if model.kind != MODEL or not model.loaded:
            return frozenset()
        return frozenset([kind for kind, right in self._right.items() if right and _new(kind, model, right) == {}])

    def note(self, model: Model, settled: Set[str], asked: Iterable[Registered], found: Set[str]) -> None:
        """Take note of a model for which these rules were asked; those of the ids in `found` had something to say.

        `settled`: the kinds of elements of which it has none that were not known to be right.

        A rule that is asked because there is something of what it is about counts as one of these: it may let pass here
        what it lets pass nowhere else.
        """
        if model.kind != MODEL or not model.loaded or settled >= self._right.keys():
            return
        wrong = {entry.of for entry in asked if entry.about is not None or entry.id in found}
        for kind in self._right.keys() - settled - wrong:
            self._keep(kind, _new(kind, model, self._right[kind]) or {})

    def _keep(self, kind: str, elements: Elements) -> None:
        right = self._right[kind]
        if sum(map(len, list(right.values()))) + sum(map(len, elements.values())) > _MOST_KEPT:
            right.clear()
        for circumstances, found in elements.items():
            right.setdefault(circumstances, set()).update(found)


def _new(kind: str, model: Model, right: Elements) -> Elements | None:
    """The elements of a model that are not among the right ones; None where that cannot be told."""
    try:
        return ELEMENTS[kind](model, right)
    except Exception:
        return None  # the rules meet the same error, which is reported as theirs


def _forms(model: Model, right: Elements) -> Elements | None:
    """What the nodes look like; None where that alone decides nothing, since functions take attributes or are unknown.

    None also where there is more than can be remembered: to look through it is in vain.

    The circumstances are the IR version and the operator sets that are imported. Graphs in attributes have nodes of
    their own, and a node that calls a function is no use of an operator.
    """
    if len(model.forms) > _MOST_KEPT or model.parametric_functions:
        return None
    if any(map(_IS_REFERENCE, model.attribute_kinds)):
        return None
    found: dict[Hashable, set[Hashable]] = {}
    calls = model.calls
    for scope, forms in model.operators.forms_by_scope.items():
        circumstances = (model.ir_version, scope)
        known = right.get(circumstances, _NOTHING)
        if not calls.names and forms <= known:
            continue  # most forms stand for themselves
        if calls.names:
            elements = {_as_called(form, calls) for form in forms}
        else:
            elements = {form.element or _element(form) for form in forms}
        if None in elements:
            return None
        if not elements <= known:
            found.setdefault(circumstances, set()).update(elements - known)
    return found


def _element(form: NodeForm) -> Hashable | None:
    """What stands for nodes of a form; None for a form that the next model cannot have."""
    form.element = _of_graphs(form) or (form if form.is_shared else None)
    return form.element


def _as_called(form: NodeForm, calls: Calls) -> Hashable | None:
    """What stands for nodes of a form, which may call a function; None also where it is not clear which one."""
    element = form.element or _element(form)
    if form.op_type not in calls.names or not calls.namesakes(form):
        return element
    return None if element is None or calls.function_of(form) is None else ("call", element)


def _of_graphs(form: NodeForm) -> Hashable | None:
    """What stands for nodes all of whose attributes are graphs, of which each model has its own; None for others."""
    kinds = form.attribute_kinds
    if not kinds or any(kind.fields != ("g",) for kind in kinds):
        return None
    told = form.op_type, form.domain, form.overload, form.inputs, form.outputs, form.attribute_types, kinds
    names = (
        len(form.op_type) + len(form.domain) + len(form.overload) + sum(len(name) for name, _ in form.attribute_types)
    )
    return told if names + len(form.inputs) + len(form.outputs) <= _MOST_CHARACTERS else None


ELEMENTS: Final[Mapping[str, Callable[[Model, Elements], Elements | None]]] = {"form": _forms}
"""What finds the elements of each kind in a model that are not among the given ones."""

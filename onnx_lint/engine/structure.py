# SPDX-License-Identifier: Apache-2.0
"""The identity of a place without names: operators and their order, for models whose names are made by counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.engine.numbered_steps import NumberedSteps
from onnx_lint.engine.views import MAX_NEIGHBOURS, Description, GraphViews, StepViews, annotated, described, same_view
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.places.place import Place, PlaceKey, place_of
from onnx_lint.report.digests import DIGITS

if TYPE_CHECKING:
    from onnx_lint.model import Model

_VALUES: Final = {"input": "input_names", "output": "output_names", "initializer": "initializer_names"}

_NAMED_ELEMENTS: Final = frozenset(
    {
        "attribute",
        "attribute_proto",
        "configuration",
        "device_configurations",
        "external_data",
        "functions",
        "initialization_binding",
        "metadata_props",
        "model_properties",
        "node",
        "opset_import",
        "quant_parameter_tensor_names",
        "quantization_annotation",
        "update_binding",
    }
)
"""The lists whose elements a fingerprint identifies by name, so that their indices do not matter."""

_KEYED: Final = frozenset(
    {"attribute", "attribute_proto", "external_data", "metadata_props", "quant_parameter_tensor_names"}
)
"""Those of them whose elements have a key with a meaning, such as the name of an attribute: no exporter numbers it."""


class Structure(Record):
    """The identity of a place in a model. Each list of texts is one step from the root of the model to the place."""

    names: tuple[str, ...]
    """The names of the nodes, values and nested graphs around the place."""
    inside: tuple[str, ...]
    """The indices on the way to the place in lists whose elements have no names, such as `dim 3`."""
    keys: tuple[str, ...]
    """The keys on the way from the innermost graph to the place, such as `attribute axis`."""
    steps: list[str]
    """The operators around, with their numbers among the nodes of that operator: see `NumberedSteps`."""
    views: tuple[StepViews, ...]
    """What describes the steps without names."""

    def descriptions(self) -> list[Description]:
        """Return the descriptions of the operators around the place."""
        return described(self.views)


class Structures:
    """The identities of places in one model. Each graph is walked once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._steps: dict[PlaceKey, NumberedSteps] = {}
        self._views: dict[PlaceKey, GraphViews] = {}

    @cached_property
    def _graphs(self) -> dict[PlaceKey, Graph]:
        return {graph.place.key: graph for graph in self._model.graphs}

    def of(self, place: Place) -> Structure:
        """Return the structure around a place, and the names of the nodes and nested graphs around it.

        A node is described by its operator, its position, the operators or inputs of the graph that its inputs come
        from, and the operators or outputs of the graph that use its outputs, with their positions. An entry of
        `value_info` is described by the definition of the value, and an initializer by its users.
        """
        steps: list[str] = []
        views: list[StepViews] = []
        names: tuple[str, ...] = ()
        inside: list[str] = []
        around: list[str] = []
        key = place.key
        for depth, (field, index) in enumerate(key):
            graph = self._graphs.get(key[:depth])
            if graph is None or index is None:
                step = f"{field} {index}"
                steps.append(step)
                views.append(same_view(step))
                if index is not None and field not in _NAMED_ELEMENTS:
                    inside.append(step)
                continue
            if graph.kind is not GraphKind.MAIN:
                around.append(graph.name)
            own = _names(graph, field, index)
            if own:
                around += own
                names = tuple(around)
            inside += _inside(graph, field, index, own)
            steps.append(self._steps_in(key[:depth], graph).step_to(field, index))
            may_be_any = place.field == "op_type"
            views.append(self._views_in(key[:depth], graph).views_of_element(field, index, may_be_any=may_be_any))
        return Structure(names=names, inside=tuple(inside), keys=self._keys(place), steps=steps, views=tuple(views))

    def _steps_in(self, key: PlaceKey, graph: Graph) -> NumberedSteps:
        if key not in self._steps:
            self._steps[key] = NumberedSteps(graph)
        return self._steps[key]

    def _views_in(self, key: PlaceKey, graph: Graph) -> GraphViews:
        if key not in self._views:
            self._views[key] = GraphViews(graph)
        return self._views[key]

    def _keys(self, place: Place) -> tuple[str, ...]:
        """Return `Structure.keys`."""
        key = place.key
        fields = [field for field, _ in key]
        # Graphs have names, but for a place such as `g.name`, which is in none of their lists.
        inner = [depth for depth, (_, index) in enumerate(key) if index is not None and key[:depth] in self._graphs]
        start = max(inner, default=0)
        if _KEYED.isdisjoint(fields[start:]):
            return ()
        scope = self._model.places.enclosing_names(place).scope
        pairs = zip(fields[start:], scope[start:], strict=False)
        return tuple([f"{field} {name}" for field, name in pairs if field in _KEYED])

    def of_content(self, place: Place, *, is_whole: bool) -> list[Description]:
        """Return what describes a place inside of a stored tensor, the same for an initializer and a Constant.

        These are its names, and the descriptions of its users, each with the way inside of the tensor. Empty if
        the place is elsewhere; the names alone if nothing uses the tensor. `is_whole`: without the way inside.
        """
        key = place.key
        for depth in range(len(key) - 1, -1, -1):
            graph = self._graphs.get(key[:depth])
            stored = None if graph is None else _stored_at(graph, key[depth:])
            if graph is not None and stored is not None:
                return self._of_content(key[:depth], graph, stored.name, () if is_whole else stored.inside)
        return []

    def _of_content(self, key: PlaceKey, graph: Graph, name: str, inside: tuple[str, ...]) -> list[Description]:
        around = self.of(place_of(key))
        of_graph = () if graph.kind is GraphKind.MAIN else (graph.name,)
        found = [Description("names_inside", (*around.names, *of_graph, name, *inside))]
        users = self._views_in(key, graph).views_of_users(name)
        if users is not None:
            for outer, own in zip(around.descriptions(), described([users]), strict=True):
                found.append(Description(own.kind, (*outer.texts, *own.texts, *inside)))
        return found

    def inputs_of_producer(self, place: Place, name: str) -> tuple[str, ...]:
        """Return the inputs of the node that produces a value; empty if no node does, or if the place is in no node."""
        key = place.key
        inside = [depth for depth, (field, _) in enumerate(key) if field == "node" and key[:depth] in self._graphs]
        for depth in reversed(inside):
            graph = self._graphs[key[:depth]]
            found = graph.first_definition(name)
            if found is not None:
                inputs = () if found.node is None else graph.table.inputs[found.node.index]
                return tuple(inputs[:MAX_NEIGHBOURS])
        return ()

    def digest_of_names(self, place: Place, *, is_of_nodes: bool = False) -> str:
        """Return a digest of all names of the kind that the place has: if it is the same, nothing has been renamed.

        These are the names of initializers that nodes use, or those of nodes, their outputs, and inputs of graphs. An
        initializer or an entry of `value_info` that nothing uses changes neither. `is_of_nodes`: whether the fault has
        other places, which are nodes. An initializer then has both digests.
        """
        fields = [field for field, _ in place.key]
        if "initializer" not in fields:
            return self._values_and_nodes
        return self._initializers + (self._values_and_nodes if is_of_nodes or "node" in fields else "")

    @cached_property
    def _initializers(self) -> str:
        used = {name for graph in self._model.graphs for names in graph.node_inputs for name in names}
        return digest(*sorted(used.intersection(name for graph in self._model.graphs for name in _stored(graph))))

    @cached_property
    def _values_and_nodes(self) -> str:
        names: set[str] = set()
        for graph in self._model.graphs:
            names.update(graph.input_names, graph.node_names, *graph.node_outputs)
        return digest(*sorted(names))


def _names(graph: Graph, field: str, index: int) -> tuple[str, ...]:
    """Return the names of an element of a list of a graph; none for an entry that no parser reads."""
    if field == "node" and index < len(graph.table.names):
        return (graph.table.names[index], *graph.table.outputs[index][:MAX_NEIGHBOURS])
    values = graph.value_info_names if field == "value_info" else ()
    values = getattr(graph, _VALUES[field]) if field in _VALUES else values
    return tuple(values[index : index + 1])


def _inside(graph: Graph, field: str, index: int, names: Sequence[str]) -> list[str]:
    """Return the part of `Structure.inside` for an element of a list of a graph. `names`: those of the element."""
    if field == "quantization_annotation":
        return [f"{field} {annotated(graph, index)}"]
    return [] if field in _NAMED_ELEMENTS or any(names) else [f"{field} {index}"]


def digest(*texts: str) -> str:
    """Return the digest of texts that identities consist of."""
    from onnx_lint.common.digest import sha256

    return str(sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest())[:DIGITS]


def _stored(graph: Graph) -> Sequence[str]:
    return () if graph.is_function else graph.initializer_names


class _StoredPlace(NamedTuple):
    """A place inside of a stored tensor."""

    name: str
    """The name of the tensor."""
    inside: tuple[str, ...]
    """The way inside of it."""


def _stored_at(graph: Graph, key: PlaceKey) -> _StoredPlace | None:
    """Return the stored tensor that a place of a graph is in; None if there is none.

    An input that reads a Constant is the place of faults for which the initializer is one.
    """
    (field, index), *inside = key
    if index is None:
        return None
    texts, fields = tuple([f"{step} {at}" for step, at in inside]), [step for step, _ in inside]
    if field == "initializer":
        return _StoredPlace(graph.initializer_names[index], texts) if index < len(_stored(graph)) else None
    if field != "node" or index >= len(graph.table.forms):
        return None
    if fields == ["input"]:
        name = graph.table.inputs[index][inside[0][1] or 0]
        found = graph.first_definition(name)
        is_constant = found is not None and found.node is not None and _is_constant(graph, found.node.index)
        return _StoredPlace(name, ()) if is_constant else None
    is_of_constant = fields[:2] == ["attribute", "t"] and _is_constant(graph, index)
    return _StoredPlace("".join(graph.table.outputs[index][:1]), texts[2:]) if is_of_constant else None


def _is_constant(graph: Graph, index: int) -> bool:
    return graph.table.forms[index].op_type == "Constant"

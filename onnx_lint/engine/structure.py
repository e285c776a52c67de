# SPDX-License-Identifier: Apache-2.0
"""The identity of a place without names: operators and their order, for models whose names are made by counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.engine.views import COLUMNS, CUTS, MOST_AROUND, GraphViews, View, same_view
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.places.place import Place, PlaceKey, place_of
from onnx_lint.report.findings import DIGEST

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
    """The operators around, with their numbers among the nodes of that operator, as baselines have it since 0.2."""
    views: tuple[View, ...]
    """What describes the steps without names."""

    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Return the texts of all steps for each of the fields of `View`, and of `View.whole` for each of `CUTS`.

        Nodes come to the main graph alone.
        """
        if not self.views:
            return ((),) * COLUMNS
        first = next((at for at, view in enumerate(self.views) if len(set(view.whole)) > 1), None)
        whole = [
            tuple([view.whole[number if at == first else 0] for at, view in enumerate(self.views)])
            for number in range(len(CUTS))
        ]
        return *zip(*(view[:-1] for view in self.views), strict=True), *whole


class Structures:
    """The identities of places in one model. Each graph is walked once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._numbers: dict[PlaceKey, list[int]] = {}
        self._sources: dict[PlaceKey, dict[str, str]] = {}
        self._users: dict[PlaceKey, dict[str, list[str]]] = {}
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
        views: list[View] = []
        names: tuple[str, ...] = ()
        inside: list[str] = []
        around: list[str] = []
        key = place.key
        for depth, (field, index) in enumerate(key):
            graph = self._graphs.get(key[:depth])
            step = f"{field} {index}"
            if graph is None or index is None:
                steps.append(step)
                views.append(same_view(step))
                if index is not None and field not in _NAMED_ELEMENTS:
                    inside.append(step)
                continue
            around += [] if graph.kind is GraphKind.MAIN else [graph.name]
            own, is_named = self._names(graph, field, index), field in _NAMED_ELEMENTS
            around += own
            names = tuple(around) if own else names
            if field == "quantization_annotation":
                inside.append(f"{field} {_annotated(graph, index)}")
            elif not is_named and not any(own):
                inside.append(step)
            steps.append(self._step(key[:depth], graph, field, index))
            views.append(self._view(key[:depth], graph, field, index, place.field == "op_type"))
        return Structure(names, tuple(inside), self._keys(place), steps, tuple(views))

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

    def of_content(self, place: Place, *, is_whole: bool) -> tuple[tuple[str, ...], ...]:
        """Return the structure around a place inside of a stored tensor, the same for an initializer and a Constant.

        These are its names, and the descriptions of its users, each with the way inside of the tensor. Empty if
        the place is elsewhere; the names alone if nothing uses the tensor. `is_whole`: without the way inside.
        """
        key = place.key
        for depth in range(len(key) - 1, -1, -1):
            graph = self._graphs.get(key[:depth])
            found = None if graph is None else _stored_at(graph, key[depth:])
            if graph is not None and found is not None:
                name, inside = found
                return self._of_content(key[:depth], graph, name, () if is_whole else inside)
        return ()

    def _of_content(
        self, key: PlaceKey, graph: Graph, name: str, inside: tuple[str, ...]
    ) -> tuple[tuple[str, ...], ...]:
        around = self.of(place_of(key))
        names = (*around.names, *(() if graph.kind is GraphKind.MAIN else (graph.name,)), name, *inside)
        users = self._views_of(key, graph).of_users(name)
        if users is None:
            return (names,)
        return (
            names,
            *((*outer, own, *inside) for outer, own in zip(around.columns(), (*users[:-1], *users.whole), strict=True)),
        )

    def sources_of(self, place: Place, name: str) -> tuple[str, ...]:
        """Return what the maker of a value reads, if the place is in a node, and a node makes the value."""
        key = place.key
        inside = [depth for depth, (field, _) in enumerate(key) if field == "node" and key[:depth] in self._graphs]
        for depth in reversed(inside):
            graph = self._graphs[key[:depth]]
            found = graph.first_definition(name)
            if found is not None:
                inputs = () if found.node is None else graph.table.inputs[found.node.index]
                return tuple(inputs[:MOST_AROUND])
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

    @staticmethod
    def _names(graph: Graph, field: str, index: int) -> tuple[str, ...]:
        """Return the names of an element of a list of a graph; none for an entry that no parser reads."""
        if field == "node" and index < len(graph.table.names):
            return (graph.table.names[index], *graph.table.outputs[index][:MOST_AROUND])
        values = graph.value_info_names if field == "value_info" else ()
        values = getattr(graph, _VALUES[field]) if field in _VALUES else values
        return tuple(values[index : index + 1])

    def _step(self, key: PlaceKey, graph: Graph, field: str, index: int) -> str:
        """Return the step to an element of a list of a graph, as in `Structure.steps`."""
        if field == "node" and index < len(graph.table.names):
            return self._node(key, graph, index)
        if field == "value_info" and index < len(graph.value_info_names):
            return f"{field} {self._value(key, graph, graph.value_info_names[index]) or index}"
        if field == "initializer" and index < len(graph.initializer_names):
            users = self._users_in(key, graph).get(graph.initializer_names[index])
            return f"{field} {users[:MOST_AROUND] if users else index}"
        return f"{field} {index}"

    def _view(self, key: PlaceKey, graph: Graph, field: str, index: int, is_of_operator: bool) -> View:
        """Return the view of an element of a list of a graph. `is_of_operator`: see `GraphViews.of_node`."""
        views = self._views_of(key, graph)
        if field == "node" and index < len(graph.table.names):
            return views.of_node(index, is_of_operator=is_of_operator)
        if field == "value_info" and index < len(graph.value_info_names):
            return views.of_value(graph.value_info_names[index], index).within(field)
        if field == "initializer" and index < len(graph.initializer_names):
            return views.of_initializer(graph.initializer_names[index], index)
        if field == "quantization_annotation":
            return views.of_value(_annotated(graph, index), index).within(field)
        return views.of_element(field, index)

    def _views_of(self, key: PlaceKey, graph: Graph) -> GraphViews:
        if key not in self._views:
            self._views[key] = GraphViews(graph)
        return self._views[key]

    def _value(self, key: PlaceKey, graph: Graph, name: str) -> str:
        found = graph.first_definition(name)
        if found is None:
            return ""
        place = "" if found.node is None else self._node(key, graph, found.node.index)
        return f"{found.field} {found.index} {place}"

    def _node(self, key: PlaceKey, graph: Graph, index: int) -> str:
        table, users = graph.table, self._users_in(key, graph)
        before = [self._sources[key].get(name, "") for name in table.inputs[index][:MOST_AROUND]]
        after = [users.get(name, [])[:MOST_AROUND] for name in table.outputs[index][:MOST_AROUND] if name]
        return f"{table.forms[index].op_type} {self._numbers[key][index]} {before} {after}"

    def _users_in(self, key: PlaceKey, graph: Graph) -> dict[str, list[str]]:
        """Return the operands of a graph's nodes by the names of the values, and number the nodes of each operator."""
        if key not in self._numbers:
            seen: Counter[str] = Counter()
            self._numbers[key], users = [], self._users.setdefault(key, {})
            sources = self._sources[key] = {name: f"input {at}" for at, name in enumerate(graph.input_names)}
            for at, name in enumerate(graph.output_names):
                users.setdefault(name, []).append(f"output {at}")
            for form, inputs, outputs in zip(graph.table.forms, graph.table.inputs, graph.table.outputs, strict=True):
                seen[form.op_type] += 1
                self._numbers[key].append(seen[form.op_type])
                sources.update(dict.fromkeys(outputs, form.op_type))
                for number, name in enumerate(inputs):
                    if name in graph.positions and len(known := users.setdefault(name, [])) < MOST_AROUND:
                        known.append(f"{form.op_type} {seen[form.op_type]} {number}")
        return self._users[key]


def digest(*texts: str) -> str:
    """Return the digest of texts that identities consist of."""
    from onnx_lint.common.digest import sha256

    return str(sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest())[:DIGEST]


def _annotated(graph: Graph, index: int) -> str:
    """Return the name of the tensor that a quantization annotation is about."""
    entries = () if graph.is_function else graph.proto.quantization_annotation[index : index + 1]
    return next((str(entry.tensor_name) for entry in entries), "")


def _stored(graph: Graph) -> Sequence[str]:
    return () if graph.is_function else graph.initializer_names


def _stored_at(graph: Graph, key: PlaceKey) -> tuple[str, tuple[str, ...]] | None:
    """Return the name of the stored tensor that a place of a graph is in, and the way inside of it; None if none.

    An input that reads a Constant is the place of faults for which the initializer is one.
    """
    (field, index), *inside = key
    if index is None:
        return None
    texts, fields = tuple([f"{step} {at}" for step, at in inside]), [step for step, _ in inside]
    if field == "initializer":
        return (graph.initializer_names[index], texts) if index < len(_stored(graph)) else None
    if field != "node" or index >= len(graph.table.forms):
        return None
    if fields == ["input"]:
        name = graph.table.inputs[index][inside[0][1] or 0]
        found = graph.first_definition(name)
        is_constant = found is not None and found.node is not None and _is_constant(graph, found.node.index)
        return (name, ()) if is_constant else None
    is_of_constant = fields[:2] == ["attribute", "t"] and _is_constant(graph, index)
    return ("".join(graph.table.outputs[index][:1]), texts[2:]) if is_of_constant else None


def _is_constant(graph: Graph, index: int) -> bool:
    return graph.table.forms[index].op_type == "Constant"

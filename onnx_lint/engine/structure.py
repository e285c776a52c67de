# SPDX-License-Identifier: Apache-2.0
"""The identity of a place without names: operators and their order, for models whose names are made by counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
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

_PASSED_ON: Final = frozenset({"Constant", "Identity"})
"""The operators whose nodes optimizers add and remove: they count as no node between others."""


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
    from_start: list[str]
    """The position of the node counted from the first one, and the nodes that its inputs come from."""
    from_end: list[str]
    """The position of the node counted from the last one, and the nodes that use its outputs."""
    by_operators: list[str]
    """The number of the node among those with its operator, and the nodes before and after it, numbered the same."""


class Structures:
    """The identities of places in one model. Each graph is walked once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._numbers: dict[PlaceKey, list[int]] = {}
        self._sources: dict[PlaceKey, dict[str, str]] = {}
        self._users: dict[PlaceKey, dict[str, list[str]]] = {}
        self._views: dict[PlaceKey, _Views] = {}

    @cached_property
    def _graphs(self) -> dict[PlaceKey, Graph]:
        return {graph.place.key: graph for graph in self._model.graphs}

    def of(self, place: Place) -> Structure:
        """Return the structure around a place, and the names of the nodes and nested graphs around it.

        A node is described by its operator, its position, the operators or inputs of the graph that its inputs come
        from, and the operators or outputs of the graph that use its outputs, with their positions. An entry of
        `value_info` is described by the definition of the value, and an initializer by its users.
        """
        found = Structure((), (), (), [], [], [], [])
        names: tuple[str, ...] = ()
        inside: list[str] = []
        around: list[str] = []
        key = place.key
        for depth, (field, index) in enumerate(key):
            graph = self._graphs.get(key[:depth])
            step = f"{field} {index}"
            if graph is None or index is None:
                _add(found, step, step, step, step)
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
            self._add_element(found, key[:depth], graph, field, index)
        return Structure(
            names,
            tuple(inside),
            self._keys(place),
            found.steps,
            found.from_start,
            found.from_end,
            found.by_operators,
        )

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

        These are its names, and the three descriptions of its users, each with the way inside of the tensor. Empty if
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
        views = zip((around.from_start, around.from_end, around.by_operators), users, strict=True)
        return (names, *((*outer, own, *inside) for outer, own in views)) if any(users) else (names,)

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
            return (graph.table.names[index], *graph.table.outputs[index][:_MOST])
        values = graph.value_info_names if field == "value_info" else ()
        values = getattr(graph, _VALUES[field]) if field in _VALUES else values
        return tuple(values[index : index + 1])

    def _add_element(self, found: Structure, key: PlaceKey, graph: Graph, field: str, index: int) -> None:
        """Add the step to an element of a list of a graph."""
        step, views = f"{field} {index}", self._views_of(key, graph)
        if field == "node" and index < len(graph.table.names):
            _add(found, self._node(key, graph, index), *views.of_node(index))
        elif field == "value_info" and index < len(graph.value_info_names):
            name = graph.value_info_names[index]
            definition = f"{field} {self._value(key, graph, name) or index}"
            _add(found, definition, *(f"{field} {view}" for view in views.of_value(graph, name, index)))
        elif field == "initializer" and index < len(graph.initializer_names):
            name = graph.initializer_names[index]
            users = self._users_in(key, graph).get(name)
            _add(found, f"{field} {users[:_MOST] if users else index}", *views.of_initializer(name, index))
        elif field == "quantization_annotation":
            _add(found, step, *(f"{field} {view}" for view in views.of_value(graph, _annotated(graph, index), index)))
        else:
            count = len(getattr(graph, _VALUES[field])) if field in _VALUES else 0
            _add(found, step, step, f"{field} {index - count} from the end", step)

    def _views_of(self, key: PlaceKey, graph: Graph) -> _Views:
        if key not in self._views:
            self._views[key] = _Views(graph)
        return self._views[key]

    def _value(self, key: PlaceKey, graph: Graph, name: str) -> str:
        found = graph.first_definition(name)
        if found is None:
            return ""
        place = "" if found.node is None else self._node(key, graph, found.node.index)
        return f"{found.field} {found.index} {place}"

    def _node(self, key: PlaceKey, graph: Graph, index: int) -> str:
        table, users = graph.table, self._users_in(key, graph)
        before = [self._sources[key].get(name, "") for name in table.inputs[index][:_MOST]]
        after = [users.get(name, [])[:_MOST] for name in table.outputs[index][:_MOST] if name]
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
                    if name in graph.positions and len(known := users.setdefault(name, [])) < _MOST:
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


def _add(found: Structure, steps: str, from_start: str, from_end: str, by_operators: str) -> None:
    found.steps.append(steps)
    found.from_start.append(from_start)
    found.from_end.append(from_end)
    found.by_operators.append(by_operators)


class _Views:
    """Three descriptions of the nodes of a graph, of which an edit at one place changes few.

    A node in front of others moves no node counted from the end, and the other way round. Constants count as no node,
    like the initializers that they may become, and a value is the same before and after an Identity.
    """

    def __init__(self, graph: Graph) -> None:
        table = graph.table
        self._operators = [form.op_type for form in table.forms]
        self._inputs, self._outputs = table.inputs, table.outputs
        self._positions: list[int] = []
        """The number of the nodes before each node."""
        self._numbers: list[int] = []
        """The number of each node among those of its operator."""
        self._sources = {name: (f"input {at}", f"input {at}") for at, name in enumerate(graph.input_names)}
        """The position of the node that a value comes from, and its number."""
        self._users: dict[str, list[tuple[str, str]]] = {}
        """The position from the end of each node that uses a value, and its number, the last user first."""
        self._count = 0
        seen: Counter[str] = Counter()
        for operator, inputs, outputs in zip(self._operators, self._inputs, self._outputs, strict=True):
            self._numbers.append(seen[operator])
            self._positions.append(self._count)
            seen[operator] += 1
            source = (f"{operator} {self._count}", f"{operator} {seen[operator]}")
            if operator in _PASSED_ON:
                source = self._sources.get(inputs[0], _NOTHING) if inputs else _NOTHING
            else:
                self._count += 1
            self._sources.update(dict.fromkeys(outputs, source))
        for at, name in enumerate(graph.output_names):
            self._users.setdefault(name, []).append((f"output {at}", f"output {at}"))
        for index in range(len(self._operators) - 1, -1, -1):
            self._note_uses(index)

    def _note_uses(self, index: int) -> None:
        operator, position = self._operators[index], self._count - self._positions[index]
        if operator in _PASSED_ON:
            users = [user for name in self._outputs[index] for user in self._users.get(name, ())]
            for name in self._inputs[index]:
                self._use(name, *users)
            return
        for operand, name in enumerate(self._inputs[index]):
            number = self._numbers[index]
            self._use(name, (f"{operator} {position} {operand}", f"{operator} {number} {operand}"))

    def _use(self, name: str, *users: tuple[str, str]) -> None:
        known = self._users.setdefault(name, [])
        known.extend(users[: _MOST - len(known)])

    def of_node(self, index: int) -> tuple[str, str, str]:
        """Return the descriptions of a node: from the start, from the end, and by the numbers of operators."""
        operator, position, number = self._operators[index], self._positions[index], self._numbers[index]
        before = [self._sources.get(name, _NOTHING) for name in self._inputs[index][:_MOST]]
        after = [self._users.get(name, []) for name in self._outputs[index][:_MOST] if name]
        among = number if operator in _PASSED_ON else ""
        return (
            f"{operator} {position} {among} {[start for start, _ in before]}",
            f"{operator} {self._count - position} {among} {[[end for end, _ in users] for users in after]}",
            f"{operator} {number} {[each for _, each in before]} {[[each for _, each in users] for users in after]}",
        )

    def of_value(self, graph: Graph, name: str, index: int) -> tuple[str, str, str]:
        """Return the descriptions of the definition of a value. One that nothing defines has its index in the list."""
        found = graph.first_definition(name)
        if found is None:
            return (str(index),) * 3
        if found.field == "initializer":
            return self.of_initializer(name, found.index)
        if found.node is None:
            return (f"{found.field} {found.index}",) * 3
        start, end, number = self.of_node(found.node.index)
        return f"{found.index} {start}", f"{found.index} {end}", f"{found.index} {number}"

    def of_initializer(self, name: str, index: int) -> tuple[str, str, str]:
        """Return the descriptions of an initializer by its users. One without users has its index."""
        start, end, number = self.of_users(name)
        return (start, end, number) if number else (f"initializer {index}",) * 3

    def of_users(self, name: str) -> tuple[str, str, str]:
        """Return the descriptions of an initializer by its users; empty ones without any."""
        users = self._users.get(name)
        if not users:
            return _NOWHERE
        numbers = [number for _, number in users]
        return f"initializer {numbers}", f"initializer {[end for end, _ in users]}", f"initializer {numbers}"


_NOTHING: Final = ("", "")
"""The source of a value that a Constant or an initializer gives, or that nothing defines."""

_NOWHERE: Final = ("", "", "")

_MOST: Final = 8
"""The most inputs, outputs, and users of an output that identify a node, which may have thousands."""

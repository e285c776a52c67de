# SPDX-License-Identifier: Apache-2.0
"""The lines of a model: which line contains a place, and its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.places.place import PlaceKey, Step, place_of
from onnx_lint.model import Model, Place
from onnx_lint.report.findings import ContextLine
from onnx_lint.schema import Proto
from onnx_lint.surroundings.line_writer import LineWriter, cut_around
from onnx_lint.surroundings.messages import write_field, write_message
from onnx_lint.surroundings.nodes import (
    write_attribute,
    write_function_header,
    write_graph_header,
    write_initializer,
    write_node,
)
from onnx_lint.surroundings.types import write_tensor, write_type, write_value_info
from onnx_lint.surroundings.words import write_string

MAX_CHARACTERS: Final = 1_000
"""The longest line; a longer one is cut around its mark."""

CONTAINERS: Final = frozenset({"ModelProto", "GraphProto", "FunctionProto", "TrainingInfoProto", "OperatorSetProto"})
"""The messages whose elements have a line each."""

_HEADERS: Final[Mapping[str, Callable[[LineWriter, Proto], None]]] = {
    "GraphProto": write_graph_header,
    "FunctionProto": write_function_header,
}
OF_HEADERS: Final = {
    "GraphProto": frozenset({"name"}),
    "FunctionProto": frozenset({"name", "domain", "overload", "input", "output", "attribute", "attribute_proto"}),
}
"""The fields that are shown in the header of a graph or function."""


def _write_import(line: LineWriter, proto: Proto) -> None:
    with line.part("domain"):
        write_string(line, proto.domain)
    line.write(" : ")
    with line.part("version"):
        line.write(str(proto.version))


def _write_entry(line: LineWriter, proto: Proto) -> None:
    with line.subject(), line.part("key"):
        write_string(line, proto.key)
    line.write(": ")
    with line.part("value"):
        write_string(line, proto.value)


_WRITERS: Final[Mapping[str, Callable[[LineWriter, Proto], None]]] = {
    "NodeProto": write_node,
    "AttributeProto": write_attribute,
    "ValueInfoProto": write_value_info,
    "TensorProto": write_tensor,
    "TypeProto": write_type,
    "OperatorSetIdProto": _write_import,
    "StringStringEntryProto": _write_entry,
}
"""The writers of messages; others are written field by field."""

_NAME: Final = (("name", None),)

_UNNAMED: Final = frozenset({"node"})
"""The lists whose elements have no word before them."""


class Site(Record):
    """The line of a model that contains a place."""

    key: PlaceKey
    """The steps to the container."""
    container: tuple[str, Proto]
    """The kind and the message of the container."""
    step: Step | None
    """The step from the container to the line's element; None for the header of the container."""
    element: tuple[str, Proto] | None
    """The kind and the message of the element; None for a header, and for an element that is not a message."""
    focus: PlaceKey
    """The steps from the element, or from the container of a header, to the place."""

    @property
    def line(self) -> PlaceKey:
        """The key of the line."""
        return self.key if self.step is None else (*self.key, self.step)


def site_of(place: Place, model: Model) -> Site | None:
    """Return the line of the place; None if it has none, as for the model itself."""
    key = place.key
    found = model.places.messages_on(place)
    if model.left_in_file is not None:
        whole = model.left_in_file.complete_message
        found = [(kind, whole(key[:index], kind, message)) for index, (kind, message) in enumerate(found)]
    last = max((index for index, (kind, _) in enumerate(found) if kind in CONTAINERS), default=None)
    if last is None:
        return Site((), found[0], None, found[0], key)
    kind, message = found[last]
    rest = key[last:]
    if not rest or rest[0][0] in OF_HEADERS.get(kind, ()):
        return Site(key[:last], found[last], None, None, rest) if kind in _HEADERS else None
    field, index = rest[0]
    if not _is_there(message, field, index):
        # A missing element is shown as a fault of the graph, if that has a line.
        return Site(key[:last], found[last], None, None, ()) if kind in _HEADERS else None
    element = found[last + 1] if last + 1 < len(found) else None
    return Site(key[:last], found[last], rest[0], element, rest[1:])


def _is_there(message: Proto, field: str, index: int | None) -> bool:
    descriptor = message.DESCRIPTOR.fields_by_name.get(field)
    if descriptor is None:
        return False
    value = getattr(message, field)
    if isinstance(descriptor.default_value, list):
        return index is not None and index < len(value)
    return index is None and message.HasField(field)


def line_of(site: Site, *, with_name: bool = False) -> ContextLine:
    """Return the line with the place marked. `with_name`: whether a node is shown with its name."""
    line = LineWriter(site.focus or (_NAME if with_name else ()))
    label = ""
    if site.step is None and site.element is None:
        label = _index_of(site.key)
        kind, message = site.container
        line.write("graph " if kind == "GraphProto" else "function ")
        _HEADERS[kind](line, message)
    elif site.step is None:
        with line.subject():
            _write_element(line, *site.container, "")
    else:
        label = _index_of((site.step,))
        _write_step(line, site)
    return cut_around(ContextLine(label, line.text, line.mark), MAX_CHARACTERS)


def _index_of(key: PlaceKey) -> str:
    return str(key[-1][1]) if key and key[-1][1] is not None else ""


def _write_step(line: LineWriter, site: Site) -> None:
    assert site.step is not None
    field, index = site.step
    container = site.container[1]
    if site.element is None:
        with line.subject():
            value = getattr(container, field)
            if index is None:
                write_field(line, container, field)
            else:
                line.write(f"{field} ")
                write_string(line, value[index])
        return
    if field not in _UNNAMED:
        line.write(f"{field} ")
    _write_element(line, *site.element, field)


def _write_element(line: LineWriter, kind: str, message: Proto, field: str) -> None:
    if field == "initializer":
        write_initializer(line, message)
        return
    with line.subject():
        _WRITERS.get(kind, write_message)(line, message)


def node_before(site: Site, model: Model) -> Site | None:
    """Return the node before the one that contains the place; None if there is none."""
    if site.step is None or site.step[0] != "node" or not site.step[1]:
        return None
    return site_of(place_of((*site.key, ("node", site.step[1] - 1))), model)

# SPDX-License-Identifier: Apache-2.0
"""The facts that a graph states: about its inputs, its initializers, and its other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from math import prod
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.joining import joined, without_own_names
from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS, UNKNOWN, Fact, fact
from onnx_lint.inference.shapes.stated import (
    Outside,
    content_of,
    fact_of_sparse,
    facts_of_types,
    tensor_shape,
)
from onnx_lint.inference.types.type_string import tensor_of
from onnx_lint.ir.crashes import Crashes, crash_of
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.spec.element_types import INDEX_TYPES

if TYPE_CHECKING:
    from onnx_lint.inference.flow.frames import Frames

_FEW_FLOATS: Final = 100
"""Up to this number, all floating-point initializers are read without asking which of them decide a shape
(docs/performance.md: floats-read)."""

FactsByName = Mapping[str, Fact]


def declared_inputs(graph: Graph, supplied: tuple[Fact | None, ...] | None) -> dict[str, Fact]:
    """Return the facts of the inputs: declared ones, and for a subgraph also those that the operator supplies.

    If two types contradict each other, the type is unknown; of two shapes the common part is used.
    """
    found: dict[str, Fact] = {}
    if not graph.input_names:
        return found  # as in most subgraphs
    types = graph.value_infos["input"].types
    for index, (name, stated) in enumerate(zip(graph.input_names, facts_of_types(types), strict=True)):
        given = _supplied_at(supplied, index)
        if given is not None:
            stated, contradiction = joined(given, without_own_names(stated, given))
            stated = UNKNOWN if contradiction == "type" else stated
        found[name] = stated
    return _without_empty_name(found)


def _without_empty_name(found: dict[str, Fact]) -> dict[str, Fact]:
    """Return the facts without that of the empty name, which names no value."""
    found.pop("", None)
    return found


def enforced_inputs(graph: Graph, supplied: tuple[Fact | None, ...] | None) -> dict[str, Fact]:
    """Return the facts of the inputs that a runtime enforces: the types, and the sizes of inputs of the main graph.

    Two inputs with one dimension variable may have two sizes. The shapes of a subgraph's inputs are those supplied.
    """
    found: dict[str, Fact] = {}
    declared = declared_inputs(graph, None)
    for index, name in enumerate(graph.input_names):
        stated = declared.get(name, UNKNOWN)
        shape = stated.shape if graph.kind is GraphKind.MAIN else None
        if supplied is not None:
            given = _supplied_at(supplied, index)
            shape = given.shape if given is not None else None
        if shape is not None:
            shape = tuple([dim if isinstance(dim, int) else None for dim in shape])
        found[name] = fact(stated.kind, shape)
    return _without_empty_name(found)


def _supplied_at(supplied: tuple[Fact | None, ...] | None, index: int) -> Fact | None:
    """Return the fact that the operator supplies to an input of a subgraph; None if it supplies none."""
    return supplied[index] if supplied is not None and index < len(supplied) else None


_InitializerLayout = tuple[int, int]
"""The element type of initializers, and the identity of their shape.

Equal shapes are one object. They are compared by identity: a file chooses their numbers, and could choose them so that
hashes collide.
"""


def initializer_facts(
    graph: Graph, outside: Outside, crashes: Crashes, bounded: Callable[[Fact], Fact], frames: Frames
) -> dict[str, Fact]:
    """Return the facts of the initializers.

    Floating-point elements are read in initializers of at most `frames.most_floats` elements, and of many such ones
    only in those that `frames.floats_read` names. A sparse initializer is another way to write a tensor, and operators
    treat it as one. `outside` reads external data. `bounded` drops the elements if those of the model take too much
    memory.
    """
    columns = graph.initializers
    layouts: list[_InitializerLayout] = [
        (element_type, id(shape)) for element_type, shape in zip(columns.element_types, columns.shapes, strict=True)
    ]
    # A large graph has a hundred thousand initializers of a few layouts, and so do a thousand small graphs.
    dims_by_layout = dict(zip(layouts, columns.shapes, strict=True))
    fact_by_layout: dict[_InitializerLayout, Fact] = {}
    small_integers: set[_InitializerLayout] = set()
    small_floats: set[_InitializerLayout] = set()
    for layout, dims in dims_by_layout.items():
        element_type, _ = layout
        shape = tensor_shape(dims)
        fact_by_layout[layout] = fact(tensor_of(element_type), shape)
        is_integer = element_type in INDEX_TYPES
        if shape is not None and prod(dims) <= (MAX_CONTENT_ELEMENTS if is_integer else frames.most_floats):
            (small_integers if is_integer else small_floats).add(layout)
    facts = [fact_by_layout[layout] for layout in layouts]
    for index in _initializers_to_read(
        layouts, columns.names, integers=small_integers, floats=small_floats, frames=frames
    ):
        try:
            facts[index] = bounded(_with_content(graph, index, facts[index], outside))
        except Exception as error:
            place = graph.at("initializer", index)
            crashes.note(crash_of(error), "reading the elements of an initializer", place)
    found = dict(zip(columns.names, facts, strict=True))
    for sparse in graph.proto.sparse_initializer:
        found[sparse.values.name] = fact_of_sparse(sparse)
    return _without_empty_name(found)


def _initializers_to_read(
    layouts: Sequence[_InitializerLayout],
    names: Sequence[str],
    *,
    integers: Set[_InitializerLayout],
    floats: Set[_InitializerLayout],
    frames: Frames,
) -> Iterator[int]:
    """Yield the indices of the initializers whose elements are read.

    They are those of integers, and those of floats that may decide a shape. `integers`, `floats`: the layouts with few
    elements.
    """
    if not integers and not floats:
        return
    are_few = sum([layout in floats for layout in layouts]) <= _FEW_FLOATS
    for index, layout in enumerate(layouts):
        if layout in integers or (layout in floats and (are_few or names[index] in frames.floats_read)):
            yield index


def _with_content(graph: Graph, index: int, bare: Fact, outside: Outside) -> Fact:
    content = content_of(graph.message_at("initializer", index), bare.shape, outside)
    return fact(bare.kind, bare.shape, content) if content is not None else bare


class DeclarationEntry(Record):
    """The declaration of an output or other value in a list of its graph."""

    graph: Graph
    field: str
    """The list with the declaration: `output` or `value_info`."""
    index: int

    @property
    def subject(self) -> str:
        """The name of the value."""
        return (self.graph.output_names if self.field == "output" else self.graph.value_info_names)[self.index]

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the declaration: each has at most one conflict."""
        return id(self.graph), self.field, self.index


def declarations_of(graph: Graph) -> Iterator[DeclarationEntry]:
    """Yield the declaration of each output, then those in value_info. The outputs of a function have no types."""
    if not graph.is_function:
        for index in range(len(graph.output_names)):
            yield DeclarationEntry(graph, "output", index)
    for index in range(len(graph.value_info_names)):
        yield DeclarationEntry(graph, "value_info", index)


def declaration_of(graph: Graph, name: str) -> DeclarationEntry | None:
    """Return the first declaration of a value as an output or in value_info; None if there is none."""
    for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
        if name in names and not (field == "output" and graph.is_function):
            return DeclarationEntry(graph, field, names.index(name))
    return None


def declared_values(graph: Graph) -> FactsByName:
    """Return the declarations of outputs and value_info, without names that are declared with two types.

    Of two shapes of one name the common part is used; the difference is another finding. The outputs of a function have
    no types.
    """
    inner = graph.value_infos["value_info"]
    if graph.is_function:
        names, facts = inner.names, facts_of_types(inner.types)
    else:
        outputs = graph.value_infos["output"]
        names = [*inner.names, *outputs.names] if inner.names else outputs.names
        facts = facts_of_types([*inner.types, *outputs.types] if inner.names else outputs.types)
    found = dict(zip(names, facts, strict=True))
    if len(found) < len(names) or "" in found:
        return _unambiguous(zip(names, facts, strict=True))
    if UNKNOWN in facts:
        return {name: stated for name, stated in found.items() if stated is not UNKNOWN}
    return found


def _unambiguous(declarations: Iterable[tuple[str, Fact]]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    ambiguous = {""}
    for name, stated in declarations:
        if stated is UNKNOWN:
            continue
        known = found.setdefault(name, stated)
        if known is not stated:
            found[name], contradiction = joined(known, stated)
            if contradiction == "type":
                ambiguous.add(name)
    return {name: stated for name, stated in found.items() if name not in ambiguous}


def fact_of_input_with_default(declared: Fact, initializer: Fact) -> Fact:
    """Return the fact of an input with an initializer: the caller may supply another value of the input's shape.

    It has the elements of the initializer: the caller of this function decides whether to rely on them. A contradiction
    is another finding: of two types nothing is known, of two shapes the common part.
    """
    both, contradiction = joined(initializer, declared)
    if contradiction:
        return UNKNOWN if contradiction == "type" else both
    return fact(both.kind, initializer.shape if declared.shape is None else declared.shape, initializer.content)

# SPDX-License-Identifier: Apache-2.0
"""Five rules of a house that makes models. docs/plugins.md explains them, and the fixtures beside them test them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, Related, own_clause, rule
from onnx_lint.wording import quote

PAGE = "https://example.com/models"
LICENCE = own_clause("HOUSE-1", "A model states its licence in its metadata.", url=f"{PAGE}#licence")
BATCH = own_clause("HOUSE-2", "The first dimension of each input is a variable.", url=f"{PAGE}#batch")
OPERATORS = own_clause("HOUSE-3", "A model uses only operators that our runtime has.", url=f"{PAGE}#operators")
PRECISION = own_clause("HOUSE-4", "Values have at most 32 bits.", keyword="SHOULD", url=f"{PAGE}#precision")
NAMES = own_clause("HOUSE-5", "The names of inputs and outputs are in snake case.", keyword="note", url=f"{PAGE}#names")


@rule(clause=LICENCE, since="1.0")
def missing_licence(model: Model, *, key: str = "licence") -> Iterator[Finding]:
    """The model does not state its licence."""
    if not any(entry.key == key for entry in model.proto.metadata_props):
        yield Finding(ROOT, f"the metadata has no entry {quote(key)}", allowed=f"an entry {quote(key)}")


@rule(clause=BATCH, since="1.0")
def fixed_batch(model: Model) -> Iterator[Finding]:
    """An input has a fixed batch size."""
    graph = model.main_graph
    initializers = set(graph.initializer_names)
    for index, name in enumerate(graph.input_names):
        dimensions = graph.message_at("input", index).type.tensor_type.shape.dim
        if name not in initializers and dimensions and dimensions[0].HasField("dim_value"):
            size = dimensions[0].dim_value
            message = f"input {quote(name)} has the batch size {size}"
            yield Finding(graph.at("input", index), message, allowed="a variable, such as 'batch'", subject=name)


@rule(clause=OPERATORS, since="1.0")
def unapproved_operator(model: Model, *, forbidden: tuple[str, ...] = ("Loop", "NonZero")) -> Iterator[Finding]:
    """A node has an operator that our runtime does not have."""
    for node in model.nodes():
        if not node.domain and node.op_type in forbidden:
            yield Finding(
                node.place.at("op_type"),
                f"{node.describe()} has an operator that our runtime does not have",
                allowed=f"any operator but {', '.join(forbidden)}",
                subject=node.proto.name,
            )


_DOUBLE = 11


@rule(clause=PRECISION, since="1.0", needs="type")
def double_precision(model: Model) -> Iterator[Finding]:
    """A value has 64-bit floating-point numbers."""
    found = list(model.types(lambda proto: proto.tensor_type.elem_type == _DOUBLE))
    if found:
        first, *others = (each.place.at("tensor_type").at("elem_type") for each in found)
        yield Finding(
            first,
            f"{len(found)} declared types have 64-bit floating-point numbers",
            allowed="FLOAT or a smaller type",
            related=tuple(Related(place, "and here") for place in others[:10]),
        )


@rule(clause=NAMES, since="1.0")
def unconventional_name(model: Model, *, pattern: str = "[a-z][a-z0-9_]*") -> Iterator[Finding]:
    """The name of an input or output is not in snake case."""
    graph = model.main_graph
    for field, names in (("input", graph.input_names), ("output", graph.output_names)):
        for index, name in enumerate(names):
            if re.fullmatch(pattern, name) is None:
                yield Finding(
                    graph.at(field, index),
                    f"{field} {quote(name)} is not named in snake case",
                    allowed=f"a name that matches {pattern}",
                    subject=name,
                )

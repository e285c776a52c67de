# SPDX-License-Identifier: Apache-2.0
"""Limits: how much of a file onnx-lint takes on before it says so and goes no further.

A model is input from a stranger. Each limit that is reached is a finding of its own; none is a verdict that the model
conforms. The defaults lie well beyond the models that people make, and each can be set.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from onnx_lint.common.record import Record, field_names, replace
from onnx_lint.wording import suggestion


class LimitError(ValueError):
    """A limit that does not exist or cannot have this value; the text says which."""


class Limits(Record):
    """The limits, each a whole number of at least 1."""

    file_bytes: int = 1 << 34
    """Bytes of the file, tensors included. What is piped in is kept on disk up to this size."""
    text_bytes: int = 1 << 22
    """Bytes of a model in text form, of which parsers that are written in Python take seconds for each million."""
    message_bytes: int = 1 << 29
    """Bytes of the model without the large contents of its tensors, all of which is held in memory."""
    nodes: int = 500_000
    """Nodes of the model. Each takes up about three kilobytes of memory; the largest models that exporters have
    written have a few hundred thousand."""
    graphs: int = 50_000
    """Graphs and functions of the model. Each has names, types and bounds to be judged beside its nodes."""
    graph_entries: int = 500_000
    """Elements of one list: inputs, outputs, initializers or value infos of a graph, attributes of a node, metadata."""
    element_bytes: int = 25 << 20
    """Bytes of memory that messages, names and numbers are expected to take up beyond eleven for each byte of the model
    without the large contents of its tensors. An empty message has two bytes in a file and hundreds in memory."""
    fields: int = 5_000_000
    """Fields that are looked at one by one: those of the graphs of a large file, and those of each message that is not
    written as Protocol Buffers writes it."""
    graph_nesting: int = 10
    """Graphs inside one another, not counting the outermost."""
    expanded_nodes: int = 1_000_000
    """Nodes that the model has when each call of a function is replaced by the function's body."""
    name_characters: int = 10_000
    """Characters of the name of a value, node, operator, attribute, graph or function."""
    external_bytes: int = 1 << 36
    """Bytes of files of external data that are read for one model to verify their checksums."""
    download_bytes: int = 1 << 26
    """Bytes of a remote model that are fetched whole where its server gives no parts, unless --download is given."""
    request_seconds: int = 60
    """Seconds that a store may take to answer a request for a part of a remote model."""
    remote_seconds: int = 3_600
    """Seconds that all requests for one remote model may take together."""
    findings_per_rule: int = 1_000
    """Findings of one rule in one file."""
    findings: int = 10_000
    """Findings in one file; when they are used up, each further rule reports one at most."""

    def __post_init__(self) -> None:
        for name in field_names(Limits):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise LimitError(f"the limit {name!r} wants a whole number of at least 1, not {value!r}")

    def with_values(self, values: Mapping[str, int]) -> Limits:
        """These limits with some set to other values; raises LimitError for an unknown name or a wrong value."""
        for name in values:
            if name not in NAMES:
                raise LimitError(f"unknown limit {name!r}{suggestion(name, NAMES)}")
        return replace(self, **values)


NAMES: Final = field_names(Limits)
"""The names of all limits."""

DEFAULT_LIMITS: Final = Limits()

LIMIT_OF_REPORT: Final = "FIL-10a"
"""The clause that no finding is left out."""

OF_CONSUMERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "graph_nesting": "runtimes have taken time that doubles with each nested graph",
        "expanded_nodes": "tools that put the bodies of functions in place of their calls run out of memory",
        "name_characters": "readers have written beyond buffers that were made for shorter names",
    }
)
"""The limits beyond which consumers come to harm, though onnx-lint judges the model all the same; and what harm."""


def exceeded(name: str, limits: Limits, actual: str) -> str:
    """The message that the limit `name` is reached: `actual` says what there is."""
    value = getattr(limits, name)
    return f"{actual}, more than the limit {name} of {value:,} (option --limit {name}=N)"


def describe_limit(name: str, limits: Limits) -> str:
    """What the limit `name` allows, in a few words."""
    return f"at most {getattr(limits, name):,}, the limit {name}"

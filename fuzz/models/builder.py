# SPDX-License-Identifier: Apache-2.0
"""A model under construction: its nodes, and the facts that onnx-lint infers about their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, NodeProto, TypeProto, helper
from shape_cases.case import fill_type

from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

from .tensors import FED, array_of, element, proto_of

Sizes = tuple[int, ...]

FUNCTIONS_SINCE = 8
"""The first IR version with functions."""

_CONSTANTS_OF_ALL_TYPES = 9
"""The first version of Constant that produces tensors of all types."""

INITIALIZERS_ALONE_SINCE = 4
"""The first IR version in which an initializer needs no input of the same name."""


@dataclass(frozen=True)
class Generated:
    """A generated model and the inputs to run it with."""

    number: int
    about: str
    """The operator under test with its version."""
    model: ModelProto
    feeds: dict[str, Any]
    symbols: dict[str, int]
    """The sizes of the dimension variables of the inputs in `feeds`."""
    has_made_up_shapes: bool = False
    """True if a random shape is declared. A run need not confirm it."""


@dataclass
class Builder:
    """The model under construction and its inputs."""

    rng: Random
    imports: dict[str, int]
    ir_version: int
    left: int
    """The number of nodes that may still be added."""
    model: ModelProto = field(default_factory=ModelProto)
    feeds: dict[str, Any] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    has_made_up_shapes: bool = False
    names: int = 0
    facts: dict[str, Fact] = field(default_factory=dict)
    """The facts about the values that onnx-lint infers."""

    def __post_init__(self) -> None:
        self.model.ir_version = self.ir_version
        self.model.graph.name = "g"
        for domain, version in self.imports.items():
            self.model.opset_import.add(domain=domain, version=version)

    # --- names and types

    def name(self, prefix: str = "v") -> str:
        """Return an unused name."""
        self.names += 1
        return f"{prefix}{self.names}"

    def size(self, symbol: str) -> int:
        """Return the size of a dimension variable, which is chosen on first use."""
        return self.symbols.setdefault(symbol, self.rng.choice((1, 2, 2, 3, 4)))

    def sizes(self, dims: Dims) -> Sizes:
        """Return the sizes of dimensions. An unknown dimension has size 3."""
        return tuple(self.size(dim) if isinstance(dim, str) else 3 if dim is None else dim for dim in dims)

    def known_sizes(self, name: str) -> Sizes | None:
        """Return the sizes of a value, or None if a size is unknown."""
        shape = self.facts.get(name, UNKNOWN).shape
        if shape is None:
            return None
        found = [self.symbols.get(dim) if isinstance(dim, str) else dim for dim in shape]
        return None if None in found else tuple(dim for dim in found if dim is not None)

    # --- values

    def input(self, kind: str, dims: Dims | None, value: Any) -> str:
        """Add a graph input and the value to feed it with."""
        name = self.name("x")
        fill_type(self.model.graph.input.add(name=name).type, kind, dims)
        self.feeds[name] = value
        return name

    def initializer(self, kind: str, array: np.ndarray) -> str:
        """Add an initializer, and an input of its name if the IR version requires one."""
        name = self.name("w")
        self.model.graph.initializer.append(proto_of(name, array, element(kind) or ""))
        if self.ir_version < INITIALIZERS_ALONE_SINCE:
            fill_type(self.model.graph.input.add(name=name).type, kind, array.shape)
        self.constants[name] = array
        return name

    def constant(self, kind: str, array: np.ndarray) -> str:
        """Add a Constant node."""
        version = self.imports[""]
        if version < _CONSTANTS_OF_ALL_TYPES and kind != "tensor(float)":
            return self.initializer(kind, array)
        name = self.name("c")
        self.constants[name] = array
        if version >= 12 and array.ndim < 2 and kind in _OWN_ATTRIBUTES and self.rng.random() < 0.5:
            attribute = f"value_{_OWN_ATTRIBUTES[kind]}{'s' if array.ndim else ''}"
            code = AttributeProto.AttributeType.Value(_OWN_ATTRIBUTES[kind].upper() + ("S" if array.ndim else ""))
            value = array.tolist() if array.ndim else array.item()
            made = helper.make_attribute(attribute, value, attr_type=code)
        else:
            made = helper.make_attribute("value", proto_of("", array, element(kind) or ""))
        node = NodeProto(op_type="Constant", output=[name], attribute=[made])
        self.model.graph.node.append(node)
        return name

    # --- nodes

    def node(self, operator: str, inputs: Sequence[str], *, domain: str = "", **attributes: Any) -> str:
        """Add a node and return its first output."""
        name = self.name()
        self.append(helper.make_node(operator, inputs, [name], domain=domain or None, **attributes))
        return name

    def append(self, *nodes: NodeProto) -> None:
        """Add nodes that count as one."""
        self.left -= 1
        self.model.graph.node.extend(nodes)

    def infer(self) -> None:
        """Infer the values so far. If onnx-lint crashes, nothing is known; the oracle reports the crash."""
        try:
            self.facts = dict(load(BytesSource(self.model.SerializeToString()), "model.onnx").value_flow.facts)
        except Exception:
            self.facts = {}

    def values(self) -> list[str]:
        """Return the values of known type: inputs, initializers, then the outputs of nodes."""
        graph = self.model.graph
        names = [*(each.name for each in graph.input), *(each.name for each in graph.initializer)]
        names += [name for node in graph.node for name in node.output if name]
        return [name for name in dict.fromkeys(names) if self.facts.get(name, UNKNOWN).kind]

    # --- whole models

    def made(self, number: int, about: str) -> Generated:
        """Return the finished model."""
        return Generated(number, about, self.model, self.feeds, self.symbols, self.has_made_up_shapes)


_OWN_ATTRIBUTES = {"tensor(int64)": "int", "tensor(float)": "float"}


def type_of(fact: Fact) -> TypeProto | None:
    """Return the type to declare for a graph output, or None if too little is known."""
    proto = TypeProto()
    return proto if fact.kind and _fill(proto, fact) else None


def _fill(proto: TypeProto, fact: Fact) -> bool:
    kind = fact.kind or ""
    if kind.startswith(("tensor(", "sparse_tensor(")):
        if fact.shape is None:
            return False
        fill_type(proto, kind, tuple(dim if isinstance(dim, int) or _is_name(dim) else None for dim in fact.shape))
        return True
    if kind.startswith("map("):
        fill_type(proto, kind, ())
        return True
    inner = proto.sequence_type.elem_type if kind.startswith("seq(") else proto.optional_type.elem_type
    if fact.inside is None or not _fill(inner, fact.inside):
        proto.Clear()
        fill_type(proto, kind, None)
        return "map(" in kind or kind.startswith("seq(")
    return True


def _is_name(dim: object) -> bool:
    return isinstance(dim, str) and dim.isidentifier()


def random_value(rng: Random, kind: str, sizes: Sizes) -> Any:
    """Return a random value of a type, or None if runtimes accept no such input."""
    inner = kind.partition("(")[2][:-1]
    if kind.startswith("tensor("):
        return array_of(rng, inner, sizes) if inner in FED else None
    if kind.startswith("seq("):
        made = [random_value(rng, inner, sizes) for _ in range(rng.choice((1, 2, 3)))]
        return None if any(each is None for each in made) else made
    if kind.startswith("optional("):
        return random_value(rng, inner, sizes)
    if kind.startswith("map("):
        key, value = (part.strip() for part in inner.split(",", 1))
        keys: list[Any] = ["a", "b"] if key == "string" else [0, 1]
        values = array_of(rng, value[len("tensor(") : -1], (2,))
        return dict(zip(keys, values.tolist(), strict=True))
    return None


def opset_import(imports: dict[str, int]) -> list[onnx.OperatorSetIdProto]:
    """Return the imports as messages."""
    return [helper.make_opsetid(domain, version) for domain, version in imports.items()]

# SPDX-License-Identifier: Apache-2.0
"""Makes models as exporters write them: seeded mixtures of the blocks that real networks are made of.

They conform, except that their names are those of exporters (`/layers.3/attention/MatMul_output_0`), which SHOULD be
C90 identifiers. All shapes fit, so that full_check has nothing to complain of.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from large_models import BOOL, FLOAT, FLOAT16, INT64, add_attribute, add_function, declare

from onnx_lint import schema

LENGTH: Final = 4
"""The number of steps of the sequence that runs through the network."""
WIDTH: Final = 8
"""The width of a layer: small, so that a model of many nodes is not mainly weights."""
HIDDEN: Final = (1, LENGTH, WIDTH)
DOMAIN: Final = "pkg.torch"
PACKED: Final = {FLOAT: "<f", FLOAT16: "<e"}
"""The formats of the module `struct`, by element type."""


class Writer:
    """Writes a model node by node, and keeps the name of the sequence's current value."""

    def __init__(self, seed: int = 0, element_type: int = FLOAT) -> None:
        self.random = random.Random(seed)
        self.element_type = element_type
        """The type of weights and of activations: FLOAT or FLOAT16."""
        self.model = schema.message("ModelProto")(ir_version=10, producer_name="pytorch", producer_version="2.7.0")
        self.model.opset_import.add(domain="", version=21)
        self.graph = self.model.graph
        self.graph.name = "main_graph"
        self.value = "input"
        self.nodes = 0
        self.scope = ""
        self._target = self.graph
        declare(self.graph.input, "input", element_type, *HIDDEN)

    def weight(self, name: str, *shape: int) -> str:
        """An initializer of the main graph, filled with seeded values."""
        count = 1
        for size in shape:
            count *= size
        full = f"{self.scope.strip('/').replace('/', '.')}.{name}"
        content = struct.pack(PACKED[self.element_type], self.random.random()) * count
        self.graph.initializer.add(name=full, data_type=self.element_type, dims=shape, raw_data=content)
        return full

    def node(
        self, op_type: str, *inputs: str, domain: str = "", shape: Sequence[int | str] = (), **attributes: Any
    ) -> str:
        """A node of one output; every second float output has its type in value_info when `shape` is given."""
        name = f"{self.scope}/{op_type}_{self.nodes}"
        output = f"{name}_output_0"
        node = self._target.node.add(name=name, op_type=op_type, domain=domain, input=inputs, output=[output])
        for key, value in attributes.items():
            add_attribute(node, key, value)
        self.nodes += 1
        if shape and self.random.random() < 0.5:
            declare(self._target.value_info, output, self.element_type, *shape)
        return output

    def constant(self, *values: int) -> str:
        """A Constant node that gives a list of int64."""
        tensor = schema.message("TensorProto")(
            data_type=INT64, dims=[len(values)], raw_data=struct.pack(f"<{len(values)}q", *values)
        )
        return self.node("Constant", value=tensor)

    @contextmanager
    def branch(self, name: str) -> Iterator[Any]:
        """Write into a subgraph; on leaving, its output is declared to be the sequence's value."""
        outer, value = self._target, self.value
        self._target = schema.message("GraphProto")(name=name)
        try:
            yield self._target
            declare(self._target.output, self.value, FLOAT, *HIDDEN)
        finally:
            self._target, self.value = outer, value

    def finished(self) -> Any:
        """The model, whose output is the sequence's value."""
        declare(self.graph.output, self.value, FLOAT, *HIDDEN)
        return self.model


_ELEMENTWISE: Final = ("Relu", "Sigmoid", "Tanh", "Neg", "Identity")


def _elementwise(writer: Writer) -> None:
    writer.value = writer.node(writer.random.choice(_ELEMENTWISE), writer.value, shape=HIDDEN)


def _cast(writer: Writer) -> None:
    half = writer.node("Cast", writer.value, to=10)
    writer.value = writer.node("Cast", half, to=FLOAT, shape=HIDDEN)


def _linear(writer: Writer, value: str, name: str, inner: int = WIDTH, outer: int = WIDTH) -> str:
    product = writer.node("MatMul", value, writer.weight(f"{name}.weight", inner, outer), shape=(1, LENGTH, outer))
    return writer.node("Add", product, writer.weight(f"{name}.bias", outer), shape=(1, LENGTH, outer))


def _normalized(writer: Writer, name: str) -> str:
    scale, bias = writer.weight(f"{name}.weight", WIDTH), writer.weight(f"{name}.bias", WIDTH)
    return writer.node("LayerNormalization", writer.value, scale, bias, axis=-1, epsilon=1e-5, shape=HIDDEN)


def _attention(writer: Writer) -> None:
    normalized = _normalized(writer, "norm")
    heads = []
    for name, order in (("q_proj", (0, 2, 1, 3)), ("k_proj", (0, 2, 3, 1)), ("v_proj", (0, 2, 1, 3))):
        split = writer.node("Reshape", _linear(writer, normalized, name), writer.constant(1, LENGTH, 2, WIDTH // 2))
        heads.append(writer.node("Transpose", split, perm=order))
    scores = writer.node("MatMul", heads[0], heads[1], shape=(1, 2, LENGTH, LENGTH))
    weights = writer.node("Softmax", writer.node("Div", scores, writer.weight("scale")), axis=-1)
    mixed = writer.node("Transpose", writer.node("MatMul", weights, heads[2]), perm=(0, 2, 1, 3))
    joined = writer.node("Reshape", mixed, writer.constant(*HIDDEN), shape=HIDDEN)
    writer.value = writer.node("Add", writer.value, _linear(writer, joined, "o_proj"), shape=HIDDEN)


def _perceptron(writer: Writer) -> None:
    wide = _linear(writer, _normalized(writer, "mlp_norm"), "up_proj", WIDTH, 2 * WIDTH)
    activated = writer.node("Mul", wide, writer.node("Sigmoid", wide), shape=(1, LENGTH, 2 * WIDTH))
    narrow = _linear(writer, activated, "down_proj", 2 * WIDTH, WIDTH)
    writer.value = writer.node("Add", writer.value, narrow, shape=HIDDEN)


def _convolution(writer: Writer) -> None:
    image = writer.node("Reshape", writer.value, writer.constant(1, WIDTH, 2, LENGTH // 2))
    shape = (1, WIDTH, 2, LENGTH // 2)
    value = image
    for name in ("conv1", "conv2"):
        kernel, bias = writer.weight(f"{name}.weight", WIDTH, WIDTH, 3, 3), writer.weight(f"{name}.bias", WIDTH)
        value = writer.node(
            "Conv",
            value,
            kernel,
            bias,
            shape=shape,
            dilations=(1, 1),
            group=1,
            kernel_shape=(3, 3),
            pads=(1, 1, 1, 1),
            strides=(1, 1),
        )
        value = writer.node("Relu", value, shape=shape)
    pooled = writer.node("MaxPool", writer.node("Add", value, image, shape=shape), kernel_shape=(1, 1), strides=(1, 1))
    writer.value = writer.node("Reshape", pooled, writer.constant(*HIDDEN), shape=HIDDEN)


def _computed_shape(writer: Writer) -> None:
    shape = writer.node("Shape", writer.value)
    size = writer.node("Gather", shape, writer.constant(1), axis=0)
    target = writer.node("Concat", writer.constant(1), size, writer.constant(WIDTH), axis=0)
    writer.value = writer.node("Reshape", writer.value, target)


def _choice(writer: Writer) -> None:
    condition = schema.message("TensorProto")(data_type=BOOL, raw_data=b"\1")
    chosen = writer.node("Constant", value=condition)
    with writer.branch("then_branch") as then_branch:
        for _ in range(3):
            _elementwise(writer)
    with writer.branch("else_branch") as else_branch:
        _elementwise(writer)
        writer.value = writer.node("Add", writer.value, writer.weight("fallback", WIDTH))
    writer.value = writer.node("If", chosen, then_branch=then_branch, else_branch=else_branch)


def _call(writer: Writer) -> None:
    if not writer.model.functions:
        writer.model.opset_import.add(domain=DOMAIN, version=1)
        add_function(writer.model, "silu")
    writer.value = writer.node("silu", writer.value, domain=DOMAIN)


_BLOCKS: Final[dict[Callable[[Writer], None], tuple[int, int]]] = {
    _attention: (19, 4),
    _perceptron: (8, 4),
    _convolution: (9, 3),
    _computed_shape: (7, 2),
    _choice: (7, 1),
    _call: (1, 1),
    _cast: (2, 1),
    _elementwise: (1, 2),
}
"""Each block with the number of nodes it writes (at most; subgraphs included) and how often it is chosen."""


def mixture(count: int, seed: int = 0) -> Any:
    """A model of `count` nodes, those in subgraphs included, those in functions not."""
    writer = Writer(seed)
    layer = 0
    blocks, chances = list(_BLOCKS), [chance for _, chance in _BLOCKS.values()]
    while writer.nodes < count:
        [block] = writer.random.choices(blocks, chances)
        if writer.nodes + _BLOCKS[block][0] + 4 > count:
            block = _elementwise
        writer.scope = f"/layers.{layer}/{block.__name__[1:]}"
        block(writer)
        layer += 1
    return writer.finished()


def annotated(count: int) -> Any:
    """The mixture, its nodes with metadata such as torch's exporter writes: where each comes from in the program."""
    model = mixture(count)
    for index, node in enumerate(model.graph.node):
        where = f"layers.{index // 20}"
        for key, value in (
            ("namespace", f": model.Decoder/{where}: model.Block/{node.name}: aten.{node.op_type.lower()}.default"),
            ("pkg.torch.onnx.class_hierarchy", f"['model.Decoder', 'model.Block', 'aten.{node.op_type.lower()}']"),
            (
                "pkg.torch.onnx.fx_node",
                f"%n{index} : [num_users=1] = call_function(args = (%n{index - 1},), kwargs = {{}})",
            ),
            ("pkg.torch.onnx.stack_trace", f'File "model.py", line {index % 400}, in forward\n    x = self.{where}(x)'),
        ):
            node.metadata_props.add(key=key, value=value)
    return model


_CONSTANTS: Final = 16
"""The number of distinct tensors in the Constants of a flat model: exporters write the same few again and again."""


def flat(count: int, seed: int = 0) -> Any:
    """A model of `count` nodes side by side, with no subgraph, function or value_info.

    A tenth are Constants with a tensor of 256 bytes. Few of these tensors are distinct.
    """
    writer = Writer(seed)
    while writer.nodes < count:
        writer.scope = f"/layers.{writer.nodes // 100}"
        if writer.nodes % 10 == 0 and writer.nodes < count - 1:
            content = struct.pack("<f", writer.random.randrange(_CONSTANTS)) * (WIDTH * WIDTH)
            tensor = schema.message("TensorProto")(data_type=FLOAT, dims=(WIDTH, WIDTH), raw_data=content)
            writer.value = writer.node("MatMul", writer.value, writer.node("Constant", value=tensor))
        else:
            writer.value = writer.node(writer.random.choice(_ELEMENTWISE), writer.value)
    return writer.finished()


def nested(width: int, depth: int) -> Any:
    """A model of `width` If nodes side by side, in each of whose first branches the next If stands, `depth` deep."""
    writer = Writer()
    condition = schema.message("TensorProto")(data_type=BOOL, raw_data=b"\1")

    def choose(left: int) -> None:
        chosen = writer.node("Constant", value=condition)
        with writer.branch(f"then_{left}") as then_branch:
            _elementwise(writer)
            if left > 1:
                choose(left - 1)
            _elementwise(writer)
        with writer.branch(f"else_{left}") as else_branch:
            for _ in range(5):
                _elementwise(writer)
        writer.value = writer.node("If", chosen, then_branch=then_branch, else_branch=else_branch)

    for index in range(width):
        writer.scope = f"/layers.{index}"
        choose(depth)
    return writer.finished()


def save(model: Any, path: Path) -> None:
    """Write the model; the same model gives the same bytes."""
    path.write_bytes(model.SerializeToString(deterministic=True))

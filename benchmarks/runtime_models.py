# SPDX-License-Identifier: Apache-2.0
"""Makes decoders as the model builders for ONNX Runtime write them: with the operators of `com.microsoft`.

They conform. Their weights are quantized to four bits, and every second block has experts in place of one perceptron.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from large_models import FLOAT, INT64, add_attribute, declare

from onnx_lint import schema

UINT8: Final = 2
INT32: Final = 6
RUNTIME: Final = "com.microsoft"
WIDTH: Final = 32
HEADS: Final = 2
KEY_HEADS: Final = 1
HEAD: Final = WIDTH // HEADS
INNER: Final = 64
"""The width of a perceptron's middle."""
EXPERTS: Final = 4
POSITIONS: Final = 128
HIDDEN: Final = ("batch_size", "sequence_length", WIDTH)


class _Decoder:
    """A model under construction. Values are the names of what the last node of a part gives."""

    def __init__(self) -> None:
        self.model = schema.message("ModelProto")(ir_version=10, producer_name="onnxruntime-genai")
        self.model.opset_import.add(domain="", version=21)
        self.model.opset_import.add(domain=RUNTIME, version=1)
        self.graph = self.model.graph
        self.graph.name = "main_graph"
        self.scope = ""
        self.nodes = 0

    def node(
        self, op_type: str, *inputs: str, outputs: tuple[str, ...] = (), domain: str = "", **attributes: Any
    ) -> str:
        """Add a node, and return the name of its first output. Without `outputs` it has one."""
        name = f"/model/{self.scope}/{op_type}_{self.nodes}"
        self.nodes += 1
        named = outputs or (f"{name}/output_0",)
        node = self.graph.node.add(name=name, op_type=op_type, domain=domain, input=inputs, output=named)
        for key, value in attributes.items():
            add_attribute(node, key, value)
        return named[0]

    def runtime(self, op_type: str, *inputs: str, outputs: tuple[str, ...] = (), **attributes: Any) -> str:
        """Add a node of an operator of ONNX Runtime."""
        return self.node(op_type, *inputs, outputs=outputs, domain=RUNTIME, **attributes)

    def weight(self, name: str, *shape: int, element_type: int = FLOAT) -> str:
        """Add an initializer whose elements are all equal, and others than those of the initializer before."""
        count = 1
        for size in shape:
            count *= size
        full = f"model.{self.scope.replace('/', '.')}.{name}"
        number = len(self.graph.initializer) + 1
        element = bytes([number % 256]) if element_type == UINT8 else struct.pack("<f", 1 / number)
        self.graph.initializer.add(name=full, data_type=element_type, dims=shape, raw_data=element * count)
        return full

    def linear(self, value: str, name: str, inner: int, outer: int) -> str:
        """Multiply with a matrix of four bits, in blocks of 32 elements."""
        blocks = inner // 32
        packed = self.weight(f"{name}.qweight", outer, blocks, 16, element_type=UINT8)
        scales = self.weight(f"{name}.scales", outer, blocks)
        zeros = self.weight(f"{name}.qzeros", outer, (blocks + 1) // 2, element_type=UINT8)
        sizes = {"K": inner, "N": outer, "bits": 4, "block_size": 32, "accuracy_level": 4}
        return self.runtime("MatMulNBits", value, packed, scales, zeros, **sizes)

    def normalized(self, value: str, added: str, name: str) -> tuple[str, str]:
        """Add two values and normalize the sum; return the result and the sum."""
        outputs = (f"/model/{self.scope}/{name}/output_0", "", "", f"/model/{self.scope}/{name}/output_3")
        gamma = self.weight(f"{name}.weight", WIDTH)
        self.runtime("SkipSimplifiedLayerNormalization", value, added, gamma, outputs=outputs, epsilon=1e-6)
        return outputs[0], outputs[3]

    def attention(self, value: str, layer: int) -> str:
        """Attention with a cache of keys and values; every second layer rotates before it."""
        width = KEY_HEADS * HEAD
        query, key = self.linear(value, "q_proj", WIDTH, WIDTH), self.linear(value, "k_proj", WIDTH, width)
        own = self.linear(value, "v_proj", WIDTH, width)
        caches = ("cos_cache", "sin_cache")
        inside = layer % 2 == 0
        if not inside:
            query, key = (
                self.runtime("RotaryEmbedding", rotated, "position_ids", *caches, num_heads=heads)
                for rotated, heads in ((query, HEADS), (key, KEY_HEADS))
            )
        past, present = ([f"{when}.{layer}.{kind}" for kind in ("key", "value")] for when in ("past", "present"))
        for name in past:
            declare(self.graph.input, name, FLOAT, "batch_size", KEY_HEADS, "past_sequence_length", HEAD)
        for name in present:
            declare(self.graph.output, name, FLOAT, "batch_size", KEY_HEADS, "total_sequence_length", HEAD)
        inputs = (query, key, own, *past, "seqlens_k", "total_length", *(caches if inside else ()))
        output = f"/model/{self.scope}/attn/output_0"
        sizes = {"num_heads": HEADS, "kv_num_heads": KEY_HEADS, "scale": HEAD**-0.5, "do_rotary": int(inside)}
        mixed = self.runtime("GroupQueryAttention", *inputs, outputs=(output, *present), **sizes)
        return self.linear(mixed, "o_proj", WIDTH, WIDTH)

    def perceptron(self, value: str) -> str:
        """One gated perceptron."""
        gate, up = self.linear(value, "gate_proj", WIDTH, INNER), self.linear(value, "up_proj", WIDTH, INNER)
        activated = self.node("Mul", gate, self.node("Sigmoid", gate))
        return self.linear(self.node("Mul", activated, up), "down_proj", INNER, WIDTH)

    def experts(self, value: str, is_quantized: bool) -> str:
        """A mixture of experts behind a router."""
        scores = self.node("MatMul", value, self.weight("router.weight", WIDTH, EXPERTS))
        router = self.node("Reshape", scores, "router_shape")
        if not is_quantized:
            first, second = self.weight("fc1", EXPERTS, INNER, WIDTH), self.weight("fc2", EXPERTS, WIDTH, INNER)
            return self.runtime("MoE", value, router, first, "", second, k=2, activation_type=b"silu")
        weights = []
        for name, inner, outer in (("fc1", WIDTH, INNER), ("fc2", INNER, WIDTH)):
            weights.append(self.weight(f"{name}.qweight", EXPERTS, outer, inner // 2, element_type=UINT8))
            weights += [self.weight(f"{name}.scales", EXPERTS, outer), ""]
        return self.runtime("QMoE", value, router, *weights, k=2, activation_type=b"silu", expert_weight_bits=4)

    def tensor(self, name: str, element_type: int, *elements: int) -> None:
        """Add an initializer of integers."""
        content = struct.pack(f"<{len(elements)}q", *elements)
        self.graph.initializer.add(name=name, data_type=element_type, dims=[len(elements)], raw_data=content)


def decoder(count: int) -> Any:
    """A decoder of `count` blocks, between an embedding and the scores of tokens."""
    writer = _Decoder()
    graph = writer.graph
    declare(graph.input, "input_ids", INT64, "batch_size", "sequence_length")
    declare(graph.input, "position_ids", INT64, "batch_size", "sequence_length")
    declare(graph.input, "seqlens_k", INT32, "batch_size")
    declare(graph.input, "total_length", INT32)
    for name in ("cos_cache", "sin_cache"):
        graph.initializer.add(
            name=name, data_type=FLOAT, dims=[POSITIONS, HEAD // 2], raw_data=bytes(POSITIONS * HEAD * 2)
        )
    writer.tensor("router_shape", INT64, -1, EXPERTS)
    writer.scope = "embed_tokens"
    value = writer.node("Gather", writer.weight("weight", POSITIONS, WIDTH), "input_ids")
    declare(graph.value_info, value, FLOAT, *HIDDEN)
    added = writer.node("Mul", value, writer.weight("scale", 1))
    for layer in range(count):
        writer.scope = f"layers.{layer}"
        normalized, total = writer.normalized(value, added, "input_layernorm")
        attended = writer.attention(normalized, layer)
        normalized, value = writer.normalized(total, attended, "post_attention_layernorm")
        has_experts = layer % 2 == 1
        added = writer.experts(normalized, layer % 4 == 3) if has_experts else writer.perceptron(normalized)
        declare(graph.value_info, added, FLOAT, *HIDDEN)
    writer.scope = "lm_head"
    final, _ = writer.normalized(value, added, "final_norm")
    graph.node[-1].output[:] = [final]
    logits = writer.node("Cast", writer.linear(final, "head", WIDTH, POSITIONS), outputs=("logits",), to=FLOAT)
    declare(graph.output, logits, FLOAT, "batch_size", "sequence_length", POSITIONS)
    return writer.model

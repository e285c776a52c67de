# SPDX-License-Identifier: Apache-2.0
"""Other operators of transformers besides attention, and other kinds of attention."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Shape, divide, multiply, unified
from onnx_lint.inference.shapes.equations import solve
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, ProblemPlace, Unequal
from onnx_lint.inference.shapes.registration import register_equations, register_rule
from onnx_lint.inference.shapes.rules.attention import HEAD, PACKED, SPLIT, HeadInput, check_shared_heads, first_with

register_equations({"SwiGLU": "A[*shape] B[*shape] -> Y[*shape]"})


@register_rule("FlexAttention", domain="ai.onnx.preview")
def flexible_attention(node: Operands) -> Outputs:
    """Infer a mixture of the values for each query. Groups of heads share keys and values."""
    outputs = solve("Q[b h q d] K[b g k d] V[b g k v] -> Y[b h q v]", node)
    if not node.problems:
        query, key, value = (HeadInput(index, (None, node.dim(index, HEAD), None, None)) for index in range(3))
        check_shared_heads(node, query, first_with(HEAD, key, value) or key)
    return outputs


@register_rule("LinearAttention")
def linear_attention(node: Operands) -> Outputs:
    """Infer heads packed along the last axis, and the state, which has a matrix for each head of keys."""
    check_gates(node)
    # All inputs share batch and length, except that the state has no length.
    text = "Q[b t ?] K[b t ?] V[b t ?] state[b @kv_num_heads ? ?] decay[b t ?] beta[b t ?] -> both[b t]"
    both = solve(text, node)[0]
    batch, steps = both if isinstance(both, tuple) else (None, None)
    heads, shared = _positive(node, "q_num_heads"), _positive(node, "kv_num_heads")
    check_shared_heads(
        node,
        HeadInput(0, (batch, heads, steps, None), True),
        HeadInput(1, (batch, shared, steps, None), True),
    )
    of_key = node.quotient((0, 2), heads, Element("q_num_heads", heads))
    of_value = node.quotient((2, 2), shared, Element("kv_num_heads", shared))
    if of_key is None:
        node.quotient((1, 2), shared, Element("kv_num_heads", shared))
    node.same((1, 2), multiply(shared, of_key), node.place(0, 2))
    of_key = unified(of_key, divide(node.dim(1, 2), shared))
    of_key = node.same((3, 2), of_key, node.place(0, 2))
    of_value = node.same((3, 3), of_value, node.place(2, 2))
    for index, wide in ((4, multiply(shared, of_key)), (5, 1)):
        # A gate has a number for each head; a decay may have one for each number of a key, an update one for all.
        if wide is None:
            node.quotient((index, 2), shared, Element("kv_num_heads", shared))
        elif node.dim(index, 2) != wide:
            node.same((index, 2), shared, Element("kv_num_heads", shared))
    return [(batch, steps, multiply(heads, of_value)), (batch, shared, of_key, of_value)]


_GATES = {"gated": (4,), "delta": (5,), "gated_delta": (4, 5)}
"""The inputs, decay and beta, that each rule of LinearAttention requires."""


def check_gates(node: Operands) -> None:
    """Check that the inputs that the update rule requires are given."""
    rule = node.text("update_rule", "gated_delta")
    for index in _GATES.get(rule, ()):
        if not node.given(index):
            name = node.schema.inputs[index].name
            reason = f"it requires input {index} ('{name}'), which the node leaves out"
            node.wrong_value("update_rule", rule, reason, allowed=f"input {index} ('{name}'), or another rule")


def _positive(node: Operands, name: str) -> int | None:
    """Return a number of heads. Record an invalid one, and return None."""
    number = node.integer(name)
    return number if number is not None and node.at_least(1, (number,), name) else None


@register_rule("CausalConvWithState")
def causal_convolution(node: Operands) -> Outputs:
    """Infer the shape of the input, and the state: the inputs that the kernels still need."""
    outputs = solve("X[b c t] W[c 1 ?] bias[c] state[b c ?] -> Y[b c t]", node)
    kernel = node.dim(1, 2)
    if kernel == 0:
        node.problems.append(Unequal(InputDimension(1, 2, 0), 1, or_more=True))
    reach = node.same((3, 2), kernel - 1 if isinstance(kernel, int) and kernel else None, node.place(1, 2))
    shape = outputs[0]
    return [shape, (*shape[:2], reach) if isinstance(shape, tuple) else None]


@register_rule("RotaryEmbedding", reads=(3,))
def rotary_embedding(node: Operands) -> Outputs:
    """Return the shape of the input. The caches have an angle for each pair of numbers at each position."""
    shape = node.shape(0, at_least=PACKED, at_most=SPLIT)
    half, by = _pairs(node, shape)
    by_position = node.given(3)
    batch, steps = (0, PACKED - 2 if shape is not None and len(shape) == PACKED else 2)
    for index in (1, 2):
        if node.shape(index, 2 if by_position else PACKED) is not None:
            node.same((index, -1), half, by)
            if not by_position and shape is not None:
                node.same((index, 0), shape[batch], node.place(0, batch))
                node.same((index, 1), shape[steps], node.place(0, steps))
    if not node.problems:
        for axis in range(min(len(node.fact(index).shape or ()) for index in (1, 2))):
            node.equal((1, axis), (2, axis))
    if by_position and node.shape(3, 2) is not None and shape is not None:
        node.equal((0, batch), (3, 0))
        node.equal((0, steps), (3, 1))
        node.counts_within(3, 0, node.dim(1, 0), "positions in the caches")
    return [shape]


def _pairs(node: Operands, shape: Shape) -> tuple[Dim, ProblemPlace | None]:
    """Return how many pairs of numbers of each head are rotated, all or as an attribute says,
    and the source of that.
    """
    size: Dim = None
    if shape is not None and len(shape) == SPLIT:
        size = shape[-1]
        node.quotient((0, SPLIT - 1), 2)
    elif shape is not None:
        heads = node.integer("num_heads", 0)
        hidden = node.dim(0, 2)
        if heads > 0 and isinstance(hidden, int):
            size = divide(hidden, heads)
            if hidden % (2 * heads):
                node.indivisible(InputDimension(0, 2, hidden), 2 * heads, Element("num_heads", heads))
        elif not heads:
            # Without it nothing says which of the packed numbers belong to a head.
            node.wrong_rank(0, SPLIT, SPLIT, "num_heads")
    turned = node.integer("rotary_embedding_dim", 0)
    if isinstance(size, int) and turned > size:
        reason = f"each head has {size} elements"
        node.wrong_value("rotary_embedding_dim", turned, reason, allowed=f"at most {size}", about_data=True)
    if turned > 0:
        return turned // 2, Element("rotary_embedding_dim", turned)
    return size // 2 if isinstance(size, int) else None, node.place(0, -1)

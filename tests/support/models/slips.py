# SPDX-License-Identifier: Apache-2.0
"""Slips of people who edit or write graphs, each in a small model, and what a report must say to do about it."""

from __future__ import annotations

from typing import Final

import onnx.parser
from onnx import ModelProto

HEAD: Final = '<ir_version: 10, opset_import: ["": 21], producer_name: "me"> '
OWN: Final = '<ir_version: 10, opset_import: ["": 21, "com.acme": 1], producer_name: "me"> '

SLIPS: Final[dict[str, tuple[str, str]]] = {
    # --- types
    "weight_of_two_readers_in_half": (
        """g (float[N,4] x) => (float[N,4] y) <float16[4] w = {1, 1, 1, 1}>
        { h = Mul(x, w) i = Relu(x) y = Sub(i, w) }""",
        "with initializer 'w' converted to FLOAT the types fit",
    ),
    "model_of_another_input_type": (
        """g (float16[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}>
        { t = Identity(x) h = MatMul(t, w) i = Add(h, b) y = Sub(i, t) }""",
        "with input 'x' of the graph declared as tensor(float) the types fit",
    ),
    "cast_to_another_type": (
        "g (float[4] x) => (float[4] y) { n = Cast<to = 6>(x) y = Where(n, x, x) }",
        "to=9 (BOOL)",
    ),
    "layers_exchanged": (
        """g (float[N,2] x) => (float[N,2] y) <float[2,3] w1 = {1, 2, 3, 4, 5, 6}, float[3,2] w2 = {1, 2, 3, 4, 5, 6}>
        { h = MatMul(x, w2) r = Relu(h) y = MatMul(r, w1) }""",
        "with initializers 'w2' and 'w1' exchanged the shapes fit",
    ),
    "layers_of_torch": (
        """g (float[N,2] x) => (float[N,2] y) <float[3,2] w1 = {1, 2, 3, 4, 5, 6}, float[2,3] w2 = {1, 2, 3, 4, 5, 6}>
        { h = MatMul(x, w1) r = Relu(h) y = MatMul(r, w2) }""",
        "with a Transpose of input 1 'w1'",
    ),
    # --- names
    "input_renamed": (
        "g (float[N,16] pixel_values) => (float[N,16] y) { h = Relu(x) y = Add(h, x) }",
        "did you mean 'pixel_values'",
    ),
    "output_renamed": (
        "g (float[N,16] x) => (float[N,16] output) { logits = Relu(x) }",
        "did you mean 'logits'",
    ),
    "wire_misspelt": (
        "g (float[N,16] x) => (float[N,16] y) { hidden = Relu(x) y = Tanh(hiden) }",
        "did you mean 'hidden'",
    ),
    "two_inputs_renamed": (
        "g (int64[N,16] ids, float[N,16] scores) => (float[N,16] y) { h = Cast<to = 1>(x) y = Add(h, z) }",
        "nothing uses 'ids' or 'scores'",
    ),
    "constant_lost": (
        """g (float[N,4] x) => (float[N,4] y) <float Constant_1 = {1}> { h = Add(x, Constant_1) i = Mul(h, Constant_2)
        y = Sub(i, Constant_1) }""",
        "nothing produces 'Constant_2': a node, an initializer or an input is missing",
    ),
    "all_inputs_renamed": (
        """g (int64[N,4] ids, int64[N,4] attn, int64[N,4] kinds) => (int64[N,4] y)
        { h = Add(input_ids, token_type_ids) y = Add(h, attention_mask) }""",
        "nothing uses 'ids', 'attn' or 'kinds'; 2 more faults have this cause",
    ),
    "mask_renamed": (
        """g (int64[N,4] mask, int64[N,4] segments) => (int64[N,4] y) { y = Add(attention_mask, token_types) }""",
        "did you mean 'mask'",
    ),
    "statistics_lost": (
        """g (float[N,4,2,2] x) => (float[N,4,2,2] y) <float[4] w = {1, 1, 1, 1}, float[4] bn_var = {1, 1, 1, 1}>
        { y = BatchNormalization(x, w, w, bn_mean, bn_var) }""",
        "nothing produces 'bn_mean': a node, an initializer or an input is missing",
    ),
    "activation_lost": (
        """g (float[N,4] x) => (float[N,4] y, float[N,4] z) { conv_output_0 = Tanh(x) z = Neg(conv_output_0)
        y = Add(conv_output_0, conv_1_output_0) }""",
        "nothing produces 'conv_1_output_0': a node, an initializer or an input is missing",
    ),
    "shared_value_misspelt": (
        "g (float[N,4] x) => (float[N,4] y, float[N,4] z) { hidden = Tanh(x) z = Neg(hidden) y = Add(hidden, hiden) }",
        "did you mean 'hidden'",
    ),
    "shared_value_in_another_case": (
        "g (float[N,4] x) => (float[N,4] y, float[N,4] z) { relu_1 = Tanh(x) z = Neg(relu_1) y = Add(relu_1, Relu1) }",
        "did you mean 'relu_1'",
    ),
    "prefix_lost": (
        """g (float[N,2] x) => (float[N,2] y)
        <float[2] model_a = {1, 2}, float[2] model_b = {1, 2}, float[2] model_c = {1, 2}>
        { h = Add(x, a) i = Mul(h, b) y = Sub(i, c) }""",
        "3 names lack the prefix 'model_'",
    ),
    "renamed_outside_of_a_branch": (
        """g (bool c, float[4] x) => (float[4] y) { hidden_state = Relu(x) y = If(c) <
            then_branch = t () => (float[4] a) { a = Neg(h) },
            else_branch = e () => (float[4] b) { b = Abs(h) }> }""",
        "did you mean 'hidden_state'",
    ),
    "name_of_a_value_of_another_type": (
        "g (float[N,16] x, int64[N] mask) => (float[N,16] y) { masc = Relu(x) z = Cast<to = 1>(mask) y = Relu(mas) }",
        "did you mean 'masc'",
    ),
    "normalization_forgotten": (
        """g (float[N,4] x) => (float[N,4] y) <float[4] scale = {1, 1, 1, 1}, float[4] b = {1, 1, 1, 1}>
        { y = Add(normed, b) }""",
        "nothing uses 'x' or 'scale'",
    ),
    "weight_forgotten": (
        """g (float[N,4] x) => (float[N,4] y) <float[4] layer_1_b = {1, 1, 1, 1}>
        { h = Add(x, layer_1_b) y = Add(h, layer_2_b) }""",
        "which nothing defines |",
    ),
    "mask_forgotten": (
        """g (float[N,4] x, float[N,4] mask) => (float[N,4] y)
        { scores = Relu(x) y = Softmax(masked) }""",
        "nothing uses 'mask' or 'scores'",
    ),
    "flatten_forgotten": (
        """g (float[N,4,1,1] x, float[4,2] w) => (float[N,2] y)
        { pooled = GlobalAveragePool(x) y = Gemm(flat, w) }""",
        "nothing uses 'pooled'",
    ),
    "two_names_lack_a_prefix": (
        """g (float[N,2] x) => (float[N,2] y) <float[2] ema_a = {1, 2}, float[2] ema_b = {1, 2}>
        { h = Add(x, a) y = Mul(h, b) }""",
        "do 2 names lack the prefix 'ema_'?",
    ),
    "all_separators": (
        """g (float[N,2] x) => (float[N,2] y) <float[2] fc_a = {1, 2}, float[2] fc_b = {1, 2}, float[2] fc_c = {1, 2}>
        { h = Add(x, fca) i = Mul(h, fcb) y = Sub(i, FC_c) }""",
        "3 names differ from unused ones in case or separators, 'fca' from 'fc_a'",
    ),
    "another_separator": (
        """g (float[N,2] x) => (float[N,2] y) <float[2] fc_b = {1, 2}> { h = Add(x, fc_b) y = Mul(h, fcb) }""",
        "did you mean 'fc_b'?",
    ),
    "function_output_renamed": (
        """g (float[4] x) => (float[4] y) { y = com.acme.F(x) }
        <domain: "com.acme", opset_import: ["": 21]> F (a) => (out) { b = Mul(a, a) }""",
        "did you mean 'b'",
    ),
    "output_of_the_node_before": (
        "g (float[N] x) => (float[N] y) { h = Relu(x) h = Tanh(h) }",
        "call output 0 of unnamed node 1 (Tanh) of the main graph 'y', which nothing defines",
    ),
    # --- shapes
    "weight_of_torch": (
        "g (float[N,16] x, float[8,16] w) => (float[N,8] y) { y = MatMul(x, w) }",
        "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit",
    ),
    "gemm_without_trans_b": (
        "g (float[N,16] x, float[8,16] w, float[8] b) => (float[N,8] y) { y = Gemm(x, w, b) }",
        "with transB=1 the shapes fit",
    ),
    "gemm_exchanged": (
        "g (float[N,16] x, float[16,8] w) => (float[N,8] y) { y = Gemm(w, x) }",
        "exchanged the shapes fit",
    ),
    "matmul_exchanged": (
        "g (float[4,16] x, float[16,8] w) => (float[4,8] y) { y = MatMul(w, x) }",
        "exchanged the shapes fit",
    ),
    "conv_weight_and_bias_exchanged": (
        "g (float[1,3,8,8] x, float[4,3,3,3] w, float[4] b) => (float[1,4,6,6] y) { y = Conv(x, b, w) }",
        "with inputs 1 'b' and 2 'w' of",
    ),
    "parts_of_split": (
        "g (float[N,9] x) => (float[N,3] a, float[N,3] b, float[N,3] c) { a, b, c = Split<axis = 1>(x) }",
        "with num_outputs=3 the shapes fit",
    ),
    "strides_of_numpy": (
        "g (float[1,3,8,8] x, float[4,3,2,2] w) => (float[1,4,4,4] y) { y = Conv<strides = [2.0, 2.0]>(x, w) }",
        "write strides=[2, 2] (INTS)",
    ),
    "axis_of_another_concat": (
        """g (float[2,3,4,4] x, float[2,3,4,4] z) => (float[2,6,4,4] y) <float[2,6,4,4] h>
        { h = Concat<axis = 2>(x, z) y = Relu(h) }""",
        "with axis=1 of unnamed node 0 (Concat) of the main graph the declared shape fits",
    ),
    "order_of_another_transpose": (
        "g (float[N,3,4,5] x) => (float[N,4,5,3] y) { y = Transpose<perm = [0, 3, 1, 2]>(x) }",
        "with perm=[0, 2, 3, 1] of unnamed node 0 (Transpose) of the main graph the declared shape fits",
    ),
    "channels_last": (
        "g (float[1,8,9,3] x, float[5,3,2,2] w) => (float[1,5,7,8] y) { y = Conv(x, w) }",
        "with a Transpose of input 0 'x' with perm=[0, 3, 1, 2] the shapes fit",
    ),
    "depthwise_without_group": (
        "g (float[1,6,8,8] x, float[6,1,3,3] w) => (float[1,6,6,6] y) { y = Conv(x, w) }",
        "with group=6 the shapes fit",
    ),
    "kernel_shape_of_another_layer": (
        "g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv<kernel_shape = [5,5]>(x, w) }",
        "with kernel_shape=[3, 3] the shapes fit",
    ),
    "bias_of_channels": (
        "g (float[1,8,4,4] x, float[8] b) => (float[1,8,4,4] y) { y = Add(x, b) }",
        "with an Unsqueeze (axes=[1, 2]) of input 1 'b' the shapes fit",
    ),
    "concat_along_the_wrong_axis": (
        "g (float[2,3] x, float[2,4] z) => (float[2,7] y) { y = Concat<axis = 0>(x, z) }",
        "with axis=1 the shapes fit",
    ),
    "reshape_to_too_many": (
        "g (float[2,6] x) => (float[2,3,2] y) <int64[3] s = {2, 3, 3}> { y = Reshape(x, s) }",
        "with [2, 3, -1] as input 1 's' the shapes fit",
    ),
    "per_channel_axis": (
        "g (int8[6,4] x, float[6] s) => (float[6,4] y) { y = DequantizeLinear(x, s) }",
        "with axis=0 the shapes fit",
    ),
    "repair_that_breaks_the_next_node": (
        "g (float[2,3] x, float[2,3] w, float[5,2] v) => (float[A,B] y) { h = Gemm(x, w) y = MatMul(v, h) }",
        "with transB=1 the shapes fit",
    ),
    "split_into_wrong_parts": (
        "g (float[2,6] x) => (float[2,3] y, float[2,3] z) <int64[2] s = {2, 3}> { y, z = Split<axis = 1>(x, s) }",
        "with [3, 3] as input 1 's' the shapes fit",
    ),
    "two_weights_of_torch": (
        """g (float[N,16] x, float[8,16] w, float[4,8] v) => (float[N,4] y)
        { h = MatMul(x, w) r = Relu(h) y = MatMul(r, v) }""",
        "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit",
    ),
    "name_misspelt_before_a_weight_of_torch": (
        """g (float[N,16] x, float[16,8] weight, float[4,8] v) => (float[N,4] y)
        { h = MatMul(x, wieght) y = MatMul(h, v) }""",
        "did you mean 'weight'",
    ),
    "two_weights_of_torch_in_a_branch": (
        """g (bool c, float[2,3] x, float[4,3] w, float[5,4] v) => (float[2,5] y) { y = If(c) <
            then_branch = t () => (float[2,5] a) { h = MatMul(x, w) r = Relu(h) a = MatMul(r, v) },
            else_branch = e () => (float[2,5] b) { wt = Transpose(w) i = MatMul(x, wt) vt = Transpose(v)
                b = MatMul(i, vt) }> }""",
        "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit",
    ),
    "two_weights_of_torch_in_a_function": (
        """g (float[2,3] x, float[4,3] w, float[5,4] v) => (float[2,5] y) { y = com.acme.F(x, w, v) }
        <domain: "com.acme", opset_import: ["": 21]> F (a, b, d) => (c)
        { h = MatMul(a, b) r = Relu(h) c = MatMul(r, d) }""",
        "with a Transpose of input 1 'b' with perm=[1, 0] the shapes fit",
    ),
    "weight_of_torch_around_a_branch": (
        """g (bool c, float[2,3] x, float[4,3] w, float[5,4] v) => (float[2,5] y) { h = MatMul(x, w) y = If(c) <
            then_branch = t () => (float[2,5] a) { a = MatMul(h, v) },
            else_branch = e () => (float[2,5] b) { vt = Transpose(v) b = MatMul(h, vt) }> }""",
        "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit",
    ),
    "input_renamed_before_a_weight_of_torch": (
        "g (float[N,16] pixel_values, float[8,16] w) => (float[N,8] y) { h = MatMul(x, w) y = Relu(h) }",
        "did you mean 'pixel_values'",
    ),
    "batch_normalization_exchanged": (
        """g (float[N,4,8,8] x, float[4] s, float[4] b, float[4] m, float[4] v) => (float[N,4,8,8] y)
        { y = BatchNormalization(s, x, b, m, v) }""",
        "with inputs 0 's' and 1 'x' of",
    ),
    "layer_normalization_exchanged": (
        "g (float[N,4] x, float[4] s, float[4] b) => (float[N,4] y) { y = LayerNormalization(s, x, b) }",
        "with inputs 0 's' and 1 'x' of",
    ),
    "flatten_forgotten_before_a_layer": (
        "g (float[N,8,1,1] x, float[8,4] w) => (float[N,4] y) { y = Gemm(x, w) }",
        "with a Flatten of input 0 'x' the shapes fit",
    ),
    "filters_of_another_operator": (
        "g (float[1,3,8,8] x, float[8,3,3,3] w) => (float[1,8,10,10] y) { y = ConvTranspose(x, w) }",
        "with a Transpose of input 1 'w' with perm=[1, 0, 2, 3] the shapes fit",
    ),
    "filters_of_tensorflow": (
        "g (float[1,3,8,8] x, float[5,5,3,4] w) => (float[1,4,4,4] y) { y = Conv(x, w) }",
        "with a Transpose of input 1 'w' with perm=[3, 2, 0, 1] the shapes fit",
    ),
    "one_hot_exchanged": (
        "g (int64[N] x) => (float[N,9] y) <int64 depth = {9}, float[2] pair = {0, 1}> { y = OneHot(x, pair, depth) }",
        "with inputs 1 'pair' and 2 'depth' of",
    ),
    # --- types
    "scale_and_zero_point_exchanged": (
        "g (float[N] x) => (uint8[N] y) <float s = {0.1}, uint8 z = {3}> { y = QuantizeLinear(x, z, s) }",
        "with inputs 1 'z' and 2 's' of",
    ),
    "scale_and_zero_point_of_channels_exchanged": (
        """g (int8[2,3] x) => (float[2,3] y) <float[2] s = {0.1, 0.2}, int8[2] z = {0, 0}>
        { y = DequantizeLinear<axis = 0>(x, z, s) }""",
        "with inputs 1 'z' and 2 's' of",
    ),
    "scale_and_zero_point_of_a_convolution_exchanged": (
        """g (uint8[1,1,4,4] x, float xs, uint8 xz, uint8[1,1,2,2] w, float ws, uint8 wz, float ys, uint8 yz)
        => (uint8[1,1,3,3] y) { y = QLinearConv(x, xs, xz, w, wz, ws, ys, yz) }""",
        "with inputs 4 'wz' and 5 'ws' of",
    ),
    "reshape_exchanged": (
        "g (int64[2] s, float[N,16] x) => (float[M,4] y) { y = Reshape(s, x) }",
        "exchanged the types fit",
    ),
    "gather_exchanged": (
        "g (float[10,4] table, int64[N] ids) => (float[N,4] y) { y = Gather(ids, table) }",
        "exchanged the types fit",
    ),
    "where_exchanged": (
        "g (bool[N] c, float[N] a, float[N] b) => (float[N] y) { y = Where(a, c, b) }",
        "exchanged the types fit",
    ),
    "ids_of_int32": (
        "g (float[N] x, int32[N] i) => (float[N] y) { y = Add(x, i) }",
        "with a Cast to FLOAT (to=1) of input 1 'i' the types fit",
    ),
    "double_constant": (
        "g (float[N] x) => (float[N] y) <double two = {2.0}> { y = Mul(x, two) }",
        "with a Cast to FLOAT (to=1) of input 1 'two' the types fit",
    ),
    "constant_that_a_cast_would_change": (
        "g (int64[N] x) => (int64[N] y) <float[1] half = {0.5}> { y = Mul(x, half) }",
        " | None",
    ),
    "number_for_the_end_of_a_slice": (
        """g (float[N,4] x) => (float[A,4] y) <int32[1] s = {0}, int64[1] e = {9223372036854775807}>
        { y = Slice(x, s, e) }""",
        "with a Cast to INT64 (to=7) of input 1 's' the types fit",
    ),
    "dequantization_forgotten": (
        "g (float[N] x, float s) => (float[N] y) { q = QuantizeLinear(x, s) y = Sigmoid(q) }",
        " | None",
    ),
    "integer_that_two_nodes_use": (
        "g (float[N] x) => (float[N] y) <int64 c = {2}> { a = Add(x, c) y = Mul(a, c) }",
        "with a Cast to FLOAT (to=1) of input 1 'c' the types fit",
    ),
    "cast_to_a_wrong_type": (
        "g (int64[N] x) => (float[N] y) { y = Cast<to = 6>(x) }",
        "write to=1 (FLOAT) or declare output 'y' as tensor(int32)",
    ),
    "condition_of_floats": (
        "g (float[N] c, float[N] a, float[N] b) => (float[N] y) { y = Where(c, a, b) }",
        "with a Cast to BOOL (to=9) of input 0 'c' the types fit",
    ),
    "shape_of_int32": (
        "g (float[1,3] x, int32[2] s) => (float[A,B] y) { y = Expand(x, s) }",
        "with a Cast to INT64 (to=7) of input 1 's' the types fit",
    ),
    # --- attributes
    "negative_slope": (
        "g (float[N] x) => (float[N] y) { y = LeakyRelu<negative_slope = 0.1>(x) }",
        "did you mean 'alpha'",
    ),
    "padding": (
        "g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,8,8] y) { y = Conv<padding = [1,1,1,1]>(x, w) }",
        "did you mean 'pads'",
    ),
    "stride": (
        "g (float[1,3,8,8] x) => (float[1,3,4,4] y) { y = MaxPool<kernel_shape = [2,2], stride = [2,2]>(x) }",
        "did you mean 'strides'",
    ),
    "eps": (
        "g (float[N,4] x, float[4] s) => (float[N,4] y) { y = LayerNormalization<eps = 0.00001>(x, s) }",
        "did you mean 'epsilon'",
    ),
    "dim": (
        "g (float[N,4] x) => (float[N,4] y) { y = Softmax<dim = -1>(x) }",
        "did you mean 'axis'",
    ),
    "kernel_size_of_torch": (
        "g (float[1,3,8,8] x) => (float[1,3,4,4] y) { y = MaxPool<kernel_size = 2, strides = [2,2]>(x) }",
        "did you mean kernel_shape=[2, 2]",
    ),
    "one_number_for_a_list": (
        "g (float[1,3,8,8] x) => (float[1,3,4,4] y) { y = MaxPool<kernel_shape = [2,2], strides = 2>(x) }",
        "write strides=[2, 2] (INTS)",
    ),
    "axis_as_attribute": (
        "g (float[N,4] x) => (float[N,1,4] y) { y = Unsqueeze<axis = 1>(x) }",
        "pass it as input 1",
    ),
    "number_as_value": (
        "g (float[N] x) => (float[N] y) { c = Constant<value = 5.0>() y = Add(x, c) }",
        "the attribute for FLOAT is 'value_float'",
    ),
    "integer_as_value": (
        "g (float[N] x) => (float[N] y) { c = Constant<value = 5>() y = Add(x, c) }",
        "write value_float=5.0 (FLOAT)",
    ),
    "integer_as_value_before_a_list": (
        """g (float[N,8] x) => (float[K,8] y, int64[K,8] z) { c = Constant<value = 1>()
        y, z = TopK<axis = 0>(x, c) }""",
        "write value_ints=[1] (INTS)",
    ),
    "integer_as_value_of_an_index": (
        "g (float[N,8] x) => (float[8] y) { c = Constant<value = 1>() y = Gather(x, c) }",
        "the attribute for INT is 'value_int'",
    ),
    "integer_as_value_before_lists_existed": (
        "g (float[N,8] x) => (float[8] y) { c = Constant<value = 1>() y = Gather(x, c) }",
        "write a tensor in 'value': 1 (INT64)",
    ),
    "index_in_floating_point": (
        "g (float[N,8] x) => (float[N,2] y) <float[2] which = {0, 3}> { y = Gather<axis = 1>(x, which) }",
        "with initializer 'which' converted to INT64 the types fit",
    ),
    "index_of_a_constant_in_floating_point": (
        "g (float[N,8] x) => (float[N,2] y) { c = Constant<value = float[2] {0, 3}>() y = Gather<axis = 1>(x, c) }",
        "with attribute 'value' of unnamed node 0 (Constant) of the main graph converted to INT64 the types fit",
    ),
    "axes_in_floating_point": (
        "g (float[N,8] x) => (float[N,1,8] y) { c = Constant<value_floats = [1.0]>() y = Unsqueeze(x, c) }",
        "with value_ints=[1] of unnamed node 0 (Constant) of the main graph the types fit",
    ),
    "size_of_another_layer_in_a_reshape": (
        """g (float[N,8,9] x, float[72,2] w) => (float[N,2] y) <int64[2] flat = {-1, 64}>
        { r = Reshape(x, flat) y = MatMul(r, w) }""",
        "with [-1, 72] as input 1 'flat' of unnamed node 0 (Reshape) of the main graph the shapes fit",
    ),
    "axis_of_a_concat_before_a_layer": (
        """g (float[2,8,4,4] x, float[3,16,1,1] w) => (float[2,3,4,4] y)
        { a = Relu(x) b = Tanh(x) c = Concat<axis = 0>(a, b) y = Conv(c, w) }""",
        "with axis=1 of unnamed node 2 (Concat) of the main graph the shapes fit",
    ),
    "axis_beyond_a_vector": (
        """g (float[N,8] x, int64 i) => (int64 y) { s = Shape(x) y = Gather<axis = 2>(s, i) }""",
        "with axis=0 the shapes fit",
    ),
    "padding_of_each_axis_once": (
        """g (float[1,2,8,8] x, float[3,2,3,3] w) => (float[1,3,8,8] y)
        { y = Conv<pads = [1, 1], kernel_shape = [3, 3]>(x, w) }""",
        "write pads=[1, 1, 1, 1] (INTS)",
    ),
    "operator_of_a_later_ir_version": (
        "g (float[N,8] x) => (float[N,8] y) { y = Gelu(x) }",
        "write ir_version=9 and import version 20 of 'ai.onnx', which all its nodes fit",
    ),
    "tensor_as_value_float": (
        "g (float[N] x) => (float[N] y) { c = Constant<value_float: tensor = float {5.0}>() y = Add(x, c) }",
        "the attribute for TENSOR is 'value'",
    ),
    "concat_without_axis": (
        "g (float[2,3] x, float[2,4] z) => (float[2,7] y) { y = Concat(x, z) }",
        "with axis=1 the shapes fit",
    ),
    "axes_as_attribute": (
        "g (float[N,1,4] x) => (float[N,4] y) { y = Squeeze<axes = [1]>(x) }",
        "pass it as input 1",
    ),
    # --- operators
    "operator_misspelt": (
        "g (float[N] x) => (float[N] y) { y = LeakyReLU(x) }",
        "did you mean 'LeakyRelu'",
    ),
    "operator_of_torch": (
        "g (float[N,16] x, float[16,8] w, float[8] b) => (float[N,8] y) { y = Linear(x, w, b) }",
        "did you mean 'Gemm'",
    ),
    "operator_of_aten": (
        "g (float[N] x) => (float[N] y) { y = Relu_(x) }",
        "did you mean 'Relu'",
    ),
    "operator_of_onnxruntime": (
        "g (float[6,6] x) => (float[6,6] y) { y = FusedMatMul(x, x) }",
        "write domain='com.microsoft' on the node, and import version 1 of that domain",
    ),
    "domain_of_another_operator": (
        "g (float[N] x) => (float[N] y) { y = ai.onnx.ml.Relu(x) }",
        "write domain='' on the node",
    ),
    "domain_forgotten": (
        """g (float[4] x) => (float[4] y) { y = Silu(x) }
        <domain: "com.acme", opset_import: ["": 21]> Silu (a) => (b) { s = Sigmoid(a) b = Mul(a, s) }""",
        "write domain='com.acme' on the node",
    ),
}
"""By name: the graph in the textual syntax of ONNX, and words that the first finding must have."""

_OLD: Final = {"operator_of_a_later_ir_version": (8, 13), "integer_as_value_before_lists_existed": (6, 11)}
"""The IR version and the operator set of those that are not of today."""

_OWN: Final = {"function_output_renamed", "domain_forgotten", "two_weights_of_torch_in_a_function"}


def slip(name: str) -> ModelProto:
    """Return the model with a slip."""
    model = onnx.parser.parse_model((OWN if name in _OWN else HEAD) + SLIPS[name][0])
    if name in _OLD:
        model.ir_version, model.opset_import[0].version = _OLD[name]
    if name == "operator_of_aten":
        model.graph.node[0].op_type = "aten::relu"  # no name in the textual syntax
    return model

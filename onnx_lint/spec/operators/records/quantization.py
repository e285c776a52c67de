# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized tensors, whose scales and zero points are inputs.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import ACTIVATIONS, ORDERS, OperatorRecord

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "DequantizeBFP": lambda: OperatorRecord(
        element_types=("dtype",),
        values={"dtype": (1, 10, 16)},
        inputs={"x": "?"},
        advised={"shape": "?"},
        computed="contrib_quantization.unpacked",
        reads=("shape",),
    ),
    "DequantizeLinear": lambda: OperatorRecord(computed="quantization.quantize", reads=("x_zero_point",)),
    "DequantizeWithOrder": lambda: OperatorRecord(
        scales="scale_input",
        flags={"to": (1, 10), "order_input": ORDERS, "order_output": ORDERS},
        element_types=("to",),
        inputs={"input": "*all"},
        outputs={"output": "*all"},
    ),
    "DynamicQuantizeLSTM": lambda: OperatorRecord(
        scales="W_scale R_scale",
        attributes={"activations": ACTIVATIONS, "clip": "above 0; not nan", "hidden_size": "at least 1"},
        values={"direction": ("forward", "reverse", "bidirectional")},
        combinations=("SOME hidden_size",),
        where={"directions": {"direction=bidirectional": "2", "else": "1"}},
        inputs={
            "X": "length batch input_width",
            "W": "directions input_width 4*@hidden_size",
            "R": "directions @hidden_size 4*@hidden_size",
            "B": "directions 8*@hidden_size",
            "sequence_lens": "batch",
            "initial_h": "directions batch @hidden_size",
            "initial_c": "directions batch @hidden_size",
            "P": "directions 3*@hidden_size",
            "W_scale": "{directions, directions 4*@hidden_size}",
            "W_zero_point": "{directions, directions 4*@hidden_size}",
            "R_scale": "{directions, directions 4*@hidden_size}",
            "R_zero_point": "{directions, directions 4*@hidden_size}",
        },
        outputs={
            "Y": "length directions batch @hidden_size",
            "Y_h": "directions batch @hidden_size",
            "Y_c": "directions batch @hidden_size",
        },
    ),
    "GatherBlockQuantized": lambda: OperatorRecord(
        block_scales="scales",
        since={"data": "1.23.2", "bits=2": "1.32.0"},
        defaults={"bits": 4, "block_size": 128, "gather_axis": 0, "quantize_axis": 1},
        computed="contrib_quantization.gather_blocks",
        compared=(
            "`data` has at least 2 dimensions, `scales` and `zero_points` as many; `bits` is 4 for int4 and uint4, "
            "and 2, 4 or 8 for uint8, with numbers packed along the last dimension; `block_size` is a power of 2, at "
            "least 16, or 0 for one block if `data` is of float8 or float4; `gather_axis` and `quantize_axis` are axes "
            "of `data`, and two different ones for uint8, whose `gather_axis` is 0; `scales` has one number for each "
            "block along `quantize_axis`, and for each number along other axes; `zero_points` is packed as `data`"
        ),
    ),
    "GatherPacked": lambda: OperatorRecord(
        attributes={"K": "at least 1"},
        inputs={"data": "? ?", "indices": "*places"},
        outputs={"output": "*places @K"},
    ),
    "MulInteger": lambda: OperatorRecord(computed="contrib_quantization.elementwise"),
    "QEmbedLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan"},
        scales="word_embedding_scale position_embedding_scale segment_embedding_scale gamma_scale beta_scale",
        combinations=(
            "TOGETHER in:segment_ids in:segment_embedding in:segment_embedding_scale in:segment_embedding_zero_point",
        ),
        inputs={
            "input_ids": "batch length",
            "segment_ids": "batch length",
            "word_embedding_quant": "? hidden",
            "position_embedding_quant": "? hidden",
            "segment_embedding": "? hidden",
            "gamma_quant": "hidden",
            "beta_quant": "hidden",
            "mask": "batch length",
            "word_embedding_scale": "",
            "position_embedding_scale": "",
            "segment_embedding_scale": "",
            "gamma_scale": "",
            "beta_scale": "",
            "word_embedding_zero_point": "",
            "position_embedding_zero_point": "",
            "segment_embedding_zero_point": "",
            "gamma_zero_point": "",
            "beta_zero_point": "",
        },
        outputs={"layernorm_out": "batch length hidden", "mask_index_out": "batch"},
    ),
    "QGemm": lambda: OperatorRecord(
        scales="a_scale b_scale y_scale",
        cases=("whole or by_column",),
        inputs={
            "a_scale": "",
            "a_zero_point": "",
            "B": {"transB": "columns ?", "else": "? columns"},
            "b_scale": {"whole": "", "by_column": "columns"},
            "b_zero_point": {"whole": "", "by_column": "columns"},
            "y_scale": "",
            "y_zero_point": "",
        },
        computed="contrib_matrices.gemm_of_integers",
    ),
    "QLinearAdd": lambda: OperatorRecord(
        scales="A_scale B_scale C_scale",
        combinations=("SOME in:A_zero_point", "SOME in:B_zero_point"),
        computed="contrib_quantization.elementwise",
    ),
    "QLinearAveragePool": lambda: OperatorRecord(
        scales="x_scale y_scale",
        minima={"pads": 0},
        lengths="kernel_shape strides dilations 2*pads",
        values={"auto_pad": ("", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")},
        combinations=("SOME in:x_zero_point",),
        computed="contrib_images.pool_of_integers",
    ),
    "QLinearConcat": lambda: OperatorRecord(
        scales="Y_scale scale",
        repeated="tensor scale zero_point",
        gapless=True,
        computed="contrib_quantization.concat",
        compared=(
            "the tensors as those of Concat; each tensor and its zero point have the type of `Y_zero_point`; scales "
            "and zero points are one number each, unless both of a tensor are equal to those of the result"
        ),
        reads=("Y_scale", "Y_zero_point", "inputs"),
    ),
    "QLinearConv": lambda: OperatorRecord(
        flags={"channels_last": (0, 1)},
        values={"auto_pad": ("", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")},
        computed="contrib_images.convolution_of_integers",
    ),
    "QLinearGlobalAveragePool": lambda: OperatorRecord(
        scales="x_scale y_scale",
        inputs={"X": "? ? ? *more"},
        computed="contrib_images.global_pool_of_integers",
    ),
    "QLinearLeakyRelu": lambda: OperatorRecord(
        scales="X_scale Y_scale",
        combinations=("SOME in:Y_zero_point",),
        inputs={"X": "*all", "X_scale": "", "X_zero_point": "", "Y_scale": "", "Y_zero_point": ""},
        outputs={"Y": "*all"},
    ),
    "QLinearMul": lambda: OperatorRecord(
        scales="A_scale B_scale C_scale",
        combinations=("SOME in:A_zero_point", "SOME in:B_zero_point"),
        computed="contrib_quantization.elementwise",
    ),
    "QLinearReduceMean": lambda: OperatorRecord(
        scales="data_scale reduced_scale",
        combinations=("SOME in:data_zero_point",),
        computed="contrib_quantization.reduced_integers",
    ),
    "QLinearSigmoid": lambda: OperatorRecord(
        scales="X_scale Y_scale",
        combinations=("SOME in:Y_zero_point",),
        inputs={"X": "*all", "X_scale": "", "X_zero_point": "", "Y_scale": "", "Y_zero_point": ""},
        outputs={"Y": "*all"},
    ),
    "QLinearSoftmax": lambda: OperatorRecord(
        scales="X_scale y_scale",
        reads=("X_scale",),
        advised={"x_zero_point": "", "y_scale": "", "y_zero_point": ""},
        computed="contrib_quantization.softmax_of_integers",
    ),
    "QLinearWhere": lambda: OperatorRecord(
        scales="x_scale y_scale z_scale", computed="contrib_quantization.elementwise"
    ),
    "QOrderedGelu": lambda: OperatorRecord(
        scales="scale_X scale_Y",
        inputs={"X": "*all"},
        advised={"scale_X": "", "scale_Y": ""},
        outputs={"Y": "*all"},
    ),
    "QOrderedLayerNormalization": lambda: OperatorRecord(
        takes_any_attribute=True,
        scales="scale_X scale_Y",
        flags={"order_X": ORDERS, "order_Y": ORDERS},
        defaults={"order_X": 1, "order_Y": 1},
        inputs={"X": "*all"},
        advised={"scale_X": "", "scale": "hidden", "B": "hidden", "scale_Y": "", "order_Y": "same as order_X"},
        outputs={"Y": "*all"},
    ),
    "QOrderedMatMul": lambda: OperatorRecord(
        scales="scale_A scale_B scale_Y scale_C",
        flags={"order_A": ORDERS, "order_B": ORDERS, "order_Y": ORDERS},
        inputs={"A": "*rows inner", "B": "{inner, *batch inner ?}"},
        advised={
            "A": "batch row_count inner",
            "scale_A": "",
            "B": {"order_B=0": "inner columns", "else": "? ?"},
            "scale_B": {"order_B=0": "{, columns}", "else": None},
            "scale_Y": "",
            "bias": {"order_B=0": "columns", "else": "?"},
            "scale_C": "",
            "order_A": "one of 1 if order_B=0; one of 2 if order_B=3; one of 2 if order_B=4",
            "order_Y": "same as order_A",
        },
        computed="contrib_matrices.ordered_product",
    ),
    "QuantizeBFP": lambda: OperatorRecord(outputs={"y": "?", "shape": "?", "strides": "?"}),
    "QuantizeLinear": lambda: OperatorRecord(computed="quantization.quantize"),
    "QuantizeWithOrder": lambda: OperatorRecord(
        scales="scale_input",
        flags={"order_input": ORDERS, "order_output": ORDERS},
        inputs={"input": "*all"},
        outputs={"output": "*all"},
    ),
    "ReduceSumInteger": lambda: OperatorRecord(computed="contrib_quantization.reduced_integers"),
}

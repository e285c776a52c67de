# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, fused with what comes before or after, or with weights in blocks of few bits.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import EVERY_RELEASE, OperatorRecord

_BLOCKS: Final = "ceil(@K/@block_size)"
_BYTES: Final = "ceil(@block_size*@bits/8)"
"""The bytes of a block of weights."""

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "DynamicQuantizeMatMul": lambda: OperatorRecord(
        since={"bias": "1.32.0"},
        scales="b_scale",
        cases=("whole or by_column or by_batch",),
        inputs={
            "A": None,
            "B": {"whole or by_batch": "*batch inner columns", "by_column": "inner columns"},
            "b_scale": "{, columns, ? ? *more}",
            "b_zero_point": {"whole": "", "by_column": "columns", "by_batch": "*batch 1 columns"},
            "bias": None,  # `scaled_product`
        },
        computed="contrib_matrices.scaled_product",
    ),
    "FusedGemm": lambda: OperatorRecord(
        values={
            "activation": (
                "Celu",
                "Elu",
                "HardSigmoid",
                "LeakyRelu",
                "ParametricSoftplus",
                "Relu",
                "ScaledTanh",
                "Selu",
                "Sigmoid",
                "Softplus",
                "Softsign",
                "Tanh",
                "ThresholdedRelu",
            ),
        },
        combinations=("SOME activation",),
        computed="contrib_matrices.gemm",
    ),
    "FusedMatMul": lambda: OperatorRecord(computed="contrib_matrices.transposed_product"),
    "FusedMatMulActivation": lambda: OperatorRecord(computed="contrib_matrices.transposed_product"),
    "GemmFastGelu": lambda: OperatorRecord(computed="contrib_matrices.product"),
    "GemmFloat8": lambda: OperatorRecord(
        scales="scaleA scaleB scaleY",
        values={"dtype": (1, 10, 16, 17, 19)},
        element_types=("dtype",),
        computed="contrib_matrices.gemm_of_float8",
    ),
    "MatMulBlockQuantizedFp4Weight": lambda: OperatorRecord(
        inputs={"A": "*rows inner", "B": "columns inner/2"},
        advised={
            "weight_scale": "columns ?",
            "weight_scale_2": "",
            "input_scale": "",
            "bias": "columns",
        },
        outputs={"Y": "*rows columns"},
    ),
    "MatMulBlockQuantizedFp8Weight": lambda: OperatorRecord(
        inputs={"A": "*rows inner", "B": "columns inner"},
        advised={"b_scale": "columns ?", "a_scale": "", "bias": "columns"},
        outputs={"Y": "*rows columns"},
    ),
    "MatMulBnb4": lambda: OperatorRecord(
        attributes={
            "K": "at least 1",
            "N": "at least 1",
            "quant_type": "one of 0 1",
            "block_size": "power of 2 from 16",
        },
        since={"B": "1.32.0", "absmax": "1.32.0"},
        inputs={"A": {"transB=0": "*rows @N", "else": "*rows @K"}},
        outputs={"Y": {"transB=0": "*rows @K", "else": "*rows @N"}},
        check="contrib_matrices.check_bnb4_blocks",
    ),
    "MatMulFpQ4": lambda: OperatorRecord(
        inputs={"A": None, "B": "?", "B_shape": "2"},
        computed="contrib_matrices.packed_product",
        reads=("B_shape",),
    ),
    "MatMulInteger16": lambda: OperatorRecord(computed="contrib_matrices.product"),
    "MatMulIntegerToFloat": lambda: OperatorRecord(
        since={"bias": "1.32.0"},
        scales="a_scale b_scale",
        cases=("whole or by_column or by_batch",),
        inputs={
            "A": None,
            "B": {"whole or by_batch": "*batch inner columns", "by_column": "inner columns"},
            "a_scale": None,
            "b_scale": "{, columns, ? ? *more}",
            "a_zero_point": "",
            "b_zero_point": {"whole": "", "by_column": "columns", "by_batch": "*batch 1 columns"},
            "bias": None,  # `scaled_product`
        },
        computed="contrib_matrices.scaled_product",
    ),
    "MatMulNBits": lambda: OperatorRecord(
        block_scales="scales",
        attributes={
            "bits": "one of 2 4 8",
            "block_size": "power of 2 from 16",
            "K": "at least 1",
            "N": "at least 1",
        },
        defaults={"bits": 4},
        since={
            "B": "1.23.2",
            "scales": "1.23.2",
            "zero_points": "1.23.2",
            "g_idx": "1.32.0",
            "bits=8": "1.23.2",
            "bits=2": "1.32.0",
        },
        until={"block_size>256 bits=2": EVERY_RELEASE, "bits=8 zero_points~scales": "1.23.2"},
        failing={"bits=8 zero_points~scales elements": "1.23.2"},
        check="contrib_matrices.check_nbits_blocks",
        compared=(
            "`B` is `[@N ceil(@K/@block_size) @block_size*@bits/8]`; `scales` are `[@N ceil(@K/@block_size)]`, or as "
            "many in one dimension; so are `zero_points`, of uint8 packed by `bits` within each of the `@N` rows; if a "
            "dimension of `B` is 0, which leaves the projection out, `scales` and `zero_points` may have any shape"
        ),
        inputs={
            "A": "*rows @K",
            "B": None,  # with the scales and zero points: `check_nbits_blocks`
            "scales": None,
            "zero_points": None,
            "g_idx": f"{{@K, {_BLOCKS}*@block_size}}",
            "bias": "@N",
        },
        contents={"g_idx": f"at least 0; below {_BLOCKS}"},
        outputs={"Y": "*rows @N"},
    ),
    "MatMulNBitsMlp": lambda: OperatorRecord(
        attributes={"K": "at least 1", "N": "at least 1"},
        block_scales="gate_scales up_scales",
        combinations=("NEEDS in:skip in:norm_scale",),
        inputs={
            "A": "*rows @K",
            "norm_scale": "@K",
            "gate_bias": "@N",
            "up_bias": "@N",
        },
        defaults={"bits": 4},
        advised={
            "gate_B": f"@N {_BLOCKS} {_BYTES}",
            "gate_scales": f"{{?, @N {_BLOCKS}}}",
            "up_B": f"@N {_BLOCKS} {_BYTES}",
            "up_scales": f"{{?, @N {_BLOCKS}}}",
        },
        outputs={"Y": "*rows @N", "input_skip_bias_sum": "*rows @K"},
    ),
    "MatMulNBitsQLoRA": lambda: OperatorRecord(
        attributes={
            "K": "at least 1",
            "N": "at least 1",
            "bits": "one of 2 4 8",
            "block_size": "power of 2 from 16",
            "lora_bits": "one of 2 4 8",
            "lora_block_size": "power of 2 from 16",
        },
        defaults={"bits": 4, "block_size": 32, "lora_bits": 8, "lora_block_size": 32},
        inputs={
            "X": "*rows @K",
            # An adapter without rows adds nothing.
            "lora_A": "{rank, 0} ceil(@K/@lora_block_size) ceil(@lora_block_size*@lora_bits/8)",
            "lora_A_scales": "rank ceil(@K/@lora_block_size)",
            "lora_B": "@N {rank_blocks=ceil(rank/@lora_block_size), 0} ceil(@lora_block_size*@lora_bits/8)",
            "lora_B_scales": "@N rank_blocks=ceil(rank/@lora_block_size)",
        },
        advised={"W": f"@N {_BLOCKS} {_BYTES}", "scales": f"{{?, @N {_BLOCKS}}}"},
        outputs={"Y": "*rows @N"},
    ),
    "MatMulNBitsQkv": lambda: OperatorRecord(
        block_scales="q_scales k_scales v_scales",
        inputs={
            "A": "*rows inner",
            "norm_scale": "@K",
            "q_bias": "@Nq",
            "k_bias": "@Nkv",
            "v_bias": "@Nkv",
        },
        defaults={"bits": 4},
        advised={
            "A": "*rows @K",
            "q_B": f"@Nq {_BLOCKS} {_BYTES}",
            "q_scales": f"{{?, @Nq {_BLOCKS}}}",
            "k_B": f"@Nkv {_BLOCKS} {_BYTES}",
            "k_scales": f"{{?, @Nkv {_BLOCKS}}}",
            "v_B": f"@Nkv {_BLOCKS} {_BYTES}",
            "v_scales": f"{{?, @Nkv {_BLOCKS}}}",
        },
        outputs={"Q": "*rows @Nq", "K": "*rows @Nkv", "V": "*rows @Nkv", "input_skip_bias_sum": "*rows inner"},
    ),
    "MatMulPacked": lambda: OperatorRecord(
        attributes={"K": "at least 1", "N": "at least 1"},
        inputs={"A": "*rows ?"},
        advised={"A": "*rows @K", "B": "@N ?", "global_scale": ""},
        outputs={"Y": "*rows @N"},
    ),
    "SparseToDenseMatMul": lambda: OperatorRecord(computed="contrib_matrices.transposed_product"),
    "TransposeMatMul": lambda: OperatorRecord(computed="contrib_matrices.transposed_product"),
}

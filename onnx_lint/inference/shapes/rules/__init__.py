# SPDX-License-Identifier: Apache-2.0
"""The shape rules of operators, in a module for each family. Those of a domain are imported with its first operator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from onnx_lint.inference.shapes.registration import ShapeRule, declared
from onnx_lint.spec.operators import OperatorSchema

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        *("along_axes", "attention", "broadcasting", "constants", "control_flow", "convolution", "einsum", "gathering"),
        *("images", "joining", "losses", "matrices", "normalization", "padding", "pooling", "quantization"),
        *("recurrence", "reduction", "reshaping", "resizing", "scattering", "selection", "sequences", "signals"),
        *("text", "transformers", "unary"),
    ),
    "ai.onnx.ml": ("machine_learning",),
    "ai.onnx.preview": ("transformers",),
    "ai.onnx.preview.training": ("training",),
    "com.microsoft": (
        *("contrib_attention", "contrib_descriptions", "contrib_elements", "contrib_generation", "contrib_images"),
        *("contrib_matrices", "contrib_quantization", "contrib_transformers"),
    ),
}
"""The modules with the rules of each domain."""

_NO_WORD: Final = "its description has no word on shapes"
_PACKED: Final = "the description has several forms of packed inputs, which nothing in the node distinguishes"
_COMPILED: Final = "it represents a graph that was compiled for a device"
_RECENT: Final = "it is new in ONNX Runtime 1.32, which fuses it for generation of text on some devices only"

RUNTIME_WITHOUT_SHAPES: Final[Mapping[str, str]] = {
    "BifurcationDetector": "how many words come out depends on what they are",
    "ComplexMul": _NO_WORD,
    "ComplexMulConj": _NO_WORD,
    "ConvStateReplay": _RECENT,
    "DynamicSparseAttention": _PACKED,
    "EPContext": _COMPILED,
    "GatedDeltaNet": _PACKED,
    "GatedDeltaNetStateReplay": _RECENT,
    "HyperConnectionLowRankMix": _RECENT,
    "HyperConnectionPreMix": _PACKED,
    "LinearAttention": _PACKED,
    "Mamba2Verify": _RECENT,
    "MatMulNBitsQLoRA": _RECENT,
    "MatMulPacked": _RECENT,
    "MoEGroupRouter": _RECENT,
    "MoEPacked": _RECENT,
    "PackedSparseAttentionIndexer": _PACKED,
    "PackedSparseAttentionIndexerMerge": _RECENT,
    "RMSNormRotary": _RECENT,
    "RouterGateUpProj": _RECENT,
    "SampleOp": "an example for authors of operators",
    "Snpe": _COMPILED,
    "SparseAttentionIndexer": _PACKED,
    "SparsePagedAttention": _PACKED,
    "SpeculativePrefixCommit": _RECENT,
    "VarlenNGramHashMapping": _PACKED,
    "WordConvEmbedding": _NO_WORD,
}
"""The operators of com.microsoft whose output shapes are not inferred, and why.

Those of com.microsoft.nchwc are not inferred either: ONNX Runtime writes them into its own optimized models, does not
document their shapes, and keeps channels in blocks between them.
"""

WITHOUT_SHAPES: Final[Mapping[str, str]] = {
    "ai.onnx.ml::CastMap": "of one dimension by its description, and ONNX Runtime puts another one in front",
    "ai.onnx.ml::DictVectorizer": "of one dimension by its description, and ONNX Runtime puts another one in front",
}
"""The operators whose output shapes are not documented, and why."""


@cache
def _import_families(domain: str) -> None:
    for module in FAMILIES[domain]:
        import_module(f"{__name__}.{module}")


def shape_rule(schema: OperatorSchema) -> ShapeRule | None:
    """Return the rule for an operator as of a version; None if there is none."""
    if schema.domain not in FAMILIES:
        return None
    _import_families(schema.domain)
    name = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
    found = None
    for since, rule in declared.get(name, ()):
        if since <= schema.since_version:
            found = rule
    return found

# SPDX-License-Identifier: Apache-2.0
"""The shape rules of operators, in a module for each family.

A module is imported when a model has one of its operators (docs/performance.md: shape-families).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from onnx_lint.common import package_data
from onnx_lint.inference.shapes.registration import ShapeRule, declared, name_of
from onnx_lint.spec.operators import OperatorSchema

_RUNTIME_DOMAIN: Final = "com.microsoft"

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
def families() -> Mapping[str, str]:
    """Return the module with the rule of each operator, by `name_of`. `python -m tools.shape_families` writes it."""
    found: Mapping[str, str] = json.loads(package_data.read(__name__, "families.json"))
    return found


def has_shape_rule(schema: OperatorSchema) -> bool:
    """Return whether the shapes of an operator's outputs are inferred."""
    return name_of(schema.domain, schema.name) in families()


def shape_rule(schema: OperatorSchema) -> ShapeRule | None:
    """Return the rule for an operator as of a version; None if there is none.

    Raises KeyError if the module that the file lists for the operator has no rule for it.
    """
    name = name_of(schema.domain, schema.name)
    module = families().get(name)
    if module is not None and name not in declared:
        import_module(f"{__name__}.{module}")
    found = None
    for since, rule in declared[name] if module is not None else ():
        if since <= schema.since_version:
            found = rule
    if schema.domain == _RUNTIME_DOMAIN:
        from onnx_lint.inference.shapes.rules.contrib_requirements import required

        return required(schema.name, found)
    return found

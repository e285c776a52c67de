# SPDX-License-Identifier: Apache-2.0
"""Facts about ONNX Runtime and OpenVINO that their lists of operators do not show, such as refused values.

They were tried with ONNX Runtime 1.17.3, 1.18.1, 1.20.1, 1.23.2 and 1.32.0, or OpenVINO 2023.3.0, 2024.6.0, 2025.4.0
and 2026.4.1. A row that is not true of all of them has its first or last release.
`tests/oracles/test_refusals.py` asks the installed release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.products import ProductRelease, version_number

ONNXRUNTIME_WITHOUT_KERNEL: Final = frozenset({"Constant"})
"""The operators that no release of ONNX Runtime has a kernel for: it turns a Constant into an initializer."""


def _from_version(first: int) -> range:
    """Return the versions of an operator from one on: all that an import can name."""
    return range(first, 2**63)


class OnnxRuntimeSignature(Record):
    """An operator that ONNX Runtime defines in the default domain. It accepts attributes that it does not know."""

    until: int | None
    """The last operator set version in which ONNX has no operator of this name; None if it never has one."""
    inputs: range
    """The numbers of inputs that it may have."""
    outputs: range
    """The numbers of outputs that it may have."""
    attributes: Mapping[str, str]
    """The type of each attribute, by name."""
    types: frozenset[str]
    """The types that an input may have, such as `tensor(float)`."""


_NORMALIZATION: Final = {"axis": "INT", "epsilon": "FLOAT", "stash_type": "INT"}
_FLOATS: Final = frozenset({"tensor(float16)", "tensor(float)", "tensor(double)"})
_ALL_FLOATS: Final = _FLOATS | {"tensor(bfloat16)"}

ONNXRUNTIME_SIGNATURES: Final[Mapping[str, OnnxRuntimeSignature]] = {
    "LayerNormalization": OnnxRuntimeSignature(
        until=16, inputs=range(2, 4), outputs=range(1, 4), attributes=_NORMALIZATION, types=_ALL_FLOATS
    ),
    "MeanVarianceNormalization": OnnxRuntimeSignature(
        until=8,
        inputs=range(1, 2),
        outputs=range(1, 2),
        attributes={"across_channels": "INT", "normalize_variance": "INT"},
        types=_FLOATS,
    ),
    "SimplifiedLayerNormalization": OnnxRuntimeSignature(
        until=None, inputs=range(2, 3), outputs=range(1, 3), attributes=_NORMALIZATION, types=_ALL_FLOATS
    ),
}
"""The operators that ONNX Runtime defines itself in the default domain, by name."""

LOADED_WITH_FLOAT: Final = frozenset({"LayerNormalization", "SimplifiedLayerNormalization"})
"""Those whose nodes every known release loads if all operands are float and the node fits the signature."""


class RefusedValue(Record):
    """Values of an attribute that each known release of some products refuses."""

    versions: range
    """The versions of the operator, those of the operator set that the definition came with."""
    values: tuple[int | str, ...]
    """The values that they refuse."""
    products: tuple[str, ...]
    """The products whose releases refuse it."""


_BATCH_FIRST: Final = RefusedValue(_from_version(14), (1,), ("onnxruntime",))
_RUNTIMES: Final = ("onnxruntime", "openvino")
_OLD_MODES: Final = ("bilinear", "trilinear")

REFUSED_VALUES: Final[Mapping[tuple[str, str], RefusedValue]] = {
    ("GRU", "layout"): _BATCH_FIRST,
    ("LSTM", "layout"): _BATCH_FIRST,
    ("RNN", "layout"): _BATCH_FIRST,
    ("Resize", "mode"): RefusedValue(range(10, 11), _OLD_MODES, _RUNTIMES),
    ("Upsample", "mode"): RefusedValue(range(7, 10), _OLD_MODES, _RUNTIMES),
}
"""The refused values of an attribute, by operator and attribute."""


class RefusedForm(Record):
    """A value of an attribute with which ONNX Runtime refuses a node of the default domain for some types.

    It has no kernel for the types, and with this value the function of the operator needs another operator that has no
    kernel for them, or the kernel refuses the value.
    """

    attribute: str
    value: str
    types: frozenset[str]
    """The types of output 0 for which it is refused, such as `tensor(float)`."""
    versions: range = _from_version(1)
    """The versions of the operator, as in `RefusedValue`."""


def _all_but(prefix: str) -> frozenset[str]:
    """Return the types of tensors but for those of element types whose name begins so."""
    names = (each.name for each in ELEMENT_TYPES.values())
    return frozenset(f"tensor({name})" for name in names if not name.startswith(prefix))


_QUANTIZED: Final = frozenset(f"tensor({name})" for name in ("int4", "int8", "uint4", "uint8", "float8e4m3fn"))
_SATURATED: Final = RefusedForm("saturate", "0", _all_but("float8"))

REFUSED_FORMS: Final[Mapping[str, tuple[RefusedForm, ...]]] = {
    "Attention": (
        RefusedForm("softmax_precision", "16", frozenset({"tensor(double)"}), versions=range(23, 25)),
        RefusedForm("softmax_precision", "16", _FLOATS, versions=_from_version(25)),
    ),
    "Cast": (
        _SATURATED,
        RefusedForm("round_mode", "down", _all_but("float8e8m0")),
        RefusedForm("round_mode", "nearest", _all_but("float8e8m0")),
    ),
    "CastLike": (_SATURATED,),
    "Gelu": (RefusedForm("approximate", "none", frozenset({"tensor(double)"})),),
    "QuantizeLinear": (RefusedForm("precision", "11", _QUANTIZED), RefusedForm("precision", "16", _QUANTIZED)),
}
"""The refused values for some types, by operator. `python -m tools.compile_targets` asks with all values of attributes,
and lists the types that are refused with each of them; these are the others."""

LINEAR_ATTENTION: Final = "LinearAttention"
FORBIDDEN_GATES: Final[Mapping[str, tuple[int, ...]]] = {"linear": (4, 5), "gated": (5,), "delta": (4,)}
"""The inputs of LinearAttention, decay and beta, that the inference of shapes of onnx refuses, by update rule.

ONNX Runtime and `onnx.full_check` use that inference. The text of the operator allows these inputs.
"""

ONNXRUNTIME_NEEDED_ATTRIBUTES: Final[Mapping[tuple[str, str], str]] = {
    ("", "RegexFullMatch"): "pattern",
    ("", "Reshape"): "shape",
    ("ai.onnx.ml", "Scaler"): "scale",
    ("ai.onnx.ml", "TreeEnsembleRegressor"): "n_targets",
    ("com.microsoft.nchwc", "ReorderOutput"): "channels",
    ("com.microsoft.nchwc", "Upsample"): "scales",
}
"""The attribute that kernels of ONNX Runtime need though the signature makes it optional, by domain and operator.

Versions of the operator without the attribute need none.
"""

RESIZE_NEGATIVE_AXES_UNTIL: Final = (1, 23)
"""The last known release of ONNX Runtime whose Resize refuses negative axes, if the scales are constant."""


class ReadInputs(Record):
    """Inputs of an operator whose elements ONNX Runtime reads while it loads a model, to infer shapes."""

    since: int
    """The first version of the operator that has them."""
    inputs: tuple[int, ...]
    needs_rank: bool = True
    """True if they are read only if the rank of input 0 is known."""
    needs_all: bool = False
    """True if they are read only if all of them that the node has are constant."""
    from_release: tuple[int, int] = (0, 0)
    """The first known release of ONNX Runtime that reads them."""


_AXES: Final = ReadInputs(18, (1,))

READ_INPUTS: Final[Mapping[str, tuple[ReadInputs, ...]]] = {
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), (ReadInputs(17, (0,), needs_rank=False),)),
    "CenterCropPad": (ReadInputs(18, (1,)),),
    "ConstantOfShape": (ReadInputs(9, (0,), needs_rank=False),),
    "DFT": (ReadInputs(17, (1,)),),
    "Expand": (ReadInputs(8, (1,)),),
    "OneHot": (ReadInputs(9, (1,), needs_rank=False, from_release=(1, 23)),),
    "Pad": (ReadInputs(11, (1, 3)),),
    "Range": (ReadInputs(11, (0, 1, 2), needs_rank=False, needs_all=True),),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"), (_AXES,)),
    **dict.fromkeys(("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"), (_AXES,)),
    "ReduceSum": (ReadInputs(13, (1,)),),
    "Reshape": (ReadInputs(5, (1,), needs_rank=False),),
    "Resize": (ReadInputs(11, (2, 3)), ReadInputs(10, (1,))),
    "Slice": (ReadInputs(10, (1, 2, 3, 4), needs_all=True),),
    "Split": (ReadInputs(13, (1,)),),
    "Squeeze": (ReadInputs(13, (1,)),),
    "Tile": (ReadInputs(6, (1,)),),
    "TopK": (ReadInputs(10, (1,)),),
    "Unsqueeze": (ReadInputs(13, (1,)),),
    "Upsample": (ReadInputs(9, (1,)),),
}
"""The inputs that ONNX Runtime reads while it loads a model, by operator; the newest version first.

It refuses the model if such an input is in an external data file.

Its optimizer removes Identity, and Cast to the same type, and replaces a call by the body of the function. So a tensor
in a data file is also refused if it reaches the input through these.

`onnx.shape_inference` and `onnx.full_check` refuse such inputs as well.
"""

_DOMAINS_WITHOUT_KERNELS: Final[Mapping[str, int]] = {"com.microsoft.experimental": 1, "org.pytorch.aten": 1}
"""The domains that every release of ONNX Runtime registers although it has no kernel for inference in them.

Each has its newest version.
"""
_AS_DEFAULT: Final = "com.ms.internal.nhwc"
"""The domain that each release of ONNX Runtime registers with the versions of the default domain."""
_PREVIEW: Final = "ai.onnx.preview"
"""The domain of the preview operators of ONNX."""
_PREVIEW_SINCE: Final = (1, 32)
"""The first known release that registers this domain, in version 1; earlier ones load an import of any version."""

FIRST_TRUNCATED_VERSION: Final = 2**31
"""The first version of an import that ONNX Runtime takes for another one, since it reads only some of its bits."""


def newest_registered(release: ProductRelease) -> dict[str, int]:
    """Return the newest version of each domain that a release of ONNX Runtime registers; it refuses later ones."""
    newest = {**_DOMAINS_WITHOUT_KERNELS, _AS_DEFAULT: release.opsets[""], **release.opsets}
    if version_number(release.version) >= _PREVIEW_SINCE:
        newest.setdefault(_PREVIEW, 1)
    return newest


OPENVINO_DOMAINS: Final = frozenset(
    {"", "ai.onnx.ml", "com.microsoft", "mmdeploy", "org.openvinotoolkit", "org.pytorch.aten"}
)
"""The domains in which OpenVINO has operators. There, it treats the call of a function as one of these operators."""

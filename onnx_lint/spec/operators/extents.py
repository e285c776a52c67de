# SPDX-License-Identifier: Apache-2.0
"""The numbers that operators state in attributes: their valid ranges, and what they require of the operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from onnx_lint.common.record import Record


class ExpectedCount(Record):
    """The required number of elements of a list in an attribute, and the attribute that states it."""

    attribute: str
    type_name: str
    noun: str
    count: int
    source: str
    said: str
    """What `source` has or says, in words."""
    why: str = ""
    """What the elements are for, in words."""
    is_multiple: bool = False
    """Whether any positive multiple of `count` is valid as well."""
    may_be_empty: bool = False
    or_more: bool = False
    """Whether more elements are valid as well."""


class Extents(Record):
    """The valid numbers in the attributes of an operator, and the properties of inputs that follow from them."""

    positive: tuple[str, ...] = ()
    """Attributes that hold a positive number."""
    spatial: tuple[str, ...] = ()
    """Attributes with a positive number for each dimension of input 0 except batch and channels."""
    outputs: str | None = None
    """The attribute that states the number of outputs."""
    weights: int | None = None
    """The input that must have the same rank as input 0."""
    sizes: tuple[str, ...] = ()
    """The attributes that determine the number of bytes of input 1, for `packed_bytes`."""
    lengths: tuple[str, str] | None = None
    """The attributes that state the lengths of other lists, for `expected_counts`: a list, or else a number."""


def packed_bytes(rows: int, columns: int, bits: int, block: int) -> int:
    """Return the bytes of a matrix whose rows are split into blocks of `block` numbers of `bits` bits each."""
    return rows * -(-columns // block) * (block * bits // 8)


def expected_counts(source: str, numbers: Sequence[int]) -> Iterator[ExpectedCount]:
    """Yield the list lengths that a support vector machine states; `numbers`: the vectors of each class, or of all."""
    number = sum(numbers)
    said = f"says that there are {number} support vectors"
    yield ExpectedCount("support_vectors", "FLOATS", "number", number, source, said, is_multiple=True)
    of_classes = source == "vectors_per_class"
    # A vector has a coefficient for each pair of its class with another one; a regressor has no classes.
    pairs = max(len(numbers) - 1, 1) if of_classes else 1
    yield ExpectedCount("coefficients", "FLOATS", "number", number * pairs, source, said)
    if of_classes:
        said = f"has {len(numbers)} classes"
        for name, type_name in (("classlabels_ints", "INTS"), ("classlabels_strings", "STRINGS")):
            yield ExpectedCount(
                name, type_name, "label", len(numbers), source, said, "one for each class", may_be_empty=True
            )
        # A machine for each pair of classes. ONNX Runtime accepts additional numbers.
        machines = len(numbers) * (len(numbers) - 1) // 2
        for name in ("rho", "prob_a") if machines else ():
            yield ExpectedCount(
                name, "FLOATS", "number", machines, source, said, "one for each pair", may_be_empty=True, or_more=True
            )


_MACHINE: Final = Extents(lengths=("vectors_per_class", "n_supports"))
_RECURRENT: Final = Extents(positive=("hidden_size",))


def _window(weights: int | None) -> Extents:
    """Return the extents of an operator that moves a window over input 0; `weights`: the input with the weights."""
    return Extents(positive=("group",), spatial=("kernel_shape", "strides", "dilations"), weights=weights)


_POOL: Final = Extents(spatial=("kernel_shape", "strides", "dilations"))

OPERATOR_EXTENTS: Final[Mapping[tuple[str, str], Extents]] = MappingProxyType(
    {
        ("", "DeformConv"): _window(1),
        **{("", name): _window(None) for name in ("Conv", "ConvInteger", "ConvTranspose", "QLinearConv")},
        **{("", name): _window(None) for name in ("AveragePool", "LpPool", "MaxPool", "MaxUnpool")},
        ("", "Split"): Extents(outputs="num_outputs"),
        **{("", name): _RECURRENT for name in ("GRU", "LSTM", "RNN")},
        **{("com.microsoft", name): _POOL for name in ("MaxpoolWithMask", "NhwcMaxPool", "QLinearAveragePool")},
        ("com.microsoft", "MatMulNBits"): Extents(sizes=("N", "K", "bits", "block_size")),
        **{("ai.onnx.ml", name): _MACHINE for name in ("SVMClassifier", "SVMRegressor")},
    }
)
"""The extents by domain and name of the operator."""

WITH_EXTENTS: Final = frozenset([name for _, name in OPERATOR_EXTENTS])
"""The names of these operators, in any domain."""

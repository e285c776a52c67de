# SPDX-License-Identifier: Apache-2.0
"""The extents that operators state in attributes: which numbers make sense, and what they say of the operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from onnx_lint.common.record import Record


class Count(Record):
    """How many elements a list in an attribute has, and which attribute says so."""

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
    """Whether any multiple of `count` but none is right as well."""
    may_be_empty: bool = False


class Extents(Record):
    """What the numbers in the attributes of an operator have to be, and its inputs accordingly."""

    positive: tuple[str, ...] = ()
    """Attributes that hold a number above zero."""
    spatial: tuple[str, ...] = ()
    """Attributes with such a number for each dimension of input 0 but the first two, which are batch and channels."""
    outputs: str | None = None
    """The attribute that says how many outputs the node has."""
    weights: int | None = None
    """The input that has as many dimensions as input 0."""
    sizes: tuple[str, ...] = ()
    """The attributes that say how many bytes input 1 has, for `packed_bytes`."""
    lengths: tuple[str, str] | None = None
    """The attributes that say how long lists in others are, for `counts`: a list, or where there is none a number."""


def packed_bytes(rows: int, columns: int, bits: int, block: int) -> int:
    """How many bytes a matrix takes whose rows are cut into blocks of so many numbers of a few bits each."""
    return rows * -(-columns // block) * (block * bits // 8)


def counts(source: str, numbers: Sequence[int]) -> Iterator[Count]:
    """The lengths of lists that support vector machines state: `numbers` are the vectors of each class, or of all."""
    number = sum(numbers)
    said = f"says that there are {number} support vectors"
    yield Count("support_vectors", "FLOATS", "number", number, source, said, is_multiple=True)
    of_classes = source == "vectors_per_class"
    # A vector has a coefficient for each pair of its class and another one; a regressor has no classes.
    pairs = max(len(numbers) - 1, 1) if of_classes else 1
    yield Count("coefficients", "FLOATS", "number", number * pairs, source, said)
    if of_classes:
        said = f"has {len(numbers)} classes"
        for name, type_name in (("classlabels_ints", "INTS"), ("classlabels_strings", "STRINGS")):
            yield Count(name, type_name, "label", len(numbers), source, said, "one for each class", may_be_empty=True)


_MACHINE: Final = Extents(lengths=("vectors_per_class", "n_supports"))
_RECURRENT: Final = Extents(positive=("hidden_size",))


def _window(weights: int | None) -> Extents:
    """An operator that moves a window over input 0; `weights`: the input that holds the weights, if one does."""
    return Extents(positive=("group",), spatial=("kernel_shape", "strides", "dilations"), weights=weights)


EXTENTS: Final[Mapping[tuple[str, str], Extents]] = MappingProxyType(
    {
        ("", "DeformConv"): _window(1),
        **{("", name): _window(None) for name in ("Conv", "ConvInteger", "ConvTranspose", "QLinearConv")},
        **{("", name): _window(None) for name in ("AveragePool", "LpPool", "MaxPool", "MaxUnpool")},
        ("", "Split"): Extents(outputs="num_outputs"),
        **{("", name): _RECURRENT for name in ("GRU", "LSTM", "RNN")},
        ("com.microsoft", "MatMulNBits"): Extents(sizes=("N", "K", "bits", "block_size")),
        **{("ai.onnx.ml", name): _MACHINE for name in ("SVMClassifier", "SVMRegressor")},
    }
)
"""By domain and name of the operator."""

WITH_EXTENTS: Final = frozenset([name for _, name in EXTENTS])
"""The names of these operators, whatever their domain."""

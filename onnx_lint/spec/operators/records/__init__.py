# SPDX-License-Identifier: Apache-2.0
"""The shapes and values that operators of ONNX Runtime (com.microsoft) accept, in one record each.

A record has the operands in the order of the documentation, so that the two can be read side by side. The language of
its texts is in `grammar`:

    "query": "batch length width"                        the dimensions
    "x": {"flat": "tokens hidden", "else": "-"}          by case or condition
    "num_heads": "at least 1; multiple of kv_num_heads"  requirements

Python, not TOML: a record is loaded with its family, as bytecode; ruff and mypy read it; and there is no step between
the file and its use. A lambda keeps a record from being made for a model that does not have the operator.
`onnx_lint.inference.shapes.recorded` compares nodes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from onnx_lint.common import package_data
from onnx_lint.common.cached import remembered
from onnx_lint.common.record import EMPTY, Record

EVERY_RELEASE: Final = ""
"""In `until` and `failing`, in place of a release: every known release."""

OperandForm = str | None | Mapping[str, Any]
"""The dimensions of an operand, or an operand for each case or condition."""


ListedValues = tuple[str, ...] | tuple[int, ...]
"""The values of an attribute of type STRING or INT."""


class GraphForm(Record):
    """What ONNX Runtime requires of a graph in an attribute, which a node runs once for each word.

    Inputs and outputs are read in their order. "T 2 ? + ? +" is a type and dimensions: T is float or float16, the same
    for all T of the graph; F is either of the two, and "any" every type; "?" is any dimension, "+" a size that the
    graph declares.

    A number of inputs or outputs is a text for each condition; the first that is true counts. A condition is words: an
    input or an operator that the graph has, or "@" and an attribute of the node, other than 0. In "named+4n", "named"
    is how many of `inputs` the graph has, "outputs" how many outputs, and 4n four for each layer. Several are choices.
    """

    inputs: Mapping[str, str]
    """The first inputs. One with "?" before its name may be left out."""
    input_counts: Mapping[str, str]
    outputs: Mapping[str, str]
    """The first outputs. "*" is the next one, whatever its name."""
    output_counts: Mapping[str, str]
    states: str = "any"
    """The type of the inputs of the layers."""
    others: str = "any"
    """The type of all other outputs."""
    since: Mapping[str, str] = EMPTY
    """Inputs that ONNX Runtime takes only from a release on; "" is the whole form."""


class OperatorRecord(Record):
    """An operator, read from top to bottom beside its documentation."""

    inputs: Mapping[str, OperandForm] = EMPTY
    """The inputs up to the last one with a known form."""
    outputs: Mapping[str, OperandForm] = EMPTY
    attributes: Mapping[str, str] = EMPTY
    """Requirements of ONNX Runtime on attributes."""
    defaults: Mapping[str, Any] = EMPTY
    """Defaults of attributes that the signature does not have."""
    sizes: Mapping[str, str] = EMPTY
    """Requirements of ONNX Runtime on dimensions, by their names."""
    contents: Mapping[str, str] = EMPTY
    """Requirements of ONNX Runtime on each number in inputs that are constant."""
    cases: tuple[str, ...] = ()
    """The choices of forms of the operands: "flat or batched"."""
    where: Mapping[str, OperandForm] = EMPTY
    """Names that stand for dimensions in the operands."""
    values: Mapping[str, ListedValues] = EMPTY
    """The values of attributes: ONNX Runtime makes no session with others."""
    flags: Mapping[str, ListedValues] = EMPTY
    """The values of attributes that the description lists: with others, the kernels decide."""
    element_types: tuple[str, ...] = ()
    """Attributes that hold an element type."""
    minima: Mapping[str, int] = EMPTY
    """The least number in lists, whatever the operands are."""
    lengths: str = ""
    """Lists of equal length; `2*` marks one that is twice as long."""
    lists: Mapping[str, int] = EMPTY
    """The number of elements of lists."""
    takes_any_attribute: bool = False
    """True if ONNX Runtime takes further attributes. Those of EPContext belong to whoever wrote the node."""
    patterns: tuple[str, ...] = ()
    """Attributes with regular expressions, in the syntax of RE2. ONNX Runtime reads the first one with a value."""
    scales: str = ""
    """The inputs that are scales of quantized numbers, which must be positive and finite."""
    block_scales: str = ""
    """Those of blocks, which may be negative or 0, since quantizers write such."""
    combinations: tuple[str, ...] = ()
    """Operands that are required together or instead of each other: kind and sides (`combinations`). With ADVISED in
    front, only the documentation requires them.
    """
    repeated: str = ""
    """The parts of each group of values of the variadic input: a scale and a zero point follow each tensor."""
    gapless: bool = False
    """True if each run fails or ends the process without one of the values of the variadic input."""
    advised: Mapping[str, OperandForm] = EMPTY
    """Requirements on inputs and attributes that only the documentation has: ONNX Runtime does not check them."""
    check: str = ""
    """The function for checks that no equation can state: its module in `onnx_lint.inference.shapes.rules`, a dot, and
    its name.
    """
    computed: str = ""
    """A function that also returns the shapes of the outputs."""
    compared: str = ""
    """The checks of either function, in words, for `explain`."""
    graphs: Mapping[str, Mapping[str, tuple[GraphForm, ...]]] = EMPTY
    """The graphs in attributes, for each value of `model_type`. Of several forms, the number of inputs says which."""
    reads: tuple[str, ...] = ()
    """The inputs whose content such a function or a requirement of a dimension (#name) reads."""
    since: Mapping[str, str] = EMPTY
    """Inputs that ONNX Runtime compares only from a release on: the known releases before it run any shape. And values
    (bits=8) that only releases from there on have, perhaps of nodes with so many outputs (outputs=2).
    """
    until: Mapping[str, str] = EMPTY
    """Values, as conditions, with which ONNX Runtime makes no session for CPUs after a release, or in
    EVERY_RELEASE.
    """
    failing: Mapping[str, str] = EMPTY
    """Inputs and values, as conditions, with which each run on CPUs fails, up to a release, or in
    EVERY_RELEASE. `mask_index=4` is an input of 4 dimensions. `elements`: a run may succeed if input 0 has no elements.
    `items`: the same, but not for want of a batch.
    """
    unknown: str = ""
    """Why the shapes of the outputs are not inferred."""


NO_WORD: Final = "its description has no word on shapes"
MOST: Final = 2**31 - 1
"""The largest number that ONNX Runtime keeps in 32 bits."""
ACTIVATIONS: Final = (
    "word of Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid Softplus Softsign Tanh ThresholdedRelu; "
    "as many as 6 if direction=bidirectional; as many as 3 if !direction=bidirectional"
)
"""The functions of an LSTM: three for each direction."""
ORDERS: Final = (0, 1, 2, 3, 4)
"""The orders of the numbers of a matrix: columns, rows, and three of tiles."""
COMPILED: Final = "it represents a graph that was compiled for a device"


_MOST: Final = 1_000
"""The most operators whose record, or that they have none, is kept."""


@cache
def families() -> Mapping[str, str]:
    """Return the module with the record of each operator. `python -m tools.shape_families` writes it."""
    found: Mapping[str, str] = package_data.read_json(__name__, "families.json")
    return found


@remembered(_MOST)
def record_of(operator: str) -> OperatorRecord | None:
    """Return the record of an operator of com.microsoft; None if it has none."""
    family = families().get(operator)
    if family is None:
        return None
    found: OperatorRecord = import_module(f"{__name__}.{family}").RECORDS[operator]()
    return found

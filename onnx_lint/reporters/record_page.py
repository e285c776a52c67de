# SPDX-License-Identifier: Apache-2.0
"""The list of what ONNX Runtime requires of an operator, on the page that `explain` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from onnx_lint.spec.operators.records import GraphForm, OperatorRecord

LEGEND: Final = (
    "Dimensions have names: equal names are equal sizes in all operands. `@k` is the number in attribute `k`, `?` any "
    "size, `*rows` any number of dimensions, `{a, b}` either of the two; `-` is an operand that the node must leave "
    "out, and `!` one that it must have. `*all` is any shape. A condition is an operand or an attribute other than 0 "
    "(`past`), one that the node lacks (`!past`), a value (`mode=fast`), or the same type as another input (`a~b`)."
)
"""The sentences before the list, which explain how its lines are written."""

_TEXTS: Final = (
    ("attributes", "attribute `{}`: {}"),
    ("sizes", "dimension `{}`: {}"),
    ("contents", "each number in input `{}`, if it is a constant: {}"),
    ("flags", "attribute `{}`: one of {}; kernels decide what another value does"),
    ("minima", "attribute `{}`: each number at least {}"),
    ("lists", "attribute `{}`: {} elements"),
    ("defaults", "attribute `{}`: ONNX Runtime takes {} if it is left out"),
)
"""The fields of a record that have a text or number for each name, and the format of their lines."""


def record_lines(record: OperatorRecord) -> Iterator[str]:
    """Yield what a record requires, one line for each requirement."""
    for choice in record.cases:
        yield f"the operands are all of one kind: {choice}"
    for name, form in record.where.items():
        yield f"`{name}` stands for {_form(form)}"
    for field, forms in (("input", record.inputs), ("output", record.outputs)):
        for name, form in forms.items():
            if form is not None:
                yield f"{field} `{name}`: {_form(form)}"
    for field, line in _TEXTS:
        texts: Mapping[str, Any] = getattr(record, field)
        yield from (line.format(name, text) for name, text in texts.items())
    yield from _lists(record)
    for kind, graphs in record.graphs.items():
        for name, forms_of_graph in graphs.items():
            for each in forms_of_graph:
                yield f"graph `{name}` if model_type={kind}: {_graph(each)}"
    for name, form in record.advised.items():
        yield f"only the documentation requires of `{name}`: {_form(form)}"
    yield from _releases(record)
    if record.computed:
        yield "what no line says, such as windows and masks, is compared by code"


def _lists(record: OperatorRecord) -> Iterator[str]:
    if record.lengths:
        yield f"lists of equal length (`2*`: twice as long): {record.lengths}"
    if record.scales:
        yield f"scales, which must be positive and finite: {record.scales}"
    if record.block_scales:
        yield f"scales of blocks, which must be finite: {record.block_scales}"
    if record.element_types:
        yield f"attributes that hold an element type: {' '.join(record.element_types)}"
    if record.gapless:
        yield "each value of the variadic input is needed"


def _releases(record: OperatorRecord) -> Iterator[str]:
    for what, release in record.since.items():
        yield f"only from ONNX Runtime {release} on: {what if '=' in what else f'the shape of `{what}` is compared'}"
    for what, release in record.until.items():
        when = f"up to ONNX Runtime {release} only" if release else "in no release"
        yield f"a kernel for CPUs {when}: {what}"


def _form(form: object) -> str:
    """Return the dimensions of an operand, or the requirement of an attribute, for each case or condition."""
    if isinstance(form, Mapping):
        return "; ".join([f"{_form(each)} {_condition(words)}" for words, each in form.items()])
    if form is None:
        return "any shape"
    text = str(form)
    return text if " needs " in text or text.startswith(_REQUIREMENTS) else f"`[{text}]`"


_REQUIREMENTS: Final = (
    "above ",
    "as many ",
    "at ",
    "below ",
    "multiple ",
    "not ",
    "one of ",
    "same as ",
    "with ",
    "word ",
)
"""How a requirement of an attribute begins. `OperatorRecord.advised` has these beside dimensions of inputs."""


def _condition(words: str) -> str:
    return "otherwise" if words == "else" else f"if {words}"


def _graph(form: GraphForm) -> str:
    inputs = ", ".join([f"`{name}` {text}" for name, text in form.inputs.items()])
    outputs = ", ".join([f"`{name}` {text}" for name, text in form.outputs.items()])
    counts = "; ".join([f"{count} {_condition(words)}" for words, count in form.input_counts.items()])
    returned = "; ".join([f"{count} {_condition(words)}" for words, count in form.output_counts.items()])
    return (
        f"inputs {inputs} (in all {counts}), outputs {outputs} (in all {returned}); T is float or float16, F either, "
        "n the number of layers, ? in front of a name an input that may be missing, + a known size"
    )

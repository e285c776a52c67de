# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.inference.types.type_string import tensor_element
from onnx_lint.model import Graph, Model
from onnx_lint.rule import Finding, elements_of, rule
from onnx_lint.wording import describe_shape, quote, quote_some

Values = Mapping[str, Mapping[str, Any]]


@rule(
    clause="POL-7",
    since="0.2.0",
    kinds={"inputs": "inputs or outputs", "outputs": "inputs or outputs", "only_listed": "sides"},
)
def unexpected_interface(
    model: Model,
    *,
    inputs: Mapping[str, Mapping[str, Any]] = {},
    outputs: Mapping[str, Mapping[str, Any]] = {},
    only_listed: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """The model lacks an input or output that the policy requires, or declares another type or shape of it.

    ### How to fix

    Export the model with these names, types and shapes.

    - PyTorch: `torch.onnx.export(..., input_names=["image"], dynamic_shapes=[{0: "batch"}])`.

    ### Example

    ```
    # option: unexpected-interface.inputs = { image = { type = "float", shape = ["batch", 3] } }
    input { name: "image" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 3 } } } } }
    ```

    Corrected:

    ```
    # option: unexpected-interface.inputs = { image = { type = "float", shape = ["batch", 3] } }
    input { name: "image" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { dim_value: 3 } } } } }
    ```

    ### Why it matters

    Your configuration describes how programs call the models. A model with another interface fails in each of them.

    ### Details

    - For each name in the options `inputs` and `outputs`, the main graph must have an input or output of that name,
      with the `type` and the `shape` if they are given.
    - The tables `policy.inputs` and `policy.outputs` of the configuration set the options.
    - A type is the element type of a tensor, for example `float`, or another type as messages have it:
      `seq(tensor(float))`, `optional(tensor(float))`, `map(int64, float)`, `sparse_tensor(float)`.
    - In a shape, a number is a size, `*` is any dimension, and `...` is any number of dimensions.
    - In a shape, a name is a variable of any name: the same name means the same variable, in all inputs and outputs.
    - A name with `*`, which matches any characters, is a pattern for the values that have no entry of their own. It
      may match none, and each matching value has its own variables: `"*" = { shape = ["batch", "..."] }` requires a
      variable as the first dimension of every input.
    - Patterns do not match inputs with an initializer.
    - Further inputs and outputs are reported only if the option `only_listed` (the key `policy.only-listed`) has
      `inputs` or `outputs`. Inputs with an initializer are not.
    """
    variables: dict[str, str] = {}
    for field, wanted in (("input", inputs), ("output", outputs)):
        yield from _unexpected(model.main_graph, field, wanted, variables)
        if f"{field}s" in only_listed:
            yield from _unlisted(model.main_graph, field, wanted)


def _unlisted(graph: Graph, field: str, wanted: Values) -> Iterator[Finding]:
    for name in _values(graph, field):
        if not any(fnmatchcase(name, pattern) for pattern in wanted):
            yield Finding(
                graph.at(field, _names(graph, field).index(name)),
                f"{graph.describe()} has the {field} {quote(name)}, which the policy does not list",
                allowed=f"one of {quote_some(wanted, 5)}" if wanted else f"no {field}",
                subject=name,
                anchor="only-listed",
            )


def _names(graph: Graph, field: str) -> list[str]:
    return graph.input_names if field == "input" else graph.output_names


def _values(graph: Graph, field: str) -> list[str]:
    """Return the names of the inputs or outputs, without inputs that have an initializer."""
    filled = {*graph.initializer_names, *graph.sparse_initializer_names} if field == "input" else set()
    return [name for name in _names(graph, field) if name not in filled]


def _entries_by_name(graph: Graph, field: str, wanted: Values) -> dict[str, str]:
    """Return the entry of the policy for each name: of the entry itself, and of the values that match its pattern."""
    names = _names(graph, field)
    patterns = [each for each in wanted if "*" in each and each not in names]
    entries = {name: name for name in wanted if name not in patterns}
    for name in _values(graph, field):
        entry = next((pattern for pattern in patterns if fnmatchcase(name, pattern)), None)
        if entry is not None:
            entries.setdefault(name, entry)
    return entries


def _unexpected(graph: Graph, field: str, wanted: Values, variables: dict[str, str]) -> Iterator[Finding]:
    names = _names(graph, field)
    for name, entry in _entries_by_name(graph, field, wanted).items():
        required, anchor = wanted[entry], f"{field}s.{entry}"
        if name not in names:
            yield Finding(
                graph.place,
                f"{graph.describe()} has no {field} {quote(name)}, which the policy requires",
                allowed=f"an {field} {quote(name)}",
                subject=name,
                anchor=anchor,
            )
            continue
        index = names.index(name)
        declared = fact_of_type(graph.message_at(field, index).type)
        kind = tensor_element(declared.kind) or declared.kind or "no type"
        what, allowed, wrong = None, "", list[int]()
        if required.get("type") not in (None, kind):
            what, allowed = f"has the type {kind}", required["type"]
        elif "shape" in required:
            of_entry = variables if entry == name else {}
            allowed = describe_shape(required["shape"])
            what, wrong = _mismatch(declared.shape, required["shape"], of_entry)
        if what is not None:
            found = Finding(
                graph.at(field, index),
                f"{field} {quote(name)} of {graph.describe()} {what}, which the policy does not allow",
                allowed=allowed,
                subject=name,
                anchor=anchor,
                inner=f"dimension {wrong[0]}" if wrong else "",
            )
            yield _with_dimensions(found, wrong) if wrong else found


def _with_dimensions(found: Finding, wrong: Sequence[int]) -> Finding:
    return elements_of(found, wrong, again=lambda _: found, at=lambda number: (found.place, f"dimension {number}"))


def _mismatch(shape: Shape, wanted: Sequence[int | str], variables: dict[str, str]) -> tuple[str | None, list[int]]:
    """Return in words why a declared shape does not match, and which dimensions do not; None and nothing if all do."""
    if shape is None:
        return "is declared without a shape", []
    stated = f"is declared as {describe_shape(shape)}"
    if "..." in wanted:
        at = list(wanted).index("...")
        rest = len(wanted) - at - 1
        if len(shape) < len(wanted) - 1:
            return stated, []
        pairs = [*zip(wanted[:at], shape[:at], strict=True)]
        pairs += zip(wanted[at + 1 :], shape[len(shape) - rest :], strict=True)
    elif len(shape) != len(wanted):
        return stated, []
    else:
        pairs = [*zip(wanted, shape, strict=True)]
    wrong = []
    for number, (want, dimension) in enumerate(pairs):
        if not _fits(want, dimension, variables):
            wrong.append(number)
            variables = dict(variables)  # variables after a wrong dimension bind no other value
    return (stated if wrong else None), wrong


def _fits(want: int | str, dimension: int | str | None, variables: dict[str, str]) -> bool:
    if want == "*" or isinstance(want, int):
        return want in ("*", dimension)
    return isinstance(dimension, str) and variables.setdefault(want, dimension) == dimension

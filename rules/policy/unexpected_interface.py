# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onnx_lint.model import Graph, Model, Shape, fact_of_type
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import describe_shape, quote

Values = Mapping[str, Mapping[str, Any]]


@rule(clause="POL-7", since="0.2.0")
def unexpected_interface(
    model: Model,
    *,
    inputs: Mapping[str, Mapping[str, Any]] = {},
    outputs: Mapping[str, Mapping[str, Any]] = {},
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

    The configuration says how programs call the models. A model with another interface fails in each of them.

    ### Details

    For each name in the options `inputs` and `outputs`, an input or output of the main graph of that name, with the
    `type` and the `shape` if they are given. The tables `policy.inputs` and `policy.outputs` of the configuration set
    them. A type is the element type of a tensor, such as `float`. In a shape a number is a size, and a name is a
    variable of any name: the same name means the same variable, in all inputs and outputs. `*` is any dimension, and
    `...` any number of dimensions. Further inputs and outputs are not checked.
    """
    variables: dict[str, str] = {}
    for field, wanted in (("input", inputs), ("output", outputs)):
        yield from _unexpected(model.main_graph, field, wanted, variables)


def _unexpected(graph: Graph, field: str, wanted: Values, variables: dict[str, str]) -> Iterator[Finding]:
    names = graph.input_names if field == "input" else graph.output_names
    for name, required in wanted.items():
        anchor = f"{field}s.{name}"
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
        kind = (declared.kind or "no type").removeprefix("tensor(").removesuffix(")")
        what, allowed = None, ""
        if required.get("type") not in (None, kind):
            what, allowed = f"has the type {kind}", required["type"]
        elif "shape" in required:
            what, allowed = _mismatch(declared.shape, required["shape"], variables), describe_shape(required["shape"])
        if what is not None:
            yield Finding(
                graph.at(field, index),
                f"{field} {quote(name)} of {graph.describe()} {what}, which the policy does not allow",
                allowed=allowed,
                subject=name,
                anchor=anchor,
            )


def _mismatch(shape: Shape, wanted: Sequence[int | str], variables: dict[str, str]) -> str | None:
    """Return in words why a declared shape does not match; None if it does."""
    if shape is None:
        return "is declared without a shape"
    stated = f"is declared as {describe_shape(shape)}"
    if "..." in wanted:
        at = list(wanted).index("...")
        rest = len(wanted) - at - 1
        if len(shape) < len(wanted) - 1:
            return stated
        pairs = [*zip(wanted[:at], shape[:at], strict=True)]
        pairs += zip(wanted[at + 1 :], shape[len(shape) - rest :], strict=True)
    elif len(shape) != len(wanted):
        return stated
    else:
        pairs = [*zip(wanted, shape, strict=True)]
    return None if all(_fits(want, dimension, variables) for want, dimension in pairs) else stated


def _fits(want: int | str, dimension: int | str | None, variables: dict[str, str]) -> bool:
    if want == "*" or isinstance(want, int):
        return want in ("*", dimension)
    return isinstance(dimension, str) and variables.setdefault(want, dimension) == dimension

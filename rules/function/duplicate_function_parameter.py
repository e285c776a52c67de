# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Function, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("FUN-5", "FUN-5b"), since="0.1.0", about=Model.functions, needs="function")
def duplicate_function_parameter(model: Model) -> Iterator[Finding]:
    """A model-local function has two inputs or two outputs of one name.

    ### How to fix

    - Rename the second parameter, also where the body uses it.
    - Or delete it, and its argument in each call.

    ### Example

    ```
    functions { name: "F" domain: "com.example" input: "x" input: "x" output: "y"
                node { op_type: "Add" input: "x" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    functions { name: "F" domain: "com.example" input: "a" input: "b" output: "y"
                node { op_type: "Add" input: "a" input: "b" output: "y" } }
    ```

    ### Why it matters

    A call passes values by position, and the body reads them by name. With two inputs of one name, it is undefined
    which value the body reads.

    ### Details

    - The names of all inputs must differ, and the names of all outputs must differ.
    - A name may be both an input and an output: the function then returns its input. ONNX Runtime refuses such a
      function, which is reported with `--target onnxruntime=VERSION` or `--pedantic`.
    - `unnamed-value` reports an empty name.
    """
    for function in model.functions:
        for field, names in (("input", function.body.input_names), ("output", function.body.output_names)):
            if len(names) > 1 and len(set(names)) != len(names):
                yield from _duplicates(function, field, names)
        yield from _returned_inputs(function)


def _returned_inputs(function: Function) -> Iterator[Finding]:
    inputs: dict[str, int] = {}
    for index, name in enumerate(function.body.input_names):
        inputs.setdefault(name, index)
    for index, name in enumerate(function.body.output_names):
        if name and name in inputs:
            other = inputs[name]
            yield Finding(
                function.place.at("output", index),
                f"output {index} of {function.body.describe()} has the name of input {other}, {quote(name)}",
                clause="FUN-5b",
                related=(Related(function.place.at("input", other), f"input called {quote(name)}"),),
                allowed="the output of a node, Identity for instance",
                subject=name,
            )


def _duplicates(function: Function, field: str, names: list[str]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        other = first.setdefault(name, index)
        if name and other != index:
            yield Finding(
                function.place.at(field, index),
                f"{field}s {other} and {index} of {function.body.describe()} are both called {quote(name)}",
                clause="FUN-5",
                related=(Related(function.place.at(field, other), f"first {field} called {quote(name)}"),),
                allowed=f"distinct {field} names",
                subject=name,
            )

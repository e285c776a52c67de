# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from math import prod

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="POL-8", since="0.2.0", kinds={"max_size": "count", "max_nodes": "count", "max_parameters": "count"})
def oversized_model(
    model: Model, *, max_size: int = 0, max_nodes: int = 0, max_parameters: int = 0
) -> Iterator[Finding]:
    """The model is larger than the policy allows.

    ### How to fix

    Quantize or prune the model, or change the configuration.

    ### Example

    ```
    # option: oversized-model.max_size = 20
    node { op_type: "Neg" input: "x" output: "y" }
    ```

    Corrected:

    ```
    # option: oversized-model.max_size = 1000
    node { op_type: "Neg" input: "x" output: "y" }
    ```

    ### Why it matters

    Your configuration limits the size of models, for example because phones download them.

    ### Details

    - `max_size`: the largest number of bytes of the file together with its files of external data.
    - `max_nodes`: the largest number of nodes of all graphs and functions.
    - `max_parameters`: the largest number of elements of all initializers.
    - 0 turns a check off.
    - The keys `max-size`, `max-nodes` and `max-parameters` of the table `policy` set the options.
    """
    for most, key, count in ((max_nodes, "nodes", _nodes), (max_parameters, "parameters", _parameters)):
        if most and (found := count(model)) > most:
            yield Finding(
                ROOT,
                f"the model has {found:,} {key}, more than the policy allows",
                allowed=f"at most {most:,} {key}",
                subject=key,
                anchor=f"max-{key}",
            )
    if max_size:
        yield from _oversized(model, max_size)


def _nodes(model: Model) -> int:
    return sum(len(graph.forms) for graph in model.graphs)


def _parameters(model: Model) -> int:
    tensors = (
        graph.message_at("initializer", index)
        for graph in model.graphs
        for index in range(len(graph.initializer_names))
    )
    return sum(prod(tensor.dims) for tensor in tensors)


def _oversized(model: Model, max_size: int) -> Iterator[Finding]:
    files = {file.path: file.size or 0 for data in model.external_data if (file := data.file) is not None}
    size = model.source.size + sum(files.values())
    if size > max_size:
        with_files = f" with {len(files):,} files of external data" if len(files) > 1 else ""
        with_files = with_files or (" with its file of external data" if files else "")
        yield Finding(
            ROOT,
            f"the model has {size:,} bytes{with_files}, more than the policy allows",
            allowed=f"at most {max_size:,} bytes",
            anchor="max-size",
        )

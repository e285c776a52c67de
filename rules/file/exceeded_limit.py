# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.input.limits import describe_limit, exceeded
from onnx_lint.ir.operators.function_calls import MAX_COUNT
from onnx_lint.model import ROOT, Graph, Model, Place, may_exceed_limits
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_REASONS = {
    "graph_nesting": "runtimes have taken time that doubles with each nested graph",
    "expanded_nodes": "tools that put the bodies of functions in place of their calls run out of memory",
    "name_characters": "readers have written beyond buffers that were made for shorter names",
}
"""The limits that protect consumers, and why. onnx-lint itself can check a model that exceeds them."""


@rule(
    clause=("FIL-10a", "FIL-10b"),
    since="0.1.0",
    about=may_exceed_limits,
    needs="file",
    security=("CVE-2024-27319", "CWE-400", "CWE-770"),
)
def exceeded_limit(model: Model) -> Iterator[Finding]:
    """The model exceeds what consumers can process, or the report omits findings.

    ### How to fix

    - Share functions and weights instead of repeating them, and shorten names that a program generated.
    - If the model must be this large, raise the limit with `--limit NAME=VALUE`.

    ### Example

    ```
    # limit: name_characters = 30
    node { op_type: "Relu" input: "x" output: "encoder_layer_0_attention_output_of_the_first_head" }
    ```

    Under `--limit name_characters=30`.

    Corrected:

    ```
    # limit: name_characters = 30
    node { op_type: "Relu" input: "x" output: "encoder_0_attention_0" }
    ```

    ### Why it matters

    A small file can exhaust the time or memory of its readers. Functions that call one another twice double the nodes
    with every level.

    ### Details

    - A warning, because consumers fail beyond it: `graph_nesting` (10) limits nested graphs, `name_characters`
      (10000) the length of a name, and `expanded_nodes` (1000000) the nodes after each call is replaced by its
      function's body. onnx-lint still checks all of the model.
    - A note: the report omits findings above `findings_per_rule` (1000), or above `findings` (10000) in one file.
    - A file above another limit is *not checked*, which is not a finding: the exit code is 2, and the message names
      the option and, except for times, a sufficient value.
    - These limits are `memory` (2GiB) for the estimated memory of the model without the contents of its tensors,
      `file_bytes` (16GiB), `text_bytes` (256MiB) for a model in text form, and `fields` (50000000) for fields that
      are read one by one.
    - `processor_seconds` (600) limits the processor time of a file; 0 switches it off.
    - For a remote model they are `download_bytes` (64MiB), `request_seconds` (60) and `remote_seconds` (3600).
    - Data files above `external_bytes` (64GiB) are *not verified*; the report says it beside the findings.
    - Set a limit with `--limit NAME=VALUE`, with `limits` in Python, or in the configuration. Bytes may have a unit:
      `--limit memory=4GiB`.
    - The specification has no such limits.
    - `excessive-nesting` reports messages that nest too deeply.
    """
    if not model.loaded:
        return
    for limit, find in _FINDERS.items():
        found = find(model)
        if found is not None:
            place, actual = found
            message = f"{exceeded(limit, model.limits, actual)}; {_REASONS[limit]}"
            yield Finding(place, message, clause="FIL-10b", allowed=describe_limit(limit, model.limits))


def _nesting(model: Model) -> tuple[Place, str] | None:
    """The first graph that is nested deeper than the limit, and how deep the deepest is."""
    deepest = max([graph.depth for graph in model.graphs], default=0)
    if deepest <= model.limits.graph_nesting:
        return None
    first = next(graph for graph in model.graphs if graph.depth > model.limits.graph_nesting)
    return first.place, f"graphs nest {deepest} deep"


def _expanded(model: Model) -> tuple[Place, str] | None:
    """Return the number of nodes after each call is replaced by the body of its function."""
    if not model.calls.all:
        return None
    count = model.calls.expanded_nodes()
    if count <= model.limits.expanded_nodes:
        return None
    shown = f"{count:,}" if count < MAX_COUNT else f"at least {MAX_COUNT:,}"
    return ROOT, f"{model.describe()} has {shown} nodes when the calls of its functions are expanded"


def _names(model: Model) -> tuple[Place, str] | None:
    """The first name that is longer than the limit."""
    limit = model.limits.name_characters
    if model.source.size <= limit:
        return None
    longest = max(map(len, chain.from_iterable(_names_of_few(model))), default=0)
    if longest <= limit and all(graph.table.longest <= limit for graph in model.graphs):
        return None
    return next((name for graph in model.graphs for name in _long_names(graph, limit)), None)


def _names_of_few(model: Model) -> Iterator[list[str]]:
    """Yield all names except those in nodes, which are the most; the table of nodes knows the longest of these."""
    yield [form.op_type for form in model.forms]
    yield [form.domain for form in model.forms]
    for graph in model.graphs:
        yield [graph.name]
        yield graph.input_names
        yield graph.output_names
        yield graph.initializer_names
        yield graph.value_info_names


def _long_names(graph: Graph, limit: int) -> Iterator[tuple[Place, str]]:
    """Each name that is too long, with its place."""
    if len(graph.name) > limit:
        yield graph.at("name"), _long("name", graph.name)
    for field in ("input", "output", "initializer", "value_info"):
        names = graph.initializer_names if field == "initializer" else getattr(graph, f"{field}_names")
        for index, name in enumerate(names):
            if len(name) > limit:
                yield graph.at(field, index), _long(field, name)
    for number, (node_name, form) in enumerate(zip(graph.node_names, graph.forms, strict=True)):
        for field, name in (("name", node_name), ("op_type", form.op_type), ("domain", form.domain)):
            if len(name) > limit:
                yield graph.nodes[number].place.at(field), _long(field, name)
        for field, names in (("input", graph.node_inputs[number]), ("output", graph.node_outputs[number])):
            for index, name in enumerate(names):
                if len(name) > limit:
                    yield graph.nodes[number].place.at(field, index), _long(field, name)


def _long(field: str, name: str) -> str:
    return f"the {field} {quote(name)} has {len(name):,} characters"


_FINDERS = {"graph_nesting": _nesting, "expanded_nodes": _expanded, "name_characters": _names}

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.inference.flow.joining import joined
from onnx_lint.model import ROOT, GraphKind, Model, Place, Proto, has_training_information
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, describe_shape, quote


@rule(clause=("TRN-2", "TRN-5", "TRN-5a", "TRN-5b"), since="0.1.0", about=has_training_information)
def training_binding_value(model: Model) -> Iterator[Finding]:
    """A training binding takes its value from a name that is not an output.

    ### How to fix

    Write the name of an output of the graph. If a node computes the value, add the value to the graph's outputs.

    ### Example

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      initialization { name: "start"
        node { op_type: "RandomNormal" output: "first" attribute { name: "shape" type: INTS ints: 1 } }
        output { name: "first" } }
      initialization_binding { key: "weight" value: "fist" }
    }
    ```

    Corrected:

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      initialization { name: "start"
        node { op_type: "RandomNormal" output: "first" attribute { name: "shape" type: INTS ints: 1 } }
        output { name: "first" } }
      initialization_binding { key: "weight" value: "first" }
    }
    ```

    ### Why it matters

    Nothing can be assigned: the initializer keeps its old value, or the consumer refuses the model.

    ### Details

    - The value of an `initialization_binding` must be an output of the initialization graph.
    - The value of an `update_binding` must be an output of the algorithm or of the inference graph.
    - In edition 1.9, an output of the inference graph is reported: IR.md and the comment in its schema mention only
      outputs of the algorithm. The newer comment adds those of the inference graph, because both run as one graph.
    - A value whose known element type or shape differs from its initializer is a warning.
    - `missing-initialization` reports a missing initialization graph.
    """
    suggestions = Suggestions()
    inference = _outputs(model.proto.graph)
    for index, info in enumerate(model.proto.training_info):
        place = ROOT.at("training_info", index)
        if info.HasField("initialization"):
            yield from _initialization(info, place, suggestions)
        yield from _update(info, place, inference, suggestions)
    yield from _misfits(model)


def _misfits(model: Model) -> Iterator[Finding]:
    """The bindings whose value has another type or shape than the state variable."""
    algorithms = {graph.place.key: graph for graph in model.training_graphs}
    for graph in model.training_graphs:
        field = "update_binding" if graph.kind is GraphKind.ALGORITHM else "initialization_binding"
        info = graph.place.parent
        assert info is not None
        beside = algorithms.get(info.at("algorithm").key, model.main_graph)
        for position, binding in enumerate(getattr(model.proto.training_info[info.index or 0], field)):
            state, value = (model.value_flow.fact_of(*each) for each in ((binding.key, beside), (binding.value, graph)))
            difference = joined(value, state)[1]
            is_stored = any(binding.key in each.initializer_index for each in (beside, model.main_graph))
            if difference:
                found, needed = (
                    str(each.kind) if difference == "type" else describe_shape(each.shape) for each in (value, state)
                )
                yield Finding(
                    info.at(field, position),
                    f"value {quote(binding.value)} of {field} {position} is {found}, "
                    f"but {'the initializer ' if is_stored else ''}{quote(binding.key)} is {needed}",
                    clause="TRN-5b",
                    allowed=needed,
                    subject=binding.key,
                )


def _outputs(graph: Proto) -> dict[str, None]:
    """The names of the outputs, in the order of the file."""
    return dict.fromkeys(value.name for value in graph.output)


def _initialization(info: Proto, place: Place, suggestions: Suggestions) -> Iterator[Finding]:
    known = _outputs(info.initialization)
    for position, binding in enumerate(info.initialization_binding):
        if not binding.value or binding.value not in known:
            yield Finding(
                place.at("initialization_binding", position).at("value"),
                f"value {quote(binding.value)} of initialization_binding {position} is not an output of the "
                f"initialization graph{suggestions(binding.value, known)}",
                clause="TRN-2",
                allowed="an output of the initialization graph",
                subject=binding.value or None,
            )


def _update(info: Proto, place: Place, inference: dict[str, None], suggestions: Suggestions) -> Iterator[Finding]:
    algorithm = _outputs(info.algorithm)
    for position, binding in enumerate(info.update_binding):
        if binding.value and binding.value in algorithm:
            continue
        what = f"value {quote(binding.value)} of update_binding {position}"
        if binding.value and binding.value in inference:
            clause = "TRN-5a"
            message = f"{what} is an output of the main graph, not of the algorithm"
        else:
            clause = "TRN-5"
            hint = suggestions(binding.value, chain(algorithm, inference))
            message = f"{what} is neither an output of the algorithm nor of the main graph{hint}"
        yield Finding(
            place.at("update_binding", position).at("value"),
            message,
            clause=clause,
            allowed="an output of the algorithm"
            if clause == "TRN-5a"
            else "an output of the algorithm or the main graph",
            subject=binding.value or None,
        )

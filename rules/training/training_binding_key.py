# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import chain

from onnx_lint.model import ROOT, Graph, Model, has_training_information
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, quote


@rule(clause=("TRN-1", "TRN-4"), since="0.1.0", about=has_training_information)
def training_binding_key(model: Model) -> Iterator[Finding]:
    """A training binding assigns to a name that is not an initializer.

    ### How to fix

    Write the name of an initializer. Training can change initializers only, not inputs or node outputs.

    ### Example

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      algorithm { name: "step"
        node { op_type: "Neg" input: "weight" output: "weight_new" }
        output { name: "weight_new" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } }
      update_binding { key: "wieght" value: "weight_new" }
    }
    ```

    Corrected:

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      algorithm { name: "step"
        node { op_type: "Neg" input: "weight" output: "weight_new" }
        output { name: "weight_new" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } }
      update_binding { key: "weight" value: "weight_new" }
    }
    ```

    ### Why it matters

    The initializers are the state that training changes. A binding to another name changes nothing, and the intended
    initializer keeps its old value.

    ### Details

    - The key of an `initialization_binding` or `update_binding` must be the name of an entry in the list
      `initializer`. The text does not name the list `sparse_initializer`.
    - It must be an initializer of the inference graph, or of the algorithm in the same TrainingInfoProto.
    - Initializers of nested graphs, of the initialization graph and of other algorithms are not accepted.
    """
    suggestions = Suggestions()
    graphs = model.main_graph, *model.training_graphs
    sparse = {name for graph in graphs for name in graph.sparse_initializer_names} if model.training_graphs else set()
    inference = _initializers(model.main_graph)
    algorithms = {graph.place: _initializers(graph) for graph in model.training_graphs}
    for index, info in enumerate(model.proto.training_info):
        algorithm = algorithms.get(ROOT.at("training_info", index).at("algorithm"), {})
        for field, clause in (("initialization_binding", "TRN-1"), ("update_binding", "TRN-4")):
            for position, binding in enumerate(getattr(info, field)):
                if not binding.key or (binding.key not in inference and binding.key not in algorithm):
                    what = _no_initializer(binding.key, sparse)
                    yield Finding(
                        ROOT.at("training_info", index).at(field, position).at("key"),
                        f"key {quote(binding.key)} of {field} {position} names {what} of the main graph or of "
                        f"the algorithm{suggestions(binding.key, chain(inference, algorithm))}",
                        clause=clause,
                        allowed="the name of an initializer",
                        subject=binding.key or None,
                    )


def _no_initializer(key: str, sparse: Set[str]) -> str:
    return "a sparse initializer, and no dense one," if key in sparse else "no initializer"


def _initializers(graph: Graph) -> dict[str, None]:
    """The names of the dense initializers, in the order of the file."""
    return dict.fromkeys(graph.initializer_names)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import ShardingSpec, sharding_specs
from onnx_lint.model import Graph, Model, has_device_configurations
from onnx_lint.rule import Finding, rule


@rule(clause="DEV-9", since="0.1.0", about=has_device_configurations, needs="node")
def sharded_axis_out_of_range(model: Model) -> Iterator[Finding]:
    """A sharding splits a tensor along an axis that the tensor does not have.

    ### How to fix

    Write an axis of the tensor: 0 to rank - 1, or -rank to -1 from the end.

    ### Example

    ```
    configuration { name: "c" num_devices: 2 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
    node { op_type: "Relu" input: "x" output: "y" device_configurations {
      configuration_id: "c"
      sharding_spec {
        tensor_name: "x" device: [0, 1] sharded_dim { axis: 1 simple_sharding { dim_value: 4 num_shards: 2 } }
      }
    } }
    ```

    Corrected:

    ```
    configuration { name: "c" num_devices: 2 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
    node { op_type: "Relu" input: "x" output: "y" device_configurations {
      configuration_id: "c"
      sharding_spec {
        tensor_name: "x" device: [0, 1] sharded_dim { axis: 0 simple_sharding { dim_value: 4 num_shards: 2 } }
      }
    } }
    ```

    ### Why it matters

    A consumer cannot split the tensor along this axis, and cannot place it.

    ### Details

    - In a function, the rank of a value may differ from call to call; the axis must exist in each of them.
    - For a tensor of rank r, the axis must be from -r to r - 1. -1 is the last axis.
    - A scalar cannot be split.
    - The rank comes from initializers and from the declared types of inputs, outputs and `value_info`; if nothing
      declares it, it is inferred from the nodes that compute the tensor.
    - Nothing is reported if the rank is unknown, or if two different ranks are declared.
    """
    ranks: dict[int, dict[str, set[int]]] = {}
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        graph = _home(spec.node.graph, spec.proto.tensor_name)
        if graph is None or not spec.proto.sharded_dim:
            continue
        if id(graph) not in ranks:
            ranks[id(graph)] = _ranks(graph)
        declared = ranks[id(graph)].get(spec.proto.tensor_name, set())
        if not declared:
            yield from _out_of_any_rank(spec, _inferred_ranks(model, graph, spec.proto.tensor_name))
        elif len(declared) == 1:
            yield from _findings(spec, *declared)


def _inferred_ranks(model: Model, graph: Graph, name: str) -> list[int]:
    """Return the ranks that are inferred for a value; in a function it may have another one in each call."""
    if graph.function is None:
        shape = model.shape_of(name, graph)
        return [] if shape is None else [len(shape)]
    shapes = [walked.fact(name).shape for walked in model.provenance.walks() if walked.graph is graph]
    return sorted({len(shape) for shape in shapes if shape is not None})


def _out_of_any_rank(spec: ShardingSpec, ranks: list[int]) -> Iterator[Finding]:
    """Yield the findings of the least rank: an axis that it has is one of each other rank."""
    if ranks:
        yield from _findings(spec, ranks[0])


def _home(graph: Graph, name: str) -> Graph | None:
    """The graph that defines the value, as seen from a node of `graph`."""
    if name in graph.positions:
        return graph
    outer = graph.outer_definition(name)
    return outer.graph if outer is not None else None


def _ranks(graph: Graph) -> dict[str, set[int]]:
    """The ranks that the graph declares for each of its values."""
    found: dict[str, set[int]] = {}
    for field in ("value_info",) if graph.is_function else ("input", "output", "value_info"):
        for index in range(len(getattr(graph.proto, field))):
            value = graph.message_at(field, index)
            kind = value.type.WhichOneof("value")
            if kind in ("tensor_type", "sparse_tensor_type") and getattr(value.type, kind).HasField("shape"):
                found.setdefault(value.name, set()).add(len(getattr(value.type, kind).shape.dim))
    if not graph.is_function:
        for index, name in enumerate(graph.initializer_names):
            found.setdefault(name, set()).add(len(graph.message_at("initializer", index).dims))
        for sparse in graph.proto.sparse_initializer:
            found.setdefault(sparse.values.name, set()).add(len(sparse.dims))
    return found


def _findings(spec: ShardingSpec, rank: int) -> Iterator[Finding]:
    for index, cut in enumerate(spec.proto.sharded_dim):
        if not cut.HasField("axis") or -rank <= cut.axis < rank:
            continue
        allowed = f"an axis from {-rank} to {rank - 1}" if rank else "no sharded dimension, as a scalar has no axes"
        yield Finding(
            spec.place.at("sharded_dim", index).at("axis"),
            f"{spec.describe()} splits axis {cut.axis} of a tensor of rank {rank}",
            allowed=allowed,
            subject=spec.proto.tensor_name,
        )

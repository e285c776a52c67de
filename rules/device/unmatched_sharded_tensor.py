# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, quote_some, suggestion


@rule(clause="DEV-7", since="0.1.0", about=Model.has_device_configurations)
def unmatched_sharded_tensor(model: Model) -> Iterator[Finding]:
    """A sharding is about a tensor that is no input or output of its node.

    ### Why it matters

    The sharding applies to nothing, and the tensor that was meant is left in one piece.

    ### What is allowed

    As `tensor_name`: one of the names in the node's own `input` and `output`. The schema's comment speaks of lists
    of ValueInfoProto there, which nodes do not have; these names are meant.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y"
           device_configurations { configuration_id: "c" sharding_spec { tensor_name: "z" } } }
    ```
    """
    for spec in model.sharding_specs:
        name = spec.proto.tensor_name
        values = [value for value in (*spec.node.inputs, *spec.node.outputs) if value]
        if name and name not in values:
            yield Finding(
                spec.place.at("tensor_name"),
                f"{spec.node.describe()} has a sharding of {quote(name)}, which is no input or output of the node"
                f"{suggestion(name, values)}",
                allowed=quote_some(dict.fromkeys(values), 10) if values else "no sharding, as the node has no values",
                subject=name,
            )

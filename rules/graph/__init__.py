# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model

_ON_GRAPHS = frozenset({"duplicate-definition", "missing-documentation", "missing-graph-name", "undefined-name"})
_ON_ORDER = frozenset({"cycle", "unordered-nodes"})
_ON_DOCUMENTATION = frozenset({"markup-in-documentation"})


def concerns(model: Model) -> Collection[str]:
    """Tell whether a node uses what only a later one defines, and whether anything is documented."""
    late = model.resolution.unordered or model.resolution.cycles
    return _ON_GRAPHS | (_ON_ORDER if late else set()) | (_ON_DOCUMENTATION if _is_documented(model) else set())


def _is_documented(model: Model) -> bool:
    return bool(
        model.proto.doc_string
        or model.graphs_with("doc_string")
        or model.annotated_nodes
        or model.annotated_value_infos
        or model.tensor_survey.annotated
        or model.count_attributes(lambda signature: signature.is_documented)
    )

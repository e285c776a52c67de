# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection, Sequence

from onnx_lint.model import Model, Proto
from onnx_lint.spec.ir_versions import FIELDS
from onnx_lint.spec.releases import newest_opset_version, normalized_domain

_ON_NODES = frozenset({"missing-opset-import", "unused-opset-import"})


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether more than one published version of ai.onnx is imported; if not, only the nodes can ask for more."""
    if model.effective_ir_version < FIELDS["ModelProto.opset_import"].ir_version:
        return True
    return not all(map(_is_plain, model.imports.distinct)) or _ON_NODES


def _is_plain(entries: Sequence[Proto]) -> bool:
    if len(entries) != 1 or normalized_domain(entries[0].domain):
        return False
    return 1 <= int(entries[0].version) <= (newest_opset_version("") or 0)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model
from onnx_lint.spec.releases import NEWEST_IR_VERSION
from onnx_lint.spec.target import NO_TARGET

_ON_WHAT_IS_USED = frozenset({"foreign-type", "outdated-ir-version", "premature-feature"})


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether a version is wrong in itself, or too new for a target; if not, what is used may need another."""
    if model.target != NO_TARGET or model.proto.model_version < 0 or model.ir_version < 0:
        return True
    return model.ir_version > NEWEST_IR_VERSION or _ON_WHAT_IS_USED

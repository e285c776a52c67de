# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether a node lacks its operator or outputs; if not, no rule of the chapter is imported."""
    return not all(form.op_type and form.outputs for form in model.forms)

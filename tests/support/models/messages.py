# SPDX-License-Identifier: Apache-2.0
"""The whole message of a model. In `Model.proto`, parts of it are bytes."""

from __future__ import annotations

from onnx_lint import schema
from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.model import Model, Proto


def message_of(model: Model) -> Proto:
    """Return a new ModelProto with the content of the model."""
    return schema.message(MODEL_KIND).FromString(model.proto.SerializePartialToString())

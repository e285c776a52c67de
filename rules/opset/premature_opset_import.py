# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_unusual_imports
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.ir_versions import LATER_FIELDS


@rule(clause="MOD-7", since="0.1.0", about=has_unusual_imports, needs="function")
def premature_opset_import(model: Model) -> Iterator[Finding]:
    """A model of IR version 1 or 2 imports operator sets.

    ### How to fix

    Write an IR version of 3 or later, which all consumers read today.

    ### Example

    ```
    ir_version: 2
    opset_import { version: 7 }
    ```

    Corrected:

    ```
    ir_version: 3
    opset_import { version: 7 }
    ```

    ### Why it matters

    A consumer of IR version 1 or 2 does not read imports. It uses the first version of the default operator set, and
    the nodes may mean something else.

    ### Details

    - Below IR version 3, a model must not have `opset_import`.
    - A model without a published IR version is not checked.
    """
    since = LATER_FIELDS["ModelProto.opset_import"].ir_version
    if 1 <= model.ir_version < since and model.proto.opset_import:
        yield Finding(
            ROOT.at("opset_import", 0),
            f"field 'opset_import' of ModelProto needs IR version {since}, but the model states {model.ir_version}",
            allowed=f"IR version {since} or later",
        )

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import LATER_FIELDS, ROOT, Model, has_unusual_imports
from onnx_lint.rule import Finding, rule


@rule(clause="MOD-7", since="0.1.0", about=has_unusual_imports, needs="function")
def premature_opset_import(model: Model) -> Iterator[Finding]:
    """A model of IR version 1 or 2 imports operator sets.

    ### How to fix

    State an IR version of 3 or later, which all consumers read today.

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

    Imports came with IR version 3. A consumer of the stated version does not read them and takes the first version
    of the default operator set, so the nodes mean something else than their author thought.

    ### Details

    No `opset_import` below IR version 3. A model that does not state a published IR version is not judged.
    """
    since = LATER_FIELDS["ModelProto.opset_import"].ir_version
    if 1 <= model.ir_version < since and model.proto.opset_import:
        yield Finding(
            ROOT.at("opset_import", 0),
            f"field 'opset_import' of ModelProto needs IR version {since}, but the model states {model.ir_version}",
            allowed=f"IR version {since} or later",
        )

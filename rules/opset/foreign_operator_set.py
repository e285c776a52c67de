# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ML_DOMAIN, Model, has_unusual_imports
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="MOD-0a", since="0.1.0", about=has_unusual_imports, needs="function")
def foreign_operator_set(model: Model) -> Iterator[Finding]:
    """A model that is checked as ONNX without ONNX-ML imports the operators of ONNX-ML.

    ### How to fix

    - Delete the import if no node needs it.
    - Rewrite the nodes of the domain with operators of the default domain. skl2onnx: `options={"zipmap": False}`
      omits ZipMap, and `black_op={...}` avoids other operators where an alternative exists.
    - If the model needs the domain, it is an ONNX-ML model: check it without `--target onnx-without-ml`.

    ### Example

    ```
    # target: onnx-without-ml
    opset_import { version: 21 }
    opset_import { domain: "ai.onnx.ml" version: 3 }
    ```

    Under `--target onnx-without-ml`.

    Corrected:

    ```
    # target: onnx-without-ml
    opset_import { version: 21 }
    ```

    ### Why it matters

    ONNX-ML adds the operators of classical machine learning to ONNX. An implementation of ONNX alone must refuse a
    model that imports them, even if no node uses them.

    ### Details

    - With `--target onnx-without-ml`, an import of `ai.onnx.ml` is reported, in the model and in functions.
    - All other operator sets are allowed.
    - Without this target, nothing is reported.
    """
    if model.standard.variant != "onnx":
        return
    for importer in model.imports.where(lambda entries: any(entry.domain == ML_DOMAIN for entry in entries)):
        who = "the model" if importer.function is None else importer.function.body.describe()
        for index, entry in enumerate(importer.entries):
            if entry.domain == ML_DOMAIN:
                yield Finding(
                    importer.place.at("opset_import", index),
                    f"{who} imports {quote(ML_DOMAIN)}, which variant 'onnx' does not have; variant 'onnx-ml' has it",
                    allowed="operator sets other than 'ai.onnx.ml'",
                    subject=ML_DOMAIN,
                )

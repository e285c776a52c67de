# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ML_DOMAIN, Model, has_unusual_imports
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="MOD-0a", since="0.1.0", about=has_unusual_imports, needs="function")
def foreign_operator_set(model: Model) -> Iterator[Finding]:
    """A model of the variant ONNX imports the operators of ONNX-ML.

    ### How to fix

    Drop the import where no node needs it, and write the nodes of the domain in operators of the default one. A model
    that is to have them is one of ONNX-ML, which is what is judged without `--target onnx-without-ml`.

    - skl2onnx: `options={"zipmap": False}` leaves out ZipMap, `black_op={...}` other operators where there is another
      way.

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

    There are two variants of the standard. ONNX-ML adds the operators of classical machine learning, and an
    implementation of ONNX alone has none of them. It has to refuse a model that imports them, whether a node uses
    them or not.

    ### Details

    Under `--target onnx-without-ml`, every operator set but `ai.onnx.ml`: the default one, the others that ONNX
    publishes, and those of extensions. Without it there is nothing to report. Imports of the model and of functions are
    judged.
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

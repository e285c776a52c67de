# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ML_FROM_THE_START, Model, Type
from onnx_lint.rule import Finding, rule


@rule(clause="TYP-G1a", since="0.1.0")
def foreign_type(model: Model) -> Iterator[Finding]:
    """A model of the variant ONNX has a sequence, map or opaque type, although the edition allows only tensors.

    ### How to fix

    Use tensors, or hold the model against the variant that it is of: without `--target onnx-without-ml`, or by a later
    edition. Classifiers are what mostly brings sequences of maps into a model:

    - skl2onnx: `options={"zipmap": False}` returns the probabilities as a tensor; onnxmltools: `zipmap=False` of
      `convert_lightgbm`.

    ### Example

    ```
    # edition: 1.9
    # target: onnx-without-ml
    ir_version: 7
    domain: "org.example"
    opset_import { version: 14 }
    input { name: "x" type { sequence_type { elem_type { tensor_type { elem_type: 1 shape { } } } } } }
    ```

    Under `--edition 1.9 --target onnx-without-ml`.

    Corrected:

    ```
    # edition: 1.9
    # target: onnx-without-ml
    ir_version: 7
    domain: "org.example"
    opset_import { version: 14 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    Under edition 1.9 the types distinguish the two variants of the standard: ONNX knows tensors, and only
    ONNX-ML knows sequences and maps besides. An implementation of ONNX alone cannot represent such a value.

    ### Details

    Under edition 1.9 and `--target onnx-without-ml`, tensor types. The later editions give both variants the same
    types, from IR version 6 on (`premature-feature`), and the default has them in every edition. The table of types in
    edition 1.9 lists sequence and map under ONNX nevertheless; the two sentences that distinguish the variants are
    plainer, and onnx-lint follows them. Sparse and optional types are reported by
    `premature-feature`.
    """
    if model.standard.variant != "onnx" or model.standard.edition != "1.9":
        return
    for found in model.types(lambda proto: proto.WhichOneof("value") in ML_FROM_THE_START):
        # What stands inside a type that is reported needs no finding of its own.
        if found.kind is not None and not _is_inside_another(found):
            kind = found.kind.removesuffix("_type")
            yield Finding(
                found.place.at(found.kind),
                f"{found.describe()} is of kind '{kind}', which edition 1.9 has only in variant 'onnx-ml'",
                allowed="tensor types",
                subject=kind,
            )


def _is_inside_another(found: Type) -> bool:
    parent = found.parent
    while parent is not None:
        if parent.kind in ML_FROM_THE_START:
            return True
        parent = parent.parent
    return False

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Type
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.ir_versions import ML_FROM_THE_START


@rule(clause="TYP-G1a", since="0.1.0", needs="type")
def foreign_type(model: Model) -> Iterator[Finding]:
    """A model of the variant ONNX has a sequence, map or opaque type, although the edition allows only tensors.

    ### How to fix

    Use tensors, or check the model against its own variant: without `--target onnx-without-ml`, or with a later
    edition. Most sequences of maps come from classifiers:

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

    Under edition 1.9, ONNX has only tensors; ONNX-ML also has sequences and maps. An implementation of ONNX alone
    cannot represent such a value.

    ### Details

    - The rule applies under edition 1.9 with `--target onnx-without-ml`.
    - The later editions give both variants the same types, from IR version 6 on (`premature-feature`). Without the
      target, every edition has them.
    - The table of types in edition 1.9 lists sequence and map under ONNX, but two sentences distinguish the variants by
      them. onnx-lint follows the sentences, which are plainer.
    - Reported by another rule: sparse and optional types (`premature-feature`).
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

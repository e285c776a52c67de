# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.model import (
    NEWEST_IR_VERSION,
    ROOT,
    Assign,
    Feature,
    Fix,
    Model,
    features_beyond,
    may_use_newer_features,
)
from onnx_lint.rule import Faults, Finding, replace, rule

_ELSEWHERE = "MOD-7"
"""Fields of this clause are reported by `premature-opset-import`."""


@rule(
    clause=(
        "META-3",
        "FUN-G1",
        "FUN-G2",
        "FUN-G3",
        "FUN-G4",
        "TYP-G1",
        "TYP-G2",
        "TYP-G3",
        "TYP-G4",
        "TYP-D-bfloat16",
        "TYP-D-float8e4m3fn",
        "TYP-D-uint4",
        "TYP-D-float4e2m1",
        "TYP-D-float8e8m0",
        "TYP-D-uint2",
        "TYP-D-float6e2m3",
        "SPA-G",
        "TRN-G",
        "DEV-G",
        "QNT-G",
        "ATT-12",
        "EXT-18",
        "MOD-7a",
    ),
    since="0.1.0",
    about=may_use_newer_features,
    needs="library",
)
def premature_feature(model: Model) -> Iterator[Finding]:
    """The model uses a field, type or element type that came with a later IR version than the one it states.

    ### How to fix

    Set the IR version that introduced the feature. If an old consumer must read the model, remove the feature instead.
    `onnx-lint fix --unsafe-fixes` (unsafe: older consumers may then refuse the model) sets the IR version that all
    features of the model need.

    ### Example

    ```
    ir_version: 3
    input { name: "x" type { tensor_type { elem_type: 16 shape { } } } }
    ```

    The element type 16, bfloat16, came with IR version 4.

    Corrected:

    ```
    ir_version: 4
    input { name: "x" type { tensor_type { elem_type: 16 shape { } } } }
    ```

    ### Why it matters

    A consumer of the stated IR version trusts it. It silently skips the field, or fails on a type that it cannot
    represent.

    ### Details

    The stated IR version must have the feature:

    | IR version | introduced |
    | --- | --- |
    | 3 | domains of nodes |
    | 4 | external data; bfloat16 |
    | 5 | quantization annotations |
    | 6 | sparse initializers, sparse tensors in attributes; sequence and map types |
    | 7 | training information |
    | 8 | functions, sparse tensor types, optional types, types in attributes |
    | 9 | defaults of a function's attributes; float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz |
    | 10 | metadata outside of the model itself, overloads, value_info of functions; uint4, int4 |
    | 11 | device configurations; float4e2m1 |
    | 12 | float8e8m0 |
    | 13 | uint2, int2 |
    | 14 | float6e2m3, float6e3m2; opaque types |

    - The schema of IR version 3 already listed bfloat16, but the notes on the versions date it to 4; onnx-lint follows
      the notes.
    - Each feature that is too new is reported once, at its first place.
    - Metadata are a warning, because no sentence forbids them and readers skip them. All else is an error.
    - A model without a published IR version is not checked.
    - An element type that only an attribute names, for example `to` of Cast, is used, because a value of the model has
      it. onnx.checker and ONNX Runtime do not check the IR version there.
    - Sequence and map types need IR version 6 with `--target onnx-without-ml`, and otherwise in models that do not
      import `ai.onnx.ml`. The specification says that they "were supported from the IR version 6" on, but ONNX-ML
      always had them: ZipMap, DictVectorizer and CastMap use maps, and converters of classical models wrote sequences
      of maps at IR versions 3 to 5. The schema dates them nowhere.
    - Edition 1.9 dates neither sequence nor map types, see `foreign-type`.
    - Opaque types need IR version 14 only with `--target onnx-without-ml`: ONNX-ML has had the type since 2018, and
      version 14 added it to builds without ONNX-ML.
    - Sparse and optional types came to both variants with IR version 8.
    - Reported by another rule: `opset_import` (`premature-opset-import`).
    """
    if not 1 <= model.ir_version < NEWEST_IR_VERSION:
        return
    features = [each for each in features_beyond(model, model.ir_version) if each.since.clause != _ELSEWHERE]
    needed = max((each.since.ir_version for each in features), default=0)
    fix = Fix(f"state IR version {needed}", (Assign(ROOT.at("ir_version"), needed),), is_safe=False)
    for feature in features:
        yield _finding(model, fix, feature)


def _of_uses(model: Model, fix: Fix, uses: Sequence[Feature]) -> Finding:
    return _finding(model, fix, replace(uses[0], count=len(uses), uses=lambda: uses))


def _finding(model: Model, fix: Fix, feature: Feature) -> Finding:
    needed = feature.since.ir_version
    occurrences = f" ({feature.count:,} occurrences)" if feature.count > 1 else ""
    return Finding(
        feature.place,
        f"{feature.what}{feature.of} needs IR version {needed}, but {model.describe()} states {model.ir_version}"
        f"{occurrences}",
        clause=feature.since.clause,
        allowed=f"IR version {needed} or later",
        subject=feature.what,
        collective=True,
        fix=fix,
        parts=Faults(feature.uses, partial(_of_uses, model, fix), lambda use: (use.place, use.what)),
    )

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.releases import ML_DOMAIN
from onnx_lint.wording import quote


@rule(clause="MOD-0a", since="0.1.0")
def foreign_operator_set(model: Model) -> Iterator[Finding]:
    """A model of the variant ONNX imports the operators of ONNX-ML.

    ### Why it matters

    There are two variants of the standard. ONNX-ML adds the operators of classical machine learning, and an
    implementation of ONNX alone has none of them. It has to refuse a model that imports them, whether a node uses
    them or not.

    ### What is allowed

    Under `--variant onnx`, every operator set but `ai.onnx.ml`: the default one, the others that ONNX publishes,
    and those of extensions. Under `--variant onnx-ml`, the default, there is nothing to report. Imports of the
    model and of functions are judged.

    ### Example

    `opset_import { domain: "ai.onnx.ml" version: 3 }` under `--variant onnx`.
    """
    if model.standard.variant != "onnx":
        return
    holders = [(model.proto, ROOT, "the model")]
    holders += [(function.proto, function.place, function.body.describe()) for function in model.functions]
    for proto, place, importer in holders:
        for index, entry in enumerate(proto.opset_import):
            if entry.domain == ML_DOMAIN:
                yield Finding(
                    place.at("opset_import", index),
                    f"{importer} imports {quote(ML_DOMAIN)}, which the variant 'onnx' lacks and 'onnx-ml' has",
                    allowed="operator sets other than 'ai.onnx.ml'",
                    subject=ML_DOMAIN,
                )

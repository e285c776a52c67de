# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, Place, Proto, Release, normalized_domain, shown_domain
from onnx_lint.rule import Finding, RuleError, rule
from onnx_lint.spec.releases import release_named
from onnx_lint.wording import quote


@rule(clause="HYG-11", since="0.2.0", kinds={"release": "release"})
def outdated_operator_set(model: Model, *, release: str = "") -> Iterator[Finding]:
    """A model imports an operator set that is older than the release in the option `release`.

    ### How to fix

    Export the model with a newer operator set, for example `torch.onnx.export(..., opset_version=19)`, or convert it:
    `onnx.version_converter.convert_version(model, 19)`.

    ### Example

    ```
    # option: outdated-operator-set.release = "1.14"
    # proto: ModelProto
    ir_version: 8
    producer_name: "example"
    opset_import { version: 11 }
    graph { name: "graph" }
    ```

    Corrected:

    ```
    # option: outdated-operator-set.release = "1.14"
    # proto: ModelProto
    ir_version: 9
    producer_name: "example"
    opset_import { version: 19 }
    graph { name: "graph" }
    ```

    ### Why it matters

    Newer operator sets correct definitions. Converters and runtimes drop support for old ones.

    ### Details

    - The rule reports nothing without the option `release`, for example `"1.14"`.
    - Only operator sets of ONNX are compared, in the model and in its functions.
    """
    if not release:
        return
    wanted = release_named(release)
    if wanted is None:
        raise RuleError(f"option 'release' of rule 'outdated-operator-set': ONNX has not released {quote(release)}")
    yield from _outdated(model.proto, ROOT, "the model", wanted)
    for function in model.functions:
        yield from _outdated(function.proto, function.place, function.body.describe(), wanted)


def _outdated(proto: Proto, place: Place, importer: str, wanted: Release) -> Iterator[Finding]:
    for index, entry in enumerate(proto.opset_import):
        least = wanted.opset_version(entry.domain)
        if 1 <= entry.version < least:
            domain = shown_domain(entry.domain)
            yield Finding(
                place.at("opset_import", index).at("version"),
                f"{importer} imports version {entry.version} of {domain}, but ONNX {wanted.onnx} has {least}",
                allowed=f"version {least} or newer",
                subject=normalized_domain(entry.domain),
                cause=f"{domain} {entry.version}",
            )

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnx_lint.model import ROOT, Model, Place, Proto, shown_domain
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.version_range import in_range
from onnx_lint.wording import quote


@rule(clause="POL-3", since="0.2.0", kinds={"opsets": "operator set versions"})
def disallowed_operator_set(model: Model, *, opsets: Mapping[str, str] = {}) -> Iterator[Finding]:
    """The model or a function imports a version of an operator set that the policy does not allow.

    ### How to fix

    Export or convert the model to a version that the policy allows.

    ### Example

    ```
    # option: disallowed-operator-set.opsets = { "ai.onnx" = "22.." }
    opset_import { domain: "" version: 21 }
    ```

    Corrected:

    ```
    # option: disallowed-operator-set.opsets = { "ai.onnx" = "22.." }
    opset_import { domain: "" version: 22 }
    ```

    ### Why it matters

    Your configuration lists the versions that the consumers of the models support.

    ### Details

    - For each domain in the option `opsets`, the imported version must be in its range: `17..21`, `17..`, `..21` or
      `19`.
    - The table `policy.opsets` of the configuration sets it.
    - The default domain is called `ai.onnx`.
    """
    yield from _disallowed(model.proto, ROOT, "the model", opsets)
    for function in model.functions:
        yield from _disallowed(function.proto, function.place, function.body.describe(), opsets)


def _disallowed(proto: Proto, place: Place, importer: str, opsets: Mapping[str, str]) -> Iterator[Finding]:
    for index, entry in enumerate(proto.opset_import):
        domain = shown_domain(entry.domain)
        if domain in opsets and not in_range(entry.version, opsets[domain]):
            yield Finding(
                place.at("opset_import", index),
                f"{importer} imports version {entry.version} of {quote(domain)}, which the policy does not allow",
                allowed=f"a version of {opsets[domain]}",
                subject=domain,
                cause=f"{domain} {entry.version}",
                anchor=f"opsets.{domain}",
            )

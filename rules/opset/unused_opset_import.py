# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Delete, Fix, Model, Place, Proto, normalized_domain
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPS-7", since="0.1.0", needs="function")
def unused_opset_import(model: Model) -> Iterator[Finding]:
    """An operator set is imported and nothing uses it.

    ### How to fix

    - `onnx-lint fix --select unused-opset-import` deletes the import in functions (safe), and with `--unsafe-fixes`
      in the model (unsafe: a tool that adds nodes may rely on it).
    - `onnx_ir.passes.common.RemoveUnusedOpsetsPass()(model)` deletes all unused imports.

    ### Example

    ```
    opset_import { domain: "" version: 21 }
    opset_import { domain: "com.example.ops" version: 1 }
    ```

    Corrected:

    ```
    opset_import { domain: "" version: 21 }
    ```

    ### Why it matters

    An implementation must support all operators of an imported set or refuse the model. An unused import excludes
    runtimes for no reason.

    ### Details

    - An import of the model is used by a node outside of functions, or by a function of the domain.
    - An import of a function is used by a node of its body.
    - The default domain is never reported.
    - The rule is off by default: the specification does not require this, and ONNX Runtime imports every set that it
      knows when it writes a model.
    """
    in_use = model.domains_in_use
    used = in_use[None] | {normalized_domain(function.domain) for function in model.functions}
    yield from _unused(model.proto, ROOT, used, "the model")
    for function in model.functions:
        used = in_use.get(function.index, frozenset())
        yield from _unused(function.proto, function.place, used, function.body.describe())


def _unused(proto: Proto, place: Place, used: frozenset[str], importer: str) -> Iterator[Finding]:
    for index, entry in enumerate(proto.opset_import):
        domain = normalized_domain(entry.domain)
        if domain and domain not in used:
            imported = place.at("opset_import", index)
            yield Finding(
                imported,
                f"{importer} imports {quote(domain)}, but no node uses it",
                allowed="an import of each domain that a node uses",
                subject=domain,
                cause="unused",
                fix=Fix(
                    f"delete the import of {quote(domain)} by {importer}",
                    (Delete(imported),),
                    is_safe=place is not ROOT,
                ),
            )

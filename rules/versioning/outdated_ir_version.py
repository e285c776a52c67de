# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.model import (
    NEWEST_IR_VERSION,
    ROOT,
    Assign,
    Fix,
    Model,
    Proto,
    Release,
    has_outdated_ir_version,
    normalized_domain,
    release_of_opset,
    shown_domain,
)
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote

_FIRST_WITH_IMPORTS: Final = 3
"""The first IR version with opset_import."""


@rule(clause="VER-6", since="0.1.0", about=has_outdated_ir_version)
def outdated_ir_version(model: Model) -> Iterator[Finding]:
    """The IR version is older than the release that published an imported operator set.

    ### How to fix

    Set the IR version of the operator set's release. If an old consumer must read the model, import an older operator
    set instead. `onnx-lint fix --unsafe-fixes --select outdated-ir-version` (unsafe: older consumers may then refuse
    the model) sets the IR version.

    - The `onnx` package: `onnx.helper.make_model_gen_version(graph, opset_imports=[...])` finds the IR version for the
      imports.

    ### Example

    ```
    ir_version: 8
    opset_import { version: 21 }
    ```

    ONNX 1.16.0 published version 21 together with IR version 10.

    Corrected:

    ```
    ir_version: 10
    opset_import { version: 21 }
    ```

    ### Why it matters

    ONNX publishes an operator set and an IR version together. Such a model reaches runtimes that accept the IR version
    and do not have the operators.

    ### Details

    - For each import of a domain that ONNX publishes, the model needs at least the IR version of the first ONNX release
      with the operator set.
    - Imports of functions, and versions that were never published, are not checked.
    - Imports of other domains than the default one that no node needs are not checked, because ONNX Runtime imports
      every set it knows.
    - It is a note, because tools do it on purpose, to reach older runtimes that have the operators.
    """
    stated = model.ir_version
    if not _FIRST_WITH_IMPORTS <= stated < NEWEST_IR_VERSION:
        return
    releases = [
        (index, release)
        for index, entry in enumerate(model.proto.opset_import)
        if (release := release_of_opset(entry.domain, entry.version)) is not None and _is_judged(model, entry.domain)
    ]
    if not releases:
        return
    index, release = max(releases, key=lambda each: each[1].ir_version)  # the first import of the newest
    if release.ir_version > stated:
        yield _finding(stated, model.proto.opset_import[index], index, release)


def _is_judged(model: Model, domain: str) -> bool:
    """Return whether the import of a domain counts: any of the default domain, and others that a node needs."""
    domain = normalized_domain(domain)
    return not domain or domain in model.domains_in_use[None]


def _finding(stated: int, entry: Proto, index: int, release: Release) -> Finding:
    """Return the finding on an IR version, and the import of an operator set that a later release published."""
    needed = release.ir_version
    opset = f"{quote(shown_domain(entry.domain))} {entry.version}"
    return Finding(
        ROOT.at("ir_version"),
        f"IR version {stated} is older than IR version {needed}, with which ONNX {release.onnx} published {opset}",
        related=(Related(ROOT.at("opset_import", index), f"the import of {opset}"),),
        allowed=f"IR version {needed} or later",
        subject=shown_domain(entry.domain),
        fix=Fix(f"state IR version {needed}", (Assign(ROOT.at("ir_version"), needed),), is_safe=False),
    )

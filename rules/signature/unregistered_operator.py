# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import MAX_OPSET_VERSION, Model, OperatorStatus, imports_onnxruntime
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.wording import quote, suggestion

_VERSION = 1
"""The only version of ONNX Runtime's domains; each release adds operators to it."""


@rule(clause=("OPR-1b", "OPS-6a"), since="0.2.0", about=imports_onnxruntime, needs="node")
def unregistered_operator(model: Model) -> Iterator[Finding]:
    """A node or an import names something that ONNX Runtime does not have in one of its own domains.

    ### How to fix

    Correct the name, or use a release of ONNX Runtime that has the operator. Import version 1 of its domains.

    ### Example

    ```
    opset_import { version: 21 }
    opset_import { domain: "com.microsoft" version: 1 }
    node { op_type: "Geluu" domain: "com.microsoft" input: "x" output: "y" }
    ```

    Corrected:

    ```
    opset_import { version: 21 }
    opset_import { domain: "com.microsoft" version: 1 }
    node { op_type: "Gelu" domain: "com.microsoft" input: "x" output: "y" }
    ```

    ### Why it matters

    ONNX Runtime refuses the whole model when it loads it, even if the node is in a branch that never runs. No other
    program defines the operators of these domains.

    ### Details

    - `com.microsoft` and `com.microsoft.nchwc` have version 1 only.
    - They have the operators of the release that `onnx-lint --version` prints. A newer release, a build for training or
      your own library may have more.
    - Both findings are warnings, and are listed only with `--pedantic`. Without it, nodes of such an operator are
      *not verified*, because your build of ONNX Runtime may have it.
    - With `--target onnxruntime=VERSION`, the rule `unsupported-by-product` checks the operators of that release.
    - Operators that a schema file describes are accepted.
    - Nodes of functions that nothing calls and of training graphs are not checked: ONNX Runtime accepts such a model.
      The functions of an operator set or of a file of their own are checked, because a model may call them.
    """
    domains = ONNXRUNTIME.domains
    release = ONNXRUNTIME.header["version"]
    for importer in model.imports.where(lambda entries: any(entry.domain in domains for entry in entries)):
        for index, entry in enumerate(importer.entries):
            if entry.domain in domains and _VERSION < entry.version <= MAX_OPSET_VERSION:
                yield Finding(
                    importer.place.at("opset_import", index).at("version"),
                    f"the import of {quote(entry.domain)} states version {entry.version}, which ONNX Runtime lacks",
                    clause="OPS-6a",
                    allowed=f"version {_VERSION}",
                    subject=entry.domain,
                )
    schemas = model.operators.schemas
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if operator.status is not OperatorStatus.UNVERIFIED or operator.domain not in domains:
            continue
        version = operator.opset_version
        # A call of an overload that no function has names no operator, and a document of the user may declare one.
        if version is None or schemas.is_declared(operator.domain, operator.op_type, version):
            continue
        near = suggestion(operator.op_type, schemas.operator_names(operator.domain, version))
        for node in alike.nodes:
            # Only a model, which states imports of its own, shows which functions are called.
            if not model.imports.are_stated or model.calls.is_run(node.graph):
                yield Finding(
                    node.place.at("op_type"),
                    f"{node.describe()} uses an operator that ONNX Runtime {release} does not have{near}",
                    clause="OPR-1b",
                    allowed=f"an operator of {quote(operator.domain)}",
                    subject=operator.op_type,
                    cause=operator.versioned_name,
                )

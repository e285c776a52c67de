# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnx_lint.model import (
    ROOT,
    Model,
    Node,
    Operator,
    OperatorStatus,
    Proto,
    features_beyond,
    has_target,
    normalized_domain,
)
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause=("VER-3a", "VER-12a"), since="0.1.0", about=has_target, needs="node")
def unsupported_by_target(model: Model) -> Iterator[Finding]:
    """The model uses something that the targeted consumer does not support.

    ### How to fix

    Export for the consumer, or update the consumer.

    - PyTorch: `torch.onnx.export(..., opset_version=17)`.
    - skl2onnx: `target_opset={"": 17, "ai.onnx.ml": 3}`; onnxmltools, with one number: `target_opset=15`.
    - tf2onnx: `--opset 17`.
    - An existing model: `onnx.version_converter.convert_version(model, 17)`, if onnx can convert the operators.

    ### Example

    ```
    # target: ai.onnx=17
    ir_version: 8
    opset_import { version: 20 }
    node { op_type: "Gelu" input: "x" output: "y" }
    ```

    Under `--target ai.onnx=17` both the import and Gelu, which came with version 20, are reported.

    Corrected:

    ```
    # target: ai.onnx=17
    ir_version: 8
    opset_import { version: 17 }
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    ### Why it matters

    Runtimes and converters refuse a model with a later IR version or operator set, even if it uses nothing new. Do
    not just lower the version numbers: new fields are then silently skipped, and operators are missing or mean
    something else.

    ### Details

    - The rule needs a target: `--target ir=N`, `--target DOMAIN=N`, or the configuration.
    - The model's IR version must be at most that of the target.
    - The target's IR version must have all fields, types and element types that the model uses.
    - The model and its functions must import at most the target's version of each domain.
    - The signature of each operator must not be newer than that version. An operator that changed later is reported
      with the version of the change: the target has an earlier form, which may still work.
    - Domains without a target version are not checked, nor are operators that a function of the model replaces.
    - Each fault is reported once, where it first occurs.
    """
    target = model.target
    if target.ir_version is not None:
        yield from _beyond_ir_version(model, target.ir_version)
    if target.opset_versions:
        yield from _imports(model, target.opset_versions)
        yield from _operators(model, target.opset_versions)


def _beyond_ir_version(model: Model, known: int) -> Iterator[Finding]:
    if model.ir_version > known:
        yield Finding(
            ROOT.at("ir_version"),
            f"the model states IR version {model.ir_version}, but the target supports only IR version {known}",
            clause="VER-3a",
            allowed=_or_earlier("IR version", known),
            subject="ir_version",
        )
    for feature in features_beyond(model, known):
        yield Finding(
            feature.place,
            f"{feature.what}{feature.of} came with IR version {feature.since.ir_version}, "
            f"but the target supports only IR version {known}{_occurrences(feature.count)}",
            clause="VER-3a",
            allowed=f"what IR version {known} has",
            subject=feature.what,
            collective=True,
        )


def _or_earlier(what: str, known: int) -> str:
    return f"{what} {known} or earlier" if known > 1 else f"{what} 1"


def _occurrences(count: int) -> str:
    return f" ({count:,} occurrences)" if count > 1 else ""


def _imports(model: Model, known: Mapping[str, int]) -> Iterator[Finding]:
    for importer in model.imports.where(lambda entries: any(_is_beyond(entry, known) for entry in entries)):
        who = "the model" if importer.function is None else importer.function.body.describe()
        for index, entry in enumerate(importer.entries):
            if not _is_beyond(entry, known):
                continue
            domain = normalized_domain(entry.domain)
            name = quote(domain or "ai.onnx")
            yield Finding(
                importer.place.at("opset_import", index).at("version"),
                f"{who} imports version {entry.version} of {name}, "
                f"but the target supports only version {known[domain]}",
                clause="VER-12a",
                allowed=_or_earlier("version", known[domain]),
                subject=domain or "ai.onnx",
            )


def _is_beyond(entry: Proto, known: Mapping[str, int]) -> bool:
    return bool(entry.version > known.get(normalized_domain(entry.domain), entry.version))


def _operators(model: Model, known: Mapping[str, int]) -> Iterator[Finding]:
    first: dict[tuple[str, str, int], Node] = {}
    counts: dict[tuple[str, str, int], int] = {}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        since = _since(operator)
        if since > known.get(operator.domain, since):
            key = (operator.domain, operator.op_type, since)
            first.setdefault(key, alike.graph.first_of(alike.form))
            counts[key] = counts.get(key, 0) + alike.count
    for (domain, op_type, since), node in first.items():
        name = domain or "ai.onnx"
        version = known[domain]
        came = any(earlier <= version for earlier in model.operators.schemas.versions(domain, op_type))
        what = "was changed in" if came else "came with"
        yield Finding(
            node.place.at("op_type"),
            f"{node.describe()}: operator {quote(op_type)} {what} version {since} of {quote(name)}, "
            f"but the target supports only version {version}{_occurrences(counts[domain, op_type, since])}",
            clause="VER-12a",
            allowed=f"the operators of version {version}",
            subject=f"{name}.{op_type}",
            collective=True,
        )


def _since(operator: Operator) -> int:
    """The version that brought the signature of the operator; 0 where none is known."""
    return (
        operator.schema.since_version if operator.status is OperatorStatus.KNOWN and operator.schema is not None else 0
    )

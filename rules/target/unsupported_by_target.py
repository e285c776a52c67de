# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from onnx_lint.model import (
    ROOT,
    AlikeNodes,
    Feature,
    Model,
    Node,
    Operator,
    OperatorStatus,
    Proto,
    features_beyond,
    has_target,
    normalized_domain,
    shown_domain,
)
from onnx_lint.rule import Faults, Finding, replace, rule
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
        yield from _later_ir_version(model, target.ir_version)
    if target.opset_versions:
        yield from _later_imports(model, target.opset_versions)
        yield from _later_operators(model, target.opset_versions)


def _later_ir_version(model: Model, supported: int) -> Iterator[Finding]:
    if model.ir_version > supported:
        yield Finding(
            ROOT.at("ir_version"),
            f"the model states IR version {model.ir_version}, but the target supports only IR version {supported}",
            clause="VER-3a",
            allowed=_or_earlier("IR version", supported),
            subject="ir_version",
        )
    yield from map(partial(_unsupported_feature, supported), features_beyond(model, supported))


def _unsupported_feature(supported: int, feature: Feature) -> Finding:
    return Finding(
        feature.place,
        f"{feature.what}{feature.of} came with IR version {feature.since.ir_version}, "
        f"but the target supports only IR version {supported}{_occurrences(feature.count)}",
        clause="VER-3a",
        allowed=f"what IR version {supported} has",
        subject=feature.what,
        collective=True,
        parts=Faults(feature.uses, partial(_unsupported_uses, supported), lambda use: (use.place, use.what)),
    )


def _unsupported_uses(supported: int, uses: Sequence[Feature]) -> Finding:
    return _unsupported_feature(supported, replace(uses[0], count=len(uses), uses=lambda: uses))


def _or_earlier(what: str, supported: int) -> str:
    return f"{what} {supported} or earlier" if supported > 1 else f"{what} 1"


def _occurrences(count: int) -> str:
    return f" ({count:,} occurrences)" if count > 1 else ""


def _later_imports(model: Model, supported: Mapping[str, int]) -> Iterator[Finding]:
    for importer in model.imports.where(lambda entries: any(_is_beyond(entry, supported) for entry in entries)):
        who = "the model" if importer.function is None else importer.function.body.describe()
        for index, entry in enumerate(importer.entries):
            if not _is_beyond(entry, supported):
                continue
            domain = normalized_domain(entry.domain)
            name = shown_domain(domain)
            yield Finding(
                importer.place.at("opset_import", index).at("version"),
                f"{who} imports version {entry.version} of {quote(name)}, "
                f"but the target supports only version {supported[domain]}",
                clause="VER-12a",
                allowed=_or_earlier("version", supported[domain]),
                subject=name,
            )


def _is_beyond(entry: Proto, supported: Mapping[str, int]) -> bool:
    return bool(entry.version > supported.get(normalized_domain(entry.domain), entry.version))


def _later_operators(model: Model, supported: Mapping[str, int]) -> Iterator[Finding]:
    groups: dict[tuple[str, str, int], list[AlikeNodes]] = {}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        since = _signature_version(operator)
        if since > supported.get(operator.domain, since):
            groups.setdefault((operator.domain, operator.op_type, since), []).append(alike)
    for (domain, op_type, since), alikes in groups.items():
        name = shown_domain(domain)
        version = supported[domain]
        came = any(earlier <= version for earlier in model.operators.schemas.versions(domain, op_type))
        what = "was changed in" if came else "came with"
        whole = Finding(
            ROOT,
            f"operator {quote(op_type)} {what} version {since} of {quote(name)}, "
            f"but the target supports only version {version}",
            clause="VER-12a",
            allowed=f"the operators of version {version}",
            subject=f"{name}.{op_type}",
            collective=True,
        )
        first, count = alikes[0].graph.first_of(alikes[0].form), sum(alike.count for alike in alikes)
        yield _unsupported_operator(whole, first, count, partial(_nodes_of, alikes))


def _nodes_of(groups: Iterable[AlikeNodes]) -> list[Node]:
    return [node for group in groups for node in group.nodes]


def _unsupported_operator(
    whole: Finding, first: Node, count: int, nodes: Sequence[Node] | Callable[[], Sequence[Node]]
) -> Finding:
    """Return the finding about an operator with its place, its whole message and its parts."""
    return replace(
        whole,
        place=first.place.at("op_type"),
        message=f"{first.describe()}: {whole.message}{_occurrences(count)}",
        parts=Faults(nodes, partial(_unsupported_nodes, whole), lambda node: (node.place.at("op_type"), whole.subject)),
    )


def _unsupported_nodes(whole: Finding, nodes: Sequence[Node]) -> Finding:
    return _unsupported_operator(whole, nodes[0], len(nodes), nodes)


def _signature_version(operator: Operator) -> int:
    """Return the version that the signature of an operator came with; 0 if it has none."""
    schema = operator.schema if operator.status is OperatorStatus.KNOWN else None
    return 0 if schema is None else schema.since_version

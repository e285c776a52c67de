# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from onnx_lint.model import (
    ROOT,
    Model,
    Node,
    OperatorSchema,
    ProductRelease,
    has_target,
    normalized_domain,
    product_releases,
    shown_domain,
)
from onnx_lint.rule import Finding, Related, replace, rule
from onnx_lint.wording import quote


@rule(clause=("PRD-1", "PRD-2", "PRD-3", "PRD-4", "PRD-5"), since="0.2.0", about=has_target, needs="node")
def unsupported_by_product(model: Model) -> Iterator[Finding]:
    """The model needs something that a release named by `--target` does not have.

    ### How to fix

    Export the model for an older release of ONNX, or use a newer release of the product.

    ### Example

    ```
    # target: onnxruntime=1.17
    # proto: ModelProto
    ir_version: 10
    producer_name: "example"
    opset_import { version: 19 }
    graph { name: "graph" }
    ```

    Corrected:

    ```
    # target: onnxruntime=1.17
    # proto: ModelProto
    ir_version: 9
    producer_name: "example"
    opset_import { version: 19 }
    graph { name: "graph" }
    ```

    ### Why it matters

    The release refuses to load the model.

    ### Details

    - The IR version, the operator sets, and the operators with their element types must be those that each release of
      `--target` supports.
    - docs/targets.md lists the releases, and what their data do not cover.
    - A domain that ONNX Runtime does not register needs a library: name the domain in the key `registered`, or
      describe it in a schema file.
    """
    for name in model.target.releases:
        older, *newer = product_releases(name)
        found = list(_findings(model, older))
        if not newer:
            yield from found
            continue
        # The release itself is unknown: what both neighbours refuse is certain, and the rest is a warning.
        both = {_key(finding) for release in newer for finding in _findings(model, release)}
        other = [finding for release in newer for finding in _findings(model, release)]
        neither = {_key(finding) for finding in found} & both
        yield from (finding for finding in other if _key(finding) in neither)
        for finding in (*found, *other):
            if _key(finding) not in neither:
                yield replace(
                    finding,
                    message=f"{finding.message}; onnx-lint has no data of its own for this release",
                    clause="PRD-5",
                )


def _key(finding: Finding) -> tuple[str, str | None, str | None]:
    return str(finding.place), finding.clause, finding.subject


def _findings(model: Model, release: ProductRelease) -> Iterator[Finding]:
    yield from _versions(model, release)
    yield from _operators(model, release)


def _versions(model: Model, release: ProductRelease) -> Iterator[Finding]:
    if release.ir_version is not None and model.ir_version > release.ir_version:
        yield Finding(
            ROOT.at("ir_version"),
            f"the model states IR version {model.ir_version}, which {release} does not read",
            clause="PRD-1",
            allowed=f"at most IR version {release.ir_version}",
            anchor=release.citation,
        )
    for index, entry in enumerate(model.proto.opset_import):
        most = release.opsets.get(normalized_domain(entry.domain))
        if most is not None and entry.version > most:
            domain = shown_domain(entry.domain)
            yield Finding(
                ROOT.at("opset_import", index),
                f"the model imports version {entry.version} of {quote(domain)}, which {release} does not have",
                clause="PRD-2",
                allowed=f"at most version {most}",
                subject=domain,
                anchor=release.citation,
            )


def _operators(model: Model, release: ProductRelease) -> Iterator[Finding]:
    missing: dict[str, list[Node]] = {}
    refused: dict[tuple[str, str], list[Node]] = {}
    foreign: dict[str, list[Node]] = {}
    own_domains = release.own_domains
    functions = {(normalized_domain(each.domain), each.name) for each in model.functions}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        domain, op_type, schema = operator.domain, operator.op_type, operator.schema
        name = _name(domain, op_type)
        if operator.function is not None or (operator.opset_version or 0) > release.opsets.get(domain, 2**63):
            continue
        nodes = [node for node in alike.nodes if model.calls.is_run(node.graph)]
        if not nodes or (domain, op_type) in functions:
            continue
        if domain in own_domains and not release.has_own(domain, op_type):
            missing.setdefault(name, []).extend(nodes)
            continue
        if release.has_kernels and op_type and domain not in {"", *own_domains, *release.opsets}:
            if domain not in model.target.registered and not model.operators.schemas.is_described(domain):
                foreign.setdefault(domain, []).extend(nodes)
            continue
        if schema is None or schema.deprecated:
            if release.has_own(domain, op_type) and not any(release.kernels(domain, op_type)):
                refused.setdefault((name, f"the operator {op_type}, {_no_kernel(release)}"), []).extend(nodes)
            continue
        if release.has_kernels:
            is_known = domain in release.opsets or domain in own_domains
            if not is_known or name in _WITHOUT_KERNEL:
                continue
        refusal = _refused_by_kernels if release.has_kernels else _refused_by_list
        for node in nodes:
            for subject, what in refusal(model, node, schema, operator.opset_version or 0, release):
                refused.setdefault((subject, what), []).append(node)
    for name, nodes in missing.items():
        yield _finding(nodes, f"has an operator that {release} does not have", "PRD-3", name, release)
    for domain, nodes in foreign.items():
        library = LIBRARIES.get(domain)
        needs = f"it needs a library that registers {quote(domain)}" + (f": {library}" if library else "")
        what = f"is of domain {quote(domain)}, which {release} does not register; {needs}"
        yield _finding(nodes, what, "PRD-3", domain, release)
    for (subject, what), nodes in refused.items():
        yield _finding(nodes, f"has {what}", "PRD-4", subject, release)


LIBRARIES: Final = {
    "ai.onnx.contrib": "onnxruntime-extensions",
    "com.microsoft.extensions": "onnxruntime-extensions",
    "com.amd.quark": "the custom operators of AMD Quark",
    "mmcv": "the custom operators of mmcv",
    "mmdeploy": "the custom operators of mmdeploy",
    "org.pytorch.aten": "none for inference, this is PyTorch's ATen fallback; export without it",
    "qonnx.custom_op.general": "none, QONNX runs these operators itself",
    "trt": "a plugin of TensorRT, which the TensorRT execution provider runs",
    "trt.plugins": "a plugin of TensorRT, which the TensorRT execution provider runs",
}
"""The library that registers the operators of a well-known domain."""


def _name(domain: str, op_type: str) -> str:
    return f"{domain}::{op_type}" if domain else op_type


_WITHOUT_KERNEL = frozenset({"Constant"})
"""The operators that need no kernel: a Constant becomes an initializer."""


def _finding(nodes: list[Node], what: str, clause: str, name: str, release: ProductRelease) -> Finding:
    first, *others = nodes
    more = f"; this holds for {len(nodes):,} nodes" if others else ""
    return Finding(
        first.place,
        f"{first.describe()} {what}{more}",
        clause=clause,
        allowed=f"an operator and element types of {release}",
        related=tuple(Related(node.place, f"so has {node.describe()}") for node in others[:3]),
        subject=name,
        collective=True,
        count=len(nodes),
        cause=f"{release} {name} {what}",
        anchor=release.citation,
    )


_CASTS = 6
"""The operator set from which on the Casts that ONNX Runtime inserts are valid."""

_SUBGRAPHS = frozenset({"GRAPH", "GRAPHS"})
"""The types of attributes of operators whose operands are those of the nodes inside, too."""


def _refused_by_list(
    model: Model, node: Node, schema: OperatorSchema, _version: int, release: ProductRelease
) -> Iterator[tuple[str, str]]:
    """Yield the operator, or the types of operands, that the release does not support, with a description."""
    if release.refuses(schema.domain, schema.name, schema.since_version):
        yield _name(schema.domain, schema.name), f"{_described(schema)}, which {release} does not support"
    elif release.element_types and not any(each.type in _SUBGRAPHS for each in schema.attributes.values()):
        kinds = {kind for kinds in _types(model, node, schema).values() for kind in kinds if kind.startswith("tensor(")}
        for kind in sorted(kinds - release.element_types):
            yield kind, f"an operand of type {kind}, which {release} does not support"


def _refused_by_kernels(
    model: Model, node: Node, schema: OperatorSchema, version: int, release: ProductRelease
) -> Iterator[tuple[str, str]]:
    """Yield the operator, with a description of the version or the types for which the release has no kernel.

    `version`: that of the operator set.
    """
    types = _types(model, node, schema)
    has_function = schema.has_function_body or release.runs_function(schema.domain, schema.name)
    what = (_without_function if has_function else _without_kernel)(types, schema, version, release)
    if what is not None:
        more = ", and it cannot run the function of the operator" if has_function else ""
        yield _name(schema.domain, schema.name), f"{what}, {_no_kernel(release)}{more}"


def _no_kernel(release: ProductRelease) -> str:
    return f"for which {release} has no kernel for the processor (CPUExecutionProvider)"


def _without_function(
    types: Mapping[str, set[str]], schema: OperatorSchema, version: int, release: ProductRelease
) -> str | None:
    """Return the version or the types for which the release runs neither a kernel nor the function; None if it does."""
    for refused in release.refused_types(schema.domain, schema.name, version):
        if all(types.get(name) and types[name] <= kinds for name, kinds in refused.items()):
            return _described(schema, {kind for name in refused for kind in types[name]})
    return None


def _described(schema: OperatorSchema, kinds: Collection[str] = ()) -> str:
    shown = f"with {' and '.join(sorted(kinds))}" if kinds else f"of version {schema.since_version}"
    return f"the operator {schema.name} {shown}"


def _without_kernel(
    types: Mapping[str, set[str]], schema: OperatorSchema, version: int, release: ProductRelease
) -> str | None:
    """Return the version or the types for which the release has no kernel; None if it has one, or may have one."""
    kernels = [kernel for kernel in release.kernels(schema.domain, schema.name) if kernel.is_for(schema.since_version)]
    if not kernels:
        return _described(schema)
    # A float16 computation without a kernel runs in float, between two Casts; those of version 6 or later.
    half = "tensor(float16)" if schema.domain or version >= _CASTS else ""
    wider = {name: {"tensor(float)" if kind == half else kind for kind in types[name]} for name in types}
    for kernel in kernels:
        for given in (types, wider):
            if all(given.get(name, set()) <= allowed for name, allowed in kernel.types.items()):
                return None
    judged = {name: frozenset[str]().union(*(kernel.types.get(name, ()) for kernel in kernels)) for name in types}
    without = {kind for name, allowed in judged.items() if allowed for kind in types[name] - allowed}
    return _described(schema, without or {kind for name, allowed in judged.items() if allowed for kind in types[name]})


def _types(model: Model, node: Node, schema: OperatorSchema) -> Mapping[str, set[str]]:
    """Return the known types of the operands but maps, by type variable and by parameter.

    An operand that a call of the function leaves out has the empty type, and none to judge.
    """
    found: dict[str, set[str]] = {}
    known = model.value_flow.facts_seen(node.graph)
    for names, parameter_at in ((node.inputs, schema.input_at), (node.outputs, schema.output_at)):
        for index, name in enumerate(names):
            parameter, fact = parameter_at(index), known(name) if name else None
            kind = fact.kind if fact is not None else None
            if parameter is None or not kind or "map(" in kind:
                continue
            for key in filter(None, (parameter.name, parameter.variable)):
                found.setdefault(key, set()).add(kind)
    return found

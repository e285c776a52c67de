# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from onnx_lint.ir.operators.changed_signature import refused_form, refused_types
from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.model import (
    ATTRIBUTE_TYPE_CODES,
    EXTERNAL_LOCATION,
    ROOT,
    AlikeNodes,
    DataType,
    Definition,
    Function,
    Model,
    Node,
    Operator,
    OperatorSchema,
    Place,
    has_target,
    normalized_domain,
    runs_decoders,
    shown_domain,
)
from onnx_lint.rule import Faults, Finding, Record, Related, replace, reworded, rule
from onnx_lint.spec.operators.runtime_releases import EXTENTS, failing_runs, refused_values, signature_in
from onnx_lint.spec.products import Kernel, ProductRelease, product_releases, version_number
from onnx_lint.spec.products.refusals import (
    FIRST_TRUNCATED_VERSION,
    FORBIDDEN_GATES,
    LINEAR_ATTENTION,
    ONNXRUNTIME_SIGNATURES,
    ONNXRUNTIME_WITHOUT_KERNEL,
    OPENVINO_DOMAINS,
    READ_INPUTS,
    REFUSED_FORMS,
    REFUSED_VALUES,
    RESIZE_NEGATIVE_AXES_UNTIL,
    ReadInputs,
    newest_registered,
)
from onnx_lint.wording import counted, listed, quote


@rule(
    clause=("PRD-1", "PRD-2", "PRD-3", "PRD-4", "PRD-5", "PRD-6", "PRD-7"),
    since="0.2.0",
    about=has_target,
    needs="node",
)
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
    - Nodes of `com.microsoft` must fit the signature that their operator has in that release of ONNX Runtime.
    - ONNX Runtime needs the operator sets of all functions of the model as well, also of those that nothing calls.
    - ONNX Runtime rewrites a model before it looks for kernels. A node that may be gone by then, such as one in a
      branch of an If with a constant condition, is a warning.
    - A node that a release loads, and whose every run on CPUs fails, is a warning. `onnx-lint explain PRD-7` lists the
      kinds. `--target-gate` does not fail such a run; `--severity unsupported-by-product=error` does.
    - docs/targets.md lists the releases, and what their data do not cover.
    - A domain that ONNX Runtime does not register needs a library: name the domain in the key `registered`, or
      describe it in a schema file.
    """
    for name in model.target.releases:
        older, *newer = product_releases(name)
        found = list(_findings(model, older))
        if newer:
            yield from _of_neighbours(name, older, found, newer[0], list(_findings(model, newer[0])))
        else:
            yield from (replace(finding, program=name) for finding in found)


def _of_neighbours(
    name: str, older: ProductRelease, old: list[Finding], newer: ProductRelease, new: list[Finding]
) -> Iterator[Finding]:
    """Yield what the neighbours of an unknown release refuse: both, which is certain, or one, which is a warning.

    The same for runs that fail.
    """
    both = {_key(finding) for finding in old} & {_key(finding) for finding in new}
    for finding in new:
        if _key(finding) in both:
            yield reworded(finding, lambda each: _refused_by_both(each, older, name))
    for release, other, found, others in ((older, newer, old, new), (newer, older, new, old)):
        keys = {key for each in others for key in _keys(each)}
        is_refused = any(each.clause not in _OF_LOADED for each in others)
        for finding in found:
            if _key(finding) not in both:
                answer = _other_answer(finding, other, keys, is_refused)
                yield reworded(finding, partial(_refused_by_one, release=release, answer=answer, name=name))


def _refused_by_both(finding: Finding, older: ProductRelease, name: str) -> Finding:
    does = f"each run of {older.version} fails" if finding.clause == _OF_RUNS else f"{older.version} refuses it"
    return replace(finding, message=f"{finding.message}; {does} as well", program=name)


def _refused_by_one(finding: Finding, release: ProductRelease, answer: str, name: str) -> Finding:
    return replace(
        finding,
        message=f"{finding.message}; {answer}, and {name.replace('=', ' ')} is between them",
        clause=finding.clause if finding.clause in _OF_LOADED else "PRD-5",
        program=f"{release.product}={release.version}",
    )


def _other_answer(finding: Finding, other: ProductRelease, keys: Collection[_Key], is_refused: bool) -> str:
    """Return what another release does with what a release refuses, or loads and refuses at each run.

    `keys`: those of the findings about the other release, and of their parts. `is_refused`: whether that one refuses
    the model. Then it may not come to a node that it has no finding about, such as one of a later operator set.
    """
    place, subject, is_of_runs = _key(finding)
    if (place, subject, False) in keys:
        return f"{other.version} refuses it"
    if (place, subject, True) in keys:
        return f"each run of {other.version} fails"
    if is_refused:
        return f"{other.version} refuses the model for another cause"
    return f"{other.version} {'runs it' if is_of_runs else 'does not refuse it'}"


def _keys(finding: Finding) -> Iterator[_Key]:
    """Yield the keys of a finding and of each of its parts."""
    yield _key(finding)
    if isinstance(finding.parts, Faults):
        for each in finding.parts.all():
            place, subject = finding.parts.part(each)
            yield str(place), subject, finding.clause == _OF_RUNS


_OF_RUNS: Final = "PRD-7"
"""The clause about nodes that a release loads, and refuses at each run."""
_OF_LOADED: Final = ("PRD-6", _OF_RUNS)
"""The clauses about models that a release loads, or may load."""

_Key = tuple[str, str | None, bool]
"""The place of a finding, its subject, and whether it is about runs."""


def _key(finding: Finding) -> _Key:
    """Return what is refused. The reasons differ: one release may lack the operator, and the other an attribute."""
    return str(finding.place), finding.subject, finding.clause == _OF_RUNS


def _findings(model: Model, release: ProductRelease) -> Iterator[Finding]:
    yield from _versions(model, release)
    yield from _operators(model, release)
    if release.has_kernels:
        yield from _sparse_strings(model, release)


def _versions(model: Model, release: ProductRelease) -> Iterator[Finding]:
    if release.ir_version is not None and model.ir_version > release.ir_version:
        yield Finding(
            ROOT.at("ir_version"),
            f"the model states IR version {model.ir_version}, which {release} does not read",
            clause="PRD-1",
            allowed=f"at most IR version {release.ir_version}",
            anchor=release.citation,
        )
    newest = newest_registered(release) if release.has_kernels else release.opsets
    too_new: dict[tuple[str, int], list[tuple[str, Place]]] = {}
    for domain, version, importer, place in _imports(model, release):
        if newest.get(domain, version) < version < FIRST_TRUNCATED_VERSION:
            too_new.setdefault((domain, version), []).append((importer, place))
    for (domain, version), ((importer, place), *others) in too_new.items():
        more = f"; so {'does' if len(others) == 1 else 'do'} {counted(len(others), 'other import')}" if others else ""
        yield Finding(
            place,
            f"{importer} imports version {version} of {quote(shown_domain(domain))}, "
            f"which {release} does not have{release.quoted}{more}",
            clause="PRD-2",
            allowed=f"at most version {newest[domain]}",
            related=tuple(Related(where, f"so does {what}") for what, where in others[:3]),
            subject=shown_domain(domain),
            anchor=release.citation,
        )
    if release.has_kernels:
        for function in model.functions:
            yield from _other_name(model, function, release)


def _imports(model: Model, release: ProductRelease) -> Iterator[tuple[str, int, str, Place]]:
    """Yield the domain and version of each import, what has it, and its place: those of the model first."""
    for index, entry in enumerate(model.proto.opset_import):
        yield normalized_domain(entry.domain), entry.version, "the model", ROOT.at("opset_import", index)
    for function in model.functions if release.has_kernels else ():
        for index, entry in enumerate(function.proto.opset_import):
            place = function.place.at("opset_import", index)
            yield normalized_domain(entry.domain), entry.version, function.body.describe(), place


def _other_name(model: Model, function: Function, release: ProductRelease) -> Iterator[Finding]:
    """Yield a finding if a function imports the default domain only by the name that its nodes do not use.

    ONNX Runtime refuses each call of a function whose nodes use the longer name (NOD-3b), whatever it imports.
    """
    names = [entry.domain for entry in function.proto.opset_import]
    graphs = [graph for graph in model.graphs if graph.function is function]
    used = {form.domain for graph in graphs for form in graph.form_counts}
    alias = shown_domain("")
    for name, other in (("", alias), (alias, "")):
        is_refused = name in used and name not in names and other in names
        if is_refused and (not name or function.index not in model.calls.called):
            yield Finding(
                function.place.at("opset_import", names.index(other)),
                f"{function.body.describe()} imports {quote(other)}, but its nodes have the domain {quote(name)}, "
                f"for which {release} finds no import",
                clause="PRD-2",
                allowed=f"an import of {quote(name)}",
                subject=alias,
                anchor=release.citation,
            )


class _RefusalCause(Record):
    """Why a release refuses nodes. Findings come by `order`, then as the causes were found."""

    order: int
    clause: str
    subject: str
    what: str
    """What is wrong with the first node, in words."""
    unless_removed: bool = False
    """True if it holds only of a node that is there when the release looks for kernels, or converts the nodes."""
    unless_dropped: bool = False
    """True if it holds only of a node that no constant condition drops together with the branch that it is in."""
    before: str = "it looks for kernels"
    """What the release does when it refuses the node, in words."""


_Refused = tuple[_RefusalCause, Sequence[Node]]


def _operators(model: Model, release: ProductRelease) -> Iterator[Finding]:
    """Yield the operators that a release refuses, with one finding for all nodes of one cause."""
    refused: dict[_RefusalCause, list[Node]] = {}
    functions = {(normalized_domain(each.domain), each.name) for each in model.functions}
    found = [
        _calls(model, alike, release) if alike.operator.function else _refused(model, alike, functions, release)
        for alike in model.operators.alike_nodes
    ]
    if release.has_kernels:
        found.append(_refused_values_of_calls(model, release))
        found.append(_later_graphs(model, release))
    for cause, nodes in chain.from_iterable(found):
        if not cause.unless_removed and not cause.unless_dropped:
            refused.setdefault(cause, []).extend(nodes)
            continue
        for node in nodes:
            is_kept = model.kept_nodes.is_kept if cause.unless_removed else model.kept_nodes.is_in_no_dropped_branch
            refused.setdefault(_decided(cause, is_kept(node)), []).append(node)
    loaded = _failing_runs(model, release, {*chain.from_iterable(refused.values())}) if release.has_kernels else ()
    for cause, nodes in loaded:
        refused.setdefault(cause, []).extend(nodes)
    for cause in sorted(refused, key=lambda cause: cause.order):
        yield _finding(cause.what, cause.clause, cause.subject, release, refused[cause])


def _decided(cause: _RefusalCause, is_kept: bool) -> _RefusalCause:
    """Return the cause for a node that surely remains, or for one that the release may remove before."""
    if is_kept:
        return replace(cause, unless_removed=False, unless_dropped=False)
    what = f"{cause.what}, unless it removes the node before {cause.before}"
    return _RefusalCause(4, "PRD-6", cause.subject, what)


def _calls(model: Model, alike: AlikeNodes, release: ProductRelease) -> Iterator[_Refused]:
    """Yield the calls of a function of the model that the release refuses, whatever is in the function."""
    if release.has_kernels:
        yield from _calls_without_all_outputs(model, alike, release)
    elif release.product == "openvino" and alike.operator.domain not in OPENVINO_DOMAINS:
        in_main = [node for node in alike.nodes if node.graph is model.main_graph]
        nodes = [node for node in in_main if model.uses.is_needed(node)]
        if nodes:
            what = f"is a call of a function of the model, for which {release} has no conversion rule"
            subject = _name(alike.operator.domain, alike.operator.op_type)
            yield _RefusalCause(0, "PRD-3", subject, what, unless_removed=True, before="it converts the others"), nodes


def _calls_without_all_outputs(model: Model, alike: AlikeNodes, release: ProductRelease) -> Iterator[_Refused]:
    """Yield the calls that leave out outputs at the end. ONNX Runtime takes those with empty names.

    An operator of the name of the function may run instead in a domain that ONNX Runtime registers.
    """
    operator = alike.operator
    if operator.function is None or not _is_foreign(operator.domain, release):
        return
    count = len(operator.function.body.output_names)
    for node in alike.nodes:
        if len(node.outputs) < count and model.calls.is_run(node.graph):
            has = counted(len(node.outputs), "output")
            what = f"has {has}, but its function has {count:,}; {release} refuses a call that leaves out the last ones"
            yield _RefusalCause(3, "PRD-4", _name(operator.domain, operator.op_type), what), (node,)


def _refused(
    model: Model, alike: AlikeNodes, functions: Collection[tuple[str, str]], release: ProductRelease
) -> Iterator[_Refused]:
    """Yield why a release refuses nodes of one operator. `functions`: those of the model, by domain and name."""
    operator = alike.operator
    domain, op_type, schema = operator.domain, operator.op_type, operator.schema
    nodes = _judged(model, alike, release) if (domain, op_type) not in functions else []
    if not nodes:
        return
    if domain in release.own_domains and not release.has_own(domain, op_type):
        what = f"has an operator that {release} does not have"
        yield _RefusalCause(1, "PRD-3", _name(domain, op_type), what), nodes
    elif op_type and _is_foreign(domain, release):
        if domain not in model.target.registered and not model.operators.schemas.is_described(domain):
            yield _foreign(domain, release), nodes
    elif schema is None or schema.deprecated:
        if release.has_own(domain, op_type):
            yield from _own_operators(model, operator, nodes, release)
    elif not release.has_kernels:
        yield from _each_refused(nodes, lambda node: _refused_by_list(model, node, schema, release))
    elif _name(domain, op_type) not in ONNXRUNTIME_WITHOUT_KERNEL:
        yield from _refused_by_signature_or_kernels(model, alike, schema, nodes, release)


def _refused_by_signature_or_kernels(
    model: Model, alike: AlikeNodes, schema: OperatorSchema, nodes: Sequence[Node], release: ProductRelease
) -> Iterator[_Refused]:
    """Yield what the signature of a release refuses, and what its kernels do of the other nodes.

    `schema`: the signature in the newest release, by which the rules of the chapter on signatures judge the nodes.
    """
    is_own = schema.domain in release.own_domains and not model.operators.schemas.is_described(schema.domain)
    own = signature_in(release.version, schema.domain, schema.name) if is_own else None
    name, owner = _name(schema.domain, schema.name), f"{schema.name} of {release}"
    if own is not None:
        refused = refused_form(alike, schema, own, owner)
        for what in refused:
            yield _RefusalCause(3, "PRD-4", name, f"has {what}"), nodes
        if refused:
            return
    version = alike.operator.opset_version or 0
    for node in nodes:
        types = refused_types(_kinds(model, node), schema, own, owner) if own is not None else []
        for what in types:
            yield _RefusalCause(3, "PRD-4", name, f"has {what}"), (node,)
        if _has_negative_axes(model, node, schema, release):
            what = f"has negative axes beside constant scales, which {release} refuses"
            yield _RefusalCause(3, "PRD-4", schema.name, what, unless_dropped=True), (node,)
        for what in _refused_by_inference(model, node, schema, release):
            yield _RefusalCause(3, "PRD-4", schema.name, f"has {what}, which {release} refuses"), (node,)
        for subject, what in () if types else _refused_by_kernels(model, node, own or schema, version, release):
            yield _unless_removed(subject, what), (node,)


def _unless_removed(subject: str, what: str) -> _RefusalCause:
    return _RefusalCause(3, "PRD-4", subject, f"has {what}", unless_removed=True)


def _kinds(model: Model, node: Node) -> list[str | None]:
    """Return the type of each input of a node; None if it is unknown or left out."""
    known = model.value_flow.facts_seen(node.graph)
    facts = [known(name) if name else None for name in node.inputs]
    return [fact.kind if fact is not None else None for fact in facts]


def _judged(model: Model, alike: AlikeNodes, release: ProductRelease) -> list[Node]:
    """Return the nodes that run. There are none of an operator set that the release does not have at all.

    OpenVINO leaves out the nodes that no output needs.
    """
    operator = alike.operator
    if (operator.opset_version or 0) > release.opsets.get(operator.domain, 2**63):
        return []
    nodes = [node for node in alike.nodes if model.calls.is_run(node.graph)]
    return nodes if release.has_kernels else [node for node in nodes if model.uses.is_needed(node)]


def _is_foreign(domain: str, release: ProductRelease) -> bool:
    """Return whether a domain is one that ONNX Runtime does not register."""
    return release.has_kernels and domain not in {"", *release.own_domains, *release.opsets}


def _each_refused(nodes: Sequence[Node], refusal: Callable[[Node], Iterator[tuple[str, str]]]) -> Iterator[_Refused]:
    """Yield each node with what `refusal` says of it: the subject, and what is refused."""
    for node in nodes:
        for subject, what in refusal(node):
            yield _RefusalCause(3, "PRD-4", subject, f"has {what}"), (node,)


def _foreign(domain: str, release: ProductRelease) -> _RefusalCause:
    """Return the cause of nodes whose domain ONNX Runtime does not register."""
    library = LIBRARIES.get(domain)
    needs = f"it needs a library that registers {quote(domain)}" + (f": {library}" if library else "")
    what = f"is of domain {quote(domain)}, which {release} does not register; {needs}"
    return _RefusalCause(2, "PRD-3", domain, what)


def _own_operators(
    model: Model, operator: Operator, nodes: Sequence[Node], release: ProductRelease
) -> Iterator[_Refused]:
    """Yield what a release refuses of an operator that it has, and ONNX has not."""
    name = _name(operator.domain, operator.op_type)
    if not any(release.kernels(operator.domain, operator.op_type)):
        for node in nodes:
            yield _unless_removed(name, f"the operator {operator.op_type}, {_no_kernel(release)}"), (node,)
        return
    for node in nodes:
        against = _against_own_signature(node, _kinds(model, node), operator.opset_version or 0)
        for what in chain(against, _against_own_inference(model, node, operator.opset_version or 0)):
            yield _RefusalCause(3, "PRD-4", name, f"has {what}, which {release} refuses"), (node,)


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


_OPERATORS_WITH_READ_INPUTS = frozenset(READ_INPUTS)
_OPERATORS_WITH_REFUSED_VALUES = frozenset({name for name, _ in REFUSED_VALUES})


def _finding(what: str, clause: str, name: str, release: ProductRelease, nodes: Sequence[Node]) -> Finding:
    first, *others = nodes
    more = f"; this holds for {len(nodes):,} nodes" if others else ""
    is_of_runs = clause == _OF_RUNS
    return Finding(
        first.place,
        f"{first.describe()} {what}{more}",
        clause=clause,
        allowed=f"a node that {release} runs on CPUs" if is_of_runs else f"an operator and element types of {release}",
        related=tuple(Related(node.place, f"so has {node.describe()}") for node in others[:3]),
        subject=name,
        collective=True,
        count=len(nodes),
        cause=f"{release} {name} {what}",
        anchor=_SOURCE_OF_RUNS if is_of_runs else release.citation,
        parts=Faults(
            nodes,
            partial(_finding, what, clause, name, release),
            lambda node: (node.place, name),
            is_one_fault=False,
        ),
    )


_CASTS = 6
"""The operator set from which on the Casts that ONNX Runtime inserts are valid."""


def _refused_by_list(
    model: Model, node: Node, schema: OperatorSchema, release: ProductRelease
) -> Iterator[tuple[str, str]]:
    """Yield the operator, or the types of operands, that the release does not support, with a description."""
    if release.refuses(schema.domain, schema.name, schema.since_version):
        yield (
            _name(schema.domain, schema.name),
            f"{_described(schema)}, which {release} does not support{release.quoted}",
        )
        return
    if not schema.domain:
        for what in _refused_values(node.attribute_protos, schema, release):
            yield schema.name, f"{what}, which {release} refuses"
    if release.element_types and not schema.has_subgraphs:
        kinds = {kind for kinds in _types(model, node, schema).values() for kind in kinds if kind.startswith("tensor(")}
        for kind in sorted(kinds - release.element_types):
            yield kind, f"an operand of type {kind}, which {release} does not support{release.quoted}"


def _refused_by_kernels(
    model: Model, node: Node, schema: OperatorSchema, version: int, release: ProductRelease
) -> Iterator[tuple[str, str]]:
    """Yield the operator, with a description of what the release refuses of it.

    `version`: that of the operator set.
    """
    types = _types(model, node, schema)
    has_function = schema.has_function_body or release.runs_function(schema.domain, schema.name)
    what = (_without_function if has_function else _without_kernel)(types, schema, version, release)
    if what is not None:
        more = ", and it cannot run the function of the operator" if has_function else ""
        yield _name(schema.domain, schema.name), f"{what}, {_no_kernel(release)}{more}"
    if not schema.domain and schema.name in _OPERATORS_WITH_REFUSED_VALUES:
        for what in _refused_values(node.attribute_protos, schema, release):
            yield schema.name, f"{what}, which {release} refuses"
    if not schema.domain and schema.name in REFUSED_FORMS:
        for what in _refused_forms(model, node, schema):
            yield schema.name, f"{what}, which {release} refuses"
    if schema.domain in release.own_domains:
        for what in _later_values(node, schema, types, release):
            yield _name(schema.domain, schema.name), f"{what}, which {release} refuses"


def _refused_forms(model: Model, node: Node, schema: OperatorSchema) -> Iterator[str]:
    """Yield values of attributes that ONNX Runtime refuses for the type of output 0."""
    values = _values_of(node, schema)
    fact = model.value_flow.facts_seen(node.graph)(node.outputs[0]) if node.outputs and node.outputs[0] else None
    kind = fact.kind if fact is not None else None
    for form in REFUSED_FORMS[schema.name]:
        is_meant = schema.since_version in form.versions and values.get(form.attribute) == form.value
        if is_meant and kind in form.types:
            yield f"attribute {quote(form.attribute)} with the value {form.value} and an output of type {kind}"


def _later_values(
    node: Node, schema: OperatorSchema, types: Mapping[str, set[str]], release: ProductRelease
) -> Iterator[str]:
    """Yield values of attributes that the release does not have for one of ONNX Runtime's operators."""
    values = {**_values_of(node, schema), "outputs": str(len(node.outputs))}
    for each in refused_values(release.version, schema.name, values, types):
        name, _, value = each.partition("=")
        yield f"attribute {quote(name)} with the value {value}"


def _values_of(node: Node, schema: OperatorSchema) -> dict[str, str]:
    """Return the values of attributes. One that a function passes on has no value here."""
    values = {name: str(each.default) for name, each in schema.attributes.items() if each.default is not None}
    for attribute in node.attribute_protos:
        values[attribute.name] = attribute.s.decode("utf-8", "replace") or str(attribute.i)
        if attribute.ref_attr_name:
            del values[attribute.name]
    return values


def _failing_runs(model: Model, release: ProductRelease, refused: Collection[Node]) -> Iterator[_Refused]:
    """Yield the nodes of ONNX Runtime's operators that a release loads, and refuses at each run of the model.

    `refused`: the nodes that it does not load.
    """
    failing = [each for each in _failing_nodes(model, release) if each[1] not in refused]
    run = _nodes_of_runs(model) if failing else ()
    for cause, node in failing:
        if node in run:
            yield cause, (node,)


def _failing_nodes(model: Model, release: ProductRelease) -> Iterator[tuple[_RefusalCause, Node]]:
    """Yield the nodes of the main graph with which a run fails, if it comes to them."""
    for alike in model.operators.alike_nodes:
        schema = alike.operator.schema
        if schema is None or alike.operator.function or schema.domain not in release.own_domains:
            continue
        subject = _name(schema.domain, schema.name)
        inputs = (signature_in(release.version, schema.domain, schema.name) or schema).inputs
        for node in _judged(model, alike, release):
            if node.graph is not model.main_graph:
                continue
            given = [(each.name, name) for each, name in zip(inputs, node.inputs, strict=False) if name]
            ranks = {each: _rank(model, node, name) for each, name in given}
            types = _types(model, node, schema)
            values = _values_of(node, schema)
            extents = {name: _has_elements(model, node, each.first_axis) for name, each in EXTENTS.items()}
            may_have = {name for name, has in extents.items() if has is not False}
            for what, needed in failing_runs(release.version, schema.name, values, ranks, types, may_have):
                unless = " if input 0 has elements" if needed and not extents[needed] else ""
                cause = f"has {what}, with which each run of {release} on CPUs fails{unless}"
                yield _RefusalCause(5, _OF_RUNS, subject, cause), node


_SOURCE_OF_RUNS: Final = "runs of the package onnxruntime on PyPI, 2026-11-29"
"""The source of what is known of runs, and its date, as `ProductRelease.citation` has it."""


def _nodes_of_runs(model: Model) -> set[Node]:
    """Return the nodes of the main graph that each run of a model surely runs.

    Those are needed for an output, or nothing reads them: ONNX Runtime runs these as well. Before them come those whose
    elements they need.
    """
    graph = model.main_graph
    used = model.uses.used_in(graph)
    calls = {node for node, _ in model.calls.all}
    pending = [node for node in graph.nodes if model.kept_nodes.is_kept(node) or used.isdisjoint(node.outputs)]
    found = {*pending}
    while pending:
        reader = pending.pop()
        if reader in calls:  # it may have nothing but a Shape
            continue
        for name in filter(None, reader.inputs):
            definition = graph.definition_of(name)
            before = definition.node if definition is not None else None
            if before is not None and before not in found and _needs(model, reader, name, before):
                found.add(before)
                pending.append(before)
    return found


def _needs(model: Model, reader: Node, name: str, before: Node) -> bool:
    """Return whether a node needs the elements of what it reads, or a size that only the run knows.

    ONNX Runtime computes a Shape when it loads the model if it knows all sizes, and never a Size.
    """
    if reader.op_type != "Shape" or normalized_domain(reader.domain):
        return True
    graph = model.main_graph
    is_stated = name in graph.value_info_names or name in graph.output_names
    if _has_no_inferred_shape(before) and not is_stated:
        return True
    return any(isinstance(size, str) for size in model.shape_of(name, graph) or ())


def _has_no_inferred_shape(node: Node) -> bool:
    """Return whether ONNX Runtime infers no shape for a node: an Attention without a bias."""
    return (normalized_domain(node.domain), node.op_type) == ("com.microsoft", "Attention") and not _name_of(node, 2)


def _has_elements(model: Model, node: Node, first: int) -> bool | None:
    """Return whether the axes of input 0 from one on have no size of 0; None if that is unknown."""
    shape = model.shape_of(node.inputs[0], node.graph) if node.inputs and node.inputs[0] else None
    if shape is None:
        return None
    sizes = shape[first:]
    if 0 in sizes:
        return False
    return True if all(isinstance(size, int) for size in sizes) else None


def _rank(model: Model, node: Node, name: str) -> int | None:
    shape = model.shape_of(name, node.graph)
    return None if shape is None else len(shape)


def _against_own_signature(node: Node, kinds: Sequence[str | None], version: int) -> Iterator[str]:
    """Yield what contradicts the signature of an operator that only ONNX Runtime defines.

    `kinds`: the type of each input; None if it is unknown or left out.
    """
    signature = ONNXRUNTIME_SIGNATURES.get(node.op_type)
    if signature is None or version > signature.until:
        return
    for noun, count, allowed in (
        ("input", len(node.inputs), signature.inputs),
        ("output", len(node.outputs), signature.outputs),
    ):
        if count not in allowed:
            most = f" to {allowed[-1]}" if len(allowed) > 1 else ""
            yield f"{counted(count, noun)} of {node.op_type}, not {allowed[0]}{most}"
    for attribute in node.attribute_protos:
        kind = signature.attributes.get(attribute.name)
        if kind is not None and attribute.type not in (0, ATTRIBUTE_TYPE_CODES[kind]):
            yield f"an attribute {quote(attribute.name)} of {node.op_type} that is no {kind}"
    for index, given in enumerate(kinds):
        if given and given not in signature.types:
            yield f"an input {index} of type {given}"


def _against_own_inference(model: Model, node: Node, version: int) -> Iterator[str]:
    """Yield what the inference of an operator that only ONNX Runtime defines refuses: an axis, or the declared type."""
    signature = ONNXRUNTIME_SIGNATURES.get(node.op_type)
    if signature is None or version > signature.until or "axis" not in signature.attributes or len(node.inputs) < 2:
        return
    shape = model.shape_of(node.inputs[0], node.graph)
    for each in node.attribute_protos:
        if each.name == "axis" and shape is not None and not -len(shape) <= each.i < len(shape):
            yield f"attribute 'axis' with the value {each.i} for {counted(len(shape), 'dimension')}"
    known = model.value_flow.facts_seen(node.graph)
    scale, given = (known(name) if name else None for name in (node.inputs[1], next(iter(node.outputs), "")))
    if scale is not None and given is not None and scale.kind and given.kind and given.kind != scale.kind:
        yield f"an output 0 of type {given.kind}, though input 1 is of type {scale.kind}"


def _has_negative_axes(model: Model, node: Node, schema: OperatorSchema, release: ProductRelease) -> bool:
    """Return whether a node is a Resize whose kernel looks for the scales of its negative axes in vain."""
    if schema.domain or schema.name != "Resize" or version_number(release.version)[:2] > RESIZE_NEGATIVE_AXES_UNTIL:
        return False
    axes = [axis for each in node.attribute_protos if each.name == "axes" for axis in each.ints]
    has_scales = _is_constant(node, 2) and not _has_no_elements(model, node, 2)
    return min(axes, default=0) < 0 and has_scales and _has_rank(model, node)


def _refused_by_inference(model: Model, node: Node, schema: OperatorSchema, release: ProductRelease) -> Iterator[str]:
    """Yield what the inference of shapes refuses of a node, which comes before anything is removed."""
    if schema.name == LINEAR_ATTENTION and not schema.domain:
        rule = _values_of(node, schema).get("update_rule", "")
        forbidden = [index for index in FORBIDDEN_GATES.get(rule, ()) if _name_of(node, index)]
        for index in forbidden[:1]:
            yield f"input {index} beside attribute 'update_rule' with the value {rule}"
    if schema.domain or schema.name not in _OPERATORS_WITH_READ_INPUTS:
        return
    reading = next((each for each in READ_INPUTS.get(schema.name, ()) if schema.since_version >= each.since), None)
    if reading is not None and model.external_data and _is_read(model, node, reading, release):
        inside = [f"input {index}" for index in reading.inputs if _is_in_a_data_file(model, node, index)]
        if inside:
            yield f"{listed(inside)} in a data file, though the inference of shapes reads the elements"


def _refused_values(attributes: Iterable[Any], schema: OperatorSchema, release: ProductRelease) -> Iterator[str]:
    for attribute in attributes:
        row = REFUSED_VALUES.get((schema.name, attribute.name))
        if row is None or release.product not in row.products or not row.first <= schema.since_version <= row.last:
            continue
        if attribute.i in row.values or attribute.s in row.values:
            yield f"attribute {quote(attribute.name)} with the value {attribute.s.decode() or attribute.i}"


def _refused_values_of_calls(model: Model, release: ProductRelease) -> Iterator[_Refused]:
    """Yield the nodes of functions that get a refused value from a call, or from the default of a parameter."""
    for each in model.bound_nodes:
        if not each.schema.domain and model.calls.is_run(each.graph):
            for what in _refused_values(each.bound.attributes, each.schema, release):
                for node in each.nodes:
                    yield _unless_removed(each.schema.name, f"{what}, which {release} refuses"), (node,)


def _later_graphs(model: Model, release: ProductRelease) -> Iterator[_Refused]:
    """Yield the searches of ONNX Runtime with graphs of a form that only later releases have."""
    if not runs_decoders(model):
        return
    from onnx_lint.model.searches import later_graphs

    for search, what in later_graphs(model, release.version):
        if model.calls.is_run(search.node.graph):
            name = _name(search.schema.domain, search.schema.name)
            yield _RefusalCause(3, "PRD-4", name, f"has the graph {what}, which {release} refuses"), (search.node,)


def _is_read(model: Model, node: Node, reading: ReadInputs, release: ProductRelease) -> bool:
    """Return whether the inference of shapes of a release reads the inputs of a node that are constants."""
    if version_number(release.version)[:2] < reading.from_release:
        return False
    named = [name for index in reading.inputs if (name := _name_of(node, index))]
    if reading.needs_all and not all(_has_tensor(model, node, name) for name in named):
        return False
    return not reading.needs_rank or _has_rank(model, node)


def _has_tensor(model: Model, node: Node, name: str) -> bool:
    return next(StoredElements(model.calls, model.main_graph).tensors_of(node.graph, name), None) is not None


def _has_rank(model: Model, node: Node) -> bool:
    """Return whether the rank of input 0 is known."""
    return bool(node.inputs) and model.shape_of(node.inputs[0], node.graph) is not None


def _is_constant(node: Node, index: int) -> bool:
    name = _name_of(node, index)
    found = node.graph.definition_of(name) if name else None
    return found is not None and (found.field == "initializer" or _is_of_constant(found))


def _has_no_elements(model: Model, node: Node, index: int) -> bool:
    shape = model.shape_of(node.inputs[index], node.graph)
    return shape is not None and 0 in shape


def _is_of_constant(found: Definition) -> bool:
    return found.node is not None and (found.node.domain, found.node.op_type) == ("", "Constant")


def _name_of(node: Node, index: int) -> str:
    """Return the name of an input; empty if it is left out."""
    return node.inputs[index] if index < len(node.inputs) else ""


def _is_in_a_data_file(model: Model, node: Node, index: int) -> bool:
    """Return whether an input may be a constant with elements that are in a data file."""
    tensors = StoredElements(model.calls, model.main_graph).tensors_of(node.graph, _name_of(node, index))
    return any(tensor.data_location == EXTERNAL_LOCATION and 0 not in tensor.dims for tensor in tensors)


def _sparse_strings(model: Model, release: ProductRelease) -> Iterator[Finding]:
    """Yield the sparse tensors of strings in the main graph and its subgraphs."""
    for tensor in model.sparse_tensors:
        values = tensor.values
        if values is not None and values.proto.data_type == DataType.STRING and tensor.place.key[0][0] == "graph":
            yield Finding(
                tensor.place,
                f"the sparse tensor {quote(tensor.name)} has elements of type string, which {release} does not read",
                clause="PRD-4",
                allowed=f"element types of {release}",
                subject="sparse_tensor(string)",
                anchor=release.citation,
            )


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
    # It inserts no Casts around a node that has graphs, or no inputs.
    in_float = types if schema.has_subgraphs or not schema.inputs else _in_float(types, schema, version)
    if any(_takes(kernel, types) or _takes(kernel, in_float) for kernel in kernels):
        return None
    judged = {name: frozenset[str]().union(*(kernel.types.get(name, ()) for kernel in kernels)) for name in types}
    without = {kind for name, allowed in judged.items() if allowed for kind in types[name] - allowed}
    return _described(schema, without or {kind for name, allowed in judged.items() if allowed for kind in types[name]})


def _takes(kernel: Kernel, types: Mapping[str, set[str]]) -> bool:
    return all(types.get(name, set()) <= allowed for name, allowed in kernel.types.items())


def _in_float(types: Mapping[str, set[str]], schema: OperatorSchema, version: int) -> dict[str, set[str]]:
    """Return the types with which a node runs between two Casts, of version 6 or later, if float16 has no kernel."""
    half = "tensor(float16)" if schema.domain or version >= _CASTS else ""
    return {name: {"tensor(float)" if kind == half else kind for kind in kinds} for name, kinds in types.items()}


def _types(model: Model, node: Node, schema: OperatorSchema) -> Mapping[str, set[str]]:
    """Return the known types of the operands, by type variable and by parameter, as ONNX Runtime writes them.

    An operand that a call of the function leaves out has the empty type, and none to judge.
    """
    found: dict[str, set[str]] = {}
    known = model.value_flow.facts_seen(node.graph)
    for names, parameter_at in ((node.inputs, schema.input_at), (node.outputs, schema.output_at)):
        for index, name in enumerate(names):
            parameter, fact = parameter_at(index), known(name) if name else None
            kind = fact.kind if fact is not None else None
            if parameter is None or not kind:
                continue
            kind = re.sub(r"map\((\w+), (\w+)\)", r"map(\1,tensor(\2))", kind) if "map(" in kind else kind
            for key in filter(None, (parameter.name, parameter.variable)):
                found.setdefault(key, set()).add(kind)
    return found

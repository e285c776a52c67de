# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Final

from onnx_lint.model import ROOT, DataType, Function, Model, Node, Place, has_target, normalized_domain, shown_domain
from onnx_lint.refusals.causes import CauseKind, RefusalCause
from onnx_lint.refusals.operands import is_in_main_graph
from onnx_lint.refusals.operators import refused_operators
from onnx_lint.rule import Faults, Finding, Record, Related, replace, reworded, rule
from onnx_lint.spec.products import ProductRelease, product_releases
from onnx_lint.spec.products.refusals import FIRST_TRUNCATED_VERSION, newest_registered
from onnx_lint.spec.target import title
from onnx_lint.wording import counted, quote


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
        answers = [_Refusals(each, tuple(_findings_for(model, each))) for each in product_releases(name)]
        if len(answers) == 1:
            yield from (replace(finding, program=name) for finding in answers[0].findings)
        else:
            older, newer = answers
            yield from _refused_by_neighbours(name, older, newer)


# --- the neighbours of a release without data


class _Refusals(Record):
    """What a release refuses, or fails to run."""

    release: ProductRelease
    findings: Sequence[Finding]

    @property
    def is_certain(self) -> bool:
        """True if the release surely refuses the model."""
        return any(each.clause not in _CLAUSES_OF_LOADED for each in self.findings)


class _RefusedPart(Record):
    """The part of a model that a release refuses. Releases may refuse one part for different reasons."""

    place: str
    subject: str | None
    is_loaded: bool
    """True if the release loads it, and each run fails."""


_FAILING_RUN: Final = CauseKind.FAILING_RUN.clause
"""The clause about nodes that a release loads, and with which each run fails."""
_CLAUSES_OF_LOADED: Final = (CauseKind.REFUSED_UNLESS_REMOVED.clause, _FAILING_RUN)
"""The clauses about models that a release loads, or may load."""


def _refused_by_neighbours(name: str, older: _Refusals, newer: _Refusals) -> Iterator[Finding]:
    """Yield what the neighbours of an unknown release refuse, or fail to run.

    If both do, this is certain. If one of them does, it is a warning.
    """
    both = set(map(_part_of, older.findings)).intersection(map(_part_of, newer.findings))
    for finding in newer.findings:
        if _part_of(finding) in both:
            yield reworded(finding, partial(_refused_by_both, older=older.release, name=name))
    for refusing, other in ((older, newer), (newer, older)):
        refused = {part for each in other.findings for part in _all_parts_of(each)}
        for finding in refusing.findings:
            if _part_of(finding) not in both:
                answer = _answer_about(_part_of(finding), other, refused)
                yield reworded(finding, partial(_refused_by_one, release=refusing.release, answer=answer, name=name))


def _part_of(finding: Finding) -> _RefusedPart:
    return _RefusedPart(str(finding.place), finding.subject, finding.clause == _FAILING_RUN)


def _all_parts_of(finding: Finding) -> Iterator[_RefusedPart]:
    """Yield the first part that a finding is about, then all of them."""
    yield _part_of(finding)
    if isinstance(finding.parts, Faults):
        for each in finding.parts.all():
            place, subject = finding.parts.part(each)
            yield _RefusedPart(str(place), subject, finding.clause == _FAILING_RUN)


def _answer_about(part: _RefusedPart, other: _Refusals, refused: Collection[_RefusedPart]) -> str:
    """Return what another release does with a part that one release refuses, or fails to run, in words.

    `refused`: the parts that the other release refuses, or fails to run. If it refuses another part of the model, it
    may stop before it reaches this one, such as a node of a later operator set.
    """
    version = other.release.version
    if replace(part, is_loaded=False) in refused:
        return f"{version} refuses it"
    if replace(part, is_loaded=True) in refused:
        return f"each run of {version} fails"
    if other.is_certain:
        return f"{version} refuses the model for another cause"
    return f"{version} runs it" if part.is_loaded else f"{version} does not refuse it"


def _refused_by_both(finding: Finding, older: ProductRelease, name: str) -> Finding:
    """Return a finding about the newer neighbour with what the older one does. `name`: the release between them."""
    is_loaded = finding.clause == _FAILING_RUN
    does = f"each run of {older.version} fails" if is_loaded else f"{older.version} refuses it"
    return replace(finding, message=f"{finding.message}; {does} as well", program=name)


def _refused_by_one(finding: Finding, release: ProductRelease, answer: str, name: str) -> Finding:
    """Return a finding about a release with the answer of its neighbour. `name`: the release between them."""
    return replace(
        finding,
        message=f"{finding.message}; {answer}, and {title(name)} is between them",
        clause=finding.clause if finding.clause in _CLAUSES_OF_LOADED else "PRD-5",
        program=f"{release.product}={release.version}",
    )


# --- one release


def _findings_for(model: Model, release: ProductRelease) -> Iterator[Finding]:
    """Yield the findings about what a release refuses, or fails to run."""
    yield from _later_versions(model, release)
    for refusal in refused_operators(model, release):
        yield _refused_nodes(refusal.cause, release, refusal.nodes)
    if release.has_kernels:
        yield from _sparse_strings(model, release)


def _later_versions(model: Model, release: ProductRelease) -> Iterator[Finding]:
    """Yield the IR version and the imports that are later than those of a release."""
    if release.ir_version is not None and model.ir_version > release.ir_version:
        yield Finding(
            ROOT.at("ir_version"),
            f"the model states IR version {model.ir_version}, which {release} does not read",
            clause="PRD-1",
            allowed=f"at most IR version {release.ir_version}",
            anchor=release.citation,
        )
    newest = newest_registered(release) if release.has_kernels else release.opsets
    later: dict[tuple[str, int], list[_Import]] = {}
    for each in _imports(model, release):
        if newest.get(each.domain, each.version) < each.version < FIRST_TRUNCATED_VERSION:
            later.setdefault((each.domain, each.version), []).append(each)
    for imports in later.values():
        yield _later_import(imports, newest[imports[0].domain], release)
    if release.has_kernels:
        for function in model.functions:
            yield from _import_by_other_name(model, function, release)


class _Import(Record):
    """An import of an operator set."""

    domain: str
    version: int
    importer: str
    """The model, or a function, in words."""
    place: Place


def _imports(model: Model, release: ProductRelease) -> Iterator[_Import]:
    """Yield the imports that a release reads, those of the model first. Only ONNX Runtime reads those of functions."""
    for index, entry in enumerate(model.proto.opset_import):
        place = ROOT.at("opset_import", index)
        yield _Import(normalized_domain(entry.domain), entry.version, "the model", place)
    if not release.has_kernels:
        return
    for function in model.functions:
        for index, entry in enumerate(function.proto.opset_import):
            place = function.place.at("opset_import", index)
            yield _Import(normalized_domain(entry.domain), entry.version, function.body.describe(), place)


def _later_import(imports: Sequence[_Import], newest: int, release: ProductRelease) -> Finding:
    """Return the finding about all imports of one version of a domain."""
    first, *others = imports
    domain = shown_domain(first.domain)
    more = f"; so {'does' if len(others) == 1 else 'do'} {counted(len(others), 'other import')}" if others else ""
    return Finding(
        first.place,
        f"{first.importer} imports version {first.version} of {quote(domain)}, "
        f"which {release} does not have{release.quoted}{more}",
        clause="PRD-2",
        allowed=f"at most version {newest}",
        related=tuple(Related(each.place, f"so does {each.importer}") for each in others[:3]),
        subject=domain,
        anchor=release.citation,
    )


def _import_by_other_name(model: Model, function: Function, release: ProductRelease) -> Iterator[Finding]:
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


def _refused_nodes(cause: RefusalCause, release: ProductRelease, nodes: Sequence[Node]) -> Finding:
    """Return the finding about all nodes with one cause."""
    first, *others = nodes
    more = f"; this holds for {len(nodes):,} nodes" if others else ""
    is_loaded = cause.kind is CauseKind.FAILING_RUN
    return Finding(
        first.place,
        f"{first.describe()} {cause.what}{more}",
        clause=cause.kind.clause,
        allowed=f"a node that {release} runs on CPUs" if is_loaded else f"an operator and element types of {release}",
        related=tuple(Related(node.place, f"so has {node.describe()}") for node in others[:3]),
        subject=cause.subject,
        collective=True,
        count=len(nodes),
        cause=f"{release} {cause.subject} {cause.what}",
        anchor=_SOURCE_OF_RUNS if is_loaded else release.citation,
        parts=Faults(
            nodes,
            partial(_refused_nodes, cause, release),
            lambda node: (node.place, cause.subject),
            is_one_fault=False,
        ),
    )


_SOURCE_OF_RUNS: Final = "runs of the package onnxruntime on PyPI, 2026-11-29"
"""The source of what is known of runs, and its date, as `ProductRelease.citation` has it."""


def _sparse_strings(model: Model, release: ProductRelease) -> Iterator[Finding]:
    """Yield the sparse tensors of strings in the main graph and its subgraphs."""
    for tensor in model.sparse_tensors:
        values = tensor.values
        has_strings = values is not None and values.proto.data_type == DataType.STRING
        if has_strings and is_in_main_graph(tensor.place):
            yield Finding(
                tensor.place,
                f"the sparse tensor {quote(tensor.name)} has elements of type string, which {release} does not read",
                clause="PRD-4",
                allowed=f"element types of {release}",
                subject="sparse_tensor(string)",
                anchor=release.citation,
            )

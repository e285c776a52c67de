# SPDX-License-Identifier: Apache-2.0
"""The engine: runs the selected rules over a model and turns findings into diagnostics."""

from __future__ import annotations

import binascii
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from itertools import chain, islice
from typing import Final

from onnx_lint.limits import OF_REPORT
from onnx_lint.loader import load
from onnx_lint.model import ROOT, Fault, FaultKind, Model, Place
from onnx_lint.model.documents import KINDS, MODEL, OF_MODELS
from onnx_lint.record import replace
from onnx_lint.registry import Registered
from onnx_lint.report import Diagnostic, Facts, FileReport, InternalError, RelatedPlace, Report
from onnx_lint.rule import Finding, Related, Rule
from onnx_lint.selection import Settings, is_selected, options_of, schemas_of, selected_rules, selection_of
from onnx_lint.source import ReadError, Source, SourceError, source_of
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity

Watch = Callable[[str], AbstractContextManager[None]]
"""Measures a part of the work that has a name, see `onnx_lint.stopwatch`."""


def _unwatched(_: str) -> AbstractContextManager[None]:
    return nullcontext()


def lint_model(
    model: Model, settings: Settings, watch: Watch = _unwatched
) -> tuple[list[Diagnostic], list[InternalError]]:
    """Run every selected rule over `model`; a rule that raises is told apart and stops nothing else.

    What a limit keeps out of the diagnostics becomes a fault of the model.
    """
    model.operator_schemas = schemas_of(settings)
    model.target = settings.target
    if settings.opset_imports:
        model.suppose_imports(settings.opset_imports)
    diagnostics: list[tuple[int, Diagnostic]] = []
    errors: list[InternalError] = []
    with watch("load rules"):
        entries = selection_of(settings).asked(model)
    for entry in entries:
        left = model.limits.findings - len(diagnostics)
        try:
            # A context for each of a hundred rules takes longer than most of them on a small model.
            if watch is _unwatched:
                diagnostics += _run(entry, model, settings, left)
            else:
                with watch(f"rule {entry.id}"):
                    diagnostics += _run(entry, model, settings, left)
        except ReadError:
            raise  # no fault of the rule: the file has no verdict
        except Exception as error:
            errors.append(InternalError.of(error, entry.id))
    diagnostics.sort(key=lambda item: (item[0], item[1].rule, item[1].place, item[1].message))
    return [diagnostic for _, diagnostic in diagnostics], errors


def _run(entry: Registered, model: Model, settings: Settings, left: int) -> Sequence[tuple[int, Diagnostic]]:
    """What one rule finds, at most `left` diagnostics or one."""
    options = options_of(entry.rule, settings) if settings.options else {}
    findings = iter(entry.rule.run(model, **options))
    first = next(findings, None)
    if first is None:
        return ()
    return _limited(entry, _diagnostics(entry, chain((first,), findings), model, settings), model, left)


def _limited(
    entry: Registered, found: Iterator[tuple[int, Diagnostic]], model: Model, left: int
) -> list[tuple[int, Diagnostic]]:
    """The first of the diagnostics of one rule; a limit that is reached becomes a fault of the model.

    One diagnostic gets through in any case, so that no rule is silenced by the findings of another.
    """
    limits = model.limits
    name = "findings_per_rule" if limits.findings_per_rule <= left else "findings"
    most = max(min(limits.findings_per_rule, left), 1)
    kept = list(islice(found, most))
    if len(kept) == most and next(found, None) is not None:
        shown = "only the first finding is" if most == 1 else f"only the first {most:,} findings are"
        value = f"limit {name} of {getattr(limits, name):,} (option --limit {name}=N)"
        message = f"{shown} reported of rule {entry.id!r}: {value}"
        model.faults = (*model.faults, Fault(FaultKind.LIMIT, ROOT, message, limit=name))
    return kept


def _diagnostics(
    entry: Registered, findings: Iterable[Finding], model: Model, settings: Settings
) -> Iterator[tuple[int, Diagnostic]]:
    levels: dict[str, Severity | None] = {}
    for found in findings:
        clause = _clause_of(entry.rule, found)
        finding = found if model.kind == MODEL else _of_document(found, entry.chapter, model)
        if finding is None:
            continue
        if clause.id not in levels:
            levels[clause.id] = _level(entry, clause, settings)
        level = levels[clause.id]
        if level is not None:
            extent = _extent(finding, model)
            yield extent[0], _diagnostic(entry.rule, finding, clause, level, extent, model, settings.standard.edition)


def _level(entry: Registered, clause: Clause, settings: Settings) -> Severity | None:
    """The severity of what the rule finds against the clause; None where that is not to be reported."""
    level = severity(clause, settings.standard.edition)
    if level is None or not is_selected(entry, clause, settings):
        return None
    return settings.severities.get(entry.id, level)


_OF_THE_FILE: Final = frozenset({"file", "operator-set", "value"})
"""The chapters whose rules look at the document itself and not at the model around its parts."""


def _of_document(finding: Finding, chapter: str, model: Model) -> Finding | None:
    """The finding with the places of a document that is no model; None where it is not about the document."""
    if chapter in _OF_THE_FILE:
        return finding
    place = model.place_in_document(finding.place)
    if place is None:
        return None
    related = ((item, model.place_in_document(item.place)) for item in finding.related)
    return replace(
        finding,
        place=place,
        message=model.wording_of_document(finding.message),
        related=tuple(
            Related(other, model.wording_of_document(item.message)) for item, other in related if other is not None
        ),
    )


def _clause_of(rule: Rule, finding: Finding) -> Clause:
    name = finding.clause or rule.clauses[0]
    if name not in rule.clauses:
        raise ValueError(f"the finding cites clause {name!r}, which the rule does not declare")
    if finding.clause is None and len(rule.clauses) > 1:
        raise ValueError("the rule decides several clauses and the finding does not say which")
    return clauses()[name]


def _diagnostic(
    rule: Rule,
    finding: Finding,
    clause: Clause,
    level: Severity,
    extent: tuple[int, int],
    model: Model,
    edition: str,
) -> Diagnostic:
    around = model.surroundings(finding.place)
    return Diagnostic(
        rule=rule.id,
        severity=level,
        message=_cut(finding.message, _MAX_MESSAGE),
        place=_path(finding.place, model),
        pointer=finding.place.pointer(),
        clause=clause.id,
        keyword=clause.keyword[edition],
        clause_summary=clause.summary,
        anchor=clause.anchor,
        allowed=finding.allowed,
        related=_related(finding, model),
        # The bytes of a message in text form are those that it would have in a file; they give its place in the order.
        byte_range=extent if finding.offset is not None or model.form == "binary" else None,
        subject=_name(finding.subject),
        node=_name(around.node),
        operator=_name(around.operator),
        graph=_name(around.graph),
        scope=tuple(str(_name(name)) for name in around.scope),
        collective=finding.collective,
    )


def _path(place: Place, model: Model) -> str:
    """The place as a report has it; the root is called after the kind of document."""
    return str(place) if place.parent is not None else KINDS[model.kind].noun


_MAX_MESSAGE = 10_000
_MAX_NAME = 1_000
_MAX_RELATED = 1_000
_MAX_DOMAINS = 1_000
"""Of the domains that a model imports or uses so many are told, apart from the findings."""


def _cut(text: str, most: int) -> str:
    """The text without its middle when it is longer than any that a person wrote."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def _name(name: str | None) -> str | None:
    """A name as a report holds it: of a very long one both ends, and a digest that tells it from others."""
    if name is None or len(name) <= _MAX_NAME:
        return name
    digest = binascii.crc32(name.encode("utf-8", "surrogatepass"))
    return f"{_cut(name, _MAX_NAME)} ({len(name):,} characters, CRC-32 {digest:08x})"


def _related(finding: Finding, model: Model) -> tuple[RelatedPlace, ...]:
    """The related places; of a circle through a whole graph the first ones, and how many there are."""
    places = [
        RelatedPlace(
            _path(item.place, model),
            item.place.pointer(),
            _cut(item.message, _MAX_MESSAGE),
            model.byte_range(item.place),
        )
        for item in finding.related[:_MAX_RELATED]
    ]
    hidden = len(finding.related) - len(places)
    if hidden:
        place = finding.place
        places.append(RelatedPlace(str(place), place.pointer(), f"{hidden:,} further places are not listed", None))
    return tuple(places)


def _extent(finding: Finding, model: Model) -> tuple[int, int]:
    """The bytes that the finding is about, or those around its place."""
    if finding.offset is not None:
        return finding.offset, finding.offset + (finding.length or 0)
    return model.extent(finding.place)


def _facts(model: Model) -> Facts | None:
    if not model.loaded or model.kind != MODEL:
        return None
    proto = model.proto
    return Facts(
        ir_version=model.ir_version,
        opset_imports=tuple((str(_name(entry.domain)), entry.version) for entry in proto.opset_import[:_MAX_DOMAINS]),
        producer=str(_name(f"{proto.producer_name} {proto.producer_version}".strip())),
        nodes=sum(len(graph.forms) for graph in model.graphs),
        graphs=sum(not graph.is_function for graph in model.graphs),
        functions=len(model.functions),
    )


def _document_facts(model: Model) -> tuple[tuple[str, str | int], ...]:
    if not model.loaded or model.kind == MODEL:
        return ()
    from onnx_lint.model.document_facts import document_facts  # late, as most files are models

    return tuple(
        (name, _cut(fact, _MAX_NAME) if isinstance(fact, str) else fact)
        for name, fact in document_facts(model.document).items()
    )


def _not_verified(model: Model, errors: list[InternalError]) -> tuple[tuple[str, int], ...]:
    """How many nodes of each domain no signature is known for; a crash is told apart as that of a rule is."""
    try:
        found = model.signatures.not_verified().items()
        return tuple((str(_name(domain)), nodes) for domain, nodes in islice(found, _MAX_DOMAINS))
    except Exception as error:
        errors.append(InternalError.of(error, "not-verified"))
        return ()


@contextmanager
def _garbage_collection_held() -> Iterator[None]:
    """Hold the cyclic garbage collector while one file is linted.

    A large model makes hundreds of thousands of objects that all stay; looking through them again and again for
    garbage costs a quarter of the time on 100,000 nodes. Nothing may refer to the model any more when the collector
    is let go: it looks at once, and what it comes upon then it looks at again only much later.
    """
    import gc

    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def lint_source(source: Source, path: str, settings: Settings, *, is_file: bool = False) -> FileReport:
    """Load and lint one source; `path` is its name in the report. The source is closed afterwards.

    `is_file`: whether `path` names a file, beside which external data can be looked for.
    """
    with _garbage_collection_held(), closing(source):
        if not settings.timings:
            return _lint_source(source, path, settings, is_file, _unwatched)
        from onnx_lint.stopwatch import Stopwatch

        watch = Stopwatch()
        with watch.on_indices():
            report = _lint_source(source, path, settings, is_file, watch)
        return replace(report, timings=tuple(watch.seconds.items()))


def _lint_source(source: Source, path: str, settings: Settings, is_file: bool, watch: Watch) -> FileReport:
    directory = os.path.dirname(path) if settings.external_data and is_file else None  # noqa: PTH120 - for each file
    with watch("load model"):
        model = load(source, path, settings.standard, directory, settings.limits, settings.proto)
    diagnostics, errors = lint_model(model, settings, watch)
    with watch("facts"):
        facts, document = _facts(model), _document_facts(model)
        not_verified = _not_verified(model, errors)
    report = FileReport(
        path=path,
        size=source.size,
        diagnostics=tuple(diagnostics),
        internal_errors=tuple(errors),
        facts=facts,
        kind=model.kind,
        document=document,
        judged_by=len(selection_of(settings).judging(model)),
        not_verified=not_verified,
        not_judged=_not_judged(model),
        incomplete=tuple(_incomplete(model, settings)),
    )
    if facts is not None and facts.nodes < _FEW_NODES:
        _take_apart(model)
    return report


_FEW_NODES: Final = 1_000
"""The memory of a model of more goes with the process where it is the last, see onnx_lint.cli.jobs."""


def _take_apart(model: Model) -> None:
    """Free the memory of a model that nobody needs any more.

    Its parts refer to each other. To find that out takes the garbage collector three times as long, a fifteenth of
    the time of a run over small models.
    """
    for graph in model.graphs:
        vars(graph).clear()
    vars(model).clear()


def _not_judged(model: Model) -> str | None:
    """Why no model was judged: what is in the file is none, or it goes beyond a limit."""
    if model.loaded:
        return None
    # A limit is what the loader came upon last.
    return _cut(model.faults[-1].message, _MAX_MESSAGE) if model.faults else "no model could be read"


def _incomplete(model: Model, settings: Settings) -> Iterator[str]:
    """What was left out though the model was judged."""
    for fault in model.faults_of(FaultKind.LIMIT):
        if fault.limit in OF_REPORT:
            yield fault.message
    if model.loaded and model.directory is None and any(data.is_external for data in model.external_data):
        why = ", as asked for" if not settings.external_data else ": the model has no place in the file system"
        yield f"the files of external data were not examined{why}"
    if model.kind in OF_MODELS and not settings.opset_imports and model.signatures.not_verified():
        yield "the operators were not looked up: a file of its kind imports no operator set (option --opset-import)"


def lint_file(path: str, settings: Settings) -> FileReport:
    """Lint the file at `path` (`-` for standard input); a file that cannot be read gives a report that says why."""
    try:
        # One byte more than the limit shows that there is more.
        source = source_of(path, settings.limits.file_bytes + 1)
        return lint_source(source, path, settings, is_file=path != "-")
    except ReadError as error:
        return FileReport(path=path, size=0, unreadable=f"{path}: {error}")
    except (SourceError, OSError) as error:
        return FileReport(path=path, size=0, unreadable=str(error))


def report_of(files: Iterable[FileReport], settings: Settings) -> Report:
    """The report of a run with `settings` that found `files`."""
    return Report(tuple(files), settings.standard.edition, settings.standard.variant, selected_rules(settings))

# SPDX-License-Identifier: Apache-2.0
"""The engine: runs the selected rules over a model and turns findings into diagnostics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain, islice

from onnx_lint.diagnose import diagnose
from onnx_lint.facts import document_of, facts_of, left_out, nodes_not_verified, why_not_judged
from onnx_lint.loader import load
from onnx_lint.memory import held_for_a_file
from onnx_lint.model import ROOT, Fault, FaultKind, Model
from onnx_lint.record import replace
from onnx_lint.registry import Registered
from onnx_lint.report import Diagnostic, FileReport, InternalError, Report
from onnx_lint.selection import selected_rules, selection_of
from onnx_lint.settings import Settings, options_of, schemas_of
from onnx_lint.source import ReadError, Source, SourceError, source_of

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
            # A context for each of a hundred rules would be more work than most of them are on a small model.
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
    return _limited(entry, diagnose(entry, chain((first,), findings), model, settings), model, left)


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


def lint_source(source: Source, path: str, settings: Settings, *, is_file: bool = False) -> FileReport:
    """Load and lint one source; `path` is its name in the report. The source is closed afterwards.

    `is_file`: whether `path` names a file, beside which external data can be looked for.
    """
    with held_for_a_file(), closing(source):
        if not settings.timings:
            return _lint_source(source, path, settings, is_file, _unwatched)
        from onnx_lint.stopwatch import Stopwatch

        watch = Stopwatch()
        with watch.on_indices():
            report = _lint_source(source, path, settings, is_file, watch)
        return replace(report, timings=tuple(watch.seconds.items()))


def _lint_source(source: Source, path: str, settings: Settings, is_file: bool, watch: Watch) -> FileReport:
    directory = os.path.dirname(path) if settings.external_data and is_file else None
    with watch("load model"):
        model = load(source, path, settings.standard, directory, settings.limits, settings.proto)
    diagnostics, errors = lint_model(model, settings, watch)
    with watch("facts"):
        facts, document = facts_of(model), document_of(model)
        not_verified = nodes_not_verified(model, errors)
    return FileReport(
        path=path,
        size=source.size,
        diagnostics=tuple(diagnostics),
        internal_errors=tuple(errors),
        facts=facts,
        kind=model.kind,
        document=document,
        judged_by=len(selection_of(settings).judging(model)),
        not_verified=not_verified,
        not_judged=why_not_judged(model),
        incomplete=tuple(left_out(model, settings)),
    )


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

# SPDX-License-Identifier: Apache-2.0
"""The engine: runs the selected rules over a model and turns findings into diagnostics."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.memory import held_for_a_file
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.diagnose import Counts, diagnose
from onnx_lint.engine.facts import (
    data_files_of,
    document_of,
    facts_of,
    left_out,
    nodes_not_verified,
    shapes_of,
    why_not_judged,
)
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.plugins import use_files
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import selection_of
from onnx_lint.engine.settings import Settings, options_of, schemas_of, trusted_folders
from onnx_lint.input.limits import LIMIT_OF_REPORT, Limits, describe_limit
from onnx_lint.input.locations import is_remote, shown_location, without_query
from onnx_lint.input.source import ReadError, Source, SourceError, source_of
from onnx_lint.ir.crashes import is_bug
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.loader import load
from onnx_lint.model import ROOT, Model
from onnx_lint.report import Counted, Diagnostic, FileReport, InternalError, fold
from onnx_lint.rule import Finding, RuleError

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import Fix
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.remote import RemoteSource

_MANY_FINDINGS: Final = 500
"""For more findings, the time to release the model is small beside the time to write them."""

Watch = Callable[[str], AbstractContextManager[None]]
"""Measures a named part of the work, see `onnx_lint.engine.stopwatch`."""


_NONE: Final[Any] = object()
"""Given in place of a first finding by a rule without findings; None may be what a wrong rule yields."""

_NO_WATCH: Final[AbstractContextManager[None]] = nullcontext()


def _keeps_none(_: Fix) -> bool:
    return False


def _unwatched(_: str) -> AbstractContextManager[None]:
    return _NO_WATCH


class Verdict(Record):
    """The results of all rules on a model."""

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    """The bugs, each once."""
    cut: tuple[str, ...]
    """Descriptions, for people, of what limits removed from the diagnostics."""
    counted: tuple[Counted, ...]
    """Findings that are counted and not listed, one number for each rule."""


class _Cut(Record):
    """The message that a rule found more than a limit allows to report."""

    limit: str
    message: str


_Located = tuple[int, Diagnostic]
"""A diagnostic and its first byte."""


def lint_model(
    model: Model, settings: Settings, watch: Watch = _unwatched, errors: InternalErrors | None = None
) -> Verdict:
    """Run every selected rule over `model`. If a rule raises, the others still run, and its earlier findings are kept.

    `errors`: records the bugs, if the caller records others as well.
    """
    diagnostics: list[_Located] = []
    errors = errors or InternalErrors(model)
    cuts: list[_Cut] = []
    counts: Counter[Counts] = Counter()
    selection = selection_of(settings)
    with watch("load rules"):
        entries = selection.asked(model)
    for entry in entries:
        try:
            # On a small model the contexts of a hundred rules would dominate the run.
            if watch is _unwatched:
                _run(entry, model, settings, diagnostics, cuts, counts, errors)
            else:
                with watch(f"rule {entry.id}"):
                    _run(entry, model, settings, diagnostics, cuts, counts, errors)
        except SystemExit:
            errors.note(RuleError(f"rule {entry.id!r} in {entry.module} tried to end the program"), rule=entry.id)
        except GeneratorExit:
            errors.note(RuleError(f"rule {entry.id!r} in {entry.module} raised GeneratorExit"), rule=entry.id)
        except Exception as error:
            errors.note(error, rule=entry.id)
    part = errors.unless_it_crashes
    if cuts:
        left = model.limits.findings - len(diagnostics)
        diagnostics += part(lambda: _report_cuts(cuts, model, settings, left, counts, errors), (), "reporting limits")
    diagnostics.sort(key=lambda item: (item[0], item[1].rule, item[1].place, item[1].message))
    listed = [found for _, found in diagnostics]
    if listed and model.form != "binary":
        from onnx_lint.surroundings.text_lines import with_positions

        bare = listed
        with watch("positions"):
            listed = part(lambda: with_positions(bare, model), bare, "looking for lines and columns")
    folded = part(lambda: fold(listed), tuple(listed), "folding findings of one cause")
    return Verdict(
        folded,
        errors.all(),
        tuple(cut.message for cut in cuts),
        tuple(Counted(rule, count, words) for (rule, words), count in counts.items()),
    )


def _run(
    entry: Registered,
    model: Model,
    settings: Settings,
    diagnostics: list[_Located],
    cuts: list[_Cut],
    counts: Counter[Counts],
    errors: InternalErrors,
) -> None:
    """Add the findings of one rule to `diagnostics`, within the limits, and those that are only counted to `counts`."""
    rule = entry.rule
    findings = iter(rule.check(model, **options_of(rule, settings)) if settings.options else rule.check(model))
    first = next(findings, _NONE)
    if first is _NONE:
        return
    every: Iterator[Finding] = chain((first,), findings)
    if entry.plugin is not None:
        from onnx_lint.engine.plugin_findings import checked

        every = checked(entry, every)
    found = diagnose(entry, every, model, settings, counts, errors)
    for located in _limited(entry, found, model.limits, model.limits.findings - len(diagnostics), cuts):
        diagnostics.append(located)  # one by one, since the rule may crash at the next


def _limited(
    entry: Registered, found: Iterator[_Located], limits: Limits, left: int, cuts: list[_Cut]
) -> Iterator[_Located]:
    """Yield the first diagnostics of one rule; if a limit is reached, add that to `cuts`.

    At least one diagnostic is yielded, so that the findings of one rule cannot hide another rule.
    """
    name = "findings_per_rule" if limits.findings_per_rule <= left else "findings"
    most = max(min(limits.findings_per_rule, left), 1)
    count = 0
    for located in islice(found, most):
        count += 1
        yield located
    if count == most and next(found, None) is not None:
        shown = "only the first finding is" if most == 1 else f"only the first {most:,} findings are"
        value = f"limit {name} of {getattr(limits, name):,} (option --limit {name}=N)"
        cuts.append(_Cut(name, f"{shown} reported of rule {entry.id!r}: {value}"))


def _report_cuts(
    cuts: list[_Cut], model: Model, settings: Settings, left: int, counts: Counter[Counts], errors: InternalErrors
) -> list[_Located]:
    """Return the diagnostics about what was cut, from the rule of that clause."""
    limits = model.limits
    deciding = [entry for entry in selection_of(settings).judging(model) if LIMIT_OF_REPORT in entry.clauses]
    findings = [
        Finding(ROOT, cut.message, clause=LIMIT_OF_REPORT, allowed=describe_limit(cut.limit, limits)) for cut in cuts
    ]
    return [
        found
        for entry in deciding
        for found in _limited(entry, diagnose(entry, findings, model, settings, counts, errors), limits, left, cuts)
    ]


def lint_source(
    source: Source,
    path: str,
    settings: Settings,
    *,
    is_file: bool = False,
    context: tuple[int, ...] = (),
    pictures: bool = False,
    beside: DataFolder | None = None,
    keeps_edits: Callable[[Fix], bool] = _keeps_none,
) -> FileReport:
    """Load and lint one source; `path` is its name in the report. The source is closed afterwards.

    `is_file`: whether `path` names a file, beside which external data can be looked for. `context`: the number
    of findings of each rule and clause to report with the lines around them. `pictures`: whether to report the nodes
    around the worst findings. `beside`: the folder of the file; the caller can ask it afterwards which files were
    looked up. `keeps_edits`: returns whether the diagnostics have the edits of a fix. If the source cannot be read to
    its end, the report says why.
    """
    use_files(settings.plugins)
    with held_for_a_file() as leave:
        try:
            if not settings.timings:
                report, model = _lint_source(
                    source, path, settings, is_file, _unwatched, context, pictures, beside, keeps_edits=keeps_edits
                )
            else:
                from onnx_lint.engine.stopwatch import Stopwatch

                watch = Stopwatch()
                report, model = _lint_source(
                    source, path, settings, is_file, watch, context, pictures, beside, keeps_edits=keeps_edits
                )
                report = replace(report, timings=tuple(watch.seconds.items()))
            report = _with_traffic(report, source)
            if model is None:
                pass
            elif len(report.diagnostics) > _MANY_FINDINGS:
                model.release()  # the report needs memory as well, and does not need the model
            else:
                leave(model.release)
            return report
        except ReadError as error:
            return FileReport(path=path, size=0, unreadable=f"{path}: {error}")
        finally:
            source.close()


def opened(path: str, settings: Settings) -> Source:
    """Return the source of the file at `path`, of standard input for `-`, or of a remote object.

    Raises SourceError if it cannot be read.
    """
    if is_remote(path):
        from onnx_lint.remote import open_remote  # late: it imports packages that only remote models need

        return open_remote(path, settings.limits, download=settings.download)
    # One byte beyond the limit shows that there is more.
    return source_of(path, settings.limits.file_bytes + 1)


def _remote(source: Source) -> RemoteSource | None:
    """Return the source if it is a remote object; nothing is imported for a local one."""
    module = sys.modules.get("onnx_lint.remote.source")
    return source if module is not None and isinstance(source, module.RemoteSource) else None


def _with_traffic(report: FileReport, source: Source) -> FileReport:
    """Return the report with the network traffic. Raises ReadError if a remote object has changed meanwhile."""
    remote = _remote(source)
    return report if remote is None else replace(report, traffic=remote.finish())


def load_source(
    source: Source, path: str, settings: Settings, *, is_file: bool, beside: DataFolder | None = None
) -> Model:
    """Load one source under settings, see `onnx_lint.loader.load`; `is_file` and `beside` as in `lint_source`."""
    directory = os.path.dirname(path) if settings.external_data and is_file else None
    remote = _remote(source) if directory is not None else None
    if remote is None and is_remote(path):
        directory = None  # the path is only a name for data from elsewhere
    return load(
        source,
        path if remote is None else without_query(path),
        settings.standard,
        directory,
        settings.limits,
        settings.proto,
        schemas=schemas_of(settings),
        target=settings.target,
        opset_imports=settings.opset_imports,
        trusted_folders=trusted_folders(directory, settings),
        given_folder=remote.beside(settings.limits.external_bytes) if remote is not None else beside,
    )


def _lint_source(
    source: Source,
    path: str,
    settings: Settings,
    is_file: bool,
    watch: Watch,
    context: tuple[int, ...],
    pictures: bool,
    beside: DataFolder | None,
    *,
    keeps_edits: Callable[[Fix], bool],
) -> tuple[FileReport, Model | None]:
    try:
        with watch("load model"):
            model = load_source(source, path, settings, is_file=is_file, beside=beside)
    except Exception as error:
        if isinstance(error, OSError) or not is_bug(error):
            raise
        return FileReport(path, source.size, internal_errors=(InternalError.of(error),)), None
    errors = InternalErrors(model)
    verdict = lint_model(model, settings, watch, errors)
    part = errors.unless_it_crashes
    with watch("facts"):
        facts = part(lambda: facts_of(model), None, "counting nodes and graphs")
        document = part(lambda: document_of(model), (), "describing the document")
        not_verified = part(lambda: nodes_not_verified(model), (), "counting unknown operators")
        shapes = part(lambda: shapes_of(model), None, "counting known shapes")
        incomplete = part(lambda: tuple(left_out(model, settings)), (), "listing what was left out")
        data_files = part(lambda: data_files_of(model, settings), (), "listing the files of external data")
    diagnostics = verdict.diagnostics
    if any(item.edits or item.members for item in diagnostics):
        from onnx_lint.engine.proposed_fixes import with_proposed_fixes, without_edits

        found = diagnostics
        diagnostics = part(
            lambda: with_proposed_fixes(found, model, keeps_edits=keeps_edits),
            without_edits(found),
            "describing fixes",
        )
    if diagnostics:
        bare = diagnostics
        diagnostics = part(
            lambda: _shown_with(bare, model, context, pictures, watch), bare, "showing the model around findings"
        )
    report = FileReport(
        path=path,
        size=source.size,
        diagnostics=diagnostics,
        internal_errors=errors.all(),
        facts=facts,
        kind=model.kind,
        document=document,
        judged_by=len(selection_of(settings).judging(model)),
        not_verified=not_verified,
        shapes=shapes,
        not_judged=why_not_judged(model),
        incomplete=(*verdict.cut, *incomplete),
        counted=verdict.counted,
        form=model.form,
        data_files=data_files,
    )
    if settings.suppressions:
        from onnx_lint.engine.suppressions import with_suppressed

        bare_report = report
        report = part(lambda: with_suppressed(bare_report, settings.suppressions), bare_report, "suppressing findings")
        report = replace(report, internal_errors=errors.all())
    return report, model


def _rules_on_bytes() -> frozenset[str]:
    """Return the ids of the rules on bytes, whose findings have no structure around them."""
    return frozenset(entry.id for entry in registry().values() if entry.chapter == "file")


def _shown_with(
    diagnostics: tuple[Diagnostic, ...], model: Model, context: tuple[int, ...], pictures: bool, watch: Watch
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with the lines around them, and with the nodes around them for pictures, as requested."""
    if context:
        from onnx_lint.surroundings.of_findings import with_surroundings

        with watch("context"):
            diagnostics = with_surroundings(diagnostics, model, context, _rules_on_bytes())
    if pictures:
        from onnx_lint.surroundings.neighbourhood import with_neighbourhoods

        with watch("pictures"):
            diagnostics = with_neighbourhoods(diagnostics, model)
    return diagnostics


def lint_file(
    path: str,
    settings: Settings,
    name: str | None = None,
    *,
    context: tuple[int, ...] = (),
    pictures: bool = False,
    beside: DataFolder | None = None,
    opening: Callable[[], Source] | None = None,
) -> FileReport:
    """Lint the file at `path`, `-` for standard input, or a remote object under its address.

    One that cannot be read gives a report that says why.

    `name`: the path to use in the report and for external data, if it is not the path of the file.
    `context`, `pictures`, `beside`: as in `lint_source`. `opening`: returns the source, as `opened` does, if another
    thread has opened it already.
    """
    name = shown_location(path) if name is None else name
    try:
        source = opened(path, settings) if opening is None else opening()
        is_file = name != "-"
        return lint_source(source, name, settings, is_file=is_file, context=context, pictures=pictures, beside=beside)
    except (SourceError, OSError) as error:
        return FileReport(path=name, size=0, unreadable=str(error))


def import_usual_rules(settings: Settings) -> None:
    """Import the rules and modules that nearly any model needs, so that their time is not that of the first one."""
    import onnx_lint.inference.flow.walk
    import onnx_lint.ir.places.byte_ranges
    import onnx_lint.ir.places.enclosing_names  # noqa: F401 - all imported for later

    for entry in selection_of(settings).entries:
        if entry.about is None and entry.needs in KINDS["ModelProto"].holds:
            with suppress(Exception):  # each file that needs the rule reports the failure
                entry.rule  # noqa: B018 - reading it imports the file of the rule

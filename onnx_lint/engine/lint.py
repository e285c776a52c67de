# SPDX-License-Identifier: Apache-2.0
"""The engine: runs the selected rules over a model and turns findings into diagnostics."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from onnx_lint.common.memory import held_for_a_file
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.diagnose import Counts, diagnose
from onnx_lint.engine.facts import document_of, facts_of, left_out, nodes_not_verified, shapes_of, why_not_judged
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import selected_rules, selection_of
from onnx_lint.engine.settings import Settings, options_of, schemas_of
from onnx_lint.input.limits import LIMIT_OF_REPORT, Limits, describe_limit
from onnx_lint.input.locations import is_remote, shown_location, without_query
from onnx_lint.input.source import BytesSource, FileSource, ReadError, Source, SourceError, source_of
from onnx_lint.loader import load
from onnx_lint.model import ROOT, Model
from onnx_lint.report import Counted, Diagnostic, FileReport, InternalError, Report
from onnx_lint.rule import Finding

if TYPE_CHECKING:
    from onnx_lint.remote import RemoteSource

_MANY_FINDINGS: Final = 500
"""To release the model of so many takes less time than to write them."""

Watch = Callable[[str], AbstractContextManager[None]]
"""Measures a part of the work that has a name, see `onnx_lint.engine.stopwatch`."""


_NO_WATCH: Final[AbstractContextManager[None]] = nullcontext()


def _unwatched(_: str) -> AbstractContextManager[None]:
    return _NO_WATCH


class Verdict(Record):
    """What the rules say of a model."""

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    """The bugs that were met, each once."""
    cut: tuple[str, ...]
    """What a limit kept out of the diagnostics: a clause each, for people to read."""
    counted: tuple[Counted, ...]
    """What is not listed but counted, a number for each rule."""


class _Cut(Record):
    """That a rule found more than a limit lets be reported."""

    limit: str
    message: str


_Located = tuple[int, Diagnostic]
"""A diagnostic and the byte at which it begins."""


def lint_model(
    model: Model, settings: Settings, watch: Watch = _unwatched, errors: InternalErrors | None = None
) -> Verdict:
    """Run every selected rule over `model`. A rule that raises stops nothing else, and keeps what it found before.

    `errors`: takes note of the bugs that are met, where there may be more of them elsewhere.
    """
    diagnostics: list[_Located] = []
    errors = errors or InternalErrors(model)
    cuts: list[_Cut] = []
    counts: Counter[Counts] = Counter()
    selection = selection_of(settings)
    with watch("load rules"):
        settled = selection.settled(model)
        entries = selection.asked(model, settled)
    found: set[str] = set()
    for entry in entries:
        try:
            # A context for each of a hundred rules would be more work than most of them are on a small model.
            if watch is _unwatched:
                has_found = _run(entry, model, settings, diagnostics, cuts, counts)
            else:
                with watch(f"rule {entry.id}"):
                    has_found = _run(entry, model, settings, diagnostics, cuts, counts)
            if has_found:
                found.add(entry.id)
        except Exception as error:
            found.add(entry.id)
            errors.note(error, rule=entry.id)
    if not errors.are_any:  # else a rule may have been silent because of a bug
        selection.note(model, settled, entries, found)
    if cuts:
        diagnostics += _report_cuts(cuts, model, settings, model.limits.findings - len(diagnostics), counts)
    diagnostics.sort(key=lambda item: (item[0], item[1].rule, item[1].place, item[1].message))
    listed = [found for _, found in diagnostics]
    if listed and model.form != "binary":
        from onnx_lint.surroundings.text_lines import with_positions  # late, as few models are text

        try:
            with watch("positions"):
                listed = with_positions(listed, model)
        except Exception as error:  # a bug there is reported and takes no finding away
            errors.note(error, "looking for lines and columns")
    return Verdict(
        tuple(listed),
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
) -> bool:
    """Add to `diagnostics` what one rule finds, as much as the limits let, and to `counts` what is only counted.

    Return whether it finds anything, which may all be left out.
    """
    rule = entry.rule
    findings = iter(rule.check(model, **options_of(rule, settings)) if settings.options else rule.check(model))
    first = next(findings, None)
    if first is None:
        return False
    found = diagnose(entry, chain((first,), findings), model, settings, counts)
    for located in _limited(entry, found, model.limits, model.limits.findings - len(diagnostics), cuts):
        diagnostics.append(located)  # one by one, as the rule may crash at the next
    return True


def _limited(
    entry: Registered, found: Iterator[_Located], limits: Limits, left: int, cuts: list[_Cut]
) -> Iterator[_Located]:
    """The first of the diagnostics of one rule; that a limit is reached is added to `cuts`.

    One diagnostic gets through in any case, so that no rule is silenced by the findings of another.
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
    cuts: list[_Cut], model: Model, settings: Settings, left: int, counts: Counter[Counts]
) -> list[_Located]:
    """The diagnostics that say what was cut, of the rule whose clause that is."""
    limits = model.limits
    deciding = [entry for entry in selection_of(settings).judging(model) if LIMIT_OF_REPORT in entry.clauses]
    findings = [
        Finding(ROOT, cut.message, clause=LIMIT_OF_REPORT, allowed=describe_limit(cut.limit, limits)) for cut in cuts
    ]
    return [
        found
        for entry in deciding
        for found in _limited(entry, diagnose(entry, findings, model, settings, counts), limits, left, cuts)
    ]


def lint_source(
    source: Source,
    path: str,
    settings: Settings,
    *,
    is_file: bool = False,
    context: tuple[int, ...] = (),
    pictures: bool = False,
) -> FileReport:
    """Load and lint one source; `path` is its name in the report. The source is closed afterwards.

    `is_file`: whether `path` names a file, beside which external data can be looked for. `context`: of how many
    findings of a rule and clause the lines around them are told. `pictures`: whether the nodes around the worst ones
    are told. A source that cannot be read to its end gives a report that says why.
    """
    with held_for_a_file() as leave:
        try:
            if not settings.timings:
                report, model = _lint_source(source, path, settings, is_file, _unwatched, context, pictures)
            else:
                from onnx_lint.engine.stopwatch import Stopwatch

                watch = Stopwatch()
                with watch.on_indices():
                    report, model = _lint_source(source, path, settings, is_file, watch, context, pictures)
                report = replace(report, timings=tuple(watch.seconds.items()))
            report = _with_traffic(report, source)
            if len(report.diagnostics) > _MANY_FINDINGS:
                model.release()  # the report takes up memory as well, and needs the model no more
            else:
                leave(model.release)
            return report
        except ReadError as error:
            return FileReport(path=path, size=0, unreadable=f"{path}: {error}")
        finally:
            source.close()


def opened(path: str, settings: Settings) -> Source:
    """The source of the file at `path`, of standard input for `-`, or of a remote object.

    Raises SourceError where it cannot be read.
    """
    if is_remote(path):
        from onnx_lint.remote import open_remote  # with packages of its own, which only remote models need

        return open_remote(path, settings.limits, download=settings.download)
    # One byte more than the limit shows that there is more.
    return source_of(path, settings.limits.file_bytes + 1)


def _remote(source: Source) -> RemoteSource | None:
    """The source where it is a remote object; nothing is imported to know that it is none."""
    if isinstance(source, (BytesSource, FileSource)):
        return None
    from onnx_lint.remote.source import RemoteSource

    return source if isinstance(source, RemoteSource) else None


def _with_traffic(report: FileReport, source: Source) -> FileReport:
    """The report with what was fetched; raises ReadError for a remote object that has changed meanwhile."""
    remote = _remote(source)
    return report if remote is None else replace(report, traffic=remote.finish())


def load_source(source: Source, path: str, settings: Settings, *, is_file: bool) -> Model:
    """Load one source under settings, see `onnx_lint.loader.load`; `is_file` as in `lint_source`."""
    directory = os.path.dirname(path) if settings.external_data and is_file else None
    remote = _remote(source) if directory is not None else None
    if remote is None and is_remote(path):
        directory = None  # what was given by another way is only called after what stands there
    trusted = settings.external_data_roots
    if settings.follow_links and directory is not None:
        trusted = (directory, *trusted)
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
        trusted_folders=trusted,
        given_folder=remote.beside(settings.limits.external_bytes) if remote is not None else None,
    )


def _lint_source(
    source: Source, path: str, settings: Settings, is_file: bool, watch: Watch, context: tuple[int, ...], pictures: bool
) -> tuple[FileReport, Model]:
    with watch("load model"):
        model = load_source(source, path, settings, is_file=is_file)
    errors = InternalErrors(model)
    verdict = lint_model(model, settings, watch, errors)
    part = errors.unless_it_crashes
    with watch("facts"):
        facts = part(lambda: facts_of(model), None, "counting nodes and graphs")
        document = part(lambda: document_of(model), (), "describing the document")
        not_verified = part(lambda: nodes_not_verified(model), (), "counting unknown operators")
        shapes = part(lambda: shapes_of(model), None, "counting known shapes")
        incomplete = part(lambda: tuple(left_out(model, settings)), (), "listing what was left out")
    diagnostics = verdict.diagnostics
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
    )
    return report, model


def _rules_on_bytes() -> frozenset[str]:
    """Return the ids of the rules on bytes, which have no structure around them."""
    return frozenset(entry.id for entry in registry().values() if entry.chapter == "file")


def _shown_with(
    diagnostics: tuple[Diagnostic, ...], model: Model, context: tuple[int, ...], pictures: bool, watch: Watch
) -> tuple[Diagnostic, ...]:
    """The diagnostics with the lines around them, and with the nodes around them for pictures, as asked for."""
    if context:
        from onnx_lint.surroundings import with_surroundings  # late, as a clean run has nothing to show

        with watch("context"):
            diagnostics = with_surroundings(diagnostics, model, context, _rules_on_bytes())
    if pictures:
        from onnx_lint.surroundings.neighbourhood import with_neighbourhoods  # late, as few reports draw

        with watch("pictures"):
            diagnostics = with_neighbourhoods(diagnostics, model)
    return diagnostics


def lint_file(
    path: str, settings: Settings, name: str | None = None, *, context: tuple[int, ...] = (), pictures: bool = False
) -> FileReport:
    """Lint the file at `path`, `-` for standard input, or a remote object under its address.

    One that cannot be read gives a report that says why.

    `name`: the path that it has in the report, and beside which external data is looked for, in place of its own.
    `context`, `pictures`: as in `lint_source`.
    """
    name = shown_location(path) if name is None else name
    try:
        source = opened(path, settings)
        return lint_source(source, name, settings, is_file=name != "-", context=context, pictures=pictures)
    except (SourceError, OSError) as error:
        return FileReport(path=name, size=0, unreadable=str(error))


def report_of(files: Iterable[FileReport], settings: Settings) -> Report:
    """The report of a run with `settings` that found `files`."""
    return Report(tuple(files), settings.standard.edition, settings.standard.variant, selected_rules(settings))


def told_apart(file: FileReport, own: Settings, usual: Settings) -> FileReport:
    """The report of a file under its own settings; where these are not those of the first file, the report says so."""
    if own is usual:
        return file
    standard = own.standard
    return replace(file, edition=standard.edition, variant=standard.variant, rules=selected_rules(own))

# SPDX-License-Identifier: Apache-2.0
"""Withdraws fixes that `onnx-lint fix` does not make, because they would also fix suppressed findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from onnx_lint.common.record import replace
from onnx_lint.engine.fix_candidates import candidates, without_overlaps
from onnx_lint.engine.registry import registry
from onnx_lint.engine.suppressions import PlacePatterns, is_suppressed, without_fix
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import Source
from onnx_lint.ir.places.edits import Fix
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic, Folding
from onnx_lint.report.folding import fold, unfold


def without_withdrawn(
    diagnostics: tuple[Diagnostic, ...],
    patterns: Mapping[str, PlacePatterns],
    model: Model,
    lint: Callable[[Source, Collection[str]], FileReport],
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without the fixes of rules that would also fix suppressed findings.

    This tries the fixes as `onnx-lint fix` does: those of all rules together, and if that fails those of each rule, the
    safe ones alone and then with the unsafe ones. `lint`: returns the report on a source by some rules alone.
    """
    found = unfold(diagnostics)
    suppressed, others = list[Diagnostic](), list[Diagnostic]()
    for each in found:
        (suppressed if is_suppressed(each, patterns) else others).append(each)
    fixable = [each for each in others if each.advice.edits is not None and not each.advice.edits.copies]
    if model.form != "binary" or not suppressed or not fixable:
        return diagnostics
    withdrawn = set(_withdrawn(fixable, _trial(model, others, suppressed, lint)))
    losing = {id(each) for each in others if id(each.advice.edits) in withdrawn}
    if not losing:
        return diagnostics
    # A finding that loses its fix leaves its fold: the others in it may keep theirs.
    return fold(replace(without_fix(each), folding=Folding()) if id(each) in losing else each for each in found)


def _trial(
    model: Model,
    others: list[Diagnostic],
    suppressed: list[Diagnostic],
    lint: Callable[[Source, Collection[str]], FileReport],
) -> Callable[[Iterable[tuple[str, Fix]]], bool]:
    """Return a function that returns whether fixes, each with its rule, also mend suppressed findings."""
    rules = {each.rule for each in suppressed}
    splicer, source = Splicer(model.source, model.kind), unpatched(model.source)

    def fix_suppressed(fixes: Iterable[tuple[str, Fix]]) -> bool:
        chosen = without_overlaps(candidates(fixes, splicer, {}))
        splices = splicer.with_lengths(splice for each in chosen for splice in each.splices)
        changed = source.patched(splice.patch for splice in splices)
        return bool(chosen) and mends_suppressed(others, suppressed, lint(changed, rules))

    return fix_suppressed


def mends_suppressed(others: Iterable[Diagnostic], suppressed: Iterable[Diagnostic], after: FileReport) -> bool:
    """Return whether fixes also mend suppressed findings, or make them findings that nothing suppresses.

    The latter happens if a suppression gives the index of a node, and one before it is deleted: the next fixes would
    mend what was suppressed.

    `others`: the findings before the fixes that are not suppressed. `after`: the report after the fixes.
    """
    before, still = list(unfold(suppressed)), list(unfold(after.suppressed))
    if _counts_by_clause(before) - _counts_by_clause(still):
        return True
    lost = _counts_by_subject(before) - _counts_by_subject(still)
    new = _counts_by_subject(unfold(after.diagnostics)) - _counts_by_subject(others)
    return not lost.keys().isdisjoint(new)


def _counts_by_clause(found: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """Return the number of faults of each rule and clause.

    Those of the chapter hygiene are counted by rule alone: one of few ineffective nodes violates another clause than
    one of many, and is still there.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for each in found:
        entry = registry().get(each.rule)
        is_hygiene = entry is not None and entry.chapter == "hygiene"
        counts[each.rule, "" if is_hygiene else each.clause] += each.count
    return counts


def _counts_by_subject(found: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """Return the number of findings of each rule about each name."""
    return Counter((each.rule, each.subject) for each in found if each.subject is not None)


def _withdrawn(
    fixable: Iterable[Diagnostic], fix_suppressed: Callable[[Iterable[tuple[str, Fix]]], bool]
) -> Iterator[int]:
    """Yield the identities of the fixes that are not made.

    `fix_suppressed`: returns whether fixes, each with its rule, also fix suppressed findings.
    """
    by_rule: dict[str, dict[int, Fix]] = {}
    for each in fixable:
        if each.advice.edits is not None:
            by_rule.setdefault(each.rule, {})[id(each.advice.edits)] = each.advice.edits.with_edits()
    if not fix_suppressed((rule, fix) for rule, fixes in by_rule.items() for fix in fixes.values()):
        return
    for rule, fixes in by_rule.items():
        safe = {identity: fix for identity, fix in fixes.items() if fix.is_safe}
        if safe and fix_suppressed((rule, fix) for fix in safe.values()):
            yield from fixes
        elif len(safe) < len(fixes) and fix_suppressed((rule, fix) for fix in fixes.values()):
            yield from fixes.keys() - safe.keys()

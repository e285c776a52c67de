# SPDX-License-Identifier: Apache-2.0
"""Withdraws fixes that `onnx-lint fix` does not make, because they would also fix suppressed findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from onnx_lint.common.record import replace
from onnx_lint.engine.fix_candidates import candidates, without_overlaps
from onnx_lint.engine.suppressions import PlacePatterns, is_suppressed, without_fix
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import Source
from onnx_lint.ir.places.edits import Fix
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic, Folding
from onnx_lint.report.folding import fold, unfold

FindingCounts = Counter[tuple[str, str]]
"""The number of findings of each rule and clause."""


def without_withdrawn(
    diagnostics: tuple[Diagnostic, ...],
    patterns: Mapping[str, PlacePatterns],
    model: Model,
    lint: Callable[[Source, Collection[str]], Iterable[Diagnostic]],
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without the fixes of rules that would also fix suppressed findings.

    This tries the fixes as `onnx-lint fix` does: those of all rules together, and if that fails those of each rule, the
    safe ones alone and then with the unsafe ones. `lint`: returns the suppressed findings of some rules in
    a source.
    """
    found = unfold(diagnostics)
    suppressed = {id(each) for each in found if is_suppressed(each, patterns)}
    fixable = [
        each
        for each in found
        if each.advice.edits is not None and not each.advice.edits.copies and id(each) not in suppressed
    ]
    if model.form != "binary" or not suppressed or not fixable:
        return diagnostics
    before = counts_of(each for each in found if id(each) in suppressed)
    rules = _rules_of(before)
    splicer, source = Splicer(model.source, model.kind), unpatched(model.source)

    def fix_suppressed(fixes: Iterable[tuple[str, Fix]]) -> bool:
        chosen = without_overlaps(candidates(fixes, splicer, {}))
        splices = splicer.with_lengths(splice for each in chosen for splice in each.splices)
        changed = source.patched(splice.patch for splice in splices)
        return bool(chosen) and bool(before - counts_of(lint(changed, rules)))

    withdrawn = set(_withdrawn(fixable, fix_suppressed))
    if not withdrawn:
        return diagnostics

    def without_withdrawn_fix(each: Diagnostic) -> Diagnostic:
        is_withdrawn = id(each.advice.edits) in withdrawn and id(each) not in suppressed
        # A finding that loses its fix leaves its fold: the others in it may keep theirs.
        return replace(without_fix(each), folding=Folding()) if is_withdrawn else each

    return fold(map(without_withdrawn_fix, found))


def counts_of(diagnostics: Iterable[Diagnostic]) -> FindingCounts:
    """Return the number of findings of each rule and clause."""
    found: FindingCounts = Counter()
    for each in unfold(diagnostics):
        found[each.rule, each.clause] += each.count
    return found


def _rules_of(counts: FindingCounts) -> list[str]:
    return sorted({rule for rule, _ in counts})


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

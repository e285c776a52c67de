# SPDX-License-Identifier: Apache-2.0
"""Withdraws fixes that `onnx-lint fix` does not make, because they would also fix what is suppressed."""

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

Kinds = Counter[tuple[str, str]]
"""The number of findings of each rule and clause."""


def without_withdrawn(
    diagnostics: tuple[Diagnostic, ...],
    patterns: Mapping[str, PlacePatterns],
    model: Model,
    lint: Callable[[Source, Collection[str]], Iterable[Diagnostic]],
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without the fixes of rules whose fixes leave less of what is suppressed.

    `onnx-lint fix` tries the fixes of all rules together, and then those of each rule, the safe ones alone or with the
    unsafe ones. So does this. `lint`: returns what is suppressed of some rules in a source.
    """
    found = unfold(diagnostics)
    suppressed = {id(each) for each in found if is_suppressed(each, patterns)}
    open_ = [
        each
        for each in found
        if each.advice.edits is not None and not each.advice.edits.copies and id(each) not in suppressed
    ]
    if model.form != "binary" or not suppressed or not open_:
        return diagnostics
    before = kinds_of(each for each in found if id(each) in suppressed)
    rules = _rules_of(before)
    splicer, source = Splicer(model.source, model.kind), unpatched(model.source)

    def loses(fixes: Iterable[tuple[str, Fix]]) -> bool:
        chosen = without_overlaps(candidates(fixes, splicer, {}))
        splices = splicer.with_lengths(splice for each in chosen for splice in each.splices)
        return bool(chosen) and bool(before - kinds_of(lint(source.patched(splice.patch for splice in splices), rules)))

    withdrawn = set(_withdrawn(open_, loses))
    if not withdrawn:
        return diagnostics

    def without_withdrawn_fix(each: Diagnostic) -> Diagnostic:
        is_withdrawn = id(each.advice.edits) in withdrawn and id(each) not in suppressed
        # A finding without its fix is not folded with others that have theirs.
        return replace(without_fix(each), folding=Folding()) if is_withdrawn else each

    return fold(map(without_withdrawn_fix, found))


def kinds_of(diagnostics: Iterable[Diagnostic]) -> Kinds:
    """Return the number of findings of each rule and clause."""
    found: Kinds = Counter()
    for each in unfold(diagnostics):
        found[each.rule, each.clause] += each.count
    return found


def _rules_of(kinds: Kinds) -> list[str]:
    return sorted({rule for rule, _ in kinds})


def _withdrawn(found: Iterable[Diagnostic], loses: Callable[[Iterable[tuple[str, Fix]]], bool]) -> Iterator[int]:
    """Yield the identities of the fixes that are not made. `loses`: whether fixes leave less of what is suppressed."""
    of_rules: dict[str, dict[int, Fix]] = {}
    for each in found:
        if each.advice.edits is not None:
            of_rules.setdefault(each.rule, {})[id(each.advice.edits)] = each.advice.edits.with_edits()
    if not loses((rule, fix) for rule, fixes in of_rules.items() for fix in fixes.values()):
        return
    for rule, fixes in of_rules.items():
        safe = {mark: fix for mark, fix in fixes.items() if fix.is_safe}
        if safe and loses((rule, fix) for fix in safe.values()):
            yield from fixes
        elif len(safe) < len(fixes) and loses((rule, fix) for fix in fixes.values()):
            yield from fixes.keys() - safe.keys()

# SPDX-License-Identifier: Apache-2.0
"""Withdraws fixes that `onnx-lint fix` does not make, because they would also fix suppressed findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set

from onnx_lint.common.record import replace
from onnx_lint.engine.fix_candidates import candidates, without_overlaps
from onnx_lint.engine.registry import registry
from onnx_lint.engine.suppressions import PlacePatterns, is_suppressed, without_fix
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import Source
from onnx_lint.ir.places.edits import Delete, Fix, Insert
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic, Folding
from onnx_lint.report.folding import fold, unfold

LastIndices = Mapping[tuple[PlaceKey, str], int]
"""The highest index in a list that must stay, by the place around the list and its field."""

_FixesByIdentity = dict[int, tuple[str, Fix]]
"""Fixes by their identity, each with its rule."""

_TryFixes = Callable[[Iterable[tuple[str, Fix]]], bool]
"""Returns whether fixes, each with its rule, also fix suppressed findings."""


def without_withdrawn(
    diagnostics: tuple[Diagnostic, ...],
    patterns: Mapping[str, PlacePatterns],
    model: Model,
    lint: Callable[[Source, Collection[str]], FileReport],
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without the fixes of rules that would also fix suppressed findings.

    This tries the fixes as `onnx-lint fix` does:
    1. those of all rules together;
    2. if these fix a suppressed finding, the safe ones of each rule, and then all of each rule.
    Each trial that fixes a suppressed finding is repeated without the fixes that move suppressed places.

    `lint`: returns the report on a source by some rules alone.
    """
    found = unfold(diagnostics)
    suppressed, others = list[Diagnostic](), list[Diagnostic]()
    for each in found:
        (suppressed if is_suppressed(each, patterns) else others).append(each)
    fixable = [each for each in others if each.advice.edits is not None and not each.advice.edits.copies]
    if model.form != "binary" or not suppressed or not fixable:
        return diagnostics
    withdrawn = set(_withdrawn(fixable, last_indices(suppressed), _trial(model, others, suppressed, lint)))
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
) -> _TryFixes:
    """Return the function that tries fixes on the model."""
    rules = {each.rule for each in suppressed}
    splicer, source = Splicer(model.source, model.kind), unpatched(model.source)

    def fix_suppressed(fixes: Iterable[tuple[str, Fix]]) -> bool:
        chosen = without_overlaps(candidates(fixes, splicer, {}))
        splices = splicer.with_lengths(splice for each in chosen for splice in each.splices)
        changed = source.patched(splice.patch for splice in splices)
        return bool(chosen) and mends_suppressed(others, suppressed, lint(changed, rules))

    return fix_suppressed


def mends_suppressed(others: Iterable[Diagnostic], suppressed: Iterable[Diagnostic], after: FileReport) -> bool:
    """Return whether fixes also fix suppressed findings, or make them findings that nothing suppresses.

    The latter happens if a suppression gives the index of a node, and one before it is deleted: the next fixes would
    fix what was suppressed.

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


def last_indices(suppressed: Iterable[Diagnostic]) -> LastIndices:
    """Return for each list with suppressed places, or parts around such, the highest of their indices."""
    last: dict[tuple[PlaceKey, str], int] = {}
    for each in unfold(suppressed):
        key = each.at.key
        for depth, (field, index) in enumerate(key):
            if index is not None:
                last[key[:depth], field] = max(index, last.get((key[:depth], field), 0))
    return last


def moves_places(fix: Fix, last: LastIndices) -> bool:
    """Return whether a fix changes the index of a suppressed place. `last`: the result of `last_indices`."""
    return any(_moves(edit.place.key, last) for edit in fix.edits if isinstance(edit, Delete | Insert))


def _moves(key: PlaceKey, last: LastIndices) -> bool:
    field, index = key[-1] if key else ("", None)
    return index is not None and index <= last.get((key[:-1], field), -1)


def _withdrawn(fixable: Iterable[Diagnostic], last: LastIndices, fix_suppressed: _TryFixes) -> Iterator[int]:
    """Yield the identities of the fixes that are not made.

    `last`: the result of `last_indices` for the suppressed findings.
    """
    fixes: _FixesByIdentity = {}
    for each in fixable:
        if each.advice.edits is not None:
            fixes[id(each.advice.edits)] = each.rule, each.advice.edits.with_edits()
    moving = {mark for mark, (_, fix) in fixes.items() if moves_places(fix, last)}
    refused = _refused(fixes, moving, fix_suppressed)
    if len(refused) < len(fixes):
        yield from refused
        return
    for rule in dict.fromkeys(rule for rule, _ in fixes.values()):
        own = {mark: each for mark, each in fixes.items() if each[0] == rule}
        yield from _withdrawn_of_rule(own, moving, fix_suppressed)


def _withdrawn_of_rule(fixes: _FixesByIdentity, moving: Set[int], fix_suppressed: _TryFixes) -> Iterator[int]:
    """Yield the identities of the fixes of one rule that are not made: the safe ones are tried without the others."""
    safe = {mark: each for mark, each in fixes.items() if each[1].is_safe}
    refused = _refused(safe, moving, fix_suppressed)
    if safe and len(refused) == len(safe):
        yield from fixes
        return
    yield from refused
    if len(safe) < len(fixes):
        rest = {mark: each for mark, each in fixes.items() if mark not in refused}
        yield from _refused(rest, moving, fix_suppressed) - safe.keys()


def _refused(fixes: _FixesByIdentity, moving: Set[int], fix_suppressed: _TryFixes) -> Set[int]:
    """Return the identities of the fixes that are not made: none, those that move suppressed places, or all."""
    if not fixes or not fix_suppressed(fixes.values()):
        return set()
    staying = {mark: each for mark, each in fixes.items() if mark not in moving}
    is_enough = len(staying) < len(fixes) and not fix_suppressed(staying.values())
    return fixes.keys() & moving if is_enough else fixes.keys()

# SPDX-License-Identifier: Apache-2.0
"""Makes the fixes of findings in rounds, each on the result of the round before, and checks the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.engine.fix_candidates import Candidate, candidates, without_overlaps
from onnx_lint.engine.registry import registry
from onnx_lint.engine.withdrawn_fixes import last_indices, mends_suppressed, moves_places
from onnx_lint.fixing.revealed import revealed_by
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import Source
from onnx_lint.ir.places.edits import DataCopy, Edit, Fix
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport, Repair
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold
from onnx_lint.rule import ALSO_SUPPRESSED

MAX_ROUNDS: Final = 15

TEXT_IS_NOT_FIXED: Final = (
    "onnx-lint fix changes binary files only; convert this text with onnx.load and onnx.save, then fix the .onnx file"
)
"""Why no finding of a model in text or JSON is fixed."""

_VALUE_SUBJECTS: Final = frozenset({"has_type_conflicts", "has_shape_conflicts", "dimension_contradictions"})
"""The subjects of the rules about types, shapes and contents of values. Nothing is inferred from a faulty node, so its
fault may hide findings of these rules."""

_C90_CLAUSES: Final = frozenset({"NAM-1", "SHP-3"})

Lint = Callable[[Source], FileReport]
"""Lints a source as if it were the file to fix."""

Load = Callable[[Source], Model]
"""Loads the model of such a source."""


class Round(Record):
    """The result of one round."""

    before: PatchedSource
    edits: tuple[Edit, ...]
    """The edits that the round made in `before`."""
    kind: str
    """The type of the message in the file."""
    copies: tuple[DataCopy, ...] = ()
    """The new data files that the edits refer to."""


class FixOutcome(Record):
    """The result of all rounds for a file."""

    source: PatchedSource
    report: FileReport
    """The report on `source`."""
    rounds: tuple[Round, ...] = ()
    repair: Repair = Repair()
    """What the report says of the fixes."""


def fix_in_rounds(source: Source, report: FileReport, lint: Lint, load: Load, *, unsafe: bool) -> FixOutcome:
    """Make the fixes of the findings in `report`, the report on `source`, and of those that are found afterwards.

    `unsafe`: whether to make unsafe fixes too. A fix is not made if its findings would remain, or if there would be a
    new finding, unless that is about a value that was unknown before.
    """
    current, first = unpatched(source), report
    rounds: list[Round] = []
    fixed: Counter[str] = Counter()
    not_made: dict[str, None] = {}
    refused_rules: set[str] = set()
    for _ in range(MAX_ROUNDS):
        fixes = _fixes(report.diagnostics, refused_rules, unsafe=unsafe)
        if fixes and report.form != "binary":
            not_made[TEXT_IS_NOT_FIXED] = None
            break
        splicer = Splicer(current, report.kind)
        chosen = without_overlaps(candidates(fixes, splicer, not_made))
        accepted = None
        moving = _moving(chosen, report)
        for attempt in _attempts(chosen, moving):
            splices = splicer.with_lengths(splice for each in attempt for splice in each.splices)
            after = current.patched(splice.patch for splice in splices)
            found = lint(after)
            compare = partial(_compare, load, current, report, after, found)
            problem = _problem(report, found, attempt, compare, partial(_keeps_names, load, after, attempt))
            if problem is None:
                accepted = attempt
                break
            if len({each.rule for each in attempt}) == 1 and not _is_split(attempt, moving):
                refused_rules.add(attempt[0].rule)
                not_made[f"{attempt[0].rule}: {problem}"] = None
        if accepted is None:
            break
        edits = tuple(edit for each in accepted for edit in each.fix.edits)
        rounds.append(Round(current, edits, report.kind))
        fixed.update(_fixed(report, found, accepted))
        current, report = after, found
    repair = Repair(
        fixed=tuple(sorted(fixed.items())),
        revealed=tuple(sorted(_revealed(first, report, fixed).items())),
        not_made=tuple(not_made),
    )
    return FixOutcome(current, report, tuple(rounds), repair)


def _fixes(diagnostics: Iterable[Diagnostic], refused_rules: set[str], *, unsafe: bool) -> list[tuple[str, Fix]]:
    """Return the fixes that may be made, each once, with its rule.

    C90 names come first: a name that another fix derives from a wrong one is wrong as well, and a new finding.
    """
    # Findings share a fix by its identity: to compare two with a hundred thousand moves each would take long.
    found: dict[int, tuple[str, Fix]] = {}
    for diagnostic in sorted(unfold(diagnostics), key=lambda each: each.clause not in _C90_CLAUSES):
        fix = diagnostic.advice.edits
        if fix is not None and not fix.copies and diagnostic.rule not in refused_rules and (unsafe or fix.is_safe):
            found.setdefault(id(fix), (diagnostic.rule, fix))
    return list(found.values())


def _attempts(chosen: list[Candidate], moving: Set[int]) -> Iterable[list[Candidate]]:
    """Yield all fixes, and then the fixes of each rule alone, for the case that all together are not accepted.

    Each time those without the fixes in `moving` follow, if there are some of either.
    """
    rules = list(dict.fromkeys(each.rule for each in chosen))
    of_rules = [[each for each in chosen if each.rule == rule] for rule in rules] if len(rules) > 1 else []
    for attempt in (chosen, *of_rules) if chosen else ():
        yield attempt
        if _is_split(attempt, moving):
            yield [each for each in attempt if id(each.fix) not in moving]


def _moving(chosen: list[Candidate], report: FileReport) -> Set[int]:
    """Return the identities of the fixes that change the index of a suppressed place."""
    last = last_indices(report.suppressed)
    return {id(each.fix) for each in chosen if last and moves_places(each.fix, last)}


def _is_split(attempt: list[Candidate], moving: Set[int]) -> bool:
    """Return whether some of the fixes of an attempt are in `moving`, and some are not."""
    return 0 < sum(id(each.fix) in moving for each in attempt) < len(attempt)


def _kinds(report: FileReport) -> Counter[tuple[str, str]]:
    """Return the number of findings of each rule and clause."""
    found: Counter[tuple[str, str]] = Counter()
    for each in unfold(report.diagnostics):
        found[each.rule, each.clause] += each.count
    return found


def _difference(before: FileReport, after: FileReport) -> Counter[str]:
    """Return the number of findings of each rule that are only in `before`."""
    found: Counter[str] = Counter()
    for (rule, _), count in (_kinds(before) - _kinds(after)).items():
        found[rule] += count
    return found


def _fixed(before: FileReport, after: FileReport, attempt: Sequence[Candidate]) -> Counter[str]:
    """Return the number of findings that the fixes removed, by rule.

    A fix may remove a finding and reveal another one of the same rule: about a value, or about what only a deleted node
    used. So the findings of such a rule are compared by their messages too.
    """
    fixes = {id(each.fix) for each in attempt if _is_about_values(each.rule) or each.fix.removes}
    left = {item.message for item in unfold(after.diagnostics)} if fixes else set()
    removed: Counter[str] = Counter()
    for item in unfold(before.diagnostics):
        if id(item.advice.edits) in fixes and item.message not in left:
            removed[item.rule] += item.count
    return _difference(before, after) | removed


def _revealed(first: FileReport, last: FileReport, fixed: Counter[str]) -> Counter[str]:
    """Return the number of findings in `last` that those of `first` hid, by rule."""
    revealed = _difference(last, first)
    known = {item.message for item in unfold(first.diagnostics)}
    for rule in fixed:
        if _is_about_values(rule):
            news = [item.count for item in unfold(last.diagnostics) if item.rule == rule and item.message not in known]
            revealed[rule] = max(revealed[rule], sum(news))
    return +revealed


def _compare(
    load: Load, source: Source, report: FileReport, after: Source, found: FileReport
) -> Callable[[Diagnostic], bool]:
    return revealed_by(load(source), report, load(after), found)


def _problem(
    before: FileReport,
    after: FileReport,
    attempt: Sequence[Candidate],
    compare: Callable[[], Callable[[Diagnostic], bool]],
    keeps_names: Callable[[], bool],
) -> str | None:
    """Return why the fixes are not accepted; None if they are.

    `compare`: returns a function that says whether the fixes have revealed a finding. `keeps_names`: returns whether
    each name means one value afterwards.
    """
    if after.internal_errors or after.not_judged is not None or after.unreadable is not None:
        return "the file could not be checked afterwards"
    caused = list(_caused(before, after, attempt, compare))
    if caused:
        rule, message = caused[0]
        said = f" ({message})" if message else ""
        problem = f"the fix was not made: it would cause a new finding of {rule!r}{said}"
        # If only its own rules are selected, no other finding is new.
        rules = {each.rule for each in attempt}
        is_possible = rules.isdisjoint(rule for rule, _ in caused) and keeps_names()
        return f"{problem}; {_options_for(attempt)} makes the fix nevertheless" if is_possible else problem
    if mends_suppressed(unfold(before.diagnostics), before.suppressed, after):
        return f"the fix was not made: {ALSO_SUPPRESSED}"
    fixed = _fixed(before, after, attempt)
    for each in attempt:
        # If a limit keeps findings of a rule from being reported, others take the place of the fixed ones.
        if each.rule not in fixed and not before.incomplete:
            return "the fix was not made: the finding would still be there"
    return None if keeps_names() else "the fix was not made: a name would mean another value, or none"


def _options_for(attempt: Sequence[Candidate]) -> str:
    """Return the options with which only these fixes are made."""
    options = f"--select {','.join(sorted({each.rule for each in attempt}))}"
    return options if all(each.fix.is_safe for each in attempt) else f"{options} --unsafe-fixes"


def _caused(
    before: FileReport,
    after: FileReport,
    attempt: Sequence[Candidate],
    compare: Callable[[], Callable[[Diagnostic], bool]],
) -> Iterator[tuple[str, str]]:
    """Yield the rules whose findings the fixes cause, each with the message of one.

    Findings about values are compared by their messages too, since a fix may remove one and cause another of its rule.
    """
    more, news = _kinds(after) - _kinds(before), _new_messages(before, after)
    renamed = _renamed(before, after, attempt) if any(news.values()) else Counter[tuple[str, str]]()
    is_revealed: Callable[[Diagnostic], bool] | None = None
    deletes = any(each.fix.removes for each in attempt)
    for (rule, clause), items in news.items():
        if deletes and _is_left_over(rule):
            continue
        if not _is_about_values(rule):
            if more[rule, clause] > sum(item.count for item in _replacing(before, after, items)):
                yield rule, items[0].message if items else ""
        elif len(items) > renamed[rule, clause]:
            is_revealed = compare() if is_revealed is None else is_revealed
            caused = [item for item in items if not is_revealed(item)]
            if len(caused) > renamed[rule, clause]:
                yield rule, caused[0].message


def _new_messages(before: FileReport, after: FileReport) -> dict[tuple[str, str], list[Diagnostic]]:
    """Return for each rule and clause in `after` the findings whose messages `before` does not have."""
    known = {item.message for item in unfold(before.diagnostics)}
    found: dict[tuple[str, str], list[Diagnostic]] = {kind: [] for kind in _kinds(after)}
    for item in unfold(after.diagnostics):
        kind = item.rule, item.clause
        if item.message not in known and kind in found:
            found[kind].append(item)
    return found


def _renamed(before: FileReport, after: FileReport, attempt: Sequence[Candidate]) -> Counter[tuple[str, str]]:
    """Return the number of findings of each rule and clause that are not fixed but have another message now.

    Such a message has a new name in it, for example.
    """
    fixes = {id(each.fix) for each in attempt}
    left = {item.message for item in unfold(after.diagnostics)}
    return Counter(
        (item.rule, item.clause)
        for item in unfold(before.diagnostics)
        if item.message not in left and id(item.advice.edits) not in fixes
    )


_REPLACED_CLAUSES: Final = {"SUB-8": "GRA-8"}
"""Clauses whose findings replace those of another clause about the same name, once that is fixed.

A nested graph returns a value that only a later node defines: to move that node leaves the output of an outer graph.
"""


def _replacing(before: FileReport, after: FileReport, news: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the new findings that replace findings of another clause, as in `_REPLACED_CLAUSES`."""
    for item in news:
        other = _REPLACED_CLAUSES.get(item.clause)
        if other is not None and item.subject in _names(before, other) - _names(after, other):
            yield item


def _names(report: FileReport, clause: str) -> set[str | None]:
    """Return the names that the findings of a clause are about."""
    return {item.subject for item in unfold(report.diagnostics) if item.clause == clause}


def _is_about_values(rule: str) -> bool:
    """Return whether the rule reports inferred facts about values, so that other findings may hide its own."""
    entry = registry().get(rule)
    return entry is not None and entry.about in _VALUE_SUBJECTS


def _keeps_names(load: Load, after: Source, attempt: Sequence[Candidate]) -> bool:
    """Return whether each name means one value afterwards; only a fix that deletes nodes can change that."""
    return not any(each.fix.removes for each in attempt) or _are_names_right(load(after))


def _are_names_right(model: Model) -> bool:
    """Return whether each name is defined once, and before its use. The rules that report it may not be selected."""
    names = model.resolution
    is_wrong = names.has_undefined_names or names.has_late_uses or any(each.has_redefinitions for each in model.graphs)
    model.release()
    return not is_wrong


def _is_left_over(rule: str) -> bool:
    """Return whether the rule reports unused parts. Deleting a node may leave some for a later round."""
    entry = registry().get(rule)
    return entry is not None and (entry.chapter == "hygiene" or "OPS-7" in entry.clauses)


def with_last_round(outcome: FixOutcome, fixes: Sequence[Fix], rules: Sequence[str]) -> FixOutcome:
    """Return the result with one more round, of fixes that need new data files. The report stays that before the round.

    `rules`: the rule of each finding that the fixes remove.
    """
    source, kind = outcome.source, outcome.report.kind
    edits = tuple(edit for fix in fixes for edit in fix.edits)
    copies = tuple(each for fix in fixes for each in fix.copies)
    if edits:
        splicer = Splicer(source, kind)
        source = source.patched(splice.patch for splice in splicer.with_lengths(splicer.splices_of(edits)))
    fixed = Counter(dict(outcome.repair.fixed)) + Counter(rules)
    return replace(
        outcome,
        source=source,
        rounds=(*outcome.rounds, Round(outcome.source, edits, kind, copies)),
        repair=replace(outcome.repair, fixed=tuple(sorted(fixed.items()))),
    )


def problem_of_written(
    outcome: FixOutcome, found: FileReport, *, has_new_data: bool = False, is_copy: bool = False
) -> str | None:
    """Return why the report on the written file, `found`, is not the expected one; None if it is.

    `has_new_data`: whether the file refers to a new data file, so that the old one may be unused. `is_copy`:
    whether the file is in another folder, where a data file may be missing.
    """

    def comparable(report: FileReport) -> dict[tuple[str, str], int]:
        return {
            (rule, clause): count
            for (rule, clause), count in _kinds(report).items()
            if not (has_new_data and _is_left_over(rule)) and not (is_copy and clause.startswith("EXT-"))
        }

    return None if comparable(found) == comparable(outcome.report) else "the result has other findings than expected"

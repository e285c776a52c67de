# SPDX-License-Identifier: Apache-2.0
"""The rules that the settings of a run select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final, Literal

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import replace
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.settings import ALL, SelectionError, Settings
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.totals import Report
from onnx_lint.rule import RuleSubject
from onnx_lint.spec.clauses import KEYWORDS, Clause, Severity, clauses, severity
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.spec.target import NO_TARGET
from onnx_lint.wording import counted, quote_some

if TYPE_CHECKING:
    from onnx_lint.model import Model
    from onnx_lint.report.findings import Diagnostic

_ALSO_IN: Final = {"hygiene": frozenset({"SHP-6b"})}
"""The clauses of the specification that selecting a chapter of onnx-lint's own selects as well."""


_NOT_OF_THE_SPECIFICATION: Final = frozenset({"optional", "named"})
"""The presence of clauses that no severity selects: `--select error` selects clauses of the specification only."""

_NONE: Final[frozenset[str]] = frozenset()


def _is_named(entry: Registered, keyword: str, names: Sequence[str], clause: Clause) -> bool:
    """Return whether a selection names a clause of a rule: the rule, its chapter, or the severity of the keyword."""
    if not names:
        return False
    selecting = {ALL, entry.id, entry.chapter}
    if clause.presence not in _NOT_OF_THE_SPECIFICATION:
        if any(clause.id in _ALSO_IN.get(name, ()) for name in names):
            return True
        selecting.add(KEYWORDS[keyword].label)
    return not selecting.isdisjoint(names)


def presence(entry: Registered, clause: Clause, settings: Settings) -> Literal["listed", "counted"] | None:
    """Return how findings of the rule under the clause are reported: `listed`, `counted`, or None for not at all.

    Rules that are selected by name or by `--pedantic` are listed, and so are errors, and the rules of plugins. A
    configured severity lists the findings that are only counted by default, and those of rules that only `--pedantic`
    turns on: whoever sets it wants to see them.
    """
    keyword = clause.keyword[settings.standard.edition]
    if clause.presence == "named" and {ALL, entry.id}.isdisjoint((*settings.select, *settings.extend_select)):
        return None
    if _is_named(entry, keyword, settings.ignore, clause):
        return None
    if _is_named(entry, keyword, settings.extend_select, clause):
        return "listed"
    if _is_named(entry, keyword, settings.set_aside, clause):
        return None
    if settings.select:
        return "listed" if _is_named(entry, keyword, settings.select, clause) else None
    return _default_presence(entry, clause, settings)


def _default_presence(entry: Registered, clause: Clause, settings: Settings) -> Literal["listed", "counted"] | None:
    """Return the presence, see `presence`, of a clause that no setting names."""
    if clause.presence == "optional":
        return None
    level = severity(clause, settings.standard.edition)
    if settings.target.is_refused(clause):
        return "listed"
    if settings.pedantic or entry.plugin or level is Severity.ERROR:
        return "listed"
    has_severity = entry.id in settings.severities
    if clause.presence == "pedantic" and not clause.counted:
        return "listed" if has_severity and _is_pedantic(entry) else None
    return "counted" if clause.counted and not has_severity else "listed"


def _is_pedantic(entry: Registered) -> bool:
    """Return whether only `--pedantic` turns the rule on, for each of its clauses."""
    return all(clauses()[name].presence == "pedantic" for name in entry.clauses)


def _is_present(entry: Registered, clause: Clause, settings: Settings) -> bool:
    edition = settings.standard.edition
    return edition in clause.keyword and presence(entry, clause, settings) is not None


def _only_counts(entry: Registered, settings: Settings) -> bool:
    """Return whether all findings of the rule are counted, and none listed."""
    cited = [clauses()[name] for name in entry.clauses]
    return all(each.counted for each in cited) and all(
        presence(entry, each, settings) != "listed" for each in cited if settings.standard.edition in each.keyword
    )


def _is_requirement(clause: Clause, settings: Settings) -> bool:
    """Return whether the clause is a requirement of ONNX."""
    return clause.declared_by is None and severity(clause, settings.standard.edition) is Severity.ERROR


def decides_requirement(entry: Registered, settings: Settings) -> bool:
    """Return whether a finding of the rule may be a violation of ONNX."""
    return any(_is_requirement(clauses()[name], settings) for name in entry.clauses)


def applies(entry: Registered, settings: Settings) -> bool:
    """Return whether any clause of the rule is in the edition and selected."""
    table = clauses()
    return any(_is_present(entry, table[name], settings) for name in entry.clauses)


def _reporting(entry: Registered, settings: Settings) -> str:
    """Return how findings of the rule are reported: `listed` or `counted`, or `none` for not at all."""
    if not applies(entry, settings):
        return "none"
    return "counted" if _only_counts(entry, settings) else "listed"


def reporting_by_default(entry: Registered) -> str:
    """Return how findings of the rule are reported with the default settings, as the index of the rules has it."""
    return _reporting(entry, Settings())


def _by_default(entry: Registered, settings: Settings) -> str:
    # The index has it, so that no clause is read for it (docs/performance.md: default-selection).
    return entry.by_default or _reporting(entry, settings)


def are_usual(settings: Settings) -> bool:
    """Return whether the settings report all errors that the default ones do, with the same severity and options."""
    own = settings
    return not (own.select or own.ignore or own.set_aside or own.severities or own.options)


def _are_default(settings: Settings) -> bool:
    """Return whether the settings report the findings of each rule as the default ones do."""
    own = settings
    changes = own.select, own.ignore, own.extend_select, own.set_aside, own.pedantic, own.severities
    return not any(changes) and own.standard.edition == DEFAULT_STANDARD.edition and own.target == NO_TARGET


def selected_rules(settings: Settings) -> tuple[str, ...]:
    """Return the ids of the rules that a run with `settings` uses."""
    return tuple(entry.id for entry in selection_of(settings).entries)


def check_selection(settings: Settings) -> None:
    """Raise SelectionError if no rule is left: without rules every model would conform."""
    if (settings.select or settings.ignore or settings.set_aside) and not selected_rules(settings):
        raise SelectionError(f"the selection leaves no rule of edition {settings.standard.edition}")


Question = Callable[["Model"], object]
"""Returns what in a model some rules are about; false or empty if there is nothing."""

_Numbered = tuple[int, Registered]
"""A rule after its position among those of a selection."""

_Group = tuple[Question | None, list[_Numbered]]
"""The rules that ask the same question; None for those that always have something to check."""

_position: Final[Callable[[_Numbered], int]] = itemgetter(0)


class Selection:
    """The rules that apply under some settings, and those of them that have something to check in a model."""

    def __init__(self, settings: Settings, rules: Mapping[str, Registered]) -> None:
        self.settings = settings
        self.rules = rules
        reporting_of = _by_default if _are_default(settings) else _reporting
        reporting = {entry: reporting_of(entry, settings) for entry in rules.values()}
        self.entries = [entry for entry, how in reporting.items() if how != "none"]
        idle = [] if "counts" in settings.parts else [entry for entry, how in reporting.items() if how == "counted"]
        self._idle = frozenset(entry.id for entry in idle)
        self._judging: dict[tuple[str, bool], list[Registered]] = {}
        self._groups: dict[tuple[str, bool], list[_Group]] = {}
        self._gaps: dict[tuple[str, bool, frozenset[str]], tuple[str, ...]] = {}

    def judging(self, model: Model) -> list[Registered]:
        """Return the rules that check a file of this kind."""
        key = (model.kind, model.loaded)
        if key not in self._judging:
            parts = KINDS[model.kind].holds if model.loaded else {"file"}
            self._judging[key] = [entry for entry in self.entries if entry.needs in parts]
        return self._judging[key]

    def gaps(self, model: Model, found: Iterable[Diagnostic]) -> tuple[str, ...]:
        """Return why the verdict says less than with the default settings: a phrase for each reason.

        `found`: the findings in the model.
        """
        own = self.settings
        with_violations = _rules_with_violations(found).intersection(own.severities) if own.severities else _NONE
        key = (model.kind, model.loaded, with_violations)
        if key not in self._gaps:
            changes = (own.select, own.ignore, own.set_aside, own.severities, own.options)
            self._gaps[key] = self._gaps_to_default(model, with_violations) if any(changes) else ()
        return self._gaps[key]

    def _gaps_to_default(self, model: Model, with_violations: Set[str]) -> tuple[str, ...]:
        """Return how the settings differ from the default ones in the rules that check the model.

        `with_violations`: the rules with a changed severity that found violations.
        """
        own, usual = self.settings, Settings(standard=self.settings.standard)
        unchanged, misses_errors = 0, False
        lowered: list[str] = []
        changed: list[str] = []
        entries = Selection(usual, self.rules).judging(model)
        for entry in entries:
            cited = [clauses()[name] for name in entry.clauses]
            by_default = [clause for clause in cited if _is_present(entry, clause, usual)]
            missing = [clause for clause in by_default if not _is_present(entry, clause, own)]
            unchanged += int(not missing)
            if not any(_is_requirement(clause, own) for clause in by_default):
                continue
            misses_errors |= any(_is_requirement(clause, own) for clause in missing)
            if self._lowers(entry.id, by_default, has_violations=entry.id in with_violations):
                lowered.append(entry.id)
            if self._changes_options(entry):
                changed.append(entry.id)
        gaps = []
        if misses_errors:
            gaps.append(_rules_in_words(self.judging(model), entries, unchanged))
        if lowered:
            gaps.append(f"the severity of {quote_some(lowered, 5)} is lowered")
        if changed:
            gaps.append(f"options of {quote_some(changed, 5)} are set")
        return tuple(gaps)

    def _lowers(self, rule: str, cited: Iterable[Clause], *, has_violations: bool) -> bool:
        """Return whether the settings lower errors of a rule with these clauses.

        A severity that lowers some of them and raises others counts if the rule found something (`has_violations`).
        """
        level = self.settings.severities.get(rule, Severity.ERROR)
        levels = [severity(clause, self.settings.standard.edition) for clause in cited]
        raises = any(each is not None and each < level for each in levels)
        return level < Severity.ERROR and (has_violations or not raises)

    def _changes_options(self, entry: Registered) -> bool:
        """Return whether the settings set an option of the rule, other than one that only adds findings."""
        adding = entry.flag[1] if entry.flag else None
        return any(name != adding for name in self.settings.options.get(entry.id, ()))

    def asked(self, model: Model) -> list[Registered]:
        """Return the rules of `judging` that have something to check; the files of the others need not be imported."""
        key = (model.kind, model.loaded)
        if key not in self._groups:
            self._groups[key] = self._grouped(self.judging(model))
        asked: list[_Numbered] = []
        for question, members in self._groups[key]:
            if has_subject(model, question):
                asked += members
        return [entry for _, entry in sorted(asked, key=_position)]

    def _grouped(self, judging: list[Registered]) -> list[_Group]:
        """Return the rules by the question whether a model has what they are about."""
        groups: dict[RuleSubject | None, list[_Numbered]] = {}
        for position, entry in enumerate(judging):
            if entry.id not in self._idle:
                groups.setdefault(entry.about, []).append((position, entry))
        return [(None if about is None else question_of(about), members) for about, members in groups.items()]


def _rules_with_violations(found: Iterable[Diagnostic]) -> frozenset[str]:
    from onnx_lint.report.folding import unfold

    return frozenset(each.rule for each in unfold(found) if each.is_violation)


def _rules_in_words(checked: list[Registered], default: list[Registered], complete: int) -> str:
    """Return how many rules checked a file, such as `168 of 170 default rules checked`; more if others checked it too.

    `complete`: the number of default rules that ran with all of their clauses.
    """
    if len(checked) == complete:
        return f"{complete:,} of {len(default):,} default rules checked"
    in_full = " in full" if len({*checked}.intersection(default)) > complete else ""
    return f"{counted(len(checked), 'rule')} checked; {complete:,} of {len(default):,} default rules{in_full}"


def has_subject(model: Model, question: Question | None) -> bool:
    """Return whether the model has anything that the rules are about; True if finding out raises.

    The rules then get the same error, which is reported as theirs.
    """
    try:
        return question is None or bool(question(model))
    except Exception:
        return True


def question_of(about: RuleSubject) -> Question:
    """Return the function that says what in a model the rules are about."""
    if not isinstance(about, str):
        return about
    from onnx_lint import model as questions

    owner, _, name = about.rpartition(".")
    return attrgetter(name) if owner else getattr(questions, name)


_kept: Final[Memory[None, Selection]] = Memory(1)
"""The last selection."""


def selection_of(settings: Settings) -> Selection:
    """Return the rules that apply under `settings`.

    The last result is kept: a run over two thousand small models uses the same settings each time, and so do most
    calls of `lint` (docs/performance.md: selection-kept).
    """
    rules = registry()
    found = _kept.get(None)
    if found is None or found.rules is not rules or not (found.settings is settings or found.settings == settings):
        found = _kept.keep(None, Selection(settings, rules))
    return found


def report_of(files: Iterable[FileReport], settings: Settings) -> Report:
    """Return the report of a run with `settings` over `files`."""
    standard = settings.standard
    rules = selected_rules(settings)
    named = {entry.plugin for entry in registry().values() if entry.module not in settings.plugins}
    plugins = (*sorted(filter(None, named)), *settings.plugins)
    return Report(tuple(files), standard.edition, standard.variant, rules, plugins)


def with_own_settings(file: FileReport, own: Settings, usual: Settings) -> FileReport:
    """Return the report of a file; if its settings differ from those of the first file, they are part of it."""
    if own is usual:
        return file
    standard = own.standard
    return replace(file, edition=standard.edition, variant=standard.variant, rules=selected_rules(own))

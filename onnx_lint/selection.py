# SPDX-License-Identifier: Apache-2.0
"""The settings of a run, and the rules that they select."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from onnx_lint.limits import DEFAULT_LIMITS, Limits
from onnx_lint.model import Model
from onnx_lint.model.documents import KINDS, kind_of
from onnx_lint.record import EMPTY, Record
from onnx_lint.registry import Concern, Registered, concern_of, registry
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target
from onnx_lint.wording import suggestion

ALL = "ALL"
"""The selector that names every rule, pedantic findings included."""


class SelectionError(ValueError):
    """A name in a selection that is no rule, chapter or keyword; the text suggests the nearest."""


class Settings(Record):
    """How to lint: which text, which rules, and their options."""

    standard: Standard = DEFAULT_STANDARD
    select: tuple[str, ...] = ()
    """Rule ids, chapters, or keywords (`MUST`, `SHOULD`, `ALL`); empty for the default set."""
    ignore: tuple[str, ...] = ()
    pedantic: bool = False
    """Whether to report what nearly every real model breaks and nobody can act on."""
    options: Mapping[str, Mapping[str, Any]] = EMPTY
    """Options by rule id."""
    external_data: bool = True
    """Whether to look up the files of external data."""
    extend_select: tuple[str, ...] = ()
    """What to report besides `select` or the default set."""
    severities: Mapping[str, Severity] = EMPTY
    """Severities by rule id, in place of those that the clauses give."""
    opset_schemas: tuple[str, ...] = ()
    """Paths of schema files, which describe the operators of further domains."""
    limits: Limits = DEFAULT_LIMITS
    """How much of a file is taken on, and how much is reported."""
    set_aside: tuple[str, ...] = ()
    """What not to report unless `extend_select` names it: what a configuration ignores, and a command line may undo."""
    target: Target = NO_TARGET
    """The consumer that the models are meant for."""
    proto: str | None = None
    """The message that the files hold, such as `TensorProto`; None to tell by their content."""
    opset_imports: Mapping[str, int] = EMPTY
    """Operator set versions by domain, for graphs and nodes that stand in no model which imports them."""
    timings: bool = False
    """Whether to measure where the time goes."""

    def __post_init__(self) -> None:
        for name in (*self.select, *self.ignore, *self.extend_select, *self.set_aside):
            check_selector(name)
        for rule in self.severities:
            if rule not in registry():
                raise SelectionError(f"severity for unknown rule {rule!r}{_hint(rule, registry())}")
        for rule, options in self.options.items():
            check_options(rule, options)
        schemas_of(self)
        if self.proto is not None:
            kind_of(self.proto)
        for domain, version in self.opset_imports.items():
            if version < 1:
                raise ValueError(f"{version} is no operator set version of {domain or 'ai.onnx'!r}")


def selectors() -> set[str]:
    """Every name that a selection may hold."""
    entries = registry().values()
    keywords = {word.upper() for clause in clauses().values() for word in clause.keyword.values()}
    return {entry.id for entry in entries} | {entry.chapter for entry in entries} | keywords | {ALL}


def _hint(name: str, known: Iterable[str]) -> str:
    from onnx_lint.selection_hints import hint_for_rule

    return hint_for_rule(name, known)


def check_selector(name: str) -> None:
    """Raise SelectionError unless `name` is a rule id, a chapter or a keyword."""
    known = selectors()
    if name not in known:
        raise SelectionError(f"unknown rule {name!r}{_hint(name, known)}")


def check_options(rule: str, options: Mapping[str, Any]) -> None:
    """Raise SelectionError unless there is the rule, and it has these options, of these types."""
    if rule not in registry():
        raise SelectionError(f"options for unknown rule {rule!r}{_hint(rule, registry())}")
    from onnx_lint.option_types import OptionTypeError, as_option

    known = registry()[rule].rule.option_types
    for name, value in options.items():
        if name not in known:
            raise SelectionError(f"rule {rule!r} has no option {name!r}{suggestion(name, known)}")
        try:
            as_option(value, known[name])
        except OptionTypeError as error:
            raise SelectionError(f"option {name!r} of rule {rule!r} {error}") from error


def options_of(rule: Rule, settings: Settings) -> dict[str, Any]:
    """The options of the rule as its parameters want them: a list of TOML may have to be a tuple."""
    given = settings.options.get(rule.id)
    if not given:
        return {}
    from onnx_lint.option_types import as_option

    wanted = rule.option_types
    return {name: as_option(value, wanted[name]) for name, value in given.items()}


def _matches(entry: Registered, keyword: str, names: Sequence[str]) -> bool:
    return bool(names) and not {ALL, entry.id, entry.chapter, keyword.upper()}.isdisjoint(names)


def is_selected(entry: Registered, clause: Clause, settings: Settings) -> bool:
    """Whether what the rule finds against the clause, which the edition has, is to be reported."""
    keyword = clause.keyword[settings.standard.edition]
    if _matches(entry, keyword, settings.ignore):
        return False
    if _matches(entry, keyword, settings.extend_select):
        return True
    if _matches(entry, keyword, settings.set_aside):
        return False
    if settings.select:
        return _matches(entry, keyword, settings.select)
    level = severity(clause, settings.standard.edition)
    return settings.pedantic or not clause.pedantic or level is Severity.ERROR


def schemas_of(settings: Settings) -> OperatorSchemas:
    """The operators that are known; raises OSError or SchemaFileError (a ValueError) for a faulty schema file."""
    if not settings.opset_schemas:
        return BUILT_IN
    from onnx_lint.loader.described import operator_schemas

    return operator_schemas(settings.opset_schemas)


def _applies(entry: Registered, settings: Settings) -> bool:
    """Whether any clause of the rule is in the edition and selected."""
    table = clauses()
    edition = settings.standard.edition
    return any(edition in table[name].keyword and is_selected(entry, table[name], settings) for name in entry.clauses)


def selected_rules(settings: Settings) -> tuple[str, ...]:
    """The ids of the rules that a run with `settings` holds a model against."""
    return tuple(entry.id for entry in selection_of(settings).entries)


def check_selection(settings: Settings) -> None:
    """Raise SelectionError when no rule is left: a run without rules would call every model conforming."""
    if (settings.select or settings.ignore or settings.set_aside) and not selected_rules(settings):
        raise SelectionError(f"the selection leaves no rule of edition {settings.standard.edition}")


class Selection:
    """The rules that apply under some settings, and those of them that have something to look at in a model."""

    def __init__(self, settings: Settings, rules: Mapping[str, Registered]) -> None:
        self.settings = settings
        self.rules = rules
        self.entries = [entry for entry in rules.values() if _applies(entry, settings)]
        self._judging: dict[tuple[str, bool], list[Registered]] = {}
        self._packages: dict[tuple[str, bool], list[str]] = {}
        self._asked: dict[tuple[object, ...], list[Registered]] = {}

    def judging(self, model: Model) -> list[Registered]:
        """The rules that a file of its kind is held against."""
        key = (model.kind, model.loaded)
        if key not in self._judging:
            kind = KINDS[model.kind]
            entries = (entry for entry in self.entries if kind.has(entry.chapter, entry.id))
            self._judging[key] = [entry for entry in entries if model.loaded or entry.of_file]
        return self._judging[key]

    def asked(self, model: Model) -> list[Registered]:
        """Those of them that have something to look at in it, those of the run last.

        Of the others no file needs to be imported.
        """
        kind = (model.kind, model.loaded)
        if kind not in self._packages:
            self._packages[kind] = [*dict.fromkeys(entry.package for entry in self.judging(model))]
        packages = self._packages[kind]
        concerns = [concern_of(package, model) for package in packages]
        key = (*kind, *concerns)
        if key not in self._asked:
            of_package = dict(zip(packages, concerns, strict=True))
            found = (entry for entry in self.judging(model) if _is_among(entry.id, of_package[entry.package]))
            self._asked[key] = sorted(found, key=lambda entry: entry.of_run)
        return self._asked[key]


def _is_among(rule: str, concern: Concern) -> bool:
    return concern if isinstance(concern, bool) else rule in concern


_last_selection: Selection | None = None


def selection_of(settings: Settings) -> Selection:
    """The rules that apply under `settings`.

    The last answer is kept: a run over two thousand small models asks with the same settings each time, and to ask
    anew took a quarter of its time.
    """
    global _last_selection
    rules = registry()
    if _last_selection is None or _last_selection.settings is not settings or _last_selection.rules is not rules:
        _last_selection = Selection(settings, rules)
    return _last_selection
